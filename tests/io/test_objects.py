"""Scores from frames, and from what ir_measures and pytrec_eval return once it is one: see docs/how-to/score-files.md."""

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import from_frame

GOLD = {"q2": {"d1": 1, "d2": 0, "d3": 2}, "q10": {"d1": 0, "d4": 1}}
RUNS = {
    "good": {"q2": {"d3": 3.0, "d1": 2.0, "d2": 1.0}, "q10": {"d4": 2.0, "d1": 1.0}},
    "poor": {"q2": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q10": {"d1": 2.0, "d4": 1.0}},
}


def reciprocal_ranks(scores, measure):
    return {run: scores.matrix(measure).loc[run, ["q2", "q10"]].tolist() for run in RUNS}


def frame_of_ir_measures(results):
    rows = [(run, one.query_id, str(one.measure), one.value) for run, found in results.items() for one in found]
    return pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])


def frame_of_pytrec_eval(results):
    frames = {run: pd.DataFrame(found).T for run, found in results.items()}
    return pd.concat(frames, names=["run", "topic"]).reset_index()


EXPECTED = {"good": [1.0, 1.0], "poor": [0.5, 0.5]}


def test_ir_measures_results_of_every_run_become_scores():
    ir_measures = pytest.importorskip("ir_measures", reason="the reader of its results is tried on the package itself")
    measures = [ir_measures.RR, ir_measures.nDCG @ 10]
    results = {run: ir_measures.iter_calc(measures, GOLD, ranked) for run, ranked in RUNS.items()}
    scores = from_frame(frame_of_ir_measures(results), collection="tiny")
    assert {str(one) for one in scores.measures} == {"RR", "nDCG@10"}
    assert all(one.higher_is_better for one in scores.measures)
    assert reciprocal_ranks(scores, "RR") == EXPECTED
    assert scores.collection == "tiny"


def test_pytrec_eval_results_of_every_run_become_scores():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="the reader of its results is tried on the package itself")
    evaluator = pytrec_eval.RelevanceEvaluator(GOLD, {"recip_rank", "ndcg_cut_10"})
    scores = from_frame(frame_of_pytrec_eval({run: evaluator.evaluate(ranked) for run, ranked in RUNS.items()}))
    assert {str(one) for one in scores.measures} == {"recip_rank", "ndcg_cut_10"}
    assert reciprocal_ranks(scores, "recip_rank") == EXPECTED


BROKEN = [
    (from_frame, {}, "no frames were given"),
    (from_frame, pd.DataFrame({"a": [1]}), "taken for wide, and its measure is not named .name it: measure="),
    (
        from_frame,
        {"AP": pd.DataFrame({"a": [1]}), "RR": pd.DataFrame({"b": [1]})},
        "run a, topic 0, measure RR: there is no score; 2 are missing",
    ),
    (from_frame, {"AP": pd.DataFrame({"a": ["x"]})}, "run a, topic 0, measure AP: the score 'x' is not a finite"),
    (from_frame, {"AP": pd.DataFrame({"a": [np.inf]})}, "run a, topic 0, measure AP: the score inf is not a finite"),
    (from_frame, {"AP": pd.DataFrame({"a": [np.nan]})}, "run a, topic 0, measure AP: there is no score"),
    (
        from_frame,
        {"AP": pd.DataFrame({"a": [1, 2]}, index=["t", "t"])},
        "run a, topic t, measure AP: there is a second score, 2",
    ),
    (from_frame, {"AP": [1]}, "measure AP: topics × runs is a frame, not list"),
]


@pytest.mark.parametrize(("reader", "given", "message"), BROKEN)
def test_objects_of_another_kind_are_refused_with_the_place(reader, given, message):
    with pytest.raises(DataError, match=message):
        reader(given)


def test_a_missing_score_falls_under_the_policy():
    results = {"a": {"q": {"map": 1.0}, "r": {"map": 0.5}}, "b": {"q": {"map": 0.25}}}
    with pytest.warns(PolicyWarning, match="1 missing scores given"):
        scores = from_frame(frame_of_pytrec_eval(results), missing="worst")
    assert scores.values[:, :, 0].tolist() == [[1, 0.5], [0.25, 0]]


def test_frames_tidy_and_wide_become_the_same_scores():
    tidy = pd.DataFrame(
        {"run": ["a", "b", "a", "b"], "topic": [1, 1, 2, 2], "measure": "AP", "score": [0.1, 0.2, 0.3, 0.4]}
    )
    wide = pd.DataFrame({"topic": [2, 1], "b": [0.4, 0.2], "a": [0.3, 0.1]})
    given = from_frame(tidy)
    for scores in (from_frame(wide, measure="AP"), from_frame({"AP": wide.set_index("topic")})):
        assert scores.sel(runs=["a", "b"], topics=["1", "2"]) == given
    both = from_frame({"AP": wide, "RR": wide[::-1]})
    assert both.matrix("AP").equals(both.matrix("RR"))
