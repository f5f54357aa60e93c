"""Opening and reading files, within bounds."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any, BinaryIO, NoReturn
from weakref import WeakKeyDictionary

from metaeval.errors import DataError, MetaevalError
from metaeval.files.paths import STANDARD_INPUT, PathLike, is_remote, is_standard_input

LARGEST_FILE = 2 << 30
"""Bytes that a file may have, and its content when it is unpacked, unless `LARGEST_FILE_OPTION` says another number."""

LARGEST_FILE_OPTION = "METAEVAL_LARGEST_FILE"
"""The environment variable that raises, or lowers, the bound."""

BYTES_A_CELL = 128
"""What a cell of a table, a value of JSON or a line takes in memory, at most about, while it is read.

Few bytes of a file can hold many cells, above all where they are packed, so that cells are bounded and not only bytes.
"""

_RAISE_BOUND = f"the environment variable {LARGEST_FILE_OPTION} raises the bound"

_opened: ContextVar[dict[str, Any] | None] = ContextVar("_opened", default=None)


@contextmanager
def open_once() -> Iterator[None]:
    """Open and parse what `remember` is asked for only once inside: others hold the same object, which nobody may change.

    >>> with open_once():
    ...     remember("a", list) is remember("a", list)
    True
    """
    before = _opened.set({})
    try:
        yield
    finally:
        _opened.reset(before)


def remember(key: str, make: Callable[[], Any]) -> Any:
    """Return what `make` returns; inside `open_once` what it returned when the key was first seen."""
    opened = _opened.get()
    if opened is None:
        return make()
    if key not in opened:
        opened[key] = make()
    return opened[key]


_PIPED: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
"""What standard input held: its format is told before it is read, and it can be read only once."""


def find_largest() -> int:
    """Return how many bytes a file may have, which `LARGEST_FILE_OPTION` in the environment may say."""
    text = os.environ.get(LARGEST_FILE_OPTION, "").strip()
    if not text:
        return LARGEST_FILE
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise MetaevalError(f"{LARGEST_FILE_OPTION}={text} is not a number of bytes")
    return int(text)


def find_most_unpacked(packed: int) -> int:
    """Return how many bytes a packed file may have when it is unpacked: many only if they are not 100 times as many."""
    return min(find_largest(), max(1 << 28, 100 * packed))


def check_size(size: int, path: PathLike, what: str = "the file has", most: int | None = None) -> None:
    """Refuse a file of more bytes than a bound, by default that of all files; `what` is so large, with its verb."""
    if size > (most or find_largest()):
        hint = _RAISE_BOUND if most in (None, find_largest()) else "unpack it first, if so much is in it"
        problem = f"{what} {size:,} bytes, more than the {most or find_largest():,} that are read"
        raise DataError(problem, file=path, hint=hint)


_FEW = 10_000


def check_cells(
    count: int, path: PathLike, line: int | None = None, what: str = "cells", each: int = BYTES_A_CELL
) -> None:
    """Refuse more cells, or whatever else takes memory, than the bound has room for, where `each` takes so many bytes."""
    if count <= _FEW:  # never too many, and told sooner than the environment is asked
        return
    most = find_largest() // each
    if count > most:
        hint = f"divide it; or {_RAISE_BOUND} of {find_largest():,} bytes, of which each is given {each:,}"
        raise DataError(f"it has more than the {most:,} {what} that are read", file=path, line=line, hint=hint)


@contextmanager
def open_regular(path: PathLike) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular local file and yield it with its size: a FIFO would never begin, a device would never end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        state = os.fstat(handle)
        if stat.S_ISDIR(state.st_mode):
            raise DataError("this is a folder, not a regular file", file=path)
        if not stat.S_ISREG(state.st_mode):
            hint = f"to read a pipe, name {STANDARD_INPUT} and send it to standard input"
            raise DataError("this is not a regular file", file=path, hint=hint)
        with open(handle, "rb", closefd=False) as stream:
            yield stream, state.st_size
    finally:
        os.close(handle)


def no_such_file(path: PathLike) -> DataError:
    """Return the error for a file that is not there; one on another machine has to be fetched first."""
    hint = "only local files are read: download it first" if is_remote(path) else None
    return DataError("there is no such file", file=path, hint=hint)


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a file, or of standard input (``-``)."""
    try:
        return read_bounded(path, find_largest(), hint=_RAISE_BOUND)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise DataError("this is a folder, a file is needed", file=path) from None
    except OSError as error:
        raise DataError(f"it cannot be read: {error.strerror or error}", file=path) from None
    except MemoryError:
        raise DataError("there is not enough memory to read it", file=path) from None
    except MetaevalError:
        raise
    except ValueError as error:  # a NUL or half a character in the path
        raise DataError(f"no file can have this name: {error}", file=path) from None


def read_bounded(path: PathLike, most: int, *, hint: str | None = None) -> bytes:
    """Return the content of a file of at most so many bytes and at least one; the hint says what to do about more."""
    if is_standard_input(path):
        content = _read_standard_input(most)
    else:
        with open_regular(path) as (stream, size):
            # Some files of the system say that they have no bytes, and hold some.
            content = _read_pieces(stream, min(size or most, most) + 1)
    if not content:
        raise DataError("the file is empty", file=path)
    if len(content) > most:
        raise DataError(f"the file is larger than {most:,} bytes", file=path, hint=hint)
    return content


def _read_pieces(stream: Any, most: int) -> bytes:
    """Read at most so many bytes; asked for all of them at once, a stream would take as much memory as they may be."""
    content = io.BytesIO()
    while piece := stream.read(min(1 << 24, most - content.tell())):
        content.write(piece)
    return content.getvalue()


def _read_standard_input(most: int) -> bytes:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError("nothing is piped into standard input", file=STANDARD_INPUT)
    if stream not in _PIPED:
        _PIPED[stream] = _read_pieces(stream.buffer, most + 1)
    return _PIPED[stream]


PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
"""How files are packed that are unpacked when they are read, by their first bytes."""


def read_content(path: PathLike) -> bytes:
    """Return the content of a file, unpacked if it is packed."""
    content = read_bytes(path)
    packed = next((kind for start, kind in PACKED.items() if content.startswith(start)), None)
    if packed is None:
        return content
    most = find_most_unpacked(len(content))
    with unpack(io.BytesIO(content), packed, path) as stream:
        unpacked = _read_pieces(stream, most + 1)
    check_size(len(unpacked), path, "unpacked, it has at least", most)
    if not unpacked:
        raise DataError("the file is empty", file=path)
    return unpacked


@contextmanager
def unpack(stream: Any, packed: str, path: PathLike) -> Iterator[Any]:
    """Yield the unpacked content of a stream; what is damaged or cut off is an error."""
    import pyarrow as pa  # here: it takes a quarter of a second

    try:
        with pa.CompressedInputStream(stream, packed) as unpacked:
            yield io.BufferedReader(unpacked)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise DataError(f"it is no whole {packed} file: {error}", file=path) from None


def stream_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that are not blank, without holding the file in memory; it may be packed."""
    if is_standard_input(path):
        yield from read_lines(path)
        return
    try:
        with open_regular(path) as (stream, _):
            start = stream.read(4)
            stream.seek(0)
            packed = next((kind for magic, kind in PACKED.items() if start.startswith(magic)), None)
            with unpack(stream, packed, path) if packed else nullcontext(stream) as content:
                yield from _split_lines(content, path)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except OSError as error:
        raise DataError(f"it cannot be read: {error.strerror or error}", file=path) from None


_LONGEST_LINE = 1 << 28


def _split_lines(stream: Any, path: PathLike) -> Iterator[tuple[int, str]]:
    size, most = 0, find_largest()
    for number, line in enumerate(iter(partial(stream.readline, _LONGEST_LINE + 1), b""), start=1):
        size += len(line)
        if size > most or number > most // BYTES_A_CELL:
            check_cells(number, path, what="lines")
            check_size(size, path, "unpacked, it has more than")
        if len(line) > _LONGEST_LINE:
            raise DataError(f"it has more than {_LONGEST_LINE:,} bytes", file=path, line=number)
        if not line.strip():
            continue
        try:
            yield number, line.removesuffix(b"\n").decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"byte 0x{line[error.start]:02x} is not UTF-8", file=path, line=number) from None


def read_text(path: PathLike) -> str:
    """Return the text of a file in UTF-8, or UTF-16 with its mark, with line ends as line feeds; never blank."""
    content = read_content(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError:
            raise DataError("it begins as UTF-16 does, but is not", file=path, hint="save it as UTF-8") from None
    if b"\0" in content:
        hint = next((hint for start, hint in _BINARY.items() if content.startswith(start)), None)
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise DataError("the file is binary, not text", file=path, line=line, hint=hint)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, content, error)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    check_cells(text.count("\n"), path, what="lines")
    if not text.strip():
        raise DataError("the file is empty", file=path)
    return text


_BINARY = {
    b"PK\x03\x04": "the name of an Excel workbook ends in .xlsx; a ZIP archive is unpacked first",
    b"\xd0\xcf\x11\xe0": "an Excel workbook is exported as CSV first",
    b"\xfd7zXZ": "unpack it with xz -d first",
    b"PAR1": "a Parquet file has a name that ends in .parquet",
}
"""What to do about a file that is no text, by its first bytes."""


def _refuse_encoding(path: PathLike, content: bytes, error: UnicodeDecodeError) -> NoReturn:
    line = content.count(b"\n", 0, error.start) + 1
    raise DataError(
        f"byte 0x{content[error.start]:02x} is not UTF-8, while the text before it is",
        file=path,
        line=line,
        hint="the file mixes encodings or is in another one; save it as UTF-8",
    ) from None


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of every line of a file that is not blank."""
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            check_cells(text.count(" ") + text.count("\t"), path, number)
            yield number, text
