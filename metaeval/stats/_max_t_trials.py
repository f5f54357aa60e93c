"""Trials of the max-T tests: in blocks, one measure at a time where scores are large, kept for a study to be resumed.

What a block finds depends on its trials alone, and sums of whole numbers do not depend on their order, so that no
division of the work moves a bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray, Scaled
from metaeval.stats.parallel import count_jobs, is_resumable, run_parts, tell

# Numbers held at once by a block of trials, and the fewest trials that make a block worth its overhead.
NUMBERS_A_BLOCK = 2**21
TRIALS_A_BLOCK = 1024
FEWEST_TRIALS = 32

# Multiplications in a block that is kept for a study to be resumed: some tenths of a second, much longer than writing
# a file takes.
KEPT_WORK = 4_000_000_000
COPIES = 3
"""How many times the scores of one large measure are held at once, while they are prepared."""

RECIPE = 3
"""Goes up when the trials change: what is kept from an earlier recipe is not used."""


class Statistics(NamedTuple):
    """Observed statistics of all pairs, shape (pair,), and what makes those of trials.

    `compute` takes weights of the topics, shape (topic, trial), and yields pairs with their statistics, shape (pair, trial).
    Two statistics are equal if they differ by less than `tolerance`, relatively.
    """

    observed: FloatArray
    tolerance: float
    compute: Callable[[FloatArray], Iterator[tuple[slice, FloatArray]]]


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
    step_down: bool
    exact: bool = False


class PairedTestResult(NamedTuple):
    """The p-value of each pair of runs after any correction, and the exceedance counts before it, shape (measure, pair).

    Pairs are in the order of ``np.triu_indices(n_runs, 1)``. A test that does not resample has no counts and no `n_trials`.
    `exact`: p has no Monte Carlo error, without trials or with one for each possible sign vector.
    """

    p: FloatArray
    counts: IntArray | None
    n_trials: int | None
    exact: bool


def run_test(values: FloatArray, test: Test, n_jobs: int) -> PairedTestResult:
    """Compare the statistic of every pair with the largest one of every trial.

    The p-value is count / n_trials if all sign vectors are tried, and (count + 1) / (n_trials + 1) otherwise; after stepping
    down, no pair has a smaller p-value than a pair with a larger statistic.
    """
    counts, observed = _count_exceedances(values, test, n_jobs)
    p = counts / test.n_trials if test.exact else (counts + 1) / (test.n_trials + 1)
    if test.step_down:
        for row, statistics in zip(p, observed, strict=True):
            descending = np.argsort(-statistics, kind="stable")
            row[descending] = np.maximum.accumulate(row[descending])
    return PairedTestResult(p, counts, test.n_trials, test.exact)


def _count_exceedances(values: FloatArray, test: Test, n_jobs: int) -> tuple[IntArray, FloatArray]:
    """Return how many trials reach the statistic of each pair, and the statistics, both of shape (measure, pair)."""
    n_runs, n_topics, n_measures = values.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    scores = Scaled(values)
    size = max(FEWEST_TRIALS, min(TRIALS_A_BLOCK, NUMBERS_A_BLOCK // max(n_topics, n_pairs if test.step_down else 1)))
    _announce(scores, test, n_jobs)
    counts, observed = np.zeros((n_measures, n_pairs), dtype=np.int64), np.empty((n_measures, n_pairs))
    computed = 0  # trials that were not found in a folder, of all groups of measures
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
            shape=(len(measures), n_pairs),
            dtype="int64",
            n_jobs=n_jobs,
            sharing={"require": "sharedmem"},  # a process would need a copy of the statistics
            say=say,
        )
        some = slice(measures.start, measures.stop)
        observed[some] = [of_measure.observed for of_measure in statistics]
        for part in of_parts:
            counts[some] += part
        del statistics  # before those of the next measures are prepared
    return counts, observed


def run_trials(statistics: Sequence[Statistics], test: Test, trials: range, *, size: int) -> IntArray:
    """Count some of the trials that reach the statistic of each pair, shape (measure, pair), `size` at a time."""
    count = _count_step_down if test.step_down else _count_single_step
    counts = np.zeros((len(statistics), len(statistics[0].observed)), dtype=np.int64)
    for start in range(0, len(trials), size):
        # Topics come first, so that a product runs along trials.
        drawn = np.ascontiguousarray(test.draw(trials[start : start + size]).T, dtype=np.float64)
        for row, of_measure in zip(counts, statistics, strict=True):
            row += count(of_measure, drawn)
    return counts


def _name_trials(scores: Scaled, measures: range, test: Test) -> str:
    """Return a name made of everything that the statistics of a trial depend on."""
    shape = (*scores.shape[:2], len(measures))
    digest = hashlib.sha256(f"{RECIPE} {test.settings} {test.step_down} {shape}".encode())
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


def _count_single_step(statistics: Statistics, drawn: FloatArray) -> IntArray:
    """Count the trials whose largest statistic reaches that of each pair, shape (pair,)."""
    largest = np.zeros(drawn.shape[1])
    for _, part in statistics.compute(drawn):
        np.maximum(largest, part.max(axis=0), out=largest)
    reached = statistics.observed * (1 - statistics.tolerance)
    return len(largest) - np.searchsorted(np.sort(largest), reached, side="left")


def _count_step_down(statistics: Statistics, drawn: FloatArray) -> IntArray:
    """Count the trials in which a pair whose statistic is no larger reaches that of each pair, shape (pair,)."""
    n_pairs, n_trials = len(statistics.observed), drawn.shape[1]
    ascending = np.argsort(statistics.observed, kind="stable")
    largest = np.empty((n_pairs, n_trials))
    for pairs, part in statistics.compute(drawn):
        largest[pairs] = part
    largest = largest[ascending]
    np.maximum.accumulate(largest, axis=0, out=largest)
    counts, ordered = np.empty(n_pairs, dtype=np.int64), statistics.observed[ascending]
    # Of equal statistics none comes before the others: each is compared with all of them.
    last = np.searchsorted(ordered, ordered, side="right") - 1
    reached = largest[last] >= ordered[:, np.newaxis] * (1 - statistics.tolerance)
    counts[ascending] = np.count_nonzero(reached, axis=1)
    return counts


def _merge_equal(statistics: Statistics) -> Statistics:
    """Give observed statistics that rounding alone tells apart one value, the smallest of them."""
    order = np.argsort(statistics.observed, kind="stable")
    ordered = statistics.observed[order]
    new = np.ones(len(ordered), dtype=np.bool_)
    new[1:] = ordered[1:] * (1 - statistics.tolerance) > ordered[:-1]
    merged = np.empty_like(ordered)
    merged[order] = ordered[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return statistics._replace(observed=merged)
