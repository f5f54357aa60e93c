"""Distance from the gold class: MAE^M, MAE^μ, Accuracy (Sakai 2021, Eqs. 1, 2, 10)."""

from __future__ import annotations

import numpy as np

from metaeval.measures.confusion import class_distance, gold_sizes, macro_mean
from metaeval.measures.registry import classification_measure

_UNBOUNDED = float("inf")


@classification_measure(
    higher_is_better=False, range=(0, _UNBOUNDED), label="MAE^M", source="Baccianella et al. 2009; Sakai 2021, Eq. 1"
)
def MAE_M(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged mean absolute error: how many classes off is an item, each gold class counting the same?

    Gold classes without items are left out of the average. From 0 (perfect) to K − 1.

    Examples
    --------
    >>> float(MAE_M([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.5
    """
    distance = class_distance(counts.shape[-1])
    return macro_mean((counts * distance).sum(axis=-1) / gold_sizes(counts), counts)


@classification_measure(
    higher_is_better=False, range=(0, _UNBOUNDED), label="MAE^μ", source="Sakai 2021, Eq. 2", symmetric=True
)
def MAE_mu(counts: np.ndarray) -> np.ndarray:
    """Mean absolute error: how many classes off is an item, each item counting the same?

    From 0 (perfect) to K − 1.

    Examples
    --------
    >>> float(MAE_mu([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.5
    """
    distance = class_distance(counts.shape[-1])
    return (counts * distance).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


@classification_measure(higher_is_better=True, range=(0, 1), source="Sakai 2021, Eq. 10", symmetric=True)
def Accuracy(counts: np.ndarray) -> np.ndarray:
    """Accuracy: the share of items in their gold class.

    Examples
    --------
    >>> float(Accuracy([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.75
    """
    return np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1))
