"""Split-half consistency: does a measure rank the runs alike on two halves of the topics?

Sakai (ACL 2021), Section 5.2: split the topics at random into two sets, rank the runs by their means on each
set, compute Kendall's tau between the two rankings, and repeat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.blocks import Units, check_count, check_shape, tie_tolerance
from metaeval.stats.parallel import is_resumable, run_parts, tell
from metaeval.stats.rank_correlation import VALUES_A_BLOCK, FloatArray, TauVariant, tau_by_run
from metaeval.stats.streams import UInt64Array, attempt_keys, check_key, trial_keys, words

# Sums of this many 32-bit scores are exact as floats, so a matrix product gives exact sums.
MOST_TOPICS = 2**21

BYTES_A_PASS = 2**27
"""Bytes of bits and sums held at once: trials beyond them take another pass over the scores."""

CELLS_A_PRODUCT = 2**17
"""Numbers, 1 MB, that a product of matrices takes at once of the bits of trials."""

# Random words drawn and partitioned by one NumPy call: few enough to stay in the cache.
WORDS_A_BLOCK = 2**14

# Scores added up by a block of trials that is kept for a study to be resumed: some seconds, much longer than writing
# a file takes, and enough trials for another pass over scores that memory does not hold.
KEPT_WORK = 40_000_000_000
RECIPE = 1
"""Goes up when the splits change: what is kept from an earlier recipe is not used."""


def splits(
    key: int, n_trials: int, n_topics: int, size: int | None = None, *, first_trial: int = 0
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Draw the two sets of topics of each trial.

    Every pair of disjoint sets of the given sizes is equally likely. A split is a pure function of (key, trial,
    n_topics, size) and is shared by all measures.

    Parameters
    ----------
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    n_trials, n_topics : int
        At least two topics.
    size : int, optional
        Topics in each set; by default ``n_topics // 2`` in the first set, and the others in the second.
    first_trial : int
        The number of the first split.

    Returns
    -------
    first, second : ndarray of bool, shape (trial, topic)
        `first[b, t]` says whether topic t is in the first set of trial b. No topic is in both sets.

    Examples
    --------
    >>> first, second = splits(3, n_trials=4, n_topics=5)
    >>> first.sum(axis=1).tolist(), second.sum(axis=1).tolist()
    ([2, 2, 2, 2], [3, 3, 3, 3])
    """
    n_trials = check_count(n_trials, "trials")
    if n_topics < 2:
        raise MetaevalError(f"At least two topics are needed to split them; there are {n_topics}.")
    _check_size(n_topics, size)
    if first_trial < 0:
        raise MetaevalError(f"Trials are numbered from 0, so the first cannot be {first_trial}.")
    keys = trial_keys(key, range(first_trial, first_trial + n_trials))
    first, second = np.empty((2, n_trials, n_topics), dtype=np.bool_)
    block = max(1, WORDS_A_BLOCK // n_topics)
    for start in range(0, n_trials, block):
        part = slice(start, start + block)
        first[part], second[part] = _draw_splits(keys[part], n_topics, size, 0)
    return first, second


def split_half_tau(
    values: npt.ArrayLike,
    *,
    n_trials: int = 1000,
    size: int | None = None,
    key: int,
    variant: TauVariant = "tau_a",
) -> FloatArray:
    """How similarly does each measure rank the runs on two random sets of topics?

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        Finite; at least two runs and topics.
    n_trials : int
        Number of splits.
    size : int, optional
        Number of topics in each set; by default half of them.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    variant : {"tau_a", "tau_b"}
        As in `metaeval.stats.rank_correlation.tau`.

    Returns
    -------
    ndarray of float64, shape (trial, measure)
        Kendall's tau between the rankings by mean over the first set and over the second set. Means that are
        mathematically equal are tied, regardless of rounding. tau_b is NaN if all runs are tied on one set.

    Examples
    --------
    >>> quality = np.linspace(0, 1, 6).reshape(6, 1, 1)
    >>> values = quality + 0.1 * np.random.default_rng(0).random((6, 40, 1))
    >>> split_half_tau(values, n_trials=3, key=1).T
    array([[1., 1., 1.]])
    """
    raw = check_shape(values)
    n_topics = raw.shape[1]
    n_trials = check_count(n_trials, "trials")
    check_key(key)
    if variant not in ("tau_a", "tau_b"):
        raise MetaevalError(f'The variant of tau must be "tau_a" or "tau_b", not {variant!r}.')
    if n_topics > MOST_TOPICS:
        raise MetaevalError(f"At most {MOST_TOPICS} topics can be split exactly; there are {n_topics}.")
    _check_size(n_topics, size)
    splits_of = _Splits(raw, key, size, variant, n_trials)
    trials_a_part = max(16, KEPT_WORK // raw.size) if is_resumable() else n_trials
    trials = range(n_trials)
    parts = [trials[start : start + trials_a_part] for start in range(0, n_trials, trials_a_part)]
    splits_of.announce(parts)
    taus = run_parts(splits_of.correlate, parts, name=splits_of.name, shape=(None, raw.shape[2]), dtype="float64")
    return np.concatenate(list(taus))


def _check_size(n_topics: int, size: int | None) -> None:
    if size is not None and not 1 <= size <= n_topics // 2:
        raise MetaevalError(
            f"Two disjoint sets of {size} topics cannot be taken from {n_topics}; "
            f"the size must lie between 1 and {n_topics // 2}."
        )


class _Splits:
    """Tau between the halves of splits: topics in blocks, and sums of as many trials as memory holds between them."""

    def __init__(self, raw: FloatArray, key: int, size: int | None, variant: TauVariant, n_trials: int) -> None:
        self._units, self._key, self._size, self._variant = Units(raw), key, size, variant
        self._n_trials = n_trials
        n_runs, n_topics, n_measures = raw.shape
        # The topics of a split are bits, of which whole bytes are stored; sums are held for both sets.
        self._bytes_a_trial = 2 * -(-n_topics // 8) + 16 * n_runs * n_measures

    def _trials_a_pass(self, n_trials: int) -> int:
        """Return how many trials are summed up while the scores are read once."""
        return min(n_trials, max(1, self._units.limit_bytes(BYTES_A_PASS) // self._bytes_a_trial))

    def announce(self, parts: Sequence[range]) -> None:
        """State how much memory is held, where that is worth saying."""
        sizes = [self._trials_a_pass(len(part)) for part in parts]
        passes = sum(-(-len(part) // size) for part, size in zip(parts, sizes, strict=True))
        self._units.announce(
            f", {self._n_trials:,} splits: bits and sums of {max(sizes) * self._bytes_a_trial / 2**20:,.0f} MB are held in "
            f"memory, and the scores are read {passes + 2} times in blocks of topics"
        )

    def name(self) -> str:
        """Return a name made of everything that the tau of a trial depends on."""
        units = self._units
        return units.name("splits", f"{RECIPE} {units.shape} {self._key} {self._size} {self._variant}")

    def correlate(self, trials: range) -> FloatArray:
        """Return tau of every trial, shape (trial, measure)."""
        n_runs, _, n_measures = self._units.shape
        a_pass = self._trials_a_pass(len(trials))
        size = max(1, min(a_pass, VALUES_A_BLOCK // (2 * n_runs * n_measures)))
        taus = []
        # One buffer for all: fresh memory for each block would cost more than the sums.
        ends = np.empty(4 * n_runs * n_measures * size)
        for begin in range(0, len(trials), a_pass):
            together = trials[begin : begin + a_pass]
            sums = self._add_up(together)
            for start in range(0, len(together), size):
                some = sums[..., start : start + size]
                taus.append(self._compare(some, ends[: 2 * some.size].reshape(2, *some.shape)))
                tell("splits", together[: start + size].stop, self._n_trials)
        return np.concatenate(taus)

    def _add_up(self, trials: range) -> FloatArray:
        """Return the sums over both sets of each trial, shape (2, run · measure, trial): whole numbers."""
        n_runs, n_topics, n_measures = self._units.shape
        n_sets = 1 if self._size is None else 2  # a second half is what the first leaves
        sums, all_topics = np.empty((2, n_runs * n_measures, len(trials))), np.zeros((n_runs * n_measures, 1))
        bits = self._draw_bits(trials, n_sets)
        for topics, block in self._units.blocks():
            scores = block.reshape(len(block), -1).T.astype(np.float64)
            all_topics += scores.sum(axis=1, keepdims=True)
            first_byte, skipped = divmod(topics.start, 8)
            few = max(1, CELLS_A_PRODUCT // len(block))
            for start in range(0, len(trials), few):
                part = slice(start, start + few)
                for total, packed in zip(sums, bits, strict=False):
                    inside = np.unpackbits(packed[part, first_byte : -(-topics.stop // 8)], axis=1)[:, skipped:]
                    chosen = inside[:, : len(block)].astype(np.float64).T
                    if topics.start:
                        total[:, part] += scores @ chosen
                    else:
                        np.matmul(scores, chosen, out=total[:, part])
            if len(block) < n_topics:
                tell("summing splits", topics.stop, n_topics)
        if n_sets == 1:
            np.subtract(all_topics, sums[0], out=sums[1])
        return sums

    def _draw_bits(self, trials: range, n_sets: int) -> npt.NDArray[np.uint8]:
        """Return the topics in each set of each trial as bits, shape (set, trial, byte)."""
        n_topics = self._units.shape[1]
        bits = np.empty((n_sets, len(trials), -(-n_topics // 8)), dtype=np.uint8)
        few = max(1, CELLS_A_PRODUCT // n_topics)
        for start in range(0, len(trials), few):
            some = trials[start : start + few]
            drawn = splits(self._key, len(some), n_topics, self._size, first_trial=some.start)
            for packed, chosen in zip(bits, drawn, strict=False):
                packed[start : start + few] = np.packbits(chosen, axis=1)
        return bits

    def _compare(self, sums: FloatArray, ends: FloatArray) -> FloatArray:
        """Return tau of some trials, shape (trial, measure), from their sums, of which both ends are written to `ends`."""
        n_runs, n_topics, n_measures = self._units.shape
        lengths = (n_topics // 2, n_topics - n_topics // 2) if self._size is None else (self._size, self._size)
        # Whole numbers: the sum with its tolerance is exact too.
        ends[0] = sums
        np.add(sums, [[[tie_tolerance(length)]] for length in lengths], out=ends[1])
        low, high = ends.reshape(2, 2, n_runs, -1)
        return tau_by_run(low, high, self._variant).reshape(n_measures, -1).T


def _draw_splits(
    keys: UInt64Array, n_topics: int, size: int | None, attempt: int
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Choose the topics with the smallest random numbers, then the next smallest; a 64-bit word holds two numbers."""
    halves = words(attempt_keys(keys, attempt)[:, np.newaxis], np.arange((n_topics + 1) // 2))
    drawn = halves.astype("<u8", copy=False).view("<u4")[:, :n_topics]
    in_first = n_topics // 2 if size is None else size
    in_both = n_topics if size is None else 2 * size
    ranks = [in_first - 1] if size is None else [in_first - 1, in_both - 1]
    ordered = drawn.copy()
    ordered.partition(ranks, axis=1)
    bounds = ordered[:, [in_first - 1, in_both - 1]]
    first = drawn <= bounds[:, :1]
    second = ~first if size is None else ~first & (drawn <= bounds[:, 1:])
    # Equal numbers at a bound would put too many topics into a set; drawing such trials again keeps all splits
    # equally likely.
    if np.count_nonzero(first) + np.count_nonzero(second) > keys.size * in_both or (
        np.count_nonzero(first) > keys.size * in_first
    ):
        tied = np.flatnonzero((first.sum(axis=1) > in_first) | (second.sum(axis=1) != in_both - in_first))
        first[tied], second[tied] = _draw_splits(keys[tied], n_topics, size, attempt + 1)
    return first, second
