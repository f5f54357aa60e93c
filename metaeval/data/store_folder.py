"""The folder of a score store: its path, its lock, and one wording for every failure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metaeval.errors import DataError, MetaevalError, StoreError
from metaeval.files import PathLike, is_remote

_LOCK = ".lock"
_LOCK_SECONDS = 60
_LOCAL = re.compile(r"(file|local):(//|(?=/))")


def find_folder(path: PathLike) -> str:
    """Return the path of a store without ``file://`` and with ``~`` replaced.

    >>> find_folder("file:///campaign/scores")
    '/campaign/scores'
    """
    text = os.fspath(path)
    if "\0" in text:
        raise StoreError(f"{text!r} cannot be the path of a folder")
    scheme = _LOCAL.match(text)
    if scheme is not None:
        text = text[scheme.end() :] or "."
    elif is_remote(text):
        raise StoreError(f"{text}: a store lies on a local disk: download it first")
    try:
        return str(Path(text).expanduser())
    except RuntimeError:
        raise StoreError(f"{text}: there is no such user") from None


@contextmanager
def as_store_errors(path: str, done: str) -> Iterator[None]:
    """Turn whatever stands in the way of a store being "read" or "written" into a StoreError of one sentence."""
    try:
        yield
    except StoreError:
        raise
    except DataError as error:
        raise StoreError(str(error)) from None
    except MetaevalError:
        raise
    except MemoryError:
        raise StoreError(f"{path}: the store cannot be {done}: there is not enough memory") from None
    except OSError as error:
        raise StoreError(f"{path}: the store cannot be {done}: {error.strerror or error}") from None
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise StoreError(f"{path}: a name holds {wrong!r}, which no file can hold: rename it") from None


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Let nobody else write the store meanwhile."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / _LOCK, timeout=_LOCK_SECONDS):
            yield
    except Timeout:
        raise StoreError(f"{folder}: another process has kept the store locked for {_LOCK_SECONDS} s") from None
    except NotImplementedError:
        raise StoreError(f"{folder}: files cannot be locked on this disk; use a folder on another one") from None
