"""How a table is made to fit a column or a page of a paper: smaller letters, broken lines, both columns, or parts."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from metaeval.errors import visible
from metaeval.show.cells import NOTHING, Cells, has_words
from metaeval.show.names import spell_parameters

Width = Literal["column", "page"]
"""What a table or figure fits: a column or both columns of a paper (7.7 and 16 cm)."""

WIDTHS: dict[Width, float] = {"column": 219.0, "page": 455.0}
"""In points."""

HEIGHT = 600.0
"""Points of a page that a table may take, with its caption and notes: an A4 page of LaTeX's article has 598, of ACL 700."""

LONGEST = 14
"""Characters of a word after which a line may break anywhere."""

_MARGIN = 0.97  # of a width: widths of letters are those of one font
_MOST_LINES = 2.5  # of a row, on average, in a table of one column; if they are more, both columns are better
_INTERVAL = 26  # characters of a number with its interval, which stays in one line
_SHORT = 2.0  # sizes of its letters: a heading of this width never stands upright
_LABEL = 100.0  # points that a label of a row keeps in one line

_UPPER = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
    750, 708, 722, 764, 681, 653, 785, 750, 361, 514, 778, 625, 917, 750, 778, 681, 778, 736, 556, 722, 750, 750, 1028,
    750, 750, 611), strict=True))  # fmt: skip
_LOWER = dict(zip("abcdefghijklmnopqrstuvwxyz", (
    500, 556, 444, 556, 444, 306, 500, 556, 278, 306, 528, 278, 833, 556, 500, 556, 528, 392, 394, 389, 556, 528, 722,
    528, 528, 444), strict=True))  # fmt: skip
_OTHER = (
    dict.fromkeys("0123456789–*/$", 500) | dict.fromkeys(".,:;|!'[]", 278) | {"-": 333, " ": 333, "(": 389, ")": 389}
)
_LETTERS = {**_UPPER, **_LOWER, **_OTHER}
"""Widths of the letters of Computer Modern, in thousandths of its size."""

# Small sizes of Computer Modern are wider than large ones that are made smaller.
SIZES = {"small": 9 * 1.03, "footnotesize": 8 * 1.07, "scriptsize": 7 * 1.15}
_LEADING = {"small": 11.0, "footnotesize": 9.5, "scriptsize": 8.0}


@dataclass(frozen=True)
class Fit:
    """How a table is made to fit: size of the letters, space between columns, and what is done to its cells."""

    size: str
    space: float
    short: bool = False  # one decimal less, and no 0 before the point
    wrapped: bool = False  # words in columns of text break
    upright: bool = False  # headings that are wider than their columns stand upright


_FITS = (
    Fit("small", 4),
    Fit("footnotesize", 3),
    Fit("footnotesize", 3, short=True),
    Fit("footnotesize", 3, short=True, wrapped=True),
    Fit("footnotesize", 2.5, short=True, wrapped=True, upright=True),
    Fit("scriptsize", 2, short=True, wrapped=True, upright=True),
)
_IN_PARTS = _FITS[-2]


@dataclass(frozen=True)
class Part:
    """Rows and columns that stand together: `widths` of the columns in points, `wrapped` of those whose lines break."""

    cells: Cells
    widths: Sequence[float]
    wrapped: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The width that a table takes, how it is made to fit, and its parts, which are one unless it is too large."""

    width: Width
    fit: Fit
    parts: Sequence[Part]


def lay_out(cells: Cells, fewer: Cells, width: Width, caption: str, notes: Sequence[str]) -> Layout:
    """Fit a table, or the one with fewer decimals: to both columns if one is too narrow, in parts if a page is too small."""
    found = []
    for place in ("column", "page") if width == "column" else ("page",):
        height = HEIGHT - _measure_texts(caption, notes, WIDTHS[place])
        for fit in _FITS:
            part = _place(fewer if fit.short else cells, fit, WIDTHS[place])
            if part is None or (place == "column" and sum(_count_lines(part, fit)) > _MOST_LINES * len(cells.rows)):
                continue
            found.append(Layout(place, fit, _divide_rows(part, fit, height)))
            if len(found[-1].parts) == 1:
                return found[-1]
    if not found:
        groups = _divide_columns(fewer, WIDTHS["page"])
        found.append(
            Layout("page", _IN_PARTS, [part for group in groups for part in _divide_rows(group, _IN_PARTS, height)])
        )
    return min(found, key=lambda layout: len(layout.parts))


def _measure_texts(caption: str, notes: Sequence[str], width: float) -> float:
    """Return the height of a caption and of the notes below a table."""

    def count(text: str, size: float) -> int:
        return math.ceil(1.1 * size * find_width(text) / width)

    return 12 * count(caption, 10) + 8 * sum(count(note, SIZES["scriptsize"]) for note in notes) + 24


def find_width(text: str) -> float:
    """Return about how wide a text is, in sizes of its letters."""
    wide = 445 * len(re.findall(r"(?<![\w.])-(?=[\d.])", text))  # a minus, not a hyphen
    return (wide + sum(_LETTERS.get(letter, 780) for letter in spell_parameters(visible(text)))) / 1000


def _place(cells: Cells, fit: Fit, room: float) -> Part | None:
    """Return how a table stands in a width, and None if it is too wide for that."""
    widths = _measure(cells, fit)
    rest = _MARGIN * room - 2 * fit.space * (len(widths) - 1)
    if sum(widths) <= rest:
        return Part(cells, widths)
    least = [_find_least(cells, column, fit, width) for column, width in enumerate(widths)]
    if not fit.wrapped or sum(least) > rest:
        return None
    wrapped = {column: limit for column, limit in enumerate(least) if limit < widths[column]}
    rest -= sum(width for column, width in enumerate(widths) if column not in wrapped)
    return Part(cells, widths, _share(wrapped, [widths[column] for column in wrapped], rest))


def _share(least: Mapping[int, float], wanted: Sequence[float], room: float) -> dict[int, float]:
    """Share a width among columns: the widest ones break their lines, none gets less than it needs."""
    low, high = 0.0, max(wanted)
    for _ in range(30):
        most = (low + high) / 2
        given = {column: max(need, min(want, most)) for (column, need), want in zip(least.items(), wanted, strict=True)}
        low, high = (most, high) if sum(given.values()) <= room else (low, most)
    return {column: max(need, min(want, low)) for (column, need), want in zip(least.items(), wanted, strict=True)}


def _find_least(cells: Cells, column: int, fit: Fit, width: float) -> float:
    """Return the least width of a column: of text that of its longest word, as far as no line may break in it."""
    if not fit.wrapped or not cells.left[column]:
        return width
    texts = [cells.head[column][-1], *(row[column] for row in cells.rows)]
    words = [
        word[:LONGEST] if has_words(text) or len(text) > _INTERVAL else text for text in texts for word in text.split()
    ]
    least = 1.04 * SIZES[fit.size] * max(map(find_width, words), default=1)
    return min(width, max(least, _LABEL) if column < cells.labels else least)


def _measure(cells: Cells, fit: Fit) -> list[float]:
    """Return the width of every column in points, with headings broken at their spaces."""
    size = SIZES[fit.size]
    widths = []
    for column, labels in enumerate(cells.head):
        inside = max((find_width(row[column]) for row in cells.rows), default=0)
        bold = any("bold" in row[column] for row in cells.marks)
        heading = max(find_width(word) for word in (labels[-1].split() or [""]))
        widths.append(
            size * max(inside * (1.15 if bold else 1), 1.0 if fit.upright and column and heading > _SHORT else heading)
        )
    for level, start, end in list_groups(cells):
        lacking = (
            size * find_width(cells.head[start][level]) - sum(widths[start : end + 1]) - 2 * fit.space * (end - start)
        )
        widths[end] += max(0.0, lacking)
    return widths


def list_groups(cells: Cells) -> list[tuple[int, int, int]]:
    """Return the upper labels of columns: their level, and the first and last of the columns that share one."""
    groups = []
    for level in range(len(cells.head[0]) - 1):
        labels, start = [column[: level + 1] for column in cells.head], 0
        while start < len(labels):
            end = start
            while end + 1 < len(labels) and labels[end + 1] == labels[start] and labels[start][-1]:
                end += 1
            groups.append((level, start, end))
            start = end + 1
    return groups


def _divide_columns(cells: Cells, room: float) -> list[Part]:
    """Divide columns into as few parts as fit, of the same number of columns, each without the rows that are empty in it."""
    values = range(cells.labels, len(cells.head))
    for count in range(1, max(2, len(values))):
        step = -(-len(values) // count)
        groups = [_select(cells, values[start : start + step]) for start in range(0, len(values), step)]
        placed = [_place(group, _IN_PARTS, room) for group in groups]
        if all(part is not None for part in placed):
            return [part for part in placed if part is not None]
    single = [_select(cells, [column]) for column in values] or [cells]
    return [_place(group, _IN_PARTS, room) or Part(group, _measure(group, _IN_PARTS)) for group in single]


def _select(cells: Cells, columns: Sequence[int]) -> Cells:
    rows = [r for r, row in enumerate(cells.rows) if any(row[c] not in ("", NOTHING) for c in columns)]
    return cells.select(rows or range(len(cells.rows)), [*range(cells.labels), *columns])


def _divide_rows(part: Part, fit: Fit, room: float) -> list[Part]:
    """Divide rows into as few parts as a height permits, of about the same height."""
    size, leading = SIZES[fit.size], _LEADING[fit.size]
    headings = [column[-1] for column in part.cells.head[1:]]
    head = (
        size * max(map(find_width, headings), default=0)
        if fit.upright
        else leading * max((len(heading.split()) for heading in headings), default=1)
    )
    heights = [lines * leading + (fit.size == "small") for lines in _count_lines(part, fit)]
    room = max(room - head - 12 - leading * len(part.cells.head[0]), 4 * leading)
    total, highest = sum(heights), max(heights, default=0)
    target = total / math.ceil(total / max(room - highest, highest)) if total > room else total + 1
    numbers = [
        int((below - height / 2) / target) for below, height in zip(itertools.accumulate(heights), heights, strict=True)
    ]
    columns = range(len(part.cells.head))
    return [
        Part(
            part.cells.select([r for r, number in enumerate(numbers) if number == own], columns),
            part.widths,
            part.wrapped,
        )
        for own in dict.fromkeys(numbers)
    ] or [part]


def _count_lines(part: Part, fit: Fit) -> list[int]:
    """Return how many lines each row takes."""
    size = 1.1 * SIZES[fit.size]
    return [
        max([1, *(math.ceil(size * find_width(row[column]) / width) for column, width in part.wrapped.items())])
        for row in part.cells.rows
    ]
