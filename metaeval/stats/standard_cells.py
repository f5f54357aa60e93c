"""Scores of all runs on all topics with mean 0 and standard deviation 1, of which memory holds a block at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.stats._check import FloatArray
from metaeval.stats.blocks import release
from metaeval.stats.scale import Scaled

_CELLS_A_SUM = 2**17
"""Cells that are added at once."""


class StandardCells:
    """What `metaeval.stats.swapping.standardise` makes of every measure, to the last bit.

    Parameters
    ----------
    scores : Scaled

    Attributes
    ----------
    varies : ndarray of bool, shape (measure,)
        The others are zeros.
    """

    def __init__(self, scores: Scaled) -> None:
        n_runs, n_topics, n_columns = scores.shape
        low, high = np.full((2, n_columns), np.inf)
        high *= -1
        for _, block in scores.blocks():
            low, high = np.minimum(low, block.min(axis=(0, 1))), np.maximum(high, block.max(axis=(0, 1)))
        self._largest = np.maximum(np.abs(low), np.abs(high))
        self._mean, self._spread = np.zeros(n_columns), np.ones(n_columns)
        self.varies = np.zeros(n_columns, dtype=bool)
        n_cells = n_runs * n_topics
        self._mean = _add_cells(scores, self._centre, 0, n_cells) / n_cells
        spread = np.sqrt(_add_cells(scores, lambda cells: self._centre(cells) ** 2, 0, n_cells) / n_cells)
        self.varies = (high - low > 0) & (spread > 0)
        self._spread = np.where(self.varies, spread, 1.0)

    def _centre(self, cells: FloatArray) -> FloatArray:
        """Return cells, shape (measure, cell), over the largest magnitude and less the mean, as far as it is known."""
        largest = self._largest[:, np.newaxis]
        scaled = np.divide(cells, largest, out=np.zeros(cells.shape), where=largest > 0)
        scaled -= self._mean[:, np.newaxis]
        return scaled

    def standardise(self, block: FloatArray) -> FloatArray:
        """Return standardised scores.

        Parameters
        ----------
        block : ndarray, shape (run, topic, measure)

        Returns
        -------
        ndarray, shape (measure, run, topic)
        """
        n_runs, n_topics, n_columns = block.shape
        cells = self._centre(block.transpose(2, 0, 1).reshape(n_columns, -1))
        cells /= self._spread[:, np.newaxis]
        cells[~self.varies] = 0.0
        return cells.reshape(n_columns, n_runs, n_topics)


def _add_cells(scores: Scaled, change: Callable[[FloatArray], FloatArray], start: int, stop: int) -> FloatArray:
    """Add numbers made of cells, shape (measure,), in the order in which NumPy adds a row of so many numbers.

    NumPy halves a row, at a multiple of eight, until 128 numbers are left. Halves are added here where they are too many
    for memory, and there from then on.
    """
    if stop - start <= _CELLS_A_SUM:
        return np.asarray(change(scores.read_cells(start, stop).T.copy()).sum(axis=1))
    half = (stop - start) // 2
    middle = start + half - half % 8
    total = _add_cells(scores, change, start, middle) + _add_cells(scores, change, middle, stop)
    release(scores.values)
    return np.asarray(total)
