"""Tables as text, CSV, Markdown and LaTeX, with caption and signature."""

from __future__ import annotations

import io
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.errors import MetaevalError, one_line
from metaeval.files import PathLike, write_atomically
from metaeval.show.cells import Cells, join_ends, make_cells, shorten_numbers
from metaeval.show.fitting import WIDTHS, Width
from metaeval.show.formulas import defuse_frame
from metaeval.show.html import write_fragment
from metaeval.show.latex import write_table
from metaeval.show.signature import Signature
from metaeval.show.terminal import fit_table

Mark = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""Takes the numbers of a table and returns a frame of the same shape with words such as ``"bold"`` or ``"band high"``."""

Level: TypeAlias = Literal["short", "paper", "all"]
"""Where a table is shown: on the first screen of a command, in a paper (LaTeX, Markdown), or with all, on pages too."""

STYLES = ("text", "csv", "md", "latex", "json")
"""Output formats of the command line."""

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
        What the table shows, in one sentence.
    signature : Signature, str
        How it was computed.
    digits : int or mapping, optional
        Number of decimals of floats: for all columns, or by column.
    marks : callable, optional
        Given the frame, returns one of the same shape whose cells hold "", "bold", "underline", "shade #08519C" or
        "band high", "band middle", "band low", or several of them separated by commas.
    legend : str
        How to read it, which the command line prints only with ``--explain``.
    joined : bool
        Whether columns low and high, min and max, and ± belong to the number before them: LaTeX shows them beside it.
    at : tuple of {"short", "paper", "all"}, optional
        Where a result shows it; by default everywhere.
    """

    frame: pd.DataFrame
    caption: str
    signature: Signature | str
    digits: int | Mapping[object, int] = 3
    marks: Mark | None = field(default=None, repr=False)
    legend: str = ""
    joined: bool = False
    at: tuple[Level, ...] = ("short", "paper", "all")

    @property
    def whole_caption(self) -> str:
        """Caption and legend."""
        return " ".join(filter(None, [self.caption, self.legend]))

    def take(self, columns: Sequence[object]) -> Table:
        """Return the table with some of its columns only, marked as they are."""
        frame, marks, shown = self.frame, self.marks, list(columns)
        return replace(self, frame=frame[shown], marks=None if marks is None else lambda _: marks(frame)[shown])

    def list_cells(self, *, titles: bool = False) -> Cells:
        """Return what is shown, cell by cell, which every format lays out; measures have their titles if asked for."""
        return make_cells(self.frame, self.digits, self.marks and self.marks(self.frame), titles=titles)

    def to_text(self) -> str:
        """Return the table as text for a terminal: aligned columns, caption above, signature below."""
        return fit_table(self.list_cells().convert(one_line), self.whole_caption, str(self.signature))

    def to_csv(self) -> str:
        """Return the numbers as CSV without rounding, and without caption and signature."""
        return format_csv(self.frame)

    def to_dict(self) -> dict[str, object]:
        """Return the table as plain data for JSON: caption, signature, rows."""
        frame = self.frame.copy()
        frame.columns = pd.Index([flat_label(column) for column in frame.columns])
        return {"caption": self.whole_caption, "signature": str(self.signature), "rows": to_records(frame)}

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown."""
        cells = self.list_cells().convert(_escape_markdown)
        rule = [":--" if left else "--:" for left in cells.left]
        body = [
            [_mark_markdown(text, cells.list_marks(r, c)) for c, text in enumerate(row)]
            for r, row in enumerate(cells.rows)
        ]
        rows = [f"| {' | '.join(texts)} |" for texts in (cells.flat_head, rule, *body)]
        caption, signature = _escape_markdown(self.whole_caption), _escape_markdown(str(self.signature))
        return "\n".join([f"**{caption}**", "", *rows, "", f"<sub>{signature}</sub>"]) + "\n"

    def to_latex(self, *, width: Width = "column", label: str = "") -> str:
        """Return the table as LaTeX, below a comment with the packages that it needs.

        Parameters
        ----------
        width : {"column", "page"}, optional
            A column or both columns of a two-column paper, 7.7 or 16 cm. If the table is too wide, the letters become
            smaller, headings are broken, numbers lose a decimal and the 0 before the point. What is still too wide for a
            column takes both (``table*``), and what is too large for a page comes in parts.
        label : str, optional
            For references; by default ``tab:`` and what was computed of which data.

        Raises
        ------
        MetaevalError
            If there is no such width.
        """
        if width not in WIDTHS:
            raise MetaevalError(f"there is no width {width!r}: use {' or '.join(WIDTHS)}")
        label = _LABEL.sub("-", label).strip("-") or self.label
        words = self.marks and self.marks(self.frame)
        full, fewer = (
            make_cells(self.frame, digits, words, titles=True) for digits in (self.digits, self._drop_digit())
        )
        if self.joined:
            full, fewer = join_ends(full), join_ends(fewer)
        return write_table((full, shorten_numbers(fewer)), self.whole_caption, str(self.signature), label, BANDS, width)

    def _drop_digit(self) -> int | Mapping[object, int]:
        """Return how many decimals a narrow table shows: one less, if there are three or more."""
        if isinstance(self.digits, int):
            return max(min(self.digits, 2), self.digits - 1)
        return {column: max(min(digits, 2), digits - 1) for column, digits in self.digits.items()}

    @property
    def label(self) -> str:
        """What LaTeX calls the table: what was computed of which data."""
        if isinstance(self.signature, Signature):
            text = " ".join([self.signature.analysis, *(data.partition("@")[0] for data in self.signature.data)])
        else:
            text = " ".join(self.caption.split()[:6])
        return f"tab:{_LABEL.sub('-', text.replace('_', '-').lower()).strip('-')[:60] or 'table'}"

    def _repr_html_(self) -> str:
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


def join_latex(tables: Sequence[Table], width: Width = "column") -> str:
    """Return several tables as LaTeX, each with a label of its own."""
    labels = [table.label for table in tables]
    numbered = [
        label if label not in labels[:number] else f"{label}-{labels[: number + 1].count(label)}"
        for number, label in enumerate(labels)
    ]
    return "\n".join(table.to_latex(width=width, label=label) for table, label in zip(tables, numbered, strict=True))


def format_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without rounding; the index is left out unless it has a name."""
    frame = frame.copy()
    frame.columns = pd.Index([flat_label(column) for column in frame.columns])
    stream = io.StringIO()
    named = any(name is not None for name in frame.index.names)
    defuse_frame(frame).to_csv(stream, index=named, lineterminator="\n")
    return stream.getvalue()


def write_frames(path: PathLike, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames, one below the other, into one file, which is there whole or not at all."""
    path = check_rows_file(path)

    def write_csv(stream: BinaryIO) -> None:
        for number, frame in enumerate(frames):
            defuse_frame(frame).to_csv(stream, index=False, header=number == 0, lineterminator="\n", mode="wb")

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
    """Return the rows of a frame as plain data for JSON, with its index unless that has no name."""
    if frame.index.name or frame.index.nlevels > 1:
        frame = frame.reset_index()
    columns = [list(map(to_plain, frame.iloc[:, c].tolist())) for c in range(frame.shape[1])]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def to_plain(value: Any) -> Any:
    """Return a number or text as JSON can hold it: nothing where it is no finite number."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None  # JSON has no word for what is not a number
    return None if value is pd.NA or value is pd.NaT else value


def flat_label(column: object) -> str:
    """Return the label of a column as one text, also if it has several levels."""
    return " ".join(str(part) for part in column if str(part)) if isinstance(column, tuple) else str(column)


def _escape_markdown(text: str) -> str:
    """Escape characters that would break the table or be read as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|").replace("\n", " ")


def _mark_markdown(text: str, marks: Sequence[str]) -> str:
    text = f"**{text}**" if "bold" in marks else text
    return f"<u>{text}</u>" if "underline" in marks else text


_LABEL = re.compile(r"[^A-Za-z0-9:.-]+")


def band_marks(high: float, middle: float) -> Mark:
    """Return marks that colour numbers by two thresholds, as the papers colour τ."""

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


def cross(names: Mapping[str, Sequence[Hashable]], **columns: npt.ArrayLike) -> pd.DataFrame:
    """Return one row for every two names, the second changing first, with numbers that broadcast to both of their axes.

    >>> print(*cross({"run": ["a", "b"], "measure": ["AP", "P"]}, score=[[1, 2], [3, 4]]).loc[1])
    a P 2
    """
    index = pd.MultiIndex.from_product(list(names.values()), names=list(names))
    shape = [len(some) for some in names.values()]
    numbers = {name: np.broadcast_to(column, shape).ravel() for name, column in columns.items()}
    return pd.DataFrame(numbers, index=index).reset_index()


MANY = 8
"""Measures from which on a matrix of them is too wide for a screen, and `sum_up_matrix` is shown."""


def sum_up_matrix(names: Sequence[str], square: np.ndarray, number: str, *, total: bool = False) -> pd.DataFrame:
    """Return one row a measure: the mean, or total, of its row of a matrix, and which other measure has the largest number.

    >>> square = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.2], [0.5, 0.2, 1.0]])
    >>> print(*sum_up_matrix(["A", "B", "C"], square, "τ").loc["A"])
    0.7 B 0.9
    """
    others = np.where(np.eye(len(names), dtype=bool), np.nan, square.astype(float))
    rows = []
    for row in others:
        known = np.isfinite(row).any()
        largest = int(np.nanargmax(row)) if known else 0
        middle = (np.nansum(row) if total else np.nanmean(row)) if known else np.nan
        rows.append((middle, names[largest] if known and row[largest] else "–", row[largest]))
    columns = [f"{'all' if total else 'mean'} {number}", "most with" if total else "most like", number]
    frame = pd.DataFrame(rows, index=pd.Index(names, name="measure"), columns=columns)
    return frame.astype({columns[0]: int, columns[2]: int}) if total else frame


def arrange_pairs(names: Sequence[str], cells: Sequence[str | int], empty: str) -> pd.DataFrame:
    """Arrange one cell per pair of measures, in the order of `numpy.triu_indices`, as an upper triangle."""
    frame = pd.DataFrame(empty, index=pd.Index(names[:-1], name="measure"), columns=pd.Index(names[1:]), dtype=object)
    for (i, j), cell in zip(itertools.combinations(range(len(names)), 2), cells, strict=True):
        frame.iat[i, j - 1] = cell
    return frame
