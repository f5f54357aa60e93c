"""Power on resampled topics: the held critical value is the test's own, and noise is counted once."""

from __future__ import annotations

import numpy as np
import pytest

from metaeval.stats.pair_tests import all_pairs_test
from metaeval.stats.significant_counts import count_wide_pairs, find_critical_value, resample_power


def resample(values, p, weights, **options):
    return resample_power(values, p, lambda trials: weights[trials.start : trials.stop], len(weights), **options)


def graded(n_runs=12, n_topics=40, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.linspace(0, 1, n_runs)[:, None, None] + noise * rng.normal(size=(n_runs, n_topics, 2))


@pytest.mark.parametrize("test", ["randomised-tukey-hsd", "tukey-hsd"])
def test_the_critical_value_is_tukeys(test):
    from scipy.stats import studentized_range

    values = graded()
    p = all_pairs_test(values, test=test, n_permutations=4000, key=1).p[0]
    means = values[..., 0].mean(axis=1)
    first, second = np.triu_indices(12, 1)
    found = find_critical_value(np.abs(means[first] - means[second]), np.maximum(p, 1 / 8000), 0.05)
    centred = values[..., 0] - values[..., 0].mean(axis=0)
    residual = ((centred - centred.mean(axis=1, keepdims=True)) ** 2).sum() / (11 * 39)
    assert found == pytest.approx(studentized_range.ppf(0.95, 12, 11 * 39) * np.sqrt(residual / 40), rel=0.1)


def test_as_many_statistics_reach_the_critical_value_as_pairs_are_significant():
    rng = np.random.default_rng(0)
    for found in (1, 4, 10):
        statistics = np.sort(rng.random(10))[::-1] + 0.1
        p = np.sort(np.concatenate([rng.uniform(0, 0.05, found), rng.uniform(0.06, 1, 10 - found)]))
        assert np.count_nonzero(statistics >= find_critical_value(statistics, p, 0.05)) == found
    assert find_critical_value(np.array([1.0, 2.0]), np.array([0.9, 0.5]), 0.05) > 2.0


@pytest.mark.parametrize("studentised", [False, True])
def test_the_mean_over_resamples_is_near_the_power_itself(studentised):
    values = graded(n_runs=20, noise=1.5)
    p = all_pairs_test(values, test="paired-t" if studentised else "tukey-hsd").p
    weights = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=400)
    shares, _ = resample(values, p, weights, studentised=studentised)
    np.testing.assert_allclose(shares.mean(axis=0), (p <= 0.05).mean(axis=1), atol=0.06)
    assert (shares.std(axis=0) > 0).all()


def test_identical_runs_turn_together():
    values = graded()
    assert resample(values, np.ones((2, 66)), np.ones((1, 40)))[1].tolist() == [1 / 66] * 2
    values[1:4] = values[0]
    assert resample(values, np.ones((2, 66)), np.ones((1, 40)))[1].tolist() == [4 / 66] * 2


def test_pairs_that_lie_apart_are_counted_without_looking_at_every_one():
    rng = np.random.default_rng(0)
    for case in range(200):
        # Tenths, some of them off by rounding, so that many differences are the limit itself or next to it.
        n_runs = int(rng.integers(2, 40))
        means = rng.integers(0, 8, n_runs) / 10 + rng.choice([0, 1e-16], n_runs)
        first, second = np.triu_indices(n_runs, 1)
        for limit in (0.0, 0.1, 0.3, 0.1 + 0.2, abs(means[0] - means[-1]), np.inf):
            expected = np.count_nonzero(np.abs(means[first] - means[second]) >= limit)
            assert count_wide_pairs(means[:, np.newaxis], np.array([limit])).tolist() == [expected], (case, limit)
