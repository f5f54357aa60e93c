"""Trials of the max-T tests: in blocks, one measure at a time where scores are large, kept for a study to be resumed.

What a block finds depends on its trials alone, and sums of whole numbers do not depend on their order, so that no
division of the work moves a bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray, Scaled
from metaeval.stats.parallel import count_jobs, is_resumable, run_parts, tell

# Numbers held at once by a block of trials, and the fewest trials that make a block worth its overhead.
NUMBERS_A_BLOCK = 2**21
TRIALS_A_BLOCK = 2048
FEWEST_TRIALS = 32

# Multiplications in a block that is kept for a study to be resumed: some tenths of a second, much longer than writing
# a file takes.
KEPT_WORK = 4_000_000_000
COPIES = 3
"""How many times the scores of one large measure are held at once, while they are prepared."""

RECIPE = 5
"""Goes up when the trials change: what is kept from an earlier recipe is not used."""


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

    `settings` names everything but the scores that trials depend on. `prepare` takes the scaled scores of a measure, contiguous
    of shape (run, topic), and overwrites them; `draw` returns weights of topics, shape (trial, topic); `work` is about how many
    multiplications a trial of one measure takes. `exact`: the trials are all sign vectors, the observed one included.
    """

    name: str
    settings: str
    prepare: Callable[[FloatArray], Statistics]
    draw: Callable[[range], npt.NDArray[np.integer]]
    n_trials: int
    work: int
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
    n_pairs = n_runs * (n_runs - 1) // 2
    scores = Scaled(values)
    size = max(FEWEST_TRIALS, min(TRIALS_A_BLOCK, NUMBERS_A_BLOCK // n_topics))
    _announce(scores, test, n_jobs)
    counts = np.zeros((n_measures, n_pairs), dtype=np.int64)
    computed = 0  # trials that were not found in a folder, of all groups of measures
    every: list[FloatArray] = []
    for measures in scores.split_measures():
        statistics = [_merge_equal(test.prepare(scores.take(measure))) for measure in measures]
        length = size
        if is_resumable():
            length *= max(1, KEPT_WORK // (size * test.work * len(measures)))
        trials = range(test.n_trials)
        parts = [trials[start : start + length] for start in range(0, test.n_trials, length)]
        before, later = computed, (n_measures - measures.stop) // len(measures) * test.n_trials

        def say(done: int, to_do: int, before: int = before, later: int = later) -> None:
            nonlocal computed
            computed = before + done
            tell(f"trials of {test.name}", computed, before + to_do + later)

        of_parts = run_parts(
            partial(run_trials, statistics, test, size=size),
            parts,
            name=partial(_name_trials, scores, measures, test),
            shape=(len(measures), len(statistics[0].observed), None),
            dtype="float64",
            n_jobs=n_jobs,
            sharing={"require": "sharedmem"},  # a process would need a copy of the statistics
            say=say,
        )
        largest = np.concatenate(list(of_parts), axis=2)
        for measure, of_measure, of_trials in zip(measures, statistics, largest, strict=True):
            of_trials[:] = [_merge(of_kind, of_measure.tolerance) for of_kind in of_trials]
            counts[measure] = count_exceedances(of_measure, of_trials)
        every.append(largest)
        del statistics  # before those of the next measures are prepared
    p = counts / test.n_trials if test.exact else (counts + 1) / (test.n_trials + 1)
    return PairedTestResult(p, counts, test.n_trials, test.exact, np.concatenate(every))


def run_trials(statistics: Sequence[Statistics], test: Test, trials: range, *, size: int) -> FloatArray:
    """Return the largest statistics of some of the trials, shape (measure, kind, trial), `size` at a time."""
    largest = np.empty((len(statistics), len(statistics[0].observed), len(trials)))
    for start in range(0, len(trials), size):
        # Topics come first, so that a product runs along trials.
        drawn = np.ascontiguousarray(test.draw(trials[start : start + size]).T, dtype=np.float64)
        for row, of_measure in zip(largest, statistics, strict=True):
            row[:, start : start + size] = of_measure.find_largest(drawn)
    return largest


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


def _name_trials(scores: Scaled, measures: range, test: Test) -> str:
    """Return a name made of everything that the statistics of a trial depend on."""
    shape = (*scores.shape[:2], len(measures))
    digest = hashlib.sha256(f"{RECIPE} {test.settings} {shape}".encode())
    for measure in measures:
        digest.update(np.ascontiguousarray(scores.take(measure), dtype="<f8").data)
    return f"{test.name}-{digest.hexdigest()[:32]}"


def _announce(scores: Scaled, test: Test, n_jobs: int) -> None:
    n_runs, n_topics, _ = scores.shape
    of_measure = 8 * n_runs * n_topics
    # Each thread holds random numbers, weights and statistics of a block.
    total = COPIES * of_measure + count_jobs(n_jobs) * 6 * 8 * NUMBERS_A_BLOCK
    scores.announce(
        f", B = {test.n_trials:,}: the scores are read one measure at a time, {of_measure / 2**20:,.0f} MB, and about "
        f"{total / 2**20:,.0f} MB are held in memory for {test.name}"
    )


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
