"""Numbers pooled over collections, where the collections might be others too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.stats.blocks import FloatArray

FEWEST_COLLECTIONS = 3
"""With two, Student's t has one degree of freedom and the interval is the whole scale: none is given."""


def explain_too_few(n_collections: int) -> str:
    """Return why there is no interval for other collections; empty if there is one, or a single collection."""
    if n_collections == 1 or n_collections >= FEWEST_COLLECTIONS:
        return ""
    return (
        f"No interval for other collections: it needs {FEWEST_COLLECTIONS} to cover what it claims; there are "
        f"{n_collections}."
    )


def pool(values: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """Return the weighted mean of numbers of every collection, each of shape (...)."""
    if len(values) == 1:
        return values[0]
    return np.asarray(np.tensordot(weights / weights.sum(), np.array(values), axes=1))


def redraw_collections(drawn: Sequence[FloatArray], weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return numbers pooled over collections drawn with replacement, each on topics drawn anew: shape (trial, ...).

    `drawn` is of every collection, shape (trial, ...), and `weights` have shape (collection,). The same draws serve all
    numbers of a trial. Topics count twice, in what collections differ by and again: in simulation the intervals without that,
    of which some were too short, were hardly shorter.

    >>> still = [np.full((500, 1), 0.2), np.full((500, 1), 0.6)]
    >>> np.unique(redraw_collections(still, np.ones(2), np.random.default_rng(0))).round(2)
    array([0.2, 0.4, 0.6])
    """
    sampled, n_collections = np.array(drawn), len(drawn)
    n_trials, rest = sampled.shape[1], (1,) * (sampled.ndim - 2)
    total, weight = np.zeros(sampled.shape[1:]), np.zeros((n_trials, *rest))
    for _ in range(n_collections):
        collection, trial = rng.integers(n_collections, size=n_trials), rng.integers(n_trials, size=n_trials)
        share = weights[collection].reshape(-1, *rest)
        total += share * sampled[collection, trial]
        weight += share
    return np.asarray(total / weight)
