"""Splits are fair and disjoint, their tau is that of the means, and what tau to expect of more topics than there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from scipy.stats import chisquare, kendalltau

from metaeval.stats import split_half as module
from metaeval.stats.rank_correlation import tau
from metaeval.stats.split_half import _agree_between, _agree_with_truth, expected_tau, split_half_tau, splits
from metaeval.stats.streams import stream_key, trial_keys

KEY = stream_key(1, "tests")


@pytest.mark.parametrize(
    ("n_topics", "size", "sizes"), [(100, None, (50, 50)), (125, None, (62, 63)), (125, 10, (10, 10))]
)
def test_the_two_sets_are_disjoint_and_of_the_right_size(n_topics, size, sizes):
    first, second = splits(KEY, 500, n_topics, size)
    assert not (first & second).any()
    assert (first.sum(axis=1) == sizes[0]).all()
    assert (second.sum(axis=1) == sizes[1]).all()


@pytest.mark.parametrize(("n_topics", "size"), [(5, None), (6, None), (6, 2), (5, 1)])
def test_all_splits_are_equally_likely(n_topics, size):
    first, second = splits(KEY, 40_000, n_topics, size)
    powers = 3 ** np.arange(n_topics)
    _, counts = np.unique((first + 2 * second) @ powers, return_counts=True)
    in_first, in_second = first[0].sum(), second[0].sum()
    n_splits = math.comb(n_topics, in_first) * math.comb(n_topics - in_first, in_second)
    assert counts.size == n_splits
    assert chisquare(counts).pvalue > 0.001


def test_a_split_is_a_function_of_its_number_and_one_whose_numbers_tie_is_drawn_again(monkeypatch):
    whole, part = splits(KEY, 300, 40, 10), module._draw_splits(trial_keys(KEY, range(77, 97)), 40, 10, 0)
    assert all((of_all[77:97] == own).all() for of_all, own in zip(whole, part, strict=True))
    honest = module.words
    monkeypatch.setattr(module, "words", lambda *given: honest(*given) & np.uint64(0xF0000000F0000000))
    first, second = splits(KEY, 20_000, 4, 1)
    _, counts = np.unique(first @ [0, 1, 2, 3] * 4 + second @ [0, 1, 2, 3], return_counts=True)
    assert counts.size == 12
    assert chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
@pytest.mark.parametrize("size", [None, 4, 10])
@pytest.mark.parametrize("decimals", [1, 15])
def test_tau_is_that_of_the_means_over_either_set(variant, size, decimals):
    values = np.random.default_rng(0).random((7, 25, 3)).round(decimals)
    taus = split_half_tau(values, n_trials=40, size=size, key=KEY, variant=variant)
    first, second = splits(KEY, 40, 25, size)
    exact = np.rint(values * 10**decimals).astype(np.int64)
    for trial, measure in itertools.product(range(0, 40, 3), range(3)):
        one, two = (exact[:, chosen[trial], measure].sum(axis=1) for chosen in (first, second))
        if variant == "tau_b":
            expected = kendalltau(one, two).statistic
        else:
            gaps = [np.sign(side[:, np.newaxis] - side) for side in (one, two)]
            expected = (gaps[0] * gaps[1]).sum() / 42
        assert taus[trial, measure] == pytest.approx(expected, abs=1e-12)


def test_blocks_and_other_measures_move_no_number(monkeypatch):
    values = np.random.default_rng(0).random((6, 30, 5)).round(1)
    whole = split_half_tau(values, n_trials=100, key=KEY)
    assert (split_half_tau(values[..., [3]], n_trials=100, key=KEY)[:, 0] == whole[:, 3]).all()
    monkeypatch.setattr(module, "VALUES_A_BLOCK", 7 * 60)
    monkeypatch.setattr(module, "WORDS_A_BLOCK", 60)
    assert (split_half_tau(values, n_trials=100, key=KEY) == whole).all()


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
def test_where_nothing_differs_tau_a_is_0_and_tau_b_is_not_defined(variant):
    values = np.full((4, 10, 1), 0.1)
    wanted = 0 if variant == "tau_a" else np.nan
    np.testing.assert_array_equal(split_half_tau(values, n_trials=5, key=KEY, variant=variant), wanted)
    np.testing.assert_array_equal(expected_tau(values, [8], key=1, n_trials=5, variant=variant)[0], wanted)


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.5), (0.7, 0.01), (1.3, 2.0), (3.0, 1.0)])
def test_the_closed_forms_are_the_integrals(mean, spread):
    def integrate(agree):
        ends = (mean - 9 * spread, mean + 9 * spread)
        return scipy.integrate.quad(
            lambda x: agree(x) * scipy.stats.norm.pdf(x, mean, spread), *ends, points=[0], limit=200
        )[0]

    between = integrate(lambda x: (2 * scipy.stats.norm.cdf(x) - 1) ** 2)
    truth = integrate(lambda x: 2 * scipy.stats.norm.cdf(abs(x)) - 1)
    assert _agree_between(np.array(mean), np.array(spread)) == pytest.approx(between, abs=1e-7)
    assert _agree_with_truth(np.array(mean), np.array(spread)) == pytest.approx(truth, abs=1e-7)


def draw(rng, n_topics, quality):
    topics = rng.normal(0, 0.3, (1, n_topics))
    return quality[:, None] + topics + rng.gamma(1.0, 0.25, (len(quality), n_topics))


def test_tau_of_more_topics_is_that_observed_at_half_of_them_and_is_predicted_at_twice_and_eight_times_as_many():
    rng = np.random.default_rng(0)
    quality = rng.normal(0, 0.06, 20)
    sizes = [30, 60, 240]
    found = [
        expected_tau(draw(rng, 60, quality)[..., None], sizes, key=k, n_trials=100, intervals=False) for k in range(25)
    ]
    for place, size in enumerate(sizes):
        means = np.stack([draw(rng, size, quality).mean(axis=1) for _ in range(400)])
        expected = tau(means[::2], means[1::2]).mean(), tau(means, quality).mean()
        # The standard error of 25 predictions is about 0.015.
        assert np.mean([between[place, 0, 0] for between, _ in found]) == pytest.approx(expected[0], abs=0.04)
        assert np.mean([truth[place, 0, 0] for _, truth in found]) == pytest.approx(expected[1], abs=0.04)
    rng = np.random.default_rng(4)
    values = draw(rng, 50, rng.normal(0, 0.1, 15))[..., None]
    between, _ = expected_tau(values, [25], key=9, n_trials=100, intervals=False)
    observed = split_half_tau(values, n_trials=100, size=25, key=9).mean()
    assert between[0, 0, 0] == pytest.approx(observed, abs=1e-3)
    base = np.random.default_rng(5).random(12)
    values = np.stack([base, base, base + 1, base + 2])[..., None]  # equal ones are never ordered
    between, truth = expected_tau(values, [6, 100], key=1, n_trials=20)
    assert between[:, 0, 0].tolist() == truth[:, 0, 0].tolist() == pytest.approx([5 / 6] * 2)
    assert expected_tau(values, [100], key=1, n_trials=20, variant="tau_b")[0][0, 0, 0] == pytest.approx(1)


@pytest.mark.parametrize("offset", [1e6, 1e10, -1e12])
def test_how_far_scores_lie_from_zero_changes_no_expected_tau(offset):
    values = np.linspace(0, 1, 8)[:, None, None] + np.random.default_rng(0).normal(0, 1, (8, 60, 1))
    near, far = (expected_tau(each, [30, 240], key=1, intervals=False)[0] for each in (values, values + offset))
    assert far == pytest.approx(near, abs=0.01, nan_ok=True)
