"""Sums of scores over topics drawn anew, of scores that memory need not hold: few trials and few runs at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from metaeval.stats._check import FloatArray
from metaeval.stats.resampling import resampled_topics
from metaeval.stats.scale import Scaled

WEIGHTS_HELD = 2**25
"""Weights of topics, 256 MB, that are held at once: trials beyond them take another pass over the scores."""


def trials_a_pass(n_topics: int, n_trials: int) -> int:
    """Return for how many trials the weights of topics are held at once.

    Parameters
    ----------
    n_topics, n_trials : int

    Returns
    -------
    int
    """
    return max(1, min(n_trials, WEIGHTS_HELD // n_topics))


class TopicSums:
    """Sums over topics with weights.

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure).
    """

    def __init__(self, scores: Scaled) -> None:
        self.scores = scores
        self._held = None if scores.large else _arrange(scores[:])

    def weigh(self, weights: FloatArray, change: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Return sums over topics with the weights of each trial.

        Parameters
        ----------
        weights : ndarray, shape (trial, topic)
        change : callable, optional
            Applied to every score, such as `numpy.abs`.

        Returns
        -------
        ndarray, shape (trial, run, measure)
            Every run is summed over all topics at once, as if there were no blocks.
        """
        n_runs, _, n_measures = self.scores.shape
        shape = (len(weights), -1, n_measures)
        if self._held is not None:
            return np.asarray(weights @ (self._held if change is None else change(self._held))).reshape(shape)
        sums = np.empty((len(weights), n_runs, n_measures))
        for runs, block in self.scores.blocks():
            sums[:, runs] = (weights @ _arrange(block if change is None else change(block))).reshape(shape)
        return sums


def _arrange(block: FloatArray) -> FloatArray:
    """Return scores with a row for each topic."""
    return block.transpose(1, 0, 2).reshape(block.shape[1], -1)


def draw_weights(key: int, trials: range, n_topics: int) -> FloatArray:
    """Return how often each topic is drawn, as `metaeval.stats.resampling.resampled_topics` does, a few trials at a time.

    Parameters
    ----------
    key : int
    trials : range
    n_topics : int

    Returns
    -------
    ndarray of float64, shape (trial, topic)
    """
    weights = np.empty((len(trials), n_topics))
    few = max(1, 2**20 // n_topics)
    for start in range(0, len(trials), few):
        weights[start : start + few] = resampled_topics(key, trials[start : start + few], n_topics)
    return weights
