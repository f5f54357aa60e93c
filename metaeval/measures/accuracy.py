"""Right or wrong, and by how many classes: accuracy, F1, errors as distances (Sakai 2021, Eqs. 1, 2, 8–10)."""

from __future__ import annotations

from functools import partial

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import (
    class_distance,
    gold_sizes,
    harmonic_mean,
    item_mean,
    macro_mean,
    pick,
    predicted_sizes,
    share,
)
from metaeval.measures.registry import register_measure

_higher = partial(register_measure, kind="classification", higher_is_better=True, range=(0, 1))
_lower = partial(register_measure, kind="classification", higher_is_better=False, range=(0, float("inf")))
_F1 = "f(a, b) = 2ab / (a + b)"


@_lower(
    label="MAE^M",
    source="Baccianella et al. 2009; Sakai 2021, Eq. 1",
    written="1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p |g − p| n_gp",
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


@_lower(label="MAE^μ", source="Sakai 2021, Eq. 2", written="1/N Σ_gp |g − p| n_gp", symmetric=True)
def MAE_mu(counts: np.ndarray) -> np.ndarray:
    """Mean absolute error: how many classes off is an item, each item counting the same?

    From 0 (perfect) to K − 1.

    Examples
    --------
    >>> float(MAE_mu([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.5
    """
    return item_mean(counts, class_distance(counts.shape[-1]))


@_higher(source="Sakai 2021, Eq. 10", written="1/N Σ_g n_gg", symmetric=True)
def Accuracy(counts: np.ndarray) -> np.ndarray:
    """Accuracy: the share of items in their gold class.

    Examples
    --------
    >>> float(Accuracy([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.75
    """
    return np.trace(counts, axis1=-2, axis2=-1) / counts.sum(axis=(-2, -1))


def _precision_and_recall(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both for every class, shape (..., K); precision is 0 for a class the run never chooses."""
    hits = np.diagonal(counts, axis1=-2, axis2=-1)
    return share(hits, predicted_sizes(counts)), share(hits, gold_sizes(counts))


@_higher(label="F1^M", source="Sakai 2021, Eq. 8", written=f"1/|C⁺| Σ_{{g in C⁺}} f(n_gg / m_g, n_gg / n_g); {_F1}")
def F1_M(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged F1: the mean, over the classes with gold items, of each class's F1.

    Examples
    --------
    >>> float(F1_M([[2, 0], [2, 4]]).round(4))
    0.7333
    """
    return macro_mean(harmonic_mean(*_precision_and_recall(counts)), counts)


@_higher(
    source="Sakai 2021, Eq. 9", written=f"f(1/|C⁺| Σ_{{g in C⁺}} n_gg / m_g, 1/|C⁺| Σ_{{g in C⁺}} n_gg / n_g); {_F1}"
)
def HMPR(counts: np.ndarray) -> np.ndarray:
    """Harmonic mean of macroaveraged precision and macroaveraged recall, over the classes with gold items.

    Examples
    --------
    >>> float(HMPR([[2, 0], [2, 4]]).round(4))
    0.7895
    """
    precision, recall = _precision_and_recall(counts)
    return harmonic_mean(macro_mean(precision, counts), macro_mean(recall, counts))


@_lower(source="Amigó et al. 2020, §2.1", written="1/N Σ_gp (g − p)² n_gp", symmetric=True)
def MSE(counts: np.ndarray) -> np.ndarray:
    """Mean squared error: the squared number of classes an item is off, each item counting the same.

    From 0 (perfect) to (K − 1)².

    Examples
    --------
    >>> float(MSE([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    1.0
    """
    return item_mean(counts, class_distance(counts.shape[-1]) ** 2)


@_lower(
    label="MSE^M",
    source="Baccianella et al. 2009; Amigó et al. 2020, §4.2",
    written="1/|C⁺| Σ_{g in C⁺} 1/n_g Σ_p (g − p)² n_gp",
)
def MSE_M(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged mean squared error: as MSE, each gold class with items counting the same.

    Gold classes without items are left out of the average. From 0 (perfect) to (K − 1)².

    Examples
    --------
    >>> float(MSE_M([[3, 0, 0], [0, 0, 0], [1, 0, 0]]))
    2.0
    """
    squares = class_distance(counts.shape[-1]) ** 2
    return macro_mean((counts * squares).sum(axis=-1) / gold_sizes(counts), counts)


@_higher(
    source="Gaudette and Japkowicz 2009; Amigó et al. 2020, §4.2",
    written="1/N Σ_{|g−p| ≤ n} n_gp",
    symmetric=True,
    shown=("n",),
)
def Accuracy_within(counts: np.ndarray, *, n: int = 1) -> np.ndarray:
    """Accuracy with n: the share of items no more than n classes from their gold class.

    Parameters
    ----------
    n : int, optional
        The margin, a whole number of at least 0; 0 is Accuracy.

    Examples
    --------
    >>> float(Accuracy_within([[0, 3, 1], [0, 0, 0], [0, 0, 0]]))
    0.75
    """
    if isinstance(n, bool | str) or int(n) != n or n < 0:
        raise MeasureError(f"the margin n is a whole number of at least 0, not {n}")
    return item_mean(counts, class_distance(counts.shape[-1]) <= n)


@_higher(source="Amigó et al. 2020, §3.2 and §4.2; Rosenthal et al. 2017", written="1/|C⁺| Σ_{g in C⁺} n_gg / n_g")
def MAAC(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged accuracy: the mean, over the classes with gold items, of the share of its items found.

    It is also known as average recall.

    Examples
    --------
    >>> float(MAAC([[3, 0], [1, 0]]))
    0.5
    """
    return macro_mean(np.diagonal(counts, axis1=-2, axis2=-1) / gold_sizes(counts), counts)


@_lower(range=(0, 1), source="Cardoso and Sousa 2011, §1.1", written="1 − 1/N Σ_g n_gg", symmetric=True)
def MER(counts: np.ndarray) -> np.ndarray:
    """Misclassification error rate: the share of items not in their gold class, 1 − Accuracy.

    Examples
    --------
    >>> float(MER([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.25
    """
    items = counts.sum(axis=(-2, -1))
    return (items - np.trace(counts, axis1=-2, axis2=-1)) / items


@_lower(
    label="Rennie–Srebro",
    source="Rennie and Srebro 2005; Amigó et al. 2020, §4.2",
    written="1/N Σ_gp d (d + 1) n_gp, d = |g − p|; 2d in place of d (d + 1) with thresholds=immediate",
    symmetric=True,
)
def Rennie_Srebro(counts: np.ndarray, *, thresholds: str = "all") -> np.ndarray:
    """Loss of Rennie and Srebro for ordered classes: a hinge loss at the thresholds between classes.

    Rennie and Srebro compare a real prediction z with K − 1 thresholds, and charge max(0, 1 − margin) at each.
    For a run that returns classes, z is the middle of its class and the thresholds are two apart, so that the
    right class keeps the margin of 1 on either side and costs nothing. An item d classes off is then 1, 3, …,
    2d − 1 beyond the thresholds that it crosses: charged at all of them it costs d (d + 1), at the one next to
    the gold class ("immediate") it costs 2d.

    Parameters
    ----------
    thresholds : {"all", "immediate"}, optional
        Which thresholds are charged.

    Returns
    -------
    ndarray, shape (...)
        The mean over items; 0 is perfect.

    Examples
    --------
    >>> float(Rennie_Srebro([[0, 0, 1], [0, 0, 0], [0, 0, 0]]))
    6.0
    """
    d = class_distance(counts.shape[-1])
    return item_mean(counts, pick({"all": d * (d + 1), "immediate": 2 * d}, thresholds, "thresholds"))
