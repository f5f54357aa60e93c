"""Kendall's tau for many pairs of rankings at once, with ties decided by a tolerance.

Two runs whose means are mathematically equal often differ in the last bit as floats, because sums of floats
depend on their order. An exact comparison would turn such a tie into an arbitrary order and change tau, so two
values are tied if they differ by no more than a tolerance.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError

TauVariant: TypeAlias = Literal["tau_a", "tau_b"]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# The error of a mean of n scores is at most about n rounding errors of 1e-16. A difference of a thousand times
# that is still not a real difference.
RELATIVE_TOLERANCE = 1e-12

# Values per block: enough to make the overhead of a NumPy call negligible, few enough to stay in the cache.
VALUES_A_BLOCK = 160_000


def tau(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    variant: TauVariant = "tau_a",
    tolerance: float | None = None,
) -> FloatArray:
    """Do two score vectors rank the runs alike?

    With C concordant and D discordant pairs of runs among n(n - 1)/2, tau_a is (C - D)/(n(n - 1)/2), and
    tau_b divides by the geometric mean of the numbers of pairs not tied in either vector instead (Kendall,
    "The treatment of ties in ranking problems", 1945).

    Parameters
    ----------
    first, second : array_like of float, shape (..., run)
        Scores of the runs, with the same direction in both; leading axes are broadcast.
    variant : {"tau_a", "tau_b"}
        The denominator.
    tolerance : float, optional
        Two values that differ by no more than this are tied. The default is 1e-12 times the largest magnitude in
        each vector: more than the rounding error of a mean of thousands of scores, less than any real difference.

    Returns
    -------
    ndarray of float64, shape (...)
        From -1 to 1; tau_b is NaN if all runs are tied in one vector.

    Raises
    ------
    MetaevalError
        If there are fewer than two runs, a value is not finite, or the shapes do not match.

    Examples
    --------
    >>> tau([1, 2, 3, 4], [[1, 2, 3, 4], [4, 3, 2, 1], [1, 2, 2, 3]])
    array([ 1.        , -1.        ,  0.83333333])
    >>> float(tau([0.1 + 0.2, 0.3, 0.4], [1, 1, 2], variant="tau_b"))
    1.0
    """
    if variant not in ("tau_a", "tau_b"):
        raise MetaevalError(f'The variant of tau must be "tau_a" or "tau_b", not {variant!r}.')
    one, two = np.broadcast_arrays(_check_scores(first), _check_scores(second))
    leading, n_runs = one.shape[:-1], one.shape[-1]
    one, two = one.reshape(-1, n_runs), two.reshape(-1, n_runs)
    values = np.empty(len(one))
    size = max(1, VALUES_A_BLOCK // (2 * n_runs))
    for start in range(0, len(one), size):
        part = slice(start, start + size)
        scores = np.stack([one[part].T, two[part].T])
        limits = np.stack([_tolerance(side, tolerance) for side in scores])
        values[part] = tau_by_run(scores, limits, variant)
    return values.reshape(leading)


def tau_matrix(means: npt.ArrayLike, *, variant: TauVariant = "tau_a", tolerance: float | None = None) -> FloatArray:
    """Do the measures rank the runs alike? Tau for every pair of measures.

    Parameters
    ----------
    means : array_like of float, shape (run, measure)
        The mean score of each run, with the same direction for all measures.
    variant : {"tau_a", "tau_b"}
        As in `tau`.
    tolerance : float, optional
        As in `tau`.

    Returns
    -------
    ndarray of float64, shape (measure, measure)
        Symmetric.

    Raises
    ------
    MetaevalError
        As `tau`.

    Examples
    --------
    >>> tau_matrix([[1, 3], [2, 2], [3, 1]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    columns = np.asarray(means, dtype=np.float64)
    if columns.ndim != 2:
        raise MetaevalError(f"Means must have two axes (run, measure), not {columns.ndim}.")
    return tau(columns.T[:, np.newaxis], columns.T[np.newaxis], variant=variant, tolerance=tolerance)


def tied_ranks(values: npt.ArrayLike, *, tolerance: float | None = None) -> npt.NDArray[np.int64]:
    """Return the rank of each run, where nearly equal values share a rank.

    Parameters
    ----------
    values : array_like of float, shape (..., run)
        Scores of the runs.
    tolerance : float, optional
        As in `tau`; neighbours in the sorted order that differ by no more share a rank.

    Returns
    -------
    ndarray of int64, shape (..., run)
        0 for the lowest value, without gaps.

    Raises
    ------
    MetaevalError
        As `tau`.

    Examples
    --------
    >>> tied_ranks([0.3, 0.1 + 0.2, 0.1, 0.5])
    array([1, 1, 0, 2])
    """
    scores = _check_scores(values)
    order = np.argsort(scores, axis=-1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=-1)
    limit = _tolerance(np.moveaxis(scores, -1, 0), tolerance)[..., np.newaxis]
    places = np.zeros(scores.shape, dtype=np.int64)
    np.cumsum(np.diff(ascending, axis=-1) > limit, axis=-1, out=places[..., 1:])
    ranks = np.empty_like(places)
    np.put_along_axis(ranks, order, places, axis=-1)
    return ranks


def tau_by_run(scores: FloatArray, tolerance: FloatArray, variant: TauVariant) -> FloatArray:
    """Compute tau for many pairs of rankings, with the pairs on the last axis so that comparisons are vectorised.

    Parameters
    ----------
    scores : ndarray of float64, shape (2, run, pair)
        `scores[0, :, i]` and `scores[1, :, i]` are the two vectors of pair i.
    tolerance : ndarray of float64, shape (2, pair) or (2, 1)
        Two values that differ by no more than this are tied.
    variant : {"tau_a", "tau_b"}
        The denominator.

    Returns
    -------
    ndarray of float64, shape (pair,)
    """
    _, n_runs, n_pairs = scores.shape
    balance = np.zeros(n_pairs, dtype=np.int64)
    untied = np.zeros((2, n_pairs), dtype=np.int64)
    above, below = np.empty((2, 2, n_runs - 1, n_pairs), dtype=np.bool_)
    for run in range(n_runs - 1):
        later, this = scores[:, run + 1 :], scores[:, run]
        signs = above[:, run:].view(np.int8)
        np.greater(later, (this + tolerance)[:, np.newaxis], out=above[:, run:])
        np.less(later, (this - tolerance)[:, np.newaxis], out=below[:, run:])
        np.subtract(signs, below[:, run:].view(np.int8), out=signs)
        if variant == "tau_b":
            untied += [_add_signs(np.abs(side)) for side in signs]
        balance += _add_signs(np.multiply(signs[0], signs[1], out=signs[0]))
    if variant == "tau_a":
        return np.asarray(balance / (n_runs * (n_runs - 1) // 2))
    geometric = np.sqrt(untied[0].astype(np.float64) * untied[1])
    values = np.full(n_pairs, np.nan)
    np.divide(balance, geometric, out=values, where=geometric > 0)
    return values


def _add_signs(signs: npt.NDArray[np.int8]) -> npt.NDArray[np.integer]:
    """Sum the signs of each pair of rankings; sums of up to 127 signs fit into bytes, which is much faster."""
    if len(signs) <= 127:
        return np.asarray(np.add.reduce(signs, axis=0, dtype=np.int8))
    parts = [_add_signs(signs[start : start + 127]) for start in range(0, len(signs), 127)]
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


def _check_scores(values: npt.ArrayLike) -> FloatArray:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim == 0 or scores.shape[-1] < 2:
        raise MetaevalError("A ranking needs at least two runs, on the last axis.")
    if not np.isfinite(scores).all():
        raise MetaevalError("Scores to be ranked must be finite; some are NaN or infinite.")
    return scores


def _tolerance(by_run: FloatArray, tolerance: float | None) -> FloatArray:
    if tolerance is None:
        return np.asarray(np.abs(by_run).max(axis=0) * RELATIVE_TOLERANCE)
    if not tolerance >= 0:
        raise MetaevalError(f"The tolerance must not be negative, and is {tolerance}.")
    return np.full(by_run.shape[1:], float(tolerance))
