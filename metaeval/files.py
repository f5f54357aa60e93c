"""Local and remote files: which are meant, opening and reading them, writing them whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn
from weakref import WeakKeyDictionary

from metaeval.errors import DataError, MetaevalError, format_list

PathLike = str | Path

Sources = PathLike | Sequence[PathLike] | Mapping[str, PathLike]
"""A file, a folder, several files, or files by name."""

TEMPORARY = ".writing-"
"""What the name of a file that is still being written begins with."""

LARGEST_FILE = 2 << 30
"""Bytes that a file may have, and its content when it is unpacked, unless `LARGEST_FILE_OPTION` says another number."""

LARGEST_FILE_OPTION = "METAEVAL_LARGEST_FILE"
"""The environment variable that raises, or lowers, the bound."""

STANDARD_INPUT = "-"
"""The path that stands for what is piped into the command."""

_PIPED: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
"""What standard input held: its format is told before it is read, and it can be read only once."""

_LONGEST_NAME = 200


def is_remote(path: PathLike) -> bool:
    """Say whether a path is for fsspec: ``scheme://…``."""
    return "://" in str(path)


def _remote(path: PathLike) -> tuple[Any, str]:
    """Return fsspec's file system for a path, and the path inside it."""
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise DataError("a remote file needs fsspec", file=path, hint='pip install "metaeval[remote]"') from None
    try:
        filesystem, inner = url_to_fs(str(path))
    except (ValueError, ImportError) as error:
        raise DataError(f"it cannot be opened: {error}", file=path) from None
    return filesystem, str(inner)


def find_largest() -> int:
    """Return how many bytes a file may have, which `LARGEST_FILE_OPTION` in the environment may say.

    Returns
    -------
    int

    Raises
    ------
    MetaevalError
        If the environment holds something else than a number.
    """
    said = os.environ.get(LARGEST_FILE_OPTION, "").strip()
    if not said:
        return LARGEST_FILE
    if not (said.isascii() and said.isdigit()) or len(said) > 18:
        raise MetaevalError(f"{LARGEST_FILE_OPTION}={said} is not a number of bytes")
    return int(said)


def check_size(size: int, path: PathLike, what: str = "the file has") -> None:
    """Refuse a file, or what is inside it, that is larger than the bound.

    Parameters
    ----------
    size : int
        In bytes.
    path : path
    what : str, optional
        What is so large, with its verb, for the message.

    Raises
    ------
    DataError
    """
    most = find_largest()
    if size > most:
        hint = f"the environment variable {LARGEST_FILE_OPTION} raises the bound"
        raise DataError(f"{what} {size:,} bytes, more than the {most:,} that are read", file=path, hint=hint)


@contextmanager
def open_regular(path: PathLike) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular local file: a FIFO would never begin, a device would never end.

    Parameters
    ----------
    path : path

    Yields
    ------
    stream : binary file
    size : int
        In bytes.

    Raises
    ------
    DataError
        If it is something else.
    OSError
        If it cannot be opened.
    """
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


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a local file, of any path that fsspec knows (``s3://…``), or of standard input (``-``).

    Parameters
    ----------
    path : path

    Returns
    -------
    bytes

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, is no regular file, is empty or larger than the bound.
    """
    try:
        return read_bounded(
            path, find_largest(), hint=f"the environment variable {LARGEST_FILE_OPTION} raises the bound"
        )
    except FileNotFoundError:
        raise DataError("there is no such file", file=path) from None
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
    """Return the content of a file that has so many bytes at most, and at least one.

    Parameters
    ----------
    path : path
    most : int
    hint : str, optional
        What to do about a file that is larger, for the message.

    Returns
    -------
    bytes

    Raises
    ------
    DataError
        If it is empty, larger, or no regular file.
    OSError
        If it cannot be read.
    """
    if is_standard_input(path):
        content = _read_standard_input(most)
    elif is_remote(path):
        content = _read_remote(path, most)
    else:
        with open_regular(path) as (stream, size):
            # Some files of the system say that they have no bytes, and hold some.
            content = stream.read(min(size or most, most) + 1)
    if not content:
        raise DataError("the file is empty", file=path)
    if len(content) > most:
        raise DataError(f"the file is larger than {most:,} bytes", file=path, hint=hint)
    return content


def is_standard_input(path: PathLike) -> bool:
    """Say whether a path stands for standard input."""
    return path == STANDARD_INPUT


def _read_standard_input(most: int) -> bytes:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise DataError("nothing is piped into standard input", file=STANDARD_INPUT)
    if stream not in _PIPED:
        _PIPED[stream] = stream.buffer.read(most + 1)
    return _PIPED[stream]


def _read_remote(path: PathLike, most: int) -> bytes:
    filesystem, inner = _remote(path)
    try:
        with filesystem.open(inner, "rb") as stream:
            content: bytes = stream.read(most + 1)
    except FileNotFoundError:
        raise DataError("there is no such file", file=path) from None
    return content


def read_text(path: PathLike) -> str:
    """Return the text of a UTF-8 file, without byte order mark and with line ends as line feeds.

    Parameters
    ----------
    path : path

    Returns
    -------
    str

    Raises
    ------
    DataError
        If the file is missing, empty, or not UTF-8; the message names the first line that is not.
    """
    content = read_bytes(path)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError("the file is UTF-16, not UTF-8", file=path, hint="save it as UTF-8")
    if b"\0" in content:
        raise DataError(
            "the file is binary, not text", file=path, line=content.count(b"\n", 0, content.index(b"\0")) + 1
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _not_utf8(path, content, error)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise DataError("the file is empty", file=path)
    return text


def _not_utf8(path: PathLike, content: bytes, error: UnicodeDecodeError) -> NoReturn:
    line = content.count(b"\n", 0, error.start) + 1
    raise DataError(
        f"byte 0x{content[error.start]:02x} is not UTF-8, while the text before it is",
        file=path,
        line=line,
        hint="the file mixes encodings or is in another one; save it as UTF-8",
    ) from None


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Go through the lines of a text file that are not blank.

    Parameters
    ----------
    path : path

    Yields
    ------
    number : int
        From 1.
    text : str
        Without its line end.

    Raises
    ------
    DataError
        As `read_text`.
    """
    for number, text in enumerate(read_text(path).split("\n"), start=1):
        if text.strip():
            yield number, text


def write_atomically(path: PathLike, content: bytes | str) -> None:
    """Write a local file that is there whole or not at all, whenever the writer is stopped.

    Parameters
    ----------
    path : path
        Its folder must exist.
    content : bytes or str
        Text is written as UTF-8.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is then unharmed.
    """
    path = Path(path)
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system lets a folder be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
            _write_remote(path, content.encode() if isinstance(content, str) else content)
        else:
            write_atomically(path, content)
    except OSError as error:
        raise DataError(f"it cannot be written: {error.strerror or error}", file=path) from None


def _write_remote(path: PathLike, content: bytes) -> None:
    filesystem, inner = _remote(path)
    filesystem.pipe_file(inner, content)


def make_folder(path: PathLike) -> None:
    """Make a folder, and those above it, unless it is there.

    Parameters
    ----------
    path : path

    Raises
    ------
    DataError
        If it cannot be made.
    """
    if is_remote(path):
        return  # object stores have no folders; others make them with the file
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder cannot be made: {error.strerror or error}", file=path) from None


def check_file_name(name: str, what: str) -> str:
    """Return a label that is to be the name of a file, or say why it cannot be one.

    Parameters
    ----------
    name : str
    what : str
        What it names, for the message: ``"measure"``.

    Returns
    -------
    str

    Raises
    ------
    DataError
        If a file cannot have this name everywhere.
    """
    unfit = name.startswith(".") or name != name.strip() or len(name.encode()) > _LONGEST_NAME
    if unfit or not name.isprintable() or any(letter in name for letter in '/\\:*?"<>|'):
        raise DataError(f"the {what} {name!r} cannot be the name of a file", hint="write a tidy CSV or Parquet file")
    return name


def stem(path: PathLike) -> str:
    """Return a file's name without folder and last suffix.

    Parameters
    ----------
    path : path

    Returns
    -------
    str

    Examples
    --------
    >>> stem("runs/PotTS.SubtaskC.txt")
    'PotTS.SubtaskC'
    """
    return "stdin" if is_standard_input(path) else Path(str(path)).stem


def file_name(path: PathLike) -> str:
    """Return a file's name without its folder."""
    return "stdin" if is_standard_input(path) else Path(str(path)).name


def is_folder(path: PathLike) -> bool:
    """Say whether a path is a folder."""
    if not is_remote(path):
        return os.path.isdir(path)  # also of a name that no file can have, of which Path.is_dir complains
    filesystem, inner = _remote(path)
    return bool(filesystem.isdir(inner))


def is_file(path: PathLike) -> bool:
    """Say whether there is a file of that name."""
    if not is_remote(path):
        return os.path.isfile(path)
    filesystem, inner = _remote(path)
    return bool(filesystem.isfile(inner))


def join_path(folder: PathLike, name: str) -> PathLike:
    """Return the path of a file in a folder."""
    return f"{str(folder).rstrip('/')}/{name}" if is_remote(folder) else Path(folder) / name


def list_files(folder: PathLike) -> list[PathLike]:
    """Return the files of a folder in the order of their names, without hidden ones and without folders.

    Parameters
    ----------
    folder : path

    Returns
    -------
    list of path

    Raises
    ------
    DataError
        If there is no such folder, or no file in it.
    """
    found: list[PathLike]
    if is_remote(folder):
        filesystem, inner = _remote(folder)
        entries = filesystem.ls(inner, detail=True)
        found = [str(filesystem.unstrip_protocol(one["name"])) for one in entries if one["type"] == "file"]
    else:
        try:
            if not Path(folder).is_dir():
                raise DataError("there is no such folder", file=folder)
            found = [path for path in Path(folder).iterdir() if path.is_file()]
        except OSError as error:
            raise DataError(f"it cannot be read: {error.strerror or error}", file=folder) from None
    found = sorted((path for path in found if not file_name(path).startswith(".")), key=file_name)
    if not found:
        raise DataError("there are no files in this folder", file=folder)
    return found


def find_paths(sources: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """Return the files meant by a path, a list of paths or a folder.

    Parameters
    ----------
    sources : path, list of paths, or folder

    Returns
    -------
    list of path

    Raises
    ------
    DataError
        If the list or the folder is empty.
    """
    if isinstance(sources, str | Path):
        return list_files(sources) if is_folder(sources) else [sources]
    if not sources:
        raise DataError("no files were named")
    return list(sources)


def find_named_files(sources: Sources, *, gold: PathLike | None = None) -> dict[str, PathLike]:
    """Return run files by run name.

    Parameters
    ----------
    sources : path, list of paths, mapping of run name to path, or folder
        Of a folder every file is a run, hidden ones excepted. Unless a mapping names it, a run is called
        after its file, without the suffix.
    gold : path, optional
        The gold file; when it lies in the same folder it is not taken for a run.

    Returns
    -------
    dict of str to path

    Raises
    ------
    DataError
        If there are no files, or two files give the same run name.
    """
    if isinstance(sources, Mapping):
        if not sources:
            raise DataError("no run files were named")
        return {str(name): path for name, path in sources.items()}
    paths = find_paths(sources)
    if isinstance(sources, str | Path) and gold is not None and is_folder(sources):
        paths = [path for path in paths if not _same(path, gold)]
        if not paths:
            raise DataError("there is no file in this folder but the gold", file=sources)
    named: dict[str, PathLike] = {}
    for path in paths:
        name = stem(path)
        if name in named:
            raise DataError(
                f"it gives the same run name as {file_name(named[name])}",
                file=path,
                run=name,
                hint="a run is named after its file; rename one",
            )
        named[name] = path
    return named


def describe_files(paths: Sequence[PathLike]) -> str:
    """Return the names of files as one short line, for provenance: the same whichever folder they lie in."""
    return format_list([file_name(path) for path in paths], most=3)


def _same(path: PathLike, other: PathLike) -> bool:
    if is_remote(path) or is_remote(other):
        return str(path) == str(other)
    return Path(path).resolve() == Path(other).resolve()
