"""What people have: judges in columns, votes, real-valued judgements, items without topics, leaderboards."""

import shlex
import subprocess
import sys

import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import read_runs, read_scores, write_scores

JUDGES = {"item": [1, 2, 3], "gold": [0, 1, 2], "ann": [0, 1, 1], "bo": [0.0, None, 2.0]}


def test_a_frame_of_judges_is_a_run_a_judge():
    with pytest.warns(PolicyWarning, match="1 missing label counted"):
        runs = read_runs(pd.DataFrame(JUDGES), format="labels", classes=range(3), missing="worst")
    assert runs.runs == ("ann", "bo")
    # pandas makes floats of whole numbers in which one is missing; they are the same classes.
    assert runs.counts[:, 0].tolist() == [[[1, 0, 0], [0, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1], [0, 0, 1]]]
    with pytest.raises(DataError, match="frame:2: run bo, topic all, item 2: the label is missing"):
        read_runs(JUDGES, format="labels", classes=range(3))


def test_frames_and_files_of_gold_and_runs_are_the_same(tmp_path):
    gold = pd.DataFrame({"document": ["t", "t"], "item": [1, 2], "gold": ["no", "yes"]})
    run = gold.rename(columns={"gold": "predicted"}).iloc[::-1]
    gold.to_csv(tmp_path / "gold.csv", index=False)
    run.to_csv(tmp_path / "ann.csv", index=False)
    options = {"format": "labels", "classes": ["no", "yes"], "columns": {"topic": "document"}}
    from_files = read_runs(tmp_path / "gold.csv", tmp_path / "ann.csv", **options)
    from_frames = read_runs(gold.set_index(["document", "item"]), {"ann": run}, **options)
    assert from_files.counts.tolist() == from_frames.counts.tolist() == [[[[1, 0], [0, 1]]]]
    assert (from_files.runs, from_files.topics) == (from_frames.runs, from_frames.topics)


def test_distributions_come_as_frames_too_and_empty_rows_are_missing():
    gold = pd.DataFrame({"dialogue": ["t", "u"], "lo": [0.5, 1], "hi": [0.5, 0]})
    run = pd.DataFrame({"dialogue": ["t", "u"], "hi": [0.25, None], "lo": [0.75, None]})
    with pytest.warns(PolicyWarning, match="left out 1 of 2 topics: u"):
        runs = read_runs(gold, {"a": run}, format="probabilities", columns={"topic": "dialogue"}, missing="drop-topic")
    assert runs.estimated.tolist() == [[[0.75, 0.25]]]


VOTES = "topic,item,ann,bo\nt,1,no,yes\nt,2,no,\nu,1,yes,yes\n"
LONG = "topic,item,worker,label\nt,1,ann,no\nt,1,bo,yes\nt,2,ann,no\nu,1,ann,yes\nu,1,bo,yes\n"


@pytest.mark.parametrize("text", [VOTES, LONG])
def test_votes_become_gold_shares_and_every_annotator_is_kept(text, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(text)
    columns = {"annotator": "worker"} if text is LONG else None
    runs = read_runs(path, format="votes", classes=["no", "yes"], columns=columns)
    assert runs.gold.tolist() == [[2 / 3, 1 / 3], [0, 1]]
    assert dict(zip(runs.runs, runs.estimated.tolist(), strict=True)) == {"ann": [[1, 0], [0, 1]], "bo": [[0, 1]] * 2}


def test_votes_are_the_gold_of_other_runs(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "model.csv").write_text("topic,no,yes\nu,0,1\nt,0.5,0.5\n")
    runs = read_runs(tmp_path / "votes.csv", tmp_path / "model.csv", format="votes", classes=["no", "yes"])
    assert (runs.runs, runs.estimated[0].tolist()) == (("model",), [[0.5, 0.5], [0, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topic,ann\nt,no\nt,no\n", "votes.csv:3: topic t: there is a second vote of ann"),
        ("topic,ann\nt,maybe\n", "votes.csv:2: topic t: the vote 'maybe' of ann is not one of the classes no, yes"),
        ("topic,ann\nt,no\nu,NA\n", "votes.csv: topic u: there are no votes"),
        ("topic,annotator,label\nt,,no\n", "votes.csv:2: topic t: the annotator is missing"),
    ],
)
def test_a_vote_that_says_nothing_is_refused(text, message, tmp_path):
    (tmp_path / "votes.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_runs(tmp_path / "votes.csv", format="votes", classes=["no", "yes"])


def test_a_real_valued_judgement_is_refused_with_what_to_do():
    table = {"item": list("ab"), "gold": [0, 0], "ann": [0.4, "1.0"]}
    with pytest.raises(DataError, match="label '0.4' is not one of.*round real numbers to classes first"):
        read_runs(table, format="labels", classes=range(3))


def test_items_without_topics_are_split_into_random_parts_the_same_for_all_and_for_any_order():
    table = pd.DataFrame({"item": range(20), "gold": [0, 1] * 10, "ann": [1] * 20, "bo": [0, 1] * 10})
    read = lambda frame, **more: read_runs(frame, format="labels", classes=[0, 1], parts=5, **more)  # noqa: E731
    runs, again, other = read(table), read(table.iloc[::-1]), read(table, seed=1)
    assert runs.gold.sum(axis=-1).tolist() == [4] * 5
    by_topic = [again.topics.index(topic) for topic in runs.topics]
    assert again.counts[:, by_topic].tolist() == runs.counts.tolist() != other.counts.tolist()
    with pytest.raises(MetaevalError, match="1 topic; at least 2 are needed.*parts=10"):
        me.split_half_consistency(me.score(read_runs(table, format="labels", classes=[0, 1]), ["Accuracy"]))


def test_a_column_that_is_probably_the_topic_is_not_passed_over():
    with pytest.raises(DataError, match="no column 'topic', but 'Topic'.*columns topic=Topic"):
        read_runs({"Topic": ["t"], "item": [1], "gold": [0], "ann": [1]}, format="labels", classes=[0, 1])


LEADERBOARD = pd.DataFrame({"model": ["a", "b"], "BLEU": [30.0, 20.0], "COMET": [0.8, 0.7]})


@pytest.mark.parametrize(
    "table",
    [
        LEADERBOARD,
        LEADERBOARD.rename(columns={"model": "run"}),
        LEADERBOARD.rename(columns={"model": "run"}).melt("run", var_name="measure", value_name="score"),
    ],
)
def test_one_number_a_run_is_refused_with_what_can_be_done(table, tmp_path):
    table.to_csv(tmp_path / "board.csv", index=False)
    for source in (table, tmp_path / "board.csv"):
        with pytest.raises(DataError, match="one number a run and no topics .*give the scores of every topic"):
            read_scores(source)
    with pytest.raises(DataError, match="one number a run"):
        read_scores({"a": 30.0, "b": 20.0})


def test_the_topics_of_a_wide_file_may_be_called_otherwise(tmp_path):
    path = tmp_path / "c_ap.csv"
    path.write_text("segment,a,b\ns1,0.5,0.25\ns2,0,1\n")
    scores = read_scores(path, columns={"topic": "segment"})
    assert (scores.topics, scores.values[:, :, 0].tolist()) == (("s1", "s2"), [[0.5, 0], [0.25, 1]])
    with pytest.raises(DataError, match="no column is the score: one is the topic"):
        read_scores(path, format="wide", columns={"topic": "segment", "score": "a"})


def test_names_that_a_spreadsheet_would_run_are_defused_on_request_only(tmp_path):
    scores = me.Scores([[[0.5]], [[0.25]]], runs=["=cmd()", "-1"], topics=["@t"], measures=["AP"])
    write_scores(scores, tmp_path / "as.csv")
    assert read_scores(tmp_path / "as.csv").runs == ("=cmd()", "-1")
    with pytest.warns(PolicyWarning, match=r"got an apostrophe: '=cmd\(\), '@t"):
        write_scores(scores, tmp_path / "safe.csv", defuse_formulas=True)
    safe = read_scores(tmp_path / "safe.csv")
    assert (safe.runs, safe.topics) == (("'=cmd()", "-1"), ("'@t",))  # a number is no formula
    assert safe.values.tolist() == scores.values.tolist()


def test_a_separator_that_says_nothing_is_refused():
    people, judge = {"item": ["d1", "d2"], "ann": [0, 1]}, {"item": ["d1", "d2"], "model": [0, 1]}
    for separator in ("__", ""):
        with pytest.raises(MetaevalError, match=f"separator={separator}: no name of an item has it, such as 'd1'"):
            me.io.read_annotations(people, judge, classes=[0, 1], separator=separator)
    people, judge = ({**one, "topic": ["a__1", "b__1"]} for one in (people, judge))
    with pytest.raises(MetaevalError, match="separator=__ is for tables without a column topic"):
        me.io.read_annotations(people, judge, classes=[0, 1], separator="__")


def test_a_name_with_half_a_letter_is_refused():
    with pytest.raises(DataError, match="run number 1 has a name with half a letter"):
        me.Scores([[[1.0]]], runs=["\ud800"], topics=["t"], measures=["AP"])


@pytest.mark.parametrize(
    ("header", "given"),
    [
        ("system,query,nDCG", None),
        ("Team,Segment,value", None),
        ("run,topic,F1", None),
        ("runid,topic,compatibility", None),
        ("model,item,rating", None),
        ("system,qid,F1", {"run": "system"}),
        ("entry,place,F1", {"run": "entry", "topic": "place"}),
    ],
)
def test_the_usual_names_of_columns_say_what_they_hold(header, given, tmp_path):
    path = tmp_path / "task.csv"
    rows = [f"{run},q{topic},0.{topic + 1}" for run in "abc" for topic in range(3)]
    path.write_text("\n".join([header, *rows]) + "\n")
    for source in (path, pd.read_csv(path)):
        scores = read_scores(source, columns=given)
        assert (scores.runs, scores.values[0, :, 0].tolist()) == (("a", "b", "c"), [0.1, 0.2, 0.3])
        assert [str(measure) for measure in scores.measures] == [header.rpartition(",")[2]]


def test_the_command_line_is_told_the_option_that_works(tmp_path):
    path = tmp_path / "task.csv"
    rows = "".join(f"{run},q{topic},AP,0.{topic + 1}\n" for run in "abc" for topic in range(3))
    path.write_text("team,the place,measure,my score\n" + rows + rows.replace("AP", "RR"))
    program = [sys.executable, "-m", "metaeval", "similarity", str(path), "--bootstrap", "0"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    option = "--columns 'topic=the place,run=team'"
    assert option in done.stderr
    done = subprocess.run([*program, *shlex.split(option)], capture_output=True, text=True, check=False)
    assert done.returncode == 0


def test_decimal_commas_are_read_where_they_can_be_nothing_else(tmp_path):
    path = tmp_path / "x_ap.csv"
    path.write_text("run;topic;score\na;q1;0,5\nb;q1;1\n")
    assert read_scores(path).values.ravel().tolist() == [0.5, 1]
    path.write_text("topic;a;b\nq1;0,5;1\nq2;1,25;10\n")
    assert read_scores(path).values.ravel().tolist() == [0.5, 1.25, 1, 10]
    for cells in ("1,234;2,345", "0,5;0.5", "1,234,567;0,5", "1,2,3;1"):
        path.write_text(f"topic;a;b\nq1;{cells}\n")
        with pytest.raises(DataError, match="is not a finite number|do not tell"):
            read_scores(path)
    path.write_text("run;topic;score\na;q1;1,234\nb;q1;2,345\n")
    with pytest.raises(DataError, match=r"the score '1,234' is not a finite number.*\(write decimals with a point\)"):
        read_scores(path)


def test_a_first_column_of_names_may_be_topics_or_runs_and_the_user_is_asked(tmp_path):
    path = tmp_path / "x_ap.csv"
    path.write_text("place,a,b\nq1,0.5,0.25\nq2,1,0\n")
    with pytest.raises(DataError, match="does the first column, 'place', name topics or runs"):
        read_scores(path)
    assert read_scores(path, columns={"topic": "place"}).topics == ("q1", "q2")
    assert read_scores(path, format="transposed").runs == ("q1", "q2")
    with pytest.raises(DataError, match="if 'place' is the column of topics, say so: columns={'topic': 'place'}"):
        read_scores(path, format="wide")
