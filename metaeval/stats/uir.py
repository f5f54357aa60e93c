"""Unanimous improvement of a run on another run, and its correlation with a measure (Amigó et al. 2020, §5.1).

Every quantity for an ordered pair of runs (s, s') is the negative of that for (s', s), so one of the two orders is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, Scaled, divide, split_pairs
from metaeval.stats.parallel import split_work

CELLS = 4_000_000  # numbers that are ranked at once: 32 MB

SAME = 1e-9
"""Differences of scaled scores that are no farther apart are equal: rounded, equal fractions half-way would not be."""


def count_unanimous(reference: Scaled) -> IntArray:
    """Return UIR times the number of topics: |{t: s ≥ s'}| − |{t: s' ≥ s}| (Amigó et al. 2020, §5.1), shape (pair,)."""
    decided = [_decide(gaps).sum(axis=1, dtype=np.int64) for _, gaps in split_pairs(reference.values)]
    return np.concatenate(decided)


def _decide(gaps: FloatArray) -> npt.NDArray[np.int8]:
    """Return 1, 0 or −1 by which of two runs all measures prefer on a topic, of gaps of shape (pair, topic, measure)."""
    # One measure after the other: NumPy reduces a last axis of few numbers slowly.
    sides = (np.moveaxis(side, 2, 0) for side in (gaps >= -SAME / 2, gaps <= SAME / 2))
    better, worse = (reduce(np.logical_and, side) for side in sides)
    return better.astype(np.int8) - worse


def signed_ranks(differences: npt.ArrayLike) -> FloatArray:
    """Rank differences of pairs, on the last axis, together with their negatives, and subtract the mean rank.

    A difference occurs with both signs: its centred rank is its sign times the number of smaller magnitudes plus half of the
    number of equal ones, no more than `SAME` apart.
    """
    values = np.asarray(differences, dtype=np.float64)
    size, position = np.abs(values), np.arange(values.shape[-1])
    order = np.argsort(size, axis=-1)
    new = np.diff(np.take_along_axis(size, order, axis=-1), axis=-1, prepend=-np.inf) > SAME
    # The first position of each block of ties, and the one after its last.
    start = np.maximum.accumulate(np.where(new, position, 0), axis=-1)
    end = np.where(np.roll(new, -1, axis=-1), position + 1, values.shape[-1])
    end = np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (start + end) / 2, axis=-1)
    return np.where(size > SAME, np.sign(values), 0.0) * ranks


def _correlate(counts: npt.ArrayLike, means: FloatArray) -> FloatArray:
    """Return Spearman's ρ over ordered pairs of runs, (..., measure), of shapes (..., pair) and (..., measure, run), or NaN."""
    first, second = np.triu_indices(means.shape[-1], 1)
    left, right = signed_ranks(counts)[..., np.newaxis, :], signed_ranks(means[..., first] - means[..., second])
    product = (left @ np.swapaxes(right, -1, -2))[..., 0, :]
    lengths = (left**2).sum(axis=-1) * (right**2).sum(axis=-1)
    return np.clip(divide(product, np.sqrt(lengths)), -1.0, 1.0)


def find_coverage(scores: Scaled, reference: Scaled) -> FloatArray:
    """Compute the coverage of every measure with respect to the reference measures, shape (measure,), or NaN."""
    return _correlate(count_unanimous(reference), scores.means().T)


def coverage_resampled(
    scores: Scaled, reference: Scaled, draw: Callable[[range], FloatArray], n_trials: int
) -> FloatArray:
    """Compute the coverage of every measure on resampled topics, with all references in one set, shape (trial, measure)."""
    n_runs, n_topics, n_measures = scores.shape
    n_pairs = n_runs * (n_runs - 1) // 2
    coverage = np.empty((n_trials, n_measures))
    for trials in split_work(n_trials, CELLS // (n_pairs * (n_measures + 1)), "resampling topics"):
        weights = draw(range(trials.start, trials.stop))
        counts = np.empty((len(weights), n_pairs))
        for pairs, gaps in split_pairs(reference.values):
            counts[:, pairs] = weights @ _decide(gaps).T.astype(np.float64)  # whole numbers, whose sums are exact
        coverage[trials] = _correlate(counts, scores.weigh(weights).transpose(0, 2, 1) / n_topics)
    return coverage
