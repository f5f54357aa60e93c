"""Intervals for numbers computed from means over topics: where does the number lie on other topics, for these runs?

What is covered is the expected value of the same number on as many new topics of the same kind, with the runs fixed.
The number itself estimates that without bias. The mean over resampled topics does not: a resample adds the noise
of drawing topics a second time, which lowers τ, so that a percentile interval is off centre and misses. Only the
*spread* of the resamples is used, and the interval is centred at the number.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray
from metaeval.stats.other_runs import FEWEST_OTHER_RUNS, Over

Scale: TypeAlias = Literal["correlation", "share"]

FEWEST_RUNS, FEWEST_TOPICS = 10, 25
"""With fewer, the intervals' coverage was not measured, and none is given."""


def explain_no_interval(n_runs: int, n_topics: int, over: Over = "topics") -> str:
    """Return why no interval is given for so few runs or topics; empty if one is."""
    fewest = FEWEST_RUNS if over == "topics" else FEWEST_OTHER_RUNS
    if n_runs >= fewest and n_topics >= FEWEST_TOPICS:
        return ""
    return (
        f"No interval: it needs {fewest} runs and {FEWEST_TOPICS} topics to cover what it claims; there are "
        f"{n_runs} and {n_topics}."
    )


def centre_interval(
    estimate: npt.ArrayLike,
    resampled: npt.ArrayLike,
    n_topics: int,
    *,
    confidence: float = 0.95,
    scale: Scale = "correlation",
    step: npt.ArrayLike = 0.0,
    least: npt.ArrayLike = 0.0,
    student: bool = True,
    simultaneous: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of an interval centred at the estimate, as wide as the resamples spread.

    The standard deviation over resamples, times √(n/(n − 1)), is carried to the scale's transform by its derivative
    at the estimate, multiplied by a quantile, and carried back.

    Parameters
    ----------
    estimate : array_like of float, shape (...)
    resampled : array_like of float, shape (trial, ...)
        The same number on resampled topics; NaN where it is not defined.
    n_topics : int
    confidence : float, optional
    scale : {"correlation", "share"}, optional
        Numbers from −1 to 1, by Fisher's z; or from 0 to 1, by the logit.
    step : array_like of float, shape (...), optional
        The smallest step between two values: an estimate at an end of the scale counts as half a step away from it.
    least : array_like of float, shape (...), optional
        How far the ends are from the estimate at least: a number of few values may not move in any resample.
    student : bool, optional
        Multiply by the quantile of Student's t with n − 1 degrees of freedom, and not of the normal distribution.
    simultaneous : bool, optional
        All intervals together hold their true values with this confidence: the quantile is that of the largest standardised
        deviation of a trial (the max-T of the joint resamples), taken from the normal distribution to Student's t.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        The estimate lies between them; NaN if it is not defined, or in fewer than two resamples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> low, high = centre_interval(0.6, 0.7 + 0.05 * rng.normal(size=1000), 50)
    >>> round(float(low), 2), round(float(high), 2)
    (0.49, 0.69)
    """
    from scipy.special import ndtr, ndtri, stdtrit

    middle, drawn = np.asarray(estimate, dtype=np.float64), np.asarray(resampled, dtype=np.float64)
    known = np.isfinite(drawn)
    count = known.sum(axis=0)
    total = np.where(known, drawn, 0.0).sum(axis=0)
    centre = total / np.maximum(count, 1)
    squares = (np.where(known, drawn - centre, 0.0) ** 2).sum(axis=0)
    variance = squares / np.maximum(count - 1, 1) * (n_topics / (n_topics - 1))
    level = (1 + confidence) / 2
    quantile = stdtrit(n_topics - 1, level) if student else ndtri(level)
    if simultaneous and len(drawn) > 1 and np.prod(drawn.shape[1:]) > 1:
        largest = _find_largest(np.where(known, drawn - centre, 0.0), squares, count, confidence)
        quantile = stdtrit(n_topics - 1, ndtr(largest))
    reach = quantile * np.sqrt(variance)
    bottom = -1.0 if scale == "correlation" else 0.0
    # A share p is a correlation 2p − 1: the logit of p is twice Fisher's z of 2p − 1.
    widen = 2.0 / (1.0 - bottom)
    margin, shift = np.asarray(step, dtype=np.float64) / 2, np.asarray(least, dtype=np.float64)
    inside = np.clip(middle, bottom + margin, 1 - margin)
    correlation = widen * (inside - bottom) - 1
    slack = np.maximum(1 - correlation**2, np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):
        z = np.arctanh(correlation)
    with np.errstate(invalid="ignore"):
        ends = [np.tanh(z + sign * widen * reach / slack) for sign in (-1, 1)]
    low, high = ((end + 1) / widen + bottom for end in ends)
    # Next to the ends the transform is so steep that the interval would reach across the whole scale.
    low, high = np.maximum(low, middle - 2 * reach), np.minimum(high, middle + 2 * reach)
    still, undefined = squares == 0, ~np.isfinite(middle) | (count < 2)
    low, high = np.where(still, middle, low), np.where(still, middle, high)
    low = np.maximum(np.fmin(low, middle - shift), bottom)
    high = np.minimum(np.fmax(high, middle + shift), 1.0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _find_largest(deviations: FloatArray, squares: FloatArray, count: IntArray, confidence: float) -> float:
    """Return the quantile of the largest of all standardised deviations of a trial; that of one normal number at least."""
    from scipy.special import ndtri

    spread = np.sqrt(squares / np.maximum(count - 1, 1))
    sizes = np.divide(np.abs(deviations), spread, out=np.zeros_like(deviations), where=spread > 0)
    largest = sizes.reshape(len(sizes), -1).max(axis=1)
    return max(float(np.quantile(largest, confidence, method="higher")), float(ndtri((1 + confidence) / 2)))


def interval_of_differences(
    differences: npt.ArrayLike, deviations: npt.ArrayLike, n_topics: int, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the interval of the mean difference of two runs, and the standardised difference d with its own.

    Student's t interval; d is the mean over the standard deviation of the differences, with standard error √(1/n + d²/(2n)).

    Parameters
    ----------
    differences : array_like of float, shape (...)
        Means over topics.
    deviations : array_like of float, shape (...)
        Standard deviations over topics, with n − 1.
    n_topics : int
    confidence : float, optional

    Returns
    -------
    low, high, d, d_low, d_high : ndarray of float64, shape (...)
        d is NaN where the differences do not vary.

    Examples
    --------
    >>> [round(float(end), 2) for end in interval_of_differences(0.1, 0.4, 25)]
    [-0.07, 0.27, 0.25, -0.17, 0.67]
    """
    from scipy.special import stdtrit

    mean, spread = np.asarray(differences, dtype=np.float64), np.asarray(deviations, dtype=np.float64)
    quantile = stdtrit(n_topics - 1, (1 + confidence) / 2)
    reach = quantile * spread / np.sqrt(n_topics)
    d = np.divide(mean, spread, out=np.full(mean.shape, np.nan), where=spread > 0)
    reach_d = quantile * np.sqrt((1 + d**2 / 2) / n_topics)
    return mean - reach, mean + reach, d, d - reach_d, d + reach_d


def interval_of_pairs(
    part: npt.ArrayLike, whole: npt.ArrayLike, n_runs: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of a share of pairs of runs, where the runs might be others: binomial, of independent pairs.

    Pairs that share a run are not independent. The share of pairs that two independent rankings of m runs order
    differently has (2m + 5)/9 times the variance of a share of as many independent pairs (Kendall 1938), so that n
    pairs count as 9n/(2m + 5). The ends are those of Clopper and Pearson (1934). Topics are not resampled.

    Parameters
    ----------
    part, whole : array_like, shape (collection, ...)
        Numbers of pairs, which are added over collections.
    n_runs : array_like of int, shape (collection,)
    confidence : float, optional

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        0 and 1 where there are no pairs.

    Examples
    --------
    >>> [round(float(end), 2) for end in interval_of_pairs([15], [42], [12])]
    [0.12, 0.66]
    """
    from scipy.stats import beta

    counted, of_all = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    independent = 9 / (2 * np.asarray(n_runs, dtype=np.float64) + 5)
    k, n = np.tensordot(independent, counted, axes=1), np.tensordot(independent, of_all, axes=1)
    tail = (1 - confidence) / 2
    some, others = counted.sum(axis=0) > 0, counted.sum(axis=0) < of_all.sum(axis=0)
    # A beta distribution without successes, or without failures, is not defined: that end is the end of the scale.
    low = np.where(some, beta.ppf(tail, np.where(some, k, 1), n - k + 1), 0.0)
    high = np.where(others, beta.ppf(1 - tail, k + 1, np.where(others, n - k, 1)), 1.0)
    return low, high
