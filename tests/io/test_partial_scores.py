"""Scores of which people gave a part: gaps and probabilities are read as they are, and every mistake is a sentence."""

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError, PolicyWarning
from metaeval.io.partial_scores import read_partial
from tests.io.cases import put

nan = np.nan
TIDY = "run,topic,score\na,t1,1\na,t2,\nb,t1,0.5\nb,t2,0.25\n"
LABELLED = "run topic score probability\na t1 1 0.5\na t2  0.25\nb t1 0.0 0.5\nb t2 1.0 0.25\n"
DOUBLED = "run;topic;score;probability\na;t1;1;{0}\na;t1;0;{1}\nb;t1;1;{0}\n"


def chosen(separator, point):
    """Return labels with the probabilities with which they were chosen."""
    return LABELLED.replace(" ", separator).replace(".", point)


def test_rows_without_a_score_are_gaps_in_every_layout(tmp_path):
    tidy = put(tmp_path, {"few.csv": TIDY})
    lacking = put(tmp_path, {"tidy.csv": "run,topic,measure,score\na,t1,AP,1\nb,t1,AP,0.5\nb,t2,AP,0.25\n"})
    named = put(tmp_path, {"named.csv": "run,topic,AP\na,t1,1\nb,t1,0.5\nb,t2,0.25\n"})
    wide = put(tmp_path, {"ap.csv": "topic,a,b\nt1,1,0.5\nt2,,0.25\n"})
    for source in (tidy, lacking, named, wide, pd.read_csv(tidy), pd.read_csv(named)):
        found = read_partial(source)
        assert (found.scores.runs, found.scores.topics, found.probabilities) == (("a", "b"), ("t1", "t2"), None)
        np.testing.assert_array_equal(found.values, [[1.0, nan], [0.5, 0.25]])
    assert str(read_partial(named).measure) == "AP"
    whole = read_partial(me.Scores([[[0.5], [0.25]]], runs=["a"], topics=["t1", "t2"], measures=["AP"]))
    assert whole.values.tolist() == [[0.5, 0.25]]
    assert read_partial(whole) is whole


@pytest.mark.parametrize(("separator", "point"), [(",", "."), (";", ","), (";", ".")])
def test_probabilities_stand_beside_their_scores(separator, point, tmp_path):
    found = read_partial(put(tmp_path, chosen(separator, point)))
    np.testing.assert_array_equal(found.probabilities, [[0.5, 0.25], [0.5, 0.25]])
    np.testing.assert_array_equal(found.values, [[1, nan], [0, 1]])


MISTAKES = [
    (
        chosen(",", ".").replace("0.5\n", "0\n"),
        r"s\.csv:2: the probability is 0; it lies above 0 and is at most 1",
    ),
    (chosen(";", ",").replace("0,25\n", "-0,5\n"), r"s\.csv:3: the probability is -0\.5"),
    (chosen(";", ",").replace("0,5\n", "1,5\n"), r"s\.csv:2: the probability is 1\.5"),
    (chosen(",", ".").replace("0.5\n", "half\n"), "the score 'half' is not a finite number"),
    (chosen(",", ".").replace("0.5\n", "\n"), "run a, topic t1: a label has no probability"),
    ("run,topic,AP\na,t1,1\nb,t1,1\na,t1,0\n", r"s\.csv:4: run a, topic t1, measure AP: there is a second score, 0"),
    ("run,topic,score\na,t1,\nb,t1,\n", "nothing is labelled: every score is missing"),
    ("run,topic,AP,RR\na,t1,1,0\n", r"labels of people are of one measure; there are 2 \(AP, RR\)"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_in_labels_of_a_part_is_one_sentence(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_partial(put(tmp_path, text))


def test_doubled_labels_can_be_averaged_unless_they_were_chosen_with_several_probabilities(tmp_path):
    with pytest.warns(PolicyWarning, match="1 cell had several scores: the mean was taken"):
        found = read_partial(put(tmp_path, DOUBLED.format("0.5", "0.5")), doubled="mean")
    assert (found.values.tolist(), found.probabilities.tolist()) == ([[0.5], [1.0]], [[0.5], [0.5]])
    message = "run a, topic t1: its labels have several probabilities .*the same for all"
    for first, second in (("0.1", "0.9"), ("0,1", "0,9"), ("0.1", "")):
        with pytest.warns(PolicyWarning), pytest.raises(DataError, match=message):
            read_partial(put(tmp_path, DOUBLED.format(first, second)), doubled="mean")
