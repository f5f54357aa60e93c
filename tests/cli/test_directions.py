"""Directions on the command line: stated, known, assumed; what the note on them tells to type."""

import io
import json
import re
import shlex
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import metaeval as me

SIMILARITY = "similarity mt.csv --bootstrap 0"
COMPARE = "compare mt.csv -m edits --trials 10 -B 20 -o rep"


def write_two(name="edits"):
    """Write scores of AP and of a measure that says the opposite with high scores."""
    cells = [(r, t, r / 8 + (t * 7 % 5) / 64) for r in range(5) for t in range(8)]
    rows = "".join(f"r{r},t{t},AP,{good}\nr{r},t{t},{name},{1 - good}\n" for r, t, good in cells)
    Path("mt.csv").write_text("run,topic,measure,score\n" + rows)


@pytest.mark.parametrize(
    ("name", "option", "tau", "assumed"),
    [
        ("BLEU", "--lower-is-better BLEU", 1, False),
        ("NMD", "--higher-is-better NMD", -1, False),
        ("edits", "--lower-is-better edits", 1, False),
        ("edits", "--lower-is-better edits --all-higher-is-better --higher-is-better AP", 1, False),
        ("edits", "--all-higher-is-better", -1, False),
        ("edits", "", -1, True),
    ],
)
def test_a_stated_direction_wins_over_a_known_one_and_one_that_is_assumed_is_said(ok, name, option, tau, assumed):
    write_two(name)
    out, _ = ok(f"{SIMILARITY} -f json {option}")
    assert next(row for row in json.loads(out)["rows"] if row["measure"] == "AP")[name] == tau
    assert ("assumed" in out) == assumed
    unstated = json.loads(ok(f"{SIMILARITY} -f json")[0])["signature"]
    assert (json.loads(out)["signature"] == unstated) == (not option)


@pytest.mark.parametrize("command", [COMPARE, SIMILARITY, "convert mt.csv out.csv"])
@pytest.mark.parametrize("words", ["nothing", "edits --higher-is-better AP --higher-is-better edits", "''"])
def test_a_direction_of_nothing_or_both_ways_is_refused(refused, command, words):
    write_two()
    refused(f"{command} --lower-is-better {words}")


def test_a_stated_direction_is_written_and_turns_a_measure_round_in_a_report(ok):
    write_two()
    ok("convert mt.csv out.csv --lower-is-better edits")
    assert {str(one): one.higher_is_better for one in me.io.read_scores("out.csv").measures}["edits"] is False
    ok(f"{COMPARE} --lower-is-better edits")
    results = json.loads(Path("rep/report.json").read_text("utf-8"))["results"]
    rows = next(result["rows"] for name, result in results.items() if name.endswith("similarity"))
    assert next(row["AP"] for row in rows if row["measure"] == "edits") == 1


HINTS = {
    # measures of a file: what the note tells to type
    ("TER", "UniTE", "my cost"): "--lower-is-better NAME or --higher-is-better UniTE --higher-is-better 'my cost'",
    ("BLEU", "UniTE"): "--lower-is-better UniTE or --higher-is-better UniTE",
    ("x", "y"): "--lower-is-better NAME or --higher-is-better x --higher-is-better y",
    ("TER", *"abcdef"): "--lower-is-better NAME or " + " ".join(f"--higher-is-better {name}" for name in "abcdef"),
    (*"abcdef",): "--lower-is-better NAME or --all-higher-is-better",
}


@pytest.mark.parametrize("names", HINTS, ids=" ".join)
def test_a_hint_on_directions_turns_no_measure_round_whose_direction_is_known(names, ok):
    values = np.random.default_rng(3).normal(size=(48, len(names)))
    cells = pd.MultiIndex.from_product([[*"abcdef"], range(8)], names=["system", "segment"])
    table = pd.DataFrame(values, cells, [*names])
    table.to_csv("mt.csv")
    (hint,) = re.findall("state it with (.*)", ok(f"{SIMILARITY} -f csv")[1])
    assert hint == HINTS[names]
    out, note = ok(*shlex.split(f"{SIMILARITY} -f csv {hint.partition(' or ')[2]}"))
    assert ("assumed" in note, "TER is known as" in note) == (False, False)
    means = table.groupby("system").mean() * [-1 if name == "TER" else 1 for name in names]
    found = pd.read_csv(io.StringIO(out), index_col=0)
    for one, other in combinations(names, 2):
        assert found.loc[one, other] == pytest.approx(kendalltau(means[one], means[other]).statistic, abs=1e-12)
