"""Flatness of gold distributions, and how preferences depend on it: logistic curves, one switch point, all possible gold."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

import metaeval
from experiments.new_measure.gold import POPULARITY, UNIFORM, make_baselines

STEPS = 40  # of Newton's method
TINY = 1e-9  # a step this small is no longer shortened
RIDGE = 1e-6  # keeps the curve finite where one point separates all topics


def find_flatness(gold: np.ndarray) -> np.ndarray:
    """Return the entropy of gold distributions over its largest value: 0 for one class only, 1 for Uniform.

    Parameters
    ----------
    gold : ndarray, shape (topic, class)

    Returns
    -------
    ndarray, shape (topic,)

    Examples
    --------
    >>> find_flatness(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.0, 1.0]
    """
    logs = np.log(gold, where=gold > 0, out=np.zeros_like(gold))
    return np.abs((gold * logs).sum(axis=1)) / np.log(gold.shape[1])


def prefer(runs: metaeval.QuantificationRuns, measures: list[str]) -> np.ndarray:
    """Return which baseline each measure prefers, shape (topic, measure): 1 Popularity, −1 Uniform, 0 neither."""
    scores = metaeval.score(make_baselines(runs), measures)
    return np.sign(metaeval.baseline_preference(scores, POPULARITY, UNIFORM).gains).astype(int)


def list_gold(votes: int, classes: int) -> np.ndarray:
    """Return all ways to give votes to classes, as shares, shape (way, class).

    Examples
    --------
    >>> list_gold(2, 2).tolist()
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    """
    bars = np.array(list(itertools.combinations(range(votes + classes - 1), classes - 1)))
    edges = np.concatenate([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), votes + classes - 1)], axis=1)
    return (np.diff(edges, axis=1) - 1) / votes


class Estimate(NamedTuple):
    """A number computed from topics.

    Attributes
    ----------
    value : float
    influence : ndarray, shape (topic,)
        How much each topic moves it, to first order: the sum of squares is its variance over topics (the
        infinitesimal jackknife).
    """

    value: float
    influence: np.ndarray

    def less(self, other: Estimate) -> Estimate:
        """Return the difference of two numbers of the same topics."""
        return Estimate(self.value - other.value, self.influence - other.influence)

    def find_ends(self, confidence: float) -> tuple[float, float]:
        """Return both ends of the Student's t interval over topics."""
        from scipy.stats import t

        n = len(self.influence)
        error = np.sqrt(n / (n - 1) * (self.influence**2).sum())
        reach = float(t.ppf((1 + confidence) / 2, n - 1) * error)
        return self.value - reach, self.value + reach


def find_mean(values: np.ndarray, among: np.ndarray | None = None) -> Estimate:
    """Return a mean over topics, or over some of them.

    Parameters
    ----------
    values : ndarray, shape (topic,)
        Numbers, or truth values, whose mean is a share.
    among : ndarray of bool, shape (topic,), optional

    Returns
    -------
    Estimate
    """
    inside = np.ones(len(values), dtype=bool) if among is None else among
    mean = float(values[inside].mean())
    return Estimate(mean, inside * (values - mean) / inside.sum())


def fit_curve(flatness: np.ndarray, chosen: np.ndarray) -> tuple[Estimate, Estimate]:
    """Fit the logistic curve P(chosen) = 1 / (1 + exp(−slope · (flatness − crossing))) by Newton's method.

    Parameters
    ----------
    flatness : ndarray, shape (topic,)
    chosen : ndarray of bool, shape (topic,)

    Returns
    -------
    slope, crossing : Estimate
        Their influence is that of maximum likelihood, so that the variance does not rest on the curve being right.
    """
    design = np.stack([np.ones_like(flatness), flatness - flatness.mean()], axis=1)
    turned = np.where(chosen, 1.0, -1.0)

    def find_loss(beta: np.ndarray) -> float:
        return float(np.logaddexp(0, -turned * (design @ beta)).sum() + RIDGE / 2 * beta @ beta)

    beta = np.zeros(2)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -500, 500)))
        curvature = (design * (p * (1 - p))[:, None]).T @ design + RIDGE * np.eye(2)
        step = np.linalg.solve(curvature, design.T @ (chosen - p) - RIDGE * beta)
        while np.abs(step).max() > TINY and find_loss(beta + step) > find_loss(beta):
            step = step / 2
        beta = beta + step
    moved = np.linalg.solve(curvature, (design * (chosen - p)[:, None]).T)
    level, slope = beta
    crossing = flatness.mean() - level / slope
    return Estimate(float(slope), moved[1]), Estimate(float(crossing), -moved[0] / slope + level * moved[1] / slope**2)


def count_peaks(gold: np.ndarray) -> np.ndarray:
    """Count peaks of distributions: classes, or runs of equal neighbours, with less gold on both sides.

    Parameters
    ----------
    gold : ndarray, shape (topic, class)

    Returns
    -------
    ndarray of int, shape (topic,)

    Examples
    --------
    >>> count_peaks(np.array([[0.1, 0.4, 0.4, 0.1], [0.5, 0.1, 0.4, 0.0]])).tolist()
    [1, 2]
    """
    outside = np.full((len(gold), 1), -1.0)
    steps = np.sign(np.round(np.diff(np.concatenate([outside, gold, outside], axis=1), axis=1), 9))
    for k in range(1, steps.shape[1]):  # a level stretch goes on as it began
        level = steps[:, k] == 0
        steps[level, k] = steps[level, k - 1]
    return ((steps[:, :-1] > 0) & (steps[:, 1:] < 0)).sum(axis=1)


def find_switch(flatness: np.ndarray, preferred: np.ndarray) -> tuple[float, float]:
    """Return the one point that tells best what is preferred, Popularity below it, and the share of topics it tells right.

    Parameters
    ----------
    flatness : ndarray, shape (topic,)
    preferred : ndarray, shape (topic,)
        1 Popularity, −1 Uniform; where neither is preferred, nothing is to be told.

    Returns
    -------
    switch, share : float

    Examples
    --------
    >>> find_switch(np.array([0.1, 0.3, 0.5]), np.array([1, 1, -1]))
    (0.4, 1.0)
    """
    told = preferred != 0
    order = np.argsort(flatness[told], kind="stable")
    x, popular = flatness[told][order], preferred[told][order] > 0
    right = np.concatenate([[0], np.cumsum(popular)]) + np.concatenate([np.cumsum(~popular[::-1])[::-1], [0]])
    between = np.concatenate([[True], np.diff(x) > 1e-12, [True]])  # no point lies between equal flatness
    best = int(np.argmax(np.where(between, right, -1)))
    ends = np.concatenate([[0.0], x, [1.0]])
    middle = float(ends[best] + ends[best + 1]) / 2
    return middle, float(right[best] / len(x))
