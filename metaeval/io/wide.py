"""Wide scores: topics × runs, one CSV file per measure, a usual form of TREC result matrices."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.data.cells import format_columns, is_missing
from metaeval.data.policies import MissingPolicy, mend_missing
from metaeval.data.scores import Scores
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
from metaeval.io.table import numbers, read_table
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
TOPIC_COLUMNS = ("topic", "topic_id", "topicid", "query", "query_id", "queryid", "qid", "id", "")
"""Names of a first column that holds the topics; R and pandas write an empty name for row names."""
AVERAGES = ("all", "mean", "average", "avg", "amean")
"""Names of rows that hold averages over topics; such a row is an error, because it is not a topic."""


def read(
    paths: Sources,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
) -> Scores:
    r"""Read topics × runs files, one per measure.

    Parameters
    ----------
    paths : path, list of paths, mapping of measure to path, or folder
        The header holds the run names. A first column named ``topic`` (or without a name) holds the topics; without
        such a column they are numbered "1" to "n". From a folder, all CSV and TSV files are read. Several files must
        have the same topics and the same runs, which are aligned by name.
    measure : str, optional
        The measure of a single file, or the only measure to read from a folder. By default, it is found from the
        name of the file: ``web2013_ndcg20.csv`` is nDCG@20 of collection web2013 (see `STEMS`; any other ending is
        used as the name of the measure).
    collection : str, optional
        The name of the collection; for a folder with several collections, the one to read.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do with a cell that is empty, NA or NaN.
    columns : mapping of str to str, optional
        What the files call the column of topics, if it is not one of `TOPIC_COLUMNS`: ``{"topic": "segment"}``.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If a line does not have as many columns as the header, a score is not a finite number, a run or a topic
        occurs twice, or the files do not have the same runs and topics.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "web2013_ndcg20.csv"
    >>> _ = path.write_text('"sys1","sys2"\n0.1,0.2\n0.3,0.4\n')
    >>> scores = read(path)
    >>> scores, str(scores.measures[0])
    (Scores: 2 runs × 2 topics × 1 measure, web2013, 'nDCG@20')
    """
    files, collections = _find_files(paths, measure, collection)
    if columns and set(columns) != {"topic"}:
        raise DataError(
            f"of a wide file {format_option('columns')} can name the topic only: its other columns are runs"
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


def hint_topics(column: str) -> str:
    """Return what can be done where the first column may hold the topics."""
    return f"if {column!r} is the column of topics, say so: {format_columns({'topic': column})}"


def write(scores: Scores, path: PathLike) -> None:
    """Write scores as topics × runs, one file per measure, without loss of precision.

    Parameters
    ----------
    scores : Scores
    path : path
        A ``.csv`` or ``.tsv`` file if there is one measure; otherwise a folder, in which each file gets a name such
        as ``web2013_ndcg20.csv``, from which `read` finds the collection and the measure.

    Raises
    ------
    DataError
        If a file cannot be written, or a name is not possible as the name of a file.
    """
    if str(path).lower().endswith(SUFFIXES):
        if len(scores.measures) > 1:
            problem = f"a wide file holds one measure, these are {len(scores.measures)}"
            raise DataError(problem, file=path, hint="give a folder")
        _write_measure(scores, 0, path)
        return
    names = [f"{check_file_name(_make_stem(scores.collection, str(one)), 'measure')}.csv" for one in scores.measures]
    with write_together(path) as aside:
        for position, name in enumerate(names):
            _write_measure(scores, position, join_path(aside, name))


def split_stem(name: str) -> tuple[str, str, bool]:
    """Split the name of a file into collection and measure, and tell whether the measure is known.

    Parameters
    ----------
    name : str
        The name without folder and suffix.

    Returns
    -------
    collection : str
    measure : str
    known : bool

    Examples
    --------
    >>> split_stem("web2013_ndcg20")
    ('web2013', 'nDCG@20', True)
    >>> split_stem("stc3_dq_RNOD")
    ('stc3_dq', 'RNOD', True)
    >>> split_stem("pilot_delight")
    ('pilot', 'delight', False)
    """
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
    """Tell whether a header is a line of scores, ``0.12,0.5``; ``1,2,3`` may be names of runs."""
    return all(re.fullmatch(r"\d+\.\d+(e-?\d+)?", run) for run in header)


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
        if not paths:
            raise DataError("no files were named")
        wanted = {str(name): path for name, path in paths.items() if measure is None or str(name) == measure}
        if not wanted:
            raise DataError(f"there is no measure {measure!r} (there are {format_list(list(map(str, paths)))})")
        return wanted, {split_stem(stem(path))[0] for path in wanted.values()}
    if isinstance(paths, str | Path) and not is_folder(paths):
        found, name, known = _split_name(paths, collection)
        if measure is not None and not known:  # the ending is not a measure, so the whole name is the collection
            found = stem(paths)
        return {measure or name: paths}, {found}
    listed = _list_tables(paths, collection) if isinstance(paths, str | Path) else find_paths(paths)
    files: dict[str, PathLike] = {}
    collections: set[str] = set()
    for path in listed:
        found, name, _ = _split_name(path, collection)
        if measure is not None and name != measure:
            continue
        collections.add(found)
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


def _read_matrix(path: PathLike, measure: str, named: Mapping[str, str] | None) -> _Matrix:
    table = read_table(path, named)
    if named and table.header[0] != "topic":
        raise DataError("the column of the topics is not the first one", file=path, line=1)
    labelled = table.header[0].lower() in TOPIC_COLUMNS
    runs, columns = table.header[labelled:], table.columns[labelled:]
    if not runs:
        raise DataError("there are topics, but no column of a run", file=path, line=1)
    topics = _check_topics(table.columns[0], table.lines, path) if labelled else _number_topics(len(table.lines))
    values = np.empty((len(topics), len(runs)))
    for r, column in enumerate(columns):
        values[:, r] = numbers(column)
        for t in np.flatnonzero(~np.isfinite(values[:, r])):
            if not is_missing(column[t]):
                raise DataError(
                    f"the score {column[t]!r} is not a finite number",
                    file=path,
                    line=table.lines[t],
                    run=runs[r],
                    topic=topics[t],
                    measure=measure,
                    value=column[t],
                    hint="is this a header with the run names?"
                    if is_line_of_scores(runs)
                    else hint_topics(runs[0])
                    if r == 0 and not labelled and len(runs) > 1
                    else None,
                )
    if is_line_of_scores(runs) and len(runs) > 1 and not labelled:
        raise DataError("the first line holds numbers, not the names of the runs", file=path, line=1)
    if not labelled:
        _refuse_topics_as_run(values, runs, measure, path)
    return _Matrix(str(path), runs, topics, values, labelled)


def _refuse_topics_as_run(values: np.ndarray, runs: Sequence[str], measure: str, path: PathLike) -> None:
    """Refuse a first column whose values are outside the range of the measure if all other columns are inside it."""
    low, high = measure_of_label(measure).range
    inside = (values >= low - 1e-9) & (values <= high + 1e-9)
    if len(runs) > 1 and not inside[:, 0].any() and inside[:, 1:].all():
        raise DataError(
            f"the column {runs[0]!r} holds values such as {values[0, 0]:g}, outside the measure's range [{low:g}, {high:g}]: "
            "are these topics?",
            file=path,
            line=1,
            measure=measure,
            hint=f"a column of topics is called {', '.join(name for name in TOPIC_COLUMNS if name)}",
        )


def _number_topics(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def _check_topics(labels: Sequence[str], lines: Sequence[int], path: PathLike) -> tuple[str, ...]:
    seen: set[str] = set()
    for label, line in zip(labels, lines, strict=True):
        if not label.strip():
            raise DataError("the topic is missing", file=path, line=line)
        if label.strip().lower() in AVERAGES:
            raise DataError("this line looks like an average over topics; remove it", file=path, line=line, topic=label)
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
    for topic in scores.topics:
        if topic.strip().lower() in AVERAGES:
            problem = "a topic cannot have this name here: its line would be taken for an average"
            raise DataError(problem, file=path, topic=topic, hint="write tidy CSV or Parquet")
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
