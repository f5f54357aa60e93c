"""From runs to scores: every measure on every run and topic at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

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

_CELLS_AGAIN = 8  # of those that are scored once more, alone
_MOST_CLASSES = 50  # for which artificial data are made besides


def score(runs: Runs, measures: Iterable[MeasureLike] | MeasureLike | None = None) -> Scores:
    """Score every run on every topic with every measure.

    A measure that is not metaeval's own is first tried on some topics, in several batches, and some of its scores are
    computed again afterwards: it must score every topic by itself.

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
        or one outside its declared range; or if its score of a topic depends on other topics, on chance or on earlier
        calls.

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
    kind, n_classes = runs.kind, len(runs.classes)
    chosen = registered(kind) if measures is None else resolve_measures(measures)
    if not chosen:
        raise MeasureError("no measure was named")
    for measure in chosen:
        if measure.formula is None:
            require_registered(str(measure))  # says which names are near, if there is no such measure
        elif measure.kind != kind:
            way = f"; {format_option('runs.to_quantification()')} gives their class distributions"
            own = "" if is_shipped(measure) else f"; a measure of class counts is written {measure}(counts)"
            way = f"{way}{own}" if kind == "classification" else ""
            raise MeasureError(f"{measure} is a {measure.kind} measure, the runs are {kind} runs{way}")
    # Counts are converted once for all measures.
    arrays = (runs.counts.astype(np.float64),) if isinstance(runs, ClassificationRuns) else (runs.estimated, runs.gold)
    values = np.empty((len(runs.runs), len(runs.topics), len(chosen)))
    used = list(chosen)
    for position, measure in enumerate(chosen):
        if is_shipped(measure):
            values[..., position] = _evaluate(measure, arrays, runs)
            continue
        measure, cases = _try(measure, arrays, n_classes)
        check_memory(measure, cases)
        used[position], values[..., position] = measure, _evaluate(measure, arrays, runs)
        _score_again(measure, arrays, values[..., position], runs)
    return Scores(values, measures=used, **runs.named("runs", "topics", "collection", "provenance"))


def _try(measure: Measure, arrays: tuple[np.ndarray, ...], n_classes: int) -> tuple[Measure, tuple[np.ndarray, ...]]:
    """Return the measure as it can be called for all runs and topics, and what it was tried on; see `accept_batches`."""
    real = _take_cells(arrays, _choose_cells(arrays, f"{measure}: tried"))
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


def _score_again(measure: Measure, arrays: tuple[np.ndarray, ...], scores: np.ndarray, runs: Runs) -> None:
    """Score some cells alone: an error if their scores are not those that they have among all others."""
    for r, t in _choose_cells(arrays, f"{measure}: scored again"):
        alone, _ = measure.evaluate(*(array[0] for array in _take_cells(arrays, [(r, t)])))
        if find_difference(alone, scores[r, t]) is not None:
            raise MeasureError(
                f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]} scored {scores[r, t]:.12g} with the others and "
                f"{float(alone):.12g} alone: a measure must score every topic by itself"
            )


def _choose_cells(arrays: tuple[np.ndarray, ...], purpose: str) -> list[tuple[int, int]]:
    """Return some places (run, topic): the first, the last, and random ones."""
    n_runs, n_topics = arrays[0].shape[:2]
    drawn = generator(0, purpose).integers(n_runs * n_topics, size=_CELLS_AGAIN)
    return [divmod(cell, n_topics) for cell in sorted({0, n_runs * n_topics - 1, *drawn.tolist()})]


def _take_cells(arrays: tuple[np.ndarray, ...], cells: list[tuple[int, int]]) -> tuple[np.ndarray, ...]:
    """Return the arrays of these cells, one after the other; gold has no axis for runs."""
    r, t = np.array(cells, dtype=int).T
    return (arrays[0][r, t], *(gold[t] for gold in arrays[1:]))


def _evaluate(measure: Measure, arrays: tuple[np.ndarray, ...], runs: Runs) -> np.ndarray:
    """Return the scores (run, topic); refuse those that the measure must not return, and warn of undefined ones."""
    scores, undefined = measure.evaluate(*arrays)
    shape = (len(runs.runs), len(runs.topics))
    if scores.shape != shape:
        given = f"{shape[0]} runs × {shape[1]} topics, not {shape}"
        raise MeasureError(f"{measure} returned shape {scores.shape} for {given}")
    low, high = measure.range
    slack = 1e-9 * max(1.0, *(abs(end) for end in measure.range if np.isfinite(end)), 0.0)
    for wrong, why in (
        (~np.isfinite(scores), "which is not a finite number"),
        ((scores < low - slack) | (scores > high + slack), f"outside its declared range [{low:g}, {high:g}]"),
    ):
        for r, t in np.argwhere(wrong)[:1]:
            more = f" ({wrong.sum():,} of {wrong.size:,} scores are like this)" if wrong.sum() > 1 else ""
            place = f"{measure}: run {runs.runs[r]}, topic {runs.topics[t]}"
            raise MeasureError(f"{place}: the score is {scores[r, t]:g}, {why}{more}")
    if undefined.any():
        cells = [f"run {runs.runs[r]} on topic {runs.topics[t]}" for r, t in np.argwhere(undefined)]
        warnings.warn(
            f"{measure} is undefined (0/0) for {len(cells)} of {undefined.size} scores and counted as "
            f"{measure.undefined:g}: {format_list(cells, most=3)}",
            UndefinedValueWarning,
            stacklevel=3,
        )
    return scores
