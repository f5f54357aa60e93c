"""What a table shows, cell by cell, and how a terminal shows it; without pandas, so that the command line starts at once."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

NOTHING = "–"
"""Shown in a cell without a number."""


class Grid(NamedTuple):
    """What a table shows, cell by cell, which every format lays out; its first `labels` columns say what a row is.

    `head` has the labels of each column from the top, `left` says which columns are text, `css` how each cell is marked.
    """

    head: list[tuple[str, ...]]
    rows: list[list[str]]
    left: list[bool]
    css: list[list[str]]
    labels: int

    @property
    def flat_head(self) -> list[str]:
        """The label of each column as one text."""
        return [" ".join(filter(None, labels)) for labels in self.head]

    def select(self, rows: Sequence[int], columns: Sequence[int]) -> Grid:
        """Return some rows and columns."""
        head, left = [self.head[c] for c in columns], [self.left[c] for c in columns]
        texts, css = ([[table[r][c] for c in columns] for r in rows] for table in (self.rows, self.css))
        return Grid(head, texts, left, css, self.labels)


def format_cell(value: object, digits: int = 3, *, powers: bool = False) -> str:
    """Return the text of a cell: integers as they are, floats rounded (or in powers of ten), a missing value as a dash.

    >>> format_cell(0.12345), format_cell(7), format_cell(None), format_cell(-0.0001)
    ('0.123', '7', '–', '0.000')
    """
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, float):
        text = f"{value:.{digits}{'g' if powers else 'f'}}"
        return text[1:] if float(text) == 0 and text.startswith("-") else text
    return str(value)


def format_p(p: float, n_permutations: int = 0) -> str:
    """Return how a p-value is written, with its sign: below the smallest that so many trials can show, it is not 0.

    >>> format_p(0.0326), format_p(0, 5000), format_p(3e-7)
    ('= 0.0326', '< 0.0002', '< 0.0001')
    """
    least = 1 / n_permutations if p == 0 and n_permutations else 1e-4
    return f"< {least:.3g}" if p < least else f"= {p:.4f}"


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

    >>> grid = Grid([("measure",), ("τ",), ("what it answers",)], [["NMD", "0.9", "how far the mass moves"]],
    ...             [True, False, True], [[""] * 3], 1)
    >>> print(draw_text(grid, 30))
    measure    τ  what it answers
    ───────  ───  ────────────────
    NMD      0.9  how far the mass
                  moves
    """
    from rich.cells import cell_len

    columns = [[head, *(row[c] for row in grid.rows)] for c, head in enumerate(grid.flat_head)]
    natural = [max(map(cell_len, column)) for column in columns]
    words = [max(map(cell_len, column[0].split(" "))) for column in columns]
    least = [
        min(full, 24 if c < grid.labels else 16) if left else max([min(word, 12), *map(cell_len, column[1:])])
        for c, (column, left, full, word) in enumerate(zip(columns, grid.left, natural, words, strict=True))
    ]
    blocks: list[list[int]] = []
    for c in range(grid.labels, len(columns)):
        if not blocks or sum(least[b] + 2 for b in (*blocks[-1], c)) - 2 > width:
            blocks.append(list(range(grid.labels)))
        blocks[-1].append(c)
    return "\n\n".join(
        _draw_block(grid, block, least, natural, width) for block in blocks or [list(range(grid.labels))]
    )


def _draw_block(grid: Grid, block: list[int], least: list[int], natural: list[int], width: int) -> str:
    from rich.console import Console
    from rich.table import Table

    widths = [least[c] for c in block]
    for cap in range(min(widths), max(natural) + 1):  # the widest columns stay the ones that are wrapped
        wider = [max(least[c], min(natural[c], cap)) for c in block]
        if sum(wider) + 2 * len(block) - 2 > width:
            break
        widths = wider
    widths[0] = max(1, min(widths[0], width - sum(widths[1:]) - 2 * len(block) + 2))
    drawn = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for c, most in zip(block, widths, strict=True):
        drawn.add_column(width=most, justify="left" if grid.left[c] else "right", overflow="fold")
    for row in (grid.flat_head, None, *grid.rows):
        drawn.add_row(*("─" * most if row is None else row[c] for c, most in zip(block, widths, strict=True)))
    stream, room = io.StringIO(), sum(widths) + 2 * len(block)
    Console(file=stream, width=min(width, room), color_system=None, markup=False, highlight=False, emoji=False).print(
        drawn
    )
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())
