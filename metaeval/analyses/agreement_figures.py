"""Figures of `agreement`: the measures by one statistic, and the p-values of every two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metaeval.analyses.agreement_statistics import name_statistic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.analyses.agreement_result import Agreement
    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

_LARGEST_MAP = 16  # measures of which a heat map can show the numbers


def draw_measures(found: Agreement, s: int, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
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
    beaten = found.count_beaten()[s]
    rows = []
    for m in np.argsort(np.nan_to_num(values, nan=-2.0), kind="stable").tolist():
        ends = None if np.isnan(low[m]) else (low[m], high[m])
        title = found.measures[m].title + (f" ({beaten[m]:.0f})" if np.isfinite(beaten[m]) else "")
        rows.append(Interval(str(found.measures[m]), title, values[m], line=ends))
    label = f"{name_statistic(found.statistics[s])} with {reference}"
    label += "; in brackets how many measures are better" if np.isfinite(beaten).any() else ""
    said = found.signature if signature else None
    lines = [
        (level, style) for level, style in ((found.chance[s], ":"), (found.ceiling[s], "--")) if np.isfinite(level)
    ]
    height = 0.26 if len(rows) > 12 else 0.42
    return draw_intervals(rows, label, said, row_height=height, levels=lines, ax=ax, size=size)


def draw_p_values(found: Agreement, s: int, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
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
    from metaeval.show.heatmap import draw_heatmap

    rows = np.argsort(-np.nan_to_num(found.values[s], nan=-2.0), kind="stable")
    few = len(rows) <= _LARGEST_MAP
    return draw_heatmap(
        found.p_values[s][np.ix_(rows, rows)], [found.measures[m].title for m in rows],
        f"p of the exchange test, {name_statistic(found.statistics[s])}", found.signature if signature else None, falling=True,
        write=lambda p: f"{p:.3f}" if few and not np.isnan(p) else "", diagonal=False, ax=ax, size=size,
    )  # fmt: skip
