"""Heat maps of measures by measures, in the one colour scale, with the numbers in the cells and a dendrogram."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.cluster.hierarchy import dendrogram

from metaeval.show.canvas import Axis, open_canvas, typeset, typeset_ticks
from metaeval.show.charts import HeatMap
from metaeval.show.clusters import arrange
from metaeval.show.colours import shade, text_colour
from metaeval.show.names import shorten_names, spell_parameters
from metaeval.show.signature import Signature
from metaeval.show.style import GREY, Size, find_size

_STEPS = 512
_NUMBERED = 7.0  # points: columns of a narrow figure that are narrower have numbers in place of names


def scale_map(low: float, *, falling: bool = False) -> Colormap:
    """Return the colour scale from a number to 1 as a colour map of matplotlib."""
    values = np.linspace(low, 1, _STEPS)
    colours = ListedColormap([shade(value, falling=falling) for value in values.tolist()])
    return colours.with_extremes(bad=shade(float("nan")))


def draw_heatmap(chart: HeatMap, signature: Signature | str | None, *, ax: Axis = None, size: Size = None) -> Figure:
    """Draw a heat map of measures by measures, with the number in each cell where it can be read.

    Where all numbers are positive, the colour bar begins at 0, otherwise at minus the highest.
    """
    chart, tree = arrange(chart)
    values, names = chart.values.astype(float), chart.columns
    hidden = np.zeros(values.shape, dtype=bool) if chart.diagonal else np.eye(len(values), dtype=bool)
    width, height = _find_size(names, len(values), size, tree is not None)
    with open_canvas(ax, size, signature, width=width, height=height) as canvas:
        axes, figure = canvas.panels[0], canvas.figure
        low = -1.0 if np.nanmin(np.append(values[~hidden], 0)) < 0 else 0.0
        colours = scale_map(low, falling=chart.falling)
        norm = Normalize(low * chart.highest, chart.highest)
        # The colours come from `shade` itself, as on pages and in LaTeX, and not from the steps of the colour map.
        painted = np.full((*values.shape, 3), 255, dtype=np.uint8)
        for cell in zip(*np.nonzero(~hidden), strict=True):
            painted[cell] = list(bytes.fromhex(_colour(chart, values[cell])[1:]))
        names = shorten_names(names, canvas.longest)
        points = _cell_points(figure.get_figwidth() if canvas.is_own else 5.0, names)
        numbered = canvas.is_narrow and points < _NUMBERED
        axes.imshow(painted, interpolation="nearest", aspect="auto" if numbered else "equal")
        axes.grid(False)
        rows = shorten_names(chart.rows, canvas.longest)
        _name_axes(axes, rows, names, points, canvas.font_size, numbered=numbered)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        _write_cells(axes, chart, values, hidden, points)
        _draw_scale(figure, axes, ScalarMappable(norm, colours), chart.label, whole=chart.whole, below=canvas.is_narrow)
        if tree is not None:
            _draw_tree(axes, tree)
    return figure


def _find_size(names: Sequence[str], n_rows: int, size: Size, tree: bool) -> tuple[float, float]:
    """Return the width and height in inches of a figure of these columns, in a column with room for what stands below."""
    side, down = (max(3.2, 0.62 * n + 1.4) for n in (len(names), n_rows))
    if not isinstance(size, str):
        return side + 0.4, down * 0.86
    # Cells are as small as the width wants, and square unless their names would overlap.
    across = find_size(size, side, side)[0]
    if size == "page":
        return across, 0.92 * across * down / side
    shown = shorten_names(names, 18)
    points = _cell_points(across, shown)
    cells = n_rows * max(points, _NUMBERED) / 72
    labels = 0.2 if points < _NUMBERED else _label_inches(across, shown)
    return across, (1.2 if tree else 1.05) * cells + labels + 0.75


def _name_axes(
    axes: Axes, rows: Sequence[str], names: Sequence[str], points: float, largest: float, *, numbered: bool
) -> None:
    """Name rows and columns; columns too narrow for that have the numbers of the rows, one in five of them written."""
    if numbered:
        typeset_ticks(axes, "y", [f"{name}  {n}" for n, name in enumerate(rows, start=1)], fontsize=0.8 * _NUMBERED)
        few = [str(n) if n == 1 or n % 5 == 0 else "" for n in range(1, len(names) + 1)]
        typeset_ticks(axes, "x", few, fontsize=0.8 * _NUMBERED)
        return
    letters, upright = float(np.clip(0.8 * points, 4, largest)), points < 10
    settings: dict[str, Any] = {"rotation": 90 if upright else 45, "va": "center" if upright else None}
    typeset_ticks(axes, "x", names, ha="right", rotation_mode="anchor", fontsize=letters, **settings)
    typeset_ticks(axes, "y", rows, fontsize=letters)


def _draw_scale(figure: Figure, axes: Axes, mapped: ScalarMappable, label: str, *, whole: bool, below: bool) -> None:
    """Draw the colour bar: below where a figure is narrow, otherwise beside it, under a short label or beside a long one."""
    ticks = MaxNLocator(integer=True) if whole else None
    place = {"location": "bottom", "shrink": 0.9, "fraction": 0.05} if below else {"shrink": 0.8, "fraction": 0.08}
    bar = figure.colorbar(mapped, ax=axes, ticks=ticks, aspect=25, pad=0.03, **place)
    bar.outline.set_visible(False)
    if len(label) <= 8 and not below:
        typeset(bar.ax.set_title(label, pad=6))
    else:
        bar.set_label(textwrap.fill(label, 28) if below else label)
        typeset(bar.ax.xaxis.label if below else bar.ax.yaxis.label)


def _colour(chart: HeatMap, value: float) -> str:
    return shade(value / chart.highest, falling=chart.falling)


def _cell_points(width: float, names: Sequence[str]) -> float:
    """Return about how wide a cell is, in points, in a figure of some width in inches."""
    return 72 * (width - (0.2 if width < 4 else 1.1) - _label_inches(width, names)) / len(names)


def _label_inches(width: float, names: Sequence[str]) -> float:
    return (0.065 if width < 4 else 0.085) * min(24, max(len(spell_parameters(name)) for name in names))


def _write_cells(axes: Axes, chart: HeatMap, values: np.ndarray, hidden: np.ndarray, points: float) -> None:
    texts = {cell: chart.write(value) for cell, value in np.ndenumerate(values) if not hidden[cell]}
    if points < 22:  # a digit less is a size more
        texts = {cell: text.replace("0.", ".", 1) for cell, text in texts.items()}
    font_size = min(7.5, points / (0.62 * max(2, *map(len, texts.values()))))
    if font_size < 4.2:
        return
    for (i, j), text in texts.items():
        if text:
            colour = text_colour(_colour(chart, float(values[i, j])))
            axes.text(j, i, text, ha="center", va="center", fontsize=font_size, color=colour)


def _draw_tree(axes: Axes, tree: np.ndarray) -> None:
    """Draw the dendrogram above the cells: what is joined lower is more alike."""
    inset = axes.inset_axes((0, 1.01, 1, 0.14), sharex=axes)
    drawn = dendrogram(tree, no_plot=True)
    for across, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
        inset.plot((np.array(across) - 5) / 10, heights, color=GREY, linewidth=0.9, solid_joinstyle="miter")
    inset.set_ylim(0, max(float(tree[:, 2].max()) * 1.05, 1e-9))
    inset.axis("off")
