"""The check of committed results, and what may replace them: every changed digit and stray file is found."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from matplotlib.figure import Figure

import metaeval
from experiments.old.check import PAGE, adopt_committed, check_paper, compare_csv
from experiments.old.claims import Answer, Finding, Number, Truth, claim, tabulate_claims
from experiments.old.comparison import cell
from experiments.old.digests import record_files
from experiments.old.outcome import Outcome
from experiments.old.page import join_parts, show_counts, show_table
from experiments.old.papers import write_results

SOURCES = ["", "real", "trained"]
NUMBERS = {"a": [0.123456789, 12.0], "b": [0.5, 7.25]}


def table(numbers=NUMBERS, **options):
    frame = pd.DataFrame.from_dict(numbers, orient="index", columns=["tau", "share"]).rename_axis("measure")
    return metaeval.Table(frame, "A caption.", "tiny@0123456789ab 2 runs | seed 0 | metaeval 0.1.0", **options)


@claim("§1", "A is best.")
def a_is_best(facts):
    """A has the largest tau."""


def outcome(source, numbers=NUMBERS, **options):
    cells = [cell("Table 1", "a", "tau", 0.12, numbers["a"][0], data="tiny", digits=2)]
    claims = tabulate_claims([Finding(a_is_best, "tiny", Answer(Truth.YES, (Number("tau", 0.5),)))], "Claims.", "tiny")
    return Outcome("paper", source, {"table1": table(numbers), "claims": claims}, cells, **options)


def draw():
    figure = Figure()
    figure.subplots().plot([1, 2], [3, 5])
    return figure


def write_page(outcomes):
    tables = [show_table(one, name) for one in outcomes for name in one.tables]
    return join_parts("paper", "# A paper", show_counts(outcomes), *tables)


PAGES = SimpleNamespace(write_page=write_page, PICTURES={"real": ("figure1",)})


def check(outcomes, out, **options):
    return check_paper("paper", outcomes, SOURCES, write_page, PAGES.PICTURES, out, **options)


@pytest.fixture
def whole():
    return [outcome("real", figures={"figure1": draw}), outcome("trained", tolerance=0.01)]


@pytest.fixture
def results(whole, tmp_path):
    write_results("paper", whole, SOURCES, PAGES, tmp_path)
    return tmp_path


def test_what_was_written_compares_equal_and_nothing_is_left_unchecked(whole, results):
    files = sorted(
        str(path.relative_to(results / "paper")) for path in (results / "paper").rglob("*") if path.is_file()
    )
    kept = ["claims.csv", "comparison.csv", "table1.csv"]
    assert files == sorted(
        [PAGE, *(f"{source}/{name}" for source in ("real", "trained") for name in kept), "real/figure1.svg"]
    )
    found = check(whole, results)
    assert (found.differences, found.unchecked) == ([], [])


@pytest.mark.parametrize("name", ["real/table1.csv", "real/comparison.csv", "real/claims.csv", PAGE])
def test_any_changed_digit_is_found(tmp_path, name):
    whole = [outcome("real"), outcome("trained", tolerance=0.01)]
    write_results("paper", whole, SOURCES, PAGES, tmp_path)
    path = tmp_path / "paper" / name
    text = path.read_text(encoding="utf-8")
    for place, letter in enumerate(text):
        line = text[text.rfind("\n", 0, place) + 1 :].split("\n")[0]
        if not letter.isdigit() or (name == PAGE and line.startswith("<sub>")):
            continue
        path.write_text(text[:place] + str((int(letter) + 1) % 10) + text[place + 1 :], encoding="utf-8")
        assert check(whole, tmp_path).differences, f"{line!r}: {letter} at {place}"


def test_signatures_are_compared_but_for_checksums_and_the_version(whole, results):
    path = results / "paper" / PAGE
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0123456789ab", "ba9876543210").replace("metaeval 0.1.0", "metaeval 0.2.0"))
    assert check(whole, results).differences == []
    path.write_text(text.replace("seed 0", "seed 1"))
    assert check(whole, results).differences


def test_a_changed_picture_is_found_and_one_of_another_version_is_named_unchecked(whole, results):
    path = results / "paper" / "real" / "figure1.svg"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("<path", '<path stroke="red"', 1))
    assert [line for line in check(whole, results).differences if "figure1.svg" in line]
    path.write_text(text.replace("Matplotlib v", "Matplotlib v1."))
    assert "was edited" in check(whole, results).differences[0]
    record_files([path], "paper", results)
    found = check(whole, results)
    assert found.differences == []
    assert "figure1.svg" in found.unchecked[0]


@pytest.mark.parametrize(
    "stray", ["real/old.csv", "real/table1.tex", "gone/table1.csv", "notes.txt", "real/deep/x.csv"]
)
def test_a_file_that_nothing_makes_is_found(whole, results, stray):
    path = results / "paper" / stray
    path.parent.mkdir(exist_ok=True)
    path.write_text("a\n1\n")
    assert check(whole, results).differences == [f"{path}: nothing makes this file"]


def test_a_missing_file_is_found(whole, results):
    (results / "paper" / "real" / "table1.csv").unlink()
    (results / "paper" / PAGE).unlink()
    assert len(check(whole, results).differences) == 2


def test_files_of_a_source_that_cannot_be_had_are_named_with_the_page(whole, results):
    found = check(whole[:1], results)
    assert found.differences == []
    said = "\n".join(found.unchecked)
    for name in ("comparison.csv", "table1.csv", "claims.csv", PAGE):
        assert name in said
    assert "paper/trained" in said
    assert "could not be loaded" in said


def test_files_of_a_reduced_outcome_are_named_and_not_compared(whole, results):
    smaller = outcome("trained", {"a": [9.0, 9.0], "b": [9.0, 9.0]}, reduced="2 of 50 repetitions")
    found = check([whole[0], smaller], results)
    assert found.differences == []
    assert "2 of 50 repetitions" in found.unchecked[0]
    assert "table1.csv" in found.unchecked[0]


def test_a_table_that_was_read_from_the_results_is_unchecked_though_it_is_the_same(whole, results):
    found = check([replace(whole[0], kept={"table1": "read from the results"}), whole[1]], results)
    assert found.differences == []
    assert found.unchecked == ["paper/real: table1.csv: read from the results"]
    assert found.left == [results / "paper" / "real" / "table1.csv"]


def test_an_outcome_without_some_collections_is_compared_in_what_it_has(whole, results):
    fewer = outcome("real", lacks=["sem17t4e"])
    fewer.tables["table1"] = table({"a": NUMBERS["a"]})
    found = check([fewer, whole[1]], results)
    assert found.differences == []
    assert "table1.csv" in found.unchecked[0]
    assert "sem17t4e" in found.unchecked[0]
    wrong = outcome("real", {"a": [0.2, 12.0], "b": [0.5, 7.25]}, lacks=["sem17t4e"])
    assert check([wrong, whole[1]], results).differences


@pytest.mark.parametrize(("gap", "differences"), [(0.009, 0), (0.011, 2)])
def test_a_stated_tolerance_is_what_numbers_may_differ_by_and_the_page_says_the_committed_ones(
    whole, results, gap, differences
):
    moved = outcome("trained", {"a": [0.123456789 + gap, 12.0], "b": [0.5, 7.25]}, tolerance=0.01)
    found = check([whole[0], moved], results)
    assert len([line for line in found.differences if PAGE not in line]) == differences
    assert bool(found.differences) == bool(differences)


def test_within_a_tolerance_rows_may_stand_in_another_order(whole, results):
    turned = outcome("trained", {"b": [0.5, 7.25], "a": [0.124, 12.0]}, tolerance=0.01)
    assert check([whole[0], turned], results).differences == []
    assert list(adopt_committed(turned, results).tables["table1"].frame.index) == ["a", "b"]


def test_numbers_within_the_tolerance_leave_committed_files_as_they_are(whole, results):
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    moved = outcome("trained", {"a": [0.125, 12.0], "b": [0.5, 7.25]}, tolerance=0.01)
    write_results("paper", [whole[0], moved], SOURCES, PAGES, results)
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before


def test_fingerprints_of_the_data_alone_change_no_committed_file(results):
    """Last bits of scores differ between machines, and with them the checksums in signatures."""

    def relabel(name, **options):
        again = outcome(name, **options)
        again.tables["table1"] = replace(table(), signature=table().signature.replace("0123456789ab", "ba9876543210"))
        again.cells = [replace(one, data="tiny@ba9876543210") for one in again.cells]
        return again

    first = [relabel("real", figures={"figure1": draw}), relabel("trained", tolerance=0.01)]
    for one in first:
        one.cells = [replace(cell, data="tiny@0123456789ab") for cell in one.cells]
    write_results("paper", first, SOURCES, PAGES, results)
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    again = [relabel("real", figures={"figure1": draw}), relabel("trained", tolerance=0.01)]
    write_results("paper", again, SOURCES, PAGES, results)
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before


def test_parts_of_one_file_are_written_together_and_compared_part_by_part(tmp_path):
    parts = {"table2/x": table(), "table2/y": table({"a": [0.25, 1.0], "b": [0.75, 2.0]})}
    whole = [Outcome("paper", "real", dict(parts))]
    write_results("paper", whole, ["real"], SimpleNamespace(write_page=write_page, PICTURES={}), tmp_path)
    path = tmp_path / "paper" / "real" / "table2.csv"
    assert path.read_text().splitlines()[0] == "part,measure,tau,share"
    assert path.read_text().splitlines()[3] == "y,a,0.25,1.0"
    near = table({"a": [0.25 + 1e-13, 1.0], "b": [0.75, 2.0]})
    adopted = adopt_committed(Outcome("paper", "real", {**parts, "table2/y": near}), tmp_path)
    assert adopted.tables["table2/y"].to_csv() == parts["table2/y"].to_csv()
    path.write_text(path.read_text().replace("y,a,0.25", "y,a,0.35"))
    found = check_paper("paper", whole, ["real"], write_page, {}, tmp_path)
    assert [line for line in found.differences if "table2.csv: row 3, tau" in line]


def test_reduced_numbers_are_never_written(whole, tmp_path):
    write_results("paper", [outcome("trained", reduced="2 of 50 repetitions")], SOURCES, PAGES, tmp_path)
    assert not list(tmp_path.rglob("*"))


def test_fewer_sources_never_replace_the_page_of_more(whole, results):
    before = (results / "paper" / PAGE).read_text(encoding="utf-8")
    write_results("paper", whole[:1], SOURCES, PAGES, results)
    assert (results / "paper" / PAGE).read_text(encoding="utf-8") == before


def test_a_table_with_fewer_collections_never_replaces_one_with_more(whole, results):
    path = results / "paper" / "real" / "table1.csv"
    before = path.read_text(encoding="utf-8")
    fewer = outcome("real", lacks=["sem17t4e"])
    fewer.tables["table1"] = table({"a": NUMBERS["a"]})
    write_results("paper", [fewer], SOURCES, PAGES, results)
    assert path.read_text(encoding="utf-8") == before


def test_more_collections_replace_fewer_though_some_are_still_missing(tmp_path):
    fewer, more = outcome("real", lacks=["a", "b"]), outcome("real", lacks=["a"])
    fewer.tables["table1"] = table({"a": NUMBERS["a"]})
    for one in (fewer, more):
        write_results("paper", [one], SOURCES, PAGES, tmp_path)
    assert len(pd.read_csv(tmp_path / "paper" / "real" / "table1.csv")) == 2


def test_last_bits_may_differ_and_words_may_not(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("measure,tau\na,0.30000000000000004\n")
    assert compare_csv("measure,tau\na,0.3\n", path, 1e-9) == []
    assert compare_csv("measure,tau\nb,0.3\n", path, 1e-9)
    assert compare_csv("measure,tau\na,0.3001\n", path, 1e-9)
