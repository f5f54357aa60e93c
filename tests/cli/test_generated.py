"""A command comes from a function's signature and docstring, so that the two cannot differ."""

import inspect
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import metaeval as me
from metaeval.cli import generate
from metaeval.cli.analyses import ANALYSES
from metaeval.cli.generate import IN_PYTHON, find_question, parse_docstring
from metaeval.cli.options import OPENING, spell
from tests.analyses.made import relabel


@pytest.mark.parametrize("name", ANALYSES)
def test_every_keyword_is_an_option_with_its_default_and_a_help(name):
    function = getattr(me, ANALYSES[name].function.partition(":")[2])
    question = find_question(ANALYSES[name].function)
    assert question == parse_docstring(function)[0]
    assert question.endswith("?")
    command = generate.generate_command(name, ANALYSES[name])
    options = {parameter.name: parameter for parameter in command.params if parameter.param_type_name == "option"}
    parameters = inspect.signature(function).parameters
    takes_scores = "Scores" in next(iter(parameters.values())).annotation
    assert {"style", "out", *([*OPENING, "measure"] if takes_scores else [])} <= {*options}
    for parameter in parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.name not in IN_PYTHON:
            option = options[parameter.name]
            assert option.help
            assert tuple(option.opts) == spell(parameter.name)
            assert option.required == (parameter.default is parameter.empty)
            assert option.required or option.default == parameter.default


@pytest.mark.parametrize(
    ("words", "allowed"), [(["--help"], set()), (["power", "--help"], {"numpy", "pandas.core", "pyarrow"})]
)
def test_help_imports_nothing_heavy_and_a_commands_help_only_its_own_analysis(words, allowed):
    heavy = {"numpy", "pandas.core", "scipy.stats", "matplotlib", "numba", "pyarrow", "rich"} - allowed
    code = (
        f"import sys\nfrom metaeval import cli\nsys.argv = ['metaeval', *{words}]\n"
        f"try:\n    cli.main()\nfinally:\n    print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "How many significant differences between runs does a measure find?" in " ".join(done.stdout.split())


def test_results_of_two_collections_are_pooled_and_each_is_written(ok, score_file):
    scores = me.io.read_scores(score_file)
    me.io.write_scores(relabel(scores, scores.values**2, collection="other"), "other.csv")
    out, err = ok("power tiny.csv other.csv -B 50 --bootstrap 11 --out out")
    assert "pooled over tiny, other." in " ".join(out.split())
    assert "no interval for other collections" not in err.lower()  # there is none over topics
    assert "note: no interval: it needs 10 runs" in err
    assert out.startswith("nDCG@10 finds most differences (10 of 20 pairs of runs)"), "the pooled answer comes first"
    endings = [*(f".{suffix}" for suffix in ("csv", "tex", "json", "png", "svg", "pdf")), "-differences.csv"]
    names = {stem + ending for stem in ("power-tiny", "power-other", "pooled-power") for ending in endings}
    assert {path.name for path in Path("out").iterdir()} == {*names, "pooled-power-by-collection.csv"}
    assert list(pd.read_csv("out/power-tiny.csv")["pairs"]) == [10, 10]


def test_contradictions_are_followed_by_the_run_pairs(ok, here):
    rows = [f"r{r},t{t},{r + t / 100},{t / 100 - r}" for r in range(3) for t in range(9)]
    (here / "s.csv").write_text("\n".join(["run,topic,A,B", *rows]))
    for style in ("text", "md", "latex", "csv"):
        out, _ = ok(f"contradictions s.csv -B 200 -f {style} --all-higher-is-better")
        assert ("measure 2 finds run 2 better" in out.replace("\n", " ")) == (style != "csv")
