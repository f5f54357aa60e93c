"""Do two sets of run scores agree? Pairwise accuracy, τ, Spearman's ρ and Pearson's r, for very many sets at once.

All but Pearson's r follow from the signs of the differences of every two runs: a run's rank is half the sum of its
signs, up to a constant. So one array of signs gives them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.progress import tell
from metaeval.stats.resampling import topic_signs
from metaeval.stats.scale import round_scaled, scale_scores, scale_squares
from metaeval.stats.swapping import FloatArray, standardise
from metaeval.stats.weighted_correlation import correlate

RunStatistic: TypeAlias = Literal["pairwise_accuracy", "tau_a", "tau_b", "spearman", "pearson", "tau_ap_b", "tau_gap"]

HEAD_WEIGHTED: tuple[RunStatistic, ...] = ("tau_ap_b", "tau_gap")
"""Statistics that weigh the head of the ranking, as `metaeval.stats.weighted_correlation` defines them."""

_CELLS = 2_000_000  # signs held at once: 8 MB


def settle_ties(scores: npt.ArrayLike) -> FloatArray:
    """Return run scores in which those that differ by rounding alone are equal.

    Parameters
    ----------
    scores : array_like, shape (run, measure)

    Returns
    -------
    ndarray, shape (run, measure)
        On another scale: a power of two for each measure.
    """
    return round_scaled(scale_scores(scores))


def run_statistics(
    scores: npt.ArrayLike, reference: npt.ArrayLike, which: Sequence[RunStatistic]
) -> dict[RunStatistic, FloatArray]:
    """How do run scores agree with those of the reference?

    Parameters
    ----------
    scores, reference : array_like, shape (..., run)
        With one direction; leading axes are broadcast. Equal numbers are ties.
    which : sequence of str
        ``"pairwise_accuracy"``, the share of run pairs whose difference has the same sign in both, zero included
        (Kocmi et al. 2021); ``"tau_a"``, ``"tau_b"``, ``"spearman"``, ``"pearson"``, ``"tau_ap_b"``, ``"tau_gap"``.

    Returns
    -------
    dict of str to ndarray, shape (...)
        NaN where one of the two is constant, but for pairwise accuracy and τ_a.

    Examples
    --------
    >>> found = run_statistics([1, 2, 3, 4], [1, 3, 2, 5], ["pairwise_accuracy", "tau_a", "spearman"])
    >>> {name: round(float(value), 3) for name, value in found.items()}
    {'pairwise_accuracy': 0.833, 'tau_a': 0.667, 'spearman': 0.8}
    """
    one, two = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    first, second = np.triu_indices(one.shape[-1], 1)
    found: dict[RunStatistic, FloatArray] = {}
    if set(which) - {"pearson", *HEAD_WEIGHTED}:
        signs, wanted = (np.sign(side[..., first] - side[..., second]).astype(np.float32) for side in (one, two))
        balance = _dot(signs, wanted)
        untied, untied_too = (np.abs(side).sum(axis=-1, dtype=np.float64) for side in (signs, wanted))
        if "pairwise_accuracy" in which:
            in_neither = _dot(np.abs(signs), np.abs(wanted))
            same = (in_neither + balance) / 2 + (len(first) - untied - untied_too + in_neither)
            found["pairwise_accuracy"] = same / len(first)
        if "tau_a" in which:
            found["tau_a"] = balance / len(first)
        if "tau_b" in which:
            found["tau_b"] = _divide(balance, np.sqrt(untied * untied_too))
        if "spearman" in which:
            found["spearman"] = _correlate(_rank(signs, one.shape[-1]), _rank(wanted, one.shape[-1]))
    if "pearson" in which:
        found["pearson"] = _correlate(one, two)
    for name in which:
        if name in HEAD_WEIGHTED:
            found[name] = correlate(two, one, name)
    return {name: found[name] for name in which}


def swap_runs(
    scores: FloatArray, reference: FloatArray, which: Sequence[RunStatistic], key: int, n_trials: int,
    *, runs: npt.NDArray[np.intp] | None = None,
) -> dict[RunStatistic, FloatArray]:  # fmt: skip
    """Exchange every two measures' scores of random runs, and return the differences in agreement.

    Parameters
    ----------
    scores : ndarray, shape (run, measure)
    reference : ndarray, shape (run,)
    which : sequence of str
        As in `run_statistics`.
    key : int
        Of the random draws, a 64-bit key.
    n_trials : int
    runs : ndarray of int, optional
        Only these runs count; the others are drawn all the same.

    Returns
    -------
    dict of str to ndarray, shape (trial, measure pair)
        A correlation that is not defined counts as 0.
    """
    chosen = np.arange(len(reference)) if runs is None else runs
    kept = topic_signs(key, range(n_trials), len(reference))[:, chosen] > 0
    # Scores of two measures that differ by rounding alone are equal, on every processor.
    z, wanted = round_scaled(standardise(scores[chosen].T)), reference[chosen]
    first, second = np.triu_indices(len(z), 1)
    differences = {name: np.empty((n_trials, len(first))) for name in which}
    n_run_pairs = max(1, len(chosen) * (len(chosen) - 1) // 2)
    block = max(1, _CELLS // (n_trials * n_run_pairs))
    # Trials are divided too where one pair of measures has more signs than fit; a few at least pay for the calls.
    few = n_trials if n_trials * n_run_pairs <= 4 * _CELLS else max(16, _CELLS // n_run_pairs)
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        one, two = z[first[part], np.newaxis], z[second[part], np.newaxis]
        for begin in range(0, n_trials, few):
            some = kept[begin : begin + few]
            mixed = (run_statistics(np.where(some, *sides), wanted, which) for sides in ((one, two), (two, one)))
            left, right = mixed
            for name in which:
                gained = np.nan_to_num(left[name]) - np.nan_to_num(right[name])
                differences[name][begin : begin + few, part] = gained.T
        tell("exchanging runs", min(part.stop, len(first)), len(first))
    return differences


def resample_run_statistics(
    values: FloatArray, reference: FloatArray, weights: npt.NDArray[np.int64], which: Sequence[RunStatistic],
    *, runs: npt.NDArray[np.intp] | None = None,
) -> tuple[dict[RunStatistic, FloatArray], dict[RunStatistic, float]]:  # fmt: skip
    """Draw topics anew: how do the means of runs agree, and how does the reference agree with itself?

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
    weights : ndarray of int, shape (trial, topic)
        How often each topic was drawn.
    which : sequence of str
        As in `run_statistics`.
    runs : ndarray of int, optional
        Only these runs count.

    Returns
    -------
    drawn : dict of str to ndarray, shape (trial, measure)
    ceiling : dict of str to float
        Mean agreement between the reference on the topics drawn and on all topics: what a measure would reach that
        knew what the reference only estimates from so many topics.
    """
    chosen = slice(None) if runs is None else runs
    every = np.concatenate([values, reference[..., np.newaxis]], axis=-1)[chosen]
    n_runs, n_topics, n_columns = every.shape
    every = scale_scores(every)
    by_topic = every.transpose(1, 2, 0).reshape(n_topics, -1)
    means = (weights @ by_topic / n_topics).reshape(-1, n_columns, n_runs)
    return compare_means(means, np.ascontiguousarray(every.mean(axis=1)[:, -1]), which)


def compare_means(
    means: FloatArray, whole: FloatArray, which: Sequence[RunStatistic]
) -> tuple[dict[RunStatistic, FloatArray], dict[RunStatistic, float]]:
    """Compare means of runs on topics drawn anew with those of the reference.

    Parameters
    ----------
    means : ndarray, shape (trial, measure + 1, run)
        Scaled; the last row of each trial is the reference's.
    whole : ndarray, shape (run,)
        The reference's on all topics.
    which : sequence of str

    Returns
    -------
    drawn : dict of str to ndarray, shape (trial, measure)
    ceiling : dict of str to float
        As `resample_run_statistics` returns them.
    """
    n_trials, n_columns, n_runs = means.shape
    n_run_pairs = max(1, n_runs * (n_runs - 1) // 2)
    block = max(1, _CELLS // (n_columns * n_run_pairs))
    settled = round_scaled(whole)
    parts, own = [], []
    for start in range(0, n_trials, block):
        some = round_scaled(means[start : start + block])
        parts.append(run_statistics(some[:, :-1], some[:, -1:], which))
        own.append(run_statistics(some[:, -1], settled, which))
        tell("resampling topics", min(start + block, n_trials), n_trials)
    drawn = {name: np.concatenate([part[name] for part in parts]) for name in which}
    ceiling = {name: np.concatenate([part[name] for part in own]) for name in which}
    return drawn, {name: float(one.mean()) for name, one in ceiling.items()}


def _dot(one: npt.NDArray[np.float32], two: npt.NDArray[np.float32]) -> FloatArray:
    """Return sums of products along the last axis: whole numbers, exact below 2**24."""
    return np.einsum("...p,...p->...", one, two).astype(np.float64)


def _rank(signs: npt.NDArray[np.float32], n_runs: int) -> FloatArray:
    """Return twice the ranks of runs, ties at their average, less those of the middle."""
    ranks = np.zeros((*signs.shape[:-1], n_runs))
    start = 0
    # Run by run: a matrix of pairs and runs would grow with the cube of their number.
    for run in range(n_runs - 1):
        later = signs[..., start : (start := start + n_runs - 1 - run)]
        ranks[..., run] += later.sum(axis=-1)
        ranks[..., run + 1 :] -= later
    return ranks


def _correlate(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return Pearson's r along the last axis, NaN where a side is constant."""
    x, y = (scale_squares(side, axis=-1) for side in (one, two))
    x, y = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    for side, centred in ((one, x), (two, y)):
        centred[np.ptp(side, axis=-1) == 0] = 0.0  # a mean of equal numbers need not be that number
    lengths = np.sqrt((x**2).sum(axis=-1)) * np.sqrt((y**2).sum(axis=-1))
    return np.clip(_divide((x * y).sum(axis=-1), lengths), -1.0, 1.0)


def _divide(one: FloatArray, two: FloatArray) -> FloatArray:
    one, two = np.broadcast_arrays(one, two)
    return np.divide(one, two, out=np.full(one.shape, np.nan), where=two > 0)
