"""Judgements and runs as TREC has them: lines ``topic 0 document grade``, and ``topic Q0 document rank score name``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from metaeval.data.judged import JudgedRuns
from metaeval.data.policies import MissingPolicy
from metaeval.data.rows import number
from metaeval.errors import DataError
from metaeval.files import PathLike, Sources, describe_files, find_named_files, find_paths, stem
from metaeval.io.table import add_once, read_fields

Number = TypeVar("Number", int, float)


def read_judged_runs(
    judgements: Sequence[PathLike],
    runs: Sources | Sequence[PathLike],
    *,
    missing: MissingPolicy = "raise",
    collection: str | None = None,
) -> JudgedRuns:
    """Read runs of documents, and several sets of judgements of them.

    Parameters
    ----------
    judgements : sequence of path
        Lines ``topic 0 document grade``; a set is named after its file, and the first one is the reference.
    runs : path, sequence of path or mapping of name to path
        A folder, or files, of lines ``topic Q0 document rank score name``; a run is named after its file.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        As for `metaeval.JudgedRuns`.
    collection : str, optional
        By default the name of the reference.
    """
    named: dict[str, PathLike] = {}
    for path in judgements:
        add_once(named, "set of judgements", stem(path), path)
    if len(named) < 2:
        raise DataError("name two files of judgements or more: first those of people, then those of models")
    if isinstance(runs, list | tuple):
        runs = [path for source in runs for path in find_paths(source)]
    files = find_named_files(runs)
    grades = {name: _read_file(path, "topic 0 document grade", int) for name, path in named.items()}
    scored = {run: _read_file(path, "topic Q0 document rank score name", float) for run, path in files.items()}
    provenance = describe_files([*named.values(), *files.values()])
    collection = next(iter(named)) if collection is None else collection
    return JudgedRuns(grades, scored, missing=missing, collection=collection, provenance=provenance)


def _read_file(path: PathLike, layout: str, kind: type[Number]) -> dict[str, dict[str, Number]]:
    """Return grades or scores by topic and document; the same line may stand twice, another number may not."""
    size, what = len(layout.split()), "grade" if kind is int else "score"
    rows, lines = read_fields(path, separator=None, least=size, most=size, layout=f"{size}: {layout}")
    result, second = dict[str, dict[str, Number]](), dict[tuple[str, str], str]()
    for line, fields in zip(lines, rows, strict=True):
        topic, document, text = fields[0], fields[2], fields[layout.split().index(what)]
        value = number(text)
        known, problem = result.setdefault(topic, {}), ""
        if not math.isfinite(value) or (kind is int and value != int(value)):
            problem = f"{text!r} is no {what}, a {'whole' if kind is int else 'finite'} number"
        elif kind is int and second.setdefault((topic, document), fields[1]) != fields[1]:
            problem = "the second column has two words for it"
        elif known.setdefault(document, kind(value)) != value:
            problem = f"it has two {what}s, {known[document]:g} and {value:g}"
        if problem:
            raise DataError(problem, file=path, line=line, topic=topic, item=document)
    return result
