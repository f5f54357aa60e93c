"""acc_eq* over all cells: how often does a measure order any two cells, runs on topics, as the reference does?

The form of Deutsch, Foster and Freitag (EMNLP 2023) without groups: every two cells are a pair, whether of one run, of
one topic, or of neither. There are too many pairs to hold, and too many thresholds to try each. Two facts help:

- At one ε, the pairs that are right are counted cell by cell, in the order of the measure's scores, by how many of the
  cells far enough below have a lower reference: a wavelet matrix (Claude, Navarro and Ordóñez 2015) counts that for all
  cells in log₂(levels of the reference) steps.
- As ε grows, fewer pairs are rightly ordered, and more are rightly tied. Between two thresholds the accuracy is thus at
  most that of the orders at the lower with the ties at the upper one. Most intervals between thresholds cannot hold the
  best; the pairs of the others are listed, a part at a time.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.blocks import FloatArray, IntArray, Scaled
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.parallel import tell
from metaeval.stats.resampling import add_signed, weigh_by_topic
from metaeval.stats.tie_accuracy import TieAccuracy

_LISTED = 1_000_000  # pairs of cells that are listed at once: some 60 MB
_PARTS, _SAMPLED = 8, 256  # of an interval of thresholds that is divided, and of its pairs looked at to do so
_ARRAYS_OF_CELLS = 16  # of eight bytes a cell that are held beside one for each binary digit of the reference's levels


class _Count(NamedTuple):
    """Of pairs of cells at a threshold: rightly ordered, rightly tied, and all that the measure ties."""

    ordered: int
    tied: int
    near: int


def cell_accuracy(scores: Scaled, key: int = 0, n_trials: int = 0, clusters: IntArray | None = None) -> TieAccuracy:
    """How often does each measure order two cells as the reference does, at its best tie threshold?

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); the last measure is the reference, whose equal scores are tied.
    key : int, optional
        Of the exchanges of two measures on random topics, a 64-bit key.
    n_trials : int, optional
        Exchanges.
    clusters : ndarray of int, shape (topic,), optional
        The number of the cluster of each topic: topics of one are exchanged together.

    Returns
    -------
    TieAccuracy
        `by_topic`: of the pairs with a cell of this topic, the share that is right.

    Examples
    --------
    >>> accuracy = cell_accuracy(Scaled(np.array([[[0.5, 1.0], [0.55, 1.0]], [[0.9, 2.0], [0.7, 2.0]]])))
    >>> accuracy.value.round(3).tolist(), accuracy.threshold.round(2).tolist()
    ([0.833], [0.05])
    """
    n_runs, n_topics, n_columns = scores.shape
    distinct, levels = np.unique(scores.values[..., n_columns - 1].ravel(), return_inverse=True)
    _check_memory(scores, len(distinct))
    n = levels.size
    counts = np.bincount(levels)
    n_tied, n_pairs = int((counts * (counts - 1) // 2).sum()), n * (n - 1) // 2
    value, threshold, by_topic = np.empty(n_columns - 1), np.empty(n_columns - 1), np.empty((n_columns - 1, n_topics))
    for measure in range(n_columns - 1):
        cells = _Cells(scores.values[..., measure].ravel(), levels)
        threshold[measure], right = _find_threshold(cells)
        value[measure] = right / n_pairs
        shares = cells.count_right(float(threshold[measure])) / (n - 1)
        by_topic[measure] = shares.reshape(n_runs, n_topics).mean(axis=0)
        tell("pairs of cells, measures", measure + 1, n_columns - 1)
    exchanged = swap_topics(by_topic, key, n_trials, clusters)
    return TieAccuracy(value, threshold, by_topic, exchanged, n_tied / n_pairs)


def _check_memory(scores: Scaled, n_levels: int) -> None:
    """Refuse to order all cells where the machine does not have the memory that it takes."""
    n_runs, n_topics, _ = scores.shape
    needed = 8 * n_runs * n_topics * (_ARRAYS_OF_CELLS + max(1, (n_levels - 1).bit_length()))
    size, memory = f"{needed / 2**20:,.0f} MB", find_memory()
    if memory is not None and needed > memory:
        raise MetaevalError(
            f"acc_t_cells orders all {n_runs * n_topics:,} cells, which takes {size} of memory; this machine has "
            f"{memory / 2**20:,.0f} MB: take fewer topics, or acc_t, which needs less"
        )


def find_memory() -> int | None:
    """Return the bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def swap_topics(by_topic: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None) -> FloatArray:
    """Exchange every two measures on random topics; return differences in acc_eq to first order, shape (trial, measure pair).

    Pairs share cells, so that exchanging pair by pair would take far too much for independent. What a topic contributes
    to the difference of two measures is twice the mean over its cells of the difference in shares of right pairs: the
    first term of Hoeffding's decomposition of a mean over pairs. Exchanging the measures on a topic turns its sign.
    """
    n_measures, n_topics = by_topic.shape
    signed = np.zeros((n_trials, n_measures))
    add_signed(signed, add_by_cluster(by_topic, clusters).T, key, 0)
    signed *= 2 / n_topics
    first, second = np.triu_indices(n_measures, 1)
    return np.asarray(signed[:, first] - signed[:, second])


def resample_cell_accuracy(
    by_topic: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Return acc_eq over the cells of topics drawn anew, to first order, with ε held, shape (trial, measure).

    Each topic of `by_topic`, shape (measure, topic), counts twice, since it is in both places of a pair.
    """
    n_topics = by_topic.shape[1]
    (drawn,) = weigh_by_topic(key, n_trials, n_topics, by_topic, divisor=n_topics, clusters=clusters)
    return np.asarray(2 * drawn - by_topic.mean(axis=1))


class _Cells:
    """Cells in the order of a measure's scores, with the levels of the reference, numbered from 0; both of shape (cell,)."""

    def __init__(self, scores: FloatArray, levels: IntArray) -> None:
        self.order = np.argsort(scores, kind="stable")
        self.scores, self.levels = scores[self.order], levels[self.order]
        self._bits, row = [], self.levels
        for bit in range(int(levels.max()).bit_length() - 1, -1, -1):
            ones = (row >> bit) & 1
            # How many cells before a place have the bit 0; those come first on the next row.
            self._bits.append((bit, np.concatenate([[0], np.cumsum(1 - ones)])))
            row = np.concatenate([row[ones == 0], row[ones == 1]])

    def find_below(self, threshold: float) -> IntArray:
        """Return for every cell how many others are lower by more than a threshold, shape (cell,)."""
        position = np.arange(len(self.scores))
        return _bisect(0 * position, position, lambda middle: self.scores - self.scores[middle] > threshold)

    def find_above(self, threshold: float) -> IntArray:
        """Return for every cell how many are not higher by more than a threshold, shape (cell,)."""
        position, n = np.arange(len(self.scores)), len(self.scores)
        above = np.append(self.scores, np.inf)  # beyond the last cell
        return _bisect(position + 1, np.full(n, n), lambda middle: above[middle] - self.scores <= threshold)

    def count_lower(self, ends: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many of the first `ends` cells have a lower, and the same, reference as each cell, shapes (cell,)."""
        start, end, lower = np.zeros_like(ends), ends, np.zeros_like(ends)
        for bit, zeros in self._bits:
            set_bit = (self.levels >> bit) & 1 == 1
            first, last = zeros[start], zeros[end]
            lower = lower + np.where(set_bit, last - first, 0)
            start = np.where(set_bit, zeros[-1] + start - first, first)
            end = np.where(set_bit, zeros[-1] + end - last, last)
        return lower, end - start

    def count(self, threshold: float) -> _Count:
        """Count the pairs that are right at a threshold."""
        below, position = self.find_below(threshold), np.arange(len(self.scores))
        lower, same = self.count_lower(below)
        _, before = self.count_lower(position)
        return _Count(int(lower.sum()), int((before - same).sum()), int((position - below).sum()))

    def count_right(self, threshold: float) -> IntArray:
        """Return in how many pairs with each cell the measure is right, in the order given, shape (cell,)."""
        below, above = self.find_below(threshold), self.find_above(threshold)
        everywhere = np.full(len(below), len(below))
        (lower, same), (lower_too, same_too), (of_all, same_of_all) = map(self.count_lower, (below, above, everywhere))
        higher = (everywhere - of_all - same_of_all) - (above - lower_too - same_too)
        right = np.empty_like(below)
        right[self.order] = lower + higher + same_too - same - 1  # a cell is no pair with itself
        return right

    def list_pairs(self, low: float, high: float, most: int | None = None) -> tuple[FloatArray, IntArray]:
        """List the pairs whose scores differ by more than `low` and less than `high`, or `most` of them, evenly spaced.

        Returns their gaps and changes, shape (pair,): 1 if the reference ties them, −1 if it orders them alike, 0 otherwise.
        """
        first, last = self.find_below(np.nextafter(high, 0)), self.find_below(low)
        starts = np.concatenate([[0], np.cumsum(last - first)])
        total = int(starts[-1])
        chosen = np.arange(total) if most is None else np.unique(np.linspace(0, total - 1, most).astype(np.int64))
        cell = np.searchsorted(starts, chosen, side="right") - 1
        other = first[cell] + chosen - starts[cell]
        higher, lower = self.levels[cell], self.levels[other]
        return self.scores[cell] - self.scores[other], (higher == lower).astype(np.int64) - (higher > lower)


def _bisect(low: IntArray, high: IntArray, goes_on: Callable[[IntArray], npt.NDArray[np.bool_]]) -> IntArray:
    """Return for every cell the first place from `low` up to `high` at which a condition, true at first, is false.

    It is asked of the differences themselves, which round otherwise than a score less the threshold.
    """
    while (low < high).any():
        middle = (low + high) // 2
        onwards = goes_on(middle) & (low < high)
        low, high = np.where(onwards, middle + 1, low), np.where(onwards, high, middle)
    return low


def _find_threshold(cells: _Cells) -> tuple[float, int]:
    """Return the smallest best threshold, and how many pairs are right with it."""
    counts = {0.0: cells.count(0.0)}
    best = (counts[0.0].ordered + counts[0.0].tied, -0.0)  # of equally many right pairs, the smaller threshold counts
    waiting: list[tuple[int, float, float]] = []

    def try_threshold(threshold: float) -> None:
        nonlocal best
        counts[threshold] = cells.count(threshold)
        best = max(best, (counts[threshold].ordered + counts[threshold].tied, -threshold))

    def wait(low: float, high: float) -> None:
        # At most as many are right anywhere inside; the heap's first is the most promising.
        before = cells.count(np.nextafter(high, 0))
        if before.near > counts[low].near:
            heapq.heappush(waiting, (-(counts[low].ordered + before.tied), low, high))

    largest = float(cells.scores[-1] - cells.scores[0])
    if largest > 0:
        try_threshold(largest)
        wait(0.0, largest)
    while waiting:
        bound, low, high = heapq.heappop(waiting)
        if -bound < best[0]:
            break
        if -bound == best[0] and low >= -best[1]:
            continue
        before = cells.count(np.nextafter(high, 0))
        if before.near - counts[low].near <= _LISTED:
            gaps, change = cells.list_pairs(low, high)
            by_size = np.argsort(gaps)
            sizes = gaps[by_size]
            reached = counts[low].ordered + counts[low].tied + np.cumsum(change[by_size])
            last = np.flatnonzero(np.append(sizes[1:] != sizes[:-1], True))
            top = int(reached[last].argmax())
            best = max(best, (int(reached[last][top]), -float(sizes[last][top])))
            continue
        sample = np.sort(cells.list_pairs(low, high, _SAMPLED)[0])
        edges = np.unique(sample[np.linspace(0, len(sample) - 1, _PARTS + 1).astype(np.int64)[1:-1]]).tolist()
        for edge in edges:
            try_threshold(edge)
        for pair in zip([low, *edges], [*edges, high], strict=True):
            wait(*pair)
    return -best[1], best[0]
