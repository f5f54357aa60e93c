"""Heat maps in the one colour scale, with the numbers in the cells; measures that are alike stand together."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from metaeval.show.canvas import Axis, open_canvas, typeset, typeset_ticks
from metaeval.show.charts import HeatMap
from metaeval.show.colours import shade, text_colour
from metaeval.show.names import shorten_names, spell_parameters
from metaeval.show.signature import Signature
from metaeval.show.style import Size, find_size

_NUMBERED = 7.0  # points: columns of a narrow figure that are narrower have numbers in place of names


def cluster(values: np.ndarray) -> np.ndarray | None:
    """Return the average linkage of measures by what they have in common, the nearest ones first."""
    if len(values) < 3:
        return None
    known = np.nan_to_num(values.astype(float), nan=0.0)
    distance = np.clip(1 - (known + known.T) / 2, 0, None)
    np.fill_diagonal(distance, 0)
    return linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)


def arrange(chart: HeatMap) -> HeatMap:
    """Return a heat map in the order of its clusters; as it is where it is not to be clustered."""
    shares = chart.values / chart.highest
    tree = cluster(1 - shares if chart.opposed else shares) if chart.clustered else None
    if tree is None:
        return chart
    order = leaves_list(tree).tolist()
    rows, columns = ([names[position] for position in order] for names in (chart.rows, chart.columns))
    return replace(chart, values=chart.values[np.ix_(order, order)], rows=rows, columns=columns)


def scale_map(low: float, *, falling: bool = False) -> Colormap:
    """Return the colour scale from a number to 1 as a colour map of matplotlib."""
    colours = ListedColormap([shade(value, falling=falling) for value in np.linspace(low, 1, 512).tolist()])
    return colours.with_extremes(bad=shade(float("nan")))


def draw_heatmap(chart: HeatMap, signature: Signature | str | None, *, ax: Axis = None, size: Size = None) -> Figure:
    """Draw a heat map of measures by measures, with the number in each cell where it can be read.

    Where all numbers are positive, the colour bar begins at 0, otherwise at minus the highest.
    """
    chart = arrange(chart)
    values = chart.values.astype(float)
    hidden = np.zeros(values.shape, dtype=bool) if chart.diagonal else np.eye(len(values), dtype=bool)
    width, height = _find_size(chart.columns, len(values), size)
    with open_canvas(ax, size, signature, width=width, height=height) as canvas:
        axes, figure = canvas.panels[0], canvas.figure
        low = -1.0 if np.nanmin(np.append(values[~hidden], 0)) < 0 else 0.0
        # The colours come from `shade` itself, as on pages and in LaTeX, and not from the steps of the colour map.
        painted = np.full((*values.shape, 3), 255, dtype=np.uint8)
        for cell in zip(*np.nonzero(~hidden), strict=True):
            painted[cell] = list(bytes.fromhex(shade(values[cell] / chart.highest, falling=chart.falling)[1:]))
        rows, columns = (shorten_names(names, canvas.longest) for names in (chart.rows, chart.columns))
        points = _cell_points(figure.get_figwidth() if canvas.is_own else 5.0, columns)
        numbered = canvas.is_narrow and points < _NUMBERED
        axes.imshow(painted, interpolation="nearest", aspect="auto" if numbered else "equal")
        axes.grid(False)
        _name_axes(axes, rows, columns, points, canvas.font_size, numbered=numbered)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        _write_cells(axes, chart, values, hidden, points)
        mapped = ScalarMappable(Normalize(low * chart.highest, chart.highest), scale_map(low, falling=chart.falling))
        ticks, below = MaxNLocator(integer=True) if chart.whole else None, canvas.is_narrow
        place = {"location": "bottom", "shrink": 0.9, "fraction": 0.05} if below else {"shrink": 0.8, "fraction": 0.08}
        bar = figure.colorbar(mapped, ax=axes, ticks=ticks, aspect=25, pad=0.03, **place)
        bar.outline.set_visible(False)
        bar.set_label(textwrap.fill(chart.label, 28) if below else chart.label)
        typeset(bar.ax.xaxis.label if below else bar.ax.yaxis.label)
    return figure


def _find_size(names: Sequence[str], n_rows: int, size: Size) -> tuple[float, float]:
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
    labels = 0.2 if points < _NUMBERED else _label_inches(across, shown)
    return across, 1.05 * n_rows * max(points, _NUMBERED) / 72 + labels + 0.75


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
    turned: dict[str, Any] = {"rotation": 90 if upright else 45, "va": "center" if upright else None}
    typeset_ticks(axes, "x", names, ha="right", rotation_mode="anchor", fontsize=letters, **turned)
    typeset_ticks(axes, "y", rows, fontsize=letters)


def _cell_points(width: float, names: Sequence[str]) -> float:
    """Return about how wide a cell is, in points, in a figure of some width in inches."""
    return 72 * (width - (0.2 if width < 4 else 1.1) - _label_inches(width, names)) / len(names)


def _label_inches(width: float, names: Sequence[str]) -> float:
    return (0.065 if width < 4 else 0.085) * min(24, max(len(spell_parameters(name)) for name in names))


def _write_cells(axes: Axes, chart: HeatMap, values: np.ndarray, hidden: np.ndarray, points: float) -> None:
    texts = {cell: chart.write(value) for cell, value in np.ndenumerate(values) if not hidden[cell]}
    if points < 22:  # a digit less is a size more
        texts = {cell: re.sub(r"^(-?)0\.", r"\1.", text) for cell, text in texts.items()}
    font_size = min(7.5, points / (0.62 * max(2, *map(len, texts.values()))))
    if font_size >= 4.2:
        for (i, j), text in texts.items():
            colour = text_colour(shade(float(values[i, j]) / chart.highest, falling=chart.falling))
            axes.text(j, i, text, ha="center", va="center", fontsize=font_size, color=colour)
