"""The randomised Tukey HSD test: which runs differ significantly if all pairs are compared at once?

Carterette (2012), "Multiple testing in statistical analysis of systems-based information retrieval
experiments", ACM TOIS 30(1); Sakai (2018), "Laboratory Experiments in Information Retrieval", Springer. In
each trial the scores within every topic are permuted among the runs; the largest difference between two
column means is recorded; the p-value of a pair of runs is the share of trials whose recorded range is at
least the observed difference of their means.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.blocks import FloatArray, IntArray, UnitArray, Units, check_count, check_shape, tie_tolerance
from metaeval.stats.parallel import count_jobs, is_resumable, run_parts, tell
from metaeval.stats.permutations import LARGEST_NETWORK, ROWS_A_CALL, permute_columns
from metaeval.stats.streams import check_key, trial_keys

if TYPE_CHECKING:
    from metaeval.stats._compiled import CompiledSums

Engine: TypeAlias = Literal["auto", "numpy", "numba"]

# With fewer trials in a part, its overhead is a noticeable share of its time.
SMALLEST_PART = 640
SMALLEST_TOLD = 2_560
TRIALS_A_CALL = 2_560
SUMS_A_CALL = 32 * 2**20

SUMS_HELD = 2**28
"""Bytes of sums that a part holds at most, from one block of topics to the next."""

# The NumPy engine takes about (4 + measures) x 0.65 ns per cell; loading a kernel that is kept on disk takes some 60 ms
# per process, and compiling it some 8 ms per run, once. Use NumPy until the time spent in it would have paid for that:
# many small tests add up too, and both engines give the same results.
LOADING_PAYS = 100_000_000
COMPILING_PAYS_PER_RUN = 12_000_000

# Work of a part of the trials that is kept for a study to be resumed: about half a second of the compiled engine, much
# longer than writing a file takes.
KEPT_WORK = 4_000_000_000
NUMPY_TIMES = 16
"""How many times as long the NumPy engine takes, roughly."""

RECIPE = 1
"""Goes up when the trials change: what is kept from an earlier recipe is not used."""

_numpy_work = 0


def randomised_tukey_hsd(
    values: npt.ArrayLike,
    *,
    n_permutations: int = 5000,
    key: int,
    engine: Engine = "auto",
    n_jobs: int = 1,
    first_trial: int = 0,
) -> IntArray:
    """In how many trials is the range of the permuted means at least the difference between two runs?

    All measures share the permutations. The counts treat ties exactly, and are the same for every engine, every
    number of jobs and every division of the trials into blocks.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        Finite; at least two runs and topics.
    n_permutations : int
        Number of trials, B.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    engine : {"auto", "numpy", "numba"}
        Both engines give the same result; ``"numba"`` is compiled by llvmlite, Numba's compiler. ``"auto"`` uses it if
        that saves more time than compiling, or loading what was compiled before, takes.
    n_jobs : int
        Number of threads, as in joblib; -1 for all cores.
    first_trial : int
        The number of the first trial, to continue another call: counts of disjoint trials can be added.

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
    check_key(key)
    if first_trial < 0:
        raise MetaevalError(f"Trials are numbered from 0, so the first cannot be {first_trial}.")
    chosen = _choose_engine(engine, raw.shape, n_permutations)
    units = Units(raw)
    n_runs, n_topics, n_measures = raw.shape
    parts = _divide_trials(range(first_trial, first_trial + n_permutations), raw.shape, chosen, n_jobs)
    _announce(units, parts, chosen)
    ranges = run_parts(
        partial(trial_ranges, units, key, engine=chosen),
        parts,
        name=lambda: units.name("ranges", f"{RECIPE} {(n_topics, n_runs, n_measures)} {key}"),
        shape=(None, n_measures),
        dtype="int64",
        n_jobs=n_jobs,
        sharing=units.sharing,
        # A short test says nothing.
        say=partial(tell, "permuting") if is_resumable() or len(parts) > count_jobs(n_jobs) else lambda *_: None,
    )
    return _count_exceedances(units, np.concatenate(list(ranges)))


def p_values(counts: npt.ArrayLike, n_permutations: int, *, add_one: bool = False) -> FloatArray:
    """Convert exceedance counts to p-values.

    Parameters
    ----------
    counts : array_like of int, shape (...)
        From 0 to `n_permutations`.
    n_permutations : int
        Number of trials, B.
    add_one : bool
        Count the observed scores as an additional trial: (count + 1)/(B + 1), which is never zero. The default,
        count/B, is the p-value of Carterette (2012) and Sakai (2018).

    Returns
    -------
    ndarray of float64, shape (...)

    Examples
    --------
    >>> p_values([0, 50], 1000), p_values([0, 50], 999, add_one=True)
    (array([0.  , 0.05]), array([0.001, 0.051]))
    """
    exceeding = np.asarray(counts)
    n_permutations = check_count(n_permutations, "permutations")
    if exceeding.size and (exceeding.min() < 0 or exceeding.max() > n_permutations):
        raise MetaevalError(f"Counts must lie between 0 and the number of permutations, {n_permutations}.")
    return (exceeding + add_one) / (n_permutations + add_one)


def _count_exceedances(units: Units, ranges: IntArray) -> IntArray:
    """Return how many ranges reach the difference of each pair, shape (measure, pair)."""
    n_runs, n_topics, n_measures = units.shape
    sums = np.zeros((n_runs, n_measures), dtype=np.int64)
    for _, block in units.blocks():
        sums += block.sum(axis=0, dtype=np.int64)
    first, second = np.triu_indices(n_runs, 1)
    # A difference consists of two sums, and so does a range.
    tolerance = tie_tolerance(2 * n_topics)
    counts = np.empty((n_measures, first.size), dtype=np.int64)
    for measure in range(n_measures):
        observed = np.abs(sums[first, measure] - sums[second, measure]) - tolerance
        counts[measure] = len(ranges) - np.searchsorted(np.sort(ranges[:, measure]), observed, side="left")
    return counts


def _announce(units: Units, parts: list[range], engine: str) -> None:
    n_runs, _, n_measures = units.shape
    sums = 8 * n_runs * _pad(n_measures, engine) * len(parts[0])
    reads = len(parts) + 2 + is_resumable()
    units.announce(
        f", B = {sum(map(len, parts)):,}: sums of {sums / 2**20:,.0f} MB are held in memory, and the scores are read "
        f"{reads} times in blocks of topics"
    )


def _pad(n_measures: int, engine: str) -> int:
    """Return of how many measures an engine holds sums: the compiled one adds eight at a time."""
    return n_measures if engine == "numpy" else -(-n_measures // 8) * 8


def _choose_engine(engine: Engine, shape: tuple[int, ...], n_trials: int) -> Literal["numpy", "numba"]:
    if engine not in get_args(Engine):
        raise MetaevalError(f'The engine must be "auto", "numpy" or "numba", not {engine!r}.')
    if engine != "auto":
        return engine
    n_runs, n_topics, n_measures = shape
    global _numpy_work
    work = n_runs * n_topics * n_trials * (4 + n_measures)
    saved = _numpy_work + work
    kernels: Any = None
    if saved >= LOADING_PAYS or "metaeval.stats._compiled" in sys.modules:
        try:
            # Another thread may be loading it: an import waits for that, a look into sys.modules does not.
            from metaeval.stats import _compiled
        except ImportError:
            return "numpy"
        kernels = _compiled
    if kernels is not None and (
        kernels.is_loaded(n_runs)
        or (saved >= LOADING_PAYS and kernels.is_kept(n_runs))
        or saved >= min(n_runs, LARGEST_NETWORK) * COMPILING_PAYS_PER_RUN
    ):
        return "numba"
    _numpy_work = saved
    return "numpy"


def _divide_trials(trials: range, shape: tuple[int, ...], engine: str, n_jobs: int) -> list[range]:
    """Divide the trials among jobs and, where they take long, further, so that progress can be told.

    If they are to be kept, the parts do not depend on the number of jobs or the engine.
    """
    n_runs, n_topics, n_measures = shape
    work = n_runs * n_topics * (4 + n_measures)
    if is_resumable():
        size = max(SMALLEST_PART, KEPT_WORK // work)
    else:
        share = -(-len(trials) // count_jobs(n_jobs))
        parts_a_job = max(1, share * work * (1 if engine == "numba" else NUMPY_TIMES) // KEPT_WORK)
        # Every job has as many parts, and whole vectors of sixteen trials. Each part reads scores that memory does not
        # hold once, so that a part that is told of is not a small one.
        size = share if parts_a_job == 1 else max(SMALLEST_TOLD, -(-share // parts_a_job // 16) * 16)
        most = max(16, SUMS_HELD // (8 * n_runs * _pad(n_measures, engine)))
        size = min(max(SMALLEST_PART, min(size, share)), most)
    return [trials[start : start + size] for start in range(0, len(trials), size)]


def trial_ranges(units: Units, key: int, trials: range, *, engine: Literal["numpy", "numba"]) -> IntArray:
    """Return the largest minus the smallest permuted sum of a run in each trial, in units, shape (trial, measure).

    Both engines, ``"numpy"`` and ``"numba"``, give the same bits.
    """
    keys, n_topics = trial_keys(key, trials), units.shape[1]
    if engine == "numba":
        from metaeval.stats._compiled import CompiledSums

        sums: Sums | CompiledSums = CompiledSums(keys, units.shape)
    else:
        sums = Sums(keys, units.shape)
    for topics, block in units.blocks():
        sums.add(block, topics.start)
        if len(block) < n_topics:
            tell("permuting topics", topics.stop, n_topics)
    return sums.ranges()


class Sums:
    """Sums of permuted scores over the topics added so far, made by NumPy."""

    def __init__(self, keys: npt.NDArray[np.uint64], shape: tuple[int, ...]) -> None:
        n_runs, _, n_measures = shape
        self._keys, self._sums = keys, np.zeros((n_runs, len(keys), n_measures), dtype=np.int64)

    def add(self, units: UnitArray, first_topic: int) -> None:
        """Add some topics, shape (topic, run, measure)."""
        scores = np.ascontiguousarray(units, dtype=np.int64)
        n_runs, n_trials, n_measures = self._sums.shape
        # A call adds trials whose sums stay in the processor's cache.
        size = max(16, min(TRIALS_A_CALL, SUMS_A_CALL // (8 * n_runs * n_measures)))
        for start in range(0, n_trials, size):
            _add_topics(self._sums[:, start : start + size], scores, self._keys[start : start + size], first_topic)

    def ranges(self) -> IntArray:
        """Return the largest minus the smallest sum, shape (trial, measure)."""
        return np.asarray(self._sums.max(axis=0) - self._sums.min(axis=0))


def _add_topics(sums: IntArray, scores: IntArray, keys: npt.NDArray[np.uint64], first_topic: int) -> None:
    """Add the permuted scores of some topics to the sums of every column, shape (column, trial, measure), in place."""
    n_topics, n_runs, n_measures = scores.shape
    permuted = np.empty((keys.size, n_measures), dtype=np.int64)
    topics_a_call = max(1, ROWS_A_CALL // keys.size)
    for start in range(0, n_topics, topics_a_call):
        topics = range(start, min(start + topics_a_call, n_topics))
        numbers = range(first_topic + topics.start, first_topic + topics.stop)
        for total, order in zip(sums, permute_columns(keys, numbers, n_runs), strict=True):
            for topic, runs in zip(topics, order.astype(np.intp), strict=True):
                # mode="clip" lets NumPy write to `out` unbuffered; no index is ever out of range.
                total += np.take(scores[topic], runs, axis=0, out=permuted, mode="clip")
