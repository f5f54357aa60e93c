"""Labels of people are read as they are: with gaps, with probabilities, and every mistake in them is a sentence."""

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError
from metaeval.io.partial_scores import read_partial

nan = np.nan


def write(tmp_path, text, name="few.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_without_a_score_are_gaps_in_every_layout(tmp_path):
    expected = [[1.0, nan], [0.5, 0.25]]
    tidy = write(tmp_path, "run,topic,score\na,t1,1\na,t2,\nb,t1,0.5\nb,t2,0.25\n")
    lacking = write(tmp_path, "run,topic,measure,score\na,t1,AP,1\nb,t1,AP,0.5\nb,t2,AP,0.25\n", "tidy.csv")
    named = write(tmp_path, "run,topic,AP\na,t1,1\nb,t1,0.5\nb,t2,0.25\n", "named.csv")
    wide = write(tmp_path, "topic,a,b\nt1,1,0.5\nt2,,0.25\n", "ap.csv")
    for source in (tidy, lacking, named, wide, pd.read_csv(tidy), pd.read_csv(named)):
        found = read_partial(source)
        assert (found.scores.runs, found.scores.topics) == (("a", "b"), ("t1", "t2"))
        np.testing.assert_array_equal(found.values, expected)
        assert found.probabilities is None
    assert str(read_partial(named).measure) == "AP"


def test_probabilities_stand_beside_their_scores(tmp_path):
    text = "run,topic,score,probability\na,t1,1,0.5\na,t2,,0.25\nb,t1,0,0.5\nb,t2,1,0.25\n"
    found = read_partial(write(tmp_path, text))
    np.testing.assert_array_equal(found.probabilities, [[0.5, 0.25], [0.5, 0.25]])
    assert np.isnan(found.values[0, 1])


def test_probabilities_with_decimal_commas_are_read_as_scores_are(tmp_path):
    text = "run;topic;score;probability\na;t1;0,5;0,5\na;t2;;0,25\nb;t1;0,0;0,5\nb;t2;1,0;0,25\n"
    np.testing.assert_array_equal(read_partial(write(tmp_path, text)).probabilities, [[0.5, 0.25], [0.5, 0.25]])


def test_scores_are_partial_ones_without_gaps():
    scores = me.Scores([[[0.5], [0.25]]], runs=["a"], topics=["t1", "t2"], measures=["AP"])
    found = read_partial(scores)
    assert found.values.tolist() == [[0.5, 0.25]]
    assert read_partial(found) is found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,topic,score,probability\na,t1,1,0\n", r"few\.csv:2: the probability is 0; it lies above 0 and is at most 1"),
        ("run,topic,score,probability\na,t1,1,1.5\n", r"few\.csv:2: the probability is 1\.5"),
        ("run;topic;score;probability\na;t1;0,5;0,2\na;t2;1,0;-0,5\n", r"few\.csv:3: the probability is -0\.5"),
        ("run;topic;score;probability\na;t1;0,5;1,5\na;t2;1,0;0,5\n", r"few\.csv:2: the probability is 1\.5"),
        ("run;topic;score;probability\na;t1;0,5;100,0\na;t2;1,0;0,5\n", r"few\.csv:2: the probability is 100"),
        ("run;topic;score;probability\na;t1;0,5;0,0\na;t2;1,0;0,5\n", r"few\.csv:2: the probability is 0;"),
        ("run,topic,score,probability\na,t1,1,half\n", "the score 'half' is not a finite number"),
        ("run,topic,score,probability\na,t1,1,\n", "run a, topic t1: a label has no probability"),
        ("run,topic,AP\na,t1,1\nb,t1,1\na,t1,0\n", r"few\.csv:4: run a, topic t1, measure AP: there is a second score, 0"),
        ("run,topic,score\na,t1,good\n", "the score 'good' is not a finite number"),
        ("run,topic,score\na,t1,\nb,t1,\n", "nothing is labelled: every score is missing"),
        ("run,topic,AP,RR\na,t1,1,0\n", r"labels of people are of one measure; there are 2 \(AP, RR\)"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_partial(write(tmp_path, text))


def test_doubled_labels_can_be_averaged(tmp_path):
    path = write(tmp_path, "run,topic,score,probability\na,t1,1,0.5\na,t1,0,0.5\nb,t1,1,0.5\n")
    with pytest.warns(me.errors.PolicyWarning, match="1 cell had several scores: the mean was taken"):
        found = read_partial(path, doubled="mean")
    assert found.values.tolist() == [[0.5], [1.0]]
    assert found.probabilities.tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize("second", ["0.9", "0,9", ""])
def test_labels_that_were_chosen_with_several_probabilities_have_no_mean_one(tmp_path, second):
    rows = [
        ["run", "topic", "score", "probability"],
        ["a", "t1", "1", "0.1"],
        ["a", "t1", "0", second],
        ["b", "t1", "1", "0.1"],
    ]
    if "," in second:
        rows = [[cell.replace("0.1", "0,1") for cell in row] for row in rows]
    path = write(tmp_path, "".join(";".join(row) + "\n" for row in rows))
    with (
        pytest.warns(me.errors.PolicyWarning),
        pytest.raises(DataError, match="run a, topic t1: its labels have several probabilities .*the same for all"),
    ):
        read_partial(path, doubled="mean")
