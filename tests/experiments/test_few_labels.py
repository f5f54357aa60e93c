"""The study of few labels: what is counted is what it says, on data where the answer is plain."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.paper import Settings
from experiments.studies.few_labels import steps
from experiments.studies.few_labels.steps import NONE, STUDY, Hidden, judge_draw, simulate, tabulate_draws
from metaeval.analyses.corrected_scores import ENOUGH_LABELS
from metaeval.stats.prediction_powered import Corrected

RESULTS = Path(__file__).parents[2] / "results" / "few_labels"


@pytest.mark.parametrize(
    ("truth", "holds", "wrong"),
    [([0.4, -0.25, 0.0], True, False), ([0.4, -0.35, 0.0], False, False), ([0.0, -0.25, 0.0], False, True)],
)
def test_a_draw_holds_if_every_interval_does_and_is_wrong_if_a_worse_or_equal_run_is_called_better(truth, holds, wrong):
    zeros = np.zeros(3)
    found = Corrected(zeros, zeros, np.array([0.5, -0.2, 0.1]), zeros, zeros, np.array([0.3, 0.1, 0.3]), zeros, zeros)
    assert judge_draw(found, np.array(truth)) == (holds, wrong, pytest.approx(2 / 3), pytest.approx(0.7 / 3))


def test_a_judge_that_is_right_decides_more_and_a_poor_one_what_people_do():
    rng = np.random.default_rng(0)
    people = rng.normal(size=(4, 80)) + np.arange(4)[:, None] / 3
    made = Hidden(people, {"right": people, "poor": rng.normal(size=people.shape)})
    drawn = simulate(made, [NONE, "right", "poor"], 20, 30, 0)
    rows = {row["judge"]: row for row in tabulate_draws("made", 20, drawn)}
    assert rows["right"]["decided"] > 2 * rows["poor"]["decided"]
    assert rows["right"]["wrong"] == 0
    assert rows["right"]["width"] < 0.5
    assert rows["poor"]["width"] == pytest.approx(1, abs=0.05)
    assert rows[NONE]["width"] == 1
    assert min(row["holds"] for row in rows.values()) >= 25


def test_a_small_study_is_simulated_whole_and_nothing_without_being_asked_for(monkeypatch):
    assert set(STUDY["population"]) == set(STUDY["labels"])
    assert all(judge in STUDY["judges"][name.partition("-")[0]] for name, judge in STUDY["population"].items())
    monkeypatch.setitem(STUDY, "labels", {"made-family": [20]})
    monkeypatch.setitem(STUDY, "draws", 4)
    made = steps.run(Settings(full=True, say=lambda _: None))
    assert [len(made.outputs[name].frame) for name in ("coverage", "population", "alone")] == [3, 2, 1]
    assert set(steps.run(Settings(say=lambda _: None)).left_out) == set(steps.CAPTIONS)


@pytest.mark.skipif(not RESULTS.is_dir(), reason="the committed results are not here")
@pytest.mark.parametrize("name", ["coverage", "population"])
def test_intervals_held_less_often_than_claimed_where_a_note_says_so(name):
    table = pd.read_csv(RESULTS / f"{name}.csv")
    worst = (table["holds"] / table["draws"]).groupby(table["labels"] >= ENOUGH_LABELS).min()
    assert worst[False] < 0.93 < worst[True]
