"""What other judgements change about runs is what plain loops, other packages and hand-made cases say."""

import os
import sys
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

import metaeval as me
from metaeval.analyses.qrels import find_favours, list_flips
from metaeval.errors import MetaevalError
from metaeval.measures.retrieval import parse_measure, rank_documents, score_rankings
from tests.analyses.made import label

ir_measures = pytest.importorskip("ir_measures")
pytest.importorskip("pytrec_eval")

DL21 = Path(os.environ.get("METAEVAL_DATA", "")) / "dl21"
TOPICS, DOCUMENTS = [f"q{t}" for t in range(30)], [f"d{i:02}" for i in range(20)]


def draw(seed=0):
    """People, a judge that errs a little, and one that knows nothing; twelve runs of which later ones are worse."""
    rng = np.random.default_rng(seed)
    grades = rng.choice(4, (30, 16), p=[0.5, 0.2, 0.2, 0.1])
    near = np.clip(grades + rng.choice([-1, 0, 0, 1], grades.shape), 0, 3)
    sets = {"people": grades, "near": near, "noise": rng.permuted(grades, axis=1)}
    judgements = {
        name: {q: dict(zip(DOCUMENTS, row.tolist(), strict=False)) for q, row in zip(TOPICS, rows, strict=True)}
        for name, rows in sets.items()
    }
    seen = np.concatenate([grades, np.zeros((30, 4))], axis=1)  # four documents are unjudged
    noise = rng.normal(size=(12, 30, 20)) * (1 + np.arange(12) / 6)[:, None, None]
    runs = {
        f"r{r:02}": {q: dict(zip(DOCUMENTS, row, strict=True)) for q, row in zip(TOPICS, scores.tolist(), strict=True)}
        for r, scores in enumerate(seen + noise)
    }
    return judgements, runs


def judge(**sets):
    """The made runs, judged by people and by others."""
    judgements, runs = draw()
    return me.JudgedRuns({"people": judgements["people"], **sets}, runs)


@pytest.fixture(scope="module")
def judged():
    return me.JudgedRuns(*draw(), collection="made")


@pytest.fixture(scope="module")
def found(judged):
    return me.compare_qrels(judged, n_permutations=400, n_bootstrap=200, seed=3)


def ndcg(grades, documents, depth=10):
    """The definition, with linear gains, as trec_eval has it."""
    discounts = 1 / np.log2(np.arange(2, depth + 2))
    gains = [max(0, grades.get(document, 0)) for document in documents[:depth]]
    ideal = sorted((max(0, grade) for grade in grades.values()), reverse=True)[:depth]
    best = np.dot(ideal, discounts[: len(ideal)])
    return np.dot(gains, discounts[: len(gains)]) / best if best else 0.0


@pytest.fixture(scope="module")
def scores():
    """nDCG@10 of every run and topic under every set of judgements, by hand."""
    judgements, runs = draw()
    ranked = [{q: sorted(some, key=lambda d: -some[d]) for q, some in runs[run].items()} for run in sorted(runs)]
    values = [[[ndcg(given[q], run[q]) for given in judgements.values()] for q in sorted(TOPICS)] for run in ranked]
    return label(values, judgements, runs=sorted(runs), topics=sorted(TOPICS), higher_is_better=True)


def test_rankings_are_those_of_scores_by_the_definition(scores, found):
    people, *judges = scores.values.mean(axis=1).T
    taus = [kendalltau(people, judge).statistic for judge in judges]
    assert found.to_frame().set_index("judge").loc[["near", "noise"], "tau"].tolist() == pytest.approx(taus)


def test_flips_are_those_of_a_plain_loop(scores, found):
    power = me.discriminative_power(scores, test="bootstrap-t", n_permutations=400, seed=3, n_bootstrap=0)
    means, expected = scores.values.mean(axis=1), set()
    for pair, (i, j) in enumerate(combinations(range(12), 2)):
        better = [(i, j) if means[i, s] > means[j, s] else (j, i) for s in range(3)]
        people, *judges = (each if power.p_values[s, pair] <= 0.05 else None for s, each in enumerate(better))
        for name, judge in zip(("near", "noise"), judges, strict=True):
            if people != judge:
                kind = "new" if people is None else "lost" if judge is None else "reversed"
                expected.add((name, kind, *(scores.runs[r] for r in people or judge)))
    assert len(found.flips) > 20
    assert set(found.flips[["judge", "flip", "run_1", "run_2"]].itertuples(index=False, name=None)) == expected
    counted = found.flips.groupby(["judge", "flip"]).size()
    for row in found.to_frame().itertuples():
        assert (row.lost, row.new) == tuple(counted.get((row.judge, kind), 0) for kind in ("lost", "new"))
    assert f"nDCG@10: by people {power.significant[0].sum()} of 66 pairs of runs differ" in found.to_table().caption


def test_differences_and_their_change_are_those_of_the_scores_and_intervals_say_which_are_significant(scores, found):
    means = scores.values.mean(axis=1)
    significant = {"lost": (True, False), "new": (False, True), "reversed": (True, True)}
    for row in found.flips.itertuples():
        gaps = means[int(row.run_1[1:])] - means[int(row.run_2[1:])]
        people, judge = gaps[0], gaps[1 + (row.judge == "noise")]
        assert (row.by_reference, row.by_judge, row.change) == pytest.approx((people, judge, judge - people))
        ends = ((row.by_reference_low, row.by_reference_high), (row.by_judge_low, row.by_judge_high))
        assert tuple(not low <= 0 <= high for low, high in ends) == significant[row.flip]
        assert row.clear == (not row.change_low <= 0 <= row.change_high)


def test_other_random_trials_move_counts_of_flips_as_far_as_their_errors_say():
    rng = np.random.default_rng(0)
    people = np.linspace(0, 1, 24)[:, None] + rng.normal(0, 0.6, (24, 50))
    values = np.stack([people, people + rng.normal(0, 0.6, people.shape)], axis=-1)
    scores = label(values, ["people", "judge"], higher_is_better=True)
    found = [list_flips(scores, 500, 0.05, seed)[1:] for seed in range(40)]
    spread = np.std([counts[0] for counts, _ in found], axis=0, ddof=1)
    stated = np.sqrt(np.mean([errors[0] ** 2 for _, errors in found], axis=0))
    ratio = stated[[0, 2, 3]] / spread[[0, 2, 3]]  # kept, new and lost; critical values are taken as independent
    assert ((ratio > 0.6) & (ratio < 1.7)).all()
    assert spread[3] > 1
    assert stated[[1, 4]] == pytest.approx(spread[[1, 4]], abs=0.5)


def test_a_judge_that_turns_the_grades_round_reverses_what_people_find():
    people = draw()[0]["people"]
    turned = {q: {d: 3 - grade for d, grade in some.items()} for q, some in people.items()}
    result = me.compare_qrels(judge(turned=turned), n_permutations=400, n_bootstrap=50)
    (row,) = result.to_frame().itertuples()
    assert row.tau < -0.5
    assert (row.kept, row.reversed > 5) == (0, True)
    assert result.flips.query("flip == 'reversed'")["clear"].all()
    said = f"turned ranks runs unlike people (τ_b {row.tau:.2f} [{row.low:.2f}, {row.high:.2f}]); of "
    assert result.answer().startswith(said)
    flips = (
        f" it reverses {row.reversed}, loses {row.lost}, and finds {row.new} new; the change itself is significant in"
    )
    assert result.answer().endswith(f"{flips} {row.clear or 'none'} of these.")


def test_judges_that_rank_runs_no_better_than_chance_are_said_to_do_so():
    """Ten runs of one quality: what a judge sees of them is chance."""
    rng = np.random.default_rng(3)
    judgements, _ = draw()
    runs = {f"r{r}": {q: dict(zip(DOCUMENTS, rng.random(20).tolist(), strict=True)) for q in TOPICS} for r in range(10)}
    sets = {name: judgements[name] for name in ("people", "noise")}
    result = me.compare_qrels(me.JudgedRuns(sets, runs), n_permutations=50, n_bootstrap=200)
    assert result.answer().startswith("No judge is shown to rank runs like people better than chance (noise τ_b ")


def test_the_same_judgements_change_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = me.compare_qrels(judge(copy=draw()[0]["people"]), n_permutations=100)
    (row,) = result.to_frame().itertuples()
    assert (row.tau, row.reversed, row.lost, row.new) == (1, 0, 0, 0)
    assert result.flips.empty
    assert result.answer().endswith(
        f"of {row.kept} conclusions it reverses 0, loses 0, and finds 0 new; the change itself is significant in none of these."
    )
    assert result.remarks[0] == "copy gives every document the grade of people: was it copied?"


def test_a_note_on_runs_says_by_whose_labels_they_are_scored():
    judgements, runs = draw()
    with_copy = me.JudgedRuns(judgements, {**runs, "copy": runs["r00"]}, collection="people")
    notes = me.compare_qrels(with_copy, n_permutations=100).notes()
    assert any(note.startswith("scores by people, near and noise: 2 of 13 runs have the same scores") for note in notes)


def test_neither_the_order_of_anything_nor_threads_move_a_number(judged, found):
    judgements, runs = draw()
    turned = {
        name: {q: dict(reversed(some.items())) for q, some in reversed(given.items())}
        for name, given in judgements.items()
    }
    again = me.JudgedRuns(turned, dict(reversed(runs.items())), collection="made")
    result = me.compare_qrels(again, n_permutations=400, n_bootstrap=200, seed=3, n_jobs=2)
    for mine, theirs in ((result.to_frame(), found.to_frame()), (result.flips, found.flips)):
        pd.testing.assert_frame_equal(mine, theirs, check_exact=True)


def test_documents_without_a_grade_are_counted():
    people = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "c": 1}}
    judge = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "x": 0}}
    runs = {"one": {"q1": {"x": 3, "a": 2, "b": 1}, "q2": {"a": 2, "x": 1}}, "two": {q: {"a": 1} for q in people}}
    few = me.JudgedRuns({"people": people, "judge": judge}, runs)
    notes = me.compare_qrels(few, measure="RR@2", n_permutations=20).notes()
    # Of the documents of the first run at most two deep, people do not judge x: q1's first, and q2's second.
    assert any(note.startswith("people leaves 25.0 % of the documents that RR@2 looks at") for note in notes)


def score_favours(people, *judges):
    names = ["people", "judge-gpt", "other"]
    return label(np.stack([people, *judges], axis=-1), names, higher_is_better=True)


def test_a_single_own_run_is_judged_by_its_studentised_residual():
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    people = rng.random((10, 25))
    judge = people + rng.normal(0, 0.3, (10, 25))
    row = find_favours(score_favours(people, judge), {"r04": "gpt"}, 0.95).iloc[0]
    design = np.column_stack([np.ones(10), people.mean(axis=1), np.arange(10) == 4]).astype(float)
    fitted = statsmodels.OLS(judge.mean(axis=1), design).fit()
    assert row["at_same_score"] == pytest.approx(fitted.params[2])
    assert (row["at_same_score_low"], row["at_same_score_high"]) == pytest.approx(tuple(fitted.conf_int(0.05)[2]))


def test_of_judges_without_a_preference_few_are_accused_though_they_like_some_runs_more():
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(1000):
        quality = np.linspace(0.3, 0.7, 12)[:, None] + rng.normal(0, 0.1, (12, 40))
        judge = 0.2 + 0.6 * quality + rng.normal(0, 0.03, (12, 1)) + rng.normal(0, 0.08, (12, 40))
        row = find_favours(score_favours(quality, judge), {"r05": "gpt", "r06": "gpt", "r11": "gpt"}, 0.95).iloc[0]
        wrong += not row["at_same_score_low"] <= 0 <= row["at_same_score_high"]
    assert wrong <= 70  # three standard errors above 5 %


def test_documents_are_ranked_as_trec_eval_ranks_them():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(2)
    for _ in range(20):  # with ties in four bytes
        scored = {f"d{i}": float(np.round(rng.random(), 1)) + 1e-9 * rng.random() for i in range(30)}
        documents = rank_documents(scored)
        for depth in (1, 5, 20):
            grades = {"q": {document: int(document in documents[:depth]) for document in scored}}
            evaluator = pytrec_eval.RelevanceEvaluator(grades, {f"P_{depth}"})
            assert evaluator.evaluate({"q": scored})["q"][f"P_{depth}"] == 1


NAN = {"r05": {q: {"d00": np.nan} for q in TOPICS}}
REFUSED = [
    (lambda _: judge(half={q: {"d00": 0.5} for q in TOPICS}), "half: topic q0, item d00: the grade 0.5 is no whole"),
    (lambda _: judge(), "at least two sets of judgements are needed to compare anything, not 1"),
    (lambda _: me.JudgedRuns(draw()[0], {**draw()[1], **NAN}), "run r05, item d00: the score is nan"),
    (lambda given: me.compare_qrels(given, family=dict.fromkeys(given.runs, "near")), "every run is of the model near"),
    (lambda given: me.compare_qrels(given, family={"r05": "nea"}), "no judge is of the model 'nea'"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_judgements_and_models_that_cannot_be_compared_are_refused(judged, call, message):
    with pytest.raises(MetaevalError, match=message):
        call(judged)


def test_without_ir_measures_it_is_said_how_to_have_it(judged, monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MetaevalError, match=r'scoring runs needs ir_measures: pip install "metaeval\[ir\]"'):
        me.compare_qrels(judged)


@pytest.mark.skipif(not DL21.is_dir(), reason="needs dl21/ in the folder that METAEVAL_DATA names")
def test_of_deep_learning_2021_scores_are_those_of_trec_eval():
    names = ("human", "umbrela-gpt4o", "binary-gpt4")
    real = me.io.read_judged_runs([DL21 / "qrels" / f"{name}.txt" for name in names], DL21 / "runs")
    found = me.compare_qrels(real, n_permutations=500, n_bootstrap=100, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed = me.io.read_scores(DL21 / "ndcg_cut10.csv")
    values = score_rankings(real.runs, real.judgements, real.topics, parse_measure("nDCG@10")[1])
    scores = label(values, real.sets, "human", runs=real.runs, topics=real.topics, higher_is_better=True)
    people = scores.sel(measures="human", runs=printed.runs, topics=printed.topics)
    assert people.values.shape == (63, 53, 1)
    assert (np.abs(np.round(people.values, 4) - printed.values) < 1e-9).all()
    means = np.round(values.mean(axis=1), 12)
    expected = [kendalltau(means[:, 0], means[:, s]).statistic for s in (1, 2)]
    assert found.to_frame().set_index("judge").loc[list(real.sets[1:]), "tau"].tolist() == pytest.approx(expected)
