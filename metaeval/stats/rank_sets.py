"""Rank sets: between which ranks does every run stand, all of them at once?

The claim that one run is better than another is a one-sided hypothesis for every ordered pair of runs. Mogstad, Romano, Shaikh
and Wilhelm ("Inference for ranks with applications to mobility across neighbourhoods and academic achievement across
countries", Review of Economic Studies 91(1), 2024, §3) reject them step by step with the critical value of the largest
statistic: a rejected one leaves the family, and the next critical value is smaller (Romano and Wolf, Econometrica 73(4),
2005). Here the reverse of a rejected one leaves too, as in the two-sided step-down, which makes the sets narrower. Counting
claims gives a set of ranks for each run, simultaneous with the confidence asked for if the draws are those of the statistics.

Claims that follow from two others cost nothing, since they are true whenever these are. The first step alone is the two-sided
test of all pairs on which letters rest, so that a rank set is never wider than the range that letters leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray

Rows = Callable[[], Iterator[FloatArray]]
"""Of every run but the last: draws of its standardised differences from the later runs, shape (later run, trial)."""


@dataclass(frozen=True, eq=False)
class RankSets:
    """Which ranks runs may have, and the claims that they rest on.

    Parameters
    ----------
    sets : ndarray of int, shape (run, 2)
        First and last rank that a run may have; all runs together.
    better : ndarray of bool, shape (run, run)
        ``better[i, j]``: run i is claimed to be better than run j.
    differ : ndarray of bool, shape (run, run)
        Pairs of runs that the first step alone separates: the two-sided test with one critical value.
    """

    sets: IntArray
    better: npt.NDArray[np.bool_]
    differ: npt.NDArray[np.bool_]


def find_rank_sets(statistics: FloatArray, rows: Rows, alpha: float = 0.05) -> RankSets:
    """Which ranks may every run have, all of them at once?

    Parameters
    ----------
    statistics : ndarray, shape (run, run)
        ``statistics[i, j]``: by how many standard errors run i is ahead of run j; antisymmetric, 0 where nothing is known.
    rows : callable
        Returns an iterator: of each run but the last, draws of the statistics of it and every later run as they would be if
        both were equally good, shape (later run, trial).
    alpha : float, optional
        How often any claim may be wrong.

    Returns
    -------
    RankSets

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((3, 2000)) / np.sqrt(2)
    >>> means = np.array([9.0, 1.0, 0.0])
    >>> found = find_rank_sets(np.subtract.outer(means, means), lambda: (noise[i] - noise[i + 1 :] for i in range(2)))
    >>> found.sets.tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    n_runs = len(statistics)
    better = differ = np.zeros(statistics.shape, dtype=bool)
    for step in range(n_runs**2):
        critical = np.quantile(_find_largest(rows(), better), 1 - alpha, method="higher")
        claimed = better | (statistics > max(critical, 0.0))
        differ = claimed | claimed.T if step == 0 else differ
        claimed = _add_implied(claimed)
        if (claimed == better).all():
            break
        better = claimed
    return RankSets(np.stack([1 + better.sum(axis=0), n_runs - better.sum(axis=1)], axis=1), better, differ)


def _find_largest(rows: Iterator[FloatArray], better: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the largest statistic of every trial over all ordered pairs of which nothing is claimed yet."""
    ends = []
    for run, drawn in enumerate(rows):
        ahead, behind = better[run, run + 1 :], better[run + 1 :, run]
        ends.append(_take(drawn, ~(ahead | behind)).max(axis=0, initial=0.0))
        ends.append(-_take(drawn, ~(ahead | behind)).min(axis=0, initial=0.0))
    return np.asarray(np.max(ends, axis=0))


def _take(drawn: FloatArray, rows: npt.NDArray[np.bool_]) -> FloatArray:
    return drawn if rows.all() else drawn[rows]


def _add_implied(better: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return claims with those that follow: if i is better than j, and j than k, then i is better than k."""
    while True:
        claims = better.astype(np.float32)
        implied = better | (claims @ claims > 0)
        if (implied == better).all():
            return better
        better = implied
