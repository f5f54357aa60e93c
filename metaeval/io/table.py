"""Any table, of text, Parquet, a workbook, JSON or a frame, opened as one `Table`: names of columns, and their cells."""

from __future__ import annotations

import csv
import io
import json
import math
import numbers
import re
import warnings
import zipfile
from collections import Counter, UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaeval import files
from metaeval.data.columns import (
    COLUMNS,
    MEASURE_NAMES,
    RUN_NAMES,
    TOPIC_NAMES,
    format_columns,
    names_topics,
    plain_name,
)  # fmt: skip
from metaeval.data.policies import report_policy
from metaeval.data.rows import categorical, is_missing, number
from metaeval.errors import DataError, MetaevalError, format_count, format_list, format_option, refusing
from metaeval.io.strict_json import parse_json

PARQUET, WORKBOOKS = (".parquet", ".pq"), (".xlsx", ".xlsm")
LINES, TABLES = (".jsonl", ".ndjson"), (".csv", ".tsv")

FRAME = "frame"  # what messages call a frame, which has no name
TRUTH = {"true": 1.0, "false": 0.0}  # words that are scores where nothing else stands in a column

_MOST_TITLES = 10  # lines above the names of columns, and these
_SAMPLE = 200  # cells by which a column is told to hold numbers
_LONG = 1 << 20  # letters of a text that is worth another library


class ColumnsError(DataError):
    """There is no column of a name that the user states, which is its `value`."""


class Texts(Sequence[Any]):
    """A column of texts of Arrow, of which equal ones become one text; it is held as it is until codes are asked for."""

    def __init__(self, column: Any) -> None:
        self._column, self._length = column, len(column)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, some: Any) -> Any:
        if self._column is None:
            cells = self.coded[some]
            return [None if cell != cell else cell for cell in cells] if isinstance(some, slice) else cells
        return self._column[some].to_pylist() if isinstance(some, slice) else self._column[some].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(np.array([*self.coded.categories, None], dtype=object)[self.coded.codes])

    @cached_property
    def coded(self) -> Any:
        """The column as codes and the texts that they stand for, none where one is missing."""
        import pyarrow as pa

        column, self._column = self._column, None
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.string()).dictionary_encode()
        column = column.cast(pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().combine_chunks()
        column = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
        column.validate(full=True)
        texts, codes = column.dictionary, column.indices.fill_null(-1).to_numpy()
        pa.default_memory_pool().release_unused()
        if texts.null_count or len(texts.unique()) < len(texts):  # a file may hold a text twice, or none for a text
            return pd.Categorical(np.array([*texts.to_pylist(), None], dtype=object)[codes])
        return categorical(codes, texts.to_pylist())

    def parse(self) -> np.ndarray | None:
        """Return the column as numbers, if all cells are finite ones without white space around them."""
        import pyarrow as pa

        repeated = self._column is None or pa.types.is_dictionary(self._column.type)
        try:
            cells = pa.array(self.coded.categories, pa.string()) if repeated else self._column
            read = np.asarray(cells.cast(pa.float64()))
        except pa.ArrowException:
            return None
        read = read[self.coded.codes] if repeated else read
        return read if np.isfinite(read).all() else None


class _Lazy(UserDict[str, Any]):
    """Columns by name, each of them decoded when it is first asked for."""

    def __init__(self, names: Iterable[str], decode: Callable[[str], Any]) -> None:
        super().__init__(dict.fromkeys(names))
        self._decode = decode

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = self._decode(name)
        return self.data[name]


@dataclass(frozen=True)
class Table:
    """A table of any source: its cells by the names of columns.

    Cells of text files are texts, `lines` says where each row begins, and `separator` what stands between them; those of
    other sources have types, and a frame no file. `levels` holds both names of columns that have one above the other.
    """

    file: str
    columns: Mapping[str, Any]
    n_rows: int
    lines: Sequence[int] = ()
    levels: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    separator: str = ""

    def __post_init__(self) -> None:
        if not self.n_rows:
            raise DataError("there are no rows in it", file=self.file or None)

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def column(self, *names: str) -> Any:
        """Return the column with one of these names, the first one that exists."""
        for name in names:
            if name in self.columns:
                return self.columns[name]
        problem = f"there is no column {' or '.join(map(repr, names))} (columns: {format_list(self.header)})"
        hint = f"say which it is: {format_columns({names[0]: 'NAME'})}"
        raise DataError(problem, file=self.file, line=1 if self.lines else None, hint=hint)

    def holds_numbers(self, name: str) -> bool:
        """Say whether the first cells of a column are numbers, most of them and at least one."""
        cells = self.columns[name]
        if (kind := _find_kind(cells)) != "O":
            return kind in "fiub"
        first = [cell for cell in cells[:_SAMPLE] if not is_gap(cell)]
        first = first or [cell for cell in list_different(cells) if not is_gap(cell)][:_SAMPLE]
        return 2 * sum(map(_is_number, first)) > len(first)

    def holds_integers(self, name: str) -> bool:
        """Say whether all cells are whole numbers, written without a point."""
        cells = self.columns[name]
        if (kind := _find_kind(cells)) != "O":
            return kind in "iub"
        integer = re.compile(r"\s*[+-]?\d+\s*").fullmatch
        if len(cells) and cells[0] is not None and not integer(str(cells[0])):
            return False  # without a list of all different cells, which takes far longer
        return all(integer(str(cell)) for cell in list_different(cells))

    def is_empty(self, name: str) -> bool:
        """Say whether no cell of a column says anything."""
        return all(map(is_gap, list_different(self.columns[name])))

    def codes(self, name: str) -> np.ndarray:
        """Return the number of each cell of a column among the different ones."""
        cells = self.columns[name]
        if isinstance(cells, Texts):
            return np.asarray(cells.coded.codes)
        return np.asarray(pd.factorize(np.asarray(cells, dtype=object))[0])

    def count_doubled(self, names: Iterable[str]) -> int:
        """Return how many rows have the cells of an earlier one in these columns."""
        return int(pd.DataFrame({name: self.codes(name) for name in names}).duplicated().sum())

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as numbers, NaN for what is none; commas may be those of decimals."""
        cells = self.columns[name]
        if _find_kind(cells) in "fiub":
            return np.asarray(cells, dtype=np.float64)
        read = [number("" if cell is None else str(cell).replace(",", ".")) for cell in list_different(cells)]
        return np.array([*read, math.nan])[cells.coded.codes] if isinstance(cells, Texts) else np.array(read)

    def select(self, names: Iterable[str]) -> Table:
        """Return the table with some of its columns."""
        kept = list(names)
        return replace(self, columns=_Lazy(kept, self.columns.__getitem__))

    def join(self, name: str) -> Table:
        """Return the table with a column ``a+b`` that joins two, where a name says so."""
        parts = name.split("+")
        if name in self.columns or len(parts) < 2 or not {*parts} <= {*self.columns}:
            return self
        cells = zip(*(map(str, self.columns[part]) for part in parts), strict=True)
        joined = np.array(["/".join(row) for row in cells], dtype=object)
        return replace(self, columns={**self.columns, name: joined})

    def resolve(self, columns: Mapping[str, str]) -> Table:
        """Return the table with all columns that the user names, which joins those that a+b says; each stands for one thing."""
        table = reduce(Table.join, columns.values(), self)
        for role, name in columns.items():
            if name not in table.columns:
                what = "ignore" if role == "ignore" else f"be the {role}"
                problem = f"there is no column {name!r} to {what} (columns: {format_list(self.header)})"
                raise ColumnsError(problem, file=self.file, value=name)
        if len({*columns.values()}) < len(columns):
            raise DataError("one column cannot stand for two", file=self.file, hint=format_option("columns"))
        return table

    def rename(self, columns: Mapping[str, str] | None) -> Table:
        """Return the table with its columns called as the user says that they are to be called; a+b stands for both."""
        if not columns:
            return self
        table, names = self.resolve(columns), {theirs: name for name, theirs in columns.items()}
        parts = {part for theirs in names if theirs not in self.columns for part in theirs.split("+")} - {*names}
        if ignored := columns.get("ignore"):
            parts |= {ignored, *ignored.split("+")}
        renamed = {
            names.get(name) or f"{name} (not mapped)" * (name in columns) or name: cells
            for name, cells in table.columns.items()
            if name not in parts
        }
        return replace(self, columns=renamed)


def _find_kind(cells: Any) -> str:
    """Return the kind of what NumPy or pandas holds, "O" of anything else."""
    return str(getattr(getattr(cells, "dtype", None), "kind", "O"))


def list_different(cells: Any) -> Any:
    """Return all cells, or of texts that are held once the different ones."""
    return cells.coded.categories if isinstance(cells, Texts) else cells


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        text = cell.replace(",", ".").strip().lower()
        return text in ("nan", *TRUTH) or not math.isnan(number(text))
    return isinstance(cell, numbers.Real | np.bool_)


def is_gap(cell: object) -> bool:
    """Say whether a cell says that there is no number."""
    return is_missing(cell) if isinstance(cell, str) else cell is None or bool(cell != cell)


def _show_cell(cell: Any, keep: Sequence[str]) -> str:
    if isinstance(cell, str):
        short = cell.partition(".")[0]  # pandas writes 1.0 where a cell of the column is empty
        return short if cell not in keep and short in keep and re.fullmatch(r"[+-]?\d+\.0+", cell) else cell
    if is_gap(cell):
        return ""
    shown = str(cell)
    whole = isinstance(cell, float | np.floating) and math.isfinite(cell) and cell == int(cell)
    return str(int(cell)) if whole and shown not in keep else shown


def open_table(source: Any, columns: Mapping[str, str] | None = None, classes: Sequence[str] = ()) -> Table:
    """Return the cells of gold, of a run, or of several judges as text; 1.0 is the class 1 where that is one, and 1.0 none."""
    table = open_cells(source).rename(columns)
    cells = {name: tuple(_show_cell(cell, classes) for cell in column) for name, column in table.columns.items()}
    return Table(table.file or FRAME, cells, table.n_rows, table.lines or tuple(range(1, table.n_rows + 1)))


def open_cells(source: Any, columns: Mapping[str, str] | None = None) -> Table:
    """Return a table of any source; what its columns hold is not looked at, `columns` only names levels of an index."""
    if not isinstance(source, str | Path):
        return _table_of_frame(source, columns)
    readers = {"parquet": _read_parquet, "workbook": _read_workbook, "json": _read_records, "text": read_table}
    table: Table = files.remember(str(source), lambda: readers[find_kind(source)](source))
    return table


def find_kind(path: files.PathLike) -> str:
    """Return what a file of a table is, by its name, or, where that does not tell, by its first letters."""
    name = files.plain_path(path).lower()
    kinds = (("parquet", PARQUET), ("workbook", WORKBOOKS), ("json", (*LINES, ".json")), ("text", TABLES))
    for kind, suffixes in kinds:
        if name.endswith(suffixes):
            return kind
    if files.is_standard_input(path) and files.read_bytes(path).startswith(b"PAR1"):
        return "parquet"
    return "json" if files.read_content(path).lstrip()[:1] in (b"{", b"[") else "text"


def _check_header(names: Sequence[str], path: object, line: int | None = None) -> tuple[str, ...]:
    """Return the names of columns, of which only the first may be empty and none stands twice."""
    header = tuple(name.strip() for name in names)
    before = set[str]()
    for position, name in enumerate(header):
        if not name and position:
            raise DataError(f"column {position + 1} has no name", file=path, line=line)
        if name in before:
            raise DataError(f"the column {name!r} occurs twice", file=path, line=line)
        before.add(name)
    return header


_USUAL = RUN_NAMES | TOPIC_NAMES | MEASURE_NAMES | {""}


def _find_header(rows: Sequence[Sequence[Any]], path: object) -> tuple[list[str], int, dict[str, tuple[str, str]]]:
    """Return the names of columns, how many of the first rows hold them, and of which two names a name is made.

    A title stands above names in the first cell alone of as many, and goes. Of two rows of names the upper one has merged
    cells, which are empty but for the first, or repeated: ``"", System 1, ""`` above ``topic, BLEU, TER``. Below them
    pandas writes a row with the name of the topics alone.
    """
    texts = [["" if cell is None else str(cell).strip() for cell in row] for row in rows]
    title = next((n for n, row in enumerate(texts) if any(row[1:])), 0)
    if any(len(row) != len(texts[title]) for row in texts[:title]) or title == len(texts) - 1:
        title = 0
    if title:
        report_policy(f"left out above the names of columns: {format_list([row[0] for row in texts[:title]])}", path)
    upper, lower, below = (*texts[title:], [], [], [])[:3]
    of_index = len(below) == len(upper) and bool(below[0]) and not any(below[1:])
    merged = "" in upper[1:] or len({*upper}) < len(upper)
    named = len(lower) == len(upper) > 2 and all(lower[1:]) and not any(map(_is_number, lower[1:]))
    named = named and (of_index or any(map(_is_number, below[1:])))
    of_scores = any("." in cell and _is_number(cell) for cell in upper)
    if not (merged and named) or of_scores or {*map(plain_name, (upper[0], lower[0]))}.isdisjoint(_USUAL):
        return ["" if cell is None else str(cell) for cell in rows[title]], title + 1, {}
    pairs, over = [("", lower[0] or upper[0])], ""
    for position, (high, low) in enumerate(zip(upper, lower, strict=True)):
        over = high or over if position else ""  # what stands above the topics does not reach over other columns
        pairs += [(over, low)] * (position > 0)
    names = [f"{high} {low}".strip() for high, low in pairs]
    levels = {name: pair for name, pair in zip(names, pairs, strict=True) if pair[0]}
    return [below[0], *names[1:]] if of_index else names, title + 2 + of_index, levels


def _as_column(cells: Sequence[Any]) -> np.ndarray:
    return np.fromiter(cells, dtype=object, count=len(cells))


DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "spaces"}  # of columns


def find_delimiter(path: files.PathLike, text: str) -> str:
    r"""Return the separator of columns of a text: a tab in a .tsv file, otherwise what fits its first lines.

    Single spaces separate columns below a header of names where all lines have as many.

    >>> find_delimiter("scores.csv", "x;1,x;2\n0.25,0.5")  # the names of two runs
    ','
    """
    lines = [line for line in text[: 1 << 20].split("\n") if line.strip()][:50]
    if files.plain_path(path).lower().endswith(".tsv") and "\t" in lines[0]:
        return "\t"
    several = lines[:-1] if len(lines) > 2 else lines
    # Commas may stand in names and in decimals: what else divides all lines alike comes first.
    tried = [*((delimiter, several) for delimiter in "\t;| "), *((delimiter, lines[:2]) for delimiter in ",\t;|")]
    for delimiter, some in sorted(tried, key=lambda one: one[0] == " "):
        rows = list(csv.reader(some, delimiter=delimiter))
        names = rows[0] if rows else []
        named = all(name and math.isnan(number(name)) for name in names) or names_topics(names[0] or "-")
        if len(names) > 1 and {*map(len, rows)} == {len(names)} and (delimiter != " " or named):
            return delimiter
    return next((delimiter for delimiter in ",\t;|" if delimiter in lines[0]), ",")


def read_table(path: files.PathLike) -> Table:
    """Read a text with a header, separated as `find_delimiter` tells; quotes as in RFC 4180, blank lines left out."""
    with suppress(OSError):  # which is said in words where the text is read
        if table := _read_plain(path):
            return table
    text, line = files.read_text(path), 1
    try:
        delimiter = find_delimiter(path, text)
        files.check_cells(text.count("\n") + text.count(delimiter), path)
        top = text.lstrip("\n").partition("\n")[0]
        style: Any = {"delimiter": delimiter, "strict": True}
        style["skipinitialspace"] = top.count(delimiter) == top.count(f"{delimiter} ")  # run, topic, score
        style["quoting"] = csv.QUOTE_NONE if delimiter == "\t" and _quotes_words(text) else csv.QUOTE_MINIMAL
        reader = csv.reader(io.StringIO(text, newline="\n"), **style)
        rows: list[list[str]] = []
        begins: list[int] = []
        for row in reader:
            begin, line = line, reader.line_num + 1  # a quoted cell can span lines: remember where the row begins
            blank = not row or (len(row) == 1 and (not rows or len(rows[0]) != 1) and not row[0].strip())
            if not blank:
                rows.append(row)
                begins.append(begin)
        names, first, levels = _find_header(rows[:_MOST_TITLES], path) if rows else ([], 0, {})
        header = _check_header(names, path, begins[first - 1] if rows else None)
        for row, begin in zip(rows[first:], begins[first:], strict=True):
            if len(row) != len(header):
                problem = f"the line has {format_count(len(row), 'column')}, but the header has {len(header)}"
                hint = f"columns are separated by {DELIMITERS[delimiter]}"
                raise DataError(problem, file=path, line=begin, hint=hint)
        rows, begins = rows[first:], begins[first:]
    except csv.Error as error:
        raise DataError(f"it is not a table: {error}", file=path, line=line) from None
    columns = dict(zip(header, zip(*rows, strict=True), strict=False))
    return Table(str(path), columns, len(rows), begins, levels, delimiter)


def _quotes_words(text: str) -> bool:
    """Say whether quotes are letters of a text with tabs: all lines have as many cells, of which one begins with a quote."""
    cells = [line.split("\t") for line in text.split("\n") if line]
    return len({*map(len, cells)}) == 1 and any(re.match('"(?!([^"]|"")*"$)', cell) for row in cells for cell in row)


_ODD = (b'"', b"\0", b"\r", b"\n\n", b"\xef\xbb\xbf")
"""What a text may hold that is not read as fast: quotes, blank lines, other line ends and encodings."""


def _read_plain(path: files.PathLike) -> Table | None:
    """Read a long text without quotes many times faster, piece by piece, never as a whole; None for any other."""
    if files.is_standard_input(path) or files.plain_path(path) != str(path):
        return None
    with files.open_regular(path) as (stream, size):
        files.check_size(size, path)
        pieces = iter(partial(stream.read, 1 << 20), b"")
        first = next(pieces, b"") if size > _LONG else b""
        counts, end = Counter[bytes](), b""
        try:
            start = first[: first.rfind(b"\n")].decode()
            delimiter, (header, *lines) = find_delimiter(path, start), start.split("\n")[:_SAMPLE]
        except (UnicodeDecodeError, IndexError, csv.Error):
            return None
        for piece in chain([first], pieces):
            if any(odd in end + piece for odd in _ODD):
                return None
            counts.update({what: piece.count(what) for what in (b"\n", delimiter.encode())})
            end = piece[-2:]
        files.check_cells(counts[b"\n"], path, what="lines")
        files.check_cells(counts.total(), path)
        if len(header.split(delimiter)) > 100 * counts[b"\n"]:  # every column of Arrow takes kilobytes by itself
            return None
        stream.seek(0)
        return _parse_plain(path, stream, header.split(delimiter), [line.split(delimiter) for line in lines], delimiter)


def _parse_plain(
    path: files.PathLike, stream: Any, first: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str
) -> Table | None:
    """Read a text by Arrow, where all lines have as many cells; `rows` are a few of its lines."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    odd = not any(first) or any(name.startswith(" ") for name in first)
    if odd or "" in first[1:] or len({*first}) < len(first):  # perhaps a title, or two rows of names
        return None
    names = _check_header(first, path, 1)
    repeated = [2 * len({row[j] for row in rows if j < len(row)}) < len(rows) for j in range(len(names))]
    kinds = [pa.dictionary(pa.int32(), pa.string()) if again else pa.string() for again in repeated]
    types = dict(zip(names, kinds, strict=True))
    try:
        read = arrow.read_csv(
            pa.PythonFile(stream, mode="r"),
            read_options=arrow.ReadOptions(column_names=names, skip_rows=1, use_threads=False, block_size=1 << 18),
            parse_options=arrow.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=arrow.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except pa.ArrowException:
        return None
    columns = {name: Texts(read.column(name)) for name in names}
    return Table(str(path), columns, len(read), range(2, len(read) + 2), separator=delimiter)


def _read_parquet(path: files.PathLike) -> Table:
    """Read the names of the columns; of metadata only which columns are an index counts, extension types are ignored."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    faults = (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, MemoryError)
    guard = partial(refusing, "it is not a complete Parquet file", path, *faults)

    def decode(name: str) -> Any:
        kind = kinds[stored[name]]
        with guard():
            if pa.types.is_nested(kind) or pa.types.is_duration(kind):
                what = "lists or records" if pa.types.is_nested(kind) else "durations"
                problem = f"column {name} holds {what}, not one score a row"
                raise DataError(problem, file=path, hint=f"leave it out: {format_columns({'ignore': name})}")
            column = file.read(columns=[stored[name]], use_threads=False).column(0)
            if len(column) != file.metadata.num_rows:
                raise ValueError(f"{file.metadata.num_rows:,} rows are announced, a column has {len(column):,}")
            whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
            if pa.types.is_floating(kind) or (whole and not column.null_count):
                plain = column.cast(pa.float64(), safe=False) if pa.types.is_floating(kind) else column
                return plain.to_numpy()
            labels = Texts(column)
            labels.coded.codes.max()  # decoded here, where what is damaged is refused
            return labels

    with guard():
        content = pa.BufferReader(files.read_bytes(path))
        schema = pq.read_schema(content)
        kinds = {field.name: field.type for field in schema}
        texts = [name for name, kind in kinds.items() if str(kind) in ("string", "large_string")]
        file = pq.ParquetFile(content, page_checksum_verification=True, read_dictionary=texts)
        files.check_size(100 * file.metadata.num_rows, path, "the rows in it would take")
        # An index stands last, perhaps without a name; what it holds names the rows.
        index = _list_index(schema)
        ordered = [*index, *(name for name in schema.names if name not in index)]
        called = [re.sub("^__index_(.*)__$", r"\1", name) for name in ordered]
        pairs = [pair for pair in zip(called, ordered, strict=True) if pair[0] == pair[1] or pair[0] not in kinds]
        names = _check_header([name for name, _ in pairs], path)
        stored = dict(zip(names, (name for _, name in pairs), strict=True))
    return Table(str(path), _Lazy(names, decode), file.metadata.num_rows)


def _list_index(schema: Any) -> list[str]:
    """Return which columns are an index of pandas, as its record says; one that is damaged says nothing."""
    with suppress(LookupError, TypeError, ValueError, RecursionError):
        described = [*json.loads(schema.metadata[b"pandas"])["index_columns"]]
        return [name for name in schema.names if name in described]
    return []


def _read_workbook(path: files.PathLike) -> Table:
    tables = list_sheets(path)
    if len(tables) != 1:
        problem = f"it has sheets that hold tables: {format_list([*tables])}; one is needed"
        raise DataError(problem, file=path, hint="save the sheet that is meant as CSV")
    return next(iter(tables.values()))


def list_sheets(path: files.PathLike) -> dict[str, Table]:
    """Return the tables in a workbook by the names of their sheets, leaving out sheets with less; other files have none."""

    def read() -> dict[str, Table]:
        tables = {}
        for name, given in open_sheets(path, files.read_content(path)).items():
            rows = [row for row in given if any(cell is not None for cell in row)]
            widest = max(map(len, rows), default=0)
            rows = [(*row, *(None,) * (widest - len(row))) for row in rows]
            names, first, levels = _find_header(rows[:_MOST_TITLES], path) if rows else ([], 0, {})
            if len([*filter(None, names)]) < 2 or len(rows) <= first:
                continue
            last = max(position for position, cell in enumerate(names) if cell) + 1
            if any(cell is not None for row in rows[first:] for cell in row[last:]):
                raise DataError("a cell stands beside the columns that have a name", file=path)
            header = _check_header(names[:last], path)
            columns = [_as_column([row[j] for row in rows[first:]]) for j in range(last)]
            tables[name] = Table(str(path), dict(zip(header, columns, strict=True)), len(rows) - first, (), levels)
        if not tables:
            raise DataError("it has no sheet that holds a table", file=path, hint="save the sheet that is meant as CSV")
        return tables

    is_workbook = files.plain_path(path).lower().endswith(WORKBOOKS) and not files.is_folder(path)
    tables: dict[str, Table] = files.remember(f"{path}:sheets", read) if is_workbook else {}
    return tables


MOST_SHEET_ROWS = 1 << 20  # which Excel bounds too

# Tags of XML that make a cell of a workbook; and what is allowed for it, which takes as long as ten cells of a text.
_TAGS_A_CELL, _BYTES = 4, 10 * files.BYTES_A_CELL


def open_sheets(path: files.PathLike, content: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all sheets of a workbook, by their names."""
    try:
        import openpyxl
    except ImportError as error:
        raise MetaevalError(f"workbooks need openpyxl ({error}): pip install 'metaeval[xlsx]'") from None
    with refusing("it is no workbook that can be read", path, Exception):  # openpyxl promises none in particular
        _check_members(path, content)
        with warnings.catch_warnings(action="ignore"):
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            return _list_rows(book.worksheets, path)


def _check_members(path: files.PathLike, content: bytes) -> None:
    """Refuse a workbook that is too large when it is unpacked, or has too many cells, before anything is made of it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(info.file_size for info in archive.infolist())
        files.check_size(size, path, "unpacked, it has", files.find_most_unpacked(len(content)))
        tags = 0
        for info in archive.infolist():
            with archive.open(info) as stream:
                while piece := stream.read(1 << 20):
                    tags += piece.count(b"<")
                    files.check_cells(tags // _TAGS_A_CELL, path, each=_BYTES)


def _list_rows(sheets: Sequence[Any], path: files.PathLike) -> dict[str, list[tuple[Any, ...]]]:
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
                files.check_cells(n_cells, path, each=_BYTES)
            elif len(rows) > MOST_SHEET_ROWS:
                problem = f"a row of the sheet {sheet.title!r} has a number above {MOST_SHEET_ROWS:,}"
                raise DataError(problem, file=path, hint="no program of spreadsheets writes such a row; save it as CSV")
        files.check_cells(sum(map(len, found.values())), path, what="rows")
    return found


NESTED = ("metrics", "measures", "scores")  # keys of objects that hold a score each under the names of measures


def _read_records(path: files.PathLike) -> Table:
    """Read objects of JSON, one on a line or in a list; a key with plain values is a column, each in ``"metrics": {…}`` too."""
    hint = 'write a list of rows: [{"run": "a", "topic": "t1", "AP": 0.5}, …]'
    lines = files.read_lines(path)
    begin, first = next(lines)
    if first.strip() == "{" or first.lstrip().startswith("["):
        text = files.read_text(path)
        whole = parse_json(text, path, None if "\n" in text.strip() else begin, with_nan=True)
        listed = whole if isinstance(whole, list) else [whole]
        found: Iterable[tuple[int | None, Any]] = ((None, one) for one in listed)
    else:
        found = ((line, parse_json(one, path, line, with_nan=True)) for line, one in chain([(begin, first)], lines))
    records: list[dict[str, Any]] = []
    names, plain = dict[str, None](), set[str]()
    deep: dict[str, int | None] = {}
    for line, record in found:
        if not isinstance(record, dict):
            raise DataError("it is no object with names and values", file=path, line=line, hint=hint)
        for outer in [name for name in NESTED if isinstance(record.get(name), dict)]:
            inner = record.pop(outer)
            if twice := sorted(inner.keys() & record.keys()):
                raise DataError(f"{twice[0]!r} occurs twice, by itself and in {outer!r}", file=path, line=line)
            record |= inner
        nested = [name for name, value in record.items() if isinstance(value, dict | list)]
        deep = {**dict.fromkeys(nested, line), **deep}
        records.append({**record, **dict.fromkeys(nested)})
        plain |= {name for name, value in records[-1].items() if value is not None}
        names.update(dict.fromkeys(record))
        files.check_cells(len(records) * len(names), path, line)
    for name in [name for name in deep if name in plain][:1]:
        problem = f"{name!r} is an object or a list here, and a plain value elsewhere"
        hint = "write the number itself, or null where there is none"
        raise DataError(problem, file=path, line=deep[name], hint=hint)
    if records and not plain:
        raise DataError("its objects hold no plain values, only objects, lists or nothing", file=path, hint=hint)
    if deep:
        report_policy(f"left out what holds objects or lists, not numbers: {format_list([*deep])}", path)
    columns = {name: _as_column([record.get(name) for record in records]) for name in names if name in plain}
    return Table(str(path), dict(zip(_check_header(list(columns), path), columns.values(), strict=True)), len(records))


def is_frame(given: object) -> bool:
    """Tell whether an object is a frame or records, and no path, list of paths or mapping of paths."""
    if isinstance(given, pd.DataFrame | pd.Series):
        return True
    if isinstance(given, Mapping):
        return any(not isinstance(value, Mapping) and is_frame(value) for value in given.values()) or are_columns(given)
    if isinstance(given, list | tuple):
        return bool(given) and isinstance(given[0], Mapping)
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "collect")


def is_path(given: object) -> bool:
    """Tell whether this is a path, or a list or a mapping of paths."""
    several = given.values() if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else [given]
    return bool(several) and all(isinstance(one, str | Path) for one in several)


def are_columns(given: Mapping[Any, Any], columns: Mapping[str, str] | None = None) -> bool:
    """Tell whether a mapping holds the columns of one table, not frames by measure or files by name."""
    named = not {"run", "topic", *(columns or {}).values()}.isdisjoint(given)
    return named and all(map(is_column, given.values()))


def is_column(given: object) -> bool:
    """Tell whether this can be a column of a table: something with a length, and neither text, nor a table."""
    return hasattr(given, "__len__") and not isinstance(given, str | bytes | Path | Mapping | pd.DataFrame)


def _table_of_frame(given: Any, columns: Mapping[str, str] | None) -> Table:
    """Return a frame as a table: levels of its index are columns, and an index with names is that of the topics."""
    frame = _to_pandas(given)
    if frame.columns.nlevels > 1:
        levels = format_list(list(map(repr, frame.columns.names)))
        hint = "make them rows, named run, topic or measure, by frame.stack(…).reset_index()"
        raise DataError(f"the columns have the levels {levels}, of which none is a score", hint=hint)
    named = frame.index.nlevels > 1 or frame.index.name in {*COLUMNS, *(columns or {}).values()}
    frame = frame.reset_index(allow_duplicates=True) if named else frame.copy(deep=False)
    if _names_rows(frame):
        if frame.index.hasnans:
            raise DataError("a topic has no name")
        name = str(frame.index.name or "").strip() or "topic"
        frame.insert(0, name, pd.Series([str(label) for label in frame.index], index=frame.index, dtype=object))
    if frame.columns.hasnans:
        raise DataError("a run has no name")
    names = _check_header(list(map(str, frame.columns)), None)
    cells = [frame.iloc[:, j].reset_index(drop=True) for j in range(len(names))]
    return Table("", dict(zip(names, cells, strict=True)), len(frame))


def _to_pandas(given: Any) -> pd.DataFrame:
    """Return any tabular object as a pandas frame; what it holds is not looked at."""
    if isinstance(given, pd.Series):
        return given.to_frame(given.name if given.name is not None else "score")
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, Mapping) or (isinstance(given, list | tuple) and given and isinstance(given[0], Mapping)):
        with refusing("these are not the columns of one table", None, ValueError, TypeError):
            return pd.DataFrame(given)
    if hasattr(given, "dims"):
        raise DataError("an array is no table", hint="give what its to_series() or to_dataframe() returns")
    given = given.collect() if hasattr(given, "collect") else given  # a frame of polars that is not computed yet
    if hasattr(given, "__arrow_c_stream__"):  # of polars, Arrow, DuckDB, …
        import pyarrow as pa

        frame: pd.DataFrame = pa.table(given).to_pandas(integer_object_nulls=True)
        return frame
    raise DataError(f"scores come as a frame, an array with names, or records, not as {type(given).__name__}")


def _names_rows(frame: pd.DataFrame) -> bool:
    """Say whether the index says what the rows are about: it has a name, or stands beside nothing but numbers."""
    if isinstance(frame.index, pd.RangeIndex) and frame.index.name is None:
        return False
    columns = {str(j): frame.iloc[:, j] for j in range(frame.shape[1])}
    scores = all(map(Table("", columns, len(frame)).holds_numbers, columns))
    return (scores and not (RUN_NAMES | TOPIC_NAMES) & set(map(plain_name, frame.columns))) or (
        frame.index.name not in (None, *frame.columns) and not (scores and "topic" in frame.columns)
    )


def read_fields(
    path: files.PathLike, *, separator: str | None, least: int, most: int, layout: str, rest: bool = False
) -> tuple[list[list[str]], list[int]]:
    """Read lines of plain fields, without a header and without quotes."""
    rows: list[list[str]] = []
    begins: list[int] = []
    for line, text in files.read_lines(path):
        fields = text.split(separator, most - 1 if rest else -1)
        if not least <= len(fields) <= most:
            raise DataError(f"the line has {format_count(len(fields), 'column')}, not {layout}", file=path, line=line)
        rows.append(fields if separator is None else [field.strip() for field in fields])
        begins.append(line)
    return rows, begins


def add_once(named: dict[str, Any], what: str, name: str, path: files.PathLike) -> None:
    """Add a file by the name of its run, measure or set of judgements, which no other file may have."""
    if name in named:
        raise DataError(f"it is of the same {what} as {files.file_name(named[name])}, {name}", file=path)
    named[name] = path


def write_table(path: files.PathLike, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a text table, with tabs into a .tsv file; numbers become the shortest text that reads back the same."""
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if str(path).lower().endswith(".tsv") else ",", lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    content = text.getvalue()
    if "\r" in content or "\0" in content:
        problem = "a label holds a carriage return or a NUL and cannot be written as text"
        raise DataError(problem, file=path, hint="write Parquet")
    files.write_file(path, content)
