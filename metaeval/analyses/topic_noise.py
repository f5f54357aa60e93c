"""What topics that come in clusters, and scores that are means of repeats, do to the results of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.data.clusters import Repeats, code_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.stats.anova import residual_variance
from metaeval.stats.clusters import design_effect, intraclass_correlation


@dataclass(frozen=True, eq=False)
class TopicNoise:
    """Clusters of topics, and repeats of scores, in one collection.

    Parameters
    ----------
    n_topics, n_clusters : int
        0 clusters where topics are single.
    correlation, effect : ndarray, shape (measure,)
        Of differences between runs on topics of one cluster, and how many times as many topics they need; empty without.
    repeats : mapping of str to Repeats
        By measure.
    shares : mapping of str to float
        By measure, which share of what neither run nor topic explains is due to repeats.
    """

    n_topics: int
    n_clusters: int
    correlation: np.ndarray
    effect: np.ndarray
    repeats: Mapping[str, Repeats]
    shares: Mapping[str, float]

    @property
    def counts(self) -> str:
        """Of how many repeats scores are means, in words."""
        return format_list([str(count) for count in sorted({each.count for each in self.repeats.values()})])

    @property
    def settings(self) -> dict[str, str]:
        """What a signature says."""
        settings = {"clusters": f"{self.n_clusters:,} of {self.n_topics:,} topics"} if self.n_clusters else {}
        return settings | ({"repeats": self.counts} if self.repeats else {})

    def describe(self, *, pooled: bool = True) -> list[str]:
        """Return a note on clusters, which are `pooled` into topics or drawn, and one on repeats, as far as there are any."""
        notes: list[str] = []
        if self.n_clusters:
            counted = "; where this result counts topics, it counts clusters" if pooled else ""
            effect, correlation = float(np.median(self.effect)), np.nan_to_num(self.correlation)
            ends = dict.fromkeys(f"{end:.2f}" for end in (correlation.min(), correlation.max()))
            notes.append(
                f"{format_count(self.n_topics, 'topic')} in {format_count(self.n_clusters, 'cluster')} tell as much as "
                f"{format_count(round(self.n_topics / effect), 'single one')}\n"
                f"Clusters are drawn, split and swapped as a whole{counted}. "
                f"The design effect is {effect:.1f}: differences between runs on topics of one cluster correlate by "
                f"{' to '.join(ends)}."
            )
        if self.repeats:
            worst = max(self.shares, key=lambda name: self.shares[name])
            notes.append(
                f"scores are means of {self.counts} repeats, which leave up to {100 * self.shares[worst]:.0f} % of the noise\n"
                f"This is with {worst}: of the variance that neither run nor topic explains, the share due to repeats. More "
                "repeats lower it, and more topics lower all of it; metaeval variance says which is cheaper."
            )
        return notes


def find_noise(scores: Scores) -> TopicNoise | None:
    """Return what is known of clusters and repeats of a collection; None where it has neither."""
    if not scores.clusters and not scores.repeats:
        return None
    names, codes = code_clusters(scores.clusters)
    correlation, effect = np.empty((2, 0))
    if len(names) > 1:
        one_by_one = np.moveaxis(scores.values, -1, 0)  # a copy of all scores might not fit into memory
        correlation = np.array([intraclass_correlation(each[..., np.newaxis], codes)[0] for each in one_by_one])
        effect = design_effect(correlation, codes)
    shares = {}
    for m, measure in enumerate(scores.measures):
        known = scores.repeats.get(str(measure))
        values = scores.values[~np.isnan(scores.values[..., m]).all(axis=1), :, m]
        values = values[:, ~np.isnan(values).any(axis=0)]
        if known is not None and np.isfinite(known.variance) and min(values.shape) > 1:
            left = float(residual_variance(values))
            shares[str(measure)] = min(known.variance / known.count / left, 1.0) if left > 0 else 0.0
    repeats = {name: scores.repeats[name] for name in shares}
    return TopicNoise(len(scores.topics), len(names), correlation, effect, repeats, shares)


def join_noise(parts: Mapping[str, TopicNoise], n_topics: int) -> TopicNoise | None:
    """Return what is known of tasks with `n_topics` topics in all, whose names the repeats get; None where nothing is."""
    if not parts:
        return None
    clustered = [each for each in parts.values() if each.n_clusters > 1]
    single = n_topics - sum(each.n_topics for each in clustered)
    worth = single + sum(each.n_topics / float(np.median(each.effect)) for each in clustered)
    return TopicNoise(
        n_topics,
        single + sum(each.n_clusters for each in clustered) if clustered else 0,
        np.concatenate([each.correlation for each in clustered] or [np.empty(0)]),
        np.array([n_topics / worth]),
        {name: repeats for name, each in parts.items() for repeats in each.repeats.values()},
        {name: share for name, each in parts.items() for share in each.shares.values()},
    )


def refuse_clusters(scores: Scores) -> None:
    """Refuse topics in clusters, for an analysis that would take them one by one."""
    if scores.clusters:
        raise MetaevalError(
            f"this analysis takes topics one by one and would ignore their clusters: leave out {format_option('clusters')}, "
            "or use power, ranks, similarity, consistency, agreement, sample-size, topic-set-size or compare"
        )
