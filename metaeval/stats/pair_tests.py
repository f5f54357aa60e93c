"""Significance tests of all pairs of runs, under every measure at once: paired by topic, with draws that all of them share.

Randomised Tukey HSD is in `metaeval.stats.randomised_tukey`. The other tests that resample are one kernel: topics get
*weights*, which are random signs or how often a topic is drawn, and a pair's squared mean difference is divided by its own
variance. *max-t* and *bootstrap-t* compare it with the largest one of all pairs in every trial (Westfall and Young,
"Resampling-based multiple testing", Wiley, 1993; single step), so that a run that varies much widens nobody's null range but
its own. *paired-randomisation* and *paired-bootstrap* (Sakai, SIGIR 2006) compare each pair with itself, and need a
correction. Signs need differences that are symmetric about their mean; drawing topics does without that.

Of bootstrap-t's two statistics the p-value of a pair is the smaller one, compared with the smaller one of every trial, so that
both together err as often as one. With few topics a sample may contain little variance between two runs, which makes the first
so large that little that is observed reaches it; the offset of the second (Tusher, Tibshirani and Chu, PNAS 98(9), 2001)
repairs that, but hides precise small differences, of near-identical runs.

Scores are made whole numbers, so that sums are exact, and ties are decided by the tolerances that are stated here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_option
from metaeval.stats.anova import residual_variance, studentised_range_tail
from metaeval.stats.arrays import (
    FloatArray,
    IntArray,
    check_count,
    check_shape,
    find_exponents,
    scale_scores,
    scale_squares,
    split_pairs,
)
from metaeval.stats.parallel import run_parts
from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd
from metaeval.stats.resampling import draw_weights, topic_signs

PairedTest: TypeAlias = Literal[
    "randomised-tukey-hsd", "max-t", "bootstrap-t", "tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap"
]
Correction: TypeAlias = Literal["auto", "none", "holm", "bonferroni", "benjamini-hochberg"]

FAMILYWISE = ("randomised-tukey-hsd", "max-t", "bootstrap-t", "tukey-hsd")
MAX_T = ("max-t", "bootstrap-t")
FLIPPING = ("max-t", "paired-randomisation")
"""Tests that flip the signs of differences."""

RESAMPLING = ("randomised-tukey-hsd", *MAX_T, "paired-randomisation", "paired-bootstrap")

RECOMMENDED: PairedTest = "bootstrap-t"
"""The test to use where nothing asks for another: docs/concepts/which-test.md says why, and on which kinds of scores."""

VARIANCE_OFFSET = 0.25
"""Share of the median variance that bootstrap-t adds to every variance by default, chosen by simulation."""

LEAST_VARIANCE, CLEAR = 0.1, 3.0
"""Share of a pair's variance that a sample must hold to say how large the difference of the pair, over its own standard error,
may be by chance, unless the runs differ in it by more standard errors than `CLEAR`. Chosen by simulation: near-copies that
differ on a few topics hide no other pairs then, and runs that seldom succeed, and of which a sample holds no success, cause no
false differences, as they do if a tenth of the variance of every pair is added instead."""

ENUMERATED_TOPICS = 16
"""With this many topics or fewer, max-t tries all sign vectors: at most 2 ** 15."""

NUMBERS_A_BLOCK, MOST_TRIALS, FEWEST_TRIALS = 2**21, 2048, 32  # weights, and trials, that are held at once
MOST_BITS_APART = 20  # powers of two by which scores of runs may differ, and have the same unit
EXACT_BITS = 52  # whole numbers below 2 ** 52 are exact as floats, and so are their sums, in any order
SAME_UNITS = 3  # whole numbers that equal differences of scores, which are rounded to these, may be apart
NO_VARIANCE = 1e-12  # share of the squared mean of a sample up to which its variance is due to rounding

SAME_STATISTIC = {"max-t": 1e-9, "paired-randomisation": 1e-9, "bootstrap-t": 1e-6, "paired-bootstrap": 2e-8}
"""Relative difference below which two squared statistics are equal, since rounding may cause it."""


class PairedTestResult(NamedTuple):
    """The p-value of each pair of runs after any correction, and the exceedance counts before it, shape (measure, pair).

    Pairs are in the order of ``np.triu_indices(n_runs, 1)``. `exact`: p has no Monte Carlo error. Of max-T tests, `largest` are
    the largest squared statistics, shape (measure, kind, trial), and `spread` is what a pair's mean difference is divided by,
    shape (measure, kind, pair).
    """

    p: FloatArray
    counts: IntArray | None
    n_trials: int | None
    exact: bool
    largest: FloatArray | None = None
    spread: FloatArray | None = None


def all_pairs_test(
    values: npt.ArrayLike,
    *,
    test: PairedTest = "randomised-tukey-hsd",
    correction: Correction = "auto",
    n_permutations: int = 5000,
    key: int | None = None,
    add_one: bool = False,
    variance_offset: float | None = None,
    n_jobs: int = 1,
) -> PairedTestResult:
    """Which runs differ significantly, under each measure, by scores of shape (run, topic, measure)?

    Two runs with the same scores have p = 1. ``"auto"`` corrects the last three of these tests for the number of pairs by
    Holm's method; the others account for all pairs.

    - ``"randomised-tukey-hsd"``: `metaeval.stats.randomised_tukey`.
    - ``"max-t"``: the largest d²/Σ(x_i − x_k)² of all pairs, with a random sign for every topic, or all of few.
    - ``"bootstrap-t"``: the largest d²/V and d²/(V + `variance_offset` A) of all pairs in resampled topics, with d the mean
      difference less the observed one, V the variance of the differences in the sample, and A the median observed V
      (docs/concepts/which-test.md). The offset is 0.25; 0 leaves the first statistic alone.
    - ``"tukey-hsd"``: the studentised range of the two-way analysis of variance.
    - ``"paired-t"``; ``"paired-randomisation"``, which swaps two runs on random topics; ``"paired-bootstrap"`` (Sakai 2006).

    Tests that resample take the number of trials and a `key` of `metaeval.stats.streams.stream_key`; `n_jobs` are threads. With
    `add_one` p is (count + 1)/(B + 1), as it always is of max-T tests, unless they try all signs.

    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> all_pairs_test(values, test="bootstrap-t", n_permutations=1000, key=1).p[0] < 0.05
    array([False,  True,  True])
    """
    scores = check_shape(values)
    for what, value, choices in (
        ("test", test, get_args(PairedTest)),
        ("correction", correction, get_args(Correction)),
    ):
        if value not in choices:
            raise MetaevalError(f"The {what} must be one of {', '.join(choices)}, not {value!r}.")
    if test in FAMILYWISE and correction not in ("auto", "none"):
        raise MetaevalError(f"{test} already accounts for all pairs, so the {correction} correction does not apply.")
    if variance_offset is not None and test != "bootstrap-t":
        raise MetaevalError(f"{format_option('variance_offset')} is for bootstrap-t, not {test}")
    if variance_offset is not None and not 0 <= variance_offset < np.inf:
        raise MetaevalError(f"variance_offset is a share of a variance, at least 0, not {variance_offset}")
    n_permutations = check_count(n_permutations, "permutations")
    if test == "tukey-hsd":
        return PairedTestResult(_tukey_p_values(scale_scores(scores)), None, None, True)
    if test == "paired-t":
        return PairedTestResult(correct(_t_p_values(scale_scores(scores)), correction), None, None, True)
    if key is None:
        raise MetaevalError(f"{test} draws at random, so it needs a key; stream_key makes one.")
    if test == "randomised-tukey-hsd":
        counts = randomised_tukey_hsd(scores, n_permutations=n_permutations, key=key, n_jobs=n_jobs)
        return PairedTestResult(p_values(counts, n_permutations, add_one=add_one), counts, n_permutations, False)
    if test in MAX_T:
        offset = {"max-t": 0.0, "bootstrap-t": VARIANCE_OFFSET}[test] if variance_offset is None else variance_offset
        return _test_largest(scores, test, n_permutations, key, offset, n_jobs)
    counts = _count_single(scale_scores(scores), test, n_permutations, key, n_jobs)
    p = p_values(counts, n_permutations, add_one=add_one)
    return PairedTestResult(correct(p, correction), counts, n_permutations, False)


def simultaneous_reach(result: PairedTestResult, alpha: float = 0.05) -> FloatArray:
    """How far do intervals of all pairs' differences, which hold together, reach to either side? Shape (measure, pair).

    They turn bootstrap-t round: an interval leaves 0 out where p ≤ α; infinite where too few trials were drawn for that.
    """
    if result.largest is None or result.spread is None:
        raise MetaevalError("only a max-T test has intervals of all pairs that hold together")
    reach = np.full_like(result.spread, np.inf)
    few = int(np.floor(alpha * (result.largest.shape[2] + 1) + 1e-9)) - 1
    for row, drawn, spread in zip(reach, result.largest, result.spread, strict=True):
        ordered = np.sort(drawn, axis=1)
        # A pair is significant if fewer trials reach it than reach the trial that stands here.
        rank = np.sort(_rank_trials(ordered, drawn))[few] if few >= 0 else 0
        limits = np.sqrt(ordered[:, -rank, np.newaxis])
        if rank:
            np.multiply(limits, spread, out=row, where=np.isfinite(limits))
    return np.asarray(reach.min(axis=1))


def correct(p: npt.ArrayLike, correction: Correction = "holm") -> FloatArray:
    """Correct p-values, shape (measure, pair), for the pairs of a measure (Holm 1979; Benjamini and Hochberg 1995)."""
    families = np.array(p, dtype=np.float64)
    if correction == "none":
        return families
    n_pairs = families.shape[-1]
    if correction == "bonferroni":
        return np.minimum(families * n_pairs, 1.0)
    # Not statsmodels' function, which collects garbage at every call: a tenth of a second for each measure, or study.
    order, place = families.argsort(axis=-1), np.arange(1, n_pairs + 1)
    ordered = np.take_along_axis(families, order, axis=-1)
    if correction == "benjamini-hochberg":
        stepped = np.minimum.accumulate((ordered / (place / n_pairs))[..., ::-1], axis=-1)[..., ::-1]
    else:
        stepped = np.maximum.accumulate(ordered * place[::-1], axis=-1)
    np.put_along_axis(families, order, np.minimum(stepped, 1.0), axis=-1)
    return families


class WeightedPairs:
    """Differences of all pairs of runs, observed and with other weights of the topics, from scaled scores (run, topic).

    All are in units of 2 ** -`exponent`: `units`, the scores above the lowest of their topic, as whole numbers; `sums` over
    topics of the differences, shape (pair,), and `squares`, their summed squared deviations from the mean, by part too. `parts`
    of the topics are drawn among themselves, and have means of their own. If topics are flipped, squares are summed without
    the mean, and stay as they are.
    """

    def __init__(self, scores: FloatArray, *, flips: bool = False, parts: Sequence[slice] = (slice(None),)) -> None:
        n_runs, self.n_topics = scores.shape
        self.flips, self.parts = flips, parts
        above = scores - scores.min(axis=0)
        # Weighted sums are at most the number of topics times as large, and differences of two are twice as large if drawn.
        bits = EXACT_BITS - (self.n_topics - 1).bit_length() - (not flips)
        self.exponent = bits - int(np.frexp(above.max())[1])
        scaled = np.ldexp(above, self.exponent)
        self.units = np.rint(scaled)
        self.rounding = 0 if (self.units == scaled).all() else SAME_UNITS
        self.totals = [self.units[:, part].sum(axis=1) for part in parts]
        starts = np.cumsum([0, *range(n_runs - 1, 0, -1)]).tolist()
        self.rows = [(run, slice(*starts[run : run + 2])) for run in range(n_runs - 1)]
        self.sums, self.by_part = np.zeros(starts[-1]), np.empty((len(parts), starts[-1]))
        for run, pairs in self.rows:
            squares = self._square(run)
            for part, total, of_part in zip(parts, self.totals, self.by_part, strict=True):
                self.sums[pairs] += total[run] - total[run + 1 :]
                of_part[pairs] = squares[:, part].sum(axis=1)
        self.sums[np.abs(self.sums) <= self.rounding * self.n_topics] = 0.0
        self.squares = self.by_part.sum(axis=0)
        self.squares[self.squares <= self.rounding**2 * self.n_topics] = 0.0
        self.differ = (self.sums != 0) | (self.squares > 0)

    def _square(self, run: int) -> FloatArray:
        """Return squares of a run's differences from later ones by topic, less their means if topics are drawn."""
        gaps = self.units[run] - self.units[run + 1 :]
        if not self.flips:
            for part, total in zip(self.parts, self.totals, strict=True):
                gaps[:, part] -= (total[run] - total[run + 1 :, np.newaxis]) / gaps[:, part].shape[1]
        gaps *= gaps
        return gaps

    def weigh(self, weights: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield the pairs of one run after the other, with sums and squares, (pair, trial), by weights of shape (topic, trial).

        If topics are drawn, sums are less the observed ones.
        """
        if self.flips:
            totals = self.units @ weights
            for run, pairs in self.rows:
                yield pairs, totals[run] - totals[run + 1 :], self.squares[pairs, np.newaxis]
            return
        moved = [
            self.units[:, part] @ weights[part] - total[:, np.newaxis]
            for part, total in zip(self.parts, self.totals, strict=True)
        ]
        # A product of many rows is quicker than many of a few.
        rows_a_product = max(1, NUMBERS_A_BLOCK // (len(self.units) * max(self.n_topics, weights.shape[1])))
        for run, pairs in self.rows:
            if run % rows_a_product == 0:
                some = [self._square(row) for row in range(run, min(run + rows_a_product, len(self.rows)))]
                product, first = np.concatenate(some) @ weights, pairs.start
            squares, largest = product[pairs.start - first : pairs.stop - first], 0.0
            gaps = [totals[run] - totals[run + 1 :] for totals in moved]
            for part, gap in zip(self.parts, gaps, strict=True):
                less = np.square(gap)
                less /= len(weights[part])
                squares -= less
                largest += less.max()
            sums = gaps[0] if len(gaps) == 1 else np.sum(gaps, axis=0)
            # Of samples with almost no variance it is rounding; where a pair has none, it is all that there is.
            rounding = self.rounding**2 * self.n_topics
            if squares.min() <= NO_VARIANCE * largest + rounding:
                equal = squares <= NO_VARIANCE * np.square(sums) / self.n_topics + rounding
                squares[equal] = 0.0
                sums[equal & (np.abs(sums) <= self.rounding * self.n_topics)] = 0.0
            yield pairs, sums, squares

    def find_silent(self, pairs: slice, sums: FloatArray, squares: FloatArray) -> npt.NDArray[np.bool_]:
        """Return which samples of `weigh` say nothing of a pair, since they hold little of what its runs differ by."""
        silent = squares < LEAST_VARIANCE * (1 - SAME_STATISTIC["bootstrap-t"]) * self.squares[pairs, np.newaxis]
        if silent.any():
            hidden = NO_VARIANCE * np.square(sums) / self.n_topics  # may be as large as this
            known = np.maximum(squares, hidden)
            clear = CLEAR**2 * (1 + SAME_STATISTIC["bootstrap-t"]) * known
            clear += (self.rounding * self.n_topics) ** 2
            silent &= np.square(sums + self.sums[pairs, np.newaxis]) <= clear
        return silent


def studentise(numbers: FloatArray, spread: FloatArray) -> FloatArray:
    """Return a statistic, or its square: infinite for a difference without variance, and NaN for none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numbers / spread)


def _test_largest(
    scores: FloatArray, test: PairedTest, n_permutations: int, key: int, offset: float, n_jobs: int
) -> PairedTestResult:
    """Compare the statistics of every pair with the largest ones of every trial."""
    n_topics, same = scores.shape[1], SAME_STATISTIC[test]
    exact = test == "max-t" and n_topics <= ENUMERATED_TOPICS
    n_trials = 2 ** (n_topics - 1) if exact else n_permutations
    measures = [WeightedPairs(column, flips=test in FLIPPING) for column in np.moveaxis(scale_scores(scores), -1, 0)]
    # What is added to the squares of all pairs, one number for each kind of statistic.
    added = []
    for pairs in measures:
        median = float(np.median(pairs.squares[pairs.differ])) if pairs.differ.any() else 0.0
        added.append([0.0, offset * median] if offset else [0.0])

    def find_largest(weights: FloatArray) -> FloatArray:
        largest = np.zeros((len(measures), len(added[0]), weights.shape[1]))
        for of_measure, pairs, more in zip(largest, measures, added, strict=True):
            for rows, sums, squares in pairs.weigh(weights):
                silent = None if pairs.flips else pairs.find_silent(rows, sums, squares)
                sums *= sums
                for of_kind, number in zip(of_measure, more, strict=True):
                    statistics = studentise(sums, squares + number if number else squares)
                    if silent is not None and not number:
                        statistics[silent] = 0.0
                    np.fmax(of_kind, np.fmax.reduce(statistics, axis=0), out=of_kind)
        return largest

    largest = np.concatenate(_run_trials(find_largest, test, key, n_topics, n_trials, n_jobs, exact=exact), axis=2)
    counts, spread = [], []
    for of_trials, pairs, more, exponent in zip(largest, measures, added, find_exponents(scores), strict=True):
        squares = pairs.squares + np.array(more)[:, np.newaxis]
        observed = _merge_equal(np.nan_to_num(studentise(pairs.sums**2, squares), posinf=np.inf), same)
        of_trials[:] = _merge_equal(of_trials, same)
        # How extreme something is of one kind is the number of trials that reach it, and of several the smallest number.
        ordered = np.sort(of_trials, axis=1)
        ranks = np.sort(_rank_trials(ordered, of_trials))
        counts.append(np.searchsorted(ranks, _rank_trials(ordered, observed * (1 - same)), side="right"))
        spread.append(np.ldexp(np.sqrt(squares) / n_topics, exponent - pairs.exponent))
    exceeding = np.array(counts)
    p = exceeding / n_trials if exact else (exceeding + 1) / (n_trials + 1)
    return PairedTestResult(p, exceeding, n_trials, exact, largest, np.array(spread))


def _count_single(scores: FloatArray, test: PairedTest, n_trials: int, key: int, n_jobs: int) -> IntArray:
    """Count the trials in which a pair is at least as extreme as it is observed to be, shape (measure, pair)."""
    n_runs, n_topics, n_measures = scores.shape
    listed = []
    for column in np.moveaxis(scores, -1, 0):
        largest = (column - column.min(axis=0)).max(axis=1)
        sizes = np.frexp(largest[largest > 0])[1]
        # One unit serves all pairs, unless it would round away the differences between runs of small scores.
        alike = not len(sizes) or np.ptp(sizes) <= MOST_BITS_APART
        groups = [np.arange(n_runs)] if alike else list(np.stack(np.triu_indices(n_runs, 1), axis=1))
        listed += [WeightedPairs(column[group], flips=test in FLIPPING) for group in groups]
    observed = [studentise(pairs.sums**2, pairs.squares) * (1 - SAME_STATISTIC[test]) for pairs in listed]

    def count(weights: FloatArray) -> IntArray:
        counts = []
        for pairs, reached in zip(listed, observed, strict=True):
            of_group = np.empty(len(reached), dtype=np.int64)
            for some, sums, squares in pairs.weigh(weights):
                sums *= sums
                statistics = studentise(sums, squares)
                of_group[some] = np.count_nonzero(statistics >= reached[some, np.newaxis], axis=1)
            of_group[~pairs.differ] = weights.shape[1]
            counts.append(of_group)
        return np.concatenate(counts).reshape(n_measures, -1)

    return np.asarray(np.sum(_run_trials(count, test, key, n_topics, n_trials, n_jobs), axis=0))


def _run_trials(
    compute: Callable[[FloatArray], npt.NDArray[Any]], test: PairedTest, key: int, n_topics: int, n_trials: int, n_jobs: int,
    *, exact: bool = False,
) -> list[npt.NDArray[Any]]:  # fmt: skip
    """Return what blocks of trials come to, from weights of shape (topic, trial), so that a product runs along trials."""
    size = max(FEWEST_TRIALS, min(MOST_TRIALS, NUMBERS_A_BLOCK // n_topics))

    def work(trials: range) -> npt.NDArray[Any]:
        if exact:  # bit t − 1 of a trial's number flips topic t; topic 0 never is
            bits = np.arange(trials.start, trials.stop)[:, np.newaxis] * 2 >> np.arange(n_topics) & 1
            return compute(np.ascontiguousarray(1.0 - 2.0 * bits.T))
        drawn = (topic_signs if test in FLIPPING else draw_weights)(key, trials, n_topics)
        return compute(np.ascontiguousarray(drawn.T, dtype=np.float64))

    parts = [range(start, min(start + size, n_trials)) for start in range(0, n_trials, size)]
    # A process would need a copy of the differences.
    return list(run_parts(work, parts, n_jobs=n_jobs, sharing={"require": "sharedmem"}, what=f"trials of {test}"))


def _merge_equal(statistics: FloatArray, tolerance: float) -> FloatArray:
    """Give statistics that rounding alone tells apart one value, the smallest of them, along the last axis."""
    order = np.argsort(statistics, axis=-1, kind="stable")
    ordered = np.take_along_axis(statistics, order, axis=-1)
    first = np.zeros(ordered.shape, dtype=np.intp)
    new = ordered[:, 1:] * (1 - tolerance) > ordered[:, :-1]
    first[:, 1:] = np.maximum.accumulate(np.where(new, np.arange(1, ordered.shape[1]), 0), axis=-1)
    merged = np.empty_like(statistics)
    np.put_along_axis(merged, order, np.take_along_axis(ordered, first, axis=-1), axis=-1)
    return merged


def _rank_trials(ordered: FloatArray, numbers: FloatArray) -> IntArray:
    """Return how many trials reach numbers, the smallest count of all kinds; `ordered` are their largest statistics."""
    below = [np.searchsorted(*of_kind, side="left") for of_kind in zip(ordered, numbers, strict=True)]
    return np.asarray(ordered.shape[1] - np.max(below, axis=0))


def _t_p_values(scores: FloatArray) -> FloatArray:
    from scipy.special import stdtr

    n_runs, n_topics, n_measures = scores.shape
    first, second = np.triu_indices(n_runs, 1)
    statistics, size = np.empty((n_measures, len(first))), max(1, NUMBERS_A_BLOCK // 2 // n_topics)
    for measure in range(n_measures):
        by_topic = scores[..., measure].T
        for pairs in (slice(start, start + size) for start in range(0, len(first), size)):
            gaps = scale_squares(by_topic[:, first[pairs]] - by_topic[:, second[pairs]], axis=0)
            statistics[measure, pairs] = studentise(
                np.abs(gaps.mean(axis=0)), np.sqrt(gaps.var(axis=0, ddof=1) / n_topics)
            )
    return np.asarray(2 * stdtr(n_topics - 1, -np.nan_to_num(statistics, posinf=np.inf)))


def _tukey_p_values(scores: FloatArray) -> FloatArray:
    n_runs, n_topics, n_measures = scores.shape
    first, second = np.triu_indices(n_runs, 1)
    ranges = np.empty((n_measures, first.size))
    for measure in range(n_measures):
        # A separate copy, so that the rounding for one measure does not depend on the other measures.
        matrix = scale_squares(np.ascontiguousarray(scores[..., measure].T))
        means = matrix.mean(axis=0)
        ranges[measure] = studentise(
            np.abs(means[first] - means[second]), np.sqrt(residual_variance(matrix) / n_topics)
        )
    return studentised_range_tail(np.nan_to_num(ranges, posinf=np.inf), n_runs, (n_runs - 1) * (n_topics - 1))


def deviate_pairs(values: FloatArray) -> FloatArray:
    """Return the standard deviation over topics of the difference of every two runs, shape (measure, pair)."""
    # Squares of huge scores are more than a float holds; in units of a power of two of the largest score they are exact.
    units = np.maximum(np.frexp(np.abs(values).max(axis=(0, 1)))[1], -1000)
    scores = np.ascontiguousarray(np.moveaxis(values * np.ldexp(1.0, -units), 1, -1))
    spreads = [gaps.std(axis=-1, ddof=1) for _, gaps in split_pairs(scores)]
    return np.ldexp(np.concatenate(spreads).T, units[:, np.newaxis])
