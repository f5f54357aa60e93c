"""Scores that memory cannot hold: an array in a temporary file, which is gone with the process, however that ends."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from typing import BinaryIO

import numpy as np

from metaeval.errors import DataError
from metaeval.stats import blocks
from metaeval.stats.parallel import tell

FOLDER = "METAEVAL_SCRATCH"
"""Environment variable that names the folder of temporary files; by default that of the system."""


def make_array(shape: tuple[int, ...]) -> np.memmap:
    """Return a writable array of zeros (float64) in a temporary file without a name."""
    folder = os.environ.get(FOLDER) or tempfile.gettempdir()
    size = 8 * int(np.prod(shape))
    try:
        free = shutil.disk_usage(folder).free
        if free < size:
            raise DataError(
                f"{size:,} bytes of scores do not fit into memory, and {folder} has room for {free:,} only: name a folder "
                f"on another disk by the environment variable {FOLDER}"
            )
        tell(f"{size / 2**20:,.0f} MB of scores are kept in a temporary file in {folder}, and read in parts")
        with tempfile.TemporaryFile(dir=folder, prefix="metaeval-") as stream:
            _take_room(stream, size)
            return np.memmap(stream, dtype=np.float64, mode="r+", shape=shape)
    except OSError as error:
        raise DataError(
            f"{folder}: no temporary file of {size:,} bytes can be written there: {error.strerror or error} (the environment "
            f"variable {FOLDER} names the folder)"
        ) from None


def _take_room(stream: BinaryIO, size: int) -> None:
    """Make a file this long, whose bytes are all on the disk.

    A file with holes would be made at once, but where others fill the disk in the meantime, a process that writes to
    its mapped memory is killed (SIGBUS) instead of told.
    """
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(stream.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
        else:
            return
    zeros = bytes(min(size, 2**20))
    for start in range(0, size, len(zeros)):
        stream.write(zeros[: size - start])
    stream.flush()


def make_room(shape: tuple[int, ...]) -> np.ndarray:
    """Return an array to be filled: in memory, or in a temporary file where memory should not hold so many scores."""
    return make_array(shape) if 8 * int(np.prod(shape)) > blocks.LARGE else np.empty(shape)


def take_cells(
    values: np.ndarray, runs: np.ndarray, topics: np.ndarray, measures: np.ndarray, *, signs: np.ndarray | None = None
) -> np.ndarray:
    """Return the runs, topics and measures at these positions of scores (run, topic, measure), read in blocks.

    The scores of each measure are multiplied by its sign. Where nothing changes, these are the scores themselves;
    otherwise they are contiguous, because the order of the axes in memory decides in which order NumPy adds.
    """
    factors = np.ones(values.shape[-1]) if signs is None else np.asarray(signs, dtype=np.float64)
    axes = zip((runs, topics, measures), values.shape, strict=True)
    if (factors == 1).all() and all(np.array_equal(positions, np.arange(length)) for positions, length in axes):
        return values
    cells = make_room((len(runs), len(topics), len(measures)))
    size = max(1, blocks.CELLS_A_BLOCK // (values.shape[1] * values.shape[2]))
    for start in range(0, len(runs), size):
        block = slice(start, start + size)
        np.multiply(values[np.ix_(runs[block], topics, measures)], factors[measures], out=cells[block])
        blocks.release(values)
        blocks.release(cells)
    return cells
