"""Other statistics for the bootstrap of all pairs of runs, which were tried before one was chosen; and a double bootstrap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import digamma, polygamma

from experiments.studies.calibration import STUDY
from metaeval.stats.resampling import draw_signs, draw_weights

ALPHA, TRIALS = float(STUDY["alpha"]), int(STUDY["permutations"])

OFFSET, OWN_OFFSET = 0.25, 0.1
"""Variance added to all, as a share of the median pair's; and as a share of the pair's own."""


class Pairs:
    """Differences of all pairs of different runs in one study, and their means and variances in resamples of the topics."""

    def __init__(self, values: np.ndarray, key: int) -> None:
        """Take scores of shape (run, topic)."""
        first, second = np.triu_indices(len(values), 1)
        differences = values[first] - values[second]
        self.kept = (differences != 0).any(axis=1)
        self.differences = differences[self.kept].T
        self.n_topics = len(self.differences)
        self.means = self.differences.mean(axis=0)
        self.centred = self.differences - self.means
        self.variances = np.square(self.centred).mean(axis=0)
        weights = draw_weights(key, range(TRIALS), self.n_topics) / self.n_topics
        self.moved = weights @ self.centred
        self.squares = weights @ np.square(self.centred)
        self.spread = np.maximum(self.squares - np.square(self.moved), 0.0)
        self.weights = weights

    def compare(self, observed: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """Return whether each pair's statistic is above the largest ones of nearly all trials, shape (pair,)."""
        largest = np.sort(np.nan_to_num(drawn, nan=0.0, posinf=np.inf).max(axis=1))
        significant = np.zeros(len(self.kept), dtype=bool)
        significant[self.kept] = observed > largest[int(np.ceil((1 - ALPHA) * (TRIALS + 1))) - 1]
        return significant

    def add(self, added: np.ndarray | float, share: float = 1.0) -> np.ndarray:
        """Compare d² / (`share` V + what is added)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = np.square(self.means) / (share * self.variances + added)
            return self.compare(observed, np.square(self.moved) / (share * self.spread + added))


def judge_candidates(values: np.ndarray, key: int) -> Iterator[np.ndarray]:
    """Yield for every candidate which pairs of runs of one study differ, shape (pair,); scores have shape (run, topic)."""
    pairs = Pairs(values, key)
    own = OWN_OFFSET * pairs.variances
    yield pairs.add(OFFSET * float(np.median(pairs.variances)))
    yield pairs.add(0.0)
    by_own_offset = pairs.add(own)
    yield by_own_offset
    prior, freedom = moderate(pairs.variances * pairs.n_topics / (pairs.n_topics - 1), pairs.n_topics - 1)
    yield pairs.add(prior * freedom / pairs.n_topics)
    yield _correct_skewness(pairs)
    yield by_own_offset & _flip_signs(pairs, key)


def moderate(variances: np.ndarray, freedom: int) -> tuple[float, float]:
    """Return the variance that all are shrunk towards, and its degrees of freedom (Smyth 2004, equations of section 6.2).

    Of the logarithms of variances the mean and the variance are matched with those of a scaled F.
    """
    logs = np.log(variances[variances > 0])
    centre = float(logs.mean()) - float(digamma(freedom / 2)) + np.log(freedom / 2)
    excess = float(logs.var(ddof=1)) - float(polygamma(1, freedom / 2)) if len(logs) > 1 else 0.0
    if excess <= 1e-6:
        return float(np.exp(centre)), 1e6
    half = 0.5 + 1 / excess
    for _ in range(50):  # Newton's steps to the inverse of the trigamma function
        value = float(polygamma(1, half))
        half += value * (1 - value / excess) / float(polygamma(2, half))
    return float(np.exp(centre + digamma(half) - np.log(half))), 2 * half


def _correct_skewness(pairs: Pairs) -> np.ndarray:
    """Compare Hall's transformation of the studentised mean, which removes its skewness (Hall 1992)."""

    def transform(means: np.ndarray, variances: np.ndarray, thirds: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, skewness = means / np.sqrt(variances), thirds / variances**1.5
        corrected = ratio + skewness * ratio**2 / 3 + skewness**2 * ratio**3 / 27 + skewness / (6 * pairs.n_topics)
        return np.where(variances > 1e-12 * pairs.variances, np.square(corrected), np.inf)

    cubes = np.power(pairs.centred, 3)
    thirds = pairs.weights @ cubes - 3 * pairs.moved * pairs.squares + 2 * pairs.moved**3
    observed = transform(pairs.means, pairs.variances, cubes.mean(axis=0))
    return pairs.compare(observed, transform(pairs.moved, pairs.spread, thirds))


def _flip_signs(pairs: Pairs, key: int) -> np.ndarray:
    """Decide as the max-T test by sign flips does."""
    squares = np.square(pairs.differences).mean(axis=0)
    signs = draw_signs(key, range(TRIALS), pairs.n_topics) / pairs.n_topics
    return pairs.compare(np.square(pairs.means) / squares, np.square(signs @ pairs.differences) / squares)


def judge_twice(values: np.ndarray, key: int, samples: int, resamples: int) -> np.ndarray:
    """Decide by a double bootstrap of the max-T by own standard errors: its p-values are calibrated by those of resamples.

    The share of resamples whose own p-value of their largest statistic is at most that of the pair is the p-value.
    """
    pairs = Pairs(values, key)

    def find_largest(centred: np.ndarray, weights: np.ndarray) -> np.ndarray:
        moved = weights @ centred
        spread = np.maximum(weights @ np.square(centred) - np.square(moved), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num(np.square(moved) / spread, nan=0.0, posinf=np.inf).max(axis=1))

    rng = np.random.default_rng(key)
    largest, inner = np.empty(samples), np.empty(samples)
    for sample in range(samples):
        drawn = rng.integers(0, pairs.n_topics, pairs.n_topics)
        taken = pairs.centred[drawn]
        with np.errstate(divide="ignore", invalid="ignore"):
            largest[sample] = np.nan_to_num(np.square(taken.mean(axis=0)) / taken.var(axis=0), nan=0.0).max()
        weights = rng.multinomial(pairs.n_topics, np.full(pairs.n_topics, 1 / pairs.n_topics), size=resamples)
        again = find_largest(taken - taken.mean(axis=0), weights / pairs.n_topics)
        inner[sample] = np.mean(again >= largest[sample])
    observed = np.square(pairs.means) / pairs.variances
    outer = (largest[:, np.newaxis] >= observed).mean(axis=0)
    p = (1 + (inner[:, np.newaxis] <= outer).sum(axis=0)) / (samples + 1)
    significant = np.zeros(len(pairs.kept), dtype=bool)
    significant[pairs.kept] = p <= ALPHA
    return significant
