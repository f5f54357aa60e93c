"""Ranks of runs: what the significant differences say of them, with letters, tables and figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError, format_count
from metaeval.measures.base import Measure
from metaeval.show.names import shorten_name
from metaeval.show.signature import Signature
from metaeval.show.style import GREY
from metaeval.show.table import Table
from metaeval.stats.letters import compact_letters, letter_groups, rank_intervals

if TYPE_CHECKING:
    from metaeval.show.canvas import Axis, Figure, Size

MOST_PANELS, MOST_NAMES, MOST_ROWS = 6, 150, 100
"""Measures that a figure shows side by side; runs that a figure shows all of; and how many it draws of more, half of them the
first ones, half evenly spaced ones of the others."""

FEW_RUNS, FEW_PAIRS = 6, 15
"""Runs of which every pair is listed, and pairs that the first screen shows beside a summary of several measures."""

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
    many), and near_first: whether it may be the best. Ranks and letters rest on the same claims about all pairs of runs.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    rows : DataFrame, shape (measure · run, 8)
    ranks : ndarray of int, shape (measure, run)
        1 + the number of runs with a better mean.
    differ : ndarray of bool, shape (measure, run, run)
        Whether two runs differ significantly.
    test : str
    alpha : float
    pairs : DataFrame, shape (measure · pair, 7)
        Of at most six runs whose scores are known, columns measure, run and other_run (the better one first), difference of
        their means with low and high, and p_value; otherwise empty.
    with_best : bool
        Whether near_first rests on comparisons of each run with the best (Hsu 1984), and otherwise on the claims about all
        pairs. It never holds for a run that these say is worse than another.
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

    def __repr__(self) -> str:
        return f"RunRanks: {len(self.runs)} runs × {len(self.measures)} measures, {self.collection or 'scores'}"

    def order(self, measure: int) -> np.ndarray:
        """Return the positions of the runs by rank, shape (run,); those of one rank in the order of their labels."""
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
        named = [f"{measure} {n}" for measure, n in zip(self.measures, firsts, strict=True)]
        more = f" and {len(named) - 3} other measures" * (len(named) > 3)
        return f"Runs that may be the best: by {', '.join(named[:3])}{more}."

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
            "near_first": "may be the best",
            "adjacent": "neighbours separated",
            "neighbours": "of",
            "width": "ranks a run may have",
        }
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
            digits: dict[object, int] = {**dict.fromkeys(shown, 3), "p": 4}
            pairs = [Table(shown, caption, self.signature, digits, legend=legend, joined=True)]
        if several:
            pairs = pairs if len(self.pairs) <= FEW_PAIRS else list(map(later, pairs))
            return [summary, *pairs, *map(later, boards)]
        return [*boards, *pairs, later(summary)]

    def explain_best(self) -> str:
        """Say on what it rests that a run may be the best."""
        if self.with_best:
            return (
                f"May be the best: with {1 - self.alpha:.0%} confidence the best run is one of these, by comparisons of each "
                "run with the best (Hsu 1984)."
            )
        return "May be the best: no other run is significantly better, of claims about all pairs."

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank according to one measure, with the ranks they may have and their letters."""
        rows = self.take_rows(measure)
        low, high = rows["low"].astype(str), rows["high"].astype(str)
        shown = {"rank": rows["rank"], "may be": low.where(low == high, low + "–" + high), "mean": rows["mean"]}
        if "mean_low" in rows:
            shown |= {"low": rows["mean_low"], "high": rows["mean_high"]}
        frame = pd.DataFrame(shown | {"letters": rows["letters"].fillna("too many")}).set_index(rows["run"])
        best = rows["run"][rows["near_first"]]

        def mark_best(shown: pd.DataFrame) -> pd.DataFrame:
            """Return which means are bold, of all runs or the first ones."""
            marks = pd.DataFrame("", index=shown.index, columns=shown.columns)
            marks[shown.columns[2]] = np.where(shown.index.isin(best), "bold", "")
            return marks

        caption = f"Runs by {measure}, with the ranks they may have by {self.test} at α = {self.alpha:g}."
        legend = (
            f"May be: ranks that claims about all pairs of runs leave. Letters rest on the same claims: {LETTERS}. "
            f"{self.explain_best()} Their means are bold."
        )
        if "mean_low" in rows:
            legend += f" Low, high: {1 - self.alpha:.0%} interval of the mean on other topics, for each run by itself."
        return Table(frame, caption, self.signature, marks=mark_best, legend=legend, joined=True)

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the runs by rank, each with the ranks it may have and its letters.

        The first six measures are drawn, in a page of print three, in a column one. Of more than 150 runs, the first 50
        are drawn and 50 of the others, evenly spaced over their ranks; the figure says so.
        """
        most = 1 if size == "column" else 3 if size == "page" else MOST_PANELS
        boards = {measure.title: self.take_rows(measure) for measure in self.measures[:most]}
        return draw_ranks(boards, self.signature if signature else None, ax=ax, size=size)

    def more_figures(self) -> dict[str, Callable[..., Figure]]:
        """Return the critical-difference diagrams of the first six measures; none of more runs than one can read."""
        if len(self.runs) > MOST_NAMES:
            return {}
        shown = self.measures[:MOST_PANELS]
        names = [re.sub(r"[^\w.]+", "-", str(measure)).strip("-.") or "measure" for measure in shown]
        named = [name if names.count(name) == 1 else f"{name}-{number}" for number, name in enumerate(names)]
        return {f"groups-{name}": partial(self.plot_groups, each) for name, each in zip(named, shown, strict=True)}

    def plot_groups(
        self, measure: Measure | str, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw the critical-difference diagram of one measure: runs at their means, a bar for each letter."""
        from metaeval.show.canvas import open_canvas, typeset

        position = [str(each) for each in self.measures].index(str(measure))
        order, shown, rows = self.order(position), self.measures[position], self.take_rows(measure)
        means = rows["mean"].to_numpy()
        table = letter_groups(self.differ[position][np.ix_(order, order)])
        groups = [np.flatnonzero(column) for column in table.T if column.sum() > 1]
        down, stamp = 1.6 + 0.13 * (len(rows) + len(groups)), self.signature if signature else None
        with open_canvas(ax, size, stamp, width=6.4, height=down) as canvas:
            axes = canvas.panels[0]
            half = (len(rows) + 1) // 2
            # Names stand left and right of the axis of means, the best outermost, each tied to its mean by a line.
            for row, (run, mean) in enumerate(zip(rows["run"], means, strict=True)):
                left = row < half
                height = -(1 + (row if left else len(rows) - 1 - row)) - len(groups)
                edge = 0.0 if left else 1.0
                axes.plot([mean, mean], [0, height], color="#BBBBBB", linewidth=0.6)
                axes.annotate(
                    str(run), (mean, height), (edge, height), xycoords="data",
                    textcoords=axes.get_yaxis_transform(), ha="right" if left else "left", va="center", fontsize=6,
                    arrowprops={"arrowstyle": "-", "color": "#BBBBBB", "linewidth": 0.6},
                )  # fmt: skip
            for number, group in enumerate(groups):
                axes.plot(
                    means[group], [-0.5 - number] * len(group), "|-", color="#0064B0", linewidth=1.6, markersize=5
                )
            axes.plot(means, np.zeros(len(means)), "o", color="black", markersize=3)
            note = f"a bar joins the runs that it marks,{chr(10) if canvas.is_narrow else ' '}no two of which differ"
            axes.set(xlabel=f"mean {shown.title}\n{note}", yticks=[])
            typeset(axes.xaxis.label)
            if shown.sign > 0:
                axes.invert_xaxis()  # the best stands left, as its name does
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False)
        return canvas.figure


def find_ranks(power: Any, better: np.ndarray, differ: np.ndarray) -> RunRanks:
    """Return the ranks of a `DiscriminativePower`, from which runs are better and differ, shape (measure, run, run)."""
    ranks, ends = (np.stack(arrays) for arrays in zip(*map(rank_intervals, better, differ), strict=True))
    rows, remarks = [], list(power.remarks)
    for measure, means, *places in zip(power.measures, power.means.T, ranks, ends, differ, strict=True):
        frame, remark = tabulate_ranks(measure, power.runs, means, *places)
        rows.append(frame)
        remarks += remark
    return RunRanks(
        collection=power.collection, runs=power.runs, measures=power.measures, rows=pd.concat(rows, ignore_index=True),
        ranks=ranks, differ=differ, test=power.test, alpha=power.alpha, signature=power.signature.follow("run_ranks"),
        diagnostics=power.diagnostics, remarks=tuple(remarks),
    )  # fmt: skip


def tabulate_ranks(
    measure: Measure,
    runs: tuple[str, ...],
    means: np.ndarray,
    ranks: np.ndarray,
    ends: np.ndarray,
    differ: np.ndarray,
    best: np.ndarray | bool = True,
) -> tuple[pd.DataFrame, list[str]]:
    """Return a row per run, by rank, as `RunRanks` has them, and a remark if it would take too many letters.

    Where runs were compared with the best, `best` are those that may be it; no claim about all pairs may deny it of them.
    """
    order = order_runs(ranks, runs)
    apart, remarks = differ[np.ix_(order, order)], []
    letters: list[Any] = [pd.NA] * len(order)
    try:
        letters = compact_letters(apart)
    except MetaevalError as error:
        remarks.append(f"{measure}: no letters. {error}")
    columns = {
        "measure": str(measure), "run": [runs[run] for run in order], "mean": means[order], "rank": ranks[order],
        "low": ends[order, 0], "high": ends[order, 1], "letters": letters,
        "near_first": ((ends[:, 0] == 1) & best)[order],
    }  # fmt: skip
    return pd.DataFrame(columns), remarks


def order_runs(ranks: np.ndarray, runs: tuple[str, ...]) -> np.ndarray:
    """Return the positions of the runs by rank; those of one rank in the order of their labels."""
    return np.lexsort((np.array(runs, dtype=str), ranks))


def draw_ranks(
    boards: Mapping[str, pd.DataFrame], signature: Signature | None, *, ax: Axis = None, size: Size = None
) -> Figure:
    """Draw the runs by rank side by side, one panel for each measure's title and rows of `RunRanks`."""
    from metaeval.show.canvas import open_canvas, typeset

    n, half = max(map(len, boards.values())), MOST_ROWS // 2
    places, label, missing = np.arange(n), "rank", 0
    if n > MOST_NAMES:
        places = np.concatenate([places[:half], np.linspace(half, n - 1, MOST_ROWS - half).round().astype(int)])
        missing = n - len(places)
        others = f"{len(places) - half}\nof the other {n - half:,}, evenly spaced."
        label += f"\nThe first {half} of {n:,} runs; below the line, {others}"
    rows, small = np.arange(len(places)), 7 if len(places) <= 60 else 5
    across, down = 1.2 + 3.1 * len(boards), max(2.4, 1.4 + 0.17 * len(rows))
    with open_canvas(ax, size, signature, width=across, height=down, shape=(1, len(boards))) as canvas:
        for axes, (title, whole) in zip(canvas.panels, boards.items(), strict=False):
            frame = whole.iloc[places]
            axes.hlines(rows, frame["low"], frame["high"], color="#8FC3F2", linewidth=3)
            axes.plot(frame["rank"], rows, "o", color="black", markersize=3.5)
            axes.set_yticks(rows, frame["run"].tolist(), fontsize=small)
            for row, letters in zip(rows, frame["letters"].fillna(""), strict=True):
                axes.annotate(
                    shorten_name(letters, 24), (1, row), xycoords=("axes fraction", "data"), xytext=(3, 0),
                    textcoords="offset points", va="center", fontsize=small,
                )  # fmt: skip
            if missing:
                axes.axhline(half - 0.5, color=GREY, linewidth=0.9, linestyle="--")
            ends = {"xlim": (0.4 - 0.01 * missing, n + 0.6), "ylim": (len(rows) - 0.4, -0.6)}
            axes.set(title=title, xlabel=label, **ends)
            axes.grid(axis="y", visible=False)
            typeset(axes.title)
    return canvas.figure
