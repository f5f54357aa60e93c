"""Tidy scores: one row a score, columns run, topic, measure, score, as CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import COLUMNS, Scores
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, describe_files, read_bytes, stem, write_file
from metaeval.io.table import numbers, read_table
from metaeval.measures.base import Measure
from metaeval.measures.registry import is_shipped
from metaeval.measures.resolve import measure_of_label

DIRECTION = "higher_is_better"
"""A fifth column, true or false, written where a measure's name does not tell its direction."""

PARQUET = (".parquet", ".pq")
PARQUET_MAGIC = b"PAR1"


def read(
    path: PathLike, *, measure: str | None = None, collection: str | None = None, missing: MissingPolicy = "raise"
) -> Scores:
    r"""Read scores that have a row each.

    Parameters
    ----------
    path : path
        ``.parquet`` or ``.pq``; else text, separated by tabs when ``.tsv`` and by commas otherwise. Columns
        run, topic, measure and score, and where the direction of a measure is to be stated, higher_is_better
        (true or false); others are ignored. Labels are text and stay what they are, ``007``,
        ``NA`` and ``null`` included.
    measure : str, optional
        Which measure to take; its name, when the file has no column measure.
    collection : str, optional
        By default the file's name without suffix.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do where a run has no score for a topic and measure.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the file is damaged or of another kind, a column is missing, a label is empty, a score is not a
        finite number or is there twice, or one is missing; the message names file, line, run, topic and
        measure.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> _ = path.write_text("run,topic,measure,score\na,007,AP,0.25\nb,007,AP,0.5\n")
    >>> read(path)
    Scores: 2 runs × 1 topic × 1 measure, pilot
    """
    frame, given, lines = _from_parquet(path, measure) if is_parquet(path) else _from_text(path, measure)
    _check(frame, given, lines, path)
    return Scores.from_frame(
        frame,
        collection=stem(path) if collection is None else collection,
        provenance=describe_files([path]),
        missing=missing,
        measures=_stated(frame, path),
        file=path,
    )


def _stated(frame: pd.DataFrame, path: PathLike) -> list[Measure]:
    """Return the measures whose direction the file states, each once and in agreement with itself."""
    if DIRECTION not in frame.columns:
        return []
    stated = []
    for name, said in frame.groupby("measure", sort=False)[DIRECTION]:
        words = {str(word).strip().lower() for word in said.unique()}
        if len(words) > 1 or not words <= {"true", "false", ""}:
            problem = (
                f"{DIRECTION} is {format_list(sorted(words))}; it is true or false, the same in every row of a measure"
            )
            raise DataError(problem, file=path, measure=name)
        known = measure_of_label(str(name))
        if words != {""}:
            direction = words == {"true"}
            if known.higher_is_better not in (None, direction):
                better = "higher" if known.higher_is_better else "lower"
                raise DataError(f"the file states its direction wrongly: {better} is better", file=path, measure=name)
            known = known if known.higher_is_better is not None else replace(known, higher_is_better=direction)
        stated.append(known)
    return stated


def _to_state(scores: Scores) -> np.ndarray | None:
    """Return what the column of directions holds for every measure, or None where all names tell it."""
    untold = [one.higher_is_better is not None and not _is_told(str(one)) for one in scores.measures]
    if not any(untold):
        return None
    words = {True: "true", False: "false", None: ""}
    return np.array([words[one.higher_is_better] for one in scores.measures], dtype=object)


def _is_told(name: str) -> bool:
    """Say whether whoever reads the name knows the direction, without the code of the measure."""
    known = measure_of_label(name)
    return is_shipped(known) or (known.formula is None and known.higher_is_better is not None)


def write(scores: Scores, path: PathLike) -> None:
    """Write scores, one row a score, every bit of them.

    Parameters
    ----------
    scores : Scores
    path : path
        ``.parquet`` or ``.pq`` for Parquet, ``.tsv`` for tabs, anything else for CSV. It is there whole or
        not at all.

    Raises
    ------
    DataError
        If it cannot be written, or a label holds what text cannot carry (write Parquet then).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> write(Scores([[[0.1]]], runs=["a"], topics=["007"], measures=["AP"]), path)
    >>> print(path.read_text().strip())
    run,topic,measure,score
    a,007,AP,0.1
    """
    frame = scores.to_frame()
    stated = _to_state(scores)
    if stated is not None:
        frame[DIRECTION] = np.tile(stated, len(frame) // len(stated))
    if is_parquet(path):
        write_file(path, _to_parquet(frame))
        return
    for what, labels in (("run", scores.runs), ("topic", scores.topics), ("measure", map(str, scores.measures))):
        for label in labels:
            if "\r" in label or "\0" in label:
                raise DataError(f"the {what} {label!r} cannot be written as text", file=path, hint="write Parquet")
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if str(path).lower().endswith(".tsv") else ",", lineterminator="\n")
    values = [repr(value) for value in scores.values.ravel().tolist()]
    more = [name for name in (DIRECTION,) if name in frame]
    table.writerow([*COLUMNS, *more])
    table.writerows(zip(*(frame[name] for name in COLUMNS[:3]), values, *(frame[name] for name in more), strict=True))
    write_file(path, text.getvalue())


def is_parquet(path: PathLike) -> bool:
    """Say whether the file's name is that of a Parquet file."""
    return str(path).lower().endswith(PARQUET)


Read = tuple[pd.DataFrame, list[str] | None, tuple[int, ...] | None]
"""A frame with the four columns, the scores as they were written, and the line of every row."""


def _from_text(path: PathLike, measure: str | None) -> Read:
    table = read_table(path)
    names = [table.column(name) for name in COLUMNS[:2]]
    if "measure" in table.header or measure is None:
        names.append(table.column("measure"))
    else:
        names.append((measure,) * len(table.lines))
    given = table.column("score")
    columns: dict[str, Any] = {
        name: np.array(column, dtype=object) for name, column in zip(COLUMNS[:3], names, strict=True)
    }
    if DIRECTION in table.header:
        columns[DIRECTION] = np.array(table.column(DIRECTION), dtype=object)
    frame = pd.DataFrame({**columns, "score": numbers(given)})
    if measure is not None:
        keep = (frame["measure"] == measure).to_numpy()
        _check_wanted(bool(keep.any()), frame, measure, path)
        frame = frame[keep]
        positions = np.flatnonzero(keep)
        return frame, [given[i] for i in positions], tuple(table.lines[i] for i in positions)
    return frame, list(given), table.lines


def _from_parquet(path: PathLike, measure: str | None) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = read_bytes(path)
    try:
        # Nothing but the four columns is decoded; pandas metadata and extension types are never acted upon.
        file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        there = file.schema_arrow.names
        absent = [name for name in COLUMNS if name not in there and not (name == "measure" and measure is not None)]
        if absent:
            raise DataError(f"there is no column {absent[0]!r} (columns: {format_list(there)})", file=path)
        table = file.read(columns=[name for name in (*COLUMNS, DIRECTION) if name in there])
        columns: dict[str, Any] = {}
        for name in COLUMNS[:3]:
            labels = table.column(name).cast(pa.string()).to_pylist() if name in there else [measure] * len(table)
            columns[name] = np.array(labels, dtype=object)
        if DIRECTION in there:
            columns[DIRECTION] = np.array(table.column(DIRECTION).cast(pa.string()).to_pylist(), dtype=object)
        kind = table.schema.field("score").type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise DataError(f"the column 'score' holds {kind}, not numbers", file=path)
        scores = table.column("score").cast(pa.float64(), safe=False)
        columns["score"] = scores.to_numpy()
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        first = str(error).strip().partition("\n")[0]
        raise DataError(f"it is not a whole Parquet file: {first}", file=path) from None
    frame = pd.DataFrame(columns)
    if frame.empty:
        raise DataError("there are no scores in it", file=path)
    if measure is not None:
        keep = (frame["measure"] == measure).to_numpy()
        _check_wanted(bool(keep.any()), frame, measure, path)
        frame = frame[keep]
    return frame, None, None


def _check_wanted(found: bool, frame: pd.DataFrame, measure: str, path: PathLike) -> None:
    if not found:
        names = [str(name) for name in frame["measure"].unique()]
        raise DataError(f"there is no measure {measure!r} (there are {format_list(names)})", file=path)


def _check(frame: pd.DataFrame, given: list[str] | None, lines: tuple[int, ...] | None, path: PathLike) -> None:
    """Say what is wrong in a row while its line number and what was written there are still known."""

    def line(row: int) -> int | None:
        return None if lines is None else lines[row]

    for name in COLUMNS[:3]:
        empty = [not isinstance(label, str) or not label.strip() for label in frame[name].unique()]
        if any(empty):
            row = next(i for i, label in enumerate(frame[name]) if not isinstance(label, str) or not label.strip())
            raise DataError(f"the {name} is missing", file=path, line=line(row))
    values = frame["score"].to_numpy()
    wrong = np.flatnonzero(~np.isfinite(values))
    again = np.flatnonzero(frame.duplicated(list(COLUMNS[:3])).to_numpy())
    for rows, problem in ((wrong, "the score {} is not a finite number"), (again, "there is a second score, {}")):
        if len(rows):
            row = int(rows[0])
            run, topic, measure = (frame[name].iloc[row] for name in COLUMNS[:3])
            text = repr(given[row]) if given is not None and rows is wrong else f"{values[row]:g}"
            more = f" ({len(rows):,} such rows in all)" if len(rows) > 1 else ""
            raise DataError(
                problem.format(text) + more, file=path, line=line(row), run=run, topic=topic, measure=measure
            )


def _to_parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: pa.array(frame[name].tolist(), pa.string()) for name in COLUMNS[:3]}
    columns["score"] = pa.array(frame["score"].to_numpy(), pa.float64())
    if DIRECTION in frame:
        columns[DIRECTION] = pa.array(frame[DIRECTION].tolist(), pa.string())
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    return bytes(sink.getvalue())
