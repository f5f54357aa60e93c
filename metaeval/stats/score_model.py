"""Scores like those of a collection on new topics, with means that are known: what a test is calibrated on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray

DIGITS = 12
"""Of scores at a scale of about 1, less their mean, that are told apart."""


class ScoreModel(NamedTuple):
    """A Gaussian copula between runs, each with its own distribution of scores (Urbano and Nagler, SIGIR 2018).

    `ordered` are the scores of each distinct run in ascending order, less their mean, shape (distinct run, topic);
    `normal` the normal scores of its ranks, as vectors of length 1, of the same shape; `copy_of`, shape (run,), tells
    which distinct run each run is.
    """

    ordered: FloatArray
    normal: FloatArray
    copy_of: IntArray

    def draw(self, n_topics: int, n_studies: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores of as many new topics in each study, shape (run, topic, study); the true mean of every run is 0.

        Random combinations of the observed topics have exactly the observed correlations, whatever their rank.
        """
        from scipy.special import ndtr

        n_distinct, n_observed = self.ordered.shape
        levels = (np.arange(n_observed) + 0.5) / n_observed
        shares = ndtr(self.normal @ rng.standard_normal((n_observed, n_topics * n_studies)))
        drawn = np.stack([np.interp(of_run, levels, run) for of_run, run in zip(shares, self.ordered, strict=True)])
        return drawn.reshape(n_distinct, n_topics, n_studies)[self.copy_of]


def fit_scores(scores: npt.ArrayLike) -> ScoreModel:
    """Return the model of the scores of one measure, shape (run, topic)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    given = np.asarray(scores, dtype=np.float64)
    scale = np.ldexp(1.0, np.frexp(np.abs(given).max())[1])
    # Runs that differ in their mean alone are the same run once means are equal; rounding must not tell them apart.
    centred = np.round(given / scale - (given / scale).mean(axis=1, keepdims=True), DIGITS)
    _, first, copy_of = np.unique(centred, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct runs stay in their order
    distinct, copy_of = centred[first[order]], np.argsort(order)[copy_of.reshape(-1)]
    n_observed = distinct.shape[1]
    normal = ndtri((rankdata(distinct, axis=1) - 0.5) / n_observed)
    normal -= normal.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(normal).sum(axis=1, keepdims=True))
    normal = np.divide(normal, lengths, out=np.zeros_like(normal), where=lengths > 0)
    # The mean of the scores is also the mean under linear quantiles.
    ordered = (np.sort(distinct, axis=1) - distinct.mean(axis=1, keepdims=True)) * scale
    return ScoreModel(ordered, normal, copy_of)
