"""Two-way analysis of variance without replication, and effect sizes.

Sakai (2018), "Laboratory Experiments in Information Retrieval", Springer, Chapter 3. With x_ij the score in
row i (a topic, or a trial) and column j (a run, or a measure), the part that row means and column means do not
explain is the residual x_ij - x_i. - x_.j + x_.. ; its variance V_E2 is the residual sum of squares over
(rows - 1)(columns - 1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError


def residual_variance(matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """How much do scores vary beyond what their row and their column explain?

    Parameters
    ----------
    matrix : array_like of float, shape (..., row, column)
        One score per cell, such as topic x run, or trial x measure.

    Returns
    -------
    ndarray of float64, shape (...)
        V_E2, the residual variance of the two-way analysis of variance without replication.

    Examples
    --------
    >>> residual_variance([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]])
    array([0., 1.])
    """
    scores = np.ascontiguousarray(matrix, dtype=np.float64)
    if scores.ndim < 2 or min(scores.shape[-2:]) < 2:
        raise MetaevalError(f"A two-way analysis needs at least two rows and two columns, not shape {scores.shape}.")
    if not np.isfinite(scores).all():
        raise MetaevalError("Scores must be finite; some are NaN or infinite.")
    rows, columns = scores.shape[-2:]
    residuals = scores - scores.mean(axis=-1, keepdims=True)
    residuals -= residuals.mean(axis=-2, keepdims=True)
    return np.asarray(np.square(residuals).sum(axis=(-2, -1)) / ((rows - 1) * (columns - 1)))


def effect_size(
    first: npt.ArrayLike, second: npt.ArrayLike, residual_variance: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """How many residual standard deviations lie between two means? Sakai (ACL 2021), captions of Tables 3, 6 and 9.

    Parameters
    ----------
    first, second : array_like of float, shape (...)
        The means.
    residual_variance : array_like of float, shape (...)
        V_E2, from `residual_variance`.

    Returns
    -------
    ndarray of float64, shape (...)
        (first - second)/sqrt(V_E2); infinite where only the variance is zero, NaN where the means are equal too.

    Examples
    --------
    >>> round(float(effect_size(0.962, 0.806, 0.00211)), 2)
    3.4
    """
    variance = np.asarray(residual_variance, dtype=np.float64)
    if (variance < 0).any():
        raise MetaevalError("A variance cannot be negative.")
    difference = np.subtract(first, second, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(difference / np.sqrt(variance))
