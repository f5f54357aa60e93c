"""What is scored, and the errors of what cannot be."""

import re
from dataclasses import replace

import numpy as np
import pytest

import metaeval
from metaeval import ClassificationRuns, DataError, MeasureError, QuantificationRuns

TWO = {"runs": ["a", "b"], "topics": ["t"], "classes": ["no", "yes"]}
ONE = {**TWO, "runs": ["a"]}
COUNTS = [
    # counts of two runs, labels that differ, what is refused
    ([[[[1, 0], [0, -1]]]] * 2, {}, "run a, topic t: the count of gold class yes and predicted class yes is -1"),
    ([[[[1, 0], [0, 0.5]]]] * 2, {}, "is 0.5"),
    ([[[[0, 0], [0, 0]]]] * 2, {}, "topic t: the topic has no items"),
    ([[[[1, 0], [0, 1]]], [[[2, 0], [0, 0]]]], {}, "run b, topic t: its items have gold classes"),
    ([[[[1, 0, 0], [0, 1, 0]]]] * 2, {}, "the counts have shape"),
    ([[[[1]]]] * 2, {"classes": ["only"]}, "there are 1 classes: at least 2"),
    (np.empty((0, 1, 2, 2)), {"runs": []}, "there are no runs"),
]
SHARES = [
    # shares of two runs, of gold, options, what is refused
    ([[[0.5, 0.33]], [[0.5, 0.5]]], [[1, 0]], {}, "run a, topic t: probabilities sum to 0.83, not 1"),
    ([[[0.5, 0.5]], [[1.5, -0.5]]], [[1, 0]], {}, "run b, topic t: the probability of class yes is -0.5"),
    ([[[0.5, 0.5]], [[np.nan, 1]]], [[1, 0]], {}, "run b, topic t: the probability of class no is nan"),
    ([[[0.5, 0.5]], [[1, 0]]], [[1, 0.1]], {}, "run gold, topic t: probabilities sum to 1.1"),
    ([[[0, 0]], [[1, 3]]], [[2, 2]], {"rescale": True}, "sum to 0"),
]


@pytest.mark.parametrize(("counts", "labels", "message"), COUNTS)
def test_broken_counts_are_refused(counts, labels, message):
    with pytest.raises(DataError, match=re.escape(message)):
        ClassificationRuns(counts, **{**TWO, **labels})


@pytest.mark.parametrize(("estimated", "gold", "options", "message"), SHARES)
def test_broken_distributions_are_refused(estimated, gold, options, message):
    with pytest.raises(DataError, match=message):
        QuantificationRuns(estimated, gold, **TWO, **options)


def test_rescaling_is_an_explicit_choice_and_a_sum_off_by_rounding_is_left_as_it_is():
    runs = QuantificationRuns([[[1, 1]], [[1, 3]]], [[2, 2]], **TWO, rescale=True)
    assert runs.estimated.tolist() == [[[0.5, 0.5]], [[0.25, 0.75]]]
    runs = QuantificationRuns([[[0.5, 0.5 + 2e-7]], [[1, 0]]], [[1, 0]], **TWO)
    assert runs.estimated[0, 0, 1] == 0.5 + 2e-7


def test_classification_runs_know_their_class_distributions_and_cannot_be_changed():
    runs = ClassificationRuns([[[[2, 0], [1, 1]]]], **ONE, collection="c")
    with pytest.raises(ValueError, match="read-only"):
        runs.counts[0] = 0
    shares = runs.to_quantification()
    assert (shares.gold.tolist(), shares.estimated.tolist(), shares.collection) == ([[0.5, 0.5]], [[[0.75, 0.25]]], "c")
    with pytest.raises(MeasureError, match="NMD is a quantification measure.*to_quantification"):
        metaeval.score(runs, ["NMD"])


def test_selection_and_further_runs():
    runs = QuantificationRuns([[[1, 0]], [[0, 1]]], [[1, 0]], **TWO)
    more = runs.with_runs({"c": np.array([[0.5, 0.5]])})
    assert more.sel(runs=["c", "a"]).estimated.tolist() == [[[0.5, 0.5]], [[1.0, 0.0]]]
    with pytest.raises(DataError, match="'a' occurs twice"):
        runs.with_runs({"a": np.array([[0.5, 0.5]])})


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda estimated, gold: estimated[..., 0] * np.nan, "run a, topic t: the score is nan, which is not a finite"),
        (lambda estimated, gold: estimated[..., 0] + 5, r"the score is 6, outside its declared range \[0, 1\]"),
        (lambda estimated, gold: estimated, r"returned shape \(2,\) for one topic of shape \(2,\): it must return one"),
    ],
)
def test_a_users_measure_that_breaks_its_word_is_refused_with_an_example(formula, message):
    own = replace(metaeval.measure("NMD"), name="own", formula=formula)
    with pytest.raises(MeasureError, match=message):
        metaeval.score(QuantificationRuns([[[1, 0]]], [[1, 0]], **ONE), [own])


@pytest.mark.parametrize(
    "wanted", ["RNOD(colour=red)", "RNOD(distance)", "RNOD(distance=gold, distance=equal)", "(", ""]
)
def test_a_measure_that_cannot_be_is_refused(wanted):
    with pytest.raises(MeasureError, match="no parameter 'colour'|is not a measure|each once"):
        metaeval.measure(wanted)
