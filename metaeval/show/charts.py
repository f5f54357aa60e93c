"""What a figure shows, as plain data: paper (`metaeval.show.drawing`) and screen (`metaeval.show.screen`) draw the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np

MOST_POINTS = 400
"""Points of a curve beyond this are thinned: a screen has no room for more."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: the name of its measure, which determines its look, its label, and its points; NaN is left out.

    `count` stands beside the name; `middle` is a thin line with the ends of a shaded band, all of shape (point,). Where a
    chart has strong lines, the screen shows the others pale.
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
    `names` where the names of the lines stand on paper, if there is room: above, right of their ends, or in a legend.
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
    names: Literal["top", "right", "legend"] = "legend"
    counted: str = ""
    description: str = ""


@dataclass(frozen=True)
class Row:
    """One row of a chart of intervals: a marker at the centre, with a thin line and a thick bar around it.

    Where a chart has strong rows, the screen shows the others pale.
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
        interval = self.line or self.bar
        ends = (
            f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval is not None and np.isfinite(interval).all() else ""
        )
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
    description: str = ""


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Numbers of rows by columns, shape (row, column), in the one colour scale, each written in its cell.

    `highest` has the darkest colour; `falling` makes small numbers dark, as of p-values; `whole` is for counts. A square of
    measures may leave out its diagonal, and stand in the order of its dendrogram, in which large numbers join measures, or
    part them if they are `opposed`. `tips` say more about the cell (i, j).
    """

    values: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    label: str
    write: Callable[[float], str]
    highest: float = 1.0
    falling: bool = False
    diagonal: bool = True
    clustered: bool = False
    opposed: bool = False
    whole: bool = False
    tips: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ScatterChart:
    """Points around zero, shape (point,); those in the second and fourth quadrants are told apart and counted."""

    x: np.ndarray
    y: np.ndarray
    x_label: str
    y_label: str
    title: str = ""
    description: str = ""

    @property
    def apart(self) -> np.ndarray:
        """Which points have coordinates of opposite sign, shape (point,)."""
        return self.x * self.y < 0

    @property
    def corners(self) -> tuple[int, int]:
        """How many points stand in the second and in the fourth quadrant."""
        return int(((self.x < 0) & (self.y > 0)).sum()), int(((self.x > 0) & (self.y < 0)).sum())


@dataclass(frozen=True, eq=False)
class Surface:
    """Which of two is better over a grid, and by how much: positive numbers for the first, shape (y, x); NaN is empty."""

    values: np.ndarray
    x: np.ndarray
    y: np.ndarray
    x_label: str
    y_label: str
    names: tuple[str, str]
    description: str = ""


Chart = LineChart | IntervalChart | HeatMap | ScatterChart | Surface


def thin(points: int, most: int = MOST_POINTS) -> np.ndarray:
    """Return which of that many points are drawn: all, or evenly spaced ones with the first and the last among them.

    >>> thin(3).tolist(), thin(1001, most=5).tolist()
    ([0, 1, 2], [0, 250, 500, 750, 1000])
    """
    if points <= most:
        return np.arange(points)
    return np.unique(np.round(np.linspace(0, points - 1, most)).astype(int))


def thin_chart(chart: LineChart, most: int = MOST_POINTS) -> tuple[LineChart, int]:
    """Return falling curves from where the first comes below the ceiling, thinned, and how many points they had."""
    x, ceiling = chart.lines[0].x, chart.limits[1]
    if ceiling is None:
        raise ValueError("thin_chart is for curves below a ceiling")
    inside = np.flatnonzero(np.any([line.y <= ceiling for line in chart.lines], axis=0))
    start = min(int(inside[0]) if len(inside) else 0, max(0, len(x) - 2))
    shown = start + thin(len(x) - start, most)
    return replace(chart, lines=[replace(line, x=x[shown], y=line.y[shown]) for line in chart.lines]), len(x) - start


_Rows = TypeVar("_Rows", LineChart, IntervalChart)


def highlight(chart: _Rows, names: Collection[str]) -> _Rows:
    """Return a chart in which these measures are strong; of lines, only theirs keep a band."""
    if isinstance(chart, IntervalChart):
        return replace(chart, rows=[replace(row, strong=row.name in names) for row in chart.rows])
    return replace(chart, lines=[_stress(line, line.name in names) for line in chart.lines])


def _stress(line: Line, strong: bool) -> Line:
    return replace(line, strong=True) if strong else replace(line, middle=None, band=None)


def find_marked(y: np.ndarray, number: int, most: int | None, ceiling: float | None = None) -> list[int]:
    """Return which points of a line, by its number, get a marker: about so many, of those that a chart shows.

    The choice is shifted from line to line, so that markers of neighbours do not hide each other.
    """
    seen = np.flatnonzero(np.isfinite(y))
    if ceiling is not None:
        seen = seen[(y[seen] < ceiling) & (y[seen] > 0)]
    step = 1 if most is None else max(1, -(-len(seen) // most))
    return [int(point) for point in seen[number % step :: step]]
