"""From runs to scores: every measure on every run and topic at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from metaeval.data.policies import describe_total
from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.scores import Scores
from metaeval.errors import MeasureError, UndefinedValueWarning, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.measures.conformance import find_unlike_alone, list_faults, try_on_cells
from metaeval.measures.registry import is_shipped, measures as registered, require_registered
from metaeval.measures.resolve import MeasureLike, resolve_measures


def score(runs: Runs, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
    """Score every run on every topic with every measure; where a formula is 0/0, a warning says so.

    A measure that is not metaeval's own is first tried on some topics, in several batches, and some of its scores are
    computed again afterwards: one that depends on other topics, on chance or on earlier calls is refused.

    Parameters
    ----------
    runs : ClassificationRuns or QuantificationRuns
    measures : iterable, optional
        Names, ``"file.py:function"``, `Measure` values, decorated or plain functions (see `metaeval.measure`); by
        default every registered measure of the kind.

    Examples
    --------
    >>> runs = ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    >>> score(runs, ["Accuracy", "MAE_mu"]).values.tolist()
    [[[0.75, 0.25]]]
    """
    chosen = registered(runs.kind) if measures is None else resolve_measures(measures)
    for measure in chosen:
        if measure.formula is None:
            require_registered(str(measure))  # says which names are near, if there is no such measure
        elif measure.kind != runs.kind:
            way = f"; {format_option('runs.to_quantification()')} gives their class distributions"
            own = "" if is_shipped(measure) else f"; a measure of class counts is written {measure}(counts)"
            way = f"{way}{own}" if runs.kind == "classification" else ""
            raise MeasureError(f"{measure} is a {measure.kind} measure, the runs are {runs.kind} runs{way}")
    # Counts are converted once for all measures.
    arrays = (runs.counts.astype(np.float64),) if isinstance(runs, ClassificationRuns) else (runs.estimated, runs.gold)
    used, values = list(chosen), np.empty((len(runs.runs), len(runs.topics), len(chosen)))
    undefined: dict[str, list[str]] = {}
    for position, measure in enumerate(chosen):
        if not is_shipped(measure):
            measure = used[position] = try_on_cells(measure, arrays)
        scores, where = _evaluate(measure, arrays, runs)
        values[..., position] = scores
        if where:
            undefined.setdefault(where, []).append(str(measure))
        if not is_shipped(measure) and (unlike := find_unlike_alone(measure, arrays, scores)):
            r, t, alone = unlike
            both = f"{scores[r, t]:.12g} with the others and {alone:.12g} alone"
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place} scored {both}: a measure must score every topic by itself")
    for where, names in undefined.items():
        what = f"{format_list(names)} {'is' if len(names) == 1 else 'are'} undefined (0/0)"
        warnings.warn(f"{what} for {where}", UndefinedValueWarning, stacklevel=2)
    return Scores(values, measures=used, **runs.named("runs", "topics", "collection", "provenance"))


def _evaluate(measure: Measure, arrays: tuple[np.ndarray, ...], runs: Runs) -> tuple[np.ndarray, str]:
    """Return the scores (run, topic), and where they are undefined; refuse those that the measure must not return."""
    scores, undefined = measure.evaluate(*arrays)
    for wrong, why in list_faults(measure, scores):
        for r, t in np.argwhere(wrong)[:1]:
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place}: the score is {scores[r, t]:g}, {why}{describe_total(int(wrong.sum()))}")
    cells = [f"run {runs.runs[r]} on topic {runs.topics[t]}" for r, t in np.argwhere(undefined)]
    counted = f"{len(cells)} of {undefined.size} scores and counted as {measure.undefined or 0:g}"
    return scores, f"{counted}: {format_list(cells, most=3)}" if cells else ""
