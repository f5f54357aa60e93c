"""Pearson's r between a measure and the reference over all cells, runs on topics; the reference is the last measure."""

from __future__ import annotations

import numpy as np

from metaeval.stats.blocks import Scaled
from metaeval.stats.progress import tell
from metaeval.stats.resampled_sums import add_signed, weigh_by_topic
from metaeval.stats.swapping import FloatArray, StandardCells


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
    products = np.zeros(n_columns - 1)
    for _, block in scores.blocks():
        z = cells.standardise(block).reshape(n_columns, -1)
        products += z[:-1] @ z[-1]
    defined = cells.varies[:-1] & cells.varies[-1]
    return np.where(defined, np.clip(products / (n_runs * n_topics), -1, 1), np.nan)


def swap_cells(scores: Scaled, cells: StandardCells, key: int, n_trials: int) -> FloatArray:
    """Exchange every two standardised measures in random cells; return the differences in r, shape (trial, measure pair).

    The sums over cells that r needs, of one mixture, are those of one measure where it was kept and of the other where it
    was not; so sums of each measure alone, with random signs, give all pairs. An r that is not defined counts as 0.
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures = n_columns - 1
    signed, total = np.zeros((n_trials, 3 * n_measures)), np.zeros(3 * n_measures)
    for runs, block in scores.blocks():
        z = cells.standardise(block).reshape(n_columns, -1)
        columns = np.concatenate([z[:-1] * z[-1], z[:-1], z[:-1] ** 2]).T.copy()
        total += columns.sum(axis=0)
        add_signed(signed, columns, key, runs.start * n_topics)
        tell("exchanging cells", runs.stop, n_runs)
    kept, given = (total + signed) / 2, (total - signed) / 2
    kept, given = (sums.reshape(n_trials, 3, n_measures) for sums in (kept, given))
    first, second = np.triu_indices(n_measures, 1)
    one, two = kept[..., first] + given[..., second], given[..., first] + kept[..., second]
    return _correlate_sums(one, n_runs * n_topics) - _correlate_sums(two, n_runs * n_topics)


def resample_topic_pearson(scores: Scaled, cells: StandardCells, key: int, n_trials: int) -> FloatArray:
    """Return Pearson's r over the cells of topics drawn anew, shape (trial, measure)."""
    n_runs, n_topics, n_columns = scores.shape
    sums, squares, products = np.zeros((3, n_columns, n_topics))
    for _, block in scores.blocks():
        z = cells.standardise(block)
        for total, added in ((sums, z), (squares, z**2), (products, z * z[-1])):
            # Row by row, so that blocks of runs are added as the whole is.
            for row in added.swapaxes(0, 1):
                total += row
    size = n_runs * n_topics
    x, xx, xy = weigh_by_topic(key, n_trials, n_topics, sums, squares, products, divisor=size)
    spread = np.maximum(xx - x**2, 0)
    lengths = np.sqrt(spread[:, :-1] * spread[:, -1:])
    covariance = (xy - x * x[:, -1:])[:, :-1]
    return np.divide(covariance, lengths, out=np.full(lengths.shape, np.nan), where=lengths > 0)


def _correlate_sums(sums: FloatArray, n_cells: int) -> FloatArray:
    """Return r of mixtures from their sums of products with the reference, of scores, and of squares."""
    products, scores, squares = (sums[:, part] / n_cells for part in range(3))
    spread = np.sqrt(np.maximum(squares - scores**2, 0))
    return np.divide(products, spread, out=np.zeros(products.shape), where=spread > 1e-12)
