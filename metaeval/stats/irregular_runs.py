"""Rows of a score matrix that break what tests of all pairs assume: unequal spread, far-off means, equal rows, odd pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average

WIDE = 1.5
"""Ratio to the median residual spread from which on a run is wide; docs/concepts/discriminative-power.md says what such
runs do to the randomised Tukey HSD test."""

SKEWED = 0.75
"""Median absolute skewness of the differences of two runs from which on a note says that tests of all pairs may err;
docs/concepts/which-test.md says what it does not see."""

CHANCE = 0.05  # how often, at most, some run of runs with equal spread may seem wide by chance
FEWEST_PAIRS, NUMBERS, MOST_NUMBERS = 100, 2**17, 2**22  # pairs at least, numbers that are held, and numbers at most
ODD = 2.5  # absolute skewness of the differences of two runs from which on a note names them
FEW_FAILURES, CLEAR = 0.1, 1.5  # share of topics at most, and standard deviations to all other scores at least
SAME = 1e-24  # variance of scaled differences that is rounding
FAR, MAD_OF_NORMAL = 3.5, 0.6745  # modified z-score beyond which a mean is far off (Iglewicz and Hoaglin, 1993)
FEWEST_MEANS = 5  # runs below which nothing is said about a mean far from those of the others


def residual_spread(values: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """How much does each run vary from topic to topic, beyond what its mean and the topic's difficulty explain?

    Takes scores of shape (run, topic, measure); returns the ratio of the standard deviation of a run's residuals to the median
    one, and whether the run is wide, shape (measure, run): its ratio is at least `WIDE`, and the logarithm more than chance
    explains if the residuals of each topic are exchanged among the runs: the normal quantile at level `CHANCE` over all runs
    (Bonferroni) times its standard error (delta method). The residuals of two runs, or topics, mirror each other: NaN.
    """
    n_runs, n_topics, n_measures = values.shape
    ratio = np.full((n_measures, n_runs), np.nan)
    if n_runs < 3 or n_topics < 3:
        return ratio, np.zeros(ratio.shape, dtype=bool)
    residuals = np.ldexp(values, -np.frexp(np.abs(values).max(axis=(0, 1)))[1])
    residuals -= residuals.sum(axis=0) / n_runs
    residuals -= residuals.mean(axis=1, keepdims=True)
    residuals[np.abs(residuals) < n_topics * np.finfo(np.float64).eps] = 0.0  # rounding
    squares = np.square(residuals, out=residuals)
    moment = squares.mean(axis=1).T
    # If the residuals of a topic were exchanged among the runs at random, mean squares would have this variance.
    fourth_powers = np.square(squares).sum(axis=0)
    variance = np.maximum(fourth_powers / n_runs - (squares.sum(axis=0) / n_runs) ** 2, 0.0).mean(axis=0) / n_topics
    spread = np.sqrt(moment)
    middle = np.median(spread, axis=1)
    some = middle > 0
    ratio[some] = spread[some] / middle[some, np.newaxis]
    middle_square = moment.mean(axis=1)
    error = np.divide(np.sqrt(variance), 2 * middle_square, out=np.zeros(n_measures), where=middle_square > 0)
    limit = np.maximum(WIDE, np.exp(NormalDist().inv_cdf(1 - CHANCE / n_runs) * error))[:, np.newaxis]
    return ratio, ratio >= limit


def shape_of_differences(values: FloatArray) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """How skewed are the differences of two runs over topics, how many are 0, and how much rests on a single topic?

    Returns pairs of runs, shape (pair, 2), some of very many; and of each, shape (measure, pair), the skewness m₃ / m₂^1.5 of
    the differences, the share of topics on which both have the same score, and the largest share of one topic in the sum of
    squared deviations. NaN where a pair differs in no more than its mean.
    """
    n_runs, n_topics, n_measures = values.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    n_some = min(n_pairs, max(FEWEST_PAIRS, MOST_NUMBERS // n_topics))
    some = np.linspace(0, n_pairs - 1, n_some).round().astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):  # means of scores near the largest float
        order = np.argsort(values.mean(axis=1).mean(axis=1), kind="stable")  # not that of a file
    pairs = order[np.stack(np.triu_indices(n_runs, 1), axis=1)[some]]
    shapes = np.full((3, n_measures, len(pairs)), np.nan)
    size = max(1, NUMBERS // n_topics)
    for measure in range(n_measures):
        for start in range(0, len(pairs), size):
            first, second = pairs[start : start + size].T
            gaps = values[first, :, measure] - values[second, :, measure]
            largest = np.abs(gaps).max(axis=1)
            known = np.flatnonzero((largest > 0) & (largest < np.inf))
            deviations = gaps[known] / largest[known, np.newaxis]
            ties = (deviations == 0).mean(axis=1)
            deviations -= deviations.mean(axis=1, keepdims=True)
            squares = np.square(deviations)
            variance, third = squares.mean(axis=1), np.einsum("pt,pt->p", squares, deviations) / n_topics
            vary = variance > SAME
            found = np.stack([third, ties, squares.max(axis=1)])[:, vary]
            found[0] /= variance[vary] ** 1.5
            found[2] /= variance[vary] * n_topics
            shapes[:, measure, start + known[vary]] = found
    return pairs, *shapes


def count_failures(oriented: FloatArray) -> IntArray:
    """On how many topics does each run fail outright, if it does so on a few and is well clear of failing on all others?

    Takes scores of shape (run, topic, measure), higher being better; to fail is to have the lowest score, if that occurs more
    than once. Shape (measure, run); 0, too, of a run whose other scores do not vary.
    """
    scores = np.ldexp(oriented, -np.frexp(np.abs(oriented).max(axis=(0, 1)))[1] - 1)
    failed = scores == scores.min(axis=(0, 1))
    counts = failed.sum(axis=1)
    known = np.maximum((~failed).sum(axis=1), 1)
    rest = np.where(failed, 0.0, scores).sum(axis=1) / known
    spread = np.sqrt(np.square(np.where(failed, 0.0, scores - rest[:, np.newaxis])).sum(axis=1) / known)
    nearest = np.where(failed, np.inf, scores).min(axis=1)
    clear = (nearest - scores.min(axis=(0, 1)) >= CLEAR * spread) & (spread > 0)
    clear &= counts.sum(axis=0) > 1
    return np.where(clear & (counts <= FEW_FAILURES * oriented.shape[1]), counts, 0).T


def far_behind(oriented_means: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which means, (run, measure), are below the median by over `FAR` MAD / 0.6745, shape (measure, run)."""
    if len(oriented_means) < FEWEST_MEANS:
        return np.zeros(oriented_means.T.shape, dtype=bool)
    means = np.ldexp(oriented_means, -1)  # halves, so that no difference overflows
    behind = np.median(means, axis=0) - means
    deviation = np.median(np.abs(behind), axis=0)
    return ((behind * MAD_OF_NORMAL > FAR * deviation) & (deviation > 0)).T


def equal_rows(*values: FloatArray) -> npt.NDArray[np.intp]:
    """Return for each row the position of the first one that is equal to it in every cell of every array, shape (row,)."""
    # The bits of −0 are made those of 0.
    arrays = [np.ascontiguousarray(array + 0.0).reshape(len(array), -1) for array in values]
    digests: dict[bytes, int] = {}
    first = np.arange(len(arrays[0]))
    for row in range(len(first)):
        # Checksums: rows themselves would take as much memory as the scores.
        digest = hashlib.sha256()
        for array in arrays:
            digest.update(array[row].data)
        first[row] = digests.setdefault(digest.digest(), row)
    return first


def find_identical_runs(runs: Sequence[str], *values: FloatArray) -> tuple[tuple[str, ...], ...]:
    """Return groups of two or more runs, the first axis of every array, that are equal in all of them, sorted by label."""
    groups: dict[int, list[str]] = {}
    for run, first in zip(runs, equal_rows(*values).tolist(), strict=True):
        groups.setdefault(first, []).append(run)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))


def skewness_of_tasks(tasks: Sequence[FloatArray]) -> float:
    """Return the absolute skewness, about the means of tasks, (run, topic) each, of differences of a typical pair of runs."""
    apart = np.concatenate([(each - average(each)[:, np.newaxis]) / each.shape[1] for each in tasks], axis=1)
    skewness = np.abs(shape_of_differences(np.nan_to_num(apart)[..., np.newaxis])[1])
    return float(np.nanmedian(skewness)) if np.isfinite(skewness).any() else 0.0
