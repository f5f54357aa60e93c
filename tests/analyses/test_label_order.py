"""The order of runs, topics and measures moves no bit of any result."""

import itertools

import numpy as np
import pytest

import metaeval as me

TESTS = ["randomised-tukey-hsd", "tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap"]


@pytest.fixture
def two_orders():
    """The same scores twice, the second time with everything in another order."""
    values = np.random.default_rng(1).normal(0.5, 0.3, (6, 13, 4)) + np.linspace(0, 0.4, 6)[:, None, None]
    scores = me.Scores(values, runs=list("cafebd"), topics=range(13), measures=["AP", "RR", "NMD", "X"], collection="c")
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
    one, other = (by_pair(me.discriminative_power(each, n_permutations=100, test=test)) for each in two_orders)
    assert one == other
