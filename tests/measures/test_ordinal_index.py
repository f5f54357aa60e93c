"""The ordinal classification index, r_int and MER against their definitions, path by path and pair by pair."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra.numpy import arrays

import metaeval
from metaeval.errors import MeasureError
from metaeval.measures.ordinal_index import OCI, OC_prime, best_path, general_index
from metaeval.measures.rank_index import MER, r_int

EVERY = settings(deadline=None, max_examples=150)


def matrices(largest=4, most=20):
    """Confusion matrices of 2 to `largest` classes with at least one item."""
    squares = st.integers(2, largest).map(lambda k: (k, k))
    return squares.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, most))).filter(np.any)


shares = st.floats(0, 3)
exponents = st.sampled_from([1, 1.5, 2, 3.0, math.inf])


def monotone_paths(k):
    """Every path from (0, 0) to (k − 1, k − 1) with steps to the right, down, or both."""

    def onwards(g, p):
        if (g, p) == (k - 1, k - 1):
            yield [(g, p)]
            return
        for i, j in ((g + 1, p + 1), (g + 1, p), (g, p + 1)):
            if i < k and j < k:
                for rest in onwards(i, j):
                    yield [(g, p), *rest]

    return onwards(0, 0)


def simple_paths(k):
    """Every path from (0, 0) to (k − 1, k − 1) between neighbours that visits no entry twice."""

    def onwards(path):
        g, p = path[-1]
        if (g, p) == (k - 1, k - 1):
            yield path
            return
        for i, j in itertools.product((g - 1, g, g + 1), (p - 1, p, p + 1)):
            if 0 <= i < k and 0 <= j < k and (i, j) not in path:
                yield from onwards([*path, (i, j)])

    return onwards([(0, 0)])


def cost(counts, path, beta, gamma, whole=None):
    """Eq. 7 for one path, with an absolute β; Eq. 6 when `whole` is N."""
    n = {(g, p): float(counts[g, p]) for g, p in np.ndindex(counts.shape)}
    if whole is None:
        apart = [(abs(g - p), items) for (g, p), items in n.items() if items]
        M = max(d for d, _ in apart) if gamma == math.inf else sum(i * d**gamma for d, i in apart) ** (1 / gamma)
        whole = counts.sum() + M
    deviation = sum(n[g, p] * abs(g - p) ** gamma for g, p in path if n[g, p]) if beta else 0
    return 1 - sum(n[entry] for entry in path) / whole + beta * deviation


def absolute(share, counts, gamma):
    return share / (counts.sum() * (len(counts) - 1) ** gamma)


@EVERY
@given(matrices(), shares, st.sampled_from([1, 1.5, 2, 3.0]))
def test_the_index_is_the_cost_of_the_cheapest_of_all_monotone_paths(counts, share, gamma):
    beta = absolute(share, counts, gamma)
    best = min(cost(counts, path, beta, gamma) for path in monotone_paths(len(counts)))
    assert OCI(counts, beta=share, gamma=gamma) == pytest.approx(best, abs=1e-12)
    assert OCI(counts, beta=beta, gamma=gamma, absolute=True) == pytest.approx(best, abs=1e-12)


@EVERY
@given(matrices(), st.floats(0, 3), st.sampled_from([1, 2]))
def test_the_index_of_equation_6_is_the_cheapest_path_when_dispersion_does_not_matter(counts, share, gamma):
    beta = absolute(share, counts, gamma)
    best = min(cost(counts, path, beta, gamma, whole=counts.sum()) for path in monotone_paths(len(counts)))
    assert OC_prime(counts, beta=share, gamma=gamma) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(matrices(3), st.floats(0, 1), st.floats(0, 0.3))
def test_the_general_index_is_the_cheapest_of_all_paths(counts, share, beta2):
    beta = absolute(share, counts, 1)

    def with_breaks(path):
        pairs = itertools.combinations(path, 2)
        return cost(counts, path, beta, 1) + beta2 * sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)

    best = min(map(with_breaks, simple_paths(len(counts))))
    assert general_index(counts, beta1=share, beta2=beta2) == pytest.approx(best, abs=1e-12)


@EVERY
@given(matrices(4), shares)
def test_the_general_index_goes_from_all_entries_to_the_monotone_path_as_broken_pairs_get_dearer(counts, share):
    prices = [0, 0.001, 0.01, 0.1, 0.5, 1]
    values = [float(general_index(counts, beta1=share, beta2=price)) for price in prices]
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(values))
    assert values[-1] == OCI(counts, beta=share)
    # The closed form for free breaks is what the search finds for breaks that cost next to nothing.
    assert values[0] == pytest.approx(float(general_index(counts, beta1=share, beta2=1e-300)), abs=1e-12)


@EVERY
@given(matrices(9))
def test_without_any_price_the_general_index_is_a_mean_absolute_error_brought_to_0_to_1(counts):
    mae = float(metaeval.measure("MAE_mu").score(counts))
    assert general_index(counts, beta1=0, beta2=0) == pytest.approx(mae / (1 + mae), abs=1e-12)


@EVERY
@given(matrices(9), shares, exponents)
def test_the_index_lies_between_0_and_1_and_does_not_tell_gold_from_run(counts, share, gamma):
    value = OCI(counts, beta=share, gamma=gamma)
    assert 0 <= value <= 1
    # Only the order of summation differs.
    assert OCI(counts.T, beta=share, gamma=gamma) == pytest.approx(float(value), abs=1e-14)


@EVERY
@given(matrices(6), st.floats(1e-6, 3), exponents)
def test_only_the_perfect_run_has_index_0(counts, share, gamma):
    perfect = np.diag(counts.sum(axis=1))
    assert OCI(perfect, beta=share, gamma=gamma) == 0
    assert (OCI(counts, beta=share, gamma=gamma) == 0) == (MER(counts) == 0)


@EVERY
@given(matrices(6), st.floats(0, 2), st.floats(0, 2))
def test_a_larger_beta_never_lowers_the_index(counts, one, other):
    low, high = sorted((one, other))
    assert OCI(counts, beta=low) <= OCI(counts, beta=high) + 1e-14


@EVERY
@given(matrices(6))
def test_equation_6_is_the_error_rate_once_a_step_off_the_diagonal_costs_an_item(counts):
    assert OC_prime(counts, beta=1, absolute=True) == pytest.approx(float(MER(counts)), abs=1e-14)


@EVERY
@given(matrices(5), shares, st.sampled_from([1, 2]))
def test_the_best_path_is_monotone_and_costs_the_index(counts, share, gamma):
    path = best_path(counts, beta=share, gamma=gamma)
    assert path[0].tolist() == [0, 0]
    assert path[-1].tolist() == [len(counts) - 1] * 2
    steps = np.diff(path, axis=0)
    assert ((steps >= 0) & (steps <= 1)).all()
    assert (steps.sum(axis=1) >= 1).all()
    found = cost(counts, [tuple(entry) for entry in path], absolute(share, counts, gamma), gamma)
    assert found == pytest.approx(float(OCI(counts, beta=share, gamma=gamma)), abs=1e-12)


def test_the_path_of_a_perfect_run_is_the_diagonal():
    np.testing.assert_array_equal(best_path(np.diag([3, 0, 2, 5])), np.repeat(np.arange(4), 2).reshape(4, 2))


@pytest.mark.parametrize("distance", range(1, 8))
@pytest.mark.parametrize("beta", [0, 0.05, 0.25, 0.5, 2])
def test_a_single_item_scores_by_the_formula_of_section_3_2(distance, beta):
    counts = np.zeros((8, 8))
    counts[0, distance] = 1
    wanted = min(1, 1 - 1 / (1 + distance) + beta * distance)
    assert OCI(counts, beta=beta, absolute=True) == pytest.approx(wanted, abs=1e-15)


def test_an_infinite_gamma_is_the_limit_of_large_ones():
    counts = np.random.default_rng(0).integers(0, 5, (200, 4, 4))
    np.testing.assert_allclose(OCI(counts, gamma=math.inf), OCI(counts, gamma=1e6), atol=1e-4)
    near = OCI(counts, gamma=60, beta=0.01, absolute=True)  # two classes off costs more than anything gives
    np.testing.assert_allclose(OCI(counts, gamma=math.inf, beta=0.01, absolute=True), near, atol=0.15)
    far = np.array([[1, 0, 3], [0, 1, 0], [0, 0, 1]])
    assert OCI(far, gamma=math.inf, beta=0.01, absolute=True) == pytest.approx(1 - 3 / (6 + 2))


def test_beta_may_differ_from_matrix_to_matrix():
    counts = np.random.default_rng(1).integers(0, 5, (3, 4, 4))
    each = [float(OCI(one, beta=b)) for one, b in zip(counts, (0.1, 0.5, 0.9), strict=True)]
    np.testing.assert_array_equal(OCI(counts, beta=np.array([0.1, 0.5, 0.9])), each)
    np.testing.assert_array_equal(
        OCI(counts[0], beta=np.array([0.1, 0.5])), [OCI(counts[0], beta=b) for b in (0.1, 0.5)]
    )


@pytest.mark.parametrize(
    "name", ["OCI(beta=0.25, gamma=2)", "OCI(beta=0.02, gamma=1, absolute=True)", "OCI(beta=0.5, gamma=inf)"]
)
def test_a_variant_of_the_index_is_found_by_its_printed_name(name):
    found = metaeval.measure(name)
    assert str(found) == name
    assert 0 <= found.score([[1, 2], [3, 4]]) <= 1
    assert str(metaeval.measure("OCI")) == "OCI(beta=0.75, gamma=1)"


@pytest.mark.parametrize("name", ["OCI(beta=-1)", "OCI(beta=nan)", "OCI(beta=inf)", "OCI(gamma=0.5)", "OCI(beta=much)"])
def test_parameters_that_make_no_index_are_refused(name):
    with pytest.raises(MeasureError, match="OCI"):
        metaeval.measure(name).score([[1, 2], [3, 4]])


def test_what_cannot_be_searched_is_refused_with_what_can():
    with pytest.raises(MeasureError, match="4 classes are feasible"):
        general_index(np.eye(5), beta1=0.5, beta2=0.1)
    with pytest.raises(MeasureError, match="beta2=-1"):
        general_index(np.eye(3), beta1=0.5, beta2=-1)
    for wrong in (np.zeros((3, 3)), np.ones((2, 3)), np.ones((2, 3, 3))):
        with pytest.raises(MeasureError, match="best_path takes one matrix"):
            best_path(wrong)


@EVERY
@given(matrices(4, most=3))
def test_r_int_is_the_overlap_of_two_order_relations_counted_pair_by_pair(counts):
    assume(counts.sum() > 1)
    items = [(g, p) for g, p in np.ndindex(counts.shape) for _ in range(counts[g, p])]
    pairs = list(itertools.permutations(range(len(items)), 2))
    in_gold = {(u, v) for u, v in pairs if items[u][0] <= items[v][0]}
    in_run = {(u, v) for u, v in pairs if items[u][1] <= items[v][1]}
    wanted = -1 + 2 * len(in_gold & in_run) / math.sqrt(len(in_gold) * len(in_run))
    assert r_int(counts) == pytest.approx(wanted, abs=1e-12)


def test_a_single_item_has_no_pairs_and_r_int_is_1_with_a_warning():
    with pytest.warns(metaeval.errors.UndefinedValueWarning, match="r_int"):
        assert metaeval.measure("r_int").score([[0, 1], [0, 0]]) == 1


@EVERY
@given(matrices(6))
def test_the_error_rate_is_what_accuracy_leaves(counts):
    assert MER(counts) == pytest.approx(float(1 - Fraction(int(np.trace(counts)), int(counts.sum()))), abs=1e-15)


def vectors(n_items=6, n_classes=4):
    return arrays(np.int64, n_items, elements=st.integers(0, n_classes - 1))


def index_between(a, b, beta, gamma):
    counts = np.zeros((4, 4))
    np.add.at(counts, (a, b), 1)
    return float(OCI(counts, beta=beta, gamma=gamma, absolute=True))


@settings(deadline=None, max_examples=300)
@given(vectors(), vectors(), vectors(), st.floats(1 / 7, 2), st.sampled_from([1, 2, 3.0]))
def test_for_a_large_beta_the_best_path_is_the_diagonal_and_the_index_a_metric(a, b, c, beta, gamma):
    """Appendix A: β ≥ 1/(N + 1)."""
    ab, bc, ac = (index_between(x, y, beta, gamma) for x, y in ((a, b), (b, c), (a, c)))
    assert ac <= ab + bc + 1e-12
    assert (ab == 0) == bool((a == b).all())
    assert ab == pytest.approx(index_between(b, a, beta, gamma), abs=1e-14)
    hamming, minkowski = (a != b).sum(), (np.abs(a - b) ** gamma).sum() ** (1 / gamma)
    assert ab == pytest.approx((minkowski + hamming) / (minkowski + len(a)), abs=1e-12)


@pytest.mark.parametrize("n_items", [3, 5, 10, 100])
def test_for_a_small_beta_the_triangle_inequality_fails_below_the_bound_of_appendix_a_and_not_above(n_items):
    n = n_items
    ab, bc, ac = [[n - 1, 0], [1, 0]], [[n - 1, 1], [0, 0]], [[n - 2, 1], [1, 0]]
    bound = (n - 1) / ((n + 1) * (n + 2))

    def detour_is_shorter(beta):
        first, second, direct = (float(OCI(one, beta=beta, absolute=True)) for one in (ab, bc, ac))
        return first + second < direct - 1e-15

    assert detour_is_shorter(0)
    assert detour_is_shorter(0.999 * bound)
    assert not detour_is_shorter(1.001 * bound)
