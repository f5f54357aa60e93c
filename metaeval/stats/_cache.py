"""Files of a cache that are there whole or not at all: content, then a digest of its name and itself."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_SIZE = hashlib.sha256().digest_size


def write_entry(path: Path, content: bytes) -> None:
    """Write content, so that whoever reads it sees all of it or nothing, whenever the writer is killed."""
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


def read_entry(path: Path, is_trusted: Callable[[os.stat_result], bool]) -> bytes | None:
    """Read what was written; None if it is missing, not to be trusted, unreadable, damaged or has another name.

    Whoever can write a file can write a digest too: `is_trusted` decides by its owner and mode whether to read it.
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


def is_private(about: os.stat_result) -> bool:
    """Return whether a file or folder is this user's or the system's, and not open to everybody."""
    if not hasattr(os, "getuid"):  # Windows keeps a user's folders from others
        return True
    return about.st_uid in (0, os.getuid()) and not about.st_mode & stat.S_IWOTH


def _digest(path: Path, content: bytes) -> bytes:
    """Return the digest of content under this name, so that files cannot take each other's place."""
    return hashlib.sha256(path.name.encode("utf-8", "surrogateescape") + b"\0" + content).digest()
