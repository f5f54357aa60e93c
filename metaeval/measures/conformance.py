"""Does a measure satisfy its declared range and direction? The checks that come before it is compared with others."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.base import ASSUMED, Formula, Measure, find_signs
from metaeval.stats.streams import generator

_CASES = 24  # matrices, or pairs of distributions, of each kind
SLACK = 1e-9
"""How far a score may exceed a bound before it is said to."""


@dataclass(frozen=True)
class Conformance:
    """What the checks found out about a measure that passed them.

    Parameters
    ----------
    measure : Measure
        The measure to continue with: where the given function takes a single topic at a time, this one calls it once
        for each topic.
    seconds : float
        Time for one matrix, or one pair of distributions, within a batch.
    notes : tuple of str
        What the author of the measure may want to know, such as that it is called topic by topic.
    """

    measure: Measure
    seconds: float
    notes: tuple[str, ...] = ()


def conformance(measure: Measure, n_classes: int = 5) -> Conformance:
    """Does a measure satisfy its declared range and direction, with finite scores and the perfect run best?

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
    began = time.perf_counter()
    scores, _ = measure.evaluate(*data)
    seconds = (time.perf_counter() - began) / scores.size
    low, high = measure.range
    _refuse(measure, data, ~np.isfinite(scores), scores, "which is not a finite number")
    beyond = (scores < low - SLACK) | (scores > high + SLACK)
    _refuse(measure, data, beyond, scores, f"outside its declared range [{low:g}, {high:g}]")
    best, _ = measure.evaluate(*make_perfect_data(measure, data))
    gain = (scores - best) * find_signs([measure])
    _refuse(measure, data, gain > SLACK, scores, _direction(measure, best, gain))
    if np.ptp(scores) == 0:
        raise MeasureError(f"{measure} gives {scores.flat[0]:g} to every run it was tried on, perfect or not")
    return Conformance(measure, seconds, notes)


def make_trial_data(measure: Measure, n_classes: int) -> tuple[np.ndarray, ...]:
    """Return counts, shape (case, K, K), or two arrays of distributions, shape (case, K), on which formulas often fail."""
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


def make_perfect_data(measure: Measure, data: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return the same topics with the perfect run, in the shapes of `make_trial_data`."""
    if measure.kind == "classification":
        sizes = data[0].sum(axis=-1)
        return (sizes[..., None] * np.eye(sizes.shape[-1]),)
    return data[1], data[1]


def accept_batches(measure: Measure, data: tuple[np.ndarray, ...]) -> tuple[Measure, tuple[str, ...]]:
    """Return a measure that takes leading axes: the given one, or one that calls it topic by topic, and a note of that.

    Parameters
    ----------
    measure : Measure
        With a formula.
    data : tuple of ndarray
        As `make_trial_data` makes them.

    Returns
    -------
    measure : Measure
    notes : tuple of str
        Empty, or one sentence.
    """
    note = (
        f"{measure} takes one topic at a time and is called so; written for leading axes (…, K), with axis=-1, "
        "it would be much faster"
    )
    if isinstance(measure.formula, _EachTopic):
        return measure, (note,)
    one_by_one = call_each_topic(measure)
    single, _ = one_by_one.evaluate(*data)
    try:
        together, _ = measure.evaluate(*data)
    except MeasureError:
        together = np.empty(0)
    if together.shape == single.shape and np.allclose(together, single, rtol=1e-9, atol=1e-12, equal_nan=True):
        return measure, ()
    return one_by_one, (note,)


def call_each_topic(measure: Measure) -> Measure:
    """Return the same measure, its formula called once for every topic; without a formula that is an error."""
    if measure.formula is None:
        raise MeasureError(f"{measure} is known by its scores only, there is no formula to check")
    axes = 2 if measure.kind == "classification" else 1
    return replace(measure, formula=_EachTopic(str(measure), measure.formula, axes))


@dataclass(frozen=True)
class _EachTopic:
    """A formula of one topic, made one that takes leading axes; `axes` are those of one topic's arrays."""

    name: str
    formula: Formula
    axes: int

    def __call__(self, *arrays: np.ndarray, **parameters: object) -> np.ndarray:
        shape = np.broadcast_shapes(*(array.shape[: -self.axes] for array in arrays))
        cases = [np.broadcast_to(array, shape + array.shape[-self.axes :]) for array in arrays]
        scores = np.empty(shape)
        for index in np.ndindex(shape):
            score = np.asarray(self.formula(*(case[index] for case in cases), **parameters), dtype=np.float64)
            if score.shape != ():
                raise MeasureError(
                    f"{self.name} returned shape {score.shape} for one topic of shape {cases[0][index].shape}: "
                    "it must return one number per topic"
                )
            scores[index] = score
        return scores


def _refuse(measure: Measure, data: tuple[np.ndarray, ...], wrong: np.ndarray, scores: np.ndarray, why: str) -> None:
    if wrong.any():
        case = int(np.argmax(wrong))
        if measure.kind == "classification":
            example = f"counts {data[0][case].astype(int).tolist()} (rows gold, columns predicted)"
        else:
            example = f"estimated {data[0][case].round(3).tolist()} and gold {data[1][case].round(3).tolist()}"
        raise MeasureError(f"{measure} gives {scores[case]:.6g} for {example}, {why}")


def _direction(measure: Measure, best: np.ndarray, gain: np.ndarray) -> str:
    case = int(np.argmax(gain))
    word = "higher" if measure.sign > 0 else "lower"
    stated = f"{word} being better{f' ({ASSUMED})' * measure.direction_is_assumed}"
    hint = f"; is {word} really better?" if (gain > SLACK).mean() > 0.5 else ""
    return f"better than the perfect run's {best[case]:.6g}, {stated}{hint}"
