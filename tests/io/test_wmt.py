"""Files of shared tasks on metrics: one line per run and segment, and gaps where nobody rated."""

import warnings

import numpy as np
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_scores, wmt

MQM = "a\t-1.0\na\tNone\na\t-0.5\nb\t-5.0\nb\tNone\nb\t0.0\n"
BLEU = "b\t20\nb\t30\nb\t40\na\t10\na\t50\na\t60\nsynthetic_ref\t1\nsynthetic_ref\t2\nsynthetic_ref\t3\n"


def put(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_lines_of_a_run_are_its_topics_in_their_order_and_runs_are_matched_by_name(tmp_path):
    put(tmp_path, {"en-de.mqm.seg.score": MQM.replace("None", "7"), "BLEU-refA.seg.score": BLEU[: BLEU.index("syn")]})
    scores = read_scores(tmp_path)
    assert list(map(str, scores.measures)) == ["BLEU", "mqm"]
    assert scores.matrix("BLEU").loc["a"].tolist() == [10, 50, 60]
    assert scores.matrix("mqm").loc["a"].tolist() == [-1, 7, -0.5]
    assert scores.topics == ("1", "2", "3")


def test_what_was_not_rated_is_refused_or_left_out_and_a_run_that_one_file_lacks_only_where_that_is_said(tmp_path):
    put(tmp_path, {"en-de.mqm.seg.score": MQM, "BLEU-refA.seg.score": BLEU})
    with pytest.raises(
        DataError,
        match=r"mqm.seg.score:2: run a, topic 2, measure mqm: there is no score; 5 are missing in all .*drop-topic",
    ):
        read_scores(tmp_path)
    with pytest.raises(
        DataError, match=r"run synthetic_ref, measure mqm: .* on any topic \(missing=drop-run leaves out"
    ):
        read_scores(tmp_path, missing="drop-topic")
    with pytest.warns(PolicyWarning) as told:
        scores = wmt.read(tmp_path, missing="drop-topic", runs="shared")
    assert [str(one.message) for one in told] == [
        "left out 1 run that not all files hold: synthetic_ref",
        "BLEU-refA.seg.score, en-de.mqm.seg.score: missing=drop-topic: left out 1 of 3 topics with missing scores: 2",
    ]
    assert scores.runs == ("b", "a")
    assert scores.topics == ("1", "3")


NAN = float("nan")


@pytest.mark.parametrize(
    ("missing", "mqm", "said"),
    [
        ("keep", {"a": [-1, 7, -0.5], "b": [-5, 7, 0], "synthetic_ref": [NAN] * 3}, None),
        ("drop-run", {"a": [-1, 7, -0.5], "b": [-5, 7, 0]}, "left out 1 of 3 runs with missing scores: synthetic_ref"),
    ],
)
def test_a_policy_does_what_it_says_with_a_run_that_one_file_lacks(missing, mqm, said, tmp_path):
    put(tmp_path, {"en-de.mqm.seg.score": MQM.replace("None", "7"), "BLEU-refA.seg.score": BLEU})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PolicyWarning)
        scores = read_scores(tmp_path, missing=missing)
    np.testing.assert_array_equal(scores.matrix("mqm").loc[list(mqm)], list(mqm.values()))
    assert set(scores.runs) == set(mqm)
    assert [str(one.message).partition("missing=drop-run: ")[2] for one in told] == [said] * bool(said)
    put(tmp_path, {"en-de.TER.seg.score": "a\t1\na\t2\na\t3\nb\t1\nb\t2\nb\t3\n"})
    (tmp_path / "en-de.mqm.seg.score").unlink()
    with pytest.raises(DataError, match="run synthetic_ref, topic 1, measure TER: there is no score; 3 are missing"):
        read_scores(tmp_path)
    with pytest.raises(DataError, match="measure TER: its worst value is not known"):
        read_scores(tmp_path, missing="worst")


def test_scores_of_whole_runs_have_one_topic(tmp_path):
    put(tmp_path, {"BLEU-refA.sys.score": "a\t1\nb\t2\n", "BLEU-refA.seg.score": "a\t1\na\t3\nb\t2\nb\t5\n"})
    assert wmt.read(tmp_path, level="runs").values.ravel().tolist() == [1, 2]
    assert wmt.read(tmp_path, level="runs").topics == ("all",)
    assert wmt.read(tmp_path).values.shape == (2, 2, 1)


def test_a_measure_scored_with_two_references_is_two_measures(tmp_path):
    put(tmp_path, {"BLEU-refA.seg.score": "a\t1\n", "BLEU-refB.seg.score": "a\t2\n", "KIWI-src.seg.score": "a\t3\n"})
    assert list(map(str, read_scores(tmp_path).measures)) == ["BLEU-refA", "BLEU-refB", "KIWI"]


BROKEN = [
    ({"x.seg.score": "a 1\n"}, r"x.seg.score:1: the line has 1 columns, not run<TAB>score"),
    ({"x.seg.score": "a\t1\n\nb\ttwo\n"}, r"x.seg.score:3: run b, topic 1, measure x: the score 'two' is not a finite"),
    ({"x.seg.score": "a\t1\n\n \t2\n"}, r"x.seg.score:3: the run is missing"),
    ({"x.seg.score": "a\t1\na\t2\nb\t1\n"}, r"run b, measure x: it has 1 lines, but other runs have 2"),
    (
        {"x.seg.score": "a\t1\n", "y.seg.score": "a\t1\na\t2\n"},
        r"y.seg.score: run a, measure y: it has 2 lines, but other runs have 1",
    ),
    ({"x.seg.score": "a\t1\n", "y.seg.score": "b\t1\n"}, r"y.seg.score: run a, topic 1, measure y: there is no score"),
]


@pytest.mark.parametrize(("files", "message"), BROKEN)
def test_a_broken_file_is_refused_with_its_line(files, message, tmp_path):
    with pytest.raises(DataError, match=message):
        wmt.read(put(tmp_path, files))
