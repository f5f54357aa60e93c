"""Trials of the max-T tests: in blocks, one measure at a time where scores are large, kept for a study to be resumed.

What a block finds depends on its trials alone, and sums of whole numbers do not depend on their order, so that no
division of the work moves a bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats._check import FloatArray
from metaeval.stats.blocks import is_large, take_measure
from metaeval.stats.parallel import Kept, is_resumable, iterate_kept_tasks
from metaeval.stats.progress import describe_shape, tell
from metaeval.stats.scale import find_exponents, scale_scores

IntArray = npt.NDArray[np.int64]

# Numbers held at once by a block of trials, and the fewest trials that make a block worth its overhead.
NUMBERS_A_BLOCK = 2**21
TRIALS_A_BLOCK = 1024
FEWEST_TRIALS = 32

# Multiplications in a block that is kept for a study to be resumed: some tenths of a second, much longer than writing
# a file takes.
KEPT_WORK = 4_000_000_000
COPIES = 3
"""How many times the scores of one large measure are held at once, while they are prepared."""

RECIPE = 1
"""Goes up when the trials change: what is kept from an earlier recipe is not used."""


class Statistics(NamedTuple):
    """The statistics of all pairs under one measure.

    Attributes
    ----------
    observed : ndarray of float64, shape (pair,)
    tolerance : float
        Relative difference below which two statistics are equal.
    compute : callable
        From weights of the topics, shape (topic, trial), to pairs and their statistics, shape (pair, trial), in parts.
    """

    observed: FloatArray
    tolerance: float
    compute: Callable[[FloatArray], Iterator[tuple[slice, FloatArray]]]


class Test(NamedTuple):
    """What makes a max-T test of scores.

    Attributes
    ----------
    name : str
    settings : str
        Everything that the trials depend on beside the scores.
    prepare : callable
        From the scaled scores of one measure, contiguous of shape (run, topic), which it overwrites, to statistics.
    draw : callable
        From numbers of trials to weights of the topics, shape (trial, topic).
    n_trials : int
    work : int
        About how many multiplications a trial of one measure takes.
    step_down : bool
    """

    name: str
    settings: str
    prepare: Callable[[FloatArray], Statistics]
    draw: Callable[[range], npt.NDArray[np.integer]]
    n_trials: int
    work: int
    step_down: bool


class _Group(NamedTuple):
    """Measures whose trials are computed together, and the name of their scores, if trials are kept."""

    measures: slice
    statistics: list[Statistics]
    name: str


def count_exceedances(values: FloatArray, test: Test, n_jobs: int) -> tuple[IntArray, FloatArray]:
    """Count the trials whose largest statistic is at least that of each pair.

    Parameters
    ----------
    values : ndarray of float64, shape (run, topic, measure)
        Finite.
    test : Test
    n_jobs : int

    Returns
    -------
    counts : ndarray of int64, shape (measure, pair)
    observed : ndarray of float64, shape (measure, pair)
        The statistics.
    """
    n_runs, n_topics, n_measures = values.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    large, kept = is_large(values), is_resumable()
    size = max(FEWEST_TRIALS, min(TRIALS_A_BLOCK, NUMBERS_A_BLOCK // max(n_topics, n_pairs if test.step_down else 1)))
    groups = n_measures if large else 1
    work = test.work * n_measures // groups
    length = size * max(1, KEPT_WORK // (size * work)) if kept else size
    blocks = [range(start, min(start + length, test.n_trials)) for start in range(0, test.n_trials, length)]
    if large:
        _state_memory(values, test, n_jobs)
    counts, observed = np.zeros((2, n_measures, n_pairs))
    counts = counts.astype(np.int64)
    find = _count_step_down if test.step_down else _find_largest

    def run_block(statistics: Sequence[Statistics], trials: range) -> npt.NDArray[np.generic]:
        return run_trials(statistics, test.draw, trials, size, find)

    computed = 0  # in all measures, trials that were not kept

    for number, group in enumerate(_prepare_groups(values, test, large=large, named=kept)):
        # As joblib.delayed writes them, which is not imported for a short test.
        tasks: list[Any] = [(run_block, (group.statistics, block), {}) for block in blocks]
        made = [
            Kept(
                f"{group.name}-{block.start}-{block.stop}",
                (len(group.statistics), n_pairs if test.step_down else len(block)),
                "int64" if test.step_down else "float64",
                len(block),
            )
            for block in blocks
        ]
        # Threads share the statistics, whatever backend was asked for: a process would need a copy of them.
        before, later = computed, (groups - number - 1) * test.n_trials

        def say(done: int, to_do: int, before: int = before, later: int = later) -> None:
            nonlocal computed
            computed = before + done
            tell(f"trials of {test.name}", computed, before + to_do + later)

        jobs = n_jobs if len(tasks) > 1 else 1
        found = iterate_kept_tasks(tasks, made, n_jobs=jobs, require="sharedmem", say=say)
        largest = []
        for one in found:
            if test.step_down:
                counts[group.measures] += one
            else:
                largest.append(one)
        observed[group.measures] = [one.observed for one in group.statistics]
        if not test.step_down:
            counts[group.measures] = _count_single_step(group.statistics, np.concatenate(largest, axis=1))
    return counts, observed


def run_trials(
    statistics: Sequence[Statistics],
    draw: Callable[[range], npt.NDArray[np.integer]],
    trials: range,
    size: int,
    find: Callable[[Statistics, FloatArray], npt.NDArray[np.generic]],
) -> npt.NDArray[np.generic]:
    """Return what a block of trials finds, some trials at a time.

    Parameters
    ----------
    statistics : sequence of Statistics
        Of the measures.
    draw : callable
        As in `Test`.
    trials : range
    size : int
        How many at a time.
    find : callable
        From statistics and weights, shape (topic, trial), to the largest statistics or to counts.

    Returns
    -------
    ndarray, shape (measure, trial) or (measure, pair)
        The largest statistic of every trial; stepping down, the number of trials that reach each pair's.
    """
    found = []
    for start in range(trials.start, trials.stop, size):
        # Topics come first, so that a product runs along trials.
        drawn = np.ascontiguousarray(draw(range(start, min(start + size, trials.stop))).T, dtype=np.float64)
        found.append(np.stack([find(one, drawn) for one in statistics]))
    if len(found) == 1:
        return found[0]
    return sum(found[1:], start=found[0]) if find is _count_step_down else np.concatenate(found, axis=1)


def _prepare_groups(values: FloatArray, test: Test, *, large: bool, named: bool) -> Iterator[_Group]:
    """Yield all measures together or, of large scores, one by one: then only those of one measure are held."""
    n_measures = values.shape[2]
    if not large:
        scores = scale_scores(values)
        name = _name(scores, test) if named else ""
        statistics = [test.prepare(np.ascontiguousarray(scores[..., measure])) for measure in range(n_measures)]
        del scores
        yield _Group(slice(None), statistics, name)
        return
    for measure in range(n_measures):
        taken = take_measure(values, measure)
        np.ldexp(taken, -find_exponents(taken[..., np.newaxis]), out=taken)
        name = _name(taken, test) if named else ""
        yield _Group(slice(measure, measure + 1), [test.prepare(taken)], name)


def _name(scores: FloatArray, test: Test) -> str:
    """Name what is found in trials after everything that it depends on."""
    said = hashlib.sha256(f"{RECIPE} {test.settings} {test.step_down} {scores.shape}".encode())
    said.update(np.ascontiguousarray(scores, dtype="<f8").data)
    return f"{test.name}-{said.hexdigest()[:32]}"


def _state_memory(values: FloatArray, test: Test, n_jobs: int) -> None:
    n_runs, n_topics, _ = values.shape
    threads = 1
    if n_jobs != 1:
        import joblib

        threads = joblib.effective_n_jobs(n_jobs)
    one = 8 * n_runs * n_topics
    # Each thread holds random numbers, weights and statistics of a block.
    held = COPIES * one + threads * 6 * 8 * NUMBERS_A_BLOCK
    tell(
        f"{describe_shape(values.shape)}, B = {test.n_trials:,}: the scores are read one "
        f"measure at a time, {one / 2**20:,.0f} MB, and about {held / 2**20:,.0f} MB are held in memory for {test.name}"
    )


def _find_largest(statistics: Statistics, drawn: FloatArray) -> FloatArray:
    """Return the largest statistic of all pairs in each trial, shape (trial,)."""
    largest = np.zeros(drawn.shape[1])
    for _, part in statistics.compute(drawn):
        np.maximum(largest, part.max(axis=0), out=largest)
    return largest


def _count_single_step(statistics: Sequence[Statistics], largest: FloatArray) -> IntArray:
    """Count the trials whose largest statistic reaches that of each pair, shape (measure, pair)."""
    largest = np.sort(largest, axis=1)
    n_trials = largest.shape[1]
    return np.stack(
        [
            n_trials - np.searchsorted(own, one.observed * (1 - one.tolerance), side="left")
            for one, own in zip(statistics, largest, strict=True)
        ]
    )


def _count_step_down(statistics: Statistics, drawn: FloatArray) -> IntArray:
    """Count the trials in which a pair whose statistic is no larger reaches that of each pair, shape (pair,)."""
    n_pairs, n_trials = len(statistics.observed), drawn.shape[1]
    ascending = np.argsort(statistics.observed, kind="stable")
    largest = np.empty((n_pairs, n_trials))
    for pairs, part in statistics.compute(drawn):
        largest[pairs] = part
    largest = largest[ascending]
    np.maximum.accumulate(largest, axis=0, out=largest)
    counts = np.empty(n_pairs, dtype=np.int64)
    reached = statistics.observed[ascending, np.newaxis] * (1 - statistics.tolerance)
    counts[ascending] = np.count_nonzero(largest >= reached, axis=1)
    return counts
