"""WMT 2023: the transcription against itself, the average by hand, and on real data against print."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval
from experiments.wmt2023.claims import Facts, most_significant_is_right, power_tells_agreement
from experiments.wmt2023.steps import FIRST, OWN, PRINTED, SHARES, STUDY, average_tasks

real_data = pytest.mark.skipif(
    not (Path(os.environ.get("METAEVAL_DATA", "nowhere")) / "wmt23").is_dir(), reason="METAEVAL_DATA has no wmt23"
)
PARTS = [FIRST, *OWN * 3]


def test_the_transcribed_averages_are_those_of_the_transcribed_tasks():
    weights = np.array([one["weight"] for one in PARTS])
    assert len(PRINTED["values"]) == 32
    for metric, (average, *tasks) in PRINTED["values"].items():
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


def test_the_jackknife_is_that_of_the_textbook():
    frame = pd.DataFrame({"significant": [1, 2, 3, 5, 4], "agreement": [0.1, 0.2, 0.3, 0.4, 0.5]})
    found = Facts("made", frame).correlation("significant")
    assert found.value == pytest.approx(0.8)
    left = np.array([2 / 3, 2 / 3, 2 / 3, 1, 1])  # without one metric after the other
    error = np.sqrt(4 / 5 * ((left - left.mean()) ** 2).sum())
    assert found.low == pytest.approx(0.8 - 2.7764451 * error)
    assert found.high == 1
    assert power_tells_agreement(Facts("made", frame)).truth.value == "cannot tell"


def test_metrics_within_two_errors_of_the_first_are_first_too():
    columns = {"significant": [10, 9, 7], "mc_se": [0.5, 0.5, 0.1], "contradicted": [0, 1, 5]}
    facts = Facts("made", pd.DataFrame(columns, index=["a", "b", "c"]))
    assert facts.find_largest() == ["a", "b"]
    assert most_significant_is_right(facts).truth.value == "does not hold"
    columns["contradicted"] = [0, 0, 5]
    assert most_significant_is_right(Facts("made", pd.DataFrame(columns, index=["a", "b", "c"]))).truth.value == "holds"


@real_data
def test_values_of_english_german_are_those_of_the_tasks_program():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, whole = (metaeval.load_dataset(f"wmt23-en-de{end}") for end in ("", "-runs"))
    names = ["GEMBA-MQM", "BLEU", "prismSrc", "Random-sysname"]
    found = hold([scores.sel(measures=["mqm", *names])], [one["statistic"] for one in OWN], run_scores=[whole])
    given = np.array([PRINTED["values"][name][2:5] for name in names])
    assert np.abs(found.values.T - given).max() <= 0.0005 + 1e-9


def test_what_the_program_of_the_task_gives_is_nowhere_called_printed():
    folder = Path(__file__).parents[2] / "results" / "wmt2023"
    if not folder.is_dir():
        pytest.skip("the committed results are not here")
    assert list(pd.read_csv(folder / "comparison.csv"))[3:5] == ["program", "reproduced"]
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "| program | numbers |" in page
    assert "average: program | ours" in page
    assert "printed |" not in page
    assert "the printed tables themselves are not compared" in page
