"""What the classification measures share: sums and averages over a confusion matrix counts[..., gold, predicted]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from metaeval.errors import MeasureError

T = TypeVar("T")


def class_distance(n_classes: int) -> np.ndarray:
    """Return |g − p| for every pair of classes, shape (K, K)."""
    classes = np.arange(n_classes)
    return np.abs(classes[:, None] - classes).astype(np.float64)


def gold_sizes(counts: np.ndarray) -> np.ndarray:
    """Return n_g, the number of items of every gold class, shape (..., K)."""
    return counts.sum(axis=-1)


def predicted_sizes(counts: np.ndarray) -> np.ndarray:
    """Return m_p, the number of items a run put into every class, shape (..., K)."""
    return counts.sum(axis=-2)


def item_mean(counts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Average over items what the cells of a matrix, shape (K, K), are worth."""
    return (counts * values).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


def macro_mean(per_class: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Average values of gold classes, shape (..., K), over C⁺, the classes that have gold items.

    Values of empty classes, NaN for instance, do not count.
    """
    filled = gold_sizes(counts) > 0
    return np.where(filled, per_class, 0.0).sum(axis=-1) / filled.sum(axis=-1)


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, and 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def harmonic_mean(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return 2ab / (a + b), and 0 where both are 0."""
    return share(2 * a * b, a + b)


def pick(choices: Mapping[str, T], name: str, parameter: str) -> T:
    """Return what the value of a parameter stands for; an error that lists the choices if it is none of them."""
    if name not in choices:
        raise MeasureError(f"{parameter} is one of {', '.join(choices)}, not {name!r}")
    return choices[name]
