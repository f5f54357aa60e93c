"""metaeval correct: labels with gaps are read, and the answer comes first."""

import re

import numpy as np
import pandas as pd
import pytest

import metaeval as me

RUNS, TOPICS = ["a", "b", "c", "d"], [f"t{t:03}" for t in range(150)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A judge that favours run a, and labels of people on 60 of 150 topics."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=150) + rng.normal(0, 0.5, (4, 150)) + np.array([[0], [0], [0.6], [1.2]])
    judge = truth + rng.normal(0, 0.4, truth.shape) + np.array([[0.9], [0], [0], [0]])
    monkeypatch.chdir(tmp_path)
    me.io.write_scores(me.Scores(judge[..., None], runs=RUNS, topics=TOPICS, measures=["nDCG"]), "judge.csv")
    frame = pd.DataFrame(truth.T, index=TOPICS, columns=RUNS)
    frame.loc[rng.permutation(TOPICS)[60:]] = np.nan
    frame.to_csv("few.csv", index_label="topic")
    frame.dropna().melt(ignore_index=False, var_name="run", value_name="nDCG").rename_axis("topic").to_csv("tidy.csv")
    return truth


@pytest.mark.usefixtures("files")
def test_the_answer_comes_first_and_fits_80_columns(run):
    status, out, err = run("correct", "judge.csv", "--people", "tidy.csv", "--trials", "200")
    assert status == 0, err
    assert out.startswith("d is first by nDCG.\n")
    assert "Conclusions about 6 pairs of runs: people reverse 1 of the judge's conclusions." in out
    assert max(map(len, out.splitlines())) <= 80
    assert err.count("metaeval: note: ") == 2


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--people", "none.csv"), "none.csv: there is no such file"),
        (("--people", "tidy.csv", "--lower-is-better", "BLEU"), "BLEU"),
    ],
)
def test_a_mistake_is_one_sentence_in_the_words_of_the_command_line(run, words, message):
    status, out, err = run("correct", "judge.csv", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.usefixtures("files")
def test_labels_in_a_table_with_a_column_per_run_may_have_gaps_and_a_stated_direction(run):
    status, out, err = run(
        "correct", "judge.csv", "--people", "few.csv", "--trials", "200", "--higher-is-better", "score"
    )
    assert status == 0, err
    assert out.startswith("d is first by score.\n")
    status, out, _ = run("correct", "judge.csv", "--people", "few.csv", "--trials", "200", "--lower-is-better", "score")
    assert status == 0
    assert re.match(r"[ab] is first by score; 1 other run may be as good\.\n", out)
