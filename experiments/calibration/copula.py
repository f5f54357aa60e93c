"""Scores simulated from a real collection: its columns' distributions, their dependence, and means as wanted.

After Urbano and Nagler, "Stochastic simulation of test collections: evaluation scores" (SIGIR 2018): a Gaussian copula
ties the runs together.
"""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

import metaeval
from experiments.calibration.designs import Simulated
from experiments.calibration.study import STUDY
from metaeval.errors import MetaevalWarning


@lru_cache(maxsize=1)
def load_columns(collection: str) -> metaeval.Scores:
    """Return the scores of a real collection under the measures that the study names, or raise why they cannot be had."""
    measures = STUDY["collections"][collection]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetaevalWarning)  # what loading does with odd labels is said elsewhere
        found = metaeval.load_dataset(collection)
        return found.sel(measures=measures) if isinstance(found, metaeval.Scores) else metaeval.score(found, measures)


def simulate_collection(
    collection: str, measure: str, n_topics: int, n_studies: int, *, effects: bool, rng: np.random.Generator
) -> Simulated:
    """Draw a batch of studies like a real collection: new topics for the same runs.

    A topic is drawn from a normal distribution with the correlations between the runs' normal scores, and each run's
    number turned into a score by the quantiles of its own scores, linear between observed scores. Equal scores of a
    run stay equal, and runs that are identical stay identical. Scores are then shifted: to one mean for all runs, or,
    with effects, for a random share of them, while the others keep their means.

    Parameters
    ----------
    collection, measure : str
    n_topics, n_studies : int
    effects : bool
    rng : Generator

    Returns
    -------
    Simulated
    """
    observed = load_columns(collection).values[..., STUDY["collections"][collection].index(measure)]
    distinct, copy_of = np.unique(observed, axis=0, return_inverse=True)
    copy_of = copy_of.reshape(-1)
    n_distinct, n_observed = distinct.shape
    places = (np.arange(n_observed) + 0.5) / n_observed
    normal = ndtri((rankdata(distinct, axis=1) - 0.5) / n_observed)
    normal -= normal.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(normal).sum(axis=1, keepdims=True))
    normal = np.divide(normal, lengths, out=np.zeros_like(normal), where=lengths > 0)
    # Random combinations of the observed topics have exactly the observed correlations, whatever their rank.
    shares = ndtr(normal @ rng.standard_normal((n_observed, n_topics * n_studies)))
    means = distinct.mean(axis=1)  # also the mean under linear quantiles
    wanted = np.full((n_distinct, n_studies), means[copy_of].mean())
    if effects:
        keeps = rng.random((n_distinct, n_studies)) >= STUDY["effects"]["equal_share"]
        wanted = np.where(keeps, means[:, np.newaxis], wanted)
    values = np.empty((n_distinct, n_topics, n_studies))
    for run in range(n_distinct):
        values[run] = np.interp(shares[run], places, np.sort(distinct[run])).reshape(n_topics, n_studies)
    values += (wanted - means[:, np.newaxis])[:, np.newaxis]
    return Simulated(values[copy_of], wanted[copy_of])


def count_topics(collection: str) -> int:
    """Return how many topics a real collection has."""
    return len(load_columns(collection).topics)
