"""The figure of the synthetic half: printed against reproduced, as labelled and with two rows exchanged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#B8860B")
MARKS = ("o", "s", "^", "D", "v", "P")


def draw_against_print(
    found: np.ndarray,
    printed: dict[str, np.ndarray],
    columns: Sequence[str],
    outlined: Sequence[int],
    within: float,
    signature: str,
) -> Figure:
    """Draw every cell of Table 3: printed across, reproduced upwards, one panel for each way of reading print."""
    with house_style():
        figure = Figure(figsize=(4.4 * len(printed) + 0.6, 4.6), layout="constrained")
        low, high = 0.64, 0.97
        for axes, (title, values) in zip(figure.subplots(1, len(printed), sharey=True), printed.items(), strict=True):
            axes.fill_between(
                [low, high], [low - within, high - within], [low + within, high + within], color="#DDDDDD"
            )
            axes.plot([low, high], [low, high], color="#888888", linewidth=0.8)
            for c, column in enumerate(columns):
                plain = np.setdiff1d(np.arange(len(found)), outlined)
                look = {"color": COLOURS[c], "marker": MARKS[c], "linestyle": "", "markersize": 5}
                axes.plot(values[plain, c], found[plain, c], alpha=0.8, label=column, **look)
                axes.plot(values[outlined, c], found[outlined, c], markeredgecolor="black", **look)
            axes.set(xlim=(low, high), ylim=(low, high), xlabel="printed coverage", title=title)
            axes.set_aspect("equal")
        figure.axes[0].set_ylabel("mean coverage over seeds")
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right center", title="column")
        return sign_figure(figure, f"{signature} | band ± {within:g} | black edge: the two rows exchanged")
