"""Scores from what ir_measures, pytrec_eval and ranx return, and from frames."""

import importlib.util
import os
import subprocess
import sys
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import from_frame, from_ir_measures, from_pytrec_eval, from_ranx

GOLD = {"q2": {"d1": 1, "d2": 0, "d3": 2}, "q10": {"d1": 0, "d4": 1}}
RUNS = {
    "good": {"q2": {"d3": 3.0, "d1": 2.0, "d2": 1.0}, "q10": {"d4": 2.0, "d1": 1.0}},
    "poor": {"q2": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q10": {"d1": 2.0, "d4": 1.0}},
}


def reciprocal_ranks(scores, measure):
    return {run: scores.matrix(measure).loc[run, ["q2", "q10"]].tolist() for run in RUNS}


EXPECTED = {"good": [1.0, 1.0], "poor": [0.5, 0.5]}


def test_ir_measures_results_of_every_run_become_scores():
    ir_measures = pytest.importorskip("ir_measures", reason="the reader of its results is tried on the package itself")
    measures = [ir_measures.RR, ir_measures.nDCG @ 10]
    results = {run: ir_measures.iter_calc(measures, GOLD, ranked) for run, ranked in RUNS.items()}
    scores = from_ir_measures(results, collection="tiny")
    assert {str(one) for one in scores.measures} == {"RR", "nDCG@10"}
    assert all(one.higher_is_better for one in scores.measures)
    assert reciprocal_ranks(scores, "RR") == EXPECTED
    assert scores.collection == "tiny"


def test_pytrec_eval_results_of_every_run_become_scores():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="the reader of its results is tried on the package itself")
    evaluator = pytrec_eval.RelevanceEvaluator(GOLD, {"recip_rank", "ndcg_cut_10"})
    scores = from_pytrec_eval({run: evaluator.evaluate(ranked) for run, ranked in RUNS.items()})
    assert {str(one) for one in scores.measures} == {"recip_rank", "ndcg_cut_10"}
    assert reciprocal_ranks(scores, "recip_rank") == EXPECTED


RANX = """
import ranx
from metaeval.errors import DataError
from metaeval.io import from_ranx

gold = ranx.Qrels({gold})
runs = [ranx.Run(ranked, name=run) for run, ranked in {runs}.items()]
try:
    from_ranx(runs)
except DataError as error:
    print(error)
report = ranx.compare(gold, runs, ["mrr"])
try:
    from_ranx(report)
except DataError as error:
    print(error)
scores = from_ranx(runs)
assert from_ranx({{run.name: run for run in runs}}) == scores
assert from_ranx(runs[0]) == scores.sel(runs="good")
print({{run: scores.matrix("mrr").loc[run, ["q2", "q10"]].tolist() for run in scores.runs}})
"""


def test_ranx_runs_that_were_scored_become_scores_and_its_report_is_refused():
    if importlib.util.find_spec("ranx") is None:
        pytest.skip("the reader of its results is tried on ranx itself, which is not installed")
    # In a process of its own, where numba need not compile all of ranx first.
    script = RANX.format(gold=GOLD, runs=RUNS)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    unscored, report, scored = done.stdout.strip().splitlines()
    assert unscored.startswith("run good: it has no scores per topic (first ranx.evaluate")
    assert report.startswith("a ranx Report holds means only (give the list of runs")
    assert scored == str(EXPECTED)


Metric = namedtuple("Metric", "query_id measure value")
Scored = SimpleNamespace

BROKEN = [
    (from_ir_measures, {"a": {"AP": 0.5}}, "run a: these are means over topics"),
    (from_ir_measures, {"a": [("q1", "AP", 0.5)]}, r"run a: \('q1', 'AP', 0.5\) is not a Metric"),
    (from_ir_measures, [Metric("q1", "AP", 0.5)], "the results are a list, not a mapping"),
    (from_ir_measures, {}, "there are no scores in it"),
    (from_ir_measures, {"a": [Metric("q", "AP", 0.5)] * 2}, "run a, topic q, measure AP: there is a second score"),
    (from_ir_measures, {"a": [Metric("q", "AP", np.nan)]}, "run a, topic q, measure AP: there is no score"),
    (from_pytrec_eval, {"a": {"q": 0.5}}, "run a, topic q: the scores are a float, not a mapping"),
    (from_pytrec_eval, {"a": 1}, "run a: the topics are a int, not a mapping"),
    (
        from_pytrec_eval,
        {"a": {"q": {"map": 1}}, "b": {"r": {"map": 1}}},
        "run a, topic r, measure map: there is no score",
    ),
    (from_ranx, [Scored(name=None, scores={})], "run number 1 has no name .give a mapping"),
    (from_ranx, [Scored(name="a", scores={"m": {"q": 1}})] * 2, "run a: two runs have this name"),
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
        assert from_pytrec_eval(results, missing="worst").values[:, :, 0].tolist() == [[1, 0.5], [0.25, 0]]


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
