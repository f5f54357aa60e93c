"""The public files as their publishers hold them; set METAEVAL_DATA to the folder they are in."""

import os
from pathlib import Path

import numpy as np
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_runs, read_scores

DATA = Path(os.environ.get("METAEVAL_DATA", "data"))


def data(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder that METAEVAL_DATA names")
    return path


def test_trec_files_are_recognised_by_their_names_and_chosen_from_their_folder():
    scores = read_scores(data("trec"), collection="web2013")
    assert (scores.values.shape, scores.collection, scores.topics[0]) == ((34, 50, 6), "web2013", "1")
    assert {str(one) for one in scores.measures} == {"AP", "P@10", "P@20", "RR", "nDCG@20", "ERR@20"}
    scores = read_scores(data("trec") / "web2013_ndcg20.csv")
    assert (scores.values.shape, str(scores.measures[0])) == ((34, 50, 1), "nDCG@20")
    assert scores.matrix("nDCG@20").iloc[0, 0] == 0.6544


def test_llmjudge_has_three_labels_out_of_range_and_says_so():
    gold, runs = data("llmjudge/qrels.txt"), data("llmjudge/runs")
    few = [runs / f"{name}.txt" for name in ("RMITIR-llama70B", "h2oloo-zeroshot2")]
    options = {"format": "judgements", "classes": range(4)}
    with pytest.raises(
        DataError, match=r"RMITIR-llama70B.txt:2449: run RMITIR-llama70B, topic q0, item p3021: the label"
    ):
        read_runs(gold, few, **options)
    with pytest.warns(PolicyWarning, match="3 labels .*: runs RMITIR-llama70B, h2oloo-zeroshot2; topics q0, q2, q30"):
        assert (read_runs(gold, few, invalid="clip", **options).counts.sum(axis=(1, 2, 3)) == 4423).all()


def test_a_submission_that_numbers_its_lines_is_matched_line_by_line_and_its_distributions_need_rescaling():
    gold, run = data("semeval2016/twitter-2016test-CE.txt"), data("semeval2016/PotTS.SubtaskC.res.official.txt")
    runs = read_runs(gold, run, format="semeval-c")
    assert (runs.counts.shape, runs.counts.sum()) == ((1, 100, 5, 5), 20_632)
    assert runs.gold.sum(axis=0).tolist() == [138, 2201, 10081, 7830, 382]
    assert runs.counts[0].sum(axis=(0, 1)).tolist() == [1349, 3398, 8922, 5024, 1939]
    run = run.with_name(run.name.replace("SubtaskC", "SubtaskE"))
    with pytest.raises(DataError, match=r"official.txt:2: run \S+, topic prince george: probabilities sum to 0.999"):
        read_runs(gold, run, format="semeval-e")
    estimated = read_runs(gold, run, format="semeval-e", rescale=True).estimated[0]
    # The team's labels of subtask C give the same shares, but its file of subtask E has them in another order
    # in every topic; it is read as it was submitted.
    np.testing.assert_allclose(np.sort(estimated), np.sort(runs.to_quantification().estimated[0]), atol=2e-3)


def test_the_two_golds_of_semeval_2017_say_the_same():
    folder = data("semeval2017")
    labels, shares = (folder / f"SemEval2017_task4_subtask{one}_test_english_gold.txt" for one in "CE")
    counted = read_runs(labels, shares, format="semeval-e")
    assert (counted.estimated.shape, counted.topics[0]) == ((1, 125, 5), "#ArianaGrande")
    np.testing.assert_allclose(counted.estimated[0], counted.gold, atol=1e-12)
