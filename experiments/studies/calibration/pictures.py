"""The pictures: the largest family-wise error of each test by kind of scores, and power beside that of the papers' test."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.page import Folder
from experiments.studies.calibration.designs import STUDY
from experiments.studies.calibration.rates import FEW, PAPERS_TEST
from metaeval.show.drawing import sign_figure
from metaeval.show.style import house_style

LOOKS = {
    "randomised-tukey-hsd": ("#D55E00", "s"),
    "max-t": ("#56B4E9", "^"),
    "paired-t, Holm": ("#009E73", "v"),
    "bootstrap-t": ("#0072B2", "o"),
}
"""Colour and marker of the tests that are drawn; Tukey's own test would hide behind its randomised form."""


def draw_errors(tables: Folder) -> Figure:
    """Draw the largest error of each test, one row a kind of scores, one panel a half; kinds outside the domain come last."""
    worst = tables.read("error")
    worst["label"] = worst["scores"].where(worst["runs"] != FEW, worst["scores"] + ", 3 runs")
    order = worst.sort_values("in the domain", ascending=False, kind="stable")["label"].drop_duplicates().tolist()
    inside = int(worst.groupby("label")["in the domain"].all().reindex(order).sum())
    with house_style():
        figure = Figure(figsize=(9.5, 0.22 * len(order) + 1.2), layout="constrained")
        for half, axes in zip(("choosing", "checking"), figure.subplots(1, 2, sharex=True, sharey=True), strict=True):
            rows = worst[worst["half"] == half].set_index("label").reindex(order)
            _draw_dots(axes, rows, {test: rows[test].to_numpy() for test in LOOKS})
            axes.axhline(inside - 0.5, color="#999999", linewidth=0.8)
            for level, style in ((STUDY["alpha"], ":"), (STUDY["most"], "--")):
                axes.axvline(level, color="#555555", linewidth=0.9, linestyle=style)
            axes.set_xscale("function", functions=(np.sqrt, np.square))
            axes.set_xlim(0, 1)
            axes.set_xticks([0.01, 0.05, 0.1, 0.2, 0.4, 0.7], labels=["1 %", "5 %", "10 %", "20 %", "40 %", "70 %"])
            axes.set_title(f"{half} half", fontsize=9)
        figure.axes[1].legend(loc="upper right", fontsize=7)
        figure.supxlabel("largest share of studies with a false difference, runs of equal means", fontsize=9)
        return sign_figure(figure, tables.tables["error"]["signature"])


def draw_power(tables: Folder) -> Figure:
    """Draw the share of true differences that each test finds, over that of the papers' test, one row a kind of scores."""
    power = tables.read("power")
    sizes, kinds = sorted(power["topics"].unique()), power["scores"].drop_duplicates().tolist()
    with house_style():
        figure = Figure(figsize=(9.5, 0.22 * len(kinds) + 1.2), layout="constrained")
        for size, axes in zip(sizes, figure.subplots(1, len(sizes), sharex=True, sharey=True), strict=True):
            some = power[power["topics"] == size].set_index("scores").reindex(kinds)
            shares = {test: (some[test] / some[PAPERS_TEST]).to_numpy() for test in LOOKS if test != PAPERS_TEST}
            _draw_dots(axes, some, shares)
            axes.axvline(1, color=LOOKS[PAPERS_TEST][0], linewidth=0.9)
            axes.set_title(f"{size} topics", fontsize=9)
        figure.axes[-1].legend(loc="lower right", fontsize=7)
        figure.supxlabel("share of true differences found, over that of the randomised Tukey HSD test", fontsize=9)
        return sign_figure(figure, tables.tables["power"]["signature"])


def _draw_dots(axes: Axes, rows: pd.DataFrame, values: dict[str, np.ndarray]) -> None:
    places = np.arange(len(rows))
    for test, numbers in values.items():
        colour, marker = LOOKS[test]
        axes.plot(numbers, places, marker, color=colour, markersize=4, label=test)
    axes.set_yticks(places, labels=rows.index.tolist(), fontsize=7)
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
