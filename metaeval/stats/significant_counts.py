"""How much does the number of significant pairs depend on the random trials of a test?

In a test with B trials a pair is significant if at most c of them are as extreme as its difference. With other trials
its count is binomial: Bin(B, p) with p estimated by count/B. The pairs' counts come from the same trials. Where all
pairs are compared with the same B maxima (randomised Tukey HSD, max-T), they move together: each count says how many
maxima lie above a threshold, so that with thresholds in order s pairs are significant if and only if the one with the
s-th smallest p is, and

    P(S ≥ s) = P(Bin(B, p_(s)) ≤ c).

This is the bootstrap over trials with infinitely many resamples, without drawing any.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, IntArray, check_count

PAIRS_A_BLOCK = 2**23
"""Cells of a table of measures and pairs that are multiplied at once."""


def significance_chances(
    counts: npt.ArrayLike, n_permutations: int, alpha: float, *, correction: str = "none", add_one: bool = False
) -> FloatArray:
    """How likely are at least 1, 2, 3, … significant pairs, if the test is repeated with other trials?

    Parameters
    ----------
    counts : array_like of int, shape (..., pair)
        How many trials are at least as extreme as each pair's difference.
    n_permutations : int
        Number of trials, B.
    alpha : float
    correction : {"none", "bonferroni", "holm", "benjamini-hochberg"}
        Correction of the p-values. It belongs to tests in which every pair has trials of its own, whose counts are taken
        to move together too.
    add_one : bool
        Whether p is (count + 1)/(B + 1) in place of count/B.

    Returns
    -------
    ndarray of float64, shape (..., pair)
        ``chances[..., s - 1]`` is P(S ≥ s).

    Examples
    --------
    >>> significance_chances([0, 45, 200], 1000, 0.05).round(2)
    array([1. , 0.8, 0. ])
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(counts), axis=-1)
    most = _most_extreme(ordered.shape[-1], n_permutations, alpha, correction, add_one)
    # Of millions of pairs few have another count, or another one to reach, than the pair before.
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[..., 1:] = (ordered[..., 1:] != ordered[..., :-1]) | (most[1:] != most[:-1])
    at = np.flatnonzero(new)
    reached, p = most[at % len(most)], ordered.reshape(-1)[at] / n_permutations
    # bdtr(c, B, p) is P(Bin(B, p) ≤ c); no count is small enough where c is -1.
    some = np.where(reached >= 0, bdtr(np.maximum(reached, 0).astype(float), n_permutations, p), 0.0)
    chances = np.repeat(some, np.diff(at, append=ordered.size)).reshape(ordered.shape)
    if correction == "benjamini-hochberg":  # a step-up test: a later pair carries the earlier ones
        return np.flip(np.maximum.accumulate(np.flip(chances, axis=-1), axis=-1), axis=-1)
    return np.minimum.accumulate(chances, axis=-1)


def significant_count_error(
    counts: npt.ArrayLike, n_permutations: int, alpha: float, *, correction: str = "none", add_one: bool = False
) -> FloatArray:
    """What is the Monte Carlo standard error of the number of significant pairs?

    The standard deviation of S over repetitions of the test with other trials. Exact, but for the estimated p, where all
    pairs share their trials' maxima. An approximation where each pair has trials of its own: in a trial of 45 pairs it was
    0.7 to 1.6 times the observed one, and less where a correction leaves a handful of trials to decide.

    Parameters
    ----------
    counts, n_permutations, alpha, correction, add_one
        As in `significance_chances`.

    Returns
    -------
    ndarray of float64, shape (...)

    Examples
    --------
    >>> significant_count_error([0, 45, 200], 1000, 0.05).round(2)
    np.float64(0.4)
    """
    chances = significance_chances(counts, n_permutations, alpha, correction=correction, add_one=add_one)
    mean = chances.sum(axis=-1)
    weights = 2 * np.arange(1, chances.shape[-1] + 1) - 1
    return np.sqrt(np.maximum((chances * weights).sum(axis=-1) - np.square(mean), 0.0))


def count_common(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> IntArray:
    """Count the pairs, on the last axis, that are true of each measure in the one table and each in the other."""
    common = np.zeros((len(first), len(second)), dtype=np.int64)
    # Counts of fewer than 2**24 pairs are whole numbers of four bytes too, which have the quickest product.
    size = max(1, PAIRS_A_BLOCK // max(len(first), len(second), 1))
    for start in range(0, first.shape[1], size):
        left, right = (table[:, start : start + size].astype(np.float32) for table in (first, second))
        common += (left @ right.T).astype(np.int64)
    return common


def trials_needed(n_pairs: int, alpha: float) -> int:
    """Return the smallest B with n_pairs/(B + 1) ≤ α, which a single significant pair needs if p is corrected for all pairs.

    With fewer even a count of 0 gives a corrected (count + 1)/(B + 1) above α, by Holm's and by Bonferroni's correction; by
    Benjamini and Hochberg's too, unless several pairs are significant together.
    """
    trials = max(1, math.ceil(n_pairs / alpha) - 1)
    while n_pairs / (trials + 1) > alpha:  # rounding
        trials += 1
    return trials


def _most_extreme(n_pairs: int, n_permutations: int, alpha: float, correction: str, add_one: bool) -> IntArray:
    """Return the largest count with which the pair of the j-th smallest p is significant, shape (pair,); -1 for none."""
    check_count(n_permutations, "permutations")
    rank = np.arange(1, n_pairs + 1)
    factors = {
        "none": np.ones(n_pairs),
        "bonferroni": np.full(n_pairs, float(n_pairs)),
        "holm": n_pairs + 1.0 - rank,
        "benjamini-hochberg": n_pairs / rank,
    }
    if correction not in factors:
        raise MetaevalError(f"The correction must be one of {', '.join(factors)}, not {correction!r}.")
    # As p-values are compared: rounding must not decide whether count/B is at most α.
    possible = (np.arange(n_permutations + 1) + add_one) / (n_permutations + add_one)
    return np.searchsorted(possible, alpha / factors[correction], side="right") - 1
