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
    "cardoso2011/README.md": ("90 are exact", "96 are exact"),
    "new_measure/README.md": (r"\*\*No: none", "**Yes: each"),
    "lq2021/README.md": ("of the 36 numbers", "of the 56 numbers"),
    "wmt2023/main.csv": (r"0\.\d\d", "0.99"),
    "alttest/judges.csv": (r"0\.\d\d", "0.99"),
    "cardoso2011/coefficients.csv": (r"0\.\d\d", "0.99"),
    "wmt2023/average.svg": ('<path d="M ', '<path d="M 9'),
    "acl2021/figure1.svg": ("Matplotlib v", "Matplotlib v1."),
}
"""A pattern in a file of the results, and what a forger writes there."""

NAMES = sorted({name.partition("/")[0] for name in FORGERIES})


@pytest.fixture
def copy(tmp_path):
    """A copy of all results."""
    return Path(shutil.copytree(RESULTS, tmp_path / "results"))


def forge(path, pattern, forged):
    text, times = re.subn(pattern, forged, path.read_text(encoding="utf-8"), count=1)
    assert times == 1, f"{path} has no {pattern}"
    path.write_text(text, encoding="utf-8")


def check(copy, *names):
    return CliRunner().invoke(APP, [*names, "--out", str(copy), "--check", "--n-jobs", "1"])


@pytest.mark.parametrize(
    "paper",
    [pytest.param(name, marks=() if name in ("alttest", "wmt2023") else pytest.mark.nightly) for name in NAMES],
)
def test_pages_and_pictures_that_were_forged_are_caught_without_data(offline, copy, paper):
    names = [name for name in FORGERIES if name.startswith(f"{paper}/")]
    for name in names:
        forge(copy / name, *FORGERIES[name])
    found = check(copy, paper)
    assert found.exit_code == 1, found.output
    for name in names:
        # A table shows in the page that it was not written from, in its own name, or as one that was not computed.
        places = (copy / name, (copy / name).parent / "README.md") if name.endswith(".csv") else (copy / name,)
        lines = [line for line in found.output.splitlines() if any(f"{place}: " in line for place in places)]
        assert any(line.startswith("differs: ") for line in lines), f"{name} was forged unseen"


def test_a_table_that_was_forged_with_its_page_is_named_unchecked_and_never_counted_as_held(offline, copy):
    forge(copy / "wmt2023" / "main.csv", *FORGERIES["wmt2023/main.csv"])
    write_page_and_pictures("wmt2023", copy / "wmt2023")
    (copy / "README.md").write_text(write_index(copy), encoding="utf-8")
    found = check(copy, "wmt2023")
    assert found.exit_code == UNCHECKED, found.output
    assert re.search(r"^unchecked: .*main\.csv", found.output, re.MULTILINE)


def test_a_table_that_is_computed_is_compared_digit_by_digit(offline, copy):
    forge(copy / "cardoso2011" / "coefficients.csv", r"0\.\d\d", "0.99")
    write_page_and_pictures("cardoso2011", copy / "cardoso2011")
    found = check(copy, "cardoso2011")
    assert found.exit_code == 1
    assert re.search(r"^differs: .*coefficients\.csv: row", found.output, re.MULTILINE)


def test_a_changed_index_and_a_file_of_no_paper_are_found(offline, copy):
    forge(copy / "README.md", "Reproduced", "Disproved")
    (copy / "acl2021" / "stray.csv").write_text("a\n1\n")
    found = check(copy, "acl2021")
    assert found.exit_code == 1
    assert "README.md: is not what the pages say" in found.output
    assert "stray.csv: nothing makes this file" in found.output


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_short_begins_with_whether_it_is_reproduced_and_has_no_dead_link(name):
    page = RESULTS / name / "README.md"
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= 250
    assert lines[4].startswith("**")
    assert lines[4].endswith("**")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_committed_results_are_small_and_of_four_kinds():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 160
    assert sum(path.stat().st_size for path in files) < 2_000_000
    assert {path.suffix for path in files} == {".csv", ".json", ".md", ".svg"}


@pytest.mark.parametrize(
    ("words", "said"), [(["sakai"], "there is no experiment 'sakai'"), (["alttest", "--only", "x"], "has no table 'x'")]
)
def test_what_cannot_be_done_is_refused(words, said, offline, tmp_path):
    found = CliRunner().invoke(APP, [*words, "--out", str(tmp_path)])
    assert found.exit_code == 2
    assert said in found.output
