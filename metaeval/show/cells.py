"""What a table shows, cell by cell, as text: every format lays out the same cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from metaeval.show.names import TITLES

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "–"
"""Shown in a cell without a number."""

_LARGE = 1e7  # from which on a column has powers of ten


@dataclass(frozen=True)
class Cells:
    """Texts of a table; its first `labels` columns say what a row is.

    `head` holds the labels of each column from the top, `left` which columns are text, which stands to the left, and
    `marks` the words of every cell, such as "bold" or "band high"; none where it is empty.
    """

    head: Sequence[tuple[str, ...]]
    left: Sequence[bool]
    rows: Sequence[Sequence[str]]
    labels: int = 1
    marks: Sequence[Sequence[tuple[str, ...]]] = ()

    @property
    def flat_head(self) -> list[str]:
        """The label of each column as one text."""
        return [" ".join(part for part in labels if part) for labels in self.head]

    def convert(self, write: Callable[[str], str]) -> Cells:
        """Return the cells with every text written as a format has it."""
        head = [tuple(map(write, labels)) for labels in self.head]
        return replace(self, head=head, rows=[[write(text) for text in row] for row in self.rows])

    def select(self, rows: Sequence[int], columns: Sequence[int]) -> Cells:
        """Return some rows and columns."""

        def take(table: Sequence[Sequence[Any]]) -> list[list[Any]]:
            return [[table[r][c] for c in columns] for r in rows]

        head, left = [self.head[c] for c in columns], [self.left[c] for c in columns]
        return replace(self, head=head, left=left, rows=take(self.rows), marks=take(self.marks) if self.marks else ())

    def list_marks(self, row: int, column: int) -> tuple[str, ...]:
        """Return the words that mark a cell."""
        return self.marks[row][column] if self.marks else ()


def make_cells(
    frame: pd.DataFrame, digits: int | Mapping[object, int], marks: pd.DataFrame | None = None, *, titles: bool = False
) -> Cells:
    """Return a frame as texts, its index first, with titles in place of the names of measures if asked for."""
    columns = [_write_column(frame.iloc[:, c], column, digits, titles) for c, column in enumerate(frame.columns)]
    name_rows = titles and any(str(name or "").startswith("measure") for name in frame.index.names)
    labels = [_split_label(label, name_rows) for label in frame.index]
    depth, n_labels = frame.columns.nlevels, frame.index.nlevels
    head = [("",) * (depth - 1) + (str(name or ""),) for name in frame.index.names]
    head += [_split_label(column, titles) for column in frame.columns]
    words = [] if marks is None else marks.astype(str).to_numpy().tolist()
    return Cells(
        head,
        [True] * n_labels
        + [any(isinstance(cell, str) for cell in frame.iloc[:, c].tolist()) for c in range(frame.shape[1])],
        [[*label, *(texts[r] for texts in columns)] for r, label in enumerate(labels)],
        n_labels,
        [[()] * n_labels + [tuple(word.strip() for word in text.split(",")) for text in row] for row in words],
    )


def join_ends(cells: Cells) -> Cells:
    """Return a table in which the ends of an interval, or a standard error, stand in the column of their number.

    >>> cells = Cells([("measure",), ("%",), ("low",), ("high",)], [True] * 4, [["NMD", "39.0", "32.2", "46.2"]])
    >>> join_ends(cells).head, join_ends(cells).rows
    ([('measure',), ('% [low, high]',)], [['NMD', '39.0 [32.2, 46.2]']])
    """
    groups: list[list[int]] = []
    kinds = [_split_end(labels[-1]) for labels in cells.head]
    for column, (name, kind) in enumerate(kinds):
        number = cells.head[groups[-1][0]][-1] if groups else ""
        joins = kind in ("high", "max", "±") or (kind != "" and name in ("", number))
        if joins and column > cells.labels:
            groups[-1].append(column)
        else:
            groups.append([column])
    firsts = cells.select(range(len(cells.rows)), [group[0] for group in groups])
    head = [
        (*labels[:-1], _join_heading([kinds[c] for c in group]))
        for labels, group in zip(firsts.head, groups, strict=True)
    ]
    rows = [
        [_join_group([row[c] for c in group], [kinds[c][1] for c in group]) for group in groups] for row in cells.rows
    ]
    return replace(firsts, head=head, rows=rows)


def has_words(text: str) -> bool:
    """Say whether a text has a word in it, and is no number, interval or mark.

    >>> has_words("0.9 [0.8, 1.0]"), has_words("NMD")
    (False, True)
    """
    return re.search(r"[^\W\d_]{2}", text) is not None


def shorten_numbers(cells: Cells) -> Cells:
    """Return numbers without the 0 before the point."""
    short = [
        [text if has_words(text) else re.sub(r"(?<![\d.])0(?=\.\d)", "", text) for text in row] for row in cells.rows
    ]
    return replace(cells, rows=short)


_END = re.compile(r"(|.*[ _])(low|high|min|max|±)")


def _split_end(name: str) -> tuple[str, str]:
    """Return what a column is the end of, and which: ("ρ", "low") of "ρ low"."""
    found = _END.fullmatch(name)
    return (found[1].rstrip(" _"), found[2]) if found else (name, "")


def _join_heading(parts: Sequence[tuple[str, str]]) -> str:
    ends = ", ".join(kind for _, kind in parts if kind not in ("", "±"))
    error = ["±"] if any(kind == "±" for _, kind in parts) else []
    return " ".join([parts[0][0], *error, *([f"[{ends}]"] if ends else [])]).strip()


def _join_group(texts: Sequence[str], kinds: Sequence[str]) -> str:
    """Return a number with its standard error and the ends of its interval, if it has them."""
    numbers = [text for text, kind in zip(texts, kinds, strict=True) if kind == ""]
    errors = [f"± {text}" for text, kind in zip(texts, kinds, strict=True) if kind == "±" and text != NOTHING]
    ends = [text for text, kind in zip(texts, kinds, strict=True) if kind not in ("", "±")]
    interval = [f"[{', '.join(ends)}]"] if ends and NOTHING not in ends else [NOTHING] if ends and not numbers else []
    return " ".join([*numbers, *errors, *interval])


def _write_column(column: pd.Series, name: object, digits: int | Mapping[object, int], titles: bool) -> list[str]:
    """Return the cells of a column as texts; a column of measures shows their titles if asked for."""
    n_digits = digits if isinstance(digits, int) else digits.get(name, 3)
    values = column.tolist()
    numbers = [abs(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    # A column whose numbers would all read 0, or have more digits than can be read, has powers of ten.
    powers = 0 < max(numbers, default=0) < 0.5 * 10**-n_digits or max(numbers, default=0) >= _LARGE
    texts = [format_cell(value, n_digits, powers=powers) for value in values]
    is_name = titles and str(name).startswith("measure")
    return [TITLES.get(text, text) for text in texts] if is_name else texts


def _split_label(label: Any, titles: bool) -> tuple[str, ...]:
    parts = tuple(map(str, label)) if isinstance(label, tuple) else (str(label),)
    return tuple(TITLES.get(part, part) for part in parts) if titles else parts


def format_cell(value: object, digits: int = 3, *, powers: bool = False) -> str:
    """Return the text of a cell: integers as they are, floats rounded (or in powers of ten), a missing value as a dash.

    >>> format_cell(0.12345), format_cell(7), format_cell(None), format_cell(-0.0001)
    ('0.123', '7', '–', '0.000')
    """
    # The command line starts without pandas, so that its missing value is told by the name of its type.
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
