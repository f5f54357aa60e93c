"""Pearson's r between a measure and the reference over all cells, runs on topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.stats.progress import tell
from metaeval.stats.resampling import topic_signs
from metaeval.stats.swapping import FloatArray, standardise

_CELLS = 4_000_000  # signs held at once: 32 MB


def topic_pearson(values: FloatArray, reference: FloatArray) -> FloatArray:
    """How do the scores of runs on topics correlate with those of the reference?

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)

    Returns
    -------
    ndarray, shape (measure,)
        NaN where a measure, or the reference, is constant.

    Examples
    --------
    >>> topic_pearson(np.array([[[1.0], [2.0]], [[3.0], [5.0]]]), np.array([[1.0, 2.0], [3.0, 5.0]])).tolist()
    [1.0]
    """
    z, wanted = _standardise_cells(values, reference)
    defined = z.any(axis=1) & wanted.any()
    return np.where(defined, np.clip(z @ wanted / wanted.size, -1, 1), np.nan)


def swap_cells(values: FloatArray, reference: FloatArray, key: int, n_trials: int) -> FloatArray:
    """Exchange every two standardised measures in random cells, and return the differences in Pearson's r.

    The sums over cells that r needs, of one mixture, are those of one measure where it was kept and of the other where it
    was not; so sums of each measure alone, with random signs, give all pairs.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
    key : int
        Of the random draws, a 64-bit key.
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
        A correlation that is not defined counts as 0.
    """
    z, wanted = _standardise_cells(values, reference)
    n_measures, n_cells = z.shape
    columns = np.concatenate([z * wanted, z, z**2]).T.copy()
    block = max(1, _CELLS // n_cells)
    sums = np.empty((n_trials, 3 * n_measures))
    for start in range(0, n_trials, block):
        trials = range(start, min(start + block, n_trials))
        sums[start : trials.stop] = topic_signs(key, trials, n_cells).astype(np.float64) @ columns
        tell("exchanging cells", trials.stop, n_trials)
    signed = sums.reshape(n_trials, 3, n_measures)
    return correlate_swapped(signed, columns.sum(axis=0).reshape(3, n_measures), n_cells)


def correlate_swapped(signed: FloatArray, total: FloatArray, n_cells: int) -> FloatArray:
    """Return the differences in Pearson's r of exchanged measures from sums over cells.

    Parameters
    ----------
    signed : ndarray, shape (trial, 3, measure)
        Of products with the reference, of scores and of squares, with the signs of each trial.
    total : ndarray, shape (3, measure)
        The same without signs.
    n_cells : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
    """
    kept, given = (total + signed) / 2, (total - signed) / 2
    first, second = np.triu_indices(total.shape[1], 1)
    one, two = kept[..., first] + given[..., second], given[..., first] + kept[..., second]
    return _correlate_sums(one, n_cells) - _correlate_sums(two, n_cells)


def resample_topic_pearson(values: FloatArray, reference: FloatArray, weights: npt.NDArray[np.int64]) -> FloatArray:
    """Return Pearson's r over the cells of topics drawn anew.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
    weights : ndarray of int, shape (trial, topic)

    Returns
    -------
    ndarray, shape (trial, measure)
    """
    n_runs, n_topics, n_measures = values.shape
    z, wanted = _standardise_cells(values, reference)
    by_topic = z.reshape(n_measures, n_runs, n_topics)
    gold = wanted.reshape(n_runs, n_topics)
    drawn = weights.astype(np.float64)
    size = n_runs * n_topics

    def mean(cells: FloatArray) -> FloatArray:
        return np.asarray(drawn @ cells.sum(axis=-2).T / size)

    x, y = mean(by_topic), mean(gold)[:, np.newaxis]
    xx, yy, xy = mean(by_topic**2), mean(gold**2)[:, np.newaxis], mean(by_topic * gold)
    lengths = np.sqrt(np.maximum(xx - x**2, 0) * np.maximum(yy - y**2, 0))
    return np.divide(xy - x * y, lengths, out=np.full(xy.shape, np.nan), where=lengths > 0)


def _standardise_cells(values: FloatArray, reference: FloatArray) -> tuple[FloatArray, FloatArray]:
    cells = values.transpose(2, 0, 1).reshape(values.shape[-1], -1)
    return standardise(cells), standardise(reference.reshape(1, -1))[0]


def _correlate_sums(sums: FloatArray, n_cells: int) -> FloatArray:
    """Return r of mixtures from their sums of products with the reference, of scores, and of squares."""
    products, scores, squares = (sums[:, part] / n_cells for part in range(3))
    spread = np.sqrt(np.maximum(squares - scores**2, 0))
    return np.divide(products, spread, out=np.zeros(products.shape), where=spread > 1e-12)
