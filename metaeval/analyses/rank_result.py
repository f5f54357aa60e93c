"""The result of `run_ranks`: runs by rank with what the significant differences say of it, intervals and letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.rank_figures import MOST_NAMES, draw_groups, draw_ranks
from metaeval.analyses.result import Result
from metaeval.errors import MetaevalError, format_count
from metaeval.files import write_atomically
from metaeval.measures.base import Measure
from metaeval.show.signature import Signature
from metaeval.show.table import Table, join_latex
from metaeval.stats.letters import compact_letters, rank_intervals

if TYPE_CHECKING:
    from pathlib import Path

    from metaeval.show.canvas import Axis, Figure, Size
    from metaeval.show.latex import Width

MOST_PANELS = 6
"""Measures that a figure shows side by side."""

LETTERS = (
    "two runs share a letter if and only if they do not differ significantly; letters are not transitive, and sharing one "
    "does not show that two runs are equal"
)


@dataclass(frozen=True, eq=False)
class RunRanks(Result):
    """The rank of every run according to every measure, and between which ranks it stands.

    Parameters
    ----------
    collection : str
    runs : tuple of str
    measures : tuple of Measure
    means : ndarray, shape (run, measure)
    ranks : ndarray of int, shape (measure, run)
        1 + the number of runs with a better mean.
    ends : ndarray of int, shape (measure, run, 2)
        1 + the number of significantly better runs, and the number of runs less that of significantly worse ones.
    differ : ndarray of bool, shape (measure, run, run)
        Whether two runs differ significantly.
    letters : tuple of (tuple of str, or None)
        Of every run by measure; None where a measure would take too many.
    test : str
    alpha : float
    signature : Signature
    """

    collection: str
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    means: np.ndarray
    ranks: np.ndarray
    ends: np.ndarray
    differ: np.ndarray
    letters: tuple[tuple[str, ...] | None, ...]
    test: str
    alpha: float
    signature: Signature

    def __repr__(self) -> str:
        return f"RunRanks: {len(self.runs)} runs × {len(self.measures)} measures, {self.collection or 'scores'}"

    def order(self, measure: int) -> np.ndarray:
        """Return the positions of the runs by rank; those of one rank in the order of their labels.

        Parameters
        ----------
        measure : int
            Position of the measure.

        Returns
        -------
        ndarray of int, shape (run,)
        """
        return _order(self.ranks[measure], self.runs)

    def _place(self, measure: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the order of the runs, and in it which runs differ and which may be as good as one of rank 1."""
        order = self.order(measure)
        differ = self.differ[measure][np.ix_(order, order)]
        return order, differ, (~differ[self.ranks[measure][order] == 1]).any(axis=0)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure and run, by rank.

        Of shape (measure · run, 8), with columns measure, run, mean, rank, low and high (between which ranks it
        stands), letters (missing where it would take too many), and near_first: whether it does not differ
        significantly from a run of rank 1.
        """
        parts = []
        for m, measure in enumerate(self.measures):
            order, _, near_first = self._place(m)
            letters = self.letters[m]
            parts.append(
                pd.DataFrame(
                    {
                        "measure": str(measure),
                        "run": [self.runs[r] for r in order],
                        "mean": self.means[order, m],
                        "rank": self.ranks[m][order],
                        "low": self.ends[m, order, 0],
                        "high": self.ends[m, order, 1],
                        "letters": [pd.NA if letters is None else letters[r] for r in order],
                        "near_first": near_first,
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def answer(self) -> str:
        """Say how many runs may be first."""
        firsts = self.summary()["near_first"].tolist()
        if len(firsts) == 1:
            n, leader = firsts[0], f"{self.runs[int(self.order(0)[0])]} is first by {self.measures[0]}"
            return f"{leader}." if n == 1 else f"{leader}; {format_count(n - 1, 'other run')} may be as good."
        named = [f"{measure} {n}" for measure, n in zip(self.measures, firsts, strict=True)]
        more = f" and {len(named) - 3} other measures" * (len(named) > 3)
        return f"Runs that may be the best: by {', '.join(named[:3])}{more}."

    def summary(self) -> pd.DataFrame:
        """Return how far each measure tells the ranks of runs apart.

        Of shape (measure, 5), with columns measure, near_first (runs that do not differ significantly from one of
        rank 1, itself included), adjacent (neighbours by rank that differ significantly), neighbours (of how many),
        width (the number of ranks that a run may have, on average).
        """
        rows = []
        for m, measure in enumerate(self.measures):
            order, differ, near_first = self._place(m)
            width = float((self.ends[m, :, 1] - self.ends[m, :, 0] + 1).mean())
            adjacent = int(np.diagonal(differ, 1).sum())
            rows.append((str(measure), int(near_first.sum()), adjacent, len(order) - 1, width))
        return pd.DataFrame(rows, columns=["measure", "near_first", "adjacent", "neighbours", "width"])

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the summary beside the ranks."""
        return {"summary": self.summary()}

    def to_table(self) -> Table:
        """Return how far each measure tells the ranks of runs apart; leaderboards are `detail_tables`."""
        names = {
            "near_first": "not separable from the first",
            "adjacent": "neighbours separated",
            "neighbours": "of",
            "width": "ranks a run may have",
        }
        caption = f"How far the ranks of {len(self.runs)} runs are real, by {self.test} at α = {self.alpha:g}."
        legend = (
            "Runs that do not differ significantly from the first (itself included), neighbours by rank that do, and how "
            "many ranks a run may have on average."
        )
        shown = self.summary().set_index("measure").rename(columns=names)
        return Table(shown, caption, self.signature, digits=1, legend=legend)

    def short_tables(self) -> list[Table]:
        """Return the leaderboard of a single measure, or of several how far each tells runs apart."""
        return [self.leaderboard(self.measures[0]) if len(self.measures) == 1 else self.to_table()]

    def detail_tables(self) -> list[Table]:
        """Return the leaderboard of every measure."""
        return [self.leaderboard(measure) for measure in self.measures]

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank according to one measure, with the ranks they may have and their letters.

        Parameters
        ----------
        measure : Measure or str
            One of those that were tested.

        Returns
        -------
        Table
        """
        frame = self.to_frame()
        rows = frame[frame["measure"] == str(measure)]
        letters = rows["letters"].fillna("too many")
        shown = pd.DataFrame(
            {
                "rank": rows["rank"],
                "may be": [
                    f"{low}–{high}" if low < high else f"{low}" for low, high in zip(rows.low, rows.high, strict=True)
                ],
                "mean": rows["mean"],
                "letters": letters,
            }
        ).set_index(rows["run"])
        caption = f"Runs by {measure}, with the ranks they may have by {self.test} at α = {self.alpha:g}."
        return Table(shown, caption, self.signature, legend=f"Letters: {LETTERS}.")

    def write_tables(self, folder: Path, name: str, width: Width = "column") -> None:
        """Write what every result writes, the leaderboards before the summary."""
        super().write_tables(folder, name, width)
        tables = self.page_tables()
        write_atomically(folder / f"{name}.md", "\n".join(table.to_markdown() for table in tables))
        write_atomically(folder / f"{name}.tex", join_latex(tables, width))

    def page_tables(self) -> list[Table]:
        """Return the leaderboards before the summary."""
        return [*self.detail_tables(), self.to_table()]

    def plot(self, *, ax: Axis = None, size: Size = None, signature: bool = True) -> Figure:
        """Draw the runs by rank, each with the ranks it may have and its letters.

        The first six measures are drawn, in a page of print three, in a column one. Of more than 150 runs, the first 50
        are drawn and 50 of the others, evenly spaced over their ranks; the figure says so.
        """
        frame, shown = self.to_frame(), self.measures[:MOST_PANELS]
        shown = shown[:1] if size == "column" else shown[:3] if size == "page" else shown
        boards = {measure.title: frame[frame["measure"] == str(measure)] for measure in shown}
        return draw_ranks(boards, self.signature if signature else None, ax=ax, size=size)

    def more_figures(self) -> dict[str, Callable[..., Figure]]:
        """Return the critical-difference diagrams of the first six measures; none of more runs than one can read."""
        if len(self.runs) > MOST_NAMES:
            return {}
        names = [
            re.sub(r"[^\w.]+", "-", str(measure)).strip("-.") or "measure" for measure in self.measures[:MOST_PANELS]
        ]
        named = {name if names.count(name) == 1 else f"{name}-{number}": number for number, name in enumerate(names)}
        return {f"groups-{name}": partial(self.plot_groups, self.measures[number]) for name, number in named.items()}

    def plot_groups(
        self, measure: Measure | str, *, ax: Axis = None, size: Size = None, signature: bool = True
    ) -> Figure:
        """Draw the critical-difference diagram of one measure: runs at their means, a bar for each letter.

        Parameters
        ----------
        measure : Measure or str
        ax, size, signature
            As for `plot`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        position = [str(each) for each in self.measures].index(str(measure))
        order, differ, _ = self._place(position)
        return draw_groups(
            [self.runs[r] for r in order], self.means[order, position], differ, self.measures[position],
            self.signature if signature else None, ax=ax, size=size,
        )  # fmt: skip


def find_ranks(power: Any, better: np.ndarray, differ: np.ndarray) -> RunRanks:
    """Return the ranks of a `DiscriminativePower`, from which runs are better and differ, shape (measure, run, run)."""
    ranks, ends = (np.stack(arrays) for arrays in zip(*map(rank_intervals, better, differ), strict=True))
    letters: list[tuple[str, ...] | None] = []
    remarks = list(power.remarks)
    for measure, rank, differs in zip(power.measures, ranks, differ, strict=True):
        spelled, remark = spell_letters(measure, rank, power.runs, differs)
        letters.append(spelled)
        remarks += remark
    return RunRanks(
        power.collection, power.runs, power.measures, power.means, ranks, ends, differ, tuple(letters), power.test,
        power.alpha, power.signature.follow("run_ranks"), diagnostics=power.diagnostics, remarks=tuple(remarks),
    )  # fmt: skip


def _order(ranks: np.ndarray, runs: tuple[str, ...]) -> np.ndarray:
    return np.lexsort((np.array(runs, dtype=str), ranks))


def spell_letters(
    measure: Measure, ranks: np.ndarray, runs: tuple[str, ...], differ: np.ndarray
) -> tuple[tuple[str, ...] | None, list[str]]:
    """Return the letters of every run, a being that of the best; where they would be too many none, and a remark."""
    order = _order(ranks, runs)
    try:
        spelled = compact_letters(differ[np.ix_(order, order)])
    except MetaevalError as error:
        return None, [f"{measure}: no letters. {error}"]
    return tuple(each for _, each in sorted(zip(order.tolist(), spelled, strict=True))), []
