"""Which topics should people label next? Those on which the judge's errors about undecided pairs are likely to be large.

The variance that labelling some topics leaves is the sum of squared errors over the probabilities of the topics, so that it is
least when a topic's probability grows as the root of its expected squared error (Zrnic and Candès, "Active statistical
inference", ICML 2024). What is expected follows from the labelled topics, and from how far the judge sees the runs apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from metaeval.stats.blocks import FloatArray
from metaeval.stats.prediction_powered import Corrected

UNIFORM = 0.25
"""Part of the probabilities that is the same for all topics: a topic that seems easy may not be."""

STEPS, LARGEST = 20, 3.0
"""Iterations of the fit of squared errors, and the largest logarithm that a topic's may have beside the mean."""


class Plan(NamedTuple):
    """What to label next, shape (topic,).

    `drawn` says which topics; `chances` how probable that was, 0 for labelled ones; `probabilities` belong to labels old and
    new when all of them correct the judge, and are NaN elsewhere.
    """

    drawn: np.ndarray
    chances: FloatArray
    probabilities: FloatArray


def plan_topics(
    people: FloatArray,
    predicted: FloatArray,
    weights: FloatArray,
    importance: FloatArray,
    n: int,
    rng: np.random.Generator,
) -> Plan:
    """Draw the topics to label next, with their probabilities.

    Given what is labelled, a second sample estimates the mean without bias: labelled topics count as they are, a new one by
    1/chance. It is not correlated with the estimate by the labels so far. A share α of that one and 1 − α of the other make of
    a labelled topic's weight w the weight αw + 1 − α, and give a new one (1 − α)/chance; α leaves the least variance.

    Parameters
    ----------
    people : ndarray, shape (run, topic)
        NaN where there is no label.
    predicted : ndarray, shape (run, topic)
        What the judge's scores predict of people's.
    weights : ndarray, shape (topic,)
        From `metaeval.stats.prediction_powered.spread_weights`; 0 where there is no label.
    importance : ndarray, shape (run, run)
        How much each pair of runs matters; symmetric. See `weigh_pairs`.
    n : int
        How many topics, at most those without label.
    rng : Generator

    Returns
    -------
    Plan

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people, judge = rng.normal(size=(2, 2, 100))
    >>> people[:, 20:] = np.nan
    >>> plan = plan_topics(people, judge, np.repeat([5.0, 0.0], [20, 80]), np.array([[0, 1], [1, 0]]), 10, rng)
    >>> int(plan.drawn.sum()), round(float(plan.chances.sum()), 6), int(np.isfinite(plan.probabilities).sum())
    (10, 10.0, 30)
    """
    labelled = weights > 0
    errors = np.where(labelled, people - predicted, 0.0)
    errors -= np.where(labelled, (errors * weights).sum(axis=1, keepdims=True) / len(weights), 0.0)
    seen, apart = _sum_pairs(errors, importance), _sum_pairs(predicted, importance)
    expected = _predict_errors(seen[labelled], apart, predicted.mean(axis=0), labelled)
    chances = np.zeros(len(weights))
    chances[~labelled] = _share_out(np.sqrt(expected[~labelled]), n)
    drawn = draw_systematically(chances, rng)
    left = ~labelled & (chances < 1)
    first = float((weights * np.maximum(weights - 1, 0.0) * expected)[labelled].sum())
    second = float((expected[left] * (1 / chances[left] - 1)).sum())
    share = min(second / (first + second) if first + second > 0 else 0.0, 1 - chances.max())
    inverse = np.where(labelled, share * weights + 1 - share, (1 - share) / np.where(chances > 0, chances, np.nan))
    return Plan(drawn, chances, np.where(labelled | drawn, np.minimum(1 / inverse, 1.0), np.nan))


def weigh_pairs(found: Corrected) -> FloatArray:
    """Return how much each pair of runs matters: those that are open, by the inverse of their variance, shape (run, run)."""
    n_runs = len(found.means)
    first, second = np.triu_indices(n_runs, 1)
    still = (found.signs == 0) & (found.variances > 0)
    importance = np.zeros((n_runs, n_runs))
    importance[first[still], second[still]] = 1 / found.variances[still]
    return importance + importance.T


def draw_systematically(chances: FloatArray, rng: np.random.Generator) -> np.ndarray:
    """Draw topics with these probabilities, as many as they sum to: evenly spaced, in random order (systematic sampling).

    Examples
    --------
    >>> draw_systematically(np.array([0.5, 0.5, 1.0, 0.0]), np.random.default_rng(0))[2:].tolist()
    [True, False]
    """
    order = rng.permutation(len(chances))
    steps = np.cumsum(chances[order])
    count = round(float(steps[-1]))
    steps *= count / max(steps[-1], 1e-300)
    crossed = np.floor(np.concatenate([[0.0], steps]) - rng.random() + 1 - 1e-12)
    drawn = np.zeros(len(chances), dtype=bool)
    drawn[order] = np.diff(crossed) > 0
    return drawn


def _sum_pairs(scores: FloatArray, importance: FloatArray) -> FloatArray:
    """Return the sum over pairs of runs of squared differences on each topic, by importance, shape (topic,)."""
    links = np.diag(importance.sum(axis=1)) - importance
    return np.maximum((scores * (links @ scores)).sum(axis=0), 0.0)


def _predict_errors(seen: FloatArray, apart: FloatArray, level: FloatArray, labelled: np.ndarray) -> FloatArray:
    """Return the expected squared error of each topic, from how far the judge sees runs apart and its mean score there.

    Log-linear: Poisson quasi-likelihood by iterated least squares, with a ridge as strong as one topic a column.
    """
    if not seen.mean() > 0:
        return np.ones(len(apart))
    columns = np.stack([np.ones(len(apart)), _standardise(np.sqrt(apart)), _standardise(level)], axis=1)
    known, target = columns[labelled], seen / seen.mean()
    beta = np.zeros(3)
    for _ in range(STEPS):
        mean = np.exp(np.clip(known @ beta, -LARGEST, LARGEST))
        products = (known * mean[:, np.newaxis]).T @ known + np.diag([0.0, 1.0, 1.0])
        beta = np.linalg.solve(products, known.T @ (mean * (known @ beta) + target - mean))
    return np.asarray(np.exp(np.clip(columns @ beta, -LARGEST, LARGEST)))


def _standardise(numbers: FloatArray) -> FloatArray:
    spread = numbers.std()
    return np.clip((numbers - numbers.mean()) / spread, -3, 3) if spread > 0 else np.zeros_like(numbers)


def _share_out(sizes: FloatArray, n: int) -> FloatArray:
    """Return probabilities that sum to n, in proportion to sizes but for a uniform part, none above 1."""
    mixed = (1 - UNIFORM) * sizes / sizes.sum() + UNIFORM / len(sizes)
    full = np.zeros(len(sizes), dtype=bool)
    for _ in range(len(sizes)):
        free = n - full.sum()
        chances = np.where(full, 1.0, mixed * free / max(mixed[~full].sum(), 1e-300))
        if not (chances > 1).any():
            break
        full |= chances >= 1
    return np.minimum(chances, 1.0)


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
