"""Soft pairwise accuracy: does a measure find the differences between runs as certain as the reference does?

Thompson, Mathur, Deutsch and Khayrallah, "Improving statistical significance in human evaluation of automatic metrics via
soft pairwise accuracy", WMT 2024: 1 − mean over pairs of runs of |p_reference − p_measure|, with one-sided p-values of the
paired sign-flip test, whose flips are shared by all pairs and measures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from metaeval.stats.progress import tell
from metaeval.stats.resampling import topic_signs
from metaeval.stats.scale import scale_scores, scale_squares
from metaeval.stats.swapping import FloatArray, standardise

_ROUNDING = 1e-12


def flip_p_values(values: FloatArray, key: int, n_trials: int) -> FloatArray:
    """How often do random signs of the topics favour the first of two runs as much as the scores do?

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    key : int
        Of the random draws, a 64-bit key.
    n_trials : int

    Returns
    -------
    ndarray, shape (measure, run pair)
        Shares of trials; near 0 where the first run is better.

    Examples
    --------
    >>> flip_p_values(np.array([[[3.0]] * 20, [[1.0]] * 20]), 7, 500).tolist()
    [[0.0]]
    """
    scaled = scale_scores(values)
    n_runs, n_topics, n_measures = scaled.shape
    by_topic = scaled.transpose(1, 0, 2).reshape(n_topics, -1)
    signs = topic_signs(key, range(n_trials), n_topics).astype(np.float64)
    sums = (signs @ by_topic).reshape(n_trials, n_runs, n_measures)
    return compare_flips(sums, scaled.sum(axis=1), np.abs(scaled).sum(axis=1), n_topics)


def compare_flips(sums: FloatArray, total: FloatArray, size: FloatArray, n_topics: int) -> FloatArray:
    """Return how often sums with random signs favour the first of two runs as much as those of the scores do.

    Parameters
    ----------
    sums : ndarray, shape (trial, run, measure)
    total, size : ndarray, shape (run, measure)
        Sums of the scores and of their magnitudes.
    n_topics : int

    Returns
    -------
    ndarray, shape (measure, run pair)
    """
    rows = []
    for run in range(len(total) - 1):
        observed = total[run] - total[run + 1 :]
        observed = observed - _ROUNDING * n_topics * (size[run] + size[run + 1 :])
        rows.append((sums[:, run, np.newaxis] - sums[:, run + 1 :] >= observed).mean(axis=0))
    return np.concatenate(rows).T


def soft_accuracy(p_values: FloatArray, reference: FloatArray) -> FloatArray:
    """Return 1 − the mean difference between p-values over pairs of runs.

    Parameters
    ----------
    p_values : ndarray, shape (..., run pair)
    reference : ndarray, broadcastable to it

    Returns
    -------
    ndarray, shape (...)
    """
    return np.asarray(1 - np.abs(p_values - reference).mean(axis=-1))


def swap_cells_softly(values: FloatArray, reference: FloatArray, key: int, n_trials: int) -> FloatArray:
    """Exchange every two standardised measures in random cells, and return the differences in soft pairwise accuracy.

    Each mixture has its own p-values. They are those of the normal distribution that the sum of flipped differences d
    tends to, with mean 0 and variance Σd². The sums of squares of *all* mixtures of a trial follow from one matrix of
    products: with U the scores that were kept and V those that were given away, a mixture of A and B is U_A + V_B.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
    key : int
        Of the random draws, a 64-bit key.
    n_trials : int

    Returns
    -------
    ndarray, shape (trial, measure pair)
    """
    n_runs, n_topics, n_measures = values.shape
    z = standardise(values.transpose(2, 0, 1).reshape(n_measures, -1)).reshape(n_measures, n_runs, n_topics)
    wanted = normal_p_values(reference[..., np.newaxis])[0]
    differences = np.empty((n_trials, n_measures * (n_measures - 1) // 2))
    for trial in range(n_trials):
        keep = (topic_signs(key, [trial], n_runs * n_topics)[0] > 0).reshape(n_runs, n_topics)
        squares = add_squares([(z, keep)])
        differences[trial] = squares.compare(wanted)
        tell("exchanging cells for soft pairwise accuracy", trial + 1, n_trials)
    return differences


@lru_cache(maxsize=2)
def _pair(length: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    first, second = np.triu_indices(length, 1)
    return first, second


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Sums over topics of which the p-values of all mixtures of two measures are made.

    Parameters
    ----------
    sums, squares : pair of ndarray, shape (run, measure)
        Of the cells that are kept, and of those that are given away.
    products : pair of ndarray, shape (measure, run, run)
        Of two runs' cells that are both kept, or both given away.
    crossed : ndarray, shape (measure, run, measure, run)
        Of cells that are kept and cells that are given away.
    """

    sums: tuple[FloatArray, FloatArray]
    squares: tuple[FloatArray, FloatArray]
    products: tuple[FloatArray, FloatArray]
    crossed: FloatArray

    def compare(self, wanted: FloatArray) -> FloatArray:
        """Return the differences in soft pairwise accuracy of two measures, exchanged one way and the other.

        Parameters
        ----------
        wanted : ndarray, shape (run pair,)
            The reference's p-values.

        Returns
        -------
        ndarray, shape (measure pair,)
        """
        n_runs, n_measures = self.sums[0].shape
        (run, other), (first, second) = _pair(n_runs), _pair(n_measures)
        # Σ (x_i − x_j)² of the parts alone, and twice the products between a kept and a given part of another measure.
        own = [
            square[run] + square[other] - 2 * products[:, run, other].T
            for square, products in zip(self.squares, self.products, strict=True)
        ]
        crossed = self.crossed.transpose(1, 3, 0, 2)
        # A cell is kept or given away, so that a run's two parts have no product.
        squares = own[0][:, :, np.newaxis] + own[1][:, np.newaxis] - 2 * (crossed[run, other] + crossed[other, run])
        sums = self.sums
        gaps = (sums[0][run] - sums[0][other])[:, :, np.newaxis] + (sums[1][run] - sums[1][other])[:, np.newaxis]
        soft = 1 - np.abs(find_tail(gaps, squares) - wanted[:, np.newaxis, np.newaxis]).mean(axis=0)
        return np.asarray(soft[first, second] - soft[second, first])


def add_squares(blocks: Iterable[tuple[FloatArray, npt.NDArray[np.bool_]]]) -> Mixtures:
    """Add up what `Mixtures` holds over blocks of topics.

    Parameters
    ----------
    blocks : iterable of pairs
        Standardised scores of shape (measure, run, topic), and which cells are kept, of shape (run, topic).

    Returns
    -------
    Mixtures
    """
    total: list[FloatArray] = []
    for z, keep in blocks:
        n_measures, n_runs, _ = z.shape
        # Long rows: NumPy makes numbers of the mask row by row.
        cells, mask = z.reshape(n_measures, -1), keep.ravel()
        parts = [(cells * some).reshape(z.shape) for some in (mask, ~mask)]
        kept, given = (part.reshape(n_measures * n_runs, -1) for part in parts)
        found = [part.sum(axis=-1).T for part in parts]
        found += [np.einsum("mrt,mrt->rm", part, part) for part in parts]
        found += [np.matmul(part, part.transpose(0, 2, 1)) for part in parts]
        found.append((kept @ given.T).reshape(n_measures, n_runs, n_measures, n_runs))
        for one, more in zip(total, found, strict=False):
            one += more
        total = total or found
    return Mixtures((total[0], total[1]), (total[2], total[3]), (total[4], total[5]), total[6])


def normal_p_values(values: FloatArray) -> FloatArray:
    """Return what `flip_p_values` tends to with many topics: the tail of a normal distribution.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)

    Returns
    -------
    ndarray, shape (measure, run pair)
    """
    run, other = np.triu_indices(len(values), 1)
    scaled = scale_scores(values)
    rows = []
    for m in range(values.shape[-1]):
        gaps = scale_squares(scaled[run, :, m] - scaled[other, :, m], axis=1)
        rows.append(find_tail(gaps.sum(axis=1), (gaps**2).sum(axis=1)))
    return np.array(rows)


def resample_soft_accuracy(
    values: FloatArray, reference: FloatArray, weights: npt.NDArray[np.int64]
) -> tuple[FloatArray, float]:
    """Return soft pairwise accuracy on topics drawn anew, with p-values as in `normal_p_values`.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    reference : ndarray, shape (run, topic)
    weights : ndarray of int, shape (trial, topic)

    Returns
    -------
    drawn : ndarray, shape (trial, measure)
    ceiling : float
        Mean agreement between the reference on the topics drawn and on all topics.
    """
    run, other = np.triu_indices(len(reference), 1)
    drawn = weights.astype(np.float64)

    def find(scores: FloatArray) -> FloatArray:
        gaps = scale_squares(scores[run] - scores[other], axis=1).T
        return find_tail(drawn @ gaps, drawn @ gaps**2)

    scaled, gold = scale_scores(values), scale_scores(reference[..., np.newaxis])
    wanted = find(gold[..., 0])
    columns = [soft_accuracy(find(scaled[..., m]), wanted) for m in range(values.shape[-1])]
    return np.stack(columns, axis=-1), float(soft_accuracy(wanted, normal_p_values(gold)[0]).mean())


def find_tail(sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Return P(N(0, Σd²) ≥ Σd); 1 where all d are 0, as flips never change their sum."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(squares, 0))
    z = np.divide(sums, spread, out=np.full(sums.shape, -np.inf), where=spread > 1e-12)
    return np.asarray(ndtr(-z))
