"""Wide scores: topics × runs, or runs × topics, one table per measure, a usual form of TREC result matrices.

The header of topics × runs holds the run names. A first column whose name says so (``topic``, ``query_id``, ``segment``,
none) holds the topics; without such a column they are numbered "1" to "n". Several tables must have the same topics and
runs, which are aligned by name. The name of a file tells collection and measure: ``web2013_ndcg20.csv`` is nDCG@20 of
web2013.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import number, read_score_column
from metaeval.data.clusters import find_clusters
from metaeval.data.columns import CLUSTER, format_columns, refuse_columns_without_scores
from metaeval.data.labels import Choose
from metaeval.data.policies import MissingPolicy, mend_missing, report_policy
from metaeval.data.scores import Scores, hold_scores
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import (
    PathLike,
    Sources,
    check_file_name,
    describe_files,
    file_name,
    find_paths,
    is_folder,
    list_files,
    plain_path,
    stem,
    write_together,
)
from metaeval.io.layout import Layout, counts_rows, describe_unused, find_layout, holds_integers, is_line_of_scores
from metaeval.io.rows import choose_files, keep_wanted
from metaeval.io.table import Table, check_text, write_table
from metaeval.io.tables import PARQUET, TABLES, WORKBOOKS, open_cells
from metaeval.io.tidy import read_numbers
from metaeval.measures.base import Measure
from metaeval.measures.directions import LONGEST_USUAL
from metaeval.measures.resolve import measure_of_label

STEMS = (
    (r"ap|map", "AP"),
    (r"rr|mrr", "RR"),
    (r"p(\d+)", "P@{}"),
    (r"recall(\d+)", "R@{}"),
    (r"ndcg", "nDCG"),
    (r"ndcg(\d+)", "nDCG@{}"),
    (r"err", "ERR"),
    (r"err(\d+)", "ERR@{}"),
    (r"rprec", "Rprec"),
    (r"bpref", "Bpref"),
    (r"infap", "infAP"),
    (r"rbp", "RBP"),
)
"""How measures are written at the end of file names, as regular expressions in upper or lower case, and their names."""

SUFFIXES = (*TABLES, *PARQUET, *WORKBOOKS)


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
    kind: str = "wide",
    choose: Choose | None = None,
) -> Scores:
    """Read one table per measure, of topics × runs or of runs × topics."""
    files, collections = _find_files(paths, measure, collection)
    files = keep_wanted(files, choose)
    layouts = {name: find_layout(open_cells(path), columns, kind) for name, path in files.items()}
    if collection is None:
        collection = collections.pop() if len(collections) == 1 else ""
    provenance = describe_files(list(files.values()))
    return arrange(layouts, missing=missing, collection=collection, columns=columns, provenance=provenance)


def arrange(
    layouts: Mapping[Any, Layout],
    *,
    missing: MissingPolicy = "raise",
    collection: str = "",
    columns: Mapping[str, str] | None = None,
    provenance: str = "",
) -> Scores:
    """Return the scores in tables of topics × runs, or of runs × topics, by measure."""
    matrices = [find_matrix(layout, name, columns) for name, layout in layouts.items()]
    first = matrices[0]
    names = list(layouts)
    layers = [first.values, *(_align(other, first, name) for other, name in zip(matrices[1:], names[1:], strict=True))]
    values = np.stack(layers, axis=-1).transpose(1, 0, 2)
    measures = [measure_of_label(name) for name in layouts]
    where = first.file if len(matrices) == 1 else None
    values, runs, topics = mend_missing(values, first.runs, first.topics, measures, missing, file=where)
    cells = next(iter(layouts.values())).cells(CLUSTER)
    by_topic = {} if cells is None else find_clusters(first.topics, cells, first.file)
    return hold_scores(
        values, runs=runs, topics=topics, measures=measures, collection=collection, provenance=provenance,
        clusters=[by_topic[topic] for topic in topics] if by_topic else (),
    )  # fmt: skip


def list_rows(layout: Layout, measure: str) -> pd.DataFrame:
    """Return the cells of a table of topics × runs, or runs × topics, in rows, NaN where there is no score."""
    matrix = find_matrix(layout, measure, None)
    n_topics, n_runs = matrix.values.shape
    columns = {"run": np.tile(np.array(matrix.runs, dtype=object), n_topics)}
    columns |= {"topic": np.repeat(np.array(matrix.topics, dtype=object), n_runs), "score": matrix.values.ravel()}
    return pd.DataFrame({**columns, "measure": np.full(n_topics * n_runs, measure, dtype=object)})


def write(scores: Scores, path: PathLike, kind: str = "wide") -> None:
    """Write scores as topics × runs, or runs × topics, one file per measure, without loss of precision."""
    if str(path).lower().endswith(TABLES):
        if len(scores.measures) > 1:
            problem = f"a wide file holds one measure, these are {len(scores.measures)}"
            raise DataError(problem, file=path, hint="give a folder")
        _write_measure(scores, 0, path, kind)
        return
    names = [f"{check_file_name(_make_stem(scores.collection, str(measure)))}.csv" for measure in scores.measures]
    with write_together(path) as aside:
        for position, name in enumerate(names):
            _write_measure(scores, position, Path(aside) / name, kind)


def split_stem(name: str, known: str | None = None) -> tuple[str, str, bool]:
    """Split the name of a file into collection, which may be known, and measure; tell whether the measure is known."""
    if known and name.startswith(f"{known}_"):
        rest = name.removeprefix(f"{known}_")
        if rest.startswith("_"):
            return known, rest[1:], True
        found = _find_measure(rest)
        return known, found or rest, found is not None
    # `write` uses two underscores if the rules below would misread the name.
    collection, escape, exact = name.partition("__")
    if escape and exact:
        return collection, exact, True
    # Try the longest ending first, so that a measure whose name contains an underscore is found as a whole.
    first = max(0, len(name) - LONGEST_USUAL)
    cuts = [-1, *(at for at, letter in enumerate(name[first:], start=first) if letter == "_")]
    for cut in cuts:
        measure = _find_measure(name[cut + 1 :])
        if measure is not None:
            return name[: max(cut, 0)], measure, True
    collection, _, measure = name.rpartition("_")
    return (collection, measure, False) if measure else ("", name, False)


def _find_measure(text: str) -> str | None:
    for pattern, measure in STEMS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match:
            return measure.format(*match.groups())
    return text if text and measure_of_label(text).higher_is_better is not None else None


def _make_stem(collection: str, measure: str) -> str:
    before = f"{collection}_" if collection else ""
    short = measure.replace("@", "").lower()
    for candidate in (before + short, before + measure):
        if split_stem(candidate)[:2] == (collection, measure):
            return candidate
    exact = f"{collection}__{measure}"
    if split_stem(exact)[:2] != (collection, measure):
        raise DataError(f"the collection {collection!r} cannot be read back from the name of a file", hint="rename it")
    return exact


def _find_files(paths: Sources, measure: str | None, collection: str | None) -> tuple[dict[str, PathLike], set[str]]:
    """Return the files by measure, and the collections that their names contain."""
    if isinstance(paths, Mapping):
        chosen = choose_files(paths, measure)
        return chosen, {split_stem(stem(path))[0] for path in chosen.values()}
    if isinstance(paths, str | Path) and not is_folder(paths):
        named, name, known = split_stem(stem(paths), collection)
        if measure is not None and not known:  # the ending is not a measure, so the whole name is the collection
            named = stem(paths)
        return {measure or name: paths}, {named}
    listed = _list_tables(paths, collection) if isinstance(paths, str | Path) else find_paths(paths)
    files: dict[str, PathLike] = {}
    collections: set[str] = set()
    for path in listed:
        named, name, _ = split_stem(stem(path), collection)
        if measure is not None and name != measure:
            continue
        collections.add(named)
        if name in files and len(collections) == 1:
            raise DataError(f"it holds the same measure as {file_name(files[name])}", file=path, measure=name)
        files[name] = path
    if len(collections) > 1:
        folder = paths if isinstance(paths, str | Path) else None
        problem = f"the files are of several collections: {format_list(sorted(collections))}"
        raise DataError(
            problem, file=folder, hint=f"say which with {format_option('collection', 'NAME')}" if folder else None
        )
    if not files:
        raise DataError(f"none of these files is of the measure {measure!r}", file=describe_files(listed))
    return files, collections


def _list_tables(folder: PathLike, collection: str | None) -> list[PathLike]:
    tables = [path for path in list_files(folder) if plain_path(path).lower().endswith(SUFFIXES)]
    if not tables:
        raise DataError("there is no CSV or TSV file in this folder", file=folder)
    mine = [path for path in tables if collection and stem(path).startswith(f"{collection}_")]
    return mine or tables


@dataclass(frozen=True)
class _Matrix:
    """One table: ``values[t, r]`` is the score of run r on topic t, NaN where the cell is empty."""

    file: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: np.ndarray
    labelled: bool


def find_matrix(layout: Layout, measure: str | Measure, columns: Mapping[str, str] | None) -> _Matrix:
    """Return the scores in a table of topics × runs, or of runs × topics, NaN where a cell is empty."""
    table, turned = layout.table, layout.kind == "transposed"
    note = describe_unused(layout)
    if note:
        report_policy(note, table.file)
    heads = tuple(table.header[j] for j in layout.scores)
    what = "run" if turned else "topic"
    rows = _label_rows(table, layout.roles.get(what), what, measure)
    values = _read_values(layout, rows, heads, measure)
    if turned:
        for position, name in enumerate(heads):
            if not name.strip():
                raise DataError("a topic has no name", file=table.file, run=rows[0], value=position)
        return _Matrix(table.file, rows, heads, values.T, True)
    topic = layout.roles.get("topic")
    if topic is None:
        _refuse_missing_header(values, heads, table)
    run = (columns or {}).get("run", "")
    known = [run] if run in heads else run.split("+")
    # A count of the rows may stand before the topics.
    named = topic is not None and ("topic" in (columns or {}) or not counts_rows(table, topic))
    integers = np.array([holds_integers(table.columns[j]) for j in layout.scores])
    refuse_columns_without_scores(values, heads, integers, measure, table.file, labelled=named, known=known)
    return _Matrix(table.file, heads, rows, values, topic is not None)


def _label_rows(table: Table, position: int | None, what: str, measure: str | Measure) -> tuple[str, ...]:
    """Return what the rows are about, numbers where no column says it."""
    if position is None:
        first = 1 if table.file else 0  # the rows of a frame have numbers of their own
        return tuple(str(number) for number in range(first, first + table.n_rows))
    seen: set[str] = set()
    for row, cell in enumerate(table.columns[position]):
        line = None if not table.lines else table.lines[row]
        if cell is None or cell != cell or not str(cell).strip():
            raise DataError(f"the {what} is missing", file=table.file, line=line, measure=measure)
        label = str(cell)
        if label in seen:
            run, topic = (label, None) if what == "run" else (None, label)
            again = f"there is a second line for this {what}"
            raise DataError(again, file=table.file, line=line, run=run, topic=topic, measure=measure)
        seen.add(label)
    return tuple(map(str, table.columns[position]))


def _read_values(layout: Layout, rows: Sequence[str], heads: Sequence[str], measure: str | Measure) -> np.ndarray:
    """Return the scores in the columns of a layout, shape (row, column), NaN where a cell is empty."""
    table, turned = layout.table, layout.kind == "transposed"
    values = np.empty((len(rows), len(heads)))
    for j, (column, given) in enumerate(read_numbers(table, layout.scores)):

        def where(row: int, j: int = j) -> dict[str, Any]:
            run, topic = (rows[row], heads[j]) if turned else (heads[j], rows[row])
            line = None if not table.lines else table.lines[row]
            return {"file": table.file, "line": line, "run": run, "topic": topic, "measure": measure}

        try:
            # Gaps are for the policy, which sees them all at once.
            values[:, j] = read_score_column(pd.Series(column), given, "worst", where)[0]
        except DataError as error:
            hint = error.hint
            if hint is None and is_line_of_scores(heads):
                hint = "is this a header with the run names?"
            elif hint is None and j == 0 and not layout.roles and len(heads) > 1:
                hint = f"if {heads[0]!r} is the column of topics, say so: {format_columns({'topic': heads[0]})}"
            raise error.changed(hint=hint) from None
    return values


def _refuse_missing_header(values: np.ndarray, runs: Sequence[str], table: Table) -> None:
    """Refuse a first line of numbers, which is a topic, unless they can only number the runs: 1, 2, 3 above 0.5, 0.25, 1."""
    header = [number(run) for run in runs]
    if not all(map(math.isfinite, header)):
        return
    hint = "a first line names the runs, such as run1,run2; a column topic before them names the topics"
    line = 1 if table.lines else None
    if is_line_of_scores(runs):
        problem = "the first line holds numbers, not the names of the runs"
        raise DataError(problem, file=table.file, line=line, hint=hint)
    largest = max(1.0, float(np.nanmax(np.abs(values), initial=0)))
    in_order = np.diff(header) == 1
    fractions = np.nansum(values % 1) > 0
    numbered = len(header) > 1 and in_order.all() and fractions and max(header) > largest
    if not numbered and max(header) <= 10 * largest:
        problem = f"the first line ({format_list(runs)}) may hold names of runs or the scores of a topic"
        raise DataError(problem, file=table.file, line=line, hint=hint)


def _align(other: _Matrix, first: _Matrix, measure: str | Measure) -> np.ndarray:
    if other.labelled != first.labelled:  # numbers "1" to "n" are only safe to match with topics of these names
        named_one, bare = (other, first) if other.labelled else (first, other)
        if named_one.topics != bare.topics:
            raise DataError(
                f"{_name(named_one)} names its topics, this table does not, so their lines cannot be matched",
                file=bare.file,
                hint="add a first column topic",
            )
    for what, mine, theirs in (("run", other.runs, first.runs), ("topic", other.topics, first.topics)):
        if set(mine) == set(theirs):
            continue
        if len(mine) != len(theirs):
            problem = f"it has {len(mine)} {what}s, but {_name(first)} has {len(theirs)}"
            raise DataError(f"{problem}: all tables must have the same {what}s", file=other.file, measure=measure)
        odd = next(label for label in mine if label not in set(theirs))
        problem = f"there is no such {what} in {_name(first)}: all tables must have the same {what}s"
        run, topic = (odd, None) if what == "run" else (None, odd)
        raise DataError(problem, file=other.file, run=run, topic=topic, measure=measure)
    r = [other.runs.index(run) for run in first.runs]
    row = {topic: position for position, topic in enumerate(other.topics)}
    t = [row[topic] for topic in first.topics]
    return other.values[np.ix_(t, r)]


def _name(matrix: _Matrix) -> str:
    return "the first frame" if not matrix.file else file_name(matrix.file)


def _write_measure(scores: Scores, position: int, path: PathLike, kind: str) -> None:
    check_text({"run": scores.runs, "topic": scores.topics}, path)
    values = scores.values[:, :, position]
    what, labels, heads = "run", scores.runs, scores.topics
    if kind == "wide":
        values, what, labels, heads = values.T, "topic", scores.topics, scores.runs
    for head in heads:
        if head != head.strip():
            raise DataError(
                f"the name {head!r} of a column cannot be written here", file=path, hint="write tidy Parquet"
            )
    write_table(path, [what, *heads], ([label, *row] for label, row in zip(labels, values.tolist(), strict=True)))
