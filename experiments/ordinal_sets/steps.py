"""Ranking similarity, consistency and discriminative power of measures on five collections that are made here."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.study import Outcome, Settings, read_toml
from metaeval.show.table import band_marks

STUDY = read_toml(Path(__file__).parent / "study.toml")


def run(settings: Settings) -> list[Outcome]:
    """Ask ACL 2021's questions of every set, and of all of them together.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    list of Outcome
    """
    outcome = Outcome("ordinal_sets", "skordinal")
    powers, consistencies, similarities = [], {}, {}
    for name in STUDY["quick_sets"] if settings.quick else STUDY["sets"]:
        settings.say(f"{name}: 22 classifiers, made on first use")
        scores = metaeval.score(settings.load(name), STUDY["measures"])
        settings.say(f"{name}: similarity, consistency, power")
        consistencies[name] = add_consistency(outcome, scores, settings)
        powers.append(add_power(outcome, scores, settings))
        similarities[name] = add_similarity(outcome, scores, settings)
    if not settings.quick:
        add_pooled(outcome, powers, consistencies, similarities, settings)
    installed = {package: version(package) for package in STUDY["made_with"]}
    if installed != STUDY["made_with"]:
        outcome.tolerance = STUDY["tolerance"]
        outcome.notes.append(
            f"made with {installed}, the committed results with {STUDY['made_with']}: numbers may differ a little"
        )
    outcome.notes.append("computed here, without any download, from the ordinal sets of the package skordinal")
    return [outcome]


def add_similarity(outcome: Outcome, scores: metaeval.Scores, settings: Settings) -> metaeval.RankingSimilarity:
    """Add Table 2 of ACL 2021: do two measures rank the runs alike?"""
    found = metaeval.ranking_similarity(scores, seed=settings.seed)
    _add(outcome, f"similarity-{_short(scores.collection)}", found, scores)
    return found


def add_consistency(outcome: Outcome, scores: metaeval.Scores, settings: Settings) -> metaeval.SplitHalfConsistency:
    """Add Table 3 of ACL 2021: does a measure rank the runs alike on other topics?"""
    found = metaeval.split_half_consistency(
        scores, n_trials=STUDY["n_trials"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    _add(outcome, f"consistency-{_short(scores.collection)}", found, scores)
    return found


def add_power(outcome: Outcome, scores: metaeval.Scores, settings: Settings) -> metaeval.DiscriminativePower:
    """Add Figure 1 of ACL 2021: how many significant differences between runs does a measure find?"""
    found = metaeval.discriminative_power(
        scores, n_permutations=STUDY["n_permutations"], seed=settings.seed, n_jobs=settings.n_jobs
    )
    _add(outcome, f"power-{_short(scores.collection)}", found, scores)
    return found


def add_pooled(
    outcome: Outcome,
    powers: list[metaeval.DiscriminativePower],
    consistencies: dict[str, metaeval.SplitHalfConsistency],
    similarities: dict[str, metaeval.RankingSimilarity],
    settings: Settings,
) -> None:
    """Add what holds of all sets together: pooled power, consistency set by set with its mean, mean similarity."""
    pooled = metaeval.pooled_discriminative_power(powers, seed=settings.seed)
    outcome.tables["power-pooled"] = pooled.to_table()
    outcome.figures["power-pooled"] = pooled.plot()
    means = {
        _short(name): pd.Series(one.means, index=[measure.title for measure in one.measures])
        for name, one in consistencies.items()
    }
    frame = pd.DataFrame(means)
    frame["mean"] = frame.mean(axis=1)
    frame.index.name = "measure"
    caption = "Split-half consistency: mean τ over splits, set by set, and the mean of the five."
    first = next(iter(consistencies.values()))
    signature = f"{first.signature}; the same for {', '.join(list(consistencies)[1:])}"
    outcome.tables["consistency-all"] = metaeval.Table(frame.sort_values("mean", ascending=False), caption, signature)
    squares = [one.to_frame() for one in similarities.values()]
    mean = sum(square.to_numpy() for square in squares) / len(squares)
    upper = pd.DataFrame(mean, squares[0].index, squares[0].columns).where(np.triu(np.ones(mean.shape, dtype=bool), 1))
    caption = f"Ranking similarity: mean of τ over the {len(squares)} sets, in bands from 0.8 and 0.6."
    first = next(iter(similarities.values()))
    signature = f"{first.signature}; the same for {', '.join(list(similarities)[1:])}"
    outcome.tables["similarity-all"] = metaeval.Table(
        upper.iloc[:-1, 1:], caption, signature, marks=band_marks(0.8, 0.6)
    )


def _add(outcome: Outcome, name: str, found: Any, scores: metaeval.Scores) -> None:
    table = found.to_table()
    sized = f"{scores.collection}, {len(scores.runs)} runs, {len(scores.topics)} topics. {table.caption}"
    outcome.tables[name] = metaeval.Table(table.frame, sized, table.signature, table.digits, table.marks)
    outcome.figures[name] = found.plot()


def _short(name: str) -> str:
    return name.removeprefix("ordinal-")
