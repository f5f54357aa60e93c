"""Good, fair or poor? Words like those of ACL 2021, Tables 4 and 7, each given by a stated rule.

The rules take plain arrays, so that printed tables are judged as results are; the functions whose names end in
``_results`` take the results of analyses, of the same measures in the same order, one for each collection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.analyses.reference_pairs import ReferencePairs
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.stats.intervals import interval_of_pairs

GOOD, POOR = 1 / 3, -1 / 3
"""Nets from which on a measure is good, and down from which it is poor."""

LIMIT, CHANCE = 0.05, 0.5
"""Share of contradicted pairs above which a reference contradicts a measure, and the share of a measure without knowledge."""

CONTRADICTED, TOLD, UNTOLD = "contradicts the reference", "better than chance", "cannot tell"
"""Words for a measure compared with a reference."""

_SLACK = 1e-12  # a third of three measures is a third, whatever rounding makes of it


def grade(net: float) -> str:
    """Return the word for a net share between −1 and 1: good, fair, poor, or a dash if it is not a number."""
    if np.isnan(net):
        return "–"
    return "good" if net >= GOOD - _SLACK else "poor" if net <= POOR + _SLACK else "fair"


def rate_consistency(outperforms: npt.ArrayLike) -> np.ndarray:
    """Return how many measures each significantly outperforms, net, as a share of the others, shape (measure,)."""
    ahead = np.asarray(outperforms, dtype=float)
    net = (ahead.sum(axis=-1) - ahead.sum(axis=-2)) / max(1, ahead.shape[-1] - 1)
    return net.reshape(-1, ahead.shape[-1]).mean(axis=0)


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
    contradicted, decided = ([getattr(each, name) for each in results] for name in ("contradicted", "decided"))
    low, high = interval_of_pairs(np.array(contradicted), np.array(decided), [each.n_runs for each in results])
    return [grade_contradictions(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
