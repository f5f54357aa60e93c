"""Studentised max-T tests of all pairs of runs: which runs differ, if their scores may differ in spread?

The statistic of a pair of runs is its mean difference over topics divided by the standard error of that difference,
so a run that varies much widens nobody's null range but its own. A trial records the largest statistic of all pairs,
and the p-value of a pair is the share of trials whose largest statistic is at least its own (Westfall and Young,
"Resampling-based multiple testing", Wiley, 1993; single step).

Two kinds of trial. *Sign flips* change the sign of all differences on a random half of the topics: they need
differences that are symmetric about their mean. *Resampled topics* are drawn with replacement and compared with the
observed means, and do without symmetry. Both leave how runs depend on each other within a topic as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._max_t_trials import (
    NUMBERS_A_BLOCK,
    PairedTestResult,
    Statistics,
    Test,
    find_largest,
    rank_trials,
    run_test,
)
from metaeval.stats.arrays import FloatArray, IntArray, check_count, check_shape
from metaeval.stats.resampling import resampled_topics, topic_signs
from metaeval.stats.streams import check_key

VARIANCE_OFFSET = 0.25
"""Share of the median variance that is added to every variance by default, chosen by simulation."""

ENUMERATED_TOPICS = 16
"""With this many topics or fewer, all sign vectors are tried: at most 2 ** 15."""

TOPICS_A_PRODUCT = 4096
"""Topics of which the products of two runs are held at once: as many as the processor's cache takes."""

# Whole numbers below this are exact as floats, and so are their sums, in any order.
EXACT_BITS = 52

# Relative differences below which two squared statistics are equal, because rounding alone may cause them: of sums
# with more than 40 bits, and of variances with at least 18.
SAME_RATIO = 1e-9
SAME_STATISTIC = 1e-6

# Whole numbers that two differences of scores may be apart, and yet be equal, because scores are rounded to these.
SAME_UNITS = 3


def sign_flip_max_t(
    values: npt.ArrayLike, *, n_permutations: int = 5000, key: int, n_jobs: int = 1
) -> PairedTestResult:
    """Which runs differ, compared with random signs of the topics?

    With d the mean and Q the sum of squares of the n differences of a pair of runs, T² = (n − 1) r / (1 − r) for
    r = n d² / Q. A sign for every topic changes d and not Q, so r, which orders pairs as T does, is all that is
    computed. All measures share the signs.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
    n_permutations : int
        Number of trials, B; up to 16 topics all 2^(n − 1) sign vectors are tried instead.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    n_jobs : int
        Number of threads; the result is the same for any number.

    Returns
    -------
    PairedTestResult
        Two runs with the same scores have p = 1.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> sign_flip_max_t(values, n_permutations=1000, key=1).p[0] < 0.05
    array([False,  True,  True])
    """
    scores = check_shape(values)
    n_permutations = check_count(n_permutations, "permutations")
    check_key(key)
    n_topics = scores.shape[1]
    exact = n_topics <= ENUMERATED_TOPICS
    n_trials = 2 ** (n_topics - 1) if exact else n_permutations

    def draw(trials: range) -> npt.NDArray[np.int8]:
        return _all_signs(trials, n_topics) if exact else topic_signs(key, trials, n_topics)

    return run_test(scores, Test("max-t", _flip_statistics, draw, n_trials, exact), n_jobs)


def bootstrap_max_t(
    values: npt.ArrayLike,
    *,
    n_permutations: int = 5000,
    key: int,
    variance_offset: float = VARIANCE_OFFSET,
    n_jobs: int = 1,
) -> PairedTestResult:
    """Which runs differ, compared with resampled topics?

    With d the mean and V the variance of the differences of a pair of runs, and A the median V over all pairs of
    different runs, a pair has two statistics: T² = (n − 1) d² / V by its own standard error, and
    T² = (n − 1) d² / (V + `variance_offset` A). In a trial, d is the mean of a sample of topics minus the observed
    mean, and V the variance in the sample. The p-value of a pair is the smaller one of both statistics, compared with
    the smaller one of every trial, so that both together err as often as one. All measures share the samples.

    With few topics a sample may contain almost no variance between two runs, which makes T so large by their own
    standard error that little that is observed reaches it; the offset (Tusher, Tibshirani and Chu, PNAS 98(9), 2001,
    add one to the standard error) repairs that, but hides precise small differences, those of near-identical runs. The
    first statistic misses these too if two other runs differ on one to three topics only: in a sample without these topics
    it is infinite (docs/concepts/which-test.md).

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
    n_permutations : int
        Number of trials, B.
    key, n_jobs
        As in `sign_flip_max_t`.
    variance_offset : float
        Share of the median observed variance; at least 0, which leaves the first statistic alone.

    Returns
    -------
    PairedTestResult
        Two runs with the same scores have p = 1.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> bootstrap_max_t(values, n_permutations=1000, key=1).p[0] < 0.05
    array([False,  True,  True])
    """
    scores = check_shape(values)
    n_permutations = check_count(n_permutations, "permutations")
    check_key(key)
    if not 0 <= variance_offset < np.inf:
        raise MetaevalError(f"variance_offset is a share of a variance, at least 0, not {variance_offset}")
    n_topics = scores.shape[1]

    def draw(trials: range) -> IntArray:
        return resampled_topics(key, trials, n_topics)

    def prepare(scores_of_measure: FloatArray) -> Statistics:
        return _bootstrap_statistics(scores_of_measure, variance_offset)

    return run_test(scores, Test("bootstrap-t", prepare, draw, n_permutations), n_jobs)


def simultaneous_reach(
    values: npt.ArrayLike, largest: FloatArray, alpha: float = 0.05, *, variance_offset: float = VARIANCE_OFFSET
) -> FloatArray:
    """How far do intervals of all pairs' differences, which hold together, reach to either side?

    They turn `bootstrap_max_t` round: an interval leaves 0 out where the pair is significant, p ≤ α. With c and c′ the largest
    values of its two T² that are not, a pair's reach is the smaller one of √(c V / (n − 1)) and
    √(c′ (V + `variance_offset` A) / (n − 1)).

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
    largest : ndarray, shape (measure, kind, trial)
        Of the result of `bootstrap_max_t` on these values.
    alpha : float
    variance_offset : float
        As in that call.

    Returns
    -------
    ndarray, shape (measure, pair)
        In the unit of the scores; infinite where so few trials were drawn that no pair could be significant.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> result = bootstrap_max_t(values, n_permutations=1000, key=1)
    >>> simultaneous_reach(values, result.largest).round(2)
    array([[0.13, 0.19, 0.18]])
    """
    scores = check_shape(values)
    reach = []
    for measure, drawn in enumerate(largest):
        ordered, few = np.sort(drawn, axis=1), int(np.floor(alpha * (drawn.shape[1] + 1) + 1e-9)) - 1
        # A pair is significant if fewer trials reach it than reach the trial that stands here.
        rank = np.sort(rank_trials(ordered, drawn))[few] if few >= 0 else 0
        if not rank:
            reach.append(np.full(len(scores) * (len(scores) - 1) // 2, np.inf))
            continue
        column = scores[..., measure]
        gaps = [column[run] - column[run + 1 :] for run in range(len(column) - 1)]
        variances = np.concatenate([gap.var(axis=1) for gap in gaps])
        differing = variances[np.concatenate([gap.any(axis=1) for gap in gaps])]
        added = variance_offset * float(np.median(differing)) if len(differing) else 0.0
        kinds = zip(ordered[:, -rank], (variances, variances + added), strict=False)
        squares = [np.full_like(kind, np.inf) if np.isinf(limit) else limit * kind for limit, kind in kinds]
        reach.append(np.sqrt(np.min(squares, axis=0)))
    return np.array(reach)


def _all_signs(trials: range, n_topics: int) -> npt.NDArray[np.int8]:
    """Return the sign vectors of these numbers, shape (trial, topic): bit t − 1 set flips topic t; topic 0 never is."""
    bits = np.arange(trials.start, trials.stop)[:, np.newaxis] * 2 >> np.arange(n_topics) & 1
    return (1 - 2 * bits).astype(np.int8)


def _rows(n_runs: int) -> list[tuple[int, slice]]:
    """Return each run but the last, and where its pairs with later runs are among all pairs."""
    starts = np.cumsum([0, *range(n_runs - 1, 0, -1)]).tolist()
    return [(run, slice(start, start + n_runs - 1 - run)) for run, start in enumerate(starts[:-1])]


def _subtract_lowest(scores: FloatArray) -> None:
    """Make of each score how far it is above the lowest one on its topic, as a share of a power of two, in place."""
    scores -= scores.min(axis=0)
    np.ldexp(scores, -np.frexp(scores.max())[1], out=scores)


def _write_whole(
    rows: FloatArray, largest: FloatArray, bits: int, out: FloatArray | None = None
) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Write rows as whole numbers of at most 2 ** `bits`, times 2 to the exponent of the largest magnitude of each."""
    exponents = np.frexp(largest)[1]
    whole = np.ldexp(rows, bits - exponents[:, np.newaxis], out=out)
    return np.rint(whole, out=whole), exponents - bits


def _flip_statistics(scores: FloatArray) -> Statistics:
    """Prepare r = n d² / Q of one measure; scores have the shape (run, topic), and are overwritten."""
    n_runs, n_topics = scores.shape
    bits = EXACT_BITS - (n_topics - 1).bit_length()
    _subtract_lowest(scores)
    units, _ = _write_whole(scores, np.array([scores.max()]), bits, out=scores)
    rows = _rows(n_runs)
    few = max(1, NUMBERS_A_BLOCK // n_topics)
    squares = n_topics * np.concatenate(
        [
            _square(units[run] - units[start : start + few]).sum(axis=1)
            for run, _ in rows
            for start in range(run + 1, n_runs, few)
        ]
    )
    # Where two runs have the same scores, r is 0 in every trial.
    weights = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)

    def compute(drawn: FloatArray) -> Iterator[FloatArray]:
        sums = units @ drawn
        for run, pairs in rows:
            gaps = sums[run] - sums[run + 1 :]
            gaps *= gaps
            gaps *= weights[pairs, np.newaxis]
            yield gaps

    observed = np.concatenate([part[:, 0] for part in compute(np.ones((n_topics, 1)))])
    return Statistics(
        observed[np.newaxis],
        SAME_RATIO,
        lambda drawn: find_largest(((part,) for part in compute(drawn)), drawn.shape[1]),
    )


def _bootstrap_statistics(scores: FloatArray, offset: float) -> Statistics:
    """Prepare T² / (n − 1) of one measure, d² / V and d² / (V + offset A); scores, shape (run, topic), are overwritten.

    The deviations of each pair's differences from their mean have a unit of their own, so that a precise pair loses no
    digits to runs that vary much. All sums are of whole numbers and exact, so that topics can be added in parts.
    """
    n_runs, n_topics = scores.shape
    bits = EXACT_BITS - (n_topics - 1).bit_length()
    parts = [slice(start, start + TOPICS_A_PRODUCT) for start in range(0, n_topics, TOPICS_A_PRODUCT)]
    _subtract_lowest(scores)
    units, _ = _write_whole(scores, np.array([scores.max()]), bits - 1, out=scores)
    totals = units.sum(axis=1, keepdims=True)
    rows = _rows(n_runs)
    sums = np.concatenate([totals[run] - totals[run + 1 :, 0] for run, _ in rows])
    sums[np.abs(sums) <= SAME_UNITS * n_topics] = 0.0
    means = sums / n_topics
    largest = np.zeros(len(means))
    for run, pairs in rows:
        for topics in parts:
            gaps = _deviate(units, run, means[pairs], topics)
            np.maximum(largest[pairs], np.maximum(gaps.max(axis=1), -gaps.min(axis=1)), out=largest[pairs])
    # Each pair's unit is a power of two, of which its deviations are whole numbers.
    scales = np.ldexp(1.0, bits // 2 - np.frexp(largest)[1])[:, np.newaxis]

    def square(some: list[tuple[int, slice]], topics: slice) -> FloatArray:
        """Return the squared deviations of some runs' differences from later ones on each topic, shape (pair, topic)."""
        first = some[0][1].start
        squares = np.empty((some[-1][1].stop - first, len(units[0, topics])))
        for run, pairs in some:
            gaps = _deviate(units, run, means[pairs], topics)
            np.multiply(gaps, scales[pairs], out=squares[pairs.start - first : pairs.stop - first])
        np.rint(squares, out=squares)
        squares /= scales[first : first + len(squares)]
        return _square(squares)

    def compute_parts(drawn: FloatArray) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield of a run's pairs how far sums of differences are from the observed ones, over √n, and sums of squares."""
        shifts = units @ drawn
        shifts -= totals
        shifts /= np.sqrt(n_topics)
        rows_a_product = max(1, NUMBERS_A_BLOCK // (n_runs * max(min(n_topics, TOPICS_A_PRODUCT), drawn.shape[1])))
        for start in range(0, n_runs - 1, rows_a_product):
            some = rows[start : start + rows_a_product]
            squares = _add_up(square(some, topics) @ drawn[topics] for topics in parts)
            for run, pairs in some:
                yield (
                    run,
                    shifts[run] - shifts[run + 1 :],
                    squares[pairs.start - some[0][1].start : pairs.stop - some[0][1].start],
                )

    whole = compute_parts(np.ones((n_topics, 1)))
    variances = np.concatenate([squares[:, 0] for *_, squares in whole])
    variances[largest <= SAME_UNITS] = 0.0
    same = (variances == 0) & (sums == 0)
    added = 0.0 if same.all() else offset * float(np.median(variances[~same]))
    kinds = [0.0, added] if offset else [0.0]

    def compute(drawn: FloatArray) -> Iterator[list[FloatArray]]:
        endless = np.zeros(drawn.shape[1], dtype=np.bool_)
        for run, gaps, squares in compute_parts(drawn):
            gaps *= gaps
            gaps[gaps <= SAME_UNITS**2 * n_topics] = 0.0
            squares -= gaps
            # Where little is left, it may be rounding alone; a trial needs no second pair whose variance is 0.
            doubtful = (squares < gaps) & ~endless
            for pair in np.flatnonzero(doubtful.any(axis=1)):
                some = np.flatnonzero(doubtful[pair] & ~endless)
                squares[pair, some] = _sum_squares(units[run] - units[run + 1 + pair], drawn[:, some], bits)
                endless[some] = squares[pair, some] == 0
            with np.errstate(divide="ignore", invalid="ignore"):
                parts = [gaps / squares]
                if offset:
                    squares += added
                    gaps /= squares
                    parts.append(gaps)
            yield parts

    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.nan_to_num(
            np.square(sums) / n_topics / (variances + np.array(kinds)[:, np.newaxis]), posinf=np.inf
        )
    return Statistics(observed, SAME_STATISTIC, lambda drawn: find_largest(compute(drawn), drawn.shape[1]))


def _deviate(units: FloatArray, run: int, means: FloatArray, topics: slice) -> FloatArray:
    """Return how far a run's differences from later ones are from their means, shape (pair, topic)."""
    gaps = units[run, topics] - units[run + 1 :, topics]
    gaps -= means[:, np.newaxis]
    return gaps


def _sum_squares(differences: FloatArray, drawn: FloatArray, bits: int) -> FloatArray:
    """Return the sum of squared deviations from its own mean in each sample: 0 if all that is drawn is equal."""
    gaps = differences[:, np.newaxis] - differences @ drawn / len(differences)
    gaps[(np.abs(gaps) <= SAME_UNITS) | (drawn == 0)] = 0.0
    whole, exponents = _write_whole(gaps.T, np.abs(gaps).max(axis=0), bits // 2)
    return np.ldexp((_square(whole) * drawn.T).sum(axis=1), 2 * exponents)


def _square(numbers: FloatArray) -> FloatArray:
    """Square in place."""
    numbers *= numbers
    return numbers


def _add_up(parts: Iterator[FloatArray]) -> FloatArray:
    """Add arrays to the first of them."""
    total = next(parts)
    for part in parts:
        total += part
    return total
