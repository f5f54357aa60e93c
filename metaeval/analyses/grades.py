"""Good, fair or poor? Marks like those of ACL21, Tables 4 and 7, each by a stated rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.split_half_consistency import SplitHalfConsistency

GOOD, POOR = 1 / 3, -1 / 3

RULES = {
    "similarity": (
        "Group: measures are joined, most similar first, as long as the mean τ between two groups, averaged over "
        "collections, is at least {threshold:g}; A is the largest group, and a measure alone gets a letter of its own."
    ),
    "consistency": (
        "Net: the share of the other measures that a measure significantly outperforms in split-half consistency, less "
        "the share that outperform it, averaged over collections and split sizes; good from 1/3 up, poor from −1/3 down."
    ),
    "power": (
        "Net: the share of the other measures that find at least 5 % fewer significant pairs, less the share that find "
        "at least 5 % more, averaged over collections; good from 1/3 up, poor from −1/3 down."
    ),
}
"""How each mark is reached, for the reader."""

MARGIN = 0.05


def grade(net: float) -> str:
    """Return the mark for a net share between −1 and 1."""
    if np.isnan(net):
        return "–"
    return "good" if net >= GOOD - 1e-12 else "poor" if net <= POOR + 1e-12 else "fair"


def consistency_net(results: Sequence[SplitHalfConsistency]) -> np.ndarray:
    """Return how many measures each one significantly outperforms, net, as a share of the others.

    Parameters
    ----------
    results : sequence of SplitHalfConsistency
        Of the same measures in the same order.

    Returns
    -------
    ndarray, shape (measure,)
        From −1 to 1.
    """
    nets = []
    for one in results:
        ahead = one.significant * np.sign(one.means[:, None] - one.means)
        nets.append(ahead.sum(axis=1) / max(1, len(one.measures) - 1))
    return np.mean(nets, axis=0)


def power_net(results: Sequence[DiscriminativePower]) -> np.ndarray:
    """Return how many measures find clearly fewer significant pairs, net, as a share of the others.

    Parameters
    ----------
    results : sequence of DiscriminativePower
        Of the same measures in the same order.

    Returns
    -------
    ndarray, shape (measure,)
        From −1 to 1.
    """
    nets = []
    for one in results:
        found = one.significant.sum(axis=1).astype(float)
        fewer = found <= (1 - MARGIN) * found[:, None]
        clearly = fewer & (found[:, None] > found)
        nets.append((clearly.sum(axis=1) - clearly.sum(axis=0)) / max(1, len(found) - 1))
    return np.mean(nets, axis=0)


def similarity_groups(results: Sequence[RankingSimilarity], threshold: float = 0.8) -> list[str]:
    """Return the group of every measure, by average linkage of τ.

    Parameters
    ----------
    results : sequence of RankingSimilarity
        Of the same measures in the same order.
    threshold : float, optional
        The least mean τ between groups that are joined.

    Returns
    -------
    list of str
        ``"A"``, ``"B"``, …: A is the largest group.
    """
    mean = np.mean([one.tau for one in results], axis=0)
    groups = [[m] for m in range(len(mean))]
    while len(groups) > 1:
        between = {
            (i, j): mean[np.ix_(groups[i], groups[j])].mean()
            for i in range(len(groups))
            for j in range(i + 1, len(groups))
        }
        i, j = max(between, key=lambda pair: between[pair])
        if between[i, j] < threshold - 1e-12:
            break
        groups[i] += groups.pop(j)
    groups.sort(key=lambda group: (-len(group), min(group)))
    letters = [""] * len(mean)
    for number, group in enumerate(groups):
        for m in group:
            letters[m] = chr(ord("A") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")
    return letters
