"""Scores of runs under several sets of judgements, by ir_measures: as they are, or without unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.data.judged import Grades, JudgedRuns
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.measures.resolve import measure_of_label

DEEPEST = 1_000_000
"""Documents that a measure may look at."""


class RetrievalMeasure(NamedTuple):
    """A measure as ir_measures knows it, and how many documents it looks at, if it says so."""

    measure: Measure
    parsed: Any
    cutoff: int | None


def parse_measures(names: Sequence[str]) -> list[RetrievalMeasure]:
    """Return the measures that are named as ir_measures names them."""
    try:
        import ir_measures
    except ModuleNotFoundError:
        raise MetaevalError('scoring runs needs ir_measures: pip install "metaeval[ir]"') from None
    if not names or isinstance(names, str):
        raise MetaevalError("name at least one measure in a list, such as nDCG@10, AP or RR@10")
    result = []
    for name in dict.fromkeys(names):
        try:
            parsed = ir_measures.parse_measure(name)
            ir_measures.evaluator([parsed], {"topic": {"document": 1}})
        except Exception as error:  # of many kinds, assertions among them
            raise MetaevalError(f"ir_measures cannot compute {name!r}: {error}") from None
        cutoff = parsed.params.get("cutoff")
        if cutoff is not None and not 1 <= cutoff <= DEEPEST:  # trec_eval would end the program
            raise MetaevalError(f"ir_measures cannot compute {name!r}: its cut lies from 1 to {DEEPEST:,}")
        known = measure_of_label(name)
        measure = known if known.higher_is_better is not None else Measure(name, higher_is_better=True)
        result.append(RetrievalMeasure(measure, parsed, cutoff))
    return result


def score_judged(
    judged: JudgedRuns, measures: Sequence[RetrievalMeasure], sets: Mapping[str, Grades], *, condensed: bool = False
) -> np.ndarray:
    """Score all runs under each set of judgements, shape (measure, run, topic, set).

    `condensed`: documents that a set does not judge are taken out of the runs first (Sakai 2007).
    """
    import ir_measures

    position = {each.parsed: m for m, each in enumerate(measures)}
    place = {topic: t for t, topic in enumerate(judged.topics)}
    values = np.zeros((len(measures), len(judged.runs), len(judged.topics), len(sets)))
    whole = [_write_scores(topics) for topics in judged.runs.values()]
    for s, grades in enumerate(sets.values()):
        evaluator: Any = ir_measures.evaluator([*position], grades)  # type: ignore[arg-type]
        for r, topics in enumerate(judged.runs.values()):
            run = _write_scores(_condense(topics, grades)) if condensed else whole[r]
            try:
                for metric in evaluator.iter_calc(run):
                    values[position[metric.measure], r, place[metric.query_id], s] = metric.value
            except Exception as error:  # some measures are programs of their own
                names = format_list([str(each.measure) for each in measures])
                raise MetaevalError(f"ir_measures cannot compute {names} of these runs: {error}") from None
    return values


def _write_scores(topics: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Return scores that fall by one from rank to rank: every program then ranks documents alike."""
    return {topic: {document: float(-rank) for rank, document in enumerate(some)} for topic, some in topics.items()}


def _condense(topics: Mapping[str, Sequence[str]], grades: Grades) -> dict[str, list[str]]:
    return {topic: [document for document in some if document in grades[topic]] for topic, some in topics.items()}


def label_scores(judged: JudgedRuns, measure: RetrievalMeasure, values: np.ndarray) -> Scores:
    """Return the scores by one measure, shape (run, topic, set), with a measure for each set."""
    direction = bool(measure.measure.higher_is_better)
    for name, column in zip(judged.sets, np.moveaxis(values, -1, 0), strict=True):
        if not column.any():
            hint = "is it of another scale? --scale says what its grades are"
            raise DataError("every run scores 0 on every topic", file=name, measure=measure.measure, hint=hint)
    return Scores(
        values,
        runs=judged.runs,
        topics=judged.topics,
        measures=[Measure(name, higher_is_better=direction) for name in judged.sets],
        collection=judged.collection,
        provenance=judged.provenance,
    )


def measure_gaps(
    judged: JudgedRuns, measures: Sequence[RetrievalMeasure], values: np.ndarray, condensed: np.ndarray
) -> pd.DataFrame:
    """How many documents down to the cut are unjudged, and how much would runs score without them? A row a measure and set."""
    cost = (condensed - values).mean(axis=2)
    runs, rows = list(judged.runs), []
    by_cutoff = {
        cutoff: [_share_unjudged(judged, grades, cutoff) for grades in judged.judgements.values()]
        for cutoff in {each.cutoff for each in measures}
    }
    for m, each in enumerate(measures):
        for s, name in enumerate(judged.sets):
            shares, costs = by_cutoff[each.cutoff][s], cost[m, :, s]
            worst = int(np.abs(costs).argmax())
            means = shares.mean(), costs.mean()
            rows.append((str(each.measure), name, *means, runs[worst], shares[worst], costs[worst]))
    columns = ["measure", "judge", "unjudged", "cost", "run", "unjudged_of_run", "cost_of_run"]
    return pd.DataFrame(rows, columns=columns)


def _share_unjudged(judged: JudgedRuns, grades: Grades, cutoff: int | None) -> np.ndarray:
    """Return the share of each run's documents down to the cut that have no grade, shape (run,)."""
    shares = []
    for topics in judged.runs.values():
        seen = [document not in grades[topic] for topic, some in topics.items() for document in some[:cutoff]]
        shares.append(np.mean(seen))
    return np.array(shares)
