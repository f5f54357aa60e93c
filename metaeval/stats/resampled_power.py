"""Discriminative power on resampled topics, without repeating the test: the critical value is held.

The share of significant pairs on a resample of topics is too large: a resample draws the noise of run means a second
time, so that the means lie farther apart than on new topics. Here the observed means are first moved together so
that with the noise they spread as they did. With F the ratio of the variance of run means to the part of it that is
noise, they are multiplied by √(1 − 1/F).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.anova import residual_variance
from metaeval.stats.arrays import FloatArray, IntArray, scale_squares
from metaeval.stats.irregular_runs import equal_rows
from metaeval.stats.parallel import tell

SMALLEST_VARIANCE = 0.25
"""Share of a pair's observed variance below which its variance in a resample does not count."""

TRIALS_A_BLOCK, WEIGHTS_A_BLOCK = 200, 2**21
"""Resamples that are drawn at once, so that their weights stay in the processor's cache, and numbers of weights at most."""

NUMBERS_A_BLOCK = 2**21
MANY_RUNS = 128
"""From here on it is quicker to sort means than to compare every two."""

Find: TypeAlias = Callable[[FloatArray], FloatArray]
"""From weights of topics, shape (trial, topic), to shares, shape (trial,) or (trial, measure)."""

_NEVER = 1e-12  # a p-value of 0 has an infinite quantile


class ResampledPower(NamedTuple):
    """The share of significant pairs on resampled topics, shape (trial, measure), and the smallest step of each measure.

    A step is the share that turns when two different runs do: more than one pair where runs are identical.
    """

    shares: FloatArray
    steps: FloatArray


def resample_power(
    values: npt.ArrayLike,
    p: npt.ArrayLike,
    draw: Callable[[range], FloatArray],
    n_trials: int,
    *,
    alpha: float = 0.05,
    smallest_p: float = _NEVER,
    studentised: bool = False,
) -> ResampledPower:
    """Which share of pairs of runs would be significant on resampled topics?

    `values` have shape (run, topic, measure), and `p`, after any correction, shape (measure, pair). It says where the test's
    critical value lies: between the statistics of the last significant pair and the first that is not; a p of 0 counts as
    `smallest_p`, half a trial of a resampling test. `draw` returns how often each topic occurs in each trial, shape
    (trial, topic). A `studentised` test divides a pair's difference by its own standard error, and not by that of all runs.
    """
    scores, given = np.asarray(values, dtype=np.float64), np.maximum(np.asarray(p, dtype=np.float64), smallest_p)
    _, n_topics, n_measures = scores.shape
    by_run = [scale_squares(np.ascontiguousarray(scores[..., measure])) for measure in range(n_measures)]
    find_shares = (_studentise_all if studentised else _scale)(by_run, given, alpha)
    shares = np.empty((n_trials, n_measures))
    size = max(1, min(TRIALS_A_BLOCK, WEIGHTS_A_BLOCK // n_topics))
    for start in range(0, n_trials, size):
        trials = range(start, min(start + size, n_trials))
        shares[start : trials.stop] = find_shares(draw(trials))
        tell("resampling topics", trials.stop, n_trials)
    return ResampledPower(shares, np.array([_find_step(of_measure) for of_measure in by_run]))


def find_critical_value(statistics: FloatArray, p: FloatArray, alpha: float) -> float:
    """Find the value from which on a statistic is significant, as far as the p-values of all pairs, shape (pair,), tell it.

    Between two statistics it is interpolated, and beyond the largest it is extrapolated, in proportion to the
    quantiles that their p-values have as p-values of the largest of as many absolute normal numbers. As many statistics are
    at least this large as p-values are at most alpha.
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


def _scale(by_run: list[FloatArray], p: FloatArray, alpha: float) -> Find:
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
    scale = np.divide(critical**2, noise, out=np.zeros_like(noise), where=varies) * (n_topics / (n_topics - 1))

    def find_shares(weights: FloatArray) -> FloatArray:
        sums = (rows.reshape(-1, n_topics) @ weights.T).reshape(n_runs + 1, n_measures, -1)
        sums /= n_topics
        means, spread = sums[:-1], sums[-1]
        spread -= np.einsum("rmt,rmt->mt", means, means)
        limits = np.sqrt(np.maximum(spread, 0.0) * scale)
        means += moves
        return np.where(varies, _count_wide(means, limits) / len(first), given).T

    return find_shares


def _count_wide(means: FloatArray, limits: FloatArray) -> IntArray:
    """Count pairs of runs whose means, shape (run, measure, trial), lie apart as far as a limit, shape (measure, trial)."""
    n_runs = len(means)
    if n_runs >= MANY_RUNS:
        counts = np.empty(limits.shape, dtype=np.int64)
        for cell in np.ndindex(limits.shape):
            counts[cell] = count_wide_pairs(means[:, *cell], float(limits[cell]))
        return counts
    # Fresh memory for each part would cost as much as the differences do. Bytes count fewer than 128 runs.
    gaps, wide = np.empty_like(means), np.empty(means.shape, dtype=np.bool_)
    counts_by_run = np.zeros(means.shape, dtype=np.int8)
    for apart in range(1, n_runs):
        part = slice(n_runs - apart)
        np.subtract(means[apart:], means[part], out=gaps[part])
        np.abs(gaps[part], out=gaps[part])
        counts_by_run[part] += np.greater_equal(gaps[part], limits, out=wide[part]).view(np.int8)
    return counts_by_run.sum(axis=0, dtype=np.int64)


def count_wide_pairs(means: FloatArray, limit: float) -> int:
    """Count the pairs of runs whose means lie at least so far apart, without looking at every pair."""
    ordered = np.sort(means)
    n_runs = len(ordered)
    position = np.arange(n_runs)
    # For each run the first one above it that is far enough. A sum rounds, so that it may lie next to the place where
    # the difference, by which pairs are counted, decides; differences grow along the order, rounded too.
    far = np.maximum(np.searchsorted(ordered, ordered + limit), position + 1)
    while True:
        early = np.flatnonzero((far > position + 1) & (ordered[far - 1] - ordered >= limit))
        if not early.size:
            break
        far[early] -= 1
    while True:
        late = np.flatnonzero((far < n_runs) & ~(ordered[np.minimum(far, n_runs - 1)] - ordered >= limit))
        if not late.size:
            return int((n_runs - far).sum())
        far[late] += 1


def _studentise_all(by_run: list[FloatArray], p: FloatArray, alpha: float) -> Find:
    """Prepare the shares of several measures as `_studentise` does."""
    prepared = [_studentise(*of_measure, alpha) for of_measure in zip(by_run, p, strict=True)]
    return lambda weights: np.stack([find(weights) for find in prepared], axis=1)


def _studentise(by_run: FloatArray, p: FloatArray, alpha: float) -> Find:
    """Prepare the shares for a test that divides the difference of each pair by its own standard error."""
    n_runs, n_topics = by_run.shape
    first, second = np.triu_indices(n_runs, 1)
    rows = max(1, NUMBERS_A_BLOCK // n_topics)
    variances = np.concatenate(
        [
            (by_run[start : start + rows] - by_run[run]).var(axis=1)
            for run in range(n_runs - 1)
            for start in range(run + 1, n_runs, rows)
        ]
    )
    means = by_run.mean(axis=1)
    gaps = means[first] - means[second]
    different = variances > 0
    if not different.any():
        constant = float(np.mean(p <= alpha))
        return lambda weights: np.full(len(weights), constant)
    root = np.sqrt(variances)
    sizes = np.divide(np.abs(gaps), root, out=np.zeros(len(gaps)), where=different)
    limit = find_critical_value(sizes, p, alpha)
    shift = _shrinkage(by_run) - 1
    pairs = np.flatnonzero(different)

    def find_shares(weights: FloatArray) -> FloatArray:
        counts = np.zeros(len(weights))
        size = max(1, NUMBERS_A_BLOCK // max(n_topics, len(weights)))
        for part in (pairs[start : start + size] for start in range(0, len(pairs), size)):
            differences = (by_run[first[part]] - by_run[second[part]]).T - gaps[part]
            moved = weights @ differences / n_topics
            spread = weights @ np.square(differences) / n_topics - np.square(moved)
            spread = np.maximum(spread * (n_topics / (n_topics - 1)), SMALLEST_VARIANCE * variances[part])
            statistics = np.abs(moved + gaps[part] * (1 + shift)) / np.sqrt(spread)
            counts += np.count_nonzero(statistics >= limit, axis=1)
        return counts / len(first)

    return find_shares


def _shrinkage(by_run: FloatArray) -> float:
    """Return √(1 − 1/F) of one measure: 0 where the means of runs differ by no more than noise."""
    noise = float(residual_variance(by_run.T)) / by_run.shape[1]
    between = by_run.mean(axis=1).var(ddof=1)
    return float(np.sqrt(max(0.0, 1 - noise / between))) if between > 0 else 0.0


def _find_step(by_run: FloatArray) -> float:
    """Return the share of pairs between the two largest groups of identical runs: one pair where none are."""
    groups = np.sort(np.bincount(equal_rows(by_run)))[::-1]
    groups = groups[groups > 0]
    n_runs = len(by_run)
    return float(groups[0] * (groups[1] if len(groups) > 1 else 0) / (n_runs * (n_runs - 1) / 2))
