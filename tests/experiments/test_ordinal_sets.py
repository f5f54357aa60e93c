"""The collections that are trained here: every item predicted once, the same bits again; committed tables count every pair."""

import numpy as np
import pytest

import metaeval

pytest.importorskip("skordinal", reason="the ordinal sets come with the package skordinal")

from experiments import classifiers
from experiments.ordinal_sets import steps
from experiments.ordinal_sets.steps import STUDY
from experiments.paper import Settings

SETS = {  # gold sizes as skordinal 0.2.0 has them
    "ordinal-swd": [32, 352, 399, 217],
    "ordinal-lev": [93, 280, 403, 197, 27],
    "ordinal-esl": [2, 12, 38, 100, 116, 135, 62, 19, 4],
    "ordinal-era": [92, 142, 181, 172, 158, 118, 88, 31, 18],
    "ordinal-balance": [288, 49, 288],
}


@pytest.mark.parametrize("name", SETS)
def test_every_run_predicts_every_item_once_and_is_neither_useless_nor_like_another(name):
    runs, known = classifiers.load(name), classifiers.list_sets()[name]
    assert classifiers.is_kept(name)
    assert (runs.collection, len(runs.runs), runs.classes) == (name, 22, known.classes)
    np.testing.assert_array_equal(runs.counts.sum(axis=(1, 3)), [SETS[name]] * 22)
    sizes = runs.gold.sum(axis=1)
    assert set(sizes.tolist()) <= {20, 21}
    assert str(len(sizes)) in known.rows
    pooled = runs.counts.sum(axis=1)
    accuracy = dict(zip(runs.runs, metaeval.measure("Accuracy").score(pooled), strict=True))
    assert len({run.tobytes() for run in pooled}) == 22
    assert accuracy["always-lowest"] == pytest.approx(SETS[name][0] / sum(SETS[name]))
    constant = max(accuracy[run] for run in accuracy if run.startswith("always-"))
    assert sum(value > constant for value in accuracy.values()) >= 11


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(monkeypatch):
    every = classifiers.classifiers
    monkeypatch.setattr(classifiers, "classifiers", lambda *given: dict(list(every(*given).items())[::6]))
    first, again, other = (classifiers.train("ordinal-esl", folds=2, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.counts, again.counts)
    assert (first.counts != other.counts).any()


def test_committed_power_counts_every_pair_and_training_waits_for_full(committed, monkeypatch):
    power, pooled = (committed("ordinal_sets").read(name) for name in ("power", "pooled"))
    assert set(power["collection"]) == set(STUDY["sets"])
    assert (power["T_D"] == 22 * 21 // 2).all()
    sums = power.groupby("measure")["S_D"].sum()
    assert sums[pooled["measure"]].tolist() == pooled["#sig"].tolist()
    monkeypatch.setattr(classifiers, "is_kept", lambda name: name == "ordinal-esl")
    found = steps.run(Settings(say=lambda _: None))
    assert found.outputs == {}
    assert set(found.left_out) == {"similarity", "consistency", "power", "pooled"}


@pytest.mark.nightly
def test_a_set_that_is_trained_again_has_the_committed_similarities(committed, tmp_path, monkeypatch):
    monkeypatch.setattr(classifiers, "built_folder", lambda: tmp_path)
    runs = classifiers.load("ordinal-swd")
    fresh = metaeval.ranking_similarity(metaeval.score(runs, STUDY["measures"]), n_bootstrap=0).to_frame()
    rows = committed("ordinal_sets").read("similarity").query("collection == 'ordinal-swd'")
    again = [fresh.loc[pair] for pair in zip(rows["measure_1"], rows["measure_2"], strict=True)]
    np.testing.assert_allclose(again, rows["tau"], rtol=0, atol=STUDY["tolerance"])
    assert (rows["tau"] > 0).all()
