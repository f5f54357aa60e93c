"""Intervals for numbers computed from means over topics, and what they say: where does the number lie on other topics?

What is covered is the expected value of the same number on as many new topics of the same kind, with the runs fixed.
The number itself estimates that without bias. The mean over resampled topics does not: a resample adds the noise of drawing
topics a second time, which lowers τ. So only the *spread* of the resamples is used, and the interval is centred at the number.

For "other runs of this kind" each run is left out once: m times the variance of the number over runs left out is the
jackknife's estimate of what drawing other runs adds (Efron and Stein, Annals of Statistics 9(3), 1981). It holds what runs
and topics do together a second time. The jackknife on resampled topics holds that once more than the jackknife on the topics
themselves, so that the difference of the two is taken off. No run is ever drawn twice, so that none forms a pair with itself.
Drawing runs with replacement, or halves of them, together with topics counts three times what they do together.

Equal, or unknown? Two one-sided tests with a stated margin tell (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, divide

Scale: TypeAlias = Literal["correlation", "share"]
Over: TypeAlias = Literal["topics", "runs and topics"]

ELSEWHERE: dict[Over, str] = {"topics": "on other topics", "runs and topics": "on other topics and of other runs"}
"""What intervals speak of, in words."""

FEWEST_RUNS, FEWEST_TOPICS, FEWEST_OTHER_RUNS = 10, 25, 12
"""With fewer, the coverage of intervals, or of those for other runs too, was not measured, and none is given."""

CROSSED_TRIALS = 30  # resamples of topics on which each run is left out, for what runs and topics do together

LIKE, DIFFERS, NO_WORSE, NO_BETTER, UNDECIDED = "like", "differs", "no worse", "no better", "undecided"


def explain_no_interval(n_runs: int, n_topics: int, over: Over = "topics") -> str:
    """Return why no interval is given for so few runs or topics; empty if one is."""
    fewest = FEWEST_RUNS if over == "topics" else FEWEST_OTHER_RUNS
    needed = f"it needs {fewest} runs and {FEWEST_TOPICS} topics to cover what it claims"
    few = n_runs < fewest or n_topics < FEWEST_TOPICS
    return f"No interval: {needed}; there are {n_runs} and {n_topics}." if few else ""


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

    The standard deviation over resamples, shape (trial, ...), times √(n/(n − 1)), is carried by its derivative at the estimate
    to Fisher's z of a correlation or the logit of a share, multiplied by a quantile of Student's t, or if not `student` of the
    normal distribution, and carried back. For `simultaneous` intervals, which hold together, the quantile is that of the
    largest standardised deviation of a trial. An estimate at an end of the scale counts as half a `step` between two values
    away from it; ends are as far as `least` from the estimate: a number of few values may not move in any resample. NaN where
    the estimate is not defined, or in fewer than two resamples.

    >>> rng = np.random.default_rng(0)
    >>> low, high = centre_interval(0.6, 0.7 + 0.05 * rng.normal(size=1000), 50)
    >>> round(float(low), 2), round(float(high), 2)
    (0.49, 0.69)
    """
    from scipy.special import ndtr, ndtri, stdtrit

    middle, drawn = np.asarray(estimate, dtype=np.float64), np.asarray(resampled, dtype=np.float64)
    known = np.isfinite(drawn)
    count = known.sum(axis=0)
    centre = np.where(known, drawn, 0.0).sum(axis=0) / np.maximum(count, 1)
    deviations = np.where(known, drawn - centre, 0.0)
    squares = (deviations**2).sum(axis=0)
    variance = squares / np.maximum(count - 1, 1) * (n_topics / (n_topics - 1))
    level = (1 + confidence) / 2
    quantile = stdtrit(n_topics - 1, level) if student else ndtri(level)
    if simultaneous and len(drawn) > 1 and np.prod(drawn.shape[1:]) > 1:
        quantile = stdtrit(n_topics - 1, ndtr(_find_largest(deviations, squares, count, confidence)))
    reach = quantile * np.sqrt(variance)
    bottom = -1.0 if scale == "correlation" else 0.0
    # A share p is a correlation 2p − 1: the logit of p is twice Fisher's z of 2p − 1.
    widen = 2.0 / (1.0 - bottom)
    margin, shift = np.asarray(step, dtype=np.float64) / 2, np.asarray(least, dtype=np.float64)
    inside = np.clip(middle, bottom + margin, 1 - margin)
    correlation = widen * (inside - bottom) - 1
    slack = np.maximum(1 - correlation**2, np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.arctanh(correlation)
        low, high = ((np.tanh(z + sign * widen * reach / slack) + 1) / widen + bottom for sign in (-1, 1))
    # Next to the ends the transform is so steep that the interval would reach across the whole scale.
    low, high = np.maximum(low, middle - 2 * reach), np.minimum(high, middle + 2 * reach)
    still, undefined = squares == 0, ~np.isfinite(middle) | (count < 2)
    low, high = np.where(still, middle, low), np.where(still, middle, high)
    low = np.maximum(np.fmin(low, middle - shift), bottom)
    high = np.minimum(np.fmax(high, middle + shift), 1.0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def _find_largest(deviations: FloatArray, squares: FloatArray, count: IntArray, confidence: float) -> float:
    """Return the quantile of the largest of all standardised deviations of a trial; that of a normal number at least."""
    from scipy.special import ndtri

    spread = np.sqrt(squares / np.maximum(count - 1, 1))
    sizes = np.divide(np.abs(deviations), spread, out=np.zeros_like(deviations), where=spread > 0)
    largest = sizes.reshape(len(sizes), -1).max(axis=1)
    return max(float(np.quantile(largest, confidence, method="higher")), float(ndtri((1 + confidence) / 2)))


def vary_differences(
    values: FloatArray, drawn: FloatArray, interval: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the difference of every two numbers from −1 to 1 with its ends; `interval` is `centre_interval`."""
    first, second = np.triu_indices(len(values), 1)
    # Halved, a difference is such a number too.
    gap, gaps = ((each[..., first] - each[..., second]) / 2 for each in (values, drawn))
    low, high = interval(gap, gaps)
    return 2 * gap, 2 * low, 2 * high


def interval_of_differences(
    differences: npt.ArrayLike, deviations: npt.ArrayLike, n_topics: int, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return Student's interval of mean differences of two runs, and standardised differences d with theirs: five arrays.

    d is the mean over the deviation of the differences, with standard error √(1/n + d²/(2n)).
    """
    from scipy.special import stdtrit

    mean, spread = np.asarray(differences, dtype=np.float64), np.asarray(deviations, dtype=np.float64)
    quantile = stdtrit(n_topics - 1, (1 + confidence) / 2)
    reach = quantile * spread / np.sqrt(n_topics)
    d = divide(mean, spread)
    reach_d = quantile * np.sqrt((1 + d**2 / 2) / n_topics)
    return mean - reach, mean + reach, d, d - reach_d, d + reach_d


def interval_of_share(
    part: npt.ArrayLike, whole: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of a share, of independent trials: Clopper and Pearson (Biometrika 26(4), 1934)."""
    from scipy.stats import beta

    k, n = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    tail, some, others = (1 - confidence) / 2, k > 0, k < n
    # A beta distribution without successes, or without failures, is not defined: that end is the end of the scale.
    low = np.where(some, beta.ppf(tail, np.where(some, k, 1), n - k + 1), 0.0)
    high = np.where(others, beta.ppf(1 - tail, k + 1, np.where(others, n - k, 1)), 1.0)
    return low, high


def interval_of_pairs(
    part: npt.ArrayLike, whole: npt.ArrayLike, n_runs: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of a share of pairs of runs, where the runs might be others: binomial, of independent pairs.

    Pairs that share a run are not independent. The share of pairs that two independent rankings of m runs order
    differently has (2m + 5)/9 times the variance of a share of as many independent pairs (Kendall 1938), so that n
    pairs count as 9n/(2m + 5). Numbers of pairs, shape (collection, ...), are added over collections.
    """
    independent = 9 / (2 * np.asarray(n_runs, dtype=np.float64) + 5)
    return interval_of_share(
        *(np.tensordot(independent, np.asarray(pairs, dtype=np.float64), axes=1) for pairs in (part, whole)),
        confidence=confidence,
    )


def vary_runs(drawn: FloatArray, left_out: FloatArray, crossed: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Add to numbers on resampled topics, shape (trial, number), what they vary with other runs.

    `left_out`, of shape (run, number), are the numbers without each run, and `crossed`, of shape (run, some trials, number),
    the same on resampled topics. All numbers of a trial share their random weights. Of few runs the spread is known as well as
    Student's t allows for.
    """
    from scipy.special import ndtri, stdtrit

    n_runs, n_numbers = left_out.shape
    moved, deviations, redrawn = (np.nan_to_num(each - np.nanmean(each, axis=0)) for each in (drawn, left_out, crossed))
    deviations, redrawn = (each * np.sqrt((n_runs - 1) / n_runs) for each in (deviations, redrawn))
    redrawn = redrawn.reshape(-1, n_numbers)
    # The products of the deviations are the jackknife's J. With R the mean of those on resampled topics, runs and topics do
    # R − J together: in no direction less than nothing or more than all of J, or than numbers on resampled topics vary.
    left, sizes, directions = np.linalg.svd(deviations, full_matrices=False)
    some = sizes > sizes.max(initial=0.0) * 1e-9
    left, sizes, directions = left[:, some], sizes[some], directions[some]
    again, topics = (each @ directions.T / sizes for each in (redrawn, moved))  # J is 1 in every direction
    size, turned = np.linalg.eigh(again.T @ again * (len(deviations) / len(redrawn)))
    together = np.minimum(size - 1, np.square(topics @ turned).mean(axis=0))
    added = (left @ turned * np.sqrt(np.clip(1 - together, 0.0, 1.0))) @ turned.T @ (sizes[:, np.newaxis] * directions)
    wider = stdtrit(n_runs - 1, 0.975) / ndtri(0.975)
    return np.asarray(drawn + wider * rng.standard_normal((len(drawn), n_runs)) @ added)


def pool(values: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """Return the weighted mean of numbers of every collection, each of shape (...)."""
    if len(values) == 1:
        return values[0]
    return np.asarray(np.tensordot(weights / weights.sum(), np.array(values), axes=1))


class Ends(NamedTuple):
    """Both ends of intervals, each of shape (...)."""

    low: FloatArray
    high: FloatArray


def judge_difference(two_sided: Ends, one_sided: Ends, margin: float) -> list[str]:
    """Return in a word what is known of each difference.

    `two_sided` are intervals at 1 − α, `one_sided` those at 1 − 2α, whose ends are those of one-sided tests. *like*: within
    ± `margin`, whether or not 0 lies outside. *differs*: 0 lies outside the two-sided interval.
    """
    (low, high), (least, most) = two_sided, one_sided
    known = [(-margin < least) & (most < margin), (low > 0) | (high < 0), least > -margin, most < margin]
    words = np.select(known, [LIKE, DIFFERS, NO_WORSE, NO_BETTER], UNDECIDED)
    return np.where(low <= high, words, UNDECIDED).tolist()


def judge_level(two_sided: Ends, one_sided: Ends, level: float) -> list[str]:
    """Return the same of numbers, such as τ, that are *like* from a level on and *differ* below it."""
    return np.select([one_sided.low >= level, two_sided.high < level], [LIKE, DIFFERS], UNDECIDED).tolist()


def interval_of_pearson(x: FloatArray, y: FloatArray) -> tuple[float, float, float]:
    """Return Pearson's r with the ends of Fisher's 95 % interval, NaN where deltas do not vary."""
    from scipy.special import ndtri  # scipy.stats would take half a second to import

    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return (np.nan,) * 3
    with np.errstate(all="ignore"):  # of deltas that hardly vary, or are exactly in line
        r = float(np.corrcoef(x / np.abs(x).max(), y / np.abs(y).max())[0, 1])
        reach = ndtri(0.975) / np.sqrt(max(len(x) - 3, 0))
        low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return r, *((float(low), float(high)) if len(x) > 3 else (-1.0, 1.0))
