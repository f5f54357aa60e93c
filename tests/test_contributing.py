"""CONTRIBUTING.md is right: an analysis added as it says has a table, a figure and a command."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from scipy.stats import binom

ROOT = Path(__file__).parent.parent
if not (ROOT / "CONTRIBUTING.md").exists() or not (ROOT / "metaeval").exists():  # beside an installed copy
    pytest.skip("the source tree is not here", allow_module_level=True)

# b is .5 ahead of a on one of four topics, a is .2 ahead on the others; by RR nothing is in doubt.
SCORES = "run,topic,measure,score\n" + "".join(
    f"{run},t{topic},{measure},{value}\n"
    for topic in range(4)
    for measure in ("AP", "RR")
    for run, value in (("a", 0.7), ("b", 1.2 if (measure, topic) == ("AP", 3) else 0.5), ("c", 0.4))
)


def blocks_of(section):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text[text.index(f"## {section}") :]
    part = part[: part.index("\n## ", 3)]
    return [textwrap.dedent(block) for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the package, to which the recipe was applied."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(ROOT / "metaeval", folder / "metaeval", ignore=shutil.ignore_patterns("__pycache__"))
    analysis, public, command = blocks_of("Add an analysis")
    file = re.match(r"# (metaeval/\S+\.py)\n", analysis)
    (folder / file.group(1)).write_text(analysis, encoding="utf-8")
    with (folder / "metaeval/__init__.pyi").open("a", encoding="utf-8") as stub:
        stub.write(public)
    table = folder / "metaeval/cli/analyses.py"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("\nANALYSES = {\n", f"\nANALYSES = {{\n{command}"), encoding="utf-8")
    (folder / "scores.csv").write_text(SCORES, encoding="utf-8")
    return folder


def run(house, *words):
    environment = {**os.environ, "PYTHONPATH": str(house), "COLUMNS": "100"}
    return subprocess.run([sys.executable, *words], cwd=house, env=environment, capture_output=True, text=True)


def test_the_recipe_touches_one_file_and_two_lines():
    _, public, command = blocks_of("Add an analysis")
    assert len(public.splitlines()) == len(command.splitlines()) == 1


def test_the_new_analysis_is_part_of_the_public_api_with_table_and_figure(house):
    code = (
        "import metaeval as me; result = me.winner(me.io.read_scores('scores.csv')); "
        "print(result.to_latex()); result.plot(); print(result.to_frame()['share'].tolist())"
    )
    done = run(house, "-c", code)
    assert done.returncode == 0, done.stderr
    assert "\\begin{table}" in done.stdout
    doubtful, certain = json.loads(done.stdout.splitlines()[-1])
    # a stays the best where the fourth topic is drawn at most once in four draws.
    assert abs(doubtful - binom.cdf(1, 4, 1 / 4)) < 0.05
    assert certain == 1


def test_the_new_analysis_is_a_command_with_its_options(house, tmp_path):
    assert "How often is the best run the best" in run(house, "-m", "metaeval", "--help").stdout
    assert "Sets of topics that are drawn" in run(house, "-m", "metaeval", "winner", "--help").stdout
    done = run(
        house, "-m", "metaeval", "winner", "scores.csv", "--bootstrap", "50", "--explain", "--out", str(tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert "bootstrap 50" in done.stdout
    assert {"winner.csv", "winner.tex", "winner.json", "winner.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_what_the_new_analysis_refuses_is_said_with_its_option(house):
    done = run(house, "-m", "metaeval", "winner", "scores.csv", "--bootstrap", "0")
    assert done.returncode == 2
    assert "--bootstrap is 0; it is a whole number of at least 1" in done.stderr
