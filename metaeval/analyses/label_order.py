"""The order in which random draws are made: by label, so that the order of rows in a file moves no result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.data.labels import rank_labels
from metaeval.data.scores import Scores, take_cells


@dataclass(frozen=True, eq=False)
class LabelOrder:
    """Scores in the order of their labels, and the way back to the order in which they were given.

    Runs, topics and measures are sorted as text, character by character: "10" comes before "2". Random draws belong
    to these places, and sums are made in this order.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
        The scores, sorted.
    runs, topics, measures : ndarray of int
        For each label in the given order, its place in `values`.
    """

    values: np.ndarray
    runs: np.ndarray
    topics: np.ndarray
    measures: np.ndarray

    @property
    def run_pairs(self) -> np.ndarray:
        """For each pair (0, 1), (0, 2), … of runs in the given order, its place among the pairs of sorted runs."""
        return _restore_pairs(self.runs)

    @property
    def measure_pairs(self) -> np.ndarray:
        """The same for pairs of measures."""
        return _restore_pairs(self.measures)


def sort_labels(scores: Scores, *, signs: np.ndarray | None = None) -> LabelOrder:
    """Sort scores by the labels of runs, topics and measures, as every analysis does before it draws at random.

    Examples
    --------
    >>> scores = Scores([[[0.5]], [[0.1]], [[0.9]]], runs=["c", "a", "b"], topics=["t"], measures=["AP"])
    >>> order = sort_labels(scores)
    >>> order.values[:, 0, 0].tolist(), order.values[order.runs, 0, 0].tolist()
    ([0.1, 0.9, 0.5], [0.5, 0.1, 0.9])
    """
    places = [
        rank_labels(labels) for labels in (scores.runs, scores.topics, [str(measure) for measure in scores.measures])
    ]
    return LabelOrder(take_cells(scores.values, *map(np.argsort, places), signs=signs), *places)


def _restore_pairs(places: np.ndarray) -> np.ndarray:
    n = len(places)
    first, second = np.triu_indices(n, 1)
    pair = np.zeros((n, n), dtype=np.intp)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    return np.asarray(pair[places[first], places[second]])
