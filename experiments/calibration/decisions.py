"""Which pairs of runs does each test call different?"""

from __future__ import annotations

from functools import lru_cache
from math import ceil

import numpy as np
from scipy.optimize import brentq

from experiments.calibration.study import STUDY
from metaeval.stats import paired_tests
from metaeval.stats.anova import residual_variance
from metaeval.stats.studentised_range import studentised_range_tail

ALPHA = STUDY["alpha"]


def find_significant(test: str, values: np.ndarray, key: int) -> np.ndarray:
    """Test all pairs of runs in each study.

    Parameters
    ----------
    test : str
        One of the study's tests.
    values : ndarray of float64, shape (run, topic, study)
    key : int
        Of the trials.

    Returns
    -------
    ndarray of bool, shape (study, pair)
    """
    settings = STUDY["tests"][test]
    options = dict(settings["options"])
    if options["test"] == "tukey-hsd":
        return _exceeds_critical_range(values)
    correction = options.pop("correction", None)
    if correction is not None:
        options["correction"] = "none"
    if "permutations" in settings:
        options |= {"n_permutations": count_permutations(test, len(values)), "key": key}
    p = paired_tests.all_pairs_test(values, **options).p
    return p <= ALPHA if correction is None else _is_significant_corrected(p, correction)


def count_permutations(test: str, n_runs: int) -> int:
    """Return B of a resampling test: with a correction, enough for a pair that no trial reached; 0 for other tests."""
    settings = STUDY["tests"][test]
    if "permutations" not in settings:
        return 0
    n_pairs = n_runs * (n_runs - 1) // 2
    least = 1000 * ceil(n_pairs / ALPHA / 1000) if "correction" in settings["options"] else 0
    return max(settings["permutations"], least)


def _is_significant_corrected(p: np.ndarray, correction: str) -> np.ndarray:
    """Decide as `metaeval.stats.paired_tests.correct` does, for all families at once."""
    order = np.argsort(p, axis=1)
    ordered = np.take_along_axis(p, order, axis=1)
    rank = np.arange(p.shape[1])
    if correction == "holm":
        found = np.logical_and.accumulate(ordered * (p.shape[1] - rank) <= ALPHA, axis=1)
    else:
        below = ordered * p.shape[1] / (rank + 1) <= ALPHA
        found = np.logical_or.accumulate(below[:, ::-1], axis=1)[:, ::-1]
    significant = np.empty_like(found)
    np.put_along_axis(significant, order, found, axis=1)
    return significant


def _exceeds_critical_range(values: np.ndarray) -> np.ndarray:
    """Decide as Tukey's HSD does, by its critical value: the p-value of every pair would take 400 times as long."""
    n_runs, n_topics, n_studies = values.shape
    first, second = np.triu_indices(n_runs, 1)
    means = values.mean(axis=1)
    variances = np.array([residual_variance(np.ascontiguousarray(values[..., k].T)) for k in range(n_studies)])
    critical = find_critical_range(n_runs, (n_runs - 1) * (n_topics - 1))
    return (np.abs(means[first] - means[second]) >= critical * np.sqrt(variances / n_topics)).T


@lru_cache
def find_critical_range(n_runs: int, df: int) -> float:
    """Return the studentised range that is exceeded with probability alpha."""
    return float(brentq(lambda q: float(studentised_range_tail(np.array([q]), n_runs, df)[0]) - ALPHA, 1.0, 20.0))
