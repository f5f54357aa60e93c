"""Intervals over topics lie where they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import binomtest, t

from metaeval.stats.intervals import centre_interval, explain_no_interval, interval_of_pairs


def test_the_interval_is_that_of_a_mean_on_the_transformed_scale():
    drawn = np.random.default_rng(0).normal(0.5, 0.01, 4000)
    for scale, forward in (("correlation", np.arctanh), ("share", logit)):
        low, high = centre_interval(0.4, drawn, 40, scale=scale)
        slope = (forward(0.4001) - forward(0.3999)) / 0.0002
        reach = t.ppf(0.975, 39) * drawn.std(ddof=1) * np.sqrt(40 / 39) * slope
        np.testing.assert_allclose(forward([low, high]), forward(0.4) + np.array([-reach, reach]), rtol=1e-6)


def test_where_the_resamples_lie_does_not_move_the_interval():
    drawn = np.random.default_rng(0).normal(0.5, 0.05, (500, 3))
    np.testing.assert_allclose(
        centre_interval([0.1, 0.5, 0.9], drawn, 30), centre_interval([0.1, 0.5, 0.9], drawn + 0.1, 30)
    )


def test_an_estimate_at_the_end_of_the_scale_has_an_interval_that_holds_it():
    low, high = centre_interval([1.0, -1.0], np.random.default_rng(0).uniform(0.8, 1, (200, 2)), 50, step=0.05)
    assert low[0] < 1 == high[0]
    assert low[1] == -1 < high[1]


def test_resamples_that_are_not_defined_are_left_out():
    drawn = np.array([[0.1, np.nan], [0.3, np.nan], [np.nan, 0.2]])
    low, high = centre_interval([0.2, 0.2], drawn, 30)
    assert low[0] < 0.2 < high[0]
    assert np.isnan([low[1], high[1]]).all()


@pytest.mark.parametrize(("runs", "topics", "given"), [(10, 25, True), (9, 500, False), (500, 24, False)])
def test_ten_runs_and_twenty_five_topics_are_enough_for_an_interval(runs, topics, given):
    assert (explain_no_interval(runs, topics) == "") == given


def test_a_share_of_pairs_of_two_runs_is_binomial():
    low, high = interval_of_pairs(np.full((1, 1), 3), np.full((1, 1), 20), [2])
    wanted = binomtest(3, 20).proportion_ci(method="exact")
    assert (low[0], high[0]) == pytest.approx((wanted.low, wanted.high))


def test_a_share_of_no_pairs_can_be_anything_and_the_ends_of_the_scale_are_kept():
    low, high = interval_of_pairs([[0, 0, 30]], [[0, 30, 30]], [10])
    assert low.tolist()[:2] == [0, 0]
    assert high.tolist()[0] == high.tolist()[2] == 1
    assert high[1] == pytest.approx(1 - low[2])


@pytest.mark.parametrize("n_runs", [5, 12, 30])
def test_the_interval_of_a_share_of_pairs_holds_one_half_for_rankings_that_are_independent(n_runs):
    rng = np.random.default_rng(n_runs)
    first, second = np.triu_indices(n_runs, 1)
    one, other = (scores[:, first] - scores[:, second] for scores in rng.normal(size=(2, 2000, n_runs)))
    for least in (0.0, 0.5, 1.0):  # which differences are significant
        both = (np.abs(one) > least) & (np.abs(other) > least)
        part, whole = (both & (one * other < 0)).sum(axis=1), both.sum(axis=1)
        low, high = interval_of_pairs(part[np.newaxis], whole[np.newaxis], [n_runs])
        assert 0.92 < ((low <= 0.5) & (high >= 0.5)).mean() <= 1
        # As many independent pairs would hold it too seldom.
        plain, _ = interval_of_pairs(part[np.newaxis], whole[np.newaxis], [2])
        assert (plain > 0.5).mean() > (low > 0.5).mean()


def test_collections_are_added():
    together = interval_of_pairs([[4], [6]], [[10], [20]], [12, 12])
    np.testing.assert_allclose(together, interval_of_pairs([[10]], [[30]], [12]), rtol=1e-14)
