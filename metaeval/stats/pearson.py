"""Pearson's correlation: of two vectors, and of measures with a reference, the last of them, over all runs on topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, IntArray, Scaled
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.parallel import tell
from metaeval.stats.resampling import add_signed, weigh_by_topic


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

    x, y = (np.asarray(side, dtype=np.float64) for side in (first, second))
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise MetaevalError(f"Two vectors of one length, at least 2, are needed, not shapes {x.shape} and {y.shape}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise MetaevalError("Values must be finite; some are NaN or infinite.")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise MetaevalError("Pearson's correlation is undefined when one of the vectors is constant.")
    if not 0 < confidence < 1:
        raise MetaevalError(f"The confidence must lie between 0 and 1, not at {confidence}.")
    r = float(np.clip(np.dot(_normalise(x), _normalise(y)), -1, 1))
    if x.size <= 3:
        return PearsonInterval(float(round(r)) if x.size == 2 else r, -1.0, 1.0)
    with np.errstate(divide="ignore"):  # arctanh(1) is infinite, and tanh makes 1 of it again
        centre, half = np.arctanh(r), ndtri(0.5 + confidence / 2) * np.sqrt(1 / (x.size - 3))
    return PearsonInterval(r, float(np.tanh(centre - half)), float(np.tanh(centre + half)))


def _normalise(values: np.ndarray) -> np.ndarray:
    """Return deviations from the mean as a vector of length 1, without overflow on the way."""
    deviations = values - values.mean()
    largest = np.abs(deviations).max()
    # Along an axis, the squares are added pairwise; without one, BLAS adds them, in another order.
    return deviations / (largest * np.linalg.norm(deviations / largest, axis=0))


def standardise(values: FloatArray) -> FloatArray:
    """Return scores, shape (measure, cell), with mean 0 and standard deviation 1; zeros for a constant measure."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    scaled = np.divide(values, largest, out=np.zeros(values.shape), where=largest > 0)
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    varies = (np.ptp(values, axis=1, keepdims=True) > 0) & (spread > 0)
    return np.divide(centred, spread, out=np.zeros(values.shape), where=varies)


class StandardCells:
    """What `standardise` makes of scores, with all runs on all topics as the cells of a measure, shape (measure, run, topic).

    `varies`, shape (measure,), says which are not constant; the others are zeros.
    """

    def __init__(self, scores: Scaled) -> None:
        n_runs, n_topics, n_columns = scores.shape
        cells = scores.values.transpose(2, 0, 1).reshape(n_columns, -1)
        self.z = standardise(cells).reshape(n_columns, n_runs, n_topics)
        self.varies = np.asarray(self.z.any(axis=(1, 2)))


def topic_pearson(scores: Scaled, cells: StandardCells | None = None) -> FloatArray:
    """How do the scores of runs on topics correlate with those of the reference?

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); the last measure is the reference.
    cells : StandardCells, optional
        Of these scores, if they are known.

    Returns
    -------
    ndarray, shape (measure,)
        NaN where a measure, or the reference, is constant.

    Examples
    --------
    >>> topic_pearson(Scaled(np.array([[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [5.0, 5.0]]]))).tolist()
    [1.0]
    """
    cells = cells or StandardCells(scores)
    n_runs, n_topics, n_columns = scores.shape
    z = cells.z.reshape(n_columns, -1)
    products = z[:-1] @ z[-1]
    defined = cells.varies[:-1] & cells.varies[-1]
    return np.where(defined, np.clip(products / (n_runs * n_topics), -1, 1), np.nan)


def swap_cells(
    scores: Scaled, cells: StandardCells, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Exchange every two standardised measures in random cells; return the differences in r, shape (trial, measure pair).

    The sums over cells that r needs, of one mixture, are those of one measure where it was kept and of the other where it
    was not; so sums of each measure alone, with random signs, give all pairs. An r that is not defined counts as 0. The cells
    of a run on topics of one of the `clusters`, shape (topic,), are exchanged together.
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures = n_columns - 1
    z = cells.z
    added = add_by_cluster(np.concatenate([z[:-1] * z[-1], z[:-1], z[:-1] ** 2]), clusters)
    columns = added.reshape(len(added), -1).T.copy()
    signed, total = np.zeros((n_trials, 3 * n_measures)), columns.sum(axis=0)
    add_signed(signed, columns, key, 0)
    tell("exchanging cells", n_runs, n_runs)
    retained, given = (total + signed) / 2, (total - signed) / 2
    retained, given = (sums.reshape(n_trials, 3, n_measures) for sums in (retained, given))
    first, second = np.triu_indices(n_measures, 1)
    first_mixture, second_mixture = retained[..., first] + given[..., second], given[..., first] + retained[..., second]
    return _correlate_sums(first_mixture, n_runs * n_topics) - _correlate_sums(second_mixture, n_runs * n_topics)


def resample_topic_pearson(
    scores: Scaled, cells: StandardCells, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Return Pearson's r over the cells of topics drawn anew, shape (trial, measure)."""
    n_runs, n_topics, _ = scores.shape
    sums, squares, products = (
        cells_of_all.sum(axis=1) for cells_of_all in (cells.z, cells.z**2, cells.z * cells.z[-1])
    )
    size = n_runs * n_topics
    x, xx, xy = weigh_by_topic(key, n_trials, n_topics, sums, squares, products, divisor=size, clusters=clusters)
    spread = np.maximum(xx - x**2, 0)
    lengths = np.sqrt(spread[:, :-1] * spread[:, -1:])
    covariance = (xy - x * x[:, -1:])[:, :-1]
    return np.divide(covariance, lengths, out=np.full(lengths.shape, np.nan), where=lengths > 0)


def _correlate_sums(sums: FloatArray, n_cells: int) -> FloatArray:
    """Return r of mixtures from their sums of products with the reference, of scores, and of squares."""
    products, scores, squares = (sums[:, part] / n_cells for part in range(3))
    spread = np.sqrt(np.maximum(squares - scores**2, 0))
    return np.divide(products, spread, out=np.zeros(products.shape), where=spread > 1e-12)
