"""Questions that the papers leave open: what is computed agrees with oracles, and rules say what they state."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import comb, expit
from scipy.stats import ttest_1samp

import metaeval
from experiments.outcome import Settings
from experiments.page import Page
from experiments.studies import constant_runs, coverage_references, flat_gold, test_and_ranking as ranking
from experiments.studies.calibration.reliability import average_collections
from experiments.studies.coverage_references import cover_sets, rank_counts
from experiments.studies.flat_gold import (
    count_peaks,
    find_flatness,
    find_mean,
    find_switch,
    fit_curve,
    list_gold,
    map_gold,
)
from experiments.studies.shared import find_interval
from metaeval.datasets.baselines import constant_class_counts
from metaeval.errors import MetaevalError
from metaeval.stats.uir import signed_ranks

RNG = np.random.default_rng


def test_the_interval_of_a_mean_is_students():
    values = RNG(0).normal(size=12)
    expected = ttest_1samp(values, 0).confidence_interval()
    assert find_interval(values) == pytest.approx((values.mean(), expected.low, expected.high))


# Coverage under all reference sets


def graded_scores(n_runs=12, n_topics=30, seed=0):
    rng = RNG(seed)
    quality = np.linspace(0, 1, n_runs)[:, None, None]
    values = np.round(quality + rng.normal(0, [0.5, 1.0, 0.7, 0.9, 0.4], (n_runs, n_topics, 5)), 1)
    names = ["Accuracy", "MI", "F1_M", "kappa", "MAE_mu"]
    return metaeval.Scores(values, runs=range(n_runs), topics=range(n_topics), measures=names, collection="made")


def test_counts_of_topics_have_the_ranks_that_sorting_gives():
    counts = RNG(1).integers(-9, 10, (3, 4, 50))
    np.testing.assert_array_equal(rank_counts(counts, 9), signed_ranks(counts.astype(float)))


def test_coverage_of_every_set_and_its_interval_are_those_of_the_analysis():
    scores = graded_scores()
    found = cover_sets(scores, ["kappa", "MAE_mu"], ["Accuracy", "MI", "F1_M"], smallest=2, n_bootstrap=50, seed=3)
    assert found.name_sets()[-1] == "Accuracy + MI + F1_M"
    assert len(found.members) == 4
    gap, low, high = found.compare("kappa", "MAE_mu")
    for place, name in enumerate(found.name_sets()):
        one = metaeval.coverage(scores, reference=name.split(" + "), n_bootstrap=50, seed=3)
        np.testing.assert_allclose(found.coverage[place], one.coverage[3:], atol=1e-12)
        expected = one.compare_coverage().iloc[-1]
        assert (gap[place], low[place], high[place]) == pytest.approx(tuple(expected[["difference", "low", "high"]]))
    assert found.compare_mean("kappa", "MAE_mu")[0] == pytest.approx(gap.mean())


@pytest.mark.parametrize(
    ("mean", "ends", "outcomes"),
    [
        (0.1, (0.05, 0.15), ["holds", "does not hold"]),
        (-0.1, (-0.15, -0.05), ["does not hold", "holds"]),
        (0.1, (-0.1, 0.3), ["cannot tell", "cannot tell"]),
        (0.1, (np.nan, np.nan), ["cannot tell", "cannot tell"]),
    ],
)
def test_a_measure_covers_more_where_the_mean_over_sets_does_so_surely(mean, ends, outcomes):
    index = pd.MultiIndex.from_tuples([("kappa", "CEM_ORD"), ("OCI(beta=0.75, gamma=1)", "CEM_ORD")])
    row = {"sets": 120, "mean": mean, "low": ends[0], "high": ends[1]}
    facts = coverage_references.Facts(pd.DataFrame([row, row], index=index))
    claims = (coverage_references.linear_kappa_leads, coverage_references.cem_leads)
    assert [claim(facts).truth.value for claim in claims] == outcomes


# Constant runs


def made_runs(n_constant=2, seed=0):
    rng = RNG(seed)
    gold = np.array([[4, 5, 3]] * 24)
    counts = [[[rng.multinomial(n, p) for n, p in zip(row, shares, strict=True)] for row in gold]
              for shares in (np.eye(3) * q + (1 - q) / 3 for q in np.linspace(0.1, 0.9, 10))]  # fmt: skip
    counts += [constant_class_counts(gold, k) for k in range(n_constant)]
    runs = [f"r{k}" for k in range(10)] + [f"always-{k}" for k in range(n_constant)]
    return metaeval.ClassificationRuns(
        np.array(counts), runs=runs, topics=[f"{t:02d}" for t in range(24)], classes=["a", "b", "c"], collection="made"
    )


def test_constant_runs_are_told_apart_and_have_no_kappa():
    prepared = constant_runs.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=0)
    assert prepared.informed.shape == (10, 24, 2)
    assert (prepared.classes, prepared.has_own) == ((0, 1), True)
    assert (prepared.constant[:, :, 0] == 0).all()
    without = constant_runs.prepare(made_runs(0), ["kappa"], marked="always-", seed=0)
    assert (without.classes, without.has_own) == ((0, 1, 2), False)


def test_a_run_that_is_called_constant_and_is_not_is_refused():
    runs = made_runs(0)
    renamed = metaeval.ClassificationRuns(
        runs.counts, runs=["always-0", *runs.runs[1:]], topics=runs.topics, classes=runs.classes, collection="made"
    )
    with pytest.raises(MetaevalError, match="always-0 answers more than one class"):
        constant_runs.prepare(renamed, ["kappa"], marked="always-", seed=0)


def test_consistency_with_and_without_constant_runs_is_that_of_the_analysis():
    prepared = constant_runs.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=5)
    options = {"n_trials": 20, "size": 10, "tau": "tau_a"}
    for classes, runs in ((prepared.classes, made_runs()), ((), made_runs(0))):
        scores = metaeval.score(runs, ["kappa", "Accuracy"])
        expected = metaeval.split_half_consistency(scores, seed=5, n_permutations=1, **options).tau
        np.testing.assert_array_equal(prepared.split(classes, **options), expected)


def test_runs_that_are_tied_cost_kappa_their_share_of_pairs_by_tau_a_and_nothing_by_tau_b():
    prepared = constant_runs.prepare(made_runs(3), ["kappa", "Accuracy"], marked="always-", seed=0)
    # All other runs are far ahead of the constant ones, and in the same order on every topic.
    informed = np.broadcast_to(np.arange(1.0, 11)[:, None, None], (10, 24, 2))
    sure = constant_runs.Prepared("made", prepared.measures, informed, 0 * prepared.constant, prepared.classes, True, 0)
    tied, n = 3 * 2 / 2, 13 * 12 / 2
    for tau, expected in (("tau_a", 1 - tied / n), ("tau_b", 1.0)):
        assert sure.split(sure.classes, n_trials=5, size=None, tau=tau).mean() == pytest.approx(expected)


def test_the_jackknife_over_topics_is_that_of_a_mean_where_consistency_is_one(monkeypatch):
    prepared = constant_runs.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=0)
    level = RNG(0).normal(size=24)

    def split(self, classes, *, topics=None, **_):
        chosen = level if topics is None else level[topics]
        return np.array([[chosen.mean() * len(classes), 0.0]] * 3)

    monkeypatch.setattr(constant_runs.Prepared, "split", split)
    found = constant_runs.measure_change(prepared, "kappa", n_trials=3, size=None, tau="tau_a", groups=24, n_left=3)
    expected = ttest_1samp(2 * level, 0).confidence_interval()
    assert found.over_topics == pytest.approx((2 * level.mean(), expected.low, expected.high))


@pytest.mark.parametrize(
    ("ends", "without", "with_", "runs", "outcomes"),
    [
        ((-0.2, -0.1), 2, 9, 12, ["holds", "holds"]),
        ((-0.2, -0.1), 7, 9, 12, ["holds", "does not hold"]),
        ((-0.2, -0.1), 2, 5, 12, ["holds", "does not hold"]),
        ((0.1, 0.2), 2, 9, 12, ["does not hold", "does not hold"]),
        ((-0.1, 0.1), 2, 9, 12, ["cannot tell", "cannot tell"]),
        ((-0.2, -0.1), 2, 9, 9, ["cannot tell", "cannot tell"]),
    ],
)
def test_constant_runs_explain_kappa_where_it_loses_more_than_the_others_and_becomes_one_of_the_worst(
    ends, without, with_, runs, outcomes
):
    row = {"less others": sum(ends) / 2, "topics, low": ends[0], "topics, high": ends[1], "runs": runs}
    facts = constant_runs.Facts(row | {"place without": without, "place with": with_})
    claims = (constant_runs.kappa_loses_more, constant_runs.kappa_becomes_one_of_the_worst)
    assert [claim(facts).truth.value for claim in claims] == outcomes


@pytest.mark.parametrize("rank", [1, 5, 9])
def test_kappas_rank_counts_the_measures_that_are_more_consistent(rank):
    ladder = np.linspace(0.9, 0.1, 9)
    others = iter(np.delete(ladder, rank - 1))
    means = [ladder[rank - 1] if name == constant_runs.ASKED else next(others) for name in constant_runs.MEASURES]
    assert constant_runs.rank_of(np.array(means)) == rank


def test_what_is_asked_of_constant_runs_is_no_sentence_of_a_paper_and_its_page_names_that_paper():
    assert constant_runs.WHERE.startswith("asked here")
    assert constant_runs.WHERE.endswith("(reworded)")
    page = Page("constant_runs", constant_runs).write_page([])
    assert "tried on the page of [acl2021](../acl2021/README.md)" in page


# Flat gold


def test_all_gold_of_some_votes_is_there_once():
    gold = list_gold(19, 5)
    assert len(gold) == len(np.unique(gold, axis=0)) == comb(23, 4)
    np.testing.assert_allclose(gold.sum(axis=1), 1)


def test_flatness_is_zero_for_one_class_and_one_for_uniform():
    np.testing.assert_allclose(find_flatness(np.array([[0, 1, 0, 0], [0.25] * 4, [0.5, 0, 0.5, 0]])), [0, 1, 0.5])


def test_peaks_are_counted_with_level_stretches_as_one():
    gold = np.array([[0.4, 0.3, 0.2, 0.1], [0.3, 0.2, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25], [0.5, 0, 0, 0.5]])
    assert count_peaks(gold).tolist() == [1, 2, 1, 2]


def test_the_curve_is_that_of_maximum_likelihood_and_its_interval_that_of_the_jackknife():
    rng = RNG(3)
    x = rng.random(150)
    chosen = rng.random(150) < expit(-8 * (x - 0.6))
    slope, crossing = fit_curve(x, chosen)
    left = chosen - expit(slope.value * (x - crossing.value))
    assert np.abs([left.sum(), (left * x).sum()]).max() < 1e-3
    for which, one in enumerate((slope, crossing)):
        again = np.array([fit_curve(np.delete(x, t), np.delete(chosen, t))[which].value for t in range(150)])
        jackknife = np.sqrt(149 / 150 * ((again - again.mean()) ** 2).sum())
        low, high = one.find_ends(0.95)
        assert (high - low) / 2 == pytest.approx(1.976 * jackknife, rel=0.1)


def test_a_mean_over_some_topics_has_their_interval():
    values, inside = RNG(0).normal(size=40), np.arange(40) < 25
    low, high = find_mean(values, inside).find_ends(0.95)
    expected = ttest_1samp(values[:25], 0).confidence_interval()
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=0.15)


def test_the_switch_point_is_the_best_of_all():
    rng = RNG(5)
    x, preferred = rng.random(40), rng.integers(-1, 2, 40)
    switch, told = find_switch(x, preferred)
    known = preferred != 0
    tried = [np.mean((x[known] < point) == (preferred[known] > 0)) for point in np.linspace(0, 1, 2001)]
    assert told == pytest.approx(max(tried))
    assert np.mean((x[known] < switch) == (preferred[known] > 0)) == pytest.approx(told)


def test_over_all_gold_every_measure_prefers_popularity_for_one_class_and_uniform_for_flat_gold():
    mapped = map_gold()
    sharp, level = mapped[mapped["flatness"] == 0], mapped[mapped["flatness"] > 0.97]
    assert len(sharp) == 5
    assert (sharp[flat_gold.MEASURES] == 1).all(axis=None)
    assert (level[flat_gold.MEASURES] == -1).all(axis=None)


def test_flatness_explains_only_what_one_switch_point_tells():
    rng = RNG(2)
    x = rng.random(200)
    crossings = dict.fromkeys(flat_gold.MEASURES, 0.4) | {flat_gold.ASKED: 0.7}
    noise = rng.normal(0, 0.02, (200, 6))
    for spread, explained in ((1, "holds"), (15, "does not hold")):
        preferred = np.stack([np.where(x + spread * noise[:, m] < crossings[name], 1, -1)
                              for m, name in enumerate(flat_gold.MEASURES)], axis=1)  # fmt: skip
        popular = {name: preferred[:, m] > 0 for m, name in enumerate(flat_gold.MEASURES)}
        curves = {name: fit_curve(x, chosen) for name, chosen in popular.items()}
        facts = flat_gold.Facts(
            x, preferred, np.ones(200, dtype=int), {name: find_mean(chosen) for name, chosen in popular.items()},
            {name: one for name, (one, _) in curves.items()}, {name: one for name, (_, one) in curves.items()},
        )  # fmt: skip
        assert flat_gold.flatness_explains(facts).truth.value == explained
        assert flat_gold.nmd_prefers_uniform_for_flat_gold(facts).truth.value == "holds"
        assert flat_gold.nmd_prefers_popularity_more_often(facts).truth.value == "holds"


# Tests and rankings


def test_two_tests_contradict_each_other_where_their_intervals_lie_on_either_side_of_0():
    tests = ranking.STUDY["tests"]
    ends = {tests[0]: (0.1, 0.2), tests[1]: (-0.2, -0.1), tests[2]: (0.1, 0.3), tests[3]: (-0.1, 0.1)}
    rows = [{"collection": "made", "test": test, "measure_1": "a", "measure_2": "b", "low": low, "high": high}
            for test, (low, high) in ends.items()]  # fmt: skip
    counted = ranking.count_agreements(pd.DataFrame(rows)).set_index(["test 1", "test 2"])
    assert counted.loc[(tests[0], tests[1]), "contradict"] == 1
    assert counted.loc[(tests[0], tests[2]), "same"] == 1
    assert counted.loc[(tests[0], tests[3]), "one only"] == 1
    compared = pd.DataFrame({"halves": [0.5], "tests": [0.5]})
    facts = ranking.Facts(compared, agreement=counted)
    assert ranking.two_tests_contradict_each_other(facts).truth.value == "holds"
    unsure = ranking.Facts(compared, agreement=counted.assign(intervals=False))
    assert ranking.two_tests_contradict_each_other(unsure).truth.value == "cannot tell"


def test_a_ranking_depends_on_the_test_where_halves_of_the_topics_are_more_alike():
    compared = pd.DataFrame({"halves": [0.6, 0.6, 0.6], "tests": [0.5, 0.8, 0.95]}, index=list("abc"))
    depends = [ranking.ranking_depends_on_the_test(ranking.Facts(compared.loc[[name]])) for name in "abc"]
    assert [answer.truth.value for answer in depends] == ["holds", "does not hold", "does not hold"]
    between = pd.DataFrame({f"{ranking.REFERENCE} / max-t": [0.1, 0.2, 0.1], "max-t / bootstrap-t": [0.9, 0.8, 0.95]})
    whole = ranking.Facts(compared, between)
    assert ranking.ranking_depends_on_the_test(whole).truth.value == "cannot tell"
    assert ranking.studentised_tests_agree(whole).truth.value == "holds"


def test_what_is_said_of_rankings_is_what_the_study_of_calibration_has():
    if not (ranking.RELIABILITY / "changes.csv").exists():
        pytest.skip("the committed results are not here")
    changes, powers = (pd.read_csv(ranking.RELIABILITY / f"{name}.csv") for name in ("changes", "powers"))
    outcome = ranking.study_rankings(changes, powers)
    means = average_collections(changes)["τ_b"]
    compared = outcome.tables["compared"].frame.mean()
    for column, key in (("seeds", "another seed"), ("halves", "the other half of the topics")):
        assert compared[column] == pytest.approx(means[key, ranking.REFERENCE])


def test_without_data_intervals_come_from_what_is_kept(tmp_path, monkeypatch):
    if not (ranking.RESULTS / "test_and_ranking" / "intervals").is_dir():
        pytest.skip("the committed results are not here")
    monkeypatch.setitem(ranking.STUDY, "quick", [])
    powers = pd.read_csv(ranking.RELIABILITY / "powers.csv")
    outcome = ranking.study_intervals(powers, Settings(data=tmp_path, say=lambda _: None))
    kept = pd.read_csv(ranking.RESULTS / outcome.name / "agreement.csv")
    pd.testing.assert_frame_equal(outcome.tables["agreement"].frame.reset_index(), kept)
    assert not outcome.lacks
