"""Score matrices larger than memory: passes over them in blocks, whose pages are given back after use.

A matrix that is larger than `LARGE` bytes is a file that is mapped into memory (see `metaeval.data.scratch`). What
was read of it stays in memory until it is given back, which is done here after every block. Blocks of runs hold every
topic, and blocks of topics every run, so that a sum over topics or runs is made as for the whole.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

LARGE = 256 * 2**20
"""Bytes of scores from which on they are not held in memory."""

CELLS_A_BLOCK = 2**21
"""Scores of a block: 16 MB, of which a few copies are made."""

RUNS_A_BLOCK = 16
"""Runs of which a block of topics is read before memory is given back."""


def is_large(values: FloatArray) -> bool:
    """Whether scores are too many to copy them as a whole."""
    return values.nbytes > LARGE


def split_runs(values: FloatArray) -> Iterator[slice]:
    """Yield blocks of runs, all of them at once unless the scores are large, and give back what was read of each."""
    return _split(values, axis=0)


def split_topics(values: FloatArray) -> Iterator[slice]:
    """Yield blocks of topics, all of them at once unless the scores are large, and give back what was read of each."""
    return _split(values, axis=1)


def take_measure(values: FloatArray, measure: int) -> FloatArray:
    """Return a copy of the scores of one measure, contiguous, of shape (run, topic)."""
    taken = np.empty(values.shape[:2])
    for runs in split_runs(values):
        taken[runs] = values[runs, :, measure]
    return taken


def read_topics(values: FloatArray, topics: slice) -> FloatArray:
    """Return a copy of the scores of some topics, shape (run, topic, measure).

    A page brings its neighbours, which would be most of the file by the last run: they are given back on the way.
    """
    if not is_large(values):
        return values[:, topics].copy()
    taken = np.empty((len(values), topics.stop - topics.start, values.shape[2]))
    for start in range(0, len(values), RUNS_A_BLOCK):
        runs = slice(start, start + RUNS_A_BLOCK)
        taken[runs] = values[runs, topics]
        release(values)
    return taken


def mean_over_topics(values: FloatArray) -> FloatArray:
    """Return the mean of every run, shape (run, measure)."""
    return np.concatenate([values[runs].mean(axis=1) for runs in split_runs(values)])


def release(values: npt.NDArray[np.generic]) -> None:
    """Give back the memory of what was read of a mapped file, which stays in the file; of other arrays, nothing."""
    array: object = values
    while array is not None:
        mapped = getattr(array, "_mmap", None)
        if isinstance(mapped, mmap.mmap):
            if hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)
            return
        array = getattr(array, "base", None)


def _split(values: FloatArray, axis: int) -> Iterator[slice]:
    length = values.shape[axis]
    size = max(1, CELLS_A_BLOCK * length // max(1, values.size)) if is_large(values) else length
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))
        if size < length:
            release(values)
