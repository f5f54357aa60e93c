"""Tables that fit a terminal: texts and headings are wrapped, and columns that do not fit go below in a further block."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from metaeval.errors import one_line
from metaeval.show.cells import Cells
from metaeval.show.names import count_columns, shorten_names

_GAP = 2
_LEAST = 20  # columns of the narrowest terminal that is taken as it is
_COMFORT = (24, 16)  # widths that a column of texts keeps if the table then fits in one block, tried in this order
_JOINTS = "-_/.,|"  # after which a long word is broken rather than elsewhere
_HEADING = 12  # width to which a heading is wrapped where the numbers below it are narrower


def fit_cells(cells: Cells, width: int, *, cut: bool = False) -> str:
    """Return a table as lines that are at most as long as a terminal is wide.

    Texts that are too long take several lines or, to `cut` them, lose their middle.

    >>> head = [("measure",), ("τ",), ("what it answers",)]
    >>> cells = Cells(head, [True, False, True], [["NMD", "0.9", "how far the mass moves"]])
    >>> print(fit_cells(cells, 30))
    measure    τ  what it answers
    ───────  ───  ────────────────
    NMD      0.9  how far the mass
                  moves
    """
    width = max(width, _LEAST)
    columns = [[head, *(row[c] for row in cells.rows)] for c, head in enumerate(cells.flat_head)]
    natural = [max(map(count_columns, column)) for column in columns]
    if _total(natural) <= width:
        return _draw(cells, range(len(natural)), natural, cut)
    for comfort in _COMFORT:
        least = [_find_least(column, text, comfort) for column, text in zip(columns, cells.left, strict=True)]
        if _total(least) <= width:
            return _draw(cells, range(len(natural)), _widen(least, natural, width), cut)
    least = [_find_least(column, text, _COMFORT[0]) for column, text in zip(columns, cells.left, strict=True)]
    drawn = []
    for block in _divide(least, cells.labels, width):
        shrunk = [least[c] for c in block]
        for column in sorted(
            range(len(block)), key=lambda column: -shrunk[column]
        ):  # a terminal narrower than two columns
            shrunk[column] = max(1, min(shrunk[column], width - _total(shrunk) + shrunk[column]))
        drawn.append(_draw(cells, block, _widen(shrunk, [natural[c] for c in block], width), cut))
    return "\n\n".join(drawn)


def fit_table(cells: Cells, caption: str, signature: str, width: int | None = None, *, cut: bool = False) -> str:
    """Return a table with caption and signature, if any, no line longer than a terminal is wide; a file has no width."""
    width = width or sys.maxsize
    above, below = (wrap_text(one_line(text), width) for text in (caption, signature))
    return "\n".join([*above, "", fit_cells(cells, width, cut=cut), *(["", *below] if signature else [])]) + "\n"


def wrap_text(text: str, width: int) -> list[str]:
    """Return text as lines of at most so many columns, broken between words, and inside a word only if it is longer.

    >>> wrap_text("pairwise accuracy", 9)
    ['pairwise', 'accuracy']
    >>> wrap_text("XCOMET-QE-Ensemble", 12)
    ['XCOMET-QE-', 'Ensemble']
    """
    if count_columns(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if count_columns(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            while lines[-1] and count_columns(lines[-1] + letter) > width:
                keep = max(lines[-1].rfind(mark) for mark in _JOINTS) + 1 or len(lines[-1])
                lines[-1:] = [lines[-1][:keep], lines[-1][keep:]]
            lines[-1] += letter
    return lines


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _find_least(column: Sequence[str], text: bool, comfort: int) -> int:
    """Return the width below which a column should not go: that of its numbers, or of text that can still be read."""
    if text:
        return min(max(map(count_columns, column)), comfort)
    words = max(count_columns(word) for word in column[0].split(" "))
    return max([min(words, _HEADING), *map(count_columns, column[1:])])


def _widen(least: Sequence[int], natural: Sequence[int], width: int) -> list[int]:
    """Share the room that is left so that the widest columns stay the ones that are wrapped."""
    widths = list(least)
    for cap in range(min(least), max(natural) + 1):
        wider = [max(low, min(full, cap)) for low, full in zip(least, natural, strict=True)]
        if _total(wider) > width:
            break
        widths = wider
    return widths


def _divide(widths: Sequence[int], labels: int, width: int) -> list[list[int]]:
    """Divide columns into blocks that fit, each after the columns of labels."""
    blocks: list[list[int]] = []
    for column in range(labels, len(widths)):
        if not blocks or _total([widths[c] for c in (*blocks[-1], column)]) > width:
            blocks.append(list(range(labels)))
        blocks[-1].append(column)
    return blocks or [list(range(labels))]


def _draw(cells: Cells, shown: Sequence[int], widths: Sequence[int], cut: bool) -> str:
    left = [cells.left[c] for c in shown]
    columns = [[row[c] for row in cells.rows] for c in shown]
    if cut:
        columns = [_cut(column, width) for column, width in zip(columns, widths, strict=True)]
    lines = _draw_row([cells.flat_head[c] for c in shown], left, widths)
    lines.append((" " * _GAP).join("─" * width for width in widths))
    for row in zip(*columns, strict=True):
        lines += _draw_row(row, left, widths)
    return "\n".join(lines)


def _cut(column: Sequence[str], width: int) -> list[str]:
    """Return texts that fit in so many columns, and differ wherever they did."""
    different = list(dict.fromkeys(column))
    if all(count_columns(text) <= width for text in different):
        return list(column)
    shortened = dict(zip(different, shorten_names(different, width), strict=True))
    return [shortened[text] for text in column]


def _draw_row(row: Sequence[str], left: Sequence[bool], widths: Sequence[int]) -> list[str]:
    wrapped = [wrap_text(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for number in range(max(map(len, wrapped))):
        parts = []
        for cell, text, width in zip(wrapped, left, widths, strict=True):
            part = cell[number] if number < len(cell) else ""
            blank = " " * (width - count_columns(part))
            parts.append(part + blank if text else blank + part)
        lines.append((" " * _GAP).join(parts).rstrip())
    return lines
