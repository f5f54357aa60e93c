"""Scores that memory cannot hold: an array in a temporary file, which is gone with the process, however that ends."""

from __future__ import annotations

import os
import shutil
import tempfile

import numpy as np

from metaeval.errors import DataError
from metaeval.stats.progress import tell

FOLDER = "METAEVAL_SCRATCH"
"""Environment variable that names the folder of temporary files; by default that of the system."""


def make_array(shape: tuple[int, ...]) -> np.memmap:
    """Return an array of float64 in a temporary file without a name.

    Parameters
    ----------
    shape : tuple of int

    Returns
    -------
    memmap
        Of zeros, writable.

    Raises
    ------
    DataError
        If the disk has no room for it.
    """
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
            stream.truncate(size)
            return np.memmap(stream, dtype=np.float64, mode="r+", shape=shape)
    except OSError as error:
        raise DataError(f"{folder}: no temporary file can be written there: {error.strerror or error}") from None
