"""Tidy scores: one row per score, columns run, topic, measure, score, as CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import COLUMNS, arrange_cells, refuse_leaderboard
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, check_size, describe_files, is_standard_input, read_bytes, stem, write_file
from metaeval.io.table import numbers, read_table, rename_columns
from metaeval.measures.base import Measure
from metaeval.measures.registry import is_shipped
from metaeval.measures.resolve import measure_of_label

DIRECTION = "higher_is_better"
"""An optional fifth column, true or false, written if the direction of a measure is not known from its name."""

PARQUET = (".parquet", ".pq")
PARQUET_MAGIC = b"PAR1"


def read(
    path: PathLike,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
) -> Scores:
    r"""Read scores from a file with one row per score.

    Parameters
    ----------
    path : path
        ``.parquet`` or ``.pq``; otherwise text, separated by tabs in a ``.tsv`` file and in other files by commas,
        tabs, semicolons or vertical bars, which is detected from the header.
        The columns are run, topic, measure and score, and optionally higher_is_better (true or false), which states
        the direction of a measure; other columns are ignored. Labels are text and are not interpreted: ``007``,
        ``NA`` and ``null`` are read as they are.
    measure : str, optional
        The only measure to read; or the name of the measure, if the file has no column measure.
    collection : str, optional
        By default, the name of the file without suffix.
    missing : {"raise", "drop-topic", "drop-run", "worst"}, optional
        What to do if a run has no score for a topic and measure, or the cell is empty, NA or NaN.
    columns : mapping of str to str, optional
        What the file calls some of the columns: ``{"run": "system", "topic": "segment", "score": "value"}``.

    Returns
    -------
    Scores

    Raises
    ------
    DataError
        If the file is damaged or has another format, a column is missing, a label is empty, or a score is not a
        finite number, occurs twice or is missing; the message names file, line, run, topic and measure.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> _ = path.write_text("run,topic,measure,score\na,007,AP,0.25\nb,007,AP,0.5\n")
    >>> read(path)
    Scores: 2 runs × 1 topic × 1 measure, pilot
    """
    if is_parquet(path) or (is_standard_input(path) and read_bytes(path).startswith(PARQUET_MAGIC)):
        frame, given, lines = _from_parquet(path, measure, columns)
    else:
        frame, given, lines = _from_text(path, measure, columns)
    values, runs, topics, measures = arrange_cells(
        frame, missing=missing, measures=_read_directions(frame, path), file=path, lines=lines, given=given
    )
    return Scores(
        values,
        runs=runs,
        topics=topics,
        measures=measures,
        collection=stem(path) if collection is None else collection,
        provenance=describe_files([path]),
    )


def _read_directions(frame: pd.DataFrame, path: PathLike) -> list[Measure]:
    """Return the measures with the directions that the file states; a contradiction is an error."""
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
                raise DataError(
                    f"the file states the wrong direction: for this measure {better} is better", file=path, measure=name
                )
            known = known if known.higher_is_better is not None else replace(known, higher_is_better=direction)
        stated.append(known)
    return stated


def _directions_to_write(scores: Scores) -> np.ndarray | None:
    """Return the column of directions, one entry per measure, or None if all directions are known from the names."""
    untold = [one.higher_is_better is not None and not _tells_direction(str(one)) for one in scores.measures]
    if not any(untold):
        return None
    words = {True: "true", False: "false", None: ""}
    return np.array([words[one.higher_is_better] for one in scores.measures], dtype=object)


def _tells_direction(name: str) -> bool:
    """Tell whether a reader of the file knows the direction from the name, without the code of the measure."""
    known = measure_of_label(name)
    return is_shipped(known) or (known.formula is None and known.higher_is_better is not None)


def write(scores: Scores, path: PathLike) -> None:
    """Write scores, one row per score, without loss of precision.

    Parameters
    ----------
    scores : Scores
    path : path
        ``.parquet`` or ``.pq`` for Parquet, ``.tsv`` for tabs, anything else for CSV. The file is written completely
        or not at all.

    Raises
    ------
    DataError
        If the file cannot be written, or a label cannot be written as text (use Parquet then).

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
    stated = _directions_to_write(scores)
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
    values = [repr(value) for value in scores.values.ravel().tolist()]  # the shortest text that reads back the same
    more = [name for name in (DIRECTION,) if name in frame]
    table.writerow([*COLUMNS, *more])
    table.writerows(zip(*(frame[name] for name in COLUMNS[:3]), values, *(frame[name] for name in more), strict=True))
    write_file(path, text.getvalue())


def is_parquet(path: PathLike) -> bool:
    """Tell whether the name of the file is that of a Parquet file."""
    return str(path).lower().endswith(PARQUET)


Read = tuple[pd.DataFrame, list[str] | None, tuple[int, ...] | None]
"""A frame with the four columns; and, for text files, the scores as they are written and the line of every row."""


def _from_text(path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None) -> Read:
    table = read_table(path, columns_there)
    refuse_leaderboard(table.header, path)
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


def _from_parquet(path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = read_bytes(path)
    try:
        # Only the wanted columns are decoded; metadata of pandas and extension types, which could run code, are ignored.
        # Labels stay in dictionaries, so that a few bytes cannot become millions of texts.
        theirs = {name: (columns_there or {}).get(name, name) for name in (*COLUMNS, DIRECTION)}
        schema = pq.read_schema(pa.BufferReader(content))
        names = rename_columns(schema.names, columns_there, path)
        texts = {one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)}
        file = pq.ParquetFile(
            pa.BufferReader(content),
            page_checksum_verification=True,
            read_dictionary=[theirs[name] for name in (*COLUMNS[:3], DIRECTION) if theirs[name] in texts],
        )
        absent = [name for name in COLUMNS if name not in names and not (name == "measure" and measure is not None)]
        if absent:
            raise DataError(f"there is no column {absent[0]!r} (columns: {format_list(names)})", file=path)
        check_size(_BYTES_A_ROW * file.metadata.num_rows, path, "the rows in it would take")
        table = file.read(columns=[theirs[name] for name in (*COLUMNS, DIRECTION) if name in names], use_threads=False)
        columns: dict[str, Any] = {}
        for name in (*COLUMNS[:3], DIRECTION):
            if name in names:
                columns[name] = _label_column(table.column(theirs[name]))
        if "measure" not in names:
            columns["measure"] = np.full(len(table), measure, dtype=object)
        kind = table.schema.field(theirs["score"]).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise DataError(f"the column 'score' holds {kind}, not numbers", file=path)
        columns["score"] = table.column(theirs["score"]).cast(pa.float64(), safe=False).to_numpy()
    except DataError:
        raise
    except MemoryError:
        raise DataError("there is not enough memory to read it", file=path) from None
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        first = str(error).strip().partition("\n")[0]
        raise DataError(f"it is not a complete Parquet file: {first}", file=path) from None
    frame = pd.DataFrame(columns)
    if frame.empty:
        raise DataError("there are no scores in it", file=path)
    if measure is not None:
        keep = (frame["measure"] == measure).to_numpy()
        _check_wanted(bool(keep.any()), frame, measure, path)
        frame = frame[keep]
    return frame, None, None


_BYTES_A_ROW = 100
"""What a row takes in memory, about, while it is read."""


def _label_column(column: Any) -> np.ndarray:
    """Return labels as an array of text, None where one is missing; equal ones share one text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    labels = np.array([*whole.dictionary.cast(pa.string()).to_pylist(), None], dtype=object)
    codes = whole.indices.fill_null(len(labels) - 1).to_numpy()
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(labels):
        raise ValueError("there is a label beyond its dictionary")
    return labels[codes]


def _check_wanted(found: bool, frame: pd.DataFrame, measure: str, path: PathLike) -> None:
    if not found:
        names = [str(name) for name in frame["measure"].unique()]
        raise DataError(f"there is no measure {measure!r} (there are {format_list(names)})", file=path)


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
