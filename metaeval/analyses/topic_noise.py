"""What topics that come in clusters, and scores that are means of repeats, do to the results of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.stats.anova import residual_variance


@dataclass(frozen=True, eq=False)
class TopicNoise:
    """Clusters of topics, 0 where topics are single, and repeats of scores, in one collection.

    By measure, `repeats` says of how many repeats scores are means, and `shares` which share of what neither run nor topic
    explains is due to repeats.
    """

    n_topics: int
    n_clusters: int
    repeats: Mapping[str, int]
    shares: Mapping[str, float]

    @property
    def settings(self) -> dict[str, str]:
        """What a signature says."""
        settings = {"clusters": f"{self.n_clusters:,} of {self.n_topics:,} topics"} if self.n_clusters else {}
        counts = list(map(str, sorted({*self.repeats.values()})))
        return settings | ({"repeats": format_list(counts)} if counts else {})

    def describe(self, *, pooled: bool = True) -> list[str]:
        """Return a note on clusters, which are `pooled` into topics or drawn, and one on repeats, as far as there are any."""
        notes: list[str] = []
        if self.n_clusters:
            counted = "; where this result counts topics, it counts clusters" if pooled else ""
            notes.append(
                f"{format_count(self.n_topics, 'topic')} come in {format_count(self.n_clusters, 'cluster')}\n"
                f"Clusters are drawn, split and swapped as a whole{counted}."
            )
        if self.repeats:
            worst = max(self.shares, key=lambda name: self.shares[name])
            notes.append(
                f"scores are means of {self.settings['repeats']} repeats, which leave up to {100 * self.shares[worst]:.0f} % "
                "of the noise\n"
                f"This is with {worst}: of the variance that neither run nor topic explains, the share due to repeats. More "
                "repeats lower it, and more topics lower all of it; metaeval variance says which helps more."
            )
        return notes


def find_noise(scores: Scores) -> TopicNoise | None:
    """Return what is known of clusters and repeats of a collection; None where it has neither."""
    if not scores.clusters and not scores.repeats:
        return None
    shares = {}
    for m, measure in enumerate(scores.measures):
        known = scores.repeats.get(str(measure))
        values = scores.values[~np.isnan(scores.values[..., m]).all(axis=1), :, m]
        values = values[:, ~np.isnan(values).any(axis=0)]
        if known is not None and np.isfinite(known.variance) and min(values.shape) > 1:
            left = float(residual_variance(values))
            shares[str(measure)] = min(known.variance / known.count / left, 1.0) if left > 0 else 0.0
    repeats = {name: scores.repeats[name].count for name in shares}
    return TopicNoise(len(scores.topics), len(set(scores.clusters)), repeats, shares)


def join_noise(parts: Mapping[str, TopicNoise], n_topics: int) -> TopicNoise | None:
    """Return what is known of tasks with `n_topics` topics in all, whose names the repeats get; None where nothing is."""
    if not parts:
        return None
    clustered = [each for each in parts.values() if each.n_clusters > 1]
    single = n_topics - sum(each.n_topics for each in clustered)
    return TopicNoise(
        n_topics,
        single + sum(each.n_clusters for each in clustered) if clustered else 0,
        {name: count for name, each in parts.items() for count in each.repeats.values()},
        {name: share for name, each in parts.items() for share in each.shares.values()},
    )


def refuse_clusters(scores: Scores) -> None:
    """Refuse topics in clusters, for an analysis that would take them one by one."""
    if scores.clusters:
        raise MetaevalError(
            f"this analysis takes topics one by one and would ignore their clusters: leave out {format_option('clusters')}, "
            "or use power, ranks, similarity, consistency, agreement, sample-size, topic-set-size or compare"
        )
