"""The ordinal classification index of Cardoso and Sousa 2011: the cheapest monotone path through the matrix.

Every path is counted in items, as (N + M) · cost: an item on the path costs −1, and β (N + M) |g − p|^γ more for its
distance from the diagonal. Costs on the diagonal are whole numbers then, a perfect run scores 0 and no run more than
1, without rounding.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance
from metaeval.measures.registry import classification_measure

LARGEST_SEARCH = 4
"""Up to how many classes `general_index` goes through all paths: 2¹⁶ sets of entries for 4 classes, 2²⁵ for 5."""


@classification_measure(
    higher_is_better=False,
    range=(0, 1),
    source="Cardoso and Sousa 2011, Eq. 7",
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

    Raises
    ------
    MeasureError
        If β is negative or γ is less than 1.

    Examples
    --------
    >>> float(OCI([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]]).round(2))   # Table 1, classifier B
    0.63
    >>> float(OCI([[0, 4, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0], [0, 0, 0, 3]], beta=0).round(2))
    0.43
    """
    whole = items(counts) + dispersion(counts, gamma)
    return (whole + _cheapest(_costs(counts, whole, beta, gamma, absolute))) / whole


def OC_prime(counts: Any, *, beta: Any = 0.75, gamma: float = 1, absolute: bool = False) -> np.ndarray:
    """Return what OCI would be if leftover items counted alike wherever they are: the index OC′ (Eq. 6).

    With an absolute β of 1 or more it is the misclassification error rate. It takes, returns and raises what `OCI` does.

    >>> float(OC_prime([[2, 1], [1, 2]], beta=1, absolute=True).round(4))
    0.3333
    """
    counts = np.asarray(counts, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = items(counts)
        return (whole + _cheapest(_costs(counts, whole, beta, gamma, absolute))) / whole


def general_index(counts: Any, *, beta1: float, beta2: float, gamma: float = 1, absolute: bool = False) -> np.ndarray:
    """Return the index over all paths, which may break the order at a price for every pair of entries (Eq. 8).

    A path visits no entry twice. What it costs depends only on which entries it visits, so that every set of entries
    that some path visits is looked at once: at most 2^(K²) sets, feasible up to K = 4. Two cases need no search and
    are exact for any K. For β₂ ≥ 1 a single broken pair costs more than all items give, and the index is `OCI`. For
    β₂ = 0 the best path visits every entry in which an item is worth more than its distance costs: that is a band
    around the diagonal, which a path can go through to and fro.

    Parameters
    ----------
    counts : array_like, shape (..., K, K)
        ``counts[..., g, p]`` is the number of items of gold class g that the run put into class p.
    beta1 : float
        What distance costs, as `beta` of `OCI`.
    beta2 : float
        What every pair of visited entries costs that is ordered oppositely in gold and predicted classes, ≥ 0.
    gamma, absolute
        As for `OCI`; `absolute` is about β₁ only.

    Returns
    -------
    ndarray, shape (...)

    Raises
    ------
    MeasureError
        If a parameter is out of range, or there are more than 4 classes and 0 < β₂ < 1.

    Examples
    --------
    >>> float(general_index([[1, 0, 1], [0, 1, 1], [1, 0, 0]], beta1=0, beta2=0).round(4))   # MAE / (1 + MAE): 0.5
    0.5
    """
    if not beta2 >= 0:
        raise MeasureError(f"general_index(beta2={beta2}): a pair of entries costs 0 or more")
    counts = np.asarray(counts, dtype=np.float64)
    n_classes = counts.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = items(counts) + dispersion(counts, gamma)
        cost = _costs(counts, whole, beta1, gamma, absolute)
        if beta2 >= 1:
            best = _cheapest(cost)
        elif beta2 == 0:
            best = np.minimum(cost, 0).sum(axis=(-2, -1))
        elif n_classes > LARGEST_SEARCH:
            raise MeasureError(
                f"the general index of {n_classes} classes with beta2={beta2} would need 2^{n_classes**2} sets of "
                f"entries to be looked at: {LARGEST_SEARCH} classes are feasible; beta2=0 and beta2=1 need no search"
            )
        else:
            visited, broken = _visited_sets(n_classes)
            flat = cost.reshape(*cost.shape[:-2], -1)
            best = (flat @ visited.T + beta2 * broken * whole[..., None]).min(axis=-1)
        return (whole + best) / whole


def best_path(counts: Any, *, beta: float = 0.75, gamma: float = 1) -> np.ndarray:
    """Return the path that `OCI` is the cost of: which pairs of gold and predicted class does it visit?

    Where several paths cost the same it is the one that, from its end back, goes along the diagonal where it can,
    then up along the gold classes.

    Parameters
    ----------
    counts : array_like, shape (K, K)
    beta, gamma
        As for `OCI`.

    Returns
    -------
    ndarray of int, shape (step, 2)
        Gold class and predicted class of every entry on the way, from (0, 0) to (K − 1, K − 1).

    Raises
    ------
    MeasureError
        If it is not one matrix, or as for `OCI`.

    Examples
    --------
    >>> best_path([[0, 4, 0], [0, 0, 6], [0, 0, 0]]).tolist()
    [[0, 0], [0, 1], [1, 2], [2, 2]]
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2 or not counts.any():
        raise MeasureError(f"best_path takes one matrix of shape (K, K) with items in it, not {counts.shape}")
    n_classes = len(counts)
    upto = _cumulative(_costs(counts, items(counts) + dispersion(counts, gamma), beta, gamma, False))
    g = p = n_classes - 1
    path = [(g, p)]
    while (g, p) != (0, 0):
        before = [(g - 1, p - 1), (g - 1, p), (g, p - 1)]
        inside = [(i, j) for i, j in before if i >= 0 and j >= 0]
        g, p = min(inside, key=lambda entry: upto[sum(entry), entry[0]])
        path.append((g, p))
    return np.array(path[::-1])


def items(counts: np.ndarray) -> np.ndarray:
    """Return N, the number of items of every matrix, shape (...)."""
    return counts.sum(axis=(-2, -1))


def dispersion(counts: np.ndarray, gamma: float) -> np.ndarray:
    """Return M of Eq. 7, the Minkowski distance between the gold and the predicted classes of all items, (...).

    For an infinite γ it is the largest distance.
    """
    if not gamma >= 1:
        raise MeasureError(f"OCI(gamma={gamma}): the exponent of distance is 1 or more, or inf")
    distance = class_distance(counts.shape[-1])
    if gamma == 1:
        return (counts * distance).sum(axis=(-2, -1))
    farthest = np.where(counts > 0, distance, 0).max(axis=(-2, -1))
    # Distances as shares of the largest one: neither a power nor a root overflows.
    shares = distance / np.maximum(farthest, 1)[..., None, None]
    powers = np.where(counts > 0, counts * np.minimum(shares, 1) ** gamma, 0).sum(axis=(-2, -1))
    return farthest * powers ** (1 / gamma)


def _costs(counts: np.ndarray, whole: np.ndarray, beta: Any, gamma: float, absolute: bool) -> np.ndarray:
    """Return (N + M) · w of §3.4 for every entry, shape (..., K, K)."""
    beta = np.asarray(beta, dtype=np.float64)
    if not ((beta >= 0) & (beta < np.inf)).all():
        raise MeasureError(f"OCI(beta={beta}): what distance costs is a finite number, 0 or more")
    if not gamma >= 1:
        raise MeasureError(f"OCI(gamma={gamma}): the exponent of distance is 1 or more, or inf")
    distance = class_distance(counts.shape[-1])
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a cost may be infinite: nothing goes there
        if absolute:
            price, powers = beta * whole, distance**gamma
        else:
            price, powers = beta * whole / items(counts), (distance / (counts.shape[-1] - 1)) ** gamma
        penalty = np.where(price[..., None, None] > 0, price[..., None, None] * powers, 0)
        cost = np.where(counts > 0, counts * (penalty - 1), 0)
    return np.where(whole[..., None, None] > 0, cost, math.nan)  # no items at all: 0/0


def _cumulative(cost: np.ndarray) -> np.ndarray:
    """Return W of §3.4 less 1, times N + M, by anti-diagonals: ``[g + p, g, ...]`` for entry (g, p).

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


def _cheapest(cost: np.ndarray) -> np.ndarray:
    """Return the cost of the cheapest monotone path through every matrix, shape (...)."""
    return _cumulative(cost)[-1, -1]


@lru_cache(maxsize=LARGEST_SEARCH)
def _visited_sets(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all sets of entries that a path from corner to corner visits, and their discordant pairs (Eq. 5).

    Sets are numbers whose bit g K + p says that entry (g, p) is visited; for each, the bits of the entries at which a
    path through just these entries can end are found from those of the sets with one entry less.

    The first array, of shape (set, K²), is 1 where the entry is visited.
    """
    n = n_classes**2
    gold, predicted = (index.ravel() for index in np.indices((n_classes, n_classes)))
    across = (np.subtract.outer(gold, gold) * np.subtract.outer(predicted, predicted)).astype(np.float64)
    near = np.maximum(np.abs(np.subtract.outer(gold, gold)), np.abs(np.subtract.outer(predicted, predicted))) == 1
    ends = np.zeros(2**n, dtype=np.int64)
    ends[1] = 1
    layer = np.array([1])
    for _ in range(n - 1):
        longer = []
        for v in range(n):
            here = layer[(ends[layer] >> v) & 1 == 1]
            for u in np.flatnonzero(near[v]):
                grown = here[(here >> u) & 1 == 0] | (1 << u)
                ends[grown] |= 1 << u  # no two of them are the same set
                longer.append(grown)
        layer = np.unique(np.concatenate(longer))
    sets = np.flatnonzero((ends >> (n - 1)) & 1)
    visited = ((sets[:, None] >> np.arange(n)) & 1).astype(np.float64)
    broken = ((visited @ (across < 0)) * visited).sum(axis=1) / 2
    return visited, broken
