"""Good, fair or poor? Words like those of ACL 2021, Tables 4 and 7, each given by a stated rule.

The rules take plain arrays, so that printed tables are judged as results are; the functions whose names end in
``_results`` take the results of analyses, of the same measures in the same order, one for each collection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.reference_pairs import ReferencePairs
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.errors import MetaevalError
from metaeval.stats.intervals import interval_of_pairs

GOOD, POOR = 1 / 3, -1 / 3
"""Nets from which on a measure is good, and down from which it is poor."""

THRESHOLD = 0.8
"""Mean τ between two groups from which on they are joined."""

LIMIT, CHANCE = 0.05, 0.5
"""Share of contradicted pairs above which a reference contradicts a measure, and the share of a measure without knowledge."""

CONTRADICTED, TOLD, UNTOLD = "contradicts the reference", "better than chance", "cannot tell"
"""Words for a measure compared with a reference."""

_SLACK = 1e-12  # a third of three measures is a third, whatever rounding makes of it

RULES = {
    "similarity": (
        "Measures are put into groups by average linkage: the two groups with the highest mean τ between them, averaged "
        "over collections, are joined first, as long as it is at least {threshold:g}. A is the largest group; a measure "
        "that joins no other has a letter of its own."
    ),
    "consistency": (
        "The net is the share of the other measures that a measure significantly outperforms in split-half consistency, "
        "minus the share that significantly outperform it, averaged over collections and split sizes. It is good from "
        "1/3 up and poor from −1/3 down."
    ),
    "power": (
        "The net is the share of the other measures than which a measure finds more differences, minus the share than which it "
        "finds fewer, by paired 95 % intervals over topics of the differences. It is good from 1/3 up and poor from −1/3 down; "
        "where no interval leaves out 0, it cannot tell."
    ),
    "no reference": (
        "No reference was given. Finding more is good only where the measure ranks runs like another one; otherwise it is "
        "unverified: nothing says whether the differences are right."
    ),
    "power compared with a reference": (
        "Where the measure contradicts the reference, by the rule of the column reference, that stands in place of the "
        "word; and finding more is good only where the reference confirms it better than chance."
    ),
    "reference": (
        "Of the pairs of runs that both the measure and the reference {reference} find significant, it is counted in how "
        "many the measure prefers the other run; in brackets: how many of how many, over all collections. The measure "
        "contradicts the reference where the 95 % interval of this share lies above {limit:g} %, is better than chance "
        "where it does not and lies below one half, and cannot tell otherwise. The interval is binomial (Clopper and "
        "Pearson); because pairs share runs, n pairs of m runs count as 9n/(2m + 5) independent ones."
    ),
}
"""How each mark is reached, for the reader."""


def grade(net: float) -> str:
    """Return the word for a net share between −1 and 1: good, fair, poor, or a dash if it is not a number."""
    if np.isnan(net):
        return "–"
    return "good" if net >= GOOD - _SLACK else "poor" if net <= POOR + _SLACK else "fair"


def rate_consistency(outperforms: npt.ArrayLike) -> np.ndarray:
    """Return how many measures each significantly outperforms, net, as a share of the others, shape (measure,)."""
    ahead = _check_square(outperforms)
    net = (ahead.sum(axis=-1) - ahead.sum(axis=-2)) / max(1, ahead.shape[-1] - 1)
    return net.reshape(-1, ahead.shape[-1]).mean(axis=0)


def group_measures(tau: npt.ArrayLike, threshold: float = THRESHOLD) -> list[str]:
    """Return the group of every measure, by average linkage of τ."""
    similarity = np.nan_to_num(_check_square(tau), nan=-1.0)
    numbers = np.ones(len(similarity), dtype=int)
    if len(similarity) > 1:
        distance = 1 - (similarity + similarity.T) / 2
        np.fill_diagonal(distance, 0.0)
        tree = linkage(squareform(distance, checks=False), method="average")
        numbers = fcluster(tree, 1 - threshold + _SLACK, criterion="distance")
    members = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    letters = [""] * len(similarity)
    for position, group in enumerate(sorted(members, key=lambda group: (-len(group), group[0]))):
        again = position // 26
        for measure in group:
            letters[measure] = f"{chr(ord('A') + position % 26)}{again + 1 if again else ''}"
    return letters


def rate_consistency_results(results: Sequence[SplitHalfConsistency]) -> np.ndarray:
    """Return the net of `rate_consistency` for results; one of them is ahead where its mean τ is higher, shape (measure,)."""
    return rate_consistency([result.significant & (result.means[:, None] > result.means) for result in results])


def grade_contradictions(low: float, high: float) -> str:
    """Return the word for the interval of the share of pairs that the reference contradicts.

    >>> [grade_contradictions(*ends) for ends in ((0.1, 0.6), (0.0, 0.2), (0.0, 0.7))]
    ['contradicts the reference', 'better than chance', 'cannot tell']
    """
    return CONTRADICTED if low > LIMIT else TOLD if high < CHANCE else UNTOLD


def grade_reference_results(results: Sequence[ReferencePairs]) -> list[str]:
    """Return the word for every measure compared with the reference, with pairs added over collections."""
    contradicted, decided = (
        np.array([getattr(result, name) for result in results]) for name in ("contradicted", "decided")
    )
    low, high = interval_of_pairs(contradicted, decided, [result.n_runs for result in results])
    return [grade_contradictions(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def hold_power(power: str, reference: str) -> str:
    """Return the word for power that a reference leaves: what it contradicts is not praised, nor what it cannot tell."""
    return CONTRADICTED if reference == CONTRADICTED else UNTOLD if (power, reference) == ("good", UNTOLD) else power


def group_results(results: Sequence[RankingSimilarity], threshold: float = THRESHOLD) -> list[str]:
    """Return the groups of `group_measures` for results."""
    return group_measures(np.mean([result.tau for result in results], axis=0), threshold)


def _check_square(given: npt.ArrayLike) -> np.ndarray:
    array = np.asarray(given, dtype=float)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        raise MetaevalError(f"a relation between measures has shape (measure, measure), not {array.shape}")
    return array
