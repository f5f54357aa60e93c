"""Correlation of measures with a reference topic by topic, which papers report as summary-level or segment-level τ and ρ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, Scaled, round_scaled
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.parallel import tell
from metaeval.stats.resampling import add_signed, weigh_by_topic
from metaeval.stats.run_agreement import RunStatistic, run_statistics

_SIGNS = 4_000_000
"""Signs of pairs of runs that are held at once: 16 MB."""


@dataclass(frozen=True, eq=False)
class TopicCorrelation:
    """Correlation of the scores of runs on each topic with the reference's.

    `by_topic`, shape (measure, topic), is NaN where the measure or the reference ties all runs; `known`, shape (topic,),
    says where the reference does not. `clusters`, shape (topic,), are those that topics are drawn by.
    """

    by_topic: FloatArray
    known: npt.NDArray[np.bool_]
    clusters: IntArray | None = None

    @property
    def counted(self) -> FloatArray:
        """What each topic adds to the mean: 0 where the measure ties all runs, or the reference does."""
        return np.where(self.known, np.nan_to_num(self.by_topic), 0.0)

    def mean(self) -> FloatArray:
        """Return the mean over the topics on which the reference orders runs, shape (measure,).

        A measure that ties all runs of such a topic has the correlation 0 there, so that all measures are averaged over
        the same topics. This is the summary-level correlation of Deutsch, Dror and Roth (TACL 2021).
        """
        n_known = int(self.known.sum())
        return self.counted.sum(axis=1) / n_known if n_known else np.full(len(self.by_topic), np.nan)

    def exchange(self, key: int, n_trials: int) -> FloatArray:
        """Exchange every two measures on random topics; return the differences of means, shape (trial, measure pair)."""
        signed = np.zeros((n_trials, len(self.by_topic)))
        add_signed(signed, add_by_cluster(self.counted, self.clusters).T, key, 0)
        first, second = np.triu_indices(len(self.by_topic), 1)
        return (signed[:, first] - signed[:, second]) / max(1, int(self.known.sum()))

    def resample(self, key: int, n_trials: int) -> FloatArray:
        """Return the mean over topics drawn anew, shape (trial, measure); NaN where the reference orders none of them."""
        known = self.known[np.newaxis].astype(float)
        total, count = weigh_by_topic(
            key, n_trials, len(self.known), self.counted, known, divisor=1, clusters=self.clusters
        )
        return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def correlate_by_topic(
    scores: Scaled, which: Sequence[RunStatistic], clusters: IntArray | None = None
) -> dict[RunStatistic, TopicCorrelation]:
    """How do the scores of runs on each topic correlate with those of the reference?

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure + 1); the last measure is the reference.
    which : sequence of {"tau_b", "spearman"}
    clusters : ndarray of int, shape (topic,), optional
        The number of the cluster of each topic, by which topics are drawn.

    Returns
    -------
    dict of str to TopicCorrelation

    Examples
    --------
    >>> scores = Scaled(np.array([[[1.0, 1.0], [2.0, 1.0]], [[3.0, 3.0], [5.0, 1.0]]]))
    >>> found = correlate_by_topic(scores, ["tau_b"])["tau_b"]
    >>> found.by_topic.tolist(), found.mean().tolist()  # the reference ties all runs of the second topic
    ([[1.0, nan]], [1.0])
    """
    n_runs, n_topics, n_columns = scores.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    size = max(1, _SIGNS // (max(1, n_pairs) * max(1, n_columns - 1)))
    by_topic = round_scaled(scores.values).transpose(2, 1, 0)
    known = np.ptp(by_topic[-1], axis=-1) > 0
    parts: dict[RunStatistic, list[FloatArray]] = {name: [] for name in which}
    for start in range(0, n_topics, size):
        some = slice(start, start + size)
        for name, values in run_statistics(by_topic[:-1, some], by_topic[-1, some], which).items():
            parts[name].append(values)
        tell("topics", min(some.stop, n_topics), n_topics)
    return {name: TopicCorrelation(np.concatenate(parts[name], axis=1), known, clusters) for name in which}
