"""A judge corrected by people: what is said of runs, of the judge, and of labels to come; and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.stats.prediction_powered import correct_means, spread_weights
from tests.analyses.made import label, relabel

RUNS = ["a", "b", "c", "d"]
TOPICS = [f"t{t:03}" for t in range(150)]


def judge_of(values, topics=TOPICS, measures=("nDCG",), **options):
    return label(values, measures, runs=RUNS, topics=list(topics), **options)


def label_some(truth, some):
    """What people say of some topics."""
    return judge_of(truth[:, some], [TOPICS[t] for t in some])


def made(seed=0, bias=(0.9, 0, 0, 0), noise=0.4, n=60):
    """Scores of a judge that favours run a, and of people on n topics: d is better than c, c than a and b."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=len(TOPICS)) + rng.normal(0, 0.5, (4, len(TOPICS))) + np.array([[0], [0], [0.6], [1.2]])
    judge = truth + rng.normal(0, noise, truth.shape) + np.array(bias)[:, None]
    return judge_of(judge), label_some(truth, np.sort(rng.choice(len(TOPICS), n, replace=False))), truth


SCORES, PEOPLE, TRUTH = made()


def correct(scores=SCORES, people=PEOPLE, **options):
    return me.corrected_scores(scores, people=people, **{"n_trials": 200, **options})


def tidy(people, **before):
    """A plain table of labels, with something before the names of runs or topics."""
    frame = people.to_frame()[["run", "topic", "score"]].rename(columns={"score": "nDCG"})
    return frame.assign(**{name: text + frame[name] for name, text in before.items()})


@pytest.fixture(scope="module")
def found():
    return correct(n_trials=500)


def test_a_favoured_run_falls_behind_and_judge_people_and_both_stand_side_by_side(found):
    assert found.answer() == "d is first by nDCG." == found.ranks.answer()
    assert found.tables()[1].caption.endswith(": people reverse 1 and leave open 1 of the judge's 6 conclusions.")
    pairs = found.pairs.set_index(["first", "second"])
    assert pairs.loc[("a", "c"), ["judge", "both", "flips"]].tolist() == [1, -1, "reversed"]
    frame = found.to_frame().set_index("run")
    assert frame.index.tolist()[:2] == ["d", "c"]
    assert frame.loc["a", "judge_rank"] == 2
    summary = found.frames()["summary"].set_index("evidence")
    assert summary.index.tolist() == ["judge nDCG alone", "people alone", "both"]
    assert summary.loc["judge nDCG alone", "reversed"] == 1
    assert summary.loc["both", ["reversed", "open"]].tolist() == [0, 0]
    assert summary.loc["both", "decided"] == (found.pairs["both"] != 0).sum()
    assert all(table.frame.shape[1] <= 4 for table in found.at("short"))
    worth, low, high = found.worth
    equal, fewest, most = (f"{60 + each * 90:,.0f}" for each in found.worth)
    assert found.notes()[0] == (
        f"the judge makes 60 labelled topics worth {equal} ({fewest} to {most}): its score is worth {worth:.2f} labels "
        f"({low:.2f} to {high:.2f})"
    )
    assert 0 < low < worth < high < 1


CHANGED = {  # what is said, and of which flips and conclusions of the judge
    "people change none of the judge's 4 conclusions, and add 2.": (["", "", "new", "new"], 1),
    "people reverse 1 and leave open 1 of the judge's 4 conclusions, and add 1.": (["reversed", "lost", "new", ""], 1),
    "people leave open 1 of the judge's 4 conclusions.": (["lost", "", "", ""], 1),
    "the judge alone decides nothing.": ([""] * 4, 0),
}


@pytest.mark.parametrize("said", CHANGED)
def test_people_are_said_to_change_no_conclusion_only_beside_the_number_that_they_add(found, said):
    flips, judge = CHANGED[said]
    pairs = found.pairs[:4].assign(flips=flips, judge=judge)
    assert replace(found, pairs=pairs).tables()[1].caption.endswith(f": {said}")


def test_what_a_judge_is_worth_is_the_number_of_labels_that_would_do_the_same():
    scores, _, truth = made(noise=0.5)
    labelled = (np.random.default_rng(seed).permutation(150)[:60] for seed in range(12))
    options = {"n_trials": 100, "target": "topics"}
    worth = [correct(scores, label_some(truth, some), **options).worth[0] for some in labelled]
    assert 0.1 < np.mean(worth) < 0.9
    rng, (i, k), means = np.random.default_rng(1), np.triu_indices(4, 1), truth.mean(axis=1)
    errors = []
    for _ in range(300):
        order = rng.permutation(150)
        pair = []
        for n, judges in ((60, scores.values[None, ..., 0]), (round(60 + np.mean(worth) * 90), np.zeros((0, 4, 150)))):
            known = np.zeros((4, 150), dtype=bool)
            known[:, order[:n]] = True
            given = np.where(known, truth, np.nan)
            each = correct_means(given, judges, spread_weights(known), key=1, n_trials=2, target="topics").means
            pair.append((((each[i] - each[k]) - (means[i] - means[k])) ** 2).mean())
        errors.append(pair)
    both, alone = np.mean(errors, axis=0)
    assert both == pytest.approx(alone, rel=0.25)


def test_neither_the_order_of_rows_and_columns_nor_another_scale_changes_a_conclusion(found):
    turned = correct(*(each.sel(runs=RUNS[::-1], topics=each.topics[::-1]) for each in (SCORES, PEOPLE)), n_trials=500)
    pd.testing.assert_frame_equal(found.pairs, turned.pairs)
    pd.testing.assert_frame_equal(found.to_frame(), turned.to_frame())
    other = correct(relabel(SCORES, 50 + 20 * SCORES.values), n_trials=500)
    assert other.pairs["low"].tolist() == pytest.approx(found.pairs["low"].tolist())


def test_lower_scores_may_be_better_by_the_judge_by_people_or_by_both():
    low, costs = (relabel(each, -each.values, ["MAE_M"]) for each in (SCORES, PEOPLE))
    plain = correct()
    for judge, given in ((low, PEOPLE), (SCORES, costs), (low, costs)):
        found, turn = correct(judge, given), -1 if given is costs else 1
        assert found.pairs["both"].tolist() == plain.pairs["both"].tolist()
        assert found.to_frame()["run"].tolist() == plain.to_frame()["run"].tolist()
        assert found.to_frame()["mean"].tolist() == pytest.approx((turn * plain.to_frame()["mean"]).tolist())
        assert found.pairs["difference"].tolist() == pytest.approx((turn * plain.pairs["difference"]).tolist())
        assert (found.pairs["low"] < found.pairs["high"]).all()


def test_two_judges_with_errors_of_their_own_are_better_than_one():
    other = judge_of(TRUTH + np.random.default_rng(9).normal(0, 0.4, TRUTH.shape), measures=["AP"])
    one, both = correct(), correct(SCORES.add_measures(other))
    evidence = both.frames()["summary"]["evidence"].tolist()
    assert evidence == ["judge nDCG alone", "judge AP alone", "people alone", "both"]
    assert both.both.residual.mean() < 0.8 * one.both.residual.mean()


@pytest.mark.parametrize("target", ["topics", "population"])
def test_where_all_is_labelled_nothing_is_said_of_labels(target):
    found = correct(people=judge_of(TRUTH), target=target)
    assert not found.notes()
    means = found.to_frame().set_index("run")["mean"]
    assert means[RUNS].tolist() == pytest.approx(TRUTH.mean(axis=1).tolist())
    assert (found.pairs["both"] == found.pairs["people"]).all()


def label_unlikely(truth):
    """Weights 1/p: one topic that stands for all others is one label, (Σw)²/Σw² = 1.0."""
    rows = [(r, t, truth[RUNS.index(r), n], 1e-9 if n == 0 else 1 / 3) for r in RUNS for n, t in enumerate(TOPICS[:50])]
    return pd.DataFrame(rows, columns=["run", "topic", "nDCG", "probability"])


FAR = r"nDCG: scores reach .*: rescale them"
REFUSED = [
    (SCORES, tidy(PEOPLE, topic="x"), {}, "no topic has both a judge's score and a label of people"),
    (SCORES, tidy(PEOPLE, run="x"), {}, "no run has both a judge's score and a label of people"),
    (SCORES.sel(topics=[topic for topic in TOPICS if topic != PEOPLE.topics[3]]), PEOPLE, {},
     f"the judge has no score of 1 topic with labels of people: {PEOPLE.topics[3]}"),
    (SCORES, PEOPLE.sel(runs=["b", "c", "d"]), {}, r"people labelled 0 of 150 topics of the run a"),
    (SCORES, PEOPLE.sel(topics=PEOPLE.topics[:1]), {},
     "people labelled 1 of 150 topics of the run a; intervals need at least 5"),
    (SCORES, PEOPLE, {"target": "runs"}, "there is no target 'runs'"),
    (SCORES, PEOPLE, {"confidence": 95}, "confidence is 95; it lies between 0 and 1"),
    (SCORES, PEOPLE, {"n_trials": 10}, "n_trials is 10"),
    *((relabel(SCORES, k * SCORES.values), PEOPLE, {}, FAR) for k in (1e200, 1e-200)),
    *((SCORES, relabel(PEOPLE, k * PEOPLE.values), {}, FAR) for k in (1e200, 1e-200)),
    (judge_of(SCORES.values, clusters=[topic[:3] for topic in TOPICS]), PEOPLE, {},
     "takes topics one by one and would ignore their clusters"),
    (SCORES, label_unlikely(TRUTH), {}, "worth 1.0 equal ones, and intervals need 5"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "people", "options", "message"), REFUSED)
def test_what_cannot_be_corrected_is_refused(scores, people, options, message):
    with pytest.raises(MetaevalError, match=message):
        me.corrected_scores(scores, people=people, **options)


def empty_some():
    frame = tidy(PEOPLE).assign(probability=0.4)
    frame.loc[frame["topic"].isin(PEOPLE.topics[:20]), "nDCG"] = np.nan
    return frame


def take_cells():
    frame = tidy(PEOPLE)
    return frame[np.random.default_rng(0).random(len(frame)) < 0.6]


NOT_RANDOM = "the labelled topics were not chosen at random: they differ in "


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (empty_some, "20 topics of the list have no label yet: results hold when all are labelled"),
        (take_cells, "people labelled other topics of some runs than of others"),
        (lambda: label_some(TRUTH, range(40)), f"{NOT_RANDOM}place in the file"),
        (lambda: label_some(TRUTH, np.argsort(-SCORES.values.mean(axis=(0, 2)))[:40]), f"{NOT_RANDOM}the judge's mean score"),
        (lambda: made(n=12)[1],
         "12 labelled topics are few: intervals hold less often than they claim (docs/concepts/correction.md)"),
    ],
)  # fmt: skip
def test_what_is_special_about_labels_is_noted(change, note):
    assert note not in " ".join(correct().notes())
    target = "topics" if change is take_cells else "population"
    assert note in " ".join(correct(people=change(), target=target).notes())


def test_a_judge_that_is_copied_or_blind_is_said_to_be_so_and_a_reversed_one_is_turned_round():
    values = SCORES.values[..., 0]
    blind, noise = np.tile(values[:1], (4, 1)), np.random.default_rng(1).normal(size=values.shape)
    copied = np.where(np.isin(TOPICS, PEOPLE.topics), TRUTH, values)
    judges = {"right": values, "reversed": -values, "copied": copied, "blind": blind, "noise": noise}
    found = {name: correct(judge_of(judge)) for name, judge in judges.items()}
    said = {name: result.remarks for name, result in found.items()}
    assert all(said[name][0].startswith("the judge makes 60 labelled topics worth") for name in ("right", "noise"))
    no_better = "nothing shows that the judge's scores tell more of the runs than chance would"
    assert [name for name, notes in said.items() if no_better in notes] == ["blind", "noise"]
    assert found["reversed"].both.weights < 0 < found["right"].both.weights
    assert found["copied"].answer().startswith("People's labels equal the scores of nDCG: were they copied? ")
    assert said["blind"][0] == "nDCG gives all runs the same score on every topic: it tells nothing about them"
    assert found["blind"].tables()[1].caption.endswith(": the judge alone decides nothing, people add 5.")
    assert found["blind"].both.differences == pytest.approx(found["blind"].people.differences)
