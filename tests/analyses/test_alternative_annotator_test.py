import itertools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

import metaeval as me
from metaeval.analyses.alternative_annotator_test import EPSILONS, PASS, alternative_annotator_test
from metaeval.data.annotations import Annotations
from metaeval.errors import MetaevalError, PolicyWarning
from metaeval.io import read_annotations
from metaeval.stats.annotator_wins import choose_class, find_p_values, shuffle_answers, tabulate_agreement

DATA = Path(os.environ.get("METAEVAL_DATA", "nowhere")) / "alttest"


def annotate(labels, answers, classes, **more):
    """Labels of people and answers of judges, one class each, with names that only count."""
    labels, answers = np.asarray(labels), np.asarray(answers)
    names = {
        "annotators": [f"p{a}" for a in range(len(labels))],
        "judges": [f"j{j}" for j in range(len(answers))],
        "items": [f"i{i}" for i in range(labels.shape[1])],
    }
    return Annotations(labels, np.eye(classes, dtype=int)[answers], classes=range(classes), **{**names, **more})


def make(seed=0, items=90, gaps=0.3, **more):
    """People and judges who see the same truth through noise; some labels of people are missing, never all."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, items)

    def noisy(n):
        return np.clip(truth + rng.integers(-1, 2, (n, items)) * (rng.random((n, items)) < 0.6), 0, 3)

    labels, answers = noisy(4), noisy(3)
    labels[1:][rng.random((3, items)) < gaps] = -1
    return annotate(labels, answers, 4, **{"collection": "made", **more})


def list_judges(found):
    """The rows of a result by judge, in the order in which judges were given."""
    return found.rows.set_index("judge").loc[list(found.judges)]


def plain_test(given, agreement, epsilon, fewest=30):
    """ω, ρ and the p-values of every judge by loops over people and items, with the tests of scipy and statsmodels."""
    score = {
        "accuracy": lambda label, others: np.mean([label == other for other in others]),
        "squared-error": lambda label, others: -np.mean([(label - other) ** 2 for other in others]),
    }[agreement]
    found = []
    for answers in given.answers.argmax(axis=-1):
        p_values, advantages = [], []
        for a, own in enumerate(given.labels):
            wins, gaps = [], []
            for i in np.flatnonzero(own >= 0):
                if others := [one[i] for b, one in enumerate(given.labels) if b != a and one[i] >= 0]:
                    human, judge = score(own[i], others), score(answers[i], others)
                    wins.append(judge >= human)
                    gaps.append(int(human >= judge) - int(judge >= human))
            if len(gaps) >= fewest:
                p_values.append(ttest_1samp(gaps, epsilon, alternative="less").pvalue)
                advantages.append(np.mean(wins))
        found.append((multipletests(p_values, 0.05, "fdr_by")[0].mean(), np.mean(advantages), p_values))
    return found


@pytest.mark.parametrize(("agreement", "seed"), list(itertools.product(["accuracy", "squared-error"], range(3))))
def test_the_test_is_what_plain_loops_with_scipy_and_statsmodels_find(agreement, seed):
    given = make(seed)
    found = alternative_annotator_test(given, agreement=agreement, epsilon=0.2, n_bootstrap=0)
    rates, of_people = list_judges(found), found.people.groupby("judge")
    for judge, expected in zip(given.judges, plain_test(given, agreement, 0.2), strict=True):
        assert rates.loc[judge, ["omega", "rho"]].tolist() == pytest.approx(expected[:2], rel=1e-12)
        assert of_people.get_group(judge)["p"].dropna().tolist() == pytest.approx(expected[2])


def test_p_is_decided_where_nothing_varies():
    assert find_p_values([30, 30, 30, 1], [0, 30, 0, 0], [0, 30, 0, 0], [0.1, 0.1, 0, 0.1]).tolist() == [0, 1, 1, 1]


def test_judges_that_do_not_see_the_items_are_named_and_never_pass():
    """People mostly say 2 or 3 and differ; whoever says so too, whatever the item is, wins against them."""
    rng = np.random.default_rng(5)
    truth = rng.choice(5, 300, p=[0.02, 0.03, 0.45, 0.45, 0.05])
    people = np.clip(truth + rng.integers(-2, 3, (4, 300)), 0, 4)
    answers = {
        "always 2": 0 * truth + 2,
        "always 3": 0 * truth + 3,
        "2 or 3": rng.integers(2, 4, 300),
        "shuffled": rng.permutation(truth),
        "sees": truth,
        "sees half": np.where(rng.random(300) < 0.5, truth, rng.permutation(truth)),
    }
    given = annotate(people, list(answers.values()), 5, judges=list(answers))
    found = alternative_annotator_test(given, n_bootstrap=0)
    rows = list_judges(found)
    assert rows["omega"].tolist() == [omega for omega, *_ in plain_test(given, "squared-error", 0.15)]
    assert (rows["omega"][:3] >= 0.5).all(), "by the test alone they pass"
    for column, blind in (("blind", True), ("passes", False)):
        assert rows[column].tolist() == [blind] * 4 + [not blind] * 2
    assert rows["passes_from"].isna().tolist() == rows["blind"].tolist()
    assert found.answer().startswith(
        "2 of 6 judges may replace people: sees, sees half. sees wins against 100 % of people"
    )
    note = found.notes(short=True)[-1]
    assert note.startswith("always 2, always 3, 2 or 3, shuffled: the same answers in random order")
    table = found.to_table().frame
    assert table.loc["always 2", ["passes", "passes from ε"]].tolist() == ["no, blind", "never"]
    assert table.loc["sees", "passes"] == "yes"


@pytest.mark.parametrize("agreement", ["accuracy", "squared-error"])
def test_shuffled_answers_agree_as_often_as_all_orders_do(agreement):
    rng = np.random.default_rng(1)
    near = tabulate_agreement(4, agreement)
    labels, judged = rng.integers(0, 4, (3, 7)), rng.integers(0, 4, (5, 7))
    labels[0, :3] = labels[1, 0] = -1
    shares = [[np.mean(near[one, people[people >= 0]]) for one in range(4)] for people in labels.T]
    p = shuffle_answers(labels, judged, near, 4000, np.random.default_rng(2))
    for row, answers in enumerate(judged):
        own, *others = ([share[one] for share, one in zip(shares, order, strict=True)]
                        for order in (answers, *itertools.permutations(answers)))  # fmt: skip
        assert p[row] == pytest.approx(np.mean(np.sum(others, axis=1) > sum(own) - 1e-9), abs=0.03)


def test_a_judge_that_always_gives_one_label_but_for_a_lucky_guess_never_passes():
    """One other answer hits one of five such items by luck in a twentieth of all orders, far in the tail of a normal curve."""
    truth = np.where(np.arange(100) < 5, 0, 2)
    answers = np.full((2, 100), 2)
    answers[0, 3] = answers[1, 50] = 0
    found = alternative_annotator_test(annotate([truth] * 3, answers, 3), n_bootstrap=0)
    assert (found.rows["omega"] == 1).all(), "by the test alone they pass"
    assert found.rows["blind"].all()


def test_a_judge_whose_interval_goes_below_what_is_needed_is_named_beside_the_answer():
    found = alternative_annotator_test(make(1))
    ends = {"omega_low": [0.8, 0.42, 0.0], "omega_high": [1.0, 0.75, 0.5]}
    rows = found.rows.assign(omega=[1.0, 0.6, 0.0], passes=[True, True, False], blind=False, **ends)
    first, second, _ = rows["judge"]
    found = replace(found, rows=rows)
    assert found.answer() == (
        f"2 of 3 judges may replace people: {first}, {second}. {first} wins against 100 % of people [80, 100]; 50 % are "
        f"needed, which {second} may miss on other items."
    )
    assert found.tables()[0].frame.loc[second, "ω"] == "0.60 [0.42, 0.75]"
    assert "wins against [95 % interval]; 0.5 is needed." in found.tables()[0].caption
    certain = replace(found, rows=rows.assign(omega_low=0.5))
    assert certain.answer().endswith("; 50 % are needed.")


def test_a_judge_passes_from_the_smallest_epsilon_on_with_which_it_does():
    given = make(1)
    by_epsilon = [alternative_annotator_test(given, epsilon=each, n_bootstrap=0) for each in EPSILONS]
    omega = np.array([list_judges(each)["omega"] for each in by_epsilon])
    assert (np.diff(omega, axis=0) >= 0).all()
    expected = [EPSILONS[np.argmax(judge >= PASS)] if (judge >= PASS).any() else np.nan for judge in omega.T]
    for found in by_epsilon:
        np.testing.assert_array_equal(list_judges(found)["passes_from"], expected)


@pytest.mark.nightly
def test_intervals_of_rho_hold_the_true_value_as_often_as_they_claim():
    # All answer at random among two classes. The judge loses an item only where it differs from the person (1/2) and
    # both others say what the person says (1/4), so that ρ is 7/8.
    rng = np.random.default_rng(5)
    held = []
    for _ in range(150):
        given = annotate(rng.integers(0, 2, (3, 60)), rng.integers(0, 2, (1, 60)), 2)
        found = alternative_annotator_test(given, n_bootstrap=200)
        held.append(found.rows["rho_low"][0] <= 7 / 8 <= found.rows["rho_high"][0])
    assert 0.9 < np.mean(held) < 0.99


def test_people_with_few_items_are_not_testable_and_said_so():
    given = make(gaps=0.0)
    labels = given.labels.copy()
    labels[3, 29:] = -1
    found = alternative_annotator_test(annotate(labels, given.answers.argmax(axis=-1), 4, topics=["t"] * 90))
    people = found.people[found.people["judge"] == "j0"]
    assert people["tested"].tolist() == [True, True, True, False]
    assert found.people.loc[~found.people["tested"], "p"].isna().all()
    assert found.rows["rho_low"].isna().all()
    assert any("p3 (29 items)" in note for note in found.notes())
    assert found.no_interval == "No interval: it needs 25 topics; there are 1."
    assert found.at("short")[0].frame.columns.tolist() == ["ρ", "ω", "passes", "classes from people"]
    assert list(found.frames()) == ["judges", "annotators", "differences"]
    assert set(found.differences["better"]) <= {"j0", "j1", "j2", "cannot tell"}
    with pytest.raises(MetaevalError, match="nobody can be tested: it takes 30 items"):
        alternative_annotator_test(make(items=20, gaps=0.0))


def test_intervals_of_rho_hold_it_and_are_drawn():
    found = alternative_annotator_test(make(), n_bootstrap=100)
    assert found.rows["rho"].between(found.rows["rho_low"], found.rows["rho_high"]).all()
    assert len(found.plot().axes) == 1


def test_gold_of_several_people():
    names = {"annotators": list("abc"), "judges": ["j"], "items": ["x", "y"], "topics": ["t", "t"]}
    given = Annotations([[0, 2], [0, -1], [2, 1]], [[[1, 0, 0], [0, 1, 3]]], classes=range(3), **names)
    shares, labels = given.to_quantification(), given.to_classification()
    np.testing.assert_allclose(shares.gold, [[2 / 3, 0, 1 / 3], [0, 0.5, 0.5]])
    np.testing.assert_allclose(shares.estimated, [[[1, 0, 0], [0, 0.25, 0.75]]])
    assert labels.counts[0, 0].tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert len(given.to_classification(parts=2).topics) == 2


def test_items_that_are_topics_of_their_own_are_pooled_or_divided_but_never_taken_for_topics():
    """The mean over items of CEM_ORD, κ and accuracy is the share of right answers: none sees how wrong the others are."""
    rng = np.random.default_rng(0)
    people, judge = rng.integers(0, 5, (3, 40)), rng.integers(0, 5, 40)
    given = annotate(people, [judge], 5)
    with pytest.raises(MetaevalError, match=r"every item is a topic of its own.*pool them with 1: parts=20"):
        given.to_classification()
    pooled = me.score(given.to_classification(parts=1), ["CEM_ORD", "Accuracy"])
    gold = choose_class(given.votes)
    counts = np.zeros((5, 5), dtype=int)
    np.add.at(counts, (gold, judge), 1)
    assert pooled.values[0, 0, 0] == me.measure("CEM_ORD").score(counts)
    assert pooled.values[0, 0, 1] == (gold == judge).mean() != pooled.values[0, 0, 0]
    assert given.to_classification(parts=4).counts.sum(axis=(0, 2, 3)).tolist() == [10] * 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.json", '{"ann": {"x": 1, "y": 2}, "bo": {"y": 1}}'),
        ("wide.csv", "item,ann,bo\nx,1,\ny,2,1\n"),
        ("long.csv", "item,annotator,label\nx,ann,1\ny,ann,2\ny,bo,1\n"),
    ],
)
def test_labels_are_read_in_any_layout_and_missing_answers_obey_the_policy(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    found = read_annotations(tmp_path / name, {"item": ["y", "x"], "j": [2, 1]}, classes=[1, 2])
    assert (found.labels.tolist(), found.answers.argmax(axis=-1).tolist()) == ([[0, 1], [-1, 0]], [[0, 1]])
    with pytest.warns(PolicyWarning, match="left out 1 of 2"):
        kept = read_annotations(tmp_path / name, {"item": ["x"], "j": [1]}, classes=[1, 2], missing="drop-topic")
    assert kept.items == ("x",)


def test_topics_are_named_by_a_column_or_by_the_beginning_of_the_item():
    one, two = {"item": ["d1__a", "d1__b", "d2__a"]}, {"topic": ["d1", "d1", "d2"], "item": ["a", "b", "a"]}
    for names, options in ((one, {"separator": "__"}), (two, {})):
        found = read_annotations({**names, "ann": [0, 1, 1]}, {**names, "j": [0, 1, 1]}, classes=[0, 1], **options)
        assert found.topics == ("d1", "d1", "d2")
    assert found.items == ("d1/a", "d1/b", "d2/a")


def test_people_agree_with_each_other_as_counted_by_hand():
    """Two of three people share each label; the judge repeats the odd one."""
    given = annotate(np.tile([[0], [0], [1]], 40), np.ones((1, 40), dtype=int), 2)
    found = alternative_annotator_test(given, agreement="accuracy", n_bootstrap=0)
    # Of the others, a and b find one of two with their label, c none; the judge none, but c beside a's and b's items.
    assert found.people_agree == found.rows["agrees"][0] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found.rows["omega"][0] >= 0.5  # it wins against two of three people, and always gives one label
    assert found.answer() == (
        "None of 1 judge is shown to be fit to replace people: none does better than chance. j0 wins against 100 % of people; "
        "50 % are needed."
    )


def test_how_far_a_judge_is_from_people_is_a_mean_of_classes():
    """Not the root of a mean square, in which one label far away outweighs many that are near."""
    rng = np.random.default_rng(2)
    labels, judged = rng.integers(0, 5, (3, 60)), rng.integers(0, 5, (2, 60))
    found = alternative_annotator_test(annotate(labels, judged, 5), n_bootstrap=0)
    gaps = [np.abs(row - labels).mean() for row in judged]
    people = np.mean([np.abs(labels[a] - labels[b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))])
    assert (-list_judges(found)["agrees"]).tolist() == pytest.approx(gaps)
    assert -found.people_agree == pytest.approx(people)
    for level in ("short", "all"):
        shown = found.at(level)[0].frame["classes from people"]
        assert shown[["j0", "j1", "(people)"]].tolist() == [f"{gap:.2f}" for gap in (*gaps, people)]


PUBLISHED = {  # ω and ρ as the authors' notebook prints them, gpt-4o
    "cebab_stars": ("squared-error", 0.1, range(1, 6), 0.90, 0.90),
    "10k_prompts": ("squared-error", 0.15, range(1, 6), 0.69, 0.76),
    "lesion": ("squared-error", 0.15, range(7), 0.00, 0.62),
    "mtbench": ("accuracy", 0.2, ["model_a", "tie", "model_b"], 0.00, 0.77),
}


@pytest.mark.skipif(not DATA.is_dir(), reason="METAEVAL_DATA has no alttest/")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_rates_come_out(name):
    agreement, epsilon, classes, omega, rho = PUBLISHED[name]
    files = (DATA / name / f"{who}_annotations.json" for who in ("human", "llm"))
    given = read_annotations(*files, classes=classes)
    found = alternative_annotator_test(given, agreement=agreement, epsilon=epsilon, n_bootstrap=0)
    row = list_judges(found).loc["gpt-4o"]
    assert (round(row["omega"], 2), round(row["rho"], 2)) == (omega, rho)
