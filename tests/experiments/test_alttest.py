"""Judges against people: what the claims of the study say of scores made for them."""

import dataclasses

import numpy as np
import pytest

import metaeval
from experiments.alttest.claims import Facts, constant_does_not_pass, every_judge_beats_constant, measure_changes_best
from experiments.alttest.resampling import compare_judges, resample_judges
from experiments.alttest.steps import add_constant_judge
from metaeval.data.annotations import Annotations


def make_differences(values, error=0.01, trials=400):
    """Judges by measures; on resampled topics every score moves by itself."""
    values = np.array(values)
    drawn = values + error * np.random.default_rng(0).normal(size=(trials, *values.shape))
    judges, measures = (tuple(f"{what}{n}" for n in range(size)) for what, size in zip("jm", values.shape, strict=True))
    return compare_judges(judges, measures, values, drawn, 100, 0.95)


def try_changes(differences):
    return measure_changes_best(Facts("made", {"majority": differences}, None, ""))


@pytest.mark.parametrize(
    ("values", "error", "outcome"),
    [
        ([[0.9, 0.1], [0.1, 0.9]], 0.01, "holds"),
        ([[0.9, 0.9], [0.1, 0.1]], 0.01, "does not hold"),
        ([[0.9, 0.1], [0.1, 0.9]], 1.0, "cannot tell"),
        ([[0.9, 0.5], [0.1, 0.5001]], 0.01, "cannot tell"),
        ([[0.9, 0.9], [0.9, 0.1]], 0.01, "cannot tell"),  # one judge is best by both, but not surely by the first
        ([[1.0, 1.0], [0.5, 0.5]], 0.0, "cannot tell"),  # scores that never move have no interval
        ([[0.5, 1.0], [0.5, 0.5]], 0.0, "cannot tell"),
    ],
)
def test_the_best_judge_changes_only_where_both_differences_leave_0_out(values, error, outcome):
    assert try_changes(make_differences(values, error)).truth.value == outcome


def test_the_figures_are_the_two_differences_that_contradict_each_other():
    differences = make_differences([[0.9, 0.2, 0.1], [0.1, 0.5, 0.9]])
    assert differences.best.tolist() == [0, 1, 1]
    assert differences.n_beaten.tolist() == [1, 1, 1]
    numbers = try_changes(differences).numbers
    assert [number.name for number in numbers] == ["j0 less j1 by m0", "j1 less j0 by m2"]
    assert all(number.value == pytest.approx(0.8) and number.low > 0 for number in numbers)


def test_contradictions_are_counted_by_pairs_of_judges_and_of_measures():
    differences = make_differences([[0.9, 0.2, 0.1, 0.5], [0.1, 0.5, 0.9, 0.5], [0.05, 0.05, 0.05, 0.05]])
    assert differences.count_contradictions() == {
        "pairs of judges": 3, "with a contradiction": 1, "pairs of measures": 6, "that contradict each other": 2,
    }  # fmt: skip
    frame = differences.to_frame()
    assert len(frame) == 4 * 3 - 1  # j0 and j1 are the same by m3
    assert frame.loc["m2", "better"].tolist() == ["j1", "j0", "j1"]
    assert ((frame["low"] > 0) | (frame["high"] < 0)).all()


def test_simultaneous_intervals_hold_all_together_as_often_as_they_claim():
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(200):
        topics = rng.normal(size=(50, 4, 3))  # all judges are equally good
        drawn = topics[rng.integers(0, 50, (300, 50))].mean(axis=1)
        differences = compare_judges("abcd", "xyz", topics.mean(axis=0), drawn, 50, 0.95)
        covered.append(not differences.surely.any())
    assert 0.9 < np.mean(covered) < 0.99


def make_annotations():
    rng = np.random.default_rng(2)
    return Annotations(
        rng.integers(0, 3, (3, 60)), np.eye(3, dtype=int)[rng.integers(0, 3, (2, 60))], annotators=list("abc"),
        judges=["j", "k"], items=range(60), classes=range(3), topics=np.arange(60) // 2,
    )  # fmt: skip


def test_scores_on_the_set_are_those_of_its_runs():
    annotations = make_annotations()
    by_gold = resample_judges(annotations, ["CEM_ORD", "MAE_mu"], ["NMD"], n_bootstrap=20, confidence=0.95, seed=0)
    values = by_gold["majority"].values
    whole = annotations.to_classification(parts=1).counts[:, 0]
    np.testing.assert_allclose(values[:, 0], metaeval.measure("CEM_ORD").score(whole))
    np.testing.assert_allclose(values[:, 1], -metaeval.measure("MAE_mu").score(whole))
    means = metaeval.score(annotations.to_quantification(), ["NMD"]).values.mean(axis=1)
    np.testing.assert_allclose(values[:, 2], -means[:, 0])
    tested = metaeval.alternative_annotator_test(annotations, n_bootstrap=0)
    rows = tested.rows.set_index("judge").loc[list(tested.judges)]
    np.testing.assert_allclose(values[:, 3], rows["rho"])


def test_the_constant_judge_gives_the_usual_label():
    labels, answers = [[0, 2, 2], [1, 2, -1]], [[[1, 0, 0]] * 3]
    annotations = Annotations(
        labels, answers, annotators=["a", "b"], judges=["j"], items=range(3), classes=["x", "y", "z"]
    )
    more = add_constant_judge(annotations)
    assert more.judges == ("j", "always-z")
    assert more.answers[1].tolist() == [[0, 0, 1]] * 3


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [([0.1, 0.05], [0.3, 0.2], "holds"), ([0.1, -0.2], [0.3, -0.1], "does not hold"), ([0.1, -0.1], [0.3, 0.1], "cannot tell")],
)  # fmt: skip
def test_every_judge_beats_the_constant_one_by_the_intervals_of_rho(low, high, outcome):
    tested = metaeval.alternative_annotator_test(add_constant_judge(make_annotations()), n_bootstrap=0)
    # j less k, then each less the constant judge.
    differences = tested.differences.assign(low=[0.0, *low], high=[0.0, *high])
    facts = Facts("made", {}, dataclasses.replace(tested, differences=differences), tested.judges[-1])
    assert every_judge_beats_constant(facts).truth.value == outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(0.0, 0.4, "holds"), (0.5, 1.0, "does not hold"), (0.4, 0.6, "cannot tell")]
)
def test_the_constant_judge_passes_with_half_of_the_people(low, high, outcome):
    tested = metaeval.alternative_annotator_test(add_constant_judge(make_annotations()), n_bootstrap=0)
    rows = tested.rows.assign(omega_low=low, omega_high=high)
    facts = Facts("made", {}, dataclasses.replace(tested, rows=rows), tested.judges[-1])
    assert constant_does_not_pass(facts).truth.value == outcome
