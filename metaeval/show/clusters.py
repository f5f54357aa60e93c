"""Which measures are alike: average linkage, and heat maps in its order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from metaeval.show.charts import HeatMap


def cluster(values: np.ndarray) -> np.ndarray | None:
    """Return the average linkage of measures by what they have in common, the nearest ones first."""
    if len(values) < 3:
        return None
    known = np.nan_to_num(values.astype(float), nan=0.0)
    distance = np.clip(1 - (known + known.T) / 2, 0, None)
    np.fill_diagonal(distance, 0)
    return linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)


def arrange(chart: HeatMap) -> tuple[HeatMap, np.ndarray | None]:
    """Return a heat map in the order of its dendrogram, and the linkage; as it is where it is not to be clustered."""
    shares = chart.values / chart.highest
    tree = cluster(1 - shares if chart.opposed else shares) if chart.clustered else None
    if tree is None:
        return chart, None
    order = leaves_list(tree).tolist()
    places = {position: place for place, position in enumerate(order)}
    return replace(
        chart,
        values=chart.values[np.ix_(order, order)],
        rows=[chart.rows[position] for position in order],
        columns=[chart.columns[position] for position in order],
        tips={(places[i], places[j]): tip for (i, j), tip in chart.tips.items()},
    ), tree
