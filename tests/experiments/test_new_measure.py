"""RNADW and the gold distance: what the page says of the formulas, derived again, and that tables count what they say."""

import itertools
import os

import numpy as np
import pandas as pd
import pytest

import metaeval
from experiments.paper import Results, Settings
from experiments.studies.new_measure import claims, steps
from metaeval.measures.quantification import gold_distance

needs_data = pytest.mark.skipif(not os.environ.get("METAEVAL_DATA"), reason="METAEVAL_DATA names no folder")
NEW = steps.NEW
GOLD = ("RNOD(distance=gold)", "RNADW(distance=gold)")
OPTIONS = {"permutations": 200, "splits": 30, "small": 5, "alpha": 0.05}


def score(name, estimated, true):
    return metaeval.measure(name).score(estimated, true)


def draw_shares(n, n_classes, seed=0, concentration=0.3):
    """Random distributions of which many have empty classes."""
    rng = np.random.default_rng(seed)
    drawn = np.where(rng.random((n, n_classes)) < 0.4, 0.0, rng.gamma(concentration, size=(n, n_classes)))
    drawn[drawn.sum(axis=1) == 0, 0] = 1.0
    return drawn / drawn.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("distance", ["equal", "gold"])
def test_rnod_and_rnadw_are_the_same_exactly_where_no_gold_class_is_empty(distance):
    p, q = draw_shares(500, 5, 1), draw_shares(500, 5, 2, 3.0)
    whole = (q > 0).all(axis=1)
    a, b = (score(f"{name}(distance={distance})", p, q) for name in ("RNOD", "RNADW"))
    assert whole.any()
    assert np.allclose(a[whole], b[whole])
    assert not np.isclose(a[~whole], b[~whole]).all()


def test_empty_classes_side_by_side_are_interchangeable_and_rnadw_is_a_distance():
    p, q, r = (draw_shares(500, 5, seed) for seed in (1, 2, 3))
    weights = np.array([2, 1.4, 1.2, 1.4, 2])  # RNSS with the constant weights of the text
    assert np.allclose(score("RNADW", p, q), np.sqrt(((p - q) ** 2 * weights).sum(axis=1) / 4))
    assert (score("RNADW", p, r) <= score("RNADW", p, q) + score("RNADW", q, r) + 1e-12).all()
    q = np.array([0.5, 0.0, 0.0, 0.3, 0.2])
    assert gold_distance(q)[1, 2] == 0
    assert gold_distance(q)[0, 1] == pytest.approx(0.25)
    one, other = np.array([0.3, 0.4, 0.0, 0.2, 0.1]), np.array([0.3, 0.0, 0.4, 0.2, 0.1])
    for name in GOLD:
        assert score(name, one, q) == pytest.approx(score(name, other, q))
    assert score("RNOD", one, q) != pytest.approx(score("RNOD", other, q))


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 6])
def test_the_largest_rnod_with_gold_distance_is_the_closed_form_and_no_random_case_exceeds_it(n_classes):
    bound = np.sqrt((3 * n_classes - 5) / 2) / (n_classes - 1)
    largest = steps.score_extremes(metaeval.measure("RNOD(distance=gold)"), n_classes).max()
    assert largest == pytest.approx(bound, abs=1e-6)
    for concentration in (0.02, 0.1, 0.5):
        q = draw_shares(4000, n_classes, 12, concentration)
        # The measure is convex in the estimate, so its largest value is at an estimate of one class.
        assert score("RNOD(distance=gold)", np.eye(n_classes)[:, None], q).max() <= bound + 1e-9


def test_extremes_and_order_of_measures_are_what_the_page_says():
    limits = steps.tabulate_limits(["RSNOD", "RNOD", "RNADW", *GOLD])
    assert limits.loc["RNOD", "largest value K = 5"] == pytest.approx(np.sqrt(13 / 12), abs=1e-6)
    assert limits.loc["RSNOD", "largest value K = 5"] > 1.04
    assert limits.loc["RNADW", "largest value K = 5"] == pytest.approx(1)
    assert limits.loc["RNADW", "asymmetry K = 5"] == 0
    assert (limits.loc[list(GOLD), "asymmetry K = 5"] > 0.1).all()
    found = set(steps.list_steps(4))
    triples = itertools.product(range(4), repeat=3)
    assert found == {(g, a, b) for g, a, b in triples if abs(a - g) < abs(b - g) and (a - g) * (b - g) > 0}
    order, total = steps.tabulate_order(["NVD", "RNSS", "JSD", "NMD"], 5), len(list(steps.list_steps(5)))
    assert order.to_numpy().tolist() == [[0, total, 0, total]] * 3 + [[0, 0, 0, 0]]


@pytest.fixture(scope="module")
def tables():
    made, settings, results = {}, Settings(say=lambda _: None), Results("new_measure")
    for seed, name in enumerate(("one", "two")):
        rng, true = np.random.default_rng(seed), draw_shares(24, 5, seed, 2.0)
        weight = np.linspace(0.1, 0.9, 7)[:, None, None]
        estimated = (1 - weight) * true + weight * rng.dirichlet(np.ones(5), size=(7, 24))
        labels = {"runs": [f"r{r}" for r in range(7)], "topics": range(24), "classes": range(5), "collection": name}
        made[name] = metaeval.QuantificationRuns(estimated, true, **labels)
    studies = [steps.study_scores(metaeval.score(runs, steps.MEASURES), settings, OPTIONS) for runs in made.values()]
    steps.add_collections(results, studies, [study.contradictions for study in studies], made, settings)
    results.add("order", steps.tabulate_order(steps.MEASURES, 5))
    return {name: output.frame for name, output in results.outputs.items()}


def test_claims_significant_pairs_and_contradictions_of_new_measures_follow_the_tables(tables):
    pooled, beside = tables["pooled_power"].set_index("measure")["#sig"], tables["beside"].groupby("measure").sum()
    for name in NEW:
        assert beside.loc[name, "new only"] + beside.loc[name, "both"] == pooled[name]
        assert beside.loc[name, "RNOD only"] + beside.loc[name, "both"] == pooled["RNOD"]

    class Made:
        read = staticmethod(lambda name: tables[name])

    for one in (claims.is_more_consistent, claims.is_worth_taking, claims.prefers_uniform_more):
        assert [name for name, _ in one.decide(Made)] == NEW
    answers = dict(claims.keeps_order_of_one_class.decide(Made))
    assert list(answers) == ["RNOD", *NEW]
    assert [answer.word for answer in answers.values()] == ["holds"] + ["does not hold"] * 3
    rows = pd.DataFrame({"halves": ["better", "worse", "same"], "gain halves": [1.0, -1, 0]})
    assert claims.compare_consistency(rows).word == "does not hold"
    assert claims.compare_consistency(rows[:1]).word == "holds"
    up = np.linspace(0.1, 0.8, 3)[:, None, None] + np.linspace(0, 0.1, 12)[None, :, None]
    labels = {"runs": list("abc"), "topics": range(12), "measures": ["NMD", "RNOD", "NVD"], "collection": "tiny"}
    power = metaeval.discriminative_power(metaeval.Scores(np.dstack([up, 1 - up, up]), **labels), n_permutations=500)
    frame = steps.list_contradictions([metaeval.significance_contradictions(power)])
    assert frame[["run_1", "run_2"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    assert (set(frame["for_run_1"]), set(frame["for_run_2"])) == ({"NMD, NVD"}, {"RNOD"})


def test_without_data_the_formulas_remain_and_it_is_said_why():
    class Offline(Settings):
        def load(self, name):
            raise metaeval.DataError(f"{name} cannot be loaded")

    results = steps.run(Offline(say=lambda _: None))
    assert set(results.outputs) == {"order", "limits"}
    assert results.left_out["beside"] == "needs stc3-dq-a, llmjudge-oq, sem16t4e"


@needs_data
def test_the_baselines_of_stc_3_are_those_made_from_its_gold():
    runs = metaeval.load_dataset("stc3-dq-s")
    scores = metaeval.score(runs, steps.MEASURES)
    made = metaeval.score(steps.make_baselines(runs), steps.MEASURES)
    submitted = metaeval.baseline_preference(scores, "BL-popularity", "BL-uniform")
    mine = metaeval.baseline_preference(made, steps.POPULARITY, steps.UNIFORM)
    assert np.array_equal(submitted.deltas, mine.deltas)
