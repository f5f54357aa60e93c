"""Which of two runs does each measure prefer, topic by topic? (Sakai, LQ 2021, §5.3)."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import diagnose
from metaeval.analyses.result import Result
from metaeval.analyses.topic_noise import refuse_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_option
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import Chart, ScatterChart
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import scale_scores

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

TIE = 1e-9
"""Scores near 1 closer than this are tied: rounding is below 1e-15, differences that mean something above 1e-6."""


@dataclass(frozen=True, eq=False, kw_only=True)
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
    """

    first: str
    second: str
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    deltas: np.ndarray

    def __repr__(self) -> str:
        size = f"{len(self.topics)} topics × {len(self.measures)} measures"
        return f"BaselinePreference: {self.first} or {self.second}, {size}"

    def answer(self) -> str:
        """Say how many measures prefer the first run, and how many the second, on more topics."""
        frame, n = self._count_wins(), len(self.measures)
        lead = (frame[self.first] - frame[self.second]).to_numpy()
        first, second = int((lead > 0).sum()), int((lead < 0).sum())
        if max(first, second) == n:
            winner, loser = (self.first, self.second) if first else (self.second, self.first)
            return f"{winner} wins more topics than {loser} by {'every measure' if n > 1 else self.measures[0]}."
        tied = f", {n - first - second} neither" * (first + second < n)
        return f"On most topics {first} of {n} measures prefer {self.first}, {second} {self.second}{tied}."

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return on how many topics either run wins, the delta of every topic, and what the figure says of measures.

        Rows (LQ 2021, Table 7): the first run's name, the second's, and ``tied``. Quadrants, for every pair of measures:
        ``second``, topics where the first delta is negative and the second positive, and ``fourth``, the reverse (LQ 2021,
        Figures 1 and 2); Pearson's ``r`` with the ends ``low`` and ``high`` of its 95 % interval, NaN where deltas do not vary.
        """
        names, topics = [str(measure) for measure in self.measures], pd.Index(self.topics, name="topic")
        deltas = pd.DataFrame(self.deltas, index=topics, columns=names)
        return {"baselines": self._count_wins(), "deltas": deltas, "quadrants": self.quadrants()}

    def _count_wins(self) -> pd.DataFrame:
        gains = self.deltas * find_signs(self.measures)
        won = {self.first: gains > 0, self.second: gains < 0, "tied": gains == 0}
        names = pd.Index([str(measure) for measure in self.measures], name="measure")
        return pd.DataFrame({name: topics.sum(axis=0) for name, topics in won.items()}, index=names)

    def quadrants(self) -> pd.DataFrame:
        """Return, for every pair of measures, on how many topics they disagree, and how deltas correlate; see `frames`."""
        rows = []
        for (first, x), (second, y) in itertools.combinations(
            zip(map(str, self.measures), self.deltas.T, strict=True), 2
        ):
            rows.append((first, second, *ScatterChart(x, y, first, second).corners, *_correlate(x, y)))
        return pd.DataFrame(rows, columns=["measure_1", "measure_2", "second", "fourth", "r", "low", "high"])

    def divergent_topics(self, measure_1: str, measure_2: str, n: int = 2) -> pd.DataFrame:
        """Return the topics on which two measures differ most, by d = delta of the one − delta of the other.

        The `n` topics where d is smallest come first, as in LQ 2021, Figure 3. Columns topic, number (from 1, in the
        collection's order), d, and the delta of every measure. A measure that is not there raises a MetaevalError.
        """
        names = [str(measure) for measure in self.measures]
        for name in (measure_1, measure_2):
            if name not in names:
                raise MetaevalError(f"there is no measure {name!r} in this result (there are {', '.join(names)})")
        d = self.deltas[:, names.index(measure_1)] - self.deltas[:, names.index(measure_2)]
        order = np.argsort(d, kind="stable")[:n]
        columns = {"topic": [self.topics[t] for t in order], "number": order + 1, "d": d[order]}
        return pd.DataFrame(columns | {name: self.deltas[order, m] for m, name in enumerate(names)})

    def tables(self) -> list[Table]:
        """Return the topics won by either run (LQ 2021, Table 7)."""
        caption = f"Topics on which each measure prefers {self.first} or {self.second}."
        return [Table(self._count_wins(), caption, self.signature)]

    def compare_deltas(self, first: str, second: str) -> ScatterChart:
        """Return the deltas of one measure against those of another, one point per topic (LQ 2021, Figures 1 and 2)."""
        names = [str(measure) for measure in self.measures]
        i, j = names.index(first), names.index(second)
        x, y = self.deltas[:, i], self.deltas[:, j]
        r, low, high = _correlate(x, y)
        titles = self.measures[i].title, self.measures[j].title
        return ScatterChart(
            x, y, f"Δ {titles[0]}", f"Δ {titles[1]}", f"r = {r:.3f} [{low:.3f}, {high:.3f}]",
            f"Score deltas of {titles[1]} against those of {titles[0]}, one point per topic",
        )  # fmt: skip

    def charts(self) -> Sequence[Chart]:
        """Return the deltas of the first twelve pairs of measures."""
        names = [*map(str, self.measures)] * (2 if len(self.measures) == 1 else 1)  # a single one against itself
        return [self.compare_deltas(*pair) for pair in itertools.islice(itertools.combinations(names, 2), 12)]

    def plot(
        self,
        pairs: Sequence[tuple[str, str]] | None = None,
        *,
        ax: Axis = None,
        size: Size = None,
        signature: bool = True,
    ) -> Figure:
        """Draw the deltas of these pairs of measures; by default the first twelve, or six in a column of print."""
        from metaeval.show.drawing import draw_charts

        charts, columns = (self.charts()[:6], 2) if size == "column" else (self.charts(), 4)
        if pairs is not None:
            charts = [self.compare_deltas(first, second) for first, second in pairs]
        columns = min(columns, len(charts))
        return draw_charts(charts, self.signature if signature else None, ax=ax, size=size, columns=columns)


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
    return BaselinePreference(
        first=first, second=second, topics=scores.topics, measures=scores.measures, deltas=deltas,
        signature=sign("baseline_preference", scores, runs=f"{first} − {second}", tie=f"{tie:g}"),
        diagnostics=(diagnose(pair),),
    )  # fmt: skip


def _correlate(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return Pearson's r with the ends of its 95 % interval, NaN where deltas do not vary."""
    from scipy.stats import pearsonr  # half a second that other analyses need not wait for

    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return (np.nan,) * 3
    with np.errstate(all="ignore"), warnings.catch_warnings():  # of few topics, or of deltas that hardly vary
        warnings.simplefilter("ignore")
        result = pearsonr(x, y)
        low, high = result.confidence_interval()
    return float(result.statistic), float(low), float(high)
