"""Checks of arguments that all functions of score matrices share."""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.blocks import split_runs
from metaeval.stats.scale import scale_scores

FloatArray = npt.NDArray[np.float64]


def check_values(values: npt.ArrayLike) -> FloatArray:
    """Return the scores on one scale, float64 of shape (run, topic, measure), or refuse what cannot be tested."""
    return scale_scores(check_shape(values))


def check_shape(values: npt.ArrayLike) -> FloatArray:
    """Return the scores as they are, float64 of shape (run, topic, measure), or refuse what cannot be tested."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 3:
        raise MetaevalError(
            f"Scores must have three axes (run, topic, measure), not {scores.ndim}; "
            "for one measure, add a last axis of length 1."
        )
    n_runs, n_topics, n_measures = scores.shape
    if n_runs < 2:
        raise MetaevalError(f"At least two runs are needed to compare runs; there are {n_runs}.")
    if n_topics < 2:
        raise MetaevalError(f"At least two topics are needed; there are {n_topics}.")
    if n_measures < 1:
        raise MetaevalError("At least one measure is needed; there is none.")
    if not all(np.isfinite(scores[runs]).all() for runs in split_runs(scores)):
        run, topic, measure = np.argwhere(~np.isfinite(scores))[0]
        raise MetaevalError(
            f"Scores must be finite, but the score of run {run} on topic {topic} by measure {measure} "
            f"is {scores[run, topic, measure]}."
        )
    return scores


def check_count(number: int, what: str) -> int:
    """Return a count as a Python integer, or raise an error if it is below one."""
    try:
        count = operator.index(number)
    except TypeError:
        raise MetaevalError(f"The number of {what} must be an integer, not {number!r}.") from None
    if count < 1:
        raise MetaevalError(f"The number of {what} must be at least 1, not {count}.")
    return count
