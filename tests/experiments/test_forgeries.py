"""Results that somebody edited by hand are caught without their data, or are named as what was not checked."""

import re
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments.__main__ import UNCHECKED, run
from experiments.check import write_page_and_pictures
from experiments.page import write_index
from experiments.paper import PAPERS

RESULTS = Path(__file__).parents[2] / "results"
APP = typer.Typer()
APP.command()(run)
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="the committed results are not here")

FORGERIES = {
    "alttest/README.md": ("Reproduced: all 56 rates", "Reproduced: all 96 rates"),
    "wmt2023/README.md": ("are compared with", "win significantly against"),
    "new_measure/README.md": (r"\*\*No: none", "**Yes: each"),
    "lq2021/README.md": ("of the 36 numbers", "of the 56 numbers"),
    "wmt2023/main.csv": (r"0\.\d\d", "0.99"),
    "alttest/judges.csv": (r"0\.\d\d", "0.99"),
    "wmt2023/average.svg": ('<path d="M ', '<path d="M 9'),
    "acl2021/figure1.svg": ("Matplotlib v", "Matplotlib v1."),
    # A table that is computed, with the page that it would have: only its digits tell.
    "cardoso2011/coefficients.csv": (r"0\.\d\d", "0.99"),
    "README.md": ("Reproduced", "Disproved"),
}
"""A pattern in a file of the results, and what a forger writes there."""

NAMES = sorted({name.partition("/")[0] for name in FORGERIES if "/" in name})


def forge(path, pattern, forged):
    text, times = re.subn(pattern, forged, path.read_text(encoding="utf-8"), count=1)
    assert times == 1, f"{path} has no {pattern}"
    path.write_text(text, encoding="utf-8")


def check(copy, *names):
    return CliRunner().invoke(APP, [*names, "--out", str(copy), "--check", "--n-jobs", "1"])


@pytest.fixture
def _curves_once(monkeypatch, curves):
    monkeypatch.setattr("experiments.cardoso2011.steps.compute_curves", lambda: curves)


@pytest.mark.usefixtures("_curves_once")
def test_what_was_forged_is_caught_without_data_and_a_stray_file_too(offline, tmp_path):
    """One check of all papers: each compares what it can, and a forgery of one hides none of another."""
    copy = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    for name in FORGERIES:
        if name == "README.md":  # the index that the forged pages would have, and a word of it exchanged
            write_page_and_pictures("cardoso2011", copy / "cardoso2011")
            (copy / name).write_text(write_index(copy), encoding="utf-8")
        forge(copy / name, *FORGERIES[name])
    (copy / "acl2021" / "stray.csv").write_text("a\n1\n")
    found = check(copy, *NAMES)
    assert found.exit_code == 1, found.output
    for name in FORGERIES:
        # A table shows in the page that it was not written from, in its own name, or as one that was not computed.
        places = (copy / name, (copy / name).parent / "README.md") if name.endswith(".csv") else (copy / name,)
        lines = [line for line in found.output.splitlines() if any(f"{place}: " in line for place in places)]
        assert any(line.startswith("differs: ") for line in lines), f"{name} was forged unseen"
    assert re.search(r"^differs: .*coefficients\.csv: row", found.output, re.MULTILINE)
    assert "README.md: is not what the pages say" in found.output
    assert "stray.csv: nothing makes this file" in found.output


def test_a_table_that_was_forged_with_its_page_is_named_unchecked_and_never_counted_as_held(offline, tmp_path):
    copy = Path(shutil.copytree(RESULTS, tmp_path / "results"))
    forge(copy / "wmt2023" / "main.csv", *FORGERIES["wmt2023/main.csv"])
    write_page_and_pictures("wmt2023", copy / "wmt2023")
    (copy / "README.md").write_text(write_index(copy), encoding="utf-8")
    found = check(copy, "wmt2023")
    assert found.exit_code == UNCHECKED, found.output
    assert re.search(r"^unchecked: .*main\.csv", found.output, re.MULTILINE)


@pytest.mark.parametrize("name", PAPERS)
def test_committed_pages_are_short_and_begin_with_whether_it_is_reproduced_and_results_are_small(name):
    page = RESULTS / name / "README.md"
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= 250
    assert lines[4].startswith("**")
    assert lines[4].endswith("**")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("http") or (page.parent / link).exists(), link
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 160
    assert sum(path.stat().st_size for path in files) < 2_000_000
    assert {path.suffix for path in files} == {".csv", ".json", ".md", ".svg"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sakai --out x", "there is no experiment 'sakai'"),
        ("alttest --only x --out x", "has no table 'x'"),
        ("acl2021 --matrices nowhere --out x", "has none of the folders sem16t4c"),
        ("acl2021 --matrices nowhere", "--out FOLDER"),
        ("wmt2023 --matrices nowhere --out x", "goes with acl2021 or lq2021"),
    ],
)
def test_what_cannot_be_done_is_refused(words, said, offline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(APP, words.split())
    assert found.exit_code == 2
    assert said in found.output


@pytest.mark.usefixtures("_curves_once")
def test_a_folder_without_the_committed_tables_gets_what_was_computed_and_no_page(offline, tmp_path):
    found = CliRunner().invoke(APP, ["calibration", "cardoso2011", "--out", str(tmp_path), "--n-jobs", "1"])
    assert found.exit_code == 0, found.output
    assert found.output.count("tables only, no page: counts was not computed") == 1
    assert [path.parent.name for path in sorted(tmp_path.glob("*/README.md"))] == ["cardoso2011"]
