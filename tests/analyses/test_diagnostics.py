"""What is irregular about runs is said beside every result, and one of several equal runs can be kept."""

import inspect
import json
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import skew

import metaeval as me
from metaeval.analyses.diagnostics import diagnose, take_distinct_runs
from metaeval.cli.analyses import ANALYSES
from metaeval.errors import MetaevalError
from metaeval.stats.irregular_runs import find_identical_runs
from tests.analyses.made import draw_graded, label, relabel


def make(values, runs="abcdefghi", collection="tiny"):
    return label(values, ["Accuracy", "NMD"], collection, runs=list(runs))


@pytest.fixture(scope="module")
def scores():
    """Nine runs: c, e and z are the same, w varies four times as much, h is far behind."""
    rng = np.random.default_rng(11)
    values = rng.normal(0, 0.05, (9, 60, 2))
    values += np.array([0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, -0.5])[:, None, None] * [1, -1]
    values[3] = values[1]
    values[6] = values[1]
    values[4] = (values[4] - values[4].mean(axis=0)) * 4 + values[4].mean(axis=0)
    return make(values, ["a", "z", "b", "e", "w", "d", "c", "f", "h"])


def test_what_is_irregular_is_said_in_a_line_each_and_explained_below(scores):
    found = diagnose(scores)
    lines, explanations = zip(*(note.split("\n") for note in found.describe("randomised-tukey-hsd")), strict=True)
    assert lines == (
        f"tiny: w varies {found.spread_ratio.max():.1f} times as much as a typical run; check with test=bootstrap-t",
        "tiny: 1 very weak run makes the Tukey HSD test miss differences among the others",
        "tiny: 3 of 9 runs have the same scores as another, and the numbers depend on it; distinct_runs=True keeps one of each",
    )
    assert explanations[0].endswith("docs/concepts/discriminative-power.md.")
    assert "3 runs (c, e, z)" in explanations[2]
    assert found.largest_tau_a == pytest.approx(1 - 3 / 36)
    assert found.never_significant == 3
    assert "3 of 36 run pairs" in explanations[2]
    assert [len(found.describe(test)) for test in ("bootstrap-t", "")] == [1, 1]  # notes are of the test that was used


def test_the_ceiling_of_tau_is_reached_and_not_said_where_it_rounds_to_one(scores):
    twice = relabel(scores, np.repeat(scores.values[..., :1], 2, axis=2), ["Accuracy", "F1_M"])
    tau = me.ranking_similarity(twice, n_bootstrap=0).tau
    assert tau[0, 1] == pytest.approx(diagnose(scores).largest_tau_a)
    values = np.random.default_rng(5).random((80, 3, 2))
    values[1] = values[0]
    found = diagnose(make(values, [f"r{i:02}" for i in range(80)]))
    assert found.largest_tau_a < 1
    assert "no τ_a" not in found.describe(tau="tau_a")[-1]
    assert "1 of 3,160 run pairs" in found.describe()[-1]


def test_nothing_is_said_of_regular_runs_and_equal_ones_do_not_make_the_others_seem_unusual():
    assert diagnose(make(draw_graded(9, 60, [0.1, 0.1], best=0.2))).describe() == []
    values = draw_graded(6, 80, [0.1, 0.1], best=0.2) * [1, -1]
    many = diagnose(make(np.concatenate([values, np.repeat(values[2:3], 7, axis=0)]), [f"r{i:02}" for i in range(13)]))
    alone = diagnose(make(values, [f"r{i:02}" for i in range(6)]))
    assert many.spread_ratio[:, :6] == pytest.approx(alone.spread_ratio)
    assert (many.hopeless[:, :6] == alone.hopeless).all()


def keep_distinct(scores):
    return take_distinct_runs(scores, find_identical_runs(scores.runs, scores.values))


def test_of_equal_runs_the_first_label_stays_in_whatever_order_they_come(scores):
    once = keep_distinct(scores)
    assert once.runs == ("a", "b", "w", "d", "c", "f", "h")
    assert keep_distinct(once) is once
    assert set(keep_distinct(scores.sel(runs=scores.runs[::-1])).runs) == set(once.runs)
    values = scores.values.copy()
    values[3, 0, 1] += 1e-9  # runs that differ under one measure are not identical
    assert find_identical_runs(scores.runs, np.asarray(values)) == (("c", "z"),)


OF_SCORES = {
    "ranking_similarity": {"n_bootstrap": 0},
    "split_half_consistency": {"n_trials": 5, "n_permutations": 20},
    "discriminative_power": {"n_permutations": 50},
    "robustness": {},
    "sample_size": {"n_trials": 3, "sizes": [5]},
    "coverage": {"reference": ["NMD"], "n_bootstrap": 0},
    "agreement": {"reference": "NMD", "n_permutations": 20, "n_bootstrap": 0},
    "topic_set_size": {"n_bootstrap": 0},
}
"""Analyses of scores that take `distinct_runs`, and with which options they are quick."""


def test_every_analysis_of_scores_is_tried_here():
    others = {
        "run_ranks", "significance_overlap", "significance_contradictions", "baseline_preference", "properties",
        "alternative_annotator_test", "calibrate_tests", "compare_qrels", "corrected_scores", "variance_components",
    }  # fmt: skip
    functions = {analysis.function.partition(":")[2] for analysis in ANALYSES.values()}
    assert functions <= {*OF_SCORES, *others}


@pytest.mark.parametrize("name", OF_SCORES)
def test_every_analysis_carries_the_diagnostics_and_can_keep_distinct_runs(scores, name):
    analysis, options = getattr(me, name), OF_SCORES[name]
    assert "distinct_runs" in inspect.signature(analysis).parameters
    result = analysis(scores, **options)
    assert len(result.notes()) == (3 if name == "discriminative_power" else 1)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=True))
    assert data["notes"] == result.notes()
    assert data["diagnostics"][0]["identical"] == [["c", "e", "z"]]
    found = analysis(scores, **options, distinct_runs=True)
    assert ("runs", "distinct") in found.signature.settings
    assert "2 runs with the scores of another run left out: e, z" in found.notes()[-1]
    assert found.to_frame().equals(analysis(keep_distinct(scores), **options).to_frame())


def test_what_follows_from_power_carries_its_diagnostics_and_over_collections_runs_equal_in_all_are_left_out(scores):
    power = me.discriminative_power(scores, n_permutations=50, distinct_runs=True)
    other = me.discriminative_power(make(scores.values + 1, scores.runs, "other"), n_permutations=50)
    for result in (me.significance_overlap(power), me.significance_contradictions(power)):
        assert result.notes() == power.notes()
        assert ("runs", "distinct") in result.signature.settings
    pooled = me.pooled_discriminative_power([power, other])
    assert pooled.notes() == [*power.notes(), *other.notes()]
    assert pooled.to_frame()["mc_se"].tolist() == pytest.approx(np.hypot(power.rows["mc_se"], other.rows["mc_se"]))
    assert "±" in pooled.to_table().frame
    values = scores.values.copy()
    values[1, 0] += 0.25  # z differs here, e and c are the same in both
    result = me.robustness([scores, make(values, scores.runs, "other")], distinct_runs=True)
    assert [one.left_out for one in result.diagnostics] == [("e",), ("e",)]


@pytest.mark.parametrize("test", ["paired-randomisation", "paired-bootstrap"])
def test_too_few_trials_for_a_correction_are_refused_with_the_number_that_would_do(scores, test):
    with pytest.raises(MetaevalError, match="719 trials are the least.*n_permutations=7190 would do"):
        me.discriminative_power(scores, test=test, n_permutations=718)
    few = me.discriminative_power(scores, test=test, n_permutations=719)
    assert "719 trials are few" in few.remarks[0]
    assert ("p", "(count + 1)/(B + 1)") in few.signature.settings
    assert few.p_values.min() > 0
    assert me.discriminative_power(scores, test=test, n_permutations=718, correction="none").remarks == ()
    assert me.discriminative_power(scores, test=test, n_permutations=7190).remarks == ()
    # By Benjamini and Hochberg pairs can be significant together: a remark will do.
    together = me.discriminative_power(scores, test=test, n_permutations=400, correction="benjamini-hochberg")
    assert together.significant.any()
    assert together.remarks


def test_tests_without_trials_have_no_monte_carlo_error(scores):
    power = me.discriminative_power(scores, test="paired-t")
    few = scores.sel(topics=scores.topics[:10])
    assert (me.discriminative_power(few, test="max-t").rows["mc_se"] == 0).all()  # all sign vectors are tried
    assert np.isnan(power.rows["mc_se"]).all()
    assert "±" not in power.to_table().frame
    assert power.to_dict()["rows"][0]["mc_se"] is None


def test_very_skewed_differences_are_said():
    """The median over pairs of the moment formula, computed plainly; distinct runs only, and constant shifts left out."""
    rng = np.random.default_rng(0)
    rare = (rng.random((6, 60)) < np.linspace(0.04, 0.1, 6)[:, None]).astype(float)
    values = np.stack([rare, rng.normal(size=(6, 60))], axis=-1)
    found = diagnose(label(values, ["rare", "even"], higher_is_better=True)).typical
    gaps = np.array([values[i] - values[j] for i, j in combinations(range(6), 2)])
    assert found["skewness"][1] == pytest.approx(np.median(np.abs(skew(gaps[..., 1], axis=1))))
    assert found["zeros"][0] == pytest.approx(np.median((gaps[..., 0] == 0).mean(axis=1)))
    mixed = np.where(np.arange(6)[:, None] < 3, 3 * rare, rng.random((6, 60)))
    skewed = diagnose(label(np.stack([rare, mixed], axis=-1), ["rare", "mixed"], higher_is_better=True))
    assert skewed.to_frame()["skewed"].tolist() == (skewed.typical["skewness"] >= 0.75).tolist()
    assert skewed.to_frame()["skewed"].any()
    (note,) = (one for one in skewed.describe("max-t") if "are skewed with" in one)
    assert "looks at the median pair" in note
    assert "calibrate" not in note
    assert "skewed" not in " ".join(skewed.describe())
    same = label(np.add.outer(np.arange(3.0), np.ones(20)), ["x"], higher_is_better=True)
    assert np.isnan(diagnose(same).typical["skewness"]).all()


@pytest.mark.parametrize("test", ["bootstrap-t", "max-t", "randomised-tukey-hsd"])
def test_near_copies_that_differ_on_one_topic_and_runs_that_fail_on_a_few_are_named(test):
    rng = np.random.default_rng(0)
    values = rng.normal(0.6, 0.1, (10, 50, 2))
    values[4, :, 0] = values[3, :, 0]
    values[4, 7, 0] += 0.3
    values[8, [1, 20], 1] = 0
    scores = label(values, ["X", "Y"], runs=list("abcdefghij"), higher_is_better=True)
    notes = " | ".join(diagnose(scores).describe(test))
    assert "e and d differ much on few topics" in notes or "d and e differ much on few topics" in notes
    assert "98 % of the squares of their differences with X" in notes
    assert "i fails outright on a few topics" in notes
    assert "With Y, on 2 topics at most" in notes
    assert not diagnose(scores).describe()
    assert not diagnose(scores.sel(runs=list("abcdfg"))).describe(test)
