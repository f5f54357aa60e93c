"""What ir_measures and pytrec_eval print about TREC Deep Learning 2021, read back, is what trec_eval itself said."""

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from metaeval.io import from_frame, read_scores

DATA = Path(os.environ.get("METAEVAL_DATA", "")) / "dl21"
pytestmark = pytest.mark.skipif(
    not (DATA / "runs").is_dir(), reason="needs dl21/ in the folder that METAEVAL_DATA names"
)


@pytest.fixture(scope="module")
def expected():
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        scores = read_scores(DATA / "ndcg_cut10.csv")
    assert any("left out the means over topics, which are called average" in str(note.message) for note in notes)
    assert scores.values.size == 3339
    return scores


@pytest.fixture(scope="module")
def runs():
    """The documents of every run, by topic."""
    found = {}
    for path in sorted((DATA / "runs").iterdir()):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for line in lines:
                topic, _, document, _, score, run = line.split()
                found.setdefault(run, {}).setdefault(topic, {})[document] = float(score)
    return found


@pytest.fixture(scope="module")
def qrels():
    found = {}
    for line in (DATA / "qrels" / "human.txt").read_text().splitlines():
        topic, _, document, grade = line.split()
        found.setdefault(topic, {})[document] = int(grade)
    return found


def count_equal(scores, expected):
    """How many scores are the expected ones after rounding to four decimals."""
    aligned = scores.sel(runs=expected.runs, topics=expected.topics)
    return int((np.abs(np.round(aligned.values[..., 0], 4) - expected.values[..., 0]) < 1e-9).sum())


def test_lines_of_ir_measures_are_read_back_as_trec_eval_has_them(expected, runs, qrels, tmp_path):
    ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.parse_measure("nDCG@10")
    results = {run: list(ir_measures.iter_calc([measure], qrels, topics)) for run, topics in runs.items()}
    for run, metrics in results.items():
        mean = np.mean([metric.value for metric in metrics])
        lines = [f"{metric.query_id}\t{metric.measure}\t{metric.value:.4f}\n" for metric in metrics]
        (tmp_path / f"{run}.txt").write_text("".join([*lines, f"all\tnDCG@10\t{mean:.4f}\n"]))
    assert count_equal(read_scores(tmp_path), expected) == 3339
    rows = [(run, one.query_id, str(one.measure), one.value) for run, found in results.items() for one in found]
    frame = pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])
    assert count_equal(from_frame(frame), expected) == 3339


def test_results_of_pytrec_eval_are_those_of_trec_eval(expected, runs, qrels):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})
    frames = {run: pd.DataFrame(evaluator.evaluate(topics)).T for run, topics in runs.items()}
    frame = pd.concat(frames, names=["run", "topic"]).reset_index()
    assert count_equal(from_frame(frame), expected) == 3339
