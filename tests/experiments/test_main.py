"""What the command prints, and what it does without data and without a network."""

from collections import Counter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("experiments.old.papers", reason="the experiments are not part of an installed copy")

from experiments import papers
from experiments.old.__main__ import UNCHECKED, format_reports, run as run_experiments
from experiments.old.papers import PAPERS, STUDIES, Report

RESULTS = Path(__file__).parents[2] / "results"
APP = typer.Typer()
APP.command()(run_experiments)


def call(*words):
    return CliRunner().invoke(APP, list(map(str, words)))


def test_the_table_has_one_line_a_paper_and_says_what_is_reduced():
    reports = [
        Report(
            "lq2021", Counter({"exact": 36, "in kind": 700}), 12.4, "results/lq2021/README.md", ["nothing of original"]
        ),
        Report("trec", Counter(), 3.0, "results/trec/README.md"),
    ]
    lines = format_reports(reports)
    assert lines[0].split() == [
        "paper",
        "exact",
        "matches",
        "differs",
        "subset",
        "in",
        "kind",
        "stand-in",
        "unavailable",
        "time",
        "page",
    ]
    assert lines[2].split() == ["lq2021", "36", "0", "0", "0", "700", "0", "0", "12", "s", "results/lq2021/README.md"]
    assert lines[3].split() == ["trec", "3", "s", "results/trec/README.md"]
    assert lines[-1] == "lq2021: nothing of original"


def test_worked_examples_are_a_progress_line_and_a_table(tmp_path):
    found = call("worked_examples", "--out", tmp_path)
    assert found.exit_code == 0
    assert len(found.output.splitlines()) == 4
    assert (tmp_path / "worked_examples" / "README.md").exists()
    assert "worked_examples" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "## " not in found.output
    assert "Examples that the papers work out" in call("worked_examples", "--out", tmp_path, "--verbose").output


def test_every_table_and_figure_is_rendered_in_all_formats_and_results_are_left_alone(tmp_path):
    found = call("worked_examples", "--out", tmp_path / "results", "--render", tmp_path / "rendered")
    assert found.exit_code == 0
    folder = tmp_path / "rendered" / "worked_examples" / "print"
    assert {path.suffix for path in folder.glob("examples.*")} == {".csv", ".md", ".tex"}
    assert not (tmp_path / "results").exists()


def test_figures_are_rendered_as_svg_and_pdf(tmp_path):
    from experiments.amigo2020.table2 import compute_table2
    from experiments.old.outcome import Settings

    outcome, _, _ = compute_table2(Settings(say=lambda _: None))
    outcome.render(tmp_path)
    folder = tmp_path / "amigo2020" / "properties"
    assert {path.suffix for path in folder.glob("table2.*")} == {".csv", ".md", ".tex", ".svg", ".pdf"}


def test_a_study_without_network_and_data_still_gives_what_needs_none(offline, tmp_path):
    found = call("lq2021", "--out", tmp_path / "out", "--n-jobs", 1)
    assert found.exit_code == 0, found.output
    assert len(found.output.splitlines()) < 15
    assert "nothing of original, stc3, llmjudge, semeval" in found.output
    assert (tmp_path / "out" / "lq2021" / "stand-in" / "comparison.csv").exists()
    assert "by print's own numbers" in (tmp_path / "out" / "lq2021" / "README.md").read_text(encoding="utf-8")


def test_a_paper_of_which_nothing_can_be_had_gets_no_page(offline, tmp_path):
    found = call("alttest", "--out", tmp_path / "out", "--n-jobs", 1)
    assert found.exit_code == 0, found.output
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["README.md"]


def test_amigo_after_ordinal_sets_from_an_empty_cache(offline, tmp_path):
    """The first study leaves a single ordinal set in the cache: questions about several have no answer there."""
    for name, option in (("ordinal_sets", "--quick"), ("amigo2020", "--verbose")):
        found = call(name, option, "--out", tmp_path / "out", "--n-jobs", 1)
        assert found.exit_code == 0, found.output
    assert "in_kind: 1 of " in found.output


def test_a_check_without_data_finds_no_difference_and_names_what_it_did_not_look_at(offline):
    if not (RESULTS / "lq2021").is_dir():
        pytest.skip("the committed results are not here")
    found = call("lq2021", "--out", RESULTS, "--check", "--n-jobs", 1)
    assert found.exit_code == UNCHECKED, found.output
    assert "check: 0 differences" in found.output
    for path in (RESULTS / "lq2021" / "stc3").glob("*.csv"):
        assert path.name in found.output
    assert "lq2021/README.md" in found.output


def test_a_changed_index_is_found(tmp_path):
    call("worked_examples", "--out", tmp_path)
    assert call("worked_examples", "--out", tmp_path, "--check").exit_code == 0
    index = tmp_path / "README.md"
    index.write_text(index.read_text(encoding="utf-8").replace(" 14 ", " 15 "), encoding="utf-8")
    found = call("worked_examples", "--out", tmp_path, "--check")
    assert found.exit_code == 1
    assert "1 differences" in found.output


def test_a_folder_of_no_paper_is_found_when_everything_is_checked(tmp_path, monkeypatch):
    monkeypatch.setattr("experiments.old.__main__.PAPERS", {"worked_examples": PAPERS["worked_examples"]})
    monkeypatch.setattr(papers, "PAPERS", {"worked_examples": PAPERS["worked_examples"]})
    call("--out", tmp_path)
    (tmp_path / "amigo1999").mkdir()
    (tmp_path / "amigo1999" / "table1.csv").write_text("a\n1\n")
    found = call("--out", tmp_path, "--check")
    assert found.exit_code == 1
    assert "amigo1999" in found.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sakai"], "there is no experiment 'sakai'"),
        (["trec", "--quick", "--full"], "exclude each other"),
        (["trec", "--check", "--render", "x"], "exclude each other"),
    ],
)
def test_what_cannot_be_done_is_refused(words, said):
    found = call(*words)
    assert found.exit_code == 2
    assert said in found.output


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_has_the_same_files(name):
    folder = Path(papers.__file__).parent / name
    files = ["study.toml", "steps.py", "README.md", "page.md.jinja"]
    if name in STUDIES:
        folder, files = Path(papers.__file__).parent / "studies", [f"{name}.toml", f"{name}.py", f"{name}.md.jinja"]
    if name == "calibration":
        folder, files = folder / name, ["study.toml", "steps.py", "page.md.jinja"]
    for file in files:
        assert (folder / file).exists(), f"{name} has no {file}"


def test_committed_results_are_small_and_of_three_kinds():
    if not RESULTS.is_dir():
        pytest.skip("the committed results are not here")
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    # One page a paper and one list of digests, a CSV a table that a page shows or links, a picture a figure that a page shows.
    assert len(files) == 206
    assert sum(path.stat().st_size for path in files) < 8_000_000
    assert {path.suffix for path in files} == {".csv", ".md", ".svg"}
    assert {path.name for path in files if path.suffix == ".md"} == {"README.md"}


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_short_and_begins_with_whether_it_is_reproduced(name):
    path = RESULTS / name / "README.md"
    if not path.exists():
        pytest.skip("the committed results are not here")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 300
    assert lines[4].startswith("**")
    assert lines[4].endswith("**")


@pytest.mark.parametrize("path", sorted(RESULTS.rglob("README.md")), ids=lambda path: path.parent.name)
def test_every_link_of_a_generated_page_leads_somewhere(path):
    import re

    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!-- generated by python -m experiments")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (path.parent / link).exists(), link
