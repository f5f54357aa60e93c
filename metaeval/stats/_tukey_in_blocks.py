"""The randomised Tukey HSD test of scores that memory does not hold: topics in blocks, sums of trials held between them.

Every number is that of `metaeval.stats.randomised_tukey`: what a trial does to a topic depends on neither's neighbours,
and sums of whole numbers do not depend on their order.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from metaeval.stats._check import FloatArray
from metaeval.stats.blocks import read_topics, split_runs, split_topics
from metaeval.stats.parallel import Kept, is_resumable, iterate_kept_tasks
from metaeval.stats.progress import describe_shape, tell
from metaeval.stats.quantise import LARGEST_UNIT
from metaeval.stats.scale import find_exponents
from metaeval.stats.streams import trial_keys

IntArray = npt.NDArray[np.int64]

SUMS_A_PASS = 2**28
"""Bytes of sums held at once: trials beyond them take another pass over the scores."""

TRIALS_A_KEPT_PASS = 640
"""Trials that a pass computes at most if they are kept for a study to be resumed: it takes several times as long as
reading the scores does."""


def find_ranges(
    values: FloatArray, key: int, trials: range, engine: Literal["numpy", "numba"], n_jobs: int
) -> tuple[IntArray, IntArray]:
    """Return the range of the permuted sums in each trial, and the sums of the runs.

    Parameters
    ----------
    values : ndarray of float64, shape (run, topic, measure)
        Finite.
    key : int
    trials : range
    engine : {"numpy", "numba"}
    n_jobs : int

    Returns
    -------
    ranges : ndarray of int64, shape (trial, measure)
    sums : ndarray of int64, shape (run, measure)
    """
    n_runs, n_topics, n_measures = values.shape
    units = Units(values)
    padded = n_measures if engine == "numpy" else -(-n_measures // 8) * 8
    a_pass, kept = max(16, SUMS_A_PASS // (8 * n_runs * padded)), is_resumable()
    if kept:
        a_pass = min(a_pass, TRIALS_A_KEPT_PASS)
    passes = [trials[start : start + a_pass] for start in range(0, len(trials), a_pass)]
    held = min(len(trials), a_pass) * n_runs * padded * 8
    tell(
        f"{describe_shape(values.shape)}, B = {len(trials):,}: sums of "
        f"{held / 2**20:,.0f} MB are held in memory, and the scores are read {len(passes) + 2 + kept} times in blocks of "
        "topics"
    )
    sums, names = np.zeros((n_runs, n_measures), dtype=np.int64), [str(block) for block in passes]
    if kept:  # the first pass over the trials may be found
        names = _name_passes(units, key, passes, sums)

    def run_pass(number: int) -> IntArray:
        state = _start(engine, trial_keys(key, passes[number]), n_runs, n_measures, n_jobs)
        for topics in split_topics(values):
            block = units.read(topics)
            if not number and not kept:
                np.add(sums, block.sum(axis=0, dtype=np.int64), out=sums)
            state.add(block, topics.start)
            tell("permuting", number * n_topics + topics.stop, len(passes) * n_topics)
        return state.ranges()

    # Threads are inside a pass, of which the next one needs the memory.
    tasks: list[Any] = [(run_pass, (number,), {}) for number in range(len(passes))]
    made = [
        Kept(name, (len(block), n_measures), "int64", len(block)) for name, block in zip(names, passes, strict=True)
    ]
    return np.concatenate(list(iterate_kept_tasks(tasks, made, n_jobs=1, require="sharedmem"))), sums


def _name_passes(units: Units, key: int, passes: list[range], sums: IntArray) -> list[str]:
    """Name what passes find as if memory held the scores, whose sums are added on the way."""
    from metaeval.stats.randomised_tukey import begin_name, name_blocks

    n_runs, n_topics, n_measures = units.values.shape
    said = begin_name((n_topics, n_runs, n_measures), key)
    for topics in split_topics(units.values):
        block = np.ascontiguousarray(units.read(topics), dtype="<u4")
        said.update(block.data)
        sums += block.sum(axis=0, dtype=np.int64)
    return name_blocks(said, passes)


class Units:
    """What `metaeval.stats.quantise.quantise` makes of the scores, some topics at a time."""

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.exponents = -find_exponents(values)
        lowest, highest = np.full((2, *values.shape[1:]), np.inf)
        highest *= -1
        for runs in split_runs(values):
            np.minimum(lowest, values[runs].min(axis=0), out=lowest)
            np.maximum(highest, values[runs].max(axis=0), out=highest)
        self.lowest = np.ldexp(lowest, self.exponents)
        widest = (np.ldexp(highest, self.exponents) - self.lowest).max(axis=0)
        self.widest = np.where(widest > 0, widest, 1.0)

    def read(self, topics: slice) -> npt.NDArray[np.uint32]:
        """Return the scores of some topics as integers, shape (topic, run, measure)."""
        above = read_topics(self.values, topics)
        np.ldexp(above, self.exponents, out=above)
        above -= self.lowest[topics]
        above /= self.widest
        above *= LARGEST_UNIT
        return np.asarray(np.rint(above, out=above).astype(np.uint32).transpose(1, 0, 2))


def _start(engine: str, keys: npt.NDArray[np.uint64], n_runs: int, n_measures: int, n_jobs: int) -> _Lanes | _Arrays:
    return (_Lanes if engine == "numba" else _Arrays)(keys, n_runs, n_measures, n_jobs)


class _Lanes:
    """Trials of the Numba engine, divided among threads."""

    def __init__(self, keys: npt.NDArray[np.uint64], n_runs: int, n_measures: int, n_jobs: int) -> None:
        import joblib

        from metaeval.stats._lanes import LANES, hold_sums

        self.n_jobs = joblib.effective_n_jobs(n_jobs)
        size = LANES * math.ceil(len(keys) / self.n_jobs / LANES)
        self.parts = [keys[start : start + size] for start in range(0, len(keys), size)]
        self.held = [hold_sums(len(part), n_runs, n_measures) for part in self.parts]
        self.found: list[IntArray] = []

    def add(self, units: npt.NDArray[np.uint32], first_topic: int) -> None:
        import joblib

        from metaeval.stats._lanes import lane_ranges

        # The sums are here, so that the work is done here too, whatever backend was asked for.
        self.found = joblib.Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            joblib.delayed(lane_ranges)(units, part, first_topic=first_topic, held=held)
            for part, held in zip(self.parts, self.held, strict=True)
        )

    def ranges(self) -> IntArray:
        return np.concatenate(self.found)


class _Arrays:
    """Trials of the NumPy engine."""

    def __init__(self, keys: npt.NDArray[np.uint64], n_runs: int, n_measures: int, _: int) -> None:
        self.keys = keys
        self.sums = np.zeros((n_runs, keys.size, n_measures), dtype=np.int64)

    def add(self, units: npt.NDArray[np.uint32], first_topic: int) -> None:
        from metaeval.stats.randomised_tukey import add_topics

        add_topics(self.sums, np.ascontiguousarray(units, dtype=np.int64), self.keys, first_topic)

    def ranges(self) -> IntArray:
        return np.asarray(self.sums.max(axis=0) - self.sums.min(axis=0))
