"""Unanimous improvement of a run on another run, and its correlation with a measure (Amigó et al. 2020, §5.1).

Pairs of runs are in the order of `numpy.triu_indices(n_runs, 1)`. Every quantity for an ordered pair (s, s') is the
negative of that for (s', s), so one of the two orders is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_option
from metaeval.stats.blocks import FloatArray, IntArray, Scaled, split_pairs
from metaeval.stats.parallel import tell
from metaeval.stats.resampling import WEIGHTS_HELD

CELLS = 4_000_000  # numbers that are ranked at once: 32 MB

BITS_A_BLOCK = 2**23
"""Bytes of verdicts about pairs of runs that are gathered before sets of measures are counted in them."""

SAME = 1e-9
"""Differences of scaled scores that are no farther apart are equal.

Differences that are equal as fractions differ as floats by much less, different ones by much more. Rounding instead would
tear apart equal fractions half-way between two rounded numbers.
"""

LONG = 100_000_000
"""Pairs of runs, times resamples, whose ranking takes more than half a minute."""

_POPCOUNT = np.array([bin(word).count("1") for word in range(1 << 16)], dtype=np.uint8)


def pack_verdicts(gaps: FloatArray) -> npt.NDArray[np.uint16]:
    """Pack m(s_t) ≥ m(s'_t) over topics t, and the reverse, one bit per topic, shape (measure, 2, pair, word).

    `gaps`, shape (pair, topic, measure), are differences of scaled scores. Bits beyond the last topic are 0.
    """
    n_pairs, n_topics, n_measures = gaps.shape
    packed = np.zeros((n_measures, 2, n_pairs, 2 * -(-n_topics // 16)), dtype=np.uint8)
    for m, gap in enumerate(np.moveaxis(gaps, 2, 0)):
        for side, better in enumerate((gap >= -SAME / 2, gap <= SAME / 2)):
            packed[m, side, :, : -(-n_topics // 8)] = np.packbits(better, axis=1, bitorder="little")
    return packed.view("<u2").astype(np.uint16)


def unanimous(bits: npt.NDArray[np.uint16], members: npt.ArrayLike) -> IntArray:
    """Count topics of unanimous improvement for sets of measures: |{t: s ≥ s'}| − |{t: s' ≥ s}| (Amigó et al. 2020, §5.1).

    Parameters
    ----------
    bits : ndarray of uint16, shape (measure, 2, pair, word)
        From `pack_verdicts`.
    members : array_like of bool, shape (set, measure)
        Which measures are in each set; no set is empty.

    Returns
    -------
    ndarray of int64, shape (set, pair)
        UIR times the number of topics. A topic on which two runs are equal in every measure of the set counts for
        both, and so cancels out.

    Examples
    --------
    >>> gaps = np.array([[[0.1, 0.2], [0.1, -0.2], [0.0, 0.0]]])
    >>> unanimous(pack_verdicts(gaps), [[True, False], [True, True]]).tolist()
    [[2], [1]]
    """
    sets = np.asarray(members, dtype=bool)
    if not sets.any(axis=1).all():
        raise MetaevalError("A reference set needs at least one measure.")
    counts = np.empty((len(sets), bits.shape[2]), dtype=np.int64)
    for position, inside in enumerate(sets):
        # One set at a time: its bits are a few words per pair, which stay in the cache.
        together = np.bitwise_and.reduce(bits[inside], axis=0)
        counted = _POPCOUNT[together].sum(axis=-1, dtype=np.int64)
        counts[position] = counted[0] - counted[1]
    return counts


def all_subsets(n_members: int) -> npt.NDArray[np.bool_]:
    """Return every non-empty subset, shape (2**n − 1, n): row i holds the binary digits of i + 1."""
    numbers = np.arange(1, 1 << n_members)
    return (numbers[:, np.newaxis] >> np.arange(n_members) & 1).astype(bool)


def signed_ranks(differences: npt.ArrayLike) -> FloatArray:
    """Rank differences of pairs, on the last axis, together with their negatives, and subtract the mean rank.

    Differences no more than `SAME` apart are ties, at their average. Over ordered pairs each difference occurs with both
    signs. Its centred rank is therefore its sign times the number of smaller magnitudes plus half of the number of equal ones.
    """
    values = np.asarray(differences, dtype=np.float64)
    size = np.abs(values)
    order = np.argsort(size, axis=-1)
    ascending = np.take_along_axis(size, order, axis=-1)
    n = values.shape[-1]
    position = np.arange(n)
    new = np.ones(values.shape, dtype=bool)
    new[..., 1:] = ascending[..., 1:] - ascending[..., :-1] > SAME
    # For each value, the first position of its block of ties, and the position after the last.
    start = np.maximum.accumulate(np.where(new, position, 0), axis=-1)
    last = np.ones(values.shape, dtype=bool)
    last[..., :-1] = new[..., 1:]
    end = np.flip(np.minimum.accumulate(np.flip(np.where(last, position + 1, n), axis=-1), axis=-1), axis=-1)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (start + end) / 2, axis=-1)
    return np.where(size > SAME, np.sign(values), 0.0) * ranks


def spearman_over_pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """Compute Spearman's ρ over all ordered pairs of runs of shapes (..., set, pair) and (..., measure, pair).

    The result has shape (..., set, measure); NaN if all differences on one side are 0.
    """
    left, right = signed_ranks(first), signed_ranks(second)
    product = left @ np.swapaxes(right, -1, -2)
    lengths = (left**2).sum(axis=-1)[..., :, np.newaxis] * (right**2).sum(axis=-1)[..., np.newaxis, :]
    rho = np.divide(product, np.sqrt(lengths), out=np.full(product.shape, np.nan), where=lengths > 0)
    return np.clip(rho, -1.0, 1.0)


def count_unanimous(scores: Scaled, members: npt.ArrayLike) -> IntArray:
    """Count topics of unanimous improvement for sets of measures as `unanimous` does."""
    sets = np.asarray(members, dtype=bool)
    counts = np.empty((len(sets), _count_pairs(scores)), dtype=np.int64)
    for pairs, bits in _compare_pairs(scores):
        counts[:, pairs] = unanimous(bits, sets)
    return counts


def _compare_pairs(scores: Scaled) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.uint16]]]:
    """Yield pairs of runs and what `pack_verdicts` makes of them, as many at a time as `BITS_A_BLOCK` holds."""
    pairs, bits = [], []
    for some, gaps in split_pairs(scores, "comparing runs"):
        pairs.append(np.arange(some.start, some.stop))
        bits.append(pack_verdicts(gaps))
        if sum(part.nbytes for part in bits) >= BITS_A_BLOCK:
            yield np.concatenate(pairs), np.concatenate(bits, axis=2)
            pairs, bits = [], []
    if bits:
        yield np.concatenate(pairs), np.concatenate(bits, axis=2)


def coverage_of_sets(scores: Scaled, reference: Scaled, members: npt.ArrayLike) -> FloatArray:
    """Compute the coverage of every measure with respect to sets of reference measures (Amigó et al. 2020, §5.1).

    Parameters
    ----------
    scores : Scaled
        Of shape (run, topic, measure); higher is better for all measures.
    reference : Scaled
        Scores of the measures in the sets; higher is better.
    members : array_like of bool, shape (set, reference measure)
        Which measures are in each set; no set is empty.

    Returns
    -------
    ndarray of float64, shape (set, measure)
        NaN if a measure, or the UIR of a set, does not distinguish any two runs.

    Examples
    --------
    >>> scores = Scaled(np.array([[[0.5], [0.6]], [[0.7], [0.5]], [[0.9], [0.9]]]))
    >>> coverage_of_sets(scores, scores, [[True]]).round(2)
    array([[0.96]])
    """
    sets, n_pairs = np.asarray(members, dtype=bool), _count_pairs(scores)
    differences = _find_differences(scores.means().T)
    a_pass = max(1, WEIGHTS_HELD // n_pairs)
    few = max(1, CELLS // n_pairs)
    parts = []
    for start in range(0, len(sets), a_pass):
        counts = count_unanimous(reference, sets[start : start + a_pass])
        for first in range(0, len(counts), few):
            parts.append(spearman_over_pairs(counts[first : first + few], differences))
            tell("reference sets", min(start + first + few, len(sets)), len(sets))
    return np.concatenate(parts)


def coverage_resampled(
    scores: Scaled, reference: Scaled, draw: Callable[[range], FloatArray], n_trials: int
) -> FloatArray:
    """Compute the coverage of every measure on resampled topics, with all references in one set, shape (trial, measure)."""
    n_topics, n_measures = scores.shape[1:]
    n_pairs = _count_pairs(scores)
    a_pass = max(1, min(n_trials, WEIGHTS_HELD // (n_topics + n_pairs)))
    if n_trials * n_pairs > LONG:
        tell(
            f"the {n_pairs:,} pairs of runs are ranked anew on each of the {n_trials:,} resamples, which takes long: "
            f"{format_option('n_bootstrap', 0)} leaves the intervals out"
        )
    coverage = np.empty((n_trials, n_measures))
    few = max(1, CELLS // (n_pairs * (n_measures + 1)))
    for start in range(0, n_trials, a_pass):
        trials = range(start, min(start + a_pass, n_trials))
        weights = draw(trials)
        counts = np.empty((len(trials), n_pairs))
        for pairs, gaps in split_pairs(reference, "comparing runs on resampled topics"):
            verdict = (gaps >= -SAME / 2).all(axis=2).astype(np.float64) - (gaps <= SAME / 2).all(axis=2)
            counts[:, pairs] = weights @ verdict.T  # whole numbers, so that their sums are exact
        means = scores.weigh(weights).transpose(0, 2, 1) / n_topics
        for first in range(0, len(trials), few):
            some = slice(first, min(first + few, len(trials)))
            rho = spearman_over_pairs(counts[some, np.newaxis], _find_differences(means[some]))
            coverage[start + some.start : start + some.stop] = rho[:, 0]
            tell("resampling topics", start + some.stop, n_trials)
    return coverage


def _count_pairs(scores: Scaled) -> int:
    n_runs = scores.shape[0]
    return n_runs * (n_runs - 1) // 2


def _find_differences(means: FloatArray) -> FloatArray:
    """Return the differences of means of shape (..., run), for every pair of runs."""
    first, second = np.triu_indices(means.shape[-1], 1)
    return np.asarray(means[..., first] - means[..., second])
