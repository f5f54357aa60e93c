"""Boards: scores of runs on the topics of several tasks, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray, average, round_scaled
from metaeval.stats.clusters import add_by_cluster, effective_number, pool_clusters

Aggregate: TypeAlias = Literal["mean", "win-rate", "borda", "median-rank"]


@dataclass(frozen=True, eq=False)
class Board:
    """Scores of the same runs in several tasks, and what they add up to.

    Parameters
    ----------
    values : sequence of ndarray, shape (run, topic)
        Of every task; NaN where a run has no score. Higher is better.
    weights : ndarray, shape (task,)
    aggregate : {"mean", "win-rate", "borda", "median-rank"}
        Of tasks: their mean; the share of other runs that a run beats, ties half, averaged over tasks; the number of these
        runs, added up; or the median over tasks of its rank. Higher is better of all: ranks are negative.
    common : bool
        Whether two runs are compared on the topics that both have, or each on all that it has.
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
    common: bool = False
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

    @property
    def paired(self) -> bool:
        """Whether only differences are defined, since a run shares other topics with every other run."""
        return self.common and self.aggregate == "mean"

    @cached_property
    def parts(self) -> FloatArray:
        """What every task adds to the aggregate of a run, NaN where the run lacks it, shape (run, task)."""
        parts = []
        for values in self.values:
            pairs = self.compares_pairs(values)
            parts.append(self.judge(subtract(values)[0] if pairs else average(values), find_scale(values), pairs))
        return np.stack(parts, axis=-1)

    @cached_property
    def pair_parts(self) -> FloatArray:
        """How far every run is ahead of every other in each task, NaN without two in common, shape (run, run, task)."""
        parts = []
        for values, codes in zip(self.values, self.codes, strict=True):
            gaps, counts = subtract(values)
            if codes is not None:
                counts = np.sum([own > 0 for _, own in subtract_clusters(values, codes)], axis=0, dtype=np.float64)
            parts.append(np.where(counts > 1, gaps, np.nan))
        return np.stack(parts, axis=-1)

    @cached_property
    def differences(self) -> FloatArray:
        """How far every run is ahead of every other, shape (run, run); NaN where no topic compares them."""
        if self.paired:
            return self.pool(self.pair_parts)
        return np.subtract.outer(self.estimates, self.estimates)

    @cached_property
    def estimates(self) -> FloatArray:
        """The aggregate of every run, shape (run,); where only differences are defined, their mean over the other runs."""
        if self.paired:
            return average(np.where(np.eye(len(self.differences), dtype=bool), np.nan, self.differences))
        return self.pool(self.parts)

    def compares_pairs(self, values: FloatArray) -> bool:
        """Return whether a task's runs have other topics in common with each other: some have only part of them."""
        known = ~np.isnan(values)
        return self.common and self.aggregate != "mean" and bool((known != known[:, :1]).any())

    def judge(self, found: FloatArray, scale: float, pairs: bool = False) -> FloatArray:
        """Return what a task adds, shape (…, run), of means, shape (…, run), or of differences of `pairs`, (…, run, run)."""
        if self.aggregate == "mean":
            return found
        wins, others = (_win_pairs if pairs else _win)(round_scaled(found / scale))
        if self.aggregate == "borda":
            return np.where(others > 0, wins, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = wins / others
        return shares if self.aggregate == "win-rate" else np.where(others > 0, wins - others - 1, np.nan)

    def pool(self, parts: FloatArray, times: FloatArray | float = 1.0) -> FloatArray:
        """Return the aggregate of what tasks add, shape (…, task), each counted so many times."""
        weights = self.weights * times
        if self.aggregate == "borda":
            return np.asarray(np.nansum(parts * weights, axis=-1) * parts.shape[-1] / weights.sum(axis=-1))
        if self.aggregate == "median-rank":
            return _find_median(parts, weights)
        return np.asarray(
            np.where(np.isnan(parts).all(axis=-1), np.nan, np.nansum(parts * share(weights, parts), axis=-1))
        )


def share(weights: FloatArray, parts: FloatArray) -> FloatArray:
    """Return the shares of the tasks that are there, which sum to 1 along the last axis, or are 0 if none is."""
    known = weights * ~np.isnan(parts)
    total = known.sum(axis=-1, keepdims=True)
    return np.divide(known, total, out=np.zeros(known.shape), where=total > 0)


def subtract(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean differences of all pairs of runs on their common topics, and the number of these: shapes (run, run)."""
    filled, known = np.nan_to_num(values), (~np.isnan(values)).astype(np.float64)
    sums, counts = filled @ known.T, known @ known.T
    with np.errstate(invalid="ignore"):
        return (sums - sums.T) / counts, counts


def subtract_clusters(values: FloatArray, codes: IntArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield summed differences of all pairs of runs on common topics of each cluster, and numbers of these: (run, run)."""
    filled, known = np.nan_to_num(values), (~np.isnan(values)).astype(np.float64)
    for cluster in range(codes.max() + 1):
        some = codes == cluster
        sums = filled[:, some] @ known[:, some].T
        yield sums - sums.T, known[:, some] @ known[:, some].T


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


def _win_pairs(gaps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same of differences, of those others that a run shares topics with."""
    known = ~np.isnan(gaps)
    wins = (np.sign(np.where(known, gaps, -1.0)) + 1).sum(axis=-1) / 2
    compared = known.any(axis=-1)
    return wins - compared / 2, np.asarray(known.sum(axis=-1) - compared, dtype=np.float64)  # without the run itself


def _find_median(parts: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weighted medians along the last axis: the middle of all numbers with half of the weight on either side."""
    parts, weights = np.broadcast_arrays(parts, weights)
    order = np.argsort(parts, axis=-1)
    ordered = np.take_along_axis(parts, order, axis=-1)
    known = np.where(np.isnan(parts), 0.0, weights)
    below = np.cumsum(np.take_along_axis(known, order, axis=-1), axis=-1)
    half, slack = below[..., -1:] / 2, 1e-9 * below[..., -1:]
    low, high = (below >= half - slack).argmax(axis=-1), (below > half + slack).argmax(axis=-1)
    ends = [np.take_along_axis(ordered, end[..., np.newaxis], axis=-1)[..., 0] for end in (low, high)]
    return np.asarray(np.where(below[..., -1] > 0, (ends[0] + ends[1]) / 2, np.nan))
