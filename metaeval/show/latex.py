r"""Tables as LaTeX: booktabs rules, a caption above, a legend below; LaTeX itself makes them as wide as a column or page."""

from __future__ import annotations

import math
import re
from typing import Literal

import pandas as pd

from metaeval.show.names import escape_latex
from metaeval.show.text import NOTHING, Grid

Width = Literal["column", "page"]
"""What a table or figure fits: a column or both columns of a paper (7.7 and 16 cm)."""

WIDTHS: dict[Width, int] = {"column": 62, "page": 135}
"""Letters of a line of a table, at the smallest size that can still be read."""

_LONG = 30  # letters of a text whose column breaks its lines
_TALL = 55  # rows of a table on one page
PACKAGES = " ".join(
    r"\usepackage%s" % name for name in ("{booktabs}", "{graphicx}", "{tabularx}", "[table]{xcolor}", "[T1]{fontenc}")
)


def write_table(grid: Grid, caption: str, legend: str, label: str, width: Width) -> str:
    """Return a grid as one float, or as several where a page is too small for it."""
    letters = sum(_measure(grid))
    place: Width = "page" if letters > WIDTHS[width] * (1 if any(grid.left[grid.labels :]) else 1.5) else width
    parts = _divide(grid, letters, WIDTHS[place])
    floats = []
    for number, part in enumerate(parts, start=1):
        some = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        own = label if number == 1 else f"{label}-part-{number}"
        floats.append(
            _write_float(part, f"{caption.rstrip('.')}{some}.", own, place, legend if number == len(parts) else "")
        )
    return "\n".join([f"% Preamble: {PACKAGES}", *floats]) + "\n"


def _measure(grid: Grid) -> list[int]:
    """Return about how many letters each column takes: headings break between words, long texts anywhere."""
    columns = [[row[c] for row in grid.rows] for c in range(len(grid.head))]
    words = [labels[-1].split() for labels in grid.head]
    return [
        2 + min(_LONG, max(map(len, [*texts, *heading]), default=1))
        for texts, heading in zip(columns, words, strict=True)
    ]


def _divide(grid: Grid, letters: int, room: int) -> list[Grid]:
    """Divide a grid into parts that a page has room for: of some columns each, and of some rows each."""
    values, count = range(grid.labels, len(grid.head)), max(1, math.ceil(letters / (1.6 * room)))
    step = max(1, math.ceil(len(values) / count))
    parts = []
    for start in range(0, max(1, len(values)), step):
        columns = [*range(grid.labels), *values[start : start + step]]
        rows = [
            r for r, row in enumerate(grid.rows) if any(row[c] not in ("", NOTHING) for c in columns[grid.labels :])
        ]
        rows = rows or list(range(len(grid.rows)))
        parts += [grid.select(rows[first : first + _TALL], columns) for first in range(0, max(1, len(rows)), _TALL)]
    return parts


def _write_float(grid: Grid, caption: str, label: str, place: Width, legend: str) -> str:
    """Return one float, whose table LaTeX makes as wide as the line: long texts break, and numbers become smaller."""
    long = [left and any(len(row[c]) > _LONG for row in grid.rows) for c, left in enumerate(grid.left)]
    heads = [
        r"\shortstack{" + r"\\{}".join(map(_write_latex, head[-1].split())) + "}"
        if " " in head[-1]
        else _write_latex(head[-1])
        for head in grid.head
    ]
    depth = len(grid.head[0])
    # A line that begins with a bracket or a star would be read as an option of the one before.
    rows = [[_write_latex(text, breaks=w) for text, w in zip(row, long, strict=True)] for row in grid.rows]
    texts = pd.DataFrame(
        [[f"{{}}{row[0]}" if row[0][:1] in ("[", "*") else row[0], *row[1:]] for row in rows], columns=range(len(heads))
    )
    texts.columns = pd.Index(heads) if depth == 1 else pd.MultiIndex.from_tuples(
        [(*map(_write_latex, head[:-1]), last) for head, last in zip(grid.head, heads, strict=True)]
    )  # fmt: skip
    css = pd.DataFrame(grid.css, columns=texts.columns)
    kinds = "".join("X" if wide else "l" if left else "r" for wide, left in zip(long, grid.left, strict=True))
    body = texts.style.hide(axis="index").apply(lambda _: css, axis=None).to_latex(
        hrules=True, convert_css=True, column_format=f"@{{}}{kinds}@{{}}", multicol_align="c"
    ).rstrip()  # fmt: skip
    if any(long):
        body = body.replace(r"\begin{tabular}", r"\begin{tabularx}{\linewidth}").replace(
            r"\end{tabular}", r"\end{tabularx}"
        )
    else:
        body = f"\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n{body}}}"
    star = "*" * (place == "page")
    below = f"\\par\\smallskip{{\\raggedright\\scriptsize {_write_latex(legend)}\\par}}\n" * bool(legend)
    return (
        f"\\begin{{table{star}}}\n\\centering\\small\\setlength{{\\tabcolsep}}{{4pt}}\n\\caption{{{_write_latex(caption)}}}"
        f"\\label{{{label}}}\n{body}\n{below}\\end{{table{star}}}"
    )


def _write_latex(text: str, *, breaks: bool = False) -> str:
    """Return a text as LaTeX; what stands before a number is a minus, and a long word may break where it has room."""
    text = re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)
    shown = escape_latex(text)
    return re.sub(r"(?<=[-_/.])(?=\w)", r"\\allowbreak{}", shown) if breaks else shown
