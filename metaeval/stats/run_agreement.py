"""Do two sets of run scores agree? Pairwise accuracy, τ, Spearman's ρ and Pearson's r, for very many sets at once.

All but Pearson's r follow from the signs of the differences of every two runs: a run's rank is half the sum of its
signs, up to a constant. So one array of signs gives them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, Scaled, find_exponents, round_scaled, scale_scores, scale_squares
from metaeval.stats.parallel import tell
from metaeval.stats.pearson import standardise
from metaeval.stats.resampling import draw_weights, split_trials, topic_signs
from metaeval.stats.weighted_correlation import correlate

RunStatistic: TypeAlias = Literal["pairwise_accuracy", "tau_a", "tau_b", "spearman", "pearson", "tau_ap_b", "tau_gap"]

HEAD_WEIGHTED: tuple[RunStatistic, ...] = ("tau_ap_b", "tau_gap")
"""Statistics that weigh the head of the ranking, as `metaeval.stats.weighted_correlation` defines them."""

_CELLS = 2_000_000  # signs held at once: 8 MB


def settle_ties(scores: npt.ArrayLike) -> FloatArray:
    """Return run scores, shape (run, measure), at another scale, in which those that differ by rounding alone are equal."""
    return round_scaled(scale_scores(scores))


def run_statistics(
    scores: npt.ArrayLike, reference: npt.ArrayLike, which: Sequence[RunStatistic]
) -> dict[RunStatistic, FloatArray]:
    """How do run scores, shape (..., run), agree with those of the reference? Arrays of shape (...) by name.

    Pairwise accuracy is the share of run pairs whose difference has the same sign in both, zero included (Kocmi et al. 2021).
    Equal numbers are ties. NaN where one of the two is constant, but for pairwise accuracy and τ_a.
    """
    left, right = np.asarray(scores, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    first, second = np.triu_indices(left.shape[-1], 1)
    values: dict[RunStatistic, FloatArray] = {}
    if set(which) - {"pearson", *HEAD_WEIGHTED}:
        signs, gold = (np.sign(side[..., first] - side[..., second]).astype(np.float32) for side in (left, right))
        balance = _dot(signs, gold)
        untied, untied_too = (np.abs(side).sum(axis=-1, dtype=np.float64) for side in (signs, gold))
        if "pairwise_accuracy" in which:
            in_neither = _dot(np.abs(signs), np.abs(gold))
            same = (in_neither + balance) / 2 + (len(first) - untied - untied_too + in_neither)
            values["pairwise_accuracy"] = same / len(first)
        if "tau_a" in which:
            values["tau_a"] = balance / len(first)
        if "tau_b" in which:
            values["tau_b"] = _divide(balance, np.sqrt(untied * untied_too))
        if "spearman" in which:
            values["spearman"] = _correlate(_rank(signs, left.shape[-1]), _rank(gold, left.shape[-1]))
    if "pearson" in which:
        values["pearson"] = _correlate(left, right)
    for name in which:
        if name in HEAD_WEIGHTED:
            values[name] = correlate(right, left, name)
    return {name: values[name] for name in which}


def swap_runs(
    scores: FloatArray, reference: FloatArray, which: Sequence[RunStatistic], key: int, n_trials: int,
    *, runs: npt.NDArray[np.intp] | None = None,
) -> tuple[dict[RunStatistic, FloatArray], dict[RunStatistic, FloatArray]]:  # fmt: skip
    """Exchange every two measures' scores of random runs, scores of shape (run, measure) and reference of shape (run,).

    Returns agreement before any exchange, shape (measure,), of the same arrays, so that an exchange that changes nothing is a
    tie; and the differences in agreement, shape (trial, measure pair), where a correlation that is not defined counts as 0.
    Only `runs` count; the others are drawn all the same.
    """
    chosen = np.arange(len(reference)) if runs is None else runs
    retained = topic_signs(key, range(n_trials), len(reference))[:, chosen] > 0
    exact, gold = standardise(scores[chosen].T), reference[chosen]
    # Scores of two measures that differ by rounding alone are equal, on every processor.
    z, settled = round_scaled(standardise(settle_ties(scores)[chosen].T)), settle_ties(reference[:, np.newaxis])[chosen]
    # Rounding would move Pearson's r and the gaps of τ_GAP by more than two equal differences may be apart.
    sides: list[tuple[FloatArray, FloatArray, list[RunStatistic]]] = [
        (exact, gold, [name for name in which if name == "pearson"]),
        (z, gold, [name for name in which if name == "tau_gap"]),
        (z, settled[:, 0], [name for name in which if name not in ("pearson", "tau_gap")]),
    ]
    observed: dict[RunStatistic, FloatArray] = {}
    differences: dict[RunStatistic, FloatArray] = {}
    for rows, gold, names in sides:
        if names:
            observed |= run_statistics(rows, gold, names)
            differences |= _swap_rows(rows, gold, names, retained)
    return observed, differences


def _swap_rows(
    rows: FloatArray, reference: FloatArray, which: Sequence[RunStatistic], retained: npt.NDArray[np.bool_]
) -> dict[RunStatistic, FloatArray]:
    """Return the differences of every two rows, shape (measure, run), that keep some runs and exchange the others."""
    n_trials, n_runs = retained.shape
    first, second = np.triu_indices(len(rows), 1)
    differences = {name: np.empty((n_trials, len(first))) for name in which}
    n_run_pairs = max(1, n_runs * (n_runs - 1) // 2)
    block = max(1, _CELLS // (n_trials * n_run_pairs))
    # Trials are divided too where one pair of measures has more signs than fit; a few at least pay for the calls.
    few = n_trials if n_trials * n_run_pairs <= 4 * _CELLS else max(16, _CELLS // n_run_pairs)
    for start in range(0, len(first), block):
        part = slice(start, start + block)
        ones, others = rows[first[part], np.newaxis], rows[second[part], np.newaxis]
        for begin in range(0, n_trials, few):
            some = retained[begin : begin + few]
            left, right = (
                run_statistics(np.where(some, *pair), reference, which) for pair in ((ones, others), (others, ones))
            )
            for name in which:
                gained = np.nan_to_num(left[name]) - np.nan_to_num(right[name])
                differences[name][begin : begin + few, part] = gained.T
        tell("exchanging runs", min(part.stop, len(first)), len(first))
    return differences


class ResampledMeans:
    """Means of runs on topics drawn anew, which several statistics share; the last of the measures is the reference."""

    def __init__(self, scores: Scaled, key: int, n_trials: int) -> None:
        n_runs, n_topics, n_columns = scores.shape
        self.scores, self.means = scores, np.empty((n_trials, n_columns, n_runs))
        for trials in split_trials(n_topics, n_trials):
            drawn = scores.weigh(draw_weights(key, trials, n_topics)) / n_topics
            self.means[trials.start : trials.stop] = drawn.transpose(0, 2, 1)
            tell("means on resampled topics", trials.stop, n_trials)
        self.whole = scores.means()

    def compare(
        self, which: Sequence[RunStatistic], runs: npt.NDArray[np.intp] | None = None
    ) -> tuple[dict[RunStatistic, FloatArray], dict[RunStatistic, float]]:
        """How do the means of some runs agree, and how does the reference agree with itself?

        The arrays have shape (trial, measure). The numbers beside them are the mean agreement between the reference on the
        topics drawn and on all topics: what a measure would reach that knew what the reference only estimates from so many.
        """
        means, whole = self._settle(np.arange(len(self.whole)) if runs is None else runs)
        n_trials, n_columns, n_runs = means.shape
        block = max(1, _CELLS // (n_columns * max(1, n_runs * (n_runs - 1) // 2)))
        parts, alone = [], []
        for start in range(0, n_trials, block):
            some = round_scaled(means[start : start + block])
            parts.append(run_statistics(some[:, :-1], some[:, -1:], which))
            alone.append(run_statistics(some[:, -1], whole, which))
            tell("resampling topics", min(start + block, n_trials), n_trials)
        drawn = {name: np.concatenate([part[name] for part in parts]) for name in which}
        return drawn, {name: float(np.concatenate([part[name] for part in alone]).mean()) for name in which}

    def _settle(self, runs: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Return the means of some runs, and the reference's on all topics, on the scale of the scores of these runs."""
        shift = -find_exponents(self.scores.values[runs])
        # The order of the axes in memory decides in which order NumPy adds.
        means = np.ascontiguousarray(np.ldexp(self.means[..., runs], shift[:, np.newaxis]))
        return means, round_scaled(np.ascontiguousarray(np.ldexp(self.whole[runs], shift)[:, -1]))


def _dot(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> FloatArray:
    """Return sums of products along the last axis: whole numbers, exact below 2**24."""
    return np.einsum("...p,...p->...", left, right).astype(np.float64)


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
    return np.clip(_divide((x * y).sum(axis=-1), lengths), -1.0, 1.0)


def _divide(left: FloatArray, right: FloatArray) -> FloatArray:
    left, right = np.broadcast_arrays(left, right)
    return np.divide(left, right, out=np.full(left.shape, np.nan), where=right > 0)
