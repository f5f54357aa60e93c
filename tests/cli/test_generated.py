"""A command comes from a function's signature and docstring, so that the two cannot differ."""

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import metaeval as me
from metaeval.cli import generate
from metaeval.cli.analyses import ANALYSES, Analysis
from metaeval.cli.gone import GONE
from metaeval.cli.options import OPENING, PHRASES, spell
from metaeval.cli.signatures import IN_PYTHON, find_question, parse_docstring

GONE_FROM = [
    *(("properties", option) for option in GONE if " " not in option),
    *(tuple(option.split()) for option in GONE if " " in option),
    *(("coverage", "--sweep"), ("power", "--p-add-one"), ("overlap", "--variance-offset"), ("correct", "--plan")),
    *(("correct", "--pair"), ("correct", "--method"), ("qrels", "--groups"), ("qrels", "--pool-depth")),
]
FUNCTIONS = {name: getattr(me, analysis.function.partition(":")[2]) for name, analysis in ANALYSES.items()}


def options_of(name):
    command = generate.generate_command(name, ANALYSES[name])
    return {parameter.name: parameter for parameter in command.params if parameter.param_type_name == "option"}


@pytest.mark.parametrize("name", ANALYSES)
def test_every_keyword_is_an_option_with_its_default_and_a_help(name):
    question = find_question(ANALYSES[name].function)
    assert question == parse_docstring(FUNCTIONS[name]).question
    assert question.endswith("?")
    options = options_of(name)
    assert {"style", "out", *({*OPENING, "measure"} if ANALYSES[name].takes in ("scores", "several") else ())} <= {
        *options
    }
    for parameter in inspect.signature(FUNCTIONS[name]).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in IN_PYTHON:
            option = options[parameter.name]
            assert option.help
            assert tuple(option.opts) == spell(parameter.name)
            assert option.required == (parameter.default is parameter.empty)
            assert option.required or option.default == parameter.default


@pytest.mark.parametrize("name", ANALYSES)
def test_a_command_takes_what_its_function_does(name):
    """By the first parameter's annotation, which the table of commands repeats in a word."""
    kinds = {"Scores": "scores", "Ratings": "ratings", "Annotations": "labels", "JudgedRuns": "runs"}
    first = next(iter(inspect.signature(FUNCTIONS[name]).parameters.values())).annotation
    named = [kinds[word] for word in re.findall(r"\w+", first) if word in kinds]
    takes = "several" if "Sequence" in first else named[0] if named else "measures"
    assert ANALYSES[name].takes == ("several" if ANALYSES[name].board else takes)


def test_choices_are_shown_in_the_help():
    options = options_of("power")
    assert options["correction"].metavar == "[auto|none|holm|bonferroni|benjamini-hochberg]"
    assert options["missing"].metavar == "[raise|drop-topic|drop-run|worst|keep]"
    for test in ("randomised-tukey-hsd", "tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap"):
        assert test in options["test"].help


NEW = """
from metaeval import Scores, ranking_similarity

def spread(scores: Scores, *, n_bootstrap: int = 7):
    \"\"\"How far apart are scores?\"\"\"
    return ranking_similarity(scores, n_bootstrap=n_bootstrap)
"""


def test_a_new_analysis_needs_one_line(tmp_path, score_file, monkeypatch, capsys):
    (tmp_path / "spread_of_scores.py").write_text(NEW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("metaeval.cli.generate.import_module", lambda _: import_module("spread_of_scores"))
    command = generate.generate_command("spread", Analysis("spread_of_scores:spread", ("spread scores.csv",)))
    command(["--bootstrap", "3", str(score_file)], standalone_mode=False)
    assert "bootstrap 3" in capsys.readouterr().out


def test_help_imports_nothing_heavy_and_a_commands_help_only_its_own_analysis():
    for words, allowed in (["--help"], set()), (["power", "--help"], {"numpy", "pandas.core", "pyarrow"}):
        heavy = {"numpy", "pandas.core", "scipy.stats", "matplotlib", "numba", "pyarrow", "rich"} - allowed
        code = (
            f"import sys\nfrom metaeval import cli\nsys.argv = ['metaeval', *{words}]\n"
            f"try:\n    cli.main()\nfinally:\n    print(sorted({heavy} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
        assert "How many significant differences between runs does a measure find?" in " ".join(done.stdout.split())


def test_options_of_the_pooled_result_are_options_of_power(run, score_file, other_file, tmp_path):
    status, out, err = run("power", score_file, other_file, "-B", 50, "--bootstrap", 11, "--out", tmp_path / "out")
    assert status == 0, err
    assert "pooled over 2 collections (tiny, other)" in out
    assert "no interval for other collections" not in err.lower()  # there is none over topics
    assert "note: no interval: it needs 10 runs" in err
    assert out.startswith("nDCG@10 finds most differences (10 of 20 pairs of runs)"), "the pooled answer comes first"
    written = {path.stem for path in (tmp_path / "out").glob("*.json")}
    assert written == {"power-tiny", "power-other", "pooled-power"}


def test_contradictions_are_followed_by_the_run_pairs(run, tmp_path):
    rows = [
        f"r{r},t{t},{name},{sign * r + 0.01 * t}"
        for r in range(3)
        for t in range(9)
        for name, sign in (("A", 1), ("B", -1))
    ]
    (tmp_path / "s.csv").write_text("\n".join(["run,topic,measure,score", *rows]))
    directions = ("--higher-is-better", "A", "--higher-is-better", "B")
    for style in ("text", "md", "latex"):
        status, out, err = run("contradictions", tmp_path / "s.csv", "-B", 200, "-f", style, *directions)
        assert status == 0, err
        assert "measure 2 finds run 2 better" in out.replace("\n", " ")
    assert "measure 2 finds" not in run("contradictions", tmp_path / "s.csv", "-B", 200, "-f", "csv", *directions)[1]


def test_phrases_that_the_command_line_words_otherwise_are_in_use():
    house = re.sub(r"\s+", " ", "".join(path.read_text("utf-8") for path in sources()))
    for phrase in PHRASES:
        assert f"format_option('{phrase}'" in house or f'format_option("{phrase}"' in house, phrase


def sources():
    folder = Path(me.__file__).parent
    return [path for path in folder.rglob("*.py") if "cli" not in path.relative_to(folder).parts]


def test_a_reference_of_its_own_is_opened_and_its_direction_stated(run, tmp_path):
    rows = [(f"run{r}", t, r * t) for r in range(3) for t in (1, 2, 3)]
    for name, sign in (("M", 1), ("E", -1)):
        lines = ["run,topic,measure,score", *(f"{r},{t},{name},{sign * value}" for r, t, value in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines[: len(lines) - (name == "E")]))
    words = ["agreement", tmp_path / "M.csv", "--reference", tmp_path / "E.csv", "-B", "20", "--bootstrap", "0"]
    words += ["--statistic", "tau_a", "--format", "json", "--higher-is-better", "M"]
    status, _, err = run(*words, "--lower-is-better", "E")
    assert status == 2
    assert "run2, topic 3, measure E: there is no score" in err
    for option, tau in (("--lower-is-better", 1.0), ("--higher-is-better", -1.0)):
        _, out, err = run(*words, option, "E", "--missing", "drop-topic")
        assert "left out 1 of 3 topics of M, which not all scores have: 3" in err
        assert json.loads(out)["rows"][0]["value"] == tau


@pytest.mark.parametrize(("command", "option"), GONE_FROM)
def test_an_option_that_is_gone_is_refused_with_what_to_do_instead(run, score_file, command, option):
    instead = GONE.get(f"{command} {option}") or GONE[option]
    status, out, err = run(command, score_file, option, "1")
    assert (status, out, err) == (2, "", f"metaeval: {option} is gone: {instead}\n")


def test_bullets_of_a_docstring_stand_below_each_other(run):
    help_text = run("properties", "--help")[1]
    starts = [line.strip().partition(":")[0] for line in help_text.splitlines() if line.startswith("  - ")]
    assert starts == ["- Ordinal invariance", "- Ordinal monotonicity", "- Imbalance"]
