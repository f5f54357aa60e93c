"""Measures of ranked documents, as ir_measures has them: nDCG, AP, RR and others of trec_eval and its like."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import DataError, MetaevalError
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label

Rankings: TypeAlias = Mapping[
    str, Mapping[str, Sequence[str]]
]  # of every run the documents of each topic, the best first
Judgements: TypeAlias = Mapping[
    str, Mapping[str, Mapping[str, int]]
]  # of every set the grade of each topic's documents

DEEPEST = 1_000_000
"""Documents that a measure may look at."""


def parse_measure(name: str) -> tuple[Measure, Any]:
    """Return a measure that is named as ir_measures names it, and what ir_measures makes of the name."""
    try:
        import ir_measures
    except ModuleNotFoundError:
        raise MetaevalError('scoring runs needs ir_measures: pip install "metaeval[ir]"') from None
    try:
        parsed = ir_measures.parse_measure(name)
        cutoff = parsed.params.get("cutoff")
        ir_measures.evaluator([parsed], {"topic": {"document": 1}})
        if cutoff is not None and not 1 <= cutoff <= DEEPEST:  # trec_eval would end the program
            raise ValueError(f"its cut lies from 1 to {DEEPEST:,}")
    except Exception as error:  # of many kinds, assertions among them
        raise MetaevalError(f"ir_measures cannot compute {name!r}: {error}") from None
    known = measure_of_label(name)
    return known if known.higher_is_better is not None else Measure(name, higher_is_better=True), parsed


def score_rankings(
    runs: Rankings, judgements: Judgements, topics: Sequence[str], parsed: Any
) -> npt.NDArray[np.float64]:
    """Score all runs by a measure of ir_measures under each set of judgements, shape (run, topic, set)."""
    import ir_measures

    place = {topic: t for t, topic in enumerate(topics)}
    values = np.zeros((len(runs), len(topics), len(judgements)))
    for s, grades in enumerate(judgements.values()):
        evaluator: Any = ir_measures.evaluator([parsed], grades)  # type: ignore[arg-type]
        for r, ranking in enumerate(runs.values()):
            # Scores fall by one from rank to rank: every program then ranks documents alike.
            run = {
                topic: {document: float(-rank) for rank, document in enumerate(listed)}
                for topic, listed in ranking.items()
            }
            try:
                for metric in evaluator.iter_calc(run):
                    values[r, place[metric.query_id], s] = metric.value
            except Exception as error:  # some measures are programs of their own
                raise MetaevalError(f"ir_measures cannot compute {parsed} of these runs: {error}") from None
    return values


def rank_documents(scored: Mapping[str, float], run: str = "") -> list[str]:
    """Return documents best first, as trec_eval ranks them."""
    for document, score in scored.items():
        if not math.isfinite(score):
            raise DataError(f"the score is {score}", run=run, item=document)
    documents = sorted(scored, reverse=True)
    with np.errstate(over="ignore"):
        scores = np.array([scored[document] for document in documents]).astype(np.float32)
    return [documents[position] for position in np.argsort(-scores, kind="stable")]
