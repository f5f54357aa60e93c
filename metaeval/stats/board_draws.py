"""How far runs of a board are ahead of each other, and how that varies over the topics of its tasks, or over tasks.

A task's topics are resampled among themselves. What is linear in them is resampled by its influence values, the share that
every topic has in a number less its expected share: exact for means, and defined where a sample leaves a run no topic. The
difference of two runs, over its standard error, has a t distribution with Satterthwaite's degrees of freedom; it is turned
into the normal number of the same p-value, so that pairs of few and of many topics can share a critical value. Of topics in
clusters, these are drawn: each adds to a number what the jackknife says that it does (`metaeval.stats.clusters`).

Few topics make runs seem to depend on each other more than they do, and the largest of many differences too small. So much of
the correlation as is noise is replaced by independent draws (Schäfer and Strimmer, "A shrinkage approach to large-scale
covariance matrix estimation", Statistical Applications in Genetics and Molecular Biology 4(1), 2005). Where tasks are drawn,
which are few, their numbers are drawn from a normal distribution with these correlations, and each trial has standard errors
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, average
from metaeval.stats.boards import Board, find_scale, share
from metaeval.stats.parallel import tell
from metaeval.stats.rank_sets import Rows
from metaeval.stats.resampling import draw_weights

OverTasks: TypeAlias = Literal["topics", "tasks"]

NUMBERS_A_BLOCK = 2**21
"""Numbers that are drawn at once."""

NO_SPREAD = 1e-12
"""Share of the variance of both runs below which that of their difference is rounding."""

ROUNDING = 1e-24
"""Variance that is rounding: scores are near 1."""


def compare_runs(
    board: Board, over: OverTasks, n_trials: int, keys: Sequence[int], key: int
) -> tuple[FloatArray, Rows]:
    """By how many standard errors is every run ahead of every other, and of how many would it be by chance?

    Parameters
    ----------
    board : Board
    over : {"topics", "tasks"}
        What is resampled.
    n_trials : int
    keys : sequence of int
        Of the draws of every task's topics, from `metaeval.stats.streams.stream_key`.
    key : int
        Of what else is drawn.

    Returns
    -------
    statistics : ndarray, shape (run, run)
    rows : callable
        Both as `metaeval.stats.rank_sets.find_rank_sets` takes them.

    Examples
    --------
    >>> tasks = [np.array([[0.9, 0.8, 0.7, 0.9], [0.1, 0.3, 0.1, 0.0]])]
    >>> statistics, rows = compare_runs(Board(tasks, np.ones(1)), "topics", 100, [1], 2)
    >>> round(float(statistics[0, 1]), 2), next(rows()).shape  # the normal deviate of the paired t-test's p-value
    (2.83, (1, 100))
    """
    influences = _list_influences(board, over)
    depend, noise = _measure_dependence(influences), np.random.Generator(np.random.PCG64(key))
    if over == "tasks":
        statistics = _standardise(board, _measure_pairs(board, over, influences), depend.own, few=True)
        return _from_normal(statistics, len(board.values) - 1), _draw_tasks(influences[0], depend, n_trials, noise)
    # Two topics make all runs depend on each other wholly, whatever they do on others.
    free = sum(each.shape[1] - 1 for each in influences)
    depend = replace(depend, shrinkage=max(depend.shrinkage, 1 / free))
    if board.aggregate == "mean":
        deviations = np.zeros((len(board.values[0]), n_trials))
        for each, own in zip(influences, keys, strict=True):
            deviations += each @ draw_weights(own, range(n_trials), each.shape[1]).T
        spreads = _measure_pairs(board, over, influences)
    else:
        deviations = np.concatenate([_redraw(board, trials, keys) for trials in _split(board, n_trials)]).T
        deviations -= deviations.mean(axis=1, keepdims=True)
        depend = replace(_measure_dependence([deviations / np.sqrt(n_trials)]), shrinkage=depend.shrinkage)
        spreads = _measure_ranks(board, _subtract_own(depend.products))
    statistics, lone = _standardise(board, spreads, depend.own), find_lone(board)
    statistics[np.logical_or.outer(lone, lone)] = 0.0
    return statistics, _mix(deviations, depend, noise)


def find_lone(board: Board) -> npt.NDArray[np.bool_]:
    """Return which runs have one topic only of a task, shape (run,): how much that varies, nothing tells."""
    alone = [(~np.isnan(drawn)).sum(axis=1) == 1 for drawn in board.drawn]
    return np.any(alone, axis=0)


def _list_influences(board: Board, over: OverTasks) -> list[FloatArray]:
    """Return influence values of what is drawn together, of shape (run, topic) or (run, task); of ranks those of means."""
    if over == "topics":
        means = np.stack([average(values) for values in board.values], axis=1)
        shares = share(board.weights, means).T
        return [_find_influence(values, weight) for values, weight in zip(board.drawn, shares, strict=True)]
    times = len(board.values) if board.aggregate == "borda" else 1
    parts = np.nan_to_num(board.parts) if board.aggregate == "borda" else board.parts
    return [times * np.nan_to_num(parts - board.estimates[:, np.newaxis] / times) * share(board.weights, parts)]


def _find_influence(values: FloatArray, weight: FloatArray | float = 1.0) -> FloatArray:
    """Return what each topic adds to the mean of a run more than others do, 0 where the run lacks it."""
    known = ~np.isnan(values)
    gaps = np.where(known, values - average(values)[:, np.newaxis], 0.0)
    return gaps * (weight / np.maximum(known.sum(axis=1), 1))[:, np.newaxis]


def _centre(influences: Sequence[FloatArray]) -> list[FloatArray]:
    """Return influence values less what all runs have in common, which no difference has."""
    return [each - each.mean(axis=0) for each in influences]


@dataclass(frozen=True, eq=False)
class _Dependence:
    """Covariances of runs, shape (run, run), and how much of their correlation is noise of few topics, from 0 to 1."""

    products: FloatArray
    shrinkage: float

    @property
    def own(self) -> FloatArray:
        """Variances of runs, shape (run,)."""
        return np.asarray(self.products.diagonal())


def _measure_dependence(influences: Sequence[FloatArray]) -> _Dependence:
    """Return how runs depend on each other (Schäfer and Strimmer, Table 1)."""
    centred = _centre(influences)
    joined = np.concatenate(centred, axis=1)
    products = joined @ joined.T
    own = np.where(products.diagonal() > 0, products.diagonal(), 1.0)
    noise = 0.0
    for each in centred:
        n, scaled = each.shape[1], each / np.sqrt(own)[:, np.newaxis]
        squares = np.square(scaled)
        less = scaled.T @ scaled if n < len(scaled) else scaled @ scaled.T  # whose squares sum to the same
        covered = np.square(less).sum() - np.square(squares.sum(axis=1)).sum()
        noise += n / max(n - 1, 1) * (np.square(squares.sum(axis=0)).sum() - np.square(squares).sum() - covered / n)
    found = np.square(products / np.sqrt(np.outer(own, own))).sum() - np.square(products.diagonal() / own).sum()
    return _Dependence(products, float(np.clip(noise / found, 0, 1)) if found > 0 else 1.0)


def _subtract_own(products: FloatArray) -> FloatArray:
    """Return the variances of the differences of all pairs of runs from covariances."""
    own = products.diagonal()
    return np.maximum(np.add.outer(own, own) - 2 * products, 0.0)


def _measure_pairs(
    board: Board, over: OverTasks, influences: Sequence[FloatArray]
) -> Iterator[tuple[FloatArray, FloatArray | float]]:
    """Yield how much the differences of all pairs of runs vary, with degrees of freedom, by what is drawn together."""
    for number, each in enumerate(influences):
        if over == "tasks":
            yield _subtract_own(each @ each.T), len(board.values) - 1
            continue
        counts = _count_topics(board, number)
        few = counts[0] if (counts == counts[0]).all() else np.minimum.outer(counts, counts)
        yield _subtract_own(each @ each.T), few - 1


def _measure_ranks(board: Board, variances: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield variances of differences in resampled ranks as if estimated, with the degrees of freedom of all tasks."""
    free = np.stack([_count_topics(board, number) - 1 for number in range(len(board.values))])
    known = np.isfinite(free)
    total = np.maximum(np.where(known, free, 0.0).sum(axis=0), 1e-9)
    freedom, each = np.minimum.outer(total, total), total / np.maximum(known.sum(axis=0), 1)
    yield variances * (1 + 1 / np.minimum.outer(each, each)) / (1 + 1 / freedom), freedom


def _count_topics(board: Board, number: int) -> FloatArray:
    """Return what the topics of every run in a task are worth, shape (run,); infinity of none, which lower no other's."""
    return np.where(board.counts[number] > 0, board.counts[number], np.inf)


def _standardise(
    board: Board, spreads: Iterator[tuple[FloatArray, FloatArray | float]], own: FloatArray, *, few: bool = False
) -> FloatArray:
    """Return differences over their standard errors as normal numbers.

    Of `few` that are drawn, equal differences are no proof that others are equal too: ranks of runs often differ by the same.
    """
    from scipy.special import ndtri, stdtr

    size, noise = np.abs(board.differences), NO_SPREAD * np.add.outer(own, own) + ROUNDING
    resampled, total, slack = np.zeros_like(size), np.zeros_like(size), np.zeros_like(size)
    for variance, freedom in spreads:
        free = np.maximum(freedom, 1e-9)
        corrected = variance * (1 + 1 / free)
        resampled += variance
        total += corrected
        slack += np.square(corrected) / free
    total[resampled <= noise] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where((size <= np.sqrt(noise)) | (few & (total == 0)), 0.0, size / np.sqrt(total))
        degrees = np.where(slack > 0, total**2 / slack, np.inf)
    normal = np.where(np.isinf(degrees) | np.isinf(size), size, -ndtri(stdtr(np.fmin(degrees, 1e9), -size)))
    return np.asarray(np.sign(board.differences) * normal)


def _from_normal(statistics: FloatArray, freedom: int) -> FloatArray:
    """Return the t statistics of the same p-values."""
    from scipy.special import ndtr, stdtrit

    p = ndtr(-np.abs(statistics))
    return np.asarray(np.sign(statistics) * np.where(p > 0, -stdtrit(freedom, np.maximum(p, 1e-300)), np.inf))


def _mix(deviations: FloatArray, depend: _Dependence, noise: np.random.Generator) -> Rows:
    """Return how to draw standardised differences, of deviations of shape (run, trial) and independent ones."""
    own, shrinkage = depend.own, depend.shrinkage
    mixed = noise.standard_normal(deviations.shape, dtype=np.float32)
    mixed *= np.sqrt(shrinkage * own)[:, np.newaxis]
    mixed += np.sqrt(1 - shrinkage) * (deviations - deviations.mean(axis=0))
    both = np.add.outer(own, own)
    spread = np.sqrt((1 - shrinkage) * _subtract_own(depend.products) + shrinkage * both)
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > np.sqrt(NO_SPREAD * both))
    inverse = inverse.astype(np.float32)

    def draw_rows() -> Iterator[FloatArray]:
        for run in range(len(mixed) - 1):
            drawn = mixed[run] - mixed[run + 1 :]
            drawn *= inverse[run, run + 1 :, np.newaxis]
            yield drawn

    return draw_rows


def _draw_tasks(influences: FloatArray, depend: _Dependence, n_trials: int, noise: np.random.Generator) -> Rows:
    """Return how to draw t statistics of differences between runs with these influences of tasks, shape (run, task)."""
    centred, shrinkage, own = _centre([influences])[0], depend.shrinkage, depend.own
    n_runs, n_tasks = centred.shape
    drawn = noise.standard_normal((n_runs, n_trials, n_tasks), dtype=np.float32)
    drawn *= np.sqrt(shrinkage * own)[:, np.newaxis, np.newaxis]
    drawn += np.tensordot(np.sqrt(1 - shrinkage) * centred, noise.standard_normal((n_tasks, n_trials, n_tasks)), axes=1)
    means = drawn.mean(axis=-1)
    drawn -= means[..., np.newaxis]
    squares = np.square(drawn).sum(axis=-1)

    def draw_rows() -> Iterator[FloatArray]:
        for run in range(n_runs - 1):
            rest = slice(run + 1, None)
            spread = squares[run] + squares[rest] - 2 * np.einsum("tk,rtk->rt", drawn[run], drawn[rest])
            gaps = (means[run] - means[rest]) * np.sqrt(n_tasks * (n_tasks - 1))
            yield np.divide(gaps, np.sqrt(np.maximum(spread, 0)), out=np.zeros_like(gaps), where=spread > 0)

    return draw_rows


def _split(board: Board, n_trials: int) -> Iterator[range]:
    widest = max(len(board.values[0]) * len(board.values), *(each.shape[1] for each in board.values))
    size = max(1, NUMBERS_A_BLOCK // widest)
    for start in range(0, n_trials, size):
        yield range(start, min(start + size, n_trials))
        tell("resampling topics", min(start + size, n_trials), n_trials)


def _redraw(board: Board, trials: range, keys: Sequence[int]) -> FloatArray:
    """Return the aggregate of every run in some trials, shape (trial, run)."""
    parts = []
    for number, (values, drawn) in enumerate(zip(board.values, board.drawn, strict=True)):
        weights = draw_weights(keys[number], trials, drawn.shape[1])
        centre = average(values)
        found = centre + weights @ _find_influence(drawn).T
        found -= _find_noise(drawn, _count_topics(board, number)) * (centre - np.nanmean(centre))
        parts.append(board.judge(found, find_scale(values)))
    return board.pool(np.stack(parts, axis=-1))


def _find_noise(values: FloatArray, counts: FloatArray) -> float:
    """Return which share of the variance of the runs' means is noise of topics.

    Ranks of means are drawn about means that are as much closer to each other: about the means themselves, they would vary
    less than they do, since noise has set runs apart that are alike.
    """
    influences, means = _find_influence(values), average(values)
    widen = 1 + 1 / np.maximum(counts - 1, 1)
    noise = (np.square(influences - influences.mean(axis=0)).sum(axis=1) * widen)[~np.isnan(means)].mean()
    spread = np.nanvar(means, ddof=1)
    return float(np.clip(noise / spread, 0, 1)) if spread > 0 else 1.0
