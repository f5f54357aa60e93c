"""The study of few labels: what is counted is what it says, on data where the answer is plain."""

import numpy as np
import pandas as pd
import pytest

from experiments.outcome import Settings, read_toml
from experiments.studies import few_labels
from experiments.studies.few_labels import (
    NONE,
    Hidden,
    compare_plans,
    find_factor,
    judge_draw,
    simulate,
    tabulate_draws,
)
from metaeval.analyses.corrected_scores import ENOUGH_LABELS
from metaeval.stats.prediction_powered import Corrected


def test_a_draw_holds_if_every_interval_does_and_is_wrong_if_a_worse_or_equal_run_is_called_better():
    zeros = np.zeros(3)
    found = Corrected(zeros, zeros, np.array([0.5, -0.2, 0.1]), zeros, zeros, np.array([0.3, 0.1, 0.3]), zeros)
    assert judge_draw(found, np.array([0.4, -0.25, 0.0])) == (True, False, pytest.approx(2 / 3), pytest.approx(0.7 / 3))
    assert judge_draw(found, np.array([0.4, -0.35, 0.0]))[:2] == (False, False)
    assert judge_draw(found, np.array([0.0, -0.25, 0.0]))[:2] == (False, True)


def made(n_topics=80):
    rng = np.random.default_rng(0)
    people = rng.normal(size=(4, n_topics)) + np.arange(4)[:, None] / 3
    return Hidden(people, {"right": people, "poor": rng.normal(size=people.shape)})


def test_a_judge_that_is_right_decides_everything_and_a_poor_one_what_people_do():
    rows = {
        row["judge"]: row for row in tabulate_draws("made", 20, simulate(made(), [NONE, "right", "poor"], 20, 30, 0))
    }
    assert rows["right"]["decided"] == 1
    assert rows["right"]["wrong"] == 0
    assert rows["right"]["width"] < 1e-3
    assert rows["poor"]["width"] == pytest.approx(1, abs=0.05)
    assert rows[NONE]["width"] == 1
    assert min(row["holds"] for row in rows.values()) >= 25


def test_the_factor_is_how_many_labels_at_random_a_planned_one_replaces():
    grid = np.array([50, 100, 150, 200])
    random = np.array([[0.1, 0.2, 0.3, 0.4]] * 2)
    planned = np.array([[0.3, 0.3]] * 2)  # as 150 at random: 100 more labels than 50
    assert find_factor(planned, random, 50, [50, 100], grid) == pytest.approx((2 + 1) / 2)


def test_a_plan_is_worth_what_random_labels_are_where_nothing_can_be_foreseen(monkeypatch):
    monkeypatch.setitem(few_labels.STUDY["plan"], "made", {"judge": "poor", "first": 15, "more": [10, 20]})
    row = compare_plans("made", made(), 0, 40)
    assert row["low"] < 1.1
    assert 0.6 < row["factor"] < 1.4
    assert row["holds"] / row["of"] > 0.85


def test_the_settings_name_judges_and_plans_of_every_collection():
    study = read_toml(few_labels.Path(few_labels.__file__).with_suffix(".toml"))
    assert set(study["plan"]) == set(study["labels"])
    for name, plan in study["plan"].items():
        assert plan["judge"] in study["judges"]["dl21" if name == "dl21" else "wmt23"]


def test_intervals_held_less_often_than_claimed_where_a_note_says_so():
    path = few_labels.RESULTS / "few_labels"
    for table in (pd.read_csv(path / f"{name}.csv") for name in ("coverage", "population")):
        worst = (table["holds"] / table["draws"]).groupby(table["labels"] >= ENOUGH_LABELS).min()
        assert worst[False] < 0.93 < worst[True]


def test_tables_of_which_hardly_a_row_is_simulated_again_say_so(tmp_path):
    (found,) = few_labels.run(Settings(data=tmp_path, say=lambda _: None))
    assert set(found.kept) == set(found.tables)
    assert found.kept["plans"].startswith("0 of ")
