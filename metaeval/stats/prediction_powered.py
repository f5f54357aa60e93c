"""Means of runs from a judge's scores on all topics and people's on some: prediction-powered inference, paired by topic.

With Y what people say, F what the judge says, and w = N/n (or 1/probability) the weight of a labelled cell of N topics, a run's
mean is estimated by λ times the mean of F over all topics, plus the weighted mean of Y − λF over the labelled ones
(Angelopoulos et al., Science 382, 2023; λ: Angelopoulos, Duchi and Zrnic, "PPI++", 2023). The published λ is tuned for one
number. Here one λ a judge serves all runs: it minimises the sum of the variances of all differences, which many cells estimate
well, and differences of means stay differences of means. Intervals are simultaneous, by a studentised bootstrap of the topics
whose variances have an offset, as in `metaeval.stats.pair_tests`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from metaeval.stats.blocks import FloatArray, IntArray
from metaeval.stats.pair_tests import VARIANCE_OFFSET
from metaeval.stats.resampling import draw_weights, split_trials

Target: TypeAlias = Literal["population", "topics"]

NUMBERS_A_BLOCK = 2**15
"""Numbers held at once while pairs of runs are resampled: as many as the processor's cache takes."""

SKEW_CORRECTION = 0.5
"""Share of 1 − confidence at which the bootstrap's quantile is taken: that of skewed scores falls short. By simulation."""

RIDGE = 1e-9
"""Share of a judge's own sum of squares that is added to it, so that two equal judges share a weight."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """Means of runs with standard errors, and differences of pairs with how far simultaneous intervals reach on either side.

    Pairs are in the order of ``np.triu_indices(n_runs, 1)``. `residual` is the variance of a pair's difference that comes from
    labelling only some topics, and `weights` the λ of each judge.
    """

    means: FloatArray
    errors: FloatArray
    differences: FloatArray
    variances: FloatArray
    residual: FloatArray
    reach: FloatArray
    weights: FloatArray

    @property
    def signs(self) -> IntArray:
        """1 where the first run of a pair is better, −1 where the second is, 0 where the interval holds 0."""
        return np.where(np.abs(self.differences) > self.reach, np.sign(self.differences), 0.0).astype(np.int64)


class Parts(NamedTuple):
    """What each topic adds to the error of each run's mean, shape (run, topic): labelled topics, and all others."""

    labelled: FloatArray
    others: FloatArray


def spread_weights(labelled: np.ndarray, probabilities: FloatArray | None = None) -> FloatArray:
    """Return how many topics each labelled cell stands for, shape (run, topic); those of a run sum to all topics.

    Examples
    --------
    >>> spread_weights(np.array([[True, False, True, False]]), np.array([[0.5, np.nan, 0.25, np.nan]])).round(2).tolist()
    [[1.33, 0.0, 2.67, 0.0]]
    """
    raw = labelled.astype(np.float64)
    if probabilities is not None:
        raw[labelled] /= probabilities[labelled]
    return np.asarray(raw * (labelled.shape[1] / raw.sum(axis=1, keepdims=True)))


def count_effective(weights: FloatArray) -> FloatArray:
    """Return how many labels of equal weight those of each run are worth (Kish 1965), shape (run,).

    Examples
    --------
    >>> count_effective(np.array([[2.0, 2.0, 0.0, 0.0], [3.0, 1.0, 0.0, 0.0]])).tolist()
    [2.0, 1.6]
    """
    return np.asarray(np.square(weights.sum(axis=1)) / np.square(weights).sum(axis=1))


def correct_means(
    people: FloatArray,
    judges: FloatArray,
    weights: FloatArray,
    *,
    key: int,
    target: Target = "population",
    n_trials: int = 2000,
    confidence: float = 0.95,
) -> Corrected:
    """Which runs differ, by a judge's scores on all topics and people's on some?

    Parameters
    ----------
    people : ndarray, shape (run, topic)
        NaN where there is no label.
    judges : ndarray, shape (judge, run, topic)
        Without judges, people alone.
    weights : ndarray, shape (run, topic)
        From `spread_weights`.
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    target : {"population", "topics"}, optional
        The mean of the population that the topics are from, or of these topics.
    n_trials : int, optional
    confidence : float, optional
        Of all differences together.

    Returns
    -------
    Corrected

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> judge = rng.normal(size=(3, 200)) + [[0], [0], [1]]
    >>> people = judge + rng.normal(0, 0.3, (3, 200))
    >>> people[:, 50:] = np.nan
    >>> correct_means(people, judge[None], spread_weights(~np.isnan(people)), key=1).signs
    array([ 0, -1, -1])
    """
    n_topics = people.shape[1]
    known = np.where(weights > 0, people, 0.0)
    centred = [_centre(each, weights) for each in (known, *judges)]
    scale = _find_scale(weights, target)
    of_judges = np.array(centred[1:]).reshape(judges.shape)
    lam, by_topic = _fit_weights(scale * centred[0], scale * of_judges)
    predicted = np.tensordot(lam, judges, axes=1) if len(lam) else np.zeros_like(known)
    residuals = centred[0] - (by_topic[:, np.newaxis] * of_judges).sum(axis=0)
    means = (weights * (known - predicted)).sum(axis=1) / n_topics + predicted.mean(axis=1)
    errors = scale * residuals
    some = (weights > 0).any(axis=0)
    left = predicted - predicted.mean(axis=1, keepdims=True) if target == "population" else np.zeros_like(predicted)
    parts = Parts((errors + left)[:, some] / n_topics, left[:, ~some] / n_topics)
    first, second = np.triu_indices(len(people), 1)
    variances, reach = _resample(parts, first, second, key, n_trials, confidence)
    residual = _sum_squares(_find_scale(weights, "topics") * residuals / n_topics, first, second)
    return Corrected(means, _find_errors(parts), means[first] - means[second], variances, residual, reach, lam)


def _centre(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Return scores less the weighted mean of each run; 0 where there is no weight."""
    return np.where(weights > 0, scores - (weights * scores).sum(axis=1, keepdims=True) / scores.shape[1], 0.0)


def are_whole_topics(weights: FloatArray) -> bool:
    """Say whether every labelled topic has labels of all runs, with one weight."""
    return bool(np.allclose(weights, weights[:1], rtol=1e-9, atol=0))


def _find_scale(weights: FloatArray, target: Target) -> FloatArray:
    """Return what a residual is multiplied by: its weight w, or of these topics √(w(w − 1)), since a labelled one is known.

    The latter holds for whole topics. Of single cells it is not known which were chosen together: w is on the safe side.
    """
    if target == "population" or not are_whole_topics(weights):
        return weights
    return np.sqrt(np.maximum(weights * (weights - 1), 0.0))


def _fit_weights(people: FloatArray, judges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the λ of each judge that minimise the sum of the variances of all pairs of runs: least squares within topics.

    And the same for the residuals of each topic, shape (judge, topic): of several judges without that topic, since so many
    numbers fit few labelled topics too well.
    """
    target, columns = people - people.mean(axis=0), judges - judges.mean(axis=1, keepdims=True)
    products = np.einsum("jrt,krt->tjk", columns, columns)
    sums = np.einsum("jrt,rt->tj", columns, target)
    whole, total = products.sum(axis=0), sums.sum(axis=0)
    whole = whole + np.diag(RIDGE * whole.diagonal())
    lam = np.linalg.pinv(whole, hermitian=True) @ total
    if len(judges) < 2:
        return lam, np.repeat(lam[:, np.newaxis], people.shape[1], axis=1)
    without = np.linalg.pinv(whole - products, hermitian=True)
    return lam, np.einsum("tjk,tk->jt", without, total - sums)


def _sum_squares(parts: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    products = parts @ parts.T
    own = products.diagonal()
    return np.maximum(own[first] + own[second] - 2 * products[first, second], 0.0)


def _find_errors(parts: Parts) -> FloatArray:
    """Return the standard error of each run's mean."""
    n = parts.labelled.shape[1]
    return np.asarray(np.sqrt(n / max(n - 1, 1) * n * parts.labelled.var(axis=1) + (parts.others**2).sum(axis=1)))


def _resample(
    parts: Parts, first: IntArray, second: IntArray, key: int, n_trials: int, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the difference of each pair, and how far its simultaneous interval reaches.

    Labelled topics are resampled; what the others add, which are many, is drawn from a normal distribution. In a trial, T is
    the largest |d|/√(V + A) of all pairs, with V the variance in the resample and A a quarter of the median observed one.
    """
    labelled = parts.labelled - parts.labelled.mean(axis=1, keepdims=True)
    n = labelled.shape[1]
    inflate = n / max(n - 1, 1)
    fixed = _sum_squares(parts.others, first, second)
    variances = inflate * _sum_squares(labelled, first, second) + fixed
    some = variances > 0
    if not some.any():
        return variances, np.zeros_like(variances)
    offset = VARIANCE_OFFSET * float(np.median(variances[some]))
    noise = _draw_normal(parts.others, key, n_trials)
    largest = np.zeros(n_trials)
    for trials in split_trials(n, n_trials):
        counts = draw_weights(key, trials, n)
        largest[trials.start : trials.stop] = _find_largest(
            labelled, counts, noise[:, trials.start : trials.stop], first, second, fixed + offset
        )
    quantile = np.quantile(largest, 1 - SKEW_CORRECTION * (1 - confidence), method="higher")
    return variances, np.sqrt(quantile * (variances + offset))


def _find_largest(
    labelled: FloatArray, counts: FloatArray, noise: FloatArray, first: IntArray, second: IntArray, added: FloatArray
) -> FloatArray:
    """Return the largest squared statistic of each trial; `counts` says how often each labelled topic is drawn."""
    n_trials, n = counts.shape
    inflate = n / max(n - 1, 1)
    sums, drawn = labelled @ counts.T, np.ascontiguousarray(counts.T)
    largest = np.zeros(n_trials)
    size = max(1, NUMBERS_A_BLOCK // max(n, n_trials))
    for start in range(0, len(first), size):
        i, k = first[start : start + size], second[start : start + size]
        gaps = sums[i] - sums[k]
        spread = _square(labelled[i] - labelled[k]) @ drawn
        spread -= gaps**2 / n
        np.maximum(spread, 0.0, out=spread)
        spread *= inflate
        spread += added[start : start + size, np.newaxis]
        if len(noise):
            gaps += noise[i] - noise[k]
        np.maximum(largest, (_square(gaps) / spread).max(axis=0), out=largest)
    return largest


def _square(numbers: FloatArray) -> FloatArray:
    """Square in place."""
    numbers *= numbers
    return numbers


def _draw_normal(parts: FloatArray, key: int, n_trials: int) -> FloatArray:
    """Draw normal numbers with the covariances that sums of independent parts have, shape (run, trial); none without parts."""
    if not parts.any():
        return np.zeros((0, n_trials))
    values, vectors = np.linalg.eigh(parts @ parts.T)
    drawn = np.random.Generator(np.random.PCG64(key)).standard_normal((len(parts), n_trials))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)) @ drawn)


def find_unlike(weights: FloatArray, traits: FloatArray) -> FloatArray:
    """Return how improbable the labelled topics are if they were chosen as stated, one p-value a trait.

    The weighted sum of the ranks of labelled topics is compared with that of all topics; the errors of a topic's weight are
    taken as independent.

    `weights` has the shape (topic,), and `traits`, such as the mean of the judge's scores, the shape (trait, topic).

    Examples
    --------
    >>> weights = np.repeat([4.0, 0.0], [25, 75])
    >>> find_unlike(weights, np.array([np.arange(100), np.tile([1, 2], 50)])).round(3).tolist()
    [0.0, 0.817]
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    ranks = rankdata(traits, axis=1)
    parts = (weights - 1) * (ranks - ranks.mean(axis=1, keepdims=True))
    spread = np.sqrt((parts**2).sum(axis=1))
    z = np.divide(parts.sum(axis=1), spread, out=np.zeros(len(traits)), where=spread > 0)
    return np.asarray(2 * ndtr(-np.abs(z)))
