"""The result of `discriminative_power`: the p-value of every pair of runs, its tables and its curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from metaeval.analyses.rank_result import RunRanks, find_ranks
from metaeval.analyses.result import Result
from metaeval.analyses.variation import TopicVariation, say_who_finds_most, tabulate_conclusions
from metaeval.files import PathLike
from metaeval.measures.base import Measure, find_signs
from metaeval.show.charts import Line, LineChart
from metaeval.show.signature import Signature
from metaeval.show.frames import write_frames
from metaeval.show.table import Table
from metaeval.stats.other_runs import ELSEWHERE
from metaeval.stats.paired_tests import PairedTest

ROWS_A_PART = 200_000
"""P-values held as a frame at once."""


@dataclass(frozen=True, eq=False)
class DiscriminativePower(Result):
    """The p-value of every pair of runs according to every measure.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    means : ndarray, shape (run, measure)
    p_values : ndarray, shape (measure, pair)
        Pairs of runs in the order (0, 1), (0, 2), …, (1, 2), ….
    counts : ndarray of int, shape (measure, pair), or None
        Of how many trials' ranges each difference is exceeded or equalled; None for tests without trials.
    mc_se : ndarray, shape (measure,)
        Monte Carlo standard error of S_D: how much it would vary with other trials; NaN for tests without trials.
    n_permutations : int
        B; of ``test="max-t"`` with up to 16 topics, the number of all sign vectors.
    alpha : float
    test : str
    over_topics : TopicVariation
        What intervals rest on.
    signature : Signature
    margin : float
        Up to which difference two measures' power is alike.
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    means: np.ndarray
    p_values: np.ndarray
    counts: np.ndarray | None
    mc_se: np.ndarray
    n_permutations: int
    alpha: float
    test: PairedTest
    over_topics: TopicVariation
    signature: Signature
    margin: float = 0.05

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

    def to_frame(self) -> pd.DataFrame:
        """Return every p-value, one row per measure and pair of runs.

        Of shape (measure · pair, 13), with columns measure, run_a, run_b, mean_a, mean_b, count (missing for tests
        without trials), p_value, difference (mean_a − mean_b) with the ends low and high of its t interval, and d
        (the difference over the standard deviation of the differences by topic) with d_low and d_high. An interval is
        for its pair alone, and missing with fewer than 25 topics.
        """
        return pd.concat(self.frames(), ignore_index=True)

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield the rows of `to_frame` in parts, each of one measure, which memory holds one by one."""
        runs = np.array(self.runs, dtype=object)
        n_pairs = len(self.runs) * (len(self.runs) - 1) // 2
        for m, measure in enumerate(self.measures):
            start, parts, size = 0, [], 0
            scores = self.over_topics.take_scores(m)
            for run in range(len(self.runs) - 1):
                pairs = slice(start, start + len(self.runs) - run - 1)
                start = pairs.stop
                means = self.means[run, m], self.means[run + 1 :, m]
                counts = np.full(len(means[1]), pd.NA, dtype=object) if self.counts is None else self.counts[m, pairs]
                parts.append(
                    {
                        "measure": np.full(len(means[1]), str(measure), dtype=object),
                        "run_a": np.full(len(means[1]), runs[run], dtype=object),
                        "run_b": runs[run + 1 :],
                        "mean_a": np.full(len(means[1]), means[0]),
                        "mean_b": means[1],
                        "count": counts,
                        "p_value": self.p_values[m, pairs],
                        **self.over_topics.describe_effects(scores, run, means[0] - means[1]),
                    }
                )
                size += len(means[1])
                if size >= ROWS_A_PART or start == n_pairs:
                    yield pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
                    parts, size = [], 0

    def write_p_values(self, path: PathLike) -> Path:
        """Write the rows of `to_frame`, every p-value, to a file; memory does not grow with their number.

        Parameters
        ----------
        path : path
            ``.csv``, or ``.parquet``, which takes a fifth of the room.

        Returns
        -------
        Path

        Raises
        ------
        MetaevalError
            If the name does not tell one of these formats, or the file cannot be written.
        """
        return write_frames(path, self.frames())

    def rows(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant, with intervals; `write_p_values` writes every p-value."""
        return self.summary().merge(self.intervals())

    def summary(self) -> pd.DataFrame:
        """Return how many pairs each measure finds significant: LQ 2021, Table 3.

        Of shape (measure, 5), with columns measure, significant (S_D), pairs (T_D), power (S_D / T_D) and mc_se, the
        Monte Carlo standard error of S_D (missing for tests without trials).
        """
        result = self.significant.sum(axis=1)
        n_pairs = self.p_values.shape[1]
        names = [str(measure) for measure in self.measures]
        counted = {"measure": names, "significant": result, "pairs": n_pairs, "power": result / n_pairs}
        return pd.DataFrame({**counted, "mc_se": self.mc_se})

    def intervals(self) -> pd.DataFrame:
        """Return the power of every measure with its interval over topics, for the same runs.

        Of shape (measure, 4), with columns measure, power, low, high: the expected power on as many new topics lies
        between them. NaN if no interval was asked for, or with fewer than 10 runs or 25 topics.
        """
        power = self.significant.mean(axis=1)
        low, high = self.over_topics.find_power_ends(power)
        names = [str(measure) for measure in self.measures]
        return pd.DataFrame({"measure": names, "power": power, "low": low, "high": high})

    def compare_power(self) -> pd.DataFrame:
        """Does one measure find more than another? The difference of every two, paired over resampled topics.

        Of shape (pair of measures, 7), with columns measure_1, measure_2, difference (of the first's power less the
        second's), low, high, and finds_more: the measure that does if the interval leaves 0 out, and "cannot tell"
        otherwise. Intervals of all pairs hold together, unless single ones were asked for. Last, conclusion: whether
        the power of both is alike up to `margin` (see `metaeval.stats.equivalence`).
        """
        return self.over_topics.compare(self.measures, self.significant.mean(axis=1), self.margin)

    def answer(self) -> str:
        """Say which measure finds most differences."""
        found, n_pairs = self.significant.sum(axis=1), self.p_values.shape[1]
        return say_who_finds_most(self.measures, found, n_pairs, self.compare_power())

    def ranks(self) -> RunRanks:
        """Return which ranks of runs are real: `metaeval.run_ranks` of this result."""
        first, second = self.pairs
        differ = np.zeros((len(self.measures), len(self.runs), len(self.runs)), dtype=bool)
        better = np.zeros_like(differ)
        differ[:, first, second] = differ[:, second, first] = self.significant
        better[:, first, second], better[:, second, first] = self.winners > 0, self.winners < 0
        return find_ranks(self, better, differ)

    def curve(self) -> pd.DataFrame:
        """Return the p-values of every measure in descending order: the discriminative power curve, shape (pair, measure)."""
        ordered = -np.sort(-self.p_values, axis=1)
        pairs = pd.RangeIndex(1, ordered.shape[1] + 1, name="pair")
        return pd.DataFrame(ordered.T, index=pairs, columns=[str(measure) for measure in self.measures])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return which measure finds more than which, with intervals."""
        return {"differences": self.compare_power()}

    def to_table(self) -> Table:
        """Return S_D, T_D and the percentage of significant pairs (LQ 2021, Table 3)."""
        caption = f"Significant pairs of runs by {self.test} at α = {self.alpha:g}."
        legend, frame, intervals = "", self.summary(), self.intervals()
        if intervals["low"].notna().any():
            level = 100 * self.over_topics.confidence
            ends = {name: 100 * intervals[name] for name in ("low", "high")}
            more = self.compare_power()["finds_more"].value_counts()
            frame = frame.assign(**ends, more=[int(more.get(name, 0)) for name in frame["measure"]])
            frame = frame.rename(columns={"more": "finds more than"})
            legend = (
                f"Low and high: {level:g} % interval for the percentage {ELSEWHERE[self.over_topics.over]}. Finds more "
                f"than: how many measures, where the {self.over_topics.kind} interval of the difference leaves 0 out."
            )
        return summary_table(frame, caption, self.signature, f"{legend} {self.over_topics.no_interval}".strip())

    def why_no_interval(self) -> str:
        """Return in a sentence why there is no interval, if one was asked for."""
        return self.over_topics.no_interval

    def short_tables(self) -> list[Table]:
        """Return the table without the number of all pairs, which the answer has, and without Monte Carlo errors."""
        return [shorten_summary(self.to_table())]

    def explained_tables(self) -> list[Table]:
        """Return further what is known of the measure that finds most, and every other."""
        more = explain_differences(self.compare_power(), self.summary(), self.margin, self.signature)
        return [self.to_table(), *more]

    def charts(self) -> Sequence[LineChart]:
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
                level=(self.alpha, f"α = {self.alpha:g}"), marks=5, names="top", counted="significant pairs",
            )
        ]  # fmt: skip


def explain_differences(
    compared: pd.DataFrame, summary: pd.DataFrame, margin: float, signature: Signature
) -> list[Table]:
    """Return a table of whether other measures find as much as the one that finds most; none without intervals."""
    if compared["low"].isna().all():
        return []
    best = summary["measure"][int(summary["significant"].argmax())]
    caption = f"Differences of power: alike are measures within {100 * margin:g} points of each other."
    return [tabulate_conclusions(compared, "difference", "difference", caption, signature, best)]


def shorten_summary(table: Table) -> Table:
    """Return a summary of power without what only ``--explain`` prints, the measure that finds most first."""
    short = table.frame.drop(columns=["±", "#all"], errors="ignore")
    return replace(table, frame=short.sort_values("#sig", ascending=False, kind="stable"))


def summary_table(frame: pd.DataFrame, caption: str, signature: Signature, legend: str) -> Table:
    """Return counts of significant pairs as the papers head them: #sig, #all and percent."""
    shown = frame.assign(power=100 * frame["power"]).set_index("measure")
    if shown["mc_se"].isna().all():
        shown = shown.drop(columns="mc_se")
    else:
        shown.insert(1, "±", shown.pop("mc_se"))
        legend = f"{legend} ±: Monte Carlo standard error of #sig.".strip()
    shown = shown.rename(columns={"significant": "#sig", "pairs": "#all", "power": "%"})
    return Table(shown, caption, signature, digits=1, legend=legend, joined=True)
