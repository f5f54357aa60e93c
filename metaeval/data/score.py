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
from metaeval.measures.conformance import (
    DependenceError,
    accept_batches,
    check_memory,
    choose_cases,
    find_difference,
    make_trial_data,
)
from metaeval.measures.registry import is_shipped, measures as registered, require_registered
from metaeval.measures.resolve import MeasureLike, resolve_measures
from metaeval.stats.streams import generator

_CELLS_TRIED = 8  # and as many that are scored once more, alone
_MOST_CLASSES = 50  # for which artificial data are made besides


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
    for position, measure in enumerate(chosen):
        if not is_shipped(measure):
            real = _take_cells(arrays, *_choose_cells(runs, f"{measure}: tried"))
            measure, tried = _try(measure, real, len(runs.classes))
            check_memory(measure, tried)
            used[position] = measure
        scores = values[..., position] = _evaluate(measure, arrays, runs)
        for r, t in (
            zip(*_choose_cells(runs, f"{measure}: scored again"), strict=True) if not is_shipped(measure) else ()
        ):
            alone, _ = measure.evaluate(*(array[0] for array in _take_cells(arrays, [r], [t])))
            if find_difference(alone, scores[r, t]) is not None:
                both = f"{scores[r, t]:.12g} with the others and {float(alone):.12g} alone"
                place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
                raise MeasureError(f"{place} scored {both}: a measure must score every topic by itself")
    return Scores(values, measures=used, **runs.named("runs", "topics", "collection", "provenance"))


def _try(measure: Measure, real: tuple[np.ndarray, ...], n_classes: int) -> tuple[Measure, tuple[np.ndarray, ...]]:
    """Return the measure as it can be called for all runs and topics, and what it was tried on; see `accept_batches`."""
    if n_classes <= _MOST_CLASSES:
        trial = choose_cases(make_trial_data(measure, n_classes))
        try:
            cases = tuple(np.concatenate(pair) for pair in zip(real, trial, strict=True))
            return accept_batches(measure, cases)[0], cases
        except DependenceError:
            raise
        except MeasureError:
            pass  # it need not be meant for every case that can be thought of
    return accept_batches(measure, real)[0], real


def _choose_cells(runs: Runs, purpose: str) -> tuple[list[int], list[int]]:
    """Return the runs and the topics of some cells: the first, the last, and random ones."""
    n_topics = len(runs.topics)
    n_cells = len(runs.runs) * n_topics
    cells = np.unique([0, n_cells - 1, *generator(0, purpose).integers(n_cells, size=_CELLS_TRIED)])
    return (cells // n_topics).tolist(), (cells % n_topics).tolist()


def _take_cells(arrays: tuple[np.ndarray, ...], r: list[int], t: list[int]) -> tuple[np.ndarray, ...]:
    """Return the arrays of these cells, one after the other; gold has no axis for runs."""
    return (arrays[0][r, t], *(gold[t] for gold in arrays[1:]))


def _evaluate(measure: Measure, arrays: tuple[np.ndarray, ...], runs: Runs) -> np.ndarray:
    """Return the scores (run, topic); refuse those that the measure must not return, and warn of undefined ones."""
    scores, undefined = measure.evaluate(*arrays)
    low, high = measure.range
    slack = 1e-9 * max(1.0, *(abs(end) for end in measure.range if np.isfinite(end)), 0.0)
    for wrong, why in (
        (~np.isfinite(scores), "which is not a finite number"),
        ((scores < low - slack) | (scores > high + slack), f"outside its declared range [{low:g}, {high:g}]"),
    ):
        for r, t in np.argwhere(wrong)[:1]:
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place}: the score is {scores[r, t]:g}, {why}{describe_total(int(wrong.sum()))}")
    if undefined.any():
        cells = [f"run {runs.runs[r]} on topic {runs.topics[t]}" for r, t in np.argwhere(undefined)]
        warnings.warn(
            f"{measure} is undefined (0/0) for {len(cells)} of {undefined.size} scores and counted as "
            f"{measure.undefined:g}: {format_list(cells, most=3)}",
            UndefinedValueWarning,
            stacklevel=3,
        )
    return scores
