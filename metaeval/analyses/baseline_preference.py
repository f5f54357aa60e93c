"""Which of two runs does each measure prefer, topic by topic? (Sakai, LQ 2021, §5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import diagnose
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.scale import scale_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

TIE = 1e-9
"""Scores near 1 closer than this are tied: rounding is below 1e-15, differences that mean something above 1e-6."""


@dataclass(frozen=True, eq=False)
class BaselinePreference(Result):
    """How two runs compare topic by topic according to every measure.

    Parameters
    ----------
    first, second : str
        The two runs.
    topics : tuple of str
    measures : tuple of Measure
    deltas : ndarray, shape (topic, measure)
        ``deltas[t, m]`` is the score of the first run minus that of the second, ties being exactly 0
        (LQ 2021, Eq. 10).
    signature : Signature
    """

    first: str
    second: str
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    deltas: np.ndarray
    signature: Signature

    def __repr__(self) -> str:
        size = f"{len(self.topics)} topics × {len(self.measures)} measures"
        return f"BaselinePreference: {self.first} or {self.second}, {size}"

    @property
    def gains(self) -> np.ndarray:
        """How much better the first run is, shape (topic, measure): deltas turned so that more is better."""
        return self.deltas * find_signs(self.measures)

    def to_frame(self) -> pd.DataFrame:
        """Return the number of topics won by either run, or tied: LQ 2021, Table 7.

        Returns
        -------
        DataFrame, shape (measure, 3)
            Columns: the first run's name, the second's, and ``tied``.
        """
        gains = self.gains
        columns = {
            self.first: (gains > 0).sum(axis=0),
            self.second: (gains < 0).sum(axis=0),
            "tied": (gains == 0).sum(axis=0),
        }
        return pd.DataFrame(columns, index=pd.Index([str(one) for one in self.measures], name="measure"))

    def quadrants(self) -> pd.DataFrame:
        """Return, for every pair of measures, on how many topics they disagree, and how deltas correlate.

        Returns
        -------
        DataFrame
            Columns measure_1, measure_2; ``second``, topics where the first delta is negative and the second
            positive, and ``fourth``, the reverse (LQ 2021, Figures 1 and 2); Pearson's ``r`` with the ends
            ``low`` and ``high`` of its 95 % interval. r is NaN where deltas do not vary.
        """
        rows = []
        for i, j in itertools.combinations(range(len(self.measures)), 2):
            x, y = self.deltas[:, i], self.deltas[:, j]
            rows.append(
                {
                    "measure_1": str(self.measures[i]),
                    "measure_2": str(self.measures[j]),
                    "second": int(((x < 0) & (y > 0)).sum()),
                    "fourth": int(((x > 0) & (y < 0)).sum()),
                    **dict(zip(("r", "low", "high"), _correlate(x, y), strict=True)),
                }
            )
        return pd.DataFrame(rows)

    def divergent_topics(self, measure_1: str, measure_2: str, n: int = 2) -> pd.DataFrame:
        """Return the topics on which two measures differ most, by d = delta of the one − delta of the other.

        Parameters
        ----------
        measure_1, measure_2 : str
        n : int, optional
            How many topics; those where d is smallest come first, as in LQ 2021, Figure 3.

        Returns
        -------
        DataFrame, shape (n, 3 + measure)
            Columns topic, number (from 1, in the collection's order), d, and the delta of every measure.

        Raises
        ------
        MetaevalError
            If there is no such measure.
        """
        names = [str(one) for one in self.measures]
        for name in (measure_1, measure_2):
            if name not in names:
                raise MetaevalError(f"there is no measure {name!r} in this result (there are {', '.join(names)})")
        d = self.deltas[:, names.index(measure_1)] - self.deltas[:, names.index(measure_2)]
        order = np.argsort(d, kind="stable")[:n]
        columns = {"topic": [self.topics[t] for t in order], "number": order + 1, "d": d[order]}
        return pd.DataFrame(columns | {name: self.deltas[order, m] for m, name in enumerate(names)})

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the delta of every topic and measure, and what the figure says of every two measures."""
        topics = pd.Index(self.topics, name="topic")
        deltas = pd.DataFrame(self.deltas, index=topics, columns=[str(one) for one in self.measures])
        return {"deltas": deltas, "quadrants": self.quadrants()}

    def to_table(self) -> Table:
        """Return the topics won by either run (LQ 2021, Table 7)."""
        caption = f"Topics on which each measure prefers {self.first} or {self.second}."
        return Table(self.to_frame(), caption, self.signature)

    def plot(
        self,
        pairs: Sequence[tuple[str, str]] | None = None,
        *,
        ax: Axis = None,
        size: Size = None,
        signature: bool = True,
    ) -> Figure:
        """Draw score deltas of pairs of measures against each other, with quadrant counts (LQ 2021, Figures 1 and 2).

        Parameters
        ----------
        pairs : sequence of (str, str), optional
            Measures on the horizontal and the vertical axis of each panel; by default the first twelve pairs.
        ax, size, signature
            As for every result.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from metaeval.show.canvas import open_canvas

        names = [str(one) for one in self.measures]
        if pairs is None:
            pairs = list(itertools.islice(itertools.combinations(names, 2), 12))
        columns = min(2 if size == "column" else 4, len(pairs))
        rows = -(-len(pairs) // columns)
        across, down = 2.9 * columns + 0.3, 2.9 * rows
        said = self.signature if signature else None
        with open_canvas(ax, size, said, width=across, height=down, shape=(rows, columns)) as canvas:
            for axes, (one, two) in zip(canvas.panels, pairs, strict=False):
                self._draw_deltas(axes, names.index(one), names.index(two), 0 if size is None else 6)
            for axes in canvas.panels[len(pairs) :]:
                axes.set_visible(False)
        return canvas.figure

    def _draw_deltas(self, axes: Axes, one: int, two: int, small: int = 0) -> None:
        from metaeval.show.canvas import typeset
        from metaeval.show.style import GREY

        x, y = self.deltas[:, one], self.deltas[:, two]
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.axvline(0, color=GREY, linewidth=0.8)
        disagree = x * y < 0
        axes.plot(x[~disagree], y[~disagree], ".", color="#0064B0", markersize=3, alpha=0.5)
        axes.plot(x[disagree], y[disagree], "x", color="#BF4A00", markersize=3.5)
        second, fourth = int(((x < 0) & (y > 0)).sum()), int(((x > 0) & (y < 0)).sum())
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "#007A56", "alpha": 0.85}
        axes.text(0.03, 0.97, str(second), transform=axes.transAxes, va="top", fontsize=8, bbox=box)
        axes.text(0.97, 0.03, str(fourth), transform=axes.transAxes, ha="right", fontsize=8, bbox=box)
        r, low, high = _correlate(x, y)
        axes.set_title(f"r = {r:.3f} [{low:.3f}, {high:.3f}]", fontsize=small or 8)
        axes.set(xlabel=f"Δ {self.measures[one].title}", ylabel=f"Δ {self.measures[two].title}")
        typeset(axes.xaxis.label, axes.yaxis.label)


def baseline_preference(scores: Scores, first: str, second: str, *, tie: float | None = None) -> BaselinePreference:
    """Which of two runs does each measure prefer, topic by topic?

    Parameters
    ----------
    scores : Scores
    first : str
        One of its runs: Popularity in LQ 2021, §5.3.
    second : str
        Another one: Uniform in LQ 2021, §5.3.
    tie : float, optional
        Scores at most this far apart are tied. By default 1e-9 of the measure's scale: differences by rounding alone.

    Returns
    -------
    BaselinePreference

    Raises
    ------
    DataError
        If there is no such run.
    MetaevalError
        If both are the same run, or the tolerance is negative.

    Examples
    --------
    >>> scores = Scores([[[0.1], [0.4]], [[0.2], [0.4]]], runs=["a", "b"], topics=["t", "u"], measures=["NMD"])
    >>> baseline_preference(scores, "a", "b").to_frame()
             a  b  tied
    measure
    NMD      1  0     1
    """
    if first == second:
        raise MetaevalError(f"both runs are {first!r}; name two different ones")
    if tie is not None and not tie >= 0:
        raise MetaevalError(f"{format_option('tie')} is {tie:g}; it is 0 or more")
    pair = scores.sel(runs=[first, second])
    deltas = pair.values[0] - pair.values[1]
    # By default, the power of two that brings scores near to 1 decides, so that their unit does not.
    gaps = deltas if tie is not None else np.subtract(*scale_scores(pair.values))
    tie = TIE if tie is None else tie
    return BaselinePreference(
        first,
        second,
        scores.topics,
        scores.measures,
        np.where(np.abs(gaps) <= tie, 0.0, deltas),
        sign("baseline_preference", scores, runs=f"{first} − {second}", tie=f"{tie:g}"),
        diagnostics=(diagnose(pair),),
    )


def _correlate(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return Pearson's r with the ends of its 95 % interval, NaN where deltas do not vary."""
    from metaeval.stats.pearson import pearson

    if np.ptp(x) > 0 and np.ptp(y) > 0:
        return pearson(x, y)
    return (np.nan,) * 3
