"""Rank correlations against counting pairs, scipy and all ways to break ties; those of halves of the topics, or of more."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare, kendalltau

from metaeval.stats import rank_correlation, split_half as module
from metaeval.stats.rank_correlation import tau, tau_by_run, tau_matrix
from metaeval.stats.split_half import _agree_between, _agree_with_truth, expected_tau, split_half_tau, splits
from metaeval.stats.streams import stream_key, trial_keys
from metaeval.stats.weighted_correlation import SYMBOLS, correlate, correlation_matrix, parse_rank_correlation

vectors = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)])
)


@given(vectors, st.integers(-900, 900))
@settings(max_examples=150, deadline=None)
def test_tau_a_counts_pairs_and_tau_b_is_that_of_scipy_in_any_unit_and_order(pair, power):
    first, second = np.array(pair, dtype=float)
    signs = [np.sign(np.subtract.outer(side, side)) for side in (first, second)]
    assert tau(first, second) == (signs[0] * signs[1]).sum() / (len(first) * (len(first) - 1))
    assert tau(first, second) == tau(second, first) == -tau(first, -second)
    assert tau(first, second) == tau(first * 3 + 7, second) == tau(np.ldexp(first / 3, power), second)
    value = tau(*pair, variant="tau_b")
    constant = any(len(set(side)) == 1 for side in pair)
    assert np.isnan(value) if constant else value == pytest.approx(kendalltau(*pair).statistic, abs=1e-12)


@pytest.mark.parametrize("n_runs", [2, 20, 300])
def test_many_pairs_at_once_equal_one_at_a_time(n_runs):
    rng = np.random.default_rng(0)
    first, second = rng.random((40, 3, n_runs)), rng.random((3, n_runs))
    for variant, (i, j) in itertools.product(("tau_a", "tau_b"), ((0, 0), (13, 2), (39, 1))):
        together = tau(first, second, variant=variant)
        assert together.shape == (40, 3)
        assert together[i, j] == pytest.approx(kendalltau(first[i, j], second[j]).statistic, abs=1e-12)
    many = rng.random((2, 30_000, 6))  # more than a block holds
    found = correlate(many[0], many[1], "tau_ap")
    for place in (0, 12_345, -1):
        assert found[place] == correlate(many[0, place], many[1, place], "tau_ap")


def test_means_that_are_equal_on_paper_are_tied_and_every_value_can_have_its_own_tolerance():
    means = np.array([0.1 + 0.2, 0.3, 0.5])
    assert means[0] != means[1]
    assert tau(means, [1, 2, 3]) == pytest.approx(2 / 3)
    assert tau(means, [1, 2, 3], tolerance=0) == pytest.approx(1 / 3)
    assert tau([1, 2, 3, 4, 1e13], [1, 2, 3, 4, 5]) == 1
    assert tau([1e-200, 2e-200, -1e300], [2, 3, 1]) == 1
    near = 1 + np.array([0, 0.7e-12, 1.4e-12])
    assert tau(near, [1, 2, 3]) == pytest.approx(1 / 3)  # only the first and the last differ
    first, second = np.array([1.0, 1.1, 5.0]), np.array([1, 2, 3])
    assert tau(first, second, tolerance=([0.1, 0.2, 0], [0, 0, 0])) == pytest.approx(2 / 3)
    assert tau(first, second, tolerance=([0.1, 0, 9], [0, 0, 0])) == pytest.approx(1 / 3)
    square = tau_matrix(np.stack([first, second], axis=1), tolerance=[[0.1, 0], [0.2, 0], [0, 0]])
    assert square[0, 1] == square[1, 0] == pytest.approx(2 / 3)
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


X = [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992]
Y = [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988]
X_TIED, Y_TIED = np.round(X, 1), np.array([0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1])
V = [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38]
W = [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644]
V_TIED, W_TIED = np.round(V, 1), np.array([0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6])


@pytest.mark.parametrize(
    ("reference", "other", "which", "expected"),
    [
        (X, Y, "tau_ap", 0.8519), (X, Y_TIED, "tau_ap", 0.7454), (X, Y, "tau_ap_b", 0.8333),
        (X_TIED, Y_TIED, "tau_ap_b", 0.7321), (V, W, "tau_ap", 0.2504), (V, W_TIED, "tau_ap", 0.2692),
        (V, W, "tau_ap_b", 0.2880), (V_TIED, W_TIED, "tau_ap_b", 0.297),
    ],
)  # fmt: skip
def test_ap_correlation_with_ties_is_that_of_urbano_and_marrero(reference, other, which, expected):
    # The values are those of the tests of the package ircor, by the authors of the versions with ties.
    assert correlate(reference, other, which) == pytest.approx(expected, abs=5e-5)


def rankings(scores):
    """Every way to break ties, best run first."""
    groups = [np.flatnonzero(scores == value).tolist() for value in sorted(set(scores.tolist()), reverse=True)]
    return [[*itertools.chain(*parts)] for parts in itertools.product(*map(itertools.permutations, groups))]


def ap_correlation(reference, other):
    """Yilmaz, Aslam and Robertson 2008, Eq. 3, of two rankings without ties."""
    place = {run: rank for rank, run in enumerate(reference)}
    shares = [sum(place[a] < place[b] for a in other[:i]) / i for i, b in enumerate(other) if i]
    return 2 * np.mean(shares) - 1


def gap_correlation(scores, other):
    shares = []
    for i, run in enumerate(other[1:], 1):
        gaps = [scores[above] - scores[run] for above in other[:i]]
        total = np.abs(gaps).sum()
        shares.append(np.maximum(gaps, 0).sum() / total if total else 0.5)
    return 2 * np.mean(shares) - 1


@pytest.fixture
def tied_pairs():
    rng = np.random.default_rng(1)
    return [rng.integers(0, rng.integers(1, 6), (2, 4)).astype(float) for _ in range(60)]


def test_ap_gap_spearman_and_kendalls_are_those_of_all_ways_to_break_ties_scipy_and_the_kernel(tied_pairs):
    for one, two in tied_pairs:
        expected = np.mean([ap_correlation(a, b) for a in rankings(one) for b in rankings(two)])
        assert correlate(one, two, "tau_ap") == pytest.approx(expected)
        ends = [gap_correlation(one, ranking) for ranking in rankings(two)]
        assert correlate(one, two, "tau_gap") == pytest.approx((min(ends) + max(ends)) / 2)
    for one, two in [*tied_pairs, *np.random.default_rng(2).normal(size=(20, 2, 12))]:
        if np.ptp(one) and np.ptp(two):
            assert correlate(one, two, "spearman") == pytest.approx(scipy.stats.spearmanr(one, two).statistic)
    means = np.random.default_rng(5).random((8, 3))
    one_sided = correlation_matrix(means, parse_rank_correlation("tau_ap"))
    assert one_sided[0, 1] == correlate(means[:, 0], means[:, 1], "tau_ap") != one_sided[1, 0]
    assert not parse_rank_correlation("tau_b@3").symmetric
    means = np.random.default_rng(0).integers(0, 5, (3, 7, 4))
    for which in ("tau_a", "tau_b"):
        for one, two in tied_pairs:
            np.testing.assert_allclose(correlate(one, two, which), tau(one, two, variant=which))
        found = correlation_matrix(means, parse_rank_correlation(which))
        np.testing.assert_allclose(found, tau_matrix(means, variant=which))


@pytest.mark.parametrize("which", SYMBOLS)
def test_at_k_is_of_the_first_runs_and_the_same_ranking_is_1_and_the_reverse_minus_1(which):
    one, two = np.random.default_rng(3).permuted(np.tile(np.arange(12.0), (2, 1)), axis=1)
    first = np.argsort(-one)[:7]
    assert correlate(one, two, f"{which}@7") == pytest.approx(correlate(one[first], two[first], which))
    assert correlate(one, two, f"{which}@12") == pytest.approx(correlate(one, two, which))
    tied, two = np.array([5.0, 4, 3, 3, 3, 2, 1]), np.array([1.0, 5, 2, 7, 4, 3, 9])
    assert correlate(tied, two, f"{which}@3") == pytest.approx(correlate(tied[:5], two[:5], which))
    scores = np.random.default_rng(4).random(9)
    assert correlate(scores, 3 * scores, which) == pytest.approx(1)
    assert correlate(scores, -scores, which) == pytest.approx(-1)
    tied = np.array([0.1 + 0.2, 0.3, 0.5, 0.1])
    assert correlate([4, 3, 5, 1], tied, which) == correlate([4, 3, 5, 1], [0.3, 0.3, 0.5, 0.1], which)


KEY = stream_key(1, "tests")


@pytest.mark.parametrize(
    ("n_topics", "size", "sizes"),
    [(5, None, (2, 3)), (6, None, (3, 3)), (6, 2, (2, 2)), (5, 1, (1, 1)), (125, 10, (10, 10))],
)
def test_the_two_sets_are_disjoint_of_the_right_size_and_all_splits_equally_likely(n_topics, size, sizes):
    first, second = splits(KEY, 40_000 if n_topics < 10 else 500, n_topics, size)
    assert not (first & second).any()
    assert (first.sum(axis=1) == sizes[0]).all()
    assert (second.sum(axis=1) == sizes[1]).all()
    if n_topics < 10:
        _, counts = np.unique((first + 2 * second) @ 3 ** np.arange(n_topics), return_counts=True)
        assert counts.size == math.comb(n_topics, sizes[0]) * math.comb(n_topics - sizes[0], sizes[1])
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


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
def test_where_nothing_differs_tau_a_is_0_and_tau_b_is_not_defined(variant):
    values = np.full((4, 10, 1), 0.1)
    wanted = 0 if variant == "tau_a" else np.nan
    np.testing.assert_array_equal(split_half_tau(values, n_trials=5, key=KEY, variant=variant), wanted)
    np.testing.assert_array_equal(expected_tau(values, [8], key=1, n_trials=5, variant=variant)[0], wanted)


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.5), (0.7, 0.01), (1.3, 2.0), (3.0, 1.0)])
def test_the_closed_forms_are_the_integrals(mean, spread):
    options = {"lb": mean - 9 * spread, "ub": mean + 9 * spread, "points": [0], "limit": 200}
    gap, cdf = scipy.stats.norm(mean, spread), scipy.stats.norm.cdf
    between = gap.expect(lambda x: (2 * cdf(x) - 1) ** 2, **options)
    truth = gap.expect(lambda x: 2 * cdf(abs(x)) - 1, **options)
    assert _agree_between(np.array(mean), np.array(spread)) == pytest.approx(between, abs=1e-7)
    assert _agree_with_truth(np.array(mean), np.array(spread)) == pytest.approx(truth, abs=1e-7)


def draw(rng, n_topics, quality):
    topics = rng.normal(0, 0.3, (1, n_topics))
    return quality[:, None] + topics + rng.gamma(1.0, 0.25, (len(quality), n_topics))


def test_tau_of_more_topics_is_that_observed_at_half_of_them_and_is_predicted_at_twice_and_eight_times_as_many():
    rng = np.random.default_rng(0)
    quality = rng.normal(0, 0.06, 20)
    sizes, options = [30, 60, 240], {"n_trials": 100, "intervals": False}
    found = [expected_tau(draw(rng, 60, quality)[..., None], sizes, key=key, **options) for key in range(25)]
    for place, size in enumerate(sizes):
        means = np.stack([draw(rng, size, quality).mean(axis=1) for _ in range(400)])
        expected = tau(means[::2], means[1::2]).mean(), tau(means, quality).mean()
        # The standard error of 25 predictions is about 0.015.
        assert np.mean([between[place, 0, 0] for between, _ in found]) == pytest.approx(expected[0], abs=0.04)
        assert np.mean([truth[place, 0, 0] for _, truth in found]) == pytest.approx(expected[1], abs=0.04)
    rng = np.random.default_rng(4)
    values = draw(rng, 50, rng.normal(0, 0.1, 15))[..., None]
    between, _ = expected_tau(values, [25], key=9, **options)
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
