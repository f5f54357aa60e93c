"""Splits are fair and disjoint, and their tau is that of the means."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2, kendalltau

from metaeval.stats import split_half as module
from metaeval.stats.split_half import split_half_tau, splits
from metaeval.stats.streams import stream_key

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
    expected = 40_000 / n_splits
    assert chi2.sf(np.square(counts - expected).sum() / expected, n_splits - 1) > 0.001


def test_a_split_is_a_pure_function_of_its_number():
    whole = splits(KEY, 300, 40, 10)
    part = splits(KEY, 20, 40, 10, first_trial=77)
    assert (whole[0][77:97] == part[0]).all()
    assert (whole[1][77:97] == part[1]).all()


def test_splits_whose_numbers_tie_are_drawn_again(monkeypatch):
    honest = module.words

    def coarse(keys, positions):
        return honest(keys, positions) & np.uint64(0xF0000000F0000000)

    monkeypatch.setattr(module, "words", coarse)
    first, second = splits(KEY, 20_000, 4, 1)
    _, counts = np.unique(first @ [0, 1, 2, 3] * 4 + second @ [0, 1, 2, 3], return_counts=True)
    expected = 20_000 / 12
    assert counts.size == 12
    assert chi2.sf(np.square(counts - expected).sum() / expected, 11) > 0.001


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


def test_a_measure_that_ties_all_runs_has_tau_zero_or_none():
    values = np.full((4, 10, 1), 0.1)
    assert (split_half_tau(values, n_trials=5, key=KEY) == 0).all()
    assert np.isnan(split_half_tau(values, n_trials=5, key=KEY, variant="tau_b")).all()
