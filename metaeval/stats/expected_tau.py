"""How alike will two sets of n topics rank the runs, and how near to the true ranking? For any n, also beyond the data.

A model with one number fitted. The true difference of two runs is taken as normal: its prior variance is that of all
pairs of runs, noise removed, and the difference that was seen shrinks it (empirical Bayes). For a pair whose true
difference is δ and whose topics' differences deviate by s, two sets of n topics agree on its order with expectation
(2Φ(√n δ/s) - 1)²: the mean over pairs is the expected τ. A prior of the wrong shape would bias it, so all true
differences are multiplied by the one factor that makes the model right where it can be observed: at half of the topics,
as the mean τ between the two halves.

Both expectations over δ are closed, with Owen's T: for X normal with mean a and variance b², E(2Φ(X) - 1)² is
1 - 8T(a/√(1 + b²), 1/√(1 + 2b²)), and the expected agreement with the sign of X is 1 - 4T(|a|/√(1 + b²), 1/b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import round_scaled, scale_scores
from metaeval.stats.intervals import centre_interval
from metaeval.stats.rank_correlation import FloatArray, TauVariant, tau
from metaeval.stats.split_half import splits

FAR = 1e4
"""Times their range that scores may lie from 0 before they are brought near it: of what is left, digits would be lost."""

N_GROUPS = 20
"""Groups of topics, each left out once, on which intervals rest."""

_FACTORS = (0.2, 1.5)
"""Between which numbers the factor of the true differences is sought. Those of 23 measures on six collections were 0.75 to
1.3. Where runs are so far apart that τ is nearly 1, the halves hardly determine it: without a bound it would be anything."""

_STEPS = 14  # halvings of the interval that holds its logarithm
_NO_VARIANCE = 1e-12  # of the mean square: a smaller variance is rounding


class ExpectedTau(NamedTuple):
    """τ to expect with several numbers of topics, and the ends of its interval, each array of shape (size, measure, 3).

    `between` the rankings on two sets of that many new topics; `truth`: between the ranking on so many and on infinitely many.
    """

    between: FloatArray
    truth: FloatArray


@dataclass(frozen=True, eq=False)
class _Effects:
    """Mean and spread of what is believed of the true difference of two runs over the standard deviation of a topic.

    Shape (group left out, pair of runs); the first row leaves none out.
    """

    mean: FloatArray
    spread: FloatArray
    differ: npt.NDArray[np.bool_]


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
) -> ExpectedTau:
    """How alike do two sets of n topics rank the runs?

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        At least two runs and four topics.
    sizes : sequence of int
        Numbers of topics in a set, also more than there are.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`, for the halves.
    group_order : array_like of int, shape (topic,), optional
        An order of the topics; those that are left out together are N_GROUPS places apart.
    n_trials : int, optional
        Random pairs of halves.
    variant : {"tau_a", "tau_b"}, optional
        τ_b leaves out pairs of runs that never differ.
    confidence : float, optional
    intervals : bool, optional
        Whether intervals are wanted, which take most of the time; NaN otherwise.

    Returns
    -------
    ExpectedTau
        NaN where all runs are tied on some half and τ_b is not defined.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0, 1, 8)[:, None, None] + rng.normal(0, 1, (8, 60, 1))
    >>> expected = expected_tau(values, [30, 60, 240], key=1)
    >>> expected.between[:, 0, 0].round(2), expected.truth[:, 0, 0].round(2)
    (array([0.6 , 0.71, 0.85]), array([0.72, 0.8 , 0.9 ]))
    """
    scores = np.asarray(values, dtype=np.float64)
    far = np.abs(scores).max(axis=(0, 1)) > FAR * np.ptp(scores, axis=(0, 1))
    scores = scale_scores(scores - np.where(far, scores[0, 0], 0.0) if far.any() else scores)
    n_runs, n_topics, n_measures = scores.shape
    half = n_topics // 2
    order = np.arange(n_topics) if group_order is None else np.asarray(group_order)
    n_groups = min(N_GROUPS, n_topics) if intervals else 0
    # Row 0 leaves nothing out, row g the topics of group g.
    included = np.ones((n_groups + 1, n_topics), dtype=np.bool_)
    if n_groups:
        included[np.arange(n_topics) % n_groups + 1, order] = False
    observed = _observe_halves(scores, included, splits(key, n_trials, n_topics, half), variant)
    at = half * included.mean(axis=1)
    ends = np.full((2, n_groups + 1, len(sizes), n_measures), np.nan)
    for m in range(n_measures):
        effects = _believe(scores[..., m], included)
        with np.errstate(invalid="ignore"):
            factors = _fit_factor(effects, at, observed[:, m], variant)
        for position, size in enumerate(sizes):
            reach = (factors * np.sqrt(size))[:, np.newaxis]
            for end, agree in zip(ends, (_agree_between, _agree_with_truth), strict=True):
                end[:, position, m] = _average(agree(reach * effects.mean, reach * effects.spread), effects, variant)
    ends[:, np.isnan(observed)[:, np.newaxis].repeat(len(sizes), axis=1)] = np.nan
    step = 4 / (n_runs * (n_runs - 1))
    return ExpectedTau(*(np.stack([end[0], *_jackknife(end, step, confidence)], axis=-1) for end in ends))


def _believe(scores: FloatArray, included: npt.NDArray[np.bool_]) -> _Effects:
    """Return the posterior of every pair's true difference, for each choice of topics."""
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
    return _Effects(np.where(np.isinf(effect), effect, belief * effect), spread, square > 0)


def _agree_between(mean: FloatArray, spread: FloatArray) -> FloatArray:
    from scipy.special import owens_t

    return np.asarray(1 - 8 * owens_t(mean / np.sqrt(1 + spread**2), 1 / np.sqrt(1 + 2 * spread**2)))


def _agree_with_truth(mean: FloatArray, spread: FloatArray) -> FloatArray:
    from scipy.special import owens_t

    with np.errstate(divide="ignore"):
        slope = 1 / spread
    return np.asarray(np.where((mean == 0) & (spread == 0), 0.0, 1 - 4 * owens_t(mean / np.sqrt(1 + spread**2), slope)))


def _average(agreement: FloatArray, effects: _Effects, variant: TauVariant) -> FloatArray:
    """Average over pairs of runs; τ_b leaves out those that are always tied."""
    if variant == "tau_a":
        return np.asarray(agreement.mean(axis=1))
    count = effects.differ.sum(axis=1)
    total = (agreement * effects.differ).sum(axis=1)
    return np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)


def _fit_factor(effects: _Effects, at: FloatArray, observed: FloatArray, variant: TauVariant) -> FloatArray:
    """Find the factor of all true differences with which τ at half the topics is as observed, by halving."""
    low, high = (np.full(len(at), np.log(end)) for end in _FACTORS)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        reach = (np.exp(middle) * np.sqrt(at))[:, np.newaxis]
        too_much = _average(_agree_between(reach * effects.mean, reach * effects.spread), effects, variant) > observed
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    return np.exp((low + high) / 2)


def _observe_halves(
    scores: FloatArray, included: npt.NDArray[np.bool_], halves: tuple[npt.NDArray[np.bool_], ...], variant: TauVariant
) -> FloatArray:
    """Return the mean τ between two halves without the topics left out, shape (group, measure).

    All groups see the same halves: what they have in common would otherwise drown what a group changes.
    """
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


def _jackknife(replicates: FloatArray, step: float, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the interval from the numbers with each group of topics left out."""
    estimate, without = replicates[0], replicates[1:]
    n_groups = len(without)
    if n_groups < 2:
        return np.full_like(estimate, np.nan), np.full_like(estimate, np.nan)
    # Leaving one group out moves the number n_groups - 1 times less than drawing all topics anew does.
    spread = (n_groups - 1) ** 1.5 / n_groups * (without - without.mean(axis=0))
    return centre_interval(estimate, estimate + spread, n_groups, confidence=confidence, step=step)
