"""acc_eq* of more pairs of runs on topics than memory holds: the best tie threshold, and who is right with it.

Differences of scores are counted by their leading bits, whose order is that of the differences, in a few passes over all
pairs. The accuracy at the ends of such a bin is then known; inside it can be higher by no more than the bin has tied
pairs. Only bins that may hold the best threshold are divided further, or listed. Everything is counted, so that every
number is that of `metaeval.stats.tie_accuracy` to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats._agreement_in_blocks import add_signed, weigh_by_topic
from metaeval.stats._check import FloatArray
from metaeval.stats.run_pairs import split_pairs
from metaeval.stats.scale import Scaled

IntArray = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

_BINS = 2**20  # of a measure and a pass, with two counts each: 16 MB
_ALL_BITS = 63  # of a float that is not negative


@dataclass(frozen=True, eq=False)
class TiesFound:
    """acc_eq* of every measure.

    Parameters
    ----------
    value, threshold : ndarray, shape (measure,)
    by_topic : ndarray, shape (measure, topic)
        Share of pairs of runs about which a measure is right.
    exchanged : ndarray, shape (trial, measure pair)
        As `metaeval.stats.tie_accuracy.swap_pairs` returns it.
    tied : float
    """

    value: FloatArray
    threshold: FloatArray
    by_topic: FloatArray
    exchanged: FloatArray
    tied: float


def find_ties(scores: Scaled, key: int, n_trials: int) -> TiesFound:
    """Find how often each measure orders two runs on a topic as the reference, the last measure, does.

    Parameters
    ----------
    scores : Scaled
    key : int
        Of the exchanges.
    n_trials : int

    Returns
    -------
    TiesFound
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures, n_pairs = n_columns - 1, n_runs * (n_runs - 1) // 2
    searches = [_Search() for _ in range(n_measures)]
    number = 0
    while any(one.width for one in searches):
        number += 1
        for _, gaps in split_pairs(scores, f"tie thresholds, pass {number}, run pairs"):
            wanted = np.sign(gaps[..., -1]).ravel()
            for search, column in zip(searches, range(n_measures), strict=True):
                if search.width:
                    search.add(gaps[..., column].ravel(), wanted)
        for search in searches:
            if search.width:
                search.narrow()
    threshold = np.array([one.threshold for one in searches])
    counts = np.zeros((n_measures, n_topics), dtype=np.int64)
    signed, n_tied = np.zeros((n_trials, n_measures)), 0
    for pairs, gaps in split_pairs(scores, "exchanging pairs of runs, run pairs"):
        tied = gaps[..., -1] == 0
        n_tied += int(tied.sum())
        right = np.empty((n_measures, *tied.shape), dtype=np.bool_)
        for m in range(n_measures):
            gap = gaps[..., m]
            right[m] = np.where(np.abs(gap) <= threshold[m], tied, ~tied & (np.sign(gap) == np.sign(gaps[..., -1])))
        counts += right.sum(axis=1)
        # Sums of so few signs are whole numbers that four bytes hold exactly.
        columns = right.reshape(n_measures, -1).T.astype(np.float32)
        add_signed(signed, columns, key, pairs.start * n_topics)
    n_cells = n_pairs * n_topics
    first, second = np.triu_indices(n_measures, 1)
    return TiesFound(
        np.array([one.count for one in searches]) / n_cells,
        threshold,
        counts / n_pairs,
        (signed[:, first] - signed[:, second]) / n_cells,
        n_tied / n_cells,
    )


def resample_ties(found: TiesFound, key: int, n_trials: int) -> FloatArray:
    """Do what `metaeval.stats.tie_accuracy.resample_tie_accuracy` does.

    Parameters
    ----------
    found : TiesFound
    key : int
        Of the resamples.
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure)
    """
    n_topics = found.by_topic.shape[1]
    return weigh_by_topic(key, n_trials, n_topics, found.by_topic, divisor=n_topics)[0]


class _Search:
    """The search of one measure's best threshold among the bins that may hold it.

    A bin is a number whose binary digits are the leading ones of the differences in it.
    """

    def __init__(self) -> None:
        self.bins: Bits = np.zeros(1, dtype=np.uint64)
        self.before: IntArray = np.zeros(1, dtype=np.int64)
        """Right pairs if all pairs in smaller bins are tied, and no others."""
        self.rest = _ALL_BITS  # digits that are not looked at
        self.width, self.ordered, self.ties_at_zero = 20, 0, 0
        self.threshold, self.count = 0.0, 0
        self.first = True
        self._clear()

    def _clear(self) -> None:
        self.tied, self.lost = np.zeros((2, len(self.bins) << self.width), dtype=np.int64)

    def add(self, gaps: FloatArray, wanted: FloatArray) -> None:
        """Count the differences of some pairs in bins, shape (cell,)."""
        tied = wanted == 0
        ordered = ~tied & (np.sign(gaps) == wanted)
        size = np.abs(gaps)
        if self.first:
            self.ordered += int(ordered.sum())
            self.ties_at_zero += int((tied & (size == 0)).sum())
        # Few differences are in bins that are still looked at, once there are only some.
        rest = np.uint64(self.rest)
        low, high = ((end << rest) for end in (self.bins[0], self.bins[-1] + np.uint64(1)))
        digits = size.view(np.uint64)
        digits, is_tied = (
            one[(tied | ordered) & (size > 0) & (digits >= low) & (digits < high)] for one in (digits, tied)
        )
        upper = digits >> rest
        place = np.searchsorted(self.bins, upper)
        inside = self.bins[place] == upper
        lower = (digits >> np.uint64(self.rest - self.width)) & np.uint64((1 << self.width) - 1)
        place = (place << self.width) + lower.astype(np.int64)
        np.add.at(self.tied, place[inside & is_tied], 1)
        np.add.at(self.lost, place[inside & ~is_tied], 1)

    def narrow(self) -> None:
        """Keep the bins that may hold the best threshold, and choose into how many parts to divide each next."""
        if self.first:
            self.first = False
            self.before[:] = self.ordered + self.ties_at_zero
            self.count = int(self.before[0])
        change = (self.tied - self.lost).reshape(len(self.bins), -1)
        ends = self.before[:, np.newaxis] + np.cumsum(change, axis=1)
        starts = ends - change
        some = ((self.tied + self.lost) > 0).reshape(change.shape)
        best = max(self.count, int(ends[some].max(initial=0)))
        parts = np.arange(1 << self.width, dtype=np.uint64)
        bins: Bits = (self.bins[:, np.newaxis] << np.uint64(self.width)) | parts
        self.rest -= self.width
        if not self.rest:
            # Every bin is one difference now. Of several best ones the smallest counts, and no tie before any.
            if best > self.count:
                self.threshold = float(bins[some & (ends == best)].view(np.float64).min())
                self.count = best
            self.width = 0
            return
        # At most as many are right inside as if no pair were lost there.
        may = some & (starts + self.tied.reshape(change.shape) >= max(best, self.count + 1))
        self.bins, self.before = bins[may], starts[may]
        self.width = min(self.rest, max(1, (_BINS // max(1, len(self.bins))).bit_length() - 1)) if len(self.bins) else 0
        self._clear()
