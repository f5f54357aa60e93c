"""Boards: scores of runs on the topics of several tasks, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average, round_scaled
from metaeval.stats.clusters import add_by_cluster, effective_number, pool_clusters

Aggregate: TypeAlias = Literal["mean", "win-rate", "borda"]


@dataclass(frozen=True, eq=False)
class Board:
    """Scores of the same runs in several tasks, and what they add up to.

    Parameters
    ----------
    values : sequence of ndarray, shape (run, topic)
        Of every task; NaN where a run has no score. Higher is better.
    weights : ndarray, shape (task,)
    aggregate : {"mean", "win-rate", "borda"}
        Of tasks: their mean; the share of other runs that a run beats, ties half, averaged over tasks; or the number of these
        runs, added up. Higher is better of all.
    clusters : sequence of ndarray of int or None, shape (topic,)
        Of every task, the number of the cluster of each topic, from 0; None, or nothing at all, where topics are single.

    Examples
    --------
    >>> tasks = [np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[0.5], [0.1]])]
    >>> Board(tasks, np.ones(2)).estimates.tolist()
    [0.5, 0.55]
    >>> Board(tasks, np.ones(2), "win-rate").estimates.tolist()
    [0.5, 0.5]
    """

    values: Sequence[FloatArray]
    weights: FloatArray
    aggregate: Aggregate = "mean"
    clusters: Sequence[IntArray | None] = ()

    @cached_property
    def drawn(self) -> Sequence[FloatArray]:
        """What is drawn of every task, shape (run, topic), or (run, cluster) where topics come in clusters."""
        return [
            values if codes is None else pool_clusters(values, codes, widen=False)
            for values, codes in zip(self.values, self.codes, strict=True)
        ]

    @cached_property
    def counts(self) -> Sequence[FloatArray]:
        """On how many topics of every task each run is, or how many equal clusters its own are worth, shape (run,)."""
        return [
            known.sum(axis=1) if codes is None else effective_number(add_by_cluster(1.0 * known, codes))
            for known, codes in zip(self._known, self.codes, strict=True)
        ]

    @property
    def _known(self) -> Sequence[npt.NDArray[np.bool_]]:
        return [~np.isnan(values) for values in self.values]

    @property
    def codes(self) -> Sequence[IntArray | None]:
        """The clusters of every task, None where topics are single."""
        return self.clusters or [None] * len(self.values)

    @cached_property
    def parts(self) -> FloatArray:
        """What every task adds to the aggregate of a run, NaN where the run lacks it, shape (run, task)."""
        return np.stack([self.judge(average(values), find_scale(values)) for values in self.values], axis=-1)

    @cached_property
    def differences(self) -> FloatArray:
        """How far every run is ahead of every other, shape (run, run)."""
        return np.subtract.outer(self.estimates, self.estimates)

    @cached_property
    def estimates(self) -> FloatArray:
        """The aggregate of every run, shape (run,)."""
        return self.pool(self.parts)

    def judge(self, means: FloatArray, scale: float) -> FloatArray:
        """Return what a task adds, shape (…, run), of means of that shape."""
        if self.aggregate == "mean":
            return means
        wins, others = _win(round_scaled(means / scale))
        if self.aggregate == "borda":
            return np.where(others > 0, wins, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(wins / others)

    def pool(self, parts: FloatArray, times: FloatArray | float = 1.0) -> FloatArray:
        """Return the aggregate of what tasks add, shape (…, task), each counted so many times."""
        weights = self.weights * times
        if self.aggregate == "borda":
            return np.asarray(np.nansum(parts * weights, axis=-1) * parts.shape[-1] / weights.sum(axis=-1))
        return np.asarray(
            np.where(np.isnan(parts).all(axis=-1), np.nan, np.nansum(parts * share(weights, parts), axis=-1))
        )


def share(weights: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the shares of the tasks that are there, which sum to 1 along the last axis, or are 0 if none is."""
    known = weights * ~np.isnan(parts)
    total = known.sum(axis=-1, keepdims=True)
    return np.divide(known, total, out=np.zeros(known.shape), where=total > 0)


def find_scale(values: FloatArray) -> float:
    """Return the largest magnitude, relative to which numbers are rounded before ties are looked for; 1 of zeros."""
    return float(np.nanmax(np.abs(values), initial=0.0)) or 1.0


def _win(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how many others every run beats, ties half, and how many others there are; shapes (…, run)."""
    order = np.argsort(means, axis=-1)
    ordered = np.take_along_axis(means, order, axis=-1)
    place = np.broadcast_to(np.arange(means.shape[-1]), means.shape)
    begins = np.ones(means.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.roll(begins, -1, axis=-1)
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, place, means.shape[-1])[..., ::-1], axis=-1)[..., ::-1]
    wins = np.empty(means.shape)
    np.put_along_axis(wins, order, (first + last) / 2, axis=-1)
    known = ~np.isnan(means)
    others = known.sum(axis=-1, keepdims=True) - 1
    return np.where(known, wins, np.nan), np.where(known, others, 0)
