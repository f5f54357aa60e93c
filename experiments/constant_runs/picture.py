"""The figure of the study: mean τ of every measure over the number of constant runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

import metaeval
from experiments.constant_runs.verdicts import ASKED, MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_curves(curves: Mapping[str, pd.DataFrame], signature: str) -> Figure:
    """Draw mean τ of every measure over the number of constant runs, one panel a collection.

    Parameters
    ----------
    curves : mapping of str to DataFrame
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import choose_looks, house_style

    looks = choose_looks(MEASURES)
    columns = min(3, len(curves))
    rows = -(-len(curves) // columns)
    with house_style():
        figure = Figure(figsize=(3.1 * columns + 1.4, 2.9 * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (name, curve) in zip(grid, curves.items(), strict=False):
            for measure in MEASURES:
                wide = {"linewidth": 2.6} if measure == ASKED else {"linewidth": 1.0}
                axes.plot(
                    curve.index,
                    curve[measure],
                    markersize=4,
                    label=metaeval.measure(measure).title,
                    **looks[measure] | wide,
                )
            axes.set_title(name, fontsize=9)
            axes.set_xticks(list(curve.index))
        for axes in grid[len(curves) :]:
            axes.set_visible(False)
        figure.supxlabel("constant runs", fontsize=9)
        figure.supylabel("mean τ_a between halves of the topics", fontsize=9)
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside right upper", fontsize=7)
        return sign_figure(figure, signature)
