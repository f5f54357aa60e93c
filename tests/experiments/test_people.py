"""Judges against people, few labels, and WMT 2023: print against itself, and claims of made tables."""

import os
from pathlib import Path

import numpy as np
import pytest

import metaeval
from experiments.alttest.claims import constant_does_not_pass, every_judge_beats_constant
from experiments.alttest.steps import add_constant_judge
from experiments.wmt2023 import steps as wmt
from experiments.wmt2023.steps import FIRST, OWN, PROGRAM, SHARES, average_tasks
from metaeval.analyses.corrected_scores import ENOUGH_LABELS
from metaeval.data.annotations import Annotations
from tests.analyses.made import label


def test_the_constant_judge_gives_the_usual_label():
    labels, answers = [[0, 2, 2], [1, 2, -1]], [[[1, 0, 0]] * 3]
    axes = {"annotators": ["a", "b"], "judges": ["j"], "items": range(3), "classes": ["x", "y", "z"]}
    annotations = Annotations(labels, answers, **axes)
    more = add_constant_judge(annotations)
    assert more.judges == ("j", "always-z")
    np.testing.assert_array_equal(more.answers[1], [[0, 0, 1]] * 3)


def test_a_claim_is_told_by_its_intervals(tables):
    """Every judge beats the constant one by those of ρ; and that one passes with half of the people, by that of ω."""
    for low, high, word in ((0.05, 0.2, "holds"), (-0.2, -0.1, "does not hold"), (-0.1, 0.1, "cannot tell")):
        ends = {"difference": [0.2, (low + high) / 2], "low": [0.1, low], "high": [0.3, high]}
        ((name, answer),) = every_judge_beats_constant.decide(
            tables(leads={"set": "made", "judge_1": ["j", "k"], **ends})
        )
        assert (name, answer.word) == ("made", word)
    for low, high, word in ((0.0, 0.4, "holds"), (0.5, 1.0, "does not hold"), (0.4, 0.6, "cannot tell")):
        rate = {"label": "x", "ω": (low + high) / 2, "ω low": low, "ω high": high}
        ((name, answer),) = constant_does_not_pass.decide(tables(constant={"set": ["made"], **rate}))
        assert (name, answer.word) == ("made", word)


@pytest.mark.parametrize("name", ["coverage", "population"])
def test_intervals_held_less_often_than_claimed_where_a_note_says_so(committed, name):
    table = committed("few_labels").read(name)
    worst = (table["holds"] / table["draws"]).groupby(table["labels"] >= ENOUGH_LABELS).min()
    assert worst[False] < 0.93 < worst[True]


WMT = Path(os.environ.get("METAEVAL_DATA", "nowhere")) / "wmt23"
PARTS = [FIRST, *OWN * 3]


def test_transcribed_averages_are_those_of_the_transcribed_tasks_and_named_as_the_programs(committed):
    weights = np.array([one["weight"] for one in PARTS])
    assert len(PROGRAM["values"]) == 32
    for metric, texts in PROGRAM["values"].items():
        average, *tasks = map(float, texts)
        scaled = [v if one["statistic"] in SHARES else (v + 1) / 2 for v, one in zip(tasks, PARTS, strict=True)]
        assert abs(np.dot(weights, scaled) / weights.sum() - average) < 0.0011, metric
    assert set(committed("wmt2023").comparison["item"]) == {"Tables 8 and 9, by the task's program"}
    page = (committed("wmt2023").path / "README.md").read_text("utf-8")
    assert "the printed tables themselves are not compared" in page


def hold(collections, statistics, **options):
    quick = {"n_permutations": 20, "n_bootstrap": 0}
    return metaeval.agreement(collections, reference="mqm", statistics=statistics, **quick, **options)


def test_the_average_is_the_weighted_mean_of_tasks_and_so_are_its_exchanges():
    rng = np.random.default_rng(0)
    labels = {"measures": ["mqm", "a", "b"], "higher_is_better": True}
    collections = [label(rng.normal(size=(4, 6, 3)), collection=name, **labels) for name in "xyz"]
    first = hold(collections, [FIRST["statistic"]])
    held = {one.collection: hold([one], [task["statistic"] for task in wmt.STUDY["tasks"]]) for one in collections}
    found = average_tasks(first, held)
    assert found.tasks.shape == (10, 2)
    parts = [first, *(one for one in held.values() for _ in OWN)]
    total, drawn = 0.0, 0.0
    for one, task in zip(parts, PARTS, strict=True):
        place = one.statistics.index(task["statistic"])
        share = task["statistic"] in SHARES
        total = total + task["weight"] * (one.values[place] if share else (one.values[place] + 1) / 2)
        drawn = drawn + task["weight"] * (one.exchanged[place, :, 0] if share else one.exchanged[place, :, 0] / 2)
    np.testing.assert_allclose(found.average, total / 12)
    lead = (total[0] - total[1]) / 12
    assert found.p_values[0, 1] == pytest.approx((1 + (drawn / 12 >= lead - 1e-12).sum()) / 21)


@pytest.mark.skipif(not WMT.is_dir(), reason="METAEVAL_DATA has no wmt23")
@pytest.mark.filterwarnings("ignore")
def test_values_of_english_german_are_those_of_the_tasks_program():
    scores, whole = (metaeval.load_dataset(f"wmt23-en-de{end}") for end in ("", "-runs"))
    names = ["GEMBA-MQM", "BLEU", "prismSrc", "Random-sysname"]
    found = hold([scores.sel(measures=["mqm", *names])], [one["statistic"] for one in OWN], run_scores=[whole])
    given = np.array([PROGRAM["values"][name][2:5] for name in names], dtype=float)
    assert np.abs(found.values.T - given).max() <= 0.0005 + 1e-9
