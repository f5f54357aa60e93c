"""RNADW and the gold distance: what the page says of the formulas, derived again, and that it follows the numbers."""

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import metaeval
from experiments.check import compare_csv
from experiments.new_measure import formulas, gold, page, pooled, steps
from experiments.new_measure.collection import compute_tables, study_scores
from experiments.new_measure.findings import Evidence
from experiments.outcome import Outcome, Settings
from metaeval.measures.order_aware import gold_distance, order_aware_divergence

RESULTS = Path(__file__).parents[2] / "results"
needs_data = pytest.mark.skipif(
    not os.environ.get("METAEVAL_DATA"), reason="METAEVAL_DATA names no folder of real data"
)
NEW = steps.STUDY["new"]
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


# ---------------------------------------------------------------------------------------- what mathematics.md says


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
    assert formulas.find_largest(metaeval.measure("RNOD(distance=gold)"), n_classes) == pytest.approx(bound, abs=1e-6)
    for concentration in (0.02, 0.1, 0.5):
        q = some_distributions(4000, n_classes, 12, concentration)
        # The measure is convex in the estimate, so its largest value is at an estimate of one class.
        assert score("RNOD(distance=gold)", np.eye(n_classes)[:, None], q).max() <= bound + 1e-9


def test_rnod_and_rsnod_exceed_one_in_the_case_of_the_text():
    sliver = 1e-9
    true = np.array([0, 1 - 2 * sliver, 0, sliver, sliver])
    assert order_aware_divergence(np.eye(5)[0], true) == pytest.approx(13 / 3)
    assert score("RNOD", np.eye(5)[0], true) == pytest.approx(np.sqrt(13 / 12))
    assert formulas.find_largest(metaeval.measure("RSNOD"), 5) > 1.04
    assert formulas.find_largest(metaeval.measure("RNADW"), 5) == pytest.approx(1)


def test_exchanging_gold_and_estimate_matters_with_the_gold_distance_only():
    assert formulas.measure_asymmetry(metaeval.measure("RNADW"), 4) == 0
    assert formulas.measure_asymmetry(metaeval.measure("RNOD(distance=gold)"), 4) > 0.1
    assert formulas.measure_asymmetry(metaeval.measure("RNADW(distance=gold)"), 4) > 0.1


def test_measures_that_ignore_the_order_are_undecided_in_every_comparison_and_nmd_in_none():
    total = len(list(formulas.list_steps(5)))
    for share in (1.0, 0.6):
        for name in ("NVD", "RNSS", "JSD"):
            assert formulas.count_misorders(metaeval.measure(name), 5, share) == (0, total)
        assert formulas.count_misorders(metaeval.measure("NMD"), 5, share) == (0, 0)


def test_steps_are_all_pairs_on_the_same_side_of_the_gold_class():
    found = set(formulas.list_steps(4))
    assert found == {
        (g, a, b)
        for g, a, b in itertools.product(range(4), repeat=3)
        if abs(a - g) < abs(b - g) and (a - g) * (b - g) > 0
    }


# ---------------------------------------------------------------------------------------- tables, page and files


@pytest.fixture(scope="module")
def made():
    collections = {name: simulated(seed, name=name) for seed, name in enumerate(("one", "two"))}
    settings = Settings(say=lambda _: None)
    studies = tuple(
        study_scores(metaeval.score(runs, steps.MEASURES), settings, OPTIONS) for runs in collections.values()
    )
    preferences = {
        name: metaeval.baseline_preference(
            metaeval.score(gold.make_baselines(runs), steps.MEASURES), gold.POPULARITY, gold.UNIFORM
        )
        for name, runs in collections.items()
    }
    contradictions = tuple(one.contradictions for one in studies)
    pool = metaeval.pooled_discriminative_power([one.power for one in studies], n_bootstrap=50)
    tables = {
        "order": formulas.tabulate_order(steps.MEASURES),
        "one_class": formulas.tabulate_one_class(steps.MEASURES),
        "limits": formulas.tabulate_limits(steps.MEASURES),
        "gold": gold.tabulate_gold(collections),
        "pooled_power": pool.to_table(),
        "consistency": pooled.tabulate_consistency(studies),
        "beside": pooled.tabulate_beside(studies, NEW, "RNOD"),
        "run_pairs": pooled.tabulate_contradictions(contradictions),
        "preference": gold.tabulate_preferences(preferences),
    }
    established = tuple(steps.STUDY["established"])
    return Evidence(established, tuple(NEW), "RNOD", studies, pool, preferences, contradictions, collections), tables


@pytest.fixture(scope="module")
def evidence(made):
    return made[0]


def test_a_new_measure_and_its_parent_split_what_is_significant_between_them(evidence):
    frame = pooled.compare_with_parent(evidence.studies, NEW, "RNOD")
    for (name, collection), row in frame.iterrows():
        one = next(s for s in evidence.studies if s.name == collection)
        found = one.power.summary().set_index("measure")["significant"]
        assert (row["a"] + row["b"], row["c"] + row["b"]) == (found[name], found["RNOD"])


def test_every_listed_contradiction_has_a_measure_on_either_side_and_none_is_missing(evidence):
    up = np.linspace(0.1, 0.8, 3)[:, None, None] + np.linspace(0, 0.1, 12)[None, :, None]
    scores = metaeval.Scores(
        np.concatenate([up, 1 - up, up], axis=2),
        runs=list("abc"),
        topics=range(12),
        measures=["NMD", "RNOD", "NVD"],
        collection="tiny",
    )
    power = metaeval.discriminative_power(scores, n_permutations=500)
    frame = pooled.list_contradictions([metaeval.significance_contradictions(power)])
    assert frame[["run_1", "run_2"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert set(frame["for_run_1"]) == {"NMD, NVD"}
    assert set(frame["for_run_2"]) == {"RNOD"}


def test_preferences_add_up_to_the_topics(made):
    evidence, tables = made
    frame = tables["preference"].frame
    topics = sum(len(runs.topics) for runs in evidence.collections.values())
    assert (frame["TOTAL", "uni"] + frame["TOTAL", "pop"] <= topics).all()
    assert (frame["TOTAL", "uni"] == frame["one", "uni"] + frame["two", "uni"]).all()


def test_the_page_says_what_the_numbers_are(made):
    evidence, tables = made
    together = Outcome("new_measure", "", tables, texts=steps.describe_findings(evidence))
    text = page.write_page([together, *map(compute_tables, evidence.studies)])
    share = 100 * evidence.pooled.power[list(map(str, evidence.pooled.measures)).index("RNADW")]
    assert f"RNADW {share:.1f} %" in text
    assert "{" not in text
    for table in tables.values():
        assert table.caption[:40] in text
    assert "](one/power.csv)" in text


def test_a_collection_is_written_whole_and_compares_equal_with_itself(evidence, tmp_path):
    found = compute_tables(evidence.studies[0])
    assert found.write(tmp_path)
    files = {path.stem: path for path in (tmp_path / found.name).glob("*")}
    assert files.keys() == found.tables.keys()
    assert {path.suffix for path in files.values()} == {".csv"}
    for name, text in found.format_files().items():
        assert compare_csv(text, files[name], found.tolerance) == []
    frame = pd.read_csv(files["power"])
    frame.loc[0, "#sig"] += 1
    frame.to_csv(files["power"], index=False)
    assert len(compare_csv(found.format_files()["power"], files["power"], found.tolerance)) == 1


def test_without_data_the_formulas_remain_and_it_is_said_why():
    class Offline(Settings):
        def load(self, name):
            raise metaeval.DataError(f"{name} cannot be had")

    only, simulated = steps.run(Offline(say=lambda _: None))
    assert set(only.tables) == {"order", "one_class", "limits"}
    assert "stc3-dq-a cannot be had" in only.notes[0]
    assert not only.texts
    assert only.lacks
    for table in simulated.tables.values():
        assert "simulated: " in str(table.signature), "a table of stand-ins has to say so"


@needs_data
@pytest.mark.filterwarnings("ignore:invalid=clip")
def test_the_committed_quick_results_come_out_again():
    for one in steps.run(Settings(quick=True, say=lambda _: None)):
        for name, text in one.format_files().items():
            assert compare_csv(text, RESULTS / one.name / f"{name}.csv", one.tolerance) == []


@needs_data
def test_the_baselines_of_stc_3_are_those_made_from_its_gold():
    runs = metaeval.load_dataset("stc3-dq-s")
    scores = metaeval.score(runs, steps.MEASURES)
    made = metaeval.score(gold.make_baselines(runs), steps.MEASURES)
    submitted = metaeval.baseline_preference(scores, "BL-popularity", "BL-uniform")
    mine = metaeval.baseline_preference(made, gold.POPULARITY, gold.UNIFORM)
    assert np.array_equal(submitted.deltas, mine.deltas)
