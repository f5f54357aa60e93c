"""The order of runs, topics and measures moves no bit of any result."""

import itertools

import numpy as np
import pandas as pd
import pytest

import metaeval as me

TESTS = [
    "randomised-tukey-hsd",
    "tukey-hsd",
    "paired-t",
    "paired-randomisation",
    "paired-bootstrap",
    "max-t",
    "bootstrap-t",
]


@pytest.fixture
def two_orders():
    """The same scores twice, the second time with everything in another order."""
    values = np.random.default_rng(1).normal(0.5, 0.3, (10, 25, 4)) + np.linspace(0, 0.4, 10)[:, None, None]
    scores = me.Scores(
        values, runs=list("cafebdhgji"), topics=range(25), measures=["AP", "RR", "NMD", "ERR"], collection="c"
    )
    shuffled = np.random.default_rng(2).permutation
    other = scores.sel(
        runs=shuffled(scores.runs).tolist(),
        topics=shuffled(scores.topics).tolist(),
        measures=shuffled([str(one) for one in scores.measures]).tolist(),
    )
    return scores, other


def by_pair(power):
    """Mean and p-value by labels."""
    found = {}
    for m, measure in enumerate(power.measures):
        found |= {(str(measure), run): mean for run, mean in zip(power.runs, power.means[:, m], strict=True)}
        for pair, p in zip(itertools.combinations(power.runs, 2), power.p_values[m], strict=True):
            found[str(measure), frozenset(pair)] = p
    return found


@pytest.mark.parametrize("test", TESTS)
def test_p_values_belong_to_labels_whatever_the_order_of_the_input(two_orders, test):
    one, other = (by_pair(me.discriminative_power(each, n_permutations=1000, test=test)) for each in two_orders)
    assert one == other


def by_name(result, name):
    """Columns of numbers by the name of the measure."""
    return {
        str(one): np.ravel(column).tobytes()
        for one, column in zip(result.measures, getattr(result, name).T, strict=True)
    }


def test_tau_and_its_intervals_belong_to_labels(two_orders):
    one, other = (me.ranking_similarity(each, n_bootstrap=50) for each in two_orders)
    mine, theirs = (
        {frozenset(row[:2]): row[2:5] for row in each.pairs.itertuples(index=False, name=None)} for each in (one, other)
    )
    assert mine == theirs


def test_consistency_and_its_p_values_belong_to_labels(two_orders):
    one, other = (me.split_half_consistency(each, n_trials=30, n_permutations=100) for each in two_orders)
    assert by_name(one, "tau") == by_name(other, "tau")
    assert one.residual_variance == other.residual_variance
    pairs = [
        dict(zip(map(frozenset, itertools.combinations(map(str, each.measures), 2)), each.p_values, strict=True))
        for each in (one, other)
    ]
    assert pairs[0] == pairs[1]
    assert any(0 < p < 1 for p in pairs[0].values())


ASKED = {
    "coverage": (
        lambda scores: me.coverage(scores, reference=["AP", "NMD"], n_bootstrap=50),
        ("coverage", "low", "high"),
    ),
    "robustness": (me.robustness, ("mean", "sd", "q1")),
}


@pytest.mark.parametrize("analysis", ASKED)
def test_rows_of_measures_belong_to_labels(two_orders, analysis):
    ask, numbers = ASKED[analysis]
    one, other = (ask(each).rows.set_index("measure")[[*numbers]] for each in two_orders)
    pd.testing.assert_frame_equal(one, other.loc[one.index], check_exact=True)


def test_numbers_of_topics_belong_to_labels(two_orders):
    settings = {"sizes": [4, 6, 13], "n_trials": 20}
    frames = [me.sample_size(each, **settings).to_frame().sort_values(["topics", "measure"]) for each in two_orders]
    one, other = (frame.reset_index(drop=True) for frame in frames)
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_pooled_intervals_belong_to_labels(two_orders):
    names = ["AP", "RR", "NMD", "ERR"]
    one, other = (me.discriminative_power(each.sel(measures=names), n_permutations=50) for each in two_orders)
    more = me.Scores(
        np.random.default_rng(5).random((12, 30, 4)), runs=range(12), topics=range(30), measures=names, collection="b"
    )
    second = me.discriminative_power(more, n_permutations=50)
    pooled = [me.pooled_discriminative_power(powers) for powers in ([one, second], [second, other])]
    assert pooled[0].to_frame()["low"].notna().all()
    assert pooled[0].to_frame().fillna(0).equals(pooled[1].to_frame().fillna(0))
