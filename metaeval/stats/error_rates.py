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
