"""Text tables: comma- or tab-separated files with a header, and lines of plain fields."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, read_lines, read_text


@dataclass(frozen=True)
class Table:
    """The columns of a text table; every cell is text.

    Parameters
    ----------
    file : str
    header : tuple of str
        Unique column names.
    columns : tuple of tuple of str
        ``columns[j][i]`` is the cell of row i in column j.
    lines : tuple of int
        ``lines[i]`` is the line on which row i begins.
    """

    file: str
    header: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def column(self, *names: str) -> tuple[str, ...]:
        """Return the column with one of these names, the first one that exists.

        Parameters
        ----------
        *names : str

        Returns
        -------
        tuple of str

        Raises
        ------
        DataError
            If there is no such column.
        """
        for name in names:
            if name in self.header:
                return self.columns[self.header.index(name)]
        wanted = " or ".join(map(repr, names))
        raise DataError(f"there is no column {wanted} (columns: {format_list(self.header)})", file=self.file, line=1)


def delimiter_of(path: PathLike, first: str) -> str:
    """Return the separator of columns: a tab in a .tsv file or if the first line has tabs and no comma, else a comma."""
    return "\t" if str(path).lower().endswith(".tsv") or ("\t" in first and "," not in first) else ","


def read_table(path: PathLike) -> Table:
    """Read a CSV or TSV file with a header; quotes as in RFC 4180, blank lines are ignored.

    Parameters
    ----------
    path : path

    Returns
    -------
    Table

    Raises
    ------
    DataError
        If the file cannot be read, a line does not have as many columns as the header, a column name occurs twice or
        is empty (except the first), a quote is not closed, or there are no rows.
    """
    text = read_text(path)
    delimiter = delimiter_of(path, text.partition("\n")[0])
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
                header = _header(row, path, begin)
                continue
            if len(row) != len(header):
                raise DataError(
                    f"the line has {_columns(len(row))}, but the header has {len(header)}",
                    file=path,
                    line=begin,
                    hint=_other_separator(text.partition("\n")[0]) if len(header) == 1 else None,
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
    for position, name in enumerate(header):
        if not name and position:
            raise DataError(f"column {position + 1} has no name", file=path, line=line)
        if name in header[:position]:
            raise DataError(f"the column {name!r} occurs twice", file=path, line=line)
    return header


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _other_separator(first: str) -> str | None:
    return "columns are separated by commas, or by tabs in a .tsv file" if ";" in first or "\t" in first else None


def read_fields(
    path: PathLike, *, separator: str | None, least: int, most: int, layout: str, rest: bool = False
) -> tuple[list[list[str]], list[int]]:
    """Read lines of plain fields, without a header and without quotes.

    Parameters
    ----------
    path : path
    separator : str or None
        None for any white space.
    least, most : int
        How many fields a line may have.
    layout : str
        The expected form of a line, for error messages.
    rest : bool, optional
        Whether the last field is the rest of the line, including separators.

    Returns
    -------
    rows : list of list of str
        Fields without surrounding white space.
    begins : list of int
        The line number of each row.

    Raises
    ------
    DataError
        If a line has too few or too many fields.
    """
    rows: list[list[str]] = []
    begins: list[int] = []
    limit = most - 1 if rest else -1
    for number, text in read_lines(path):
        fields = text.split(separator, limit)
        if not least <= len(fields) <= most:
            raise DataError(f"the line has {_columns(len(fields))}, not {layout}", file=path, line=number)
        rows.append(fields if separator is None else [field.strip() for field in fields])
        begins.append(number)
    return rows, begins


def numbers(texts: Iterable[str]) -> np.ndarray:
    """Convert texts to numbers; NaN for a text that is not a number.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    ndarray of float64

    Examples
    --------
    >>> numbers(["0.5", "1e-3", "half", "1_000"]).tolist()
    [0.5, 0.001, nan, nan]
    """
    return np.array([number(text) for text in texts], dtype=np.float64)


def number(text: str) -> float:
    """Convert a text to a number; NaN if it is not a number. ``1_000``, which Python accepts, is not a number here."""
    try:
        return float(text) if "_" not in text else float("nan")
    except ValueError:
        return float("nan")


def check_plain(label: str, what: str, *, separator: str | None = "\t") -> str:
    """Return a label if it can be written to a line of text and read back unchanged; otherwise raise an error.

    Parameters
    ----------
    label : str
    what : str
        What is labelled, for error messages: ``"run"``.
    separator : str, optional
        The separator of fields; None for any white space.

    Returns
    -------
    str

    Raises
    ------
    DataError
        If the label contains the separator or a line break, or begins or ends with white space.
    """
    parts = label.split() if separator is None else label.split(separator)
    if len(parts) != 1 or label != label.strip() or any(letter in label for letter in "\r\n\0\ufeff"):
        raise DataError(
            f"the {what} {label!r} cannot be written here: the format has no way to quote white space",
            hint="write a tidy CSV or Parquet file",
        )
    return label
