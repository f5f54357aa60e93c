"""Writing files whole or not at all, with names that come back as they were."""

from __future__ import annotations

from pathlib import Path

from metaeval.errors import DataError
from metaeval.files import PathLike, is_remote, write_atomically

_LONGEST = 200


def write(path: PathLike, content: bytes | str) -> None:
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
            _write_remote(str(path), content.encode() if isinstance(content, str) else content)
        else:
            write_atomically(path, content)
    except OSError as error:
        raise DataError(f"it cannot be written: {error.strerror or error}", file=path) from None


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


def usable_file_name(name: str, what: str) -> str:
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
    unfit = name.startswith(".") or name != name.strip() or len(name.encode()) > _LONGEST
    if unfit or not name.isprintable() or any(letter in name for letter in '/\\:*?"<>|'):
        raise DataError(f"the {what} {name!r} cannot be the name of a file", hint="write a tidy CSV or Parquet file")
    return name


def plain(label: str, what: str, *, separator: str | None = "\t") -> str:
    """Return a label that comes back the same from a line of text, or say why it would not.

    Parameters
    ----------
    label : str
    what : str
        What it labels, for the message: ``"run"``.
    separator : str, optional
        What stands between two fields; None for any white space.

    Returns
    -------
    str

    Raises
    ------
    DataError
        If it holds the separator or a line break, or begins or ends with white space.
    """
    parts = label.split() if separator is None else label.split(separator)
    if len(parts) != 1 or label != label.strip() or any(letter in label for letter in "\r\n\0\ufeff"):
        raise DataError(
            f"the {what} {label!r} cannot be written here: the format has no way to quote white space",
            hint="write a tidy CSV or Parquet file",
        )
    return label


def _write_remote(path: str, content: bytes) -> None:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise DataError("writing it needs fsspec", file=path, hint='pip install "metaeval[remote]"') from None
    try:
        with fsspec.open(path, "wb") as stream:
            stream.write(content)
    except ValueError as error:
        raise DataError(f"it cannot be written: {error}", file=path) from None
