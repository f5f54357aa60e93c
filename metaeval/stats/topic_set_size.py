"""How many topics does a new collection need? Topic-set-size design: power, widths of intervals, and numbers of topics.

Sakai (2016), "Topic set size design", Information Retrieval Journal 19; Sakai (2018), "Laboratory Experiments in
Information Retrieval", Springer, Chapter 6. Sakai approximates the noncentral t and F distributions by the normal one;
here they are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray

MOST_TOPICS = 10_000_000
"""Designs that need more are infinite."""


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


def fewest_topics(
    enough: Callable[[FloatArray], npt.NDArray[np.bool_]], like: npt.ArrayLike, least: int = 2
) -> FloatArray:
    """How many topics are enough, where more of them are enough as well?

    Parameters
    ----------
    enough : callable
        Says of numbers of topics, shape (...), whether each is enough.
    like : array_like of float, shape (...)
        What topics are counted for; NaN where there is no number.
    least : int, optional
        The smallest number.

    Returns
    -------
    ndarray, shape (...)
        Whole numbers; infinite beyond MOST_TOPICS, NaN where `like` is.

    Examples
    --------
    >>> effects = np.array([0.2, 0.5])  # differences of two runs over the standard deviation of the differences
    >>> fewest_topics(lambda n: power_of_t_test(n, effects, 0.05) >= 0.8, effects)
    array([199.,  34.])
    """
    low = high = np.full(np.shape(like), float(least))
    while (short := ~enough(high) & (high < MOST_TOPICS)).any():
        low, high = np.where(short, high, low), np.where(short, np.minimum(high * 2, MOST_TOPICS), high)
    never = ~enough(high)
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        suffices = enough(middle)
        low, high = np.where(suffices, low, middle), np.where(suffices, middle, high)
    found = np.where(never, np.inf, np.where(enough(low), low, high))
    return np.where(np.isnan(like), np.nan, found)


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


def _settle(power: npt.ArrayLike, beyond: FloatArray) -> FloatArray:
    """Return the power, and 1 where the noncentral distribution is so far away that its series fails."""
    return np.where(np.isfinite(power), power, np.where(beyond > 0, 1.0, np.nan))
