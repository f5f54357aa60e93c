"""Charts on paper: the descriptions of `metaeval.show.charts` drawn by matplotlib, and saving."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase

from metaeval.errors import visible
from metaeval.show.canvas import Axis, Canvas, open_canvas, sign_figure, typeset, typeset_ticks
from metaeval.show.charts import Chart, HeatMap, IntervalChart, LineChart, Row, ScatterChart, find_marked
from metaeval.show.heatmap import draw_heatmap
from metaeval.show.labels import End, count_columns, label_right, label_top, place_legend
from metaeval.show.names import shorten_name
from metaeval.show.signature import Signature
from metaeval.show.style import GREY, WIDTHS, Size, choose_looks, house_style

__all__ = ["draw_charts", "fix_layout", "save_figure", "sign_figure"]

MOST_POINTS = 10_000
"""Points of a curve that a figure draws; of longer ones it draws every k-th, and says so."""

NAMED_ABOVE = 10
"""Measures that have room above a figure for their names."""

_TALLEST = {"column": 9.0, "page": 7.0}  # inches of rows in a figure for print, before they shrink with its width
_SMALL = 16  # rows from which on names are small where panels stand below each other

_HEADING = 25  # characters in a line of a panel's heading


def save_figure(figure: Figure, folder: Path, name: str, suffixes: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Save a figure as `folder/name` with each suffix; the same figure always gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    # Leave out the date and the program, so that the same figure gives the same bytes.
    metadata: dict[str, dict[str, object]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    }
    written = []
    with house_style():
        box = fix_layout(figure)
        for suffix in suffixes:
            # Matplotlib's writer of PDF fails with an error of its own where the disk is full.
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix[1:], metadata=metadata[suffix], bbox_inches=box)
            content = stream.getvalue()
            path = folder / f"{name}{suffix}"
            path.write_bytes(_spell_controls(content) if suffix == ".svg" else content)
            written.append(path)
    return written


def _spell_controls(content: bytes) -> bytes:
    """Spell out control characters, which names may hold and XML may not."""
    text = content.decode()
    return _CONTROLS.sub(lambda control: visible(control[0]), text).encode() if _CONTROLS.search(text) else content


_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def fix_layout(figure: Figure) -> BboxBase:
    """Compute the layout of a figure once, not again for every file, and return the box that it covers."""
    laid_out = figure.get_layout_engine() is not None
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # What is laid out is within its figure, whose size is then exact; of others, names may stand out.
    inside: Bbox = figure.get_tightbbox().padded(0.08)
    return figure.bbox_inches if laid_out else inside


def draw_charts(
    charts: Chart | Sequence[Chart],
    signature: Signature | str | None,
    *,
    ax: Axis = None,
    size: Size = None,
    width: float | None = None,
    height: float | None = None,
    heading: str = "",
) -> Figure:
    """Draw one chart, or several as panels of one figure, in inches if a width or height is given.

    Panels stand side by side, in a column of print below each other; rows of intervals share their names.
    """
    panels = [charts] if not isinstance(charts, Sequence) else list(charts)
    first = panels[0]
    if isinstance(first, HeatMap):
        return draw_heatmap(first, signature, ax=ax, size=size)
    many = isinstance(first, LineChart) and len(first.lines) > NAMED_ABOVE
    stacked = isinstance(first, LineChart) and (size == "column" or (size == "page" and many))
    most = 2 if size == "column" else len(panels)
    if isinstance(first, ScatterChart):
        most = {"column": 2, "page": 3}.get(str(size), 4)
    columns = 1 if stacked else min(most, len(panels))
    shape = (-(-len(panels) // columns), columns)
    shared = {"sharey": True} if isinstance(first, IntervalChart) and len(panels) > 1 else {}
    across, down = _find_size(panels, shape, size)
    with open_canvas(
        ax, size, signature, width=width or across, height=height or down, shape=shape, **shared
    ) as canvas:
        drawn = min(len(canvas.panels), len(panels))
        for number, (axes, chart) in enumerate(zip(canvas.panels, panels, strict=False)):
            _draw_panel(chart, canvas, axes, first=number % columns == 0, last=number == drawn - 1)
        for axes in canvas.panels[len(panels) :]:
            axes.set_visible(False)
        if heading and canvas.is_own:
            canvas.figure.suptitle(heading, x=0.01, ha="left", fontsize=11)
            typeset(canvas.figure._suptitle)  # type: ignore[attr-defined]
    return canvas.figure


def _find_size(panels: Sequence[Chart], shape: tuple[int, int], size: Size) -> tuple[float, float]:
    """Return the width and height in inches that charts take by themselves."""
    chart = panels[0]
    if isinstance(chart, IntervalChart):
        most = _TALLEST.get(size, np.inf) if isinstance(size, str) else np.inf
        if len(panels) > 1:
            return 2.35 * shape[1] + 0.8, min(0.3 * len(chart.rows) * shape[0], most) + 1.35 * shape[0] + 0.3
        return 6, min(chart.row_height * len(chart.rows), most) + 1.0
    if isinstance(chart, ScatterChart):
        return 2.9 * shape[1] + 0.3, 2.9 * shape[0]
    labels = max(([line.label for line in panel.lines] for panel in panels if isinstance(panel, LineChart)), key=len)
    most = len(labels)
    # Many names do not fit above the curves and stand in a legend beside them.
    legend = 1.7 if most > NAMED_ABOVE else 0
    across = 6.4 + legend if len(panels) == 1 else (4.6 + legend) * shape[1]
    if size == "column":  # in which the legend stands below
        lines = math.ceil(most / count_columns(labels))
        return WIDTHS["column"], (2.8 if shape[0] == 1 else 1.9) * shape[0] + 0.13 * lines + 0.1
    if size == "page" and shape[0] > 1:
        return WIDTHS["page"], max(2.6, 0.15 * min(24, most) + 0.5) * shape[0]
    return across, max(4.2, 0.21 * min(24, most) + 0.9) * shape[0]


@singledispatch
def _draw_panel(chart: object, canvas: Canvas, axes: Axes, *, first: bool, last: bool) -> None:
    raise TypeError(f"paper shows no {type(chart).__name__}")


@_draw_panel.register
def _draw_lines(chart: LineChart, canvas: Canvas, axes: Axes, *, first: bool, last: bool) -> None:
    looks = choose_looks([line.name for line in chart.lines])
    # The last point is always drawn: of a curve of p-values it is the smallest.
    step = max(1, -(-max((len(line.x) for line in chart.lines), default=1) // MOST_POINTS))
    ceiling = chart.limits[1]
    ends, starts = [], []
    for number, line in enumerate(chart.lines):
        look, shown = looks[line.name], slice((len(line.x) - 1) % step, None, step)
        x, y = line.x[shown], line.y[shown]
        marked = (
            {"markersize": 4} if chart.marks is None else {"markevery": find_marked(y, number, chart.marks, ceiling)}
        )
        axes.plot(x, y, label=line.label, **marked, **look)
        if line.middle is not None:
            axes.plot(line.x, line.middle, color=look["color"], linewidth=0.8)
        if line.band is not None:
            axes.fill_between(line.x, *line.band, color=look["color"], alpha=0.08, linewidth=0)
        if chart.names == "top" and ceiling is not None:
            inside = np.flatnonzero(y <= ceiling)
            start = int(inside[0]) if len(inside) else len(y) - 1
            starts += [float(x[start])] * bool(len(inside))
            ends.append(End(float(x[start]), ceiling, f"{line.title}\n{line.count}", look["color"]))
        elif np.isfinite(y).any():
            point = np.flatnonzero(np.isfinite(y))[-1]
            ends.append(End(float(x[point]), float(y[point]), line.title, look["color"]))
    if chart.level is not None:
        _draw_level(axes, *chart.level, font_size=canvas.font_size - 1.5)
    axes.set(xlabel=chart.x_label + (f"; one of {step:,} drawn" if step > 1 else ""), ylabel=chart.y_label)
    if chart.log:
        axes.set_xscale("log")
    if ceiling is not None:
        # The axis begins at the first pair that any line shows, and ends after the last.
        axes.set_ylim(-0.01 * ceiling, ceiling)
        axes.set_xlim(
            left=max(0, min(starts, default=1.0) - 2), right=max(float(line.x[-1]) for line in chart.lines) + 1
        )
    elif chart.limits[0] is not None:
        axes.set_ylim(chart.limits[0], None)
    if len(chart.ticks):
        axes.set_xticks(chart.ticks, [f"{tick:g}" for tick in chart.ticks])
        axes.minorticks_off()
    _name_lines(chart, canvas, axes, ends, last)


def _draw_level(axes: Axes, level: float, text: str, *, font_size: float) -> None:
    axes.axhline(level, color=GREY, linewidth=0.8)
    if text:
        axes.annotate(text, (1, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=font_size)


def _name_lines(chart: LineChart, canvas: Canvas, axes: Axes, ends: Sequence[End], last: bool) -> None:
    """Name lines where they stand if there is room, otherwise in a legend; panels of the same lines share that of the last."""
    if chart.names == "top":
        few = len(ends) <= NAMED_ABOVE and not canvas.is_narrow
        named = few and label_top(axes, ends, canvas.font_size - 1.5, chart.counted.replace(" ", "\n"))
        axes.set_title(chart.title, pad=4.2 * canvas.font_size if named else None)
        if not named:
            place_legend(canvas, axes, f"{chart.counted} in brackets" if chart.counted else "")
    elif last:
        to_right = chart.names == "right" and not canvas.is_narrow and len(ends) == len(chart.lines)
        if not to_right or not ends or not label_right(axes, ends, canvas.font_size - 1):
            place_legend(canvas, axes)


@_draw_panel.register
def _draw_intervals(chart: IntervalChart, canvas: Canvas, axes: Axes, *, first: bool, last: bool) -> None:
    looks = choose_looks([row.name for row in chart.rows])
    small = canvas.size is not None
    rows = list(chart.rows)[::-1]
    for height, row in enumerate(rows):
        if chart.filled:
            _draw_bar(axes, height, row, looks[row.name]["color"])
        else:
            _draw_interval(axes, height, row, looks[row.name], small)
    titles = [shorten_name(row.title, canvas.longest if not chart.title else min(24, canvas.longest)) for row in rows]
    if first:
        typeset_ticks(
            axes, "y", titles, fontsize=6 if canvas.is_narrow and chart.title and len(rows) > _SMALL else None
        )
    for level, style in chart.levels:
        axes.axvline(level, color=GREY, linewidth=0.9, linestyle=style, zorder=0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    if chart.limits is not None:
        axes.set_xlim(chart.limits)
    axes.grid(axis="y", visible=False)
    if chart.title:
        narrow = canvas.is_narrow
        heading = textwrap.fill(chart.title, _HEADING if canvas.size is None else 14)
        axes.set_title(heading, loc="left", fontsize=7.5 if narrow else 9, fontweight="bold")
        axes.set_xlabel(textwrap.fill(chart.label, 30 if canvas.size is None else 16))
        typeset(axes._left_title)  # type: ignore[attr-defined]
    else:
        across = canvas.figure.get_figwidth() if canvas.is_own else 6
        room = across - (0.055 if small else 0.075) * max(len(title) for title in titles)
        axes.set_xlabel(wrap_label(chart.label, room, small=small))
    typeset(axes.xaxis.label)


def _draw_bar(axes: Axes, height: int, row: Row, colour: str) -> None:
    axes.barh(height, row.centre, height=0.55, color=colour)
    number = f"{row.centre:,.0f}"
    axes.annotate(number, (row.centre, height), (3, 0), textcoords="offset points", va="center", fontsize=8)


def _draw_interval(axes: Axes, height: int, row: Row, look: Mapping[str, Any], small: bool) -> None:
    colour = look["color"]
    if row.line is not None:
        width = 1 if row.bar is not None else 1.5
        axes.plot(row.line, [height, height], color=colour, linewidth=0.75 * width if small else width)
    if row.bar is not None:
        axes.plot(row.bar, [height, height], color=colour, linewidth=2.5 if small else 4, solid_capstyle="butt")
    axes.plot(
        row.centre, height, look["marker"], color=colour, markerfacecolor="white" if row.hollow else colour,
        markersize=4 if small else 6, markeredgewidth=0.8 if small else 1,
    )  # fmt: skip


def wrap_label(label: str, width: float, *, small: bool = False) -> str:
    """Break the label of an axis into lines of a width in inches, in the letters of a printed figure if they are small."""
    return "\n".join(textwrap.wrap(label, max(16, int(width * (15 if small else 12.5)))))


@_draw_panel.register
def _draw_scatter(chart: ScatterChart, canvas: Canvas, axes: Axes, *, first: bool, last: bool) -> None:
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.axvline(0, color=GREY, linewidth=0.8)
    apart = chart.apart
    axes.plot(chart.x[~apart], chart.y[~apart], ".", color="#0064B0", markersize=3, alpha=0.5)
    axes.plot(chart.x[apart], chart.y[apart], "x", color="#BF4A00", markersize=3.5)
    second, fourth = chart.corners
    box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "#007A56", "alpha": 0.85}
    axes.text(0.03, 0.97, str(second), transform=axes.transAxes, va="top", fontsize=8, bbox=box)
    axes.text(0.97, 0.03, str(fourth), transform=axes.transAxes, ha="right", fontsize=8, bbox=box)
    title = chart.title.replace(" [", "\n[") if canvas.is_narrow else chart.title
    axes.set_title(title, fontsize=8 if canvas.size is None else 6)
    most = 32 if canvas.size is None else 16
    axes.set(xlabel=shorten_name(chart.x_label, most), ylabel=shorten_name(chart.y_label, most))
    typeset(axes.xaxis.label, axes.yaxis.label)
