"""The answer of a comparison in one picture: what the verdict says of a new measure, and what it rests on."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.grades import THRESHOLD
from metaeval.comparison.summary import summarise
from metaeval.comparison.verdicts import find_title, find_verdicts
from metaeval.show.names import shorten_name
from metaeval.show.style import GREY, Size, choose_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.comparison.new_measure import Comparison

_HEADING = 25
"""Characters in a line of a panel's heading."""


def draw_answer(
    comparison: Comparison, measure: str | None = None, *, size: Size = None, signature: bool = True
) -> Figure:
    """Draw what came out for a new measure: one panel for each sentence of the verdict, one row for each other measure.

    Parameters
    ----------
    comparison : Comparison
    measure : str, optional
        The new measure; the first by default.
    size : {"column", "page"} or (float, float), optional
    signature : bool, optional

    Returns
    -------
    matplotlib.figure.Figure
        Headings are phrases of the verdict without their numbers, and intervals those of the summary.
    """
    from metaeval.show.canvas import open_canvas, typeset, typeset_ticks

    name = comparison.find_new(measure)
    frame = summarise(comparison, name)
    said = {one.key: re.sub(r" \([^)]*\)", "", one.phrase) for one in find_verdicts(comparison, name)}
    others = frame.drop(index=name)[::-1]  # the first one at the top
    title = find_title(comparison.measures, name)
    panels: list[tuple[str, str, _Intervals]] = []
    if "tau" in frame:
        draw = _Intervals(others, "tau", 1.0, THRESHOLD)
        panels.append((said["similarity"], f"τ with {title}, 95 % interval", draw))
    if "consistency" in frame:
        own = frame["consistency"].to_numpy(dtype=float)[frame.index.get_loc(name)]
        draw = _Intervals(others, "consistency", 1.0, float(own))
        panels.append((said["consistency"], f"mean τ over splits; line: {title}", draw))
    if "difference" in frame:
        draw = _Intervals(others, "difference", 100.0, 0.0)
        panels.append((said["power"], f"% of pairs more than {title}, 95 % interval", draw))
    if "contradictions" in frame:
        draw = _Intervals(others, "contradictions", 1.0, 0.0, bars=True)
        panels.append((said["contradictions"], f"pairs on which it contradicts {title}", draw))
    with open_canvas(
        None, size, comparison.signature if signature else None, width=2.35 * len(panels) + 0.8,
        height=0.3 * len(others) + 1.65, shape=(1, len(panels)), sharey=True,
    ) as canvas:  # fmt: skip
        for number, (axes, (heading, label, draw)) in enumerate(zip(canvas.panels, panels, strict=True)):
            draw(axes)
            axes.grid(axis="y", visible=False)
            axes.set_title("\n".join(textwrap.wrap(heading, _HEADING)), loc="left", fontsize=9, fontweight="bold")
            axes.set_xlabel("\n".join(textwrap.wrap(label, 30)))
            typeset(axes.title, axes._left_title, axes.xaxis.label)  # type: ignore[attr-defined]
            if number == 0:
                titles = {str(one): one.title for one in comparison.measures}
                typeset_ticks(axes, "y", [shorten_name(titles[one], 24) for one in others.index])
            axes.set_ylim(-0.6, len(others) - 0.4)
        canvas.figure.suptitle(f"{title} beside the established measures", x=0.01, ha="left", fontsize=11)
        typeset(canvas.figure._suptitle)  # type: ignore[attr-defined]
    return canvas.figure


class _Intervals:
    """Draws one column of the summary: a marker for each measure, its interval if there is one, a line to compare with."""

    def __init__(self, frame: pd.DataFrame, column: str, times: float, level: float, *, bars: bool = False) -> None:
        self.frame, self.column, self.times, self.level, self.bars = frame, column, times, level, bars

    def __call__(self, axes: Axes) -> None:
        looks: dict[str, dict[str, Any]] = choose_looks(list(self.frame.index))
        values = self.times * self.frame[self.column].to_numpy(dtype=float)
        axes.axvline(self.level, color=GREY, linewidth=0.9, linestyle="-" if self.level == 0 else "--", zorder=0)
        for place, (name, value) in enumerate(zip(self.frame.index, values, strict=True)):
            colour = looks[name]["color"]
            if self.bars:
                axes.barh(place, value, height=0.55, color=colour)
                axes.annotate(
                    f"{value:,.0f}", (value, place), (3, 0), textcoords="offset points", va="center", fontsize=8
                )
                continue
            ends = [f"{self.column}_{end}" for end in ("low", "high")]
            if ends[0] in self.frame:
                low, high = self.times * self.frame.loc[name, ends].to_numpy(dtype=float)
                if low <= high:
                    axes.plot([low, high], [place, place], color=colour)
            axes.plot(value, place, looks[name]["marker"], color=colour)
        if self.bars:
            axes.set_xlim(0, 1.25 * max(4.0, float(np.nanmax(values, initial=0))))
