"""A direction has one sense: nobody stated it means that higher is assumed to be better, everywhere, and it is shown."""

import numpy as np
import pytest

import metaeval
from metaeval.errors import DirectionWarning
from metaeval.measures.base import Measure, find_signs


def closeness(estimated, gold):
    return 1 - np.abs(np.cumsum(estimated - gold, axis=-1)).sum(axis=-1) / (np.shape(gold)[-1] - 1)


def test_the_sign_turns_scores_so_that_more_is_better():
    assert [Measure("m", stated).sign for stated in (True, False, None)] == [1.0, -1.0, 1.0]
    assert [Measure("m", stated).direction_is_assumed for stated in (True, False, None)] == [False, False, True]


def test_worst_and_best_follow_from_the_sign():
    ends = [(one.worst, one.best) for one in (Measure("m", stated, (0, 1)) for stated in (True, False, None))]
    assert ends == [(0, 1), (1, 0), (0, 1)]


def test_what_is_assumed_is_warned_of_once_with_all_names():
    with pytest.warns(DirectionWarning) as caught:
        signs = find_signs([Measure("cost"), Measure("time"), Measure("AP", True), Measure("loss", False)])
    assert signs.tolist() == [1, 1, 1, -1]
    assert len(caught) == 1
    assert "direction of cost, time is not stated" in str(caught[0].message)
    assert "lower_is_better=NAME" in str(caught[0].message)


def test_a_stated_direction_prints_as_it_did_and_an_assumed_one_is_marked():
    assert [Measure("AP", True).title, Measure("cost").title] == ["AP", "cost (higher?)"]
    assert [Measure("AP", True).full_name, Measure("cost").full_name] == ["AP", "cost (assumed: higher is better)"]
    assert str(Measure("cost")) == "cost"


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    good = np.linspace(0.1, 0.9, 6)[:, None] + rng.normal(0, 0.02, (6, 30))
    values = np.stack([good, -good], axis=-1)
    return metaeval.Scores(values, runs=list("abcdef"), topics=range(30), measures=["AP", "turned"], collection="c")


def test_analyses_take_higher_as_better_and_say_so_in_the_signature(scores):
    with pytest.warns(DirectionWarning) as caught:
        similarity = metaeval.ranking_similarity(scores, n_bootstrap=0)
    assert len(caught) == 1
    assert similarity.tau[0, 1] == -1
    assert "measures AP, turned (assumed: higher is better) |" in str(similarity.signature)
    with pytest.warns(DirectionWarning):
        found = metaeval.significance_contradictions(metaeval.discriminative_power(scores, n_permutations=200))
    assert found.run_pairs().shape[0] > 0
    assert "turned (assumed: higher is better)" in str(found.signature)


def test_a_stated_direction_changes_what_analyses_say(scores):
    measures = [scores.measures[0], Measure("turned", higher_is_better=False)]
    stated = metaeval.Scores(scores.values, runs=scores.runs, topics=scores.topics, measures=measures)
    similarity = metaeval.ranking_similarity(stated, n_bootstrap=0)
    assert similarity.tau[0, 1] == 1
    assert "assumed" not in str(similarity.signature)
    power = metaeval.discriminative_power(stated, n_permutations=200)
    assert metaeval.significance_contradictions(power).run_pairs().empty


def test_coverage_warns_once(scores):
    with pytest.warns(DirectionWarning) as caught:
        metaeval.coverage(scores, reference="turned", n_bootstrap=0)
    assert len(caught) == 1


def test_conformance_and_properties_agree_with_the_analyses():
    unstated = Measure("closeness", kind="quantification", formula=closeness)
    with pytest.warns(DirectionWarning):
        assert metaeval.conformance(unstated).measure is unstated
    with pytest.warns(DirectionWarning):
        found = metaeval.properties(unstated, n_random=20)
    assert found.get_check("closeness", "ordinal").holds
    assert "closeness (assumed: higher is better)" in str(found.signature)
    distance = Measure("distance", kind="quantification", formula=lambda p, q: 1 - closeness(p, q))
    with pytest.warns(DirectionWarning):
        found = metaeval.properties(distance, n_random=20)
    check = found.get_check("distance", "ordinal")
    assert check.failed == check.cases
