"""From runs to scores: every measure on every run and topic at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from metaeval.data.runs import ClassificationRuns, Runs
from metaeval.data.scores import Scores
from metaeval.errors import MeasureError, UndefinedValueWarning, format_list, format_option
from metaeval.measures.base import Kind, Measure
from metaeval.measures.registry import measures as registered, require_registered
from metaeval.measures.resolve import Wanted, resolve_measures


def score(runs: Runs, measures: Iterable[Wanted] | Wanted | None = None) -> Scores:
    """Score every run on every topic with every measure.

    Parameters
    ----------
    runs : ClassificationRuns or QuantificationRuns
    measures : iterable, optional
        Names, ``"file.py:function"``, `Measure` values, decorated or plain functions (see `metaeval.measure`); by
        default every registered measure of the kind.

    Returns
    -------
    Scores
        Shape (run, topic, measure).

    Raises
    ------
    MeasureError
        If a measure is unknown or of the other kind, or returns the wrong shape, a value that is not finite
        or one outside its declared range; the message names the measure, run and topic.

    Warns
    -----
    UndefinedValueWarning
        Where a formula is 0/0 and the measure's documented value stands in.

    Examples
    --------
    >>> runs = ClassificationRuns([[[[2, 0], [1, 1]]]], runs=["a"], topics=["t"], classes=["no", "yes"])
    >>> score(runs, ["Accuracy", "MAE_mu"]).values.tolist()
    [[[0.75, 0.25]]]
    """
    kind: Kind = "classification" if isinstance(runs, ClassificationRuns) else "quantification"
    wanted = registered(kind) if measures is None else resolve_measures(measures)
    if not wanted:
        raise MeasureError("no measure was named")
    for measure in wanted:
        if measure.formula is None:
            require_registered(str(measure))  # says which names are near, if there is no such measure
        if measure.formula is not None and measure.kind != kind:
            raise MeasureError(
                f"{measure} is a {measure.kind} measure, the runs are {kind} runs{_way_out(measure, runs)}"
            )
    arrays = _arrays(runs)
    values = np.empty((len(runs.runs), len(runs.topics), len(wanted)))
    for position, measure in enumerate(wanted):
        values[..., position] = _scored(measure, arrays, runs)
    return Scores(
        values,
        runs=runs.runs,
        topics=runs.topics,
        measures=wanted,
        collection=runs.collection,
        provenance=runs.provenance,
    )


def _arrays(runs: Runs) -> tuple[np.ndarray, ...]:
    if isinstance(runs, ClassificationRuns):
        return (runs.counts.astype(np.float64),)  # once for all measures
    return runs.estimated, runs.gold


def _way_out(measure: Measure, runs: Runs) -> str:
    if measure.kind == "quantification" and isinstance(runs, ClassificationRuns):
        return f"; {format_option('runs.to_quantification()')} gives their class distributions"
    return ""


def _scored(measure: Measure, arrays: tuple[np.ndarray, ...], runs: Runs) -> np.ndarray:
    scores, undefined = measure.evaluate(*arrays)
    shape = (len(runs.runs), len(runs.topics))
    if scores.shape != shape:
        raise MeasureError(
            f"{measure} returned shape {scores.shape} for {shape[0]} runs × {shape[1]} topics, not {shape}"
        )
    _refuse(measure, scores, ~np.isfinite(scores), runs, "which is not a finite number")
    low, high = measure.range
    slack = 1e-9 * max(1.0, *(abs(end) for end in measure.range if np.isfinite(end)), 0.0)
    beyond = (scores < low - slack) | (scores > high + slack)
    _refuse(measure, scores, beyond, runs, f"outside its declared range [{low:g}, {high:g}]")
    if undefined.any():
        _warn_undefined(measure, undefined, runs)
    return scores


def _refuse(measure: Measure, scores: np.ndarray, wrong: np.ndarray, runs: Runs, why: str) -> None:
    if wrong.any():
        r, t = np.argwhere(wrong)[0]
        count = int(wrong.sum())
        more = f" ({count:,} of {wrong.size:,} scores are like this)" if count > 1 else ""
        raise MeasureError(
            f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}: the score is {scores[r, t]:g}, {why}{more}"
        )


def _warn_undefined(measure: Measure, undefined: np.ndarray, runs: Runs) -> None:
    cells = [f"run {runs.runs[r]} on topic {runs.topics[t]}" for r, t in np.argwhere(undefined)]
    warnings.warn(
        f"{measure} is undefined (0/0) for {len(cells)} of {undefined.size} scores and counted as "
        f"{measure.undefined:g}: {format_list(cells, most=3)}",
        UndefinedValueWarning,
        stacklevel=4,
    )
