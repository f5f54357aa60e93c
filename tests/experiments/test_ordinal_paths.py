"""OC′, the general index and the path of OC against all paths, one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from experiments.cardoso2011.paths import OC_prime, best_path, general_index
from metaeval.errors import MeasureError
from metaeval.measures.ordinal import OCI
from tests.measures.test_ordinal_index import EVERY, absolute, cost, matrices, monotone_paths, shares


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


def test_what_cannot_be_searched_is_refused_with_what_can():
    with pytest.raises(MeasureError, match="4 classes are feasible"):
        general_index(np.eye(5), beta1=0.5, beta2=0.1)
    with pytest.raises(MeasureError, match="beta2=-1"):
        general_index(np.eye(3), beta1=0.5, beta2=-1)
