"""Pearson's correlation with its confidence interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError


class PearsonInterval(NamedTuple):
    """Pearson's r, and the ends of its confidence interval."""

    r: float
    low: float
    high: float


def pearson(first: npt.ArrayLike, second: npt.ArrayLike, *, confidence: float = 0.95) -> PearsonInterval:
    """How strong is the linear relation between two score vectors, and how certain is it?

    The interval is Fisher's: arctanh(r) is nearly normal with variance 1/(n - 3). The numbers are those of
    `scipy.stats.pearsonr`, to the bit.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        Finite, and not constant.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    PearsonInterval
        `r`, `low` and `high`; with three points or fewer, the interval is from -1 to 1.

    Examples
    --------
    >>> interval = pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    >>> [round(value, 2) for value in interval]
    [0.8, -0.28, 0.99]
    """
    from scipy.special import ndtri  # scipy.stats would take as long to import as everything else together

    one, two = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if one.ndim != 1 or one.shape != two.shape or one.size < 2:
        raise MetaevalError(
            f"Two vectors of one length, at least 2, are needed, not shapes {one.shape} and {two.shape}."
        )
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise MetaevalError("Values must be finite; some are NaN or infinite.")
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        raise MetaevalError("Pearson's correlation is undefined when one of the vectors is constant.")
    if not 0 < confidence < 1:
        raise MetaevalError(f"The confidence must lie between 0 and 1, not at {confidence}.")
    r = float(np.clip(np.dot(_normalise(one), _normalise(two)), -1, 1))
    if one.size <= 3:
        return PearsonInterval(float(round(r)) if one.size == 2 else r, -1.0, 1.0)
    with np.errstate(divide="ignore"):  # arctanh(1) is infinite, and tanh makes 1 of it again
        centre, half = np.arctanh(r), ndtri(0.5 + confidence / 2) * np.sqrt(1 / (one.size - 3))
    return PearsonInterval(r, float(np.tanh(centre - half)), float(np.tanh(centre + half)))


def _normalise(values: np.ndarray) -> np.ndarray:
    """Return deviations from the mean as a vector of length 1, without overflow on the way."""
    deviations = values - values.mean()
    largest = np.abs(deviations).max()
    # Along an axis, the squares are added pairwise; without one, BLAS adds them, in another order.
    return deviations / (largest * np.linalg.norm(deviations / largest, axis=0))
