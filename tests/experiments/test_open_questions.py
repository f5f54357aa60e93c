"""Questions that the papers leave open: what is computed agrees with oracles, and rules say what they state."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import comb, expit
from scipy.stats import ttest_1samp

import metaeval
from experiments.answers import find_interval, write_answer
from experiments.calibration.reliability import average_collections
from experiments.constant_runs import consistency, page as constant_page, verdicts as constant
from experiments.coverage_references import verdicts as coverage
from experiments.coverage_references.sets import cover_sets, rank_counts
from experiments.flat_gold import verdicts as flat
from experiments.flat_gold.curves import count_peaks, find_flatness, find_mean, find_switch, fit_curve, list_gold
from experiments.flat_gold.steps import map_gold
from experiments.outcome import Outcome, Settings
from experiments.test_and_ranking import steps as ranking
from experiments.test_and_ranking.verdicts import judge_collections, judge_over_collections
from metaeval.datasets.baselines import constant_class_counts
from metaeval.errors import MetaevalError
from metaeval.stats.uir import signed_ranks

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
RNG = np.random.default_rng


def test_the_interval_of_a_mean_is_students():
    values = RNG(0).normal(size=12)
    expected = ttest_1samp(values, 0).confidence_interval()
    assert find_interval(values) == pytest.approx((values.mean(), expected.low, expected.high))


def test_a_page_names_what_could_not_be_had_and_the_source_of_every_number():
    study = {"question": "Why?", "inputs": [{"name": "a", "value": "1", "provenance": "assumed", "where": "here"}]}
    table = metaeval.Table(pd.DataFrame({"x": [1.0]}), "One.", "signed")
    outcome = Outcome("made", "llmjudge", tables={"one": table}, notes=["half of it"])
    page = write_answer("made", "Title", study, [outcome], ["text"], ["llmjudge"])
    order = [
        page.index(word)
        for word in ("# Title", "Why?", "## Answers by rule", "## What went in", "half of it", "LLMJudge")
    ]
    assert order == sorted(order)


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
    ("above", "below", "word"),
    [(7, 0, "holds"), (6, 0, "holds in part"), (7, 1, "holds in part"), (2, 2, "does not hold"), (0, 1, "does not hold"),
     (0, 0, "cannot tell")],
)  # fmt: skip
def test_a_measure_covers_more_where_intervals_say_so_under_most_sets(above, below, word):
    assert coverage.decide({"sets": 12, "above 0": above, "below 0": below}) == word


def test_seeds_that_disagree_cannot_tell(monkeypatch):
    scores = graded_scores()
    one = cover_sets(scores, ["kappa", "MAE_mu"], ["Accuracy", "MI"], smallest=2, n_bootstrap=20, seed=0)
    claim = {"claim": "c", "where": "w", "first": "kappa", "second": "MAE_mu"}
    words = iter(["holds", "holds in part"])
    monkeypatch.setattr(coverage, "decide", lambda _: next(words))
    verdict = coverage.judge(claim, "made", {coverage.WHOLE: one}, [one], 0)
    assert verdict.outcome == "cannot tell"
    assert "seeds disagree" in verdict.reason


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
    prepared = consistency.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=0)
    assert prepared.informed.shape == (10, 24, 2)
    assert (prepared.own, prepared.has_own) == ((0, 1), True)
    assert (prepared.constant[:, :, 0] == 0).all()
    without = consistency.prepare(made_runs(0), ["kappa"], marked="always-", seed=0)
    assert (without.own, without.has_own) == ((0, 1, 2), False)


def test_a_run_that_is_called_constant_and_is_not_is_refused():
    runs = made_runs(0)
    renamed = metaeval.ClassificationRuns(
        runs.counts, runs=["always-0", *runs.runs[1:]], topics=runs.topics, classes=runs.classes, collection="made"
    )
    with pytest.raises(MetaevalError, match="always-0 answers more than one class"):
        consistency.prepare(renamed, ["kappa"], marked="always-", seed=0)


def test_consistency_with_and_without_constant_runs_is_that_of_the_analysis():
    prepared = consistency.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=5)
    options = {"n_trials": 20, "size": 10, "tau": "tau_a"}
    for classes, runs in ((prepared.own, made_runs()), ((), made_runs(0))):
        scores = metaeval.score(runs, ["kappa", "Accuracy"])
        expected = metaeval.split_half_consistency(scores, seed=5, n_permutations=1, **options).tau
        np.testing.assert_array_equal(prepared.split(classes, **options), expected)


def test_runs_that_are_tied_cost_kappa_their_share_of_pairs_by_tau_a_and_nothing_by_tau_b():
    prepared = consistency.prepare(made_runs(3), ["kappa", "Accuracy"], marked="always-", seed=0)
    # All other runs are far ahead of the constant ones, and in the same order on every topic.
    informed = np.broadcast_to(np.arange(1.0, 11)[:, None, None], (10, 24, 2))
    sure = consistency.Prepared("made", prepared.measures, informed, 0 * prepared.constant, prepared.own, True, 0)
    tied, n = 3 * 2 / 2, 13 * 12 / 2
    for tau, expected in (("tau_a", 1 - tied / n), ("tau_b", 1.0)):
        assert sure.split(sure.own, n_trials=5, size=None, tau=tau).mean() == pytest.approx(expected)


def test_the_jackknife_over_topics_is_that_of_a_mean_where_consistency_is_one(monkeypatch):
    prepared = consistency.prepare(made_runs(), ["kappa", "Accuracy"], marked="always-", seed=0)
    level = RNG(0).normal(size=24)

    def split(self, classes, *, topics=None, **_):
        chosen = level if topics is None else level[topics]
        return np.array([[chosen.mean() * len(classes), 0.0]] * 3)

    monkeypatch.setattr(consistency.Prepared, "split", split)
    found = consistency.measure_change(prepared, "kappa", n_trials=3, size=None, tau="tau_a", groups=24, n_left=3)
    expected = ttest_1samp(2 * level, 0).confidence_interval()
    assert found.over_topics == pytest.approx((2 * level.mean(), expected.low, expected.high))


@pytest.mark.parametrize(
    ("ends", "without", "with_", "word"),
    [((-0.2, -0.1), 2, 9, "holds"), ((-0.2, -0.1), 7, 9, "holds in part"), ((-0.2, -0.1), 2, 5, "holds in part"),
     ((0.1, 0.2), 2, 9, "does not hold"), ((-0.1, 0.1), 2, 9, "cannot tell")],
)  # fmt: skip
def test_constant_runs_explain_kappa_where_it_loses_more_than_the_others_and_becomes_one_of_the_worst(
    ends, without, with_, word
):
    def means(place):
        ladder = np.linspace(0.9, 0.1, 9)
        own = ladder[place - 1]
        others = iter(np.delete(ladder, place - 1))
        return np.array([own if name == constant.ASKED else next(others) for name in constant.MEASURES])

    change = consistency.Change(means(without), means(with_), (0, 0, 0), (sum(ends) / 2, *ends))
    assert (constant.rank_of(change.without), constant.rank_of(change.with_)) == (without, with_)
    assert constant.decide(change) == word


def test_what_is_asked_of_constant_runs_is_no_sentence_that_a_paper_tries_and_its_page_names_that_paper():
    claim = constant.STUDY["claim"]
    assert claim["where"].startswith("asked here")
    assert claim["where"].endswith("(reworded)")
    papers = ("acl2021/claims.toml", "lq2021/claims.toml", "amigo2020/conclusions.toml", "cardoso2011/claims.toml")
    assert not any(claim["claim"] in (EXPERIMENTS / name).read_text("utf-8") for name in papers)
    assert "κ performs well in Table 3(a)" not in (EXPERIMENTS / "constant_runs" / "study.toml").read_text("utf-8")
    assert "tried on the page of [acl2021](../acl2021/README.md)" in constant_page.write_page([])


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
    assert (sharp[flat.MEASURES] == 1).all(axis=None)
    assert (level[flat.MEASURES] == -1).all(axis=None)


def test_flatness_explains_only_what_one_switch_point_tells():
    rng = RNG(2)
    x = rng.random(200)
    crossings = dict.fromkeys(flat.MEASURES, 0.4) | {flat.ASKED: 0.7}
    noise = rng.normal(0, 0.02, (200, 6))
    for spread, word in ((1, "holds"), (15, "holds in part")):
        preferred = np.stack([np.where(x + spread * noise[:, m] < crossings[name], 1, -1)
                              for m, name in enumerate(flat.MEASURES)], axis=1)  # fmt: skip
        popular = {name: preferred[:, m] > 0 for m, name in enumerate(flat.MEASURES)}
        curves = {name: fit_curve(x, chosen) for name, chosen in popular.items()}
        found = flat.Found(
            x, preferred, np.ones(200, dtype=int), {name: find_mean(chosen) for name, chosen in popular.items()},
            {name: one for name, (one, _) in curves.items()}, {name: one for name, (_, one) in curves.items()},
        )  # fmt: skip
        assert flat.judge_explained(found)[0] == word
        assert flat.judge_switch(found)[0] == "holds"
        assert flat.judge_shares(found)[0] == "holds"


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
    (verdict,) = ranking.judge_contradictions(counted.reset_index(), 0)
    assert verdict.outcome == "holds"


def test_a_ranking_depends_on_the_test_where_halves_of_the_topics_are_more_alike():
    compared = pd.DataFrame(
        {"seeds": [0.9, 0.9, 0.9], "halves": [0.6, 0.6, 0.6], "tests": [0.5, 0.8, 0.95]}, index=list("abc")
    )
    assert [one.outcome for one in judge_collections(compared)] == ["holds", "holds in part", "does not hold"]
    between = pd.DataFrame({f"{ranking.REFERENCE} / max-t": [0.1, 0.2, 0.1], "max-t / bootstrap-t": [0.9, 0.8, 0.95]})
    assert [one.outcome for one in judge_over_collections(compared, between)] == ["cannot tell", "holds"]


def test_what_is_said_of_rankings_is_what_the_study_of_calibration_has():
    if not (ranking.RELIABILITY / "changes.csv").exists():
        pytest.skip("the committed results are not here")
    changes, powers = (pd.read_csv(ranking.RELIABILITY / f"{name}.csv") for name in ("changes", "powers"))
    outcome = ranking.study_rankings(changes, powers)
    means = average_collections(changes)["τ_b"]
    compared = outcome.tables["compared"].frame.mean()
    for column, key in (("seeds", "another seed"), ("halves", "the other half of the topics")):
        assert compared[column] == pytest.approx(means[key, ranking.REFERENCE])
    kept = pd.read_csv(ranking.RESULTS / outcome.name / "verdicts.csv")
    assert kept["outcome"].tolist() == [one.outcome for one in outcome.verdicts]


def test_without_data_intervals_come_from_what_is_kept(tmp_path, monkeypatch):
    if not (ranking.RESULTS / "test_and_ranking" / "intervals").is_dir():
        pytest.skip("the committed results are not here")
    monkeypatch.setitem(ranking.STUDY, "quick", [])
    powers = pd.read_csv(ranking.RELIABILITY / "powers.csv")
    outcome = ranking.study_intervals(powers, Settings(data=tmp_path, say=lambda _: None))
    kept = pd.read_csv(ranking.RESULTS / outcome.name / "agreement.csv")
    pd.testing.assert_frame_equal(outcome.tables["agreement"].frame.reset_index(), kept)
    assert not outcome.lacks
