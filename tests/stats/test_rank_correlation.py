"""Kendall's tau agrees with counting pairs by hand, and ties are ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kendalltau

from metaeval.stats import rank_correlation
from metaeval.stats.rank_correlation import tau, tau_by_run, tau_matrix

vectors = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)])
)


def counted(first, second):
    """Count concordant and discordant pairs one by one."""
    balance = 0
    for i, j in itertools.combinations(range(len(first)), 2):
        balance += np.sign(first[i] - first[j]) * np.sign(second[i] - second[j])
    return balance / (len(first) * (len(first) - 1) / 2)


@given(vectors)
@settings(max_examples=150, deadline=None)
def test_tau_a_is_concordant_minus_discordant_over_all_pairs(pair):
    assert tau(*pair) == counted(*pair)


@given(vectors)
@settings(max_examples=150, deadline=None)
def test_tau_b_is_that_of_scipy(pair):
    constant = any(len(set(side)) == 1 for side in pair)
    value = tau(*pair, variant="tau_b")
    assert np.isnan(value) if constant else value == pytest.approx(kendalltau(*pair).statistic, abs=1e-12)


@given(vectors)
@settings(max_examples=60, deadline=None)
def test_tau_is_symmetric_and_turns_with_a_reversed_ranking(pair):
    first, second = np.array(pair, dtype=float)
    assert tau(first, second) == tau(second, first) == -tau(first, -second)
    assert tau(first, second) == tau(first * 3 + 7, second)


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
@pytest.mark.parametrize("n_runs", [2, 20, 300])
def test_many_pairs_at_once_equal_one_at_a_time(variant, n_runs):
    rng = np.random.default_rng(0)
    first, second = rng.random((400, 3, n_runs)), rng.random((3, n_runs))
    together = tau(first, second, variant=variant)
    assert together.shape == (400, 3)
    for i, j in ((0, 0), (131, 2), (399, 1)):
        assert together[i, j] == pytest.approx(kendalltau(first[i, j], second[j]).statistic, abs=1e-12)


def test_means_that_are_equal_on_paper_are_tied():
    means = np.array([0.1 + 0.2, 0.3, 0.5])
    assert means[0] != means[1]
    assert tau(means, [1, 2, 3]) == pytest.approx(2 / 3)
    assert tau(means, [1, 2, 3], tolerance=0) == pytest.approx(1 / 3)


def test_each_pair_is_tied_by_its_own_values():
    assert tau([1, 2, 3, 4, 1e13], [1, 2, 3, 4, 5]) == 1
    assert tau([1e-200, 2e-200, -1e300], [2, 3, 1]) == 1
    near = 1 + np.array([0, 0.7e-12, 1.4e-12])
    assert tau(near, [1, 2, 3]) == pytest.approx(1 / 3)  # only the first and the last differ


@given(vectors, st.integers(-900, 900))
@settings(max_examples=40, deadline=None)
def test_a_power_of_two_changes_no_tau(pair, power):
    first, second = np.array(pair) / 3
    assert tau(np.ldexp(first, power), second) == tau(first, second)


def test_every_value_can_have_its_own_tolerance():
    first, second = np.array([1.0, 1.1, 5.0]), np.array([1, 2, 3])
    assert tau(first, second, tolerance=([0.1, 0.2, 0], [0, 0, 0])) == pytest.approx(2 / 3)
    assert tau(first, second, tolerance=([0.1, 0, 9], [0, 0, 0])) == pytest.approx(1 / 3)
    square = tau_matrix(np.stack([first, second], axis=1), tolerance=[[0.1, 0], [0.2, 0], [0, 0]])
    assert square[0, 1] == square[1, 0] == pytest.approx(2 / 3)


def test_the_square_of_all_measures_is_symmetric_with_a_diagonal_of_one():
    means = np.random.default_rng(0).random((12, 4))
    square = tau_matrix(means)
    assert (square == square.T).all()
    assert (square.diagonal() == 1).all()
    assert square[1, 3] == tau(means[:, 1], means[:, 3])


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
@pytest.mark.parametrize("n_runs", [2, 3, 70])
@pytest.mark.parametrize("many", [3, 1000])
@pytest.mark.parametrize("lengths", [[0, 0.3], [0, 0.3, 1, 4]])
def test_tau_of_intervals_is_that_of_a_plain_square(monkeypatch, variant, n_runs, many, lengths):
    monkeypatch.setattr(rank_correlation, "MANY_RUNS", many)
    rng = np.random.default_rng(n_runs)
    # Few values and intervals of unlike length: long ones make ties that are not transitive, and upper ends in another order.
    low = rng.integers(0, n_runs, (2, n_runs, 40)).astype(float)
    high = low + rng.choice(lengths, low.shape)
    found = tau_by_run(low, high, variant)
    signs = np.sign((low[:, :, None] > high[:, None]) * 1 - (high[:, :, None] < low[:, None]) * 1)
    balance = (signs[0] * signs[1]).sum(axis=(0, 1)) / 2
    both = np.sqrt(np.prod(np.abs(signs).sum(axis=(1, 2)), axis=0)) / 2
    whole = n_runs * (n_runs - 1) / 2 if variant == "tau_a" else both
    np.testing.assert_allclose(found, balance / np.where(whole > 0, whole, np.nan), atol=1e-15)
