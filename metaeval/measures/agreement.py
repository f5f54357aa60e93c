"""Agreement between run and gold beyond chance: weighted κ and Krippendorff's α (Sakai 2021, Eqs. 5–7)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance, gold_sizes, pick, predicted_sizes
from metaeval.measures.registry import register_measure

_beyond_chance = partial(
    register_measure, kind="classification", higher_is_better=True, range=(-1, 1), undefined=1.0, symmetric=True
)


@_beyond_chance(
    label="κ",
    source="Cohen 1968; Sakai 2021, Eq. 5",
    written="1 − N Σ_gp w_gp n_gp / Σ_gp w_gp n_g m_p; w_gp = |g − p|, or its square, or 1 for g ≠ p",
)
def kappa(counts: np.ndarray, *, weights: Any = "linear") -> np.ndarray:
    """Weighted κ: agreement beyond what independent labels would give.

    It is 0 for every run that always returns one class, so it cannot tell such runs apart. Where gold and
    run agree on one single class for all items, Eq. 5 is 0/0 and the score is 1, as for any perfect run.

    Parameters
    ----------
    weights : {"linear", "quadratic", "nominal"} or array_like of shape (K, K), optional
        The penalty of every pair of classes: |g − p| by default, its square, or 1 for every error;
        ``weights[g, p]`` when given as an array.

    Examples
    --------
    >>> float(kappa([[2, 0], [1, 1]]))
    0.5
    """
    distance = class_distance(counts.shape[-1])
    if isinstance(weights, str):
        named = {"linear": distance, "quadratic": distance**2, "nominal": (distance > 0).astype(np.float64)}
        w = pick(named, weights, "weights")
    else:
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != distance.shape or not np.isfinite(w).all() or (w < 0).any() or np.diagonal(w).any():
            raise MeasureError(
                f"weights are finite, 0 or more, 0 on the diagonal and of shape {distance.shape}, not {w.tolist()}"
            )
    items = counts.sum(axis=(-2, -1))
    expected = gold_sizes(counts)[..., :, None] * predicted_sizes(counts)[..., None, :]
    return 1 - items * (w * counts).sum(axis=(-2, -1)) / (w * expected).sum(axis=(-2, -1))


def _alpha(counts: np.ndarray, squared_distance: np.ndarray) -> np.ndarray:
    """Eq. 6: observed over expected disagreement, both summed over pairs of classes.

    An item with gold class g and predicted class p ≠ g is one of both classes, so that what is printed as the number
    of items in the cells (g, p) and (p, g), summed over pairs of classes, is a sum over all cells.
    """
    labels = gold_sizes(counts) + predicted_sizes(counts)
    observed = (counts * squared_distance).sum(axis=(-2, -1))
    coincidence = labels[..., :, None] * labels[..., None, :]
    expected = (coincidence * squared_distance).sum(axis=(-2, -1)) / 2  # each pair of classes once
    return 1 - (labels.sum(axis=-1) - 1) * observed / expected


@_beyond_chance(
    label="α-ORD",
    source="Krippendorff 2018; Sakai 2021, Eqs. 6–7",
    written="1 − (2N − 1) Σ_gp δ_gp² n_gp / Σ_{i<j} δ_ij² l_i l_j; l_i = n_i + m_i; δ_ij = Σ_k l_k − (l_i + l_j) "
    "/ 2, k from i to j",
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
    # δ_ij is the distance between the middles of the blocks of labels i and j.
    middle = np.cumsum(labels, axis=-1) - labels / 2
    return _alpha(counts, (middle[..., :, None] - middle[..., None, :]) ** 2)


@_beyond_chance(
    label="α-INT",
    source="Krippendorff 2018; Sakai 2021, Eq. 6",
    written="1 − (2N − 1) Σ_gp (g − p)² n_gp / Σ_{i<j} (i − j)² l_i l_j; l_i = n_i + m_i",
)
def alpha_INT(counts: np.ndarray) -> np.ndarray:
    """Krippendorff's α for interval classes: agreement when distance is |i − j|.

    Where all labels, gold and predicted, are of one class, Eq. 6 is 0/0 and the score is 1.

    Examples
    --------
    >>> float(alpha_INT([[2, 0], [1, 1]]).round(4))
    0.5333
    """
    return _alpha(counts, class_distance(counts.shape[-1]) ** 2)
