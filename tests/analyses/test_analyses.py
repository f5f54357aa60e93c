"""What the analyses answer, compared with worked cases, the papers' own numbers and other packages."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import metaeval as me
from metaeval.analyses import power_pairs
from metaeval.errors import DirectionWarning, MetaevalWarning
from metaeval.stats.weighted_correlation import correlate
from tests.analyses.made import draw_graded, label, relabel

TWO = ["NMD", "RNOD"]
PAIR = ["measure_1", "measure_2"]


@pytest.fixture(scope="module")
def scores():
    """Runs of graded quality on forty topics; higher is better for the first measure, lower for the others."""
    rng = np.random.default_rng(5)
    quality = np.linspace(0.3, 0.7, 8)[:, None, None] + rng.normal(0, 0.08, (8, 40, 1))
    noise = rng.normal(0, 0.15, (8, 40, 1))
    values = np.clip(np.concatenate([quality, 1 - quality, 1 - quality + noise], axis=-1), 0, 1)
    return label(values, ["Accuracy", *TWO], "c", topics=[f"t{t}" for t in range(40)])


@pytest.fixture(scope="module")
def power(scores):
    return me.discriminative_power(scores, n_permutations=500)


@pytest.mark.parametrize("variant", ["tau_a", "tau_b"])
def test_similarity_is_scipys_tau_with_the_directions_of_measures_and_one_without_is_named(scores, variant):
    means = scores.means() * [1, -1, -1]
    frame = me.ranking_similarity(scores, tau=variant, n_bootstrap=0).to_frame()
    for one, two in (("Accuracy", "NMD"), ("NMD", "RNOD"), ("Accuracy", "RNOD")):
        assert frame.loc[one, two] == pytest.approx(scipy.stats.kendalltau(means[one], means[two]).statistic)
    with pytest.warns(DirectionWarning, match="cost"):
        me.ranking_similarity(label(draw_graded(4, 5, [1, 1]), ["cost", "NMD"]), n_bootstrap=0)


def test_the_reference_of_a_one_sided_correlation_is_the_row(scores):
    found, means = me.ranking_similarity(scores, n_bootstrap=0, tau="tau_ap"), scores.means() * [1, -1, -1]
    for row in found.pairs.itertuples():
        assert row.tau == pytest.approx(correlate(means[row.measure_1], means[row.measure_2], "tau_ap"))
    assert len(found.pairs) == 6
    assert "rows are the reference" in found.to_table().whole_caption
    assert found.to_table().frame.shape == (3, 3)


def test_intervals_of_tau_hold_it_narrow_with_more_topics_and_are_certain_where_measures_always_agree(scores):
    values = draw_graded(12, 100, [1, 1])
    many, few = (me.ranking_similarity(label(part, TWO, "c")).pairs.iloc[0] for part in (values, values[:, :25]))
    assert many["low"] < many["tau"] < many["high"]
    assert few["low"] < few["tau"] < few["high"]
    assert many["high"] - many["low"] < few["high"] - few["low"]
    same = me.ranking_similarity(label(np.repeat(values[:, :25, :1], 2, axis=2), TWO)).pairs
    assert same[["low", "high"]].to_numpy().tolist() == [[1, 1]]
    without = me.ranking_similarity(scores)
    assert without.pairs["low"].isna().all()
    assert "needs 10 runs and 25 topics to cover what it claims; there are 8 and 40" in without.to_text()
    assert not me.ranking_similarity(scores, n_bootstrap=0).no_interval


def test_v_e2_and_effect_sizes_of_consistency_are_those_of_the_trial_by_measure_matrix(scores):
    result = me.split_half_consistency(scores, n_trials=200)
    tau = result.tau
    residual = tau - tau.mean(axis=0) - tau.mean(axis=1, keepdims=True) + tau.mean()
    variance = (residual**2).sum() / ((tau.shape[0] - 1) * (tau.shape[1] - 1))
    assert result.residual_variance == pytest.approx(variance)
    gap = result.means[0] - result.means[2]
    assert result.effect_sizes[0, 2] == pytest.approx(gap / np.sqrt(variance))
    settings = result.to_dict()["settings"]
    assert (settings["residual_variance"], settings["sizes"]) == (result.residual_variance, list(result.sizes))


def test_marks_of_consistency_count_the_worst_measures_that_are_all_outperformed(scores):
    """The first beats both others; it beats the second only, so that not even the worst one counts; and there is one."""
    base = me.split_half_consistency(scores, n_trials=10)
    for p_values, marks in (((0.01, 0.01, 0.5), [2, 0, 0]), ((0.01, 0.5, 0.5), [0, 0, 0])):
        found = replace(base, tau=np.tile([0.9, 0.7, 0.5], (10, 1)), p_values=np.array(p_values))
        assert found.outperforms.tolist() == marks
    alone = me.split_half_consistency(scores.sel(measures="NMD"), n_trials=50)
    assert alone.to_frame()["outperforms"].tolist() == [0]
    assert np.isnan(alone.residual_variance)


@pytest.mark.parametrize("test", ["randomised-tukey-hsd", "bootstrap-t", "paired-t"])
def test_more_power_is_told_where_the_difference_is_large_and_the_measures_are_paired(test):
    noise = np.random.default_rng(0).normal(size=(12, 60, 1)) * [0.3, 0.3, 2.0]
    scores = label(np.linspace(0, 1, 12)[:, None, None] + noise, [*TWO, "JSD"], "c")
    power = me.discriminative_power(scores, n_permutations=300, test=test, n_bootstrap=200)
    rows = power.differences.set_index(PAIR)
    assert rows["finds_more"].tolist() == ["cannot tell", "NMD", "RNOD"]
    same = rows.loc[("NMD", "RNOD")]  # nothing but the step of one pair of runs: the scores are the same
    assert [same["low"], same["difference"], same["high"]] == pytest.approx([-1 / 66, 0, 1 / 66])
    own = power.to_frame()
    assert ((own["low"] <= own["power"]) & (own["power"] <= own["high"]) & (own["low"] < own["high"])).all()
    assert "finds more than" in power.to_text()


def test_frames_of_power_hold_means_and_shares_of_trials_and_few_runs_have_no_interval(scores, power):
    assert list(power.summary()) == ["measure", "significant", "pairs", "power", "mc_se"]
    frame = power.run_pairs()
    assert " ".join(frame) == "measure run_a run_b mean_a mean_b count p_value difference low high d d_low d_high"
    assert len(frame) == 3 * 28
    assert np.allclose(frame["p_value"], frame["count"] / 500)
    pair = frame.iloc[30]
    assert pair["mean_a"] == pytest.approx(scores.means().loc[pair["run_a"], pair["measure"]])
    assert set(power.differences["finds_more"]) == {"cannot tell"}
    assert "there are 8 and 40" in power.to_text()
    assert all((np.diff(line.y) <= 0).all() for line in power.charts()[0].lines)


def test_another_seed_or_collection_name_gives_other_trials_and_signatures_name_them(scores, power):
    for given, seed in ((scores, 1), (replace(scores, collection="another"), 0)):
        other = me.discriminative_power(given, n_permutations=500, seed=seed)
        assert not np.array_equal(power.counts, other.counts)
    signature = str(me.discriminative_power(scores, n_permutations=1234, seed=7).signature)
    for part in (f"c@{scores.fingerprint}", "8 runs × 40 topics", "Accuracy, NMD, RNOD", "B 1,234", "seed 7"):
        assert part in signature
    assert me.__version__ in signature


def test_signatures_state_margins_that_are_not_as_usual():
    scores = label(np.random.default_rng(5).random((12, 30, 3)), higher_is_better=True)
    for ask, options in (
        (me.discriminative_power, {"n_permutations": 20}),
        (me.ranking_similarity, {}),
        (me.agreement, {"reference": "a", "statistics": ["tau_a"], "n_permutations": 20}),
    ):
        assert "margin 0.2" in str(ask(scores, margin=0.2, n_bootstrap=20, **options).signature)
        assert "margin" not in str(ask(scores, n_bootstrap=20, **options).signature)


def test_a_constant_measure_has_p_values_of_one_and_a_warning():
    values = np.random.default_rng(0).random((4, 6, 2))
    values[..., 1] = 0.25
    with pytest.warns(MetaevalWarning, match="NMD gives all runs the same score"):
        power = me.discriminative_power(label(values, ["Accuracy", "NMD"]), n_permutations=100)
    assert (power.p_values[1] == 1).all()


def test_intervals_of_pooled_power_are_of_other_topics():
    rng = np.random.default_rng(3)
    powers = []
    for number in range(3):
        values = rng.normal(0, 0.1 + 0.3 * number, (12, 1, 1)) + rng.normal(size=(12, 30, 2)) * [0.3, 1.0]
        scores = label(values, ["AP", "RR"], str(number))
        powers.append(me.discriminative_power(scores, n_permutations=200, n_bootstrap=300))
    pooled = me.pooled_discriminative_power(powers)
    row = pooled.to_frame().iloc[0]
    assert row["low"] < row["power"] < row["high"]
    (gap,) = pooled.differences.itertuples()
    pairs = 66 * np.array([power.over_topics.shares @ [1, -1] for power in powers])
    by_hand = gap.difference + np.array([-1.96, 1.96]) * (pairs.sum(axis=0) / 198).std(ddof=1) * np.sqrt(30 / 29)
    assert [gap.low, gap.high] == pytest.approx(by_hand, abs=0.02)


def test_overlaps_add_up_to_what_each_measure_finds_and_are_those_printed_for_nmd_and_rnod_on_dialeval_dq_s(power):
    """LQ 2021, Table 4(h): 52.2 (11/71/54)."""
    found = power.summary().set_index("measure")["significant"]
    for row in me.significance_overlap(power).to_frame().itertuples():
        assert (row.a + row.b, row.b + row.c) == (found[row.measure_1], found[row.measure_2])
        assert row.sso == pytest.approx(row.b / (row.a + row.b + row.c))
    pair = np.arange(231)
    significant = np.array([pair < 82, (pair >= 11) & (pair < 11 + 125)])
    power = me.discriminative_power(label(draw_graded(22, 3, [1, 1]), TWO), n_permutations=1)
    overlap = me.significance_overlap(replace(power, p_values=1.0 - significant))
    row = overlap.to_frame().iloc[0]
    assert (row["a"], row["b"], row["c"], round(100 * row["sso"], 1)) == (11, 71, 54, 52.2)
    assert "52.2 (11/71/54)" in overlap.to_text()


def test_a_contradiction_names_who_says_what():
    up = np.add.outer([0.1, 0.45, 0.8], np.linspace(0, 0.05, 15))
    scores = label(np.stack([up, up, up[::-1]], axis=-1), ["NMD", "Accuracy", "RNOD"])
    found = me.significance_contradictions(me.discriminative_power(scores, n_permutations=500))
    counts = found.to_frame().set_index(PAIR)["contradictions"]
    assert counts.to_dict() == {("NMD", "Accuracy"): 3, ("NMD", "RNOD"): 3, ("Accuracy", "RNOD"): 0}
    pairs = found.run_pairs()
    assert len(pairs) == 6
    assert ("NMD", "Accuracy", "r00", "r02") in set(pairs.itertuples(index=False, name=None))


def test_wins_and_quadrants_of_a_run_and_a_baseline_are_those_by_hand_and_pearson_of_deltas_is_scipys(scores):
    values = np.array([[[0.1, 0.9], [0.4, 0.2], [0.3, 0.3]], [[0.2, 0.5], [0.4 + 1e-12, 0.1], [0.1, 0.4]]])
    found = me.baseline_preference(label(values, TWO), "r00", "r01")
    assert found.to_frame().to_numpy().tolist() == [[1, 1, 1], [1, 2, 0]]
    row = found.quadrants().iloc[0]
    assert (row["second"], row["fourth"]) == (1, 1)
    found = me.baseline_preference(scores, "r00", "r07")
    row = found.quadrants().set_index(PAIR).loc[tuple(TWO)]
    expected = scipy.stats.pearsonr(found.deltas[:, 1], found.deltas[:, 2])
    interval = expected.confidence_interval()
    assert [row["r"], row["low"], row["high"]] == pytest.approx([expected.statistic, interval.low, interval.high])
    constant = me.baseline_preference(label(np.ones((2, 3, 2)), TWO), "r00", "r01")
    assert constant.quadrants()["r"].isna().all()
    assert constant.to_frame()["tied"].tolist() == [3, 3]


def test_rho_between_topics_is_scipys_and_undefined_where_a_topic_tells_no_runs_apart(scores):
    two = scores.sel(topics=["t0", "t1"])
    expected = [scipy.stats.spearmanr(two.values[:, 0, m], two.values[:, 1, m]).statistic for m in range(3)]
    assert me.robustness(two).to_frame()["mean"].tolist() == pytest.approx(expected)
    values = draw_graded(4, 3, [1])
    values[:, 0] = 0.5
    row = me.robustness(label(values, ["NMD"])).to_frame().iloc[0]
    assert (row["pairs"], row["undefined"]) == (1, 2)


def test_collections_are_joined_by_run_name_and_runs_that_not_all_have_are_named(scores):
    same = relabel(scores, scores.values[::-1], runs=scores.runs[::-1], collection="d")
    with pytest.warns(MetaevalWarning, match="c and d have the same scores"):
        found = me.robustness([scores, same])
    assert found.to_frame()["mean"].tolist() == pytest.approx([1, 1, 1])
    fewer = replace(scores.sel(runs=scores.runs[:4], topics=scores.topics[:9]), collection="d")
    with pytest.warns(MetaevalWarning, match="left out: r04"):
        found = me.robustness([scores, fewer])
    assert found.runs == scores.runs[:4] == tuple(found.to_dict()["settings"]["runs"])


def test_more_topics_rank_runs_more_consistently(scores):
    frame = me.sample_size(scores, sizes=[4, 10, 20, 40, 80], n_trials=100).to_frame()
    rows = frame[frame["measure"] == "RNOD"]
    for rising in (rows["mean_tau"].iloc[:3], rows["expected_tau"], rows["true_tau"]):
        assert rising.is_monotonic_increasing
    assert np.isnan(rows["mean_tau"].iloc[3])
    assert rows["expected_tau"].iloc[2] == pytest.approx(rows["mean_tau"].iloc[2], abs=0.02)


def test_expected_tau_goes_on_as_far_as_predictions_were_checked_and_is_said_to_be_modelled_beyond_twice(scores):
    found = me.sample_size(scores, sizes=[40, 160, 400], n_trials=20)
    by_size = found.to_frame().set_index("topics")
    assert (by_size["expected_tau"] <= by_size["true_tau"]).loc[:160].all()
    assert by_size["expected_tau"].loc[400].isna().all()
    assert "No interval: it needs 10 runs" in found.to_table().whole_caption
    assert "checked with up to 4 times as many topics" in found.notes()[-1]
    modelled, seen = (me.sample_size(scores, sizes=[size], n_trials=5).notes(short=True) for size in (81, 80))
    note = "expected τ of more than 80 topics rests on a model of the runs"
    assert note in modelled
    assert note not in seen


# What is asked of many runs stays small: nothing grows with the number of pairs unless it is asked for.


@pytest.fixture(scope="module")
def many():
    """Twelve runs in no order of labels, two measures that disagree."""
    names = np.random.default_rng(3).permutation([f"r{i}" for i in range(12)])
    return label(draw_graded(12, 30, [0.3, 0.3]) * [1, -1], ["nDCG", "AP"], "c", runs=names)


@pytest.fixture(scope="module")
def disagreeing(many):
    return me.discriminative_power(many, n_permutations=200, n_bootstrap=50)


def test_the_interval_of_a_pair_is_students_and_missing_with_few_topics(many, disagreeing):
    for row in disagreeing.run_pairs().sample(20, random_state=1).itertuples():
        one, other = (many.sel(runs=run, measures=row.measure).values.ravel() for run in (row.run_a, row.run_b))
        low, high = scipy.stats.ttest_rel(one, other).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((low, high))
        assert row.d == pytest.approx((one - other).mean() / (one - other).std(ddof=1))
    few = me.discriminative_power(many.sel(topics=many.topics[:24]), n_permutations=10).run_pairs()
    assert few["low"].isna().all()


def test_contradictions_beyond_the_first_are_counted_and_written_where_asked(many, disagreeing, monkeypatch):
    found = me.significance_contradictions(disagreeing)
    whole = found.run_pairs()
    assert len(whole) == found.to_frame()["contradictions"].sum() > 5
    assert not any("first" in note for note in found.notes())
    monkeypatch.setattr(power_pairs, "MOST_LISTED", 5)
    monkeypatch.setattr(power_pairs, "FEW_LISTED", 5)
    found, said = me.significance_contradictions(disagreeing), f"The first 5 of {len(whole)}"
    assert f"{said} contradictions" in found.at("paper")[-1].whole_caption
    assert any(said in note for note in found.notes())
    pd.testing.assert_frame_equal(found.frames()["run_pairs"], whole.head(5))
    assert [len(found.run_pairs(most)) for most in (1, 4, len(whole) + 1)] == [1, 4, len(whole)]
    none = me.significance_contradictions(many, n_permutations=50, alpha=0.001, test="max-t").run_pairs()
    assert none.empty
    assert list(none) == ["measure_1", "measure_2", "run_1", "run_2"]


@pytest.mark.parametrize(("n_runs", "n_topics", "lettered"), [(10, 20, True), (9, 20, False), (10, 18, False)])
def test_with_few_runs_or_topics_a_table_of_consistency_has_no_letters(n_runs, n_topics, lettered):
    scores = label(draw_graded(n_runs, n_topics, [0.2, 2.0]))
    table = me.split_half_consistency(scores, n_trials=20, n_permutations=50).tables()[0]
    assert ("letters" in table.frame) == lettered
    assert ("No letters: they need 10 runs, and as many topics in each set." in table.caption) == (not lettered)
