"""How far chance may move what is counted of significant pairs, with other trials of the same test."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from metaeval.analyses.power import DiscriminativePower
from metaeval.stats.significant_counts import significance_chances

ALLOWED = 4 * 2**0.5
"""Standard errors by which two independent sets of trials, the paper's and ours, may differ: four of the difference."""


@dataclass(frozen=True)
class PairErrors:
    """Monte Carlo standard errors of one pair of measures, at most: of SSO, of a, b and c, and of contradictions."""

    sso: float
    a: float
    b: float
    c: float
    contradictions: float


@lru_cache(maxsize=128)
def bound_errors(power: DiscriminativePower) -> dict[tuple[str, str], PairErrors]:
    """Return how far counts that compare two measures may move.

    A pair of runs is significant with both measures with the smaller of both chances at most. Standard deviations of the
    pairs are added up, as if all moved together, so that these are upper bounds.
    """
    chances = _find_chances(power)
    names = [str(measure) for measure in power.measures]
    significant = power.significant
    errors = {}
    for i, j in itertools.combinations(range(len(names)), 2):
        chance = np.minimum(chances[i], chances[j])
        deviation = np.sqrt(chance * (1 - chance))
        b = float(deviation.sum())
        a, c = float(power.rows["mc_se"][i]) + b, float(power.rows["mc_se"][j]) + b
        union = max(1, int((significant[i] | significant[j]).sum()))
        opposed = power.winners[i] * power.winners[j] == -1
        # SSO moves by 1 / (a + b + c) at most when one of the three moves by 1.
        errors[names[i], names[j]] = PairErrors((a + b + c) / union, a, b, c, float(deviation[opposed].sum()))
    return errors


def _find_chances(power: DiscriminativePower) -> np.ndarray:
    """Return how likely each pair is to be significant with other trials, shape (measure, pair)."""
    if power.counts is None:
        return power.significant.astype(float)
    order = np.argsort(power.counts, axis=1, kind="stable")
    chances = np.empty(power.counts.shape)
    ordered = significance_chances(power.counts, power.n_permutations, power.alpha)
    np.put_along_axis(chances, order, ordered, axis=1)
    return chances
