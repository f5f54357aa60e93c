"""Trials of the max-T tests, in blocks.

What a block finds depends on its trials alone, and sums of whole numbers do not depend on their order, so that no
division of the work moves a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, scale_scores
from metaeval.stats.parallel import run_parts, tell

# Numbers held at once by a block of trials, and the fewest trials that make a block worth its overhead.
NUMBERS_A_BLOCK = 2**21
TRIALS_A_BLOCK = 2048
FEWEST_TRIALS = 32


class Statistics(NamedTuple):
    """Observed statistics of all pairs, one or more of a pair, shape (kind, pair), and what finds the largest of trials.

    `find_largest` takes weights of the topics, shape (topic, trial), and returns the largest statistic of each kind over all
    pairs, shape (kind, trial). Two statistics are equal if they differ by less than `tolerance`, relatively.
    """

    observed: FloatArray
    tolerance: float
    find_largest: Callable[[FloatArray], FloatArray]


class Test(NamedTuple):
    """What makes a max-T test of scores.

    `prepare` takes the scaled scores of a measure, contiguous of shape (run, topic), and overwrites them; `draw` returns
    weights of topics, shape (trial, topic). `exact`: the trials are all sign vectors, the observed one included.
    """

    name: str
    prepare: Callable[[FloatArray], Statistics]
    draw: Callable[[range], npt.NDArray[np.integer]]
    n_trials: int
    exact: bool = False


class PairedTestResult(NamedTuple):
    """The p-value of each pair of runs after any correction, and the exceedance counts before it, shape (measure, pair).

    Pairs are in the order of ``np.triu_indices(n_runs, 1)``. A test that does not resample has no counts and no `n_trials`.
    `exact`: p has no Monte Carlo error, without trials or with one for each possible sign vector. `largest`: of a max-T test,
    the largest statistics of each kind, shape (measure, kind, trial).
    """

    p: FloatArray
    counts: IntArray | None
    n_trials: int | None
    exact: bool
    largest: FloatArray | None = None


def run_test(values: FloatArray, test: Test, n_jobs: int) -> PairedTestResult:
    """Compare the statistics of every pair with the largest ones of every trial.

    The p-value is count / n_trials if all sign vectors are tried, and (count + 1) / (n_trials + 1) otherwise.
    """
    n_runs, n_topics, n_measures = values.shape
    scores = scale_scores(values)
    size = max(FEWEST_TRIALS, min(TRIALS_A_BLOCK, NUMBERS_A_BLOCK // n_topics))
    statistics = [
        _merge_equal(test.prepare(np.ascontiguousarray(scores[..., measure]))) for measure in range(n_measures)
    ]
    trials = range(test.n_trials)
    parts = run_parts(
        partial(run_trials, statistics, test),
        [trials[start : start + size] for start in range(0, test.n_trials, size)],
        n_jobs=n_jobs,
        sharing={"require": "sharedmem"},  # a process would need a copy of the statistics
        say=lambda done: tell(f"trials of {test.name}", done, test.n_trials),
    )
    largest = np.concatenate(list(parts), axis=2)
    counts = np.empty((n_measures, n_runs * (n_runs - 1) // 2), dtype=np.int64)
    for measure, (of_measure, of_trials) in enumerate(zip(statistics, largest, strict=True)):
        of_trials[:] = [_merge(of_kind, of_measure.tolerance) for of_kind in of_trials]
        counts[measure] = count_exceedances(of_measure, of_trials)
    p = counts / test.n_trials if test.exact else (counts + 1) / (test.n_trials + 1)
    return PairedTestResult(p, counts, test.n_trials, test.exact, largest)


def run_trials(statistics: Sequence[Statistics], test: Test, trials: range) -> FloatArray:
    """Return the largest statistics of some of the trials, shape (measure, kind, trial)."""
    # Topics come first, so that a product runs along trials.
    drawn = np.ascontiguousarray(test.draw(trials).T, dtype=np.float64)
    return np.array([of_measure.find_largest(drawn) for of_measure in statistics])


def find_largest(parts: Iterable[Sequence[FloatArray]], n_trials: int) -> FloatArray:
    """Return the largest of the statistics of each kind, shape (pair, trial); that of no difference is 0 or NaN."""
    largest: list[FloatArray] = []
    for kinds in parts:
        largest = largest or [np.zeros(n_trials) for _ in kinds]
        for row, statistics in zip(largest, kinds, strict=True):
            np.fmax(row, np.fmax.reduce(statistics, axis=0), out=row)
    return np.array(largest)


def count_exceedances(statistics: Statistics, largest: FloatArray) -> IntArray:
    """Count the trials that are at least as extreme as each pair, shape (pair,), from the largest ones, (kind, trial).

    How extreme something is of one kind is the number of trials whose largest statistic reaches it, and of several kinds
    the smallest of these numbers.
    """
    reached = statistics.observed * (1 - statistics.tolerance)
    ordered = np.sort(largest, axis=1)
    return np.searchsorted(np.sort(rank_trials(ordered, largest)), rank_trials(ordered, reached), side="right")


def rank_trials(ordered: FloatArray, numbers: FloatArray) -> IntArray:
    """Return how many trials reach numbers, the smallest count of all kinds; `ordered` are their largest statistics, sorted."""
    below = [np.searchsorted(*of_kind, side="left") for of_kind in zip(ordered, numbers, strict=True)]
    return np.asarray(ordered.shape[1] - np.max(below, axis=0))


def _merge_equal(statistics: Statistics) -> Statistics:
    """Give observed statistics that rounding alone tells apart one value, the smallest of them."""
    return statistics._replace(observed=np.array([_merge(row, statistics.tolerance) for row in statistics.observed]))


def _merge(observed: FloatArray, tolerance: float) -> FloatArray:
    order = np.argsort(observed, kind="stable")
    ordered = observed[order]
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = ordered[1:] * (1 - tolerance) > ordered[:-1]
    merged = np.empty_like(ordered)
    merged[order] = ordered[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return merged
