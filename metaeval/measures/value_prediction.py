"""Class numbers taken as values, and accuracy with a margin (Amigó et al. 2020, §2.1 and Table 2)."""

from __future__ import annotations

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance, gold_sizes, macro_mean, predicted_sizes
from metaeval.measures.registry import classification_measure

_UNBOUNDED = float("inf")


@classification_measure(higher_is_better=False, range=(0, _UNBOUNDED), source="Amigó et al. 2020, §2.1", symmetric=True)
def MSE(counts: np.ndarray) -> np.ndarray:
    """Mean squared error: the squared number of classes an item is off, each item counting the same.

    From 0 (perfect) to (K − 1)².

    Examples
    --------
    >>> float(MSE([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    1.0
    """
    squares = class_distance(counts.shape[-1]) ** 2
    return (counts * squares).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


@classification_measure(
    higher_is_better=False,
    range=(0, _UNBOUNDED),
    label="MSE^M",
    source="Baccianella et al. 2009; Amigó et al. 2020, §4.2",
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


@classification_measure(
    higher_is_better=True,
    range=(0, 1),
    source="Gaudette and Japkowicz 2009; Amigó et al. 2020, §4.2",
    symmetric=True,
    shown=("n",),
)
def Accuracy_within(counts: np.ndarray, *, n: int = 1) -> np.ndarray:
    """Accuracy with n: the share of items no more than n classes from their gold class.

    Parameters
    ----------
    n : int, optional
        The margin; 0 is Accuracy.

    Raises
    ------
    MeasureError
        If n is not a whole number of at least 0.

    Examples
    --------
    >>> float(Accuracy_within([[0, 3, 1], [0, 0, 0], [0, 0, 0]]))
    0.75
    """
    if isinstance(n, bool | str) or int(n) != n or n < 0:
        raise MeasureError(f"Accuracy_within(n={n}): the margin is a whole number of at least 0")
    near = class_distance(counts.shape[-1]) <= n
    return (counts * near).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


@classification_measure(
    higher_is_better=True, range=(0, 1), source="Amigó et al. 2020, §3.2 and §4.2; Rosenthal et al. 2017"
)
def MAAC(counts: np.ndarray) -> np.ndarray:
    """Macroaveraged accuracy: the mean, over the classes with gold items, of the share of its items found.

    It is also known as average recall.

    Examples
    --------
    >>> float(MAAC([[3, 0], [1, 0]]))
    0.5
    """
    return macro_mean(np.diagonal(counts, axis1=-2, axis2=-1) / gold_sizes(counts), counts)


@classification_measure(
    higher_is_better=False,
    range=(0, _UNBOUNDED),
    label="Rennie–Srebro",
    source="Rennie and Srebro 2005; Amigó et al. 2020, §4.2",
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

    Raises
    ------
    MeasureError
        If `thresholds` is neither.

    Examples
    --------
    >>> float(Rennie_Srebro([[0, 0, 1], [0, 0, 0], [0, 0, 0]]))
    6.0
    """
    distance = class_distance(counts.shape[-1])
    charges = {"all": distance * (distance + 1), "immediate": 2 * distance}
    if thresholds not in charges:
        raise MeasureError(f"Rennie_Srebro has no thresholds {thresholds!r}: use all or immediate")
    return (counts * charges[thresholds]).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


@classification_measure(
    higher_is_better=True, range=(0, 1), source="Ghosh et al. 2015; Amigó et al. 2020, §4.2", symmetric=True
)
def Cosine(counts: np.ndarray) -> np.ndarray:
    """Cosine similarity of run and gold: items are dimensions, classes numbered 1 to K are the values.

    Examples
    --------
    >>> float(Cosine([[1, 1, 0], [0, 1, 0], [0, 0, 1]]).round(4))   # Amigó et al. 2020, Appendix B: 0.973
    0.9737
    """
    value = np.arange(1.0, counts.shape[-1] + 1)
    product = ((counts @ value) * value).sum(axis=-1)
    lengths = gold_sizes(counts) @ value**2, predicted_sizes(counts) @ value**2
    return np.minimum(product / np.sqrt(lengths[0] * lengths[1]), 1.0)
