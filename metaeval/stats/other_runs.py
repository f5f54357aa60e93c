"""Numbers on other topics and of other runs: what the choice of runs adds to the spread of resampled topics.

Resampling topics answers "these runs, other topics". For "other runs of this kind" each run is left out once: m times the
variance of the number over runs left out is the jackknife's estimate of what drawing other runs adds (Efron and Stein,
Annals of Statistics 9(3), 1981). No run is ever drawn twice, so that none forms a pair with itself. What runs and topics do
together counts on both sides, which makes intervals a little wide rather than narrow.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from metaeval.stats.blocks import FloatArray

Over: TypeAlias = Literal["topics", "runs and topics"]

FEWEST_OTHER_RUNS = 12
"""With fewer runs, intervals for other runs were not calibrated, and none are given."""


def vary_runs(drawn: FloatArray, left_out: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Add to numbers on resampled topics, shape (trial, ...), what they vary with other runs.

    `left_out` is the number without each run, shape (run, ...). The same random weights serve all numbers of a trial, so that
    differences of two of them vary as they should. Of few runs the spread is known as well as Student's t allows for.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.standard_normal(20)
    >>> left_out = (scores.sum() - scores) / 19
    >>> spread = vary_runs(np.zeros(20_000), left_out, rng).std()
    >>> round(float(spread / (scores.std(ddof=1) / np.sqrt(20))), 1)
    1.1
    """
    from scipy.special import ndtri, stdtrit

    n_runs = len(left_out)
    deviations = np.nan_to_num(left_out - np.nanmean(left_out, axis=0))
    wider = stdtrit(n_runs - 1, 0.975) / ndtri(0.975)
    weights = rng.standard_normal((len(drawn), n_runs)) * (wider * np.sqrt((n_runs - 1) / n_runs))
    return drawn + np.tensordot(weights, deviations, axes=1)


def shares_without(significant: np.ndarray, n_runs: int) -> FloatArray:
    """Return the share of significant pairs without each run, shape (run, measure), from decisions of shape (measure, pair)."""
    first, second = np.triu_indices(n_runs, 1)
    square = np.zeros((len(significant), n_runs, n_runs))
    square[:, first, second] = square[:, second, first] = significant
    left = significant.sum(axis=1)[:, np.newaxis] - square.sum(axis=2)
    return np.asarray(left.T / ((n_runs - 1) * (n_runs - 2) / 2))
