"""Which ranks of runs are real, by the significant differences between them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd

from metaeval.analyses.power import DiscriminativePower, Testing, take_tests
from metaeval.analyses.prepare import restore_pairs, sort_scores
from metaeval.analyses.result import Result
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.table import Table
from metaeval.stats.arrays import scale_scores
from metaeval.stats.boards import Board, compare_board
from metaeval.stats.letters import compact_letters, rank_intervals
from metaeval.stats.pair_tests import RECOMMENDED, PairedTest
from metaeval.stats.run_means import find_best, interval_of_means
from metaeval.stats.streams import stream_key

MOST_DRAWN, MOST_PANELS = 60, 4
"""Runs that a figure shows, the first ones, and measures side by side."""

FEW_RUNS, FEW_PAIRS = 6, 15
"""Runs of which every pair is listed, and pairs that the first screen shows beside a summary of several measures."""

MOST_BEST = 1_000
"""Resamples in which runs are compared with the best, if there are not fewer."""

LETTERS = (
    "two runs share a letter if and only if they do not differ significantly; letters are not transitive, and sharing one "
    "does not show that two runs are equal"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class RunRanks(Result):
    """The rank of every run according to every measure, and between which ranks it stands.

    Its rows (`to_frame`), one per measure and run, by rank, have columns measure, run, mean, mean_low and mean_high (the ends
    of its interval, if scores are known), rank, low and high (between which ranks it stands: 1 + the number of significantly
    better runs, and the number of runs less that of significantly worse ones), letters (missing where a measure would take too
    many), and near_first: whether it may be the best. Ranks and letters rest on the same claims about all pairs of runs, and
    so does near_first, unless it rests `with_best` on comparisons of each run with the best (Hsu 1984); it never holds for a
    run that the claims say is worse than another.

    `ranks` are 1 + the number of runs with a better mean, shape (measure, run); `differ` says whether two runs differ
    significantly, shape (measure, run, run). Of at most six runs whose scores are known, `pairs` has columns measure, run and
    other_run (the better one first), difference of their means with low and high, and p_value.
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: pd.DataFrame
    ranks: np.ndarray
    differ: np.ndarray
    test: str
    alpha: float
    pairs: pd.DataFrame = field(default_factory=pd.DataFrame)
    with_best: bool = False

    def order(self, measure: int) -> np.ndarray:
        """Return the positions of the runs by rank, shape (run,)."""
        return order_runs(self.ranks[measure], self.runs)

    def answer(self) -> str:
        """Say how many runs may be first; of two, whether one is better, by how much, and how sure that is."""
        if len(self.runs) == 2 and len(self.pairs) == 1:
            pair = self.pairs.iloc[0]
            ends = f" [{pair['low']:.3g}, {pair['high']:.3g}]" if np.isfinite(pair["low"]) else ""
            size = f"{pair['difference']:.3g}{ends}, p = {pair['p_value']:.2g}"
            what = f"{pair['run']} is better than {pair['other_run']} by {self.measures[0]}"
            return f"{what} ({size})." if self.differ.any() else f"It is open whether {what} ({size})."
        firsts = self.summary()["near_first"].tolist()
        if len(firsts) == 1:
            n, leader = firsts[0], f"{self.rows['run'].iloc[0]} is first by {self.measures[0]}"
            return f"{leader}." if n == 1 else f"{leader}; {format_count(n - 1, 'other run')} may be as good."
        named = [f"{n} by {measure}" for measure, n in zip(self.measures, firsts, strict=True)]
        more = "; the table has the others" * (len(named) > 3)
        return f"Of {self.rows['run'].nunique()} runs may be the best: {', '.join(named[:3])}{more}."

    def summary(self) -> pd.DataFrame:
        """Return how far each measure tells the ranks of runs apart.

        Of shape (measure, 5), with columns measure, near_first (runs that may be the best), adjacent (neighbours by rank that
        differ significantly), neighbours (of how many), width (the number of ranks that a run may have, on average).
        """
        parts = []
        for m, measure in enumerate(self.measures):
            rows, order = self.take_rows(measure), self.order(m)
            adjacent = self.differ[m][order[:-1], order[1:]].sum()
            width = (rows["high"] - rows["low"] + 1).mean()
            parts.append((str(measure), rows["near_first"].sum(), adjacent, len(order) - 1, width))
        return pd.DataFrame(parts, columns=["measure", "near_first", "adjacent", "neighbours", "width"])

    def take_rows(self, measure: Measure | str) -> pd.DataFrame:
        """Return the rows of one measure."""
        return self.rows[self.rows["measure"] == str(measure)]

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the runs by rank, how far each measure tells them apart, and every pair of few runs."""
        frames = {"rows": self.rows, "summary": self.summary()}
        return frames | ({"pairs": self.pairs} if len(self.pairs) else {})

    def tables(self) -> list[Table]:
        """Return the leaderboard of every measure, and how far each tells runs apart: first, if there are several."""
        names = {
            "near_first": "may be the best", "adjacent": "neighbours separated", "neighbours": "of neighbours",
            "width": "ranks a run may have, on average",
        }  # fmt: skip
        several, later = len(self.measures) > 1, partial(replace, at=("paper", "all"))  # after the first screen
        legend = f"{self.explain_best()} Neighbours separated: they differ significantly. Ranks: on average."
        caption = f"How far the ranks of {len(self.runs)} runs are real, by {self.test} at α = {self.alpha:g}."
        shown = self.summary().set_index("measure").rename(columns=names)
        summary = Table(shown, caption, self.signature, digits=1, legend=legend)
        boards, pairs = [self.leaderboard(measure) for measure in self.measures], []
        if len(self.pairs):
            shown = self.pairs.rename(columns={"other_run": "ahead of", "difference": "by", "p_value": "p"})
            shown = shown.set_index("measure") if several else shown.drop(columns="measure").set_index("run")
            how = "of all pairs together" if self.with_best else "each for itself"
            legend = f"Low, high: {1 - self.alpha:.0%} intervals, {how}."
            caption = f"Differences of runs in their means, by {self.test}."
            shown = shown.assign(p=shown["p"].map("{:.4f}".format))
            pairs = [Table(shown, caption, self.signature, legend=legend, joined=True)]
        if several:
            pairs = pairs if len(self.pairs) <= FEW_PAIRS else list(map(later, pairs))
            return [summary, *pairs, *map(later, boards)]
        return [*boards, *pairs, later(summary)]

    def explain_best(self, words: str = "May be the best") -> str:
        """Say on what it rests that a run may be the best."""
        if not self.with_best:
            return f"{words}: no other run is significantly better, of claims about all pairs."
        each = " by each measure for itself" if len(self.measures) > 1 else ""
        return f"{words}: with {1 - self.alpha:.0%} confidence{each} the best run is one of these (Hsu 1984)."

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank according to one measure, with the ranks they may have and their letters."""
        rows = self.take_rows(measure).set_index("run")
        low, high = rows["low"].astype(str), rows["high"].astype(str)
        shown = {"rank": rows["rank"], "may be": low.where(low == high, low + "–" + high), "mean": rows["mean"]}
        legend, ends = f"May be: ranks, by claims about all pairs. Letters, by the same claims: {LETTERS}.", ""
        if "mean_low" in rows:
            shown |= {"low": rows["mean_low"], "high": rows["mean_high"]}
            ends = f" Low, high: {100 * (1 - self.alpha):g} % interval of each mean by itself, on other topics."
        bold = pd.DataFrame("", index=rows.index, columns=[*shown, "letters"])
        bold["mean"] = np.where(rows["near_first"], "bold", "")
        unlike = (rows["near_first"] != (rows["low"] == 1)).any()
        return Table(
            pd.DataFrame(shown | {"letters": rows["letters"].fillna("too many")}),
            f"Runs by {measure}. May be: ranks that a run may have; runs without a common letter differ; by {self.test} of all "
            f"pairs, α = {self.alpha:g}{'; the answer compares with the best alone' * bool(unlike)}.{ends}", self.signature,
            marks=lambda part: bold.loc[part.index].set_axis(part.columns, axis=1), legend=legend, joined=True,
            marked=self.explain_best("Bold, may be the best"),
        )  # fmt: skip

    def charts(self) -> Sequence[IntervalChart]:
        """Return the ranks that the first 60 runs by the first measure may have, by each of four measures at most."""
        return chart_ranks({measure.title: self.take_rows(measure) for measure in self.measures[:MOST_PANELS]})


def run_ranks(
    scores: Scores | DiscriminativePower, *, test: PairedTest = RECOMMENDED, **options: Unpack[Testing]
) -> RunRanks:
    """Which ranks of runs are real, by the significant differences between them?

    Parameters
    ----------
    scores : Scores or DiscriminativePower
        At least two runs and two topics; or what tests of all pairs of them found, without the intervals of means.
    test, **options : as for `discriminative_power`

    Examples
    --------
    >>> import numpy as np
    >>> values = np.add.outer([0.1, 0.12, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> values[1] += np.tile([0.1, -0.1], 6)[:, None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["AP"])
    >>> ranks = run_ranks(scores, n_permutations=500)
    >>> ranks.to_frame()[["run", "rank", "low", "high", "letters", "near_first"]]
      run  rank  low  high letters  near_first
    0   c     1    1     1       a        True
    1   b     2    2     3       b       False
    2   a     3    2     3       b       False
    """
    power = take_tests(scores, test, RECOMMENDED, **options)
    ranks = rank_runs(
        power.measures, power.runs, power.means, power.winners, power.significant, collection=power.collection,
        test=power.test, alpha=power.alpha, signature=power.signature.follow("run_ranks"), diagnostics=power.diagnostics,
        remarks=power.remarks,
    )  # fmt: skip
    if isinstance(scores, DiscriminativePower):
        return ranks
    chosen = scores.sel(runs=power.runs)
    values, (places, _, columns) = sort_scores(chosen)
    pooled = sort_scores(chosen.pool_clusters())[0] if chosen.clusters else None
    drawn = scale_scores(values if pooled is None else pooled)
    key = stream_key(options.get("seed", 0), scores.collection, "run_ranks")
    with_best, parts = power.test == RECOMMENDED, []
    for m, (measure, column) in enumerate(zip(power.measures, columns, strict=True)):
        rows, order = ranks.take_rows(measure), places[ranks.order(m)]
        clusters = None if pooled is None else pooled[..., column]
        low, high = interval_of_means(values[..., column], pooled=clusters, confidence=1 - power.alpha)
        rows.insert(3, "mean_low", low[order])
        rows.insert(4, "mean_high", high[order])
        if with_best and rows["near_first"].sum() > 1:
            board = Board([measure.sign * drawn[..., column]], np.ones(1))
            n_trials = min(power.n_permutations, MOST_BEST)
            statistics, draws = compare_board(board, "topics", n_trials, [key], key, power.alpha)
            rows["near_first"] &= find_best(statistics, draws, power.alpha)[order]
        parts.append(rows)
    whole, few = pd.concat(parts, ignore_index=True), len(power.runs) <= FEW_RUNS
    pairs = _list_pairs(power, ranks) if few else pd.DataFrame()
    return replace(ranks, rows=whole, pairs=pairs, with_best=with_best)


def _list_pairs(power: DiscriminativePower, ranks: RunRanks) -> pd.DataFrame:
    """Return all pairs of runs by every measure in the order of the ranks, the better run first."""
    listed, parts = power.run_pairs(), []
    if power.reach is not None:
        # Intervals that say what the p-values say, where the test has them.
        reach = np.where(np.isfinite(power.reach).all(axis=1, keepdims=True), power.reach, np.nan).ravel()
        listed["low"] = (listed["difference"] - reach).fillna(listed["low"])
        listed["high"] = (listed["difference"] + reach).fillna(listed["high"])
    for m, (_, pairs) in enumerate(listed.groupby("measure", sort=False)):
        order = ranks.order(m)
        better, worse = np.triu_indices(len(order), 1)
        pairs, turned = pairs.iloc[restore_pairs(order)], order[better] > order[worse]
        opposite = {"run_a": pairs["run_b"], "run_b": pairs["run_a"], "difference": 0.0 - pairs["difference"]}
        opposite |= {"low": -pairs["high"], "high": -pairs["low"]}
        parts.append(pairs.assign(**{name: pairs[name].where(~turned, other) for name, other in opposite.items()}))
    pairs = pd.concat(parts, ignore_index=True).rename(columns={"run_a": "run", "run_b": "other_run"})
    return pairs[["measure", "run", "other_run", "difference", "low", "high", "p_value"]]


def rank_runs(
    measures: tuple[Measure, ...], runs: tuple[str, ...], means: np.ndarray, winners: np.ndarray, significant: np.ndarray,
    *, remarks: tuple[str, ...] = (), **about: Any,
) -> RunRanks:  # fmt: skip
    """Return the ranks that follow from means, shape (run, measure), and of pairs, shape (measure, pair), the winners.

    Those are 1 where the first run has the better mean, −1 where the second has; `about` are other fields.
    """
    first, second = np.triu_indices(len(runs), 1)
    differ, better = np.zeros((2, len(measures), len(runs), len(runs)), dtype=bool)
    differ[:, first, second] = differ[:, second, first] = significant
    better[:, first, second], better[:, second, first] = winners > 0, winners < 0
    ranks, ends = (np.stack(arrays) for arrays in zip(*map(rank_intervals, better, differ), strict=True))
    tables = [
        tabulate_ranks(measure, runs, *of) for measure, *of in zip(measures, means.T, ranks, ends, differ, strict=True)
    ]
    return RunRanks(
        runs=runs, measures=measures, rows=pd.concat([rows for rows, _ in tables], ignore_index=True), ranks=ranks,
        differ=differ, remarks=(*remarks, *(remark for _, more in tables for remark in more)), **about,
    )  # fmt: skip


def tabulate_ranks(
    measure: Measure, runs: tuple[str, ...], means: np.ndarray, ranks: np.ndarray, ends: np.ndarray, differ: np.ndarray,
    best: np.ndarray | bool = True,
) -> tuple[pd.DataFrame, list[str]]:  # fmt: skip
    """Return a row per run, by rank, as `RunRanks` has them, and a remark if it would take too many letters.

    Where runs were compared with the best, `best` are those that may be it; no claim about all pairs may deny it of them.
    """
    order, remarks = order_runs(ranks, runs), []
    letters: list[Any] = [pd.NA] * len(order)
    try:
        letters = compact_letters(differ[np.ix_(order, order)])
    except MetaevalError as error:
        remarks.append(f"{measure}: no letters. {error}")
    rows = pd.DataFrame({"measure": str(measure), "run": [runs[run] for run in order], "mean": means[order]})
    rows[["rank", "low", "high"]] = np.column_stack([ranks, ends])[order]
    return rows.assign(letters=letters, near_first=((ends[:, 0] == 1) & best)[order]), remarks


def order_runs(ranks: np.ndarray, runs: tuple[str, ...]) -> np.ndarray:
    """Return the positions of the runs by rank; those of one rank in the order of their labels."""
    return np.lexsort((np.array(runs, dtype=str), ranks))


def chart_ranks(boards: Mapping[str, pd.DataFrame]) -> list[IntervalChart]:
    """Return a panel for each title and rows of `RunRanks`, all with the first runs of the first one, in its order."""
    runs, label, charts = next(iter(boards.values()))["run"], "ranks that a run may have", []
    if len(runs) > MOST_DRAWN:
        label += f"; the first {MOST_DRAWN} of {len(runs):,} runs"
    for title, rows in boards.items():
        drawn = rows.set_index("run").loc[runs[:MOST_DRAWN]]
        ends = zip(drawn.index, drawn["rank"], drawn["low"], drawn["high"], strict=True)
        lines = [Row(title, str(run), float(rank), line=(float(low), float(high))) for run, rank, low, high in ends]
        charts.append(IntervalChart(lines, label, title if len(boards) > 1 else f"by {title}"))
    return charts
