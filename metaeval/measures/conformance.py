"""Does a measure satisfy its declared range and direction? The checks that come before it is compared with others.

The same trials tell what kind of measure a plain function of arrays is, and which direction it has.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.base import Kind, Measure, find_signs
from metaeval.measures.calls import EachTopic, find_gold, list_arrays, put_estimated_first
from metaeval.measures.user_file import import_anew
from metaeval.stats.streams import generator

_CASES = 24  # matrices, or pairs of distributions, of each kind
_CASES_ALONE = 29  # of them that are scored alone and in batches; no number of classes, or nearly none
_N_CLASSES = 5
_CELLS_TRIED = 8  # runs on topics, and as many that are scored once more, alone
_MOST_CLASSES = 50  # for which artificial data are made besides
_BY_ITSELF = "a measure must score every topic by itself"
_NOT_REPEATABLE = "a measure must depend on its arrays alone, not on chance, the clock or earlier calls"
SLACK = 1e-9
"""How far a score may exceed a bound before it is said to."""

Data = tuple[np.ndarray, ...]
"""The arrays that a measure takes: counts, shape (case, K, K), or estimated and gold, shape (case, K) each."""


class DependenceError(MeasureError):
    """A score depends on something besides the topic: on others in its batch, on chance, or on earlier calls."""


@dataclass(frozen=True)
class Conformance:
    """What the checks found out about a measure that passed them.

    Parameters
    ----------
    measure : Measure
        The measure to continue with: where the given function takes a single topic at a time, this one calls it once
        for each topic.
    notes : tuple of str
        What the author of the measure may want to know, such as that it is called topic by topic.
    """

    measure: Measure
    notes: tuple[str, ...] = ()


def conformance(measure: Measure, n_classes: int = _N_CLASSES) -> Conformance:
    """Does a measure satisfy its declared range and direction, with finite scores and the perfect run best?

    It must also give every topic the same score each time, alone and in any batch.

    Parameters
    ----------
    measure : Measure
        With a formula.
    n_classes : int, optional
        Classes of the artificial data that it is tried on, which include topics of one item, empty gold classes, and
        constant, uniform and perfect runs.

    Returns
    -------
    Conformance

    Raises
    ------
    MeasureError
        If it does not; the message is one sentence with an example.

    Warns
    -----
    DirectionWarning
        If its direction is not stated: higher is then assumed to be better.

    Examples
    --------
    >>> import metaeval
    >>> conformance(metaeval.measure("NMD")).notes
    ()
    """
    data = make_trial_data(measure, n_classes)
    measure, notes = accept_batches(measure, data)
    check_memory(measure, data)
    scores, _ = measure.evaluate(*data)
    best, _ = measure.evaluate(*make_perfect_data(measure, data))
    gain = (scores - best) * find_signs([measure])
    better = "higher" if measure.sign > 0 else "lower"
    assumed = " (assumed: higher is better)" * measure.direction_is_assumed
    hint = f"; is {better} really better?" if (gain > SLACK).mean() > 0.5 else ""
    for wrong, why in (
        *list_faults(measure, scores),
        (gain > SLACK, f"better than the perfect run's {{:.6g}}, {better} being better{assumed}{hint}"),
    ):
        if wrong.any():
            case = int(np.argmax(wrong))
            raise MeasureError(
                f"{measure} gives {scores[case]:.6g} for {_describe_case(data, case)}, {why.format(best[case])}"
            )
    if np.ptp(scores) == 0:
        raise MeasureError(f"{measure} gives {scores.flat[0]:g} to every run it was tried on, perfect or not")
    return Conformance(measure, notes)


def list_faults(measure: Measure, scores: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Return which scores a measure must not give, each kind as a mask with what is wrong."""
    low, high = measure.range
    slack = SLACK * max(1.0, *(abs(end) for end in measure.range if np.isfinite(end)), 0.0)
    return [
        (~np.isfinite(scores), "which is not a finite number"),
        ((scores < low - slack) | (scores > high + slack), f"outside its declared range [{low:g}, {high:g}]"),
    ]


def measure_of_function(function: Callable[..., Any], name: str | None = None) -> tuple[Measure, str]:
    """Return a measure made of an undecorated function, and a sentence that says what was assumed about it.

    A function of one array is a classification measure, a function of two a quantification measure, in which names such
    as `gold` and `predicted` tell the arrays apart; its direction is the one in which the perfect run is best.
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    arrays = list_arrays(function)
    if len(arrays) not in (1, 2):
        raise MeasureError(
            f"{name} is not a measure: it takes {len(arrays)} arrays, and a measure takes counts (K × K), or estimated "
            "and gold (K each)"
        )
    kind: Kind = "classification" if len(arrays) == 1 else "quantification"
    bare = Measure(name, None, kind=kind, formula=put_estimated_first(function))
    data = make_trial_data(bare, _N_CLASSES)
    measure, _ = accept_batches(bare, data)
    gain = measure.evaluate(*data)[0] - measure.evaluate(*make_perfect_data(bare, data))[0]
    if not np.isfinite(gain).all() or ((gain > SLACK).any() and (gain < -SLACK).any()) or not gain.any():
        raise MeasureError(
            f"{name}: the perfect run is neither always best nor always worst, so its direction cannot be seen; "
            f'decorate it with @metaeval.register_measure(kind="{kind}", higher_is_better=…, range=(…, …))'
        )
    higher = bool((gain <= SLACK).all())
    note = f"{name} is taken as a {kind} measure of which {'higher' if higher else 'lower'} is better, as it was not decorated"
    if kind == "quantification" and find_gold(function) is None:
        note += f", and called as {name}(estimated, gold)"
    return replace(measure, higher_is_better=higher), note


def make_trial_data(measure: Measure, n_classes: int) -> Data:
    """Return cases on which formulas often fail."""
    rng = generator(0, "conformance")
    if measure.kind == "classification":
        shares = rng.dirichlet(np.full(n_classes**2, 0.4), size=_CASES)
        random = rng.multinomial(30, shares).reshape(-1, n_classes, n_classes)
        single = rng.multinomial(1, shares).reshape(-1, n_classes, n_classes)
        constant = np.zeros((n_classes, n_classes, n_classes), dtype=int)
        constant[np.arange(n_classes), :, np.arange(n_classes)] = 1 + np.arange(n_classes)
        return (np.concatenate([random, single, constant]).astype(float),)
    estimated, gold = rng.dirichlet(np.full(n_classes, 0.6), size=(2, _CASES))
    certain = np.eye(n_classes)
    pairs = np.array(list(itertools.product(range(n_classes), repeat=2)))
    uniform = np.full((n_classes, n_classes), 1 / n_classes)
    return (
        np.concatenate([estimated, certain[pairs[:, 0]], uniform]),
        np.concatenate([gold, certain[pairs[:, 1]], certain]),
    )


def make_perfect_data(measure: Measure, data: Data) -> Data:
    """Return the same topics with the perfect run."""
    if measure.kind == "classification":
        sizes = data[0].sum(axis=-1)
        return (sizes[..., None] * np.eye(sizes.shape[-1]),)
    return data[1], data[1]


def accept_batches(measure: Measure, data: Data) -> tuple[Measure, tuple[str, ...]]:
    """Return a measure that takes leading axes: the given one, or one that calls it topic by topic, and a note of that.

    Every case is scored alone, in two orders, and then together with others in several arrangements.
    """
    data = choose_cases(data)
    by_topic = call_each_topic(measure)
    alone, _ = by_topic.evaluate(*data)
    again, _ = by_topic.evaluate(*(array[::-1] for array in data))
    _check_equal(measure, data, alone, again[::-1], "first and {} when it was scored again", _NOT_REPEATABLE)
    each = by_topic is measure
    if not each and all(_accepts(measure, by_topic, data, alone, places) for places in _arrange(len(alone))):
        return measure, ()
    if len(alone) > 1 and np.ptp(alone) == 0:
        raise MeasureError(f"{measure} gives {alone[0]:g} to every topic that it was tried on alone")
    return by_topic, (
        f"{measure} takes one topic at a time and is called so; written for leading axes (…, K), with axis=-1, "
        "it would be much faster",
    )


def try_on_cells(measure: Measure, arrays: Data) -> Measure:
    """Return a user's measure as it can be called for all runs and topics, once it has passed trials on some of them."""
    tried = _take_cells(arrays, *_choose_cells(arrays, f"{measure}: tried"))
    cases = [tried]
    if (n_classes := arrays[0].shape[-1]) <= _MOST_CLASSES:
        trial = choose_cases(make_trial_data(measure, n_classes))
        cases.insert(0, tuple(np.concatenate(pair) for pair in zip(tried, trial, strict=True)))
    for data in cases:
        try:
            accepted, _ = accept_batches(measure, data)
            break
        except MeasureError as error:  # it need not be meant for every case that can be thought of
            if data is tried or isinstance(error, DependenceError):
                raise
    check_memory(accepted, data)
    return accepted


def find_unlike_alone(measure: Measure, arrays: Data, scores: np.ndarray) -> tuple[int, int, float] | None:
    """Return the run and the topic of a cell that scores otherwise alone than with all others, and that score, if any."""
    for r, t in zip(*_choose_cells(arrays, f"{measure}: scored again"), strict=True):
        alone, _ = measure.evaluate(*(array[0] for array in _take_cells(arrays, [r], [t])))
        if find_difference(alone, scores[r, t]) is not None:
            return r, t, float(alone)
    return None


def _choose_cells(arrays: Data, purpose: str) -> tuple[list[int], list[int]]:
    """Return the runs and the topics of some cells: the first, the last, and random ones."""
    n_runs, n_topics = arrays[0].shape[:2]
    cells = np.unique([0, n_runs * n_topics - 1, *generator(0, purpose).integers(n_runs * n_topics, size=_CELLS_TRIED)])
    return (cells // n_topics).tolist(), (cells % n_topics).tolist()


def _take_cells(arrays: Data, r: list[int], t: list[int]) -> Data:
    """Return the arrays of these cells, one after the other; gold has no axis for runs."""
    return (arrays[0][r, t], *(gold[t] for gold in arrays[1:]))


def call_each_topic(measure: Measure) -> Measure:
    """Return the same measure, its formula called once for every topic."""
    if measure.formula is None or isinstance(measure.formula, EachTopic):
        return measure
    return replace(measure, formula=EachTopic(measure.formula, 2 if measure.kind == "classification" else 1))


def check_memory(measure: Measure, data: Data) -> None:
    """Refuse a measure of a file that gives other scores, in another order, once its file has been imported anew.

    One that keeps the scale of the first batch it has seen would otherwise always be the same.
    """
    formula = import_anew(measure)
    if formula is not None:
        data = choose_cases(data)
        first, _ = measure.evaluate(*data)
        again, _ = call_each_topic(replace(measure, formula=formula)).evaluate(*(array[::-1] for array in data))
        _check_equal(measure, data, first, again[::-1], "first and {} when it was imported anew", _NOT_REPEATABLE)


def choose_cases(data: Data) -> Data:
    """Return a few of the cases, evenly chosen, where every one is scored many times."""
    n_cases = len(data[0])
    chosen = np.unique(np.linspace(0, n_cases - 1, min(n_cases, _CASES_ALONE)).astype(int))
    return tuple(array[chosen] for array in data)


def _arrange(n_cases: int) -> Iterator[np.ndarray]:
    """Yield the places of cases in batches: all twice, permuted, subsets, and as run × topic of two shapes."""
    shuffled = generator(0, "arrangements").permutation(n_cases)
    yield np.arange(n_cases)
    yield np.arange(n_cases)
    yield shuffled
    yield shuffled[: n_cases // 2]
    yield np.array([n_cases - 1])
    for rows in (2, 3):
        yield shuffled[: n_cases // rows * rows].reshape(rows, -1)
        yield shuffled[: n_cases // rows * rows].reshape(-1, rows)[::-1]


def _accepts(measure: Measure, by_topic: Measure, data: Data, alone: np.ndarray, places: np.ndarray) -> bool:
    """Say whether a measure takes a batch of these cases; an error where it takes it and gives other scores."""
    batch = tuple(array[places] for array in data)
    expected = alone[places]
    if places.ndim == 2 and len(batch) == 2:  # gold has no axis for runs
        batch = (batch[0], batch[1][0])
        expected, _ = by_topic.evaluate(*batch)
    try:
        together, _ = measure.evaluate(*batch)
    except MeasureError:
        return False
    if together.shape != expected.shape:
        return False
    _check_equal(measure, batch, expected, together, "alone and {} with others", _BY_ITSELF)
    return True


def find_difference(expected: np.ndarray, scores: np.ndarray) -> tuple[int, ...] | None:
    """Return the first place where two arrays of scores differ by more than rounding; None if they do not."""
    differ = ~np.isclose(scores, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
    return tuple(int(at) for at in np.argwhere(differ)[0]) if differ.any() else None


def _check_equal(measure: Measure, data: Data, expected: np.ndarray, scores: np.ndarray, how: str, rule: str) -> None:
    at = find_difference(expected, scores)
    if at is None:
        return
    axes = 2 if measure.kind == "classification" else 1
    case = tuple(np.broadcast_to(array, expected.shape + array.shape[-axes:])[at][None] for array in data)
    both = how.format(f"{scores[at]:.12g}")
    raise DependenceError(f"{measure} gives {expected[at]:.12g} {both} to {_describe_case(case, 0)}: {rule}")


def _describe_case(data: Data, case: int) -> str:
    if len(data) == 1:
        return f"counts {data[0][case].astype(int).tolist()} (rows gold, columns predicted)"
    return f"estimated {data[0][case].round(3).tolist()} and gold {data[1][case].round(3).tolist()}"
