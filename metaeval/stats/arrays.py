"""Arrays of scores: at a common scale, as integers, and pair by pair.

Scores are brought to a common scale by powers of two, which round nothing. As integers their sums are exact, in any order, and
a tolerance of a few units decides ties: as floats, 0.3 - 0.2 and 0.2 - 0.1 differ.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import DataError, MetaevalError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
UnitArray: TypeAlias = npt.NDArray[np.uint32]

LARGEST_EXPONENT = 1000
"""Sums of scores below 2**1000 are floats."""

LARGEST_UNIT = 2**32 - 1

DIGITS = 9
"""Decimals to which scaled scores and their differences are rounded, so that floating point decides no tie."""


class Scaled:
    """Scores at a common scale, shape (run, topic, measure); `measures` choose some of the last axis, in order."""

    def __init__(self, values: FloatArray, measures: npt.ArrayLike | None = None) -> None:
        chosen = values if measures is None else values[..., np.asarray(measures, dtype=np.intp)]
        # The order of the axes in memory decides in which order NumPy adds.
        self.values = np.ascontiguousarray(scale_scores(chosen))
        self.shape: tuple[int, int, int] = self.values.shape

    def means(self) -> FloatArray:
        """Return the mean of every run, shape (run, measure)."""
        return np.asarray(self.values.mean(axis=1))

    def weigh(self, weights: FloatArray, change: Callable[[FloatArray], FloatArray] = np.asarray) -> FloatArray:
        """Return sums over topics of changed scores with weights of shape (trial, topic), shape (trial, run, measure)."""
        n_runs, n_topics, n_measures = self.shape
        by_topic = change(self.values).transpose(1, 0, 2).reshape(n_topics, -1)
        return np.asarray((weights @ by_topic).reshape(len(weights), n_runs, n_measures))


def find_exponents(scores: FloatArray) -> npt.NDArray[np.intc]:
    """Return by which power of two each measure is divided: its median score that is not 0 comes between 1/2 and 1."""
    typical = np.zeros(scores.shape[-1], dtype=np.intc)
    for measure in range(len(typical)):
        mantissas, exponents = np.frexp(scores[..., measure])
        known = np.sort(exponents[mantissas != 0])
        if known.size:
            typical[measure] = max(known[(known.size - 1) // 2], known[-1] - LARGEST_EXPONENT)
    return typical


def scale_scores(values: npt.ArrayLike) -> FloatArray:
    """Divide the scores of each measure, the last axis, by its power of two."""
    scores = np.asarray(values, dtype=np.float64)
    return np.ldexp(scores, -find_exponents(scores))


def round_scaled(values: FloatArray) -> FloatArray:
    """Round scaled scores, or differences of them, so that those that differ by rounding alone are equal."""
    with np.errstate(over="ignore"):  # beyond 1e299 they become infinite, which is above all others too
        return np.round(values, DIGITS)


def scale_squares(values: FloatArray, axis: int | tuple[int, ...] | None = None) -> FloatArray:
    """Multiply numbers by a power of two so that the largest along `axis` lies between 1/2 and 1, before they are squared."""
    largest = np.abs(values).max(axis=axis, keepdims=True)
    return np.ldexp(values, -np.frexp(largest)[1])


def average(values: FloatArray) -> FloatArray:
    """Return means along the last axis of what is there, NaN if nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def divide(left: npt.ArrayLike, right: npt.ArrayLike, otherwise: float = np.nan) -> FloatArray:
    """Return the ratio, or `otherwise` where `right` is not above 0."""
    over, under = np.broadcast_arrays(left, right)
    return np.divide(over, under, out=np.full(over.shape, otherwise), where=under > 0)


def mark_topics(cells: npt.NDArray[Any], topic_of: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn a mask of run × item into run × topic: whether any item of the topic is marked."""
    marked = np.zeros((len(cells), int(topic_of.max()) + 1), dtype=bool)
    r, i = np.nonzero(cells)
    marked[r, topic_of[i]] = True
    return marked


def find_farthest_end(centre: npt.NDArray[Any], n_classes: int) -> npt.NDArray[Any]:
    """Return the end of the scale farthest from a position on it, the last class where both are as far."""
    middle = (n_classes - 1) / 2
    return np.where(centre <= middle + 1e-12, n_classes - 1, 0)  # a mean of shares is rounded


def check_shape(values: npt.ArrayLike) -> FloatArray:
    """Return the scores as they are, float64 of shape (run, topic, measure), or refuse what cannot be tested."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 3:
        axes = f"three axes (run, topic, measure), not {scores.ndim}"
        raise MetaevalError(f"Scores must have {axes}; for one measure, add a last axis of length 1.")
    for count, least, what in zip(scores.shape, (2, 2, 1), ("two runs", "two topics", "one measure"), strict=True):
        if count < least:
            raise MetaevalError(f"Scores must have at least {what}, not {count}.")
    if not np.isfinite(scores).all():
        run, topic, measure = np.argwhere(~np.isfinite(scores))[0]
        which = f"the score of run {run} on topic {topic} by measure {measure} is {scores[run, topic, measure]}"
        raise MetaevalError(f"Scores must be finite, but {which}.")
    return scores


def check_count(number: int, what: str) -> int:
    """Return a count as a Python integer, or raise an error if it is below one."""
    try:
        count = operator.index(number)
    except TypeError:
        raise MetaevalError(f"The number of {what} must be an integer, not {number!r}.") from None
    if count < 1:
        raise MetaevalError(f"The number of {what} must be at least 1, not {count}.")
    return count


def split_pairs(scores: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the pairs of a run, on the first axis, with later ones, a slice of all, and its scores less those of the others."""
    n_runs, start = len(scores), 0
    for run in range(n_runs - 1):
        pairs = slice(start, start + n_runs - 1 - run)
        yield pairs, scores[run] - scores[run + 1 :]
        start = pairs.stop


def quantise(values: npt.ArrayLike) -> UnitArray:
    """Return scores of shape (run, topic, measure), less the lowest of their topic, as integers, shape (topic, run, measure).

    A unit is 1/(2**32 - 1) of the widest range of the measure within one topic, so that each score is off by half of one.
    """
    scores = Scaled(np.asarray(values, dtype=np.float64)).values
    above = scores - scores.min(axis=0)
    widest = above.max(axis=(0, 1))
    above /= np.where(widest > 0, widest, 1.0)
    above *= LARGEST_UNIT
    return np.asarray(np.rint(above, out=above).astype(np.uint32).transpose(1, 0, 2))


def round_to_digits(scores: FloatArray) -> IntArray:
    """Return scores, (run, topic, measure), as whole numbers: about eight digits of the largest one of their measure."""
    largest = np.abs(scores).max(axis=(0, 1))
    # The magnitude is rounded first: 1 and the number below it would have different exponents.
    exponents = np.frexp(np.array([float(f"{one:.8g}") for one in largest]))[1]
    return np.asarray(np.rint(np.ldexp(scores, 26 - exponents)).astype("<i8"))


def restore_pairs(places: IntArray) -> IntArray:
    """Return for each pair (0, 1), (0, 2), … of labels in the given order its place among the pairs of sorted ones."""
    first, second = np.triu_indices(len(places), 1)
    pair = np.zeros((len(places), len(places)), dtype=np.intp)
    pair[first, second] = pair[second, first] = np.arange(len(first))
    return np.asarray(pair[places[first], places[second]])


def as_numbers(given: Any, what: str) -> np.ndarray:
    """Return an array of its own; numpy would turn some of what is no number into numbers without a word."""
    try:
        if (kind := np.asarray(given).dtype).kind in "cmMVS":
            raise TypeError(f"{kind} is none")
        if np.ma.is_masked(given):
            raise TypeError("masked ones are none: write NaN into a frame, and see metaeval.io.from_frame")
        return np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} are numbers ({error})") from None
