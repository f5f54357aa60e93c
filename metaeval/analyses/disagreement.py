"""Which runs and topics disagree with a reference: ranks of runs beside the reference's, and τ_b of every topic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metaeval.data.scores import Scores
from metaeval.measures.base import Measure, find_signs
from metaeval.show.signature import Signature
from metaeval.show.table import Table, cross
from metaeval.stats.run_agreement import settle_ties

_MOST_ROWS, _MOST_COLUMNS = 5, 8  # of what is printed about runs and topics; exports hold everything


def list_disagreement(
    scores: Scores, measures: Sequence[Measure], run_scores: np.ndarray, tau_b: np.ndarray
) -> dict[str, pd.DataFrame]:
    """Compare measures of one collection with their reference, the last of them, run by run and topic by topic.

    Runs and topics are in the order of their labels. Higher is better in `run_scores`, shape (run, measure), and listed are the
    measures' own scores. Ranks begin with 1, the best, and ties have their average; a difference is above 0 where a measure
    ranks the run worse than the reference does. `tau_b`, shape (measure, topic), is that of the runs' scores with the
    reference's. What disagrees most comes first.
    """
    names = [str(measure) for measure in measures[:-1]]
    ranks = pd.DataFrame(-settle_ties(run_scores)).rank(method="average").to_numpy()
    shown = run_scores * find_signs(measures)
    of_runs = cross(
        {"collection": [scores.collection], "run": sorted(scores.runs), "measure": names},
        score=shown[:, :-1], reference_score=shown[:, -1:], rank=ranks[:, :-1], reference_rank=ranks[:, -1:],
    )  # fmt: skip
    of_runs["difference"] = of_runs["rank"] - of_runs["reference_rank"]
    of_topics = cross(
        {"collection": [scores.collection], "topic": sorted(scores.topics), "measure": names}, tau_b=tau_b.T
    )
    far = np.argsort(-of_runs["difference"].abs().to_numpy(), kind="stable")
    low = np.argsort(of_topics["tau_b"].to_numpy(), kind="stable")
    frames = {"runs": of_runs.iloc[far], "topics": of_topics.iloc[low]}
    return {what: frame.reset_index(drop=True) for what, frame in frames.items()}


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
