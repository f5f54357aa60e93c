"""Boards: scores of runs on the topics of several tasks, what they add up to, and between which ranks every run stands.

The claim that one run is better than another is a one-sided hypothesis for every ordered pair of runs. Mogstad, Romano, Shaikh
and Wilhelm ("Inference for ranks with applications to mobility across neighbourhoods and academic achievement across
countries", Review of Economic Studies 91(1), 2024, §3) reject them step by step with the critical value of the largest
statistic: a rejected one leaves the family, and the next critical value is smaller (Romano and Wolf, Econometrica 73(4),
2005). Here the reverse of a rejected one leaves too, which makes the sets narrower. Counting claims gives a set of ranks for
each run, simultaneous with the confidence asked for if the draws are those of the statistics. The first step alone is the
two-sided test of all pairs on which letters rest, so that a rank set is never wider than the range that letters leave.

The statistics of means are those of bootstrap-t (`metaeval.stats.pair_tests`): the topics of each task are drawn among
themselves, or tasks are, and the difference of two runs is divided by its standard error in the sample. What is drawn are
pseudo-values, which are scores where none is missing: the mean of a run, and how far each topic, or each cluster of topics,
moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average, divide, round_scaled
from metaeval.stats.pair_tests import WeightedPairs
from metaeval.stats.resampling import add_by_cluster, draw_weights, effective_number, pool_clusters

Aggregate: TypeAlias = Literal["mean", "win-rate", "borda"]
OverTasks: TypeAlias = Literal["topics", "tasks"]

Rows: TypeAlias = Callable[[], Iterator[FloatArray]]
"""Of every run but the last: draws of its standardised differences from the later runs, shape (later run, trial)."""

FEWEST_TASKS = 10
"""Tasks below which no run is claimed to be better than another in other tasks too: where the effects of runs are skewed, no
test of so few keeps its error rate."""

ROUNDING = 1e-12  # differences of what ranks add up to that are rounding, and their standard deviations
MOST_HELD = 2**26  # pairs of runs, both ways round, times trials, of which statistics are held
MANY = 30  # degrees of freedom from which on resamples alone tell how large a difference may be by chance


@dataclass(frozen=True, eq=False)
class Board:
    """Scores of the same runs in several tasks, and what they add up to; higher is better.

    `values` are of every task, shape (run, topic), NaN where a run has no score, and `weights` have shape (task,). The
    `aggregate` of tasks is their mean; the share of other runs that a run beats, ties half, averaged over tasks; or the number
    of these runs, added up. `clusters` number from 0 the cluster of each topic of every task; None where topics are single.
    """

    values: Sequence[FloatArray]
    weights: FloatArray
    aggregate: Aggregate = "mean"
    clusters: Sequence[IntArray | None] = ()

    @cached_property
    def drawn(self) -> list[FloatArray]:
        """What is drawn of every task: pseudo-values of topics or clusters, with the means of the runs, shape (run, unit)."""
        units = []
        for values, codes in zip(self.values, self.clusters or [None] * len(self.values), strict=True):
            pooled = values if codes is None else pool_clusters(values, codes)
            known = ~np.isnan(pooled)
            if not known.all():
                means = average(values)[:, np.newaxis]
                times = pooled.shape[1] / np.maximum(known.sum(axis=1, keepdims=True), 1)
                pooled = means + np.where(known, times * (pooled - means), 0.0)
            units.append(pooled)
        return units

    @cached_property
    def counts(self) -> list[FloatArray]:
        """On how many topics of every task each run is, or how many equal clusters its own are worth, shape (run,)."""
        counts = []
        for values, codes in zip(self.values, self.clusters or [None] * len(self.values), strict=True):
            known = 1.0 * ~np.isnan(values)
            counts.append(known.sum(axis=1) if codes is None else effective_number(add_by_cluster(known, codes)))
        return counts

    @cached_property
    def parts(self) -> FloatArray:
        """What every task adds to the aggregate of a run, NaN where the run lacks it, shape (run, task)."""
        return np.stack([self.judge(average(values), find_scale(values)) for values in self.values], axis=-1)

    @cached_property
    def estimates(self) -> FloatArray:
        """The aggregate of every run, shape (run,)."""
        return self.pool(self.parts)

    @property
    def lone(self) -> npt.NDArray[np.bool_]:
        """Which runs have one topic, or cluster, only of a task, shape (run,): how much that varies, nothing tells."""
        return np.any([counts == 1 for counts in self.counts], axis=0)

    def rank_runs(self) -> IntArray:
        """Return 1 + the number of runs with a better estimate, shape (run,)."""
        leads = np.subtract.outer(self.estimates, self.estimates)
        return np.asarray(1 + (round_scaled(np.nan_to_num(leads) / find_scale(leads)) > 0).sum(axis=0))

    def judge(self, means: FloatArray, scale: float) -> FloatArray:
        """Return what a task adds, shape (…, run), of means of that shape."""
        if self.aggregate == "mean":
            return means
        from scipy.stats import rankdata

        wins = rankdata(round_scaled(means / scale), axis=-1, nan_policy="omit") - 1.0
        others = (~np.isnan(means)).sum(axis=-1, keepdims=True) - 1
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
    return divide(known, known.sum(axis=-1, keepdims=True), 0.0)


def find_scale(values: FloatArray) -> float:
    """Return the largest magnitude, relative to which numbers are rounded before ties are looked for; 1 of zeros."""
    return float(np.nanmax(np.abs(values), initial=0.0)) or 1.0


def count_same(values: FloatArray) -> tuple[int, int]:
    """Count the topics on which every run has the highest score of the task, and those with the lowest, (run, topic)."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    solved = (low == high) & (high == high.max())
    return int(solved.sum()), int(((low == high) & (low == low.min()) & ~solved).sum())


class RankSets(NamedTuple):
    """The first and last rank that each run may have, shape (run, 2), and the claims that they rest on, shape (run, run).

    ``better[i, j]``: run i is claimed to be better than run j; `differ`: the first step alone separates the two.
    """

    sets: IntArray
    better: npt.NDArray[np.bool_]
    differ: npt.NDArray[np.bool_]


def rank_board(
    board: Board, over: OverTasks, n_trials: int, keys: Sequence[int], key: int, alpha: float = 0.05
) -> RankSets:
    """Which ranks may every run of a board have, all of them at once? α is how often any claim may be wrong.

    `keys` are of the draws of every task's topics, `key` of those of tasks, and of normal numbers.
    """
    return find_rank_sets(*compare_board(board, over, n_trials, keys, key, alpha), alpha)


def compare_board(
    board: Board, over: OverTasks, n_trials: int, keys: Sequence[int], key: int, alpha: float = 0.05
) -> tuple[FloatArray, Rows]:
    """Return by how many standard errors every run of a board is ahead of every other, shape (run, run), and draws of these."""
    n_tasks, unknown = len(board.values), np.logical_or.outer(board.lone, board.lone)
    if over == "tasks":
        # What each task adds to a mean, or to a sum of those that are there, about the mean or sum itself.
        times, parts = (n_tasks, np.nan_to_num(board.parts)) if board.aggregate == "borda" else (1, board.parts)
        gaps = times * np.nan_to_num(parts - board.estimates[:, np.newaxis] / times) * share(board.weights, parts)
        units = [board.estimates[:, np.newaxis] + n_tasks * gaps]
        sizes, rows = compare_runs(units, [np.full(len(gaps), float(n_tasks))], n_trials, [key], alpha)
        # Where few tasks differ by the same, as ranks often do, others need not.
        unknown = np.isinf(sizes) | (n_tasks < FEWEST_TASKS)
    elif board.aggregate == "mean":
        means = np.stack([average(values) for values in board.values], axis=1)
        shares = share(board.weights, means).T[..., np.newaxis]
        units = [np.nan_to_num(each) * part for each, part in zip(board.drawn, shares, strict=True)]
        sizes, rows = compare_runs(units, board.counts, n_trials, keys, alpha)
    else:
        sizes, rows = _compare_ranks(board, n_trials, keys, key, alpha)
    # Every step takes all draws, which are long in coming.
    held = list(rows()) if sizes.size * n_trials <= MOST_HELD else []
    return np.where(unknown, 0.0, sizes), (lambda: iter(held)) if held else rows


def compare_runs(
    units: Sequence[FloatArray], counts: Sequence[FloatArray], n_trials: int, keys: Sequence[int], alpha: float
) -> tuple[FloatArray, Rows]:
    """Return by how many standard errors every run is ahead of every other, shape (run, run), and draws of the same.

    What counts is the sum over tasks of the mean of its `units`, (run, unit), drawn task by task, and worth so many, (run,).
    """
    first, second = np.triu_indices(len(units[0]), 1)
    ends = np.cumsum([0, *(each.shape[1] for each in units)]).tolist()
    parts = [slice(*ends[number : number + 2]) for number in range(len(units))]
    pairs = WeightedPairs(np.concatenate([each / each.shape[1] for each in units], axis=1), parts=parts)
    total, slack = np.zeros((2, len(first)))
    for squares, worth in zip(pairs.by_part, counts, strict=True):
        worth = np.where(worth > 0, worth, np.inf)  # a run without the task lowers no other's
        free = np.maximum(np.minimum(worth[first], worth[second]) - 1, 1e-9)
        total += squares * (1 + 1 / free)
        slack += (squares * (1 + 1 / free)) ** 2 / free
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(slack > 0, total**2 / slack, np.inf)
        sizes, t = (np.where(pairs.sums == 0, 0.0, pairs.sums / np.sqrt(each)) for each in (pairs.squares, total))

    def draw_rows() -> Iterator[FloatArray]:
        drawn = [draw_weights(key, range(n_trials), each.shape[1]).T for key, each in zip(keys, units, strict=True)]
        for some, sums, squares in pairs.weigh(np.concatenate(drawn)):
            enough = ~pairs.find_silent(some, sums, squares) & (squares > 0)
            yield np.divide(sums, np.sqrt(squares), out=np.zeros_like(sums), where=enough)

    return _keep_sure(sizes, t, freedom, alpha, len(units[0])), draw_rows


def _compare_ranks(board: Board, n_trials: int, keys: Sequence[int], key: int, alpha: float) -> tuple[FloatArray, Rows]:
    """Return the same of what ranks in tasks add up to, which is no mean: over its standard deviation in all samples.

    Ranks of means are drawn about means that are closer to each other by the share of their variance that is noise of topics:
    about the means themselves they would vary less than they do, since noise has set runs apart that are alike. Draws are
    those of as many independent normal numbers: ranks are bounded, and would seem to be farther apart than by chance.
    """
    first, second = np.triu_indices(len(board.values[0]), 1)
    known = ~np.isnan(board.parts)
    shares = known * board.weights / board.weights.mean()
    if board.aggregate == "win-rate":
        shares = share(board.weights, board.parts)
    drawn, free = np.zeros((n_trials, len(known))), np.zeros((2, len(known)))
    for number, (values, units, count) in enumerate(zip(board.values, board.drawn, board.counts, strict=True)):
        centre, few = average(values), np.maximum(count - 1, 1e-9)
        gaps = (units - centre[:, np.newaxis]) / units.shape[1]
        noise = np.nanmean(np.square(gaps - np.nanmean(gaps, axis=0)).sum(axis=1) * (1 + 1 / np.maximum(few, 1)))
        between = np.nanvar(centre, ddof=1)
        centre = centre - (np.clip(noise / between, 0, 1) if between > 0 else 1.0) * (centre - np.nanmean(centre))
        means = centre + draw_weights(keys[number], range(n_trials), units.shape[1]) @ gaps.T
        drawn += np.nan_to_num(board.judge(means, find_scale(values))) * shares[:, number]
        free += known[:, number] * np.array([few, np.ones_like(few)])
    freedom, each = (np.minimum(row[first], row[second]) for row in (free[0], free[0] / np.maximum(free[1], 1)))
    spread = np.array(np.cov(drawn, rowvar=False, ddof=0), ndmin=2)
    both = np.add.outer(spread.diagonal(), spread.diagonal())
    deviation = np.sqrt(np.maximum(both - 2 * spread, 0.0))
    deviation *= deviation > ROUNDING
    ahead = board.estimates[first] - board.estimates[second]
    ahead *= np.abs(ahead) > ROUNDING
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.nan_to_num(ahead / deviation[first, second] / np.sqrt(1 + 1 / np.maximum(each, 1e-9)), posinf=np.inf)

    normal = np.random.Generator(np.random.PCG64(key)).standard_normal((len(known), n_trials))
    normal *= np.sqrt(spread.diagonal())[:, np.newaxis]

    def draw_rows() -> Iterator[FloatArray]:
        for run in range(len(normal) - 1):
            gaps, scale = normal[run] - normal[run + 1 :], np.sqrt(both[run, run + 1 :, np.newaxis])
            yield np.divide(gaps, scale, out=np.zeros_like(gaps), where=scale > 0)

    return _keep_sure(sizes, sizes, freedom, alpha, len(deviation)), draw_rows


def _keep_sure(sizes: FloatArray, t: FloatArray, freedom: FloatArray, alpha: float, n_runs: int) -> FloatArray:
    """Return sizes as an antisymmetric matrix, 0 where few degrees of freedom and Bonferroni's t test find no difference."""
    from scipy.special import stdtr

    unsure = (freedom < MANY) & (2 * stdtr(np.minimum(freedom, 1e9), -np.abs(t)) > alpha / len(sizes))
    matrix = np.zeros((n_runs, n_runs))
    matrix[np.triu_indices(n_runs, 1)] = np.where(unsure, 0.0, sizes)
    return matrix - matrix.T


def find_rank_sets(statistics: FloatArray, rows: Rows, alpha: float = 0.05) -> RankSets:
    """Which ranks may every run have, by how many standard errors it is ahead of others, (run, run), and draws of the same?"""
    n_runs = len(statistics)
    better = differ = np.zeros(statistics.shape, dtype=bool)
    for step in range(n_runs**2):
        largest = []
        for run, drawn in enumerate(rows()):
            undecided = ~(better | better.T)[run, run + 1 :]
            largest.append(np.abs(drawn[undecided]).max(axis=0, initial=0.0))
        critical = np.quantile(np.max(largest, axis=0), 1 - alpha, method="higher")
        claimed = better | (statistics > critical)
        differ = claimed | claimed.T if step == 0 else differ
        implied = None
        while implied is None or (implied != claimed).any():
            # If i is better than j, and j than k, then i is better than k: true whenever both others are.
            claimed = claimed if implied is None else implied
            claims = claimed.astype(np.float32)
            implied = claimed | (claims @ claims > 0)
        if (claimed == better).all():
            break
        better = claimed
    return RankSets(np.stack([1 + better.sum(axis=0), n_runs - better.sum(axis=1)], axis=1), better, differ)
