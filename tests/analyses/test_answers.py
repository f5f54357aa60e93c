"""The first line of every command: one sentence, known beforehand on made-up data."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from tests.analyses.made import label, relabel

PEOPLE = {"reference": "people", "n_permutations": 50}


@pytest.fixture(scope="module")
def scores():
    """Two measures that see quality through little noise, one through much, and people."""
    rng = np.random.default_rng(0)
    values = [np.linspace(0, 1, 12)[:, None] + rng.normal(0, size, (12, 40)) for size in (0.2, 0.3, 3.0, 0.1)]
    return label(np.stack(values, axis=-1), ["sharp", "fair", "dull", "people"], higher_is_better=True)


def test_answers_say_what_was_put_in(scores):
    three = scores.sel(measures=["sharp", "fair", "dull"])
    power, ranks = me.discriminative_power(three, n_permutations=300), me.run_ranks(three, n_permutations=300)
    single = me.run_ranks(scores.sel(measures="dull"), n_permutations=300)
    found, firsts = power.significant.sum(axis=1)[0], ranks.summary()["near_first"].tolist()
    halves, needed = me.split_half_consistency(three, n_trials=50), me.topic_set_size(three, n_bootstrap=0)
    overlap, covered = me.significance_overlap(power), me.coverage(scores, reference=["people"])
    least, *_, most = sorted(f"{100 * share:.0f} %" for share in overlap.to_frame()["sso"])
    (share, low, high), topics = covered.rows.loc[1, ["coverage", "low", "high"]], needed.rows["topics"]
    leader, two = single.to_frame()["run"].iloc[0], three.sel(measures=["sharp", "fair"])
    for result, sentence in [
        (power, f"sharp finds most differences ({found} of 66 pairs of runs), clearly more than dull."),
        (me.ranking_similarity(three), "sharp and fair rank runs most alike (τ_a …"),
        (me.ranking_similarity(two), "The rankings of sharp and fair have τ_a …"),
        (halves, "sharp and fair rank runs most stably between two random sets of 20 topics (mean τ … to …), dull least (…)."),
        (me.agreement(scores, **PEOPLE), "sharp and fair agree best with people (pairwise accuracy … on these runs."),
        (me.significance_contradictions(power), "No two measures contradict each other significantly…"),
        (ranks, f"Of 12 runs may be the best: {firsts[0]} by sharp, {firsts[1]} by fair, {firsts[2]} by dull."),
        (single, f"{leader} is first by dull; {firsts[2] - 1} other runs may be as good."),
        (me.robustness(three), "sharp ranks runs most alike from topic to topic (mean ρ 0.…; the others 0.… to 0.…)."),
        (me.robustness(two), "sharp ranks runs more alike from topic to topic than fair (mean ρ 0.… and 0.…)."),
        (covered, "Of the measures outside the reference set, fair covers it best "
                  f"(coverage {share:.2f} [{low:.2f}, {high:.2f}]), "
                  "clearly better than 1 of the 2 others."),
        (me.baseline_preference(two, "r11", "r00"), "r11 wins more topics than r00 by 2 of 2 measures; no test is made."),
        (needed, "To find a difference of 0.1, in each measure's unit, between two runs by a t-test, sharp needs "
                 f"{topics[0]:.0f} topics, dull {topics[2]:,.0f}."),
        (overlap, f"sharp and fair agree most on which differences are significant (overlap {most}), sharp and dull least "
                  f"(overlap {least})."),
        (me.properties(["NMD"]), "NMD fails none of 3 properties that were tried."),
        (me.properties(["RNSS"]), "RNSS fails 2 of 3 properties that were tried: ordinal…"),
    ]:  # fmt: skip
        assert re.fullmatch(re.escape(sentence).replace("…", ".*"), result.answer())
    elsewhere = me.agreement(scores, **PEOPLE, over="runs and topics")
    assert "on these runs" not in elsewhere.answer()


def test_consistency_names_together_what_does_not_differ_significantly(scores):
    """Of measures that are equal but for noise, none is called the most or the least stable one."""
    rng = np.random.default_rng(2)
    sharp, dull = (
        [scores.values[..., m] + rng.normal(0, 1e-9, (12, 40)) for _ in range(n)] for m, n in ((0, 2), (2, 4))
    )
    given = relabel(scores, np.stack([*sharp, *dull], axis=-1), list("abcdef"), higher_is_better=True)
    sets = "between two random sets of 20 topics"
    for measures, sentence in (
        ("abc", f"(a and b|b and a) rank runs most stably {sets} \\(mean τ 0...\\), c least \\(0...\\)."),
        ("acdef", f"a ranks runs most stably {sets} .*, ., . and 2 others least \\(0...\\)."),
        ("cd", f"No measure is shown to rank runs more stably than another {sets} \\(τ 0...\\)."),
        ("a", f"a ranks runs with a mean τ of 0... {sets}."),
    ):
        halves = me.split_half_consistency(given.sel(measures=list(measures)), n_trials=50, n_permutations=200)
        assert re.fullmatch(sentence, halves.answer()), halves.answer()


def test_robustness_names_together_what_reads_the_same(scores):
    sharp, dull = scores.values[..., 0], scores.values[..., 2]
    given = relabel(scores, np.stack([sharp, 2 * sharp, dull, 2 * dull], axis=-1), list("abcd"), higher_is_better=True)
    for measures, sentence in (
        ("abcd", "a and b rank runs most alike from topic to topic (mean ρ 0.…; the others 0.…)."),
        ("abc", "a and b rank runs most alike from topic to topic (mean ρ 0.…; the other 0.…)."),
        ("ab", "a and b rank runs equally alike from topic to topic (mean ρ 0.…)."),
        ("a", "a ranks runs from topic to topic (mean ρ 0.…)."),
    ):
        answer = me.robustness(given.sel(measures=list(measures))).answer()
        assert re.fullmatch(re.escape(sentence).replace("…", ".."), answer), answer


NOISE = np.random.default_rng(1).normal(size=(4, 12, 40))
AGREEING = {  # columns of measures and people, and what is said
    "an upside-down reference": (
        lambda given: {**given, "dull": given["fair"], "people": -given["people"]},
        "Every measure agrees with people less than chance: is its direction right?",
    ),
    "a reference of noise": (
        lambda given: {**given, "people": NOISE[0]},
        "people tells no two runs apart: agreement with it may be chance. sharp and fair agree most with people (pairwise "
        "accuracy SHARE).",
    ),
    "a measure of noise": (
        lambda given: {**given, "noise": NOISE[1]},
        "sharp and fair agree best with people … on these runs. noise is not shown to be better than chance.",
    ),
    "a measure turned round": (
        lambda given: {**given, "turned": -given["sharp"]},
        "sharp and fair agree best with people … turned agrees less than chance: is its direction right?",
    ),
    "a measure turned round in its run scores alone": (
        lambda given: {**given, "mixed": np.where(np.arange(40) < 12, -10, 1) * given["sharp"]},
        "sharp and fair agree best with people … mixed orders most pairs of runs opposite to people.",
    ),
    "measures of noise": (
        lambda given: {"one": NOISE[2], "two": NOISE[3], "people": given["people"]},
        "No measure is shown to agree with people better than chance (pairwise accuracy: BEST SHARE, chance 0.50).",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), AGREEING.values(), ids=AGREEING)
def test_a_measure_or_a_reference_that_is_no_better_than_chance_is_said_to_be_so(scores, change, sentence):
    columns = change(dict(zip(map(str, scores.measures), np.moveaxis(scores.values, -1, 0), strict=True)))
    given = relabel(scores, np.stack([*columns.values()], axis=-1), list(columns), higher_is_better=True)
    found = me.agreement(given, **PEOPLE)
    best = int(np.argmax(found.values[0]))
    table, told = found.to_table(), sentence.startswith("sharp")
    assert (table.marks(table.frame).iloc[:, 0] == "bold").any() == told
    sentence = sentence.replace("BEST", str(found.measures[best])).replace("SHARE", f"{found.values[0, best]:.2f}")
    assert re.fullmatch(re.escape(sentence).replace("…", ".*"), found.answer())


@pytest.mark.parametrize(
    ("topics", "way", "other"), [(None, True, "lower"), (None, False, "higher"), (20, True, "lower")]
)
def test_a_single_measure_below_chance_is_asked_for_its_direction(scores, topics, way, other):
    """Also where there are too few topics for an interval."""
    given = scores.sel(measures=["sharp", "people"], topics=scores.topics[:topics])
    measures = [me.Measure("one", higher_is_better=way), me.Measure("people", higher_is_better=True)]
    given = replace(given, values=given.values * ([-1, 1] if way else [1, 1]), measures=measures)
    found = me.agreement(given, **PEOPLE)
    assert np.isnan(found.low).all() == (topics is not None)
    share = found.values[0, 0]
    assert share < 0.5
    sentence = f"one agrees with people less than chance (pairwise accuracy {share:.2f}): is {other} better?"
    assert found.answer() == sentence


def test_what_only_files_hold_is_warned_of_beside_them_alone(scores):
    found = me.agreement(scores, **PEOPLE)
    assert any(note.startswith("p-values and clusters, in CSV and JSON only") for note in found.to_dict()["notes"])
    assert not [note for note in found.notes(short=True) if not note or "p-values" in note]


def test_conclusions_by_a_margin_say_by_which_bound(scores):
    """Where the ends shown reach further than the bound that decides."""
    found = me.agreement(scores, **PEOPLE, margin=0.3)
    (table,) = [table for table in found.tables() if table.caption.startswith("Differences")]
    assert "margin: 30 % of its range" in table.caption
    said = [word for word in ("like", "no worse", "no better") if word in set(table.frame["conclusion"])]
    assert said
    how = "decided by one-sided 95 % bounds, which lie inside the intervals shown."
    assert table.legend == f"{', '.join(said).capitalize()}: {how}"


def test_where_no_measure_is_better_than_another_only_the_best_is_bold(scores):
    found = me.agreement(scores.sel(measures=["sharp", "fair", "people"]), **PEOPLE)
    table = found.to_table()
    bold = table.marks(table.frame).iloc[:2, : len(found.results)] == "bold"
    alike = [result.title for result in found.results if not result.better.any() and len({*result.values}) == 2]
    assert alike
    for title in alike:
        assert bold.index[bold[title]].tolist() == [table.frame[title].iloc[:2].astype(float).idxmax()]


def test_copies_of_a_measure_are_named(scores):
    """A copy of a measure and of the reference; a rescaled one has other scores."""
    values = scores.values[..., [0, 0, 1, 3, 3]] * [1, 1, 2, 1, 1]
    names = ["sharp", "twin", "fair", "people", "person"]
    given = relabel(scores, values, names, higher_is_better=True)
    for result in (
        me.discriminative_power(given, n_permutations=200, n_bootstrap=0),
        me.agreement(given, reference="people", n_permutations=50, n_bootstrap=0),
    ):
        copies = [note.partition(" are ")[0].split(", ") for note in result.notes() if "are one measure" in note]
        assert [*map(sorted, copies)] == [["sharp", "twin"], ["people", "person"]]


def test_where_no_difference_is_found_no_measure_finds_most_and_an_equally_good_one_not_clearly_more(scores):
    power = me.discriminative_power(scores, n_permutations=200, n_bootstrap=0)
    none = replace(power, rows=power.rows.assign(significant=0))
    assert none.answer() == "No measure finds any difference between runs (0 of 66 pairs of runs)."
    single = me.discriminative_power(scores.sel(measures="sharp"), n_permutations=200, n_bootstrap=0)
    assert single.answer() == f"sharp finds {single.rows['significant'].item()} of 66 pairs of runs significant."
    none = replace(single, rows=single.rows.assign(significant=0))
    assert none.answer() == "sharp finds no difference between runs (0 of 66 pairs of runs)."
    values = np.random.default_rng(4).normal(size=(12, 40, 2)) + np.linspace(0, 1, 12)[:, None, None]
    answer = me.discriminative_power(label(values, higher_is_better=True), n_permutations=300).answer()
    assert answer.endswith("but not clearly more than any other measure.")


def test_topics_needed_lie_between_the_sizes_around_the_aim(scores):
    sizes = me.sample_size(scores.sel(measures=["sharp", "dull"]), n_trials=40)
    frame = sizes.to_frame().query("measure == 'sharp'")
    low, high = frame.query("expected_tau < 0.9")["topics"].max(), frame.query("expected_tau >= 0.9")["topics"].min()
    needed = sizes.topics_needed().loc["sharp", 0.9]
    assert low < needed <= high
    alone, said = me.sample_size(scores.sel(measures="sharp"), n_trials=40), f"sharp needs about {needed:.0f} topics"
    assert alone.answer() == f"{said} for an expected τ of 0.9."
    assert sizes.answer() == f"{said} for an expected τ of 0.9, dull more than 40."


def test_numbers_of_topics_beyond_those_there_are_are_no_more_than_predicted(scores):
    """Neither is a measure said to need fewer than another there."""
    known = me.sample_size(scores.sel(measures=["sharp", "fair"]), sizes=[5, 40], n_trials=40)
    assert known.answer().startswith("sharp needs about ")
    assert not any("predicted" in table.whole_caption for table in known.tables())
    curves = known.curves.assign(topics=known.curves["topics"].replace(40, 386))
    rounded = replace(known, curves=curves.assign(expected_tau=curves["topics"] / 386 * 0.9001), n_topics=386)
    assert rounded.answer().startswith("sharp needs about 390 topics"), "two digits of 385.9"
    fewer = replace(known, n_topics=20)
    said = "As a model predicts from the 20 topics there are, measures need "
    assert re.fullmatch(rf"{said}\d+ to \d+ topics for an expected τ of 0.9.", fewer.answer())
    short, whole = fewer.tables()
    assert "τ with (40)" in short.frame
    assert whole.frame.index.tolist() == ["5", "(40)"]
    for table in (short, whole):
        assert "In brackets: predicted, beyond the 20 there are." in table.whole_caption


@pytest.mark.parametrize("ask", [me.significance_overlap, me.significance_contradictions, me.run_ranks])
def test_scores_are_tested_as_discriminative_power_tests_them(scores, ask):
    options = {"n_permutations": 50, "alpha": 0.1, "seed": 3}
    power = me.discriminative_power(scores, test="max-t", n_bootstrap=0, **options)
    found, of_power = ask(scores, test="max-t", **options), ask(power)
    assert found.signature == of_power.signature
    same = of_power.to_frame().columns
    pd.testing.assert_frame_equal(found.to_frame()[same], of_power.to_frame())
    assert me.run_ranks(scores, n_permutations=50).test == "bootstrap-t"  # where runs vary unlike, others err
