"""Text tables: comma- or tab-separated files with a header, and lines of plain fields."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.data.cells import number
from metaeval.errors import DataError, format_list, format_option
from metaeval.files import PathLike, read_lines, read_text


@dataclass(frozen=True)
class Table:
    """The columns of a text table; every cell is text."""

    file: str
    header: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, *names: str) -> tuple[str, ...]:
        """Return the column with one of these names, the first one that exists."""
        for name in names:
            if name in self.header:
                return self.columns[self.header.index(name)]
        described = " or ".join(map(repr, names))
        raise DataError(f"there is no column {described} (columns: {format_list(self.header)})", file=self.file, line=1)


class ColumnsError(DataError):
    """There is no column of a name that the user states."""


DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars"}
"""What may separate columns, the most likely first, and its name."""


def find_delimiter(path: PathLike, text: str) -> str:
    r"""Return the separator of columns of a text: a tab in a .tsv file, otherwise what fits its first two lines.

    Examples
    --------
    >>> find_delimiter("scores.csv", "run;topic;measure;score\na;t;AP;0,5")
    ';'
    >>> find_delimiter("scores.csv", "x;1,x;2\n0.25,0.5")  # the names of two runs
    ','
    """
    if str(path).lower().endswith(".tsv"):
        return "\t"
    first, _, rest = text.lstrip("\n").partition("\n")
    possible = [delimiter for delimiter in DELIMITERS if delimiter in first]
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


def split_line(line: str, delimiter: str, path: PathLike | None = None) -> list[str]:
    """Return the cells of one line of a table."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"it is not a table: {error}", file=path, line=1) from None


def read_table(path: PathLike, columns: Mapping[str, str] | None = None) -> Table:
    """Read a table with a header, separated as `find_delimiter` tells; quotes as in RFC 4180, blank lines left out."""
    text = read_text(path)
    delimiter = find_delimiter(path, text)
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
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
                header = rename_columns(_header(row, path, begin), columns, path)
                continue
            if len(row) != len(header):
                raise DataError(
                    f"the line has {_columns(len(row))}, but the header has {len(header)}",
                    file=path,
                    line=begin,
                    hint=f"columns are separated by {DELIMITERS[delimiter]}",
                )
            rows.append(row)
            begins.append(begin)
    except csv.Error as error:
        raise DataError(f"it is not a table: {error}", file=path, line=line) from None
    if not rows:
        raise DataError("there are no rows below the header", file=path)
    return Table(str(path), header, tuple(zip(*rows, strict=True)), tuple(begins))


def _header(row: Sequence[str], path: PathLike, line: int) -> tuple[str, ...]:
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

    Examples
    --------
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

    Examples
    --------
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
