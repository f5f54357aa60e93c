"""One collection: everything asked of the nine measures, and its tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import metaeval
from experiments.outcome import Outcome, Settings
from metaeval.analyses.study import Study, study_collection

QUESTIONS = ("similarity", "consistency", "small_consistency", "power", "overlap", "contradictions")


def study_scores(scores: metaeval.Scores, settings: Settings, options: Mapping[str, Any]) -> Study:
    """Ask everything of the measures that needs one collection only.

    Parameters
    ----------
    scores : Scores
    settings : Settings
    options : mapping
        ``permutations``, ``splits``, ``small`` (topics in each of two sets, besides halves) and ``alpha``.

    Returns
    -------
    Study
        With an answer to every one of `QUESTIONS`.

    Raises
    ------
    MetaevalError
        If the collection is too small for one of them.
    """
    found = study_collection(
        scores, questions=QUESTIONS, n_permutations=options["permutations"], n_trials=options["splits"],
        small=options["small"], alpha=options["alpha"], seed=settings.seed, n_jobs=settings.n_jobs,
    )  # fmt: skip
    for question in QUESTIONS:
        found.require(question)
    return found


def compute_tables(study: Study) -> Outcome:
    """Return the tables and figures of one collection.

    Parameters
    ----------
    study : Study

    Returns
    -------
    Outcome
    """
    found = Outcome("new_measure", study.name)
    results = dict(study.results())
    small = results.pop("small_consistency")
    found.tables = {question: result.to_table() for question, result in results.items()}
    found.tables[f"consistency_{small.sizes[0]}"] = small.to_table()
    found.figures = {question: results[question].plot for question in ("similarity", "power")}
    return found
