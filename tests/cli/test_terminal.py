"""The command line at a terminal: tables and help that fit, examples that paste, names that a shell completes."""

import io
import json
import os
import re
import shlex
import sys
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import rich.progress
import typer
from rich.cells import cell_len as count_columns

import metaeval as me
from metaeval import cli
from metaeval.cli import options
from metaeval.cli.output import working
from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.stats.parallel import tell
from tests.analyses.made import label


def test_a_table_fits_the_terminal_and_every_number_is_there(ok, monkeypatch):
    """Scores of so many measures that no terminal holds their matrix."""
    values = np.random.default_rng(2).random((6, 11, 24))
    me.io.write_scores(label(values, [f"measure-{i}" for i in range(24)]), "wide.csv")
    command = "similarity wide.csv --bootstrap 0"
    brief, piped = (ok(line)[0] for line in (command, f"{command} --explain"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown, _ = ok(f"{command} --explain")
    numbers = re.compile(r"(?<![\w.@-])-?\d\.\d{3}(?![\w.])")
    for text, columns in ((shown, 120), (piped, 80)):
        assert max(map(count_columns, text.splitlines())) <= columns
        assert len(numbers.findall(text)) == 24 * 23 // 2
    assert sorted(numbers.findall(shown)) == sorted(numbers.findall(piped))
    rows = [line for line in brief.splitlines() if line.startswith("measure-") and line.split()[1][0] in "-0"]
    assert len(rows) == 24  # many measures are a row each, unless all is asked for
    assert max(map(count_columns, brief.splitlines())) <= 80


POWER = "power s.csv -B 50 --bootstrap 0"


def test_two_notes_of_this_test_are_printed_and_the_others_are_explained(ok):
    """One run varies four times as much, one is far behind, and two are the same: three notes of the Tukey HSD test."""
    means = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, -0.5]
    values = np.array(means)[:, None] + np.random.default_rng(11).normal(0, 0.05, (9, 60))
    values[3], values[4] = values[1], 4 * (values[4] - values[4].mean()) + values[4].mean()
    me.io.write_scores(label(values, ["Accuracy"]), "s.csv")
    for line, n_notes, more in ((POWER, 2, True), (f"{POWER} --explain", 3, False)):
        err = ok(line)[1]
        assert (err.count("note:"), "1 more note with --explain" in err) == (n_notes, more)
        assert more is False or max(map(len, err.splitlines())) <= 120
    for line in ("robustness s.csv", f"{POWER} --test bootstrap-t"):
        (only,) = [line for line in ok(line)[1].splitlines() if "note:" in line]
        assert "2 of 9 runs have the same scores as another" in only


HELP = {
    name: command.make_context(name, [], resilient_parsing=True, max_content_width=80, terminal_width=80).get_help()
    for name, command in typer.main.get_command(cli.app).commands.items()
}
WRITTEN = {name: re.search(r"Examples:\n((?:    ?.*\n?)+)", text)[1].split("\n") for name, text in HELP.items()}
EXAMPLES = sorted({line.strip() for lines in WRITTEN.values() for line in lines if line.strip()} | {*cli.EXAMPLES})


def words_of(example):
    """The words after the program's name of an example, which may read from a pipe or write to a file."""
    program, *words = shlex.split(example.rpartition("| ")[2].partition(" > ")[0])
    assert program == "metaeval", example
    return words


def test_every_command_has_examples_that_can_be_parsed_and_a_help_that_fits_80_columns():
    for example in EXAMPLES:
        name, *words = words_of(example)
        typer.main.get_command(cli.app).commands[name].make_context(name, words)
    for name, text in HELP.items():
        assert any(line.strip() for line in WRITTEN[name]), name
        pasted = {line.strip() for line in text.splitlines() if line.strip().startswith(("metaeval ", "zcat "))}
        assert all(len(line) <= 80 or line.strip() in pasted for line in text.splitlines()), name
    own = {name: text.count("\n  -") for name, text in HELP.items()}
    assert max(own.values()) <= 20, own
    assert sum(own.values()) <= 250


CHEAP = re.compile(
    r"metaeval (power|similarity|consistency|ranks|overlap|contradictions|convert|measures|data list|data info)"
)


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=pytest.mark.nightly if "--out" in example else ())  # figures take long
        for example in EXAMPLES
        if CHEAP.match(example) and not re.search("trec-|stc3-.*stc3", example)
    ],
)
def test_examples_that_need_no_download_run(ok, here, example):
    words = words_of(example)
    if "stc3-dq-a" in words and words[0] != "data" and not os.environ.get("METAEVAL_DATA"):
        pytest.skip("METAEVAL_DATA does not say where the real data are")
    values, runs = np.random.default_rng(4).random((4, 24, 2)), list("abcd")
    for name, measures in {"scores": ["MQM", "AP"], "web2013_ndcg20": ["nDCG@20"], "mt": ["edits", "BLEU"]}.items():
        me.io.write_scores(label(values[..., : len(measures)], measures, runs=runs), f"{name}.csv")
    names = {"run": "entry", "topic": "line", "score": "value"}
    pd.read_csv("mt.csv").rename(columns=names).assign(doc="d1").to_csv("mt.csv", index=False)
    board = [(f"m{m}", task, f"q{q}", float(m + q), 10 * m + q) for m in range(3) for task in "xy" for q in range(4)]
    columns = ["model", "task", "question", "score", "tstamp"]
    pd.DataFrame([*board, (*board[0][:3], 9.0, 99)], columns=columns).to_parquet("board.parquet")
    for name, period in (("one", 3), ("two", 5)):
        answers = [json.dumps({"id": f"q{q}", "correct": int(q % period > 0)}) for q in range(40)]
        (here / f"{name}.json").write_text("\n".join(answers))
    ok(*words)


OFFERED = {
    "metaeval po": "power",
    "metaeval power --perm": "--permutations",
    "metaeval power trec-web-2013 --test boot": "bootstrap-t",
    "metaeval compare --measure NM": "NMD",
    "metaeval score stc3-dq-a --format l": "latex",
}


def test_a_shell_completes_commands_options_choices_and_measures(run, monkeypatch):
    """By what the program answers when a shell asks how a line goes on, as the script that it installs asks."""
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)  # otherwise a program is called as it
    monkeypatch.setenv("_METAEVAL_COMPLETE", "complete_bash")
    assert (get_args(MissingPolicy), get_args(InvalidPolicy)) == (options.MISSING, options.INVALID)
    for line, offered in OFFERED.items():
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        _, out, err = run("")
        assert (offered in out, err) == (True, ""), line


@pytest.mark.parametrize(
    ("command", "measures"),
    [
        ("ranks - -B 50", ["nDCG@10", "AP"]),
        ("agreement tiny.csv --reference - -B 20 --bootstrap 0 --missing drop-topic", ["AP"]),
        ("agreement tiny.csv --reference AP --run-scores - -B 20 --bootstrap 0", []),
        ("convert - out.csv", ["nDCG@10", "AP"]),
    ],
)
def test_a_dash_is_standard_input_wherever_scores_are_read(ok, score_file, monkeypatch, command, measures):
    scores = me.io.read_scores(score_file)
    piped = scores.sel(measures=measures) if measures else scores.sel(measures="nDCG@10", topics=[scores.topics[0]])
    me.io.write_scores(piped, "piped.csv")
    with open("piped.csv", "rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream, encoding="utf-8"))
        out, err = ok(command)
    assert out or "wrote" in err


def test_an_estimate_of_time_is_of_the_work_that_is_going_on(monkeypatch):
    clock, shown = [0.0], []

    class Watched(rich.progress.Progress):
        def __init__(self, *columns, **options):
            super().__init__(*columns, **options, get_time=lambda: clock[0])
            shown.append(self)

    monkeypatch.setattr("rich.progress.Progress", Watched)
    with working("power"):
        for second, step, done, left in (
            (0, "permuting", 100, None), (10, "permuting", 200, None), (20, "permuting", 300, 10),
            (30, "resampling", 1, None), (31, "resampling", 2, None), (32, "resampling", 3, 397),
        ):  # fmt: skip
            clock[0] = second
            tell(step, done, 400)
            (task,) = shown[0].tasks
            assert (task.time_remaining, f"{step}, {done} of 400" in task.description) == (left, True)
