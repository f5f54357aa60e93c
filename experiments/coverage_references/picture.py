"""The figure of the study: the difference of two measures' coverage under every reference set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import metaeval
from experiments.coverage_references.sets import SetCoverage
from experiments.coverage_references.verdicts import STUDY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_differences(swept: Mapping[str, SetCoverage], signature: str) -> Figure:
    """Draw the difference of two measures' coverage under every reference set, sorted, with intervals.

    Parameters
    ----------
    swept : mapping of str to SetCoverage
        By collection.
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    columns = min(3, len(swept))
    rows = -(-len(swept) // columns)
    with house_style():
        figure = Figure(figsize=(6.5 if columns == 1 else 3.3 * columns, 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (name, found) in zip(grid, swept.items(), strict=False):
            _draw_one(axes, name, found)
        for axes in grid[len(swept) :]:
            axes.set_visible(False)
        first, second = (metaeval.measure(name).title for name in STUDY["shown"])
        figure.supylabel(f"coverage of {first} less that of {second}", fontsize=9)
        figure.supxlabel("reference sets, sorted by the difference", fontsize=9)
        return sign_figure(figure, signature)


def _draw_one(axes: Axes, name: str, found: SetCoverage) -> None:
    gap, low, high = found.compare(*STUDY["shown"])
    order = np.argsort(gap, kind="stable")
    place = np.arange(len(gap))
    if np.isfinite(low).any():
        axes.vlines(place, low[order], high[order], color="#56B4E9", linewidth=1)
    axes.plot(place, gap[order], ".", color="#0072B2", markersize=3)
    axes.axhline(0, color="black", linewidth=0.8)
    amigo = found.name_sets().index("Accuracy + tau_a + MI")
    spot = int(np.flatnonzero(order == amigo)[0])
    axes.plot(spot, gap[amigo], "D", color="#D55E00", markersize=4, label="Accuracy, τ_a, MI")
    axes.set_title(f"{name}{': no interval' * bool(found.no_interval)}", fontsize=9)
    axes.set_xticks([])
    axes.legend(loc="lower right", fontsize=7)
