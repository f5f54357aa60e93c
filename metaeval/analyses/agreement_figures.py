"""Figures of `agreement`: the measures by one statistic, and the p-values of every two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metaeval.analyses.agreement_statistics import name_statistic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.analyses.agreement_result import Agreement

_LARGEST_MAP = 16  # measures of which a heat map can show the numbers


def draw_measures(found: Agreement, s: int) -> Figure:
    """Draw the measures in the order of one statistic, with intervals; lines show chance and ceiling.

    Parameters
    ----------
    found : Agreement
    s : int
        Position of the statistic.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from metaeval.show.drawing import Interval, draw_intervals

    values, low, high, reference = found.values[s], found.low[s], found.high[s], found.reference.title
    rows = []
    for m in np.argsort(np.nan_to_num(values, nan=-2.0), kind="stable").tolist():
        ends = None if np.isnan(low[m]) else (low[m], high[m])
        title = f"{found.measures[m].title} ({found.clusters[s, m]})"
        rows.append(Interval(str(found.measures[m]), title, values[m], line=ends))
    label = f"{name_statistic(found.statistics[s])} with {reference}; in brackets the significance cluster"
    figure = draw_intervals(rows, label, found.signature, row_height=0.26 if len(rows) > 12 else 0.42)
    for level, style in ((found.chance[s], ":"), (found.ceiling[s], "--")):
        if np.isfinite(level):
            figure.axes[0].axvline(level, color="#888888", linewidth=0.9, linestyle=style, zorder=0)
    return figure


def draw_p_values(found: Agreement, s: int) -> Figure:
    """Draw a heat map of p-values: is the measure of the row better than that of the column?

    Parameters
    ----------
    found : Agreement
    s : int
        Position of the statistic.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from metaeval.show.drawing import draw_heatmap

    rows = np.argsort(-np.nan_to_num(found.values[s], nan=-2.0), kind="stable")
    few = len(rows) <= _LARGEST_MAP
    return draw_heatmap(
        found.p_values[s][np.ix_(rows, rows)], [found.measures[m].title for m in rows],
        f"p, {name_statistic(found.statistics[s])}", found.signature, limits=(0, 1), colours="cividis",
        is_dark=lambda p: p < 0.55, write=lambda p: f"{p:.3f}" if few and not np.isnan(p) else "", diagonal=False,
    )  # fmt: skip
