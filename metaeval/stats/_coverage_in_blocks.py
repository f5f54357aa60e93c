"""Unanimous improvement and coverage of scores of which memory holds few pairs of runs at a time.

What is counted of a pair of runs does not depend on other pairs, so that every number is that of `metaeval.stats.uir`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.errors import format_count, format_option
from metaeval.stats._check import FloatArray
from metaeval.stats.progress import describe_shape, tell
from metaeval.stats.resampled_sums import WEIGHTS_HELD, TopicSums, draw_weights
from metaeval.stats.run_pairs import split_pairs
from metaeval.stats.scale import Scaled, round_scaled
from metaeval.stats.uir import CELLS, pack_verdicts, spearman_over_pairs, unanimous

LONG = 100_000_000
"""Pairs of runs, times resamples, whose ranking takes more than half a minute."""


def count_unanimous(values: FloatArray) -> npt.NDArray[np.int64]:
    """Count topics of unanimous improvement of all measures for every pair of runs, as `metaeval.stats.uir.unanimous`.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
        Scores; higher is better for all measures.

    Returns
    -------
    ndarray of int64, shape (pair,)
    """
    scores = Scaled(values)
    n_runs, _, n_measures = scores.shape
    counts = np.empty(n_runs * (n_runs - 1) // 2, dtype=np.int64)
    every = np.ones((1, n_measures), dtype=bool)
    for pairs, gaps in split_pairs(scores, "comparing runs"):
        counts[pairs] = unanimous(pack_verdicts(round_scaled(gaps)), every)[0]
    return counts


def coverage_of_sets(values: FloatArray, places: npt.ArrayLike, members: npt.ArrayLike) -> FloatArray:
    """Compute the coverage of every measure with respect to sets of reference measures.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
        Scores; higher is better for all measures.
    places : array_like of int, shape (reference measure,)
        Where the measures in the sets are among them.
    members : array_like of bool, shape (set, reference measure)

    Returns
    -------
    ndarray of float64, shape (set, measure)
    """
    scores, base, sets = Scaled(values), Scaled(values, places), np.asarray(members, dtype=bool)
    differences = _find_differences(scores.means().T)
    n_pairs = differences.shape[-1]
    a_pass = max(1, WEIGHTS_HELD // n_pairs)
    passes = -(-len(sets) // a_pass)
    held = 8 * n_pairs * min(len(sets), a_pass)
    _announce(scores, f"counts of {held / 2**20:,.1f} MB for {format_count(len(sets), 'reference set')}", passes)
    parts = []
    for start in range(0, len(sets), a_pass):
        together = sets[start : start + a_pass]
        counts = np.empty((len(together), n_pairs), dtype=np.int64)
        for pairs, gaps in split_pairs(base, "comparing runs"):
            counts[:, pairs] = unanimous(pack_verdicts(round_scaled(gaps)), together)
        few = max(1, CELLS // n_pairs)
        parts += [
            spearman_over_pairs(counts[first : first + few], differences) for first in range(0, len(together), few)
        ]
    return np.concatenate(parts)


def coverage_resampled(values: FloatArray, places: npt.ArrayLike, key: int, n_trials: int) -> FloatArray:
    """Compute the coverage of every measure on resampled topics, with all references in one set.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    places : array_like of int, shape (reference measure,)
    key : int
        Of the resamples, as `metaeval.stats.resampling.resampled_topics` takes it.
    n_trials : int

    Returns
    -------
    ndarray of float64, shape (trial, measure)
    """
    scores, base = Scaled(values), Scaled(values, places)
    n_runs, n_topics, n_measures = scores.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    a_pass = max(1, min(n_trials, WEIGHTS_HELD // (n_topics + n_pairs)))
    held = 8 * a_pass * (n_topics + n_pairs)
    passes = -(-n_trials // a_pass)
    _announce(scores, f"weights of topics and counts of {held / 2**20:,.1f} MB for {n_trials:,} resamples", passes)
    if n_trials * n_pairs > LONG:
        tell(
            f"the {n_pairs:,} pairs of runs are ranked anew on each of the {n_trials:,} resamples, which takes long: "
            f"{format_option('n_bootstrap', 0)} leaves the intervals out"
        )
    sums, found = TopicSums(scores), np.empty((n_trials, n_measures))
    few = max(1, CELLS // (n_pairs * (n_measures + 1)))
    for start in range(0, n_trials, a_pass):
        trials = range(start, min(start + a_pass, n_trials))
        weights = draw_weights(key, trials, n_topics)
        counts = np.empty((len(trials), n_pairs))
        for pairs, gaps in split_pairs(base, "comparing runs on resampled topics"):
            gaps = round_scaled(gaps)
            verdict = (gaps >= 0).all(axis=2).astype(np.float64) - (gaps <= 0).all(axis=2)
            counts[:, pairs] = weights @ verdict.T  # whole numbers, so that their sums are exact
        means = sums.weigh(weights).transpose(0, 2, 1) / n_topics
        for first in range(0, len(trials), few):
            some = slice(first, first + few)
            differences = _find_differences(means[some])
            drawn = spearman_over_pairs(counts[some, np.newaxis], differences)[:, 0]
            found[start + first : start + first + len(drawn)] = drawn
        tell("resampling topics", trials.stop, n_trials)
    return found


def _find_differences(means: FloatArray) -> FloatArray:
    """Return the rounded differences of means of shape (..., run), for every pair of runs."""
    first, second = np.triu_indices(means.shape[-1], 1)
    return round_scaled(means[..., first] - means[..., second])


def _announce(scores: Scaled, what: str, passes: int) -> None:
    times = "once" if passes == 1 else f"{passes:,} times"
    tell(
        f"{describe_shape(scores.shape)}: {what} are held in memory, and all pairs of runs "
        f"are compared {times}, a block at a time"
    )
