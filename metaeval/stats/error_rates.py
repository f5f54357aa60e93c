"""How often does a test of all pairs of runs err? Its decisions in studies whose truth is known, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from metaeval.stats.anova import residual_variance, studentised_range_tail
from metaeval.stats.arrays import FloatArray
from metaeval.stats.pair_tests import FAMILYWISE, RESAMPLING, PairedTest, all_pairs_test
from metaeval.stats.resampling import ScoreModel
from metaeval.stats.streams import generator, stream_key

BoolArray: TypeAlias = np.typing.NDArray[np.bool_]


class Errors(NamedTuple):
    """How many pairs a test called different that are not, how many that are, and how many there are of these, by study."""

    false: FloatArray
    found: FloatArray
    differing: FloatArray


def count_errors(significant: BoolArray, means: FloatArray) -> Errors:
    """Compare decisions, shape (study, pair), with the true means, shape (run, study)."""
    first, second = np.triu_indices(len(means), 1)
    differs = (means[first] != means[second]).T
    counts = (significant & ~differs, significant & differs, differs)
    return Errors(*(pairs.sum(axis=1).astype(np.float64) for pairs in counts))


def decide(
    test: PairedTest,
    values: FloatArray,
    *,
    alpha: float,
    key: int,
    options: Mapping[str, Any] | None = None,
) -> BoolArray:
    """Test all pairs of runs in each study, scores of shape (run, topic, study): whether p ≤ α, shape (study, pair).

    With a correction ``n_permutations`` is raised until a pair that no trial reached can be significant.
    """
    n_runs, n_topics, n_studies = values.shape
    if test == "tukey-hsd":
        # By its critical value: the p-value of every pair would take 400 times as long.
        first, second = np.triu_indices(n_runs, 1)
        means = values.mean(axis=1)
        variances = np.array([residual_variance(np.ascontiguousarray(values[..., k].T)) for k in range(n_studies)])
        critical = find_critical_range(n_runs, (n_runs - 1) * (n_topics - 1), alpha)
        return np.asarray((np.abs(means[first] - means[second]) >= critical * np.sqrt(variances / n_topics)).T)
    given = dict(options or {})
    if test in RESAMPLING:
        least = 0 if test in FAMILYWISE else 1000 * ceil(n_runs * (n_runs - 1) / 2 / alpha / 1000)
        given |= {"n_permutations": max(int(given.get("n_permutations", 1000)), least), "key": key}
    # A p of 0 would survive any correction.
    add_one = test not in FAMILYWISE and given.get("correction") != "none"
    return np.asarray(all_pairs_test(values, test=test, **given, add_one=add_one).p <= alpha)


@lru_cache
def find_critical_range(n_runs: int, df: int, alpha: float) -> float:
    """Return the studentised range that is exceeded with probability alpha."""
    from scipy.optimize import brentq

    return float(brentq(lambda q: float(studentised_range_tail(np.array([q]), n_runs, df)[0]) - alpha, 1.0, 50.0))


def find_typical_error(scores: FloatArray, n_topics: int) -> float:
    """Return the standard error of the mean difference of the median pair of runs, of those whose differences vary."""
    scale = np.ldexp(1.0, np.frexp(np.abs(scores).max())[1])  # so that squares are neither too large nor too small
    covariances = np.cov(scores / scale)
    spreads = np.diagonal(covariances)
    variances = (spreads[:, np.newaxis] + spreads - 2 * covariances)[np.triu_indices(len(scores), 1)]
    varying = variances[variances > 1e-12 * spreads.max(initial=0.0)]
    return float(np.sqrt(np.median(varying) / n_topics) * scale) if len(varying) else 0.0


def count_study_errors(
    model: ScoreModel, test: PairedTest, sizes: tuple[int, int, int], alpha: float, shift: float,
    place: tuple[int, str, str], studies: range,
) -> FloatArray:  # fmt: skip
    """Return false differences, and the share of true ones found, of each study, shape (study, 2).

    `sizes` are how many studies there are of runs of equal means, which come first, topics, and trials of a test.
    """
    n_equal, n_topics, n_permutations = sizes
    rng = generator(*place, str(studies.start))
    values = model.draw(n_topics, len(studies), rng)
    means = np.zeros((len(values), len(studies)))
    if studies.start >= n_equal:
        means[: len(means) // 2] = shift
        means = rng.permuted(means, axis=0)[model.copy_of]
        values += means[:, np.newaxis]
    key = stream_key(*place, str(studies.start), "trials")
    significant = decide(test, values, alpha=alpha, key=key, options={"n_permutations": n_permutations})
    errors = count_errors(significant, means)
    found = np.divide(errors.found, errors.differing, out=np.zeros(len(studies)), where=errors.differing > 0)
    return np.stack([errors.false, found], axis=1)
