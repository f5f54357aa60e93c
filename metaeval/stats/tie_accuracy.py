"""acc_eq*: how often does a measure order two runs on a topic as the reference does, ties included?

Deutsch, Foster and Freitag, "Ties matter: meta-evaluating modern metrics with pairwise accuracy and tie calibration",
EMNLP 2023. Of all pairs of runs on all topics, C are ordered alike and T are tied in both; acc_eq is (C + T)/all. Two
scores of the measure are tied if they differ by no more than ε, and acc_eq* is the largest over all ε.

Every absolute difference between two scores is a candidate for ε, and so is 0. Differences are sorted; a running count of
pairs that become right or wrong as ε grows gives the accuracy at every candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, Scaled
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.parallel import tell
from metaeval.stats.resampling import add_signed, weigh_by_topic

CELLS = 2**22
"""Pairs of runs on topics whose signs are added at once."""


@dataclass(frozen=True, eq=False)
class TieAccuracy:
    """acc_eq* of every measure, shape (measure,), with the smallest ε that maximises it.

    `by_topic`, shape (measure, topic), is the share of pairs of runs about which the measure is right, at that ε. `exchanged`,
    shape (trial, measure pair), is the first less the second measure's share of right pairs, after each exchange. `tied` is the
    share of pairs that are tied in the reference.
    """

    value: FloatArray
    threshold: FloatArray
    by_topic: FloatArray
    exchanged: FloatArray
    tied: float


def tie_accuracy(scores: Scaled, key: int = 0, n_trials: int = 0, clusters: IntArray | None = None) -> TieAccuracy:
    """How often does each measure order two runs on a topic as the reference does, at its best tie threshold?

    To test whether one of two measures is better, it is exchanged who of them is right about random pairs of runs on
    random topics, each at its own ε. An exchange turns the sign of right_A − right_B, which is −1, 0 or 1; the signs of a
    trial are the same for all measures, so that all pairs of measures need one matrix product.

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); the last measure is the reference, whose equal scores are tied.
    key : int, optional
        Of the exchanges, a 64-bit key.
    n_trials : int, optional
        Exchanges.
    clusters : ndarray of int, shape (topic,), optional
        The number of the cluster of each topic: for a pair of runs, topics of one are exchanged together.

    Returns
    -------
    TieAccuracy

    Examples
    --------
    >>> accuracy = tie_accuracy(Scaled(np.array([[[0.5, 1.0]], [[0.6, 1.0]], [[0.9, 2.0]]])))
    >>> accuracy.value.tolist(), accuracy.threshold.round(2).tolist()
    ([1.0], [0.1])
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures, n_pairs = n_columns - 1, n_runs * (n_runs - 1) // 2
    order = np.sign(_subtract(scores, n_measures)).astype(np.int8)
    right = np.empty((n_measures, n_pairs, n_topics), dtype=np.bool_)
    thresholds, totals = np.empty(n_measures), np.empty(n_measures, dtype=np.int64)
    for measure in range(n_measures):
        gaps = _subtract(scores, measure)
        thresholds[measure], totals[measure] = _find_threshold(gaps.ravel(), order.ravel())
        right[measure] = np.where(
            np.abs(gaps) <= thresholds[measure], order == 0, (order != 0) & (np.sign(gaps) == order)
        )
        tell("tie thresholds", measure + 1, n_measures)
    signed, few = np.zeros((n_trials, n_measures)), max(1, CELLS // (n_measures * n_topics))
    for start in range(0, n_pairs, few):
        # Sums of so few signs are whole numbers that four bytes hold exactly.
        added = add_by_cluster(right[:, start : start + few].astype(np.float32), clusters)
        add_signed(signed, added.reshape(n_measures, -1).T, key, start * added.shape[-1])
        tell("exchanging pairs of runs", min(start + few, n_pairs), n_pairs)
    n_cells = n_pairs * n_topics
    first, second = np.triu_indices(n_measures, 1)
    return TieAccuracy(
        totals / n_cells,
        thresholds,
        right.sum(axis=1) / n_pairs,
        (signed[:, first] - signed[:, second]) / n_cells,
        float((order == 0).mean()),
    )


def resample_tie_accuracy(
    by_topic: FloatArray, key: int, n_trials: int, clusters: IntArray | None = None
) -> FloatArray:
    """Return acc-t on topics drawn anew, with ε held, shape (trial, measure)."""
    n_topics = by_topic.shape[1]
    (drawn,) = weigh_by_topic(key, n_trials, n_topics, by_topic, divisor=n_topics, clusters=clusters)
    return drawn


def _subtract(scores: Scaled, measure: int) -> FloatArray:
    """Return the differences of every two runs, the first less the second, shape (pair, topic)."""
    by_run = scores.values[..., measure]
    return np.concatenate([by_run[run] - by_run[run + 1 :] for run in range(len(by_run) - 1)])


def _find_threshold(gaps: FloatArray, order: npt.NDArray[np.int8]) -> tuple[float, int]:
    """Return the smallest best threshold of differences, shape (cell,), and about how many the measure is right then."""
    tied = order == 0
    ordered = ~tied & (np.sign(gaps) == order)
    sizes = np.abs(gaps)
    without_ties = int(ordered.sum()) + int((tied & (sizes == 0)).sum())
    changing = (tied | ordered) & (sizes > 0)
    sizes, tied = sizes[changing], tied[changing]
    if not len(sizes):
        return 0.0, without_ties
    by_size = np.argsort(sizes)
    sizes = sizes[by_size]
    # A pair that becomes tied is right from then on if the reference ties it, and was right if it was well ordered.
    right = without_ties + np.cumsum(np.where(tied[by_size], 1, -1))
    last = np.append(sizes[1:] != sizes[:-1], True)
    best = int(right[last].argmax())
    if right[last][best] <= without_ties:
        return 0.0, without_ties
    return float(sizes[last][best]), int(right[last][best])
