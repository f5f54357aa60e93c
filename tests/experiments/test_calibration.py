"""The study of error rates: its simulated scores have the truth that it says, and its counts are right."""

import json
from dataclasses import replace

import numpy as np
import pytest

from experiments.calibration import copula, simulation
from experiments.calibration.cells import Cell, Task, list_tasks
from experiments.calibration.decisions import count_permutations, find_significant
from experiments.calibration.designs import DESIGNS, simulate_design
from experiments.calibration.study import STUDY
from metaeval import Scores
from metaeval.stats.paired_tests import all_pairs_test

CELL = Cell("equal means", "normal, two 3x", 5, 12, True, 100)


@pytest.mark.parametrize("name", DESIGNS)
def test_runs_of_equal_truth_have_equal_means(name):
    values, means = simulate_design(name, 22, 4000, 4, effects=False, rng=np.random.default_rng(1))
    level = values.mean(axis=1)
    expected = level[-1] if name != "one hopeless run" else np.where(means < 0, -4.0, level[-1])
    # Standard errors are up to 3 * sqrt(2 / 4000) = 0.07 for the widest runs.
    np.testing.assert_allclose(level, np.broadcast_to(expected, level.shape), atol=0.35)


def test_half_of_all_pairs_differ_where_there_are_effects():
    _, means = simulate_design("normal", 22, 100, 50, effects=True, rng=np.random.default_rng(1))
    first, second = np.triu_indices(22, 1)
    assert (means[first] != means[second]).mean() == pytest.approx(0.5, abs=0.03)


def test_a_simulated_collection_keeps_ties_identical_runs_and_spread(monkeypatch):
    rng = np.random.default_rng(1)
    observed = np.round(rng.random((3, 50)), 1)
    observed[1] = observed[0]
    labels = {"runs": ["a", "b", "c"], "topics": [str(k) for k in range(50)], "measures": ["NMD"]}
    monkeypatch.setattr(copula, "load_columns", lambda _: Scores(observed[..., None], **labels))
    monkeypatch.setitem(STUDY["collections"], "made", ["NMD"])
    values, means = copula.simulate_collection("made", "NMD", 400, 10, effects=False, rng=rng)
    assert (values[0] == values[1]).all()
    assert len(np.unique(means)) == 1
    np.testing.assert_allclose(values.mean(axis=(1, 2)), means[:, 0], atol=0.02)
    np.testing.assert_allclose(values.std(axis=(1, 2)), observed.std(axis=1), atol=0.03)


@pytest.mark.parametrize(
    "test", ["paired-t, Holm", "paired-t, Benjamini-Hochberg", "tukey-hsd", "paired-randomisation, Holm"]
)
def test_decisions_are_those_of_the_p_values(test):
    rng = np.random.default_rng(2)
    values = rng.standard_normal((5, 12, 6)) + np.arange(5)[:, None, None] / 2
    options = STUDY["tests"][test]["options"]
    if "permutations" in STUDY["tests"][test]:
        options = options | {"n_permutations": count_permutations(test, 5), "key": 3}
    p = all_pairs_test(values, **options).p
    assert 0 < (p <= STUDY["alpha"]).mean() < 1
    assert (find_significant(test, values, 3) == (p <= STUDY["alpha"])).all()


def test_resampling_tests_with_a_correction_have_enough_trials():
    for n_runs in (3, 22, 34):
        n_pairs = n_runs * (n_runs - 1) / 2
        assert n_pairs / (count_permutations("paired-bootstrap, Holm", n_runs) + 1) < STUDY["alpha"]


def test_counts_are_those_of_a_loop_over_studies(monkeypatch):
    values, means = CELL.simulate(0)
    significant = find_significant("paired-t, Holm", values, 1)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    false = [sum(significant[k, p] and means[i, k] == means[j, k] for p, (i, j) in enumerate(pairs)) for k in range(50)]
    true = [sum(significant[k, p] and means[i, k] != means[j, k] for p, (i, j) in enumerate(pairs)) for k in range(50)]
    counts = Task(CELL, "paired-t, Holm").count_batch(0)
    assert counts[:4] == [50, sum(one > 0 for one in false), sum(false), sum(true)]
    assert counts[5] == pytest.approx(sum(f / max(f + t, 1) for f, t in zip(false, true, strict=True)))


def test_an_interrupted_simulation_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(simulation, "list_tasks", lambda: [Task(CELL, "paired-t, Holm")])
    task = Task(CELL, "paired-t, Holm")
    simulation.simulate_all(tmp_path, 1, lambda _: None, most=1)
    first = simulation.read_batches(task, tmp_path)
    path = simulation.find_file(task, tmp_path)
    kept = json.loads(path.read_text())
    kept["batches"][0][2] = 77.0
    path.write_text(json.dumps(kept))
    simulation.simulate_all(tmp_path, 1, lambda _: None)
    batches = simulation.read_batches(task, tmp_path)
    assert len(first) == 1
    assert len(batches) == task.n_batches == 2
    assert batches[0][2] == 77.0  # not computed again
    frame = simulation.collect_counts(tmp_path, [task])
    assert frame["studies"].tolist() == [100]


def test_stepping_down_is_only_tried_where_it_can_differ():
    cells = {task.cell for task in list_tasks() if task.test == "max-t, step-down"}
    assert all(cell.effects or cell.design == "one hopeless run" for cell in cells)
    assert replace(CELL, effects=False).name != CELL.name
