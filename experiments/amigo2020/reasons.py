"""Why marks of Table 2 differ: each reason of study.toml says something that is tried here, case by case."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import metaeval
from metaeval.measures.properties import (
    all_counts,
    all_matrices,
    misplaced_in_the_middle,
    no_empty_gold,
    one_step_closer,
    stretch_scale,
)

LEAST_ITEMS, MOST_ITEMS, CLASSES = 4, 12, (3, 4)
"""Imbalance is tried on every gold of that many items and classes, as in the search."""

SMALL_ITEMS, SMALL_CLASSES = 5, (2, 3, 4)
"""What is said of all confusion matrices is tried on all of up to that many items."""

GOLDS = f"all gold of {LEAST_ITEMS} to {MOST_ITEMS} items in {' and '.join(map(str, CLASSES))} classes, none empty"
MATRICES = f"all confusion matrices of up to {SMALL_ITEMS} items in {SMALL_CLASSES[0]} to {SMALL_CLASSES[-1]} classes"

Tried = list[tuple[str, int, int]]
"""What a reason says, in how many cases it is so, and in how many it was tried."""

SAME = 1e-9


def try_reason(name: str, measure: str) -> Tried:
    """Return in how many cases what a reason says of a measure is so."""
    return REASONS[name](measure)


def describe(tried: Tried) -> str:
    """Return what was tried as one line.

    Examples
    --------
    >>> describe([("both equal", 990, 990)])
    'both equal: 990 of 990'
    """
    return "; ".join(f"{what}: {met:,} of {n:,}" for what, met, n in tried)


def list_golds(n_classes: int) -> np.ndarray:
    """Return every gold without an empty class, those of fewer items first."""
    golds = [all_counts(n_items, n_classes) for n_items in range(LEAST_ITEMS, MOST_ITEMS + 1)]
    return np.concatenate([one[(one > 0).all(axis=1)] for one in golds])


def find_gaps(measure: str, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how much better the mistake in the larger class is than that in the smaller one, with both runs."""
    large, small = misplaced_in_the_middle(list_golds(n_classes))
    found = metaeval.measure(measure)
    return found.sign * (found.evaluate(large)[0] - found.evaluate(small)[0]), large, small


def _gaps(measure: str) -> np.ndarray:
    return np.concatenate([find_gaps(measure, n_classes)[0] for n_classes in CLASSES])


def _count(what: str, met: np.ndarray) -> tuple[str, int, int]:
    return what, int(met.sum()), int(met.size)


def _small_matrices() -> list[np.ndarray]:
    """Return every small confusion matrix, one array for each size."""
    return [all_matrices(n_items, n_classes) for n_items in range(1, SMALL_ITEMS + 1) for n_classes in SMALL_CLASSES]


def _try_equal(measure: str) -> Tried:
    return [_count("both mistakes score the same", np.abs(_gaps(measure)) <= SAME)]


def _try_reversed(measure: str) -> Tried:
    found = [_count("the mistake in the larger class scores lower", _gaps(measure) < -SAME)]
    found.append(_count("τ_a of both is equal", np.abs(_gaps("tau_a")) <= SAME))
    more = []
    for n_classes in CLASSES:
        _, large, small = find_gaps("tau_a", n_classes)
        more.append(_count_split(large) > _count_split(small))
    found.append(_count("more pairs of items that the gold ties are ordered", np.concatenate(more)))
    return found


def _count_split(counts: np.ndarray) -> np.ndarray:
    """Return how many pairs of items of one gold class a run puts into different classes, shape (case,)."""
    gold = counts.sum(axis=2)
    return ((gold**2).sum(axis=1) - (counts**2).sum(axis=(1, 2))) // 2


def _try_classes(measure: str) -> Tried:
    three, four = (find_gaps(measure, n_classes)[0] for n_classes in CLASSES)
    return [
        _count("three classes, met", three > SAME),
        _count("four classes, equal", np.abs(four) <= SAME),
        _count("four classes, reversed", four < -SAME),
    ]


def _try_single(measure: str) -> Tried:
    gaps, several, perfect = [], [], []
    for n_classes in CLASSES:
        gap, _, small = find_gaps(measure, n_classes)
        wrong = small.sum(axis=2) - np.diagonal(small, axis1=1, axis2=2)
        gaps.append(gap)
        several.append((small.sum(axis=2) * wrong).sum(axis=1) > 1)
        perfect.append(metaeval.measure(measure).evaluate(small)[0] >= 1 - SAME)
    gap, many, free = (np.concatenate(one) for one in (gaps, several, perfect))
    return [
        _count("small class of two items and more, both mistakes score the same", np.abs(gap[many]) <= SAME),
        _count("small class of one item, its mistake scores as the perfect run", free[~many]),
    ]


def _try_margin(measure: str) -> Tried:
    drop = []
    found = metaeval.measure(measure)
    for counts in _small_matrices():
        before, after = stretch_scale(counts)
        gap = found.evaluate(before)[0] - found.evaluate(after)[0]
        drop.append(gap[np.abs(gap) > SAME] > 0)
    return [_count("counterexamples in which the stretched scale scores lower", np.concatenate(drop))]


def _try_chance(measure: str) -> Tried:
    found = metaeval.measure(measure)
    above, below = [], []
    for counts in _small_matrices():
        far, near = one_step_closer(no_empty_gold(counts))
        before, after = found.evaluate(far)[0], found.evaluate(near)[0]
        above.append((after > before + SAME)[before > SAME])
        below.append((before <= SAME)[after <= before + SAME])
    return [
        _count("steps from κ > 0 that raise it", np.concatenate(above)),
        _count("counterexamples with κ ≤ 0", np.concatenate(below)),
    ]


def _try_factor(measure: str) -> Tried:
    """A run that has class 1 throughout for gold of class 2 has all values too low by one factor."""
    found = metaeval.measure(measure)
    perfect, bent = [], []
    for n_items in range(2, MOST_ITEMS + 1):
        far = np.array([[0, 0], [n_items, 0]])
        near = np.array([[0, 0], [n_items - 1, 1]])
        before, after = (float(found.evaluate(one)[0]) for one in (far, near))
        perfect.append(before >= 1 - SAME)
        bent.append(after < before - SAME)
    return [
        _count("all items predicted one class too low: the highest score", np.array(perfect)),
        _count("one of them put right: lower", np.array(bent)),
    ]


REASONS: dict[str, Callable[[str], Tried]] = {
    "equal": _try_equal,
    "reversed": _try_reversed,
    "classes": _try_classes,
    "single": _try_single,
    "margin": _try_margin,
    "chance": _try_chance,
    "factor": _try_factor,
}
"""What tries a reason, by the name that study.toml gives it."""
