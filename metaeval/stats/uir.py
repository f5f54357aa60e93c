"""Unanimous improvement of a run on another run, and its correlation with a measure (Amigó et al. 2020, §5.1).

Pairs of runs are in the order of `numpy.triu_indices(n_runs, 1)`. Every quantity for an ordered pair (s, s') is the
negative of that for (s', s), so one of the two orders is enough.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._check import FloatArray, check_values
from metaeval.stats.progress import tell
from metaeval.stats.scale import round_scaled

CELLS = 4_000_000  # numbers that are ranked at once: 32 MB
_POPCOUNT = np.array([bin(word).count("1") for word in range(1 << 16)], dtype=np.uint8)


def at_least_as_good(values: npt.ArrayLike) -> npt.NDArray[np.uint16]:
    """On which topics is each run of a pair at least as good as the other? One bit per topic.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        Scores; higher is better for all measures.

    Returns
    -------
    ndarray of uint16, shape (measure, 2, pair, word)
        ``[m, 0]`` packs m(s_t) ≥ m(s'_t) over topics t, ``[m, 1]`` the reverse; bits beyond the last topic are 0.

    Raises
    ------
    MetaevalError
        If there are not three axes, fewer than two runs or no topic, or a score is not finite.

    Examples
    --------
    >>> at_least_as_good(np.array([[[0.1], [0.5]], [[0.3], [0.5]]]))[0, :, 0, 0].tolist()   # in binary: 10 and 11
    [2, 3]
    """
    scores = _check_scores(values)
    first, second = np.triu_indices(len(scores), 1)
    # One measure at a time: differences of all pairs of runs are many.
    each = (pack_verdicts(round_scaled(one[first] - one[second])) for one in np.split(scores, scores.shape[2], axis=2))
    return np.concatenate(list(each))


def pack_verdicts(gaps: FloatArray) -> npt.NDArray[np.uint16]:
    """Return on which topics differences of two runs are at least 0, and at most 0, as bits.

    Parameters
    ----------
    gaps : ndarray of float64, shape (pair, topic, measure)

    Returns
    -------
    ndarray of uint16, shape (measure, 2, pair, word)
        As `at_least_as_good` returns them.
    """
    n_pairs, n_topics, n_measures = gaps.shape
    packed = np.zeros((n_measures, 2, n_pairs, 2 * -(-n_topics // 16)), dtype=np.uint8)
    for m, gap in enumerate(np.moveaxis(gaps, 2, 0)):
        for side, better in enumerate((gap >= 0, gap <= 0)):
            packed[m, side, :, : -(-n_topics // 8)] = np.packbits(better, axis=1, bitorder="little")
    return packed.view("<u2").astype(np.uint16)


def unanimous(bits: npt.NDArray[np.uint16], members: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Count topics of unanimous improvement for sets of measures: |{t: s ≥ s'}| − |{t: s' ≥ s}|.

    Parameters
    ----------
    bits : ndarray of uint16, shape (measure, 2, pair, word)
        From `at_least_as_good`.
    members : array_like of bool, shape (set, measure)
        Which measures are in each set; no set is empty.

    Returns
    -------
    ndarray of int64, shape (set, pair)
        UIR times the number of topics. A topic on which two runs are equal in every measure of the set counts for
        both, and so cancels out.

    Raises
    ------
    MetaevalError
        If a set is empty.
    """
    sets = np.asarray(members, dtype=bool)
    if not sets.any(axis=1).all():
        raise MetaevalError("A reference set needs at least one measure.")
    found = np.empty((len(sets), bits.shape[2]), dtype=np.int64)
    for position, inside in enumerate(sets):
        # One set at a time: its bits are a few words per pair, which stay in the cache.
        together = np.bitwise_and.reduce(bits[inside], axis=0)
        counted = _POPCOUNT[together].sum(axis=-1, dtype=np.int64)
        found[position] = counted[0] - counted[1]
    return found


def all_subsets(n_members: int) -> npt.NDArray[np.bool_]:
    """Return every non-empty subset, shape (2**n − 1, n): row i holds the binary digits of i + 1."""
    numbers = np.arange(1, 1 << n_members)
    return (numbers[:, np.newaxis] >> np.arange(n_members) & 1).astype(bool)


def signed_ranks(differences: npt.ArrayLike) -> FloatArray:
    """Rank differences together with their negatives, with average ranks for ties, and subtract the mean rank.

    Over ordered pairs each difference occurs with both signs. Its centred rank is therefore its sign times the
    number of smaller magnitudes plus half of the number of equal ones.

    Parameters
    ----------
    differences : array_like of float, shape (..., pair)
        One difference per unordered pair, rounded by the caller so that equal differences are ties.

    Returns
    -------
    ndarray of float64, shape (..., pair)
        The rank among all 2 · pair values, minus the mean rank.

    Examples
    --------
    >>> signed_ranks([0.2, -0.1, 0.0, 0.2])
    array([ 3. , -1.5,  0. ,  3. ])
    """
    values = np.asarray(differences, dtype=np.float64)
    size = np.abs(values)
    order = np.argsort(size, axis=-1)
    ascending = np.take_along_axis(size, order, axis=-1)
    n = values.shape[-1]
    place = np.arange(n)
    new = np.ones(values.shape, dtype=bool)
    new[..., 1:] = ascending[..., 1:] > ascending[..., :-1]
    # For each value, the first position of its block of ties, and the position after the last.
    start = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    last = np.ones(values.shape, dtype=bool)
    last[..., :-1] = new[..., 1:]
    end = np.flip(np.minimum.accumulate(np.flip(np.where(last, place + 1, n), axis=-1), axis=-1), axis=-1)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (start + end) / 2, axis=-1)
    return np.sign(values) * ranks


def spearman_over_pairs(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """Compute Spearman's ρ, with average ranks, over all ordered pairs of runs.

    Parameters
    ----------
    first : array_like of float, shape (..., set, pair)
    second : array_like of float, shape (..., measure, pair)

    Returns
    -------
    ndarray of float64, shape (..., set, measure)
        NaN if all differences on one side are 0.

    Examples
    --------
    >>> float(spearman_over_pairs([[1, 2, 1]], [[0.1, 0.4, 0.3]])[0, 0].round(4))
    0.971
    """
    one, two = signed_ranks(first), signed_ranks(second)
    product = one @ np.swapaxes(two, -1, -2)
    lengths = (one**2).sum(axis=-1)[..., :, np.newaxis] * (two**2).sum(axis=-1)[..., np.newaxis, :]
    found = np.divide(product, np.sqrt(lengths), out=np.full(product.shape, np.nan), where=lengths > 0)
    return np.clip(found, -1.0, 1.0)


def mean_differences(values: npt.ArrayLike) -> FloatArray:
    """Return m(s) − m(s') of the mean scores over topics, rounded, shape (measure, pair)."""
    means = _check_scores(values).mean(axis=1)
    first, second = np.triu_indices(len(means), 1)
    return round_scaled(means[first] - means[second]).T


def coverage_of_sets(values: npt.ArrayLike, reference: npt.ArrayLike, members: npt.ArrayLike) -> FloatArray:
    """Compute the coverage of every measure with respect to sets of reference measures.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
        Scores; higher is better for all measures.
    reference : array_like of float, shape (run, topic, reference measure)
        Scores of the measures in the sets; higher is better.
    members : array_like of bool, shape (set, reference measure)

    Returns
    -------
    ndarray of float64, shape (set, measure)
        NaN if a measure, or the UIR of a set, does not distinguish any two runs.

    Raises
    ------
    MetaevalError
        If an array is not as described, or a set is empty.
    """
    bits, differences = at_least_as_good(reference), mean_differences(values)
    sets = np.asarray(members, dtype=bool)
    size = max(1, CELLS // max(1, bits.shape[2]))
    parts = []
    for begin in range(0, len(sets), size):
        parts.append(spearman_over_pairs(unanimous(bits, sets[begin : begin + size]), differences))
        tell("reference sets", min(begin + size, len(sets)), len(sets))
    return np.concatenate(parts)


def coverage_resampled(values: npt.ArrayLike, reference: npt.ArrayLike, weights: npt.NDArray[np.int64]) -> FloatArray:
    """Compute the coverage of every measure on resampled topics, with all references in one set.

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
    reference : array_like of float, shape (run, topic, reference measure)
    weights : ndarray of int, shape (trial, topic)
        How often each topic occurs, as `metaeval.stats.resampling.resampled_topics` draws them.

    Returns
    -------
    ndarray of float64, shape (trial, measure)
    """
    scores, base = _check_scores(values), _check_scores(reference)
    first, second = np.triu_indices(len(scores), 1)
    gap = round_scaled(base[first] - base[second])
    verdict = (gap >= 0).all(axis=2).astype(np.float64) - (gap <= 0).all(axis=2)  # pair × topic
    n_topics, n_measures = scores.shape[1:]
    found = np.empty((len(weights), n_measures))
    size = max(1, CELLS // (len(first) * (n_measures + 1)))
    for begin in range(0, len(weights), size):
        part = slice(begin, begin + size)
        counted = weights[part].astype(np.float64)
        means = np.einsum("bt,rtm->bmr", counted, scores, optimize=True) / n_topics
        differences = round_scaled(means[..., first] - means[..., second])
        # The counts are whole numbers, so their sums are exact.
        found[part] = spearman_over_pairs((counted @ verdict.T)[:, np.newaxis], differences)[:, 0]
        tell("resampling topics", min(begin + size, len(weights)), len(weights))
    return found


def _check_scores(values: npt.ArrayLike) -> FloatArray:
    """Check the scores; unlike in `check_values`, a single topic is enough, on which UIR is then based."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim == 3 and scores.shape[1] == 1:
        return check_values(np.repeat(scores, 2, axis=1))[:, :1]
    return check_values(scores)
