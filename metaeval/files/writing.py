"""Writing a file, or several together, whole or not at all; what a killed writer left is cleared away by the next."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from metaeval.errors import DataError
from metaeval.files.paths import PathLike, find_filesystem, is_remote

TEMPORARY = ".writing-"
"""What the name of a file or folder that is still being written begins with."""

_NEW, _OLD, _GONE, _WHOLE = "new", "old", "gone", "whole"
"""Inside such a folder: what is written, what it replaces, what has to go, and a mark that all of it is there."""

_AT_ONCE = 8
"""Files that wait for the disk at the same time."""


def write_atomically(path: PathLike, content: bytes | str | Callable[[BinaryIO], None]) -> None:
    """Write a local file that is there whole or not at all, whenever the writer is stopped.

    Parameters
    ----------
    path : path
        Its folder must exist.
    content : bytes, str or callable
        Text is written as UTF-8. A callable writes to the stream that it is given, what memory need not hold at once.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is then unharmed.
    """
    path = Path(path)
    _clear_leftovers(path.parent)
    temporary, lock = _make_temporary(path.parent, lambda one: one.touch(exist_ok=False))
    try:
        with open(temporary, "wb") as stream:
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
    finally:
        _unlock(lock)
    _sync_folder(path.parent)


def write_file(path: PathLike, content: bytes | str) -> None:
    """Write a file that is there whole or not at all.

    Parameters
    ----------
    path : path
        A local file, or any that fsspec can write.
    content : bytes or str

    Raises
    ------
    DataError
        If it cannot be written; what was there before is then unharmed.
    """
    try:
        if is_remote(path):
            filesystem, inner = find_filesystem(path)
            filesystem.pipe_file(inner, content.encode() if isinstance(content, str) else content)
        else:
            write_atomically(path, content)
    except OSError as error:
        raise DataError(f"it cannot be written: {error.strerror or error}", file=path) from None


@contextmanager
def write_together(folder: PathLike, *, instead_of: Iterable[str] = ()) -> Iterator[PathLike]:
    """Give a folder to write files into; they take their places in another one together, or none of them does.

    Everything is written first, so that a full disk harms nothing. Moving it then is a matter of moments, in which
    SIGTERM and Ctrl-C wait, and which is undone where a file cannot be moved. If the process is killed in these
    moments, the next one that writes into the folder moves the rest.

    Parameters
    ----------
    folder : path
        Made if need be, with those above it. Its other files stay. A remote one is written into directly.
    instead_of : iterable of str, optional
        Files of the folder that go when the new ones come, unless they are replaced.

    Yields
    ------
    path

    Raises
    ------
    DataError
        If something cannot be written; what was there before is then unharmed.
    """
    if is_remote(folder):
        yield folder
        return
    folder = Path(folder)
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(folder)
        aside, lock = _make_temporary(folder, Path.mkdir)
        try:
            (aside / _NEW).mkdir()
            yield aside / _NEW
            _sync_files(aside / _NEW)
            with postpone_signals():
                _exchange(aside, folder, instead_of)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
            _unlock(lock)
    except BaseException as error:
        for one in made:
            with suppress(OSError):
                one.rmdir()  # of these, what holds something by now is not empty
        if isinstance(error, OSError):
            raise DataError(f"it cannot be written: {error.strerror or error}", file=folder) from None
        raise


def _sync_files(folder: Path) -> None:
    """Wait until every file inside is on the disk; several at once, which the disk writes together."""
    if os.name != "posix":
        return
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(_sync_file, [folder / name for name in _list_inside(folder)]):
            pass


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _exchange(aside: Path, folder: Path, instead_of: Iterable[str]) -> None:
    """Move what is new into the folder; where that fails, put back what was there."""
    new = _list_inside(aside / _NEW)
    for name in new:
        _keep(folder / name, aside / _OLD / name)
    for name in set(instead_of) - set(new):
        _keep(folder / name, aside / _GONE / name)
    (aside / _WHOLE).touch()  # from here on, whoever finds this finishes it
    try:
        _move(aside, folder)
    except BaseException:
        moved = set(new) - set(_list_inside(aside / _NEW))
        replaced, gone = (set(_list_inside(aside / one)) for one in (_OLD, _GONE))
        for name in moved - replaced:
            (folder / name).unlink(missing_ok=True)
        for name in moved & replaced:
            os.replace(aside / _OLD / name, folder / name)
        for name in gone:
            os.replace(aside / _GONE / name, folder / name)
        (aside / _WHOLE).unlink()
        raise
    _sync_folder(folder)
    (aside / _WHOLE).unlink()


def _keep(there: Path, copy: Path) -> None:
    if not there.exists():
        return
    copy.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(there, copy)
    except OSError:  # a disk without links
        shutil.copy2(there, copy)


def _move(aside: Path, folder: Path) -> None:
    for name in _list_inside(aside / _NEW):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(aside / _NEW / name, folder / name)
    for name in _list_inside(aside / _GONE):
        (folder / name).unlink(missing_ok=True)


def _list_inside(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def _make_temporary(folder: Path, make: Callable[[Path], object]) -> tuple[Path, int | None]:
    """Make a file or folder of a new name, and lock it: what is not locked was left by a process that is gone."""
    while True:
        temporary = folder / f"{TEMPORARY}{secrets.token_hex(8)}"
        make(temporary)
        try:
            return temporary, _lock(temporary)
        except (BlockingIOError, FileNotFoundError):
            continue  # another process has taken it for a leftover
        except OSError:
            return temporary, None  # a system or disk without such locks, where nobody takes it for a leftover


def _lock(path: Path) -> int:
    """Lock a file or folder for as long as this process lives, or until `_unlock`."""
    if os.name != "posix":
        raise OSError("there are no such locks")
    from fcntl import LOCK_EX, LOCK_NB, flock

    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        flock(handle, LOCK_EX | LOCK_NB)
        if not os.path.samestat(os.fstat(handle), os.stat(path)):
            raise FileNotFoundError(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _clear_leftovers(folder: Path) -> None:
    """Delete what killed writers left in a folder, or finish it if they had written everything."""
    with suppress(OSError):
        for path in [Path(one) for one in os.scandir(folder) if one.name.startswith(TEMPORARY)]:
            with suppress(OSError):
                lock = _lock(path)
                try:
                    if not path.is_dir():
                        path.unlink()
                        continue
                    if (path / _WHOLE).is_file():
                        _move(path, folder)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    _unlock(lock)


@contextmanager
def postpone_signals() -> Iterator[None]:
    """Finish what was begun before obeying a SIGTERM or Ctrl-C.

    Only the main thread may set a handler; elsewhere the next write clears what is left behind.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    handlers = {number: one for number, one in handlers.items() if one is not None}  # not set by Python: not put back
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    for number in handlers:
        signal.signal(number, lambda number, _frame: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for one in dict.fromkeys(arrived):
            signal.raise_signal(one)


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made, before what is to be written into it is computed.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    DataError
    """
    try:
        there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
        if not there.is_dir():
            raise DataError(f"{there} is a file" if there != folder else "this is a file, not a folder", file=folder)
        if not os.access(there, os.W_OK | os.X_OK):
            raise DataError("the folder cannot be written", file=folder)
    except (OSError, ValueError, StopIteration) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"no folder can have this name: {getattr(error, 'strerror', None) or error}", file=folder
        ) from None


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        _sync_file(folder)
