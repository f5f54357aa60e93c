"""Text tables: comma- or tab-separated files with a header, and lines of plain fields."""

from __future__ import annotations

import csv
import io
import math
import numbers as abstract
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from metaeval.data.cells import is_missing, number
from metaeval.data.columns import names_topics
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import PathLike, check_cells, plain_path, read_lines, read_text, write_file


@dataclass(frozen=True)
class Table:
    """A table of any source: ``columns[j]`` holds the cells of the column ``header[j]``.

    Cells of text files are texts, and `lines` says where each row begins; those of frames, Parquet, workbooks and JSON
    have types, and their rows no lines; a frame has no file either.
    """

    file: str
    header: tuple[str, ...]
    columns: Sequence[Any]
    lines: tuple[int, ...]
    n_rows: int

    def column(self, *names: str) -> Any:
        """Return the column with one of these names, the first one that exists."""
        for name in names:
            if name in self.header:
                return self.columns[self.header.index(name)]
        described = " or ".join(map(repr, names))
        raise DataError(
            f"there is no column {described} (columns: {format_list(self.header)})",
            file=self.file,
            line=1 if self.lines else None,
        )

    def holds_numbers(self, position: int) -> bool:
        """Say whether the first cells of a column are numbers, most of them and at least one."""
        cells = self.columns[position]
        kind = getattr(getattr(cells, "dtype", None), "kind", "O")
        if kind != "O":
            return kind in "fiu" or (kind == "b" and not self.lines)
        first = [cell for cell in cells[:_FIRST_ROWS] if not is_gap(cell)]
        return 2 * sum(map(_holds_number, first)) > len(first)

    def codes(self, position: int) -> np.ndarray:
        """Return the number of each cell of a column among the different ones, in the order in which they appear."""
        codes: np.ndarray = pd.factorize(np.asarray(self.columns[position], dtype=object))[0]
        return codes

    def is_empty(self, position: int) -> bool:
        """Say whether no cell of a column says anything."""
        return all(map(is_gap, self.columns[position]))

    def rename(self, columns: Mapping[str, str] | None) -> Table:
        """Return the table with its columns called as the user says that they are to be called."""
        return replace(self, header=rename_columns(self.header, columns, self.file)) if columns else self

    def as_texts(self, keep: Sequence[str] = ()) -> Table:
        """Return the table with cells of text; 1.0 is the class 1 where that is one, and 1.0 none, of the texts to keep."""
        cells = tuple(tuple(_show_cell(cell, keep) for cell in column) for column in self.columns)
        return replace(
            self, file=self.file or FRAME, columns=cells, lines=self.lines or tuple(range(1, self.n_rows + 1))
        )


FRAME = "frame"
"""What messages call a frame, which has no name."""


def _holds_number(cell: object) -> bool:
    if isinstance(cell, str):
        return is_number(cell.replace(",", ".")) or cell.strip().lower() in TRUTH
    return isinstance(cell, abstract.Real | np.bool_)


TRUTH = {"true": 1.0, "false": 0.0}
"""Words that are scores where nothing else stands in a column."""


_FIRST_ROWS = 200


def is_gap(cell: object) -> bool:
    """Say whether a cell says that there is no number."""
    return is_missing(cell) if isinstance(cell, str) else cell is None or bool(cell != cell)


_WHOLE = re.compile(r"[+-]?\d+\.0+")


def _show_cell(cell: Any, keep: Sequence[str]) -> str:
    if isinstance(cell, str):
        short = cell.partition(".")[0]  # pandas writes 1.0 where a cell of the column is empty
        return short if cell not in keep and short in keep and _WHOLE.fullmatch(cell) else cell
    if is_gap(cell):
        return ""
    shown = str(cell)
    whole = isinstance(cell, float | np.floating) and math.isfinite(cell) and cell == int(cell)
    return str(int(cell)) if whole and shown not in keep else shown


class ColumnsError(DataError):
    """There is no column of a name that the user states."""


DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
"""What may separate columns, the most likely first, and its name."""


def find_delimiter(path: PathLike, text: str) -> str:
    r"""Return the separator of columns of a text: a tab in a .tsv file, otherwise what fits its first two lines.

    >>> find_delimiter("scores.csv", "run;topic;measure;score\na;t;AP;0,5")
    ';'
    >>> find_delimiter("scores.csv", "x;1,x;2\n0.25,0.5")  # the names of two runs
    ','
    """
    if plain_path(path).lower().endswith(".tsv"):
        return "\t"
    first, _, rest = text.lstrip("\n").partition("\n")
    possible = [delimiter for delimiter in DELIMITERS if delimiter in first]
    if not possible and _is_spaced(first, rest):
        return " "
    if len(possible) > 1:
        second = next((line for line in rest[:_SAMPLE].split("\n") if line.strip()), "")
        fitting = [
            delimiter
            for delimiter in possible
            if len(split_line(first, delimiter)) == len(split_line(second, delimiter))
        ]
        possible = fitting or possible
    return possible[0] if possible else ","


_SAMPLE = 1 << 20


def _is_spaced(first: str, rest: str) -> bool:
    """Say whether single spaces separate the columns below a header of names: all lines have as many."""
    names = split_line(first.strip(), " ")
    lines = [line for line in rest[:_SAMPLE].split("\n")[:50] if line.strip()]
    words = all(name and math.isnan(number(name)) for name in names)
    if len(names) < 2 or not lines or not (words or (names[0] and names_topics(names[0]))):
        return False
    return all(
        line.count(" ") >= len(names) - 1 and len(split_line(line, " ")) == len(names) for line in lines[:-1] or lines
    )


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line of a table."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"it is not a table: {error}", line=1) from None


def read_table(path: PathLike) -> Table:
    """Read a text with a header, separated as `find_delimiter` tells; quotes as in RFC 4180, blank lines left out."""
    text = read_text(path)
    delimiter = find_delimiter(path, text)
    reader = csv.reader(_iterate_lines(text, delimiter, path), delimiter=delimiter, strict=True)
    header: tuple[str, ...] = ()
    rows: list[list[str]] = []
    begins: list[int] = []
    line = 1
    try:
        for row in reader:
            begin, line = line, reader.line_num + 1  # a quoted cell can span lines: remember where the row begins
            if not row or (len(row) == 1 and len(header) != 1 and not row[0].strip()):
                continue
            if not header:
                header = check_header(row, path, begin)
                continue
            if len(row) != len(header):
                raise DataError(
                    f"the line has {_columns(len(row))}, but the header has {len(header)}",
                    file=path,
                    line=begin,
                    hint=f"columns are separated by {DELIMITERS.get(delimiter, 'spaces')}",
                )
            if len(row) > 1000 or len(rows) % 1000 == 0:
                check_cells(len(rows) * len(row), path)
            rows.append(row)
            begins.append(begin)
    except csv.Error as error:
        raise DataError(f"it is not a table: {error}", file=path, line=line) from None
    if not rows:
        raise DataError("there are no rows below the header", file=path)
    return Table(str(path), header, tuple(zip(*rows, strict=True)), tuple(begins), len(rows))


def _iterate_lines(text: str, delimiter: str, path: PathLike) -> Iterator[str]:
    """Yield lines with their ends, each of no more cells than can be read."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin) + 1 or len(text)
        if end - begin > _SAMPLE:
            check_cells(text.count(delimiter, begin, end), path)
        yield text[begin:end]
        begin = end


def check_header(row: Sequence[str], path: object, line: int | None = None) -> tuple[str, ...]:
    """Return the names of columns, of which only the first may be empty and none stands twice."""
    header = tuple(cell.strip() for cell in row)
    seen: set[str] = set()
    for position, name in enumerate(header):
        if not name and position:
            raise DataError(f"column {position + 1} has no name", file=path, line=line)
        if name in seen:
            raise DataError(f"the column {name!r} occurs twice", file=path, line=line)
        seen.add(name)
    return header


def rename_columns(header: Sequence[str], columns: Mapping[str, str] | None, path: object = None) -> tuple[str, ...]:
    """Return column names with those that the user maps replaced by what they stand for.

    >>> rename_columns(("system", "run", "score"), {"run": "system"})
    ('run', 'run (not mapped)', 'score')
    """
    if not columns:
        return tuple(header)
    for name, theirs in columns.items():
        if theirs not in header:
            problem = f"there is no column {theirs!r} to be the {name} (columns: {format_list(list(header))})"
            raise ColumnsError(problem, file=path)
    names = {theirs: name for name, theirs in columns.items()}
    if len(names) < len(columns):
        raise DataError("one column cannot stand for two", file=path, hint=format_option("columns"))
    return tuple(names.get(column) or (f"{column} (not mapped)" if column in columns else column) for column in header)


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def read_fields(
    path: PathLike, *, separator: str | None, least: int, most: int, layout: str, rest: bool = False
) -> tuple[list[list[str]], list[int]]:
    """Read lines of plain fields, without a header and without quotes."""
    rows: list[list[str]] = []
    begins: list[int] = []
    limit = most - 1 if rest else -1
    for line, text in read_lines(path):
        fields = text.split(separator, limit)
        if not least <= len(fields) <= most:
            raise DataError(f"the line has {_columns(len(fields))}, not {layout}", file=path, line=line)
        rows.append(fields if separator is None else [field.strip() for field in fields])
        begins.append(line)
    return rows, begins


def is_number(text: str) -> bool:
    """Say whether a cell is a number, or NaN."""
    return not math.isnan(number(text)) or text.strip().lower() == "nan"


def numbers(texts: Iterable[str]) -> np.ndarray:
    """Convert texts to numbers; NaN for a text that is not a number.

    >>> numbers(["0.5", "1e-3", "half", "1_000"]).tolist()
    [0.5, 0.001, nan, nan]
    """
    given = list(texts)
    if "_" not in "".join(given):
        try:
            return np.array(list(map(float, given)), dtype=np.float64)
        except ValueError:
            pass  # one of them is no number: which, is seen one by one
    return np.array([number(text) for text in given], dtype=np.float64)


def check_plain(label: str, what: str, *, separator: str | None = "\t") -> str:
    """Return a label if it can be written to a line of text and read back unchanged; otherwise raise an error."""
    parts = label.split() if separator is None else label.split(separator)
    if len(parts) != 1 or label != label.strip() or any(letter in label for letter in "\r\n\0\ufeff"):
        raise DataError(
            f"the {what} {label!r} cannot be written here: the format has no way to quote white space",
            hint="write a tidy CSV or Parquet file",
        )
    return label


def check_text(labels: Mapping[str, Sequence[str]], path: PathLike) -> None:
    """Refuse labels that a text table cannot hold."""
    for what, names in labels.items():
        for label in names:
            if "\r" in label or "\0" in label:
                raise DataError(f"the {what} {label!r} cannot be written as text", file=path, hint="write Parquet")


def write_table(path: PathLike, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a text table, with tabs into a .tsv file; numbers become the shortest text that reads back the same."""
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if str(path).lower().endswith(".tsv") else ",", lineterminator="\n")
    table.writerow(header)
    table.writerows(rows)
    write_file(path, text.getvalue())
