"""Charts drawn by matplotlib: the descriptions of `metaeval.show.charts`, and saving."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox, BboxBase, ScaledTranslation

from metaeval.errors import visible
from metaeval.show.canvas import Canvas, open_canvas, sign_figure, typeset, typeset_ticks
from metaeval.show.charts import Chart, HeatMap, IntervalChart, LineChart, Row, ScatterChart
from metaeval.show.heatmap import draw_heatmap
from metaeval.show.looks import choose_looks
from metaeval.show.names import shorten_name, shorten_names
from metaeval.show.signature import Signature
from metaeval.show.style import GREY, WIDTHS, Size, house_style

__all__ = ["draw_charts", "fix_layout", "save_figure", "sign_figure"]

MOST_POINTS = 1_000
"""Points of a curve that a figure draws; of longer ones it draws every k-th, and says so."""

TIP = "tip: "
"""How the name of a mark begins that says something where a page shows it and it is pointed at."""

_TALLEST = {"column": 9.0, "page": 7.0}  # inches of rows in a figure for print, before they shrink with its width
_SMALL = 16  # rows from which on names are small where panels stand below each other
_MANY = 10  # curves whose legend is taller than half a page is
_PALE = 0.35


def save_figure(figure: Figure, folder: Path, name: str, suffixes: Sequence[str] = (".png", ".svg")) -> list[Path]:
    """Save a figure as `folder/name` with each suffix; the same figure always gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    # Leave out the date and the program, so that the same figure gives the same bytes.
    without = {".png": ["Software"], ".svg": ["Date"], ".pdf": ["CreationDate", "Producer", "Creator"]}
    written = []
    with house_style():
        box = fix_layout(figure)
        for suffix in suffixes:
            # Matplotlib's writer of PDF fails with an error of its own where the disk is full.
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix[1:], metadata=dict.fromkeys(without[suffix]), bbox_inches=box)
            content = stream.getvalue()
            if suffix == ".svg":  # names may hold control characters, and XML may not
                content = re.sub(
                    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", lambda control: visible(control[0]), content.decode()
                ).encode()
            written.append(folder / f"{name}{suffix}")
            written[-1].write_bytes(content)
    return written


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
    size: Size = None,
    width: float | None = None,
    heading: str = "",
) -> Figure:
    """Draw one chart, or several as panels of one figure, as wide in inches as is said.

    Panels stand side by side, in a column of print below each other; rows of intervals share their names.
    """
    panels = [charts] if not isinstance(charts, Sequence) else list(charts)
    first = panels[0]
    if isinstance(first, HeatMap):
        return draw_heatmap(first, signature, size)
    many = isinstance(first, LineChart) and len(first.lines) > _MANY
    stacked = isinstance(first, LineChart) and (size == "column" or (size == "page" and many))
    most = 2 if size == "column" else len(panels)
    if isinstance(first, ScatterChart):
        most = 2 if size == "column" else 3 if size == "page" or len(panels) > 4 else 4
    columns = 1 if stacked else min(most, len(panels))
    shape = (-(-len(panels) // columns), columns)
    shared = {"sharey": True} if isinstance(first, IntervalChart) and len(panels) > 1 else {}
    across, down = _find_size(panels, shape, size)
    with open_canvas(size, signature, width=width or across, height=down, shape=shape, **shared) as canvas:
        for number, (axes, chart) in enumerate(zip(canvas.panels, panels, strict=False)):
            if isinstance(chart, LineChart):
                _draw_lines(chart, canvas, axes, last=number == len(panels) - 1)
            elif isinstance(chart, IntervalChart):
                _draw_intervals(chart, canvas, axes, first=number % columns == 0)
            elif isinstance(chart, ScatterChart):
                _draw_scatter(chart, canvas, axes)
        for axes in canvas.panels[len(panels) :]:
            axes.set_visible(False)
        if heading:
            typeset(canvas.figure.suptitle(heading, x=0.01, ha="left", fontsize=11))
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
    n_lines = max(len(panel.lines) for panel in panels if isinstance(panel, LineChart))
    if size == "column":  # in which the legend stands below
        return WIDTHS["column"], (2.8 if shape[0] == 1 else 1.9) * shape[0] + 0.13 * n_lines + 0.1
    if size == "page" and shape[0] > 1:
        return WIDTHS["page"], max(2.6, 0.14 * n_lines + 0.5) * shape[0]
    across = 6.4 if len(panels) == 1 else 4.6 * shape[1]
    return across + 1.7 * shape[1], max(4.2, 0.18 * n_lines + 0.9) * shape[0]


def _draw_lines(chart: LineChart, canvas: Canvas, axes: Axes, *, last: bool) -> None:
    looks, ceiling = choose_looks([line.name for line in chart.lines]), chart.limits[1]
    # The last point is always drawn: of a curve of p-values it is the smallest.
    step = max(1, -(-max((len(line.x) for line in chart.lines), default=1) // MOST_POINTS))
    starts: list[float] = []
    for number, line in enumerate(chart.lines):
        look, shown = looks[line.name], slice((len(line.x) - 1) % step, None, step)
        x, y = line.x[shown], line.y[shown]
        seen = np.flatnonzero(np.isfinite(y) & (True if ceiling is None else y < ceiling))
        starts += x[seen[:1]].tolist()
        # Markers are shifted from line to line, so that those of neighbours do not hide each other.
        apart = 1 if chart.marks is None else max(1, -(-len(seen) // chart.marks))
        pale = _PALE if not line.strong and any(other.strong for other in chart.lines) else 1.0
        tip, marked = f"{TIP}{line.label}", seen[number % apart :: apart]
        axes.plot(x, y, label=line.label, alpha=pale, gid=tip, markevery=marked, **look)
        if line.middle is not None:
            axes.plot(line.x, line.middle, color=look["color"], linewidth=0.8)
        if line.band is not None:
            axes.fill_between(line.x, *line.band, color=look["color"], alpha=0.08, linewidth=0)
    if chart.level is not None:
        level, text = chart.level
        axes.axhline(level, color=GREY, linewidth=0.8)
        axes.text(1, level, text, transform=axes.get_yaxis_transform(), ha="right", va="bottom", fontsize="small")
    few = f"; one of {step:,} drawn" if step > 1 else ""
    title = shorten_name(chart.title, 2 * canvas.longest)
    axes.set(xlabel=f"{chart.x_label}{few}", ylabel=chart.y_label, title=title)
    if chart.log:
        axes.set_xscale("log")
    if ceiling is not None:
        # The axis begins at the first pair that any line shows, and ends after the last.
        axes.set_ylim(-0.01 * ceiling, ceiling)
        axes.set_xlim(max(0, min(starts, default=1.0) - 2), max(float(line.x[-1]) for line in chart.lines) + 1)
    elif chart.limits[0] is not None:
        axes.set_ylim(chart.limits[0], None)
    if len(chart.ticks):
        axes.set_xticks(chart.ticks, [f"{tick:g}" for tick in chart.ticks])
        axes.minorticks_off()
    if last:  # panels of the same lines share its legend
        _place_legend(canvas, axes, f"{chart.counted} in brackets" if chart.counted else "")


def _place_legend(canvas: Canvas, axes: Axes, title: str) -> None:
    """Put the legend outside the axes: beside them, or below where a figure is narrow."""
    handles, labels = axes.get_legend_handles_labels()
    place: dict[str, Any] = {"bbox_to_anchor": (1.01, 1)}
    if canvas.is_narrow:
        below = axes.transAxes + ScaledTranslation(-0.4, -0.42, canvas.figure.dpi_scale_trans)
        place = {"bbox_to_anchor": (0, 0), "bbox_transform": below}
    texts = axes.legend(
        handles=handles, loc="upper left", borderaxespad=0, title=title or None, alignment="left", handlelength=3,
        labelspacing=0.3, title_fontsize=canvas.font_size - 1.5, **place,
    ).get_texts()  # fmt: skip
    longest = 34 if canvas.is_narrow else canvas.longest
    for text, name in zip(texts, shorten_names(labels, longest), strict=True):
        text.set_text(name)
    typeset(*texts)


def _draw_intervals(chart: IntervalChart, canvas: Canvas, axes: Axes, *, first: bool) -> None:
    looks, rows, small = choose_looks([row.name for row in chart.rows]), list(chart.rows)[::-1], canvas.size is not None
    for height, row in enumerate(rows):
        pale = _PALE if not row.strong and any(other.strong for other in rows) else 1.0
        _draw_row(axes, height, row, looks[row.name], filled=chart.filled, small=small, alpha=pale)
    longest = min(14 if canvas.is_narrow else 24, canvas.longest) if chart.title else canvas.longest
    titles = shorten_names([row.title for row in rows], longest)
    if first:
        crowded = canvas.is_narrow and chart.title and len(rows) > _SMALL
        typeset_ticks(axes, "y", titles, fontsize=6 if crowded else None)
        for row, tick in zip(rows, axes.get_yticklabels(), strict=True):
            tick.set_fontweight("bold" if row.strong else "normal")
    for level, style in chart.levels:
        axes.axvline(level, color=GREY, linewidth=0.9, linestyle=style, zorder=0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    if chart.limits is not None:
        axes.set_xlim(chart.limits)
    axes.grid(axis="y", visible=False)
    if chart.title:
        letters, title = 7.5 if canvas.is_narrow else 9, textwrap.fill(chart.title, 14 if small else 25)
        typeset(axes.set_title(title, loc="left", fontsize=letters, fontweight="bold"))
        axes.set_xlabel(textwrap.fill(chart.label, 16 if small else 30))
    else:
        widest = max(len(title) + 0.5 * sum(map(str.isupper, title)) for title in titles)
        room = canvas.figure.get_figwidth() - (0.055 if small else 0.075) * widest
        axes.set_xlabel(textwrap.fill(chart.label, max(16, int(room * (15 if small else 12)))))
    typeset(axes.xaxis.label)


def _draw_row(
    axes: Axes, height: int, row: Row, look: Mapping[str, Any], *, filled: bool, small: bool, alpha: float
) -> None:
    """Draw a marker on a thin line and a thick bar, or a bar from 0 with its number."""
    colour = look["color"]
    if filled:
        axes.barh(height, row.centre, height=0.55, color=colour)
        number = f"{row.centre:,.0f}"
        axes.annotate(number, (row.centre, height), (3, 0), textcoords="offset points", va="center", fontsize=8)
        return
    for ends, thick in ((row.line, 1.5 if row.bar is None else 1), (row.bar, 4)):
        if ends is not None:
            width = thick * (0.7 if small else 1)
            axes.plot(ends, [height, height], color=colour, alpha=alpha, linewidth=width, solid_capstyle="butt")
    axes.plot(
        row.centre, height, look["marker"], color=colour, markerfacecolor="white" if row.hollow else colour, alpha=alpha,
        markersize=4 if small else 6, markeredgewidth=0.8 if small else 1, gid=f"{TIP}{row.describe()}",
    )  # fmt: skip


def _draw_scatter(chart: ScatterChart, canvas: Canvas, axes: Axes) -> None:
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.axvline(0, color=GREY, linewidth=0.8)
    apart = chart.x * chart.y < 0
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
