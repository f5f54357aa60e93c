"""Files as people have them: read from any path or URL, with or without BOM, with any line ends; written whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from metaeval.errors import DataError

PathLike = str | Path

TEMPORARY = ".writing-"
"""What the name of a file that is still being written begins with."""


def read_bytes(path: PathLike) -> bytes:
    """Return the content of a local file, or of any path that fsspec knows (``s3://…``, ``memory://…``).

    Parameters
    ----------
    path : path

    Returns
    -------
    bytes

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, or it is empty.
    """
    try:
        content = _remote(str(path)) if is_remote(path) else Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise DataError("this is a folder, a file is needed", file=path) from None
    except OSError as error:
        raise DataError(f"it cannot be read: {error.strerror or error}", file=path) from None
    if not content:
        raise DataError("the file is empty", file=path)
    return content


def is_remote(path: PathLike) -> bool:
    """Say whether a path is for fsspec: ``scheme://…``."""
    return "://" in str(path)


def _remote(path: str) -> bytes:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise DataError("reading it needs fsspec", file=path, hint='pip install "metaeval[remote]"') from None
    try:
        with fsspec.open(path, "rb") as stream:
            content: bytes = stream.read()
    except ValueError as error:
        raise DataError(f"it cannot be read: {error}", file=path) from None
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


def lines(path: PathLike) -> Iterator[tuple[int, str]]:
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
