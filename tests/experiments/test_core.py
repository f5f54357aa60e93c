"""Results are checked digit by digit, and pages, pictures and the index say nothing but what the committed tables hold."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from experiments.check import check_results, compare_table, write_page_and_pictures, write_tables
from experiments.claims import Answer, every, is_above, is_at_most
from experiments.page import write_page
from experiments.paper import PAPERS, Output, Results, cell, read_study

RESULTS = Path(__file__).parents[2] / "results"
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="the committed results are not here")
FRAME = pd.DataFrame({"run": ["a", "b"], "tau": [0.1234567890123, 0.5], "n": [17, 18], "verdict": ["exact", "differs"]})


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_is_what_its_tables_say(paper):
    assert write_page(paper, RESULTS / paper) == (RESULTS / paper / "README.md").read_text("utf-8")


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


CHANGES = [
    (("0.1234567890123", "0.1234567990123"), 1e-9, 1), (("0.1234567890123", "0.1234567890124"), 1e-9, 0),
    (("0.5,", "0.51,"), 0.02, 0), (("17,", "18,"), 0.02, 1), (("a,", "c,"), 0.02, 1), (("exact", "differs"), 0.02, 0),
    (("exact", "differs"), 1e-9, 1), (("b,0.5,18,differs\n", ""), 1e-9, 1), (("tau", "rho"), 1e-9, 1),
]  # fmt: skip


@pytest.mark.parametrize(("change", "tolerance", "found"), CHANGES)
def test_a_changed_file_is_found_beyond_its_tolerance(tmp_path, change, tolerance, found):
    path = tmp_path / "t.csv"
    path.write_text(FRAME.to_csv(index=False, lineterminator="\n").replace(*change))
    assert len(compare_table(Output(FRAME, "c", "s", tolerance), path)) == found


@pytest.mark.parametrize("table", ["cardoso2011/figure5", "acl2021/curves"])  # which figure1 and figure2 are drawn from
def test_a_picture_of_another_table_is_found_though_nothing_is_computed(table, tmp_path):
    paper, name = table.split("/")
    folder = Path(shutil.copytree(RESULTS / paper, tmp_path / paper))
    nothing = Results(paper)
    assert check_results(nothing, folder).differences == []
    path = folder / f"{name}.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[-1]]) + "\n", "utf-8")
    assert any("was not drawn from these tables" in line for line in check_results(nothing, folder).differences)


def test_numbers_within_the_tolerance_leave_committed_files_as_they_are(tmp_path):
    folder = Path(shutil.copytree(RESULTS / "cardoso2011", tmp_path / "cardoso2011"))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    about = json.loads((folder / "tables.json").read_text("utf-8"))["differences"]
    frame = pd.read_csv(folder / "differences.csv", dtype={"β": str})
    frame["difference"] += 0.001
    results = Results("cardoso2011")
    results.add("differences", frame.set_index("β"), "x", tolerance=0.02)
    made = results.outputs["differences"].frame
    results.outputs["differences"] = Output(made, about["caption"], about["signature"], 0.02)
    write_tables(results, folder)
    write_page_and_pictures("cardoso2011", folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_answers_join_as_truth_and_ignorance_do_and_a_number_is_told_from_a_bound_by_its_interval():
    for answers, word in (
        ([True, True], "holds"),
        ([True, None], "cannot tell"),
        ([None, False], "does not hold"),
        ([], "holds"),
    ):
        assert every(Answer(one) for one in answers).word == word
    for value, ends, above, at_most in (
        (0.1, (), True, False),
        (0.0, (), False, True),
        (0.1, (0.05, 0.2), True, False),
        (0.1, (-0.1, 0.2), None, None),
    ):
        assert (is_above("x", value, 0, *ends).holds, is_at_most("x", value, 0, *ends).holds) == (above, at_most)
    with pytest.raises(TypeError, match="cannot tell"):
        bool(Answer(None))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_assumption_and_slip_says_where_and_why(paper):
    study = read_study(paper)
    assert all(
        set(one) - {"public"} == {"what", "value", "kind", "why"} and one["kind"] in ("derived", "assumed")
        for one in study.get("assumed", ())
    )
    assert all(set(one) == {"where", "printed", "why"} for one in study.get("slips", ()))
