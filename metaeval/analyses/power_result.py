"""The result of `discriminative_power`: the p-value of every pair of runs, its tables and its curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.rank_result import RunRanks, find_ranks
from metaeval.analyses.result import MeasureRows
from metaeval.analyses.variation import Variation, tabulate_conclusions
from metaeval.files import PathLike
from metaeval.measures.base import find_signs
from metaeval.show.charts import Line, LineChart
from metaeval.show.frames import write_frames
from metaeval.show.table import Table
from metaeval.stats.intervals import FEWEST_TOPICS, interval_of_differences
from metaeval.stats.pair_tests import PairedTest


@dataclass(frozen=True, eq=False, kw_only=True)
class PowerRows(MeasureRows):
    """How many significant pairs each measure finds, in one collection or in several.

    Parameters
    ----------
    over_topics : Variation
        What intervals rest on.
    margin : float
        Up to which difference two measures' power is alike.
    """

    over_topics: Variation
    margin: float = 0.05

    number: ClassVar[str] = "power"

    def answer(self) -> str:
        """Say which measure finds most significant pairs, and than how many others that is clear."""
        counts, n_pairs = self.rows["significant"].to_numpy(), int(self.rows["pairs"].iloc[0])
        best, n_others = int(counts.argmax()), len(counts) - 1
        name, of_all = str(self.measures[best]), f"{counts[best]:,} of {n_pairs:,} pairs of runs"
        if not counts[best]:
            return f"{'No measure finds any' if n_others else f'{name} finds no'} difference between runs ({of_all})."
        if not n_others:
            return f"{name} finds {of_all} significant."
        most = f"{name} finds most differences ({of_all})"
        if self.differences["low"].isna().all():
            return f"{most}; whether clearly more than others is unknown."
        beaten = self.differences.loc[self.differences["finds_more"] == name, ["measure_1", "measure_2"]].to_numpy()
        others = beaten[beaten != name].tolist()
        if not others:
            return f"{most}, but not clearly more than any other measure."
        whom = " and ".join(others) if len(others) <= 2 else f"{len(others)} of the {n_others} other measures"
        return f"{most}, clearly more than {'every other measure' if len(others) == n_others > 1 else whom}."

    def tabulate(self, caption: str, legend: str) -> list[Table]:
        """Return counts of significant pairs as the papers head them, #sig, #all and percent, and what is known of the best."""
        ends = [column for column in ("low", "high", "collections_low", "collections_high") if column in self.rows]
        ends = [column for column in ends if self.rows[column].notna().any()]
        shown = self.rows[["measure", "significant", "mc_se", "pairs", "power"]].set_index("measure")
        shown = shown.rename(columns={"significant": "#sig", "mc_se": "±", "pairs": "#all", "power": "%"})
        shown["%"] *= 100
        if shown["±"].isna().all():
            shown = shown.drop(columns="±")
        else:
            legend = f"{legend} ±: Monte Carlo standard error of #sig."
        for column in ends:
            shown[column] = 100 * self.rows[column].to_numpy()
        table = Table(shown, caption, self.signature, digits=1, legend=legend.strip(), joined=True)
        brief = shown.drop(columns=["±", "#all"], errors="ignore").sort_values("#sig", ascending=False, kind="stable")
        tables = [replace(table, frame=brief, at=("short",)), replace(table, at=("paper", "all"))]
        if self.differences["low"].notna().any():
            best = str(self.rows["measure"][int(self.rows["significant"].argmax())])
            caption = f"Differences of power: alike are measures within {100 * self.margin:g} points of each other."
            known = tabulate_conclusions(self.differences, "difference", "difference", caption, self.signature, best)
            tables.append(replace(known, at=("all",)))
        return tables


@dataclass(frozen=True, eq=False, kw_only=True)
class DiscriminativePower(PowerRows):
    """The p-value of every pair of runs according to every measure.

    Its rows (`to_frame`) have columns measure, significant (S_D), pairs (T_D), power (S_D / T_D), mc_se (the Monte Carlo
    standard error of S_D, NaN for tests without trials), low and high: the expected power of the same runs on as many new
    topics lies between them, NaN if no interval was asked for, or with fewer than 10 runs or 25 topics. Its `differences`
    have columns measure_1, measure_2, difference (of the first's power less the second's), low, high, finds_more (the measure
    that does if the interval leaves 0 out, and "cannot tell" otherwise) and conclusion: whether the power of both is alike up
    to `margin` (see `metaeval.stats.intervals`).

    Parameters
    ----------
    collection : str
    runs, topics : tuple of str
    means : ndarray, shape (run, measure)
    p_values : ndarray, shape (measure, pair)
        Pairs of runs in the order (0, 1), (0, 2), …, (1, 2), ….
    counts : ndarray of int, shape (measure, pair), or None
        Of how many trials' ranges each difference is exceeded or equalled; None for tests without trials.
    deviations : ndarray, shape (measure, pair)
        Standard deviation over topics of the difference of two runs.
    reach : ndarray, shape (measure, pair), or None
        How far intervals of the differences reach that hold all together, by bootstrap-t, whose p-values say the same.
    n_permutations : int
        B; of ``test="max-t"`` with up to 16 topics, the number of all sign vectors.
    alpha : float
    test : str
    """

    collection: str
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    means: np.ndarray
    p_values: np.ndarray
    counts: np.ndarray | None
    deviations: np.ndarray
    reach: np.ndarray | None
    n_permutations: int
    alpha: float
    test: PairedTest

    def __repr__(self) -> str:
        size = f"{self.p_values.shape[1]:,} run pairs × {len(self.measures)} measures"
        return f"DiscriminativePower: {size}, {self.collection or 'scores'}"

    @property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the first and the second run of every pair, each of shape (pair,)."""
        return np.triu_indices(len(self.runs), 1)

    @property
    def significant(self) -> np.ndarray:
        """Whether p ≤ α, shape (measure, pair)."""
        return self.p_values <= self.alpha

    @property
    def winners(self) -> np.ndarray:
        """Which run of a pair has the better mean, shape (measure, pair): +1 the first, −1 the second, 0 neither."""
        first, second = self.pairs
        signs = find_signs(self.measures)
        won = [
            np.sign((column[first] - column[second]) * sign) for column, sign in zip(self.means.T, signs, strict=True)
        ]
        return np.array(won, dtype=np.int8)

    @property
    def mc_se(self) -> np.ndarray:
        """Monte Carlo standard error of S_D, shape (measure,): how much it would vary with other trials; NaN without any."""
        return self.rows["mc_se"].to_numpy()

    def summary(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant, without intervals: LQ 2021, Table 3."""
        return self.rows[["measure", "significant", "pairs", "power", "mc_se"]]

    def run_pairs(self) -> pd.DataFrame:
        """Return every p-value, one row per measure and pair of runs.

        Of shape (measure · pair, 13), with columns measure, run_a, run_b, mean_a, mean_b, count (missing for tests
        without trials), p_value, difference (mean_a − mean_b) with the ends low and high of its t interval, and d
        (the difference over the standard deviation of the differences by topic) with d_low and d_high. An interval is
        for its pair alone, and missing with fewer than 25 topics.
        """
        return pd.concat(self.list_run_pairs(), ignore_index=True)

    def write_p_values(self, path: PathLike) -> Path:
        """Write the rows of `run_pairs`, one measure after the other, to a ``.csv`` or ``.parquet`` file.

        Parameters
        ----------
        path : path

        Returns
        -------
        Path

        Raises
        ------
        MetaevalError
            If the name does not tell one of these formats, or the file cannot be written.
        """
        return write_frames(path, self.list_run_pairs())

    def list_run_pairs(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of `run_pairs` measure by measure."""
        runs = np.array(self.runs, dtype=object)
        first, second = self.pairs
        n_topics = len(self.topics)
        for m, measure in enumerate(self.measures):
            difference = self.means[first, m] - self.means[second, m]
            ends = interval_of_differences(
                difference, self.deviations[m], n_topics, confidence=self.over_topics.confidence
            )
            effects = dict(zip(("low", "high", "d", "d_low", "d_high"), ends, strict=True))
            if n_topics < FEWEST_TOPICS:
                effects |= {name: np.full(difference.shape, np.nan) for name in effects if name != "d"}
            yield pd.DataFrame(
                {
                    "measure": str(measure),
                    "run_a": runs[first],
                    "run_b": runs[second],
                    "mean_a": self.means[first, m],
                    "mean_b": self.means[second, m],
                    "count": pd.NA if self.counts is None else self.counts[m],
                    "p_value": self.p_values[m],
                    "difference": difference,
                    **effects,
                }
            )

    def ranks(self) -> RunRanks:
        """Return which ranks of runs are real by this test; `metaeval.run_ranks` tests scores by bootstrap-t."""
        first, second = self.pairs
        differ = np.zeros((len(self.measures), len(self.runs), len(self.runs)), dtype=bool)
        better, winners = np.zeros_like(differ), self.winners
        differ[:, first, second] = differ[:, second, first] = self.significant
        better[:, first, second], better[:, second, first] = winners > 0, winners < 0
        return find_ranks(self, better, differ)

    def curve(self) -> pd.DataFrame:
        """Return the p-values of every measure in descending order: the discriminative power curve, shape (pair, measure)."""
        ordered = -np.sort(-self.p_values, axis=1)
        pairs = pd.RangeIndex(1, ordered.shape[1] + 1, name="pair")
        return pd.DataFrame(ordered.T, index=pairs, columns=[str(measure) for measure in self.measures])

    def tables(self) -> list[Table]:
        """Return S_D, T_D and the percentage of significant pairs (LQ 2021, Table 3)."""
        legend = self.no_interval
        if self.rows["low"].notna().any():
            legend = (
                f"Low and high: {100 * self.over_topics.confidence:g} % interval for the percentage on other topics. Finds "
                f"more than: how many measures, where the {self.over_topics.kind} interval of the difference leaves 0 out."
            )
        short, paper, *known = self.tabulate(f"Significant pairs of runs by {self.test} at α = {self.alpha:g}.", legend)
        if known:
            more = self.differences["finds_more"].value_counts()
            for table in (short, paper):
                table.frame["finds more than"] = [int(more.get(name, 0)) for name in table.frame.index]
        return [short, paper, *known]

    def charts(self) -> Sequence[LineChart]:  # type: ignore[override]
        """Return the discriminative power curves: p-values of all run pairs, descending (ACL 2021, Figures 1 to 3)."""
        curve = self.curve()
        pairs, values = curve.index.to_numpy(), curve.to_numpy()
        counts = (values <= self.alpha).sum(axis=0)
        lines = [
            Line(str(self.measures[m]), self.measures[m].title, pairs, values[:, m], count=int(counts[m]))
            for m in np.argsort(-counts, kind="stable").tolist()
        ]
        ceiling = float(min(1.0, max(0.2, 4 * self.alpha)))
        return [
            LineChart(
                lines, "run pairs, by p-value from large to small", "p-value", self.collection, limits=(0.0, ceiling),
                level=(self.alpha, f"α = {self.alpha:g}"), marks=5, counted="significant pairs",
            )
        ]  # fmt: skip
