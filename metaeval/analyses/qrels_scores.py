"""What judgements make of runs and documents: scores by ir_measures, unjudged documents, grades, and favourites."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metaeval.data.judged import LARGEST_GRADE, Grades, JudgedRuns
from metaeval.data.labels import find_labels
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.measures.agreement import kappa
from metaeval.measures.base import Measure, find_signs
from metaeval.measures.correlation import tau_b
from metaeval.measures.resolve import measure_of_label
from metaeval.stats.intervals import FEWEST_TOPICS, centre_interval
from metaeval.stats.resampling import draw_weights

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
    for s, grades in enumerate(sets.values()):
        evaluator: Any = ir_measures.evaluator([*position], grades)  # type: ignore[arg-type]
        for r, topics in enumerate(judged.runs.values()):
            # Scores fall by one from rank to rank: every program then ranks documents alike.
            run = {}
            for topic, documents in topics.items():
                listed = [each for each in documents if each in grades[topic]] if condensed else documents
                run[topic] = {document: float(-rank) for rank, document in enumerate(listed)}
            try:
                for metric in evaluator.iter_calc(run):
                    values[position[metric.measure], r, place[metric.query_id], s] = metric.value
            except Exception as error:  # some measures are programs of their own
                names = format_list([str(each.measure) for each in measures])
                raise MetaevalError(f"ir_measures cannot compute {names} of these runs: {error}") from None
    return values


def label_scores(judged: JudgedRuns, measure: Measure, values: np.ndarray) -> Scores:
    """Return the scores by one measure, shape (run, topic, set), with a measure for each set."""
    for name, column in zip(judged.sets, np.moveaxis(values, -1, 0), strict=True):
        if not column.any():
            hint = "is it of another scale? --scale says what its grades are"
            raise DataError("every run scores 0 on every topic", file=name, measure=measure, hint=hint)
    return Scores(
        values, runs=judged.runs, topics=judged.topics,
        measures=[Measure(name, higher_is_better=bool(measure.higher_is_better)) for name in judged.sets],
        collection=judged.collection, provenance=judged.provenance,
    )  # fmt: skip


def measure_gaps(judged: JudgedRuns, measures: Sequence[RetrievalMeasure], costs: np.ndarray) -> pd.DataFrame:
    """How many documents down to the cut are unjudged, and how much would runs score without them? A row a measure and set.

    `costs`, shape (measure, run, set), are means over topics.
    """
    runs, rows = list(judged.runs), []
    for each, cost_of_sets in zip(measures, costs, strict=True):
        for (name, grades), cost in zip(judged.judgements.items(), cost_of_sets.T, strict=True):
            shares = np.zeros(len(runs))
            for r, topics in enumerate(judged.runs.values()):
                some = [
                    document not in grades[topic]
                    for topic, ranked in topics.items()
                    for document in ranked[: each.cutoff]
                ]
                shares[r] = np.mean(some)
            worst = int(np.abs(cost).argmax())
            rows.append((str(each.measure), name, shares.mean(), cost.mean(), runs[worst], shares[worst], cost[worst]))
    columns = ["measure", "judge", "unjudged", "cost", "run", "unjudged_of_run", "cost_of_run"]
    return pd.DataFrame(rows, columns=columns)


def map_grades(judged: JudgedRuns, scales: Mapping[str, Sequence[int]]) -> dict[str, Grades]:
    """Return all judgements, those with a stated scale with the grades that it gives for 0, 1, 2, …"""
    find_labels(scales, judged.sets, "set of judgements")
    mapped: dict[str, Grades] = dict(judged.judgements)
    for name, scale in scales.items():
        stated = format_option("scales", f"{name}={','.join(map(str, scale))}")
        if any(not isinstance(grade, int) or not 0 <= grade <= LARGEST_GRADE for grade in scale):
            raise MetaevalError(f"{stated}: grades are whole numbers from 0 to {LARGEST_GRADE}")
        if sorted(scale) != list(scale):
            raise MetaevalError(f"{stated}: grades fall, and a higher grade of a judge never stands for a lower one")
        top = _find_largest(mapped[name])
        if top >= len(scale):
            raise DataError(f"the grade {top} is beyond {stated}", file=name)
        mapped[name] = {
            topic: {document: scale[max(grade, 0)] for document, grade in some.items()}
            for topic, some in mapped[name].items()
        }
    return mapped


def _find_largest(grades: Grades) -> int:
    return max(1, *(grade for some in grades.values() for grade in some.values()))


def compare_grades(
    judgements: Mapping[str, Grades], stated: Mapping[str, Sequence[int]], key: int, n_bootstrap: int, confidence: float
) -> pd.DataFrame:
    """Do judges give documents the grades of the reference? A row a judge, of all documents that both judge.

    τ_b asks for the same order only. κ, with linear weights, and the share of equal grades need one scale: that of a judge is
    the reference's if it is stated, or the largest grades are the same. Grades below 0 count as 0.
    """
    reference, *judges = judgements.values()
    largest, rows = _find_largest(reference), []
    for name, grades in zip(list(judgements)[1:], judges, strict=True):
        top = _find_largest(grades)
        size, lacking, extra = max(largest, top) + 1, 0, 0
        counts = np.zeros((len(reference), size, size))
        for t, (topic, some) in enumerate(reference.items()):
            lacking += len(some.keys() - grades[topic].keys())
            extra += len(grades[topic].keys() - some.keys())
            for document in some.keys() & grades[topic].keys():
                counts[t, max(some[document], 0), max(grades[topic][document], 0)] += 1
        total = counts.sum(axis=0)
        comparable = name in stated or top == largest
        same = float(np.trace(total) / total.sum()) if comparable and total.any() else np.nan
        scale = ",".join(map(str, stated[name])) if name in stated else f"0–{top}"
        order = _estimate(tau_b, counts, key, n_bootstrap, confidence)
        level = _estimate(kappa, counts, key, n_bootstrap, confidence) if comparable else (np.nan,) * 3
        rows.append((name, scale, int(total.sum()), lacking, extra, *order, same, *level))
    columns = ["judge", "scale", "documents", "lacking", "extra", "tau_b", "tau_b_low", "tau_b_high"]
    return pd.DataFrame(rows, columns=[*columns, "same_grade", "kappa", "kappa_low", "kappa_high"])


def _estimate(
    measure: Callable[[np.ndarray], np.ndarray], counts: np.ndarray, key: int, n_bootstrap: int, confidence: float
) -> tuple[float, float, float]:
    """Return a measure of counts, shape (topic, grade, grade), over all topics, with its interval over topics."""
    n_topics, size, _ = counts.shape
    if not counts.any():
        return (np.nan,) * 3
    value, drawn = float(measure(counts.sum(axis=0))), np.empty(0)
    if n_topics >= FEWEST_TOPICS and n_bootstrap:
        weights = draw_weights(key, range(n_bootstrap), n_topics)
        drawn = measure((weights @ counts.reshape(n_topics, -1)).reshape(-1, size, size))
    low, high = centre_interval(value, drawn, max(n_topics, 2), confidence=confidence)
    return value, float(low), float(high)


def find_favours(scores: Scores, family: Mapping[str, str], confidence: float) -> pd.DataFrame:
    """Does a judge favour runs made with its own model? A row a judge and model, better being higher.

    `favour` is a difference in differences: how much the judge scores these runs above the reference, less the same of all
    other runs. `at_same_score` compares them with other runs to which the reference gives the same score: how far they lie
    above the line of least squares from the reference's means to the judge's. Intervals are over runs, by how far the others
    are from their mean, or that line, and hold together (Bonferroni). A judge is of a model if its name is the model's, or a
    part of it between - and _.
    """
    models, judges = sorted(set(family.values())), [str(measure) for measure in scores.measures[1:]]
    of_run = np.array([family.get(run, "") for run in scores.runs])
    reference, *means = (scores.values * find_signs(scores.measures)).mean(axis=1).T
    level, rows = 1 - (1 - confidence) / (2 * len(models) * len(judges)), []
    for model in models:
        part, *names = (f"-{name.lower().replace('_', '-')}-" for name in (model, *judges))
        if not any(part in name for name in names):
            problem = f"no judge is of the model {model!r}: a judge is of it if its name, or a part of it, is the same"
            raise MetaevalError(f"{problem}; judges are {format_list(judges)}")
        own = of_run == model
        if own.all():
            raise MetaevalError(f"every run is of the model {model}: there is none to compare with")
        for judge, name, scored in zip(judges, names, means, strict=True):
            favours = [_compare_own(scored, reference, own, level, line) for line in (False, True)]
            rows.append((judge, model, int(own.sum()), part in name, *favours[0], *favours[1]))
    columns = [f"{name}{end}" for name in ("favour", "at_same_score") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["judge", "model", "runs", "own", *columns])


def _compare_own(
    judge: np.ndarray, reference: np.ndarray, own: np.ndarray, level: float, line: bool
) -> tuple[float, float, float]:
    """Return how far own runs lie above the other runs, or above the line through them, with Student's t interval."""
    from scipy.special import stdtrit

    x, y = (each[~own] - each[~own].mean() for each in (reference, judge))
    lead = [each[own].mean() - each[~own].mean() for each in (reference, judge)]
    squares, freedom = float(x @ x), len(x) - 1 - line
    if line and squares < 1e-12:
        return (np.nan,) * 3
    slope, leverage = (float(x @ y) / squares, lead[0] ** 2 / squares) if line else (1.0, 0.0)
    gap = float(lead[1] - slope * lead[0])
    if freedom < 1:
        return gap, np.nan, np.nan
    error = np.sqrt(((y - slope * x) ** 2).sum() / freedom * (1 / own.sum() + 1 / len(x) + leverage))
    reach = float(stdtrit(freedom, level) * error)
    return gap, gap - reach, gap + reach
