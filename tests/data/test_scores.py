"""Scores: labelled, complete, aligned by label."""

import pickle

import numpy as np
import pytest

from metaeval import DataError, Scores


@pytest.fixture
def scores():
    values = np.arange(12, dtype=float).reshape(2, 3, 2)
    return Scores(values, runs=["a", "b"], topics=["t1", "t2", "t3"], measures=["NMD", "nDCG@10"], collection="tiny")


def test_scores_print_what_they_are_and_a_registered_name_brings_its_direction_and_another_none(scores):
    assert repr(scores) == "Scores: 2 runs × 3 topics × 2 measures, tiny"
    assert [m.higher_is_better for m in scores.measures] == [False, True]
    for name, higher in (("P(rel=2)@10", True), ("recip_rank", True), ("latency", None), ("f(x", None), ("a=b", None)):
        (measure,) = Scores([[[1.0]]], runs=["a"], topics=["t"], measures=[name]).measures
        assert (str(measure), measure.higher_is_better) == (name, higher)
    for name, score, higher in (("TER", -0.5, None), ("TER", 0.5, False), ("ERR", 2.5, None), ("P_1", 3, None)):
        (measure,) = Scores([[[score]]], runs=["a"], topics=["t"], measures=[name]).measures
        assert measure.higher_is_better is higher  # unless scores contradict what the name tells


def test_scores_cannot_be_changed_travel_between_processes_and_do_not_follow_the_array_they_were_made_of(scores):
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        scores.runs = ("x",)
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301
    assert again == scores
    assert again.measures[0].formula is not None
    values = np.zeros((1, 1, 1))
    scores = Scores(values, runs=["a"], topics=["t"], measures=["X"])
    values[:] = 5
    assert scores.values.item() == 0


def test_selecting_keeps_the_order_asked_for(scores):
    part = scores.sel(runs=["b", "a"], topics="t3", measures="nDCG@10")
    assert part.runs == ("b", "a")
    assert part.values.ravel().tolist() == [11.0, 5.0]
    with pytest.raises(DataError, match="no topic 't9'"):
        scores.sel(topics=["t9"])
    assert scores.matrix("NMD").loc["b", "t2"] == 8
    assert scores.means().loc["a", "nDCG@10"] == 3


BROKEN = [
    ({"runs": ["a", "a"]}, "run 'a' occurs twice"),
    ({"measures": ["X", "X"]}, "measure 'X' occurs twice"),
    ({"topics": ["t", "u"]}, r"shape .1, 1, 1., not .1, 2, 1."),
    ({"values": [[[np.nan]]]}, "run a, topic t, measure X: the score is nan"),
    ({"values": [[[np.inf]]]}, "the score is inf"),
    ({"values": [[["high"]]]}, "scores are numbers"),
    ({"values": np.empty((0, 1, 1)), "runs": []}, "there are no runs"),
    ({"runs": [""]}, "run number 1 has no name"),
    ({"runs": ["\ud800"]}, "run number 1 has a name with half a letter"),
    ({"runs": "a"}, "not .a."),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_broken_scores_are_refused_with_a_sentence(change, message):
    with pytest.raises(DataError, match=message):
        Scores(**{"values": [[[1.0]]], "runs": ["a"], "topics": ["t"], "measures": ["X"], **change})


def test_the_fingerprint_is_that_of_scores_rounded_as_another_processor_would():
    """A tenth of the scores is one bit lower, a zero is rounding noise, and a 1 is the number below it."""
    rng = np.random.default_rng(0)
    values = rng.random((22, 390, 7))
    values[0, 0, 0], values[1, 1, 1] = 1.0, 0.0
    other = np.where(rng.random(values.shape) < 0.1, np.nextafter(values, 0), values)
    other[0, 0, 0], other[1, 1, 1] = np.nextafter(1.0, 0), 1e-17
    labels = {"runs": range(22), "topics": range(390), "measures": list("abcdefg"), "higher_is_better": True}
    scores = Scores(values, **labels)
    assert Scores(other, **labels).fingerprint == scores.fingerprint
    other[3, 3, 3] += 1e-6
    assert Scores(other, **labels).fingerprint != scores.fingerprint
