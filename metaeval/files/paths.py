"""Which files are meant: paths, folders, standard input, and names of files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from metaeval.errors import DataError, format_list

PathLike = str | Path

Sources = PathLike | Sequence[PathLike] | Mapping[str, PathLike]
"""A file, a folder, several files, or files by name."""

STANDARD_INPUT = "-"
"""The path that stands for what is piped into the command."""

_LONGEST_NAME = 200


def is_remote(path: PathLike) -> bool:
    """Say whether a path is on another machine: ``scheme://…``."""
    return "://" in str(path)


def is_standard_input(path: PathLike) -> bool:
    """Say whether a path stands for standard input."""
    return path == STANDARD_INPUT


def check_file_name(measure: str) -> str:
    """Return the name of a measure that is to be the name of a file, or say why it cannot be."""
    unfit = measure.startswith(".") or measure != measure.strip() or len(measure.encode()) > _LONGEST_NAME
    if unfit or not measure.isprintable() or any(letter in measure for letter in '/\\:*?"<>|'):
        raise DataError(
            f"the measure {measure!r} cannot be the name of a file", hint="write a tidy CSV or Parquet file"
        )
    return measure


def stem(path: PathLike) -> str:
    """Return a file's name without folder and last suffix, nor that of a packed file.

    >>> stem("runs/PotTS.SubtaskC.txt"), stem("web2013_ap.csv.gz")
    ('PotTS.SubtaskC', 'web2013_ap')
    """
    return "stdin" if is_standard_input(path) else Path(plain_path(path)).stem


def plain_path(path: PathLike) -> str:
    """Return a path without the suffix of a packed file: its own suffix says what the file holds."""
    return re.sub(r"\.(gz|zst|bz2)$", "", str(path), flags=re.IGNORECASE)


def file_name(path: PathLike) -> str:
    """Return a file's name without its folder."""
    return "stdin" if is_standard_input(path) else Path(str(path)).name


def is_folder(path: PathLike) -> bool:
    """Say whether a path is a folder."""
    return os.path.isdir(path)  # also of a name that no file can have, of which Path.is_dir complains


def list_files(folder: PathLike) -> list[PathLike]:
    """Return the files of a folder in the order of their names, without hidden ones and folders; at least one."""
    try:
        if not Path(folder).is_dir():
            raise DataError("there is no such folder", file=folder)
        paths: list[PathLike] = [path for path in Path(folder).iterdir() if path.is_file()]
    except OSError as error:
        raise DataError(f"it cannot be read: {error.strerror or error}", file=folder) from None
    paths = sorted((path for path in paths if not file_name(path).startswith(".")), key=file_name)
    if not paths:
        raise DataError("there are no files in this folder", file=folder)
    return paths


def find_paths(sources: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """Return the files meant by a path, a list of paths or a folder; at least one."""
    if isinstance(sources, str | Path):
        return list_files(sources) if is_folder(sources) else [sources]
    if not sources:
        raise DataError("no files were named")
    return list(sources)


def find_named_files(sources: Sources, *, gold: PathLike | None = None) -> dict[str, PathLike]:
    """Return run files by run name: that of the mapping, or of the file without its suffix.

    Every file of a folder is a run, but hidden ones and the gold file, which may lie in the same folder.
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
    return Path(path).resolve() == Path(other).resolve()
