"""What judges do besides ranking runs: how they grade documents, and whether they favour runs made with their own model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from metaeval.data.judged import Grades, JudgedRuns
from metaeval.data.labels import find_labels
from metaeval.data.scores import Scores
from metaeval.errors import DataError, MetaevalError, format_list, format_option
from metaeval.measures.agreement import kappa
from metaeval.measures.base import find_signs
from metaeval.measures.correlation import tau_b
from metaeval.stats.intervals import FEWEST_TOPICS, centre_interval
from metaeval.stats.resampling import draw_weights


def map_grades(judged: JudgedRuns, scales: Mapping[str, Sequence[int]]) -> dict[str, Grades]:
    """Return all judgements, those with a stated scale with the grades that it gives for 0, 1, 2, …"""
    find_labels(scales, judged.sets, "set of judgements")
    mapped: dict[str, Grades] = dict(judged.judgements)
    for name, scale in scales.items():
        for topic, some in judged.judgements[name].items():
            for document, grade in some.items():
                if grade >= len(scale):
                    stated = f"{name}={','.join(map(str, scale))}"
                    problem = f"the grade {grade} is beyond {format_option('scales', stated)}"
                    raise DataError(problem, file=name, topic=topic, item=document)
        mapped[name] = {
            topic: {document: scale[max(grade, 0)] for document, grade in some.items()}
            for topic, some in judged.judgements[name].items()
        }
    return mapped


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
        size = max(largest, top) + 1
        counts = np.zeros((len(reference), size, size))
        for t, (topic, some) in enumerate(reference.items()):
            for document in some.keys() & grades[topic].keys():
                counts[t, max(some[document], 0), max(grades[topic][document], 0)] += 1
        total = counts.sum(axis=0)
        lacking, extra = (
            sum(len(some.keys() - other[topic].keys()) for topic, some in one.items())
            for one, other in ((reference, grades), (grades, reference))
        )
        numbers = [_estimate(tau_b, counts, key, n_bootstrap, confidence)]
        comparable = name in stated or top == largest
        numbers.append(_estimate(kappa, counts, key, n_bootstrap, confidence) if comparable else (np.nan,) * 3)
        same = float(np.trace(total) / total.sum()) if comparable and total.any() else np.nan
        scale = ",".join(map(str, stated[name])) if name in stated else f"0–{top}"
        rows.append((name, scale, int(total.sum()), lacking, extra, *numbers[0], same, *numbers[1]))
    columns = ["judge", "scale", "documents", "lacking", "extra", "tau_b", "tau_b_low", "tau_b_high"]
    return pd.DataFrame(rows, columns=[*columns, "same_grade", "kappa", "kappa_low", "kappa_high"])


def _estimate(
    measure: Callable[[np.ndarray], np.ndarray], counts: np.ndarray, key: int, n_bootstrap: int, confidence: float
) -> tuple[float, float, float]:
    """Return a measure of counts, shape (topic, grade, grade), over all topics, with its interval over topics."""
    n_topics, size, _ = counts.shape
    value, drawn = float(measure(counts.sum(axis=0))), np.empty(0)
    if n_topics >= FEWEST_TOPICS and n_bootstrap:
        weights = draw_weights(key, range(n_bootstrap), n_topics)
        drawn = measure((weights @ counts.reshape(n_topics, -1)).reshape(-1, size, size))
    low, high = centre_interval(value, drawn, max(n_topics, 2), confidence=confidence)
    return value, float(low), float(high)


def _find_largest(grades: Grades) -> int:
    return max(1, *(grade for some in grades.values() for grade in some.values()))


def find_favours(
    scores: Scores, family: Mapping[str, str], key: int, n_bootstrap: int, confidence: float
) -> pd.DataFrame:
    """Does a judge favour runs made with its own model? A row a judge and model, better being higher.

    `favour` is a difference in differences: how much the judge scores these runs above the reference, less the same of all
    other runs. `at_same_score` compares them with other runs to which the reference gives the same score: how far they lie
    above the line of least squares from the reference's means to the judge's. Intervals are over topics, and hold together.
    """
    runs = find_labels(family, scores.runs, "run")
    models = sorted(set(family.values()))
    judges = [str(measure) for measure in scores.measures[1:]]
    for model in models:
        if not any(uses_model(judge, model) for judge in judges):
            problem = f"no judge is of the model {model!r}: a judge is of it if its name, or a part of it, is the same"
            raise MetaevalError(f"{problem}; judges are {format_list(judges)}")
    of_run = {int(r): family[scores.runs[r]] for r in runs}
    values = scores.values * find_signs(scores.measures)
    n_topics = len(scores.topics)
    weights = np.ones((1, n_topics))
    if n_bootstrap and n_topics >= FEWEST_TOPICS:
        weights = np.concatenate([weights, draw_weights(key, range(n_bootstrap), n_topics)])
    means = np.einsum("wt,rtm->mwr", weights / n_topics, values, optimize=True)
    columns, estimates = [], []
    for model in models:
        own = np.array([of_run.get(r) == model for r in range(len(scores.runs))])
        if own.all():
            raise MetaevalError(f"every run is of the model {model}: there is none to compare with")
        for judge, by_judge in zip(judges, means[1:], strict=True):
            columns.append((judge, model, int(own.sum()), uses_model(judge, model)))
            estimates.append(np.stack([_differ(by_judge, means[0], own), _depart(by_judge, means[0], own)]))
    numbers = np.array(estimates)  # judge and model, statistic, trial
    frame = pd.DataFrame(columns, columns=["judge", "model", "runs", "own"])
    for name, each in zip(("favour", "at_same_score"), np.moveaxis(numbers, 1, 0), strict=True):
        low, high = centre_interval(
            each[:, 0], each[:, 1:].T, max(n_topics, 2), confidence=confidence, scale="mean", simultaneous=True
        )
        frame = frame.assign(**{name: each[:, 0], f"{name}_low": low, f"{name}_high": high})
    return frame


def uses_model(judge: str, model: str) -> bool:
    """Say whether a judge is of a model: its name, or a part of it between - and _, is the model's.

    >>> uses_model("umbrela-gpt4o", "gpt4o"), uses_model("umbrela-gpt4o", "gpt4")
    (True, False)
    """
    return model.lower() in (judge.lower(), *re.split(r"[-_]", judge.lower()))


def _differ(judge: np.ndarray, reference: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the difference in differences, shape (trial,); means have shape (trial, run)."""
    above = judge - reference
    return np.asarray(above[:, own].mean(axis=1) - above[:, ~own].mean(axis=1))


def _depart(judge: np.ndarray, reference: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return how far runs lie above the line through the others, shape (trial,); NaN where that has no slope."""
    x, y = (each[:, ~own] - each[:, ~own].mean(axis=1, keepdims=True) for each in (reference, judge))
    squares = (x * x).sum(axis=1)
    slope = np.divide((x * y).sum(axis=1), squares, out=np.full(len(x), np.nan), where=squares > 1e-12)
    gap = [each[:, own].mean(axis=1) - each[:, ~own].mean(axis=1) for each in (reference, judge)]
    return np.asarray(gap[1] - slope * gap[0])
