"""acc_eq*: how often does a measure order two runs on a topic as the reference does, ties included?

Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie calibration",
EMNLP 2023. Of all pairs of runs on all topics, C are ordered alike and T are tied in both; acc_eq is (C + T)/all. Two
scores of the measure are tied if they differ by no more than ε, and acc_eq* is the largest over all ε.

Every absolute difference between two scores is a candidate for ε, and so is 0. Differences that are few enough are listed
and sorted; a running count of pairs that become right or wrong as ε grows gives the accuracy at every candidate. Others
are first counted by their leading bits, whose order is that of the differences, in a pass over all pairs. The accuracy at
the ends of such a bin is then known; inside it can be higher by no more than the bin has tied pairs. Only bins that may
hold the best threshold are divided further, until the differences in them can be listed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray, Scaled, split_pairs
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.resampling import add_signed, weigh_by_topic

Bits = npt.NDArray[np.uint64]

LISTED = 2**20
"""Differences of a measure that are listed, and bins that they are counted in: 16 MB."""

_LISTED_TOGETHER = 2**24  # of all measures whose thresholds are sought in the same passes
_ALL_BITS = 63  # of a float that is not negative


@dataclass(frozen=True, eq=False)
class TieAccuracy:
    """acc_eq* of every measure, shape (measure,), with the smallest ε that maximises it.

    `by_topic`, shape (measure, topic), is the share of pairs of runs about which the measure is right, at that ε. `exchanged`,
    shape (trial, measure pair), is the first less the second measure's share of right pairs, after each exchange. `tied` is the
    share of pairs that are tied in the reference.
    """

    value: FloatArray
    threshold: FloatArray
    by_topic: FloatArray
    exchanged: FloatArray
    tied: float


def tie_accuracy(scores: Scaled, key: int = 0, n_trials: int = 0, clusters: IntArray | None = None) -> TieAccuracy:
    """How often does each measure order two runs on a topic as the reference does, at its best tie threshold?

    To test whether one of two measures is better, it is exchanged who of them is right about random pairs of runs on
    random topics, each at its own ε. An exchange turns the sign of right_A − right_B, which is −1, 0 or 1; the signs of a
    trial are the same for all measures, so that all pairs of measures need one matrix product.

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); the last measure is the reference, whose equal scores are tied.
    key : int, optional
        Of the exchanges, a 64-bit key.
    n_trials : int, optional
        Exchanges.
    clusters : ndarray of int, shape (topic,), optional
        The number of the cluster of each topic: for a pair of runs, topics of one are exchanged together.

    Returns
    -------
    TieAccuracy

    Examples
    --------
    >>> accuracy = tie_accuracy(Scaled(np.array([[[0.5, 1.0]], [[0.6, 1.0]], [[0.9, 2.0]]])))
    >>> accuracy.value.tolist(), accuracy.threshold.round(2).tolist()
    ([1.0], [0.1])
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures, n_pairs = n_columns - 1, n_runs * (n_runs - 1) // 2
    together = max(1, _LISTED_TOGETHER // min(LISTED, n_pairs * n_topics))
    searches: list[_Search] = []
    for start in range(0, n_measures, together):
        searches += _search(scores, range(start, min(start + together, n_measures)))
    counts = np.zeros((n_measures, n_topics), dtype=np.int64)
    signed, n_tied = np.zeros((n_trials, n_measures)), 0
    for pairs, gaps in split_pairs(scores, "exchanging pairs of runs"):
        order = np.sign(gaps[..., -1])
        n_tied += int((order == 0).sum())
        right = np.stack([search.judge(gaps[..., m], order) for m, search in enumerate(searches)])
        counts += right.sum(axis=1)
        # Sums of so few signs are whole numbers that four bytes hold exactly.
        added = add_by_cluster(right.astype(np.float32), clusters)
        add_signed(signed, added.reshape(n_measures, -1).T, key, pairs.start * added.shape[-1])
    n_cells = n_pairs * n_topics
    first, second = np.triu_indices(n_measures, 1)
    return TieAccuracy(
        np.array([search.count for search in searches]) / n_cells,
        np.array([search.threshold for search in searches]),
        counts / n_pairs,
        (signed[:, first] - signed[:, second]) / n_cells,
        n_tied / n_cells,
    )


def resample_tie_accuracy(
    by_topic: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Return acc-t on topics drawn anew, with ε held, shape (trial, measure)."""
    n_topics = by_topic.shape[1]
    (drawn,) = weigh_by_topic(key, n_trials, n_topics, by_topic, divisor=n_topics, clusters=clusters)
    return drawn


def _search(scores: Scaled, measures: range) -> list[_Search]:
    """Find the best thresholds of some measures, in the same passes over all pairs of runs."""
    n_runs, n_topics, n_columns = scores.shape
    searches = [_Search(n_runs * (n_runs - 1) // 2 * n_topics) for _ in measures]
    number = 0
    while not all(search.finished for search in searches):
        number += 1
        columns = [*measures, n_columns - 1]
        for _, gaps in split_pairs(scores, f"tie thresholds, pass {number}, run pairs", columns):
            order = np.sign(gaps[..., -1]).ravel()
            for column, search in enumerate(searches):
                if not search.finished:
                    search.add(gaps[..., column].ravel(), order)
        for search in searches:
            if not search.finished:
                search.narrow()
    return searches


class _Search:
    """The search of one measure's best threshold among the bins of differences that may hold it.

    A bin is a number whose binary digits are the leading ones of the differences in it.
    """

    def __init__(self, n_differences: int) -> None:
        self.bins: Bits = np.zeros(1, dtype=np.uint64)
        self.before: IntArray = np.zeros(1, dtype=np.int64)
        """Right pairs if all pairs in smaller bins are tied, and no others."""
        self.rest = _ALL_BITS  # digits that are not looked at
        self.threshold, self.count = 0.0, 0
        self.finished, self._first = False, True
        self._begin_pass(n_differences)

    def _begin_pass(self, n_differences: int) -> None:
        """Prepare to list the differences in the bins if they are few, or else to count them in parts of each bin."""
        self.lists = n_differences <= LISTED
        self.listed: list[tuple[FloatArray, npt.NDArray[np.bool_]]] = []
        self.width = min(self.rest, max(1, (LISTED // len(self.bins)).bit_length() - 1))
        parts = 0 if self.lists else len(self.bins) << self.width
        self.tied, self.lost = np.zeros((2, parts), dtype=np.int64)

    def add(self, gaps: FloatArray, order: FloatArray) -> None:
        """Look at the differences of some pairs, and at their signs in the reference, both of shape (cell,)."""
        tied = order == 0
        ordered = ~tied & (np.sign(gaps) == order)
        sizes = np.abs(gaps)
        if self._first:
            self.before += int(ordered.sum()) + int((tied & (sizes == 0)).sum())
        # Few differences are in bins that are still looked at, once there are only some.
        rest = np.uint64(self.rest)
        low, high = ((end << rest) for end in (self.bins[0], self.bins[-1] + np.uint64(1)))
        digits = sizes.view(np.uint64)
        counts = (tied | ordered) & (sizes > 0) & (digits >= low) & (digits < high)
        digits, tied = digits[counts], tied[counts]
        bins = digits >> rest
        position = np.searchsorted(self.bins, bins)
        inside = self.bins[position] == bins
        if self.lists:
            self.listed.append((digits[inside].view(np.float64), tied[inside]))
            return
        part = (digits >> np.uint64(self.rest - self.width)) & np.uint64((1 << self.width) - 1)
        position = (position << self.width) + part.astype(np.int64)
        np.add.at(self.tied, position[inside & tied], 1)
        np.add.at(self.lost, position[inside & ~tied], 1)

    def narrow(self) -> None:
        """Settle the threshold, or keep the parts of bins that may hold it."""
        if self._first:
            self._first = False
            self.count = int(self.before[0])
        if self.lists:
            self._choose(*map(np.concatenate, zip(*self.listed, strict=True)))
            self.finished = True
            return
        change = (self.tied - self.lost).reshape(len(self.bins), -1)
        ends = self.before[:, np.newaxis] + np.cumsum(change, axis=1)
        starts = ends - change
        sizes = (self.tied + self.lost).reshape(change.shape)
        best = max(self.count, int(ends[sizes > 0].max(initial=0)))
        parts: Bits = (self.bins[:, np.newaxis] << np.uint64(self.width)) | np.arange(1 << self.width, dtype=np.uint64)
        self.rest -= self.width
        if not self.rest:
            # Every part is a single difference now. Of several best ones the smallest counts, and no tie before any.
            if best > self.count:
                self.threshold = float(parts[(sizes > 0) & (ends == best)].view(np.float64).min())
                self.count = best
            self.finished = True
            return
        # At most as many are right inside as if no pair were lost there.
        may = (sizes > 0) & (starts + self.tied.reshape(change.shape) >= max(best, self.count + 1))
        self.bins, self.before = parts[may], starts[may]
        self.finished = not len(self.bins)
        if not self.finished:
            self._begin_pass(int(sizes[may].sum()))

    def _choose(self, sizes: FloatArray, tied: npt.NDArray[np.bool_]) -> None:
        """Choose the best of listed differences, shape (pair,), of which the reference ties some, and orders the others."""
        if not len(sizes):
            return
        by_size = np.argsort(sizes)
        sizes = sizes[by_size]
        # A pair that becomes tied is right from then on if the reference ties it, and was right if it was well ordered.
        change = np.where(tied[by_size], 1, -1)
        position = np.searchsorted(self.bins, sizes.view(np.uint64) >> np.uint64(self.rest))
        earlier = np.cumsum(change) - change
        begins = np.append(True, position[1:] != position[:-1])
        shift = (self.before[position] - earlier)[begins][np.cumsum(begins) - 1]
        last = np.append(sizes[1:] != sizes[:-1], True)
        reached = (earlier + change + shift)[last]
        best = int(reached.argmax())
        if reached[best] > self.count:
            self.threshold, self.count = float(sizes[last][best]), int(reached[best])

    def judge(self, gaps: FloatArray, order: FloatArray) -> npt.NDArray[np.bool_]:
        """Return about which pairs the measure is right, with ties at its threshold."""
        return np.where(np.abs(gaps) <= self.threshold, order == 0, (order != 0) & (np.sign(gaps) == order))
