"""WMT 2023: the transcription against itself, the average by hand, and on real data against print."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import metaeval
from experiments.wmt2023.steps import FIRST, OWN, PROGRAM, SHARES, STUDY, average_tasks

real_data = pytest.mark.skipif(
    not (Path(os.environ.get("METAEVAL_DATA", "nowhere")) / "wmt23").is_dir(), reason="METAEVAL_DATA has no wmt23"
)
PARTS = [FIRST, *OWN * 3]


def test_the_transcribed_averages_are_those_of_the_transcribed_tasks():
    weights = np.array([one["weight"] for one in PARTS])
    assert len(PROGRAM["values"]) == 32
    for metric, texts in PROGRAM["values"].items():
        average, *tasks = map(float, texts)
        scaled = [v if one["statistic"] in SHARES else (v + 1) / 2 for v, one in zip(tasks, PARTS, strict=True)]
        assert abs(np.dot(weights, scaled) / weights.sum() - average) < 0.0011, metric


def hold(collections, statistics, **options):
    return metaeval.agreement(
        collections, reference="mqm", statistics=statistics, n_permutations=20, n_bootstrap=0, **options
    )


def test_the_average_is_the_weighted_mean_of_tasks_and_so_are_its_exchanges():
    rng = np.random.default_rng(0)
    collections = [
        metaeval.Scores(
            rng.normal(size=(4, 6, 3)), runs=range(4), topics=range(6), measures=["mqm", "a", "b"], collection=name,
            higher_is_better=True,
        )
        for name in "xyz"
    ]  # fmt: skip
    first = hold(collections, [FIRST["statistic"]])
    held = {one.collection: hold([one], [task["statistic"] for task in STUDY["tasks"]]) for one in collections}
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


@real_data
def test_values_of_english_german_are_those_of_the_tasks_program():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, whole = (metaeval.load_dataset(f"wmt23-en-de{end}") for end in ("", "-runs"))
    names = ["GEMBA-MQM", "BLEU", "prismSrc", "Random-sysname"]
    found = hold([scores.sel(measures=["mqm", *names])], [one["statistic"] for one in OWN], run_scores=[whole])
    given = np.array([PROGRAM["values"][name][2:5] for name in names], dtype=float)
    assert np.abs(found.values.T - given).max() <= 0.0005 + 1e-9


def test_what_the_program_of_the_task_gives_is_named_so(committed):
    assert set(committed("wmt2023").comparison["item"]) == {"Tables 8 and 9, by the task's program"}
    assert "the printed tables themselves are not compared" in (committed("wmt2023").path / "README.md").read_text(
        "utf-8"
    )
