"""The randomised Tukey HSD test: which runs differ significantly if all pairs are compared at once?

Carterette (2012), "Multiple testing in statistical analysis of systems-based information retrieval
experiments", ACM TOIS 30(1); Sakai (2018), "Laboratory Experiments in Information Retrieval", Springer. In
each trial the scores within every topic are permuted among the runs; the largest difference between two
column means is recorded; the p-value of a pair of runs is the share of trials whose recorded range is at
least the observed difference of their means.
"""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._check import check_count, check_shape
from metaeval.stats.blocks import is_large
from metaeval.stats.parallel import Kept, is_resumable, iterate_kept_tasks, run_tasks
from metaeval.stats.permutations import LARGEST_NETWORK, ROWS_A_CALL, permute_columns
from metaeval.stats.progress import tell
from metaeval.stats.quantise import quantise, tie_tolerance
from metaeval.stats.scale import scale_scores
from metaeval.stats.streams import check_key, trial_keys

Engine: TypeAlias = Literal["auto", "numpy", "numba"]
IntArray: TypeAlias = npt.NDArray[np.int64]

# With fewer trials per task, the overhead of a task is a noticeable share of its time.
SMALLEST_BLOCK = 640
TRIALS_A_CALL = 2_560
LARGEST_SUMS = 32 * 2**20

# The NumPy engine takes about (4 + measures) x 0.65 ns per cell; loading a kernel that is kept on disk takes some 60 ms
# per process, and compiling it some 8 ms per run, once. Use NumPy until the time spent in it would have paid for that:
# many small tests add up too, and both engines give the same results.
LOADING_PAYS = 100_000_000
COMPILING_PAYS_PER_RUN = 12_000_000

# Work of a block of trials that is kept for a study to be resumed: about half a second of the compiled engine, much
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
        The scores.
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
        Number of trials whose range is at least the observed difference; pairs are in the order of
        ``np.triu_indices(n_runs, 1)``.

    Raises
    ------
    MetaevalError
        If there are fewer than two runs or topics, a score is not finite, or `n_permutations` is less than 1.

    See Also
    --------
    p_values : converts counts to p-values.
    trial_ranges : the range of the permuted sums in each trial.

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
    engine = _choose_engine(engine, raw.shape, n_permutations)
    if is_large(raw):
        from metaeval.stats._tukey_in_blocks import find_ranges

        found, sums = find_ranges(raw, key, range(first_trial, first_trial + n_permutations), engine, n_jobs)
        return _count_exceedances(sums, raw.shape[1], found)
    scores = scale_scores(raw)
    units = quantise(scores)
    n_topics = len(units)
    kept = is_resumable()
    blocks = _divide_trials(first_trial, n_permutations, n_jobs, scores.shape, engine, kept=kept)
    if len(blocks) == 1 and not kept:
        ranges = [trial_ranges(units, key, blocks[0], engine)]
    else:
        import joblib

        task = _Task(units)
        tasks = [joblib.delayed(task.ranges)(key, block, engine) for block in blocks]
        names = name_blocks(begin_name(units.shape, key, units), blocks) if kept else [str(block) for block in blocks]
        made = [
            Kept(name, (len(block), raw.shape[2]), "int64", len(block))
            for name, block in zip(names, blocks, strict=True)
        ]
        if kept or len(blocks) > joblib.effective_n_jobs(n_jobs):
            say = partial(tell, "permuting")
            ranges = list(iterate_kept_tasks(tasks, made, n_jobs=n_jobs, prefer="threads", say=say))
        else:
            ranges = run_tasks(tasks, n_jobs=n_jobs, prefer="threads")
    return _count_exceedances(units.sum(axis=0, dtype=np.int64), n_topics, np.concatenate(ranges))


def p_values(counts: npt.ArrayLike, n_permutations: int, *, add_one: bool = False) -> npt.NDArray[np.float64]:
    """Convert exceedance counts to p-values.

    Parameters
    ----------
    counts : array_like of int, shape (...)
        Exceedance counts.
    n_permutations : int
        Number of trials, B.
    add_one : bool
        Count the observed scores as an additional trial: (count + 1)/(B + 1), which is never zero. The default,
        count/B, is the p-value of Carterette (2012) and Sakai (2018).

    Returns
    -------
    ndarray of float64, shape (...)

    Raises
    ------
    MetaevalError
        If a count does not lie between 0 and `n_permutations`.

    Examples
    --------
    >>> p_values([0, 50], 1000)
    array([0.  , 0.05])
    >>> p_values([0, 50], 999, add_one=True)
    array([0.001, 0.051])
    """
    exceeding = np.asarray(counts)
    n_permutations = check_count(n_permutations, "permutations")
    if exceeding.size and (exceeding.min() < 0 or exceeding.max() > n_permutations):
        raise MetaevalError(f"Counts must lie between 0 and the number of permutations, {n_permutations}.")
    return (exceeding + add_one) / (n_permutations + add_one)


def _count_exceedances(sums: IntArray, n_topics: int, ranges: IntArray) -> IntArray:
    n_runs, n_measures = sums.shape
    first, second = np.triu_indices(n_runs, 1)
    # A difference consists of two sums, and so does a range.
    tolerance = tie_tolerance(2 * n_topics)
    counts = np.empty((n_measures, first.size), dtype=np.int64)
    for measure in range(n_measures):
        observed = np.abs(sums[first, measure] - sums[second, measure]) - tolerance
        counts[measure] = len(ranges) - np.searchsorted(np.sort(ranges[:, measure]), observed, side="left")
    return counts


class _Task:
    """A task that holds the scores itself instead of taking them as an argument.

    A cluster sends a large argument to one worker only, and cannot repeat the task if that worker dies.
    """

    def __init__(self, units: npt.NDArray[np.uint32]) -> None:
        self.units = units

    def ranges(self, key: int, trials: range, engine: Literal["numpy", "numba"]) -> IntArray:
        return trial_ranges(self.units, key, trials, engine)


def begin_name(shape: tuple[int, ...], key: int, units: npt.NDArray[np.uint32] | None = None) -> hashlib._Hash:
    """Begin to digest what ranges depend on: the shape of the units, the key, and the units, which may follow in parts."""
    said = hashlib.sha256(f"{RECIPE} {tuple(shape)} {key}".encode())
    if units is not None:
        said.update(np.ascontiguousarray(units, dtype="<u4").data)
    return said


def name_blocks(said: hashlib._Hash, blocks: list[range]) -> list[str]:
    """Name the results of blocks after everything that they depend on."""
    return [f"ranges-{said.hexdigest()[:32]}-{block.start}-{block.stop}" for block in blocks]


def _choose_engine(engine: str, shape: tuple[int, ...], n_trials: int) -> Literal["numpy", "numba"]:
    if engine == "numpy":
        return "numpy"
    if engine == "numba":
        return "numba"
    if engine != "auto":
        raise MetaevalError(f'The engine must be "auto", "numpy" or "numba", not {engine!r}.')
    n_runs, n_topics, n_measures = shape
    global _numpy_work
    work = n_runs * n_topics * n_trials * (4 + n_measures)
    saved = _numpy_work + work
    kernels: Any = None
    if saved >= LOADING_PAYS or "metaeval.stats._lanes" in sys.modules:
        try:
            # Another thread may be loading it: an import waits for that, a look into sys.modules does not.
            from metaeval.stats import _lanes
        except ImportError:
            return "numpy"
        kernels = _lanes
    if kernels is not None and (
        kernels.is_loaded(n_runs)
        or (saved >= LOADING_PAYS and kernels.is_kept(n_runs))
        or saved >= min(n_runs, LARGEST_NETWORK) * COMPILING_PAYS_PER_RUN
    ):
        return "numba"
    _numpy_work = saved
    return "numpy"


def _divide_trials(
    first_trial: int, n_trials: int, n_jobs: int, shape: tuple[int, ...], engine: str, *, kept: bool
) -> list[range]:
    """Divide the trials among jobs and, where they take long, further, so that progress can be told.

    If they are to be kept, the blocks do not depend on the number of jobs or the engine.
    """
    if first_trial < 0:
        raise MetaevalError(f"Trials are numbered from 0, so the first cannot be {first_trial}.")
    n_runs, n_topics, n_measures = shape
    work = n_runs * n_topics * (4 + n_measures)
    if kept:
        size = max(SMALLEST_BLOCK, KEPT_WORK // work)
    else:
        jobs = 1
        if n_jobs != 1:
            import joblib

            jobs = joblib.effective_n_jobs(n_jobs)
        share = -(-n_trials // jobs)
        times = 1 if engine == "numba" else NUMPY_TIMES
        of_each = max(1, times * share * work // KEPT_WORK)
        # Every job has as many blocks, and whole vectors of sixteen trials.
        size = max(SMALLEST_BLOCK, share if of_each == 1 else -(-share // of_each // 16) * 16)
    end = first_trial + n_trials
    return [range(start, min(start + size, end)) for start in range(first_trial, end, size)]


def trial_ranges(units: npt.NDArray[np.uint32], key: int, trials: range, engine: Literal["numpy", "numba"]) -> IntArray:
    """How far apart are the extreme runs in each trial, if the runs do not differ?

    Parameters
    ----------
    units : ndarray of uint32, shape (topic, run, measure)
        Scores as integers, from `metaeval.stats.quantise`.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    trials : range
        Numbers of the trials.
    engine : {"numpy", "numba"}
        Both give the same bits.

    Returns
    -------
    ndarray of int64, shape (trial, measure)
        The largest minus the smallest permuted sum, in the same units.
    """
    keys = trial_keys(key, trials)
    if engine == "numba":
        from metaeval.stats._lanes import lane_ranges

        return lane_ranges(units, keys)
    _, n_runs, n_measures = units.shape
    scores = np.ascontiguousarray(units, dtype=np.int64)
    size = max(16, min(TRIALS_A_CALL, LARGEST_SUMS // (8 * n_runs * n_measures)))
    starts = range(0, len(keys), size)
    return np.concatenate([_numpy_ranges(scores, keys[start : start + size]) for start in starts])


def _numpy_ranges(scores: IntArray, keys: npt.NDArray[np.uint64]) -> IntArray:
    sums = np.zeros((scores.shape[1], keys.size, scores.shape[2]), dtype=np.int64)
    add_topics(sums, scores, keys, 0)
    largest: IntArray = sums.max(axis=0) - sums.min(axis=0)
    return largest


def add_topics(sums: IntArray, scores: IntArray, keys: npt.NDArray[np.uint64], first_topic: int) -> None:
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
