"""Runs that vary more than others, runs far behind, and equal runs are found, and no others."""

import numpy as np
import pytest
from scipy.stats import skew

from metaeval.stats.irregular_runs import count_failures, equal_rows, far_behind, residual_spread, shape_of_differences


def test_the_ratio_is_that_of_the_residuals_written_out():
    x = np.random.default_rng(1).random((6, 9, 2))
    ratio, _ = residual_spread(x)
    for m in range(2):
        spread = []
        for i in range(6):
            e = [x[i, t, m] - x[i, :, m].mean() - x[:, t, m].mean() + x[:, :, m].mean() for t in range(9)]
            spread.append(np.sqrt(np.mean(np.square(e))))
        assert ratio[m] == pytest.approx(np.array(spread) / np.median(spread))


@pytest.mark.parametrize("kind", ["normal", "exponential", "lognormal", "binary"])
def test_runs_of_equal_spread_are_seldom_called_wide(kind):
    rng = np.random.default_rng(2)
    draws = {
        "normal": lambda size: rng.normal(size=size),
        "exponential": lambda size: rng.exponential(size=size),
        "lognormal": lambda size: rng.lognormal(sigma=1, size=size),
        "binary": lambda size: rng.integers(0, 2, size=size).astype(float),
    }
    for n_topics in (25, 200):
        _, wide = residual_spread(draws[kind]((22, n_topics, 400)))
        assert wide.any(axis=1).mean() <= 0.1


def test_a_run_that_varies_three_times_as_much_is_wide():
    x = np.random.default_rng(3).normal(size=(22, 50, 200))
    x[7] *= 3
    _, wide = residual_spread(x)
    assert wide[:, 7].mean() > 0.99
    assert np.delete(wide, 7, axis=1).mean() < 0.001


@pytest.mark.parametrize("exponent", [-1000, -60, 60, 1020])
def test_the_ratio_does_not_depend_on_the_unit(exponent):
    x = np.random.default_rng(4).normal(size=(5, 12, 1))
    scaled = np.ldexp(x, exponent - 3)
    assert (residual_spread(scaled)[0] == residual_spread(x)[0]).all()


def test_runs_that_differ_by_a_constant_have_no_residuals_and_no_ratio():
    x = np.add.outer([0.1, 0.25, 0.7], np.linspace(0, 0.3, 11))[..., None]
    ratio, wide = residual_spread(x)
    assert np.isnan(ratio).all()
    assert not wide.any()


def test_two_runs_or_two_topics_have_no_ratio():
    x = np.random.default_rng(5).random((2, 9, 1))
    assert np.isnan(residual_spread(x)[0]).all()
    assert np.isnan(residual_spread(x.transpose(1, 0, 2))[0]).all()


def test_only_the_bad_end_is_far_behind():
    means = np.array([0.5, 0.52, 0.53, 0.55, 0.56, 0.0, 1.1])[:, None]
    assert np.flatnonzero(far_behind(means)[0]).tolist() == [5]
    assert np.flatnonzero(far_behind(-means)[0]).tolist() == [6]


def test_where_most_means_are_equal_or_few_nobody_is_far_behind():
    assert not far_behind(np.array([[0.5, 0.5, 0.5, 0.5, 0.1]]).T).any()
    assert not far_behind(np.array([[0.5, 0.51, 0.52, 0.0]]).T).any()


def test_equal_rows_are_equal_in_every_cell():
    x = np.random.default_rng(6).random((5, 3, 2))
    x[3] = x[1]
    x[4] = x[1]
    x[4, 2, 1] = np.nextafter(x[4, 2, 1], 2)
    assert equal_rows(x).tolist() == [0, 1, 2, 1, 4]


def test_the_pair_that_rests_on_one_topic_is_the_most_skewed():
    x = np.random.default_rng(7).normal(size=(8, 40, 2))
    x[5] = x[2]
    x[5, 17, 0] += 3
    pairs, skewness, zeros, one_topic = shape_of_differences(x)
    worst = np.nanargmax(np.abs(skewness[0]))
    assert set(pairs[worst]) == {2, 5}
    gaps = x[pairs[worst, 0], :, 0] - x[pairs[worst, 1], :, 0]
    assert skewness[0, worst] == pytest.approx(skew(gaps))
    squares = (gaps - gaps.mean()) ** 2
    assert one_topic[0, worst] == pytest.approx(squares.max() / squares.sum())
    assert zeros[0, worst] == 39 / 40
    assert np.isnan(skewness[1, worst])  # where both are equal throughout
    assert np.nanmax(np.abs(np.delete(skewness, worst, axis=1))) < 2


def test_runs_that_fail_outright_on_a_few_topics_are_found_and_no_others():
    rng = np.random.default_rng(8)
    x = rng.normal(0.6, 0.1, (12, 60, 2))
    x[3, [4, 30], 0] = x[9, 11, 0] = 0
    x[5, :20, 0] = 0
    counts = count_failures(x)
    assert {run: int(counts[0, run]) for run in np.flatnonzero(counts[0])} == {3: 2, 9: 1}
    assert not counts[1].any()
    assert not count_failures(np.round(rng.random((12, 60, 1)))).any()
