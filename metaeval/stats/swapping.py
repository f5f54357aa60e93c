"""Is one measure closer to the reference than another? Tests that exchange the two at random, and clusters of ranks.

If two measures were equally good, exchanging their scores would change nothing. PERM-BOTH (Deutsch, Dror and Roth, "A
statistical analysis of summarization evaluation metrics", TACL 2021) standardises both, exchanges them in each cell with
probability ½, and counts how often the difference between the two mixtures is at least as large as that observed. The
draws are the same for all pairs of measures.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import Scaled, round_scaled

FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-11
"""Two differences that are this close are equal: one has as many trials on either side."""


def standardise(values: FloatArray) -> FloatArray:
    """Return scores, shape (measure, cell), with mean 0 and standard deviation 1; zeros for a constant measure."""
    largest = np.abs(values).max(axis=1, keepdims=True)
    scaled = np.divide(values, largest, out=np.zeros(values.shape), where=largest > 0)
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    varies = (np.ptp(values, axis=1, keepdims=True) > 0) & (spread > 0)
    return np.divide(centred, spread, out=np.zeros(values.shape), where=varies)


class StandardCells:
    """What `standardise` makes of scores of any size, with all runs on all topics as the cells of a measure.

    `varies`, shape (measure,), says which are not constant; the others are zeros.
    """

    def __init__(self, scores: Scaled) -> None:
        n_runs, n_topics, n_columns = scores.shape
        ends = [(block.min(axis=(0, 1)), block.max(axis=(0, 1))) for _, block in scores.blocks()]
        low, high = np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)
        self._largest = np.maximum(np.abs(low), np.abs(high))
        self._mean, self._spread = np.zeros(n_columns), np.ones(n_columns)
        self._mean = self._sum(scores, lambda cells: cells) / (n_runs * n_topics)
        spread = np.sqrt(self._sum(scores, np.square) / (n_runs * n_topics))
        self.varies = (high - low > 0) & (spread > 0)
        self._spread = np.where(self.varies, spread, 1.0)

    def _sum(self, scores: Scaled, change: Callable[[FloatArray], FloatArray]) -> FloatArray:
        return np.sum([change(self._centre(block)).sum(axis=1) for _, block in scores.blocks()], axis=0)

    def _centre(self, block: FloatArray) -> FloatArray:
        """Return cells, shape (measure, cell), over the largest magnitude and less the mean, as far as it is known."""
        cells = block.transpose(2, 0, 1).reshape(block.shape[2], -1)
        largest = self._largest[:, np.newaxis]
        scaled = np.divide(cells, largest, out=np.zeros(cells.shape), where=largest > 0)
        scaled -= self._mean[:, np.newaxis]
        return scaled

    def standardise(self, block: FloatArray) -> FloatArray:
        """Return standardised scores of a block of shape (run, topic, measure), shape (measure, run, topic)."""
        cells = self._centre(block)
        cells /= self._spread[:, np.newaxis]
        cells[~self.varies] = 0.0
        return cells.reshape(-1, *block.shape[:2])


def swap_p_values(observed: FloatArray, exchanged: FloatArray) -> FloatArray:
    """How often does exchanging two measures give as large a difference in agreement as there is?

    Parameters
    ----------
    observed : ndarray, shape (measure,)
        How each measure agrees with the reference.
    exchanged : ndarray, shape (trial, measure pair)
        The first less the second measure's agreement after each exchange; pairs in the order (0, 1), (0, 2), ….

    Returns
    -------
    ndarray, shape (measure, measure)
        ``p[i, j]`` is (count + 1)/(trials + 1), one-sided, for measure i agreeing no better than j; 1 on the diagonal,
        NaN where an agreement is not defined.

    Examples
    --------
    >>> swap_p_values(np.array([0.9, 0.5]), np.array([[0.1], [-0.2], [0.4]])).tolist()
    [[1.0, 0.5], [1.0, 1.0]]
    """
    n_trials, n_measures = len(exchanged), len(observed)
    first, second = np.triu_indices(n_measures, 1)
    difference = observed[first] - observed[second]
    p = np.ones((n_measures, n_measures))
    p[first, second] = (1 + (exchanged >= difference - ROUNDING).sum(axis=0)) / (1 + n_trials)
    p[second, first] = (1 + (exchanged <= difference + ROUNDING).sum(axis=0)) / (1 + n_trials)
    undefined = np.isnan(observed)
    p[undefined] = np.nan
    p[:, undefined] = np.nan
    return p


def find_clusters(observed: FloatArray, p_values: FloatArray, alpha: float) -> npt.NDArray[np.int64]:
    """Return the significance cluster of every measure, from 1, the best.

    Going down the ranking, a new cluster begins with a measure that one of the current cluster beats significantly. Two
    measures of one cluster do not differ significantly; two of different clusters need not differ either. Measures that
    agree equally well, but for rounding, are gone through in their own order.

    Parameters
    ----------
    observed : ndarray, shape (measure,)
    p_values : ndarray, shape (measure, measure)
        From `swap_p_values`.
    alpha : float

    Returns
    -------
    ndarray of int, shape (measure,)
        0 for a measure whose agreement is not defined.

    Examples
    --------
    >>> p = np.array([[1, 0.2, 0.01], [0.8, 1, 0.2], [0.99, 0.8, 1]])
    >>> find_clusters(np.array([0.9, 0.3, 0.1 + 0.2]), p, 0.05).tolist()
    [1, 1, 2]
    """
    clusters = np.zeros(len(observed), dtype=np.int64)
    current: list[int] = []
    number = 1
    for measure in np.argsort(-round_scaled(observed), kind="stable").tolist():
        if np.isnan(observed[measure]):
            continue
        if any(p_values[better, measure] <= alpha for better in current):
            number, current = number + 1, []
        current.append(measure)
        clusters[measure] = number
    return clusters
