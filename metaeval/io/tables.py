"""Any table, of text, Parquet, a workbook, JSON or a frame, opened as one `Table`."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from metaeval.errors import DataError, MetaevalError, format_list
from metaeval.files import (
    BYTES_A_CELL,
    PathLike,
    check_cells,
    check_size,
    find_most_unpacked,
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
    sheets = open_sheets(path, read_content(path))
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


MOST_SHEET_ROWS = 1 << 20
"""Rows of a sheet, which Excel bounds too."""

_TAGS_A_CELL, _BYTES = 4, 10 * BYTES_A_CELL
"""Tags of XML that make a cell of a workbook; and what is allowed for it, which takes as long as ten cells of a text."""


def open_sheets(path: PathLike, content: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all sheets of a workbook, by their names."""
    try:
        import openpyxl
    except ImportError as error:
        raise MetaevalError(f"workbooks need openpyxl ({error}): pip install 'metaeval[xlsx]'") from None
    try:
        _check_members(path, content)
        with warnings.catch_warnings(action="ignore"):
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            return _list_rows(book.worksheets, path)
    except DataError:
        raise
    except Exception as error:  # openpyxl promises none in particular
        raise DataError(f"it is no workbook that can be read: {error}", file=path) from None


def _check_members(path: PathLike, content: bytes) -> None:
    """Refuse a workbook that is too large when it is unpacked, or has too many cells, before anything is made of it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(info.file_size for info in archive.infolist())
        check_size(size, path, "unpacked, it has", find_most_unpacked(len(content)))
        tags = 0
        for info in archive.infolist():
            with archive.open(info) as stream:
                while piece := stream.read(1 << 20):
                    tags += piece.count(b"<")
                    check_cells(tags // _TAGS_A_CELL, path, each=_BYTES)


def _list_rows(sheets: Sequence[Any], path: PathLike) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of sheets, which can say that they have any number of rows and columns, and be the same sheet."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    n_cells = 0
    for sheet in sheets:
        sheet.reset_dimensions()
        rows = found[sheet.title] = []
        for row in sheet.iter_rows(values_only=True):
            rows.append(row)
            if row:
                n_cells += len(row)
                check_cells(n_cells, path, each=_BYTES)
            elif len(rows) > MOST_SHEET_ROWS:
                problem = f"a row of the sheet {sheet.title!r} has a number above {MOST_SHEET_ROWS:,}"
                raise DataError(problem, file=path, hint="no program of spreadsheets writes such a row; save it as CSV")
        check_cells(sum(map(len, found.values())), path, what="rows")
    return found


def _read_records(path: PathLike) -> Table:
    """Read objects of JSON, one on a line or in a list: a key is a column; keys with objects or lists in them are none."""
    records: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for line, record in iterate_records(path):
        if not isinstance(record, dict):
            raise DataError("it is no object with names and values", file=path, line=line)
        records.append({name: None if isinstance(value, dict | list) else value for name, value in record.items()})
        names.update(dict.fromkeys(record))
        check_cells(len(records) * len(names), path, line)
    if not records:
        raise DataError("there are no rows in it", file=path)
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
