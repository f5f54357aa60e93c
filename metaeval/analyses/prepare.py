"""How analyses begin: scores chosen, checked and sorted by label, so that the order of rows in a file moves no result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from metaeval.analyses.checks import check_scores, check_seed
from metaeval.analyses.diagnostics import Diagnostics, diagnose
from metaeval.analyses.topic_noise import find_noise, refuse_clusters
from metaeval.data.labels import rank_labels
from metaeval.data.scores import Scores, find_identical_runs, take_distinct_runs
from metaeval.measures.base import find_signs
from metaeval.show.signature import Signature, sign
from metaeval.stats.streams import generator, stream_key

Clustered: TypeAlias = Literal["refuse", "pool", "sum", "keep"]
"""What an analysis does with topics in clusters: refuse them, take their pseudo-values or sums as topics, or draw them."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Scores as arrays, in the order of their labels, and the way back to the order in which they were given.

    Runs, topics and measures are sorted as text, character by character: "10" comes before "2". Random draws belong
    to these places, and sums are made in this order. `scores` have the runs that are used, in the order given, and topics in
    clusters as the analysis takes them; `values` are sorted, and times the sign of each measure if they were oriented; `places`
    say for each run, topic and measure in the given order where it is in `values`.
    """

    analysis: str
    scores: Scores
    values: np.ndarray
    places: tuple[np.ndarray, np.ndarray, np.ndarray]
    diagnostics: Diagnostics
    seed: int = 0

    def restore(self, array: np.ndarray, *axes: str) -> np.ndarray:
        """Return an array with labels in the order given; `axes` say what each of its last axes holds.

        They are "run", "topic", "measure", "run pair" or "measure pair"; pairs are (0, 1), (0, 2), …, (1, 2), ….
        """
        for axis, what in enumerate(axes, start=array.ndim - len(axes)):
            single, _, paired = what.partition(" ")
            places = self.places[("run", "topic", "measure").index(single)]
            array = np.take(array, restore_pairs(places) if paired else places, axis=axis)
        return array

    def key(self, *purpose: str) -> int:
        """Return the key of random draws of this analysis of this collection, for a purpose."""
        return stream_key(self.seed, self.scores.collection, self.analysis, *purpose)

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of random numbers of this analysis of this collection, for a purpose."""
        return generator(self.seed, self.scores.collection, self.analysis, *purpose)

    def sign(self, **settings: object) -> Signature:
        """Return the signature: everything that the numbers depend on."""
        return sign(self.analysis, self.scores, **settings, **self.diagnostics.settings)


def prepare(
    scores: Scores,
    analysis: str,
    *,
    seed: int = 0,
    distinct_runs: bool | Sequence[Sequence[str]] = False,
    runs: int = 2,
    topics: int = 2,
    measures: int = 1,
    clusters: Clustered = "refuse",
    oriented: bool = False,
) -> Prepared:
    """Return scores as an analysis uses them, refused if there are fewer runs, topics or measures than it can compare.

    Where several collections have the same runs, `distinct_runs` are the groups that are equal in all of them.

    Examples
    --------
    >>> scores = Scores([[[0.5]], [[0.1]], [[0.9]]], runs=["c", "a", "b"], topics=["t"], measures=["AP"])
    >>> ready = prepare(scores, "similarity", topics=1)
    >>> ready.values[:, 0, 0].tolist(), ready.restore(ready.values[:, 0, 0], "run").tolist()
    ([0.1, 0.9, 0.5], [0.5, 0.1, 0.9])
    """
    least = {"runs": runs, "topics": topics, "measures": measures}
    check_scores(scores, **least)
    check_seed(seed)
    chosen, identical = scores, tuple[tuple[str, ...], ...]()
    if distinct_runs is not False:
        identical = find_identical_runs(scores) if distinct_runs is True else tuple(map(tuple, distinct_runs))
        chosen = take_distinct_runs(scores, identical=identical)
    noise = find_noise(chosen)
    if chosen.clusters:
        if clusters == "refuse":
            refuse_clusters(chosen)
        pooled = chosen.pool_clusters(sums=clusters == "sum")  # which refuses a single cluster, whatever draws them
        chosen = chosen if clusters == "keep" else pooled
    check_scores(chosen, **least)
    diagnostics = replace(diagnose(chosen), noise=noise)
    if distinct_runs is not False:
        diagnostics = replace(diagnostics, identical=identical, distinct=True)
    values, places = sort_scores(chosen, oriented=oriented)
    return Prepared(analysis, chosen, values, places, diagnostics, seed)


def sort_scores(
    scores: Scores, *, oriented: bool = False
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return scores sorted by labels, higher being better if they are oriented, and the place of each label among them."""
    runs, topics, measures = map(
        rank_labels, (scores.runs, scores.topics, [str(measure) for measure in scores.measures])
    )
    orders = [np.argsort(places) for places in (runs, topics, measures)]
    signs = find_signs(scores.measures)[orders[2]] if oriented else 1.0
    # Contiguous, because the order of the axes in memory decides in which order NumPy adds.
    return np.multiply(scores.values[np.ix_(*orders)], signs, order="C"), (runs, topics, measures)


def restore_pairs(places: np.ndarray) -> np.ndarray:
    """Return for each pair (0, 1), (0, 2), … of labels in the given order its place among the pairs of sorted ones."""
    first, second = np.triu_indices(len(places), 1)
    pair = np.zeros((len(places), len(places)), dtype=np.intp)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    return np.asarray(pair[places[first], places[second]])
