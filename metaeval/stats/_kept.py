"""Files of our own that are there whole or not at all: content with a digest of its name and itself, put in place at once."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_SIZE = hashlib.sha256().digest_size


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
            file.write(content + _digest(path, content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def read_kept(path: Path, is_trusted: Callable[[os.stat_result], bool]) -> bytes | None:
    """Read what was kept; None if it is not there, not to be trusted, cannot be read, is damaged or has another name.

    Parameters
    ----------
    path : Path
    is_trusted : callable
        Whether to read a file whose owner and mode are these: whoever can write it can write a digest too.

    Returns
    -------
    bytes or None
    """
    try:
        # A pipe would be waited for, and a device has no end.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not is_trusted(about):
                return None
            whole = file.read()
    except OSError:
        return None
    content, digest = whole[:-_DIGEST_SIZE], whole[-_DIGEST_SIZE:]
    return content if content and _digest(path, content) == digest else None


def is_own(about: os.stat_result) -> bool:
    """Say whether a file or folder is this user's or the system's, and not open to everybody.

    Parameters
    ----------
    about : os.stat_result

    Returns
    -------
    bool
    """
    if not hasattr(os, "getuid"):  # Windows keeps a user's folders from others
        return True
    return about.st_uid in (0, os.getuid()) and not about.st_mode & stat.S_IWOTH


def _digest(path: Path, content: bytes) -> bytes:
    """Return the digest of content that is kept under this name, so that files cannot take each other's place."""
    return hashlib.sha256(path.name.encode("utf-8", "surrogateescape") + b"\0" + content).digest()
