"""The figure of the study: how alike two rankings of measures are, by what differs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from experiments.calibration.reliability import TESTS
from experiments.test_and_ranking.verdicts import STUDY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_compared(compared: pd.DataFrame, signature: str) -> Figure:
    """Draw τ_b between rankings by what differs, one row a collection.

    Parameters
    ----------
    compared : DataFrame
        As `compare_changes` returns it.
    signature : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    from metaeval.show.drawing import sign_figure
    from metaeval.show.style import house_style

    looks = {"seeds": ("|", "#7F7F7F"), "halves": ("s", "#009E73")}
    looks |= {
        test: (mark, "#D55E00")
        for test, mark in zip(TESTS, ("", "o", "^", "D"), strict=True)
        if test != STUDY["reference"]
    }
    labels = {"seeds": "same test, two seeds", "halves": "same test, two halves of the topics"}
    with house_style():
        figure = Figure(figsize=(7.6, 0.36 * len(compared) + 1.3), layout="constrained")
        axes = figure.subplots()
        rows = np.arange(len(compared))[::-1]
        for column, (mark, colour) in looks.items():
            style = {"markersize": 9, "markeredgewidth": 2} if mark == "|" else {"markersize": 5}
            label = labels.get(column, f"{STUDY['reference']} and {column}")
            axes.plot(compared[column], rows, mark, color=colour, label=label, alpha=0.85, **style)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(rows, list(compared.index))
        axes.set_xlabel("τ_b between two rankings of measures by discriminative power")
        figure.legend(loc="outside right upper", fontsize=7)
        return sign_figure(figure, signature)
