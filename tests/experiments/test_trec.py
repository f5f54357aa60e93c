"""The retrieval measures: pools, rules of the page, and the committed results."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval
from experiments.old.outcome import Settings
from experiments.old.page import Page
from experiments.trec import claims, steps

RESULTS = Path(__file__).parents[2] / "results"
QUIET = {"say": lambda _: None}
needs_data = pytest.mark.skipif(
    not os.environ.get("METAEVAL_DATA"), reason="METAEVAL_DATA names no folder of real data"
)


def matrix(name, measures, seed, n_runs=8, n_topics=20):
    """Runs of graded quality; the further right a measure, the noisier."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.3, 0.7, n_runs)[:, None, None]
    noise = rng.normal(0, 0.03 * (1 + np.arange(len(measures))) ** 1.5, (n_runs, n_topics, len(measures)))
    values = np.clip(quality + noise, 0, 1)
    return metaeval.Scores(
        values, runs=[f"r{r}" for r in range(n_runs)], topics=range(n_topics), measures=measures, collection=name
    )


@pytest.fixture(scope="module")
def matrices():
    measures = {"web": ["AP", "nDCG@20", "ERR@20", "P@10", "P@20", "RR"], "adhoc": ["AP", "P@10", "RR"]}
    of = {name: group for group, names in steps.STUDY["groups"].items() for name in names}
    return {name: matrix(name, measures.get(of[name], ["AP", "P@10"]), seed=len(name) + ord(name[-1])) for name in of}


@pytest.fixture(scope="module")
def outcome(matrices):
    class Made(Settings):
        def load(self, name):
            return matrices[name]

    (together,) = steps.run(Made(**QUIET))
    return together


def test_every_pool_holds_the_collections_of_its_groups_and_its_measures_only(outcome):
    for name, pool in steps.STUDY["pools"].items():
        table = outcome.tables[f"pooled_{name}"]
        assert list(table.frame.index) == pool["measures"]
        sizes = [8 * 7 // 2 for group in pool["groups"] for _ in steps.STUDY["groups"][group]]
        assert set(table.frame["#all"]) == {sum(sizes)}


def test_pooled_counts_are_the_sums_of_those_of_the_collections(outcome):
    power = outcome.tables["power"].frame
    frame = outcome.tables["pooled_everywhere"].frame
    for measure in ("AP", "P@10"):
        counts = power[measure].astype(float) / 100 * (8 * 7 // 2)
        assert frame.loc[measure, "#sig"] == pytest.approx(counts.sum())


def test_claims_are_tried_on_every_collection(outcome, matrices):
    rows = outcome.tables["claims"].frame
    assert set(rows["data"]) == set(matrices)
    facts = claims.Facts(steps.study_scores(matrix("made", ["AP", "P@10", "RR"], 1), Settings(**QUIET)))
    assert claims.ap_is_most_consistent(facts).truth.value == "holds"
    assert facts.agreeing_pairs()[1].value == 3
    assert claims.measures_do_not_contradict(facts).truth.value == "holds"


def test_the_measure_with_least_noise_is_alone_the_most_consistent():
    one = steps.study_scores(matrix("made", ["AP", "P@10", "RR"], 1), Settings(**QUIET))
    assert steps.find_best(one) == "AP"


def test_two_equal_measures_leave_nobody_alone():
    scores = matrix("made", ["AP", "P@10"], 1)
    same = metaeval.Scores(
        np.repeat(scores.values[..., :1], 2, axis=2),
        runs=scores.runs,
        topics=scores.topics,
        measures=["AP", "P@10"],
        collection="same",
    )
    assert steps.find_best(steps.study_scores(same, Settings(**QUIET))) == ""


def test_the_page_carries_every_table_of_all_collections(outcome):
    text = Page("trec", steps).write_page([outcome])
    for name, table in outcome.tables.items():
        assert name == "claims" or (table.whole_caption in text and f"([CSV]({name}.csv))" in text)


def test_a_table_over_collections_marks_the_largest_of_each_row(outcome):
    table = outcome.tables["consistency"]
    words = table.marks(table.frame)
    for collection, row in words.iterrows():
        bold = [measure for measure, word in row.items() if word == "bold"]
        numbers = table.frame.loc[collection, ["AP", "P@10"]].astype(float)
        assert bold
        assert float(table.frame.loc[collection, bold[0]]) >= numbers.max()


def test_what_cannot_be_had_is_said_and_its_group_left_alone():
    asked = []

    class Offline(Settings):
        def load(self, name):
            asked.append(name)
            raise metaeval.DataError(f"{name} cannot be loaded")

    (only,) = steps.run(Offline(**QUIET))
    assert asked == [names[0] for names in steps.STUDY["groups"].values()]
    assert "trec-web-2010 cannot be loaded" in only.notes[0]
    assert not only.tables


@needs_data
def test_the_committed_quick_results_come_out_again():
    (outcome,) = steps.run(Settings(quick=True, **QUIET))
    for name in ("power", "consistency"):
        fresh = outcome.tables[name].frame.reset_index().astype(str)
        committed = pd.read_csv(RESULTS / "trec" / f"{name}.csv")
        for row in fresh.to_dict("records"):
            (same,) = committed[committed["collection"] == row["collection"]].to_dict("records")
            for measure in ("AP", "P@10"):
                assert float(row[measure]) == pytest.approx(same[measure], abs=1e-9)
