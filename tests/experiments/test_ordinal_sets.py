"""The collections that are made here: the committed tables count every pair of every set, and come out again."""

import pytest

pytest.importorskip("skordinal", reason="the ordinal sets come with the package skordinal")

import metaeval
from experiments import classifiers
from experiments.ordinal_sets import steps
from experiments.ordinal_sets.steps import STUDY
from experiments.paper import Settings


def test_sets_that_would_have_to_be_trained_wait_for_full(monkeypatch):
    monkeypatch.setattr(classifiers, "is_kept", lambda name: name == "ordinal-esl")
    found = steps.run(Settings(say=lambda _: None))
    assert found.outputs == {}
    assert set(found.left_out) == {"similarity", "consistency", "power", "pooled"}


def test_the_committed_power_counts_every_pair_of_every_set(committed):
    power, pooled = (committed("ordinal_sets").read(name) for name in ("power", "pooled"))
    assert set(power["collection"]) == set(STUDY["sets"])
    assert (power["T_D"] == 22 * 21 // 2).all()
    sums = power.groupby("measure")["S_D"].sum()
    assert sums[pooled["measure"]].tolist() == pooled["#sig"].tolist()


@pytest.mark.nightly
def test_a_set_that_is_trained_again_has_the_committed_similarities_within_the_tolerance(
    committed, tmp_path, monkeypatch
):
    monkeypatch.setattr(classifiers, "built_folder", lambda: tmp_path)
    runs = classifiers.load("ordinal-swd")
    fresh = metaeval.ranking_similarity(metaeval.score(runs, STUDY["measures"]), n_bootstrap=0).to_frame()
    rows = committed("ordinal_sets").read("similarity").query("collection == 'ordinal-swd'")
    for row in rows.itertuples():
        assert abs(fresh.loc[row.measure_1, row.measure_2] - row.tau) <= STUDY["tolerance"]
    assert (rows["tau"] > 0).all()
