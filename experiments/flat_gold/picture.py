"""The figure of the study: preference for Popularity over flatness, one panel a measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

import metaeval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73")


def draw_curves(
    measures: Sequence[str], bins: pd.DataFrame, curves: pd.DataFrame, mapped: pd.DataFrame, signature: str
) -> Figure:
    """Draw shares by bins with intervals, logistic curves, and the shares of all possible gold.

    Parameters
    ----------
    measures : sequence of str
    bins, curves : DataFrame
        As `experiments.flat_gold.steps` tabulates them.
    mapped : DataFrame
        Every possible gold: its flatness, and a column a measure.
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    collections = list(dict.fromkeys(curves.index.get_level_values("collection")))
    x = np.linspace(0, 1, 201)
    fine = np.linspace(0, 1, 26)
    middle = (fine[1:] + fine[:-1]) / 2
    place = np.minimum(np.searchsorted(fine, mapped["flatness"], side="right") - 1, len(middle) - 1)
    with house_style():
        figure = Figure(figsize=(9.6, 5.4), layout="constrained")
        grid = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
        for axes, measure in zip(grid, measures, strict=True):
            shares = (mapped[measure] > 0).groupby(place).mean()
            axes.fill_between(middle[shares.index], 0, shares, color="#DDDDDD", label="all possible gold")
            axes.axhline(0.5, color="#888888", linewidth=0.6)
            for nth, (name, colour) in enumerate(zip(collections, COLOURS, strict=False)):
                curve = curves.loc[(name, measure)]
                y = 1 / (1 + np.exp(-np.clip(curve["slope"] * (x - curve["crossing"]), -50, 50)))
                axes.plot(x, y, color=colour, linewidth=1.2, label=name)
                one = bins.xs((name, measure), level=("collection", "measure"))
                at = one.index.to_numpy() + 0.05 + 0.012 * (nth - 1)
                axes.vlines(at, one["low"], one["high"], color=colour, linewidth=0.9)
                axes.plot(at, one["Popularity"], "o", color=colour, markersize=3)
            axes.set_title(metaeval.measure(measure).title)
        figure.supxlabel("flatness of the gold: entropy over log K", fontsize=9)
        figure.supylabel("share of topics on which Popularity is preferred", fontsize=9)
        figure.legend(*grid[0].get_legend_handles_labels(), loc="outside right upper", fontsize=7)
        return sign_figure(figure, signature)
