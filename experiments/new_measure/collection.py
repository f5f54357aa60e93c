"""One collection: everything asked of the nine measures, and its tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import metaeval
from experiments.study import Outcome, Settings


@dataclass(frozen=True)
class Studied:
    """The results on one collection of submitted runs.

    Parameters
    ----------
    scores : Scores
    similarity : RankingSimilarity
    halves, small : SplitHalfConsistency
        Over halves of the topics, and over two sets of 10.
    power : DiscriminativePower
    overlap : SignificanceOverlap
    contradictions : SignificanceContradictions
    """

    scores: metaeval.Scores
    similarity: metaeval.RankingSimilarity
    halves: metaeval.SplitHalfConsistency
    small: metaeval.SplitHalfConsistency
    power: metaeval.DiscriminativePower
    overlap: metaeval.SignificanceOverlap
    contradictions: metaeval.SignificanceContradictions

    @property
    def name(self) -> str:
        """The collection's name."""
        return self.scores.collection


def studied(
    scores: metaeval.Scores, settings: Settings, *, permutations: int, splits: int, small: int, alpha: float
) -> Studied:
    """Ask everything of the measures that needs one collection only.

    Parameters
    ----------
    scores : Scores
    settings : Settings
    permutations : int
        B of the randomised Tukey HSD tests.
    splits : int
        Random splits of the topics.
    small : int
        Topics in each of two sets, besides halves.
    alpha : float

    Returns
    -------
    Studied
    """
    seed, n_jobs = settings.seed, settings.n_jobs
    shared: dict[str, Any] = {
        "n_trials": splits,
        "n_permutations": permutations,
        "alpha": alpha,
        "seed": seed,
        "n_jobs": n_jobs,
    }
    power = metaeval.discriminative_power(scores, n_permutations=permutations, alpha=alpha, seed=seed, n_jobs=n_jobs)
    return Studied(
        scores,
        metaeval.ranking_similarity(scores, seed=seed),
        metaeval.split_half_consistency(scores, **shared),
        metaeval.split_half_consistency(scores, size=small, **shared),
        power,
        metaeval.significance_overlap(power),
        metaeval.significance_contradictions(power),
    )


def outcome(one: Studied) -> Outcome:
    """Return the tables and figures of one collection.

    Parameters
    ----------
    one : Studied

    Returns
    -------
    Outcome
    """
    found = Outcome("new_measure", one.name)
    found.tables = {
        "similarity": one.similarity.to_table(),
        "consistency": one.halves.to_table(),
        f"consistency_{one.small.sizes[0]}": one.small.to_table(),
        "power": one.power.to_table(),
        "overlap": one.overlap.to_table(),
        "contradictions": one.contradictions.to_table(),
    }
    found.figures = {"similarity": one.similarity.plot(), "power": one.power.plot()}
    return found
