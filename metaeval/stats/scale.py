"""Scores brought to a common scale by powers of two, which round nothing and so change no result."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LARGEST_EXPONENT = 400
"""Sums of squares of scores below 2**400 are floats."""


def scale_scores(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Multiply the scores of each measure by a power of two so that a typical score lies between 1/2 and 1.

    Squares of scores around 1e-170 or 1e170 are no floats, and what counts as rounding depends on how large scores
    are. The typical score is the median magnitude of those that are not zero, which a few huge scores do not move.

    Parameters
    ----------
    values : array_like of float, shape (..., measure)
        Finite scores.

    Returns
    -------
    ndarray of float64, of the same shape
        The same for scores that differ by a power of two, unless that power was too large or small for them. The
        largest score is below 2**400.

    Examples
    --------
    >>> scale_scores([[3.0, 1e-300], [0.0, 2e-300], [4.0, 2e-300]])[:, 0]
    array([0.75, 0.  , 1.  ])
    """
    scores = np.asarray(values, dtype=np.float64)
    exponents = [_find_exponent(scores[..., measure]) for measure in range(scores.shape[-1])]
    return np.ldexp(scores, np.negative(exponents, dtype=np.intc))


def _find_exponent(scores: npt.NDArray[np.float64]) -> int:
    magnitudes = np.abs(scores[scores != 0])
    if not magnitudes.size:
        return 0
    middle = (magnitudes.size - 1) // 2
    magnitudes.partition(middle)
    typical, largest = (int(np.frexp(one)[1]) for one in (magnitudes[middle], magnitudes.max()))
    return max(typical, largest - LARGEST_EXPONENT)
