"""The randomised Tukey HSD test: which runs differ significantly if all pairs are compared at once?

Carterette (2012), "Multiple testing in statistical analysis of systems-based information retrieval experiments", ACM TOIS
30(1); Sakai (2018), "Laboratory Experiments in Information Retrieval", Springer. In each trial the scores within every topic
are permuted among the runs; the p-value of a pair of runs is the share of trials in which the largest difference between two
means is at least the observed difference of their means.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, UnitArray, check_count, check_shape, quantise
from metaeval.stats.parallel import run_parts
from metaeval.stats.streams import trial_keys

SMALLEST_PART, SMALLEST_TOLD = 640, 2_560
"""Trials below which the overhead of a part is a noticeable share of its time, and below which it is not told."""

TOLD_WORK = 4_000_000_000
"""Work of a part of the trials, about half a second, after which it is told how far the work has come."""


def randomised_tukey_hsd(values: npt.ArrayLike, *, n_permutations: int = 5000, key: int, n_jobs: int = 1) -> IntArray:
    """In how many trials is the range of the permuted means at least the difference between two runs? Shape (measure, pair).

    Takes scores of shape (run, topic, measure), and a key of `metaeval.stats.streams.stream_key`; all measures share the
    permutations. Pairs are in the order of ``np.triu_indices(n_runs, 1)``, and `p_values` makes p-values of the counts. The
    counts treat ties exactly, and are the same for every number of threads, `n_jobs`, as in joblib.

    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> p_values(randomised_tukey_hsd(values, n_permutations=1000, key=1), 1000)[0] < 0.05
    array([False,  True,  True])
    """
    raw = check_shape(values)
    n_permutations = check_count(n_permutations, "permutations")
    from metaeval.stats._permuted_sums import load_kernel  # takes a second, which only this test needs

    load_kernel()
    units, n_threads = quantise(raw), 1
    if n_jobs != 1:
        import joblib

        n_threads = joblib.effective_n_jobs(n_jobs)
    n_topics, n_runs, n_measures = units.shape
    told = max(SMALLEST_TOLD, TOLD_WORK // (n_runs * n_topics * (4 + n_measures)))
    size = max(SMALLEST_PART, min(-(-n_permutations // n_threads), told))
    parts = [range(start, min(start + size, n_permutations)) for start in range(0, n_permutations, size)]
    what = "permuting" if len(parts) > n_threads else ""  # a short test says nothing
    return count_reached(
        units, np.concatenate(list(run_parts(partial(trial_ranges, units, key), parts, n_jobs=n_jobs, what=what)))
    )


def count_reached(units: UnitArray, ranges: IntArray) -> IntArray:
    """Count the trials whose range, shape (trial, measure), is at least the difference of each pair, shape (measure, pair)."""
    n_topics, n_runs, n_measures = units.shape
    sums, (first, second) = units.sum(axis=0, dtype=np.int64), np.triu_indices(n_runs, 1)
    counts = np.empty((n_measures, first.size), dtype=np.int64)
    for measure in range(n_measures):
        # Equal sums of scores, each off by half a unit at most, lie one unit a topic apart; a difference and a range have two.
        observed = np.abs(sums[first, measure] - sums[second, measure]) - 2 * n_topics
        counts[measure] = len(ranges) - np.searchsorted(np.sort(ranges[:, measure]), observed, side="left")
    return counts


def trial_ranges(units: UnitArray, key: int, trials: range) -> IntArray:
    """Return the largest minus the smallest permuted sum of a run in each trial, shape (trial, measure)."""
    from metaeval.stats._permuted_sums import compute_ranges

    return compute_ranges(units, trial_keys(key, trials))


def p_values(counts: npt.ArrayLike, n_permutations: int, *, add_one: bool = False) -> FloatArray:
    """Convert counts to p-values: count/B, or, with the observed scores as one more trial, (count + 1)/(B + 1)."""
    return (np.asarray(counts) + add_one) / (n_permutations + add_one)
