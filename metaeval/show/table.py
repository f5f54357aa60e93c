"""Tables: labelled numbers with a caption and a signature, shown as text, CSV, JSON, Markdown, HTML and LaTeX."""

from __future__ import annotations

import html
import math
import re
import sys
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.errors import MetaevalError, one_line, visible
from metaeval.show.cells import NOTHING, Grid, draw_text, format_cell, wrap_text
from metaeval.show.colours import text_colour
from metaeval.show.frames import flatten, format_csv, to_records
from metaeval.show.latex import WIDTHS, Width, split_marks, write_table
from metaeval.show.names import to_html
from metaeval.show.signature import Signature

Mark = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""Takes the numbers of a table and returns a frame of the same shape with words such as ``"bold"``."""

Level: TypeAlias = Literal["short", "paper", "all"]
"""Where a table is shown: on the first screen of a command, in a paper (LaTeX, Markdown), or with all, on pages too."""

MANY = 8
"""Measures from which on a matrix of them is too wide for a screen, and `sum_up_matrix` is shown."""

_LARGE = 1e7  # from which on a column has powers of ten
_LABEL = re.compile(r"[^A-Za-z0-9:.-]+")
_NOT_BOLD = "In a column of which more than a third would be bold, nothing is."
_END = re.compile(r"(?:(.*)[ _])?(low|high|min|max|±)")


@dataclass(frozen=True, eq=False)
class Table:
    """A table of labelled numbers, and how it is shown.

    Parameters
    ----------
    frame : DataFrame
        Rows and columns in the order shown; the index is the first column.
    caption : str
        What the table shows, in one sentence.
    signature : Signature, str
        How it was computed.
    digits : int, optional
        Number of decimals of floats.
    marks : callable, optional
        Given the frame, returns one of the same shape whose cells hold "", "bold", "underline" or "shade #08519C", or
        several of them separated by commas. In a column of which more than a third would be bold, nothing is.
    legend : str
        How to read it, which the command line prints only with ``--explain``.
    marked : str
        What the marks mean, where they are shown: a terminal has none.
    joined : bool
        Whether columns low and high, min and max, and ± are shown beside the number before them.
    at : tuple of {"short", "paper", "all"}, optional
        Where a result shows it; by default everywhere.
    """

    frame: pd.DataFrame
    caption: str
    signature: Signature | str
    digits: int = 3
    marks: Mark | None = field(default=None, repr=False)
    legend: str = ""
    marked: str = ""
    joined: bool = False
    at: tuple[Level, ...] = ("short", "paper", "all")

    @property
    def whole_legend(self) -> str:
        """The legend, what the marks mean where there are any, and that bold was too much of a column."""
        words, crowded = self._marked_cells
        meaning = self.marked if words is not None and (words != "").any(axis=None) else ""
        return " ".join(filter(None, [meaning, self.legend, _NOT_BOLD * bool(crowded)]))

    @property
    def whole_caption(self) -> str:
        """Caption and legend."""
        return " ".join(filter(None, [self.caption, self.whole_legend]))

    @property
    def label(self) -> str:
        """What LaTeX calls the table: what was computed of which data."""
        text = " ".join(self.caption.split()[:6])
        if isinstance(self.signature, Signature):
            text = " ".join([self.signature.analysis, *(data.partition("@")[0] for data in self.signature.data)])
        return f"tab:{_LABEL.sub('-', text.replace('_', '-').lower()).strip('-')[:60] or 'table'}"

    def take(self, columns: Sequence[object]) -> Table:
        """Return the table with some of its columns only, marked as they are."""
        frame, marks, shown = self.frame, self.marks, list(columns)
        return replace(self, frame=frame[shown], marks=None if marks is None else lambda _: marks(frame)[shown])

    @cached_property
    def _marked_cells(self) -> tuple[pd.DataFrame | None, list[int]]:
        """The words that mark each cell, and the columns from which bold was taken: too much of it says nothing."""
        if self.marks is None:
            return None, []
        words = self.marks(self.frame).astype(str)
        bold = words.apply(lambda column: column.str.contains("bold")).sum()
        crowded = np.flatnonzero(bold > max(1, len(words) / 3)).tolist()
        for column in crowded:
            words.isetitem(column, words.iloc[:, column].str.replace("bold", "").tolist())
        return words, crowded

    def to_grid(self, write: Callable[[str], str] = one_line, *, joined: bool = False) -> Grid:
        """Return what is shown, each text written as a format has it, and ends joined if asked for."""
        frame, n_labels, (words, _) = self.frame, self.frame.index.nlevels, self._marked_cells

        head, labels = [str(label or "") for label in frame.index.names], [_as_tuple(label) for label in frame.index]
        columns = [[label[level] for label in labels] for level in range(n_labels)]
        left, marks = [True] * n_labels, [[""] * len(frame)] * n_labels
        for c, column in enumerate(frame.columns):
            values, parts = frame.iloc[:, c].tolist(), _as_tuple(column)
            largest = max(
                (abs(value) for value in values if isinstance(value, float) and math.isfinite(value)), default=0
            )
            # A column whose numbers would all read 0, or have more digits than can be read, has powers of ten.
            tiny = 0 < largest < 0.5 * 10**-self.digits
            powers = (tiny and parts[-1] != "±") or largest >= _LARGE
            texts = [format_cell(value, self.digits, powers=powers) for value in values]
            if joined and self.joined and len(columns) > n_labels and (end := _find_end(parts[-1], head[-1])):
                head[-1] = _join_end(head[-1], "" if end == "±" else end, end)
                columns[-1] = [_join_end(number, text, end) for number, text in zip(columns[-1], texts, strict=True)]
                continue
            head.append(" ".join(filter(None, parts)))
            left.append(any(isinstance(value, str) and re.search(r"[^\W\d_]", value) for value in values))
            columns.append(texts)
            marks.append([""] * len(frame) if words is None else words.iloc[:, c].tolist())
        return Grid(
            list(map(write, head)), [list(map(write, row)) for row in zip(*columns, strict=True)],
            left, n_labels, () if words is None else [list(row) for row in zip(*marks, strict=True)],
        )  # fmt: skip

    def to_text(self, width: int = sys.maxsize, *, explain: bool = True) -> str:
        """Return the table as text for a terminal of some width: caption above, signature, if any, below."""
        caption = one_line(f"{self.caption} {self.legend}".rstrip() if explain else self.caption)
        signature = (
            self.signature.short if isinstance(self.signature, Signature) and not explain else str(self.signature)
        )
        below = ["", *wrap_text(one_line(signature), width)] if signature else []
        return "\n".join([*wrap_text(caption, width), "", draw_text(self.to_grid(), width), *below]) + "\n"

    def to_csv(self) -> str:
        """Return the numbers as CSV without rounding, and without caption and signature."""
        return format_csv(self.frame)

    def to_dict(self) -> dict[str, object]:
        """Return the table as plain data for JSON: caption, signature, rows."""
        rows = to_records(flatten(self.frame))
        return {"caption": self.whole_caption, "signature": str(self.signature), "rows": rows}

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown."""
        grid = self.to_grid(_escape_markdown)
        rows = [
            [f"**{text}**" if grid.marks and "bold" in grid.marks[r][c] else text for c, text in enumerate(row)]
            for r, row in enumerate(grid.rows)
        ]
        rule = [":--" if left else "--:" for left in grid.left]
        lines = [f"| {' | '.join(texts)} |" for texts in (grid.head, rule, *rows)]
        caption, signature = _escape_markdown(self.whole_caption), _escape_markdown(str(self.signature))
        return "\n".join([f"**{caption}**", "", *lines, "", f"<sub>{signature}</sub>"]) + "\n"

    def to_html(self, *, strong: Collection[str] = ()) -> str:
        """Return the table as HTML in which names are text; rows of measures that are `strong` have the class ``new``."""
        grid = self.to_grid(lambda text: to_html(one_line(text)), joined=True)
        kinds = ["" if left else ' class="number"' for left in grid.left]
        top = [f'<th scope="col"{kind}>{text}</th>' for kind, text in zip(kinds, grid.head, strict=True)]
        body = []
        marks = grid.marks or [[""] * len(kinds)] * len(grid.rows)
        for label, row, words in zip(self.frame.index, grid.rows, marks, strict=True):
            styles = [f' style="{_to_css(word)}"' if word else "" for word in words]
            looks = [
                style if "shade" in word else kind + style
                for kind, style, word in zip(kinds, styles, words, strict=True)
            ]
            cells = [f"<td{look}>{text}</td>" for look, text in zip(looks, row, strict=True)]
            new = ' class="new"' * (_as_tuple(label)[0] in strong)
            body.append(f'<tr{new}><th scope="row">{row[0]}</th>{"".join(cells[1:])}</tr>')
        return (
            f"<table><caption>{to_html(self.whole_caption)}</caption>\n<thead><tr>{''.join(top)}</tr></thead>\n"
            f"<tbody>\n{chr(10).join(body)}\n</tbody></table>"
        )

    def to_latex(self, *, width: Width = "column", label: str = "") -> str:
        """Return the table as LaTeX with booktabs rules, below comments with the packages that it needs and the signature.

        Parameters
        ----------
        width : {"column", "page"}, optional
            A column, or with ``table*`` both columns, of a two-column paper. LaTeX makes a table smaller that is wider;
            one of more rows than a page has comes in parts.
        label : str, optional
            For references; by default ``tab:`` and what was computed of which data.
        """
        if width not in WIDTHS:
            raise MetaevalError(f"there is no width {width!r}: use {' or '.join(WIDTHS)}")
        label = _LABEL.sub("-", label).strip("-") or self.label
        text = write_table(self.to_grid(joined=True), one_line(self.caption), self.whole_legend, label, width)
        packages, _, floats = text.partition("\n")
        return f"{packages}\n% {one_line(str(self.signature))}\n{floats}"

    def _repr_html_(self, notes: Sequence[str] = ()) -> str:
        """Return the table, with notes below, as notebooks show it; names from data are text.

        >>> table = Table(pd.DataFrame({"mean": [0.5]}, index=pd.Index(["<b>"], name="run")), "Runs.", "signature")
        >>> "<b>" in table._repr_html_(), "&lt;b&gt;" in table._repr_html_()
        (False, True)
        """
        signature = f"<p><small>{html.escape(one_line(str(self.signature)))}</small></p>"
        listed = "".join(f"<li>{to_html(note)}</li>" for note in notes)
        below = f"<ul>{listed}</ul>" if listed else ""
        return f'<div><div style="overflow-x: auto">{self.to_html()}</div>\n{signature}{below}</div>'


def _as_tuple(label: object) -> tuple[str, ...]:
    return tuple(map(str, label)) if isinstance(label, tuple) else (str(label),)


def _find_end(heading: str, before: str) -> str:
    """Return which end of the number before it a column is: "low" of whatever that is, "τ low" of the number τ."""
    end, number = _END.fullmatch(heading), before.partition(" [")[0].removesuffix(" ±")
    if not end or (end[1] or number) != number or (end[2] in ("high", "max") and not before.endswith("]")):
        return ""
    return end[2]


def _join_end(number: str, text: str, end: str) -> str:
    """Return a number with one more end of its interval beside it; without any where one of them is not known."""
    if end == "±":
        return number if text == NOTHING else f"{number} ± {text}".rstrip()
    if end in ("low", "min"):
        return f"{number} [{text}]"
    whole, bracket, low = number.removesuffix("]").rpartition(" [")
    return whole if NOTHING in (low, text) else f"{whole}{bracket}{low}, {text}]"


def _to_css(words: str) -> str:
    """Return the words that mark a cell as CSS.

    >>> _to_css("bold"), _to_css("shade #08519C")
    ('font-weight:bold', 'background:#08519C;color:#FFF')
    """
    plain = {"bold": "font-weight:bold", "underline": "text-decoration:underline"}
    pairs = split_marks(words)
    return ";".join(plain.get(kind) or f"background:{colour};color:{text_colour(colour)[:4]}" for kind, colour in pairs)


def _escape_markdown(text: str) -> str:
    """Escape characters that would break the table, be read as HTML or steer a terminal."""
    text = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("|", "\\|").replace("\n", " ")


def join_latex(tables: Sequence[Table], width: Width = "column") -> str:
    """Return several tables as LaTeX, each with a label of its own."""
    labels = [table.label for table in tables]
    numbered = [
        label if label not in labels[:number] else f"{label}-{labels[: number + 1].count(label)}"
        for number, label in enumerate(labels)
    ]
    return "\n".join(table.to_latex(width=width, label=label) for table, label in zip(tables, numbered, strict=True))


# How frames of measures are arranged


def cross(names: Mapping[str, Sequence[Hashable]], **columns: npt.ArrayLike) -> pd.DataFrame:
    """Return one row for every two names, the second changing first, with numbers that broadcast to both of their axes.

    >>> print(*cross({"run": ["a", "b"], "measure": ["AP", "P"]}, score=[[1, 2], [3, 4]]).loc[1])
    a P 2
    """
    index = pd.MultiIndex.from_product(list(names.values()), names=list(names))
    shape = [len(some) for some in names.values()]
    numbers = {name: np.broadcast_to(column, shape).ravel() for name, column in columns.items()}
    return pd.DataFrame(numbers, index=index).reset_index()


def sum_up_matrix(names: Sequence[str], square: np.ndarray, number: str, *, total: bool = False) -> pd.DataFrame:
    """Return one row a measure: the mean, or total, of its row of a matrix, and which other measure has the largest number.

    >>> square = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.2], [0.5, 0.2, 1.0]])
    >>> print(*sum_up_matrix(["A", "B", "C"], square, "τ").loc["A"])
    0.7 B 0.9
    """
    others = np.where(np.eye(len(names), dtype=bool), np.nan, square.astype(float))
    largest = np.where(np.isfinite(others), others, -np.inf).argmax(axis=1)
    known = np.isfinite(others).any(axis=1)
    middle = np.nansum(others, axis=1) if total else pd.DataFrame(others).mean(axis=1).to_numpy()
    columns = {
        f"{'all' if total else 'mean'} {number}": np.where(known, middle, np.nan),
        "most with" if total else "most like": np.where(known, np.array(names, dtype=object)[largest], NOTHING),
        number: others[np.arange(len(names)), largest],
    }
    frame = pd.DataFrame(columns, index=pd.Index(names, name="measure"))
    return frame.astype(dict.fromkeys(frame.columns[::2], int)) if total else frame


def arrange_pairs(names: Sequence[str], cells: Sequence[str | int], empty: str) -> pd.DataFrame:
    """Arrange one cell per pair of measures, in the order of `numpy.triu_indices`, as an upper triangle."""
    square = np.full((len(names), len(names)), empty, dtype=object)
    square[np.triu_indices(len(names), 1)] = cells
    return pd.DataFrame(square[:-1, 1:], index=pd.Index(names[:-1], name="measure"), columns=pd.Index(names[1:]))
