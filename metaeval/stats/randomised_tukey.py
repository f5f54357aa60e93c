"""The randomised Tukey HSD test: which runs differ significantly if all pairs are compared at once?

Carterette (2012), "Multiple testing in statistical analysis of systems-based information retrieval
experiments", ACM TOIS 30(1); Sakai (2018), "Laboratory Experiments in Information Retrieval", Springer. In
each trial the scores within every topic are permuted among the runs; the largest difference between two
column means is recorded; the p-value of a pair of runs is the share of trials whose recorded range is at
least the observed difference of their means.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, UnitArray, check_count, check_shape, quantise, tie_tolerance
from metaeval.stats.parallel import count_jobs, run_parts, tell
from metaeval.stats.streams import trial_keys

SMALLEST_PART, SMALLEST_TOLD = 640, 2_560
"""Trials below which the overhead of a part is a noticeable share of its time, and below which it is not told."""

TOLD_WORK = 4_000_000_000
"""Work of a part of the trials, about half a second, after which it is told how far the work has come."""


def randomised_tukey_hsd(values: npt.ArrayLike, *, n_permutations: int = 5000, key: int, n_jobs: int = 1) -> IntArray:
    """In how many trials is the range of the permuted means at least the difference between two runs?

    All measures share the permutations. The counts treat ties exactly, and are the same for every number of
    jobs and every division of the trials into blocks.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        Finite; at least two runs and topics.
    n_permutations : int
        Number of trials, B.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    n_jobs : int
        Number of threads, as in joblib; -1 for all cores.

    Returns
    -------
    ndarray of int64, shape (measure, pair)
        Pairs are in the order of ``np.triu_indices(n_runs, 1)``; `p_values` makes p-values of the counts.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> counts = randomised_tukey_hsd(values, n_permutations=1000, key=1)
    >>> p_values(counts, 1000)[0] < 0.05
    array([False,  True,  True])
    """
    raw = check_shape(values)
    n_permutations = check_count(n_permutations, "permutations")
    from metaeval.stats._permuted_sums import load_kernel  # takes a second, which only this test needs

    load_kernel()
    units, n_jobs_used = quantise(raw), count_jobs(n_jobs)
    n_topics, n_runs, n_measures = units.shape
    told = max(SMALLEST_TOLD, TOLD_WORK // (n_runs * n_topics * (4 + n_measures)))
    size = max(SMALLEST_PART, min(-(-n_permutations // n_jobs_used), told))
    parts = [range(start, min(start + size, n_permutations)) for start in range(0, n_permutations, size)]

    def say(done: int) -> None:
        if len(parts) > n_jobs_used:  # a short test says nothing
            tell("permuting", done, n_permutations)

    ranges = np.concatenate(list(run_parts(partial(trial_ranges, units, key), parts, n_jobs=n_jobs, say=say)))
    return count_reached(units, ranges)


def count_reached(units: UnitArray, ranges: IntArray) -> IntArray:
    """Count the trials whose range, shape (trial, measure), is at least the difference of each pair, shape (measure, pair)."""
    n_topics, n_runs, n_measures = units.shape
    sums, (first, second) = units.sum(axis=0, dtype=np.int64), np.triu_indices(n_runs, 1)
    counts = np.empty((n_measures, first.size), dtype=np.int64)
    for measure in range(n_measures):
        # A difference consists of two sums, and so does a range.
        observed = np.abs(sums[first, measure] - sums[second, measure]) - tie_tolerance(2 * n_topics)
        counts[measure] = len(ranges) - np.searchsorted(np.sort(ranges[:, measure]), observed, side="left")
    return counts


def trial_ranges(units: UnitArray, key: int, trials: range) -> IntArray:
    """Return the largest minus the smallest permuted sum of a run in each trial, shape (trial, measure)."""
    from metaeval.stats._permuted_sums import compute_ranges

    return compute_ranges(units, trial_keys(key, trials))


def p_values(counts: npt.ArrayLike, n_permutations: int, *, add_one: bool = False) -> FloatArray:
    """Convert exceedance counts, from 0 to `n_permutations`, to p-values of the same shape.

    The default, count/B, is the p-value of Carterette (2012) and Sakai (2018); `add_one` counts the observed scores as an
    additional trial: (count + 1)/(B + 1), which is never zero.

    >>> p_values([0, 50], 1000), p_values([0, 50], 999, add_one=True)
    (array([0.  , 0.05]), array([0.001, 0.051]))
    """
    return (np.asarray(counts) + add_one) / (n_permutations + add_one)
