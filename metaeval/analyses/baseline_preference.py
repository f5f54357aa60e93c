"""Which of two runs does each measure prefer, topic by topic? (Sakai, LQ 2021, §5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import diagnose
from metaeval.analyses.result import FormerResult
from metaeval.analyses.topic_noise import refuse_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import ScatterChart
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.blocks import scale_scores
from metaeval.stats.pearson import pearson

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

TIE = 1e-9
"""Scores near 1 closer than this are tied: rounding is below 1e-15, differences that mean something above 1e-6."""


@dataclass(frozen=True, eq=False)
class BaselinePreference(FormerResult):
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

        Of shape (measure, 3), with columns: the first run's name, the second's, and ``tied``.
        """
        won = {self.first: self.gains > 0, self.second: self.gains < 0, "tied": self.gains == 0}
        columns = {name: topics.sum(axis=0) for name, topics in won.items()}
        return pd.DataFrame(columns, index=pd.Index([str(measure) for measure in self.measures], name="measure"))

    def answer(self) -> str:
        """Say how many measures prefer the first run, and how many the second, on more topics."""
        frame = self.to_frame()
        lead = (frame[self.first] - frame[self.second]).to_numpy()
        n = len(self.measures)
        first, second = int((lead > 0).sum()), int((lead < 0).sum())
        if max(first, second) == n:
            winner, loser = (self.first, self.second) if first else (self.second, self.first)
            who = "every measure" if n > 1 else str(self.measures[0])
            return f"{winner} wins more topics than {loser} by {who}."
        tied = f", {n - first - second} neither" * (first + second < n)
        return f"On most topics {first} of {n} measures prefer {self.first}, {second} {self.second}{tied}."

    def quadrants(self) -> pd.DataFrame:
        """Return, for every pair of measures, on how many topics they disagree, and how deltas correlate.

        Columns measure_1, measure_2; ``second``, topics where the first delta is negative and the second positive,
        and ``fourth``, the reverse (LQ 2021, Figures 1 and 2); Pearson's ``r`` with the ends ``low`` and ``high`` of
        its 95 % interval. r is NaN where deltas do not vary.
        """
        rows = []
        for first, second in itertools.combinations(map(str, self.measures), 2):
            chart = self.compare_deltas(first, second)
            rows.append((first, second, *chart.corners, *_correlate(chart.x, chart.y)))
        return pd.DataFrame(rows, columns=["measure_1", "measure_2", "second", "fourth", "r", "low", "high"])

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
        names = [str(measure) for measure in self.measures]
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
        deltas = pd.DataFrame(self.deltas, index=topics, columns=[str(measure) for measure in self.measures])
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
            Measures on the horizontal and the vertical axis of each panel; by default the first twelve pairs, or six in a
            column of print.
        ax, size, signature
            As for every result.
        """
        from metaeval.show.drawing import draw_charts

        if pairs is None:
            names = [*map(str, self.measures)] * (2 if len(self.measures) == 1 else 1)  # a single one against itself
            pairs = list(itertools.islice(itertools.combinations(names, 2), 6 if size == "column" else 12))
        charts = [self.compare_deltas(first, second) for first, second in pairs]
        columns = min(2 if size == "column" else 4, len(charts))
        return draw_charts(charts, self.signature if signature else None, ax=ax, size=size, columns=columns)

    def compare_deltas(self, first: str, second: str) -> ScatterChart:
        """Return the deltas of one measure against those of another, one point per topic."""
        names = [str(measure) for measure in self.measures]
        i, j = names.index(first), names.index(second)
        x, y = self.deltas[:, i], self.deltas[:, j]
        r, low, high = _correlate(x, y)
        titles = self.measures[i].title, self.measures[j].title
        return ScatterChart(
            x, y, f"Δ {titles[0]}", f"Δ {titles[1]}", f"r = {r:.3f} [{low:.3f}, {high:.3f}]",
            f"Score deltas of {titles[1]} against those of {titles[0]}, one point per topic",
        )  # fmt: skip


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
    refuse_clusters(scores)
    pair = scores.sel(runs=[first, second])
    deltas = pair.values[0] - pair.values[1]
    # By default, the power of two that brings scores near to 1 decides, so that their unit does not.
    gaps = deltas if tie is not None else np.subtract(*scale_scores(pair.values))
    tie = TIE if tie is None else tie
    deltas = np.where(np.abs(gaps) <= tie, 0.0, deltas)
    signature = sign("baseline_preference", scores, runs=f"{first} − {second}", tie=f"{tie:g}")
    return BaselinePreference(
        first, second, scores.topics, scores.measures, deltas, signature, diagnostics=(diagnose(pair),)
    )


def _correlate(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return Pearson's r with the ends of its 95 % interval, NaN where deltas do not vary."""
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        return pearson(x, y)
    return (np.nan,) * 3
