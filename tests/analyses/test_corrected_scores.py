"""A judge corrected by people: what is said of runs, of the judge, and of labels to come; and what is refused."""

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from metaeval.stats.prediction_powered import correct_means, spread_weights

RUNS = ["a", "b", "c", "d"]
TOPICS = [f"t{t:03}" for t in range(150)]


def made(seed=0, bias=(0.9, 0, 0, 0), noise=0.4, n=60):
    """Scores of a judge that favours run a, and of people on n topics: d is better than c, c than a and b."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=len(TOPICS)) + rng.normal(0, 0.5, (4, len(TOPICS))) + np.array([[0], [0], [0.6], [1.2]])
    judge = truth + rng.normal(0, noise, truth.shape) + np.array(bias)[:, None]
    some = np.sort(rng.choice(len(TOPICS), n, replace=False))
    scores = me.Scores(judge[..., None], runs=RUNS, topics=TOPICS, measures=["nDCG"], collection="made")
    people = me.Scores(truth[:, some, None], runs=RUNS, topics=[TOPICS[t] for t in some], measures=["nDCG"])
    return scores, people, truth


def tidy(people):
    return people.to_frame()[["run", "topic", "score"]].rename(columns={"score": "nDCG"})


@pytest.fixture(scope="module")
def found():
    scores, people, _ = made()
    return me.corrected_scores(scores, people=people, n_trials=500)


def test_a_favoured_run_falls_behind_and_the_answer_says_so(found):
    assert found.answer() == "d is first by nDCG." == found.ranks.answer()
    assert found.tables()[1].caption.endswith(": people reverse 1 of the judge's conclusions.")
    pairs = found.pairs.set_index(["first", "second"])
    assert pairs.loc[("a", "c"), ["judge", "both", "flips"]].tolist() == [1, -1, "reversed"]
    assert found.to_frame()["run"].tolist()[:2] == ["d", "c"]
    assert found.to_frame().set_index("run").loc["a", "judge_rank"] == 2
    assert found.to_frame().set_index("run")["bias"].to_dict() == pytest.approx(
        {"a": 0.9, "b": 0, "c": 0, "d": 0}, abs=0.15
    )
    assert len(found.answer().split()) <= 12


def test_the_conclusions_of_judge_people_and_both_stand_side_by_side(found):
    summary = found.frames()["summary"].set_index("evidence")
    assert summary.index.tolist() == ["nDCG alone", "people alone", "both"]
    assert summary.loc["nDCG alone", "reversed"] == 1
    assert summary.loc["both", ["reversed", "open"]].tolist() == [0, 0]
    assert summary.loc["both", "decided"] == (found.pairs["both"] != 0).sum()
    assert all(table.frame.shape[1] <= 4 for table in found.at("short"))


def test_notes_say_what_the_judge_is_worth_and_how_biased_it_is(found):
    notes = found.notes()
    worth, low, high = found.worth
    assert notes[0].endswith(f"its score is worth {worth:.2f} labels ({low:.2f} to {high:.2f})")
    assert 0 < low < worth < high < 1
    assert notes[-1].startswith("the scores of nDCG are 0.2")


def test_what_a_judge_is_worth_is_the_number_of_labels_that_would_do_the_same():
    scores, _, truth = made(noise=0.5)
    worth = []
    for seed in range(12):
        some = np.random.default_rng(seed).permutation(150)[:60]
        people = me.Scores(truth[:, some, None], runs=RUNS, topics=[TOPICS[t] for t in some], measures=["nDCG"])
        worth.append(me.corrected_scores(scores, people=people, n_trials=100, target="topics").worth[0])
    n_equal = 60 + np.mean(worth) * 90
    rng = np.random.default_rng(1)
    errors = {"both": [], "alone": []}
    i, k = np.triu_indices(4, 1)
    for _ in range(300):
        order = rng.permutation(150)
        for name, n, judges in (
            ("both", 60, scores.values[None, ..., 0]),
            ("alone", round(n_equal), np.zeros((0, 4, 150))),
        ):
            known = np.zeros((4, 150), dtype=bool)
            known[:, order[:n]] = True
            given = np.where(known, truth, np.nan)
            each = correct_means(given, judges, spread_weights(known), key=1, n_trials=2, target="topics")
            errors[name].append(
                ((each.means[i] - each.means[k]) - (truth.mean(axis=1)[i] - truth.mean(axis=1)[k])) ** 2
            )
    assert np.mean(errors["both"]) == pytest.approx(np.mean(errors["alone"]), rel=0.25)
    assert 0.1 < np.mean(worth) < 0.9


def test_as_many_labels_as_are_said_to_be_needed_decide_about_half_of_the_time():
    scores, people, truth = made(3, n=25)
    found = me.corrected_scores(scores, people=people, n_trials=500, target="topics")
    pairs = found.pairs[found.pairs["topics_needed"].notna()]
    assert len(pairs)
    row = pairs.iloc[0]
    i, k = RUNS.index(row["first"]), RUNS.index(row["second"])
    n = int(row["topics_needed"])
    reach = []
    for seed in range(20):
        known = np.zeros((4, 150), dtype=bool)
        known[:, np.random.default_rng(seed).permutation(150)[:n]] = True
        options = {"key": 1, "n_trials": 500, "target": "topics"}
        each = correct_means(
            np.where(known, truth, np.nan), scores.values[None, ..., 0], spread_weights(known), **options
        )
        pair = list(zip(*np.triu_indices(4, 1), strict=True)).index((i, k))
        reach.append(each.reach[pair])
    assert np.mean(reach) == pytest.approx(abs(row["difference"]), rel=0.25)


def test_the_order_of_rows_and_columns_moves_nothing():
    scores, people, _ = made()
    turned = scores.sel(runs=RUNS[::-1], topics=TOPICS[::-1]), people.sel(topics=people.topics[::-1], runs=RUNS[::-1])
    first, second = (me.corrected_scores(s, people=p, n_trials=200) for s, p in ((scores, people), turned))
    pd.testing.assert_frame_equal(first.pairs, second.pairs)
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())


def test_lower_scores_may_be_better_by_the_judge_by_people_or_by_both():
    scores, people, _ = made()
    low = me.Scores(-scores.values, runs=RUNS, topics=TOPICS, measures=["MAE_M"], collection="made")
    costs = me.Scores(-people.values, runs=RUNS, topics=people.topics, measures=["MAE_M"])
    plain = me.corrected_scores(scores, people=people, n_trials=200)
    for judge, given in ((low, people), (scores, costs), (low, costs)):
        found = me.corrected_scores(judge, people=given, n_trials=200)
        assert found.pairs["both"].tolist() == plain.pairs["both"].tolist()
        assert found.to_frame()["run"].tolist() == plain.to_frame()["run"].tolist()
        turn = -1 if given is costs else 1
        assert found.to_frame()["mean"].tolist() == pytest.approx((turn * plain.to_frame()["mean"]).tolist())
        assert found.pairs["difference"].tolist() == pytest.approx((turn * plain.pairs["difference"]).tolist())
        assert (found.pairs["low"] < found.pairs["high"]).all()


def test_two_judges_with_errors_of_their_own_are_better_than_one():
    scores, people, truth = made(noise=0.4)
    other = truth + np.random.default_rng(9).normal(0, 0.4, truth.shape)
    both = scores.add_measures(me.Scores(other[..., None], runs=RUNS, topics=TOPICS, measures=["AP"]))
    found = me.corrected_scores(both, people=people, n_trials=200)
    assert found.frames()["summary"]["evidence"].tolist() == ["nDCG alone", "AP alone", "people alone", "both"]
    one = me.corrected_scores(scores, people=people, n_trials=200)
    assert found.both.residual.mean() < 0.8 * one.both.residual.mean()


def test_a_list_with_empty_labels_is_said_to_hold_when_all_are_filled_in():
    scores, people, _ = made()
    frame = tidy(people).assign(probability=0.4)
    frame.loc[frame["topic"].isin(people.topics[:20]), "nDCG"] = np.nan
    notes = me.corrected_scores(scores, people=frame, n_trials=200).notes()
    assert "20 topics of the list have no label yet: results hold when all are labelled" in notes


def test_where_all_is_labelled_nothing_is_said_of_labels():
    scores, _, truth = made()
    people = me.Scores(truth[..., None], runs=RUNS, topics=TOPICS, measures=["nDCG"])
    for target in ("topics", "population"):
        found = me.corrected_scores(scores, people=people, n_trials=100, target=target)
        assert len(found.notes()) == 1
        assert found.to_frame().set_index("run")["mean"].to_dict() == pytest.approx(
            dict(zip(RUNS, truth.mean(axis=1), strict=True))
        )
        assert (found.pairs["both"] == found.pairs["people"]).all()


def test_labels_from_the_beginning_of_a_file_or_of_easy_topics_are_not_random():
    scores, _, truth = made()
    easy = np.argsort(-scores.values.mean(axis=(0, 2)))[:40]
    for topics, what in ((range(40), "place in the file"), (easy, "the judge's mean score")):
        names = [TOPICS[t] for t in topics]
        people = me.Scores(truth[:, list(topics), None], runs=RUNS, topics=names, measures=["nDCG"])
        note = me.corrected_scores(scores, people=people, n_trials=100).notes(short=True)[0]
        assert note == f"the labelled topics were not chosen at random: they differ in {what}"


def test_few_labels_are_warned_of():
    scores, people, _ = made(n=12)
    note = me.corrected_scores(scores, people=people, n_trials=100).notes(short=True)[0]
    assert note == "12 labelled topics are few: intervals hold less often than they claim (docs/concepts/correction.md)"


def test_another_scale_is_said_and_changes_no_conclusion(found):
    scores, people, _ = made()
    wide = me.Scores(50 + 20 * scores.values, runs=RUNS, topics=TOPICS, measures=["nDCG"], collection="made")
    other = me.corrected_scores(wide, people=people, n_trials=500)
    assert other.notes()[-1].startswith("nDCG uses another scale than people")
    assert other.pairs["low"].tolist() == pytest.approx(found.pairs["low"].tolist())
    json = other.to_dict()
    assert json["rows"][0]["bias"] is None


def tiny_probability():
    """Weights 1/p: one topic that stands for all others is one label, (Σw)²/Σw² = 1.0."""
    scores, _, truth = made()
    rows = [(r, t, truth[RUNS.index(r), n], 1e-9 if n == 0 else 1 / 3) for r in RUNS for n, t in enumerate(TOPICS[:50])]
    return scores, pd.DataFrame(rows, columns=["run", "topic", "nDCG", "probability"]), {}


def change(what):
    """Return scores, people and options of which something is wrong."""
    scores, people, _ = made()
    if what in ("run", "topic"):
        frame = tidy(people)
        return scores, frame.assign(**{what: "x" + frame[what]}), {}
    if what == "unscored topic":
        return scores.sel(topics=[topic for topic in TOPICS if topic != people.topics[3]]), people, {}
    if isinstance(what, tuple):  # factors of the judge's scores and of people's
        judged, given = (
            me.Scores(k * each.values, runs=RUNS, topics=each.topics, measures=["nDCG"])
            for k, each in zip(what, (scores, people), strict=True)
        )
        return judged, given, {}
    return scores, people.sel(**what.pop("sel", {})), what


FAR = r"nDCG: scores reach .*: rescale them"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("topic", "no topic has both a judge's score and a label of people"),
        ("run", "no run has both a judge's score and a label of people"),
        ("unscored topic", f"the topic {made()[1].topics[3]} has labels of people and no score of the judge"),
        ({"sel": {"runs": ["b", "c", "d"]}}, r"people labelled 0 of 150 topics of the run a"),
        ({"sel": {"topics": made()[1].topics[:1]}}, "people labelled 1 of 150 topics of the run a; intervals need at least 5"),
        ({"target": "runs"}, "there is no target 'runs'"),
        ({"confidence": 95}, "confidence is 95; it lies between 0 and 1"),
        ({"n_trials": 10}, "n_trials is 10"),
        *(((k, 1), FAR) for k in (1e200, 1e-200)), *(((1, k), FAR) for k in (1e200, 1e-200)),
        (tiny_probability, "worth 1.0 equal ones, and intervals need 5"),
    ],
)  # fmt: skip
def test_what_cannot_be_corrected_is_refused(what, message):
    scores, people, options = what() if callable(what) else change(what)
    with pytest.raises(MetaevalError, match=message):
        me.corrected_scores(scores, people=people, **options)


def test_topics_in_clusters_are_refused():
    scores, people, _ = made()
    grouped = me.Scores(scores.values, runs=RUNS, topics=TOPICS, measures=["nDCG"], clusters=[t[:3] for t in TOPICS])
    with pytest.raises(MetaevalError, match="takes topics one by one and would ignore their clusters"):
        me.corrected_scores(grouped, people=people)


def test_a_judge_that_sees_no_difference_is_said_to_decide_nothing():
    scores, people, _ = made()
    flat = me.Scores(np.ones_like(scores.values), runs=RUNS, topics=TOPICS, measures=["nDCG"])
    found = me.corrected_scores(flat, people=people, n_trials=200)
    assert found.tables()[1].caption.endswith(": the judge alone decides nothing.")
    assert found.both.differences == pytest.approx(found.people.differences)


def test_single_cells_are_enough():
    scores, people, _ = made()
    frame = tidy(people)
    some = frame[np.random.default_rng(0).random(len(frame)) < 0.6]
    found = me.corrected_scores(scores, people=some, target="topics", n_trials=200)
    assert any("people labelled other topics of some runs than of others" in note for note in found.notes())


def test_a_judge_that_is_reversed_copied_or_blind_is_said_to_be_so_and_no_other():
    scores, people, truth = made()
    values = scores.values[..., 0]
    blind, noise = np.tile(values[:1], (4, 1)), np.random.default_rng(1).normal(size=values.shape)
    copied = np.where(np.isin(TOPICS, people.topics), truth, values)
    said = {}
    for name, judge in {"right": values, "reversed": -values, "copied": copied, "blind": blind, "noise": noise}.items():
        given = me.Scores(judge[..., None], runs=RUNS, topics=TOPICS, measures=["nDCG"])
        said[name] = me.corrected_scores(given, people=people, n_trials=200).remarks
    assert all(said[name][0].startswith("the judge makes 60 labelled topics worth") for name in ("right", "noise"))
    no_better = "nothing shows that the judge's scores tell more of the runs than chance would"
    assert [name for name, notes in said.items() if no_better in notes] == ["blind", "noise"]
    assert said["reversed"][0].startswith("nDCG scores low what people score high: check its direction")
    assert said["copied"][0] == "all labels of people equal the scores of nDCG: were they copied from it?"
    assert said["blind"][0] == "nDCG gives all runs the same score on every topic: it tells nothing about them"
