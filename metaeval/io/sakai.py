"""Sakai's layout: a folder with one text file per measure, topics × runs, and a file ``runs`` with the run names.

A file holds the measure of its name: one line per topic, one column per run, separated by white space, no header. Topics
are numbered "1" to "n", unless a file ``topics`` names them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.data.cells import is_missing
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, hint_missing, mend_missing
from metaeval.data.scores import Scores, hold_scores
from metaeval.errors import DataError, format_option
from metaeval.files import (
    PathLike,
    check_file_name,
    describe_files,
    file_name,
    is_folder,
    list_files,
    read_lines,
    write_file,
    write_together,
)
from metaeval.io.rows import keep_wanted
from metaeval.io.sample import Sample
from metaeval.io.table import check_plain, is_number, numbers
from metaeval.measures.resolve import measure_of_label

RUNS = "runs"
TOPICS = "topics"
"""A file of topic names, one per line; Sakai's folders have none, so their topics are numbered."""


def read(
    folder: PathLike,
    *,
    measure: str | None = None,
    measures: Mapping[str, str] | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    choose: Choose | None = None,
) -> Scores:
    """Read a folder, or the only measure of it; of a single file the run names are in the file ``runs`` beside it.

    `measures` maps names of files to the measures that they hold.
    """
    if not is_folder(folder):
        measures = {file_name(folder): measure or file_name(folder)}
        folder = Path(folder).parent
    elif measure is not None:
        measures = {measure: measure}
    runs = _read_labels(Path(folder) / RUNS, "run")
    topics = _read_labels(Path(folder) / TOPICS, "topic") if os.path.isfile(os.path.join(folder, TOPICS)) else None
    if measures is None:
        names = {file_name(path): file_name(path) for path in list_files(folder)}
        names = {file: name for file, name in names.items() if file not in (RUNS, TOPICS)}
    else:
        names = {str(file): str(name) for file, name in measures.items()}
    if not names:
        raise DataError("there is no file of a measure in this folder", file=folder)
    wanted = keep_wanted(dict(zip(names.values(), names, strict=True)), choose)
    names = dict(zip(wanted.values(), wanted, strict=True))
    layers: list[np.ndarray] = []
    for file, measure in names.items():
        path = Path(folder) / file
        values = _read_matrix(path, measure, runs, topics, missing, explicit=measures is not None)
        if layers and len(values) != len(layers[0]):
            first = next(iter(names))
            raise DataError(
                f"it has {len(values)} topics, but {first} has {len(layers[0])}", file=path, measure=measure
            )
        layers.append(values)
    stacked = np.stack(layers, axis=-1).transpose(1, 0, 2)
    if topics is None:
        topics = [str(number) for number in range(1, len(layers[0]) + 1)]
    known = [measure_of_label(name) for name in names.values()]
    values, runs, topics = mend_missing(stacked, runs, topics, known, missing, file=folder)
    if collection is None:
        collection = Path(folder).resolve().name
    return hold_scores(
        values,
        runs=runs,
        topics=topics,
        measures=known,
        collection=collection,
        provenance=describe_files(list(names)),
    )


def fits(sample: Sample) -> bool:
    """Say whether a file begins with numbers only, and a file of run names is beside it."""
    if not Path(sample.path).with_name(RUNS).is_file():
        return False
    return all(is_number(field) for field in sample.lines[0].split())


def write(scores: Scores, folder: PathLike) -> None:
    """Write a folder of score matrices in Sakai's layout, without loss of precision."""
    runs = [check_plain(run, "run", separator="\n") for run in scores.runs]
    topics = [check_plain(topic, "topic", separator="\n") for topic in scores.topics]
    files = [check_file_name(str(measure)) for measure in scores.measures]
    taken = [name for name in files if name in (RUNS, TOPICS)]
    if taken:
        raise DataError(f"the measure {taken[0]!r} has the name of the file that lists the {taken[0]}", file=folder)
    with write_together(folder) as aside:
        write_file(Path(aside) / RUNS, "".join(f"{run}\n" for run in runs))
        if topics != [str(number) for number in range(1, len(topics) + 1)]:
            write_file(Path(aside) / TOPICS, "".join(f"{topic}\n" for topic in topics))
        for position, name in enumerate(files):
            rows = scores.values[:, :, position].T.tolist()
            write_file(Path(aside) / name, "".join(f"{' '.join(map(repr, row))}\n" for row in rows))


def _read_labels(path: PathLike, what: str) -> list[str]:
    if what == "run" and not os.path.isfile(path):
        raise DataError("there is no such file: it should hold one run name per line", file=path)
    seen: dict[str, int] = {}
    for line, text in read_lines(path):
        label = text.strip()
        if label in seen:
            raise DataError(f"the {what} {label!r} occurs twice, first on line {seen[label]}", file=path, line=line)
        seen[label] = line
    return list(seen)


def _read_matrix(
    path: PathLike,
    measure: str,
    runs: Sequence[str],
    topics: Sequence[str] | None,
    missing: MissingPolicy,
    *,
    explicit: bool,
) -> np.ndarray:
    rows = []
    for topic, (line, text) in enumerate(read_lines(path)):
        fields = text.split()
        where: dict[str, Any] = {"file": path, "line": line, "measure": measure}
        if topics is not None and topic >= len(topics):
            raise DataError(f"there are more lines than the {len(topics)} topics", **where)
        where["topic"] = topics[topic] if topics is not None else str(topic + 1)
        if len(fields) != len(runs):
            raise DataError(
                f"the line has {len(fields)} columns, there are {len(runs)} runs",
                **where,
                hint=None
                if explicit
                else f"if this is not a score matrix, {format_option('name those that are with measures=…')}",
            )
        row = numbers(fields)
        for run in np.flatnonzero(~np.isfinite(row)).tolist():
            if missing == "raise" or not is_missing(fields[run]):
                hint = hint_missing() if is_missing(fields[run]) else None
                problem = f"the score {fields[run]!r} is not a finite number"
                raise DataError(problem, run=runs[run], **where, hint=hint)
        rows.append(row)
    if topics is not None and len(rows) < len(topics):
        raise DataError("there is no line for this topic", file=path, measure=measure, topic=topics[len(rows)])
    return np.array(rows)
