"""Intervals of means against scipy, and comparisons with the best against loops."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp, ttest_ind

from metaeval.stats.clusters import pool_clusters
from metaeval.stats.run_means import find_best, interval_of_means, interval_of_tasks


def test_the_interval_is_students_and_of_zeros_and_ones_that_of_clopper_and_pearson():
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=(4, 17))
    expected = [ttest_1samp(row, 0).confidence_interval(0.9) for row in values]
    np.testing.assert_allclose(np.transpose(interval_of_means(values, confidence=0.9)), expected)
    right = [0, 1, 9, 16, 17]
    exact = [binomtest(k, 17).proportion_ci(0.95, method="exact") for k in right]
    found = interval_of_means(np.array([np.arange(17) < k for k in right], dtype=float))
    np.testing.assert_allclose(np.transpose(found), exact, atol=1e-12)
    assert np.isnan(interval_of_means(np.full((1, 9), 0.3))).all()
    for factor in (2.0**-900, 2.0**900):
        again = np.transpose(interval_of_means(values * factor, confidence=0.9))
        np.testing.assert_allclose(again / factor, expected)


def test_topics_in_clusters_are_as_many_as_there_are_clusters():
    rng = np.random.default_rng(1)
    single = (rng.random((3, 20)) < [[0.5], [0.9], [2.0]]).astype(float)
    codes = np.repeat(np.arange(20), 4)
    low, high = interval_of_means(single[:, codes], pooled=pool_clusters(single[:, codes], codes))
    expected = ttest_1samp(single[0], 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx(tuple(expected))
    assert (low[2], high[2]) == pytest.approx(tuple(binomtest(20, 20).proportion_ci(0.95)))
    assert high.max() <= 1


def test_the_mean_of_two_tasks_has_the_interval_of_welch():
    rng = np.random.default_rng(3)
    tasks = [rng.normal(size=(3, 9)), 3 * rng.normal(size=(3, 30))]
    expected = [ttest_ind(a, -b, equal_var=False).confidence_interval(0.95) for a, b in zip(*tasks, strict=True)]
    found = interval_of_tasks(tasks, [None, None], np.ones(2))
    np.testing.assert_allclose(np.transpose(found), np.array(expected) / 2)
    tasks[1][0] = np.nan  # a run without the task has the mean of the other
    tasks[0][1, 1:] = np.nan  # of a single topic nothing tells how much it varies
    low, high = interval_of_tasks(tasks, [None, None], np.ones(2))
    assert (low[0], high[0]) == pytest.approx(tuple(ttest_1samp(tasks[0][0], 0).confidence_interval(0.95)))
    assert np.isnan([low[1], high[1]]).all()


def test_coverage_is_what_is_claimed_where_successes_are_rare():
    rng = np.random.default_rng(2)
    low, high = interval_of_means((rng.random((4000, 25)) < 0.04).astype(float))
    assert np.mean((low <= 0.04) & (high >= 0.04)) > 0.95


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_may_be_the_best_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    noise, means = rng.standard_normal((6, 301)), rng.normal(0, 2, 6)
    pairs = noise[:, None] - noise[None]
    found = find_best(np.subtract.outer(means, means), lambda: (pairs[i, i + 1 :] for i in range(5)), 0.1)
    for run in range(6):
        others = [other for other in range(6) if other != run]
        largest = sorted(max(abs(noise[other, b] - noise[run, b]) for other in others) for b in range(301))
        critical = largest[int(np.ceil(0.9 * 300))]
        assert found[run] == (max(means[other] - means[run] for other in others) <= critical)
    assert found[means.argmax()]
