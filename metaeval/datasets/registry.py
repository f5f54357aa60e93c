"""The registry of data sets: the tables of registry.toml and files.toml as frozen objects."""

from __future__ import annotations

import functools
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from metaeval.errors import DatasetError, suggest_names
from metaeval.show.bibliography import fill_in_references

Kind = Literal["classification", "quantification", "scores", "annotations", "features"]
"""What a data set contains. Features, on which a classifier would be trained, cannot be read by metaeval."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*")


@dataclass(frozen=True)
class File:
    """One file of a data set, as published.

    Parameters
    ----------
    name : str
        Its path in the cache folder, with ``/``. A name that could lead out of the folder is refused.
    url : str
        The address for the download, http or https.
    sha256 : str
        Its checksum, in hexadecimal.
    bytes : int
        Its size.
    licence : str, optional
        As stated by the publisher.
    origin : str, optional
        Repository and commit: ``llm4eval/LLMJudge@81159c6``.

    Raises
    ------
    DatasetError
        If the name is not that of a file in the folder, or the URL is not http(s).

    Examples
    --------
    >>> File("../escaped", "https://example.org/a", "00", 1)
    Traceback (most recent call last):
    metaeval.errors.DatasetError: '../escaped' is not a file's name inside the data folder
    """

    name: str
    url: str
    sha256: str
    bytes: int
    licence: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        """Refuse a path outside the folder and an address that is not on the web."""
        if not _PLAIN_NAME.fullmatch(self.name):
            raise DatasetError(f"{self.name!r} is not a file's name inside the data folder")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise DatasetError(f"{self.name}: {self.url!r} is not an http(s) address")


@dataclass(frozen=True)
class Dataset:
    """A named data set: its content, files, licence, and how to read it.

    Parameters
    ----------
    name : str
    title : str
        A one-line description.
    kind : {"classification", "quantification", "scores", "annotations", "features"}
        What `load_dataset` returns: `ClassificationRuns`, `QuantificationRuns`, `Scores`, `Annotations`, or an error.
    rows : str
        The numbers of runs, topics and items.
    classes : tuple of str
        All classes in order; empty for scores.
    reader : str
        The layout of its files, see `metaeval.datasets.load`.
    gold, runs : str
        Names in the cache folder; `runs` is a pattern.
    second_gold : str
        Gold of another task that the reader needs too.
    options : mapping
        Arguments of the reader: rescale, policies.
    baselines : tuple of {"popularity", "uniform", "constant"}
        Baseline runs to add.
    credits, note : str
        What to cite, with labels of the bibliography in braces, and remarks.
    where, layout : str
        For a data set that cannot be downloaded automatically: where it is published, and where to put its files.
    files : tuple of File
        The files to download; empty if it cannot be downloaded automatically.
    """

    name: str
    title: str = ""
    kind: Kind = "scores"
    rows: str = ""
    classes: tuple[str, ...] = ()
    reader: str = ""
    gold: str = ""
    runs: str = ""
    second_gold: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    baselines: tuple[str, ...] = ()
    credits: str = ""
    note: str = ""
    where: str = ""
    layout: str = ""
    files: tuple[File, ...] = ()

    @property
    def citation(self) -> str:
        """What to cite, in words."""
        return fill_in_references(self.credits)

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files)

    @property
    def licence(self) -> str:
        """The licences that the publishers state, each once: ``none stated, MIT``."""
        return ", ".join(dict.fromkeys(file.licence for file in self.files if file.licence))

    @property
    def provenance(self) -> str:
        """The origin of the files in one line: ``llm4eval/LLMJudge@81159c6``."""
        return ", ".join(dict.fromkeys(file.origin for file in self.files if file.origin)) or self.where


def datasets() -> tuple[Dataset, ...]:
    """Return all data sets, those that can be downloaded first.

    Examples
    --------
    >>> [one.name for one in datasets()][:4]
    ['stc3-dq-a', 'stc3-dq-e', 'stc3-dq-s', 'llmjudge']
    """
    return tuple(_registry().values())


def dataset(name: str) -> Dataset:
    """Return the data set with this name.

    Raises
    ------
    DatasetError
        If there is no such data set; the message suggests similar names.

    Examples
    --------
    >>> dataset("llmjudge").classes
    ('0', '1', '2', '3')
    >>> dataset("llmjudge").provenance
    'llm4eval/LLMJudge@81159c6, llm4eval/LLMJudge-benchmark@968a1f9'
    """
    known = _registry().get(str(name))
    if known is None:
        near = suggest_names(str(name), _registry())
        raise DatasetError(
            f"there is no data set {str(name)!r}{f' ({near})' * bool(near)}; `metaeval data list` lists them"
        )
    return known


def cache_folder() -> Path:
    """Return the folder for downloads: METAEVAL_DATA if it is set, otherwise the user's cache folder."""
    stated = os.environ.get("METAEVAL_DATA", "").strip()
    return Path(stated).expanduser() if stated else built_folder()


def built_folder() -> Path:
    """Return the user's cache folder, for computed data sets; METAEVAL_DATA may be shared or read-only."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("metaeval"))


@functools.cache
def _registry() -> dict[str, Dataset]:
    tables = _read_toml("registry.toml")
    published = _files()
    return {name: _dataset(name, tables, published) for name in tables}


def _dataset(name: str, tables: dict[str, Any], published: tuple[File, ...]) -> Dataset:
    entries: dict[str, Any] = {}
    link: str | None = name
    while link is not None:  # entries of the table itself have priority over those that it takes from another one
        entries = {**tables[link], **entries}
        link = tables[link].get("like")
    entries.pop("like", None)
    if not {"where", "layout"} <= entries.keys():
        names = (entries.get("gold", ""), entries.get("second_gold", ""), entries["runs"])
        entries["files"] = tuple(f for f in published if any(fnmatchcase(f.name, pattern) for pattern in names))
    for key in ("classes", "baselines"):
        entries[key] = tuple(entries.get(key, ()))
    return Dataset(name, **entries)


def _files() -> tuple[File, ...]:
    listed = []
    for source in _read_toml("files.toml")["source"]:
        repository, commit = source["repository"], source["commit"]
        for name, size, sha256, *elsewhere in source["files"]:
            path = quote(f"{source['path']}/{elsewhere[0] if elsewhere else name}")
            listed.append(
                File(
                    f"{source['into']}/{name}",
                    f"https://raw.githubusercontent.com/{repository}/{commit}/{path}",
                    sha256,
                    size,
                    source["licence"],
                    f"{repository}@{commit[:7]}",
                )
            )
    return tuple(listed)


def _read_toml(name: str) -> dict[str, Any]:
    return tomllib.loads(resources("metaeval.datasets").joinpath(name).read_text(encoding="utf-8"))
