"""Tables as text, CSV, Markdown and LaTeX, with caption and signature."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from metaeval.errors import MetaevalError, one_line
from metaeval.files import PathLike, write_atomically
from metaeval.show.latex import WIDTHS, Cells, Width, write_table
from metaeval.show.names import TITLES
from metaeval.show.signature import Signature

Mark = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""Takes the numbers of a table and returns a frame of the same shape with words such as ``"bold"`` or ``"band high"``."""

STYLES = ("text", "csv", "md", "latex", "json")
"""Output formats of the command line."""

NOTHING = "–"
"""Shown in a cell without a number."""

BANDS = {"high": "C6E5CF", "middle": "FFF2B3", "low": "F7C9C4"}
"""Background colours of the papers' three bands; they differ in lightness, for colour-blind readers and for print."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of labelled numbers, and how it is shown.

    Parameters
    ----------
    frame : DataFrame
        Rows and columns in the order shown; the index is the first column. Columns may have two levels.
    caption : str
        What the table shows, in one or two sentences.
    signature : Signature, str
        How it was computed.
    digits : int or mapping, optional
        Number of decimals of floats: for all columns, or by column.
    marks : callable, optional
        Given the frame, returns one of the same shape whose cells hold "", "bold", "underline", "shade #08519C" or
        "band high", "band middle", "band low", or several of them separated by commas.
    """

    frame: pd.DataFrame
    caption: str
    signature: Signature | str
    digits: int | Mapping[object, int] = 3
    marks: Mark | None = field(default=None, repr=False)

    def to_cells(self, *, titles: bool = False) -> tuple[list[str], list[bool], list[list[str]]]:
        """Return what is shown, cell by cell.

        Parameters
        ----------
        titles : bool, optional
            Whether measures have their titles, which papers typeset, in place of their names.

        Returns
        -------
        head : list of str
        left : list of bool
            Whether a column is text, which stands to the left.
        rows : list of list of str
        """
        frame = self._format_frame()
        shown = _with_index(name_measures(frame) if titles else frame)
        head = [one_line(str(label)) for label in shown.columns]
        rows = [[one_line(cell) for cell in row] for row in shown.astype(str).to_numpy().tolist()]
        return head, _text_columns(self.frame), rows

    def to_text(self) -> str:
        """Return the table as text for a terminal: aligned columns, caption above, signature below."""
        head, left, rows = self.to_cells()
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

        def line(cells: list[str]) -> str:
            padded = [c.ljust(w) if t else c.rjust(w) for c, w, t in zip(cells, widths, left, strict=True)]
            return "  ".join(padded).rstrip()

        ruler = "  ".join("─" * width for width in widths)
        caption, signature = one_line(self.caption), one_line(str(self.signature))
        return "\n".join([caption, "", line(head), ruler, *map(line, rows), "", signature]) + "\n"

    def to_csv(self) -> str:
        """Return the numbers as CSV without rounding, and without caption and signature."""
        return format_csv(self.frame)

    def to_dict(self) -> dict[str, object]:
        """Return the table as plain data for JSON: caption, signature, rows."""
        frame = self.frame.copy()
        frame.columns = pd.Index([flat_label(column) for column in frame.columns])
        return {"caption": self.caption, "signature": str(self.signature), "rows": to_records(frame)}

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown."""
        frame = self._format_frame(bold="**{}**", underline="<u>{}</u>", escape=_escape_markdown)
        shown = _with_index(frame, _escape_markdown)
        head = list(shown.columns)
        rule = [":--" if left else "--:" for left in _text_columns(self.frame)]
        body = shown.astype(str).to_numpy().tolist()
        rows = [f"| {' | '.join(cells)} |" for cells in (head, rule, *body)]
        caption, signature = _escape_markdown(self.caption), _escape_markdown(str(self.signature))
        return "\n".join([f"**{caption}**", "", *rows, "", f"<sub>{signature}</sub>"]) + "\n"

    def to_latex(self, *, width: Width = None, label: str = "") -> str:
        """Return the table as LaTeX, below a comment with the packages that it needs.

        Parameters
        ----------
        width : {"column", "page"}, optional
            A column or both columns of a two-column paper, 7.7 or 16 cm. The letters become smaller, headings are
            broken, numbers lose a decimal and the 0 before the point, and the table is scaled, each only if it must.
        label : str, optional
            For references; by default ``tab:`` and what was computed of which data.

        Returns
        -------
        str

        Raises
        ------
        MetaevalError
            If there is no such width.
        """
        if width not in (None, *WIDTHS):
            raise MetaevalError(f"there is no width {width!r}: use {' or '.join(WIDTHS)}")
        label = _LABEL.sub("-", label).strip("-") or f"tab:{self._find_label()}"
        return write_table(self._list_cells(), self.caption, str(self.signature), label, BANDS, width)

    def _find_label(self) -> str:
        if isinstance(self.signature, Signature):
            text = " ".join([self.signature.analysis, *(one.partition("@")[0] for one in self.signature.data)])
        else:
            text = " ".join(self.caption.split()[:6])
        return _LABEL.sub("-", text.replace("_", "-").lower()).strip("-")[:60] or "table"

    def _list_cells(self) -> Cells:
        shown, words = self._format_frame(), self._find_marks().astype(str)
        shown = name_measures(shown)
        levels = shown.columns.nlevels
        names = [str(name or "") for name in shown.index.names]
        columns = [tuple(map(str, one)) if isinstance(one, tuple) else (str(one),) for one in shown.columns]
        labels = [one if isinstance(one, tuple) else (one,) for one in shown.index]
        return Cells(
            (*(("",) * (levels - 1) + (name,) for name in names), *columns),
            tuple(_text_columns(self.frame)),
            tuple(
                (*map(str, index), *row)
                for index, row in zip(labels, shown.astype(str).to_numpy().tolist(), strict=True)
            ),
            tuple((*("",) * len(names), *row) for row in words.to_numpy().tolist()),
        )

    def _repr_html_(self) -> str:
        from metaeval.show.html import write_fragment

        return write_fragment([self])

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the table as ``name.csv``, ``name.md`` and ``name.tex`` into a folder, which is created if necessary.

        Parameters
        ----------
        folder : Path
        name : str

        Returns
        -------
        list of Path
            The files written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for suffix, text in ((".csv", self.to_csv()), (".md", self.to_markdown()), (".tex", self.to_latex())):
            path = folder / f"{name}{suffix}"
            write_atomically(path, text)
            written.append(path)
        return written

    def render(self, style: str) -> str:
        """Return the table in one of the styles text, csv, md, latex.

        Parameters
        ----------
        style : {"text", "csv", "md", "latex"}

        Returns
        -------
        str

        Raises
        ------
        MetaevalError
            If there is no such style.
        """
        styles = {"text": self.to_text, "csv": self.to_csv, "md": self.to_markdown, "latex": self.to_latex}
        if style not in styles:
            raise MetaevalError(f"there is no format {style!r}: use {', '.join(STYLES)}")
        return styles[style]()

    def _find_marks(self) -> pd.DataFrame:
        if self.marks is None:
            return pd.DataFrame("", index=self.frame.index, columns=self.frame.columns)
        return self.marks(self.frame)

    def _format_frame(
        self, *, bold: str = "{}", underline: str = "{}", escape: Callable[[str], str] = str
    ) -> pd.DataFrame:
        """Return the frame as rounded text, with the marks that the style writes as text."""
        words = self._find_marks().to_numpy(dtype=object)
        columns: dict[int, list[str]] = {}
        for c, column in enumerate(self.frame.columns):
            digits = self.digits if isinstance(self.digits, int) else self.digits.get(column, 3)
            columns[c] = []
            for r, value in enumerate(self.frame.iloc[:, c].tolist()):
                text = escape(format_cell(value, digits))
                said = {word.strip() for word in str(words[r, c]).split(",")}
                text = bold.format(text) if "bold" in said else text
                columns[c].append(underline.format(text) if "underline" in said else text)
        shown = pd.DataFrame(columns, index=self.frame.index, dtype=object)
        return shown.set_axis(self.frame.columns, axis=1)


def name_measures(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of texts in which measures have their titles: in its head, and in columns of measures.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    DataFrame
    """

    def title(label: Any) -> Any:
        if isinstance(label, tuple):
            return tuple(TITLES.get(part, part) for part in label)
        return TITLES.get(label, label)

    frame = frame.copy()
    for place, column in enumerate(frame.columns):
        if str(column).startswith("measure"):
            frame.isetitem(place, [title(text) for text in frame.iloc[:, place]])
    frame.columns = frame.columns.map(title)
    if any(str(name or "").startswith("measure") for name in frame.index.names):
        frame.index = frame.index.map(title)
    return frame


def format_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without rounding; the index is left out unless it has a name.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    str
    """
    frame = frame.copy()
    frame.columns = pd.Index([flat_label(column) for column in frame.columns])
    stream = io.StringIO()
    frame.to_csv(stream, index=any(name is not None for name in frame.index.names), lineterminator="\n")
    return stream.getvalue()


def write_frames(path: PathLike, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames, one below the other, into one file, which is there whole or not at all.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.parquet``.
    frames : iterable of DataFrame
        Of the same columns; taken one by one, so that memory need not hold all of them.

    Returns
    -------
    Path

    Raises
    ------
    MetaevalError
        If the name does not tell one of these formats, or the file cannot be written.
    """
    path = check_rows_file(path)

    def write_csv(stream: BinaryIO) -> None:
        for number, frame in enumerate(frames):
            frame.to_csv(stream, index=False, header=number == 0, lineterminator="\n", mode="wb")

    def write_parquet(stream: BinaryIO) -> None:
        import pyarrow
        import pyarrow.parquet

        writer = None
        try:
            for frame in frames:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(stream, table.schema, compression="zstd")
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()

    try:
        write_atomically(path, write_csv if path.suffix == ".csv" else write_parquet)
    except OSError as error:
        raise MetaevalError(f"{path}: it cannot be written: {error.strerror or error}") from None
    return path


def check_rows_file(path: PathLike) -> Path:
    """Return the path of a file for many rows, or refuse one whose name does not tell a format, or in no folder."""
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise MetaevalError(f"{path}: its name does not tell a format; write a .csv or .parquet file")
    if not target.absolute().parent.is_dir():
        raise MetaevalError(f"{path}: there is no folder {target.parent}")
    return target


def to_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain data for JSON, with its index unless that has no name.

    Parameters
    ----------
    frame : DataFrame

    Returns
    -------
    list of dict
    """
    if frame.index.name or frame.index.nlevels > 1:
        frame = frame.reset_index()
    columns = [list(map(_to_json, frame.iloc[:, c].tolist())) for c in range(frame.shape[1])]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _to_json(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # JSON has no word for what is not a number
    return None if value is pd.NA or value is pd.NaT else value


def format_cell(value: object, digits: int = 3) -> str:
    """Return the text of a cell: integers as they are, floats rounded, a missing value as a dash.

    Parameters
    ----------
    value : object
    digits : int, optional
        Number of decimals.

    Returns
    -------
    str

    Examples
    --------
    >>> format_cell(0.12345), format_cell(7), format_cell(None), format_cell(-0.0001)
    ('0.123', '7', '–', '0.000')
    """
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, float):
        text = f"{value:.{digits}f}"
        return text[1:] if float(text) == 0 and text.startswith("-") else text
    return str(value)


def format_p(p: float, n_permutations: int = 0) -> str:
    """Return how a p-value is written, with its sign: it is never 0, but smaller than can be told.

    Parameters
    ----------
    p : float
    n_permutations : int, optional
        Number of trials, B, of which p is a share.

    Returns
    -------
    str

    Examples
    --------
    >>> format_p(0.0326), format_p(0, 5000), format_p(3e-7)
    ('= 0.0326', '< 0.0002', '< 0.0001')
    """
    least = 1 / n_permutations if p == 0 and n_permutations else 1e-4
    return f"< {least:.3g}" if p < least else f"= {p:.4f}"


def _with_index(frame: pd.DataFrame, escape: Callable[[str], str] = str) -> pd.DataFrame:
    """Insert the row labels as the first columns, and flatten the column labels."""
    index = frame.index
    frame = frame.copy()
    frame.columns = pd.Index([escape(flat_label(column)) for column in frame.columns])
    for position, name in enumerate(index.names):
        labels = [escape(str(label)) for label in index.get_level_values(position)]
        frame.insert(position, escape(str(name or "")), labels, allow_duplicates=True)
    return frame


def _text_columns(frame: pd.DataFrame) -> list[bool]:
    """Tell for each column, the index first, whether it holds text, which is left-aligned."""
    words = [any(isinstance(cell, str) for cell in frame.iloc[:, c]) for c in range(frame.shape[1])]
    return [True] * frame.index.nlevels + words


def flat_label(column: object) -> str:
    """Return the label of a column as one text, also if it has several levels."""
    return " ".join(str(part) for part in column if str(part)) if isinstance(column, tuple) else str(column)


def _escape_markdown(text: str) -> str:
    """Escape characters that would break the table or be read as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|").replace("\n", " ")


_LABEL = re.compile(r"[^A-Za-z0-9:.-]+")


def band_marks(high: float, middle: float) -> Mark:
    """Return marks that colour numbers by two thresholds, as the papers colour τ.

    Parameters
    ----------
    high, middle : float
        Lower ends of the high and of the middle band.

    Returns
    -------
    callable
        For `Table.marks`.
    """

    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        def band(value: object) -> str:
            if not isinstance(value, float) or math.isnan(value):
                return ""
            return "band high" if value >= high else "band middle" if value >= middle else "band low"

        return frame.map(band)

    return marks


def take_upper_triangle(square: pd.DataFrame) -> pd.DataFrame:
    """Keep the cells above the diagonal, without the empty first column and last row, as the papers print them."""
    shown = square.where(np.triu(np.ones(square.shape, dtype=bool), 1))
    return shown.iloc[:-1, 1:]


def arrange_pairs(names: Sequence[str], cells: Sequence[str | int], empty: str) -> pd.DataFrame:
    """Arrange one cell per pair of measures, in the order of `numpy.triu_indices`, as an upper triangle."""
    frame = pd.DataFrame(empty, index=pd.Index(names[:-1], name="measure"), columns=pd.Index(names[1:]), dtype=object)
    for (i, j), cell in zip(itertools.combinations(range(len(names)), 2), cells, strict=True):
        frame.iat[i, j - 1] = cell
    return frame
