"""Paths through a confusion matrix: the one that OC takes, the index OC′ of Eq. 6, and the general index of Eq. 8."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.ordinal import cheapest_steps, dispersion, path_costs

LARGEST_SEARCH = 4
"""Up to how many classes `general_index` goes through all paths: 2¹⁶ sets of entries for 4 classes, 2²⁵ for 5."""


def OC_prime(counts: Any, *, beta: Any = 0.75, gamma: float = 1, absolute: bool = False) -> np.ndarray:
    """Return what OC would be if leftover items counted alike wherever they are: the index OC′ (Eq. 6).

    With an absolute β of 1 or more it is the misclassification error rate. It takes and returns what `OCI` does.

    >>> float(OC_prime([[2, 1], [1, 2]], beta=1, absolute=True).round(4))
    0.3333
    """
    counts = np.asarray(counts, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = counts.sum(axis=(-2, -1))
        return (whole + cheapest_steps(path_costs(counts, whole, beta, gamma, absolute))[-1, -1]) / whole


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
    beta1 : float
        What distance costs, as `beta` of `OCI`.
    beta2 : float
        What every pair of visited entries costs that is ordered oppositely in gold and predicted classes, ≥ 0.
    gamma, absolute
        As for `OCI`; `absolute` is about β₁ only.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> float(general_index([[1, 0, 1], [0, 1, 1], [1, 0, 0]], beta1=0, beta2=0).round(4))   # MAE / (1 + MAE): 0.5
    0.5
    """
    counts = np.asarray(counts, dtype=np.float64)
    n_classes = counts.shape[-1]
    if not beta2 >= 0 or (0 < beta2 < 1 and n_classes > LARGEST_SEARCH):
        raise MeasureError(
            f"the general index of {n_classes} classes has no beta2={beta2}: a pair of entries costs 0 or more, and up to "
            f"{LARGEST_SEARCH} classes are feasible where it costs less than 1 and more than 0"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = counts.sum(axis=(-2, -1)) + dispersion(counts, gamma)
        cost = path_costs(counts, whole, beta1, gamma, absolute)
        if beta2 >= 1:
            best = cheapest_steps(cost)[-1, -1]
        elif beta2 == 0:
            best = np.minimum(cost, 0).sum(axis=(-2, -1))
        else:
            visited, broken = _visited_sets(n_classes)
            flat = cost.reshape(*cost.shape[:-2], -1)
            best = (flat @ visited.T + beta2 * broken * whole[..., None]).min(axis=-1)
        return (whole + best) / whole


@cache
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


def best_path(counts: Any, *, beta: float = 0.75, gamma: float = 1) -> np.ndarray:
    """Return the path that `OCI` is the cost of, of one matrix of shape (K, K).

    Where several paths cost the same it is the one that, from its end back, goes along the diagonal where it can,
    then up along the gold classes. Its steps, shape (step, 2), are gold class and predicted class of every entry on
    the way, from (0, 0) to (K − 1, K − 1).

    >>> best_path([[0, 4, 0], [0, 0, 6], [0, 0, 0]]).tolist()
    [[0, 0], [0, 1], [1, 2], [2, 2]]
    """
    counts = np.asarray(counts, dtype=np.float64)
    whole = counts.sum() + dispersion(counts, gamma)
    upto = cheapest_steps(path_costs(counts, whole, beta, gamma, False))
    g = p = len(counts) - 1
    path = [(g, p)]
    while (g, p) != (0, 0):
        before = [(i, j) for i, j in ((g - 1, p - 1), (g - 1, p), (g, p - 1)) if i >= 0 and j >= 0]
        g, p = min(before, key=lambda entry: upto[sum(entry), entry[0]])
        path.append((g, p))
    return np.array(path[::-1])
