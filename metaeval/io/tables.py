"""Any table, of text, Parquet, a workbook, JSON or a frame, opened as one `Table`."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from metaeval.errors import DataError, MetaevalError, format_list
from metaeval.files import (
    PathLike,
    is_standard_input,
    open_once as open_once,
    plain_path,
    read_bytes,
    read_content,
    read_text,
    remember,
    stream_lines,
)
from metaeval.io.frames import is_table, table_of_frame
from metaeval.io.parquet import MAGIC, read_parquet
from metaeval.io.strict_json import parse_json
from metaeval.io.table import Table, check_header, read_table

PARQUET, WORKBOOKS = (".parquet", ".pq"), (".xlsx", ".xlsm")
LINES, TABLES = (".jsonl", ".ndjson"), (".csv", ".tsv")


def open_table(source: Any, columns: Mapping[str, str] | None = None, classes: Sequence[str] = ()) -> Table:
    """Return the cells of a file or a frame as text: of gold, of a run, or of several judges."""
    table = open_cells(source).rename(columns)
    if len(set(table.header)) < len(table.header):
        raise DataError(f"a column occurs twice (columns: {format_list(table.header)})", file=table.file)
    return table.as_texts(classes)


def open_cells(source: Any) -> Table:
    """Return a table of any source; what its columns hold is not looked at."""
    if is_table(source):
        return table_of_frame(source)
    table: Table = remember(str(source), lambda: _open_file(source))
    return table


def _open_file(path: PathLike) -> Table:
    kind = find_kind(path)
    if kind == "parquet":
        return read_parquet(path)
    if kind == "workbook":
        return _read_workbook(path)
    return _read_records(path) if kind == "json" else read_table(path)


def find_kind(path: PathLike) -> str:
    """Return what a file of a table is, by its name, or, where it is piped, by its first letters."""
    name = plain_path(path).lower()
    for kind, suffixes in (
        ("parquet", PARQUET),
        ("workbook", WORKBOOKS),
        ("json", (*LINES, ".json")),
        ("text", TABLES),
    ):
        if name.endswith(suffixes):
            return kind
    if is_standard_input(path) and read_bytes(path).startswith(MAGIC):
        return "parquet"
    return "json" if read_content(path).lstrip()[:1] in (b"{", b"[") else "text"


def _read_workbook(path: PathLike) -> Table:
    """Read the only sheet of a workbook that holds a table."""
    sheets = _open_sheets(path)
    tables = {name: [row for row in rows if any(cell is not None for cell in row)] for name, rows in sheets.items()}
    filled = {name: rows for name, rows in tables.items() if len(rows) > 1 and _count_cells(rows[0]) > 1}
    if len(filled) != 1:
        what = f"sheets that hold tables: {format_list(list(filled))}" if filled else "no sheet that holds a table"
        raise DataError(f"it has {what}; one is needed", file=path, hint="save the sheet that is meant as CSV")
    (rows,) = filled.values()
    last = max(position for position, cell in enumerate(rows[0]) if cell is not None) + 1
    if any(_count_cells(row[last:]) for row in rows):
        raise DataError("a cell stands beside the columns that have a name", file=path)
    header = check_header(["" if cell is None else str(cell) for cell in rows[0][:last]], path)
    columns = [_column([row[j] if j < len(row) else None for row in rows[1:]]) for j in range(last)]
    return Table(str(path), header, columns, (), len(rows) - 1)


def _count_cells(row: Sequence[Any]) -> int:
    return sum(cell is not None for cell in row)


def _open_sheets(path: PathLike) -> dict[str, list[Any]]:
    try:
        import openpyxl
    except ImportError as error:
        raise MetaevalError(f"workbooks need openpyxl ({error}): pip install 'metaeval[xlsx]'") from None
    content = read_content(path)
    try:
        with warnings.catch_warnings(action="ignore"):
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}
    except Exception as error:  # openpyxl promises none in particular
        raise DataError(f"it is no workbook that can be read: {error}", file=path) from None


def _read_records(path: PathLike) -> Table:
    """Read objects of JSON, one on a line or in a list: a key is a column; keys with objects or lists in them are none."""
    records = []
    for line, record in iterate_records(path):
        if not isinstance(record, dict):
            raise DataError("it is no object with names and values", file=path, line=line)
        records.append({name: None if isinstance(value, dict | list) else value for name, value in record.items()})
    if not records:
        raise DataError("there are no rows in it", file=path)
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    kept = {name: column for name, column in columns.items() if any(cell is not None for cell in column)}
    if not kept:
        raise DataError("its objects hold no plain values, only objects, lists or nothing", file=path)
    return Table(
        str(path), check_header(list(kept), path), [_column(cells) for cells in kept.values()], (), len(records)
    )


def iterate_records(path: PathLike) -> Iterator[tuple[int | None, Any]]:
    """Yield line and value of JSON lines, or the values of a list."""
    if not plain_path(path).lower().endswith(LINES):
        text = read_text(path)
        if text.lstrip().startswith("["):
            yield from ((None, record) for record in parse_json(text, path, with_nan=True))
            return
    for line, text in stream_lines(path):
        yield line, parse_json(text, path, line, with_nan=True)


def _column(cells: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
