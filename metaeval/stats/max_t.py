"""Studentised max-T tests of all pairs of runs: which runs differ, if their scores may differ in spread?

The statistic of a pair of runs is its mean difference over topics divided by the standard error of that difference,
so a run that varies much widens nobody's null range but its own. A trial records the largest statistic of all pairs,
and the p-value of a pair is the share of trials whose largest statistic is at least its own (Westfall and Young,
"Resampling-based multiple testing", Wiley, 1993; single step). Stepping down compares a pair with the pairs whose
statistics are no larger than its own, and finds at least as much (Romano and Wolf, JASA 100(469), 2005).

Two kinds of trial. *Sign flips* change the sign of all differences on a random half of the topics: they need
differences that are symmetric about their mean. *Resampled topics* are drawn with replacement and compared with the
observed means: they need many topics, or a variance that cannot vanish by chance. Both leave how runs depend on each
other within a topic as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._check import FloatArray, check_count, check_values
from metaeval.stats.resampling import resampled_topics, topic_signs
from metaeval.stats.scale import scale_squares
from metaeval.stats.streams import check_key

IntArray = npt.NDArray[np.int64]

VARIANCE_OFFSET = 0.25
"""Share of the median variance that is added to every variance by default, chosen by simulation."""

ENUMERATED_TOPICS = 16
"""With this many topics or fewer, all sign vectors are tried: at most 2 ** 15."""

# Numbers held at once by a block of trials, and the fewest trials that make a block worth its overhead.
NUMBERS_A_BLOCK = 2**21
TRIALS_A_BLOCK = 1024
FEWEST_TRIALS = 32

# Whole numbers below this are exact as floats, and so are their sums, in any order.
EXACT_BITS = 52

# Relative differences below which two squared statistics are equal, because rounding alone may cause them: of sums
# with more than 40 bits, and of variances with at least 18.
SAME_RATIO = 1e-9
SAME_STATISTIC = 1e-6


class _Statistics(NamedTuple):
    """The statistics of all pairs under one measure.

    Attributes
    ----------
    observed : ndarray of float64, shape (pair,)
    tolerance : float
        Relative difference below which two statistics are equal.
    compute : callable
        From weights of the topics, shape (topic, trial), to pairs and their statistics, shape (pair, trial), in parts.
    """

    observed: FloatArray
    tolerance: float
    compute: Callable[[FloatArray], Iterator[tuple[slice, FloatArray]]]


class MaxT(NamedTuple):
    """How often the largest statistic reached that of each pair.

    Attributes
    ----------
    counts : ndarray of int64, shape (measure, pair)
        Number of trials; pairs are in the order of ``np.triu_indices(n_runs, 1)``.
    n_trials : int
        Number of all trials.
    exact : bool
        Whether the trials are all sign vectors, the observed one included, and not random ones.
    p : ndarray of float64, shape (measure, pair)
        counts / n_trials if exact, and (counts + 1) / (n_trials + 1) otherwise; after stepping down, no pair has a
        smaller p-value than a pair with a larger statistic.
    """

    counts: IntArray
    n_trials: int
    exact: bool
    p: FloatArray


def sign_flip_max_t(
    values: npt.ArrayLike, *, n_permutations: int = 5000, key: int, step_down: bool = False, n_jobs: int = 1
) -> MaxT:
    """Which runs differ, compared with random signs of the topics?

    With d the mean and Q the sum of squares of the n differences of a pair of runs, T² = (n − 1) r / (1 − r) for
    r = n d² / Q. A sign for every topic changes d and not Q, so r, which orders pairs as T does, is all that is
    computed. All measures share the signs.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        The scores.
    n_permutations : int
        Number of trials, B; up to 16 topics all 2^(n − 1) sign vectors are tried instead.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    step_down : bool
        Whether a pair is compared only with pairs whose statistics are no larger.
    n_jobs : int
        Number of threads; the result is the same for any number.

    Returns
    -------
    MaxT
        Two runs with the same scores have p = 1.

    Raises
    ------
    MetaevalError
        If there are fewer than two runs or topics, a score is not finite, or `n_permutations` is less than 1.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> sign_flip_max_t(values, n_permutations=1000, key=1).p[0] < 0.05
    array([False,  True,  True])
    """
    scores = check_values(values)
    n_permutations = check_count(n_permutations, "permutations")
    check_key(key)
    n_topics = scores.shape[1]
    exact = n_topics <= ENUMERATED_TOPICS
    n_trials = 2 ** (n_topics - 1) if exact else n_permutations

    def draw(trials: range) -> FloatArray:
        return (_all_signs(trials, n_topics) if exact else topic_signs(key, trials, n_topics)).astype(np.float64)

    statistics = [_flip_statistics(scores[..., measure]) for measure in range(scores.shape[2])]
    counts = _count_exceedances(statistics, draw, n_trials, n_topics, step_down, n_jobs)
    p = counts / n_trials if exact else (counts + 1) / (n_trials + 1)
    return MaxT(counts, n_trials, exact, _order(p, statistics) if step_down else p)


def bootstrap_max_t(
    values: npt.ArrayLike,
    *,
    n_permutations: int = 5000,
    key: int,
    step_down: bool = False,
    variance_floor: float = 0.0,
    variance_offset: float = VARIANCE_OFFSET,
    n_jobs: int = 1,
) -> MaxT:
    """Which runs differ, compared with resampled topics?

    With d the mean and V the variance of the differences of a pair of runs, and A the median V over all pairs of
    different runs, T² = (n − 1) d² / (V + `variance_offset` A). In a trial, d is the mean of a sample of topics
    minus the observed mean, and V the variance in the sample, or `variance_floor` times the observed one if that is
    more. All measures share the samples.

    With few topics a sample may contain almost no variance between two runs, which makes T so large that nothing
    observed reaches it: without offset and floor the test finds next to nothing. A floor repairs that, and fails for
    rare large differences. The offset (Tusher, Tibshirani and Chu, PNAS 98(9), 2001, add one to the standard error)
    is part of the statistic, observed and resampled, so it repairs that without favouring either.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        The scores.
    n_permutations : int
        Number of trials, B.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    step_down : bool
        Whether a pair is compared only with pairs whose statistics are no larger.
    variance_floor, variance_offset : float
        Shares of the pair's observed variance, and of the median observed variance; at least 0.
    n_jobs : int
        Number of threads; the result is the same for any number.

    Returns
    -------
    MaxT
        Two runs with the same scores have p = 1.

    Raises
    ------
    MetaevalError
        If there are fewer than two runs or topics, a score is not finite, or a number is out of range.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> bootstrap_max_t(values, n_permutations=1000, key=1).p[0] < 0.05
    array([False,  True,  True])
    """
    scores = check_values(values)
    n_permutations = check_count(n_permutations, "permutations")
    check_key(key)
    for name, share in (("variance_floor", variance_floor), ("variance_offset", variance_offset)):
        if not 0 <= share < np.inf:
            raise MetaevalError(f"{name} is a share of a variance, at least 0, not {share}")
    n_topics = scores.shape[1]

    def draw(trials: range) -> FloatArray:
        return resampled_topics(key, trials, n_topics).astype(np.float64)

    statistics = [
        _bootstrap_statistics(scores[..., measure], variance_floor, variance_offset)
        for measure in range(scores.shape[2])
    ]
    counts = _count_exceedances(statistics, draw, n_permutations, n_topics, step_down, n_jobs)
    p = (counts + 1) / (n_permutations + 1)
    return MaxT(counts, n_permutations, False, _order(p, statistics) if step_down else p)


def _all_signs(trials: range, n_topics: int) -> npt.NDArray[np.int8]:
    """Return the sign vectors of these numbers, shape (trial, topic): bit t − 1 set flips topic t; topic 0 never is."""
    bits = np.arange(trials.start, trials.stop)[:, np.newaxis] * 2 >> np.arange(n_topics) & 1
    return (1 - 2 * bits).astype(np.int8)


def _rows(n_runs: int) -> list[tuple[int, slice]]:
    """Return each run but the last, and where its pairs with later runs are among all pairs."""
    starts = np.cumsum([0, *range(n_runs - 1, 0, -1)]).tolist()
    return [(run, slice(start, start + n_runs - 1 - run)) for run, start in enumerate(starts[:-1])]


def _from_lowest(scores: FloatArray) -> FloatArray:
    """Return how far each score is above the lowest one on its topic, as a share of a power of two."""
    return scale_squares(scores - scores.min(axis=0))


def _whole_numbers(rows: FloatArray, bits: int) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Write each row as whole numbers of at most 2 ** `bits`, times 2 to an exponent of its own."""
    _, exponents = np.frexp(np.abs(rows).max(axis=1))
    return np.rint(np.ldexp(rows, bits - exponents[:, np.newaxis])), exponents - bits


def _flip_statistics(scores: FloatArray) -> _Statistics:
    """Prepare r = n d² / Q of one measure; scores have the shape (run, topic)."""
    n_runs, n_topics = scores.shape
    bits = EXACT_BITS - (n_topics - 1).bit_length()
    units = _whole_numbers(_from_lowest(scores).reshape(1, -1), bits)[0].reshape(n_runs, n_topics)
    rows = _rows(n_runs)
    squares = n_topics * np.concatenate([np.square(units[run] - units[run + 1 :]).sum(axis=1) for run, _ in rows])
    # Where two runs have the same scores, r is 0 in every trial.
    weights = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)

    def compute(drawn: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        sums = units @ drawn
        for run, pairs in rows:
            gaps = sums[run] - sums[run + 1 :]
            gaps *= gaps
            gaps *= weights[pairs, np.newaxis]
            yield pairs, gaps

    observed = np.concatenate([part[:, 0] for _, part in compute(np.ones((n_topics, 1)))])
    return _Statistics(observed, SAME_RATIO, compute)


def _bootstrap_statistics(scores: FloatArray, floor: float, offset: float) -> _Statistics:
    """Prepare T² / (n − 1) = d² / (V + offset A) of one measure; scores have the shape (run, topic).

    V follows from the squares and products of two runs' deviations from their own means: one matrix product for all
    pairs and trials. Each run's deviations have a unit of their own, so that one that varies much costs the others no
    digits.
    """
    n_runs, n_topics = scores.shape
    bits = EXACT_BITS - (n_topics - 1).bit_length()
    above = _from_lowest(scores)
    units, exponent = _whole_numbers(above.reshape(1, -1), bits - 1)
    units = units.reshape(n_runs, n_topics)
    unit_mean = np.ldexp(1.0, exponent[0]) / n_topics
    totals = units.sum(axis=1, keepdims=True)
    middle = above - np.median(above, axis=0)
    deviations, exponents = _whole_numbers(middle - middle.mean(axis=1, keepdims=True), bits // 2)
    rows = _rows(n_runs)

    def compute_parts(drawn: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield pairs, how far their mean differences are from the observed ones, and their mean squares."""
        shifts = units @ drawn
        shifts -= totals
        own = np.square(deviations) @ drawn
        own *= np.ldexp(1.0 / n_topics, 2 * exponents)[:, np.newaxis]
        rows_a_product = max(1, NUMBERS_A_BLOCK // (n_runs * max(drawn.shape)))
        for start in range(0, n_runs - 1, rows_a_product):
            some = rows[start : start + rows_a_product]
            factors = np.concatenate([deviations[run] * deviations[run + 1 :] for run, _ in some])
            scales = [np.ldexp(-2.0 / n_topics, exponents[run] + exponents[run + 1 :]) for run, _ in some]
            products = factors @ drawn
            products *= np.concatenate(scales)[:, np.newaxis]
            for run, pairs in some:
                squares = products[pairs.start - some[0][1].start : pairs.stop - some[0][1].start]
                squares += own[run + 1 :]
                squares += own[run]
                gaps = shifts[run] - shifts[run + 1 :]
                gaps *= unit_mean
                yield pairs, gaps, squares

    whole = compute_parts(np.ones((n_topics, 1)))
    variances = np.maximum(np.concatenate([squares[:, 0] for _, _, squares in whole]), 0.0)
    means = np.concatenate([totals[run] - totals[run + 1 :, 0] for run, _ in rows]) * unit_mean
    same = np.concatenate([(units[run] == units[run + 1 :]).all(axis=1) for run, _ in rows])
    added = 0.0 if same.all() else offset * float(np.median(variances[~same]))
    lowest = floor * variances

    def compute(drawn: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        for pairs, gaps, squares in compute_parts(drawn):
            gaps *= gaps
            squares -= gaps
            np.maximum(squares, lowest[pairs, np.newaxis], out=squares)
            squares += added
            yield pairs, _divide(gaps, squares)

    return _Statistics(_divide(np.square(means), variances + added), SAME_STATISTIC, compute)


def _divide(squares: FloatArray, variances: FloatArray) -> FloatArray:
    """Divide in place: 0 for no difference, infinite for a difference without variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        squares /= variances
    squares[np.isnan(squares)] = 0.0
    return squares


def _count_exceedances(
    statistics: list[_Statistics],
    draw: Callable[[range], FloatArray],
    n_trials: int,
    n_topics: int,
    step_down: bool,
    n_jobs: int,
) -> IntArray:
    """Count the trials whose largest statistic is at least that of each pair, shape (measure, pair)."""
    n_pairs = len(statistics[0].observed)
    numbers = max(n_topics, n_pairs if step_down else 1)
    size = max(FEWEST_TRIALS, min(TRIALS_A_BLOCK, NUMBERS_A_BLOCK // numbers))
    blocks = [range(start, min(start + size, n_trials)) for start in range(0, n_trials, size)]
    count = _count_step_down if step_down else _count_single_step

    def count_block(trials: range) -> IntArray:
        # Topics come first, so that a product runs along trials.
        drawn = np.ascontiguousarray(draw(trials).T)
        return np.stack([count(one, drawn) for one in statistics])

    if n_jobs == 1 or len(blocks) == 1:
        return sum((count_block(block) for block in blocks[1:]), start=count_block(blocks[0]))
    import joblib

    # Blocks of trials do not depend on the number of jobs, and sums of whole numbers not on their order.
    tasks = (joblib.delayed(count_block)(block) for block in blocks)
    counts: IntArray = np.sum(joblib.Parallel(n_jobs=n_jobs, require="sharedmem")(tasks), axis=0)
    return counts


def _count_single_step(statistics: _Statistics, drawn: FloatArray) -> IntArray:
    largest = np.zeros(drawn.shape[1])
    for _, part in statistics.compute(drawn):
        np.maximum(largest, part.max(axis=0), out=largest)
    largest.sort()
    return largest.size - np.searchsorted(largest, statistics.observed * (1 - statistics.tolerance), side="left")


def _count_step_down(statistics: _Statistics, drawn: FloatArray) -> IntArray:
    n_pairs, n_trials = len(statistics.observed), drawn.shape[1]
    ascending = np.argsort(statistics.observed, kind="stable")
    largest = np.empty((n_pairs, n_trials))
    for pairs, part in statistics.compute(drawn):
        largest[pairs] = part
    largest = largest[ascending]
    np.maximum.accumulate(largest, axis=0, out=largest)
    counts = np.empty(n_pairs, dtype=np.int64)
    reached = statistics.observed[ascending, np.newaxis] * (1 - statistics.tolerance)
    counts[ascending] = np.count_nonzero(largest >= reached, axis=1)
    return counts


def _order(p: FloatArray, statistics: list[_Statistics]) -> FloatArray:
    """Raise each p-value to those of pairs with larger statistics, shape (measure, pair)."""
    ordered = np.empty_like(p)
    for measure, one in enumerate(statistics):
        descending = np.argsort(-one.observed, kind="stable")
        ordered[measure, descending] = np.maximum.accumulate(p[measure, descending])
    return ordered
