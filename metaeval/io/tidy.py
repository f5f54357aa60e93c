"""Tidy scores: one row per score, columns run, topic, measure, score, as CSV, TSV or Parquet.

Optional columns are higher_is_better (true or false), which states the direction of a measure, and collection; others are
ignored. Labels are text and are not interpreted: ``007``, ``NA`` and ``null`` are read as they are. A file without a
column measure holds one measure, with the name that its column of scores has.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import arrange_cells
from metaeval.data.columns import COLLECTION, COLUMNS, DIRECTION, format_columns, refuse_leaderboard
from metaeval.data.policies import MissingPolicy
from metaeval.data.scores import Scores, is_untold
from metaeval.data.totals import refuse_totals
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import PathLike, check_size, describe_files, read_bytes, stem, write_file
from metaeval.io.rows import select_collection, select_measure
from metaeval.io.sample import Sample, holds_parquet, is_parquet
from metaeval.io.table import numbers, read_table, rename_columns


def read(
    path: PathLike,
    *,
    measure: str | None = None,
    collection: str | None = None,
    missing: MissingPolicy = "raise",
    columns: Mapping[str, str] | None = None,
) -> Scores:
    """Read scores from a file with one row per score."""
    read_rows = _from_parquet if holds_parquet(path) else _from_text
    rows = read_rows(path, measure, columns)
    chosen, collection = select_collection(rows[0], collection, path)
    frame, given, lines = rows if chosen is None else _keep_rows(rows, chosen)
    values, runs, topics, measures = arrange_cells(frame, missing=missing, file=path, lines=lines, given=given)
    return Scores(
        values,
        runs=runs,
        topics=topics,
        measures=measures,
        collection=stem(path) if collection is None else collection,
        provenance=describe_files([path]),
    )


def _directions_to_write(scores: Scores) -> np.ndarray | None:
    """Return the column of directions, one entry per measure, or None if all directions are known from the names."""
    if not any(map(is_untold, scores.measures)):
        return None
    words = {True: "true", False: "false", None: ""}
    return np.array([words[measure.higher_is_better] for measure in scores.measures], dtype=object)


def write(scores: Scores, path: PathLike) -> None:
    """Write scores, one row per score, without loss of precision."""
    refuse_totals(scores.topics, path)
    frame = scores.to_frame()
    stated = _directions_to_write(scores)
    if stated is not None:
        frame[DIRECTION] = np.tile(stated, len(frame) // len(stated))
    if scores.collection:
        frame[COLLECTION] = scores.collection
    if is_parquet(path):
        write_file(path, _to_parquet(frame))
        return
    by_kind = {"run": scores.runs, "topic": scores.topics, "measure": [str(measure) for measure in scores.measures]}
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


def fits(sample: Sample) -> bool:
    """Say whether this is a Parquet file, or a table with columns run, topic and score."""
    return sample.parquet or (bool(sample.text) and {"run", "topic", "score"} <= set(sample.header))


class UnnamedMeasureError(DataError):
    """A table does not say of which measure its scores are."""


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
        raise UnnamedMeasureError(
            f"there is no column 'measure' (columns: {format_list(list(header))})",
            file=path,
            hint=f"if {unknown[0]!r} holds measures, say so: {format_columns({'measure': unknown[0]})}; if all scores are "
            f"of one measure, name it: {format_option('measure', 'NAME')}",
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
    return rows if measure is None else _keep_rows(rows, select_measure(rows[0], measure, path))


def _from_parquet(path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None) -> Read:
    import pyarrow as pa

    content = read_bytes(path)
    try:
        columns = _read_columns(content, path, measure, columns_there)
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


def _read_columns(
    content: bytes, path: PathLike, measure: str | None, columns_there: Mapping[str, str] | None
) -> dict[str, np.ndarray]:
    """Return the columns of a Parquet file that say anything of scores, by the names that they have here.

    Only these are decoded; metadata of pandas and extension types, which could run code, are ignored. Labels stay in
    dictionaries, so that a few bytes cannot become millions of texts.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    theirs = {name: (columns_there or {}).get(name, name) for name in (*COLUMNS, DIRECTION, COLLECTION)}
    schema = pq.read_schema(pa.BufferReader(content))
    names = rename_columns(schema.names, columns_there, path)
    texts = {field.name for field in schema if str(field.type) in ("string", "large_string")}
    labels = [*COLUMNS[:3], DIRECTION, *([COLLECTION] if theirs[COLLECTION] in texts else [])]
    dictionaries = [theirs[name] for name in labels if theirs[name] in texts]
    file = pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True, read_dictionary=dictionaries)
    absent = [name for name in COLUMNS if name not in names and name != "measure"]
    if absent:
        raise DataError(f"there is no column {absent[0]!r} (columns: {format_list(names)})", file=path)
    check_size(_BYTES_A_ROW * file.metadata.num_rows, path, "the rows in it would take")
    _refuse_repeated_rows(file, [theirs[name] for name in COLUMNS[:3] if name in names], path)
    table = file.read(columns=[theirs[name] for name in (*labels, "score") if name in names], use_threads=False)
    columns = {name: _label_column(table.column(theirs[name]), path) for name in labels if name in names}
    if "measure" not in names:
        columns["measure"] = np.full(len(table), measure or _name_measure(names, columns_there, path), dtype=object)
    columns["score"] = _score_column(table.column(theirs["score"]), path)
    return columns


def _score_column(column: Any, path: PathLike) -> np.ndarray:
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise DataError(f"the column 'score' holds {column.type}, not numbers", file=path)
    scores: np.ndarray = column.cast(pa.float64(), safe=False).to_numpy()
    return scores


def _refuse_repeated_rows(file: Any, labels: Sequence[str], path: PathLike) -> None:
    """Refuse more rows than there are cells: a few bytes can stand for millions of equal rows, none of which is stored."""
    n_rows = file.metadata.num_rows
    if n_rows <= _MANY_ROWS:
        return
    seen: dict[str, set[object]] = {name: set() for name in labels}
    for batch in file.iter_batches(_MANY_ROWS // 10, columns=list(labels), use_threads=False):
        for name in labels:
            seen[name].update(batch.column(name).unique().to_pylist())
        if math.prod(map(len, seen.values())) >= n_rows:
            return
    n_cells = math.prod(map(len, seen.values()))
    raise DataError(
        f"it holds {n_rows:,} rows for {n_cells:,} cells of runs, topics and measures: there are second scores",
        file=path,
    )


_MANY_ROWS = 1_000_000

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
    longest = max((len(text) for text in texts if text is not None), default=0)
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
