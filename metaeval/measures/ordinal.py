"""Measures made for ordered classes: closeness (Amigó et al. 2020) and the ordinal index (Cardoso and Sousa 2011)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance, gold_sizes, pick
from metaeval.measures.registry import register_measure


def closer_items(gold: Any, *, scale: str = "ORD", ties: str = "paper") -> np.ndarray:
    """Count the items that are no farther from gold class g than predicted class p is: ``[..., g, p]``, at least ½.

    `gold`, shape (..., K), has the items of every gold class. What "no farther" means depends on the scale (Amigó et al.
    2020, §3.2): at nominal scale ("NOM") every item, unless the prediction is right; at ordinal scale ("ORD") the items of
    the classes from the predicted to the gold one; at interval scale ("INT") those of the classes at most as many steps
    from the gold class. The items of the predicted class itself count all ("all"), as Eq. 1 says, or half ("half"), as the
    worked examples of the ordinal scale have it. "paper" is half at ordinal scale and all elsewhere, where Proposition 1
    needs it.

    >>> closer_items([10, 60, 30])[0].tolist()   # Figure 3: for neg, 10/2, 60/2 + 10, 30/2 + 60 + 10
    [5.0, 40.0, 85.0]
    """
    gold = np.asarray(gold, dtype=np.float64)
    g, p = np.indices((gold.shape[-1],) * 2)
    steps, last = np.abs(g - p), gold.shape[-1] - 1
    scales = {
        "NOM": (np.where(steps > 0, 0, g), np.where(steps > 0, last, g)),
        "ORD": (np.minimum(g, p), np.maximum(g, p)),
        "INT": (np.maximum(g - steps, 0), np.minimum(g + steps, last)),
    }
    lowest, highest = pick(scales, scale, "scale")
    left_out = pick({"paper": 0.5 * (scale == "ORD"), "half": 0.5, "all": 0.0}, ties, "ties")
    upto = np.cumsum(gold, axis=-1)
    closer = upto[..., highest] - (upto - gold)[..., lowest] - left_out * gold[..., None, :]
    return np.maximum(closer, 0.5)


def proximity(gold: Any) -> np.ndarray:
    """Return how informationally close every predicted class is to every gold class, in bits: ``[..., g, p]``.

    It is prox(p, g) of Sakai 2021, Eq. 4, for gold items of shape (..., K). Amigó et al. 2020 print the sum for p ≤ g
    only; their Figure 3 uses both directions, and so does this.

    >>> proximity([7, 90, 193, 105, 7])[3, 1].round(2)   # Amigó et al. 2020, Figure 1: 0.23
    np.float64(0.23)
    """
    items = np.asarray(gold, dtype=np.float64).sum(axis=-1)
    return -np.log2(closer_items(gold) / items[..., None, None])


def _share_reached(counts: np.ndarray, closeness: np.ndarray) -> np.ndarray:
    """Return the closeness of a run, over that of the perfect run."""
    perfect = (np.diagonal(closeness, axis1=-2, axis2=-1) * gold_sizes(counts)).sum(axis=-1)
    return (closeness * counts).sum(axis=(-2, -1)) / perfect


@register_measure(
    kind="classification",
    higher_is_better=True,
    range=(0, 1),
    label="CEM^ORD",
    source="Amigó et al. 2020; Sakai 2021, Eqs. 3–4",
    written="Σ_gp n_gp prox(p, g) / Σ_g n_g prox(g, g); prox(p, g) = −log₂(max{½, n_p/2 + Σ_k n_k} / N), k from the "
    "class after p up to g",
)
def CEM_ORD(counts: np.ndarray) -> np.ndarray:
    """Closeness evaluation measure for ordinal classes: how much of the perfect run's closeness is reached?

    Infrequent gold classes weigh more. Next to an empty gold class, a step towards the gold class can leave
    the score as it is: only without empty gold classes does every such step raise it (Amigó et al. 2020,
    Appendix A.2). Only the perfect run scores 1.

    Examples
    --------
    >>> float(CEM_ORD([[2, 0], [1, 1]]).round(4))
    0.8019
    """
    return _share_reached(counts, proximity(gold_sizes(counts)))


@register_measure(
    kind="classification",
    higher_is_better=True,
    range=(0, 1),
    source="Amigó et al. 2020, §3.2 and §5.2",
    written="Σ_gp n_gp c(p, g) / Σ_g n_g c(g, g); c(p, g) = −log₂(max{½, M_pg} / N), M_pg: gold items that are "
    "no farther from g than class p is; 1 − max{½, M_pg} / N with flat",
    undefined=1.0,
    shown=("scale",),
)
def CEM(counts: np.ndarray, *, scale: str = "NOM", ties: str = "paper", flat: bool = False) -> np.ndarray:
    """Closeness evaluation measure at a scale: how much of the perfect run's closeness is reached?

    CEM(scale=ORD) is CEM_ORD, CEM(scale=ORD, flat=True) the version without logarithm of §5.2, and
    CEM(scale=ORD, ties=all) takes Eq. 1 literally, which the paper's own example contradicts. With all ties
    and one gold class there is no closeness to reach: 0/0, and the score is 1.

    Parameters
    ----------
    scale : {"NOM", "ORD", "INT"}, optional
    ties : {"paper", "half", "all"}, optional
        See `closer_items`.
    flat : bool, optional
        Sum 1 − n/N in place of −log₂(n/N), n being the closer items.

    Examples
    --------
    >>> float(CEM([[2, 0], [1, 1]]))   # equal gold classes: Accuracy (Proposition 1)
    0.75
    """
    part = closer_items(gold_sizes(counts), scale=scale, ties=ties) / counts.sum(axis=(-2, -1))[..., None, None]
    return np.minimum(_share_reached(counts, 1 - part if flat else -np.log2(part)), 1.0)


@register_measure(
    kind="classification",
    higher_is_better=False,
    range=(0, 1),
    source="Cardoso and Sousa 2011, Eq. 7",
    written="min over paths P of 1 − Σ_{(g,p) in P} n_gp / (N + M) + Σ_{(g,p) in P} β/N · (|g − p| / (K − 1))^γ "
    "n_gp; M = (Σ_gp n_gp |g − p|^γ)^(1/γ); P goes from (1, 1) to (K, K) and never back",
    symmetric=True,
    shown=("beta", "gamma"),
)
def OCI(counts: np.ndarray, *, beta: Any = 0.75, gamma: float = 1, absolute: bool = False) -> np.ndarray:
    """Ordinal classification index: how far is the run from gold, and how much does it break the order of items?

    It is the cost of the cheapest path from the first to the last entry of the matrix that never goes back in gold
    or predicted class. Items on the path are a gain, more so the less the matrix is dispersed, and cost what they are
    off the diagonal. A small β values the order of items, a large one their class.

    Parameters
    ----------
    beta : float or ndarray of shape (...), optional
        What distance costs, ≥ 0: as a share of 1 / (N (K − 1)^γ), for N items.
    gamma : float, optional
        The exponent of distance, ≥ 1; it may be infinite.
    absolute : bool, optional
        Take β as it is, not as a share.

    Returns
    -------
    ndarray, shape (...)
        From 0, for a perfect run, and only for that when β > 0, to 1.

    Examples
    --------
    >>> float(OCI([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]]).round(2))   # Table 1, classifier B
    0.63
    """
    whole = counts.sum(axis=(-2, -1)) + dispersion(counts, gamma)
    return (whole + cheapest_steps(path_costs(counts, whole, beta, gamma, absolute))[-1, -1]) / whole


def dispersion(counts: np.ndarray, gamma: float) -> np.ndarray:
    """Return M of Eq. 7, the Minkowski distance between the gold and the predicted classes of all items, shape (...).

    For an infinite γ it is the largest distance.
    """
    distance = class_distance(counts.shape[-1])
    if gamma == 1:
        return (counts * distance).sum(axis=(-2, -1))
    farthest = np.where(counts > 0, distance, 0).max(axis=(-2, -1))
    # Distances as shares of the largest one: neither a power nor a root overflows.
    shares = distance / np.maximum(farthest, 1)[..., None, None]
    powers = np.where(counts > 0, counts * np.minimum(shares, 1) ** gamma, 0).sum(axis=(-2, -1))
    return farthest * powers ** (1 / gamma)


def path_costs(counts: np.ndarray, whole: np.ndarray, beta: Any, gamma: float, absolute: bool) -> np.ndarray:
    """Return (N + M) · w of §3.4 for every entry, shape (..., K, K); `whole` is N + M.

    Counted in items, the costs on the diagonal are whole numbers: an item on the path costs −1, and β (N + M) |g − p|^γ
    more for its distance. A perfect run then scores 0, and no run more than 1, without rounding.
    """
    beta = np.asarray(beta, dtype=np.float64)
    if not ((beta >= 0) & (beta < np.inf)).all() or not gamma >= 1:
        raise MeasureError(f"beta is a finite number, 0 or more, not {beta}, and gamma 1 or more, or inf, not {gamma}")
    distance = class_distance(counts.shape[-1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a cost may be infinite: nothing goes there
        if absolute:
            price, powers = beta * whole, distance**gamma
        else:
            price, powers = beta * whole / counts.sum(axis=(-2, -1)), (distance / (counts.shape[-1] - 1)) ** gamma
        penalty = np.where(price[..., None, None] > 0, price[..., None, None] * powers, 0)
        cost = np.where(counts > 0, counts * (penalty - 1), 0)
    return np.where(whole[..., None, None] > 0, cost, math.nan)  # no items at all: 0/0


def cheapest_steps(cost: np.ndarray) -> np.ndarray:
    """Return the cost of the cheapest monotone path from the first entry of a matrix to each: ``[g + p, g, ...]``.

    All entries of an anti-diagonal, of all matrices, at once: 2K − 1 steps. Infinite outside of the matrix.
    """
    n_classes = cost.shape[-1]
    gold, predicted = np.indices((n_classes, n_classes))
    upto = np.full((2 * n_classes - 1, n_classes + 1, *cost.shape[:-2]), np.inf)  # first a class −1 that nothing passes
    upto[gold + predicted, gold + 1] = np.moveaxis(cost, (-2, -1), (0, 1))
    for s in range(1, 2 * n_classes - 1):
        low, high = max(0, s - n_classes + 1), min(s, n_classes - 1)
        here, above = slice(low + 1, high + 2), slice(low, high + 1)
        cheapest = np.minimum(upto[s - 1, here], upto[s - 1, above])
        if s > 1:
            np.minimum(cheapest, upto[s - 2, above], out=cheapest)
        upto[s, here] += cheapest
    return upto[:, 1:]
