"""RNADW and the gold distance: what the page says of the formulas, derived again."""

import itertools
import os

import numpy as np
import pytest

import metaeval
from experiments.studies.new_measure import steps
from metaeval.measures.quantification import gold_distance

GOLD = ("RNOD(distance=gold)", "RNADW(distance=gold)")


def score(name, estimated, true):
    return metaeval.measure(name).score(estimated, true)


def draw_shares(n, n_classes, seed=0, concentration=0.3):
    """Random distributions of which many have empty classes."""
    rng = np.random.default_rng(seed)
    drawn = np.where(rng.random((n, n_classes)) < 0.4, 0.0, rng.gamma(concentration, size=(n, n_classes)))
    drawn[drawn.sum(axis=1) == 0, 0] = 1.0
    return drawn / drawn.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("distance", ["equal", "gold"])
def test_rnod_and_rnadw_are_the_same_exactly_where_no_gold_class_is_empty(distance):
    p, q = draw_shares(500, 5, 1), draw_shares(500, 5, 2, 3.0)
    whole = (q > 0).all(axis=1)
    a, b = (score(f"{name}(distance={distance})", p, q) for name in ("RNOD", "RNADW"))
    assert whole.any()
    assert np.allclose(a[whole], b[whole])
    assert not np.isclose(a[~whole], b[~whole]).all()


def test_empty_classes_side_by_side_are_interchangeable_and_rnadw_is_a_distance():
    p, q, r = (draw_shares(500, 5, seed) for seed in (1, 2, 3))
    weights = np.array([2, 1.4, 1.2, 1.4, 2])  # RNSS with the constant weights of the text
    assert np.allclose(score("RNADW", p, q), np.sqrt(((p - q) ** 2 * weights).sum(axis=1) / 4))
    assert (score("RNADW", p, r) <= score("RNADW", p, q) + score("RNADW", q, r) + 1e-12).all()
    q = np.array([0.5, 0.0, 0.0, 0.3, 0.2])
    assert gold_distance(q)[1, 2] == 0
    assert gold_distance(q)[0, 1] == pytest.approx(0.25)
    one, other = np.array([0.3, 0.4, 0.0, 0.2, 0.1]), np.array([0.3, 0.0, 0.4, 0.2, 0.1])
    for name in GOLD:
        assert score(name, one, q) == pytest.approx(score(name, other, q))
    assert score("RNOD", one, q) != pytest.approx(score("RNOD", other, q))


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
def test_the_largest_rnod_with_gold_distance_is_the_closed_form_and_no_random_case_exceeds_it(n_classes):
    bound = np.sqrt((3 * n_classes - 5) / 2) / (n_classes - 1)
    largest = steps.score_extremes(metaeval.measure("RNOD(distance=gold)"), n_classes).max()
    assert largest == pytest.approx(bound, abs=1e-6)
    for concentration in (0.02, 0.1, 0.5):
        q = draw_shares(4000, n_classes, 12, concentration)
        # The measure is convex in the estimate, so its largest value is at an estimate of one class.
        assert score("RNOD(distance=gold)", np.eye(n_classes)[:, None], q).max() <= bound + 1e-9


def test_extremes_and_order_of_measures_are_what_the_page_says():
    limits = steps.tabulate_limits(["RSNOD", "RNOD", "RNADW", *GOLD])
    assert limits.loc["RNOD", "largest value K = 5"] == pytest.approx(np.sqrt(13 / 12), abs=1e-6)
    assert limits.loc["RSNOD", "largest value K = 5"] > 1.04
    assert limits.loc["RNADW", "largest value K = 5"] == pytest.approx(1)
    assert limits.loc["RNADW", "asymmetry K = 5"] == 0
    assert (limits.loc[list(GOLD), "asymmetry K = 5"] > 0.1).all()
    found = set(steps.list_steps(4))
    triples = itertools.product(range(4), repeat=3)
    assert found == {(g, a, b) for g, a, b in triples if abs(a - g) < abs(b - g) and (a - g) * (b - g) > 0}
    order, total = steps.tabulate_order(["NVD", "RNSS", "JSD", "NMD"], 5), len(list(steps.list_steps(5)))
    assert order.to_numpy().tolist() == [[0, total, 0, total]] * 3 + [[0, 0, 0, 0]]


@pytest.mark.skipif(not os.environ.get("METAEVAL_DATA"), reason="METAEVAL_DATA names no folder")
def test_the_baselines_of_stc_3_are_those_made_from_its_gold():
    runs = metaeval.load_dataset("stc3-dq-s")
    scores = metaeval.score(runs, steps.MEASURES)
    made = metaeval.score(steps.make_baselines(runs), steps.MEASURES)
    submitted = metaeval.baseline_preference(scores, "BL-popularity", "BL-uniform")
    mine = metaeval.baseline_preference(made, steps.POPULARITY, steps.UNIFORM)
    assert np.array_equal(submitted.deltas, mine.deltas)
