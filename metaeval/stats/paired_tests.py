"""Significance tests of all pairs of runs, under every measure at once.

Every test is paired: it compares two runs topic by topic. Random draws are made once and shared by all pairs and
measures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError, format_option
from metaeval.stats._max_t_trials import PairedTestResult
from metaeval.stats.anova import residual_variance, studentised_range_tail
from metaeval.stats.arrays import (
    LARGEST_UNIT,
    FloatArray,
    IntArray,
    check_count,
    check_shape,
    scale_scores,
    scale_squares,
    tie_tolerance,
)
from metaeval.stats.max_t import SAME_UNITS, VARIANCE_OFFSET, bootstrap_max_t, sign_flip_max_t
from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd
from metaeval.stats.resampling import resampled_topics, topic_signs
from metaeval.stats.streams import check_key

PairedTest: TypeAlias = Literal[
    "randomised-tukey-hsd",
    "max-t",
    "bootstrap-t",
    "tukey-hsd",
    "paired-t",
    "paired-randomisation",
    "paired-bootstrap",
]
Correction: TypeAlias = Literal["auto", "none", "holm", "bonferroni", "benjamini-hochberg"]

FAMILYWISE = ("randomised-tukey-hsd", "max-t", "bootstrap-t", "tukey-hsd")
MAX_T = ("max-t", "bootstrap-t")
FLIPPING = ("max-t", "paired-randomisation")
"""Tests that flip the signs of differences."""

RECOMMENDED: PairedTest = "bootstrap-t"
"""The test to use where nothing asks for another: docs/concepts/which-test.md says why, and on which kinds of scores."""

RESAMPLING = ("randomised-tukey-hsd", *MAX_T, "paired-randomisation", "paired-bootstrap")

# Numbers held at once, so that memory does not grow with the number of trials or pairs.
NUMBERS_A_BLOCK = 2**20

# Relative difference below which two t statistics are equal: it is due to rounding.
SAME_STATISTIC = 1e-8

# Share of the squared mean of a sample up to which its variance is due to rounding.
NO_VARIANCE = 1e-12

Draw: TypeAlias = Callable[[range, int], npt.NDArray[np.integer]]
Count: TypeAlias = Callable[[FloatArray, FloatArray], IntArray]


def all_pairs_test(
    values: npt.ArrayLike,
    *,
    test: PairedTest = "randomised-tukey-hsd",
    correction: Correction = "auto",
    n_permutations: int = 5000,
    key: int | None = None,
    add_one: bool = False,
    variance_offset: float | None = None,
    n_jobs: int = 1,
) -> PairedTestResult:
    """Which runs differ significantly, under each measure?

    Parameters
    ----------
    values : array_like of float, shape (run, topic, measure)
    test : str
        - ``"randomised-tukey-hsd"``: Carterette (2012), Sakai (2018); see `metaeval.stats.randomised_tukey`.
        - ``"max-t"``, ``"bootstrap-t"``: the largest studentised difference under random signs of the topics, and in
          resampled topics; see `metaeval.stats.max_t`.
        - ``"tukey-hsd"``: the studentised range of the two-way analysis of variance, V_E2 on (m - 1)(n - 1)
          degrees of freedom.
        - ``"paired-t"``: Student's t test of the per-topic differences.
        - ``"paired-randomisation"``: Fisher's test, swapping the two runs on random topics.
        - ``"paired-bootstrap"``: Sakai (SIGIR 2006): the topics are drawn with replacement from the
          differences shifted to mean zero, and the studentised means compared.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}
        For the number of pairs, within each measure. ``"auto"`` is Holm's for the last three tests, and none for the
        others, which already account for all pairs.
    n_permutations : int
        Number of trials of the resampling tests, B.
    key : int, optional
        A 64-bit key, from `metaeval.stats.streams.stream_key`; the resampling tests need one.
    add_one : bool
        As in `metaeval.stats.randomised_tukey.p_values`; the max-T tests always add one.
    variance_offset : float, optional
        For ``"bootstrap-t"`` only, as in `metaeval.stats.max_t.bootstrap_max_t`.
    n_jobs : int
        As in `metaeval.stats.randomised_tukey.randomised_tukey_hsd`; tests of single pairs do not use it.

    Returns
    -------
    PairedTestResult
        Two runs with the same scores have p = 1.

    Examples
    --------
    >>> values = np.random.default_rng(0).random((3, 40, 1)) + np.array([0.0, 0.0, 0.5]).reshape(3, 1, 1)
    >>> all_pairs_test(values, test="paired-t").p[0] < 0.05
    array([False,  True,  True])
    >>> all_pairs_test(values, test="paired-bootstrap", n_permutations=1000, key=1).counts[0] < 50
    array([False,  True,  True])
    """
    raw = check_shape(values)
    # These scale scores themselves.
    scores = raw if test in ("randomised-tukey-hsd", *MAX_T) else scale_scores(raw)
    if test not in get_args(PairedTest):
        raise MetaevalError(f"The test must be one of {', '.join(get_args(PairedTest))}, not {test!r}.")
    _check_correction(correction)
    if test in FAMILYWISE and correction not in ("auto", "none"):
        raise MetaevalError(f"{test} already accounts for all pairs, so the {correction} correction does not apply.")
    if variance_offset is not None and test != "bootstrap-t":
        raise MetaevalError(f"{format_option('variance_offset')} is for bootstrap-t, not {test}")
    n_permutations = check_count(n_permutations, "permutations")
    if test not in RESAMPLING:
        p = _tukey_p_values(scores) if test == "tukey-hsd" else _t_p_values(scores)
        return PairedTestResult(p if test in FAMILYWISE else correct(p, correction), None, None, True)
    if key is None:
        raise MetaevalError(f"{test} draws at random, so it needs a key; stream_key makes one.")
    check_key(key)
    if test == "max-t":
        return sign_flip_max_t(scores, n_permutations=n_permutations, key=key, n_jobs=n_jobs)
    if test == "bootstrap-t":
        return bootstrap_max_t(
            scores, n_permutations=n_permutations, key=key, n_jobs=n_jobs,
            variance_offset=VARIANCE_OFFSET if variance_offset is None else variance_offset,
        )  # fmt: skip
    if test == "randomised-tukey-hsd":
        counts = randomised_tukey_hsd(scores, n_permutations=n_permutations, key=key, n_jobs=n_jobs)
    elif test == "paired-randomisation":
        counts = _count_trials(scores, n_permutations, partial(topic_signs, key), _count_signed)
    else:
        counts = _count_trials(scores, n_permutations, partial(resampled_topics, key), _count_resampled)
    p = p_values(counts, n_permutations, add_one=add_one)
    return PairedTestResult(p if test in FAMILYWISE else correct(p, correction), counts, n_permutations, False)


def correct(p: npt.ArrayLike, correction: Correction = "holm") -> FloatArray:
    """Correct p-values for the number of pairs compared (Holm 1979; Benjamini and Hochberg 1995).

    Parameters
    ----------
    p : array_like of float, shape (measure, pair)
        The pairs of a measure are one family.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}
        ``"auto"`` is Holm's.

    Returns
    -------
    ndarray of float64, shape (measure, pair)

    Examples
    --------
    >>> correct([[0.01, 0.02, 0.5]], "bonferroni")
    array([[0.03, 0.06, 1.  ]])
    """
    _check_correction(correction)
    families = np.array(p, dtype=np.float64)
    if correction == "none":
        return families
    n_pairs = families.shape[-1]
    if correction == "bonferroni":
        return np.minimum(families * n_pairs, 1.0)
    order = families.argsort(axis=-1)
    ordered, place = np.take_along_axis(families, order, axis=-1), np.arange(1, n_pairs + 1)
    if correction == "benjamini-hochberg":
        stepped = np.minimum.accumulate((ordered / (place / n_pairs))[..., ::-1], axis=-1)[..., ::-1]
    else:
        stepped = np.maximum.accumulate(ordered * place[::-1], axis=-1)
    corrected = np.empty_like(families)
    np.put_along_axis(corrected, order, np.minimum(stepped, 1.0), axis=-1)
    return corrected


def _check_correction(correction: str) -> None:
    if correction not in get_args(Correction):
        raise MetaevalError(f"The correction must be one of {', '.join(get_args(Correction))}, not {correction!r}.")


def _differences(scores: FloatArray, measure: int, pairs: slice) -> FloatArray:
    """Return the differences of some pairs by topic, each pair at its own scale, shape (topic, pair)."""
    first, second = np.triu_indices(len(scores), 1)
    by_topic = scores[..., measure].T
    return scale_squares(by_topic[:, first[pairs]] - by_topic[:, second[pairs]], axis=0)


def _pair_blocks(scores: FloatArray, size: int) -> list[slice]:
    n_pairs = len(scores) * (len(scores) - 1) // 2
    return [slice(start, min(start + size, n_pairs)) for start in range(0, n_pairs, size)]


def _studentise(means: FloatArray, variances: FloatArray, n_topics: int) -> FloatArray:
    """Divide means by their standard errors: 0 for no difference, infinite for a difference without variance."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.abs(means) / np.sqrt(variances / n_topics)
    return np.where(means == 0, 0.0, statistics)


def _t_p_values(scores: FloatArray) -> FloatArray:
    from scipy.special import stdtr

    n_runs, n_topics, n_measures = scores.shape
    p = np.empty((n_measures, n_runs * (n_runs - 1) // 2))
    for measure in range(n_measures):
        for pairs in _pair_blocks(scores, max(1, NUMBERS_A_BLOCK // n_topics)):
            differences = _differences(scores, measure, pairs)
            statistics = _studentise(differences.mean(axis=0), differences.var(axis=0, ddof=1), n_topics)
            p[measure, pairs] = 2 * stdtr(n_topics - 1, -statistics)
    return p


def _tukey_p_values(scores: FloatArray) -> FloatArray:
    n_runs, n_topics, n_measures = scores.shape
    first, second = np.triu_indices(n_runs, 1)
    ranges = np.empty((n_measures, first.size))
    for measure in range(n_measures):
        # A separate copy, so that the rounding for one measure does not depend on the other measures.
        matrix = scale_squares(np.ascontiguousarray(scores[..., measure].T))
        means = matrix.mean(axis=0)
        ranges[measure] = _studentise(means[first] - means[second], residual_variance(matrix), n_topics)
    return studentised_range_tail(ranges, n_runs, (n_runs - 1) * (n_topics - 1))


def _count_trials(scores: FloatArray, n_permutations: int, draw: Draw, count: Count) -> IntArray:
    """Count by pair the trials that are at least as extreme as what is observed, shape (measure, pair).

    Differences are whole numbers, so that those that are equal in decimals compare as equal. Each pair has a unit of its own,
    so that a precise pair loses no digits to runs that vary much.
    """
    n_runs, n_topics, n_measures = scores.shape
    counts = np.zeros((n_measures, n_runs * (n_runs - 1) // 2), dtype=np.int64)
    block = max(1, NUMBERS_A_BLOCK // n_topics)
    for start in range(0, n_permutations, block):
        drawn = draw(range(start, min(start + block, n_permutations)), n_topics).astype(np.float64)
        size = max(1, NUMBERS_A_BLOCK // max(n_topics, len(drawn)))
        for measure in range(n_measures):
            for pairs in _pair_blocks(scores, size):
                units = np.rint(_differences(scores, measure, pairs) * LARGEST_UNIT)
                counts[measure, pairs] += count(units, drawn)
    return counts


def _count_signed(differences: FloatArray, signs: FloatArray) -> IntArray:
    """Count the trials whose mean difference is at least as large as the observed one (Fisher's randomisation test)."""
    observed = np.abs(differences.sum(axis=0)) - tie_tolerance(2 * len(differences))
    return np.count_nonzero(np.abs(signs @ differences) >= observed, axis=0)


def _count_resampled(differences: FloatArray, drawn: FloatArray) -> IntArray:
    """Count the samples whose studentised mean is at least as large as the observed one (Sakai, SIGIR 2006)."""
    n_topics = len(differences)
    means = _drop_rounding(differences.mean(axis=0))
    observed = _studentise(means, differences.var(axis=0, ddof=1), n_topics)
    shifted = differences - means
    resampled = _drop_rounding(drawn @ shifted / n_topics)
    squares = np.square(resampled)
    variances = (drawn @ np.square(shifted) - n_topics * squares) / (n_topics - 1)
    variances[variances <= NO_VARIANCE * squares] = 0.0
    statistics = _studentise(resampled, variances, n_topics)
    return np.count_nonzero(statistics >= observed * (1 - SAME_STATISTIC), axis=0)


def _drop_rounding(means: FloatArray) -> FloatArray:
    """Make means that are 0 but for the rounding of differences to whole numbers exactly 0, in place."""
    means[np.abs(means) <= SAME_UNITS] = 0.0
    return means
