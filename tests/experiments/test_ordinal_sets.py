"""The offline experiment: ACL 2021's questions about measures, asked of collections that are made here."""

from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("skordinal", reason="the ordinal sets come with the package skordinal")

from experiments.ordinal_sets import steps
from experiments.ordinal_sets.steps import STUDY, choose_sets, run
from experiments.old.outcome import Settings

COMMITTED = Path(__file__).parents[2] / "results" / "ordinal_sets" / "skordinal"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    (found,) = run(Settings(data=tmp_path_factory.mktemp("cache"), quick=True, say=lambda line: None))
    return found


def test_every_question_has_a_table_and_a_figure_with_its_signature(outcome):
    questions = {"similarity-swd": "ranking_similarity", "consistency-swd": "split_half_consistency"}
    questions["power-swd"] = "discriminative_power"
    assert outcome.tables.keys() == outcome.figures.keys() == questions.keys()
    for name, analysis in questions.items():
        table = outcome.tables[name]
        assert table.caption.startswith("ordinal-swd, 22 runs, 50 topics.")
        assert str(table.signature).startswith(f"{analysis} | ordinal-swd@")
        assert "seed 0" in str(table.signature)


def test_all_measures_of_the_study_are_compared(outcome):
    assert len(outcome.tables["power-swd"].frame) == len(STUDY["measures"]) == 11
    assert outcome.tables["similarity-swd"].frame.shape == (10, 10)


def test_no_two_measures_rank_the_runs_in_opposite_orders(outcome):
    similarities = outcome.tables["similarity-swd"].frame.to_numpy(dtype=float)
    assert similarities[~pd.isna(similarities)].min() > 0


def test_sets_that_would_have_to_be_trained_wait_for_full(monkeypatch, outcome):
    monkeypatch.setattr(steps, "is_kept", lambda name: name == "ordinal-esl")
    assert choose_sets(Settings()) == ["ordinal-swd", "ordinal-esl"]
    assert choose_sets(Settings(quick=True)) == STUDY["quick_sets"]
    assert choose_sets(Settings(full=True)) == STUDY["sets"]
    assert outcome.lacks == STUDY["sets"][1:]


def test_the_committed_similarities_come_out_again_within_the_stated_tolerance(outcome):
    if not COMMITTED.is_dir():
        pytest.skip("the committed results are not here")
    kept = pd.read_csv(COMMITTED / "similarity-swd.csv", index_col=0)
    fresh = outcome.tables["similarity-swd"].frame.to_numpy()
    difference = abs(kept.to_numpy() - fresh)
    assert pd.Series(difference[~pd.isna(fresh)].astype(float)).max() <= STUDY["tolerance"]


def test_the_committed_pooled_power_counts_every_pair_of_every_set():
    if not COMMITTED.is_dir():
        pytest.skip("the committed results are not here")
    kept = pd.read_csv(COMMITTED / "power-pooled.csv")
    each = [pd.read_csv(COMMITTED / f"power-{name.removeprefix('ordinal-')}.csv") for name in STUDY["sets"]]
    assert (kept["#all"] == 5 * 22 * 21 // 2).all()
    assert (kept["#sig"] == sum(one["#sig"] for one in each)).all()
