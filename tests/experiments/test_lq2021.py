"""LQ 2021: the printed numbers against themselves, Table 7 from the real gold, and the original layout end to end."""

import itertools
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval

pytest.importorskip("experiments.lq2021.steps", reason="the experiments are not part of an installed copy")

from experiments import sources
from experiments.old.check import compare_csv
from experiments.old.claims import PRINT, Number, Truth, list_claims, tabulate_claims, try_claims
from experiments.lq2021 import audit, claims, figure3, steps, tied_classes
from experiments.lq2021.facts import Facts, Part, read_print
from experiments.old.outcome import Settings
from experiments.old.page import Page

RESULTS = Path(__file__).parents[2] / "results"
SIMULATED = audit.STUDY["sources"]["stand-in"]
DATA = os.environ.get("METAEVAL_DATA")
real_data = pytest.mark.skipif(not DATA, reason="needs the STC-3 gold: set METAEVAL_DATA")


def quiet(**options):
    return Settings(say=lambda line: None, **options)


def differences(outcome):
    folder = RESULTS / outcome.name
    return [
        line
        for name, text in outcome.format_files().items()
        for line in compare_csv(text, folder / f"{name}.csv", outcome.tolerance)
    ]


def gather_scores(source, settings):
    collections = audit.STUDY["sources"][source]
    return sources.gather_scores(collections, dict.fromkeys(collections, audit.MEASURES), settings)


def simulated(name):
    return sources.load_scores(SIMULATED[name], audit.MEASURES, quiet())


def test_the_transcription_is_proof_read_by_identities_and_two_cells_are_slips_in_print():
    checks = list(audit.find_checks())
    failed = [(one.item, one.where) for one in checks if not one.holds]
    assert len(checks) > 800
    assert failed == [("Table 4", f"DialEval-1 DQ-S, NVD and {two}") for two in ("RNSS", "JSD")]


def test_totals_of_table_7_are_sums_of_its_rows():
    rows = audit.PRINTED["table7"]
    single = [row for name, row in rows.items() if name != "TOTAL"]
    assert len(rows) * 12 == 84
    assert rows["TOTAL"] == [[sum(row[m][side] for row in single) for side in (0, 1)] for m in range(6)]


def test_a_changed_digit_does_not_pass_the_audit(monkeypatch):
    wrong = {**audit.PRINTED["table7"], "TOTAL": [[846, 1141], *audit.PRINTED["table7"]["TOTAL"][1:]]}
    monkeypatch.setitem(audit.PRINTED, "table7", wrong)
    assert ("Table 7", "NMD uni") in {(one.item, one.where) for one in audit.find_checks() if not one.holds}


def test_the_committed_audit_is_what_the_numbers_say():
    assert differences(audit.compute_audit()) == []


@real_data
def test_table_7_of_stc3_is_met_in_every_cell_and_the_total_waits_for_all_six_collections():
    scores, missing = gather_scores("stc3", quiet(data=Path(DATA)))
    assert not missing
    parts = {}
    outcome = steps.compute_tables("stc3", scores, quiet(data=Path(DATA)), parts)
    table7 = [one for one in outcome.cells if one.item == "Table 7"]
    assert len(table7) == 84
    assert [one.verdict for one in table7 if one.row.startswith("STC-3")] == ["exact"] * 36
    assert {one.verdict for one in table7 if not one.row.startswith("STC-3")} == {"unavailable"}
    assert differences(outcome) == []
    found = tabulate_claims(try_claims(list_claims(claims), {"stc3": Facts(parts["stc3"])}), "", "").frame.reset_index()
    kept = read_committed_claims()
    pd.testing.assert_frame_equal(found, kept[kept["data"] == "stc3"].reset_index(drop=True), check_dtype=False)


def read_committed_claims():
    return pd.read_csv(RESULTS / "lq2021" / "claims.csv", keep_default_na=False)


def test_claims_on_print_are_those_committed():
    found = tabulate_claims(try_claims(list_claims(claims), {PRINT: read_print()}), "", "").frame.reset_index()
    kept = read_committed_claims()
    assert 8 <= kept["claim"].nunique() <= 12
    pd.testing.assert_frame_equal(found, kept[kept["data"] == PRINT].reset_index(drop=True), check_dtype=False)


def make_part(significant, *, n_pairs=100, interval=None, wins=None, beyond=0, contradictions=()):
    """A collection whose measures find pairs inside each other, but for NMD's `beyond` in which it is alone."""
    counts = dict(zip(claims.MEASURES, significant, strict=True))
    overlaps, gaps = {}, {}
    for first, second in itertools.combinations(claims.MEASURES, 2):
        alone = beyond if first == "NMD" else max(0, counts[first] - counts[second])
        both = counts[first] - alone
        overlaps[first, second] = (alone, both, counts[second] - both)
        gap = (counts[first] - counts[second]) / n_pairs
        gaps[first, second] = Number("", gap) if interval is None else Number("", gap, gap - interval, gap + interval)
    return Part(n_pairs, counts, overlaps, gaps, contradictions, wins or {})


@pytest.mark.parametrize(
    ("part", "wins", "subset"),
    [
        (make_part([40, 60, 80, 70, 70, 70], beyond=3), Truth.YES, Truth.YES),
        (make_part([40, 60, 80, 70, 70, 70], interval=0.05), Truth.YES, Truth.NO),
        (make_part([40, 60, 80, 70, 70, 70], interval=0.3), Truth.UNKNOWN, Truth.NO),
        (make_part([40, 90, 80, 70, 70, 70], beyond=1), Truth.NO, Truth.YES),
    ],
)
def test_power_and_subsets_are_told_by_numbers_in_print_and_by_intervals_elsewhere(part, wins, subset):
    facts = Facts([part, part])
    assert claims.rnod_wins(facts).truth is wins
    assert claims.nmd_is_no_subset(facts).truth is subset


def test_pooled_differences_are_weighted_by_pairs_and_turn_with_the_measures():
    facts = Facts([make_part([10] * 6, n_pairs=100), make_part([10, 10, 40, 10, 10, 10], n_pairs=300)])
    assert facts.finds_more("RNOD", "NMD").value == pytest.approx(30 / 400)
    assert facts.finds_more("NMD", "RNOD").value == pytest.approx(-30 / 400)


def test_a_contradiction_counts_where_nmd_speaks_for_popularity_whichever_measure_is_named_first():
    rows = [("NMD", "RNOD", "BL-popularity", "BL-uniform"), ("JSD", "NMD", "BL-uniform", "BL-popularity"),
            ("NMD", "NVD", "BL-uniform", "BL-popularity"), ("NMD", "RNSS", "BL-popularity", "x")]  # fmt: skip
    wins = dict.fromkeys(claims.MEASURES, (10, 20))
    facts = Facts([make_part([40] * 6, wins=wins, contradictions=rows)])
    counts = {other: facts.count_for_popularity("NMD", other).value for other in claims.FOUR}
    assert counts == {"RNOD": 1, "NVD": 0, "RNSS": 0, "JSD": 1}
    assert claims.nmd_contradicts_for_popularity(facts).truth is Truth.NO


def test_a_preference_is_told_by_wilsons_interval_of_the_topics_that_are_not_tied():
    few = dict.fromkeys(claims.MEASURES, (4, 6))
    many = {**dict.fromkeys(claims.MEASURES, (900, 100)), "NMD": (400, 600)}
    assert claims.nmd_favours_popularity(Facts([make_part([1] * 6, wins=few)])).truth is Truth.UNKNOWN
    facts = Facts([make_part([1] * 6, wins=many)])
    assert claims.nmd_favours_popularity(facts).truth is Truth.YES
    assert claims.nmd_favours_popularity_most(facts).truth is Truth.YES
    share = facts.popularity_share("NMD")
    z, n = 1.959964, 1000
    middle, reach = (
        (0.6 + z * z / (2 * n)) / (1 + z * z / n),
        z * np.sqrt(0.24 / n + (z / (2 * n)) ** 2) / (1 + z * z / n),
    )
    assert share.ends == pytest.approx((middle - reach, middle + reach), abs=1e-6)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A data folder with stand-in score matrices in Sakai's layout where the published ones would be."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("Sem16T4E", "Sem17T4E"):
        metaeval.io.sakai.write(simulated(name), folder / "acl2021" / name.lower())
    for quality in "aes":
        metaeval.io.sakai.write(simulated(f"DialEval-1 DQ-{quality.upper()}"), folder / "acl2021" / f"dq-{quality}")
    return folder


def test_matrices_in_the_original_layout_give_the_tables_of_the_scores_they_were_written_from(published):
    collections = audit.STUDY["sources"]["original"]
    measures = dict.fromkeys(collections, audit.MEASURES)
    found = sources.compute_source(
        "original", collections, measures, partial(steps.compute_tables, parts={}), quiet(data=published)
    )
    names = list(audit.STUDY["sources"]["original"])
    read, missing = gather_scores("original", quiet(data=published))
    assert (list(read), missing) == (names, {})
    direct = {
        name: metaeval.Scores(
            one.values, runs=one.runs, topics=one.topics, measures=one.measures, collection=read[name].collection
        )
        for name in names
        for one in [simulated(name)]
    }
    expected = steps.compute_tables("original", direct, quiet(data=published), {})
    assert {name: table.to_csv() for name, table in found.tables.items()} == {
        name: table.to_csv() for name, table in expected.tables.items()
    }
    assert found.cells == expected.cells
    rest_on_trials = [one for one in found.cells if one.item in ("Table 3", "Table 4", "Table 5")]
    assert "exact" not in {one.verdict for one in rest_on_trials}
    assert {one.verdict for one in found.cells if one.row in names} <= {"exact", "matches", "differs"}


def test_the_page_speaks_of_matrices_that_were_given_and_not_of_what_is_missing(published):
    measures = dict.fromkeys(audit.STUDY["collections"], audit.MEASURES)
    given = {"Sem16T4E": "acl2021-sem16t4e", "DialEval-1 DQ-A": "acl2021-dq-a"}
    compute = partial(steps.compute_tables, parts={})
    own = sources.compute_source("original", given, measures, compute, quiet(data=published))
    first = audit.compute_audit()
    first.tables["claims"] = tabulate_claims(try_claims(list_claims(claims), {}), "Claims.", "none")
    page = Page("lq2021", steps).write_page([first, own])
    headline = page.split("\n\n")[2]
    n = sum(one.reproduced is not None for one in own.cells)
    assert headline.startswith(f"**Compared on the data given for Sem16T4E, DialEval-1 DQ-A: of {n} printed numbers")
    assert "Not reproduced here" not in page
    assert "which is not public" not in page
    assert "**Table 5**, 30 of 120 numbers" in page
    assert "None of the printed numbers of Table 5" not in page


def test_every_printed_cell_is_compared():
    scores = {"Sem16T4E": simulated("Sem16T4E")}
    cells = steps.compute_tables("stand-in", scores, quiet(), {}).cells
    by_item = {
        item: [one for one in cells if one.item == item] for item in ("Table 3", "Table 4", "Table 5", "Table 7")
    }
    shares = [one for one in by_item["Table 4"] if one.column.count(",") == 0]
    assert (len(shares), len(by_item["Table 5"]), len(by_item["Table 7"])) == (120, 120, 84)
    assert len(by_item["Table 4"]) == 120 * 4
    assert len(by_item["Table 3"]) == 2 * (48 + 6)
    assert len({(one.item, one.row, one.column) for one in cells}) == len(cells)


def test_the_numbers_do_not_depend_on_how_many_processes_there_are(monkeypatch):
    monkeypatch.setattr(steps, "COMPARED_ONLY", ())
    scores = {"STC-3 DQ-A": simulated("STC-3 DQ-A")}
    one, two = (steps.compute_tables("stand-in", scores, replace(quiet(), n_jobs=jobs), {}) for jobs in (1, 2))
    assert one.cells == two.cells
    assert {name: table.to_csv() for name, table in one.tables.items()} == {
        name: table.to_csv() for name, table in two.tables.items()
    }


def test_a_matrix_that_is_there_but_broken_is_an_error_that_names_the_file(tmp_path):
    folder = tmp_path / "acl2021" / "sem16t4e"
    metaeval.io.sakai.write(simulated("Sem16T4E"), folder)
    (folder / "NMD").write_text("0.1 nothing\n")
    with pytest.raises(metaeval.DataError, match="NMD"):
        gather_scores("original", quiet(data=tmp_path))


def test_figure_3_shows_the_two_topics_where_nmd_speaks_for_popularity_most_against_rnod():
    runs = sources.load_runs_or_scores(SIMULATED["DialEval-1 DQ-A"], quiet())
    drawn = figure3.draw_divergent_topics(runs, "BL-popularity-C", "BL-uniform-C", n_topics=2)
    values = metaeval.score(runs, ["NMD", "RNOD"]).values
    delta = values[runs.runs.index("BL-popularity-C")] - values[runs.runs.index("BL-uniform-C")]
    d = delta[:, 0] - delta[:, 1]
    for axes, topic in zip(drawn.axes, d.argsort()[:2], strict=True):
        assert f"topic {runs.topics[topic]}, d = {d[topic]:+.3f}" in axes.get_title()


def test_numbers_of_figures_1_and_3_are_those_of_the_deltas():
    scores = {"DialEval-1 DQ-A": simulated("DialEval-1 DQ-A")}
    cells = {
        (one.item, one.row, one.column): one for one in steps.compute_tables("stand-in", scores, quiet(), {}).cells
    }
    values = scores["DialEval-1 DQ-A"].values
    runs = scores["DialEval-1 DQ-A"].runs
    delta = (values[runs.index("BL-popularity-C")] - values[runs.index("BL-uniform-C")]).round(9)
    nmd, rnod = delta[:, audit.MEASURES.index("NMD")], delta[:, audit.MEASURES.index("RNOD")]
    second = cells["Figure 1", "DialEval-1 DQ-A", "NMD and RNOD, 2nd quadrant"]
    assert (second.printed, second.reproduced) == (75, ((nmd < 0) & (rnod > 0)).sum())
    d = cells["Figure 3", "topic 1", "d"]
    assert (d.printed, d.reproduced) == (-0.265, pytest.approx((nmd - rnod).min(), abs=1e-9))


def test_every_input_says_where_it_is_from():
    rows = audit.STUDY["inputs"]
    assert {one["provenance"] for one in rows} == {"printed", "derived", "assumed"}
    assert all(one["name"] and one["value"] and one["where"] for one in rows)


def test_popularity_by_each_reading_where_two_classes_are_the_most_frequent():
    gold = np.array([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]])
    read = {name: make(gold).tolist() for name, make in tied_classes.READINGS.items()}
    assert [one[0] for one in read.values()] == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert [one[1] for one in read.values()] == [[0.0, 0.0, 1.0]] * 3


@real_data
def test_only_equal_shares_for_tied_classes_give_table_7_and_the_page_says_so():
    settings = quiet(data=Path(DATA))
    names = audit.STUDY["sources"]["stc3"]
    runs = {name: sources.load_runs_or_scores(data, settings) for name, data in names.items()}
    for name, one in runs.items():
        rows = [tied_classes.count_topics(one, make(one.gold)) for make in tied_classes.READINGS.values()]
        assert [row == audit.PRINTED["table7"][name] for row in rows] == [True, False, False]
    note = tied_classes.describe_readings(runs)
    assert "with equal shares for all of them 36 of its 36 cells, 3 collections whole" in note
    assert "0 collections whole" in note
    assert tied_classes.describe_readings({}) == ""
