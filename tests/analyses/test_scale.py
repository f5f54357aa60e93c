"""The unit of the scores changes no result: a power of two rounds nothing."""

from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from metaeval.stats.arrays import Scaled, scale_scores
from metaeval.stats.uir import count_unanimous

POWERS = (520, -540)


@pytest.fixture
def scores():
    values = np.random.default_rng(1).random((5, 12, 3)) + np.linspace(0, 0.5, 5)[:, None, None]
    measures = ["AP", "NMD", me.Measure("own", higher_is_better=True)]
    return me.Scores(values, runs=list("abcde"), topics=range(12), measures=measures, collection="c")


ANALYSES = {
    "similarity": lambda scores: me.ranking_similarity(scores, n_bootstrap=20).pairs,
    "consistency": lambda scores: me.split_half_consistency(scores, n_trials=20, n_permutations=20).to_frame(),
    "robustness": lambda scores: me.robustness(scores).to_frame(),
    "coverage": lambda scores: me.coverage(scores, reference=["AP", "own"], n_bootstrap=20).to_frame(),
    "sample size": lambda scores: me.sample_size(scores, sizes=[4], n_trials=10).to_frame(),
    "agreement": lambda scores: me.agreement(scores, reference="AP", n_permutations=20).to_frame(),
    "baselines": lambda scores: me.baseline_preference(scores, "a", "b").to_frame(),
    **{
        test: lambda scores, test=test: me.discriminative_power(scores, test=test, n_permutations=250).p_values
        for test in (
            "randomised-tukey-hsd",
            "tukey-hsd",
            "paired-t",
            "paired-randomisation",
            "paired-bootstrap",
            "max-t",
            "bootstrap-t",
        )
    },
}


@pytest.mark.parametrize("analysis", ANALYSES)
@pytest.mark.parametrize("power", POWERS)
def test_scores_times_a_power_of_two_give_the_same_results(scores, analysis, power):
    ask = ANALYSES[analysis]
    expected, found = (ask(one) for one in (scores, replace(scores, values=np.ldexp(scores.values, power))))
    if isinstance(expected, np.ndarray):
        assert found.tolist() == expected.tolist()
    else:
        assert found.equals(expected)


@pytest.mark.parametrize("huge", [1e13, -1e13, 1e300])
def test_a_huge_score_ties_no_other_runs(scores, huge):
    values = scores.values.copy()
    values[0, 0] = huge
    other = replace(scores, values=values)
    rest = {"runs": list("bcde")}
    tau = me.ranking_similarity(other, n_bootstrap=0).tau
    expected = me.ranking_similarity(scores.sel(**rest), n_bootstrap=0).tau
    # The run with the huge score is above or below all four others, for all measures: four of ten pairs agree.
    signs = np.array([1, -1, 1])
    assert tau == pytest.approx((6 * expected + 4 * np.outer(signs, signs)) / 10)
    covered = me.coverage(other, reference=["AP"], n_bootstrap=0).rows["coverage"]
    assert not np.isnan(covered).any()
    counts = [count_unanimous(Scaled(one.values[..., :1]))[len(rest["runs"]) :] for one in (scores, other)]
    assert counts[0].tolist() == counts[1].tolist()


def test_a_huge_score_changes_the_tests_of_no_other_pairs(scores):
    values = scores.values.copy()
    values[0, 0] = 1e300
    for test in ("paired-t", "paired-bootstrap"):
        one, other = (
            me.discriminative_power(each, test=test, correction="none", n_permutations=50).p_values[:, 4:]
            for each in (scores, replace(scores, values=values))
        )
        assert one.tolist() == other.tolist()


def test_a_huge_score_has_an_agreement_all_the_same(scores):
    values = scores.values.copy()
    values[0, 0] = [1e300, -1e300, 1e300]
    found = me.agreement(replace(scores, values=values), reference="AP", n_permutations=20)
    assert np.isfinite(found.values).all()


def test_means_that_are_zero_on_paper_are_tied():
    """0.1 + 0.2 - 0.3 is 5.6e-17 as a float."""
    values = np.array([[0.1, 0.2, -0.3], [0.0, 0.0, 0.0], [0.3, 0.2, 0.1]])[..., None]
    scores = me.Scores(np.repeat(values, 2, axis=2), runs=list("abc"), topics=range(3), measures=["kappa", "AP"])
    assert values[0].mean() != 0
    assert me.ranking_similarity(scores, n_bootstrap=0).tau[0, 1] == pytest.approx(2 / 3)


def test_a_typical_score_lies_between_a_half_and_one():
    rng = np.random.default_rng(0)
    values = rng.normal(0, [1e-300, 1, 1e200], (7, 9, 3))
    values[:3] = 0
    values[-1, -1, 1] = 1e15
    scaled = scale_scores(values)
    typical = [np.median(np.abs(one[one != 0])) for one in np.moveaxis(scaled, -1, 0)]
    assert all(0.4 < one < 1 for one in typical)
    assert (np.frexp(scaled)[0] == np.frexp(values)[0]).all()
    assert scale_scores(np.zeros((2, 3, 1))).tolist() == np.zeros((2, 3, 1)).tolist()
