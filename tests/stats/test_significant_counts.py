"""Numbers of significant pairs: their error over trials, and their power over resampled topics."""

import numpy as np
import pytest
from scipy.stats import binom

from metaeval.stats import significant_counts as power
from metaeval.stats.randomised_tukey import p_values
from tests.analyses.made import draw_graded


def test_chances_are_those_of_resampled_maxima_and_of_plain_cases():
    rng = np.random.default_rng(8)
    maxima, thresholds = rng.normal(size=100), np.linspace(0.8, 2.2, 12)
    counts = (maxima >= thresholds[:, None]).sum(axis=1)
    resampled = rng.choice(maxima, size=(20_000, 100))
    redone = (resampled[:, None] >= thresholds[:, None]).sum(axis=2)
    found = (redone <= 5).sum(axis=1)
    chances = power.significance_chances(counts, 100, 0.05)
    for at_least, chance in enumerate(chances, start=1):
        assert (found >= at_least).mean() == pytest.approx(chance, abs=0.012)
    assert power.significant_count_error(counts, 100, 0.05) == pytest.approx(found.std(), rel=0.03)
    at_alpha = power.significance_chances([50], 1000, 0.05)[0]
    assert at_alpha == pytest.approx(binom.cdf(50, 1000, 0.05))
    chances = power.significance_chances([40, 40], 1000, 0.05, correction="benjamini-hochberg")
    assert chances == pytest.approx([binom.cdf(50, 1000, 0.04)] * 2)  # 25 would be the most for the first alone
    assert power.significant_count_error([0, 0, 5000], 5000, 0.05) == 0
    # 1/11 is above alpha in every repetition.
    assert power.significant_count_error([0, 0], 10, 0.05, add_one=True) == 0
    for n_pairs in (1, 3, 231, 3160):
        least = power.trials_needed(n_pairs, 0.05)
        assert n_pairs / (least + 1) <= 0.05 < n_pairs / least


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
    chances = power.significance_chances(counts, n, 0.05, correction=correction, add_one=add_one)
    assert [(found >= s).mean() for s in range(1, 9)] == pytest.approx(chances.tolist(), abs=0.03)


def test_as_many_statistics_reach_the_critical_value_as_pairs_are_significant_and_pairs_apart_are_counted():
    rng = np.random.default_rng(0)
    for found in (1, 4, 10):
        statistics = np.sort(rng.random(10))[::-1] + 0.1
        p = np.sort(np.concatenate([rng.uniform(0, 0.05, found), rng.uniform(0.06, 1, 10 - found)]))
        assert np.count_nonzero(statistics >= power.find_critical_value(statistics, p, 0.05)) == found
    assert power.find_critical_value(np.array([1.0, 2.0]), np.array([0.9, 0.5]), 0.05) > 2.0
    rng = np.random.default_rng(0)
    for case in range(200):
        # Tenths, some of them off by rounding, so that many differences are the limit itself or next to it.
        n_runs = int(rng.integers(2, 40))
        means = rng.integers(0, 8, n_runs) / 10 + rng.choice([0, 1e-16], n_runs)
        first, second = np.triu_indices(n_runs, 1)
        for limit in (0.0, 0.1, 0.3, 0.1 + 0.2, abs(means[0] - means[-1]), np.inf):
            expected = np.count_nonzero(np.abs(means[first] - means[second]) >= limit)
            found = power.count_wide_pairs(means[:, np.newaxis], np.array([limit]))
            assert found.tolist() == [expected], (case, limit)


def test_identical_runs_turn_together_and_what_two_measures_have_in_common_is_counted():
    values = draw_graded(12, 40, [1, 1])
    for alike, share in ((1, 1 / 66), (4, 4 / 66)):
        values[1:alike] = values[0]
        resampled = power.resample_power(values, np.ones((2, 66)), lambda trials: np.ones((len(trials), 40)), 1)
        assert resampled[1].tolist() == [share] * 2
    first, second = np.random.default_rng(0).random((2, 4, 57)) < 0.5
    expected = [[np.count_nonzero(one & other) for other in second] for one in first]
    assert power.count_common(first, second).tolist() == expected
