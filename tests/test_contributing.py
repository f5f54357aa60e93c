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


@pytest.fixture
def house(tmp_path):
    """A copy of the package, to which the recipe was applied."""
    shutil.copytree(ROOT / "metaeval", tmp_path / "metaeval", ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition("\n## Add an analysis")[2].partition("\n## ")[0]
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```", section, re.DOTALL | re.MULTILINE)
    analysis, public, command = (textwrap.dedent(block) for _, block in blocks)
    assert len(public.splitlines()) == len(command.splitlines()) == 1
    (tmp_path / re.match(r"# (metaeval/\S+\.py)\n", analysis)[1]).write_text(analysis, "utf-8")
    with (tmp_path / "metaeval/__init__.pyi").open("a", encoding="utf-8") as stub:
        stub.write(public)
    table = tmp_path / "metaeval/cli/analyses.py"
    text = table.read_text("utf-8").replace("\nANALYSES = {\n", f"\nANALYSES = {{\n{command}")
    table.write_text(text, "utf-8")
    (tmp_path / "scores.csv").write_text(SCORES)
    return tmp_path


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
    done = subprocess.run([sys.executable, "-c", TRIED], cwd=house, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {f"winner.{end}" for end in ("csv", "tex", "json", "svg")} <= {path.name for path in house.glob("out/*")}
