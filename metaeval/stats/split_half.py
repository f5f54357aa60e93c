"""Split-half consistency: does a measure rank the runs alike on two halves of the topics?

Sakai (ACL 2021), Section 5.2: split the topics at random into two sets, rank the runs by their means on each
set, compute Kendall's tau between the two rankings, and repeat.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.blocks import check_count, check_shape, quantise, tie_tolerance
from metaeval.stats.parallel import tell
from metaeval.stats.rank_correlation import VALUES_A_BLOCK, FloatArray, TauVariant, tau_by_run
from metaeval.stats.streams import UInt64Array, attempt_keys, check_key, trial_keys, words

# Sums of this many 32-bit scores are exact as floats, so a matrix product gives exact sums.
MOST_TOPICS = 2**21

CELLS_A_PRODUCT = 2**17
"""Numbers, 1 MB, that a product of matrices takes at once of the bits of trials."""

# Random words drawn and partitioned by one NumPy call: few enough to stay in the cache.
WORDS_A_BLOCK = 2**14


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
    scores = quantise(raw).reshape(n_topics, -1).T.astype(np.float64)
    all_topics = scores.sum(axis=1, keepdims=True)
    lengths = (n_topics // 2, n_topics - n_topics // 2) if size is None else (size, size)
    tolerances = np.array([[[tie_tolerance(length)]] for length in lengths], dtype=np.float64)
    n_runs, _, n_measures = raw.shape
    taus = []
    few = max(1, min(CELLS_A_PRODUCT // n_topics, VALUES_A_BLOCK // (2 * len(scores))))
    for start in range(0, n_trials, few):
        first, second = splits(key, min(few, n_trials - start), n_topics, size, first_trial=start)
        sums = np.empty((2, len(scores), len(first)))
        np.matmul(scores, first.T.astype(np.float64), out=sums[0])
        if size is None:  # the second half is what the first leaves
            np.subtract(all_topics, sums[0], out=sums[1])
        else:
            np.matmul(scores, second.T.astype(np.float64), out=sums[1])
        # Whole numbers: a sum with its tolerance is exact too.
        low, high = (ends.reshape(2, n_runs, -1) for ends in (sums, sums + tolerances))
        taus.append(tau_by_run(low, high, variant).reshape(n_measures, -1).T)
        tell("splits", start + len(first), n_trials)
    return np.concatenate(taus)


def _check_size(n_topics: int, size: int | None) -> None:
    if size is not None and not 1 <= size <= n_topics // 2:
        raise MetaevalError(
            f"Two disjoint sets of {size} topics cannot be taken from {n_topics}; "
            f"the size must lie between 1 and {n_topics // 2}."
        )


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
