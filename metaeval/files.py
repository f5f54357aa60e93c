"""Files: which are meant, opening and reading them within bounds, and writing them whole or not at all."""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from weakref import WeakKeyDictionary

from metaeval.errors import DataError, MetaevalError, format_list, refusing

PathLike = str | Path
Sources = PathLike | Sequence[PathLike] | Mapping[str, PathLike]
"""A file, a folder, several files, or files by name."""

STANDARD_INPUT = "-"
"""The path that stands for what is piped into the command."""

LARGEST_FILE, LARGEST_FILE_OPTION = 2 << 30, "METAEVAL_LARGEST_FILE"
"""Bytes that a file may have, and its content when it is unpacked, and the environment variable that says another number."""

BYTES_A_CELL = 128
"""What a cell of a table, a value of JSON or a line takes in memory, at most about: few bytes of a file can hold many."""

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
"""How files are packed that are unpacked when they are read, by their first bytes."""

_RAISE_BOUND = f"the environment variable {LARGEST_FILE_OPTION} raises the bound"
_LONGEST_LINE = 1 << 28
TEMPORARY = ".writing-"
"""What the name of a file or folder that is still being written begins with."""


def is_standard_input(path: PathLike) -> bool:
    """Say whether a path stands for standard input."""
    return path == STANDARD_INPUT


def is_folder(path: PathLike) -> bool:
    """Say whether a path is a folder."""
    return os.path.isdir(path)  # also of a name that no file can have, of which Path.is_dir complains


def plain_path(path: PathLike) -> str:
    """Return a path without the suffix of a packed file: its own suffix says what the file holds."""
    return re.sub(r"\.(gz|zst|bz2)$", "", str(path), flags=re.IGNORECASE)


def file_name(path: PathLike) -> str:
    """Return a file's name without its folder."""
    return "stdin" if is_standard_input(path) else Path(str(path)).name


def stem(path: PathLike) -> str:
    """Return a file's name without folder and last suffix, nor that of a packed file."""
    return "stdin" if is_standard_input(path) else Path(plain_path(path)).stem


def describe_files(paths: Sequence[PathLike]) -> str:
    """Return the names of files as one short line, for provenance: the same whichever folder they lie in."""
    return format_list([file_name(path) for path in paths], most=3)


def list_files(folder: PathLike) -> list[PathLike]:
    """Return the files of a folder in the order of their names, without hidden ones and folders; at least one."""
    with _in_words(folder, "read"):
        paths: list[PathLike] = [path for path in Path(folder).iterdir() if path.is_file() and path.name[0] != "."]
    if not paths:
        raise DataError("there are no files in this folder", file=folder)
    return sorted(paths, key=file_name)


def find_paths(sources: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """Return the files meant by a path, a list of paths or a folder; at least one."""
    if isinstance(sources, str | Path):
        return list_files(sources) if is_folder(sources) else [sources]
    if not sources:
        raise DataError("no files were named")
    return list(sources)


def find_named_files(sources: Sources, *, gold: PathLike | None = None) -> dict[str, PathLike]:
    """Return run files by run name: that of the mapping, or of the file without its suffix; the gold is none of them."""
    if isinstance(sources, Mapping) and sources:
        return {str(name): path for name, path in sources.items()}
    paths = find_paths(list(sources) if isinstance(sources, Mapping) else sources)
    if isinstance(sources, str | Path) and gold is not None and is_folder(sources):
        paths = [path for path in paths if Path(path).resolve() != Path(gold).resolve()]
    if not paths:
        raise DataError("there is no file in this folder but the gold", file=sources)
    named: dict[str, PathLike] = {}
    for path in paths:
        name = stem(path)
        if name in named:
            problem = f"it gives the same run name as {file_name(named[name])}"
            raise DataError(problem, file=path, run=name, hint="a run is named after its file; rename one")
        named[name] = path
    return named


@contextmanager
def _in_words(path: PathLike, what: str) -> Iterator[None]:
    """Turn what the system says about a file that is read, or written, into a sentence."""
    try:
        yield
    except (OSError, MemoryError) as error:
        problem = f"it cannot be {what}: {getattr(error, 'strerror', None) or error or 'there is not enough memory'}"
        hint = "only local files are read: download it first" if "://" in str(path) else None
        if isinstance(error, FileNotFoundError) and what == "read":
            problem = "there is no such file"
        raise DataError(problem, file=path, hint=hint) from None


_opened: ContextVar[dict[str, Any] | None] = ContextVar("_opened", default=None)


@contextmanager
def open_once() -> Iterator[None]:
    """Open and parse what `remember` is asked for only once inside: others hold the same object, which nobody may change."""
    before = _opened.set({})
    try:
        yield
    finally:
        _opened.reset(before)


def remember(key: str, make: Callable[[], Any]) -> Any:
    """Return what `make` returns; inside `open_once` what it returned when the key was first seen."""
    opened = {} if (inside := _opened.get()) is None else inside
    return opened[key] if key in opened else opened.setdefault(key, make())


def find_largest() -> int:
    """Return how many bytes a file may have, which `LARGEST_FILE_OPTION` in the environment may say."""
    text = os.environ.get(LARGEST_FILE_OPTION, "").strip() or str(LARGEST_FILE)
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise MetaevalError(f"{LARGEST_FILE_OPTION}={text} is not a number of bytes")
    return int(text)


def find_most_unpacked(packed: int) -> int:
    """Return how many bytes a packed file may have when it is unpacked: many only if they are not 100 times as many."""
    return min(find_largest(), max(1 << 28, 100 * packed))


def check_size(size: int, path: PathLike, what: str = "the file has", most: int | None = None) -> None:
    """Refuse a file of more bytes than a bound, by default that of all files."""
    bound = most or find_largest()
    if size > bound:
        hint = _RAISE_BOUND if bound == find_largest() else "unpack it first, if so much is in it"
        raise DataError(f"{what} {size:,} bytes, more than the {bound:,} that are read", file=path, hint=hint)


def check_cells(
    count: int, path: PathLike, line: int | None = None, what: str = "cells", each: int = BYTES_A_CELL
) -> None:
    """Refuse more cells, or whatever else takes memory, than the bound has room for, where `each` takes so many bytes."""
    if count > 10_000 and count > (most := find_largest() // each):  # few are told sooner than the environment is asked
        hint = f"divide it; or {_RAISE_BOUND} of {find_largest():,} bytes, of which each is given {each:,}"
        raise DataError(f"it has more than the {most:,} {what} that are read", file=path, line=line, hint=hint)


@contextmanager
def open_regular(path: PathLike) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular local file and yield it with its size: a FIFO would never begin, a device would never end."""
    with refusing("no file can have this name", path, ValueError):  # a NUL or half a character
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            is_dir = stat.S_ISDIR(state.st_mode)
            hint = None if is_dir else f"to read a pipe, name {STANDARD_INPUT} and send it to standard input"
            raise DataError(f"this is {'a folder, ' if is_dir else ''}not a regular file", file=path, hint=hint)
        with open(handle, "rb", closefd=False) as stream:
            yield stream, state.st_size
    finally:
        os.close(handle)


_PIPED: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
"""What standard input held: its format is told before it is read, and it can be read only once."""


def read_bounded(path: PathLike) -> bytes:
    """Return the content of a file of no more bytes than the bound, and at least one."""
    most = find_largest()
    if is_standard_input(path):
        stdin = sys.stdin
        if stdin is None or stdin.isatty():
            raise DataError("nothing is piped into standard input", file=path)
        if stdin not in _PIPED:
            _PIPED[stdin] = _read_pieces(stdin.buffer, most + 1)
        content = _PIPED[stdin]
    else:
        with open_regular(path) as (stream, size):
            content = _read_pieces(
                stream, min(size or most, most) + 1
            )  # files of the system may say that they have none
    check_size(len(content), path, "it has at least")
    _refuse_blank(content, path)
    return content


def _refuse_blank(content: bytes | str, path: PathLike) -> None:
    if not content:
        raise DataError("the file is empty", file=path)


def _read_pieces(stream: Any, most: int) -> bytes:
    """Read at most so many bytes; asked for all of them at once, a stream would take as much memory as they may be."""
    content = io.BytesIO()
    while piece := stream.read(min(1 << 24, most - content.tell())):
        content.write(piece)
    return content.getvalue()


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a file, or of standard input (``-``)."""
    with _in_words(path, "read"):
        return read_bounded(path)


def _find_packing(content: bytes) -> str | None:
    """Return how a file is packed, as its first bytes tell."""
    return next((kind for start, kind in _PACKED.items() if content.startswith(start)), None)


def read_content(path: PathLike) -> bytes:
    """Return the content of a file, unpacked if it is packed."""
    content = read_bytes(path)
    if packed := _find_packing(content):
        most = find_most_unpacked(len(content))
        with unpack(io.BytesIO(content), packed, path) as stream:
            content = _read_pieces(stream, most + 1)
        check_size(len(content), path, "unpacked, it has at least", most)
        _refuse_blank(content, path)
    return content


@contextmanager
def unpack(stream: Any, packed: str, path: PathLike) -> Iterator[Any]:
    """Yield the unpacked content of a stream; what is damaged or cut off is an error."""
    import pyarrow as pa  # here: it takes a quarter of a second

    with (
        refusing(f"it is no whole {packed} file", path, OSError, EOFError, pa.ArrowException),
        pa.CompressedInputStream(stream, packed) as unpacked,
    ):
        yield io.BufferedReader(unpacked)


def stream_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are not blank, without holding the file in memory; it may be packed."""
    if is_standard_input(path):
        yield from read_lines(path)
        return
    size, most = 0, find_largest()
    with _in_words(path, "read"), open_regular(path) as (stream, _):
        packed = _find_packing(stream.read(4))
        stream.seek(0)
        with unpack(stream, packed, path) if packed else nullcontext(stream) as content:
            lines = iter(partial(content.readline, _LONGEST_LINE), b"")
            for number, line in enumerate(lines, start=1):
                size += len(line)
                if size > most or number > most // BYTES_A_CELL:
                    check_cells(number, path, what="lines")
                    check_size(size, path, "unpacked, it has more than")
                if len(line) == _LONGEST_LINE:
                    raise DataError(f"it has {_LONGEST_LINE:,} bytes or more", file=path, line=number)
                if line.strip():
                    try:
                        yield number, line.removesuffix(b"\n").decode("utf-8" if number > 1 else "utf-8-sig")
                    except UnicodeDecodeError as error:
                        raise _describe_encoding(error, path, number) from None


def read_text(path: PathLike) -> str:
    """Return the text of a file in UTF-8, or UTF-16 with its mark, with line ends as line feeds; never blank."""
    content = read_content(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        with refusing("it begins as UTF-16 does, but is not; save it as UTF-8", path, UnicodeError):
            content = content.decode("utf-16").encode()
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        hint = "a ZIP archive is unpacked first; a workbook is called .xlsx, a Parquet file .parquet"
        raise DataError("the file is binary, not text", file=path, line=line, hint=hint)
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise _describe_encoding(error, path, 1) from None
    check_cells(text.count("\n"), path, what="lines")
    _refuse_blank(text.strip(), path)
    return text


def _describe_encoding(error: UnicodeDecodeError, path: PathLike, line: int) -> DataError:
    """Return what is wrong with text that is not UTF-8, of which the first line has the number `line`."""
    problem = f"byte 0x{error.object[error.start]:02x} is not UTF-8, while the text before it is"
    hint = "the file mixes encodings or is in another one; save it as UTF-8"
    return DataError(problem, file=path, line=error.object.count(b"\n", 0, error.start) + line, hint=hint)


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line of a file that is not blank."""
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            check_cells(text.count(" ") + text.count("\t"), path, number)
            yield number, text


def write_atomically(path: PathLike, content: bytes | str | Callable[[BinaryIO], None]) -> None:
    """Write a file whole or not at all, also for whoever reads it meanwhile; a callable writes to the stream it is given."""
    path = Path(path)
    clear_leftovers(path.parent)
    temporary = path.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb") as stream:
            if callable(content):
                content(stream)
            else:
                stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_file(path: PathLike, content: bytes | str) -> None:
    """Write a file whole or not at all, with a sentence where that fails."""
    with _in_words(path, "written"):
        write_atomically(path, content)


@contextmanager
def write_together(folder: PathLike, *, instead_of: Iterable[str] = ()) -> Iterator[Path]:
    """Yield a temporary folder, whose files move into `folder` once all are written: a full disk harms nothing.

    A new folder is renamed as a whole. In a folder that exists, files replace their namesakes one after the other, those
    named in `instead_of` go, and others stay.
    """
    folder = Path(folder)
    with _in_words(folder, "written"):
        # A folder that exists may be a disk of its own, into which nothing beside it can be renamed.
        home = next(path for path in (folder, *folder.parents) if path.exists())
        clear_leftovers(home)
        temporary = home / f"{TEMPORARY}{secrets.token_hex(8)}"
        temporary.mkdir()
        try:
            yield temporary
            if folder.exists():
                names = sorted(str(path.relative_to(temporary)) for path in temporary.rglob("*") if not path.is_dir())
                for name in names:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    os.replace(temporary / name, folder / name)
                for name in {*instead_of} - {*names}:
                    (folder / name).unlink(missing_ok=True)
            else:
                folder.parent.mkdir(parents=True, exist_ok=True)
                os.replace(temporary, folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def clear_leftovers(folder: Path, age: float = 24 * 3600) -> None:
    """Delete what writers that were killed have left in a folder, if it is as many seconds old."""
    for path in folder.glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            state = path.lstat()
            if time.time() - state.st_mtime >= age:
                shutil.rmtree(path) if stat.S_ISDIR(state.st_mode) else path.unlink()


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be written, or made, before what is to be written into it is computed."""
    with _in_words(folder, "written"):
        existing = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
            raise DataError(f"{existing} is a file, or cannot be written", file=folder)
