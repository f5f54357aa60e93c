"""Neither the order of labels nor the unit of the scores moves a bit of any result; a huge score changes nothing else."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import metaeval as me
from metaeval.stats.arrays import Scaled
from metaeval.stats.pair_tests import PairedTest
from metaeval.stats.uir import count_unanimous
from tests.analyses.made import label


def make_scores(n_runs=10, n_topics=25, collection="c"):
    values = np.random.default_rng(1).normal(0.5, 0.3, (n_runs, n_topics, 4))
    values += np.linspace(0, 0.4, n_runs)[:, None, None]
    return label(values, ["AP", "RR", "NMD", "ERR"], collection, runs=list("cafebdhgjikl")[:n_runs])


def shuffle(scores):
    draw = np.random.default_rng(2).permutation
    labels = {"runs": scores.runs, "topics": scores.topics, "measures": [str(each) for each in scores.measures]}
    return scores.sel(**{name: draw(some).tolist() for name, some in labels.items()})


CHANGES = {
    "another order": shuffle,
    "a large unit": lambda scores: replace(scores, values=np.ldexp(scores.values, 520)),
    "a small unit": lambda scores: replace(scores, values=np.ldexp(scores.values, -540)),
}

PAIR, QUICK = ["measure_1", "measure_2"], {"n_trials": 20, "n_permutations": 50}
ANALYSES = {
    "similarity": (lambda scores: me.ranking_similarity(scores, n_bootstrap=50).pairs, PAIR, ["tau", "low", "high"]),
    "consistency": (
        lambda scores: me.split_half_consistency(scores, **QUICK).to_frame(), ["measure"], ["mean_tau", "sd", "outperforms"],
    ),
    "compared consistency": (
        lambda scores: me.split_half_consistency(scores, **QUICK).frames()["comparisons"], PAIR, ["p_value"],
    ),
    "robustness": (lambda scores: me.robustness(scores).rows, ["measure"], ["mean", "sd", "q1"]),
    "coverage": (
        lambda scores: me.coverage(scores, reference=["AP", "NMD"], n_bootstrap=50).rows, ["measure"],
        ["coverage", "low", "high"],
    ),
    "sample size": (
        lambda scores: me.sample_size(scores, sizes=[4, 6, 13], n_trials=20).to_frame(), ["topics", "measure"],
        ["mean_tau", "expected_tau", "true_tau"],
    ),
    "agreement": (
        lambda scores: me.agreement(scores, reference="AP", n_permutations=20).to_frame(), ["statistic", "measure"],
        ["value", "low", "high", "chance", "ceiling", "cluster"],
    ),
    "baselines": (lambda scores: me.baseline_preference(scores, "a", "b").to_frame().reset_index(), ["measure"], ["a", "b"]),
    "ranks": (
        lambda scores: me.run_ranks(scores, n_permutations=250).to_frame(), ["measure", "run"],
        ["rank", "low", "high", "letters", "near_first"],
    ),
    **{
        test: (
            lambda scores, test=test: me.discriminative_power(scores, test=test, n_permutations=1000).run_pairs(),
            ["measure", "run_a", "run_b"], ["p_value"],
        )
        for test in get_args(PairedTest)
    },
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("analysis", ANALYSES)
def test_numbers_belong_to_labels_whatever_the_order_and_the_unit(analysis, change):
    ask, labels, numbers = ANALYSES[analysis]
    scores, found = make_scores(), []
    for each in (scores, CHANGES[change](scores)):
        frame = ask(each)
        keys = map(frozenset, frame[labels].itertuples(index=False, name=None))
        found.append(dict(zip(keys, map(str, frame[numbers].to_numpy().tolist()), strict=True)))
    assert found[0] == found[1]
    assert len(set(found[0].values())) > 1


def test_pooled_intervals_belong_to_labels():
    scores = make_scores()
    other = shuffle(scores).sel(measures=list(map(str, scores.measures)))
    one, two, second = (
        me.discriminative_power(each, n_permutations=50) for each in (scores, other, make_scores(12, 30, "b"))
    )
    pooled, again = (me.pooled_discriminative_power(powers).to_frame() for powers in ([one, second], [second, two]))
    assert pooled["low"].notna().all()
    assert pooled.fillna(0).equals(again.fillna(0))


@pytest.fixture
def scores():
    values = np.random.default_rng(1).random((5, 12, 3)) + np.linspace(0, 0.5, 5)[:, None, None]
    return label(values, ["AP", "NMD", me.Measure("own", higher_is_better=True)])


def enlarge(scores, huge):
    values = scores.values.copy()
    values[0, 0] = huge
    return replace(scores, values=values)


@pytest.mark.parametrize("huge", [1e13, -1e13, 1e300])
def test_a_huge_score_ties_no_other_runs(scores, huge):
    other, rest = enlarge(scores, huge), scores.sel(runs=scores.runs[1:])
    tau, expected = (me.ranking_similarity(each, n_bootstrap=0).tau for each in (other, rest))
    # The run with the huge score is above or below all four others, for all measures: four of ten pairs agree.
    signs = np.array([1, -1, 1])
    assert tau == pytest.approx((6 * expected + 4 * np.outer(signs, signs)) / 10)
    assert me.coverage(other, reference=["AP"], n_bootstrap=0).rows["coverage"].notna().all()
    counts = [count_unanimous(Scaled(each.values[..., :1]))[4:] for each in (scores, other)]
    assert counts[0].tolist() == counts[1].tolist()
    mixed = enlarge(scores, [huge, -huge, huge])
    assert np.isfinite(me.agreement(mixed, reference="AP", n_permutations=20).values).all()


@pytest.mark.parametrize("test", ["paired-t", "paired-bootstrap"])
def test_a_huge_score_changes_the_tests_of_no_other_pairs(scores, test):
    options = {"test": test, "correction": "none", "n_permutations": 50}
    one, other = (me.discriminative_power(each, **options).p_values[:, 4:] for each in (scores, enlarge(scores, 1e300)))
    assert one.tolist() == other.tolist()


def test_means_that_are_zero_on_paper_are_tied():
    """0.1 + 0.2 - 0.3 is 5.6e-17 as a float."""
    values = np.array([[0.1, 0.2, -0.3], [0.0, 0.0, 0.0], [0.3, 0.2, 0.1]])
    assert values[0].mean() != 0
    twice = label(np.dstack([values, values]), ["kappa", "AP"])
    assert me.ranking_similarity(twice, n_bootstrap=0).tau[0, 1] == pytest.approx(2 / 3)
