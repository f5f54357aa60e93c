"""Which runs and topics disagree with a reference: ranks of runs beside the reference's, and τ_b of every topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.show.signature import Signature
from metaeval.show.frames import cross
from metaeval.show.table import Table
from metaeval.stats.run_agreement import settle_ties

_MOST_ROWS, _MOST_COLUMNS = 5, 8  # of what is printed about runs and topics; exports hold everything


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Of one collection, where measures and their reference differ.

    `run_scores`, shape (run, measure + 1), are as the measures give them, the reference's in the last column; `ranks`, of
    the same shape, begin with 1, the best, and ties have their average. `tau`, shape (topic, measure), is τ_b of the runs'
    scores on one topic with the reference's; NaN where either ties all runs.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    run_scores: np.ndarray
    ranks: np.ndarray
    tau: np.ndarray

    def list_runs(self, measures: Sequence[str]) -> pd.DataFrame:
        """Return score and rank of every run by every measure, those that are ranked most differently first.

        The columns are run, measure, score, reference_score, rank, reference_rank and difference, which is above 0 where
        the measure ranks the run worse than the reference does.
        """
        frame = cross(
            {"run": self.runs, "measure": measures},
            score=self.run_scores[:, :-1], reference_score=self.run_scores[:, -1:],
            rank=self.ranks[:, :-1], reference_rank=self.ranks[:, -1:],
        )  # fmt: skip
        frame["difference"] = frame["rank"] - frame["reference_rank"]
        return frame.iloc[np.argsort(-frame["difference"].abs().to_numpy(), kind="stable")].reset_index(drop=True)

    def list_topics(self, measures: Sequence[str]) -> pd.DataFrame:
        """Return τ_b of every measure with the reference on every topic, the lowest first: topic, measure and tau_b."""
        frame = cross({"topic": self.topics, "measure": measures}, tau_b=self.tau)
        return frame.iloc[np.argsort(frame["tau_b"].to_numpy(), kind="stable")].reset_index(drop=True)


def tabulate_disagreement(
    runs: pd.DataFrame, topics: pd.DataFrame, measures: Sequence[str], reference: str, signature: Signature
) -> list[Table]:
    """Return the runs and the topics of one collection that disagree most, by the first of the measures named."""
    names = list(measures[:_MOST_COLUMNS])
    best = f", the {_MOST_COLUMNS} best measures" if len(names) < len(measures) else ""
    differences = runs.pivot(index="run", columns="measure", values="difference")[names]
    far = np.argsort(-differences.abs().max(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
    tau = topics.pivot(index="topic", columns="measure", values="tau_b")[names]
    low = np.argsort(tau.mean(axis=1).to_numpy(), kind="stable")[:_MOST_ROWS]
    farthest = f"Runs that disagree most: rank by the measure less rank by {reference}{best}."
    lowest = f"Topics that disagree most: τ_b of the runs' scores with those of {reference}{best}."
    return [Table(differences.iloc[far], farthest, signature, digits=1), Table(tau.iloc[low], lowest, signature)]


def find_disagreement(
    runs: tuple[str, ...], topics: tuple[str, ...], run_scores: np.ndarray, by_topic: np.ndarray, signs: npt.ArrayLike
) -> Disagreement:
    """Compare measures with their reference, the last measure, run by run and topic by topic.

    Higher is better in `run_scores`, of shape (run, measure + 1); with `signs` the measures' own scores become those.
    `by_topic` has τ_b with the reference, shape (measure, topic).
    """
    ranks = pd.DataFrame(-settle_ties(run_scores)).rank(method="average").to_numpy()
    return Disagreement(runs, topics, run_scores * np.asarray(signs), ranks, by_topic.T)
