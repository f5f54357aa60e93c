"""Leaderboards with a row per run, topic and measure: four layouts of the same rows."""

import json

import numpy as np
import pytest

from metaeval import Scores
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import SCORE_FORMATS, read_scores, write_scores

LEADERBOARDS = {name: SCORE_FORMATS[name] for name in ("tot", "ir_measures", "ranking", "jsonl")}

ROWS = [
    ("a", "t1", "0.5"), ("a", "t2", "0.25"), ("a", "all", "0.375"),
    ("b", "t1", "1"), ("b", "t2", "0"), ("b", "all", "0.5"),
]  # fmt: skip
LINES = {
    "tot": "{run} AP {topic} {value}",
    "ir_measures": "{run}\t{topic}\tAP\t{value}",
    "ranking": "{topic} Q0 {run} 0 {value} AP",
    "jsonl": '{{"run_id": "{run}", "topic_id": "{topic}", "measure": "AP", "value": {value}}}',
}


def lay_out(format, rows=ROWS):
    return "".join(LINES[format].format(run=run, topic=topic, value=value) + "\n" for run, topic, value in rows)


@pytest.mark.parametrize("format", LEADERBOARDS)
def test_the_same_rows_in_any_layout_are_the_same_scores_and_their_layout_is_seen(format, tmp_path):
    path = tmp_path / "judge.txt"
    path.write_text(lay_out(format))
    expected = Scores(
        [[[0.5], [0.25]], [[1], [0]]], runs=["a", "b"], topics=["t1", "t2"], measures=["AP"], collection="judge"
    )
    assert read_scores(path) == expected
    assert LEADERBOARDS[format].read(path, level="runs").values.ravel().tolist() == [0.375, 0.5]
    (tmp_path / "parts").mkdir()
    for name in "ab":
        (tmp_path / "parts" / name).write_text(lay_out(format, [row for row in ROWS if row[0] == name]))
    assert read_scores(tmp_path / "parts", collection="judge") == expected


@pytest.mark.parametrize("format", LEADERBOARDS)
def test_every_bit_survives(format, tmp_path):
    values = np.random.default_rng(0).normal(size=(3, 4)) * 10.0 ** np.arange(-8, 4, 4)[:, np.newaxis]
    rows = [(run, f"t{t}", repr(score)) for run, scores in zip("abc", values.tolist(), strict=True)
            for t, score in enumerate(scores)]  # fmt: skip
    (tmp_path / "s.txt").write_text(lay_out(format, rows))
    scores = read_scores(tmp_path / "s.txt", format=format, measure="AP")
    np.testing.assert_array_equal(scores.values[:, :, 0], values)
    with pytest.raises(MetaevalError, match=f"the format {format} is read, not written: write format=tidy"):
        write_scores(scores, tmp_path / "x", format=format)


def test_without_rows_that_sum_up_tot_and_ir_measures_look_alike_and_a_format_must_be_stated(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a delight t1 0.5\nb delight t1 0.25\n")
    with pytest.raises(DataError, match=r"it could be tot or ir_measures .state its format: format=tot or format=ir_m"):
        read_scores(path)
    assert read_scores(path, format="tot").topics == ("t1",)
    assert read_scores(path, format="ir_measures").topics == ("delight",)
    path.write_text("a AP t1 0.5\nb AP t1 0.25\n")  # a topic would not be called AP
    assert read_scores(path).topics == ("t1",)
    path.write_text("a AP 301 0.5\nb AP 301 0.25\n")  # no measure is called 301
    assert read_scores(path).topics == ("301",)


def test_a_run_of_documents_is_not_taken_for_a_leaderboard(tmp_path):
    (tmp_path / "run.txt").write_text("301 Q0 doc1 1 9.5 bm25\n301 Q0 doc2 2 9.1 bm25\n")
    with pytest.raises(
        DataError, match="its format cannot be detected.*if runs are ranked in it, not documents, state its format"
    ):
        read_scores(tmp_path / "run.txt")


def test_names_of_columns_are_skipped(tmp_path):
    (tmp_path / "x").write_text("run_id measure topic_id value\n" + lay_out("tot"))
    assert read_scores(tmp_path / "x", format="tot").runs == ("a", "b")


def test_rows_that_sum_up_otherwise_than_by_the_mean_are_told(tmp_path):
    (tmp_path / "x").write_text(lay_out("tot").replace("0.375", "0.35355"))
    with pytest.warns(
        PolicyWarning, match=r"x: 1 of 2 rows of the topic all are not the means .* \(a, AP: 0.0215 off\)"
    ):
        read_scores(tmp_path / "x")


def test_a_row_that_sums_up_in_words_is_refused(tmp_path):
    (tmp_path / "x").write_text(lay_out("tot").replace("0.375", "good"))
    with pytest.raises(DataError, match="topic all, measure AP: the score 'good' is not a finite number"):
        read_scores(tmp_path / "x", format="tot")


def test_a_line_of_json_tells_the_format_so_that_the_message_is_about_what_is_wrong_in_it(tmp_path):
    (tmp_path / "x").write_text(json.dumps({**OBJECT, "topic_id": 7}))
    with pytest.raises(DataError, match="topic_id is a text"):
        read_scores(tmp_path / "x")


def test_a_gap_obeys_the_policy(tmp_path):
    (tmp_path / "x").write_text(lay_out("tot", ROWS[:3] + ROWS[3:4] + ROWS[5:]))
    with pytest.raises(DataError, match="x: run b, topic t2, measure AP: there is no score .choose what to do"):
        read_scores(tmp_path / "x")
    with pytest.warns(PolicyWarning):
        assert read_scores(tmp_path / "x", missing="drop-topic").topics == ("t1",)


OBJECT = dict(zip(("run_id", "topic_id", "measure", "value"), ("a", "t", "AP", 1), strict=True))
BROKEN = [
    ("tot", "a AP t 1\na AP t\n", "x:2: the line has 3 columns, not run measure topic value"),
    ("ranking", "t Q0 a 1\n", "x:1: the line has 4 columns, not topic Q0 run rank value measure"),
    ("tot", "a AP t 1\na AP u high\n", "x:2: run a, topic u, measure AP: the score 'high' is not a finite number"),
    ("tot", "a AP t 1\na AP t 2\n", "x:2: run a, topic t, measure AP: there is a second score, 2"),
    ("tot", "a AP all 1\n", "x: there is no score for any topic"),
    ("jsonl", json.dumps(OBJECT) + "\n[1]\n", "x:2: the line is no object with run_id, topic_id, measure, value"),
    ("jsonl", json.dumps({**OBJECT, "topic_id": 7}), "x:1: topic_id is a text in quotation marks, not 7"),
    ("jsonl", json.dumps({**OBJECT, "value": [1]}), r"x:1: the value \[1\] is no number"),
    ("jsonl", json.dumps(OBJECT)[:-1] + ', "value": 7}', "x:1: the key 'value' occurs twice in one object"),
    ("jsonl", json.dumps(OBJECT) + "\n{\n", "x:2: it is not JSON: Expecting"),
    ("jsonl", "[" * 100_000, "x:1: it is not JSON that can be read: it is nested too deeply"),
    ("jsonl", json.dumps({**OBJECT, "run_id": "\ud800"}), "x:1: .* half a letter is escaped"),
    (
        "jsonl",
        json.dumps({**OBJECT, "value": 5}).replace("5", "5" * 5000),
        "x:1: it is not JSON that can be read: Exceeds",
    ),
    ("jsonl", json.dumps({**OBJECT, "value": None}), "x:1: run a, topic t, measure AP: there is no score"),
]


@pytest.mark.parametrize(("format", "text", "message"), BROKEN)
def test_a_broken_line_is_refused_with_its_place(format, text, message, tmp_path):
    (tmp_path / "x").write_text(text)
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / "x", format=format)


def test_a_second_score_in_another_file_is_refused_with_that_file(tmp_path):
    for name, value in (("one", 1), ("two", 2)):
        (tmp_path / name).write_text(f"a AP t {value}\n")
    with pytest.raises(DataError, match=r"two:1: run a, topic t, measure AP: there is a second score"):
        read_scores(tmp_path, format="tot")


def test_names_with_spaces_are_read_from_json(tmp_path):
    (tmp_path / "x.jsonl").write_text(lay_out("jsonl").replace('"a"', '"my run"'))
    assert read_scores(tmp_path / "x.jsonl").runs == ("my run", "b")
