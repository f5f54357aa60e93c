"""Split-half consistency: does a measure rank the runs alike on two halves of the topics?

Sakai (ACL 2021), Section 5.2: split the topics at random into two sets, rank the runs by their means on each
set, compute Kendall's tau between the two rankings, and repeat.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._check import check_count, check_shape
from metaeval.stats.blocks import is_large, split_topics
from metaeval.stats.parallel import Kept, is_resumable, iterate_kept_tasks
from metaeval.stats.progress import tell
from metaeval.stats.quantise import quantise, tie_tolerance
from metaeval.stats.rank_correlation import VALUES_A_BLOCK, FloatArray, TauVariant, tau_by_run
from metaeval.stats.scale import scale_scores
from metaeval.stats.streams import UInt64Array, attempt_keys, check_key, trial_keys, words

# Sums of this many 32-bit scores are exact as floats, so a matrix product gives exact sums.
MOST_TOPICS = 2**21

# Cells of the topic masks held at once, so that memory does not grow with the number of trials.
MASKS_A_BLOCK = 2**20

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
    n_trials : int
        Number of splits.
    n_topics : int
        Number of topics.
    size : int, optional
        Number of topics in each set. By default all topics are used: ``n_topics // 2`` in the first set, the others
        in the second.
    first_trial : int
        The number of the first split.

    Returns
    -------
    first, second : ndarray of bool, shape (trial, topic)
        `first[b, t]` says whether topic t is in the first set of trial b. No topic is in both sets.

    Raises
    ------
    MetaevalError
        If there are fewer than two topics, the sets would overlap, or `n_trials` is less than 1.

    Examples
    --------
    >>> first, second = splits(3, n_trials=4, n_topics=5)
    >>> first.sum(axis=1).tolist(), second.sum(axis=1).tolist()
    ([2, 2, 2, 2], [3, 3, 3, 3])
    >>> first, second = splits(3, n_trials=4, n_topics=50, size=10)
    >>> first.sum(axis=1).tolist(), bool((first & second).any())
    ([10, 10, 10, 10], False)
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
        The scores.
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

    Raises
    ------
    MetaevalError
        If there are fewer than two runs or topics, a score is not finite, or the topics cannot be split.

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
    splitter = (_SplitsInBlocks if is_large(raw) else _Splits)(raw, key, size, variant, n_trials)
    trials_a_part = max(16, KEPT_WORK // raw.size) if is_resumable() else n_trials
    parts = [range(start, min(start + trials_a_part, n_trials)) for start in range(0, n_trials, trials_a_part)]
    splitter.announce(parts)
    if not is_resumable():
        return splitter.correlate(parts[0])
    said = hashlib.sha256(f"{RECIPE} {raw.shape} {key} {size} {variant}".encode())
    for block in splitter.units():
        said.update(np.ascontiguousarray(block, dtype="<u4").tobytes())
    name = f"splits-{said.hexdigest()[:32]}"
    kept = [Kept(f"{name}-{part.start}-{part.stop}", (len(part), raw.shape[2]), "float64", len(part)) for part in parts]
    tasks: list[Any] = [(splitter.correlate, (part,), {}) for part in parts]
    # Here, whatever backend was asked for: the scores may be a file of this process.
    return np.concatenate(list(iterate_kept_tasks(tasks, kept, n_jobs=1, require="sharedmem")))


def _check_size(n_topics: int, size: int | None) -> None:
    if size is not None and not 1 <= size <= n_topics // 2:
        raise MetaevalError(
            f"Two disjoint sets of {size} topics cannot be taken from {n_topics}; "
            f"the size must lie between 1 and {n_topics // 2}."
        )


class _Splits:
    """Tau of splits of scores in memory."""

    def __init__(self, raw: FloatArray, key: int, size: int | None, variant: TauVariant, n_trials: int) -> None:
        self.shape, self.key, self.size, self.variant = raw.shape, key, size, variant
        self.n_trials = n_trials
        self._prepare(raw)

    def _prepare(self, raw: FloatArray) -> None:
        self._units = quantise(scale_scores(raw))
        _, n_topics, _ = self.shape
        self._rows = self._units.transpose(1, 2, 0).reshape(-1, n_topics).astype(np.float64)
        self._all_topics = self._rows.sum(axis=1, keepdims=True)

    def announce(self, parts: Sequence[range]) -> None:
        """State how much memory is held, where that is worth saying."""

    def units(self) -> Iterator[npt.NDArray[np.uint32]]:
        """Yield the scores as whole numbers, shape (topic, run, measure), which are all that the results depend on."""
        yield self._units

    def correlate(self, trials: range) -> FloatArray:
        """Return tau of every trial and measure."""
        n_runs, n_topics, n_measures = self.shape
        units, n_trials = self._rows, len(trials)
        taus = np.empty((n_trials, n_measures))
        block = max(1, min(n_trials, VALUES_A_BLOCK // (2 * n_runs * n_measures), MASKS_A_BLOCK // n_topics))
        # One buffer for all blocks: fresh memory for each would cost more than the sums.
        scratch = np.empty(block * (n_topics + 4 * len(units)))
        for start in range(0, n_trials, block):
            some = trials[start : start + block]
            first, second = splits(self.key, len(some), n_topics, self.size, first_trial=some.start)
            mask = scratch[: len(some) * n_topics].reshape(len(some), n_topics)
            bounds = scratch[mask.size :][: 4 * len(units) * len(some)].reshape(2, 2, len(units), len(some))
            sums = bounds[0]
            mask[:] = first
            np.matmul(units, mask.T, out=sums[0])
            if self.size is None:
                np.subtract(self._all_topics, sums[0], out=sums[1])
            else:
                mask[:] = second
                np.matmul(units, mask.T, out=sums[1])
            taus[start : start + block] = self._compare(bounds)
            tell("splits", some.stop, self.n_trials)
        return taus

    def _compare(self, bounds: FloatArray) -> FloatArray:
        """Return tau of some trials, shape (trial, measure), from their sums, behind which their upper ends go."""
        n_runs, n_topics, n_measures = self.shape
        lengths = (n_topics // 2, n_topics - n_topics // 2) if self.size is None else (self.size, self.size)
        tolerance = [[[tie_tolerance(length)]] for length in lengths]
        # Whole numbers: the sum with its tolerance is exact too.
        np.add(bounds[0], tolerance, out=bounds[1])
        low, high = bounds.reshape(2, 2, n_runs, -1)
        return tau_by_run(low, high, self.variant).reshape(n_measures, -1).T


class _SplitsInBlocks(_Splits):
    """The same of scores that memory does not hold."""

    def _prepare(self, raw: FloatArray) -> None:
        from metaeval.stats._tukey_in_blocks import Units

        self._read = Units(raw)

    def announce(self, parts: Sequence[range]) -> None:
        from metaeval.stats._splits_in_blocks import announce

        announce(self.shape, parts)

    def units(self) -> Iterator[npt.NDArray[np.uint32]]:
        return (self._read.read(topics) for topics in split_topics(self._read.values))

    def correlate(self, trials: range) -> FloatArray:
        from metaeval.stats._splits_in_blocks import sum_sets, trials_a_pass

        n_runs, n_topics, n_measures = self.shape
        taus = np.empty((len(trials), n_measures))
        a_pass = trials_a_pass(self.shape, len(trials))
        block = max(1, VALUES_A_BLOCK // (2 * n_runs * n_measures))

        def draw(some: range) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
            return splits(self.key, len(some), n_topics, self.size, first_trial=some.start)

        for begin in range(0, len(trials), a_pass):
            together = trials[begin : begin + a_pass]
            sums = sum_sets(self._read, draw, together, halves=self.size is None)
            for start in range(0, len(together), block):
                some = sums[..., start : start + block]
                stop = begin + start + some.shape[-1]
                taus[begin + start : stop] = self._compare(np.stack([some, some]))
                tell("splits", trials.start + stop, self.n_trials)
        return taus


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
