"""The study of error rates: its simulated scores have the truth that it says, and its counts are right."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from experiments.old.outcome import Settings
from experiments.studies.calibration import FOLDER, STUDY, boards, designs, intervals, reliability
from experiments.studies.calibration.candidates import judge_candidates, judge_twice, moderate
from experiments.studies.calibration.designs import DESIGNS, simulate_design
from experiments.studies.calibration.intervals import make_normal_population
from experiments.studies.calibration.rates import RECOMMENDED, compute_rates, conclude, read_counts, summarise_copies
from experiments.studies.calibration.simulation import (
    KEPT,
    Cell,
    count_batch,
    count_cells,
    find_significant,
    list_cells,
)
from experiments.studies.calibration.steps import SIMULATED, read_simulated, repeat_first_batches
from experiments.studies.calibration.together import Size, count_together
from experiments.templates import fill_template
from metaeval import Scores
from metaeval.stats import pair_tests
from metaeval.stats.intervals import FEWEST_COLLECTIONS

CELL = Cell("equal means", "choosing", "spread", "normal, two 3x", 5, 12, "effects", 100)


@pytest.mark.parametrize("name", DESIGNS)
def test_runs_of_equal_truth_have_equal_means(name):
    values, means = simulate_design(name, 22, 4000, 4, effects=False, rng=np.random.default_rng(1))
    level = values.mean(axis=1)
    expected = level[-1] if DESIGNS[name].kind != "one hopeless run" else np.where(means < 0, -4.0, level[-1])
    # Standard errors are up to 3 * sqrt(2 / 4000) = 0.07 for the widest runs.
    np.testing.assert_allclose(level, np.broadcast_to(expected, level.shape), atol=0.35)


def test_half_of_all_pairs_differ_where_there_are_effects():
    _, means = simulate_design("normal", 22, 100, 50, effects=True, rng=np.random.default_rng(1))
    first, second = np.triu_indices(22, 1)
    assert (means[first] != means[second]).mean() == pytest.approx(0.5, abs=0.03)


def test_a_simulated_collection_draws_other_runs_of_equal_means_in_every_study(monkeypatch):
    rng = np.random.default_rng(1)
    observed = rng.random((6, 50)) * np.arange(1, 7)[:, None]
    labels = {"runs": range(6), "topics": range(50), "measures": ["NMD"]}
    monkeypatch.setattr(designs, "load_columns", lambda _: Scores(observed[..., None], **labels))
    monkeypatch.setitem(STUDY["collections"]["choosing"], "made", ["NMD"])
    values, means = designs.simulate_collection("made", "NMD", 3, 400, 10, effects=False, rng=rng)
    assert values.shape == (3, 400, 10)
    assert (means == 0).all()
    np.testing.assert_allclose(values.mean(axis=1), 0, atol=0.35)
    spreads = np.sort(observed.std(axis=1))
    assert all(np.abs(spreads / spread - 1).min() < 0.15 for spread in values.std(axis=1).ravel())
    assert len({tuple(np.round(np.sort(study), 1)) for study in values.std(axis=1).T}) > 3


def test_a_precise_copy_is_found_by_holm_in_half_of_the_studies():
    cell = Cell("precise copies", "choosing", "equal", "normal", 10, 50, "precise copy", 100)
    counts = np.sum(
        [count_batch(cell, batch, ("paired-t, Holm", "randomised-tukey-hsd")) for batch in range(6)], axis=0
    )
    assert counts[0, 2] / counts[0, 0] == pytest.approx(0.5, abs=0.1)
    assert counts[1, 2] == 0


def test_counts_are_those_of_a_loop_over_studies():
    values, means = CELL.simulate(0)
    significant = find_significant("paired-t, Holm", values, 1)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    false = [sum(significant[k, p] and means[i, k] == means[j, k] for p, (i, j) in enumerate(pairs)) for k in range(50)]
    found = []
    for k in range(50):
        true = [p for p, (i, j) in enumerate(pairs) if means[i, k] != means[j, k]]
        found.append(significant[k, true].sum() / max(len(true), 1))
    (counts,) = count_batch(CELL, 0, ("paired-t, Holm",))
    assert counts == [50, sum(one > 0 for one in false), pytest.approx(sum(found))]


def test_an_interrupted_simulation_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setitem(STUDY, "candidates", STUDY["candidates"] | {"groups": []})
    monkeypatch.setitem(STUDY, "tests", {"bootstrap-t": {"test": "bootstrap-t"}})
    monkeypatch.setitem(STUDY, "permutations", 50)
    assert count_cells([CELL], tmp_path, most=1)["studies"].tolist() == [50]
    (first,) = tmp_path.rglob("output.pkl")
    written = first.stat().st_mtime_ns
    assert count_cells([CELL], tmp_path)["studies"].tolist() == [100]
    assert len(list(tmp_path.rglob("output.pkl"))) == 2
    assert first.stat().st_mtime_ns == written  # not computed again


def test_both_halves_have_other_designs_and_collections_of_the_same_kinds():
    halves = {half: {d.kind for d in DESIGNS.values() if d.half == half} for half in ("choosing", "checking")}
    assert halves["choosing"] - set(STUDY["special"]) == halves["checking"]
    assert not set(designs.list_collections("choosing")) & set(designs.list_collections("checking"))
    made_up = [group for group in STUDY["groups"] if "designs" in group]
    cells = list(list_cells([], [{**group, "collections": []} for group in made_up]))
    assert len({(cell.name, cell.group) for cell in cells}) == len(cells)


def test_candidates_decide_as_plain_formulas_do():
    values = np.random.default_rng(2).standard_normal((4, 30)) + np.arange(4)[:, None]
    decisions = list(judge_candidates(values, 3))
    assert len(decisions) == len(STUDY["candidates"]["names"])
    assert all(decided.shape == (6,) for decided in decisions)
    assert all(decided[2] for decided in decisions)  # the first and the last run
    assert judge_twice(values, 3, 100, 50)[2]
    same = np.concatenate([values, values[:1]])
    assert not any(decided[3] for decided in judge_candidates(same, 3))


def test_moderated_variances_have_the_prior_that_they_were_drawn_from():
    rng = np.random.default_rng(5)
    truth = 2.0 * 8 / rng.chisquare(8, 20_000)  # a scaled inverse chi square of 8 degrees of freedom
    prior, freedom = moderate(truth * rng.chisquare(24, truth.size) / 24, 24)
    assert (prior, freedom) == (pytest.approx(2.0, rel=0.05), pytest.approx(8, rel=0.1))
    assert moderate(rng.chisquare(24, 5000) / 24, 24)[1] > 500


def test_of_equally_good_measures_simultaneous_intervals_seldom_find_one_better(tmp_path):
    rates = count_together(tmp_path, 1, [Size(12, 30, 1.0, 3)])
    wide = rates.pivot_table(index="question", columns="intervals", values="rate")
    assert (wide["simultaneous"] <= wide["single"]).all()
    assert len(wide) == 7


def make_rates(errors, studies=1000):
    """Counts of made-up tests: {test: ({(half, kind): error}, power, precise copies found)}, as rates."""
    rows = []
    for test, (cells, power, precise) in errors.items():
        for (half, kind), error in cells.items():
            row = {
                "group": "equal means",
                "half": half,
                "kind": kind,
                "design": kind,
                "runs": 22,
                "topics": 25,
                "test": test,
            }
            row |= {"studies": studies, "power": 0.0, "power_se": 0.0, "truth": ""}
            rows.append(row | {"with_false": error * studies, "error": error})
            rows.append(
                row | {"group": "true effects", "truth": "effects", "with_false": 0, "error": 0.0, "power": power}
            )
            copy = {"group": "precise copies", "truth": "precise copy", "topics": 50, "with_false": 0, "error": 0.0}
            rows.append(row | copy | {"power": precise})
    return compute_rates(pd.DataFrame(rows))


def everywhere(error, **others):
    return {
        (half, kind): others.get(f"{half}_{kind}", error) for half in ("choosing", "checking") for kind in ("a", "b")
    }


def describe_conclusion(found):
    return [
        line.removeprefix("- ")
        for line in fill_template("{{ say.conclusion(found) }}", found=found, study=STUDY).splitlines()
    ]


def test_the_most_powerful_test_that_holds_and_finds_precise_copies_is_recommended():
    rates = make_rates(
        {
            "bootstrap-t": (everywhere(0.05), 0.6, 0.5),
            "randomised-tukey-hsd": (everywhere(0.25), 0.9, 0.5),
            "median offset": (everywhere(0.05), 0.8, 0.0),
            "corrected T": (everywhere(0.05), 0.4, 0.5),
        }
    )
    found = conclude(rates)
    assert found.holding == ("bootstrap-t", "corrected T")
    said = describe_conclusion(found)
    assert said[0].startswith(
        "**Use bootstrap-t.** On the choosing half, bootstrap-t and corrected T pass; it finds most"
    )
    assert said[1].startswith(
        "On the checking half, inside the domain, bootstrap-t has a false difference in at most 6.5 % of the studies of each "
        "of 2 kinds; its largest"
    )


def test_a_kind_on_which_the_recommended_test_fails_while_choosing_is_outside_of_the_domain():
    rates = make_rates({"bootstrap-t": (everywhere(0.05, choosing_b=0.2, checking_b=0.3), 0.6, 0.5)})
    found = conclude(rates)
    assert (found.excluded, found.included) == (["b"], ["a"])
    assert found.recommended.failed == 0
    assert any(
        line.startswith("Not in the domain: fewer than 25 topics or 10 runs; b") for line in describe_conclusion(found)
    )


def test_every_kind_of_scores_has_words():
    assert {design.kind for design in DESIGNS.values()} | {"real"} <= {*STUDY["words"], *STUDY["special"]}


def test_precise_copies_are_counted_beside_holm_and_the_best_candidate_that_holds():
    shares = {"bootstrap-t": 0.5, "paired-t, Holm": 0.6, "own standard error": 0.7, "liberal": 0.9}
    rates = make_rates(
        {name: (everywhere(0.3 if name == "liberal" else 0.05), 0.6, share) for name, share in shares.items()}
    )
    (found,) = summarise_copies(rates)
    assert (found.topics, found.candidate, found.best, found.same) == (50, "own standard error", (0.7, 0.6), (0.5, 0.6))
    assert set(found.shares) == {0.5}
    assert set(found.holm) == {0.6}
    assert found.few == []


def test_a_failure_while_checking_is_said():
    found = conclude(make_rates({"bootstrap-t": (everywhere(0.05, checking_b=0.3), 0.6, 0.5)}))
    assert found.recommended.failed == 1
    assert "errs too often in 1 of 2 kinds of studies; its largest error is 0.300" in describe_conclusion(found)[1]


def test_another_test_is_named_where_the_rule_prefers_it():
    rates = make_rates({"bootstrap-t": (everywhere(0.05), 0.6, 0.5), "corrected T": (everywhere(0.05), 0.7, 0.5)})
    assert describe_conclusion(conclude(rates))[0] == "**Use bootstrap-t**, although the rule prefers corrected T."


def test_few_studies_fail_by_more_than_chance_only():
    few = make_rates({"bootstrap-t": (everywhere(0.08), 0.6, 0.5)}, studies=300)
    assert few["holds"].all()
    assert not make_rates({"bootstrap-t": (everywhere(0.08), 0.6, 0.5)})["holds"].all()


@pytest.fixture(scope="module")
def committed():
    if not KEPT.exists():
        pytest.skip("the committed counts are not here")
    return compute_rates(read_counts(KEPT))


def test_the_recommended_test_is_what_the_study_recommends(committed):
    found = conclude(committed)
    assert found.holding[0] == RECOMMENDED == pair_tests.RECOMMENDED
    assert not found.recommended.failed
    assert STUDY["tests"][RECOMMENDED] == {"test": RECOMMENDED}


def test_p_values_of_few_cells_are_those_of_scipy():
    values, _ = CELL.simulate(0)
    significant = find_significant("paired-t, Holm", values[..., :3], 1)
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    for k in range(3):
        p = np.array([ttest_rel(values[i, :, k], values[j, :, k]).pvalue for i, j in pairs])
        assert significant[k].tolist() == (pair_tests.correct([p], "holm")[0] <= 0.05).tolist()


@pytest.mark.parametrize("source", SIMULATED)
def test_tables_that_no_check_simulates_again_say_so(source):
    if not KEPT.exists():
        pytest.skip("the committed counts are not here")
    found = read_simulated(source)
    assert set(found.kept) == set(found.tables)


def test_a_first_batch_that_comes_out_otherwise_is_found(monkeypatch):
    if not KEPT.exists():
        pytest.skip("the committed counts are not here")
    name = STUDY["quick"]["cells"][0]
    monkeypatch.setitem(STUDY, "quick", {"cells": [name], "tests": ["paired-t, Holm"]})
    counts = read_counts(KEPT)
    again = repeat_first_batches(counts, Settings(say=lambda _: None))
    pd.testing.assert_frame_equal(again, counts)
    changed = counts.assign(first_with_false=counts["first_with_false"] + 1)
    mended = repeat_first_batches(changed, Settings(say=lambda _: None))
    assert (mended["first_with_false"] != changed["first_with_false"]).sum() == 1


def test_rankings_of_measures_are_compared_between_seeds_tests_topics_and_runs(monkeypatch):
    monkeypatch.setitem(reliability.SETTINGS, "permutations", 100)
    monkeypatch.setitem(reliability.SETTINGS, "seeds", 2)
    monkeypatch.setitem(reliability.SETTINGS, "splits", 2)
    rng = np.random.default_rng(4)
    noise = rng.normal(0, [0.1, 1.0, 10.0], (6, 20, 3))
    values = np.linspace(0, 1, 6)[:, None, None] + noise
    values[5] = values[4]
    runs = ["BL-one", "b", "c", "d", "e", "f"]
    scores = Scores(values, runs=runs, topics=range(20), measures=["AP", "RR", "ERR@20"], collection="made")
    changes, powers = reliability.measure_reliability({"made": scores})
    sizes = changes.set_index(["changed", "test"])[["runs", "topics"]]
    assert sizes.loc[("without baselines", "bootstrap-t")].tolist() == [5, 20]
    assert sizes.loc[("distinct runs only", "bootstrap-t")].tolist() == [5, 20]
    assert sizes.loc[("the other half of the topics", "bootstrap-t")].tolist() == [6, 10]
    assert (changes["other top"] == 0).all()  # the measure with least noise always finds most
    assert powers.loc[0, "max-t"] == 14 / 15  # all but the pair of identical runs


def test_two_rankings_without_a_common_measure_at_the_top_are_counted():
    change = reliability.Change("another seed", "max-t", 3, 9, [(np.array([1.0, 0.5]), np.array([0.5, 1.0]))] * 2)
    found = reliability._summarise(change)
    assert found["tau"] == -1.0
    assert found["other top"] == 1.0


def test_predictions_of_expected_tau_are_judged_against_the_population():
    population = {"normal": make_normal_population(n_runs=12, n_topics=300)}
    cells = [intervals.Cell("normal", 12, 25)]
    found = intervals.measure_predictions(population, cells, studies=2, studies_of_truth=30)
    assert found["topics"].unique().tolist() == [12, 25, 50, 100]
    assert (found["bias"] == found["predicted"] - found["expected"]).all()
    assert found["bias"].abs().max() < 0.35
    assert found.groupby("measure")["expected"].apply(lambda one: one.is_monotonic_increasing).all()
    said = fill_template("{{ say.predictions(found) }}", found=found, study=STUDY).splitlines()
    assert "25 to 25 topics" in said[0]
    assert said[-1].startswith("- 4 × as many topics: the mean error was")


@pytest.mark.parametrize("compute", [intervals.compute_correlations, intervals.compute_designs])
def test_other_intervals_are_judged_like_those_of_tau(compute):
    population = {"normal": make_normal_population(n_runs=10, n_topics=300)}
    cells = [intervals.Cell("normal", 10, 25)]
    found = intervals.measure_coverage(population, cells, compute=compute, studies=2, studies_of_truth=3)
    assert found["coverage"].between(0, 1).all()
    assert len(found) == len(found["interval"].unique()) >= 2


def test_rank_sets_of_equal_runs_are_wrong_in_few_simulated_boards():
    found = boards.count_cell(boards.Cell("mean", "topics", "normal", "equal", 5, 2), 60)
    assert found["coverage"] > 0.86
    assert found["width"] <= found["letters"] <= 5


def test_the_committed_rank_sets_of_boards_hold_from_the_number_of_tasks_on_that_is_asked_for(committed):
    table = pd.read_csv(FOLDER / "boards" / "boards.csv", keep_default_na=False)
    rows = table[(table["aggregate"] == "mean") & (table["gaps"] == "none")]
    assert {*rows["tasks"]} >= {1, FEWEST_COLLECTIONS, 20}
    assert (rows["coverage"] + 2 * rows["error"] >= 0.94).all()
