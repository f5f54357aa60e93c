"""Soft pairwise accuracy: does a measure find the differences between runs as certain as the reference does?

Thompson, Mathur, Deutsch and Khayrallah, "Improving statistical significance in human evaluation of automatic metrics via
soft pairwise accuracy", WMT 2024: 1 − mean over pairs of runs of |p_reference − p_measure|, with one-sided p-values of the
paired sign-flip test, whose flips are shared by all pairs and measures.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, Scaled, scale_squares, split_pairs
from metaeval.stats.clusters import add_by_cluster
from metaeval.stats.parallel import tell
from metaeval.stats.pearson import StandardCells
from metaeval.stats.resampling import draw_signs, draw_weights, split_trials, topic_signs

_ROUNDING = 1e-12


def flip_p_values(scores: Scaled, key: int, n_trials: int) -> FloatArray:
    """How often do random signs of the topics favour the first of two runs as much as the scores do?

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure).
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    n_trials : int

    Returns
    -------
    ndarray, shape (measure, run pair)
        Shares of trials; near 0 where the first run is better.

    Examples
    --------
    >>> flip_p_values(Scaled(np.array([[[3.0]] * 20, [[1.0]] * 20])), 7, 500).tolist()
    [[0.0]]
    """
    n_runs, n_topics, n_columns = scores.shape
    flipped = np.empty((n_trials, n_runs, n_columns))
    for trials in split_trials(n_topics, n_trials):
        flipped[trials.start : trials.stop] = scores.weigh(draw_signs(key, trials, n_topics))
        tell("flipping topics", trials.stop, n_trials)
    total, size = scores.values.sum(axis=1), np.abs(scores.values).sum(axis=1)
    rows = []
    for run in range(n_runs - 1):
        observed = total[run] - total[run + 1 :]
        observed = observed - _ROUNDING * n_topics * (size[run] + size[run + 1 :])
        rows.append((flipped[:, run, np.newaxis] - flipped[:, run + 1 :] >= observed).mean(axis=0))
    return np.concatenate(rows).T


def soft_accuracy(p_values: FloatArray, reference: FloatArray) -> FloatArray:
    """Are a measure's differences between runs as certain as the reference's? 1 − the mean difference of p-values.

    Parameters
    ----------
    p_values, reference : ndarray, shape (..., run pair)

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> float(soft_accuracy(np.array([0.0, 0.5]), np.array([0.1, 0.3])).round(2))
    0.85
    """
    return np.asarray(1 - np.abs(p_values - reference).mean(axis=-1))


def swap_cells_softly(
    scores: Scaled,
    cells: StandardCells,
    reference: FloatArray,
    key: int,
    n_trials: int,
    clusters: IntArray | None = None,
) -> FloatArray:
    """Exchange every two standardised measures in random cells; return differences in accuracy, shape (trial, measure pair).

    Each mixture has its own p-values. They are those of the normal distribution that the sum of flipped differences d
    tends to, with mean 0 and variance Σd². The sums of squares of *all* mixtures of a trial follow from one matrix of
    products: with U the scores that were kept and V those that were given away, a mixture of A and B is U_A + V_B.

    `reference`, shape (run pair,), are the `normal_p_values` of the last measure, the reference. The cells of a run on
    topics of one of the `clusters`, shape (topic,), are exchanged together, and flipped together.
    """
    n_runs, n_topics, n_columns = scores.shape
    n_units = n_topics if clusters is None else int(clusters.max()) + 1
    z = add_by_cluster(cells.z[:-1], clusters)
    differences = np.empty((n_trials, (n_columns - 1) * (n_columns - 2) // 2))
    for trial in range(n_trials):
        keep = (topic_signs(key, [trial], n_runs * n_units)[0] > 0).reshape(n_runs, n_units)
        differences[trial] = _compare_mixtures(z, keep, reference)
        tell("exchanging cells for soft pairwise accuracy", trial + 1, n_trials)
    return differences


def _compare_mixtures(z: FloatArray, keep: npt.NDArray[np.bool_], reference: FloatArray) -> FloatArray:
    """Return the differences in soft pairwise accuracy of two measures exchanged either way, shape (measure pair,).

    Standardised scores have shape (measure, run, topic); which cells are kept, shape (run, topic).
    """
    n_measures, n_runs, _ = z.shape
    # Long rows: NumPy makes numbers of the mask row by row.
    cells, mask = z.reshape(n_measures, -1), keep.ravel()
    parts = [(cells * some).reshape(z.shape) for some in (mask, ~mask)]
    # Products of two runs' cells of either kind, and of one with the other; sums of kept cells and of those given away.
    products = [np.matmul(part, part.transpose(0, 2, 1)) for part in parts]
    retained, given = (part.reshape(n_measures * n_runs, -1) for part in parts)
    crossed = (retained @ given.T).reshape(n_measures, n_runs, n_measures, n_runs)
    retained, given = (part.sum(axis=-1).T for part in parts)
    (run, other), (first, second) = (np.triu_indices(length, 1) for length in retained.shape)
    # Σ (x_i − x_j)² of the parts alone, and twice the products between a kept and a given part of another measure.
    alone = [(part[:, run, run] + part[:, other, other] - 2 * part[:, run, other]).T for part in products]
    crossed = crossed.transpose(1, 3, 0, 2)
    # A cell is kept or given away, so that a run's two parts have no product.
    squares = alone[0][:, :, np.newaxis] + alone[1][:, np.newaxis] - 2 * (crossed[run, other] + crossed[other, run])
    gaps = (retained[run] - retained[other])[:, :, np.newaxis] + (given[run] - given[other])[:, np.newaxis]
    soft = 1 - np.abs(find_tail(gaps, squares) - reference[:, np.newaxis, np.newaxis]).mean(axis=0)
    return np.asarray(soft[first, second] - soft[second, first])


def normal_p_values(scores: Scaled) -> FloatArray:
    """Return what `flip_p_values` tends to with many topics, the tail of a normal distribution, shape (measure, run pair)."""
    n_runs, _, n_columns = scores.shape
    p = np.empty((n_columns, n_runs * (n_runs - 1) // 2))
    for pairs, gaps in split_pairs(scores, "differences of runs"):
        for column in range(n_columns):
            gap = scale_squares(np.ascontiguousarray(gaps[..., column]), axis=1)
            p[column, pairs] = find_tail(gap.sum(axis=1), (gap**2).sum(axis=1))
    return p


def resample_soft_accuracy(scores: Scaled, reference: FloatArray, key: int, n_trials: int) -> tuple[FloatArray, float]:
    """Return soft pairwise accuracy on topics drawn anew, by `normal_p_values`, shape (trial, measure).

    With it the mean agreement between the reference on the topics drawn and on all topics.
    """
    _, n_topics, n_columns = scores.shape
    n_pairs = len(reference)
    drawn, alone = np.empty((n_trials, n_columns - 1)), np.empty(n_trials)
    for trials in split_trials(n_topics + n_columns * n_pairs, n_trials):
        weights = draw_weights(key, trials, n_topics)
        tails = np.empty((n_columns, len(trials), n_pairs))
        what = f"soft pairwise accuracy on resampled topics to {trials.stop:,} of {n_trials:,}, run pairs"
        for pairs, gaps in split_pairs(scores, what):
            for column in range(n_columns):
                gap = scale_squares(np.ascontiguousarray(gaps[..., column]), axis=1).T
                tails[column][:, pairs] = find_tail(weights @ gap, weights @ gap**2)
        for column in range(n_columns - 1):
            drawn[trials.start : trials.stop, column] = soft_accuracy(tails[column], tails[-1])
        alone[trials.start : trials.stop] = soft_accuracy(tails[-1], reference)
    return drawn, float(alone.mean())


def find_tail(sums: FloatArray, squares: FloatArray) -> FloatArray:
    """Return P(N(0, Σd²) ≥ Σd); 1 where all d are 0, as flips never change their sum."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(squares, 0))
    z = np.divide(sums, spread, out=np.full(sums.shape, -np.inf), where=spread > 1e-12)
    return np.asarray(ndtr(-z))
