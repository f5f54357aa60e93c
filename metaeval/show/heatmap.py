"""Heat maps in the one colour scale, with the numbers in the cells; measures that are alike stand together."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from metaeval.show.canvas import open_canvas, typeset, typeset_ticks
from metaeval.show.charts import HeatMap
from metaeval.show.colours import shade, text_colour
from metaeval.show.names import shorten_names
from metaeval.show.signature import Signature
from metaeval.show.style import Size, find_size

_NAMED = 16  # columns of a narrow figure that have names; of more, they have numbers


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


def draw_heatmap(chart: HeatMap, signature: Signature | str | None, size: Size = None) -> Figure:
    """Draw a heat map, with the number in each cell where it can be read.

    Where all numbers are positive, the colour bar begins at 0, otherwise at minus the highest. Columns too narrow for their
    names have the numbers of the rows, one in five of them written.
    """
    chart = arrange(chart)
    values = chart.values.astype(float)
    n_rows, n_columns = values.shape
    hidden = np.zeros(values.shape, dtype=bool) if chart.diagonal else np.eye(n_rows, dtype=bool)
    across, side = 0.62 * n_columns + 1.8, 0.54
    if isinstance(size, str):  # cells are as small as the width wants
        across = find_size(size, across, 1)[0]
        side = float(np.clip((across - 1.4) / n_columns, 0.1, side))
    with open_canvas(size, signature, width=across, height=max(3.2, side * n_rows + 1.7)) as canvas:
        axes, figure, narrow = canvas.panels[0], canvas.figure, canvas.is_narrow
        low = -1.0 if np.nanmin(np.append(values[~hidden], 0)) < 0 else 0.0
        # The colours come from `shade` itself, as on pages and in LaTeX, and not from the steps of the colour map.
        painted = np.full((*values.shape, 3), 255, dtype=np.uint8)
        for cell in zip(*np.nonzero(~hidden), strict=True):
            painted[cell] = list(bytes.fromhex(shade(values[cell] / chart.highest)[1:]))
        axes.imshow(painted, interpolation="nearest", aspect="auto")
        axes.grid(False)
        rows, columns = (shorten_names(names, canvas.longest) for names in (chart.rows, chart.columns))
        letters, turned = float(np.clip(58 * side, 4, canvas.font_size)), 45 if side > 0.3 else 90
        place: dict[str, Any] = {"rotation": turned, "ha": "right", "va": "top" if turned == 45 else "center"}
        if narrow and n_columns > _NAMED:
            rows = [f"{name}  {number}" for number, name in enumerate(rows, start=1)]
            columns = [str(number) if number == 1 or number % 5 == 0 else "" for number in range(1, n_columns + 1)]
            letters, place = 5.6, {}
        typeset_ticks(axes, "x", columns, fontsize=letters, rotation_mode="anchor", **place)
        typeset_ticks(axes, "y", rows, fontsize=letters)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        scale = ListedColormap([shade(value) for value in np.linspace(low, 1, 512).tolist()])
        bar = figure.colorbar(
            ScalarMappable(Normalize(low * chart.highest, chart.highest), scale), ax=axes, aspect=25, pad=0.03,
            ticks=MaxNLocator(integer=True) if chart.whole else None, location="bottom" if narrow else "right", shrink=0.9,
        )  # fmt: skip
        bar.outline.set_visible(False)
        bar.set_label(textwrap.fill(chart.label, 28) if narrow or n_rows < 4 else chart.label)
        typeset(bar.ax.xaxis.label if narrow else bar.ax.yaxis.label)
        figure.draw_without_rendering()  # lays it out: only now is known how wide cells are
        _write_cells(axes, chart, values, hidden, 72 * axes.get_window_extent().width / figure.dpi / n_columns)
    return figure


def _write_cells(axes: Axes, chart: HeatMap, values: np.ndarray, hidden: np.ndarray, points: float) -> None:
    """Write the numbers as large as cells of so many points allow."""
    texts = {cell: chart.write(value) for cell, value in np.ndenumerate(values) if not hidden[cell]}
    if points < 22:  # a digit less is a size more
        texts = {cell: re.sub(r"^(-?)0\.", r"\1.", text) for cell, text in texts.items()}
    font_size = min(7.5, points / (0.62 * max(2, *map(len, texts.values()))))
    if font_size >= 4.2:
        for (i, j), text in texts.items():
            colour = text_colour(shade(float(values[i, j]) / chart.highest))
            axes.text(j, i, text, ha="center", va="center", fontsize=font_size, color=colour)
