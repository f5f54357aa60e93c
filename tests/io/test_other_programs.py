"""What ir_measures and pytrec_eval return is read as scores: of two runs made here, and of TREC Deep Learning 2021.

There they are what trec_eval itself said.
"""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaeval import Scores
from metaeval.io import from_frame, read_scores
from tests.io.cases import read_with_notes

DATA = Path(os.environ.get("METAEVAL_DATA", "")) / "dl21"
TINY_GOLD = {"q2": {"d1": 1, "d2": 0, "d3": 2}, "q10": {"d1": 0, "d4": 1}}
TINY_RUNS = {
    "good": {"q2": {"d3": 3.0, "d1": 2.0, "d2": 1.0}, "q10": {"d4": 2.0, "d1": 1.0}},
    "poor": {"q2": {"d2": 3.0, "d1": 2.0, "d3": 1.0}, "q10": {"d1": 2.0, "d4": 1.0}},
}
TINY = [[[1], [1]], [[np.divide(1 / np.log2(3) + 2 / np.log2(4), 2 / np.log2(2) + 1 / np.log2(3))], [1 / np.log2(3)]]]


def read_runs_of_trec(paths):
    """Return the documents of every run, by topic."""
    found = {}
    for path in sorted(paths):
        content = path.read_bytes()
        for line in (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines():
            topic, _, document, _, score, run = line.split()
            found.setdefault(run, {}).setdefault(topic, {})[document] = float(score)
    return found


@pytest.fixture(scope="module", params=["tiny", "dl21"])
def collection(request):
    """Return runs, judgements, and the scores for nDCG@10 that are known to be right."""
    if request.param == "tiny":
        return TINY_RUNS, TINY_GOLD, Scores(TINY, runs=["good", "poor"], topics=["q2", "q10"], measures=["nDCG@10"])
    if not (DATA / "runs").is_dir():
        pytest.skip("needs dl21/ in the folder that METAEVAL_DATA names")
    expected, notes = read_with_notes(read_scores, DATA / "ndcg_cut10.csv")
    assert "left out the means over topics, which are called average" in notes
    assert expected.values.size == 3339
    gold = {}
    for line in (DATA / "qrels" / "human.txt").read_text().splitlines():
        topic, _, document, grade = line.split()
        gold.setdefault(topic, {})[document] = int(grade)
    return read_runs_of_trec((DATA / "runs").iterdir()), gold, expected


def assert_as_printed(scores, expected):
    """Assert that the scores are the expected ones after rounding to four decimals."""
    aligned = scores.sel(runs=expected.runs, topics=expected.topics)
    assert scores.values.shape == expected.values.shape
    np.testing.assert_allclose(np.round(aligned.values, 4), np.round(expected.values, 4), rtol=0, atol=1e-9)
    assert aligned.measures[0].higher_is_better


def test_results_and_lines_of_ir_measures_are_scores(collection, tmp_path):
    ir_measures = pytest.importorskip("ir_measures")
    runs, gold, expected = collection
    measure = ir_measures.parse_measure("nDCG@10")
    results = {run: list(ir_measures.iter_calc([measure], gold, topics)) for run, topics in runs.items()}
    for run, found in results.items():
        lines = [f"{one.query_id}\t{one.measure}\t{one.value:.4f}\n" for one in found]
        mean = np.mean([one.value for one in found])
        (tmp_path / f"{run}.txt").write_text("".join([*lines, f"all\tnDCG@10\t{mean:.4f}\n"]))
    assert_as_printed(read_scores(tmp_path), expected)
    rows = [(run, one.query_id, str(one.measure), one.value) for run, found in results.items() for one in found]
    assert_as_printed(from_frame(pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])), expected)


def test_results_of_pytrec_eval_are_scores(collection):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    runs, gold, expected = collection
    evaluator = pytrec_eval.RelevanceEvaluator(gold, {"ndcg_cut.10"})
    frames = {run: pd.DataFrame(evaluator.evaluate(topics)).T for run, topics in runs.items()}
    assert_as_printed(from_frame(pd.concat(frames, names=["run", "topic"]).reset_index()), expected)
