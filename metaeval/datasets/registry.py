"""Which data sets there are, by name: the tables of datasets.toml as frozen objects."""

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
from urllib.parse import quote

from metaeval.errors import DatasetError, suggest_names
from metaeval.show.bibliography import fill_in_references

Kind = Literal["classification", "quantification", "scores", "annotations"]
"""What a data set contains."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*")


@dataclass(frozen=True)
class File:
    """One file of a data set, as published.

    `name` is its path in the cache folder, with ``/``; `bytes` its size, and no more is downloaded; `origin` repository and
    commit. A name that could lead out of the folder is refused.

    Examples
    --------
    >>> File("../escaped", "https://example.org/a", "00", 1)
    Traceback (most recent call last):
    metaeval.errors.DatasetError: '../escaped' from 'https://example.org/a' is no file of the data folder from the web
    """

    name: str
    url: str
    sha256: str
    bytes: int
    licence: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        """Refuse a path outside the folder and an address that is not on the web."""
        if not _PLAIN_NAME.fullmatch(self.name) or not re.match(r"https?://", self.url):
            raise DatasetError(f"{self.name!r} from {self.url!r} is no file of the data folder from the web")


@dataclass(frozen=True)
class Dataset:
    """A named data set: its content, files, licence, and how to read it.

    Parameters
    ----------
    name, title, rows
        What it is called and is, and the numbers of runs, topics and items.
    kind
        What `load_dataset` returns: `ClassificationRuns`, `QuantificationRuns`, `Scores` or `Annotations`.
    classes
        All of them in order; none for scores.
    reader, options
        A format of `metaeval.io`, or one of `metaeval.datasets.load`, and its arguments.
    gold, runs, second_gold
        Names in the cache folder; `runs` is a pattern, `second_gold` what one of the readers needs too.
    baselines
        Runs to add: popularity, uniform, constant.
    credits, note
        What to cite, with labels of the bibliography in braces, and remarks.
    where, layout, files
        What is downloaded; or where it is published, and where to put it.
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
    >>> [data_set.name for data_set in datasets()][:4]
    ['stc3-dq-a', 'stc3-dq-e', 'stc3-dq-s', 'llmjudge']
    """
    return tuple(_registry().values())


def dataset(name: str) -> Dataset:
    """Return the data set with this name, or raise a `DatasetError` that suggests similar names.

    Examples
    --------
    >>> dataset("llmjudge").provenance
    'llm4eval/LLMJudge@81159c6, llm4eval/LLMJudge-benchmark@968a1f9'
    """
    known = _registry().get(str(name))
    if known is None:
        near = suggest_names(str(name), _registry())
        hint = f" ({near})" if near else ""
        raise DatasetError(f"there is no data set {str(name)!r}{hint}; `metaeval data list` lists them")
    return known


def cache_folder() -> Path:
    """Return the folder for downloads: METAEVAL_DATA if it is set, otherwise the user's cache folder."""
    import platformdirs

    stated = os.environ.get("METAEVAL_DATA", "").strip()
    return Path(stated).expanduser() if stated else Path(platformdirs.user_cache_dir("metaeval"))


@functools.cache
def _registry() -> dict[str, Dataset]:
    content = resources("metaeval.datasets").joinpath("datasets.toml").read_text(encoding="utf-8")
    table = tomllib.loads(content)
    published = [
        File(
            f"{source['into']}/{name}",
            f"https://raw.githubusercontent.com/{source['repository']}/{source['commit']}/"
            + quote(f"{source['path']}/{elsewhere[0] if elsewhere else name}"),
            sha256,
            size,
            source["licence"],
            f"{source['repository']}@{source['commit'][:7]}",
        )
        for source in table["source"]
        for name, size, sha256, *elsewhere in source["files"]
    ]
    found = {}
    for name, stated in table["set"].items():
        entries = dict(stated)
        while "like" in entries:  # a set's own entries have priority over those that it takes from another one
            like = table["set"][entries["like"]]
            entries = {**like, **{key: value for key, value in entries.items() if key != "like"}}
        if not {"where", "layout"} <= entries.keys():
            patterns = [entries.get(key, "") for key in ("gold", "second_gold", "runs")]
            entries["files"] = tuple(f for f in published if any(fnmatchcase(f.name, p) for p in patterns))
        lists = {key: tuple(entries.get(key, ())) for key in ("classes", "baselines")}
        found[name] = Dataset(name, **{**entries, **lists})
    return found
