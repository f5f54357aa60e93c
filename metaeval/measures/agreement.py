"""Agreement between run and gold beyond chance: weighted κ and Krippendorff's α (Sakai 2021, Eqs. 5–7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance, gold_sizes, predicted_sizes
from metaeval.measures.registry import classification_measure


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="κ",
    source="Cohen 1968; Sakai 2021, Eq. 5",
    undefined=1.0,
    symmetric=True,
)
def kappa(counts: np.ndarray, *, weights: Any = "linear") -> np.ndarray:
    """Weighted κ: agreement beyond what independent labels would give.

    It is 0 for every run that always returns one class, so it cannot tell such runs apart. Where gold and
    run agree on one single class for all items, Eq. 5 is 0/0 and the score is 1, as for any perfect run.

    Parameters
    ----------
    weights : {"linear", "quadratic", "nominal"} or array_like of shape (K, K), optional
        The penalty of every pair of classes: |i − j| by default, its square, or 1 for every error;
        ``weights[g, p]`` when given as an array.

    Raises
    ------
    MeasureError
        If the weights are none of these.

    Examples
    --------
    >>> float(kappa([[2, 0], [1, 1]]))
    0.5
    """
    w = _penalties(weights, counts.shape[-1])
    items = counts.sum(axis=(-2, -1))
    expected = gold_sizes(counts)[..., :, None] * predicted_sizes(counts)[..., None, :]
    return 1 - items * (w * counts).sum(axis=(-2, -1)) / (w * expected).sum(axis=(-2, -1))


def _penalties(weights: Any, n_classes: int) -> np.ndarray:
    if isinstance(weights, str):
        distance = class_distance(n_classes)
        named = {"linear": distance, "quadratic": distance**2, "nominal": (distance > 0).astype(np.float64)}
        if weights not in named:
            raise MeasureError(f"kappa has no weights {weights!r}: use {', '.join(named)}, or a K × K array")
        return named[weights]
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n_classes, n_classes):
        raise MeasureError(f"kappa needs weights of shape ({n_classes}, {n_classes}), not {given.shape}")
    if not np.isfinite(given).all() or (given < 0).any() or np.diagonal(given).any():
        raise MeasureError("kappa needs finite weights ≥ 0 with zeros on the diagonal")
    return given


def _alpha(counts: np.ndarray, squared_distance: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Eq. 6 with n_i = `labels`: observed over expected disagreement, both summed over pairs of classes.

    An item with gold class i and predicted class j ≠ i has n_i(u) n_j(u) = 1, so that O_ij is the number of
    items in the cells (i, j) and (j, i), and summing counts · δ² over all cells is Σ_i Σ_{j>i} O_ij δ_ij².
    """
    pairable = labels.sum(axis=-1) - 1  # 2N − 1
    observed = (counts * squared_distance).sum(axis=(-2, -1))
    coincidence = labels[..., :, None] * labels[..., None, :]
    expected = (coincidence * squared_distance).sum(axis=(-2, -1)) / 2  # each pair of classes once
    return 1 - pairable * observed / expected


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="α-ORD",
    source="Krippendorff 2018; Sakai 2021, Eqs. 6–7",
    undefined=1.0,
    symmetric=True,
)
def alpha_ORD(counts: np.ndarray) -> np.ndarray:
    """Krippendorff's α for ordinal classes: agreement when distance is the number of labels in between.

    Where all labels, gold and predicted, are of one class, Eq. 6 is 0/0 and the score is 1.

    Examples
    --------
    >>> float(alpha_ORD([[2, 0], [1, 1]]).round(4))
    0.5333
    """
    labels = gold_sizes(counts) + predicted_sizes(counts)
    # Σ_{k=i..j} n_k − (n_i + n_j)/2 is the distance between the middles of the blocks i and j.
    middle = np.cumsum(labels, axis=-1) - labels / 2
    return _alpha(counts, (middle[..., :, None] - middle[..., None, :]) ** 2, labels)


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="α-INT",
    source="Krippendorff 2018; Sakai 2021, Eq. 6",
    undefined=1.0,
    symmetric=True,
)
def alpha_INT(counts: np.ndarray) -> np.ndarray:
    """Krippendorff's α for interval classes: agreement when distance is |i − j|.

    Where all labels, gold and predicted, are of one class, Eq. 6 is 0/0 and the score is 1.

    Examples
    --------
    >>> float(alpha_INT([[2, 0], [1, 1]]).round(4))
    0.5333
    """
    labels = gold_sizes(counts) + predicted_sizes(counts)
    return _alpha(counts, class_distance(counts.shape[-1]) ** 2, labels)
