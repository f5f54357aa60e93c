"""Clustering measures, which see neither the names nor the order of the classes (Amigó et al. 2020, Table 2)."""

from __future__ import annotations

import numpy as np

from metaeval.measures.confusion import gold_sizes, predicted_sizes
from metaeval.measures.registry import classification_measure


@classification_measure(
    higher_is_better=True,
    range=(0, float("inf")),
    source="Amigó et al. 2020, §4.2 and §5",
    symmetric=True,
)
def MI(counts: np.ndarray) -> np.ndarray:
    """Mutual information, in bits: how much less uncertain is the gold class once the run's class is known?

    The best possible score is the entropy of the gold classes, which differs from topic to topic. A run that
    renames the classes consistently reaches it too.

    Examples
    --------
    >>> float(MI([[0, 2], [2, 0]]))
    1.0
    """
    items = counts.sum(axis=(-2, -1))
    independent = gold_sizes(counts)[..., :, None] * predicted_sizes(counts)[..., None, :]
    ratio = np.divide(counts * items[..., None, None], independent, out=np.ones(counts.shape), where=counts > 0)
    # Rounding can leave −1e-17 for an independent run.
    return np.maximum((counts * np.log2(ratio)).sum(axis=(-2, -1)) / items, 0.0)


@classification_measure(higher_is_better=True, range=(0, 1), source="Amigó et al. 2009; Amigó et al. 2020, Table 2")
def Purity(counts: np.ndarray) -> np.ndarray:
    """Purity: the share of items that belong to the most frequent gold class of their predicted class.

    Examples
    --------
    >>> float(Purity([[0, 3], [1, 0]]))
    1.0
    """
    return counts.max(axis=-2).sum(axis=-1) / counts.sum(axis=(-2, -1))


@classification_measure(
    higher_is_better=True, range=(0, 1), label="inverse purity", source="Amigó et al. 2009; Amigó et al. 2020, Table 2"
)
def Inverse_Purity(counts: np.ndarray) -> np.ndarray:
    """Inverse purity: the share of items that are in the most frequent predicted class of their gold class.

    Every run that always returns one class scores 1.

    Examples
    --------
    >>> float(Inverse_Purity([[2, 2], [0, 1]]))
    0.6
    """
    return counts.max(axis=-1).sum(axis=-1) / counts.sum(axis=(-2, -1))
