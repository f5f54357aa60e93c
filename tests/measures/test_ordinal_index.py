"""The ordinal classification index against its definition, path by path."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from metaeval.measures.accuracy import MER
from metaeval.measures.ordinal import OCI

EVERY = settings(deadline=None, max_examples=80)


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
@given(matrices(9), st.floats(1e-6, 3), exponents)
def test_the_index_is_0_for_the_perfect_run_only_at_most_1_and_does_not_tell_gold_from_run(counts, share, gamma):
    value = OCI(counts, beta=share, gamma=gamma)
    assert 0 <= value <= 1
    # Only the order of summation differs.
    assert OCI(counts.T, beta=share, gamma=gamma) == pytest.approx(float(value), abs=1e-14)
    assert (value == 0) == (MER(counts) == 0)
    assert OCI(np.diag(counts.sum(axis=1)), beta=share, gamma=gamma) == 0
    assert value <= OCI(counts, beta=2 * share, gamma=gamma) + 1e-14


def test_an_infinite_gamma_is_the_limit_beta_may_differ_and_a_single_item_scores_by_section_3_2():
    counts = np.random.default_rng(0).integers(0, 5, (200, 4, 4))
    np.testing.assert_allclose(OCI(counts, gamma=math.inf), OCI(counts, gamma=1e6), atol=1e-4)
    far = np.array([[1, 0, 3], [0, 1, 0], [0, 0, 1]])
    assert OCI(far, gamma=math.inf, beta=0.01, absolute=True) == pytest.approx(1 - 3 / (6 + 2))
    betas = np.array([0.1, 0.5, 0.9])
    each = [float(OCI(one, beta=b)) for one, b in zip(counts[:3], betas, strict=True)]
    np.testing.assert_array_equal(OCI(counts[:3], beta=betas), each)
    np.testing.assert_array_equal(OCI(counts[0], beta=betas), [OCI(counts[0], beta=b) for b in betas])
    for distance, beta in itertools.product(range(1, 8), [0, 0.05, 0.25, 0.5, 2]):
        counts = np.zeros((8, 8))
        counts[0, distance] = 1
        wanted = min(1, 1 - 1 / (1 + distance) + beta * distance)
        assert OCI(counts, beta=beta, absolute=True) == pytest.approx(wanted, abs=1e-15)
