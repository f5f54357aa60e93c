"""Wide scores: topics × runs, one CSV file per measure, a usual form of TREC result matrices.

The header holds the run names. A first column whose name says so (``topic``, ``query_id``, ``segment``, none) holds the
topics; without such a column they are numbered "1" to "n". Several files must have the same topics and runs, which are
aligned by name. The name of a file tells collection and measure: ``web2013_ndcg20.csv`` is nDCG@20 of web2013.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.data.cells import is_missing, number
from metaeval.data.columns import (
    MEASURE_NAMES,
    RUN_NAMES,
    SCORE_NAMES,
    find_topics,
    format_columns,
    is_index,
    names_topics,
    numbers_rows,
    plain_name,
    refuse_columns_without_scores,
)
from metaeval.data.policies import MissingPolicy, mend_missing
from metaeval.data.scores import Scores
from metaeval.data.totals import refuse_totals
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import (
    PathLike,
    Sources,
    check_file_name,
    describe_files,
    file_name,
    find_paths,
    is_folder,
    join_path,
    list_files,
    stem,
    write_file,
    write_together,
)
from metaeval.io.rows import choose_files
from metaeval.io.sample import Sample
from metaeval.io.table import Table, is_number, numbers, read_table, rename_columns
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

SUFFIXES = (".csv", ".tsv")


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
) -> Scores:
    """Read topics × runs files, one per measure."""
    files, collections = _find_files(paths, measure, collection)
    if columns and set(columns) not in ({"topic"}, {"run"}):
        raise DataError(
            f"of a wide file {format_option('columns')} can name the topic only, or say that the first column is a run: "
            "its other columns are runs"
        )
    matrices = [_read_matrix(path, name, columns) for name, path in files.items()]
    first = matrices[0]
    layers = [first.values, *(_align(other, first) for other in matrices[1:])]
    values = np.stack(layers, axis=-1).transpose(1, 0, 2)
    measures = [measure_of_label(name) for name in files]
    where = first.file if len(matrices) == 1 else None
    values, runs, topics = mend_missing(values, first.runs, first.topics, measures, missing, file=where)
    if collection is None:
        collection = collections.pop() if len(collections) == 1 else ""
    return Scores(
        values,
        runs=runs,
        topics=topics,
        measures=measures,
        collection=collection,
        provenance=describe_files(list(files.values())),
    )


def fits(sample: Sample) -> bool:
    """Say whether there are lines of numbers below a header of names."""
    header = sample.names if set(sample.columns or ()) == {"run"} else sample.header
    below = sample.lines[1:]
    if not below or is_line_of_scores(header) or not (len(header) > 1 or str(sample.path).lower().endswith(SUFFIXES)):
        return False
    rows = [sample.split(line) for line in below]
    topic, runs = find_topics(header, lambda column: numbers_rows(numbers(row[column] for row in rows)))
    if any(_names_a_role(header[run]) for run in runs):
        return False
    if topic is None and any(_is_score(run) for run in header):
        return False  # scores among names: there is no header
    # A truncated line or a wrong score does not change the format; reading reports it with its line.
    scores = [is_number(cell) or is_missing(cell) for cell in (rows[0][run] for run in runs if run < len(rows[0]))]
    return bool(scores) and scores[0] and 2 * sum(scores) > len(scores)


def _is_score(name: str) -> bool:
    return math.isfinite(number(name)) and not name.isdecimal()


def _names_a_role(name: str) -> bool:
    """Say whether a column with this name shows that a table is not topics × runs."""
    others = RUN_NAMES | MEASURE_NAMES | SCORE_NAMES | {"label", "gold", "predicted"}
    return plain_name(name) in others or (names_topics(name) and not is_index(name))


def hint_topics(column: str) -> str:
    """Return what can be done where the first column may hold the topics."""
    return f"if {column!r} is the column of topics, say so: {format_columns({'topic': column})}"


def write(scores: Scores, path: PathLike) -> None:
    """Write scores as topics × runs, one file per measure, without loss of precision."""
    if str(path).lower().endswith(SUFFIXES):
        if len(scores.measures) > 1:
            problem = f"a wide file holds one measure, these are {len(scores.measures)}"
            raise DataError(problem, file=path, hint="give a folder")
        _write_measure(scores, 0, path)
        return
    names = [
        f"{check_file_name(_make_stem(scores.collection, str(measure)), 'measure')}.csv" for measure in scores.measures
    ]
    with write_together(path) as aside:
        for position, name in enumerate(names):
            _write_measure(scores, position, join_path(aside, name))


def split_stem(name: str) -> tuple[str, str, bool]:
    """Split the name of a file into collection and measure, and tell whether the measure is known."""
    collection, escape, exact = name.partition(
        "__"
    )  # `write` uses two underscores if the rules below would misread the name
    if escape and exact:
        return collection, exact, True
    # Try the longest ending first, so that a measure whose name contains an underscore is found as a whole.
    cuts = [-1, *(at for at, letter in enumerate(name) if letter == "_")]
    for cut in cuts:
        measure = _find_measure(name[cut + 1 :])
        if measure is not None:
            return name[: max(cut, 0)], measure, True
    collection, _, measure = name.rpartition("_")
    return (collection, measure, False) if measure else ("", name, False)


def is_line_of_scores(header: Sequence[str]) -> bool:
    """Tell whether a header is a line of scores, ``0.12,-1``; ``1,2,3`` may be names of runs."""
    if not all(math.isfinite(number(cell)) for cell in header):
        return False
    return not all(cell.isdecimal() for cell in header)


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
        named, name, known = _split_name(paths, collection)
        if measure is not None and not known:  # the ending is not a measure, so the whole name is the collection
            named = stem(paths)
        return {measure or name: paths}, {named}
    listed = _list_tables(paths, collection) if isinstance(paths, str | Path) else find_paths(paths)
    files: dict[str, PathLike] = {}
    collections: set[str] = set()
    for path in listed:
        named, name, _ = _split_name(path, collection)
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


def _split_name(path: PathLike, collection: str | None) -> tuple[str, str, bool]:
    name = stem(path)
    if collection and name.startswith(f"{collection}_"):
        rest = name.removeprefix(f"{collection}_")
        if rest.startswith("_"):
            return collection, rest[1:], True
        measure = _find_measure(rest)
        return collection, measure or rest, measure is not None
    return split_stem(name)


def _list_tables(folder: PathLike, collection: str | None) -> list[PathLike]:
    tables = [path for path in list_files(folder) if str(path).lower().endswith(SUFFIXES)]
    if not tables:
        raise DataError("there is no CSV or TSV file in this folder", file=folder)
    mine = [path for path in tables if collection and stem(path).startswith(f"{collection}_")]
    return mine or tables


@dataclass(frozen=True)
class _Matrix:
    """One file: ``values[t, r]`` is the score of run r on topic t, NaN where the cell is empty."""

    file: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: np.ndarray
    labelled: bool


def _read_matrix(path: PathLike, measure: str, columns: Mapping[str, str] | None) -> _Matrix:
    table = read_table(path)
    rename_columns(table.header, columns, path)  # refuses names that are not there
    topic, run_columns = find_topics(table.header, lambda column: numbers_rows(numbers(table.columns[column])), columns)
    runs = tuple(table.header[column] for column in run_columns)
    if not runs:
        raise DataError("there are topics, but no column of a run", file=path, line=1)
    labelled = topic is not None
    topics = (
        _number_topics(len(table.lines)) if topic is None else _check_topics(table.columns[topic], table.lines, path)
    )
    values = _read_values(table, run_columns, topics, measure, labelled=labelled)
    if not labelled:
        _refuse_missing_header(values, runs, path)
    known = (columns or {}).get("run")
    named = topic is not None and not is_index(table.header[topic])
    integers = np.array([all(map(_is_integer, table.columns[column])) for column in run_columns])
    refuse_columns_without_scores(values, runs, integers, measure, path, labelled=named, known=known)
    return _Matrix(str(path), runs, topics, values, labelled)


def _is_integer(cell: str) -> bool:
    return cell.strip().lstrip("+-").isdecimal()


def _read_values(
    table: Table, columns: Sequence[int], topics: Sequence[str], measure: str, *, labelled: bool
) -> np.ndarray:
    """Return the scores in these columns, shape (topic, run), NaN where a cell is empty."""
    runs = [table.header[column] for column in columns]
    values = np.empty((len(topics), len(runs)))
    for r, column in enumerate(table.columns[position] for position in columns):
        values[:, r] = numbers(column)
        for t in np.flatnonzero(~np.isfinite(values[:, r])).tolist():
            if is_missing(column[t]):
                continue
            hint = None
            if is_line_of_scores(runs):
                hint = "is this a header with the run names?"
            elif r == 0 and not labelled and len(runs) > 1:
                hint = hint_topics(runs[0])
            raise DataError(
                f"the score {column[t]!r} is not a finite number",
                file=table.file, line=table.lines[t], run=runs[r], topic=topics[t], measure=measure, value=column[t],
                hint=hint,
            )  # fmt: skip
    return values


def _refuse_missing_header(values: np.ndarray, runs: Sequence[str], path: PathLike) -> None:
    """Refuse a first line of numbers, which is a topic, unless they can only number the runs: 1, 2, 3 above 0.5, 0.25, 1."""
    header = [number(run) for run in runs]
    if not all(map(math.isfinite, header)):
        return
    hint = "a first line names the runs, such as run1,run2; a column topic before them names the topics"
    if is_line_of_scores(runs):
        raise DataError("the first line holds numbers, not the names of the runs", file=path, line=1, hint=hint)
    largest = max(1.0, float(np.nanmax(np.abs(values), initial=0)))
    in_order = np.diff(header) == 1
    fractions = np.nansum(values % 1) > 0
    numbered = len(header) > 1 and in_order.all() and fractions and max(header) > largest
    if not numbered and max(header) <= 10 * largest:
        problem = f"the first line ({format_list(runs)}) may hold names of runs or the scores of a topic"
        raise DataError(problem, file=path, line=1, hint=hint)


def _number_topics(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def _check_topics(labels: Sequence[str], lines: Sequence[int], path: PathLike) -> tuple[str, ...]:
    seen: set[str] = set()
    for label, line in zip(labels, lines, strict=True):
        if not label.strip():
            raise DataError("the topic is missing", file=path, line=line)
        if label in seen:
            raise DataError("there is a second line for this topic", file=path, line=line, topic=label)
        seen.add(label)
    return tuple(labels)


def _align(other: _Matrix, first: _Matrix) -> np.ndarray:
    if other.labelled != first.labelled:  # numbers "1" to "n" are only safe to match with topics of these names
        named_one, bare = (other, first) if other.labelled else (first, other)
        if named_one.topics != bare.topics:
            raise DataError(
                f"{file_name(named_one.file)} names its topics, this file does not, so their lines cannot be matched",
                file=bare.file,
                hint="add a first column topic",
            )
    for what, mine, theirs in (("run", other.runs, first.runs), ("topic", other.topics, first.topics)):
        if set(mine) == set(theirs):
            continue
        if len(mine) != len(theirs):
            problem = f"it has {len(mine)} {what}s, but {file_name(first.file)} has {len(theirs)}"
            raise DataError(f"{problem}: all files must have the same {what}s", file=other.file)
        odd = next(label for label in mine if label not in set(theirs))
        problem = f"there is no such {what} in {file_name(first.file)}: all files must have the same {what}s"
        run, topic = (odd, None) if what == "run" else (None, odd)
        raise DataError(problem, file=other.file, run=run, topic=topic)
    r = [other.runs.index(run) for run in first.runs]
    row = {topic: position for position, topic in enumerate(other.topics)}
    t = [row[topic] for topic in first.topics]
    return other.values[np.ix_(t, r)]


def _write_measure(scores: Scores, position: int, path: PathLike) -> None:
    refuse_totals(scores.topics, path)
    for what, labels in (("run", scores.runs), ("topic", scores.topics)):
        for label in labels:
            if "\r" in label or "\0" in label or (what == "run" and label != label.strip()):
                raise DataError(f"the {what} {label!r} cannot be written here", file=path, hint="write tidy Parquet")
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if str(path).lower().endswith(".tsv") else ",", lineterminator="\n")
    table.writerow(["topic", *scores.runs])
    columns = scores.values[:, :, position].T.tolist()
    table.writerows([topic, *map(repr, row)] for topic, row in zip(scores.topics, columns, strict=True))
    write_file(path, text.getvalue())
