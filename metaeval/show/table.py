"""Tables: labelled numbers with a caption and a signature, shown as text, CSV, JSON, Markdown, HTML, LaTeX and workbook."""

from __future__ import annotations

import html
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from metaeval.errors import MetaevalError, one_line
from metaeval.files import write_atomically
from metaeval.show.colours import text_colour
from metaeval.show.frames import flat_label, flatten, format_csv, to_records
from metaeval.show.latex import WIDTHS, Width, write_table
from metaeval.show.names import TITLES, to_html
from metaeval.show.signature import Signature
from metaeval.show.text import NOTHING, Grid, draw_text, format_cell, wrap_text

Mark = Callable[["pd.DataFrame"], "pd.DataFrame"]
"""Takes the numbers of a table and returns a frame of the same shape with words such as ``"bold"`` or ``"band high"``."""

STYLES = ("text", "csv", "md", "latex", "json")
"""Output formats of the command line."""

BANDS = {"high": "C6E5CF", "middle": "FFF2B3", "low": "F7C9C4"}
"""Background colours of the papers' three bands; they differ in lightness, for colour-blind readers and for print."""

LONG = 40  # letters of a cell of HTML from which on its line may be broken
_LARGE = 1e7  # from which on a column has powers of ten
_CSS = {"bold": "font-weight: bold", "underline": "text-decoration: underline"}


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
        Whether columns low and high, and ±, are shown beside the number before them.
    """

    frame: pd.DataFrame
    caption: str
    signature: Signature | str
    digits: int | Mapping[object, int] = 3
    marks: Mark | None = field(default=None, repr=False)
    legend: str = ""
    joined: bool = False

    @property
    def whole_caption(self) -> str:
        """Caption and legend."""
        return " ".join(filter(None, [self.caption, self.legend]))

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

    def to_grid(self, write: Callable[[str], str] = one_line, *, titles: bool = False) -> Grid:
        """Return what is shown, each text written as a format has it; measures have their titles if asked for."""
        frame = self.frame
        names = [i for i, name in enumerate(frame.index.names) if titles and str(name or "").startswith("measure")]
        head = [("",) * (frame.columns.nlevels - 1) + (str(name or ""),) for name in frame.index.names]
        labels = [_as_tuple(label) for label in frame.index]
        texts = [[_title(label[i], i in names) for label in labels] for i in range(frame.index.nlevels)]
        left = [True] * len(texts)
        marks = self.marks(frame).astype(str) if self.marks else None
        css = [[""] * len(frame) for _ in texts]
        for c, column in enumerate(frame.columns):
            cells = _write_column(frame.iloc[:, c], self.digits, column, titles=titles)
            end = _END.fullmatch(_as_tuple(column)[-1]) if self.joined and len(texts) > len(names or [0]) else None
            if end:
                texts[-1] = list(map(_JOIN[end[2]], texts[-1], cells))
                head[-1] = (*head[-1][:-1], _join_heading(head[-1][-1], end[2]))
                continue
            head.append(tuple(_title(part, titles) for part in _as_tuple(column)))
            left.append(any(isinstance(cell, str) and cell != NOTHING for cell in frame.iloc[:, c].tolist()))
            texts.append(cells)
            css.append([""] * len(frame) if marks is None else [_to_css(word) for word in marks.iloc[:, c]])
        return Grid(
            [tuple(map(write, labels)) for labels in head], [list(map(write, row)) for row in zip(*texts, strict=True)],
            left, [list(row) for row in zip(*css, strict=True)], frame.index.nlevels,
        )  # fmt: skip

    def to_text(self, width: int = sys.maxsize, *, explain: bool = True) -> str:
        """Return the table as text for a terminal of some width: caption above, signature, if any, below."""
        caption = one_line(self.whole_caption if explain else self.caption)
        below = ["", *wrap_text(str(self.signature), width)] if self.signature else []
        return "\n".join([*wrap_text(caption, width), "", draw_text(self.to_grid(), width), *below]) + "\n"

    def to_csv(self) -> str:
        """Return the numbers as CSV without rounding, and without caption and signature."""
        return format_csv(self.frame)

    def to_dict(self) -> dict[str, object]:
        """Return the table as plain data for JSON: caption, signature, rows."""
        return {
            "caption": self.whole_caption,
            "signature": str(self.signature),
            "rows": to_records(flatten(self.frame)),
        }

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown."""
        grid = self.to_grid(_escape_markdown)
        rows = [
            [f"**{text}**" if "bold" in css else text for text, css in zip(*both, strict=True)]
            for both in zip(grid.rows, grid.css, strict=True)
        ]
        rule = [":--" if left else "--:" for left in grid.left]
        lines = [f"| {' | '.join(texts)} |" for texts in (grid.flat_head, rule, *rows)]
        caption, signature = _escape_markdown(self.whole_caption), _escape_markdown(str(self.signature))
        return "\n".join([f"**{caption}**", "", *lines, "", f"<sub>{signature}</sub>"]) + "\n"

    def to_html(self, *, highlight: Sequence[str] = (), meanings: Mapping[str, str] | None = None) -> str:
        """Return the table as HTML in which names are text; columns say what they mean where they are pointed at.

        Each cell has in ``data-sort`` what a script may sort by; rows of measures to `highlight` have the class ``new``.
        """
        grid, told = self.to_grid(lambda text: to_html(one_line(text)), titles=True), meanings or {}
        kinds = ["short" if left else "number" for left in grid.left]
        keys = [flat_label(name or "") for name in (*self.frame.index.names, *self.frame.columns)]
        keys = keys if len(keys) == len(kinds) else [""] * len(kinds)
        top = [
            f'<th scope="col"{f" title={quote(told[key])}" if told.get(key) else ""}>{text or "row"}</th>'
            for key, text in zip(keys, grid.flat_head, strict=True)
        ]
        values = [
            [*_as_tuple(label), *row]
            for label, row in zip(self.frame.index, self.frame.to_numpy().tolist(), strict=True)
        ]
        body = []
        for row, css, raw in zip(grid.rows, grid.css, values, strict=True):
            sort = [quote("" if value is None or value != value else str(value)) for value in raw]
            sort = sort if len(sort) == len(row) else [quote("")] * len(row)
            cells = [
                f'<td class="{"long" if len(text) > LONG else kind}" data-sort={key}{f" style={quote(style)}" if style else ""}>{text}</td>'
                for kind, text, style, key in zip(kinds[1:], row[1:], css[1:], sort[1:], strict=True)
            ]
            new = ' class="new"' if raw[0] in highlight else ""
            body.append(f'<tr{new}><th scope="row" data-sort={sort[0]}>{row[0]}</th>{"".join(cells)}</tr>')
        rows = "\n".join(body)
        return (
            f'<table class="data"><caption>{to_html(self.whole_caption)}</caption>\n<thead><tr>{"".join(top)}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody></table>"
        )

    def to_latex(self, *, width: Width = "column", label: str = "") -> str:
        """Return the table as LaTeX with booktabs rules, below comments with the packages that it needs and the signature.

        Parameters
        ----------
        width : {"column", "page"}, optional
            A column or both columns of a two-column paper. LaTeX makes a table that is wider smaller, and breaks lines of
            texts. What could not be read in a column takes both (``table*``), and what is too large for a page comes in parts.
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
        text = write_table(self.to_grid(titles=True), self.caption, self.legend, label, width)
        return f"% {one_line(str(self.signature))}\n{text}"

    def _repr_html_(self) -> str:
        return write_fragment([self])

    def render(self, style: str) -> str:
        """Return the table in one of the styles text, csv, md, latex."""
        styles = {"text": self.to_text, "csv": self.to_csv, "md": self.to_markdown, "latex": self.to_latex}
        if style not in styles:
            raise MetaevalError(f"there is no format {style!r}: use {', '.join(STYLES)}")
        return styles[style]()  # type: ignore[operator]

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write the table as ``name.csv``, ``name.md`` and ``name.tex`` into a folder, which is created if necessary."""
        folder.mkdir(parents=True, exist_ok=True)
        texts = {".csv": self.to_csv(), ".md": self.to_markdown(), ".tex": self.to_latex()}
        for suffix, text in texts.items():
            write_atomically(folder / f"{name}{suffix}", text)
        return [folder / f"{name}{suffix}" for suffix in texts]


_LABEL = re.compile(r"[^A-Za-z0-9:.-]+")
_END = re.compile(r"(|.*[ _])(low|high|±)")
_JOIN: dict[str, Callable[[str, str], str]] = {
    "±": lambda number, error: number if error == NOTHING else f"{number} ± {error}",
    "low": lambda number, end: f"{number} [{end}",
    "high": lambda number, end: number.partition(" [")[0] if NOTHING in (end, number[-1]) else f"{number}, {end}]",
}


def _join_heading(heading: str, end: str) -> str:
    return f"{heading} ±" if end == "±" else f"{heading} [low, high]" if end == "low" else heading


def quote(text: str) -> str:
    """Return a text as the value of an attribute of HTML, between quotes."""
    return f'"{html.escape(one_line(text))}"'


def _as_tuple(label: object) -> tuple[str, ...]:
    return tuple(map(str, label)) if isinstance(label, tuple) else (str(label),)


def _title(text: str, asked: bool) -> str:
    return TITLES.get(text, text) if asked else text


def _write_column(column: pd.Series, digits: int | Mapping[object, int], name: object, *, titles: bool) -> list[str]:
    """Return the cells of a column as texts; a column of measures shows their titles if asked for."""
    n_digits = digits if isinstance(digits, int) else digits.get(name, 3)
    values = column.tolist()
    largest = max((abs(value) for value in values if isinstance(value, float) and math.isfinite(value)), default=0)
    # A column whose numbers would all read 0, or have more digits than can be read, has powers of ten.
    powers = 0 < largest < 0.5 * 10**-n_digits or largest >= _LARGE
    is_name = titles and str(name).startswith("measure")
    return [_title(format_cell(value, n_digits, powers=powers), is_name) for value in values]


def _to_css(words: str) -> str:
    """Return the words that mark a cell as CSS, which Styler turns into LaTeX.

    >>> _to_css("bold, band high"), _to_css("shade #08519C")
    ('font-weight: bold; background-color: #C6E5CF', 'background-color: #08519C; color: #FFFFFF')
    """
    styles = []
    for kind, _, value in (word.strip().partition(" ") for word in words.split(",") if word.strip()):
        if kind == "band":
            styles.append(f"background-color: #{BANDS[value]}")
        elif kind == "shade":
            ink = text_colour(value)
            styles += [f"background-color: {value}", *[f"color: {ink}"] * (ink != "#000000")]
        else:
            styles.append(_CSS[kind])
    return "; ".join(styles)


def join_latex(tables: Sequence[Table], width: Width = "column") -> str:
    """Return several tables as LaTeX, each with a label of its own."""
    labels = [table.label for table in tables]
    numbered = [
        label if label not in labels[:number] else f"{label}-{labels[: number + 1].count(label)}"
        for number, label in enumerate(labels)
    ]
    return "\n".join(table.to_latex(width=width, label=label) for table, label in zip(tables, numbered, strict=True))


# HTML

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; margin: .5rem 0 }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #8884; text-align: left }
.number { text-align: right; font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .6rem 0 }
small { opacity: .7; overflow-wrap: anywhere }
.wide { overflow-x: auto }
"""


def write_page(title: str, tables: Sequence[Table], *, answer: str = "", notes: Sequence[str] = ()) -> str:
    """Return a page with an answer, tables and notes; names from data are text in it.

    >>> table = Table(pd.DataFrame({"mean": [0.5]}, index=pd.Index(["<b>"], name="run")), "Runs.", "signature")
    >>> "<b>" in write_page("Runs", [table]), "&lt;b&gt;" in write_page("Runs", [table])
    (False, True)
    """
    told = f"<p><strong>{to_html(answer)}</strong></p>\n" * bool(answer)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{to_html(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{to_html(title)}</h1>\n{told}{write_fragment(tables, notes)}\n</body></html>\n"
    )


def write_fragment(tables: Sequence[Table], notes: Sequence[str] = ()) -> str:
    """Return tables and notes as a part of a page, as notebooks show it; names from data are text in it."""
    body = "\n".join(
        f'<div class="wide">{table.to_html()}</div>\n<p><small>{to_html(str(table.signature))}</small></p>'
        for table in tables
    )
    listed = "".join(f"<li>{to_html(note)}</li>" for note in notes)
    return f"<div>{body}{f'<ul>{listed}</ul>' if listed else ''}</div>"


def _escape_markdown(text: str) -> str:
    """Escape characters that would break the table or be read as HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|").replace("\n", " ")


def band_marks(high: float, middle: float) -> Mark:
    """Return marks that colour numbers by two thresholds, as the papers colour τ."""

    def band(value: object) -> str:
        if not isinstance(value, float) or math.isnan(value):
            return ""
        return "band high" if value >= high else "band middle" if value >= middle else "band low"

    return lambda frame: frame.map(band)
