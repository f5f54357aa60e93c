"""Means of runs from a judge's scores on all topics and people's on some: prediction-powered inference, paired by topic.

With Y what people say, F what the judge says, and w = N/n (or 1/probability) the weight of a labelled cell of N topics, a run's
mean is estimated by λ times the mean of F over all topics, plus the weighted mean of Y − λF over the labelled ones
(Angelopoulos et al., Science 382, 2023; λ: Angelopoulos, Duchi and Zrnic, "PPI++", 2023). The published λ is tuned for one
number. Here one λ a judge serves all runs: it minimises the sum of the variances of all differences, which many cells estimate
well, and differences of means stay differences of means. Intervals are simultaneous, by a studentised bootstrap of the topics
whose variances have an offset, as in `metaeval.stats.pair_tests`. Few labels may show none of a judge's errors: intervals leave
room for them, by the rule of three (Hanley and Lippman-Hand, JAMA 249(13), 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from metaeval.stats.arrays import FloatArray, IntArray, divide
from metaeval.stats.pair_tests import VARIANCE_OFFSET
from metaeval.stats.parallel import split_work
from metaeval.stats.resampling import draw_weights

Target: TypeAlias = Literal["population", "topics"]

NUMBERS_A_BLOCK = 2**15  # held at once while pairs of runs are resampled: as many as the processor's cache takes

SKEW_CORRECTION = 0.5
"""Share of 1 − confidence at which the bootstrap's quantile is taken: that of skewed scores falls short. By simulation."""

RULE_OF_THREE = 3.0
"""Errors of a judge that n labelled topics may hide: of events in 3/n of the topics none is seen once in twenty times."""

RIDGE = 1e-9  # share of a judge's own sum of squares that is added to it, so that two equal judges share a weight


@dataclass(frozen=True, eq=False)
class Corrected:
    """Means of runs with standard errors, and differences of pairs with how far simultaneous intervals reach on either side.

    `residual` is the variance of a pair's difference that comes from labelling only some topics, `weights` the λ of each
    judge, and `ratio`, with the ends of an interval, the share of the variance of people alone that is left, summed over pairs.
    """

    means: FloatArray
    errors: FloatArray
    differences: FloatArray
    variances: FloatArray
    residual: FloatArray
    reach: FloatArray
    weights: FloatArray
    ratio: FloatArray

    @property
    def signs(self) -> IntArray:
        """1 where the first run of a pair is better, −1 where the second is, 0 where the interval holds 0."""
        return np.where(np.abs(self.differences) > self.reach, np.sign(self.differences), 0.0).astype(np.int64)

    def value_scores(self, n: int, of: int) -> tuple[float, float, float]:
        """Say how many labels one score of the judges is worth, with the ends, where n of so many topics are labelled."""
        best, most, least = ((1 / (1 / of + (1 / n - 1 / of) * each) - n) / (of - n) for each in self.ratio)
        return best, max(least, 0.0), most


def spread_weights(labelled: np.ndarray, probabilities: FloatArray | None = None) -> FloatArray:
    """Return how many topics each labelled cell stands for, shape (run, topic); those of a run sum to all topics."""
    raw = labelled.astype(np.float64)
    if probabilities is not None:
        raw[labelled] /= probabilities[labelled]
    return np.asarray(raw * (labelled.shape[1] / raw.sum(axis=1, keepdims=True)))


def are_whole_topics(weights: FloatArray) -> bool:
    """Say whether every labelled topic has labels of all runs, with one weight."""
    return bool(np.allclose(weights, weights[:1], rtol=1e-9, atol=0))


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
    """Which runs differ, by judges' scores on all topics, shape (judge, run, topic), and people's on some, shape (run, topic)?

    People have NaN where there is no label, and weights from `spread_weights`. The target is the mean of the population that
    the topics are from, or of these topics; the confidence is that of all differences together, and the key one of
    `metaeval.stats.streams.stream_key`.

    >>> rng = np.random.default_rng(0)
    >>> judge = rng.normal(size=(3, 200)) + [[0], [0], [1]]
    >>> people = judge + rng.normal(0, 0.3, (3, 200))
    >>> people[:, 50:] = np.nan
    >>> correct_means(people, judge[None], spread_weights(~np.isnan(people)), key=1).signs
    array([ 0, -1, -1])
    """
    n_topics = people.shape[1]
    known = np.where(weights > 0, people, 0.0)
    of_people, *columns = (
        np.where(weights > 0, each - (weights * each).sum(axis=1, keepdims=True) / n_topics, 0.0)
        for each in (known, *judges)
    )
    of_judges = np.array(columns).reshape(judges.shape)
    scale = _find_scale(weights, target)
    lam, by_topic = _fit_weights(scale * of_people, scale * of_judges)
    predicted = np.tensordot(lam, judges, axes=1)
    residuals = of_people - (by_topic[:, np.newaxis] * of_judges).sum(axis=0)
    means = (weights * (known - predicted)).sum(axis=1) / n_topics + predicted.mean(axis=1)
    # What each topic adds to the error of each run's mean: labelled topics, and all others, which tell of the population.
    left = predicted - predicted.mean(axis=1, keepdims=True) if target == "population" else np.zeros_like(predicted)
    some = (weights > 0).any(axis=0)
    labelled, others = (scale * residuals + left)[:, some] / n_topics, left[:, ~some] / n_topics
    n = labelled.shape[1]
    unseen = _find_unseen(weights, predicted)
    errors = np.sqrt(n / max(n - 1, 1) * n * labelled.var(axis=1) + (others**2).sum(axis=1) + unseen)
    first, second = np.triu_indices(len(people), 1)
    of_pairs = unseen[first] + unseen[second]
    counts = draw_weights(key, range(n_trials), n)  # how often each labelled topic is drawn
    variances, reach = _resample(labelled, others, of_pairs, counts, key, confidence)
    scaled = _find_scale(weights, "topics")[:, some] / n_topics
    with_judges, without = scaled * residuals[:, some], scaled * of_people[:, some]
    residual = _sum_squares(with_judges) + of_pairs
    ratio = _compare_variances(with_judges, without, (1 - 1 / len(people)) * unseen.sum(), counts, confidence)
    return Corrected(means, errors, means[first] - means[second], variances, residual, reach, lam, ratio)


def _find_unseen(weights: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return the variance of each run's mean that one error of the judge more would make, which the labels may not show.

    Of size M on one topic in n, that is M²/n (1/n − 1/N): nothing where all N topics are labelled. M² is the mean square of
    what the judge sees between two runs on a topic, where it sees a difference.
    """
    n_runs, n_topics = predicted.shape
    ordered = np.sort(predicted.T, axis=1)
    starts = np.flatnonzero(np.diff(ordered, axis=1, prepend=np.inf))  # of runs that the judge sees alike on a topic
    alike = np.diff(starts, append=ordered.size)
    differing = n_runs**2 * n_topics - np.square(alike).sum()
    square = 2 * n_runs**2 * predicted.var(axis=0).sum() / max(differing, 1)
    share = np.square(weights).sum(axis=1) / n_topics**2  # 1/n of equal weights (Kish 1965)
    return np.asarray(square * share * np.maximum(share - 1 / n_topics, 0.0))


def _compare_variances(
    with_judges: FloatArray, without: FloatArray, unseen: float, counts: FloatArray, confidence: float
) -> FloatArray:
    """Return which share of the variance of all pairs is left with the judges, and the ends of its interval over topics."""
    remaining, whole = (np.square(parts - parts.mean(axis=0)).sum(axis=0) for parts in (with_judges, without))
    if not whole.any():
        return np.ones(3)
    drawn, drawn_whole = counts @ remaining, np.maximum(counts @ whole, np.finfo(float).tiny)
    tail = SKEW_CORRECTION * (1 - confidence) / 2
    low = np.quantile(drawn / drawn_whole, tail)
    high = np.quantile(np.maximum(drawn + unseen, RULE_OF_THREE * unseen) / drawn_whole, 1 - tail)
    return np.array([(remaining.sum() + unseen) / whole.sum(), low, high])


def _find_scale(weights: FloatArray, target: Target) -> FloatArray:
    """Return what a residual is multiplied by: its weight w, or of these topics √(w(w − 1)), since a labelled one is known.

    The latter holds for whole topics. Of single cells it is not known which were chosen together: w is on the safe side.
    """
    if target == "population" or not are_whole_topics(weights):
        return weights
    return np.sqrt(np.maximum(weights * (weights - 1), 0.0))


def _fit_weights(people: FloatArray, judges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the λ of each judge that minimise the sum of the variances of all pairs of runs: least squares within topics.

    And those for the residuals of each topic, shape (judge, topic): of several judges without that topic, lest they overfit.
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


def _sum_squares(parts: FloatArray) -> FloatArray:
    """Return the sum of squares over topics of the differences of each pair of runs."""
    first, second = np.triu_indices(len(parts), 1)
    products = parts @ parts.T
    squares = products.diagonal()
    return np.maximum(squares[first] + squares[second] - 2 * products[first, second], 0.0)


def _resample(
    labelled: FloatArray, others: FloatArray, unseen: FloatArray, counts: FloatArray, key: int, confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the difference of each pair, and how far its simultaneous interval reaches.

    Labelled topics are resampled; what the others add, which are many, is drawn from a normal distribution. In a trial, T is
    the largest |d|/√(V + U + A) of all pairs, with V the variance in the resample, U that of one unseen error of the judge
    about each run, and A a quarter of the median observed V + U. Intervals leave room for three such errors besides.
    """
    labelled = labelled - labelled.mean(axis=1, keepdims=True)
    n_trials, n = counts.shape
    inflate = n / max(n - 1, 1)
    fixed = _sum_squares(others)
    variances = inflate * _sum_squares(labelled) + fixed + unseen
    differing = variances > 0
    if not differing.any():
        return variances, np.zeros_like(variances)
    offset = VARIANCE_OFFSET * float(np.median(variances[differing]))
    drawn = np.ascontiguousarray(counts.T)
    sums = labelled @ drawn
    values, vectors = np.linalg.eigh(others @ others.T)
    normal = np.random.Generator(np.random.PCG64(key)).standard_normal((len(others), n_trials))
    noise = vectors * np.sqrt(np.maximum(values, 0.0)) @ normal  # with the covariances of the sums of the others
    first, second = np.triu_indices(len(labelled), 1)
    added, largest = fixed + unseen + offset, np.zeros(n_trials)
    for some in split_work(len(first), NUMBERS_A_BLOCK // max(n, n_trials)):
        i, k = first[some], second[some]
        gaps = sums[i] - sums[k]
        spread = np.square(labelled[i] - labelled[k]) @ drawn
        spread -= gaps**2 / n
        np.maximum(spread, 0.0, out=spread)
        spread *= inflate
        spread += added[some, np.newaxis]
        if others.size:
            gaps += noise[i] - noise[k]
        gaps *= gaps
        gaps /= spread
        np.maximum(largest, gaps.max(axis=0), out=largest)
    quantile = np.quantile(largest, 1 - SKEW_CORRECTION * (1 - confidence), method="higher")
    return variances, np.sqrt(quantile * (variances + offset) + RULE_OF_THREE**2 * unseen)


def find_unlike(weights: FloatArray, traits: FloatArray) -> FloatArray:
    """Return how improbable the labelled topics are if they were chosen as stated, one p-value a trait, shape (trait, topic).

    The weighted sum of the ranks of labelled topics is compared with that of all topics.
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    ranks = rankdata(traits, axis=1)
    parts = (weights - 1) * (ranks - ranks.mean(axis=1, keepdims=True))
    spread = np.sqrt((parts**2).sum(axis=1))
    return np.asarray(2 * ndtr(-np.abs(divide(parts.sum(axis=1), spread, 0.0))))
