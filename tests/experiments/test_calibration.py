"""The study of error rates: what the package recommends and remarks is what the committed tables say."""

import numpy as np
import pytest

from experiments.studies.calibration.designs import DESIGNS, STUDY, simulate_design
from experiments.studies.calibration.measures import EXCHANGED, RULES, STATISTICS, find_excess
from experiments.studies.calibration.rates import RECOMMENDED, compute_rates, conclude
from experiments.studies.calibration.simulation import list_edges
from metaeval.analyses.agreement import remark_coverage, remark_levels
from metaeval.stats import pair_tests
from metaeval.stats.agreement import STATISTICS as ALL, parse_statistic


@pytest.mark.parametrize("name", DESIGNS)
def test_runs_of_equal_truth_have_equal_means(name):
    values, means = simulate_design(name, 22, 4000, 4, effects=False, rng=np.random.default_rng(1))
    level = values.mean(axis=1)
    expected = level[-1] if DESIGNS[name].kind != "one hopeless run" else np.where(means < 0, -4.0, level[-1])
    # Standard errors are up to 3 * sqrt(2 / 4000) = 0.07 for the widest runs.
    np.testing.assert_allclose(level, np.broadcast_to(expected, level.shape), atol=0.35)


@pytest.fixture
def read(committed):
    return committed("calibration").read


def test_the_test_that_the_study_recommends_is_that_of_the_package_and_all_statistics_were_simulated(read):
    found = conclude(compute_rates(read("counts")))
    assert found.holding[0] == RECOMMENDED == pair_tests.RECOMMENDED
    assert not found.recommended.failed
    assert STUDY["tests"][RECOMMENDED] == {"test": RECOMMENDED}
    rates = read("exchanges")
    assert set(STATISTICS) == set(ALL)
    place = rates[["statistic", "rule", "n_runs", "n_topics", "run_effect"]]
    wanted = [(s, r, one.n_runs, one.n_topics, one.effect) for one in EXCHANGED for s in STATISTICS for r in RULES]
    assert list(place.itertuples(index=False, name=None)) == wanted
    assert rates["rate"].between(0, 1).all()
    wide = rates.pivot_table(index=["n_runs", "run_effect", "statistic"], columns="rule", values="rate")
    assert (wide["both"] <= np.minimum(wide["interval"], 2 * wide["exchange test"]) + 2e-6).all()


def test_rank_sets_hold_in_the_committed_boards(read):
    rows = read("boards").query("gaps == 'none' and aggregate == 'mean'")
    assert {*rows["tasks"]} >= {1, 3, 20}  # from the number of tasks on that is asked for
    assert (rows["coverage"] + 2 * rows["error"] >= 0.94).all()


def test_what_a_result_remarks_is_what_the_study_found(read):
    rates = read("exchanges")
    assert set(find_excess(rates, "interval", True)) == set(STATISTICS)
    assert find_excess(rates, "interval", False) == {}
    too_often = set(find_excess(rates, "exchange test", False)) | set(find_excess(rates, "exchange test", True))
    assert 0 < len(too_often) < len(STATISTICS)
    for one in STATISTICS:
        assert "speaks of these runs only" in remark_levels([parse_statistic(one)], True)[-1]
        remarked = any("p-values and clusters" in line for line in remark_levels([parse_statistic(one)], False))
        assert remarked == (one in too_often), one
    simulated = read("agreement")
    names = simulated["interval"].str.removeprefix("difference of ")
    pairs = zip(map(parse_statistic, names), simulated["n_topics"], strict=True)
    remarked = np.array([bool(remark_coverage([statistic], n_topics)) for statistic, n_topics in pairs])
    too_seldom = simulated["coverage"] < 0.9
    assert not (too_seldom & ~remarked).any()
    assert (too_seldom & remarked).any()


def test_what_errs_is_outside_of_the_domain_and_every_cell_inside_was_confirmed_by_fresh_studies(read):
    counts, edges, confirmed = read("counts"), read("edges"), read("confirmed")
    rates = compute_rates(counts)
    included = set(conclude(rates).included)
    cells = [(about, cell.design, cell.n_runs, cell.n_topics) for about, cell in list_edges()]
    assert list(edges[["about", "design", "runs", "topics"]].itertuples(index=False, name=None)) == cells
    assert (edges["studies"] == STUDY["edges"]["studies"]).all()
    failed, excluded = {*edges.loc[edges["error"] > STUDY["most"], "kind"]}, {*STUDY["excluded_after_edges"]}
    assert excluded <= failed
    assert not failed & included
    assert included - {"real"} <= {*edges["kind"]} | {*counts.query("runs == 10")["kind"]}
    assert not failed & {design.kind for design in DESIGNS.values() if design.half != "neither"} - excluded
    inside = rates[(rates["half"] == "checking") & rates["domain"] & (rates["truth"] == "")]
    assert len(confirmed) == (inside["test"] == "bootstrap-t").sum()
    assert (confirmed["studies"] == STUDY["again"]).all()
    assert (confirmed["error"] <= STUDY["most"]).all()
