"""Tidy scores: one row per score, columns run, topic, measure, score, as CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import COLUMNS, DIRECTION, arrange_cells, refuse_leaderboard
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores, is_untold
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import PathLike, check_size, describe_files, is_standard_input, read_bytes, stem, write_file
from metaeval.io.table import numbers, read_table, rename_columns

COLLECTION = "collection"
"""An optional column with the name of the collection, which decides random draws; unlike a comment, every program that
reads tables reads it."""

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
        the direction of a measure, and collection, which names the collection; others are ignored.
        Labels are text and are not interpreted: ``007``,
        ``NA`` and ``null`` are read as they are.
    measure : str, optional
        The only measure to read; or the name of the measure, if the file has no column measure. By default such a
        file's measure has the name of its column of scores.
    collection : str, optional
        By default, what the column collection says, or the name of the file without suffix. If the column names
        several collections, the one whose rows are read.
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
        rows = _from_parquet(path, measure, columns)
    else:
        rows = _from_text(path, measure, columns)
    (frame, given, lines), collection = _take_collection(rows, collection, path)
    values, runs, topics, measures = arrange_cells(frame, missing=missing, file=path, lines=lines, given=given)
    return Scores(
        values,
        runs=runs,
        topics=topics,
        measures=measures,
        collection=collection,
        provenance=describe_files([path]),
    )


def _directions_to_write(scores: Scores) -> np.ndarray | None:
    """Return the column of directions, one entry per measure, or None if all directions are known from the names."""
    if not any(map(is_untold, scores.measures)):
        return None
    words = {True: "true", False: "false", None: ""}
    return np.array([words[one.higher_is_better] for one in scores.measures], dtype=object)


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
    if scores.collection:
        frame[COLLECTION] = scores.collection
    if is_parquet(path):
        write_file(path, _to_parquet(frame))
        return
    by_kind = {"run": scores.runs, "topic": scores.topics, "measure": [str(one) for one in scores.measures]}
    for what, labels in {**by_kind, COLLECTION: (scores.collection,)}.items():
        for label in labels:
            if "\r" in label or "\0" in label:
                raise DataError(f"the {what} {label!r} cannot be written as text", file=path, hint="write Parquet")
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if str(path).lower().endswith(".tsv") else ",", lineterminator="\n")
    values = [repr(value) for value in scores.values.ravel().tolist()]  # the shortest text that reads back the same
    more = [name for name in (DIRECTION, COLLECTION) if name in frame]
    table.writerow([*COLUMNS, *more])
    table.writerows(zip(*(frame[name] for name in COLUMNS[:3]), values, *(frame[name] for name in more), strict=True))
    write_file(path, text.getvalue())


def is_parquet(path: PathLike) -> bool:
    """Tell whether the name of the file is that of a Parquet file."""
    return str(path).lower().endswith(PARQUET)


Read = tuple[pd.DataFrame, Sequence[str] | None, Sequence[int] | None]
"""A frame with the four columns; and, for text files, the scores as they are written and the line of every row."""


def _from_text(path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None) -> Read:
    table = read_table(path, columns_there)
    refuse_leaderboard(table.header, path)
    names = [table.column(name) for name in COLUMNS[:2]]
    if "measure" in table.header:
        names.append(table.column("measure"))
    else:
        names.append((measure or _name_measure(table.header, columns_there, path),) * len(table.lines))
    given = table.column("score")
    columns: dict[str, Any] = {
        name: np.array(column, dtype=object) for name, column in zip(COLUMNS[:3], names, strict=True)
    }
    for name in (DIRECTION, COLLECTION):
        if name in table.header:
            columns[name] = np.array(table.column(name), dtype=object)
    frame = pd.DataFrame({**columns, "score": numbers(given)})
    return _take_measure((frame, list(given), table.lines), measure, path)


def _name_measure(header: Sequence[str], columns_there: Mapping[str, str] | None, path: PathLike) -> str:
    """Return what a file without a column of measures is about: its column of scores, by the name that it has there.

    A column that nobody knows might hold the measures.
    """
    unknown = [name for name in header if name not in (*COLUMNS, DIRECTION, COLLECTION)]
    if unknown:
        raise DataError(
            f"there is no column 'measure' (columns: {format_list(list(header))})",
            file=path,
            hint=f"name the measure of all rows with {format_option('measure', 'NAME')}, or the column that holds it with "
            f"{format_option('columns')}",
        )
    return (columns_there or {}).get("score", "score")


def _keep_rows(rows: Read, keep: pd.Series) -> Read:
    frame, given, lines = rows
    positions = np.flatnonzero(keep).tolist()
    given = None if given is None else [given[row] for row in positions]
    lines = None if lines is None else [lines[row] for row in positions]
    return frame[keep], given, lines


def _take_measure(rows: Read, measure: str | None, path: PathLike) -> Read:
    """Return the rows of one measure, or of all."""
    if measure is None:
        return rows
    wanted = rows[0]["measure"] == measure
    if not wanted.any():
        names = [str(name) for name in rows[0]["measure"].unique()]
        raise DataError(f"there is no measure {measure!r} (there are {format_list(names)})", file=path)
    return _keep_rows(rows, wanted)


def _take_collection(rows: Read, wanted: str | None, path: PathLike) -> tuple[Read, str]:
    """Return the name of the collection, and its rows if the file names several."""
    there = rows[0].get(COLLECTION, pd.Series([""])).fillna("")
    names = there.unique().tolist()
    if len(names) > 1 and wanted is None:
        raise DataError(
            f"it holds several collections: {format_list(sorted(names))}",
            file=path,
            hint=f"say which with {format_option('collection', 'NAME')}; a name of your own reads all as one",
        )
    if len(names) > 1 and wanted in names:
        rows = _keep_rows(rows, there == wanted)
    return rows, (names[0] or stem(path)) if wanted is None else wanted


def _from_parquet(path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None) -> Read:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = read_bytes(path)
    try:
        # Only the wanted columns are decoded; metadata of pandas and extension types, which could run code, are ignored.
        # Labels stay in dictionaries, so that a few bytes cannot become millions of texts.
        theirs = {name: (columns_there or {}).get(name, name) for name in (*COLUMNS, DIRECTION, COLLECTION)}
        schema = pq.read_schema(pa.BufferReader(content))
        names = rename_columns(schema.names, columns_there, path)
        texts = {one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)}
        labels = [*COLUMNS[:3], DIRECTION, *([COLLECTION] if theirs[COLLECTION] in texts else [])]
        file = pq.ParquetFile(
            pa.BufferReader(content),
            page_checksum_verification=True,
            read_dictionary=[theirs[name] for name in labels if theirs[name] in texts],
        )
        absent = [name for name in COLUMNS if name not in names and name != "measure"]
        if absent:
            raise DataError(f"there is no column {absent[0]!r} (columns: {format_list(names)})", file=path)
        check_size(_BYTES_A_ROW * file.metadata.num_rows, path, "the rows in it would take")
        table = file.read(columns=[theirs[name] for name in (*labels, "score") if name in names], use_threads=False)
        columns: dict[str, Any] = {}
        for name in labels:
            if name in names:
                columns[name] = _label_column(table.column(theirs[name]), path)
        if "measure" not in names:
            columns["measure"] = np.full(len(table), measure or _name_measure(names, columns_there, path), dtype=object)
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
    return _take_measure((frame, None, None), measure, path)


_BYTES_A_ROW = 100
"""What a row takes in memory, about, while it is read."""

_LONGEST_LABEL = 100_000
"""Letters of a label, one copy of which would be made for each of its rows."""


def _label_column(column: Any, path: PathLike) -> np.ndarray:
    """Return labels as an array of text, None where one is missing; equal ones share one text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    texts = whole.dictionary.cast(pa.string()).to_pylist()
    longest = max((len(one) for one in texts if one is not None), default=0)
    if longest > _LONGEST_LABEL:
        raise DataError(f"there is a label of {longest:,} letters; up to {_LONGEST_LABEL:,} can be read", file=path)
    labels = np.array([*texts, None], dtype=object)
    codes = whole.indices.fill_null(len(labels) - 1).to_numpy()
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(labels):
        raise ValueError("there is a label beyond its dictionary")
    return labels[codes]


def _to_parquet(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {name: pa.array(frame[name].tolist(), pa.string()) for name in COLUMNS[:3]}
    columns["score"] = pa.array(frame["score"].to_numpy(), pa.float64())
    for name in (DIRECTION, COLLECTION):
        if name in frame:
            columns[name] = pa.array(frame[name].tolist(), pa.string())
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_checksum=True)
    return bytes(sink.getvalue())
