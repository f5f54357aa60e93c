"""Scores brought to a common scale by powers of two, which round nothing and so change no result."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import is_large, take_measure

LARGEST_EXPONENT = 1000
"""Sums of scores below 2**1000 are floats."""

DIGITS = 9
"""Decimals to which scaled scores and their differences are rounded, so that floating point decides no tie."""


def scale_scores(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Multiply the scores of each measure by a power of two so that a typical score lies between 1/2 and 1.

    What counts as rounding depends on how large scores are. The typical score is the median magnitude of those that
    are not zero, which a few huge scores do not move.

    Parameters
    ----------
    values : array_like of float, shape (..., measure)
        Finite scores.

    Returns
    -------
    ndarray of float64, of the same shape
        The same for scores that differ by a power of two, unless that power was too large or small for them. The
        largest score is below 2**1000.

    Examples
    --------
    >>> scale_scores([[3.0, 1e-300], [0.0, 2e-300], [4.0, 2e-300]])[:, 0]
    array([0.75, 0.  , 1.  ])
    """
    scores = np.asarray(values, dtype=np.float64)
    return np.ldexp(scores, -find_exponents(scores))


def find_exponents(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.intc]:
    """Return the power of two by which `scale_scores` divides the scores of each measure, shape (measure,)."""
    magnitudes: Iterable[npt.NDArray[np.float64]]
    if scores.ndim == 3 and is_large(scores):
        magnitudes = (np.abs(take_measure(scores, measure)).ravel() for measure in range(scores.shape[-1]))
    else:
        magnitudes = np.abs(scores.reshape(-1, scores.shape[-1]).T, order="C")
    return np.array([_find_exponent(one) for one in magnitudes], dtype=np.intc)


def round_scaled(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round scaled scores, or differences of them, so that those that differ by rounding alone are equal."""
    with np.errstate(over="ignore"):  # beyond 1e299 they become infinite, which is above all others too
        return np.round(values, DIGITS)


def scale_squares(
    values: npt.NDArray[np.float64], axis: int | tuple[int, ...] | None = None
) -> npt.NDArray[np.float64]:
    """Multiply numbers by a power of two so that the largest magnitude lies between 1/2 and 1, before they are squared.

    Parameters
    ----------
    values : ndarray of float64
        Finite.
    axis : int or tuple of int, optional
        Along which axis the largest is sought; by default, over all numbers.

    Returns
    -------
    ndarray of float64, of the same shape

    Examples
    --------
    >>> scale_squares(np.array([[3e-200, 1.0], [6e-200, 4.0]]), axis=0)[:, 1]
    array([0.125, 0.5  ])
    """
    largest = np.abs(values).max(axis=axis, keepdims=True)
    return np.ldexp(values, -np.frexp(largest)[1])


def _find_exponent(magnitudes: npt.NDArray[np.float64]) -> int:
    if not magnitudes.all():
        magnitudes = magnitudes[magnitudes > 0]
        if not magnitudes.size:
            return 0
    middle = (magnitudes.size - 1) // 2
    magnitudes.partition(middle)
    typical, largest = (math.frexp(one)[1] for one in (magnitudes[middle], magnitudes.max()))
    return max(typical, largest - LARGEST_EXPONENT)
