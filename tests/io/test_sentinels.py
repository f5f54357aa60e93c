"""Numbers that stand for no score, and columns that may be runs or measures, are never taken for scores in silence."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from metaeval.errors import DataError, PolicyWarning
from metaeval.io import read_scores

RNG = np.random.default_rng(0)


def write(tmp_path, scores):
    rows = [(run, f"q{topic}", scores[i, topic]) for i, run in enumerate("abc") for topic in range(scores.shape[1])]
    pd.DataFrame(rows, columns=["run", "topic", "F1"]).to_csv(tmp_path / "s.csv", index=False)
    return tmp_path / "s.csv"


@pytest.mark.parametrize("number", [-1, -9, -99, -999, -9999])
def test_a_number_that_may_stand_for_no_score_is_said(number, tmp_path):
    scores = RNG.random((3, 8)).round(3)
    scores[[0, 2], [1, 5]] = number
    with pytest.warns(PolicyWarning, match=rf"s.csv: F1 is {number} in 2 of 24 cells, and nowhere else below 0"):
        read_scores(write(tmp_path, scores), higher_is_better=True)


@pytest.mark.parametrize(
    "scores",
    [
        RNG.choice([-1.0, 0.0, 1.0], (3, 8)),  # wins, ties and losses
        np.where(RNG.random((3, 8)) < 0.5, -1.0, RNG.random((3, 8))),  # half of all cells
        RNG.uniform(-1, 1, (3, 8)).clip(-1, 1),  # correlations
        RNG.random((3, 8)),
    ],
)
def test_numbers_below_0_that_are_scores_are_read_without_a_word(scores, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", PolicyWarning)
        assert read_scores(write(tmp_path, scores), higher_is_better=True).values[:, :, 0].tolist() == scores.tolist()


def test_columns_that_are_called_like_measures_are_not_taken_for_runs(tmp_path):
    (tmp_path / "BPR.csv").write_text("user_id,ndcg@10,recall@10\nu1,0.5,0.25\nu2,0.25,1\n")
    with pytest.raises(
        DataError, match=re.escape("are its columns runs, or measures of a single run (ndcg@10, recall@10)?")
    ):
        read_scores(tmp_path / "BPR.csv")
    assert read_scores(tmp_path / "BPR.csv", format="wide", higher_is_better=True).runs == ("ndcg@10", "recall@10")


def test_inspect_says_it_too(tmp_path, capsys, monkeypatch):
    from metaeval.cli import main

    scores = RNG.random((3, 8)).round(3)
    scores[0, 1] = -999
    monkeypatch.setattr("sys.argv", ["metaeval", "inspect", str(write(tmp_path, scores))])
    with pytest.raises(SystemExit):
        main()
    assert "F1 is -999 in 1 of 24 cells" in " ".join(capsys.readouterr().err.split())
