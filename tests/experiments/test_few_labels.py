"""The study of few labels: what is counted is what it says, on data where the answer is plain."""

import numpy as np
import pandas as pd
import pytest

from experiments.old.outcome import Settings, read_toml
from experiments.studies import few_labels
from experiments.studies.few_labels import NONE, Hidden, judge_draw, simulate, tabulate_draws
from metaeval.analyses.corrected_scores import ENOUGH_LABELS
from metaeval.stats.prediction_powered import Corrected


def test_a_draw_holds_if_every_interval_does_and_is_wrong_if_a_worse_or_equal_run_is_called_better():
    zeros = np.zeros(3)
    found = Corrected(zeros, zeros, np.array([0.5, -0.2, 0.1]), zeros, zeros, np.array([0.3, 0.1, 0.3]), zeros, zeros)
    assert judge_draw(found, np.array([0.4, -0.25, 0.0])) == (True, False, pytest.approx(2 / 3), pytest.approx(0.7 / 3))
    assert judge_draw(found, np.array([0.4, -0.35, 0.0]))[:2] == (False, False)
    assert judge_draw(found, np.array([0.0, -0.25, 0.0]))[:2] == (False, True)


def made(n_topics=80):
    rng = np.random.default_rng(0)
    people = rng.normal(size=(4, n_topics)) + np.arange(4)[:, None] / 3
    return Hidden(people, {"right": people, "poor": rng.normal(size=people.shape)})


def test_a_judge_that_is_right_decides_more_and_a_poor_one_what_people_do():
    rows = {
        row["judge"]: row for row in tabulate_draws("made", 20, simulate(made(), [NONE, "right", "poor"], 20, 30, 0))
    }
    assert rows["right"]["decided"] > 2 * rows["poor"]["decided"]
    assert rows["right"]["wrong"] == 0
    assert rows["right"]["width"] < 0.5
    assert rows["poor"]["width"] == pytest.approx(1, abs=0.05)
    assert rows[NONE]["width"] == 1
    assert min(row["holds"] for row in rows.values()) >= 25


def test_the_settings_name_judges_of_every_collection():
    study = read_toml(few_labels.Path(few_labels.__file__).with_suffix(".toml"))
    assert set(study["population"]) == set(study["labels"])
    for name, judge in study["population"].items():
        assert judge in study["judges"][name.partition("-")[0]]


def test_intervals_held_less_often_than_claimed_where_a_note_says_so():
    path = few_labels.RESULTS / "few_labels"
    for table in (pd.read_csv(path / f"{name}.csv") for name in ("coverage", "population")):
        worst = (table["holds"] / table["draws"]).groupby(table["labels"] >= ENOUGH_LABELS).min()
        assert worst[False] < 0.93 < worst[True]


def test_tables_of_which_hardly_a_row_is_simulated_again_say_so(tmp_path):
    (found,) = few_labels.run(Settings(data=tmp_path, say=lambda _: None))
    assert set(found.kept) == set(found.tables)
