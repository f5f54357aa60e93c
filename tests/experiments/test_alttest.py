"""Judges against people: what the rules of the study say of scores made for them."""

import numpy as np
import pytest

import metaeval
from experiments.alttest.resampling import Resampled, find_changes, resample_judges
from experiments.alttest.verdicts import add_constant_judge, find_best, judge_changes
from metaeval.data.annotations import Annotations


def make_scores(values, error=0.01, trials=400):
    """Judges by measures; on resampled topics every score moves by itself."""
    values = np.array(values)
    drawn = values + error * np.random.default_rng(0).normal(size=(trials, *values.shape))
    judges, measures = (tuple(f"{what}{n}" for n in range(size)) for what, size in zip("jm", values.shape, strict=True))
    return Resampled(judges, measures, values, drawn, 100)


@pytest.mark.parametrize(
    ("values", "error", "word"),
    [
        ([[0.9, 0.1], [0.1, 0.9]], 0.01, "holds"),
        ([[0.9, 0.9], [0.1, 0.1]], 0.01, "does not hold"),
        ([[0.9, 0.1], [0.1, 0.9]], 1.0, "cannot tell"),
        ([[0.9, 0.5], [0.1, 0.5001]], 0.01, "cannot tell"),
    ],
)
def test_the_best_judge_changes_only_where_both_differences_leave_0_out(values, error, word):
    scores = make_scores(values, error)
    assert judge_changes(scores, scores.compare(0.95))[0] == word


def test_the_evidence_is_the_two_differences_that_contradict_each_other():
    scores = make_scores([[0.9, 0.2, 0.1], [0.1, 0.5, 0.9]])
    found = scores.compare(0.95)
    assert find_best(scores) == {"m0": "j0", "m1": "j1", "m2": "j1"}
    _, evidence = judge_changes(scores, found)
    assert [str(one).partition(" =")[0] for one in evidence] == ["j0 less j1 by m0", "j1 less j0 by m2"]
    assert all(one.value == pytest.approx(0.8) and one.interval[0] > 0 for one in evidence)
    assert find_changes(found) == [("m0", "j0", "m1", "j1"), ("m0", "j0", "m2", "j1")]


def test_simultaneous_intervals_hold_all_together_as_often_as_they_claim():
    rng = np.random.default_rng(1)
    held = []
    for _ in range(200):
        topics = rng.normal(size=(50, 4, 3))  # all judges are equally good
        drawn = topics[rng.integers(0, 50, (300, 50))].mean(axis=1)
        found = Resampled(tuple("abcd"), tuple("xyz"), topics.mean(axis=0), drawn, 50).compare(0.95)
        held.append((found["better"] == "cannot tell").all())
    assert 0.9 < np.mean(held) < 0.99


def test_scores_on_the_set_are_those_of_its_runs():
    rng = np.random.default_rng(2)
    given = Annotations(
        rng.integers(0, 3, (3, 60)), np.eye(3, dtype=int)[rng.integers(0, 3, (2, 60))], annotators=list("abc"),
        judges=["j", "k"], items=range(60), classes=range(3), topics=np.arange(60) // 2,
    )  # fmt: skip
    found = resample_judges(given, ["CEM_ORD", "MAE_mu"], ["NMD"], n_bootstrap=20, seed=0)["majority"]
    whole = given.to_classification(parts=1).counts[:, 0]
    np.testing.assert_allclose(found.values[:, 0], metaeval.measure("CEM_ORD").score(whole))
    np.testing.assert_allclose(found.values[:, 1], -metaeval.measure("MAE_mu").score(whole))
    means = metaeval.score(given.to_quantification(), ["NMD"]).values.mean(axis=1)
    np.testing.assert_allclose(found.values[:, 2], -means[:, 0])
    tested = metaeval.alternative_annotator_test(given, n_bootstrap=0)
    np.testing.assert_allclose(found.values[:, 3], tested.rho)


def test_the_constant_judge_gives_the_usual_label():
    labels, answers = [[0, 2, 2], [1, 2, -1]], [[[1, 0, 0]] * 3]
    given = Annotations(labels, answers, annotators=["a", "b"], judges=["j"], items=range(3), classes=["x", "y", "z"])
    name, more = add_constant_judge(given)
    assert (name, more.judges) == ("always-z", ("j", "always-z"))
    assert more.answers[1].tolist() == [[0, 0, 1]] * 3
