"""Simulated scores whose true means are known: runs of unlike spread and skewness, discrete, alike, hopeless."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

import metaeval
from experiments.studies.calibration import STUDY
from metaeval.errors import MetaevalWarning

Residuals = Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]

HOPELESS = -4.0
"""The score of the hopeless run on every topic; the others have a mean near 0 and a spread of 1 about their topics."""

ALIKE, ALONE = 16 / 22, 0.1
"""Share of the runs that are in a group of four alike, and share of topics on which such a run has a score of its own."""


class Simulated(NamedTuple):
    """A batch of studies."""

    values: np.ndarray
    means: np.ndarray


def simulate_design(
    name: str, n_runs: int, n_topics: int, n_studies: int, *, effects: bool, rng: np.random.Generator
) -> Simulated:
    """Draw a batch of studies of one design."""
    shape = (n_runs, n_topics, n_studies)
    means = draw_shifts(n_runs, n_topics, n_studies, rng) if effects else np.zeros((n_runs, n_studies))
    # Multiples of a power of two: sums of a discrete residual, a topic and a shift are exact, and ties stay ties.
    topics = np.round(8 * rng.standard_normal((n_topics, n_studies))) / 8
    means = np.round(1024 * means) / 1024
    values = DESIGNS[name](rng, shape) + topics + means[:, np.newaxis]
    if name == "discrete":
        values = np.digitize(values, [-1.5, -0.5, 0.5, 1.5]).astype(np.float64)
    elif name == "one hopeless run":
        values[0], means[0] = HOPELESS, HOPELESS
    return Simulated(values, means)


def draw_shifts(n_runs: int, n_topics: int, n_studies: int, rng: np.random.Generator) -> np.ndarray:
    """Return true means, shape (run, study): most are 0, the others are given to runs at random."""
    shifts = STUDY["effects"]["shifts"]
    n_shifted = n_runs - round(STUDY["effects"]["equal_share"] * n_runs)
    means = np.zeros((n_runs, n_studies))
    means[:n_shifted] = np.resize(shifts, n_shifted)[:, np.newaxis] * np.sqrt(2 / n_topics)
    return rng.permuted(means, axis=0)


def _some(n_runs: int, of_22: int) -> int:
    """Return how many runs are as many of 22 runs, at least one."""
    return max(1, round(n_runs * of_22 / 22))


def _normal(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    return rng.standard_normal(shape)


def _exponential(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    return rng.standard_exponential(shape) - 1


def _wide(residuals: Residuals, times: float = 3) -> Residuals:
    """Give two of 22 runs so many times the spread."""

    def draw(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        drawn = residuals(rng, shape)
        drawn[: _some(shape[0], 2)] *= times
        return drawn

    return draw


def _lognormal(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    drawn = rng.standard_normal(shape)
    some = slice(_some(shape[0], 4))
    drawn[some] = (np.exp(drawn[some]) - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
    return drawn


def _beta(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Beta(1, 9), skewed to the right, for every other run, and its mirror image; both with spread 1."""
    drawn = 1 - rng.random(shape) ** (1 / 9)
    drawn = (drawn - 0.1) / np.sqrt(9 / (100 * 11))
    drawn[1::2] *= -1
    return drawn


def _binary(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Half of the runs succeed on a tenth of the topics, the others on half of them; scaled to equal means."""
    rare = np.arange(shape[0]) < shape[0] // 2
    share = np.where(rare, 0.1, 0.5)[:, np.newaxis, np.newaxis]
    return np.where(rng.random(shape) < share, np.where(rare, 10.0, 2.0)[:, np.newaxis, np.newaxis], 0.0) - 1


def _alike(rng: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
    """Groups of four runs that have the same score on all but a tenth of the topics; the last runs are alone."""
    drawn = rng.standard_normal(shape)
    n_alike = round(shape[0] * ALIKE) // 4 * 4
    shared = np.repeat(rng.standard_normal((n_alike // 4, *shape[1:])), 4, axis=0)
    drawn[:n_alike] = np.where(rng.random(shared.shape) < ALONE, drawn[:n_alike], shared)
    return drawn


DESIGNS: dict[str, Residuals] = {
    "normal": _normal,
    "normal, two 1.5x": _wide(_normal, 1.5),
    "normal, two 2x": _wide(_normal, 2),
    "normal, two 3x": _wide(_normal),
    "exponential": _exponential,
    "exponential, two 3x": _wide(_exponential),
    "lognormal among normal": _lognormal,
    "beta of unlike skew": _beta,
    "binary of unlike p": _binary,
    "one hopeless run": _normal,
    "near-identical runs": _alike,
    "discrete": _normal,
}
"""What is added to a topic's effect and a run's mean, by design: mean 0, spread 1 where nothing else is said."""


@lru_cache(maxsize=1)
def load_columns(collection: str) -> metaeval.Scores:
    """Return the scores of a real collection under the measures that the study names, or raise why they cannot be had."""
    measures = STUDY["collections"][collection]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
        data = metaeval.load_dataset(collection)
        return data.sel(measures=measures) if isinstance(data, metaeval.Scores) else metaeval.score(data, measures)


def simulate_collection(
    collection: str, measure: str, n_topics: int, n_studies: int, *, effects: bool, rng: np.random.Generator
) -> Simulated:
    """Draw a batch of studies like a real collection: new topics for the same runs.

    After Urbano and Nagler, "Stochastic simulation of test collections: evaluation scores" (SIGIR 2018): a Gaussian
    copula ties the runs together, and each keeps its own distribution of scores.
    """
    observed = load_columns(collection).values[..., STUDY["collections"][collection].index(measure)]
    distinct, copy_of = np.unique(observed, axis=0, return_inverse=True)
    copy_of = copy_of.reshape(-1)
    n_distinct, n_observed = distinct.shape
    levels = (np.arange(n_observed) + 0.5) / n_observed
    normal = ndtri((rankdata(distinct, axis=1) - 0.5) / n_observed)
    normal -= normal.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(normal).sum(axis=1, keepdims=True))
    normal = np.divide(normal, lengths, out=np.zeros_like(normal), where=lengths > 0)
    # Random combinations of the observed topics have exactly the observed correlations, whatever their rank.
    shares = ndtr(normal @ rng.standard_normal((n_observed, n_topics * n_studies)))
    means = distinct.mean(axis=1)  # also the mean under linear quantiles
    expected = np.full((n_distinct, n_studies), means[copy_of].mean())
    if effects:
        keeps = rng.random((n_distinct, n_studies)) >= STUDY["effects"]["equal_share"]
        expected = np.where(keeps, means[:, np.newaxis], expected)
    values = np.empty((n_distinct, n_topics, n_studies))
    for run in range(n_distinct):
        values[run] = np.interp(shares[run], levels, np.sort(distinct[run])).reshape(n_topics, n_studies)
    values += (expected - means[:, np.newaxis])[:, np.newaxis]
    return Simulated(values[copy_of], expected[copy_of])


def count_topics(collection: str) -> int:
    """Return how many topics a real collection has."""
    return len(load_columns(collection).topics)
