"""How many topics does a new collection need? Topic-set-size design from variances of scores.

Sakai (2016), "Topic set size design", Information Retrieval Journal 19; Sakai (2018), "Laboratory Experiments in
Information Retrieval", Springer, Chapter 6. Sakai approximates the noncentral t and F distributions by the normal one;
here they are exact. The generalisability coefficient is that of Bodoff and Li (2007) and Urbano, Marrero and Martín
(2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, scale_squares

MOST_TOPICS = 10_000_000
"""Designs that need more are infinite."""

_FEWEST = 2


@dataclass(frozen=True, eq=False)
class Variances:
    """How much scores vary, for every measure, shape (..., measure).

    `residual` is V_E2 of the two-way analysis without replication: what neither the run nor the topic explains, half of the
    mean variance, over pairs of runs, of the difference of two runs. `within` is V_E1 of the one-way analysis: the mean
    variance of a run's scores over topics. `ratio` is the variance of the runs' true means over `residual`: negative where
    the runs differ less than chance would make them, and infinite where there is no residual.
    """

    residual: FloatArray
    within: FloatArray
    ratio: FloatArray


def find_variances(values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Variances:
    """How much do scores vary between runs, and how much by topic?

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        At least two runs and topics.
    weights : array_like of int, shape (trial, topic), optional
        How often each topic counts in each resample; by default once, without the axis of trials.

    Returns
    -------
    Variances
        In squares of the measures' units.

    Examples
    --------
    >>> found = find_variances([[[0.0], [0.2], [0.4]], [[0.5], [0.6], [1.3]]])
    >>> found.residual.round(4), found.within.round(4)
    (array([0.035]), array([0.115]))
    """
    given = np.asarray(values, dtype=np.float64)
    scores = scale_squares(given, axis=(0, 1))  # squares of huge scores overflow
    largest = np.abs(given).max(axis=(0, 1))
    unit = np.divide(largest, np.abs(scores).max(axis=(0, 1)), out=np.ones_like(largest), where=largest > 0)
    n_runs, n_topics, _ = scores.shape
    counts = np.ones((1, n_topics)) if weights is None else np.asarray(weights, dtype=np.float64)
    n = counts.sum(axis=1)[:, np.newaxis]
    # Of the rest after the means of all topics, which loses no digits to them; what is resampled has means again.
    rest = scores - scores.mean(axis=1, keepdims=True)
    means = _add(counts, rest) / n[..., np.newaxis]
    within = ((_add(counts, rest**2) / n[..., np.newaxis] - means**2) * (n / (n - 1))[..., np.newaxis]).mean(axis=-1)
    by_topic = rest.mean(axis=0)
    between_topics = (counts @ by_topic**2) / n - ((counts @ by_topic) / n) ** 2
    residual = (within - between_topics * n / (n - 1)) * n_runs / (n_runs - 1)
    residual = np.where(residual > 1e-12 * within, residual, 0.0)
    within = np.maximum(within, 0.0)
    run_means = means + scores.mean(axis=1).T
    between = run_means.var(axis=-1, ddof=1) - residual / n
    empty = np.where(between > 0, np.inf, np.nan)
    ratio = np.divide(between, residual, out=empty, where=residual > 0)
    with np.errstate(over="ignore"):
        variances = (residual * unit**2, within * unit**2, ratio)
    return Variances(*(variances if weights is not None else (each[0] for each in variances)))


def power_of_t_test(n_topics: npt.ArrayLike, effect: npt.ArrayLike, alpha: float) -> FloatArray:
    """How probably does a two-sided paired t-test find an effect? It is a difference over the deviation of the differences."""
    from scipy.stats import nct, t

    n, size = np.asarray(n_topics, dtype=np.float64), np.abs(np.asarray(effect, dtype=np.float64))
    threshold = t.isf(alpha / 2, n - 1)
    shift = np.sqrt(n) * size
    return _settle(nct.sf(threshold, n - 1, shift) + nct.cdf(-threshold, n - 1, shift), shift - threshold)


def power_of_anova(n_topics: npt.ArrayLike, effect: npt.ArrayLike, alpha: float, n_runs: int) -> FloatArray:
    """How probably does a one-way analysis of variance find that runs differ, with so many topics for each?

    The effect is the difference of the best and the worst run over the standard deviation of a run's scores. The others are
    taken to lie in the middle, where the test has the least power.
    """
    from scipy.stats import f, ncf

    n, size = np.asarray(n_topics, dtype=np.float64), np.asarray(effect, dtype=np.float64)
    between, within = n_runs - 1, n_runs * (n - 1)
    shift = n * size**2 / 2
    threshold = f.isf(alpha, between, within)
    return _settle(ncf.sf(threshold, between, within, shift), shift - 2 * between * threshold)


def expected_width(n_topics: npt.ArrayLike, deviation: npt.ArrayLike, alpha: float) -> FloatArray:
    """How wide is the confidence interval of the difference of two runs, on average, with so large a deviation?

    2t√(2/(n(n - 1)))·Γ(n/2)/Γ((n - 1)/2) times the standard deviation of the differences (Sakai 2018, Chapter 6).
    """
    from scipy.special import gammaln
    from scipy.stats import t

    n = np.asarray(n_topics, dtype=np.float64)
    shrink = np.sqrt(2 / (n - 1)) * np.exp(gammaln(n / 2) - gammaln((n - 1) / 2))
    return np.asarray(2 * t.isf(alpha / 2, n - 1) * shrink * np.asarray(deviation, dtype=np.float64) / np.sqrt(n))


def topics_for_t_test(effect: npt.ArrayLike, alpha: float, beta: float) -> FloatArray:
    """How many topics does a paired t-test need to find a difference with probability 1 - β?

    Parameters
    ----------
    effect : array_like of float, shape (...)
        The difference of two runs over the standard deviation of the differences.
    alpha, beta : float

    Returns
    -------
    ndarray, shape (...)
        Whole numbers; infinite beyond MOST_TOPICS, NaN where the effect is.

    Examples
    --------
    >>> topics_for_t_test([0.2, 0.5], 0.05, 0.2)
    array([199.,  34.])
    """
    sizes = np.asarray(effect, dtype=np.float64)
    return _find_fewest(lambda n: power_of_t_test(n, sizes, alpha) >= 1 - beta, sizes)


def topics_for_anova(effect: npt.ArrayLike, alpha: float, beta: float, n_runs: int) -> FloatArray:
    """How many topics does a one-way analysis of variance need to find with probability 1 - β that runs differ?

    Parameters
    ----------
    effect : array_like of float, shape (...)
        The difference of the best and the worst run over the standard deviation of a run's scores.
    alpha, beta : float
    n_runs : int

    Returns
    -------
    ndarray, shape (...)
        As in `topics_for_t_test`.

    Examples
    --------
    >>> topics_for_anova([0.5, 1.0], 0.05, 0.2, 10)
    array([127.,  33.])
    """
    sizes = np.asarray(effect, dtype=np.float64)
    return _find_fewest(lambda n: power_of_anova(n, sizes, alpha, n_runs) >= 1 - beta, sizes)


def topics_for_width(relative_width: npt.ArrayLike, alpha: float) -> FloatArray:
    """How many topics make the confidence interval of a difference narrow enough, on average?

    Parameters
    ----------
    relative_width : array_like of float, shape (...)
        Its width over the standard deviation of the differences.
    alpha : float

    Returns
    -------
    ndarray, shape (...)
        As in `topics_for_t_test`.

    Examples
    --------
    >>> topics_for_width([0.5, 1.0], 0.05)
    array([64., 18.])
    """
    widths = np.asarray(relative_width, dtype=np.float64)
    return _find_fewest(lambda n: expected_width(n, 1.0, alpha) <= widths, widths)


def generalisability(ratio: npt.ArrayLike, n_topics: npt.ArrayLike) -> FloatArray:
    """Return which share of the variance of the runs' means on n topics is between their true means: σ²_r/(σ²_r + σ²_e/n).

    `ratio` is that of `Variances`; where it is not positive, the share is 0.
    """
    times = np.maximum(ratio, 0.0) * np.asarray(n_topics, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 + 1 / times))


def topics_for_generalisability(ratio: npt.ArrayLike, coefficient: float) -> FloatArray:
    """How many topics does a generalisability coefficient need?

    Parameters
    ----------
    ratio : array_like of float, shape (...)
        The variance of true means over the residual variance, from `find_variances`.
    coefficient : float
        Between 0 and 1.

    Returns
    -------
    ndarray, shape (...)
        At least 1; as in `topics_for_t_test` otherwise.

    Examples
    --------
    >>> topics_for_generalisability([0.1, 1.0, 0.0], 0.95)
    array([190.,  19.,  inf])
    """
    above = np.maximum(np.asarray(ratio, dtype=np.float64), 0.0)
    with np.errstate(divide="ignore"):
        exact = coefficient / (1 - coefficient) / above
    # One rounding error above a whole number is that number.
    needed = np.maximum(np.ceil(exact * (1 - 1e-12)), 1.0)
    return np.where(needed > MOST_TOPICS, np.inf, needed)


def detectable_effect(n_topics: int, alpha: float, beta: float) -> float:
    """Which difference does a paired t-test find with probability 1 - β, in standard deviations of the differences?

    Parameters
    ----------
    n_topics : int
        At least 2.
    alpha, beta : float

    Returns
    -------
    float

    Examples
    --------
    >>> round(detectable_effect(34, 0.05, 0.2), 3)
    0.495
    """
    low, high = 0.0, 1.0
    while power_of_t_test(n_topics, high, alpha) < 1 - beta:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of_t_test(n_topics, middle, alpha) >= 1 - beta else (middle, high)
    return high


def _add(counts: FloatArray, scores: FloatArray) -> FloatArray:
    """Sum scores over topics, each as often as it counts: shape (trial, measure, run)."""
    n_runs, n_topics, n_measures = scores.shape
    by_topic = scores.transpose(1, 2, 0).reshape(n_topics, -1)
    return np.asarray(counts @ by_topic).reshape(len(counts), n_measures, n_runs)


def _settle(power: npt.ArrayLike, beyond: FloatArray) -> FloatArray:
    """Return the power, and 1 where the noncentral distribution is so far away that its series fails."""
    return np.where(np.isfinite(power), power, np.where(beyond > 0, 1.0, np.nan))


def _find_fewest(enough: Callable[[FloatArray], npt.NDArray[np.bool_]], like: FloatArray) -> FloatArray:
    """Return the least number of topics that is enough, where more are enough as well, by doubling and halving."""
    known = ~np.isnan(like)
    low = np.full(like.shape, float(_FEWEST))
    high = low.copy()
    for _ in range(int(np.ceil(np.log2(MOST_TOPICS)))):
        short = known & ~enough(high)
        if not short.any():
            break
        low, high = np.where(short, high, low), np.where(short, np.minimum(high * 2, MOST_TOPICS), high)
    never = known & ~enough(high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        suffices = enough(middle)
        low, high = np.where(suffices, low, middle), np.where(suffices, middle, high)
        low = np.where(known & ~never, low, high)
    high = np.where(known & ~never & enough(low), low, high)
    return np.where(known, np.where(never, np.inf, high), np.nan)
