"""The two measures both known as macro F1 (Sakai 2021, Eqs. 8–9; Opitz and Burst 2019)."""

from __future__ import annotations

import numpy as np

from metaeval.measures.confusion import gold_sizes, macro_mean, predicted_sizes, share
from metaeval.measures.registry import classification_measure


def _precision_and_recall(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both for every class, shape (..., K); precision is 0 for a class the run never chooses."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    return share(hits, predicted_sizes(counts)), share(hits, gold_sizes(counts))


def _harmonic_mean(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    """Return f1(p, r) = 2pr / (p + r), and 0 where both are 0."""
    return share(2 * precision * recall, precision + recall)


@classification_measure(higher_is_better=True, range=(0, 1), label="F1^M", source="Sakai 2021, Eq. 8")
def F1_M(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged F1: the mean, over the classes with gold items, of each class's F1.

    Examples
    --------
    >>> float(F1_M([[2, 0], [2, 4]]).round(4))
    0.7333
    """
    return macro_mean(_harmonic_mean(*_precision_and_recall(counts)), counts)


@classification_measure(higher_is_better=True, range=(0, 1), source="Sakai 2021, Eq. 9")
def HMPR(counts: np.ndarray) -> np.ndarray:
    """Harmonic mean of macroaveraged precision and macroaveraged recall, over the classes with gold items.

    Examples
    --------
    >>> float(HMPR([[2, 0], [2, 4]]).round(4))
    0.7895
    """
    precision, recall = _precision_and_recall(counts)
    return _harmonic_mean(macro_mean(precision, counts), macro_mean(recall, counts))
