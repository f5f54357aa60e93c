"""Results are checked digit by digit; pages, pictures and the index say what tables hold; what is edited by hand is caught."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from experiments.__main__ import UNCHECKED
from experiments.check import check_results, compare_table, write_page_and_pictures, write_tables
from experiments.claims import Answer, every, is_above, is_at_most
from experiments.page import write_index, write_page
from experiments.paper import PAPERS, Output, Results, cell, read_study

RESULTS = Path(__file__).parents[2] / "results"
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


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(RESULTS, tmp_path / "results"))


@pytest.fixture
def _curves_once(monkeypatch, curves):
    monkeypatch.setattr("experiments.cardoso2011.steps.compute_curves", lambda: curves)


@pytest.mark.usefixtures("_curves_once", "offline")
def test_what_was_forged_is_caught_without_data_and_a_stray_file_too(copy, call):
    """One check of all papers: each compares what it can, and a forgery of one hides none of another."""
    for name in FORGERIES:
        if name == "README.md":  # the index that the forged pages would have, and a word of it exchanged
            write_page_and_pictures("cardoso2011", copy / "cardoso2011")
            (copy / name).write_text(write_index(copy), encoding="utf-8")
        forge(copy / name, *FORGERIES[name])
    (copy / "acl2021" / "stray.csv").write_text("a\n1\n")
    found = call(*NAMES, "--out", copy, "--check")
    assert found.exit_code == 1, found.output
    for name in FORGERIES:
        # A table shows in the page that it was not written from, in its own name, or as one that was not computed.
        places = (copy / name, (copy / name).parent / "README.md") if name.endswith(".csv") else (copy / name,)
        lines = [line for line in found.output.splitlines() if any(f"{place}: " in line for place in places)]
        assert any(line.startswith("differs: ") for line in lines), f"{name} was forged unseen"
    assert re.search(r"^differs: .*coefficients\.csv: row", found.output, re.MULTILINE)
    assert "README.md: is not what the pages say" in found.output
    assert "stray.csv: nothing makes this file" in found.output


@pytest.mark.usefixtures("offline")
def test_a_table_that_was_forged_with_its_page_is_named_unchecked_and_never_counted_as_held(copy, call):
    forge(copy / "wmt2023" / "main.csv", *FORGERIES["wmt2023/main.csv"])
    write_page_and_pictures("wmt2023", copy / "wmt2023")
    (copy / "README.md").write_text(write_index(copy), encoding="utf-8")
    found = call("wmt2023", "--out", copy, "--check")
    assert found.exit_code == UNCHECKED, found.output
    assert re.search(r"^unchecked: .*main\.csv", found.output, re.MULTILINE)


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_what_its_tables_say_begins_with_the_answer_and_names_the_reason_of_each_assumption(name):
    text = (RESULTS / name / "README.md").read_text("utf-8")
    assert write_page(name, RESULTS / name) == text
    assert len(text.splitlines()) <= 250
    assert re.fullmatch(r"\*\*.*\*\*", text.splitlines()[4])
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert link.startswith("http") or (RESULTS / name / link).exists(), link
    study = read_study(name)
    for one in study.get("assumed", ()):
        assert set(one) - {"public"} == {"what", "value", "kind", "why"}
        assert one["kind"] in ("derived", "assumed")
    assert all(set(one) == {"where", "printed", "why"} for one in study.get("slips", ()))


def test_the_committed_results_are_small():
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
@pytest.mark.usefixtures("offline")
def test_what_cannot_be_done_is_refused(words, said, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    found = call(*words.split())
    assert found.exit_code == 2
    assert said in found.output


@pytest.mark.usefixtures("_curves_once", "offline")
def test_a_folder_without_the_committed_tables_gets_what_was_computed_and_no_page(tmp_path, call):
    found = call("calibration", "cardoso2011", "--out", tmp_path)
    assert found.exit_code == 0, found.output
    assert found.output.count("tables only, no page: counts was not computed") == 1
    assert [path.parent.name for path in sorted(tmp_path.glob("*/README.md"))] == ["cardoso2011"]


FRAME = pd.DataFrame({"run": ["a", "b"], "tau": [0.1234567890123, 0.5], "n": [17, 18], "verdict": ["exact", "differs"]})


@pytest.mark.parametrize(
    ("printed", "ours", "options", "verdict"),
    [
        ("0.77", 10 / 13, {}, "exact"), ("0.77", 0.7751, {}, "differs"), ("175", 175, {}, "exact"), ("175", 176, {}, "differs"),
        ("0.49", 0.478, {"monte_carlo": 0.01}, "matches"), ("0.49", 0.4749, {"monte_carlo": 0.01}, "differs"),
        ("0.49", 0.49, {"monte_carlo": 0.0}, "matches"), ("0.49", 0.49, {"part": True}, "part"),
        ("0.49", None, {}, "not computed"),
    ],
)  # fmt: skip
def test_a_number_gets_the_verdict_that_its_digits_and_error_allow(printed, ours, options, verdict):
    assert cell("T", "r", "c", printed, ours, data="d", **options)["verdict"] == verdict


@pytest.mark.parametrize(("change", "tolerance", "found"), [
    (("0.1234567890123", "0.1234567990123"), 1e-9, 1), (("0.1234567890123", "0.1234567890124"), 1e-9, 0),
    (("0.5,", "0.51,"), 0.02, 0), (("17,", "18,"), 0.02, 1), (("a,", "c,"), 0.02, 1), (("exact", "differs"), 0.02, 0),
    (("exact", "differs"), 1e-9, 1), (("b,0.5,18,differs\n", ""), 1e-9, 1), (("tau", "rho"), 1e-9, 1),
])  # fmt: skip
def test_a_changed_file_is_found_beyond_its_tolerance(tmp_path, change, tolerance, found):
    path = tmp_path / "t.csv"
    path.write_text(FRAME.to_csv(index=False, lineterminator="\n").replace(*change))
    assert len(compare_table(Output(FRAME, "c", "s", tolerance), path)) == found


@pytest.mark.parametrize("table", ["cardoso2011/figure5", "acl2021/curves"])  # which figure1 and figure2 are drawn from
def test_a_picture_of_another_table_is_found_though_nothing_is_computed(table, copy):
    path = copy / f"{table}.csv"
    nothing = Results(path.parent.name)
    assert check_results(nothing, path.parent).differences == []
    text = path.read_text("utf-8")
    path.write_text(text + text.splitlines(keepends=True)[-1], "utf-8")
    assert any("was not drawn from these tables" in line for line in check_results(nothing, path.parent).differences)


def test_numbers_within_the_tolerance_leave_committed_files_as_they_are(copy):
    folder = copy / "cardoso2011"
    before = {path: path.read_bytes() for path in folder.iterdir()}
    about = json.loads((folder / "tables.json").read_text("utf-8"))["differences"]
    frame = pd.read_csv(folder / "differences.csv", dtype={"β": str})
    moved = frame.assign(difference=frame["difference"] + 0.001)
    output = Output(moved, about["caption"], about["signature"], tolerance=0.02)
    write_tables(Results("cardoso2011", {"differences": output}), folder)
    write_page_and_pictures("cardoso2011", folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_answers_join_as_truth_and_ignorance_do_and_a_number_is_told_from_a_bound_by_its_interval():
    words = {(True, True): "holds", (True, None): "cannot tell", (None, False): "does not hold", (): "holds"}
    assert {answers: every(map(Answer, answers)).word for answers in words} == words
    known = {(1,): (True, False), (0,): (False, True), (2, 1, 3): (True, False), (1, -1, 3): (None, None)}
    for (value, *ends), answers in known.items():
        assert (is_above("x", value, 0, *ends).holds, is_at_most("x", value, 0, *ends).holds) == answers
    with pytest.raises(TypeError, match="cannot tell"):
        bool(Answer(None))
