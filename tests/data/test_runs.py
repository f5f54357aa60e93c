"""What is scored, the errors of what cannot be, and random parts in place of topics."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval
from metaeval import ClassificationRuns, DataError, MeasureError, QuantificationRuns
from metaeval.io import read_runs
from tests.io.cases import put

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


WRONG = {
    "run a, topic t: the score is nan, which is not a finite": lambda estimated, gold: estimated[..., 0] * np.nan,
    r"the score is 6, outside its declared range \[0, 1\]": lambda estimated, gold: estimated[..., 0] + 5,
    r"returned shape \(2,\) for one topic of shape \(2,\): it must return one": lambda estimated, gold: estimated,
}


@pytest.mark.parametrize(("message", "formula"), WRONG.items())
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


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(3)
    items = [f"q{i % 3} 0 d{i}" for i in range(25)]
    runs = {f"runs/{run}.txt": "".join(f"{items[i]} {rng.integers(3)}\n" for i in rng.permutation(25)) for run in "ab"}
    return put(tmp_path, {"gold.txt": "".join(f"{item} {rng.integers(3)}\n" for item in items), **runs})


def read(files, **options):
    return read_runs(files / "gold.txt", files / "runs", format="judgements", classes=range(3), **options)


def test_items_are_dealt_to_parts_of_equal_size_whatever_the_order_of_the_lines(files):
    whole, parts = read(files), read(files, parts=10, seed=2)
    assert sorted(set(parts.gold.sum(axis=1).tolist())) == [2, 3]
    np.testing.assert_array_equal(parts.counts.sum(axis=1), whole.counts.sum(axis=1))
    lines = (files / "gold.txt").read_text().splitlines(keepends=True)
    (files / "gold.txt").write_text("".join(reversed(lines)))
    after, other = read(files, parts=10, seed=2), read(files, parts=10, seed=3)
    np.testing.assert_array_equal(after.counts[:, [after.topics.index(topic) for topic in parts.topics]], parts.counts)
    assert other.counts.tolist() != after.counts.tolist()


def test_items_without_topics_are_split_when_that_is_asked_for():
    table = pd.DataFrame({"item": range(20), "gold": [0, 1] * 10, "ann": [1] * 20, "bo": [0, 1] * 10})
    runs = read_runs(table, format="labels", classes=[0, 1], parts=5)
    assert runs.gold.sum(axis=-1).tolist() == [4] * 5
    with pytest.raises(metaeval.MetaevalError, match="1 topic; at least 2 are needed.*parts=10"):
        metaeval.split_half_consistency(metaeval.score(read_runs(table, format="labels", classes=[0, 1]), ["Accuracy"]))


def test_an_item_that_the_gold_does_not_hold_is_named_and_more_parts_than_items_are_refused(files):
    for parts in (0, 26):
        with pytest.raises(DataError, match=f"25 items cannot be split into {parts} parts"):
            read(files, parts=parts)
    with (files / "runs" / "a.txt").open("a") as file:
        file.write("q0 0 d99 1\n")
    with pytest.raises(DataError, match="topic q0, item d99: the gold has no such"):
        read(files, parts=4)
