"""How often one of two equally good measures is called better: what is simulated, kept and said."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from experiments.studies.calibration import STUDY, exchanges
from experiments.studies.calibration.exchanges import RULES, SETTINGS, STATISTICS, Setting, find_excess
from experiments.templates import fill_template
from metaeval.analyses.agreement import remark_coverage, remark_levels
from metaeval.stats.agreement import STATISTICS as ALL, parse_statistic

KEPT = Path(__file__).parents[2] / "results" / "calibration" / "exchanges" / "rates.csv"


@pytest.fixture(scope="module")
def rates():
    return pd.read_csv(KEPT)


def test_every_statistic_was_simulated_by_every_rule_and_setting(rates):
    assert set(STATISTICS) == set(ALL)
    place = rates[["statistic", "rule", "n_runs", "n_topics", "run_effect"]]
    wanted = [(s, r, one.n_runs, one.n_topics, one.run_effect) for one in SETTINGS for s in STATISTICS for r in RULES]
    assert list(place.itertuples(index=False, name=None)) == wanted
    assert rates["rate"].between(0, 1).all()
    assert (rates["error"][rates["rule"] == "exchange test"] <= 0.015).all()


def test_what_holds_for_one_measure_by_both_rules_holds_by_each(rates):
    wide = rates.pivot_table(index=["n_runs", "run_effect", "statistic"], columns="rule", values="rate")
    assert (wide["both"] <= wide["interval"] + 2e-6).all()
    assert (wide["both"] <= 2 * wide["exchange test"] + 2e-6).all()


def test_intervals_are_remarked_as_of_these_runs_since_all_statistics_favour_runs(rates):
    assert set(find_excess(rates, "interval", True)) == set(STATISTICS)
    assert find_excess(rates, "interval", False) == {}
    for one in STATISTICS:
        assert "speaks of these runs only" in remark_levels([parse_statistic(one)], True)[-1]


def test_intervals_held_what_they_claim_where_nothing_is_remarked():
    simulated = pd.read_csv(KEPT.parents[1] / "agreements" / "agreement.csv")
    names = simulated["interval"].str.removeprefix("difference of ")
    pairs = zip(map(parse_statistic, names), simulated["n_topics"], strict=True)
    remarked = np.array([bool(remark_coverage([statistic], n_topics)) for statistic, n_topics in pairs])
    too_seldom = simulated["coverage"] < 0.9
    assert not (too_seldom & ~remarked).any()
    assert (too_seldom & remarked).any()


def test_a_result_remarks_the_tests_that_err_too_often_and_no_others(rates):
    too_often = set(find_excess(rates, "exchange test", False)) | set(find_excess(rates, "exchange test", True))
    assert 0 < len(too_often) < len(STATISTICS)
    for one in STATISTICS:
        assert any("exchange tests" in line for line in remark_levels([parse_statistic(one)], False)) == (
            one in too_often
        ), one


def test_sentences_name_what_is_above_the_level():
    made = pd.DataFrame(
        [
            ("acc_t", rule, 10, 40, effect, 0.05, rate, 0.01, 100)
            for effect in (0.0, 0.3)
            for rule, rate in zip(RULES, (0.108, 0.06, 0.06), strict=True)
        ],
        columns=["statistic", "rule", "n_runs", "n_topics", "run_effect", "alpha", "rate", "error", "studies"],
    )
    said = fill_template("{{ say.exchanges(rates) }}", rates=made, find_excess=find_excess, study=STUDY).splitlines()
    assert "exchange tests: 10.8 %" in said[1]
    assert said[1].endswith("`acc_t` 10.8 ± 1.0 %.")
    assert said[2].endswith("none.")


def test_simulated_measures_are_equally_good_and_favour_runs_where_there_is_an_effect():
    spread = []
    for effect in (0.0, 2.0):
        scores = exchanges.simulate_measures(Setting(40, 400, effect, 1), 0)
        noise = scores.values[..., 1:] - scores.values[..., :1]
        spread.append(noise.mean(axis=1).std(axis=0))
        # The standard deviation of 40 run effects is off by a ninth.
        np.testing.assert_allclose(noise.mean(axis=1).std(axis=0), np.hypot(effect, 0.05), rtol=0.4)
    assert (spread[1] > spread[0]).all()


def test_an_interrupted_simulation_goes_on_with_the_studies_that_are_missing(tmp_path):
    """Of a statistic that costs little; the studies of the shorter run are not judged again."""
    few, all_studies = (Setting(10, 25, 0.0, studies) for studies in (2, 3))
    exchanges.count_exchanges(tmp_path, settings=[few])
    judged = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("output.pkl")}
    rates = exchanges.count_exchanges(tmp_path, settings=[few])
    assert rates["studies"].unique().tolist() == [2]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("output.pkl")} == judged
    assert len(judged) == few.studies != all_studies.studies


def test_judgements_of_a_study_are_shares():
    found = np.array(exchanges.judge_study(Setting(10, 25, 3.0, 1), 1, ("tau_a", "topic_pearson"), trials=40))
    assert found.shape == (2, 3)
    assert 0 < found.max() <= 1
