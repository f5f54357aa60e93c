"""Kendall's tau for many pairs of rankings at once, with ties decided by a tolerance.

Equal means of two runs often differ in the last bit as floats, because sums depend on their order. So every value stands for
the interval in which it may lie, and two values are tied if their intervals meet. Each pair is decided by itself: a huge score
of a third run ties no others, and a value may be tied with two that are not tied with each other.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, IntArray, divide, round_scaled
from metaeval.stats.parallel import split_work

TauVariant: TypeAlias = Literal["tau_a", "tau_b"]
Ordered: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.int16] | npt.NDArray[np.int32]

HALF_TOLERANCE = 1e-12 / 2  # the error of a mean of n scores is at most about n rounding errors of 1e-16
VALUES_A_BLOCK = 160_000  # so few that they stay in the cache
MANY_RUNS = 256  # from here on merging the rankings of one pair is quicker than comparing two runs of all pairs


def tau(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    variant: TauVariant = "tau_a",
    tolerance: float | tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> FloatArray:
    """Do two score vectors, shape (..., run), rank the runs alike?

    Of n(n - 1)/2 pairs of runs τ_a is the share of concordant less that of discordant ones; τ_b divides by the geometric mean
    of the numbers of pairs not tied on either side instead (Kendall 1945), and is NaN if all are. Values that differ by no more
    than `tolerance` are tied: one number, or that of each value of both sides, whose mean decides; by default 1e-12 times the
    magnitude of each value.

    >>> tau([1, 2, 3, 4], [[1, 2, 3, 4], [4, 3, 2, 1], [1, 2, 2, 3]])
    array([ 1.        , -1.        ,  0.83333333])
    """
    sides = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
    left, right = np.broadcast_arrays(place_intervals(first, sides[0]), place_intervals(second, sides[1]))
    return _tau_of_places(left, right, variant)


def tau_matrix(
    means: npt.ArrayLike, *, variant: TauVariant = "tau_a", tolerance: npt.ArrayLike | None = None
) -> FloatArray:
    """Do the measures rank the runs alike? `tau` of every two, of means (..., run, measure) and their tolerances."""
    columns = np.asarray(means, dtype=np.float64)
    if columns.ndim < 2:
        raise MetaevalError(f"Means must have two axes (run, measure), not {columns.ndim}.")
    if tolerance is not None:
        tolerance = np.broadcast_to(tolerance, columns.shape).swapaxes(-1, -2)
    places = place_intervals(columns.swapaxes(-1, -2), tolerance)
    n_measures = columns.shape[-1]
    matrix = np.empty((*columns.shape[:-2], n_measures, n_measures))
    first, second = np.triu_indices(n_measures)
    values = _tau_of_places(places[..., first, :, :], places[..., second, :, :], variant)
    matrix[..., first, second] = matrix[..., second, first] = values
    return matrix


def place_intervals(scores: npt.ArrayLike, tolerance: npt.ArrayLike | None) -> Ordered:
    """Return the places of both ends of each value among all ends, quicker to compare than these: shape (..., run, 2)."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] < 2:
        raise MetaevalError("A ranking needs at least two runs, on the last axis.")
    if not np.isfinite(values).all():
        raise MetaevalError("Scores to be ranked must be finite; some are NaN or infinite.")
    reach = np.abs(values) * HALF_TOLERANCE if tolerance is None else np.asarray(tolerance, dtype=np.float64) / 2
    if not (reach >= 0).all():
        raise MetaevalError(f"The tolerance must not be negative, and is {2 * reach.min():g}.")
    with np.errstate(over="ignore"):  # beyond the largest float is above all others
        # Of equal ends the lower ones come first, so that intervals that touch meet.
        ends = np.concatenate([values - reach, values + reach], axis=-1)
    n_ends = ends.shape[-1]
    places = np.empty(ends.shape, dtype=np.int16 if n_ends < 1 << 15 else np.int32)
    np.put_along_axis(places, np.argsort(ends, axis=-1, kind="stable"), np.arange(n_ends, dtype=places.dtype), axis=-1)
    return np.stack(np.split(places, 2, axis=-1), axis=-1)


def _tau_of_places(left: Ordered, right: Ordered, variant: TauVariant) -> FloatArray:
    leading, n_runs = left.shape[:-2], left.shape[-2]
    sides = left.reshape(-1, n_runs, 2), right.reshape(-1, n_runs, 2)
    values = np.empty(len(sides[0]))
    for part in split_work(len(values), VALUES_A_BLOCK // (2 * n_runs)):
        ends = np.stack([side[part] for side in sides])
        low, high = np.ascontiguousarray(ends.transpose(3, 0, 2, 1))
        values[part] = tau_by_run(low, high, variant)
    return values.reshape(leading)


def tau_by_run(low: Ordered, high: Ordered, variant: TauVariant) -> FloatArray:
    """Compute tau for many pairs of rankings, whose values are from `low` to `high`, of shape (2, run, pair): shape (pair,)."""
    if variant not in ("tau_a", "tau_b"):
        raise MetaevalError(f'The variant of tau must be "tau_a" or "tau_b", not {variant!r}.')
    n_runs = low.shape[1]
    compare = _compare_each if n_runs >= MANY_RUNS else _compare_all
    balance, untied = compare(low, high, count_untied=variant == "tau_b")
    if variant == "tau_a":
        return np.asarray(balance / (n_runs * (n_runs - 1) // 2))
    return divide(balance, np.sqrt(untied[0].astype(np.float64) * untied[1]))


def _compare_all(low: Ordered, high: Ordered, *, count_untied: bool) -> tuple[IntArray, IntArray]:
    """Return concordant less discordant pairs of runs, and pairs of runs that are not tied on either side."""
    _, n_runs, n_pairs = low.shape
    balance, untied = np.zeros(n_pairs, dtype=np.int64), np.zeros((2, n_pairs), dtype=np.int64)
    above, below = np.empty((2, 2, n_runs - 1, n_pairs), dtype=np.bool_)
    for run in range(n_runs - 1):
        signs = above[:, run:].view(np.int8)
        np.greater(low[:, run + 1 :], high[:, run, np.newaxis], out=above[:, run:])
        np.less(high[:, run + 1 :], low[:, run, np.newaxis], out=below[:, run:])
        np.subtract(signs, below[:, run:].view(np.int8), out=signs)
        if count_untied:
            untied += [_add_signs(np.abs(side)) for side in signs]
        balance += _add_signs(np.multiply(signs[0], signs[1], out=signs[0]))
    return balance, untied


def _add_signs(signs: npt.NDArray[np.int8]) -> npt.NDArray[np.integer]:
    """Sum the signs of each pair of rankings; sums of up to 127 signs fit into bytes, which is much faster."""
    if len(signs) <= 127:
        return np.asarray(np.add.reduce(signs, axis=0, dtype=np.int8))
    parts = [_add_signs(signs[start : start + 127]) for start in range(0, len(signs), 127)]
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


def _compare_each(low: Ordered, high: Ordered, *, count_untied: bool) -> tuple[IntArray, IntArray]:
    """Return the same one pair of rankings after the other: by merging (Knight 1966) where ties are transitive."""
    import scipy.stats  # loads for half a second

    _, n_runs, n_pairs = low.shape
    balance, untied = np.zeros(n_pairs, dtype=np.int64), np.zeros((2, n_pairs), dtype=np.int64)
    for pair in range(n_pairs):
        first, second = (_group_ties(low[side, :, pair], high[side, :, pair]) for side in range(2))
        if first is None or second is None:
            single = slice(pair, pair + 1)
            balance[single], untied[:, single] = _compare_all(low[..., single], high[..., single], count_untied=True)
            continue
        for side, groups in enumerate((first, second)):
            sizes = np.bincount(groups).astype(np.int64)
            untied[side, pair] = (n_runs * (n_runs - 1) - np.sum(sizes * (sizes - 1))) // 2
        if untied[:, pair].all():  # scipy divides by the geometric mean; the whole number it began with is restored
            value = scipy.stats.kendalltau(first, second, method="asymptotic").statistic
            balance[pair] = round(value * math.sqrt(untied[0, pair]) * math.sqrt(untied[1, pair]))
    return balance, untied


def _group_ties(low: Ordered, high: Ordered) -> IntArray | None:
    """Number the groups of runs whose intervals meet, lowest first, or return None if not all runs of a group meet."""
    order = np.argsort(low, kind="stable")
    begins, ends = low[order], high[order]
    first = np.flatnonzero(np.r_[True, begins[1:] > np.maximum.accumulate(ends)[:-1]])
    if (np.minimum.reduceat(ends, first) < begins[np.r_[first[1:], len(order)] - 1]).any():
        return None
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.repeat(np.arange(len(first)), np.diff(np.r_[first, len(order)]))
    return groups


def spearman_matrix(values: FloatArray) -> FloatArray:
    """Return Spearman's ρ between every two columns of run × unit scores, ties given average ranks."""
    from scipy.stats import rankdata  # half a second that other analyses need not wait for

    ranks = rankdata(round_scaled(values), axis=0)
    ranks -= ranks.mean(axis=0)
    length = np.sqrt((ranks**2).sum(axis=0))
    unit = np.divide(ranks, length, out=np.full(ranks.shape, np.nan), where=length > 0)
    return np.clip((unit.T @ unit)[np.triu_indices(values.shape[1], 1)], -1, 1)
