"""Scores brought to a common scale by powers of two, which round nothing and so change no result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import is_large, read_topics, split_runs

LARGEST_EXPONENT = 1000
"""Sums of scores below 2**1000 are floats."""

_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1073, 1024  # of floats, as frexp has them

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
    if scores.ndim == 3 and is_large(scores):
        return count_exponents((scores[runs] for runs in split_runs(scores)), scores.shape[-1])
    magnitudes = np.abs(scores.reshape(-1, scores.shape[-1]).T, order="C")
    return np.array([_find_exponent(one) for one in magnitudes], dtype=np.intc)


class Scaled:
    """Scores as `scale_scores` makes them: in memory, or where memory does not hold them, made block by block.

    Parameters
    ----------
    values : ndarray of float64, shape (run, topic, measure)
        Finite.
    measures : array_like of int, optional
        Only these, in this order.
    """

    def __init__(self, values: npt.NDArray[np.float64], measures: npt.ArrayLike | None = None) -> None:
        self.large = is_large(values)
        self._measures = None if measures is None else np.asarray(measures, dtype=np.intp)
        if not self.large:
            values = scale_scores(values if self._measures is None else values[..., self._measures])
            # The order of the axes in memory decides in which order NumPy adds.
            values = np.ascontiguousarray(values)
        self.values = values
        self._exponents = -find_exponents(values) if self.large else np.zeros(values.shape[-1], dtype=np.intc)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Runs, topics and measures."""
        n_runs, n_topics, n_measures = self.values.shape
        chosen = self._measures if self.large else None
        return n_runs, n_topics, n_measures if chosen is None else len(chosen)

    def __getitem__(self, runs: slice) -> npt.NDArray[np.float64]:
        """Return some runs: a copy where memory does not hold the scores."""
        return self._scale(self.values[runs])

    def read_topics(self, topics: slice) -> npt.NDArray[np.float64]:
        """Return all runs on some topics."""
        return self._scale(read_topics(self.values, topics) if self.large else self.values[:, topics])

    def read_cells(self, start: int, stop: int) -> npt.NDArray[np.float64]:
        """Return some cells, runs on topics in their order, shape (cell, measure)."""
        return self._scale(self.values.reshape(-1, self.values.shape[-1])[start:stop])

    def take(self, measure: int) -> npt.NDArray[np.float64]:
        """Return a copy of one measure, shape (run, topic)."""
        return np.concatenate([block[..., measure] for _, block in self.blocks()])

    def _scale(self, some: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if not self.large:
            return some
        if self._measures is None:
            return np.ldexp(some, self._exponents)
        # Contiguous, because the order of the axes in memory decides in which order NumPy adds.
        return np.ldexp(np.take(some, self._measures, axis=-1), self._exponents[self._measures])

    def blocks(self) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
        """Yield runs with their scores: all of them unless they are many."""
        return ((runs, self[runs]) for runs in split_runs(self.values))

    def means(self) -> npt.NDArray[np.float64]:
        """Return the mean of every run, shape (run, measure)."""
        return np.concatenate([block.mean(axis=1) for _, block in self.blocks()])


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


def count_exponents(blocks: Iterable[npt.NDArray[np.float64]], n_measures: int) -> npt.NDArray[np.intc]:
    """Do what `find_exponents` does of scores in blocks: exponents grow with magnitudes, and so do their medians.

    Parameters
    ----------
    blocks : iterable of ndarray, shape (run, topic, measure)
    n_measures : int

    Returns
    -------
    ndarray of int, shape (measure,)
    """
    counts = np.zeros((n_measures, _LARGEST_EXPONENT - _SMALLEST_EXPONENT + 1), dtype=np.int64)
    for block in blocks:
        mantissas, exponents = np.frexp(block)
        for measure in range(n_measures):
            known = exponents[..., measure][mantissas[..., measure] != 0] - _SMALLEST_EXPONENT
            counts[measure] += np.bincount(known, minlength=counts.shape[1])
    found = np.zeros(n_measures, dtype=np.intc)
    for measure in np.flatnonzero(counts.any(axis=1)).tolist():
        upto = np.cumsum(counts[measure])
        typical = int(np.searchsorted(upto, (upto[-1] - 1) // 2, side="right")) + _SMALLEST_EXPONENT
        largest = int(np.flatnonzero(counts[measure])[-1]) + _SMALLEST_EXPONENT
        found[measure] = max(typical, largest - LARGEST_EXPONENT)
    return found


def _find_exponent(magnitudes: npt.NDArray[np.float64]) -> int:
    if not magnitudes.all():
        magnitudes = magnitudes[magnitudes > 0]
        if not magnitudes.size:
            return 0
    middle = (magnitudes.size - 1) // 2
    magnitudes.partition(middle)
    typical, largest = (math.frexp(one)[1] for one in (magnitudes[middle], magnitudes.max()))
    return max(typical, largest - LARGEST_EXPONENT)
