"""The figure: on every set, the rank of every judge by every measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import metaeval
from experiments.alttest.resampling import Resampled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_ranks(sets: Mapping[str, Resampled], signature: metaeval.Signature) -> Figure:
    """Draw a field for every set: judges by measures, the darker the better the rank, 1 for the best.

    Parameters
    ----------
    sets : mapping of str to Resampled
    signature : Signature

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    heights = [len(one.judges) for one in sets.values()]
    with house_style():
        figure = Figure(figsize=(7.2, 1.6 + 0.27 * sum(heights) + 0.3 * len(heights)), layout="constrained")
        panels = figure.subplots(len(sets), 1, sharex=True, height_ratios=heights)
        for axes, (name, one) in zip(panels, sets.items(), strict=True):
            ranks = 1 + (one.values[np.newaxis] > one.values[:, np.newaxis]).sum(axis=1)  # judge × measure
            order = np.lexsort((np.array(one.judges), ranks.mean(axis=1)))
            axes.imshow(ranks[order], cmap="Blues_r", vmin=0, vmax=len(order) + 2, aspect="auto")
            for row, column in np.argwhere(ranks[order] == 1):
                axes.text(column, row, "1", ha="center", va="center", fontsize=6, color="white")
            axes.set_yticks(range(len(order)), [one.judges[j] for j in order], fontsize=6)
            axes.set_title(name, fontsize=8)
            axes.set_xticks(range(len(one.measures)), one.measures, rotation=60, ha="right", fontsize=6)
            axes.grid(visible=False)
        return sign_figure(figure, signature)
