"""Results that somebody edited by hand are caught without their data, or are named as what was not checked."""

import re
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("experiments.old.papers", reason="the experiments are not part of an installed copy")

from experiments.old.__main__ import UNCHECKED, run as run_experiments
from experiments.old.digests import record_files
from experiments.old.papers import write_results_index

RESULTS = Path(__file__).parents[2] / "results"
APP = typer.Typer()
APP.command()(run_experiments)
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="the committed results are not here")

FORGERIES = {
    "alttest/README.md": ("Reproduced: all 56 rates", "Reproduced: all 96 rates"),
    "wmt2023/README.md": ("are compared with", "win significantly against"),
    "trec/README.md": ("AP finds most", "RR finds most"),
    "worked_examples/README.md": ("14 of the 14", "15 of the 15"),
    "wmt2023/main.csv": (r"0\.\d\d", "0.99"),
    "alttest/scores.csv": (r"0\.\d\d", "0.99"),
    "trec/power.csv": (r",\d", ",9"),
    "wmt2023/average.svg": ('<path d="M ', '<path d="M 9'),
    "trec/pooled_web.svg": ("Matplotlib v", "Matplotlib v1."),
}
"""A pattern in a file of the results, and what a forger writes there."""

PAPERS = sorted({name.partition("/")[0] for name in FORGERIES})


@pytest.fixture
def copy(tmp_path):
    """A copy of the results of these papers, with an index that was made from it."""
    for name in PAPERS:
        shutil.copytree(RESULTS / name, tmp_path / "results" / name)
    shutil.copytree(RESULTS / "digests", tmp_path / "results" / "digests")
    return tmp_path / "results"


def forge(path: Path, pattern: str, forged: str) -> None:
    text, times = re.subn(pattern, forged, path.read_text(encoding="utf-8"), count=1)
    assert times == 1, f"{path} has no {pattern}"
    path.write_text(text, encoding="utf-8")


def check(copy: Path, *names: str):
    return CliRunner().invoke(APP, [*names, "--out", str(copy), "--check", "--n-jobs", "1"])


def test_ten_forgeries_are_each_caught_without_data(offline, copy):
    for name, (pattern, forged) in FORGERIES.items():
        forge(copy / name, pattern, forged)
    found = check(copy, *PAPERS)
    assert found.exit_code == 1
    differing = [line for line in found.output.splitlines() if line.startswith("differs: ")]
    for name in FORGERIES:
        assert any(f"{copy / name}: " in line for line in differing), f"{name} was forged unseen"


def test_the_terminal_says_what_the_tables_say_whatever_the_page_and_its_digest_do(offline, copy):
    forge(copy / "alttest" / "README.md", r"\| \*\*all\*\* \| 56 \| 56 ", "| **all** | 96 | 96 ")
    record_files([copy / "alttest" / "README.md"], "alttest", copy)
    found = check(copy, "alttest")
    assert found.exit_code == 1
    assert "“| **all** | 56 | 56 | 0 |" in found.output
    assert re.search(r"^alttest +56 ", found.output, re.MULTILINE)


def test_a_table_that_was_forged_with_its_digest_is_named_unchecked_and_never_counted_as_held(offline, copy):
    path = copy / "trec" / "power.csv"
    forge(path, *FORGERIES["trec/power.csv"])
    record_files([path, copy / "trec" / "README.md", *path.parent.glob("*.svg")], "trec", copy)
    (copy / "README.md").write_text(write_results_index(copy), encoding="utf-8")
    found = check(copy, "trec")
    assert found.exit_code == UNCHECKED, found.output
    assert re.search(r"^unchecked: .*power\.csv", found.output, re.MULTILINE)
    n = sum(one.is_file() for one in path.parent.iterdir())
    assert f"of {n} files 0 were computed anew, {n} are unchecked" in found.output
