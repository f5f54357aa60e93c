"""Statistics of `agreement` over several collections, and their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metaeval.analyses.agreement_statistics import OF_RUNS, SHARES, Found, split_statistic
from metaeval.errors import format_list
from metaeval.stats.intervals import centre_interval

ENOUGH_TOPICS = 60
"""With fewer, intervals of statistics of runs held the true value too seldom in some of the studies that were simulated
(results/calibration/agreements), and a result says so."""


def remark_coverage(wanted: Sequence[str], n_topics: int) -> tuple[str, ...]:
    """Return what a reader has to know about the intervals of so few topics.

    Parameters
    ----------
    wanted : sequence of str
        Statistics.
    n_topics : int
        Of the smallest collection.

    Returns
    -------
    tuple of str
        Nothing where simulations found the intervals to hold what they claim.

    Examples
    --------
    >>> remark_coverage(["acc_t"], 25), len(remark_coverage(["acc_t", "tau_b@15"], 25))
    ((), 1)
    """
    loose = [one for one in wanted if split_statistic(one)[0] in (*OF_RUNS, "spa")]
    if not loose or n_topics >= ENOUGH_TOPICS:
        return ()
    return (
        f"intervals of {format_list(loose)}, and of differences in them, rest on {n_topics} topics: with fewer than "
        f"{ENOUGH_TOPICS} they held the true value less often than they claim in some simulations, and a measure that is "
        "barely better by them may not be",
    )


def pool_statistics(found: Sequence[Mapping[str, Found]], weights: np.ndarray) -> dict[str, Found]:
    """Pool each statistic over collections: pairs of runs are added, other statistics averaged.

    Parameters
    ----------
    found : sequence of mapping of str to Found
        Of every collection.
    weights : ndarray, shape (collection,)

    Returns
    -------
    dict of str to Found
        There are resamples of the topics only if every collection has some.
    """
    pooled = {}
    for name in found[0]:
        each = [one[name] for one in found]
        adds = name.partition("@")[0] == "pairwise_accuracy"
        share = weights * [one.n_pairs if adds else 1 for one in each]
        share = share / share.sum()

        def mix(values: Sequence[Any], share: np.ndarray = share) -> Any:
            return values[0] if len(values) == 1 else np.tensordot(share, np.array(values), axes=1)

        n_trials = min(len(one.drawn) for one in each)
        pooled[name] = Found(
            mix([one.value for one in each]),
            mix([one.exchanged for one in each]),
            mix([one.drawn[:n_trials] for one in each]),
            float(mix([one.chance for one in each])),
            float(mix([one.ceiling for one in each])),
            float((share * [one.step for one in each]).min()),
            sum(one.n_pairs for one in each),
            mix([one.observed for one in each]),
        )
    return pooled


def find_ends(statistic: str, found: Found, n_topics: int, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of every measure.

    A correlation r is a share (r + 1)/2, whose ends next to 1 stay near it.

    Parameters
    ----------
    statistic : str
    found : Found
        Pooled.
    n_topics : int
        Of the smallest collection.
    confidence : float

    Returns
    -------
    low, high : ndarray, shape (measure,)
        NaN where there are no resamples.
    """
    base, size = (0.0, 1.0) if split_statistic(statistic)[0] in SHARES else (-1.0, 2.0)
    low, high = centre_interval(
        (found.value - base) / size, (found.drawn - base) / size, n_topics, confidence=confidence, scale="share",
        step=found.step / size, student=False,
    )  # fmt: skip
    return base + size * low, base + size * high


def find_difference_ends(
    statistic: str, found: Found, n_topics: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval of the difference of every two measures, paired: both on the same topics.

    They are at least one step of the statistic away from the difference, which may move in no resample.

    Parameters
    ----------
    statistic, found, n_topics, confidence
        As for `find_ends`.

    Returns
    -------
    low, high : ndarray, shape (measure pair,)
        In the order of `numpy.triu_indices`.
    """
    size = 1.0 if split_statistic(statistic)[0] in SHARES else 2.0
    first, second = np.triu_indices(len(found.value), 1)
    gap, gaps = ((values[..., first] - values[..., second]) / size for values in (found.value, found.drawn))
    step = found.step / size
    low, high = centre_interval(gap, gaps, n_topics, confidence=confidence, step=step, least=step, student=False)
    return size * low, size * high
