"""RNADW and the gold distance: what the page says of the formulas, derived again, and that it follows the numbers."""

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval
from experiments.old.check import compare_csv
from experiments.old.outcome import Outcome, Settings
from experiments.old.page import Page
from experiments.studies import new_measure
from experiments.studies.new_measure import study_scores
from metaeval.measures.quantification import gold_distance, order_aware_divergence

RESULTS = Path(__file__).parents[2] / "results"
needs_data = pytest.mark.skipif(
    not os.environ.get("METAEVAL_DATA"), reason="METAEVAL_DATA names no folder of real data"
)
NEW = new_measure.STUDY["new"]
OPTIONS = {"permutations": 200, "splits": 30, "small": 5, "alpha": 0.05}


def score(name, estimated, true):
    return metaeval.measure(name).score(estimated, true)


def some_distributions(n, n_classes, seed=0, concentration=0.3):
    """Random distributions of which many have empty classes."""
    rng = np.random.default_rng(seed)
    drawn = np.where(rng.random((n, n_classes)) < 0.4, 0.0, rng.gamma(concentration, size=(n, n_classes)))
    drawn[drawn.sum(axis=1) == 0, 0] = 1.0
    return drawn / drawn.sum(axis=1, keepdims=True)


def simulated(seed=0, n_runs=7, n_topics=24, n_classes=5, name="simulated"):
    rng = np.random.default_rng(seed)
    true = some_distributions(n_topics, n_classes, seed, 2.0)
    noise = rng.dirichlet(np.ones(n_classes), size=(n_runs, n_topics))
    weight = np.linspace(0.1, 0.9, n_runs)[:, None, None]
    return metaeval.QuantificationRuns(
        (1 - weight) * true + weight * noise,
        true,
        runs=[f"r{r}" for r in range(n_runs)],
        topics=range(n_topics),
        classes=range(n_classes),
        collection=name,
    )


# What the page says of the formulas


def test_rnadw_is_rnss_with_the_constant_weights_of_the_text():
    p, q = some_distributions(200, 5, 1), some_distributions(200, 5, 2)
    weights = np.array([2, 1.4, 1.2, 1.4, 2])
    assert np.allclose(score("RNADW", p, q), np.sqrt(((p - q) ** 2 * weights).sum(axis=1) / 4))


def test_rnadw_obeys_the_triangle_inequality_and_is_symmetric():
    p, q, r = (some_distributions(500, 5, seed) for seed in (1, 2, 3))
    assert (score("RNADW", p, r) <= score("RNADW", p, q) + score("RNADW", q, r) + 1e-12).all()
    assert np.array_equal(score("RNADW", p, q), score("RNADW", q, p))


@pytest.mark.parametrize("distance", ["equal", "gold"])
def test_rnod_and_rnadw_are_the_same_exactly_where_no_gold_class_is_empty(distance):
    p, q = some_distributions(500, 5, 1), some_distributions(500, 5, 2, 3.0)
    whole = (q > 0).all(axis=1)
    a, b = (score(f"{name}(distance={distance})", p, q) for name in ("RNOD", "RNADW"))
    assert whole.any()
    assert np.allclose(a[whole], b[whole])
    assert not np.isclose(a[~whole], b[~whole]).all()


def test_the_gold_distance_is_a_difference_of_ridits_and_eq_11():
    for q in some_distributions(50, 5, 4):
        ridits = np.cumsum(q) - q / 2
        distance = gold_distance(q)
        for i, j in itertools.product(range(5), repeat=2):
            eq_11 = q[min(i, j) : max(i, j) + 1].sum() - (q[i] + q[j]) / 2
            assert distance[i, j] == pytest.approx(eq_11 if i != j else 0.0, abs=1e-12)
            assert distance[i, j] == pytest.approx(abs(ridits[i] - ridits[j]), abs=1e-12)


def test_from_end_to_end_the_gold_distance_lacks_half_of_both_end_classes():
    q = some_distributions(100, 5, 5)
    assert np.allclose(gold_distance(q)[:, 0, -1], 1 - (q[:, 0] + q[:, -1]) / 2)


def test_empty_classes_side_by_side_are_at_distance_zero_and_interchangeable():
    q = np.array([0.5, 0.0, 0.0, 0.3, 0.2])
    assert gold_distance(q)[1, 2] == 0
    assert gold_distance(q)[0, 1] == pytest.approx(0.25)
    one, other = np.array([0.3, 0.4, 0.0, 0.2, 0.1]), np.array([0.3, 0.0, 0.4, 0.2, 0.1])
    for name in ("RNOD(distance=gold)", "RNADW(distance=gold)"):
        assert score(name, one, q) == pytest.approx(score(name, other, q))
    assert score("RNOD", one, q) != pytest.approx(score("RNOD", other, q))


def test_with_all_gold_in_one_class_the_gold_distance_gives_a_nominal_measure():
    p = some_distributions(200, 5, 6)
    for g in range(5):
        wrong = (np.delete(p, g, axis=1) ** 2).sum(axis=1)
        assert np.allclose(score("RNOD(distance=gold)", p, np.eye(5)[g]), np.sqrt(wrong / (2 * 4)))


def test_with_even_gold_the_variants_are_the_originals_over_root_k():
    p, even = some_distributions(200, 5, 7), np.full(5, 0.2)
    for name in ("RNOD", "RNADW"):
        assert np.allclose(score(f"{name}(distance=gold)", p, even), score(name, p, even) / np.sqrt(5))


@pytest.mark.parametrize("name", NEW)
def test_only_the_perfect_estimate_scores_zero(name):
    p, q = some_distributions(3000, 4, 8), some_distributions(3000, 4, 9)
    apart = np.abs(p - q).max(axis=1) > 1e-6
    assert (score(name, p, q)[apart] > 1e-6).all()
    assert score(name, q, q).max() == 0


def test_with_two_classes_the_gold_variants_are_the_difference_over_root_two():
    p, q = some_distributions(300, 2, 10), some_distributions(300, 2, 11)
    difference = np.abs(p - q)[:, 0]
    for name in ("RNOD(distance=gold)", "RNADW(distance=gold)"):
        assert np.allclose(score(name, p, q), difference / np.sqrt(2))
    for name in ("NMD", "RNOD", "RSNOD", "RNADW"):
        assert np.allclose(score(name, p, q), difference)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
def test_the_largest_rnod_with_gold_distance_is_the_closed_form_and_no_random_case_exceeds_it(n_classes):
    bound = np.sqrt((3 * n_classes - 5) / 2) / (n_classes - 1)
    assert new_measure.find_largest(metaeval.measure("RNOD(distance=gold)"), n_classes) == pytest.approx(
        bound, abs=1e-6
    )
    for concentration in (0.02, 0.1, 0.5):
        q = some_distributions(4000, n_classes, 12, concentration)
        # The measure is convex in the estimate, so its largest value is at an estimate of one class.
        assert score("RNOD(distance=gold)", np.eye(n_classes)[:, None], q).max() <= bound + 1e-9


def test_rnod_and_rsnod_exceed_one_in_the_case_of_the_text():
    sliver = 1e-9
    true = np.array([0, 1 - 2 * sliver, 0, sliver, sliver])
    assert order_aware_divergence(np.eye(5)[0], true) == pytest.approx(13 / 3)
    assert score("RNOD", np.eye(5)[0], true) == pytest.approx(np.sqrt(13 / 12))
    assert new_measure.find_largest(metaeval.measure("RSNOD"), 5) > 1.04
    assert new_measure.find_largest(metaeval.measure("RNADW"), 5) == pytest.approx(1)


def test_exchanging_gold_and_estimate_matters_with_the_gold_distance_only():
    assert new_measure.measure_asymmetry(metaeval.measure("RNADW"), 4) == 0
    assert new_measure.measure_asymmetry(metaeval.measure("RNOD(distance=gold)"), 4) > 0.1
    assert new_measure.measure_asymmetry(metaeval.measure("RNADW(distance=gold)"), 4) > 0.1


def test_measures_that_ignore_the_order_are_undecided_in_every_comparison_and_nmd_in_none():
    total = len(list(new_measure.list_steps(5)))
    for share in (1.0, 0.6):
        for name in ("NVD", "RNSS", "JSD"):
            assert new_measure.count_misorders(metaeval.measure(name), 5, share) == (0, total)
        assert new_measure.count_misorders(metaeval.measure("NMD"), 5, share) == (0, 0)


def test_steps_are_all_pairs_on_the_same_side_of_the_gold_class():
    found = set(new_measure.list_steps(4))
    assert found == {
        (g, a, b)
        for g, a, b in itertools.product(range(4), repeat=3)
        if abs(a - g) < abs(b - g) and (a - g) * (b - g) > 0
    }


# Tables, page and files


@pytest.fixture(scope="module")
def collections():
    return {name: simulated(seed, name=name) for seed, name in enumerate(("one", "two"))}


@pytest.fixture(scope="module")
def studies(collections):
    settings = Settings(say=lambda _: None)
    return [
        study_scores(metaeval.score(runs, new_measure.MEASURES), settings, OPTIONS) for runs in collections.values()
    ]


@pytest.fixture(scope="module")
def outcome(studies, collections):
    whole = Outcome("new_measure", "")
    names = new_measure.MEASURES
    whole.tables = {"order": new_measure.tabulate_order(names), "limits": new_measure.tabulate_limits(names)}
    contradictions = [study.contradictions for study in studies]
    new_measure.add_collections(whole, studies, contradictions, collections, Settings(say=lambda _: None))
    whole.texts = new_measure.describe_data(studies, collections)
    return whole


def test_a_new_measure_and_its_parent_split_what_is_significant_between_them(studies):
    frame = new_measure.compare_with_parent(studies, NEW, "RNOD")
    for (name, collection), row in frame.iterrows():
        study = next(study for study in studies if study.name == collection)
        significant = study.power.summary().set_index("measure")["significant"]
        assert (row["a"] + row["b"], row["c"] + row["b"]) == (significant[name], significant["RNOD"])


def test_every_listed_contradiction_has_a_measure_on_either_side_and_none_is_missing():
    up = np.linspace(0.1, 0.8, 3)[:, None, None] + np.linspace(0, 0.1, 12)[None, :, None]
    scores = metaeval.Scores(
        np.concatenate([up, 1 - up, up], axis=2),
        runs=list("abc"),
        topics=range(12),
        measures=["NMD", "RNOD", "NVD"],
        collection="tiny",
    )
    power = metaeval.discriminative_power(scores, n_permutations=500)
    frame = new_measure.list_contradictions([metaeval.significance_contradictions(power)])
    assert frame[["run_1", "run_2"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert set(frame["for_run_1"]) == {"NMD, NVD"}
    assert set(frame["for_run_2"]) == {"RNOD"}


def test_preferences_add_up_over_collections(collections):
    both = new_measure.count_preferences(collections)
    apart = [new_measure.count_preferences({name: runs}) for name, runs in collections.items()]
    assert (both.sum(axis=1) <= sum(len(runs.topics) for runs in collections.values())).all()
    pd.testing.assert_frame_equal(both, apart[0] + apart[1])


def test_claims_are_tried_on_every_new_measure_and_the_gain_in_pairs_is_that_of_the_pooled_power(outcome):
    claims = outcome.tables["claims"].frame
    assert set(claims["data"]) == {"RNOD", *NEW}
    pooled = outcome.tables["pooled_power"].frame["#sig"]
    for name in NEW:
        facts = new_measure.Facts(outcome.tables["order"].frame.loc[name], outcome.tables["beside"].frame.loc[name])
        assert facts.gain_in_pairs().value == pooled[name] - pooled["RNOD"]


def test_the_page_says_what_the_numbers_are(outcome):
    text = Page("new_measure", new_measure).write_page([outcome])
    assert f"is {outcome.texts['seen']}" in " ".join(text.split())
    assert "{" not in text
    for name, table in outcome.tables.items():
        assert name == "claims" or table.caption[:40] in text


def test_results_are_written_whole_and_compare_equal_with_themselves(outcome, tmp_path):
    assert outcome.write(tmp_path)
    files = {path.stem: path for path in (tmp_path / outcome.name).glob("*")}
    assert files.keys() == outcome.tables.keys()
    assert {path.suffix for path in files.values()} == {".csv"}
    for name, text in outcome.format_files().items():
        assert compare_csv(text, files[name], outcome.tolerance) == []
    frame = pd.read_csv(files["pooled_power"])
    frame.loc[0, "#sig"] += 1
    frame.to_csv(files["pooled_power"], index=False)
    text = outcome.format_files()["pooled_power"]
    assert len(compare_csv(text, files["pooled_power"], outcome.tolerance)) == 1


def test_without_data_the_formulas_remain_and_it_is_said_why():
    class Offline(Settings):
        def load(self, name):
            raise metaeval.DataError(f"{name} cannot be loaded")

    (only,) = new_measure.run(Offline(say=lambda _: None))
    assert set(only.tables) == {"order", "limits"}
    assert "stc3-dq-a cannot be loaded" in only.notes[0]
    assert only.lacks


def test_the_committed_quick_results_come_out_again():
    for outcome in new_measure.run(Settings(quick=True, say=lambda _: None)):
        for name, text in outcome.format_files().items():
            assert compare_csv(text, RESULTS / outcome.name / f"{name}.csv", outcome.tolerance) == []


@needs_data
def test_the_baselines_of_stc_3_are_those_made_from_its_gold():
    runs = metaeval.load_dataset("stc3-dq-s")
    scores = metaeval.score(runs, new_measure.MEASURES)
    made = metaeval.score(new_measure.make_baselines(runs), new_measure.MEASURES)
    submitted = metaeval.baseline_preference(scores, "BL-popularity", "BL-uniform")
    mine = metaeval.baseline_preference(made, new_measure.POPULARITY, new_measure.UNIFORM)
    assert np.array_equal(submitted.deltas, mine.deltas)
