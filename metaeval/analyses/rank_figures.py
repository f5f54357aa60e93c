"""Figures of `run_ranks`: the runs by rank, and the critical-difference diagram of one measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.measures.base import Measure
from metaeval.show.names import shorten_name
from metaeval.show.signature import Signature
from metaeval.show.style import GREY
from metaeval.stats.letters import letter_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from metaeval.show.canvas import Axis, Figure, Size

MOST_NAMES = 150
"""Runs that a critical-difference diagram, written beside other results, names, and that a figure draws all of."""

MOST_ROWS = 100
"""Runs that a figure draws of more: half of them the first ones, half evenly spaced ones of the others."""

_LONGEST = 24
"""Characters of a run's letters in a figure."""


def draw_ranks(
    boards: Mapping[str, pd.DataFrame], signature: Signature | None, *, ax: Axis = None, size: Size = None
) -> Figure:
    """Draw the runs by rank side by side, one panel for each measure's title and rows of `RunRanks.to_frame`."""
    from metaeval.show.canvas import open_canvas

    rows = _choose_rows(max(map(len, boards.values())))
    across, down = 1.2 + 3.1 * len(boards), max(2.4, 1.4 + 0.17 * len(rows))
    with open_canvas(ax, size, signature, width=across, height=down, shape=(1, len(boards))) as canvas:
        for axes, (title, frame) in zip(canvas.panels, boards.items(), strict=False):
            _draw_board(axes, frame, title, rows)
    return canvas.figure


def _choose_rows(n: int) -> np.ndarray:
    """Return which of n runs are drawn, by their places: all, or the first ones and evenly spaced ones of the others."""
    if n <= MOST_NAMES:
        return np.arange(n)
    half = MOST_ROWS // 2
    return np.concatenate([np.arange(half), np.linspace(half, n - 1, MOST_ROWS - half).round().astype(int)])


def _draw_board(axes: Axes, frame: pd.DataFrame, title: str, rows: np.ndarray) -> None:
    from metaeval.show.canvas import typeset

    n, frame = len(frame), frame.iloc[rows]
    places = np.arange(len(frame))
    axes.hlines(places, frame["low"], frame["high"], color="#8FC3F2", linewidth=3)
    axes.plot(frame["rank"], places, "o", color="black", markersize=3.5)
    small = 7 if len(frame) <= 60 else 5
    axes.set_yticks(places, frame["run"].tolist(), fontsize=small)
    for position, letters in zip(places, frame["letters"].fillna(""), strict=True):
        axes.annotate(
            shorten_name(letters, _LONGEST), (1, position), xycoords=("axes fraction", "data"), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=small,
        )  # fmt: skip
    label = "rank"
    if len(frame) < n:
        half = MOST_ROWS // 2
        axes.axhline(half - 0.5, color=GREY, linewidth=0.9, linestyle="--")
        others = f"{len(frame) - half}\nof the other {n - half:,}, evenly spaced."
        label += f"\nThe first {half} of {n:,} runs; below the line, {others}"
    axes.set(title=title, xlabel=label, xlim=(0.4 - 0.01 * (n - len(frame)), n + 0.6), ylim=(len(frame) - 0.4, -0.6))
    axes.grid(axis="y", visible=False)
    typeset(axes.title)


def draw_groups(
    runs: Sequence[str], means: np.ndarray, differ: np.ndarray, measure: Measure, signature: Signature | None,
    *, ax: Axis = None, size: Size = None,
) -> Figure:  # fmt: skip
    """Draw the critical-difference diagram of one measure: runs, best first, at their means, a bar for each letter."""
    from metaeval.show.canvas import open_canvas, typeset

    table = letter_groups(differ)
    groups = [np.flatnonzero(column) for column in table.T if column.sum() > 1]
    down = 1.6 + 0.13 * (len(runs) + len(groups))
    with open_canvas(ax, size, signature, width=6.4, height=down) as canvas:
        axes = canvas.panels[0]
        half = (len(runs) + 1) // 2
        # Names stand left and right of the axis of means, the best outermost, each tied to its mean by a line.
        for row, (run, mean) in enumerate(zip(runs, means, strict=True)):
            left = row < half
            height = -(1 + (row if left else len(runs) - 1 - row)) - len(groups)
            edge = 0.0 if left else 1.0
            axes.plot([mean, mean], [0, height], color="#BBBBBB", linewidth=0.6)
            axes.annotate(
                str(run), (mean, height), (edge, height), xycoords="data",
                textcoords=axes.get_yaxis_transform(), ha="right" if left else "left", va="center", fontsize=6,
                arrowprops={"arrowstyle": "-", "color": "#BBBBBB", "linewidth": 0.6},
            )  # fmt: skip
        for number, group in enumerate(groups):
            axes.plot(means[group], [-0.5 - number] * len(group), "|-", color="#0064B0", linewidth=1.6, markersize=5)
        axes.plot(means, np.zeros(len(means)), "o", color="black", markersize=3)
        note = f"a bar joins the runs that it marks,{chr(10) if canvas.is_narrow else ' '}no two of which differ"
        axes.set(xlabel=f"mean {measure.title}\n{note}", yticks=[])
        typeset(axes.xaxis.label)
        if measure.sign > 0:
            axes.invert_xaxis()  # the best stands left, as its name does
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False)
    return canvas.figure
