r"""Tables as LaTeX that one edits: booktabs rules, a caption above, a legend below, columns aligned in the source too.

LaTeX itself makes a table smaller that is wider than its column or page; long texts break between words.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import Literal

from metaeval.show.cells import Grid
from metaeval.show.colours import text_colour
from metaeval.show.names import to_latex

Width = Literal["column", "page"]
"""What a table or figure fits: a column or both columns of a paper (7.7 and 16 cm)."""

WIDTHS: dict[Width, int] = {"column": 40, "page": 85}
"""Letters that a line of a table holds in any case."""

BANDS = {"high": "C6E5CF", "middle": "FFF2B3", "low": "F7C9C4"}
"""Background colours of the papers' three bands; they differ in lightness, for colour-blind readers and for print."""

_LONG = 30  # letters from which on a text of several words breaks
_TALL = 55  # rows of a table on one page

_SHRINK = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
_PACKAGES = {
    r"\toprule": r"\usepackage{booktabs}", r"\arraybackslash": r"\usepackage{array}", r"\resizebox": r"\usepackage{graphicx}",
    r"\cellcolor": r"\usepackage[table]{xcolor}",
}  # fmt: skip


def write_table(grid: Grid, caption: str, legend: str, label: str, width: Width) -> str:
    """Return a grid as one float, or of more rows than a page has as several, below a comment with its packages."""
    starts, floats = range(0, max(1, len(grid.rows)), _TALL), []
    widest = [max((len(row[c]) for row in grid.rows), default=0) for c in range(len(grid.head))]
    if sum(min(_LONG, letters) + 2 for letters in widest) > 2 * WIDTHS["column"]:
        width = "page"  # what could not be read in a column takes both
    for number, start in enumerate(starts, start=1):
        part = grid._replace(rows=grid.rows[start : start + _TALL], marks=grid.marks[start : start + _TALL])
        title = caption if len(starts) == 1 else f"{caption.rstrip('.')} ({number} of {len(starts)})."
        own = label if number == 1 else f"{label}-part-{number}"
        below = f"\\par\\smallskip{{\\raggedright\\scriptsize {_write(legend)}\\par}}\n" * bool(
            legend and start == starts[-1]
        )
        float_name = "table*" if width == "page" else "table"
        floats.append(
            f"\\begin{{{float_name}}}\n\\centering\\small\\setlength{{\\tabcolsep}}{{4pt}}\n"
            f"\\caption{{{_write(title)}}}\\label{{{own}}}\n"
            f"{_write_body(part, WIDTHS[width])}\n{below}\\end{{{float_name}}}\n"
        )
    text = "\n".join(floats)
    packages = [package for command, package in _PACKAGES.items() if command in text]
    packages += [r"\usepackage[T1]{fontenc}"] * (not text.isascii())
    return f"% Preamble: {' '.join(packages)}\n{text}"


def _write_body(grid: Grid, room: int) -> str:
    """Return the tabular, in which the columns of long texts share what the others leave of a line."""
    texts = [[row[c] for row in grid.rows] for c in range(len(grid.head))]
    longest = [max(map(len, column), default=0) for column in texts]
    words = [max((len(word) for text in column for word in text.split()), default=0) for column in texts]
    broken = [left and words[c] < longest[c] > _LONG for c, left in enumerate(grid.left)]
    heads = [
        head[-1] if broken[c] or not head[-1] else textwrap.fill(head[-1], max(longest[c], 4), break_long_words=False)
        for c, head in enumerate(grid.head)
    ]
    wide = [max(longest[c], *map(len, head.split("\n"))) + 2 for c, head in enumerate(heads)]
    rest = max(0.3, 1 - sum(n for n, breaks in zip(wide, broken, strict=True) if not breaks) / room) / max(
        1, sum(broken)
    )
    kinds = [
        f">{{\\raggedright\\arraybackslash}}p{{{max(rest, 1.3 * words[c] / room):.2f}\\linewidth}}" if breaks
        else "l" if grid.left[c] else "r"
        for c, breaks in enumerate(broken)
    ]  # fmt: skip
    rows = [[_stack(head, left) for head, left in zip(heads, grid.left, strict=True)]]
    rows += [
        [_mark(_write(text), grid.marks[r][c] if grid.marks else "") for c, text in enumerate(row)]
        for r, row in enumerate(grid.rows)
    ]
    across = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " & ".join(f"{text:{'<' if left else '>'}{n}}" for text, left, n in zip(row, grid.left, across, strict=True))
        + r" \\"
        for row in rows
    ]
    # A line that begins with a bracket or a star would be read as an option of the one before.
    lines = [f"{{}}{line}" if line.startswith(("[", "*")) else line for line in lines]
    lines = [r"\toprule", *_write_groups(grid), lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    body = "\n".join([f"\\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}", *lines, r"\end{tabular}"])
    return body if not any(broken) and sum(wide) <= room else f"{_SHRINK}{body}}}"


def _write_groups(grid: Grid) -> list[str]:
    """Return the upper labels of columns that have several, each above all columns that share it."""
    lines = []
    for level in range(len(grid.head[0]) - 1):
        cells, rules, start = [], [], 1
        for label, columns in itertools.groupby(head[: level + 1] for head in grid.head):
            n = len(list(columns))
            cells.append(f"\\multicolumn{{{n}}}{{c}}{{{_write(label[-1])}}}" if label[-1] else " &" * (n - 1))
            rules += [f"\\cmidrule(lr){{{start}-{start + n - 1}}}"] * (label[-1] != "" and n > 1)
            start += n
        lines.append(f"{' & '.join(cells)} \\\\ {' '.join(rules)}".rstrip())
    return lines


def _stack(heading: str, left: bool) -> str:
    """Return a heading, whose lines stand below each other."""
    lines = [f"{{}}{line}" if line.startswith(("[", "*")) else line for line in map(_write, heading.split("\n"))]
    stacked = r"\\".join(lines)
    return stacked if len(lines) == 1 else f"\\shortstack[{'l' if left else 'r'}]{{{stacked}}}"


def _write(text: str) -> str:
    """Return a text as LaTeX; what stands before a number is a minus."""
    return to_latex(re.sub(r"(?<![\w.])-(?=[\d.])", "−", text))


def _mark(text: str, words: str) -> str:
    r"""Return the LaTeX of a cell that these words mark.

    >>> print(_mark("0.9", "bold, band high"), _mark("0.9", "shade #08519C"))
    \cellcolor[HTML]{C6E5CF}\textbf{0.9} \cellcolor[HTML]{08519C}\textcolor[HTML]{FFFFFF}{0.9}
    """
    for kind, value in split_marks(words):
        if kind == "bold":
            text = f"\\textbf{{{text}}}"
        elif kind == "underline":
            text = f"\\underline{{{text}}}"
        else:
            colour = BANDS[value] if kind == "band" else value[1:]
            ink = text_colour(f"#{colour}")[1:]
            text = f"\\cellcolor[HTML]{{{colour}}}" + (
                text if ink == "000000" else f"\\textcolor[HTML]{{{ink}}}{{{text}}}"
            )
    return text


def split_marks(words: str) -> Sequence[tuple[str, str]]:
    """Return the words that mark a cell, colours last: ("band", "high"), ("bold", "")."""
    pairs = [(kind, value) for kind, _, value in (word.strip().partition(" ") for word in words.split(",")) if kind]
    return sorted(pairs, key=lambda pair: pair[0] in ("band", "shade"))
