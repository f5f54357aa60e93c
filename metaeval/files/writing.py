"""Atomic writing: a file is written beside its target and renamed, so that it is there whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from metaeval.errors import DataError
from metaeval.files.paths import PathLike

TEMPORARY = ".writing-"
"""What the name of a file or folder that is still being written begins with."""

_DAY = 24 * 3600
"""Seconds after which a temporary file must have been left by a process that was killed."""


def write_atomically(path: PathLike, content: bytes | str | Callable[[BinaryIO], None]) -> None:
    """Write a file whole or not at all; a callable writes to the stream that it is given.

    Whoever reads the file meanwhile, and a writer that is stopped, leave and find what was there before.
    """
    path = Path(path)
    clear_leftovers(path.parent)
    temporary = _name_temporary(path.parent)
    try:
        with open(temporary, "xb") as stream:
            if callable(content):
                content(stream)
            else:
                stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_file(path: PathLike, content: bytes | str) -> None:
    """Write a file whole or not at all, with a sentence where that fails."""
    try:
        write_atomically(path, content)
    except OSError as error:
        raise DataError(f"it cannot be written: {error.strerror or error}", file=path) from None


@contextmanager
def write_together(folder: PathLike, *, instead_of: Iterable[str] = ()) -> Iterator[PathLike]:
    """Yield a temporary folder; the files written into it then move into `folder` together, or none of them does.

    Everything is written first, so that a full disk harms nothing. A new folder is renamed as a whole. In a folder
    that exists, files replace their namesakes one after the other, those named in `instead_of` go, and others stay.
    """
    folder = Path(folder)
    missing = [parent for parent in folder.parents if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # A folder that exists may be a disk of its own, into which nothing beside it can be renamed.
        temporary = _name_temporary(folder if folder.exists() else folder.parent)
        clear_leftovers(temporary.parent)
        temporary.mkdir()
        try:
            yield temporary
            if folder.exists():
                _replace_files(temporary, folder, instead_of)
            else:
                os.replace(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except BaseException as error:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()  # of these, what holds something by now is not empty
        if isinstance(error, OSError):
            raise DataError(f"it cannot be written: {error.strerror or error}", file=folder) from None
        raise


def _replace_files(new: Path, folder: Path, instead_of: Iterable[str]) -> None:
    """Move files into a folder; where one cannot be moved, put back what was there."""
    names = _list_inside(new)
    backup, replaced = _name_temporary(folder), list[str]()
    try:
        for name in sorted({*names, *instead_of}):
            if (folder / name).is_file():
                _link(folder / name, backup / name)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(new / name, folder / name)
            replaced.append(name)
        for name in set(instead_of) - set(names):
            (folder / name).unlink(missing_ok=True)
    except BaseException:
        former = _list_inside(backup)
        for name in former:
            os.replace(backup / name, folder / name)
        for name in set(replaced) - set(former):
            (folder / name).unlink()
        raise
    finally:
        shutil.rmtree(backup, ignore_errors=True)


def _link(path: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, copy)
    except OSError:  # a disk without links
        shutil.copy2(path, copy)


def _list_inside(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def _name_temporary(folder: Path) -> Path:
    return folder / f"{TEMPORARY}{secrets.token_hex(8)}"


def clear_leftovers(folder: Path, age: float = _DAY) -> None:
    """Delete what writers that were killed have left in a folder, if it is as many seconds old."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if not entry.name.startswith(TEMPORARY):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime < age:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made, before what is to be written into it is computed."""
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            problem = "this is a file, not a folder" if existing == folder else f"{existing} is a file"
        elif not os.access(existing, os.W_OK | os.X_OK):
            problem = "the folder cannot be written"
        else:
            return
    except (OSError, ValueError, StopIteration) as error:
        problem = f"no folder can have this name: {getattr(error, 'strerror', None) or error}"
    raise DataError(problem, file=folder)
