"""Rank correlations against counting pairs, scipy, and all ways to break ties; ties are ties."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st
from scipy.stats import kendalltau

from metaeval.stats import rank_correlation
from metaeval.stats.rank_correlation import tau, tau_by_run, tau_matrix
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
    return [
        [*itertools.chain.from_iterable(parts)] for parts in itertools.product(*map(itertools.permutations, groups))
    ]


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
