"""The error of a number of significant pairs is what repeating the test with other trials shows."""

import numpy as np
import pytest
from scipy.stats import binom

from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd
from metaeval.stats.significant_counts import (
    count_common,
    significance_chances,
    significant_count_error,
    trials_needed,
)
from metaeval.stats.streams import stream_key


def test_the_error_is_the_spread_over_seeds():
    rng = np.random.default_rng(7)
    values = np.linspace(0, 0.5, 14)[:, None, None] + rng.normal(0, 0.5, (14, 20, 5))
    found, errors = [], []
    for seed in range(120):
        counts = randomised_tukey_hsd(values, n_permutations=300, key=stream_key(seed, "c"))
        found.append((p_values(counts, 300) <= 0.05).sum(axis=1))
        errors.append(significant_count_error(counts, 300, 0.05))
    observed = np.std(found, axis=0, ddof=1)
    assert (observed > 0.5).any()
    assert np.sqrt(np.mean(np.square(errors), axis=0)) == pytest.approx(observed, rel=0.35)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.sqrt(np.mean(np.square(observed))), rel=0.15)


def test_chances_are_those_of_resampled_maxima():
    rng = np.random.default_rng(8)
    maxima, thresholds = rng.normal(size=100), np.linspace(0.8, 2.2, 12)
    counts = (maxima >= thresholds[:, None]).sum(axis=1)
    resampled = rng.choice(maxima, size=(20_000, 100))
    redone = (resampled[:, None] >= thresholds[:, None]).sum(axis=2)
    found = (redone <= 5).sum(axis=1)
    chances = significance_chances(counts, 100, 0.05)
    for at_least, chance in enumerate(chances, start=1):
        assert (found >= at_least).mean() == pytest.approx(chance, abs=0.012)
    assert significant_count_error(counts, 100, 0.05) == pytest.approx(found.std(), rel=0.03)


@pytest.mark.parametrize("correction", ["none", "bonferroni", "holm", "benjamini-hochberg"])
@pytest.mark.parametrize("add_one", [False, True])
def test_counts_that_move_together_give_the_chances_of_each_correction(correction, add_one):
    rng = np.random.default_rng(9)
    counts, n, rank = np.array([0, 1, 3, 4, 9, 30, 60, 200]), 2000, np.arange(1, 9)
    moved = binom.ppf(rng.random((4000, 1)), n, counts / n)  # one uniform number for all pairs, which stay in order
    p = p_values(moved.astype(int), n, add_one=add_one)
    if correction == "bonferroni":
        p = 8 * p
    elif correction == "holm":
        p = np.maximum.accumulate(p * (9 - rank), axis=1)
    elif correction == "benjamini-hochberg":
        p = np.minimum.accumulate((p * 8 / rank)[:, ::-1], axis=1)
    found = (p <= 0.05).sum(axis=1)
    chances = significance_chances(counts, n, 0.05, correction=correction, add_one=add_one)
    assert [(found >= s).mean() for s in range(1, 9)] == pytest.approx(chances.tolist(), abs=0.03)


def test_by_benjamini_and_hochberg_a_later_pair_carries_an_earlier_one():
    chances = significance_chances([40, 40], 1000, 0.05, correction="benjamini-hochberg")
    assert chances == pytest.approx([binom.cdf(50, 1000, 0.04)] * 2)  # 25 would be the most for the first alone


def test_nothing_moves_where_all_is_plain():
    assert significant_count_error([0, 0, 5000], 5000, 0.05) == 0
    assert significant_count_error([0, 0], 10, 0.05, add_one=True) == 0  # 1/11 is above alpha in every repetition


def test_a_count_exactly_at_alpha_is_significant():
    assert significance_chances([50], 1000, 0.05)[0] == pytest.approx(binom.cdf(50, 1000, 0.05))


def test_as_many_trials_as_needed_let_one_pair_be_significant():
    for n_pairs in (1, 3, 231, 3160):
        least = trials_needed(n_pairs, 0.05)
        assert n_pairs / (least + 1) <= 0.05 < n_pairs / least


@pytest.mark.parametrize("correction", ["none", "holm"])
def test_equal_counts_have_the_chances_that_each_would_have_alone(correction):
    counts = np.random.default_rng(0).integers(0, 6, (3, 50))
    ordered = np.sort(counts, axis=1)
    chances = significance_chances(counts, 1000, 0.05, correction=correction, add_one=True)
    factors = 50 - np.arange(50) if correction == "holm" else np.ones(50)
    for row, own in zip(ordered, chances, strict=True):
        most = [sum((c + 1) / 1001 <= 0.05 / factor for c in range(1001)) - 1 for factor in factors]
        alone = [binom.cdf(c, 1000, count / 1000) if c >= 0 else 0.0 for c, count in zip(most, row, strict=True)]
        np.testing.assert_allclose(own, np.minimum.accumulate(alone), rtol=1e-12)


def test_what_two_measures_have_in_common_is_counted():
    first, second = np.random.default_rng(0).random((2, 4, 57)) < 0.5
    expected = [[np.count_nonzero(one & other) for other in second] for one in first]
    assert count_common(first, second).tolist() == expected
