"""CONTRIBUTING.md is right: an analysis added as it says has a table, a figure and a command."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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
    assert len(public.splitlines()) == len(command.splitlines()) == 1
    file = re.match(r"# (metaeval/\S+\.py)\n", analysis)
    (folder / file.group(1)).write_text(analysis, encoding="utf-8")
    with (folder / "metaeval/__init__.pyi").open("a", encoding="utf-8") as stub:
        stub.write(public)
    table = folder / "metaeval/cli/analyses.py"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("\nANALYSES = {\n", f"\nANALYSES = {{\n{command}"), encoding="utf-8")
    (folder / "scores.csv").write_text(SCORES, encoding="utf-8")
    return folder


TRIED = """
import contextlib, io, sys
import metaeval as me
from metaeval import cli
from scipy.stats import binom

result = me.winner(me.io.read_scores("scores.csv"))
assert "begin{table}" in result.to_latex()
result.plot()
doubtful, certain = result.to_frame()["share"]
# a stays the best where the fourth topic is drawn at most once in four draws.
assert abs(doubtful - binom.cdf(1, 4, 1 / 4)) < 0.05 and certain == 1

def expect(said, *words, status=0):
    sys.argv, printed, stopped = ["metaeval", *words], io.StringIO(), None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            cli.main()
        except SystemExit as end:
            stopped = end
    assert stopped and stopped.code == status and said in printed.getvalue(), printed.getvalue()

expect("How often is the best run the best", "--help")
expect("Sets of topics that are drawn", "winner", "--help")
expect("bootstrap 50", "winner", "scores.csv", "--bootstrap", "50", "--explain", "--out", "out")
expect("--bootstrap is 0; it is a whole number of at least 1", "winner", "scores.csv", "--bootstrap", "0", status=2)
"""


def test_the_new_analysis_is_part_of_the_public_api_with_table_figure_and_command(house):
    environment = {**os.environ, "PYTHONPATH": str(house), "COLUMNS": "100"}
    command = [sys.executable, "-c", TRIED]
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"winner.csv", "winner.tex", "winner.json", "winner.svg"} <= {
        path.name for path in (house / "out").iterdir()
    }
