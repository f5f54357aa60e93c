"""The words good, fair and poor: rules of plain arrays, and of results."""

from types import SimpleNamespace

import numpy as np

from metaeval.analyses.grades import (
    grade,
    rate_consistency,
    rate_consistency_results,
)


def test_grades_begin_at_a_third():
    nets = (1, 1 / 3, 0.3, 0, -0.3, -1 / 3, -1)
    assert [grade(net) for net in nets] == ["good", "good", "fair", "fair", "fair", "poor", "poor"]
    assert grade(float("nan")) == "–"


def test_nets_count_who_outperforms_whom():
    significant = np.array([[False, True, True], [True, False, False], [True, False, False]])
    one = SimpleNamespace(significant=significant, means=np.array([0.9, 0.5, 0.4]), measures=range(3))
    assert rate_consistency_results([one]).tolist() == [1.0, -0.5, -0.5]


def test_nets_are_averaged_over_collections():
    first, second = np.array([[0, 1], [0, 0]]), np.array([[0, 0], [0, 0]])
    assert rate_consistency([first, second]).tolist() == [0.5, -0.5]
