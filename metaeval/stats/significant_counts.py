"""How much does the number of significant pairs depend on the trials of a test, and on the topics?

*Trials.* With B trials a pair is significant if at most c of them are as extreme as its difference. With other trials
its count is binomial: Bin(B, p) with p estimated by count/B. The pairs' counts come from the same trials. Where all
pairs are compared with the same B maxima (randomised Tukey HSD, max-T), they move together: each count says how many
maxima lie above a threshold, so that with thresholds in order s pairs are significant if and only if the one with the
s-th smallest p is, and

    P(S ≥ s) = P(Bin(B, p_(s)) ≤ c).

This is the bootstrap over trials with infinitely many resamples, without drawing any.

*Topics.* Discriminative power is computed on resampled topics, without repeating the test: the critical value is held. The
share of significant pairs on a resample is too large, since it draws the noise of run means a second time, so that the means
lie farther apart than on new topics. Here the observed means are first moved together so that with the noise they spread as
they did. With F the ratio of the variance of run means to the part of it that is noise, they are multiplied by √(1 − 1/F).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats import intervals
from metaeval.stats.anova import residual_variance
from metaeval.stats.arrays import FloatArray, IntArray, divide, scale_squares
from metaeval.stats.irregular_runs import equal_rows
from metaeval.stats.pair_tests import MAX_T, PairedTest, PairedTestResult, WeightedPairs, simultaneous_reach, studentise
from metaeval.stats.parallel import split_work
from metaeval.stats.resampling import draw_weights

SMALLEST_VARIANCE = 0.25  # share of a pair's observed variance below which its variance in a resample does not count
TRIALS_A_BLOCK, WEIGHTS_A_BLOCK = 200, 2**21  # resamples, and weights, that are held at once, in the processor's cache

Find: TypeAlias = Callable[[FloatArray], FloatArray]  # from weights of topics to shares, shape (trial, measure)

_OWN_ERROR = (*MAX_T, "paired-t", "paired-bootstrap")
"""Tests that divide the difference of two runs by its own standard error; the others use that of all runs."""

_OWN_NULL = 12
"""The critical value of a max-t test is drawn from the same topics and varies with them; held, its share of the
variance is missing. 12/n of the rest made up for it in simulation, where intervals without it held too seldom."""

_NEVER = 1e-12  # a p-value of 0 has an infinite quantile


def significance_chances(
    counts: npt.ArrayLike, n_permutations: int, alpha: float, *, correction: str = "none", add_one: bool = False
) -> FloatArray:
    """How likely are at least 1, 2, 3, … significant pairs, if the test is repeated with other trials? Shape (..., pair).

    A correction belongs to tests in which every pair has trials of its own, whose counts are taken to move together too.
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(counts), axis=-1)
    n_pairs = ordered.shape[-1]
    rank = np.arange(1, n_pairs + 1)
    factors = {
        "none": np.ones(n_pairs),
        "bonferroni": np.full(n_pairs, float(n_pairs)),
        "holm": n_pairs + 1.0 - rank,
        "benjamini-hochberg": n_pairs / rank,
    }
    # The largest count with which the pair of the j-th smallest p is significant, -1 for none. As p-values are compared:
    # rounding must not decide whether count/B is at most α.
    possible = (np.arange(n_permutations + 1) + add_one) / (n_permutations + add_one)
    most = np.searchsorted(possible, alpha / factors[correction], side="right") - 1
    # Of millions of pairs few have another count, or another one to reach, than the pair before.
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[..., 1:] = (ordered[..., 1:] != ordered[..., :-1]) | (most[1:] != most[:-1])
    at = np.flatnonzero(new)
    reached, p = most[at % len(most)], ordered.reshape(-1)[at] / n_permutations
    # bdtr(c, B, p) is P(Bin(B, p) ≤ c); no count is small enough where c is -1.
    some = np.where(reached >= 0, bdtr(np.maximum(reached, 0).astype(float), n_permutations, p), 0.0)
    chances = np.repeat(some, np.diff(at, append=ordered.size)).reshape(ordered.shape)
    if correction == "benjamini-hochberg":  # a step-up test: a later pair carries the earlier ones
        return np.flip(np.maximum.accumulate(np.flip(chances, axis=-1), axis=-1), axis=-1)
    return np.minimum.accumulate(chances, axis=-1)


def significant_count_error(
    counts: npt.ArrayLike, n_permutations: int, alpha: float, *, correction: str = "none", add_one: bool = False
) -> FloatArray:
    """What is the standard deviation of the number of significant pairs over repetitions of the test with other trials?

    Exact, but for the estimated p, where all pairs share their trials' maxima. An approximation where each pair has trials of
    its own: in a trial of 45 pairs it was 0.7 to 1.6 times the observed one, and less where few trials decide.
    """
    chances = significance_chances(counts, n_permutations, alpha, correction=correction, add_one=add_one)
    mean = chances.sum(axis=-1)
    weights = 2 * np.arange(1, chances.shape[-1] + 1) - 1
    return np.sqrt(np.maximum((chances * weights).sum(axis=-1) - np.square(mean), 0.0))


def trials_needed(n_pairs: int, alpha: float) -> int:
    """Return the smallest B with n_pairs/(B + 1) ≤ α, which a single significant pair needs if p is corrected for all pairs."""
    trials = max(1, math.ceil(n_pairs / alpha) - 1)
    while n_pairs / (trials + 1) > alpha:  # rounding
        trials += 1
    return trials


def count_common(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> IntArray:
    """Count the pairs, on the last axis, that are true of each measure in the one table and each in the other."""
    return np.asarray((first.astype(np.float64) @ second.T.astype(np.float64)).astype(np.int64))


def find_overlap(significant: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for every two measures the pairs that both find, those that only the first finds, and both's share of all."""
    both = count_common(significant, significant)
    alone = np.diagonal(both)[:, np.newaxis] - both
    return both, alone, divide(both, alone + alone.T + both)


def resample_power(
    values: npt.ArrayLike,
    p: npt.ArrayLike,
    draw: Callable[[range], FloatArray],
    n_trials: int,
    *,
    alpha: float = 0.05,
    smallest_p: float = _NEVER,
    studentised: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Which share of pairs of runs would be significant on resampled topics, shape (trial, measure)?

    Corrected `p`, shape (measure, pair), say where the critical value of a test lies: between the statistics of the last
    significant pair and the first that is not; a p of 0 counts as `smallest_p`. A `studentised` test divides a pair's
    difference by its own standard error, and not by that of all runs. Returned is too the smallest step of each measure: the
    share that turns when two different runs do, which is more than one pair where runs are identical.
    """
    scores, given = np.asarray(values, dtype=np.float64), np.maximum(np.asarray(p, dtype=np.float64), smallest_p)
    n_runs, n_topics, n_measures = scores.shape
    by_run = [scale_squares(np.ascontiguousarray(scores[..., measure])) for measure in range(n_measures)]
    find_shares = (_compare_studentised if studentised else _compare_means)(by_run, given, alpha)
    shares = np.empty((n_trials, n_measures))
    for trials in split_work(n_trials, min(TRIALS_A_BLOCK, WEIGHTS_A_BLOCK // n_topics), "resampling topics"):
        shares[trials] = find_shares(draw(range(trials.start, trials.stop)))
    # The pairs between the two largest groups of identical runs: one pair where none are.
    groups = [np.sort(np.append(np.bincount(equal_rows(scores)), 0))[-2:] for scores in by_run]
    return shares, np.array([float(first * second) for first, second in groups]) / (n_runs * (n_runs - 1) / 2)


def find_critical_value(statistics: FloatArray, p: FloatArray, alpha: float) -> float:
    """Find the value that as many statistics reach as p-values, shape (pair,), are at most alpha.

    Between two statistics it is interpolated, and beyond the largest it is extrapolated, in proportion to the
    quantiles that their p-values have as p-values of the largest of as many absolute normal numbers.
    """
    from scipy.special import ndtri  # scipy.stats would take as long to import as everything else together

    size, chance = -np.sort(-statistics), np.sort(p)
    n_significant, n_pairs = int(np.count_nonzero(p <= alpha)), len(p)

    def quantile(level: float) -> float:
        return -float(ndtri(-np.expm1(np.log1p(-min(level, 1 - 1e-9)) / n_pairs) / 2))

    aim = quantile(alpha)
    if n_significant == 0:
        return float(size[0] * max(aim / max(quantile(chance[0]), 1e-3), 1.0)) if size[0] > 0 else np.inf
    if n_significant == n_pairs:
        return float(size[-1] * aim / quantile(chance[-1]))
    inner, outer = quantile(chance[n_significant]), quantile(chance[n_significant - 1])
    share = (aim - inner) / (outer - inner)
    return float(size[n_significant] + (size[n_significant - 1] - size[n_significant]) * np.clip(share, 1e-6, 1.0))


def _compare_means(by_run: list[FloatArray], p: FloatArray, alpha: float) -> Find:
    """Prepare the shares for a test that compares differences of means with the residual variance of all runs."""
    n_measures, (n_runs, n_topics) = len(by_run), by_run[0].shape
    first, second = np.triu_indices(n_runs, 1)
    # Scores less the mean of the topic, and a last row with their sums of squares: one product with weights gives all.
    rows = np.empty((n_runs + 1, n_measures, n_topics))
    moves, critical, noise = np.empty((n_runs, n_measures, 1)), np.empty((n_measures, 1)), np.empty((n_measures, 1))
    for measure, scores in enumerate(by_run):
        means = scores.mean(axis=1)
        critical[measure] = find_critical_value(np.abs(means[first] - means[second]), p[measure], alpha)
        squares = np.square(np.subtract(scores, scores.mean(axis=0), out=rows[:-1, measure]))
        squares.sum(axis=0, out=rows[-1, measure])
        noise[measure] = squares.mean(axis=1).sum() - np.square(means - means.mean()).sum()
        moves[:, measure, 0] = (_shrinkage(scores) - 1) * (means - means.mean())
    varies, given = noise > 0, np.mean(p <= alpha, axis=1)[:, np.newaxis]
    scale = divide(critical**2, noise, 0.0) * (n_topics / (n_topics - 1))

    def find_shares(weights: FloatArray) -> FloatArray:
        sums = (rows.reshape(-1, n_topics) @ weights.T).reshape(n_runs + 1, n_measures, -1)
        sums /= n_topics
        means, spread = sums[:-1], sums[-1]
        spread -= np.einsum("rmt,rmt->mt", means, means)
        limits = np.sqrt(np.maximum(spread, 0.0) * scale)
        means += moves
        wide = count_wide_pairs(means.reshape(n_runs, -1), limits.ravel()).reshape(limits.shape)
        return np.where(varies, wide / len(first), given).T

    return find_shares


def count_wide_pairs(means: FloatArray, limits: FloatArray) -> IntArray:
    """Count pairs of runs whose means, shape (run, case), lie at least as far apart as a limit, shape (case,)."""
    ordered, n_runs = np.sort(means, axis=0), len(means)
    cases = np.arange(len(limits))
    far, counts = np.zeros(len(limits), dtype=np.int64), np.zeros(len(limits), dtype=np.int64)
    for run, mean in enumerate(ordered):
        # The first run above this one that is far enough: never before that of the last run.
        near = cases
        while near.size:
            near = near[far[near] < n_runs]
            near = near[ordered[far[near], near] - mean[near] < limits[near]]
            far[near] += 1
        counts += n_runs - np.maximum(far, run + 1)
    return counts


def _compare_studentised(by_run: list[FloatArray], p: FloatArray, alpha: float) -> Find:
    """Prepare the shares for a test that divides the difference of each pair by its own standard error."""
    n_runs, n_topics = by_run[0].shape
    pairs, limits, gaps = [WeightedPairs(scores) for scores in by_run], [], []
    varies, constant = [of_measure.squares.any() for of_measure in pairs], np.mean(p <= alpha, axis=1)
    for of_measure, scores, given in zip(pairs, by_run, p, strict=True):
        size = np.sqrt(np.nan_to_num(studentise(of_measure.sums**2, of_measure.squares), posinf=0.0))
        limits.append(find_critical_value(size, given, alpha))
        gaps.append(of_measure.sums * _shrinkage(scores))

    def find_shares(weights: FloatArray) -> FloatArray:
        drawn, counts = np.ascontiguousarray(weights.T), np.zeros((len(weights), len(by_run)))
        for measure, (of_measure, limit, gap) in enumerate(zip(pairs, limits, gaps, strict=True)):
            for some, sums, squares in of_measure.weigh(drawn):
                observed = of_measure.squares[some, np.newaxis]
                squares *= n_topics / (n_topics - 1)
                spread = np.sqrt(np.maximum(squares, SMALLEST_VARIANCE * observed))
                sums += gap[some, np.newaxis]
                with np.errstate(invalid="ignore"):
                    wide = np.abs(sums) >= limit * spread
                counts[:, measure] += (wide & (observed > 0)).sum(axis=0)
        return np.where(varies, counts / (n_runs * (n_runs - 1) / 2), constant)

    return find_shares


def _shrinkage(by_run: FloatArray) -> float:
    """Return √(1 − 1/F) of one measure: 0 where the means of runs differ by no more than noise."""
    noise = float(residual_variance(by_run.T)) / by_run.shape[1]
    between = by_run.mean(axis=1).var(ddof=1)
    return float(np.sqrt(max(0.0, 1 - noise / between))) if between > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Variation:
    """How far power varies where `n` topics, or collections, are drawn anew, and so how wide its intervals are.

    `shares` is power on resampled topics, shape (trial, measure), without a trial if there is no interval, and `no_interval`
    says why if one was asked for; `steps` is the share of pairs that turns when two different runs do, shape (measure,).
    Intervals of differences hold together.
    """

    n: int
    shares: FloatArray
    steps: FloatArray
    confidence: float
    no_interval: str

    def find_power_ends(self, power: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both ends of the interval for the power of every measure, each of shape (measure,)."""
        return intervals.centre_interval(
            power, self.shares, self.n, confidence=self.confidence, scale="share", step=self.steps, least=self.steps,
            student=False,
        )  # fmt: skip

    def find_difference_ends(self, power: FloatArray, confidence: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Return both ends for the first less the second measure's power, each of shape (pair of measures,)."""
        first, second = np.triu_indices(len(power), 1)
        step = np.maximum(self.steps[first], self.steps[second])
        return intervals.centre_interval(
            power[first] - power[second], self.shares[:, first] - self.shares[:, second], self.n, step=step, least=step,
            confidence=self.confidence if confidence is None else confidence, student=False, simultaneous=True,
        )  # fmt: skip

    def judge_differences(self, power: FloatArray, margin: float) -> tuple[FloatArray, intervals.Ends, list[str]]:
        """Return the difference in power of every two measures, with both ends and what is known of it."""
        first, second = np.triu_indices(len(power), 1)
        gap, levels = power[first] - power[second], (self.confidence, max(2 * self.confidence - 1, 0.0))
        ends, one_sided = (intervals.Ends(*self.find_difference_ends(power, level)) for level in levels)
        return gap, ends, intervals.judge_difference(ends, one_sided, margin)


def vary_over_topics(
    scores: FloatArray,
    result: PairedTestResult,
    test: PairedTest,
    *,
    key: int,
    alpha: float,
    n_trials: int,
    confidence: float,
) -> Variation:
    """Resample topics, shape (run, topic, measure), after a test of all pairs of runs; the test is not repeated."""
    n_runs, n_topics, n_measures = scores.shape
    no_interval = intervals.explain_no_interval(n_runs, n_topics) if n_trials else ""
    shares, steps = np.empty((0, n_measures)), np.zeros(n_measures)
    if n_trials and not no_interval:
        shares, steps = resample_power(
            scores, result.p, draw=partial(draw_weights, key, n_topics=n_topics), alpha=alpha, n_trials=n_trials,
            smallest_p=0.5 / result.n_trials if result.n_trials else 1e-12, studentised=test in _OWN_ERROR,
        )  # fmt: skip
        if test in MAX_T:
            centre = shares.mean(axis=0)
            shares = centre + np.sqrt(1 + _OWN_NULL / n_topics) * (shares - centre)
    return Variation(n_topics, shares, steps, confidence, no_interval)


def pool_variations(parts: Sequence[Variation], pairs: FloatArray) -> Variation:
    """Return how power pooled over collections of so many pairs varies over topics, of as many trials of each."""
    n_trials = min(len(part.shares) for part in parts)
    steps = intervals.pool([part.steps for part in parts], pairs) / len(parts)  # a step of one collection alone
    shares = intervals.pool([part.shares[:n_trials] for part in parts], pairs)
    why = next((part.no_interval for part in parts if part.no_interval), "")
    return replace(parts[0], n=min(part.n for part in parts), shares=shares, steps=steps, no_interval=why)


def count_conclusions(conclusions: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Count what becomes of conclusions about pairs of runs, compared with those of the reference, shape (measure, 4)."""
    both = conclusions * reference
    counted = [both > 0, both < 0, (conclusions != 0) & (reference == 0), (conclusions == 0) & (reference != 0)]
    return np.stack([each.sum(axis=1) for each in counted], axis=1)


def count_changes(
    result: PairedTestResult, gaps: FloatArray, n_trials: int, alpha: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return conclusions by a reference and judges, the reach of all intervals, counts of changes, and their errors.

    `gaps` of pairs of runs, shape (2 × judge + 1, pair), are those of the reference, the judges, and of each judge less the
    reference. Counts, shape (judge, 5), are those of `count_conclusions`, and changes that are significant themselves.
    """
    # With other trials the critical value would be that of another share of trials: α, give or take its binomial error.
    step = np.sqrt(alpha * (1 - alpha) / n_trials)
    levels, n_sets = (alpha, alpha + step, alpha - step), (len(gaps) + 1) // 2
    reach, *moved = (simultaneous_reach(result, level) for level in levels)
    verdicts, more, fewer = (np.where(result.p[:n_sets] <= level, np.sign(gaps[:n_sets]), 0) for level in levels)
    by_reference = count_conclusions(verdicts[1:], more[0]) - count_conclusions(verdicts[1:], fewer[0])
    by_judges = count_conclusions(more[1:], verdicts[0]) - count_conclusions(fewer[1:], verdicts[0])
    changed, sizes = verdicts[1:] != verdicts[0], np.abs(gaps[n_sets:])
    clear, most, least = ((changed & (sizes > each[n_sets:])).sum(axis=1) for each in (reach, *moved))
    counts = np.column_stack([count_conclusions(verdicts[1:], verdicts[0]), clear])
    return verdicts, reach, counts, np.column_stack([np.hypot(by_reference, by_judges), most - least]) / 2


def name_flips(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return what becomes of conclusions, 1, −1 or 0 where it is open: reversed, lost, new, or nothing."""
    return np.select(
        [before * after < 0, (before != 0) & (after == 0), before != after], ["reversed", "lost", "new"], ""
    )
