"""Which runs and topics disagree with a reference: ranks of runs beside the reference's, and τ_b of every topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from metaeval.stats.blocks import split_topics
from metaeval.stats.progress import tell
from metaeval.stats.run_agreement import run_statistics, settle_ties
from metaeval.stats.scale import Scaled, round_scaled

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
    runs: tuple[str, ...], topics: tuple[str, ...], scores: Scaled, run_scores: np.ndarray, signs: npt.ArrayLike,
) -> Disagreement:  # fmt: skip
    """Compare measures with their reference run by run and topic by topic.

    Parameters
    ----------
    runs, topics : tuple of str
    scores : Scaled
        Of shape (run, topic, measure + 1), higher is better; the last measure is the reference.
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
    n_measures = scores.shape[2] - 1
    n_pairs = len(runs) * (len(runs) - 1) // 2
    size = max(1, _CELLS // (max(1, n_pairs) * n_measures))
    parts = []
    for block in split_topics(scores.values):
        by_topic = round_scaled(scores.read_topics(block)).transpose(2, 1, 0)
        for start in range(0, by_topic.shape[1], size):
            some = slice(start, start + size)
            parts.append(run_statistics(by_topic[:-1, some], by_topic[-1, some], ["tau_b"])["tau_b"])
            tell("topics", min(block.start + some.stop, block.stop), len(topics))
    return Disagreement(runs, topics, run_scores * np.asarray(signs), ranks, np.concatenate(parts, axis=1).T)
