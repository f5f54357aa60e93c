"""What README, docs/ and notebooks/ say about results is what the committed tables, and the examples on the page, say."""

import json
from pathlib import Path

import pandas as pd
import pytest

from experiments.calibration.rates import compute_rates, read_counts
from experiments.facts import describe_interval, describe_unequal_spread, order_changes
from experiments.generated import ROOT, Printed, collect_writers, list_pages, renew_page, renew_pages, renew_text
from experiments.notebook_readings import read_needed_topics
from experiments.readings import (
    read_contradictions,
    read_coverage,
    read_frame,
    read_overlap,
    read_places,
    read_preference,
    read_sample_sizes,
)
from metaeval.errors import DataError

if (
    not (ROOT / "docs" / "index.md").exists() or not (ROOT / "results").is_dir()
):  # the tests run beside an installed copy
    pytest.skip("the documentation and the committed results are not here", allow_module_level=True)

PAGES = list_pages()


@pytest.fixture(scope="module")
def writers():
    return collect_writers()


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_a_page_says_what_the_committed_results_say(path, writers):
    assert renew_page(path, writers) == path.read_text("utf-8"), f"python -m experiments --docs renews {path.name}"


def test_every_writer_has_a_page_that_asks_for_it(writers):
    texts = "".join(path.read_text("utf-8") for path in PAGES)
    tests = {name for name in writers if name.startswith("test/")}  # pages choose among them
    assert [name for name in set(writers) - tests if f"<!-- generated: {name} -->" not in texts] == []


def test_a_page_that_was_changed_by_hand_is_mended(tmp_path):
    for folder in ("results", "benchmarks"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "answer").symlink_to(ROOT / "docs" / "answer")
    page = tmp_path / "README.md"
    page.write_text("A\n<!-- generated: unequal spread -->\nIt never errs.\n<!-- end -->\nB\n", "utf-8")
    assert renew_pages(tmp_path) == [page]
    assert "2,000 simulated studies" in page.read_text("utf-8")
    assert renew_pages(tmp_path) == []


def test_a_changed_table_changes_what_is_said():
    rates = compute_rates(read_counts(ROOT / "results" / "calibration" / "tests" / "counts.csv"))
    doubled = rates.assign(error=2 * rates["error"])
    assert describe_unequal_spread(doubled) != describe_unequal_spread(rates)
    columns = ["interval", "population", "n_runs", "n_topics", "nominal", "coverage"]
    cells = [("τ", "normal", 10, 25, 0.95, 0.94), ("τ", "llmjudge", 33, 25, 0.95, 0.96)]
    assert "94.0 to 96.0 %" in describe_interval(pd.DataFrame(cells, columns=columns), "τ")[0]
    assert "within them in all" in describe_interval(pd.DataFrame(cells, columns=columns), "τ")[0]
    cells.append(("τ", "llmjudge", 12, 50, 0.95, 0.80))
    assert "outside of them in 1 (llmjudge, 12 runs" in describe_interval(pd.DataFrame(cells, columns=columns), "τ")[0]


def test_what_changes_a_ranking_most_is_named_first():
    index = pd.MultiIndex.from_tuples(
        [
            ("another seed", "randomised-tukey-hsd"),
            ("another test than randomised-tukey-hsd", "max-t"),
            ("another test than randomised-tukey-hsd", "bootstrap-t"),
        ],
        names=["changed", "test"],
    )
    means = pd.DataFrame({"τ_b": [0.5, 0.9, 0.8], "its error": 0.1, "collections": 3}, index=index)
    (said,) = order_changes(means)
    assert said.index("another seed 0.50") < said.index("another test (bootstrap-t) 0.80")


def test_a_mark_that_nothing_writes_is_an_error():
    with pytest.raises(DataError, match="nothing generates 'nothing'"):
        renew_text("<!-- generated: nothing -->\n<!-- end -->", [], {})


def test_an_example_that_is_gone_is_an_error():
    with pytest.raises(DataError, match="no example with 'preference.to_frame"):
        read_preference([Printed("other()", "1")])


@pytest.mark.parametrize(
    "text",
    [
        "  measure  pairs\n0     NMD    231\n1    RNOD     68\n",  # numbered rows
        "         pairs\nmeasure\nNMD        231\nRNOD        68\n",  # named rows
        "measure  pairs\nrun\nNMD        231\nRNOD        68\n",  # pivoted: the names of rows and of columns
    ],
)
def test_frames_are_read_as_pandas_prints_them(text):
    assert read_frame([Printed("show()", text)], "show")["pairs"].tolist() == [231, 68]


CASES = [
    (
        read_preference,
        ["preference.to_frame()"],
        ["   p  u  tied\nmeasure\nA  2  1  0\nB  1  2  0\n"],
        "`A` prefers p on",
    ),
    (
        read_overlap,
        ["significance_overlap"],
        ["  measure_1 measure_2 a b c sso\n0 A B 3 5 0 0.62\n1 A C 1 7 1 0.78\n"],
        "`A` and `C` overlap most: 2 pairs",
    ),
    (
        read_contradictions,
        ["run_pairs()"],
        ["  measure_1 measure_2 run_1 run_2\n0 A B r s\n1 A C s t\n"],
        "by `A`, r is significantly better than s, and by `B` the reverse. The rows are about 2 pairs",
    ),
    (
        read_places,
        ["split_half_consistency(scores, seed", "size=10"],
        ["  measure mean_tau\n0 A 0.9\n1 B 0.8\n2 C 0.7\n", "  measure mean_tau\n0 C 0.9\n1 B 0.8\n2 A 0.7\n"],
        "`A` is on place 1 with halves and on place 3 with ten; `C` is on place 3",
    ),
    (
        read_sample_sizes,
        ['values="power"'],
        ["measure A B\ntopics\n10 0.1 0.2\n20 0.4 0.2\n40 0.4 0.3\n"],
        "power still grows for 1 of 2 measures. With 20 topics `A` reaches more power than `B` with 40",
    ),
    (
        read_coverage,
        [".to_frame().round"],
        ["  measure coverage reference\n0 A 0.9 False\n1 B 0.7 False\n2 C 0.8 True\n"],
        "(0.80 at most): `A` 0.90.",
    ),
    (
        read_needed_topics,
        ['values="power"'],
        ["measure blunt sharp\ntopics\n10 0.1 0.2\n20 0.2 0.3\n40 0.3 0.5\n"],
        "With 20 topics, `sharp`",
    ),
]


@pytest.mark.parametrize(("read", "code", "output", "said"), CASES, ids=[case[0].__name__ for case in CASES])
def test_a_table_is_read_by_its_rule(read, code, output, said):
    assert said in read([Printed(one, other) for one, other in zip(code, output, strict=True)])[0]


def test_notebooks_are_renewed_and_keep_their_other_cells(tmp_path, writers):
    path = tmp_path / "a.ipynb"
    code = {"cell_type": "code", "source": ["x"], "outputs": []}
    text = {"cell_type": "markdown", "source": ["<!-- generated: unequal spread -->\n", "<!-- end -->"]}
    path.write_text(json.dumps({"cells": [code, text]}), "utf-8")
    fresh = json.loads(renew_page(Path(path), writers))
    assert fresh["cells"][0] == code
    assert "simulated studies" in "".join(fresh["cells"][1]["source"])
