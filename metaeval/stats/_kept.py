"""Files of our own that are there whole or not at all: content with its digest behind it, put in place at once."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

_DIGEST = hashlib.sha256().digest_size


def keep(path: Path, content: bytes) -> None:
    """Write content, so that whoever reads it sees all of it or nothing, whenever the writer is killed.

    Parameters
    ----------
    path : Path
        Its folder is made if need be, for this user alone.
    content : bytes

    Raises
    ------
    OSError
        If it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def read_kept(path: Path) -> bytes | None:
    """Read what was kept; None if it is not there, cannot be read or is damaged.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bytes or None
    """
    try:
        whole = path.read_bytes()
    except OSError:
        return None
    content, digest = whole[:-_DIGEST], whole[-_DIGEST:]
    return content if content and hashlib.sha256(content).digest() == digest else None
