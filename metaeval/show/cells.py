"""What a table shows, cell by cell, and how a terminal shows it; without pandas, so that the command line starts at once."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

NOTHING = "–"
"""Shown in a cell without a number."""

_TEXT, _LABEL, _HEADING = 16, 24, 12  # columns of a terminal below which texts, labels and headings do not go


class Grid(NamedTuple):
    """What a table shows, cell by cell, which every format lays out; its first `labels` columns say what a row is.

    `left` says which columns are text, and `marks` has the words of every cell, such as "bold"; none where it is empty.
    """

    head: list[str]
    rows: list[list[str]]
    left: list[bool]
    labels: int = 1
    marks: Sequence[Sequence[str]] = ()


def format_cell(value: object, digits: int = 3, *, powers: bool = False) -> str:
    """Return the text of a cell: integers as they are, floats rounded (or in powers of ten), a missing value as a dash.

    >>> format_cell(0.12345), format_cell(7), format_cell(None), format_cell(-0.0001)
    ('0.123', '7', '–', '0.000')
    """
    # The missing value of pandas is told by the name of its type, so that pandas need not be there.
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, float):
        text = f"{value:.{digits}{'g' if powers else 'f'}}"
        return text[1:] if float(text) == 0 and text.startswith("-") else text
    return str(value)


def bracket_ends(low: float, high: float) -> str:
    """Return an interval as it stands behind a number in a sentence; nothing where there is none."""
    return f" [{low:.2f}, {high:.2f}]" if low <= high else ""


def wrap_text(text: str, width: int) -> list[str]:
    """Return text as lines of at most so many columns of a terminal, broken between words.

    >>> wrap_text("pairwise accuracy", 9)
    ['pairwise', 'accuracy']
    """
    from rich.console import Console
    from rich.text import Text

    if width == sys.maxsize:
        return [text]
    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=width), width)]


def draw_text(grid: Grid, width: int = sys.maxsize) -> str:
    """Draw a grid in lines of at most so many columns: texts wrap, and numbers that have no room go below, in blocks.

    >>> grid = Grid(["measure", "τ", "what it answers"], [["NMD", "0.9", "how far the mass moves"]],
    ...             [True, False, True])
    >>> print(draw_text(grid, 30))
    measure    τ  what it answers
    ───────  ───  ────────────────
    NMD      0.9  how far the mass
                  moves
    """
    from rich.cells import cell_len

    columns = [[head, *(row[c] for row in grid.rows)] for c, head in enumerate(grid.head)]
    natural = [max(map(cell_len, column)) for column in columns]
    words = [max(map(cell_len, column[0].split(" "))) for column in columns]
    least = [
        min(full, _LABEL if c < grid.labels else _TEXT)
        if grid.left[c]
        else max([min(words[c], _HEADING), *map(cell_len, columns[c][1:])])
        for c, full in enumerate(natural)
    ]
    labels = list(range(grid.labels))
    blocks = [list(labels)]
    for c in range(grid.labels, len(columns)):
        if len(blocks[-1]) > grid.labels and sum(least[b] + 2 for b in (*blocks[-1], c)) - 2 > width:
            blocks.append(list(labels))
        blocks[-1].append(c)
    return "\n\n".join(_draw_block(grid, block, least, natural, width) for block in blocks)


def _draw_block(grid: Grid, block: list[int], least: list[int], natural: list[int], width: int) -> str:
    """Draw some columns beside each other; the widest ones are those that are wrapped."""
    from rich.console import Console
    from rich.table import Table

    widths, gaps = [least[c] for c in block], 2 * len(block) - 2
    for cap in range(min(widths), max(natural) + 1):
        wider = [max(least[c], min(natural[c], cap)) for c in block]
        if sum(wider) + gaps > width:
            break
        widths = wider
    widths[0] = max(1, min(widths[0], width - sum(widths[1:]) - gaps))  # where a terminal is narrower than two columns
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for c, most in zip(block, widths, strict=True):
        table.add_column(width=most, justify="left" if grid.left[c] else "right", overflow="fold")
    table.add_row(*(grid.head[c] for c in block))
    table.add_row(*("─" * most for most in widths))
    for row in grid.rows:
        table.add_row(*(row[c] for c in block))
    stream, across = io.StringIO(), min(width, sum(widths) + gaps + 2)
    Console(file=stream, width=across, color_system=None, markup=False, highlight=False, emoji=False).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
