"""Topic-set-size design of labelled scores."""

from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.stats.anova import residual_variance


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(0)
    quality = np.linspace(0.2, 0.6, 12)[:, None, None]
    values = quality + rng.normal(0, 0.1, (1, 40, 2)) + rng.normal(0, [0.1, 0.2], (12, 40, 2))
    return me.Scores(values, runs=range(12), topics=range(40), measures=["AP", "RR"], collection="c")


def test_a_measure_with_twice_the_deviation_needs_four_times_the_topics(scores):
    topics = me.topic_set_size(scores, n_bootstrap=0).to_frame().set_index("measure")["topics"]
    assert topics["RR"] / topics["AP"] == pytest.approx(4, rel=0.2)


def test_the_variance_of_a_paired_design_leaves_topics_out(scores):
    residual = me.topic_set_size(scores, n_bootstrap=0).rows["V_E2"].to_numpy()
    assert residual == pytest.approx(residual_variance(scores.values.transpose(2, 1, 0)))


def test_intervals_hold_the_numbers_and_more_topics_narrow_them(scores):
    known = me.topic_set_size(scores).rows
    for low, middle, high in (
        ("low", "topics", "high"),
        ("generalisability_low", "generalisability", "generalisability_high"),
        ("coefficient_low", "coefficient", "coefficient_high"),
    ):
        assert (known[low] < known[middle]).all()
        assert (known[middle] < known[high]).all()
    few = me.topic_set_size(scores.sel(topics=scores.topics[:25])).rows
    assert (few["V_E2_high"] / few["V_E2_low"] > known["V_E2_high"] / known["V_E2_low"]).all()


def test_the_order_of_labels_and_other_measures_move_nothing(scores):
    turned = scores.sel(runs=scores.runs[::-1], measures=["RR", "AP"])
    three = [me.topic_set_size(each, n_bootstrap=100) for each in (scores, turned, scores.sel(measures=["RR"]))]
    found, other, alone = (each.rows.set_index("measure") for each in three)
    assert found.equals(other.loc[found.index])
    assert alone.equals(found.loc[["RR"]])


def test_runs_that_differ_by_nothing_need_infinitely_many_topics_to_generalise():
    values = np.random.default_rng(1).normal(0, 1, (4, 6, 1))
    values -= values.mean(axis=1, keepdims=True)
    scores = me.Scores(values, runs=range(4), topics=range(6), measures=["AP"])
    found = me.topic_set_size(scores)
    assert np.isinf(found.rows["generalisability"][0])
    assert found.rows["coefficient"][0] == 0
    assert "No interval" in found.to_table().whole_caption
    assert "∞" in found.to_text()


def test_runs_that_differ_by_the_same_on_every_topic_need_the_fewest():
    values = np.add.outer([0.1, 0.2], np.linspace(0, 1, 5))[..., None]
    found = me.topic_set_size(me.Scores(values, runs=["a", "b"], topics=range(5), measures=["AP"]))
    assert found.rows[["topics", "generalisability"]].to_numpy().tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 0}, "difference is 0"),
        ({"beta": 1}, "beta is 1"), ({"target": 2}, "target is 2"), ({"n_bootstrap": -1}, "n_bootstrap is -1"),
    ],
)  # fmt: skip
def test_options_out_of_range_are_refused(scores, options, message):
    with pytest.raises(MetaevalError, match=message):
        me.topic_set_size(scores, **options)


def test_notes_are_of_runs_and_not_of_tests_of_all_pairs_which_nobody_made(scores):
    values = np.array(scores.values)
    values[1] = values[0]
    values[2] += np.random.default_rng(2).normal(0, 1, values[2].shape)
    odd = me.Scores(values, runs=scores.runs, topics=scores.topics, measures=["AP", "RR"])
    (note,) = me.topic_set_size(odd, n_bootstrap=0).notes()
    assert "2 of 12 runs have the same scores" in note
    assert any("Tukey" in one for one in me.discriminative_power(odd, n_permutations=20).notes())


def test_a_note_says_which_numbers_of_topics_the_data_hardly_bound(scores):
    assert me.topic_set_size(scores).notes() == []
    level = scores.values - 0.98 * scores.values.mean(axis=1, keepdims=True)
    equal = me.Scores(level, runs=scores.runs, topics=scores.topics, measures=scores.measures)
    (note,) = me.topic_set_size(equal, n_bootstrap=100).notes(short=True)
    assert "the data hardly bound how many topics these need: generalisability (AP)" in note


@pytest.mark.parametrize("exponent", [-400, 400])
def test_variances_and_their_intervals_grow_with_the_square_of_the_scores_however_far_they_are_from_1(scores, exponent):
    far = replace(scores, values=np.ldexp(scores.values, exponent))
    one, other = (me.topic_set_size(each, n_bootstrap=50).rows for each in (scores, far))
    for ends in ("", "_low", "_high"):
        assert np.array_equal(other[f"V_E2{ends}"], np.ldexp(one[f"V_E2{ends}"], 2 * exponent))
        assert np.array_equal(other[f"coefficient{ends}"], one[f"coefficient{ends}"])
