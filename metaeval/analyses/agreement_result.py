"""The result of `agreement`: its tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.agreement_figures import draw_measures, draw_p_values
from metaeval.analyses.agreement_statistics import name_statistic
from metaeval.analyses.disagreement import Disagreement
from metaeval.analyses.reference_counts import COUNTS
from metaeval.analyses.result import Result
from metaeval.analyses.variation import tabulate_differences
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.canvas import Axis
    from metaeval.show.style import Size

_MOST_ROWS, _MOST_COLUMNS = 5, 8  # of what is printed about runs and topics; exports hold everything


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """How measures agree with a reference.

    Parameters
    ----------
    collections : tuple of str
    measures : tuple of Measure
        All but the reference.
    reference : Measure
    statistics : tuple of str
    values : ndarray, shape (statistic, measure)
        Pooled over collections.
    low, high : ndarray, shape (statistic, measure)
        Ends of the interval over topics, for the same runs; NaN where there is none.
    chance : ndarray, shape (statistic,)
        What a measure reaches that knows nothing.
    ceiling : ndarray, shape (statistic,)
        What the reference reaches on topics drawn anew, held against itself on all; NaN where that is not defined.
    p_values : ndarray, shape (statistic, measure, measure)
        ``p_values[s, i, j]``, one-sided: how often exchanging measures i and j at random gives i as large a lead.
    clusters : ndarray of int, shape (statistic, measure)
        Significance clusters by the exchange tests, from 1, as the shared task on metrics forms them.
    exchanged : ndarray, shape (statistic, trial, measure pair)
        What the p-values rest on: differences of two measures after each exchange.
    gap_ends : ndarray, shape (statistic, 2, measure pair)
        Low and high end of the interval of the first less the second measure's value, paired; NaN where there is none.
    by_collection : ndarray, shape (collection, statistic, measure)
    pairs : ndarray of int, shape (measure, 4)
        Significant pairs of runs that the reference confirms, contradicts, or does not find significant, and those that
        only the reference finds.
    n_pairs : int
        All pairs of runs.
    alpha, confidence : float
    signature : Signature
    disagreements : tuple of Disagreement
        Of every collection, where measures and reference differ.
    no_interval : str
        Why there is no interval, if it was asked for.
    """

    collections: tuple[str, ...]
    measures: tuple[Measure, ...]
    reference: Measure
    statistics: tuple[str, ...]
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    chance: np.ndarray
    ceiling: np.ndarray
    p_values: np.ndarray
    clusters: np.ndarray
    exchanged: np.ndarray
    gap_ends: np.ndarray
    by_collection: np.ndarray
    pairs: np.ndarray
    n_pairs: int
    alpha: float
    confidence: float
    signature: Signature
    disagreements: tuple[Disagreement, ...]
    no_interval: str = ""

    def __repr__(self) -> str:
        where = ", ".join(one for one in self.collections if one) or "scores"
        return f"Agreement: {len(self.measures)} measures with {self.reference}, {where}"

    def to_frame(self) -> pd.DataFrame:
        """Return every statistic of every measure.

        Returns
        -------
        DataFrame, shape (statistic · measure, 9)
            Columns statistic, measure, value, low, high, chance, ceiling, cluster, better_than: how many of the other
            measures, by the intervals of `differences`.
        """
        shape = self.values.shape
        names = np.array([str(one) for one in self.measures], dtype=object)
        of_statistic = {"chance": self.chance, "ceiling": self.ceiling}
        repeated = {name: np.repeat(values, shape[1]) for name, values in of_statistic.items()}
        return pd.DataFrame(
            {
                "statistic": np.repeat(np.array(self.statistics, dtype=object), shape[1]),
                "measure": np.tile(names, shape[0]),
                "value": self.values.ravel(),
                "low": self.low.ravel(),
                "high": self.high.ravel(),
                **repeated,
                "cluster": self.clusters.ravel(),
                "better_than": self._count_better().ravel(),
            }
        )

    def differences(self) -> pd.DataFrame:
        """Is one measure better than another? The difference of every two, with its interval and the exchange test's p.

        The interval is paired: both measures on the same resampled topics. Overlapping intervals of the two say less.

        Returns
        -------
        DataFrame, shape (statistic · pair of measures, 9)
            Columns statistic, measure_1, measure_2, difference, low, high, better (the measure that is if the interval
            leaves 0 out, and "cannot tell" otherwise), p_first (one-sided, for the first measure being no better) and
            p_second.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        parts = []
        for s, statistic in enumerate(self.statistics):
            low, high = self.gap_ends[s]
            gap, p = self.values[s, first] - self.values[s, second], self.p_values[s]
            found = tabulate_differences(self.measures, gap, low, high, "better")
            found.insert(0, "statistic", statistic)
            parts.append(found.assign(p_first=p[first, second], p_second=p[second, first]))
        return pd.concat(parts, ignore_index=True)

    def significant_pairs(self) -> pd.DataFrame:
        """Return what becomes of every measure's significant pairs of runs, held against those of the reference.

        Returns
        -------
        DataFrame, shape (measure, 6)
            Columns measure, confirmed, contradicted (the reference finds the opposite), only_here (the reference finds
            nothing), missed (only the reference finds it) and pairs (all of them).
        """
        names = {"measure": [str(one) for one in self.measures]}
        counts = dict(zip(COUNTS, self.pairs.T, strict=True))
        return pd.DataFrame({**names, **counts, "pairs": self.n_pairs})

    def runs(self) -> pd.DataFrame:
        """Which runs do measures and reference rank differently?

        Returns
        -------
        DataFrame, shape (run · measure, 8)
            Columns collection, run, measure, score, reference_score, rank (from 1, the best), reference_rank and
            difference (above 0: the measure ranks the run worse), the largest differences of a collection first.
        """
        names = [str(one) for one in self.measures]
        return self._join([one.list_runs(names) for one in self.disagreements])

    def topics(self) -> pd.DataFrame:
        """On which topics do measures rank the runs otherwise than the reference does?

        Returns
        -------
        DataFrame, shape (topic · measure, 4)
            Columns collection, topic, measure and tau_b of the runs' scores on that topic, the lowest of a collection
            first; NaN, where the measure or the reference ties all runs, last.
        """
        names = [str(one) for one in self.measures]
        return self._join([one.list_topics(names) for one in self.disagreements])

    def _join(self, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
        named = zip(self.collections, frames, strict=True)
        return pd.concat([frame.assign(collection=name)[["collection", *frame]] for name, frame in named])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return differences between measures, significant pairs of runs, runs, topics, and each of several collections."""
        found = {"differences": self.differences(), "significant_pairs": self.significant_pairs()}
        found |= {"runs": self.runs(), "topics": self.topics()}
        if len(self.collections) > 1:
            shape = self.by_collection.shape
            names = np.array([str(one) for one in self.measures], dtype=object)
            labels = {
                "collection": np.repeat(np.array(self.collections, dtype=object), shape[1] * shape[2]),
                "statistic": np.tile(np.repeat(np.array(self.statistics, dtype=object), shape[2]), shape[0]),
                "measure": np.tile(names, shape[0] * shape[1]),
            }
            found["collections"] = pd.DataFrame({**labels, "value": self.by_collection.ravel()})
        return found

    def to_table(self) -> Table:
        """Return all statistics of all measures, in bold those than which none is better, with chance and ceiling below.

        Better is judged by the intervals of `differences`; without intervals nothing is bold.
        """
        rows = self._rank()
        names = [str(self.measures[m]) for m in rows]
        columns = [name_statistic(one) for one in self.statistics]
        frame = pd.DataFrame(self.values.T[rows], index=pd.Index(names, name="measure"), columns=columns)
        counts = pd.DataFrame(self.pairs[rows], index=frame.index, columns=[one.replace("_", " ") for one in COUNTS])
        below = pd.DataFrame([self.chance, self.ceiling], index=["(chance)", "(ceiling)"], columns=columns)
        frame = pd.concat([pd.concat([frame, counts.astype(object)], axis=1), below]).rename_axis("measure")
        words = frame.astype(str).map(lambda _: "")
        words.iloc[: len(rows), : len(columns)] = np.where(self.count_beaten().T[rows] == 0, "bold", "")
        known = len(self.measures) == 1 or np.isfinite(self.gap_ends).any()
        level = f"{100 * self.confidence:g} % intervals"
        bold = (
            f"Bold: no other measure is better on these runs, by {level} of the paired difference."
            if known
            else "Which measure is better is not said, as there are no intervals."
        )
        caption = (
            f"Agreement with {self.reference}. {bold} Of {self.n_pairs:,} pairs of runs, those that the measure finds "
            f"significant (α = {self.alpha:g}) and the reference confirms, contradicts, or does not find; missed: only the "
            f"reference finds them. {self.no_interval}"
        )
        return Table(frame, caption.strip(), self.signature, marks=lambda _: words)

    def detail_tables(self) -> list[Table]:
        """Return what the command line prints below: the intervals, and which runs and topics disagree most."""
        return [*self._tabulate_intervals(), *(self._tabulate_disagreement() if len(self.collections) == 1 else [])]

    def _tabulate_disagreement(self) -> list[Table]:
        names = [str(self.measures[m]) for m in self._rank()[:_MOST_COLUMNS]]
        best = f", the {_MOST_COLUMNS} best measures" if len(names) < len(self.measures) else ""
        runs = self.runs().pivot(index="run", columns="measure", values="difference")[names]
        far = np.argsort(-runs.abs().max(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
        topics = self.topics().pivot(index="topic", columns="measure", values="tau_b")[names]
        low = np.argsort(topics.mean(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
        return [
            Table(
                runs.iloc[far],
                f"Runs that disagree most: rank by the measure less rank by {self.reference}{best}.",
                self.signature,
                digits=1,
            ),
            Table(
                topics.iloc[low],
                f"Topics that disagree most: τ_b of the runs' scores with those of {self.reference}{best}.",
                self.signature,
            ),
        ]

    def _count_better(self) -> np.ndarray:
        """Return how many measures each is better than, by the interval of the difference, shape (statistic, measure)."""
        return self._find_better().sum(axis=2)

    def count_beaten(self) -> np.ndarray:
        """Return how many measures are better than each, by the intervals of `differences`.

        Returns
        -------
        ndarray of float, shape (statistic, measure)
            NaN where that is not known: the measure is not defined, or there are several and no interval.
        """
        beaten = self._find_better().sum(axis=1).astype(float)
        beaten[np.isnan(self.values)] = np.nan
        if len(self.measures) > 1:
            beaten[np.isnan(self.gap_ends).all(axis=(1, 2))] = np.nan
        return beaten

    def _find_better(self) -> np.ndarray:
        """Return whether measure i is better than measure j, shape (statistic, i, j)."""
        first, second = np.triu_indices(len(self.measures), 1)
        better = np.zeros((*self.values.shape, len(self.measures)), dtype=bool)
        better[:, first, second] = self.gap_ends[:, 0] > 0
        better[:, second, first] = self.gap_ends[:, 1] < 0
        return better

    def _tabulate_intervals(self) -> list[Table]:
        if np.isnan(self.low).all():
            return []
        rows = self._rank()
        index = pd.Index([str(self.measures[m]) for m in rows], name="measure")
        intervals, gaps = {}, {}
        for s, one in enumerate(self.statistics):
            intervals[name_statistic(one)] = [_write_ends(self.low[s, m], self.high[s, m]) for m in rows]
            gaps[name_statistic(one)] = self._write_gaps(s, rows)
        said = f"{100 * self.confidence:g} % intervals"
        best = (
            f"How far each measure is from the best one of a column, with {said}, both on the same topics. Better, on these "
            "runs, is the measure whose interval leaves 0 out. That the best was chosen by these numbers favours it a little."
        )
        return [
            Table(pd.DataFrame(intervals, index=index), f"{said} over topics, for the same runs.", self.signature),
            Table(pd.DataFrame(gaps, index=index), best, self.signature),
        ]

    def _write_gaps(self, s: int, rows: Sequence[int]) -> list[str]:
        """Return the difference of measures from the best by a statistic, with its interval."""
        best = int(np.argmax(np.nan_to_num(self.values[s], nan=-2.0)))
        ends = np.full((2, *(len(self.measures),) * 2), np.nan)
        first, second = np.triu_indices(len(self.measures), 1)
        ends[:, first, second] = self.gap_ends[s]
        ends[:, second, first] = -self.gap_ends[s][::-1]
        gaps = self.values[s] - self.values[s, best]
        return ["best" if m == best else f"{gaps[m]:.3f} ({_write_ends(*ends[:, m, best])})" for m in rows]

    def plot(
        self, statistic: str | None = None, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw the measures in the order of one statistic, with intervals; lines show chance and ceiling.

        Parameters
        ----------
        statistic : str, optional
            By default the first one.
        ax, size, signature
            As for every result.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return draw_measures(self, self._find(statistic), ax=ax, size=size, signature=signature)

    def plot_differences(
        self, statistic: str | None = None, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw a heat map of p-values: is the measure of the row better than that of the column?

        Parameters
        ----------
        statistic : str, optional
            By default the first one.
        ax, size, signature
            As for every result.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return draw_p_values(self, self._find(statistic), ax=ax, size=size, signature=signature)

    def more_figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the heat map of p-values by the first statistic."""
        return {"differences": self.plot_differences} if len(self.measures) > 1 else {}

    def _rank(self) -> list[int]:
        """Return the measures, best first by the first statistic."""
        return np.argsort(-np.nan_to_num(self.values[0], nan=-2.0), kind="stable").tolist()

    def _find(self, statistic: str | None) -> int:
        if statistic is not None and statistic not in self.statistics:
            raise MetaevalError(f"{statistic!r} was not computed; there are {format_list(list(self.statistics))}")
        return 0 if statistic is None else self.statistics.index(statistic)


def _write_ends(low: float, high: float) -> str:
    return "–" if np.isnan(low) else f"{low:.3f} – {high:.3f}"
