"""What judges do besides ranking runs: how they grade documents, and whether they favour runs made with their own model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from metaeval.data.judged import LARGEST_GRADE, Grades, JudgedRuns
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
    if not counts.any():
        return (np.nan,) * 3
    value, drawn = float(measure(counts.sum(axis=0))), np.empty(0)
    if n_topics >= FEWEST_TOPICS and n_bootstrap:
        weights = draw_weights(key, range(n_bootstrap), n_topics)
        drawn = measure((weights @ counts.reshape(n_topics, -1)).reshape(-1, size, size))
    low, high = centre_interval(value, drawn, max(n_topics, 2), confidence=confidence)
    return value, float(low), float(high)


def _find_largest(grades: Grades) -> int:
    return max(1, *(grade for some in grades.values() for grade in some.values()))


def find_favours(scores: Scores, family: Mapping[str, str], confidence: float) -> pd.DataFrame:
    """Does a judge favour runs made with its own model? A row a judge and model, better being higher.

    `favour` is a difference in differences: how much the judge scores these runs above the reference, less the same of all
    other runs. `at_same_score` compares them with other runs to which the reference gives the same score: how far they lie
    above the line of least squares from the reference's means to the judge's. Intervals are over runs, by how far the others
    are from their mean, or that line, and hold together (Bonferroni).
    """
    models, judges = sorted(set(family.values())), [str(measure) for measure in scores.measures[1:]]
    of_run = np.array([family.get(run, "") for run in scores.runs])
    reference, *means = (scores.values * find_signs(scores.measures)).mean(axis=1).T
    level, rows = 1 - (1 - confidence) / (2 * len(models) * len(judges)), []
    for model in models:
        if not any(uses_model(judge, model) for judge in judges):
            problem = f"no judge is of the model {model!r}: a judge is of it if its name, or a part of it, is the same"
            raise MetaevalError(f"{problem}; judges are {format_list(judges)}")
        if (own := of_run == model).all():
            raise MetaevalError(f"every run is of the model {model}: there is none to compare with")
        for name, judge in zip(judges, means, strict=True):
            found = [_compare_own(judge, reference, own, level, line) for line in (False, True)]
            rows.append((name, model, int(own.sum()), uses_model(name, model), *found[0], *found[1]))
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


def uses_model(judge: str, model: str) -> bool:
    """Say whether a judge is of a model: its name, or a part of it between - and _, is the model's.

    >>> uses_model("umbrela_gpt-4o", "GPT-4o"), uses_model("umbrela_gpt-4o", "gpt-4")
    (True, False)
    """
    whole, part = (f"-{name.lower().replace('_', '-')}-" for name in (judge, model))
    return part in whole
