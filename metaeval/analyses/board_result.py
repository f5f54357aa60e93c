"""The result of `board_ranks`: runs by rank with the ranks they may have, and what tasks, topics and aggregates say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.rank_result import LETTERS, RunRanks
from metaeval.errors import format_count, shorten
from metaeval.measures.base import Measure
from metaeval.show.table import Table
from metaeval.stats.rank_correlation import tau


@dataclass(frozen=True, eq=False)
class BoardRanks(RunRanks):
    """The rank of every run of a board, and the ranks it may have, all of them at once.

    Parameters
    ----------
    over : {"topics", "tasks"}
        What was resampled.
    better : ndarray of bool, shape (run, run)
        ``better[i, j]``: run i is surely better than run j; `ends` count these claims. `differ` and `letters` are those of
        the two-sided test with one critical value.
    coverage : DataFrame, shape (run, 4)
        Columns run, tasks, partial, lacking: in how many tasks a run is, with part of the topics of how many, and how many it
        lacks.
    tasks : DataFrame, shape (task, 11)
        Columns task, topics, runs, partial, lacking, weight; all_solve and none_solve, topics with the highest or lowest
        score of the task from every run; share, of the variance of the runs' means; and the first run and τ_b with the order
        of runs if the task were not there.
    topics : DataFrame, shape (topic, 4)
        Columns task, topic, share, solved_by; the largest share first.
    orders : DataFrame, shape (run, 4)
        Columns run, and its rank by every aggregate, the chosen one first.
    """

    over: str
    better: np.ndarray
    coverage: pd.DataFrame
    tasks: pd.DataFrame
    topics: pd.DataFrame
    orders: pd.DataFrame

    def __repr__(self) -> str:
        return f"BoardRanks: {len(self.runs)} runs × {format_count(len(self.tasks), 'task')}, {self.measures[0]}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run, by rank.

        Returns
        -------
        DataFrame, shape (run, 13)
            Columns as of `RunRanks.to_frame`: mean is the aggregate, low and high are the ranks that a run may have, all runs
            together, and near_first says whether it may be first; letters_low and letters_high, between which letters leave
            it; and tasks, partial, lacking.
        """
        frame, order = super().to_frame(), self.order(0)
        claims = (self.better & self.differ[0])[np.ix_(order, order)]
        low, high = 1 + claims.sum(axis=0), len(order) - claims.sum(axis=1)
        frame = frame.assign(near_first=frame["low"] == 1, letters_low=low, letters_high=high)
        return frame.merge(self.coverage, on="run")

    @property
    def _parts(self) -> int:
        return int((self.topics["share"].cumsum() < 0.5).sum()) + 1

    def summary(self) -> pd.DataFrame:
        """Return how far the ranks are real.

        Returns
        -------
        DataFrame, shape (1, 8)
            Columns measure; near_first, runs that may be first; adjacent, neighbours by rank that are separated, of
            `neighbours`; width, ranks that a run may have on average, and letters_width, as many as letters leave; topics that
            all or none solve; and half, how many topics carry half of the spread.
        """
        frame, order = self.to_frame(), self.order(0)
        separated = np.diagonal((self.better | self.better.T)[np.ix_(order, order)], 1)
        width = (frame["high"] - frame["low"] + 1).mean()
        row = {
            "measure": str(self.measures[0]), "near_first": int(frame["near_first"].sum()), "adjacent": int(separated.sum()),
            "neighbours": len(order) - 1, "width": float(width),
            "letters_width": float((frame["letters_high"] - frame["letters_low"] + 1).mean()),
            "all_or_none": int((self.topics["solved_by"] != "").sum()),
            "half": self._parts if self.topics["share"].notna().any() else None,
        }  # fmt: skip
        return pd.DataFrame([row])

    def aggregates(self) -> pd.DataFrame:
        """Return how the order changes with the aggregate.

        Returns
        -------
        DataFrame, shape (aggregate, 5)
            Columns aggregate, first (run), tau_b with the chosen aggregate, and the run that moves farthest with its change of
            rank, positive if it falls.
        """
        names = self.orders.columns[1:]
        chosen, rows = self.orders[names[0]].to_numpy(), []
        for name in names:
            ranks = self.orders[name].to_numpy()
            moves = ranks - chosen
            farthest = int(np.abs(moves).argmax())
            rows.append(
                {
                    "aggregate": name, "first": self.runs[int(ranks.argmin())],
                    "tau_b": float(tau(-ranks.astype(float), -chosen.astype(float), variant="tau_b")),
                    "moves_most": self.runs[farthest] if moves.any() else "", "by": int(moves[farthest]),
                }
            )  # fmt: skip
        return pd.DataFrame(rows)

    def sentence(self) -> str:
        """Return the result in words to paste: what was resampled, how sure it is, who may be first, what is open."""
        row = self.summary().iloc[0]
        leader = shorten(self.runs[int(self.order(0)[0])])
        n_tasks, n_topics = len(self.tasks), int(self.tasks["topics"].sum())
        drawn = "topics resampled within tasks" if self.over == "topics" else "tasks resampled"
        others, firsts = int(row["near_first"]) - 1, int((self.ranks[0] == 1).sum())
        if firsts > 1:
            alone = f"{firsts} tie for the lead, and {others + 1} may be first"
        elif others:
            alone = f"{leader} leads, and {format_count(others, 'other run')} may be first"
        else:
            alone = f"only {leader} may be first"
        alike = int(row["neighbours"] - row["adjacent"])
        return (
            f"Of {len(self.runs)} runs ranked by {self.measures[0]} ({format_count(n_tasks, 'task')}, "
            f"{format_count(n_topics, 'topic')}; {drawn}, simultaneous {100 * (1 - self.alpha):g} % rank sets), {alone}; "
            f"{f'{alike} of {row.neighbours}' if alike else 'no'} neighbours cannot be separated."
        )

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the summary, what tasks and topics say, and ranks by every aggregate."""
        return {
            "summary": self.summary(), "tasks": self.tasks, "topics": self.topics, "aggregates": self.aggregates(),
            "orders": self.orders,
        }  # fmt: skip

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain data that JSON can hold, with the sentence to paste."""
        return super().to_dict() | {"sentence": self.sentence()}

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank, with the ranks they may have and their letters; `measure` is the aggregate."""
        legend = f"May be: the ranks that a run may have, all runs together. Letters: {LETTERS}."
        table = super().leaderboard(measure)
        return replace(
            table, frame=table.frame.rename(columns={"mean": str(measure)}), caption=self.sentence(), legend=legend
        )

    def to_table(self) -> Table:
        """Return what every task says of the order."""
        shown = self.tasks.assign(share=100 * self.tasks["share"])
        shown = shown[["task", "topics", "runs", "all_solve", "none_solve", "share", "tau_without"]].set_index("task")
        names = {
            "all_solve": "all solve",
            "none_solve": "none solves",
            "share": "% of spread",
            "tau_without": "τ without",
        }
        legend = (
            "All solve, none solves: topics with the highest or lowest score from every run. % of spread: share of the "
            "variance of the runs' means. τ without: τ_b of the order of runs with that without the task."
        )
        return Table(
            shown.rename(columns=names), "Tasks, and what they carry.", self.signature, digits=2, legend=legend
        )

    def detail_tables(self) -> list[Table]:
        """Return the leaderboard, and how the order changes with the aggregate."""
        shown = self.aggregates().set_index("aggregate").rename(columns={"tau_b": "τ_b", "moves_most": "moves most"})
        legend = "By: how many ranks that run falls; below 0 it rises."
        orders = Table(shown, "How the order changes with the aggregate.", self.signature, legend=legend)
        return [self.leaderboard(self.measures[0]), orders]
