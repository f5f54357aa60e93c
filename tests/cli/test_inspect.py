"""metaeval inspect: what a file is taken for, and commands that answer the questions which it says can be answered."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

import metaeval as me

RNG = np.random.default_rng(5)
VALUES = np.linspace(0, 0.6, 6)[:, None, None] + RNG.random((6, 12, 3)) * 0.4
SCORES = me.Scores(VALUES, runs=[*"abcdef"], topics=range(12), measures=["human", "BLEU", "chrF"], collection="mt")


def write_board(folder):
    """Two benchmarks in one table, with a doubled cell and a missing one."""
    rows = [
        {"model": f"m{m}", "question_id": f"{task}{q}", "score": float(VALUES[m, q, 0]), "tstamp": q, "task": task}
        for m in range(5)
        for task in ("math", "code")
        for q in range(8)
    ]
    rows = [*rows[1:], {**rows[1], "score": 0.5, "tstamp": 99}]
    pd.DataFrame(rows).to_parquet(folder / "board.parquet")
    return "board.parquet --columns collection=task --doubled latest --missing drop-run"


def write_measures(folder):
    table = SCORES.to_frame().pivot(index=["run", "topic"], columns="measure", values="score").reset_index()
    table.rename(columns={"run": "system", "topic": "segment"}).to_csv(folder / "mt.csv", index=False)
    return "mt.csv"


def write_wide(folder):
    me.io.write_scores(SCORES.sel(measures=["BLEU"]), folder / "x_BLEU.csv", format="wide")
    return "x_BLEU.csv"


def write_tidy(folder):
    me.io.write_scores(SCORES, folder / "tidy scores.csv")
    return "'tidy scores.csv'"


WRITERS = (write_board, write_measures, write_wide, write_tidy)


def list_commands(out):
    part = out.partition("It can answer:\n")[2].partition("\n\n")[0]
    return [line[line.index("metaeval ") :] for line in part.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_every_command_that_is_named_answers(write, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("inspect", *shlex.split(write(tmp_path)))
    assert status == 0, err
    commands = list_commands(out)
    assert len(commands) >= 3
    for command in commands:
        words = shlex.split(command)[1:]
        words += ["--trials", "50", "-B", "100", "--overwrite"] if words[0] == "compare" else []
        status, _, err = run(*words)
        assert status == 0, f"{command}: {err}"


def test_it_says_what_columns_hold_and_what_is_missing_doubled_tied_and_assumed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = write_board(tmp_path)
    _, out, _ = run("inspect", "board.parquet")
    assert "board.parquet: taken for tidy, a table with a row per score" in out
    assert "run: 'model'; topic: 'question_id'; time: 'tstamp'; scores: 'score'" in out
    assert "not used: 'task'" in out
    assert "5 runs × 16 topics × 1 measure" in out
    assert "cells without a score: 1 of 80 (1.2%); 4 of 5 runs and 15 of 16 topics are complete" in out
    assert "cells with several scores: 1, which differ in 1 of them" in out
    # The way that is named there is the one that leads on.
    assert shlex.split(re.search(r"--columns collection=task .*?(?=\))", out)[0]) == shlex.split(options)[1:]
    _, out, _ = run("inspect", *shlex.split(options))
    assert "math: 5 runs × 8 topics × 1 measure" in out
    assert "score (assumed: higher is better)" in out


def test_copies_constants_and_ties_are_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"topic": ["x", "y"], "a": [0.5, 0.25], "b": [0.5, 0.25], "c": [1, 0]}).to_csv("x_AP.csv", index=False)
    _, out, _ = run("inspect", "x_AP.csv")
    assert "pairs of runs with the same mean, of 3: AP 1" in out
    assert "the same scores on every topic: a = b" in out
    assert "is the ranking the same on other topics?: needs at least 4 topics" in out
    pd.DataFrame({"topic": ["x", "y"], "a": [1, 1], "b": [1, 1]}).to_csv("x_AP.csv", index=False)
    assert "the same for all runs and topics: AP" in run("inspect", "x_AP.csv")[1]


@pytest.mark.parametrize("content", ["", "hello world\n", "a,b\nc,d\n", "run,AP\na,0.5\nb,0.25\n", "\x00\x01"])
def test_what_cannot_be_read_is_told_without_a_traceback(content, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(content)
    status, out, _ = run("inspect", "x.csv")
    assert status == 0
    assert "It cannot be read as it is:" in out


def test_refusals_of_other_commands_point_to_it(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my scores.csv").write_text("run,AP\na,0.5\nb,0.25\n")
    _, _, err = run("power", "my scores.csv")
    assert "; metaeval inspect 'my scores.csv' shows what is in it" in err
