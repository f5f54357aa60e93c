"""Split-half consistency: does a measure rank the runs alike on two halves of the topics, and on any number of new ones?

Sakai (ACL 2021), Section 5.2: split the topics at random into two sets, rank the runs by their means on each set, compute
Kendall's tau between the two rankings, and repeat.

For numbers of topics beyond half of the data a model has one number fitted. The true difference of two runs is taken as
normal: its prior variance is that of all pairs of runs, noise removed, and the difference that was seen shrinks it
(empirical Bayes). For a pair whose true difference is δ and whose topics' differences deviate by s, two sets of n topics
agree on its order with expectation (2Φ(√n δ/s) - 1)²: the mean over pairs is the expected τ. A prior of the wrong shape
would bias it, so all true differences are multiplied by the one factor that makes the model right where it can be observed:
at half of the topics, as the mean τ between the two halves.

Both expectations over δ are closed, with Owen's T: for X normal with mean a and variance b², E(2Φ(X) - 1)² is
1 - 8T(a/√(1 + b²), 1/√(1 + 2b²)), and the expected agreement with the sign of X is 1 - 4T(|a|/√(1 + b²), 1/b).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.arrays import FloatArray, check_count, check_shape, quantise, round_scaled, scale_scores
from metaeval.stats.intervals import centre_interval
from metaeval.stats.parallel import split_work
from metaeval.stats.rank_correlation import VALUES_A_BLOCK, TauVariant, tau, tau_by_run
from metaeval.stats.streams import UInt64Array, attempt_keys, trial_keys, words

BoolArray: TypeAlias = npt.NDArray[np.bool_]
_Belief: TypeAlias = tuple[FloatArray, FloatArray, BoolArray]
_Agree: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

MOST_TOPICS = 2**21  # sums of this many 32-bit scores are exact as floats, and so are products of matrices
CELLS_A_PRODUCT = 2**17  # numbers, 1 MB, that a product of matrices takes at once of the bits of trials
WORDS_A_BLOCK = 2**14  # random words drawn and partitioned by one NumPy call: few enough to stay in the cache
FAR = 1e4  # times their range from 0, from which on scores are brought near it: digits of what is left would be lost
N_GROUPS = 20  # groups of topics, each left out once, on which intervals rest

_FACTORS = (0.2, 1.5)
"""Between which numbers the factor of the true differences is sought. Those of 23 measures on six collections were 0.75 to
1.3. Where runs are so far apart that τ is nearly 1, the halves hardly determine it: without a bound it would be anything."""

_STEPS = 14  # halvings of the interval that holds its logarithm
_NO_VARIANCE = 1e-12  # of the mean square: a smaller variance is rounding


def splits(key: int, n_trials: int, n_topics: int, size: int | None = None) -> tuple[BoolArray, BoolArray]:
    """Draw the two sets of topics of each trial, from (key, trial, n_topics, size) alone: two arrays (trial, topic) of flags.

    Every pair of disjoint sets is equally likely, of `size` topics, or ``n_topics // 2`` and the others.
    """
    n_trials = check_count(n_trials, "trials")
    if n_topics < 2:
        raise MetaevalError(f"At least two topics are needed to split them; there are {n_topics}.")
    if size is not None and not 1 <= size <= n_topics // 2:
        which = f"Two disjoint sets of {size} topics cannot be taken from {n_topics}"
        raise MetaevalError(f"{which}; the size must lie between 1 and {n_topics // 2}.")
    keys = trial_keys(key, range(n_trials))
    first, second = np.empty((2, n_trials, n_topics), dtype=np.bool_)
    for part in split_work(n_trials, WORDS_A_BLOCK // n_topics):
        first[part], second[part] = _draw_splits(keys[part], n_topics, size, 0)
    return first, second


def _draw_splits(keys: UInt64Array, n_topics: int, size: int | None, attempt: int) -> tuple[BoolArray, BoolArray]:
    """Choose the topics with the smallest random numbers, then the next smallest; a 64-bit word holds two numbers."""
    halves = words(attempt_keys(keys, attempt)[:, np.newaxis], np.arange((n_topics + 1) // 2))
    drawn = halves.astype("<u8", copy=False).view("<u4")[:, :n_topics]
    in_first, in_both = (n_topics // 2, n_topics) if size is None else (size, 2 * size)
    ordered = drawn.copy()
    ordered.partition([in_first - 1] if size is None else [in_first - 1, in_both - 1], axis=1)
    bounds = ordered[:, [in_first - 1, in_both - 1]]
    first = drawn <= bounds[:, :1]
    second = ~first if size is None else ~first & (drawn <= bounds[:, 1:])
    # Equal numbers at a bound would put too many topics into a set; drawing such trials again keeps splits equally likely.
    n_first = np.count_nonzero(first)
    if n_first > keys.size * in_first or n_first + np.count_nonzero(second) > keys.size * in_both:
        tied = np.flatnonzero((first.sum(axis=1) > in_first) | (second.sum(axis=1) != in_both - in_first))
        first[tied], second[tied] = _draw_splits(keys[tied], n_topics, size, attempt + 1)
    return first, second


def split_half_tau(
    values: npt.ArrayLike,
    *,
    n_trials: int = 1000,
    size: int | None = None,
    key: int,
    variant: TauVariant = "tau_a",
) -> FloatArray:
    """How similarly does each measure rank the runs on two random sets of topics? Kendall's tau, shape (trial, measure).

    Takes scores of shape (run, topic, measure), the number of topics in each set, by default half of them, and a key of
    `metaeval.stats.streams.stream_key`. Means that are mathematically equal are tied, regardless of rounding; τ_b is NaN if
    all runs are tied on one set.

    >>> values = np.linspace(0, 1, 6).reshape(6, 1, 1) + 0.1 * np.random.default_rng(0).random((6, 40, 1))
    >>> split_half_tau(values, n_trials=3, key=1).T
    array([[1., 1., 1.]])
    """
    raw = check_shape(values)
    n_runs, n_topics, n_measures = raw.shape
    n_trials = check_count(n_trials, "trials")
    if n_topics > MOST_TOPICS:
        raise MetaevalError(f"At most {MOST_TOPICS} topics can be split exactly; there are {n_topics}.")
    scores = quantise(raw).reshape(n_topics, -1).T.astype(np.float64)
    all_topics = scores.sum(axis=1, keepdims=True)
    lengths = (n_topics // 2, n_topics - n_topics // 2) if size is None else (size, size)
    # Each score is off by half a unit at most: equal sums of as many lie as many units apart.
    tolerances = np.array(lengths, dtype=np.float64)[:, np.newaxis, np.newaxis]
    first, second = splits(key, n_trials, n_topics, size)
    taus = []
    for part in split_work(n_trials, min(CELLS_A_PRODUCT // n_topics, VALUES_A_BLOCK // (2 * len(scores))), "splits"):
        sums = np.empty((2, len(scores), part.stop - part.start))
        np.matmul(scores, first[part].T.astype(np.float64), out=sums[0])
        if size is None:  # the second half is what the first leaves
            np.subtract(all_topics, sums[0], out=sums[1])
        else:
            np.matmul(scores, second[part].T.astype(np.float64), out=sums[1])
        # Whole numbers: a sum with its tolerance is exact too.
        low, high = (ends.reshape(2, n_runs, -1) for ends in (sums, sums + tolerances))
        taus.append(tau_by_run(low, high, variant).reshape(n_measures, -1).T)
    return np.concatenate(taus)


def expected_tau(
    values: npt.ArrayLike,
    sizes: Sequence[int],
    *,
    key: int,
    group_order: npt.ArrayLike | None = None,
    n_trials: int = 200,
    variant: TauVariant = "tau_a",
    confidence: float = 0.95,
    intervals: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Return the expected τ between two sets of so many new topics, and between so many and infinitely many.

    `values` are of shape (run, topic, measure), of four topics or more, and both results of shape (size, measure, 3): τ and the
    ends of its interval, NaN where all runs are tied on some half and τ_b is not defined. `key` and `n_trials` are of the
    halves, `group_order` is an order of the topics, of which those N_GROUPS places apart are left out together. Without
    `intervals`, which take most of the time, the ends are NaN.

    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0, 1, 8)[:, None, None] + rng.normal(0, 1, (8, 60, 1))
    >>> between, truth = expected_tau(values, [30, 60, 240], key=1)
    >>> between[:, 0, 0].round(2), truth[:, 0, 0].round(2)
    (array([0.6 , 0.71, 0.85]), array([0.72, 0.8 , 0.9 ]))
    """
    scores = np.asarray(values, dtype=np.float64)
    far = np.abs(scores).max(axis=(0, 1)) > FAR * np.ptp(scores, axis=(0, 1))
    scores = scale_scores(scores - np.where(far, scores[0, 0], 0.0) if far.any() else scores)
    n_runs, n_topics, n_measures = scores.shape
    n_groups = min(N_GROUPS, n_topics) if intervals else 0
    # Row 0 leaves nothing out, row g the topics of group g.
    included = np.ones((n_groups + 1, n_topics), dtype=np.bool_)
    if n_groups:
        order = np.arange(n_topics) if group_order is None else np.asarray(group_order)
        included[np.arange(n_topics) % n_groups + 1, order] = False
    observed = _observe_halves(scores, included, splits(key, n_trials, n_topics, n_topics // 2), variant)
    at = n_topics // 2 * included.mean(axis=1)
    numbers = np.full((2, n_groups + 1, len(sizes), n_measures), np.nan)
    for m in range(n_measures):
        belief = _believe(scores[..., m], included)
        factors = _fit_factor(belief, at, observed[:, m], variant)
        for number, agree in zip(numbers, (_agree_between, _agree_with_truth), strict=True):
            for position, size in enumerate(sizes):
                number[:, position, m] = _expect(agree, belief, factors * np.sqrt(size), variant)
    numbers[:, np.isnan(observed)[:, np.newaxis].repeat(len(sizes), axis=1)] = np.nan
    expected = []
    for estimate, without in zip(numbers[:, 0], numbers[:, 1:], strict=True):
        low, high = np.full((2, *estimate.shape), np.nan)
        if n_groups:
            # Leaving one group out moves the number n_groups - 1 times less than drawing all topics anew does.
            spread = (n_groups - 1) ** 1.5 / n_groups * (without - without.mean(axis=0))
            step = 4 / (n_runs * (n_runs - 1))
            low, high = centre_interval(estimate, estimate + spread, n_groups, confidence=confidence, step=step)
        expected.append(np.stack([estimate, low, high], axis=-1))
    between, truth = expected
    return between, truth


def _observe_halves(
    scores: FloatArray, included: BoolArray, halves: tuple[BoolArray, BoolArray], variant: TauVariant
) -> FloatArray:
    """Return the mean τ between the same two halves without the topics left out, shape (group, measure)."""
    n_runs, n_topics, n_measures = scores.shape
    by_topic = scores.transpose(1, 2, 0).reshape(n_topics, -1)
    sizes = np.abs(by_topic)
    observed = np.empty((len(included), n_measures))
    for group, topics in enumerate(included):
        means, reaches = [], []
        for half in halves:
            weights = (half & topics).astype(np.float64)
            weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
            means.append((weights @ by_topic).reshape(-1, n_measures, n_runs))
            reaches.append(1e-12 * (weights @ sizes).reshape(means[-1].shape) + 1e-14)
        observed[group] = tau(means[0], means[1], variant=variant, tolerance=(reaches[0], reaches[1])).mean(axis=0)
    return observed


def _believe(scores: FloatArray, included: BoolArray) -> _Belief:
    """Return what is believed of each pair's true difference, over the deviation of a topic: mean, spread, and if it differs.

    All have shape (group left out, pair).
    """
    weights = included.astype(np.float64)
    counts = weights.sum(axis=1)[:, np.newaxis]
    largest = np.frexp(np.ptp(scores))[1]
    sums, squares = [], []
    for run in range(len(scores) - 1):
        gaps = np.ldexp(round_scaled(scores[run + 1 :] - scores[run]), -largest)  # squares of huge gaps overflow
        sums.append(weights @ gaps.T)
        squares.append(weights @ (gaps**2).T)
    mean, square = np.concatenate(sums, axis=1) / counts, np.concatenate(squares, axis=1) / counts
    variance = (square - mean**2) * (counts / (counts - 1))
    variance = np.where(variance > _NO_VARIANCE * square, variance, 0.0)
    noise = variance / counts
    prior = np.maximum((mean**2 - noise).mean(axis=1, keepdims=True), 0.0)
    belief = np.divide(prior, prior + noise, out=np.ones_like(noise), where=noise > 0)
    sure = np.where(mean == 0, 0.0, np.inf)  # runs that always differ by the same
    effect = np.divide(np.abs(mean), np.sqrt(variance), out=sure, where=variance > 0)
    spread = np.where(variance > 0, np.sqrt(belief / counts), 0.0)
    return np.where(np.isinf(effect), effect, belief * effect), spread, square > 0


def _agree_between(mean: FloatArray, spread: FloatArray) -> FloatArray:
    from scipy.special import owens_t

    return np.asarray(1 - 8 * owens_t(mean / np.sqrt(1 + spread**2), 1 / np.sqrt(1 + 2 * spread**2)))


def _agree_with_truth(mean: FloatArray, spread: FloatArray) -> FloatArray:
    from scipy.special import owens_t

    with np.errstate(divide="ignore"):
        slope = 1 / spread
    return np.asarray(np.where((mean == 0) & (spread == 0), 0.0, 1 - 4 * owens_t(mean / np.sqrt(1 + spread**2), slope)))


def _expect(agree: _Agree, belief: _Belief, times: FloatArray, variant: TauVariant) -> FloatArray:
    """Average over pairs of runs with effects so many times as large, shape (group,); τ_b leaves out pairs always tied."""
    mean, spread, differ = belief
    reach = times[:, np.newaxis]
    agreement = agree(reach * mean, reach * spread)
    if variant == "tau_a":
        return np.asarray(agreement.mean(axis=1))
    count, total = differ.sum(axis=1), (agreement * differ).sum(axis=1)
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def _fit_factor(belief: _Belief, at: FloatArray, observed: FloatArray, variant: TauVariant) -> FloatArray:
    """Find the factor of all true differences with which τ at half the topics is as observed, by halving."""
    low, high = (np.full(len(at), np.log(end)) for end in _FACTORS)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        with np.errstate(invalid="ignore"):  # τ_b may be undefined on a half
            too_much = _expect(_agree_between, belief, np.exp(middle) * np.sqrt(at), variant) > observed
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    return np.exp((low + high) / 2)
