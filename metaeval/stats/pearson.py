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

    The interval is Fisher's: arctanh(r) is nearly normal with variance 1/(n - 3). Uses `scipy.stats.pearsonr`.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        The scores.
    confidence : float
        The confidence level, between 0 and 1.

    Returns
    -------
    PearsonInterval
        `r`, `low` and `high`; with three points or fewer, the interval is from -1 to 1.

    Raises
    ------
    MetaevalError
        If the lengths differ, there are fewer than two points, a value is not finite, a vector is constant,
        or the confidence is not between 0 and 1.

    Examples
    --------
    >>> interval = pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    >>> [round(value, 2) for value in interval]
    [0.8, -0.28, 0.99]
    """
    from scipy.stats import pearsonr

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
    result = pearsonr(one, two)
    if one.size <= 3:
        return PearsonInterval(float(result.statistic), -1.0, 1.0)
    interval = result.confidence_interval(confidence_level=confidence)
    return PearsonInterval(float(result.statistic), float(interval.low), float(interval.high))
