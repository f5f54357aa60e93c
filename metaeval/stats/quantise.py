"""Scores as integers, so that sums are exact and equal differences compare as equal.

On discrete scores a plain float comparison is wrong: 0.3 - 0.2 and 0.2 - 0.1 differ in floating point, and
the comparison that decides a tie then falls either way. Integer sums do not depend on their order, and a
tolerance of a few units decides the ties.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.stats._check import FloatArray

LARGEST_UNIT = 2**32 - 1


def quantise(values: FloatArray) -> npt.NDArray[np.uint32]:
    """Write each score as an integer number of units above the lowest score on its topic.

    A unit is 1/(2**32 - 1) of the widest range of the measure within one topic. Measuring from the lowest score
    on the topic keeps every difference between runs, and removes any constant added to all scores of a topic.

    Parameters
    ----------
    values : ndarray of float64, shape (run, topic, measure)
        Scores on one scale, from `metaeval.stats.scale.scale_scores`.

    Returns
    -------
    ndarray of uint32, shape (topic, run, measure)
        All zeros for a measure that gives all runs the same score on every topic.

    Examples
    --------
    >>> quantise(np.array([[[0.0], [0.5]], [[1.0], [0.5]]]))[..., 0].tolist()
    [[0, 4294967295], [0, 0]]
    """
    above = values - values.min(axis=0)
    widest = above.max(axis=(0, 1))
    above /= np.where(widest > 0, widest, 1.0)
    above *= LARGEST_UNIT
    return np.asarray(np.rint(above, out=above).astype(np.uint32).transpose(1, 0, 2))


def tie_tolerance(n_scores: int) -> int:
    """Return how many units two equal sums of this many scores can differ by rounding.

    Each score is off by at most half a unit, so each sum by at most half its length, and two of them by at
    most their length.
    """
    return n_scores
