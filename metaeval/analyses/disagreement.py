"""Which runs and topics disagree with a reference: ranks of runs beside the reference's, and τ_b of every topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.stats.run_agreement import run_statistics, settle_ties
from metaeval.stats.scale import round_scaled, scale_scores

_CELLS = 4_000_000  # signs of pairs of runs held at once: 16 MB


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Of one collection, where measures and their reference differ.

    Parameters
    ----------
    runs, topics : tuple of str
    run_scores : ndarray, shape (run, measure + 1)
        As the measures give them; the last column is the reference's.
    ranks : ndarray, shape (run, measure + 1)
        From 1, the best; ties have their average rank.
    tau : ndarray, shape (topic, measure)
        τ_b of the runs' scores on one topic with the reference's; NaN where either ties all runs.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    run_scores: np.ndarray
    ranks: np.ndarray
    tau: np.ndarray

    def list_runs(self, measures: Sequence[str]) -> pd.DataFrame:
        """Return score and rank of every run by every measure, those that are ranked most differently first.

        Parameters
        ----------
        measures : sequence of str

        Returns
        -------
        DataFrame, shape (run · measure, 7)
            Columns run, measure, score, reference_score, rank, reference_rank, difference (above 0: the measure ranks
            the run worse than the reference does).
        """
        n = len(measures)
        frame = pd.DataFrame(
            {
                "run": np.repeat(np.array(self.runs, dtype=object), n),
                "measure": np.tile(np.array(measures, dtype=object), len(self.runs)),
                "score": self.run_scores[:, :-1].ravel(),
                "reference_score": np.repeat(self.run_scores[:, -1], n),
                "rank": self.ranks[:, :-1].ravel(),
                "reference_rank": np.repeat(self.ranks[:, -1], n),
            }
        )
        frame["difference"] = frame["rank"] - frame["reference_rank"]
        return frame.iloc[np.argsort(-frame["difference"].abs().to_numpy(), kind="stable")].reset_index(drop=True)

    def list_topics(self, measures: Sequence[str]) -> pd.DataFrame:
        """Return how every measure agrees with the reference on every topic, the worst first.

        Parameters
        ----------
        measures : sequence of str

        Returns
        -------
        DataFrame, shape (topic · measure, 3)
            Columns topic, measure, tau_b.
        """
        frame = pd.DataFrame(
            {
                "topic": np.repeat(np.array(self.topics, dtype=object), len(measures)),
                "measure": np.tile(np.array(measures, dtype=object), len(self.topics)),
                "tau_b": self.tau.ravel(),
            }
        )
        return frame.iloc[np.argsort(frame["tau_b"].to_numpy(), kind="stable")].reset_index(drop=True)


def find_disagreement(
    runs: tuple[str, ...], topics: tuple[str, ...], values: np.ndarray, reference: np.ndarray, run_scores: np.ndarray,
    signs: npt.ArrayLike,
) -> Disagreement:  # fmt: skip
    """Compare measures with their reference run by run and topic by topic.

    Parameters
    ----------
    runs, topics : tuple of str
    values : ndarray, shape (run, topic, measure)
        Higher is better.
    reference : ndarray, shape (run, topic)
    run_scores : ndarray, shape (run, measure + 1)
        Higher is better; the last column is the reference's.
    signs : array_like, shape (measure + 1,)
        By which the measures' own scores become those.

    Returns
    -------
    Disagreement
    """
    settled = settle_ties(run_scores)
    ranks = pd.DataFrame(-settled).rank(method="average").to_numpy()
    by_topic = round_scaled(scale_scores(values)).transpose(2, 1, 0)
    wanted = round_scaled(scale_scores(reference[..., np.newaxis]))[..., 0].T
    n_pairs = len(runs) * (len(runs) - 1) // 2
    block = max(1, _CELLS // (max(1, n_pairs) * len(by_topic)))
    parts = [
        run_statistics(by_topic[:, start : start + block], wanted[start : start + block], ["tau_b"])["tau_b"]
        for start in range(0, len(topics), block)
    ]
    return Disagreement(runs, topics, run_scores * np.asarray(signs), ranks, np.concatenate(parts, axis=1).T)
