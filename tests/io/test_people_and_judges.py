"""Labels of people and judges: a column or a row each, distributions."""

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import read_annotations, read_runs
from tests.io.cases import put, read_with_notes

YES_NO = {"classes": ["no", "yes"]}
JUDGES = {"item": [1, 2, 3], "gold": [0, 1, 2], "ann": [0, 1, 1], "bo": [0.0, None, 2.0]}


def counted(runs):
    """What runs say of each item: topic, gold class and predicted class, by run."""
    found = {run: [] for run in runs.runs}
    for run, topic, gold, predicted in np.argwhere(runs.counts):
        said = f"{runs.topics[topic]} {runs.classes[gold]} {runs.classes[predicted]}"
        found[runs.runs[run]] += [said] * runs.counts[run, topic, gold, predicted]
    return {run: ", ".join(said) for run, said in found.items()}


LABELS = [
    # a table with a column a judge, options, what each run says: topic, gold, predicted
    ("sentence;gold;ann;bo\n1;no;no;yes\n2;yes;yes;yes\n", {**YES_NO, "columns": {"item": "sentence"}},
     {"ann": "all no no, all yes yes", "bo": "all no yes, all yes yes"}),
    ("item,gold,m\nx,0,1.0\ny,1.00,0\n", {"classes": [0, 1]}, {"m": "all 0 1, all 1 0"}),
    ("item,gold,m\nx,0,+1.0\ny,+1,0\n", {"classes": [0, "+1"]}, {"m": "all 0 +1, all +1 0"}),
    ("topic,item,gold,ann,bo\nt,1,no,no,\nu,1,yes,yes,yes\n", {**YES_NO, "missing": "drop-topic"},
     {"ann": "u yes yes", "bo": "u yes yes"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "said"), LABELS)
def test_a_column_a_judge_is_a_run(text, options, said, tmp_path):
    path = put(tmp_path, {"p.csv": text})
    for source in (path, pd.read_csv(path, sep=None, engine="python", dtype={"gold": str, "m": str})):
        runs, notes = read_with_notes(read_runs, source, format="labels", **options)
        assert counted(runs) == said
        assert ("left out 1 of 2 topics: t" in notes) == ("missing" in options)


REFUSED = [
    # a table, its classes, what the message says
    ("topic,item,gold,ann,bo\nt,1,no,no,\n", ["no", "yes"], "run bo, topic t, item 1: the label is missing .choose"),
    ("item,gold,ann\na,0,0.4\nb,0,1.0\n", range(3), "label '0.4' is not one of."),
    ("Topic,item,gold,ann\nt,1,no,yes\n", ["no", "yes"], "no column 'topic', but 'Topic'.*columns topic=Topic"),
    ("model,item,gold,y_pred\na,1,no,yes\nb,1,yes,yes\n", ["no", "yes"],
     "p.csv:1: the column 'model' is not called as a judge, .*pivot"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "classes", "message"), REFUSED)
def test_labels_that_cannot_be_read_are_refused_with_what_to_do(text, classes, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_runs(put(tmp_path, {"p.csv": text}), format="labels", classes=classes)


COLUMNS = [range(3), pd.Index([0, 1, 2]), pd.array([0, 1, 2]), pd.Categorical([0, 1, 2]), {0: 0, 1: 1, 2: 2}.values()]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: type(column).__name__)
def test_a_mapping_of_columns_of_any_kind_is_a_frame(column):
    options = {"format": "labels", "classes": range(3)}
    expected = {"ann": "all 0 0, all 1 1, all 2 1"}
    assert counted(read_runs({"item": column, "gold": [0, 1, 2], "ann": [0, 1, 1]}, **options)) == expected
    gold, run = {"item": column, "gold": [0, 1, 2]}, {"item": column, "predicted": [0, 1, 1]}
    assert counted(read_runs(gold, {"ann": run}, **options)) == expected
    for unnamed in (run, pd.DataFrame({"item": [0, 1, 2], "predicted": [0, 1, 1]})):
        with pytest.raises(DataError, match=r'the frame of a run has no name .give it one: {"name": frame}'):
            read_runs(gold, unnamed, **options)


def test_frames_of_judges_of_gold_and_runs_and_of_distributions_are_read_as_files_are(tmp_path):
    with pytest.warns(PolicyWarning, match="1 missing label counted"):
        runs = read_runs(pd.DataFrame(JUDGES), format="labels", classes=range(3), missing="worst")
    # pandas makes floats of whole numbers in which one is missing; they are the same classes.
    assert counted(runs) == {"ann": "all 0 0, all 1 1, all 2 1", "bo": "all 0 0, all 1 2, all 2 2"}
    with pytest.raises(DataError, match="frame:2: run bo, topic all, item 2: the label is missing"):
        read_runs(JUDGES, format="labels", classes=range(3))
    gold = pd.DataFrame({"document": ["t", "t"], "item": [1, 2], "gold": ["no", "yes"]})
    run = gold.rename(columns={"gold": "predicted"}).iloc[::-1]
    options = {"format": "labels", "columns": {"topic": "document"}, **YES_NO}
    files = put(tmp_path, {"gold.csv": gold.to_csv(index=False), "ann.csv": run.to_csv(index=False)})
    from_files = read_runs(files / "gold.csv", files / "ann.csv", **options)
    from_frames = read_runs(gold.set_index(["document", "item"]), {"ann": run}, **options)
    assert counted(from_files) == counted(from_frames) == {"ann": "t no no, t yes yes"}
    gold = pd.DataFrame({"dialogue": ["t", "u"], "lo": [0.5, 1], "hi": [0.5, 0]})
    run = pd.DataFrame({"dialogue": ["t", "u"], "hi": [0.25, None], "lo": [0.75, None]})
    with pytest.warns(PolicyWarning, match="left out 1 of 2 topics: u"):
        runs = read_runs(gold, {"a": run}, format="probabilities", columns={"topic": "dialogue"}, missing="drop-topic")
    assert runs.estimated.tolist() == [[[0.75, 0.25]]]


# People beside judges


PEOPLE = {"item": ["x", "y"], "ann": [0, 1], "bo": [1, 1]}
JUDGE = {"item": ["x", "y"], "model": [0, 1]}


@pytest.mark.parametrize("name", ["topic_id", "Unnamed: 0", "index", "id", "qid", ""])
def test_an_index_is_no_person_in_any_layout(name, tmp_path):
    with_index = pd.DataFrame({name: [0, 1], **PEOPLE})
    with_index.to_csv(tmp_path / "people.csv", index=False)
    message = "is called as an index, topics|there is no column 'topic', but|item is missing"
    for source in (with_index, tmp_path / "people.csv"):
        with pytest.raises(DataError, match=message):
            read_annotations(source, JUDGE, classes=[0, 1])
        with pytest.raises(DataError, match=message):
            read_runs(source, format="labels", classes=[0, 1], columns={"gold": "ann"})


@pytest.mark.parametrize("rows", [False, True])
def test_items_that_two_columns_name_are_joined_and_the_two_are_no_persons(rows):
    people = {"doc": ["d", "d", "e"], "line": [1, 2, 1], "ann": ["0", "1.00", 1], "bo": [0, 1.0, 0]}
    judge = {"doc": ["e", "d", "d"], "line": [1, 2, 1], "model": [1, 1, 0]}
    if rows:
        judge = {"doc": judge["doc"], "line": judge["line"], "annotator": ["model"] * 3, "label": judge["model"]}
    found = read_annotations(people, judge, classes=[0, 1], columns={"item": "doc+line"})
    assert (found.items, found.annotators, found.judges) == (("d/1", "d/2", "e/1"), ("ann", "bo"), ("model",))
    assert (found.labels.tolist(), found.answers.argmax(axis=-1).tolist()) == ([[0, 1, 1], [0, 1, 0]], [[0, 1, 1]])
    grouped = read_annotations(people, judge, classes=[0, 1], columns={"topic": "doc", "item": "doc+line"})
    assert grouped.topics == ("d", "d", "e")


def test_a_column_that_is_ignored_is_no_person():
    found = read_annotations(
        PEOPLE | {"batch": [1, 2]}, JUDGE | {"batch": [1, 2]}, classes=[0, 1], columns={"ignore": "batch"}
    )
    assert "batch" not in (*found.annotators, *found.judges)
    assert "ignore" not in (*found.annotators, *found.judges)


TOPICS = {"topic": ["a", "b"]}
UNMATCHED = [
    # people, a judge, options, what is refused
    (PEOPLE, {"item": ["x"], "model": [0]}, {}, "run model, item y: there is no answer"),
    ({"item": ["x", "x", "y"], "annotator": ["a"] * 3, "label": [0, 1, 1]}, JUDGE, {}, "there is a second vote of a"),
    ({"item": ["x"], "annotator": [" "], "label": [0]}, JUDGE, {}, "people.csv:2: the annotator is missing"),
    ({"item": ["x"], "ann": ["1.5"]}, {"item": ["x"], "model": [1]}, {}, "vote '1.5' of ann is not one of the classes"),
    (PEOPLE | {"model": [0, 1]}, JUDGE, {}, "people and judges have the same names, model .leave out one of each"),
    (PEOPLE | {"num_words": [0, 1]}, JUDGE, {}, "the column 'num_words' is called as an index, topics"),
    (PEOPLE | TOPICS, JUDGE, {}, "nobody labelled this item .both tables must have a column topic"),
    (PEOPLE, JUDGE | TOPICS, {}, "nobody labelled this item .both tables"),
    (PEOPLE | TOPICS, JUDGE | {"topic": ["a", "c"]}, {}, "item c/y: nobody labelled this item .* same topics"),
    (PEOPLE, JUDGE, {"separator": "__"}, "separator=__: no name of an item has it, such as 'x'"),
    (PEOPLE, JUDGE, {"separator": ""}, "separator=: no name of an item has it, such as 'x'"),
    (PEOPLE | TOPICS, JUDGE | TOPICS, {"separator": "__"}, "separator=__ is for tables without a column topic"),
]


@pytest.mark.parametrize(("people", "judge", "options", "message"), UNMATCHED)
def test_items_and_topics_that_do_not_match_are_named(people, judge, options, message, tmp_path):
    for name, table in (("people", people), ("judge", judge)):
        pd.DataFrame(table).to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(MetaevalError, match=message):
        read_annotations(tmp_path / "people.csv", tmp_path / "judge.csv", classes=[0, 1], **options)


def test_people_who_label_nothing_are_named(tmp_path):
    put(tmp_path, {"people.json": '{"ann": {}}', "judges.csv": "item,gpt\na,1\n"})
    with pytest.raises(DataError, match=r"people\.json: people label no item in it"):
        read_annotations(tmp_path / "people.json", tmp_path / "judges.csv", classes=["0", "1"])
