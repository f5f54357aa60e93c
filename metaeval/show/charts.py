"""What a figure shows, as plain data, which `metaeval.show.drawing` draws on paper and `metaeval.show.screen` for pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: the name of its measure, which determines its look, its label, and its points; NaN is left out.

    `count` stands beside the name; `middle` is a thin line with the ends of a shaded band, all of shape (point,). Where a
    chart has strong lines, the others are pale.
    """

    name: str
    title: str
    x: np.ndarray
    y: np.ndarray
    strong: bool = False
    count: int | None = None
    middle: np.ndarray | None = None
    band: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def label(self) -> str:
        """What a legend says: the title, and the count in brackets."""
        return self.title if self.count is None else f"{self.title} ({self.count:,})"


@dataclass(frozen=True, eq=False)
class LineChart:
    """Curves of measures over one axis.

    `level` is a horizontal line and what it says; `marks` tells about how many points of a line get a marker (None: all);
    what is `counted` heads the legend.
    """

    lines: Sequence[Line]
    x_label: str
    y_label: str
    title: str = ""
    log: bool = False
    ticks: Sequence[float] = ()
    limits: tuple[float | None, float | None] = (None, None)
    level: tuple[float, str] | None = None
    marks: int | None = None
    counted: str = ""


@dataclass(frozen=True)
class Row:
    """One row of a chart of intervals: a marker at the centre, with a thin line and a thick bar around it.

    Where a chart has strong rows, the others are pale.
    """

    name: str
    title: str
    centre: float
    line: tuple[float, float] | None = None
    bar: tuple[float, float] | None = None
    hollow: bool = False
    strong: bool = False

    def describe(self) -> str:
        """Return the name and the numbers in words."""
        low, high = self.line or self.bar or (np.nan, np.nan)
        ends = f" [{low:.3f}, {high:.3f}]" if low <= high else ""
        return f"{self.title} {'–' if np.isnan(self.centre) else f'{self.centre:.3f}'}{ends}"


@dataclass(frozen=True)
class IntervalChart:
    """One row per measure, the first on top; `levels` are vertical lines: where, and in which line style.

    `filled` draws a bar from 0 to each centre, with its number, instead of a marker.
    """

    rows: Sequence[Row]
    label: str
    title: str = ""
    levels: Sequence[tuple[float, str]] = ()
    limits: tuple[float, float] | None = None
    row_height: float = 0.36
    filled: bool = False


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Numbers of rows by columns, shape (row, column), in the one colour scale, each written in its cell.

    `highest` has the darkest colour; `whole` is for counts. A square of measures may leave out its diagonal, and stand in the
    order of clusters, which large numbers join, or part if they are `opposed`.
    """

    values: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    label: str
    write: Callable[[float], str]
    highest: float = 1.0
    diagonal: bool = True
    clustered: bool = False
    opposed: bool = False
    whole: bool = False


@dataclass(frozen=True, eq=False)
class ScatterChart:
    """Points around zero, shape (point,); those in the second and fourth quadrants are told apart and counted."""

    x: np.ndarray
    y: np.ndarray
    x_label: str
    y_label: str
    title: str = ""

    @property
    def corners(self) -> tuple[int, int]:
        """How many points stand in the second and in the fourth quadrant."""
        return int(((self.x < 0) & (self.y > 0)).sum()), int(((self.x > 0) & (self.y < 0)).sum())


Chart = LineChart | IntervalChart | HeatMap | ScatterChart

_Rows = TypeVar("_Rows", LineChart, IntervalChart)


def highlight(chart: _Rows, names: Collection[str]) -> _Rows:
    """Return a chart in which these measures are strong; of lines, only theirs keep a band."""
    if isinstance(chart, IntervalChart):
        return replace(chart, rows=[replace(row, strong=row.name in names) for row in chart.rows])
    lines = [
        replace(line, strong=True) if line.name in names else replace(line, middle=None, band=None)
        for line in chart.lines
    ]
    return replace(chart, lines=lines)
