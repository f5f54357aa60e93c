"""What a reference of several annotators does to agreement: reliability, correction for attenuation, annotators anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray

MOST_SPLITS = 50
"""Splits of annotators into halves that are tried: all, or as many random ones."""

REDRAWS = 200
"""How often annotators are drawn anew."""


class AnnotatorNoise(NamedTuple):
    """What annotators do to one statistic in one collection.

    `corrected` has shape (measure,) and `corrected_drawn` shape (trial, measure), NaN where the statistic has no correction;
    `halves` is what half of the annotators reach against the other half, and `redrawn`, of shape (draw, measure), are values
    with annotators drawn anew.
    """

    corrected: FloatArray
    corrected_drawn: FloatArray
    halves: float
    redrawn: FloatArray


def mean_reliability(covariances: npt.ArrayLike) -> FloatArray:
    """How reliable is the mean of annotators? Cronbach's α (Psychometrika 16, 1951).

    `covariances` of annotators have shape (..., annotator, annotator). α is the mean of what all splits into halves give;
    NaN where it is not above 0, as annotators do not agree. It is too low where annotators use the scale unlike.
    """
    matrices = np.asarray(covariances, dtype=np.float64)
    variances, whole = np.diagonal(matrices, axis1=-2, axis2=-1), matrices.sum(axis=(-2, -1))
    # Somebody who gives everything the same score only rescales the mean.
    k, own = np.maximum((variances > 0).sum(axis=-1), 2), variances.sum(axis=-1)
    alpha = k / (k - 1) * (1 - np.divide(own, whole, out=np.ones_like(whole), where=whole > 0))
    return np.asarray(np.where(alpha > 0, alpha, np.nan))


def covariances_of_runs(people: FloatArray, weights: FloatArray) -> FloatArray:
    """Return how the means of runs covary between annotators, shape (trial, annotator, annotator).

    `people` has shape (run, topic, annotator), and `weights`, of shape (trial, topic), say how often a topic counts.
    """
    means = np.einsum("bt,rta->bra", weights, people, optimize=True) / people.shape[1]
    means -= means.mean(axis=1, keepdims=True)
    return np.asarray(np.einsum("bra,brc->bac", means, means, optimize=True))


def covariances_of_cells(people: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the same of the scores of all runs on all topics."""
    n_runs, n_topics, _ = people.shape
    centred = people - people.mean(axis=(0, 1))
    sums = weights @ centred.sum(axis=0) / (n_runs * n_topics)
    products = np.einsum("rta,rtc->tac", centred, centred, optimize=True) / (n_runs * n_topics)
    return np.asarray(np.tensordot(weights, products, axes=1) - sums[:, :, np.newaxis] * sums[:, np.newaxis])


COVARIANCES = {"pearson": covariances_of_runs, "topic_pearson": covariances_of_cells}
"""Of the statistics that are correlations of scores, so that what errors of a reference do to them is known."""


def disattenuate(correlation: npt.ArrayLike, reliability: npt.ArrayLike) -> FloatArray:
    """Correct a correlation for the errors of the reference alone: r / √reliability (Spearman, Am. J. Psychol. 15, 1904).

    Errors can make more than 1 of it.
    """
    return np.asarray(np.asarray(correlation, dtype=np.float64) / np.sqrt(reliability))


def split_annotators(n_annotators: int, rng: np.random.Generator) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield annotators in two halves, or nearly: every way to do so, or a random choice of ways.

    >>> [(one.tolist(), other.tolist()) for one, other in split_annotators(3, np.random.default_rng(0))]
    [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]
    """
    everyone, half = np.arange(n_annotators), n_annotators // 2
    if comb(n_annotators, half) <= 2 * MOST_SPLITS:
        halves = [np.array(some) for some in combinations(range(n_annotators), half)]
        if 2 * half == n_annotators:  # each split comes twice
            halves = halves[: len(halves) // 2]
    else:
        halves = [np.sort(rng.permutation(n_annotators)[:half]) for _ in range(MOST_SPLITS)]
    for some in halves:
        yield some, np.setdiff1d(everyone, some)


def draw_annotators(n_annotators: int, rng: np.random.Generator) -> FloatArray:
    """Draw annotators with replacement: their weights in the mean, shape (draw, annotator)."""
    return rng.multinomial(n_annotators, np.full(n_annotators, 1 / n_annotators), size=REDRAWS) / n_annotators
