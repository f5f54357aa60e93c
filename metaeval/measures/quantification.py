"""Measures of an estimated distribution over classes against the gold one (Sakai 2021, Eqs. 11–19; LQ 2021).

`estimated` is the papers' p, `gold` their p*.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from metaeval.measures.confusion import class_distance, pick
from metaeval.measures.registry import register_measure

_lower = partial(register_measure, kind="quantification", higher_is_better=False)
_SQUARES = "DW_i = Σ_j |i − j| (p_j − p*_j)²"


@_lower(
    range=(0, 1),
    source="Sakai 2021, Eq. 11; LQ 2021, Eq. 1",
    written="1/(K − 1) Σ_{i<K} |Σ_{j≤i} (p_j − p*_j)|",
    symmetric=True,
)
def NMD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Normalised match distance: the earth mover's distance over ordered classes, over its largest value.

    Examples
    --------
    >>> float(NMD([1, 0, 0, 0, 0], [0, 0, 1, 0, 0]))
    0.5
    """
    gap = np.cumsum(estimated - gold, axis=-1)
    # The last gap is 0 but for rounding, and would only add noise.
    return np.abs(gap[..., :-1]).sum(axis=-1) / (gap.shape[-1] - 1)


def distance_weighted_squares(
    estimated: np.ndarray, gold: np.ndarray, distance: np.ndarray | None = None
) -> np.ndarray:
    """Return DW_i, how far from class i the probabilities went wrong, shape (..., K) (Sakai 2021, Eq. 12; LQ 2021, Eq. 2).

    `distance` is δ_ij, shape (..., K, K); |i − j| by default.
    """
    error = (estimated - gold) ** 2
    if distance is None:
        # One matrix for all cases, so that this is a single matrix product.
        return error @ class_distance(error.shape[-1])
    return np.einsum("...ij,...j->...i", distance, error)


def gold_distance(gold: np.ndarray) -> np.ndarray:
    """Return δ_ij as the gold probability between classes i and j, half of each end included, (..., K, K) (LQ 2021, Eq. 11)."""
    middle = np.cumsum(gold, axis=-1) - gold / 2
    return np.abs(middle[..., :, None] - middle[..., None, :])


def order_aware_divergence(estimated: np.ndarray, gold: np.ndarray, distance: np.ndarray | None = None) -> np.ndarray:
    """Return OD(p ‖ p*), the mean of DW_i over the classes with gold probability, shape (...) (Sakai 2021, Eq. 13).

    >>> gold = np.full(4, 0.25)   # the example of LQ 2021, §3: .020 and .025
    >>> float(order_aware_divergence(np.array([0.25, 0.35, 0.15, 0.25]), gold).round(3))
    0.02
    >>> float(order_aware_divergence(np.array([0.25, 0.25, 0.35, 0.15]), gold).round(3))
    0.025
    """
    squares = distance_weighted_squares(estimated, gold, distance)
    support = gold > 0
    return np.where(support, squares, 0.0).sum(axis=-1) / support.sum(axis=-1)


def _distance(gold: np.ndarray, name: str) -> np.ndarray | None:
    return pick({"equal": lambda gold: None, "gold": gold_distance}, name, "distance")(gold)


@_lower(
    range=(0, math.sqrt(2)),
    source="Sakai 2021, Eq. 14; LQ 2021, Eqs. 5 and 11",
    written=f"√(1/(K − 1) · 1/|C*| Σ_{{i in C*}} DW_i); {_SQUARES}",
)
def RNOD(estimated: np.ndarray, gold: np.ndarray, *, distance: str = "equal") -> np.ndarray:
    """Root normalised order-aware divergence: squared errors weighted by their distance from the gold classes.

    Despite the name, dividing by K − 1 does not normalise it to 1: DW_i is at most (K − 1)·Σ_j (p_j − p*_j)², which
    can be 2(K − 1), so that √2 is a bound, and 1.033 is reached by gold (0, .98, 0, .01, .01) and an estimate all in
    class 1.

    Parameters
    ----------
    distance : {"equal", "gold"}, optional
        |i − j|, or the gold probability between i and j (LQ 2021, Eq. 11), which needs no equidistance. The
        latter is at most 1, so that the normalisation by K − 1 leaves its values small.

    Examples
    --------
    >>> float(RNOD([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]))
    1.0
    """
    return np.sqrt(order_aware_divergence(estimated, gold, _distance(gold, distance)) / (estimated.shape[-1] - 1))


@_lower(
    range=(0, math.sqrt(2)),
    source="Sakai 2021, Eq. 15; LQ 2021, Eqs. 4 and 6",
    written="√((OD(p‖p*) + OD(p*‖p)) / (2 (K − 1))); OD(p‖p*) = 1/|C*| Σ_{i in C*} DW_i, OD(p*‖p) over the "
    f"classes with p_i > 0; {_SQUARES}",
    symmetric=True,
)
def RSNOD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Root symmetric normalised order-aware divergence: the mean of both directions of OD, rooted.

    Examples
    --------
    >>> float(RSNOD([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]))
    1.0
    """
    both = (order_aware_divergence(estimated, gold) + order_aware_divergence(gold, estimated)) / 2
    return np.sqrt(both / (estimated.shape[-1] - 1))


@_lower(range=(0, 1), source="LQ 2021, Eqs. 7, 8 and 11", written=f"√(1/(K − 1) · 1/K Σ_i DW_i); {_SQUARES}")
def RNADW(estimated: np.ndarray, gold: np.ndarray, *, distance: str = "equal") -> np.ndarray:
    """Root normalised average distance-weighted squares: RNOD averaged over all classes, gold or not.

    Parameters
    ----------
    distance : {"equal", "gold"}, optional
        |i − j|, with which the measure is symmetric, or the gold probability in between (LQ 2021, Eq. 11).

    Examples
    --------
    >>> float(RNADW([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]).round(4))
    1.0
    """
    squares = distance_weighted_squares(estimated, gold, _distance(gold, distance))
    return np.sqrt(squares.mean(axis=-1) / (estimated.shape[-1] - 1))


@_lower(range=(0, 1), source="Sakai 2021, Eq. 16", written="½ Σ_i |p_i − p*_i|", symmetric=True)
def NVD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Normalised variational distance: half of the summed absolute errors.

    Examples
    --------
    >>> float(NVD([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    return np.abs(estimated - gold).sum(axis=-1) / 2


@_lower(range=(0, 1), source="Sakai 2021, Eq. 17", written="√(½ Σ_i (p_i − p*_i)²)", symmetric=True)
def RNSS(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Root normalised sum of squares: the root of half of the summed squared errors.

    Examples
    --------
    >>> float(RNSS([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    return np.sqrt(((estimated - gold) ** 2).sum(axis=-1) / 2)


@_lower(
    range=(0, 1),
    source="Lin 1991; Sakai 2021, Eqs. 18–19",
    written="½ Σ_i p_i log₂(p_i / a_i) + ½ Σ_i p*_i log₂(p*_i / a_i); a_i = (p_i + p*_i) / 2",
    symmetric=True,
)
def JSD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Jensen–Shannon divergence in bits: the mean divergence of both distributions from their average.

    Examples
    --------
    >>> float(JSD([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    both = np.stack(np.broadcast_arrays(estimated, gold))
    middle = (estimated + gold) / 2
    ratio = np.divide(both, middle, out=np.ones(both.shape), where=both > 0)
    of_each = (both * np.log2(ratio)).sum(axis=-1)
    # Rounding can leave −1e-17 for two equal distributions.
    return np.maximum((of_each[0] + of_each[1]) / 2, 0.0)
