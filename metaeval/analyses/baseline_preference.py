"""Which of two runs does each measure prefer, topic by topic? (Sakai, LQ 2021, §5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import diagnose
from metaeval.analyses.prepare import check_scores
from metaeval.analyses.result import Result, name_pairs
from metaeval.analyses.topic_noise import refuse_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import ScatterChart
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import scale_scores
from metaeval.stats.intervals import interval_of_pearson

TIE = 1e-9
"""Scores near 1 closer than this are tied: rounding is below 1e-15, differences that mean something above 1e-6."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BaselinePreference(Result):
    """How two runs compare topic by topic according to every measure.

    `rows` (LQ 2021, Table 7) count the topics that either run wins, in columns with their names, and those that are tied.
    `deltas`, shape (topic, measure), are scores of the first run minus those of the second, ties being exactly 0 (Eq. 10).
    """

    first: str
    second: str
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    deltas: np.ndarray
    rows: pd.DataFrame

    def answer(self) -> str:
        """Say by how many measures either run wins more topics than the other."""
        lead, n = self.rows[self.first] - self.rows[self.second], len(self.measures)
        first, second = int((lead > 0).sum()), int((lead < 0).sum())
        winner, loser = (self.first, self.second) if first >= second else (self.second, self.first)
        by = f"{max(first, second)} of {format_count(n, 'measure')}"
        fewer, same = f", fewer by {min(first, second)}", f", as many by {n - first - second}"
        rest = fewer * (min(first, second) > 0) + same * (first + second < n)
        return f"{winner} wins more topics than {loser} by {by}{rest}; no test is made."

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return on how many topics either run wins, the delta of every topic, and how every two measures compare."""
        names, topics = [str(measure) for measure in self.measures], pd.Index(self.topics, name="topic")
        deltas = pd.DataFrame(self.deltas, index=topics, columns=names)
        return {"baselines": self.rows, "deltas": deltas, "quadrants": self.quadrants()}

    def quadrants(self) -> pd.DataFrame:
        """Return on how many topics only one of two measures prefers the first run, and r of their deltas, for every pair.

        ``second`` are topics where the first delta is below 0, ``fourth`` the reverse (LQ 2021, Figures 1 and 2).
        """
        pairs = [self.deltas[:, pair].T for pair in itertools.combinations(range(len(self.measures)), 2)]
        rows = [(*ScatterChart(x, y, "", "").corners, *interval_of_pearson(x, y)) for x, y in pairs]
        known = pd.DataFrame(rows, columns=["second", "fourth", "r", "low", "high"])
        return pd.concat([pd.DataFrame(name_pairs(self.measures)), known], axis=1)

    def tables(self) -> list[Table]:
        """Return the topics won by either run (LQ 2021, Table 7)."""
        caption = f"Topics won by {self.first} or {self.second}, and tied, by each measure."
        return [Table(self.rows, caption, self.signature)]

    def charts(self) -> Sequence[ScatterChart]:
        """Return the deltas of the first six pairs of measures, one point per topic (LQ 2021, Figures 1 and 2)."""
        charts, places = [], [*range(len(self.measures))] * (2 if len(self.measures) == 1 else 1)
        for pair in itertools.islice(itertools.combinations(places, 2), 6):
            (x, y), (one, other) = self.deltas[:, pair].T, (self.measures[m].title for m in pair)
            r, low, high = interval_of_pearson(x, y)
            title = f"r = {r:.3f} [{low:.3f}, {high:.3f}]"
            charts.append(ScatterChart(x, y, f"Δ {one}", f"Δ {other}", title))
        return charts


def baseline_preference(scores: Scores, first: str, second: str) -> BaselinePreference:
    """Which of two runs does each measure prefer, topic by topic?

    Scores that differ by rounding alone, at most 1e-9 of the measure's scale, are tied.

    Parameters
    ----------
    scores : Scores
    first : str
        One of its runs.
    second : str
        Another one.

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
    check_scores(scores, topics=1)
    refuse_clusters(scores)
    pair = scores.sel(runs=[first, second])
    # The power of two that brings scores near to 1 decides on ties, so that their unit does not.
    tied = np.abs(np.subtract(*scale_scores(pair.values))) <= TIE
    deltas = np.where(tied, 0.0, pair.values[0] - pair.values[1])
    gains = deltas * find_signs(scores.measures)
    won = {first: gains > 0, second: gains < 0, "tied": gains == 0}
    names = pd.Index([str(measure) for measure in scores.measures], name="measure")
    rows = pd.DataFrame({name: topics.sum(axis=0) for name, topics in won.items()}, index=names)
    return BaselinePreference(
        first=first, second=second, topics=scores.topics, measures=scores.measures, deltas=deltas, rows=rows,
        signature=sign("baseline_preference", scores, runs=f"{first} − {second}", tie=f"{TIE:g}"),
        diagnostics=(diagnose(pair),),
    )  # fmt: skip
