r"""Tables as LaTeX that one edits: booktabs rules, a caption above, a legend below, columns aligned in the source too.

LaTeX itself makes a table smaller that is wider than its column or page; long texts break between words.
"""

from __future__ import annotations

import math
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

_LONG = 30  # letters from which on a text of several words breaks
_TALL = 55  # lines of a table on one page

_SHRINK = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
_PACKAGES = {
    r"\toprule": r"\usepackage{booktabs}", r"\arraybackslash": r"\usepackage{array}", r"\resizebox": r"\usepackage{graphicx}",
    r"\cellcolor": r"\usepackage[table]{xcolor}",
}  # fmt: skip


def write_table(grid: Grid, caption: str, legend: str, label: str, width: Width) -> str:
    """Return a grid as one float, or of more lines than a page has as several, below a comment with its packages."""
    longest = [max((_measure(row[c]) for row in grid.rows), default=0) for c in range(len(grid.head))]
    if sum(min(_LONG, letters) + 2 for letters in longest) > 2 * WIDTHS["column"]:
        width = "page"  # what could not be read in a column takes both
    kinds, heads, fits, lines = _lay_out(grid, WIDTHS[width])
    tall = max(1, _TALL * len(grid.rows) // max(1, lines))
    name, floats = "table*" if width == "page" else "table", []
    starts = range(0, max(1, len(grid.rows)), tall)
    for number, start in enumerate(starts, start=1):
        part = grid._replace(rows=grid.rows[start : start + tall], marks=grid.marks[start : start + tall])
        title = caption if len(starts) == 1 else f"{caption.rstrip('.')} ({number} of {len(starts)})."
        own = label if number == 1 else f"{label}-part-{number}"
        below = f"\\par\\smallskip{{\\raggedright\\scriptsize {_write_sentence(legend)}\\par}}\n"
        body = "\n".join([f"\\begin{{tabular}}{{@{{}}{kinds}@{{}}}}", *_write_rows(part, heads), r"\end{tabular}"])
        floats.append(
            f"\\begin{{{name}}}\n\\centering\\small\\setlength{{\\tabcolsep}}{{4pt}}\n"
            f"\\caption{{{_write_sentence(title)}}}\\label{{{own}}}\n"
            f"{body if fits else f'{_SHRINK}{body}}}'}\n{below if legend and start == starts[-1] else ''}\\end{{{name}}}\n"
        )
    text = "\n".join(floats)
    packages = [package for command, package in _PACKAGES.items() if command in text]
    packages += [r"\usepackage[T1]{fontenc}"] * (not text.isascii())
    return f"% Preamble: {' '.join(packages)}\n{text}"


def _measure(text: str) -> float:
    """Return how wide a text is, in small letters: capitals take up to twice as much."""
    return len(text) + 0.9 * sum(map(str.isupper, text))


def _lay_out(grid: Grid, room: int) -> tuple[str, list[str], bool, int]:
    """Return the kinds of the columns, their headings, whether they fit, and how many lines all rows take.

    Columns of long texts share what the others leave of a line.
    """
    texts = [[row[c] for row in grid.rows] for c in range(len(grid.head))]
    longest = [max(map(_measure, column), default=0) for column in texts]
    words = [max((_measure(word) for text in column for word in text.split()), default=0) for column in texts]
    broken = [left and words[c] < longest[c] > _LONG for c, left in enumerate(grid.left)]
    heads = [
        head if breaks or not head else textwrap.fill(head, max(int(letters), 4), break_long_words=False)
        for head, breaks, letters in zip(grid.head, broken, longest, strict=True)
    ]
    wide = [max([letters, *map(_measure, head.split("\n"))]) + 2 for letters, head in zip(longest, heads, strict=True)]
    taken = sum(letters for letters, breaks in zip(wide, broken, strict=True) if not breaks)
    rest = max(0.3, 1 - taken / room) / max(1, sum(broken))
    kinds, lines = "", [1] * len(grid.rows)
    for c, breaks in enumerate(broken):
        share = max(rest, 1.3 * words[c] / room)
        kinds += f">{{\\raggedright\\arraybackslash}}p{{{share:.2f}\\linewidth}}" if breaks else "rl"[grid.left[c]]
        if breaks:
            lines = [
                max(most, math.ceil(_measure(text) / (share * room)))
                for most, text in zip(lines, texts[c], strict=True)
            ]
    return kinds, heads, not any(broken) and sum(wide) <= room, sum(lines)


def _write_rows(grid: Grid, heads: Sequence[str]) -> list[str]:
    """Return the lines of a tabular, whose columns stand below each other in the source too."""
    rows = [[_stack(head, left) for head, left in zip(heads, grid.left, strict=True)]]
    rows += [
        [_mark(_write(text), grid.marks[r][c] if grid.marks else "") for c, text in enumerate(row)]
        for r, row in enumerate(grid.rows)
    ]
    across = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, grid.left, across, strict=True)
        line = " & ".join(f"{text:{'<' if left else '>'}{n}}" for text, left, n in cells)
        lines.append(f"{_protect(line)} \\\\")
    return [r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]


def _protect(line: str) -> str:
    """Return a line that is not read as an option of the one before, as a bracket or a star at its beginning would be."""
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _stack(heading: str, left: bool) -> str:
    """Return a heading, whose lines stand below each other."""
    stacked = r"\\".join(_protect(_write(line)) for line in heading.split("\n"))
    return f"\\shortstack[{'l' if left else 'r'}]{{{stacked}}}" if "\n" in heading else stacked


def _write_sentence(text: str) -> str:
    """Return a caption or legend, in which a word that no line holds may break after every few letters."""
    parts = re.split(rf"(\S{{{_LONG + 10},}})", text)
    pieces = [textwrap.wrap(part, 8, break_on_hyphens=False) if n % 2 else [part] for n, part in enumerate(parts)]
    return "".join(r"\hspace{0pt}".join(map(_write, piece)) for piece in pieces)


def _write(text: str) -> str:
    """Return a text as LaTeX; what stands before a number is a minus."""
    return to_latex(re.sub(r"(?<![\w.])-(?=[\d.])", "−", text))


def _mark(text: str, words: str) -> str:
    r"""Return the LaTeX of a cell that these words mark.

    >>> print(_mark("0.9", "bold"), _mark("0.9", "shade #08519C"))
    \textbf{0.9} \cellcolor[HTML]{08519C}\textcolor[HTML]{FFFFFF}{0.9}
    """
    for kind, colour in split_marks(words):
        if colour:
            ink = text_colour(colour)
            text = f"\\textcolor[HTML]{{{ink[1:]}}}{{{text}}}" if ink != "#000000" else text
            text = f"\\cellcolor[HTML]{{{colour[1:]}}}{text}"
        else:
            text = f"\\{'textbf' if kind == 'bold' else kind}{{{text}}}"
    return text


def split_marks(words: str) -> list[tuple[str, str]]:
    """Return the words that mark a cell, with their colours, which come last."""
    return sorted(
        (kind, colour) for kind, _, colour in (word.strip().partition(" ") for word in words.split(",")) if kind
    )
