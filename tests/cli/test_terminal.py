"""The command line at a terminal: tables and help that fit, examples that paste, names that a shell completes."""

import fcntl
import io
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import typer
from rich.cells import cell_len as count_columns

import metaeval as me
from metaeval import cli
from metaeval.cli import options
from metaeval.cli.output import Progress
from metaeval.data.policies import InvalidPolicy, MissingPolicy
from metaeval.measures.registry import is_shipped


def in_terminal(columns, *words, **variables):
    """Run the program with a terminal of that many columns as its standard output; return what it shows there."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    done = subprocess.Popen(
        [sys.executable, "-m", "metaeval", *map(str, words)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment | variables,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # what Linux says when the other end is closed
            break
        if not some:
            break
        shown += some
    os.close(ours)
    assert done.wait() == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def wide_file(tmp_path_factory):
    """Scores of that many measures that no terminal holds their matrix."""
    values = np.random.default_rng(2).random((6, 11, 24))
    scores = me.Scores(values, runs=list("abcdef"), topics=range(11), measures=[f"measure-{i}" for i in range(24)])
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    me.io.write_scores(scores, path)
    return path


@pytest.mark.parametrize("columns", [80, 120])
def test_a_table_fits_the_terminal_and_every_number_is_there(run, wide_file, columns):
    command = ["similarity", wide_file, "--bootstrap", "0", "--explain"]
    shown = in_terminal(columns, *command)
    assert max(map(count_columns, shown.splitlines())) <= columns
    _, piped, _ = run(*command)
    assert max(map(count_columns, piped.splitlines())) <= 80
    numbers = re.compile(r"(?<![\w.@-])-?\d\.\d{3}(?![\w.])")
    assert len(numbers.findall(shown)) == 24 * 23 // 2
    assert sorted(numbers.findall(shown)) == sorted(numbers.findall(piped))


def test_many_measures_are_one_row_each_unless_all_is_asked_for(run, wide_file):
    _, shown, _ = run("similarity", wide_file, "--bootstrap", "0")
    rows = [line for line in shown.splitlines() if line.startswith("measure-") and line.split()[1][0] in "-0"]
    assert len(rows) == 24
    assert max(map(count_columns, shown.splitlines())) <= 80


def test_two_notes_of_this_test_are_printed_and_the_others_are_explained(run, tmp_path):
    """One run varies four times as much, one is far behind, and two are the same: three notes of the Tukey HSD test."""
    rng = np.random.default_rng(11)
    values = (
        rng.normal(0, 0.05, (9, 60, 1)) + np.array([0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, -0.5])[:, None, None]
    )
    values[3], values[4] = values[1], 4 * (values[4] - values[4].mean()) + values[4].mean()
    scores = me.Scores(values, runs=list("abcdefghi"), topics=range(60), measures=["Accuracy"])
    me.io.write_scores(scores, tmp_path / "s.csv")

    def list_notes(*words):
        _, _, err = run(*words)
        return [line for line in err.splitlines() if "note:" in line], err

    few, err = list_notes("power", tmp_path / "s.csv", "-B", 50, "--bootstrap", 0)
    assert len(few) == 2
    assert max(map(len, few)) <= 120
    assert "1 more note with --explain" in err
    every, err = list_notes("power", tmp_path / "s.csv", "-B", 50, "--bootstrap", 0, "--explain")
    assert len(every) == 3
    assert "more note" not in err
    for words in (["robustness"], ["power", "--test", "bootstrap-t", "-B", 50, "--bootstrap", 0]):
        (only,), _ = list_notes(words[0], tmp_path / "s.csv", *words[1:])
        assert "2 of 9 runs have the same scores as another" in only


def all_commands(command=None, path=()):
    command = command or typer.main.get_command(cli.app)
    for name, inner in getattr(command, "commands", {}).items():
        yield from all_commands(inner, (*path, name))
    if path and not hasattr(command, "commands"):
        yield path, command


def helps():
    for path, command in all_commands():
        context = command.make_context(path[-1], [], resilient_parsing=True, max_content_width=80, terminal_width=80)
        yield path, context.get_help()


def examples():
    for path, text in helps():
        match = re.search(r"Examples:\n((?:    ?.*\n?)+)", text)
        assert match, f"{path}: a help has examples"
        yield from (line.strip() for line in match[1].splitlines() if line.strip())
    yield from cli.EXAMPLES


def words_of(example):
    """The words after the program's name of an example, which may read from a pipe or write to a file."""
    last = example.rpartition("| ")[2].partition(" > ")[0]
    words = shlex.split(last)
    assert words[0] == "metaeval", example
    return words[1:]


EXAMPLES = sorted(set(examples()))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_in_a_help_can_be_parsed(example):
    words, command = words_of(example), typer.main.get_command(cli.app)
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, list(words))


def test_help_fits_80_columns_but_for_examples_which_have_to_paste():
    for path, text in helps():
        pasted = {line.strip() for line in text.splitlines() if line.strip().startswith(("metaeval ", "zcat "))}
        assert all(len(line) <= 80 or line.strip() in pasted for line in text.splitlines()), path


CHEAP = re.compile(
    r"metaeval (power|similarity|consistency|ranks|overlap|contradictions|convert|measures|data list|data info)"
)


@pytest.mark.parametrize(
    "example", [example for example in EXAMPLES if CHEAP.match(example) and not re.search("trec-|stc3-.*stc3", example)]
)
def test_examples_that_need_no_download_run(run, tmp_path, monkeypatch, example):
    words = words_of(example)
    if "stc3-dq-a" in words and words[0] != "data" and not os.environ.get("METAEVAL_DATA"):
        pytest.skip("METAEVAL_DATA does not say where the real data are")
    values = np.random.default_rng(4).random((4, 24, 2))
    names = {"scores.csv": ["MQM", "AP"], "web2013_ndcg20.csv": ["nDCG@20"], "mt.csv": ["edits", "BLEU"]}
    for name, measures in names.items():
        scores = me.Scores(values[..., : len(measures)], runs=list("abcd"), topics=range(24), measures=measures)
        me.io.write_scores(scores, tmp_path / name)
    text = (tmp_path / "mt.csv").read_text().replace("run,topic,measure,score", "entry,line,measure,value", 1)
    lines = [f"{line},{'doc' if number == 0 else 'd1'}" for number, line in enumerate(text.splitlines())]
    (tmp_path / "mt.csv").write_text("\n".join(lines) + "\n")
    board = [(f"m{m}", task, f"q{q}", float(m + q), 10 * m + q) for m in range(3) for task in "xy" for q in range(4)]
    columns = ["model", "task", "question", "score", "tstamp"]
    pd.DataFrame([*board, (*board[0][:3], 9.0, 99)], columns=columns).to_parquet(tmp_path / "board.parquet")
    for name in ("one", "two"):
        answers = [json.dumps({"id": f"q{q}", "correct": int(q % (3 if name == "one" else 5) > 0)}) for q in range(40)]
        (tmp_path / f"{name}.json").write_text("\n".join(answers), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    status, _, err = run(*words)
    assert status == 0, err


def completions(shell, line):
    """What the program answers when a shell asks how a line goes on, as the script that it installs asks."""
    words = line.split(" ")
    asked = {"bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}, "zsh": {"_TYPER_COMPLETE_ARGS": line}}[
        shell
    ]
    code = "import sys; sys.argv = ['metaeval']; from metaeval.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | asked | {"_METAEVAL_COMPLETE": f"complete_{shell}"},
    )
    assert done.stderr == ""
    return done.stdout


OFFERED = {
    "metaeval po": "power",
    "metaeval data in": "info",
    "metaeval power --perm": "--permutations",
    "metaeval power trec-web-2013 --test boot": "bootstrap-t",
    "metaeval power stc3-dq": "stc3-dq-a",
    "metaeval power scores.csv -m RNO": "RNOD",
    "metaeval compare --measure NM": "NMD",
    "metaeval compare stc3": "stc3-dq-s",
    "metaeval data fetch llm": "llmjudge",
    "metaeval measures kap": "kappa",
    "metaeval agreement x.csv --topics s": "shared",
    "metaeval score stc3-dq-a --format l": "latex",
}


@pytest.mark.parametrize("line", OFFERED)
def test_a_shell_completes_commands_options_choices_and_names(line):
    shell = ("bash", "zsh")[sorted(OFFERED).index(line) % 2]
    assert OFFERED[line] in completions(shell, line)


def test_files_are_completed_where_scores_are_named(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").touch()
    (tmp_path / "more").mkdir()
    monkeypatch.chdir(tmp_path)
    assert completions("bash", "metaeval power m").split() == ["mine.csv", "more/"]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_for_a_shell_can_be_shown(run, monkeypatch, shell):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    code = "import sys; sys.argv = ['metaeval', '--show-completion', sys.argv[1]]; from metaeval.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, shell], capture_output=True, text=True)
    assert "_METAEVAL_COMPLETE" in done.stdout


SUGGESTED = {
    "properties QWK": "kappa(weights=quadratic)",
    "properties MAE": "MAE_mu",
    "properties F1": "F1_M",
    "properties nmd": "NMD",
    "measures kapa": "kappa",
    "measures EMD": "NMD",
    "power scores.csv -m nDCG": "nDCG@10",
    "power scores.csv -m ndgc@10": "nDCG@10",
    "power stc3-dqa": "stc3-dq-a",
    "pwer scores.csv": "power",
    "power scores.csv --permutation 5": "--permutations",
    "power scores.csv --test hsd": "tukey-hsd",
    "measures --kind rank": "classification",
}


@pytest.mark.parametrize("words", SUGGESTED)
def test_an_unknown_name_is_answered_with_the_nearest_one(run, score_file, monkeypatch, words):
    monkeypatch.chdir(score_file.parent)
    (score_file.parent / "scores.csv").write_bytes(score_file.read_bytes())
    status, _, err = run(*words.split())
    assert status == 2
    assert SUGGESTED[words] in err


def test_the_choices_of_an_option_are_those_of_the_function():
    assert (get_args(MissingPolicy), get_args(InvalidPolicy)) == (options.MISSING, options.INVALID)


def test_a_measure_is_explained_with_what_to_cite(run):
    status, out, err = run("measures", "kappa(weights=quadratic)", "NMD")
    assert status == 0, err
    for part in ("weights=quadratic, by default linear", "1 stands for it", "−1 to 1", "@article{cohen-1968", "Eq. 11"):
        assert part in out
    status, out, _ = run("measures", "RNOD", "--format", "json")
    assert {row["what"] for row in json.loads(out)["rows"]} >= {"formula", "range", "better", "0/0", "source", "BibTeX"}


def test_every_shipped_measure_has_a_formula_to_read():
    for measure in me.measures.measures():
        if is_shipped(measure):
            assert measure.written


def test_a_measure_of_ones_own_is_explained_by_its_docstring(run, tmp_path):
    (tmp_path / "own.py").write_text(
        "import metaeval\n@metaeval.register_measure(kind='quantification', higher_is_better=False, range=(0, 1))\n"
        'def largest_error(estimated, gold):\n    """Largest error."""\n    return abs(estimated - gold).max(axis=-1)\n'
    )
    status, out, err = run("measures", f"{tmp_path}/own.py:largest_error")
    assert status == 0, err
    assert "Largest error." in out
    assert "not declared" in out


@pytest.mark.parametrize(
    "command",
    [
        "ranks - -B 50",
        "agreement scores.csv --reference - -B 20 --bootstrap 0 --missing drop-topic",
        "agreement scores.csv --reference AP --run-scores - -B 20 --bootstrap 0",
        "convert - out.csv",
    ],
)
def test_a_dash_is_standard_input_wherever_scores_are_read(run, score_file, monkeypatch, command):
    monkeypatch.chdir(score_file.parent)
    scores = me.io.read_scores(score_file)
    me.io.write_scores(scores, "scores.csv")
    piped = scores.sel(measures=["AP"]) if "reference -" in command else scores
    if "run-scores" in command:
        piped = me.Scores(scores.values[:, :1, :1], runs=scores.runs, topics=["all"], measures=["nDCG@10"])
    me.io.write_scores(piped, "piped.csv")
    with open("piped.csv", "rb") as stream:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream, encoding="utf-8"))
        status, out, err = run(*command.split())
    assert status == 0, err
    assert out or "wrote" in err


def test_an_estimate_of_time_is_of_the_work_that_is_going_on(monkeypatch):
    clock = iter([0.0, 10.0, 20.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    progress = Progress()
    assert progress.describe() == ""
    progress.hear("permuting", 100, 400)
    progress.hear("permuting", 200, 400)
    assert progress.describe() == "permuting, 200 of 400, about 20 s left"
    progress.hear("resampling", 1, 9)
    assert progress.describe() == "resampling, 1 of 9"
