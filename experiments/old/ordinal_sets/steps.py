"""Ranking similarity, consistency and discriminative power of measures on five collections that are made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import metaeval
from experiments.old.classifiers import describe_versions, is_kept
from experiments.old.outcome import Outcome, Settings, read_toml
from experiments.old.tables import sign_alike
from metaeval.analyses.study import Study, study_collection
from metaeval.show.table import band_marks

STUDY = read_toml(Path(__file__).parent / "study.toml")
SOURCE = "skordinal"
SOURCES = [SOURCE]
PICTURES = {SOURCE: ("power-pooled",)}
QUESTIONS = ("similarity", "consistency", "power")


def run(settings: Settings) -> list[Outcome]:
    """Ask ACL 2021's questions of every set, and of all of them together."""
    outcome = Outcome("ordinal_sets", SOURCE, tolerance=STUDY["tolerance"])
    studies: dict[str, Study] = {}
    for name in choose_sets(settings):
        settings.say(f"{name}: 22 classifiers, made on first use")
        studies[name] = study_scores(metaeval.score(settings.load(name), STUDY["measures"]), settings)
        add_tables(outcome, studies[name])
    outcome.lacks = [name for name in STUDY["sets"] if name not in studies]
    if not outcome.lacks:
        add_pooled(outcome, studies, settings)
    outcome.notes += describe_versions(STUDY["made_with"])
    return [outcome]


def choose_sets(settings: Settings) -> list[str]:
    """Return the sets that are looked at: all of them, those that are kept already, or the quick ones."""
    if settings.full:
        return list(STUDY["sets"])
    return [name for name in STUDY["sets"] if name in STUDY["quick_sets"] or (not settings.quick and is_kept(name))]


def study_scores(scores: metaeval.Scores, settings: Settings) -> Study:
    """Ask one set what ACL 2021 asks."""
    return study_collection(
        scores, questions=QUESTIONS, n_trials=STUDY["n_trials"], n_permutations=STUDY["n_permutations"],
        seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip


def add_tables(outcome: Outcome, study: Study) -> None:
    """Add Tables 2 and 3 and Figure 1 of ACL 2021 for one set."""
    sized = f"{study.name}, {len(study.scores.runs)} runs, {len(study.scores.topics)} topics."
    for question, result in study.results():
        table = result.at("all")[0]  # of many measures, the whole matrix
        name = f"{question}-{shorten(study.name)}"
        outcome.tables[name] = replace(table, caption=f"{sized} {table.caption}")
        outcome.figures[name] = result.plot


def add_pooled(outcome: Outcome, studies: Mapping[str, Study], settings: Settings) -> None:
    """Add what holds of all sets together: pooled power, consistency set by set with its mean, mean similarity."""
    first, *others = studies.values()
    names = [study.name for study in others]
    pooled = metaeval.pooled_discriminative_power([study.power for study in studies.values()], seed=settings.seed)
    outcome.tables["power-pooled"] = pooled.to_table()
    outcome.figures["power-pooled"] = pooled.plot
    means = {
        shorten(name): pd.Series(
            study.consistency.means, index=[measure.title for measure in study.consistency.measures]
        )
        for name, study in studies.items()
    }
    frame = pd.DataFrame(means)
    frame["mean"] = frame.mean(axis=1)
    frame.index.name = "measure"
    caption = "Split-half consistency: mean τ over splits, set by set, and the mean of the five."
    signature = sign_alike(first.consistency.signature, names)
    outcome.tables["consistency-all"] = metaeval.Table(frame.sort_values("mean", ascending=False), caption, signature)
    squares = [study.similarity.to_frame() for study in studies.values()]
    mean = sum(square.to_numpy() for square in squares) / len(squares)
    upper = pd.DataFrame(mean, squares[0].index, squares[0].columns).where(np.triu(np.ones(mean.shape, dtype=bool), 1))
    caption = f"Ranking similarity: mean of τ over the {len(squares)} sets, in bands from 0.8 and 0.6."
    signature = sign_alike(first.similarity.signature, names)
    outcome.tables["similarity-all"] = metaeval.Table(
        upper.iloc[:-1, 1:], caption, signature, marks=band_marks(0.8, 0.6)
    )


def shorten(name: str) -> str:
    """Return the name of a set without "ordinal-"."""
    return name.removeprefix("ordinal-")


def describe(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the page asks for by name."""
    return {"tolerance": f"{STUDY['tolerance']:g}", "seen": STUDY["seen"]}
