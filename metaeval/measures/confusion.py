"""What the classification measures share: sums and averages over a confusion matrix counts[..., gold, predicted]."""

from __future__ import annotations

import numpy as np


def class_distance(n_classes: int) -> np.ndarray:
    """Return |i − j| for every pair of classes, shape (K, K)."""
    classes = np.arange(n_classes)
    return np.abs(classes[:, None] - classes).astype(np.float64)


def gold_sizes(counts: np.ndarray) -> np.ndarray:
    """Return the number of items of every gold class, shape (..., K)."""
    return counts.sum(axis=-1)


def predicted_sizes(counts: np.ndarray) -> np.ndarray:
    """Return the number of items a run put into every class, shape (..., K)."""
    return counts.sum(axis=-2)


def macro_mean(per_class: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Average values of gold classes, shape (..., K), over C⁺, the classes that have gold items.

    Values of empty classes, NaN for instance, do not count.
    """
    filled = gold_sizes(counts) > 0
    return np.where(filled, per_class, 0.0).sum(axis=-1) / filled.sum(axis=-1)


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, and 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)
