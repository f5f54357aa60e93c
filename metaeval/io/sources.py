"""Which files are meant: a path, a list, a mapping of names, or a folder, here or wherever fsspec reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metaeval.errors import DataError
from metaeval.files import PathLike, is_remote
from metaeval.labels import listed

Sources = PathLike | Sequence[PathLike] | Mapping[str, PathLike]
"""A file, a folder, several files, or files by name."""


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
    return Path(str(path)).stem


def file_name(path: PathLike) -> str:
    """Return a file's name without its folder."""
    return Path(str(path)).name


def is_folder(path: PathLike) -> bool:
    """Say whether a path is a folder."""
    if not is_remote(path):
        return Path(path).is_dir()
    filesystem, inner = _remote(path)
    return bool(filesystem.isdir(inner))


def files_in(folder: PathLike) -> list[PathLike]:
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
        if not Path(folder).is_dir():
            raise DataError("there is no such folder", file=folder)
        try:
            found = [path for path in Path(folder).iterdir() if path.is_file()]
        except OSError as error:
            raise DataError(f"it cannot be read: {error.strerror or error}", file=folder) from None
    found = sorted((path for path in found if not file_name(path).startswith(".")), key=file_name)
    if not found:
        raise DataError("there are no files in this folder", file=folder)
    return found


def inside(folder: PathLike, name: str) -> PathLike:
    """Return the path of a file in a folder."""
    return f"{str(folder).rstrip('/')}/{name}" if is_remote(folder) else Path(folder) / name


def exists(path: PathLike) -> bool:
    """Say whether there is a file of that name."""
    if not is_remote(path):
        return Path(path).is_file()
    filesystem, inner = _remote(path)
    return bool(filesystem.isfile(inner))


def named_files(sources: Sources, *, gold: PathLike | None = None) -> dict[str, PathLike]:
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
    paths = paths_of(sources)
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
                hint="a run is named after its file; rename one, or give a mapping of names to files",
            )
        named[name] = path
    return named


def paths_of(sources: PathLike | Sequence[PathLike]) -> list[PathLike]:
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
        return files_in(sources) if is_folder(sources) else [sources]
    if not sources:
        raise DataError("no files were named")
    return list(sources)


def described(paths: Sequence[PathLike]) -> str:
    """Return the names of files as one short line, for provenance: the same whichever folder they lie in."""
    return listed([file_name(path) for path in paths], most=3)


def _same(path: PathLike, other: PathLike) -> bool:
    if is_remote(path) or is_remote(other):
        return str(path) == str(other)
    return Path(path).resolve() == Path(other).resolve()


def _remote(path: PathLike) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError:
        raise DataError("reading it needs fsspec", file=path, hint='pip install "metaeval[remote]"') from None
    try:
        filesystem, inner = url_to_fs(str(path))
    except (ValueError, ImportError) as error:
        raise DataError(f"it cannot be read: {error}", file=path) from None
    return filesystem, str(inner)
