"""Scores: labelled, complete, aligned by label."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

import metaeval
from metaeval import DataError, Measure, Scores
from metaeval.errors import PolicyWarning
from metaeval.io import from_frame


@pytest.fixture
def scores():
    values = np.arange(12, dtype=float).reshape(2, 3, 2)
    return Scores(values, runs=["a", "b"], topics=["t1", "t2", "t3"], measures=["NMD", "nDCG@10"], collection="tiny")


def test_scores_print_what_they_are(scores):
    assert repr(scores) == "Scores: 2 runs × 3 topics × 2 measures, tiny"


def test_a_registered_name_brings_its_direction_and_another_name_none(scores):
    assert [m.higher_is_better for m in scores.measures] == [False, True]
    bare = Scores([[[1.0]]], runs=["a"], topics=["t"], measures=["cost"])
    assert bare.measures[0].higher_is_better is None
    stated = Scores([[[1.0]]], runs=["a"], topics=["t"], measures=[Measure("cost", higher_is_better=False)])
    assert stated.measures[0].higher_is_better is False


@pytest.mark.parametrize(
    "name",
    ["AP", "map", "nDCG@20", "ndcg_cut_10", "P_10", "P@20", "ERR@20", "RR", "recip_rank", "bpref", "P(rel=2)@10"],
)
def test_higher_is_known_to_be_better_for_the_usual_retrieval_measures(name):
    assert metaeval.measures.measure_of_label(name).higher_is_better is True


@pytest.mark.parametrize("name", ["cost", "latency", "DCG@10", "X", "app", "ranking loss", "f(x", "a=b"])
def test_nothing_is_assumed_of_other_names(name):
    measure = metaeval.measures.measure_of_label(name)
    assert measure.higher_is_better is None
    assert str(measure) == name


def test_scores_cannot_be_changed(scores):
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1
    with pytest.raises(AttributeError):
        scores.runs = ("x",)


def test_scores_do_not_follow_the_array_they_were_made_of():
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


def test_matrix_and_means_carry_their_labels(scores):
    assert scores.matrix("NMD").loc["b", "t2"] == 8
    assert scores.means().loc["a", "nDCG@10"] == 3


def test_a_shuffled_frame_gives_the_same_scores(scores):
    frame = scores.to_frame().sample(frac=1, random_state=1)
    again = from_frame(frame, collection="tiny").sel(
        runs=scores.runs, topics=scores.topics, measures=[str(m) for m in scores.measures]
    )
    assert again == scores
    assert again.values.tobytes() == scores.values.tobytes()


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_a_frame_keeps_every_bit(numbers):
    scores = Scores(np.reshape(numbers, (2, 2, 1)), runs=["a", "b"], topics=["t", "u"], measures=["X"])
    again = from_frame(scores.to_frame())
    assert again.values.tobytes() == scores.values.tobytes()


def test_scores_travel_between_processes(scores):
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301
    assert again == scores
    assert again.measures[0].formula is not None


BROKEN = [
    (lambda: Scores([[[1.0]]], runs=["a", "a"], topics=["t"], measures=["X"]), "run 'a' occurs twice"),
    (lambda: Scores([[[1.0]]], runs=["a"], topics=["t"], measures=["X", "X"]), "measure 'X' occurs twice"),
    (lambda: Scores([[[1.0]]], runs=["a"], topics=["t", "u"], measures=["X"]), r"shape .1, 1, 1., not .1, 2, 1."),
    (
        lambda: Scores([[[np.nan]]], runs=["a"], topics=["t"], measures=["X"]),
        "run a, topic t, measure X: the score is nan",
    ),
    (lambda: Scores([[[np.inf]]], runs=["a"], topics=["t"], measures=["X"]), "the score is inf"),
    (lambda: Scores([[["high"]]], runs=["a"], topics=["t"], measures=["X"]), "scores are numbers"),
    (lambda: Scores(np.empty((0, 1, 1)), runs=[], topics=["t"], measures=["X"]), "there are no runs"),
    (lambda: Scores([[[1.0]]], runs=[""], topics=["t"], measures=["X"]), "run number 1 has an empty name"),
    (lambda: Scores([[[1.0]]], runs="a", topics=["t"], measures=["X"]), "not .a."),
]


@pytest.mark.parametrize(("build", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_broken_scores_are_refused_with_a_sentence(build, message):
    with pytest.raises(DataError, match=message):
        build()


def frame_of(*rows):
    return pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])


BROKEN_FRAMES = [
    (frame_of(("a", "t", "X", 1), ("a", "t", "X", 2)), "run a, topic t, measure X: there is a second score"),
    (frame_of(("a", "t", "X", 1), ("b", "u", "X", 2)), "run a, topic u, measure X: there is no score; 2 are missing"),
    (frame_of(("a", "t", "X", "n/a")), "run a, topic t, measure X: the score 'n/a' is not a finite number"),
    (frame_of(("a", "t", "X", float("nan"))), "there is no score"),
    (frame_of(("a", "t", "X", 1e400)), "the score inf is not a finite number"),
    (frame_of((None, "t", "X", 1)), "the run is missing"),
    (frame_of(), "there are no rows in it"),
    (
        frame_of(("a", "t", "X", 1)).drop(columns="topic"),
        "one number a run and no topics .columns: run, measure, score",
    ),
]


@pytest.mark.parametrize(("frame", "message"), BROKEN_FRAMES, ids=[message for _, message in BROKEN_FRAMES])
def test_broken_frames_are_refused_with_the_cell_named(frame, message):
    with pytest.raises(DataError, match=message):
        from_frame(frame)


GAPPY = frame_of(("a", "t", "NMD", 0.1), ("a", "u", "NMD", 0.2), ("b", "t", "NMD", 0.3))


def test_policies_for_missing_scores_do_what_they_say_and_say_it():
    with pytest.warns(PolicyWarning, match="left out 1 of 2 topics.*: u"):
        assert from_frame(GAPPY, missing="drop-topic").topics == ("t",)
    with pytest.warns(PolicyWarning, match="left out 1 of 2 runs.*: b"):
        assert from_frame(GAPPY, missing="drop-run").runs == ("a",)
    with pytest.warns(PolicyWarning, match="1 missing scores given the measure's worst value"):
        assert from_frame(GAPPY, missing="worst").values[1, 1, 0] == 1.0
    with pytest.raises(DataError, match="worst value is not known"):
        from_frame(GAPPY.assign(measure="cost"), missing="worst")
    with pytest.raises(metaeval.MetaevalError, match="no policy 'ignore'"):
        from_frame(GAPPY, missing="ignore")


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
