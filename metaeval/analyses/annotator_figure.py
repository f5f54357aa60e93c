"""Figure of the alternative annotator test: how each judge does, and how much that depends on ε."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from metaeval.show.signature import Signature

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size


def draw_judges(
    judges: Sequence[str],
    rho: np.ndarray,
    rho_ends: tuple[np.ndarray, np.ndarray],
    curves: tuple[Sequence[float], np.ndarray],
    limits: tuple[float, float],
    title: str,
    signature: Signature | None,
    *,
    ax: Axis = None,
    size: Size = None,
) -> Figure:
    """Draw ρ of every judge with its interval, and its ω by ε, shape (judge, ε); `limits` are ε of the test, and ω to pass."""
    from metaeval.show.canvas import open_canvas
    from metaeval.show.labels import place_legend
    from metaeval.show.style import GREY, choose_looks

    order = np.lexsort((np.array(judges), rho))
    looks = choose_looks(judges)
    epsilons, omega = curves
    # In a column of print the panels stand below each other, and the legend below both.
    stacked = size == "column"
    height = 5.2 + 0.5 * len(order) if stacked else max(2.6, 1.4 + 0.24 * len(order))
    with open_canvas(ax, size, signature, width=7.6, height=height, shape=(2, 1) if stacked else (1, 2)) as canvas:
        left = canvas.panels[0]
        for row, j in enumerate(order):
            colour = looks[judges[j]]["color"]
            left.plot([ends[j] for ends in rho_ends], [row, row], color=colour)
            left.plot(rho[j], row, looks[judges[j]]["marker"], color=colour, markersize=4)
        left.set(xlabel="advantage probability ρ", title=title)
        left.set_yticks(np.arange(len(order)), [judges[j] for j in order])
        left.grid(axis="y", visible=False)
        if len(canvas.panels) == 1:
            return canvas.figure
        right = canvas.panels[1]
        for j in order[::-1]:
            right.plot(epsilons, omega[j], markersize=4, linewidth=1, label=judges[j], **looks[judges[j]])
        right.axhline(limits[1], color=GREY, linewidth=0.8, linestyle="--")
        right.axvline(limits[0], color=GREY, linewidth=0.8, linestyle=":")
        right.set(xlabel="ε", ylabel="winning rate ω", ylim=(-0.04, 1.04))
        place_legend(canvas, right)
    return canvas.figure
