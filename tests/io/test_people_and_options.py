"""What people's files hold: persons and not indexes, labels as frames write them, and options that reach every file."""

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_annotations, read_runs, read_scores

PEOPLE = {"item": ["x", "y"], "ann": [0, 1], "bo": [1, 1]}
JUDGE = {"item": ["x", "y"], "model": [0, 1]}


@pytest.mark.parametrize("name", ["topic_id", "Unnamed: 0", "index", "id", "qid", ""])
def test_an_index_is_no_person_in_any_layout(name, tmp_path):
    with_index = pd.DataFrame({name: [0, 1], **PEOPLE})
    with_index.to_csv(tmp_path / "people.csv", index=False)
    message = "is called as an index or as topics are|there is no column 'topic', but|item is missing"
    for source in (with_index, tmp_path / "people.csv"):
        with pytest.raises(DataError, match=message):
            read_annotations(source, JUDGE, classes=[0, 1])
        with pytest.raises(DataError, match=message):
            read_runs(source, format="votes", classes=[0, 1], columns={"topic": "item"})
        with pytest.raises(DataError, match=message):
            read_runs(source, format="labels", classes=[0, 1], columns={"gold": "ann"})


@pytest.mark.parametrize("label", ["1.0", "1.00", "+1.0", 1.0])
def test_a_class_written_with_decimals_is_that_class_in_every_layout(label, tmp_path):
    plus = [0, 1] if label != "+1.0" else [0, "+1"]
    table = pd.DataFrame({"item": ["x", "y"], "gold": [0, label], "model": [label, 0]})
    path = tmp_path / "panel.csv"
    table.to_csv(path, index=False)
    assert read_runs(path, format="labels", classes=plus).counts[0, 0].tolist() == [[0, 1], [1, 0]]
    votes = read_runs(path, format="votes", classes=plus, columns={"topic": "item"})
    assert votes.gold.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    people = table[["item", "gold"]].to_csv(tmp_path / "people.csv", index=False) or tmp_path / "people.csv"
    judges = table[["item", "model"]].to_csv(tmp_path / "judges.csv", index=False) or tmp_path / "judges.csv"
    found = read_annotations(people, judges, classes=plus)
    assert (found.labels.tolist(), found.answers.argmax(axis=-1).tolist()) == ([[0, 1]], [[1, 0]])


def test_a_label_between_two_classes_is_not_made_one():
    with pytest.raises(DataError, match=r"the vote '1.5' of ann is not one of the classes"):
        read_annotations({"item": ["x"], "ann": ["1.5"]}, {"item": ["x"], "model": [1]}, classes=[0, 1])


@pytest.mark.parametrize("with_topics", ["people", "judges"])
def test_a_column_topic_on_one_side_only_is_named(with_topics, tmp_path):
    pd.DataFrame(PEOPLE).assign(**{"topic": "t"} if with_topics == "people" else {}).to_csv(tmp_path / "people.csv")
    pd.DataFrame(JUDGE).assign(**{"topic": "t"} if with_topics == "judges" else {}).to_csv(tmp_path / "judges.csv")
    for name in ("people", "judges"):
        pd.read_csv(tmp_path / f"{name}.csv", index_col=0).to_csv(tmp_path / f"{name}.csv", index=False)
    other = {"people": "judges", "judges": "people"}[with_topics]
    message = rf"nobody labelled this item .*{with_topics}.csv has a column topic and .*{other}.csv has none"
    with pytest.raises(DataError, match=message):
        read_annotations(tmp_path / "people.csv", tmp_path / "judges.csv", classes=[0, 1])


@pytest.mark.parametrize("rows", [False, True])
def test_items_that_two_columns_name_are_joined_and_the_two_are_no_persons(rows):
    people = {"doc": ["d", "d", "e"], "line": [1, 2, 1], "ann": [0, 1, 1], "bo": [0, 1, 0]}
    judge = {"doc": ["e", "d", "d"], "line": [1, 2, 1], "model": [1, 1, 0]}
    if rows:
        judge = {"doc": judge["doc"], "line": judge["line"], "annotator": ["model"] * 3, "label": judge["model"]}
    found = read_annotations(people, judge, classes=[0, 1], columns={"item": "doc+line"})
    assert (found.items, found.annotators, found.judges) == (("d/1", "d/2", "e/1"), ("ann", "bo"), ("model",))
    assert found.answers.argmax(axis=-1).tolist() == [[0, 1, 1]]
    grouped = read_annotations(people, judge, classes=[0, 1], columns={"topic": "doc", "item": "doc+line"})
    assert grouped.topics == ("d", "d", "e")


COLUMNS = {
    "a range": range(3),
    "an index": pd.Index([0, 1, 2]),
    "an array of pandas": pd.array([0, 1, 2]),
    "categories": pd.Categorical([0, 1, 2]),
    "a dictionary's values": {0: 0, 1: 1, 2: 2}.values(),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_mapping_of_columns_of_any_kind_is_a_frame(column):
    table = {"item": column, "gold": [0, 1, 2], "ann": [0, 1, 1]}
    options = {"format": "labels", "classes": range(3)}
    expected = [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert read_runs(table, **options).counts[0, 0].tolist() == expected
    gold = {"item": column, "gold": [0, 1, 2]}
    runs = {"ann": {"item": column, "predicted": [0, 1, 1]}}
    assert read_runs(gold, runs, **options).counts[0, 0].tolist() == expected
    for run in (runs["ann"], pd.DataFrame({"item": [0, 1, 2], "predicted": [0, 1, 1]})):
        with pytest.raises(DataError, match=r'the frame of a run has no name .give it one: {"name": frame}'):
            read_runs(gold, run, **options)


UNNAMED = "run,topic,score,lang\na,t,0.5,de\nb,t,1,de\n"


def test_a_column_that_nobody_asked_for_is_not_used_and_named(tmp_path):
    (tmp_path / "s.csv").write_text(UNNAMED)
    with pytest.warns(PolicyWarning, match="s.csv: 1 column not used: lang"):
        assert str(read_scores(tmp_path / "s.csv").measures[0]) == "score"
    with pytest.warns(PolicyWarning, match="lang"):
        assert str(read_scores(tmp_path / "s.csv", measure="AP").measures[0]) == "AP"
    assert str(read_scores(tmp_path / "s.csv", columns={"measure": "lang"}).measures[0]) == "de"


HEADED = [
    # a line of names, the format that is stated
    ("run topic measure value", "tot"),
    ("run_id query_id metric score", "tot"),
    ("run measure topic value", "ir_measures"),
    ("run topic measure value", None),
]


@pytest.mark.parametrize(("header", "format"), HEADED)
def test_the_names_of_columns_win_over_the_order_of_a_format(header, format, tmp_path):
    second = "delight" if "measure topic" in header else "x1"
    third = "x1" if second == "delight" else "delight"
    (tmp_path / "b.txt").write_text(f"{header}\na {second} {third} 0.5\nb {second} {third} 0.25\n")
    scores = read_scores(tmp_path / "b.txt", format=format)
    assert (scores.topics, list(map(str, scores.measures))) == (("x1",), ["delight"])


CONTRADICTED = [
    ("tot", "a t1 AP 0.5\n", "its second column holds topics and its third measures: the format ir_measures, not tot"),
    ("tot", "a 301 delight 0.5\n", "the format ir_measures, not tot"),
    ("tot", "a all delight 0.5\na t1 delight 0.5\n", "the format ir_measures, not tot"),
    ("ir_measures", "a AP t1 0.5\n", "the format tot, not ir_measures"),
]


@pytest.mark.parametrize(("format", "lines", "message"), CONTRADICTED)
def test_a_stated_format_that_swaps_topics_and_measures_is_refused(format, lines, message, tmp_path):
    (tmp_path / "b.txt").write_text(lines)
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / "b.txt", format=format)


PREDICTIONS = "model,fold,id,y_true,y_pred\n" + "".join(
    f"{model},{fold},{item},{item % 3},{(item + shift) % 3}.0\n"
    for model, shift in (("a", 0), ("b", 1))
    for fold in ("x", "y")
    for item in range(6)
)


def test_long_predictions_are_runs_and_their_folds_are_topics(tmp_path):
    (tmp_path / "p.csv").write_text(PREDICTIONS)
    for source in (tmp_path / "p.csv", pd.read_csv(tmp_path / "p.csv")):
        runs = read_runs(source, format="labels", classes=[0, 1, 2])
        assert (runs.runs, runs.topics) == (("a", "b"), ("x", "y"))
        assert runs.counts[0].tolist() == [np.diag([2, 2, 2]).tolist()] * 2  # 1.0 is the class 1
        assert runs.counts[1].sum(axis=0).diagonal().sum() == 0


def test_two_columns_of_labels_are_a_run_and_contradicting_true_labels_are_refused(tmp_path):
    (tmp_path / "p.csv").write_text("y_true,y_pred\n0,1\n1,1\n")
    runs = read_runs(tmp_path / "p.csv", format="labels", classes=[0, 1])
    assert (runs.runs, runs.counts.tolist()) == (("p",), [[[[0, 1], [0, 1]]]])
    (tmp_path / "p.csv").write_text("model,id,y_true,y_pred\na,1,0,1\nb,1,1,1\n")
    with pytest.raises(DataError, match="p.csv:3: run b, topic all, item 1: its true label is '1', but '0' on line 2"):
        read_runs(tmp_path / "p.csv", format="labels", classes=[0, 1])


def test_an_item_of_another_topic_than_people_gave_it_is_said_to_be_that():
    people = {"topic": ["a", "b"], "item": ["1", "2"], "ann": [0, 1], "bo": [0, 1]}
    judges = {"topic": ["a", "c"], "item": ["1", "2"], "model": [0, 1]}
    with pytest.raises(DataError, match="people labelled it as an item of the topic b, not c"):
        read_annotations(people, judges, classes=[0, 1])


def test_people_who_label_nothing_are_named(tmp_path):
    (tmp_path / "people.json").write_text('{"ann": {}}')
    (tmp_path / "judges.csv").write_text("item,gpt\na,1\n")
    with pytest.raises(DataError, match=r"people\.json: people label no item in it"):
        read_annotations(tmp_path / "people.json", tmp_path / "judges.csv", classes=["0", "1"])
