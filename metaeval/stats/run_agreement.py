"""Do two sets of run scores agree? Pairwise accuracy, τ, Spearman's ρ and Pearson's r, for very many sets at once.

All but Pearson's r follow from one array: the signs of the differences of every two runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, divide, round_scaled, scale_scores, scale_squares
from metaeval.stats.parallel import split_work
from metaeval.stats.resampling import WEIGHTS_HELD, draw_weights, topic_signs
from metaeval.stats.weighted_correlation import correlate

RunStatistic: TypeAlias = Literal["pairwise_accuracy", "tau_a", "tau_b", "spearman", "pearson", "tau_ap_b", "tau_gap"]

ByName: TypeAlias = dict[RunStatistic, FloatArray]

_CELLS = 2_000_000  # signs held at once: 8 MB


def settle_ties(scores: npt.ArrayLike) -> FloatArray:
    """Return run scores, shape (run, measure), at another scale, in which those that differ by rounding alone are equal."""
    return round_scaled(scale_scores(scores))


def standardise(values: FloatArray) -> FloatArray:
    """Return scores, shape (measure, cell), with mean 0 and standard deviation 1; zeros for a constant measure."""
    scaled = divide(values, np.abs(values).max(axis=1, keepdims=True), 0.0)
    centred = scaled - scaled.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    return divide(centred, spread * (np.ptp(values, axis=1, keepdims=True) > 0), 0.0)


def run_statistics(scores: npt.ArrayLike, reference: npt.ArrayLike, which: Sequence[RunStatistic]) -> ByName:
    """How do run scores, shape (..., run), agree with those of the reference? Arrays of shape (...) by name.

    Pairwise accuracy is the share of run pairs whose difference has the same sign in both, zero included (Kocmi et al. 2021).
    NaN where one of the two is constant, but for pairwise accuracy and τ_a.
    """
    left, right = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    first, second = np.triu_indices(left.shape[-1], 1)
    values: ByName = {}
    if set(which) - {"pearson", "tau_ap_b", "tau_gap"}:
        signs, gold = (np.sign(side[..., first] - side[..., second]).astype(np.float32) for side in (left, right))
        # Sums of whole numbers, exact below 2**24.
        balance = np.einsum("...p,...p->...", signs, gold).astype(np.float64)
        untied, untied_too = (np.abs(side).sum(axis=-1, dtype=np.float64) for side in (signs, gold))
        if "pairwise_accuracy" in which:
            in_neither = np.einsum("...p,...p->...", np.abs(signs), np.abs(gold)).astype(np.float64)
            same = (in_neither + balance) / 2 + (len(first) - untied - untied_too + in_neither)
            values["pairwise_accuracy"] = same / len(first)
        if "tau_a" in which:
            values["tau_a"] = balance / len(first)
        if "tau_b" in which:
            values["tau_b"] = divide(balance, np.sqrt(untied * untied_too))
        if "spearman" in which:
            values["spearman"] = _correlate(_rank(signs, left.shape[-1]), _rank(gold, left.shape[-1]))
    for name in which:
        if name == "pearson":
            values[name] = _correlate(left, right)
        elif name in ("tau_ap_b", "tau_gap"):
            values[name] = correlate(right, left, name)
    return values


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


def _correlate(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return Pearson's r along the last axis, NaN where a side is constant."""
    x, y = (scale_squares(side, axis=-1) for side in (left, right))
    x, y = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    for side, centred in ((left, x), (right, y)):
        centred[np.ptp(side, axis=-1) == 0] = 0.0  # a mean of equal numbers need not be that number
    lengths = np.sqrt((x**2).sum(axis=-1)) * np.sqrt((y**2).sum(axis=-1))
    return np.clip(divide((x * y).sum(axis=-1), lengths), -1.0, 1.0)


def compare_runs(scores: FloatArray, which: Sequence[RunStatistic]) -> ByName:
    """Return how run scores, shape (run, measure + 1), agree with the last of them, the reference, each of shape (measure,)."""
    settled = settle_ties(scores)
    values = run_statistics(settled[:, :-1].T, settled[:, -1], which)
    # Rounded scores decide ties; Pearson's r and the gaps of τ_GAP are of the scores themselves.
    exact = [name for name in which if name in ("pearson", "tau_gap")]
    return values | run_statistics(scores[:, :-1].T, scores[:, -1], exact)


def swap_runs(
    scores: FloatArray, runs: npt.NDArray[np.intp], which: Sequence[RunStatistic], key: int, n_trials: int
) -> tuple[ByName, ByName]:
    """Exchange every two measures' scores of random runs, shape (run, measure + 1), the reference last; only `runs` count.

    Returns agreement before any exchange, shape (measure,), of the same arrays, so that an exchange that changes nothing is a
    tie; and the differences in agreement, shape (trial, measure pair), where a correlation that is not defined counts as 0.
    """
    retained = topic_signs(key, range(n_trials), len(scores))[:, runs] > 0
    settled, gold = settle_ties(scores)[runs], scores[runs, -1]
    # Scores of two measures that differ by rounding alone are equal, on every processor.
    rounded = round_scaled(standardise(settled[:, :-1].T))
    # Rounding would move Pearson's r and the gaps of τ_GAP by more than two equal differences may be apart.
    sides: list[tuple[FloatArray, FloatArray, list[RunStatistic]]] = [
        (standardise(scores[runs, :-1].T), gold, [name for name in which if name == "pearson"]),
        (rounded, gold, [name for name in which if name == "tau_gap"]),
        (rounded, settled[:, -1], [name for name in which if name not in ("pearson", "tau_gap")]),
    ]
    observed: ByName = {}
    differences: ByName = {}
    for rows, reference, names in sides:
        if names:
            observed |= run_statistics(rows, reference, names)
            differences |= _swap_rows(rows, reference, names, retained)
    return observed, differences


def _swap_rows(
    rows: FloatArray, reference: FloatArray, which: Sequence[RunStatistic], retained: npt.NDArray[np.bool_]
) -> ByName:
    """Return the differences of every two rows, shape (measure, run), that keep some runs and exchange the others."""
    n_trials, n_runs = retained.shape
    first, second = np.triu_indices(len(rows), 1)
    differences: ByName = {name: np.empty((n_trials, len(first))) for name in which}
    n_run_pairs = max(1, n_runs * (n_runs - 1) // 2)
    block = _CELLS // (n_trials * n_run_pairs)
    # Trials are divided too where one pair of measures has more signs than fit; a few at least pay for the calls.
    few = max(16, 4 * _CELLS // n_run_pairs)
    for part in split_work(len(first), block, "exchanging runs"):
        ones, others = rows[first[part], np.newaxis], rows[second[part], np.newaxis]
        for begin in range(0, n_trials, few):
            some = retained[begin : begin + few]
            left = run_statistics(np.where(some, ones, others), reference, which)
            right = run_statistics(np.where(some, others, ones), reference, which)
            for name in which:
                gained = np.nan_to_num(left[name]) - np.nan_to_num(right[name])
                differences[name][begin : begin + few, part] = gained.T
    return differences


def resample_runs(
    scores: FloatArray, which: Sequence[RunStatistic], key: int, n_trials: int
) -> tuple[ByName, dict[RunStatistic, float]]:
    """How do means of runs on topics drawn anew agree, shape (trial, measure), and the reference with itself on all topics?

    Scores have shape (run, topic, measure + 1). The number beside each array is the mean over trials: what a measure would
    reach that knew what the reference, the last one, only estimates from so many topics.
    """
    n_runs, n_topics, n_columns = scores.shape
    whole = round_scaled(scores[..., -1].mean(axis=1))
    by_topic = scores.transpose(1, 2, 0).reshape(n_topics, -1)
    size = min(WEIGHTS_HELD // n_topics, 2 * _CELLS // (n_columns * n_runs * max(1, n_runs - 1)))
    parts, alone = [], []
    for part in split_work(n_trials, size, "resampling topics"):
        weights = draw_weights(key, range(part.start, part.stop), n_topics)
        means = round_scaled((weights @ by_topic / n_topics).reshape(-1, n_columns, n_runs))
        parts.append(run_statistics(means[:, :-1], means[:, -1:], which))
        alone.append(run_statistics(means[:, -1], whole, which))
    drawn: ByName = {name: np.concatenate([part[name] for part in parts]) for name in which}
    return drawn, {name: float(np.concatenate([part[name] for part in alone]).mean()) for name in which}
