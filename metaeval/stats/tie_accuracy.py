"""acc_eq*: how often does a measure order two runs on a topic as the reference does, ties included?

Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie calibration",
EMNLP 2023. Of all pairs of runs on all topics, C are ordered alike and T are tied in both; acc_eq is (C + T)/all. Two
scores of the measure are tied if they differ by no more than ε, and acc_eq* is the largest over all ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.stats.progress import tell
from metaeval.stats.resampling import topic_signs
from metaeval.stats.swapping import FloatArray

_CELLS = 8_000_000  # signs held at once: 32 MB
_EXACT = 1 << 24  # whole numbers of four bytes are exact as floats below


@dataclass(frozen=True, eq=False)
class TieAccuracy:
    """acc_eq* of every measure.

    Parameters
    ----------
    value : ndarray, shape (measure,)
    threshold : ndarray, shape (measure,)
        The smallest ε that maximises it.
    right : ndarray of bool, shape (measure, run pair, topic)
        Whether the measure is right about two runs on a topic, at that ε.
    tied : float
        Share of pairs that are tied in the reference.
    """

    value: FloatArray
    threshold: FloatArray
    right: npt.NDArray[np.bool_]
    tied: float


def tie_accuracy(values: FloatArray, reference: FloatArray) -> TieAccuracy:
    """How often does each measure order two runs on a topic as the reference does, at its best tie threshold?

    Every absolute difference between two scores is a candidate for ε, and so is 0. The differences are sorted once; a
    running count of pairs that become right or wrong as ε grows gives the accuracy at every candidate.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
        Equal scores are tied.

    Returns
    -------
    TieAccuracy

    Examples
    --------
    >>> found = tie_accuracy(np.array([[[0.5]], [[0.6]], [[0.9]]]), np.array([[1.0], [1.0], [2.0]]))
    >>> found.value.tolist(), found.threshold.round(2).tolist()
    ([1.0], [0.1])
    """
    first, second = np.triu_indices(len(reference), 1)
    wanted = np.sign(reference[first] - reference[second])
    tied = wanted == 0
    n_measures = values.shape[-1]
    value, threshold = np.empty(n_measures), np.empty(n_measures)
    right = np.empty((n_measures, *wanted.shape), dtype=np.bool_)
    for m in range(n_measures):
        scores = np.ascontiguousarray(values[..., m])
        gaps = scores[first] - scores[second]
        ordered = ~tied & (np.sign(gaps) == wanted)
        np.abs(gaps, out=gaps)
        threshold[m], count = _find_threshold(gaps.ravel(), tied.ravel(), ordered.ravel())
        value[m] = count / wanted.size
        right[m] = np.where(gaps <= threshold[m], tied, ordered)
        tell("tie thresholds, measures", m + 1, n_measures)
    return TieAccuracy(value, threshold, right, float(tied.mean()))


def _find_threshold(gaps: FloatArray, tied: npt.NDArray[np.bool_], ordered: npt.NDArray[np.bool_]) -> tuple[float, int]:
    """Return the smallest best threshold, and how many pairs are right with it."""
    by_size = np.argsort(gaps)
    sizes = gaps[by_size]
    # A pair that becomes tied is right from then on if the reference ties it, and was right if it was well ordered.
    change = tied.astype(np.int64) - ordered
    counts = int(ordered.sum()) + np.cumsum(change[by_size])
    last = np.flatnonzero(np.append(sizes[1:] != sizes[:-1], True))
    candidates, reached = sizes[last], counts[last]
    if candidates[0] > 0:
        candidates, reached = np.append(0.0, candidates), np.append(int(ordered.sum()), reached)
    best = int(reached.argmax())
    return float(candidates[best]), int(reached[best])


def swap_pairs(right: npt.NDArray[np.bool_], key: int, n_trials: int) -> FloatArray:
    """Exchange, of every two measures, who is right about random pairs of runs on random topics.

    Every measure keeps its own ε. An exchange turns the sign of right_A − right_B, which is −1, 0 or 1; the signs of a
    trial are the same for all measures, so that all pairs of measures need one matrix product.

    Parameters
    ----------
    right : ndarray of bool, shape (measure, run pair, topic)
    key : int
        Of the random draws, a 64-bit key.
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
        The first less the second measure's share of right pairs.
    """
    n_measures = len(right)
    n_cells = right[0].size
    exact: np.dtype[Any] = np.dtype(np.float32 if n_cells < _EXACT else np.float64)
    columns = right.reshape(n_measures, -1).T.astype(exact)
    block = max(1, _CELLS // n_cells)
    sums = np.empty((n_trials, n_measures))
    for start in range(0, n_trials, block):
        trials = range(start, min(start + block, n_trials))
        sums[start : trials.stop] = topic_signs(key, trials, n_cells).astype(exact) @ columns
        tell("exchanging pairs of runs", trials.stop, n_trials)
    first, second = np.triu_indices(n_measures, 1)
    return np.asarray((sums[:, first] - sums[:, second]) / n_cells)


def resample_tie_accuracy(right: npt.NDArray[np.bool_], weights: npt.NDArray[np.int64]) -> FloatArray:
    """Return acc_eq on topics drawn anew, with ε held: its best value moves acc_eq* only in second order.

    Parameters
    ----------
    right : ndarray of bool, shape (measure, run pair, topic)
    weights : ndarray of int, shape (trial, topic)

    Returns
    -------
    ndarray, shape (trial, measure)
    """
    by_topic: FloatArray = right.mean(axis=1, dtype=np.float64)
    return np.asarray(weights @ by_topic.T / weights.shape[1])
