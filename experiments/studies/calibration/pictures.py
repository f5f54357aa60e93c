"""The pictures: family-wise error against the number of topics, and power beside that of the randomised Tukey HSD test."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.studies.calibration.rates import ALPHA
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style

REFERENCE = "randomised-tukey-hsd"

LOOKS = {
    "randomised-tukey-hsd": ("#D55E00", "-"),
    "max-t": ("#56B4E9", "--"),
    "bootstrap-t": ("#0072B2", "-"),
    "bootstrap-t, step-down": ("#000000", ":"),
    "paired-t, Holm": ("#009E73", "-."),
}
"""Colour and style of line of the tests that are drawn; Tukey's own test would hide behind its randomised form."""

COLUMNS = 4
SHIFT = 1.04
"""Factor between neighbouring tests at the same number of topics, so that they do not hide each other."""

APART = ["three runs", "130 runs", "less unequal spread"]
"""Groups of cells with one number of topics, or other numbers of runs: they are in the counts only."""


def draw_errors(rates: pd.DataFrame, signature: str) -> Figure:
    """Draw the family-wise error where all means are equal, one panel a design, one line a test."""
    # Tests that step down are tried where some pair differs only, and err as their single step elsewhere.
    shown = rates[~rates["effects"] & ~rates["group"].isin(APART) & ~rates["test"].str.endswith("step-down")]

    def finish(axes: Axes) -> None:
        axes.axhline(ALPHA, color="#555555", linewidth=0.9, linestyle=":")
        axes.set_yscale("function", functions=(np.sqrt, np.square))
        axes.set_ylim(0, 0.65)
        axes.set_yticks([0.01, 0.05, 0.1, 0.2, 0.4, 0.6], labels=["1 %", "5 %", "10 %", "20 %", "40 %", "60 %"])

    return _draw_panels(shown, "error", "studies with a false difference, runs of equal means", signature, finish)


def draw_power(rates: pd.DataFrame, signature: str) -> Figure:
    """Draw each test's power over that of the randomised Tukey HSD test, one panel a design."""
    shown = rates[rates["effects"] & rates["test"].isin(LOOKS)]
    cell = ["design", "runs", "topics"]
    reference = shown[shown["test"] == REFERENCE].set_index(cell)["power"].rename("reference")
    shown = shown[shown["test"] != REFERENCE].join(reference, on=cell)
    for column in ("power", "power_low", "power_high"):
        shown[column] = shown[column] / shown["reference"]

    def finish(axes: Axes) -> None:
        axes.axhline(1, color=LOOKS[REFERENCE][0], linewidth=0.9)
        axes.set_yscale("log", base=2)
        axes.set_ylim(1 / 8, 8)
        axes.set_yticks([0.25, 0.5, 1, 2, 4], labels=["¼", "½", "1", "2", "4"])

    label = "share of true differences found, over that of the randomised Tukey HSD test"
    return _draw_panels(shown, "power", label, signature, finish)


def _draw_panels(
    shown: pd.DataFrame, column: str, label: str, signature: str, finish: Callable[[Axes], None]
) -> Figure:
    """Draw a column of rates against the number of topics: one panel a design, one line a test, and a legend last.

    Scores simulated from real collections are in the counts only: they have too few numbers of topics for a line.
    """
    shown = shown[~shown["design"].str.contains(": ")]
    tests = [test for test in LOOKS if test in set(shown["test"])]
    designs = list(dict.fromkeys(shown["design"]))
    n_rows = -(-(len(designs) + 1) // COLUMNS)
    with house_style():
        figure = Figure(figsize=(9.5, 1.9 * n_rows), layout="constrained")
        grid = np.asarray(figure.subplots(n_rows, COLUMNS, sharex=True, sharey=True, squeeze=False)).ravel()
        for design, axes in zip(designs, grid, strict=False):
            axes.set_title(design, fontsize=8)
            axes.set_xscale("log")
            axes.set_xlim(8, 1300)
            axes.set_xticks([10, 25, 100, 400, 1000], labels=["10", "25", "100", "400", "1,000"], fontsize=7)
            axes.minorticks_off()
            axes.tick_params(labelsize=7)
            for t, test in enumerate(tests):
                rates = shown[(shown["design"] == design) & (shown["test"] == test)].sort_values("topics")
                _draw_line(axes, rates, column, SHIFT ** (t - len(tests) / 2), test)
            finish(axes)
        for axes in grid[len(designs) :]:
            axes.set_axis_off()
        for test in tests:
            grid[len(designs)].plot([], [], color=LOOKS[test][0], linestyle=LOOKS[test][1], label=test)
        grid[len(designs)].legend(loc="center", fontsize=7)
        figure.supxlabel("topics", fontsize=9)
        figure.supylabel(label, fontsize=9)
        return sign_figure(figure, signature)


def _draw_line(axes: Axes, rates: pd.DataFrame, column: str, shift: float, test: str) -> None:
    colour, style = LOOKS[test]
    topics = rates["topics"].to_numpy(dtype=float) * shift
    axes.fill_between(topics, rates[f"{column}_low"], rates[f"{column}_high"], color=colour, alpha=0.15, linewidth=0)
    axes.plot(topics, rates[column], color=colour, linestyle=style, linewidth=1.1)
