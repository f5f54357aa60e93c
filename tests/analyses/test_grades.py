"""The words good, fair and poor, and the groups: rules of plain arrays, and of results."""

from types import SimpleNamespace

import numpy as np
import pytest

from metaeval.analyses.grades import (
    grade,
    group_measures,
    group_results,
    rate_consistency,
    rate_consistency_results,
)


def link_by_loops(tau, threshold):
    """Average linkage as it is defined: join the two most similar groups as long as they are similar enough."""
    groups = [[m] for m in range(len(tau))]
    while len(groups) > 1:
        between = {
            (i, j): tau[np.ix_(groups[i], groups[j])].mean()
            for i in range(len(groups))
            for j in range(i + 1, len(groups))
        }
        i, j = max(between, key=lambda pair: between[pair])
        if between[i, j] < threshold:
            break
        groups[i] += groups.pop(j)
    groups.sort(key=lambda group: (-len(group), min(group)))
    return [next(chr(ord("A") + g) for g, group in enumerate(groups) if m in group) for m in range(len(tau))]


def test_grades_begin_at_a_third():
    nets = (1, 1 / 3, 0.3, 0, -0.3, -1 / 3, -1)
    assert [grade(net) for net in nets] == ["good", "good", "fair", "fair", "fair", "poor", "poor"]
    assert grade(float("nan")) == "–"


def test_groups_join_what_is_alike():
    tau = np.array([[1, 0.9, 0.2, 0.85], [0.9, 1, 0.1, 0.8], [0.2, 0.1, 1, 0.3], [0.85, 0.8, 0.3, 1]])
    assert group_measures(tau) == ["A", "A", "B", "A"]
    assert group_measures(tau, 0.0) == ["A"] * 4
    assert group_measures(tau, 1.0) == ["A", "B", "C", "D"]
    assert group_measures([[1.0]]) == ["A"]


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_those_of_average_linkage_written_out_with_loops(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2, 12)
    half = rng.uniform(-0.2, 1, (n, n))
    tau = np.triu(half, 1) + np.triu(half, 1).T + np.eye(n)
    for threshold in (0.0, 0.4, 0.6, 0.8):
        assert group_measures(tau, threshold) == link_by_loops(tau, threshold)


def test_groups_of_results_are_those_of_their_mean():
    one, two = np.array([[1, 0.9], [0.9, 1]]), np.array([[1, 0.5], [0.5, 1]])
    assert group_results([SimpleNamespace(tau=one), SimpleNamespace(tau=two)]) == ["A", "B"]
    assert group_results([SimpleNamespace(tau=one), SimpleNamespace(tau=one)]) == ["A", "A"]


def test_a_similarity_that_is_not_a_number_joins_nothing():
    tau = np.array([[1, np.nan, 0.9], [np.nan, 1, np.nan], [0.9, np.nan, 1]])
    assert group_measures(tau) == ["A", "B", "A"]


def test_nets_count_who_outperforms_whom():
    significant = np.array([[False, True, True], [True, False, False], [True, False, False]])
    one = SimpleNamespace(significant=significant, means=np.array([0.9, 0.5, 0.4]), measures=range(3))
    assert rate_consistency_results([one]).tolist() == [1.0, -0.5, -0.5]


def test_nets_are_averaged_over_collections():
    first, second = np.array([[0, 1], [0, 0]]), np.array([[0, 0], [0, 0]])
    assert rate_consistency([first, second]).tolist() == [0.5, -0.5]
