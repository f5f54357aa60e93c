"""Agreement with a reference, of scores of which memory holds some runs, topics or pairs of runs at a time.

The reference is the last measure. Counts are those of the functions of the same names to the last bit. Sums over cells,
and means of resampled topics, are added in another order, and differ by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from metaeval.stats._check import FloatArray
from metaeval.stats.blocks import split_topics
from metaeval.stats.progress import tell
from metaeval.stats.resampled_sums import WEIGHTS_HELD, TopicSums, draw_weights, trials_a_pass
from metaeval.stats.resampling import topic_signs
from metaeval.stats.run_agreement import RunStatistic, compare_means
from metaeval.stats.run_pairs import split_pairs
from metaeval.stats.scale import Scaled, count_exponents, scale_squares
from metaeval.stats.soft_accuracy import add_squares, compare_flips, find_tail, soft_accuracy
from metaeval.stats.standard_cells import StandardCells
from metaeval.stats.topic_correlation import correlate_swapped

SIGNS_A_BLOCK = 4_000_000
"""Signs of cells, 32 MB, that are held at once."""


class ResampledMeans:
    """Means of runs on topics drawn anew, which several statistics share.

    Parameters
    ----------
    scores : Scaled
    key : int
        Of the resamples.
    n_trials : int
    """

    def __init__(self, scores: Scaled, key: int, n_trials: int) -> None:
        n_runs, n_topics, n_columns = scores.shape
        self.scores, self.means = scores, np.empty((n_trials, n_columns, n_runs))
        sums, size = TopicSums(scores), trials_a_pass(n_topics, n_trials)
        for start in range(0, n_trials, size):
            trials = range(start, min(start + size, n_trials))
            drawn = sums.weigh(draw_weights(key, trials, n_topics)) / n_topics
            self.means[start : trials.stop] = drawn.transpose(0, 2, 1)
            tell("means on resampled topics", trials.stop, n_trials)
        self.whole = scores.means()

    def compare(
        self, which: Sequence[RunStatistic], runs: npt.NDArray[np.intp]
    ) -> tuple[dict[RunStatistic, FloatArray], dict[RunStatistic, float]]:
        """Do what `metaeval.stats.run_agreement.resample_run_statistics` does.

        Parameters
        ----------
        which : sequence of str
        runs : ndarray of int

        Returns
        -------
        drawn : dict of str to ndarray, shape (trial, measure)
        ceiling : dict of str to float
        """
        chosen = np.zeros(len(self.whole), dtype=bool)
        chosen[runs] = True
        # The scale of a measure is that of the runs that count.
        blocks = (block[chosen[some]] for some, block in self.scores.blocks() if chosen[some].any())
        shift = -count_exponents(blocks, self.whole.shape[1])
        whole = np.ldexp(self.whole[runs], shift)
        # The order of the axes in memory decides in which order NumPy adds.
        means = np.ascontiguousarray(np.ldexp(self.means[..., runs], shift[:, np.newaxis]))
        return compare_means(means, np.ascontiguousarray(whole[:, -1]), which)


def flip_p_values(scores: Scaled, key: int, n_trials: int) -> FloatArray:
    """Do what `metaeval.stats.soft_accuracy.flip_p_values` does.

    Parameters
    ----------
    scores : Scaled
    key : int
    n_trials : int

    Returns
    -------
    ndarray, shape (measure, run pair)
    """
    n_runs, n_topics, n_columns = scores.shape
    flipped = np.empty((n_trials, n_runs, n_columns))
    sums, size = TopicSums(scores), trials_a_pass(n_topics, n_trials)
    for start in range(0, n_trials, size):
        trials = range(start, min(start + size, n_trials))
        signs = np.empty((len(trials), n_topics))
        for row, trial in zip(signs, trials, strict=True):
            row[:] = topic_signs(key, [trial], n_topics)[0]
        flipped[start : trials.stop] = sums.weigh(signs)
        tell("flipping topics", trials.stop, n_trials)
    total = np.concatenate([block.sum(axis=1) for _, block in scores.blocks()])
    magnitude = np.concatenate([np.abs(block).sum(axis=1) for _, block in scores.blocks()])
    return compare_flips(flipped, total, magnitude, n_topics)


def normal_p_values(scores: Scaled) -> FloatArray:
    """Do what `metaeval.stats.soft_accuracy.normal_p_values` does.

    Parameters
    ----------
    scores : Scaled

    Returns
    -------
    ndarray, shape (measure, run pair)
    """
    n_runs, _, n_columns = scores.shape
    found = np.empty((n_columns, n_runs * (n_runs - 1) // 2))
    for pairs, gaps in split_pairs(scores, "differences of runs"):
        for column in range(n_columns):
            one = scale_squares(np.ascontiguousarray(gaps[..., column]), axis=1)
            found[column, pairs] = find_tail(one.sum(axis=1), (one**2).sum(axis=1))
    return found


def resample_soft_accuracy(scores: Scaled, key: int, n_trials: int, limit: FloatArray) -> tuple[FloatArray, float]:
    """Do what `metaeval.stats.soft_accuracy.resample_soft_accuracy` does.

    Parameters
    ----------
    scores : Scaled
    key : int
        Of the resamples.
    n_trials : int
    limit : ndarray, shape (measure, run pair)
        From `normal_p_values`.

    Returns
    -------
    drawn : ndarray, shape (trial, measure)
    ceiling : float
    """
    _, n_topics, n_columns = scores.shape
    n_pairs = limit.shape[1]
    drawn, own = np.empty((n_trials, n_columns - 1)), np.empty(n_trials)
    size = max(1, min(n_trials, WEIGHTS_HELD // (n_topics + n_columns * n_pairs)))
    for start in range(0, n_trials, size):
        trials = range(start, min(start + size, n_trials))
        weights = draw_weights(key, trials, n_topics)
        tails = np.empty((n_columns, len(trials), n_pairs))
        what = f"soft pairwise accuracy on resampled topics to {trials.stop:,} of {n_trials:,}, run pairs"
        for pairs, gaps in split_pairs(scores, what):
            for column in range(n_columns):
                one = scale_squares(np.ascontiguousarray(gaps[..., column]), axis=1).T
                tails[column][:, pairs] = find_tail(weights @ one, weights @ one**2)
        for column in range(n_columns - 1):
            drawn[start : trials.stop, column] = soft_accuracy(tails[column], tails[-1])
        own[start : trials.stop] = soft_accuracy(tails[-1], limit[-1])
    return drawn, float(own.mean())


def swap_cells_softly(scores: Scaled, cells: StandardCells, limit: FloatArray, key: int, n_trials: int) -> FloatArray:
    """Do what `metaeval.stats.soft_accuracy.swap_cells_softly` does.

    Parameters
    ----------
    scores : Scaled
    cells : StandardCells
        Of all of its measures.
    limit : ndarray, shape (run pair,)
        The reference's `normal_p_values`.
    key : int
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures = n_columns - 1
    pairs = n_measures * (n_measures - 1) // 2
    differences = np.empty((n_trials, pairs))
    for trial in range(n_trials):
        keep = (topic_signs(key, [trial], n_runs * n_topics)[0] > 0).reshape(n_runs, n_topics)
        blocks = (
            (cells.standardise(scores.read_topics(topics))[:-1], keep[:, topics])
            for topics in split_topics(scores.values)
        )
        squares = add_squares(blocks)
        differences[trial] = squares.compare(limit)
        tell("exchanging cells for soft pairwise accuracy", trial + 1, n_trials)
    return differences


def topic_pearson(scores: Scaled, cells: StandardCells) -> FloatArray:
    """Do what `metaeval.stats.topic_correlation.topic_pearson` does.

    Parameters
    ----------
    scores : Scaled
    cells : StandardCells

    Returns
    -------
    ndarray, shape (measure,)
    """
    n_runs, n_topics, n_columns = scores.shape
    products = np.zeros(n_columns - 1)
    for _, block in scores.blocks():
        z = cells.standardise(block).reshape(n_columns, -1)
        products += z[:-1] @ z[-1]
    defined = cells.varies[:-1] & cells.varies[-1]
    return np.where(defined, np.clip(products / (n_runs * n_topics), -1, 1), np.nan)


def swap_cells(scores: Scaled, cells: StandardCells, key: int, n_trials: int) -> FloatArray:
    """Do what `metaeval.stats.topic_correlation.swap_cells` does.

    Parameters
    ----------
    scores : Scaled
    cells : StandardCells
    key : int
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
    """
    n_runs, n_topics, n_columns = scores.shape
    n_measures = n_columns - 1
    signed, total = np.zeros((n_trials, 3 * n_measures)), np.zeros(3 * n_measures)
    for runs, block in scores.blocks():
        z = cells.standardise(block).reshape(n_columns, -1)
        columns = np.concatenate([z[:-1] * z[-1], z[:-1], z[:-1] ** 2]).T.copy()
        total += columns.sum(axis=0)
        add_signed(signed, columns, key, runs.start * n_topics)
        tell("exchanging cells", runs.stop, n_runs)
    return correlate_swapped(signed.reshape(n_trials, 3, -1), total.reshape(3, -1), n_runs * n_topics)


def add_signed(sums: FloatArray, columns: npt.NDArray[np.floating], key: int, first: int) -> None:
    """Add numbers with the random signs of each trial to sums, in place.

    Parameters
    ----------
    sums : ndarray, shape (trial, column)
    columns : ndarray, shape (cell, column)
    key : int
        Of the signs, as `metaeval.stats.resampling.topic_signs` takes it.
    first : int
        The number of the first of these cells.
    """
    # Signs come in words of 64, and few trials at a time where there are very many.
    n_trials = len(sums)
    few = max(64, SIGNS_A_BLOCK // n_trials // 64 * 64)
    for start in range(0, len(columns), few):
        some = columns[start : start + few]
        signs = topic_signs(key, range(n_trials), len(some), first=first + start).astype(columns.dtype)
        sums += signs @ some


def resample_topic_pearson(scores: Scaled, cells: StandardCells, key: int, n_trials: int) -> FloatArray:
    """Do what `metaeval.stats.topic_correlation.resample_topic_pearson` does.

    Parameters
    ----------
    scores : Scaled
    cells : StandardCells
    key : int
        Of the resamples.
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure)
    """
    n_runs, n_topics, n_columns = scores.shape
    sums, squares, products = np.zeros((3, n_columns, n_topics))
    for _, block in scores.blocks():
        z = cells.standardise(block)
        for total, added in ((sums, z), (squares, z**2), (products, z * z[-1])):
            for row in added.swapaxes(0, 1):
                total += row
    size = n_runs * n_topics
    x, xx, xy = weigh_by_topic(key, n_trials, n_topics, sums, squares, products, divisor=size)
    lengths = np.sqrt(np.maximum(xx - x**2, 0)[:, :-1] * np.maximum(xx - x**2, 0)[:, -1:])
    covariance = (xy - x * x[:, -1:])[:, :-1]
    return np.divide(covariance, lengths, out=np.full(lengths.shape, np.nan), where=lengths > 0)


def weigh_by_topic(key: int, n_trials: int, n_topics: int, *by_topic: FloatArray, divisor: int) -> list[FloatArray]:
    """Sum numbers of topics as often as each topic is drawn.

    Parameters
    ----------
    key : int
        Of the resamples.
    n_trials, n_topics : int
    *by_topic : ndarray, shape (column, topic)
    divisor : int

    Returns
    -------
    list of ndarray, shape (trial, column)
    """
    found = [np.empty((n_trials, len(one))) for one in by_topic]
    size = trials_a_pass(n_topics, n_trials)
    for start in range(0, n_trials, size):
        trials = range(start, min(start + size, n_trials))
        weights = draw_weights(key, trials, n_topics)
        for one, numbers in zip(found, by_topic, strict=True):
            one[start : trials.stop] = weights @ numbers.T / divisor
        tell("resampling topics", trials.stop, n_trials)
    return found
