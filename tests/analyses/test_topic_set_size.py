"""Topic-set-size design of labelled scores."""

from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from metaeval.stats.anova import residual_variance
from tests.analyses.made import draw_graded, label


@pytest.fixture(scope="module")
def scores():
    topics = np.random.default_rng(1).normal(0, 0.1, (1, 40, 2))
    values = 0.2 + topics + draw_graded(12, 40, [0.1, 0.2], best=0.4)
    return label(values, ["AP", "RR"], "c")


def test_the_variance_of_a_paired_design_leaves_topics_out_and_four_times_as_much_needs_four_times_the_topics(scores):
    rows = me.topic_set_size(scores, n_bootstrap=0).rows
    assert rows["V_E2"].tolist() == pytest.approx(residual_variance(scores.values.transpose(2, 1, 0)).tolist())
    assert rows["topics"][1] / rows["topics"][0] == pytest.approx(4, rel=0.2)


def test_intervals_hold_the_numbers_and_more_topics_narrow_them(scores):
    known = me.topic_set_size(scores).rows
    for name, prefix in (("topics", ""), ("generalisability", "generalisability_"), ("coefficient", "coefficient_")):
        assert ((known[f"{prefix}low"] < known[name]) & (known[name] < known[f"{prefix}high"])).all()
    few = me.topic_set_size(scores.sel(topics=scores.topics[:25])).rows
    assert (few["V_E2_high"] / few["V_E2_low"] > known["V_E2_high"] / known["V_E2_low"]).all()


def test_runs_that_differ_by_nothing_need_infinitely_many_topics_to_generalise():
    values = np.random.default_rng(1).normal(0, 1, (4, 6))
    found = me.topic_set_size(label(values - values.mean(axis=1, keepdims=True), ["AP"]))
    assert np.isinf(found.rows["generalisability"][0])
    assert found.rows["coefficient"][0] == 0
    assert "No interval" in found.to_table().whole_caption
    assert "∞" in found.to_text()


def test_runs_that_differ_by_the_same_on_every_topic_need_the_fewest():
    found = me.topic_set_size(label(np.add.outer([0.1, 0.2], np.linspace(0, 1, 5)), ["AP"]))
    assert found.rows[["topics", "generalisability"]].to_numpy().tolist() == [[2, 1]]


def test_notes_are_of_runs_and_not_of_tests_of_all_pairs_which_nobody_made(scores):
    values = np.array(scores.values)
    values[1] = values[0]
    values[2] += np.random.default_rng(2).normal(0, 1, values[2].shape)
    odd = replace(scores, values=values)
    (note,) = me.topic_set_size(odd, n_bootstrap=0).notes()
    assert "2 of 12 runs have the same scores" in note
    assert any("Tukey" in note for note in me.discriminative_power(odd, n_permutations=20).notes())


@pytest.mark.parametrize("exponent", [-400, 0, 400])
def test_variances_grow_with_the_square_of_the_unit_and_neither_order_nor_other_measures_move_a_number(
    scores, exponent
):
    turned = replace(scores, values=np.ldexp(scores.values, exponent)).sel(runs=scores.runs[::-1], measures=["RR"])
    first, other = (
        me.topic_set_size(each, n_bootstrap=50).rows.set_index("measure").loc["RR"] for each in (scores, turned)
    )
    for ends in ("", "_low", "_high"):
        assert other[f"V_E2{ends}"] == np.ldexp(first[f"V_E2{ends}"], 2 * exponent)
        assert other[f"coefficient{ends}"] == first[f"coefficient{ends}"]
    assert exponent or other.equals(first)
