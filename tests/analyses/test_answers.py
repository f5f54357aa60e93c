"""The first line of every command: one sentence, known beforehand on made-up data."""

from dataclasses import replace

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError
from tests.analyses.made import label, relabel


@pytest.fixture(scope="module")
def scores():
    """Two measures that see quality through little noise, one through much, and people."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0, 1, 12)[:, None]
    values = [quality + rng.normal(0, size, (12, 40)) for size in (0.2, 0.3, 3.0, 0.1)]
    return label(np.stack(values, axis=-1), ["sharp", "fair", "dull", "people"], higher_is_better=True)


def test_answers_say_what_was_put_in(scores):
    three = scores.sel(measures=["sharp", "fair", "dull"])
    power = me.discriminative_power(three, n_permutations=300)
    counts = power.significant.sum(axis=1)
    assert power.answer() == (
        f"sharp finds most differences ({counts[0]} of 66 pairs of runs), clearly more than dull."
    )
    assert me.ranking_similarity(three).answer().startswith("sharp and fair rank runs most alike (τ_a ")
    assert (
        me.ranking_similarity(three.sel(measures=["sharp", "dull"]))
        .answer()
        .startswith("The rankings of sharp and dull have τ_a ")
    )
    halves = me.split_half_consistency(three, n_trials=50).answer()
    assert halves.startswith("sharp ranks runs most stably between two random sets of 20 topics (mean τ ")
    agreed = me.agreement(scores, reference="people", n_permutations=50)
    assert agreed.answer().startswith("sharp agrees best with people (pairwise accuracy ")
    assert agreed.answer().endswith(" on these runs.")
    elsewhere = me.agreement(scores, reference="people", n_permutations=50, over="runs and topics")
    assert "on these runs" not in elsewhere.answer()
    assert me.significance_contradictions(power).answer() == "No two measures contradict each other."
    ranks = me.run_ranks(three, n_permutations=300)
    firsts = ranks.summary()["near_first"].tolist()
    assert ranks.answer() == (f"Runs that may be the best: by sharp {firsts[0]}, fair {firsts[1]}, dull {firsts[2]}.")
    single = me.run_ranks(scores.sel(measures="dull"), n_permutations=300)
    leader = single.to_frame()["run"].iloc[0]
    assert single.answer() == f"{leader} is first by dull; {firsts[2] - 1} other runs may be as good."


def test_an_upside_down_reference_is_asked_about(scores):
    turned = replace(scores, values=scores.values * [1, 1, 1, -1]).sel(measures=["sharp", "fair", "people"])
    assert me.agreement(turned, reference="people", n_permutations=50).answer() == (
        "Every measure agrees with people less than chance: is its direction right?"
    )


def test_a_reference_of_noise_is_said_to_agree_with_none(scores):
    noise = np.random.default_rng(5).normal(size=scores.values.shape[:2])
    values = np.concatenate([scores.values[..., :3], noise[..., None]], axis=-1)
    found = me.agreement(replace(scores, values=values), reference="people", n_permutations=50)
    best, share = str(found.measures[int(np.argmax(found.values[0]))]), max(found.values[0])
    assert found.answer() == (
        f"people tells no two runs apart: agreement with it may be chance. {best} agrees most with people (pairwise accuracy "
        f"{share:.2f})."
    )
    table = found.to_table()
    assert (table.marks(table.frame) == "").all(axis=None)


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        (
            "noise",
            lambda sharp: np.random.default_rng(4).normal(size=sharp.shape),
            " on these runs. noise is not shown to be better than chance.",
        ),
        ("turned", np.negative, " turned agrees less than chance: is its direction right?"),
    ],
)
def test_a_measure_beside_good_ones_is_said_to_be_no_better_than_chance_or_worse(scores, name, make, sentence):
    other = make(scores.sel(measures=["sharp"]).values)
    names = [*map(str, scores.measures), name]
    given = relabel(scores, np.concatenate([scores.values, other], axis=-1), names, higher_is_better=True)
    answer = me.agreement(given, reference="people", n_permutations=50).answer()
    assert answer.startswith("sharp agrees best with people")
    assert answer.endswith(sentence)


@pytest.mark.parametrize(
    ("topics", "way", "other"), [(None, True, "lower"), (None, False, "higher"), (20, True, "lower")]
)
def test_a_single_measure_below_chance_is_asked_for_its_direction(scores, topics, way, other):
    """Also where there are too few topics for an interval."""
    sharp, people = (scores.sel(measures=[name]).values[:, :topics] for name in ("sharp", "people"))
    turned = -sharp if way else sharp
    given = me.Scores(
        np.concatenate([turned, people], axis=-1), runs=scores.runs, topics=scores.topics[:topics],
        measures=[me.Measure("one", higher_is_better=way), me.Measure("people", higher_is_better=True)],
    )  # fmt: skip
    found = me.agreement(given, reference="people", n_permutations=50)
    assert np.isnan(found.low).all() == (topics is not None)
    share = found.values[0, 0]
    assert share < 0.5
    sentence = f"one agrees with people less than chance (pairwise accuracy {share:.2f}): is {other} better?"
    assert found.answer() == sentence


def test_measures_of_noise_are_said_to_agree_with_no_reference(scores):
    noise = np.random.default_rng(1).normal(size=(*scores.values.shape[:2], 2))
    values = np.concatenate([noise, scores.values[..., 3:]], axis=-1)
    given = relabel(scores, values, ["one", "two", "people"], higher_is_better=True)
    found = me.agreement(given, reference="people", n_permutations=50)
    assert (found.low[0] <= 0.5).all()
    best, share = str(found.measures[int(np.argmax(found.values[0]))]), max(found.values[0])
    assert found.answer() == (
        f"No measure is shown to agree with people better than chance (pairwise accuracy: {best} {share:.2f}, chance 0.50)."
    )
    table = found.to_table()
    assert (table.marks(table.frame).iloc[:, 0] == "").all()


def test_where_no_measure_is_better_than_another_only_the_best_is_bold(scores):
    found = me.agreement(scores.sel(measures=["sharp", "fair", "people"]), reference="people", n_permutations=50)
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
        copies = [note for note in result.notes() if "are one measure" in note]
        assert [set(note.partition(" are ")[0].split(", ")) for note in copies] == [
            {"sharp", "twin"},
            {"people", "person"},
        ]


def test_where_no_difference_is_found_no_measure_finds_most(scores):
    power = me.discriminative_power(scores, n_permutations=200, n_bootstrap=0)
    none = replace(power, rows=power.rows.assign(significant=0))
    assert none.answer() == "No measure finds any difference between runs (0 of 66 pairs of runs)."
    single = me.discriminative_power(scores.sel(measures="sharp"), n_permutations=200, n_bootstrap=0)
    assert single.answer() == f"sharp finds {single.rows['significant'].item()} of 66 pairs of runs significant."
    none = replace(single, rows=single.rows.assign(significant=0))
    assert none.answer() == "sharp finds no difference between runs (0 of 66 pairs of runs)."


def test_topics_needed_lie_between_the_sizes_around_the_aim(scores):
    sizes = me.sample_size(scores.sel(measures=["sharp", "dull"]), n_trials=40)
    frame = sizes.to_frame().query("measure == 'sharp'")
    low, high = frame.query("expected_tau < 0.9")["topics"].max(), frame.query("expected_tau >= 0.9")["topics"].min()
    needed = sizes.topics_needed().loc["sharp", 0.9]
    assert low < needed <= high
    alone, said = me.sample_size(scores.sel(measures="sharp"), n_trials=40), f"sharp needs about {needed:.0f} topics"
    assert alone.answer() == f"{said} for an expected τ of 0.9."
    assert sizes.answer() == f"{said} for an expected τ of 0.9, dull more than 40."


def test_other_answers_say_what_was_put_in(scores):
    three = scores.sel(measures=["sharp", "fair", "dull"])
    alike = me.robustness(three).answer()
    assert alike.startswith("sharp ranks runs most alike from topic to topic (mean ρ 0.")
    assert "dull least (" in alike
    covered = me.coverage(scores, reference=["people"])
    share, low, high = covered.rows.loc[1, ["coverage", "low", "high"]]
    assert covered.answer() == (
        f"Of the measures outside the reference set, fair covers it best (coverage {share:.2f} [{low:.2f}, {high:.2f}]), "
        "clearly better than 1 of the 2 others."
    )
    assert me.baseline_preference(three.sel(measures=["sharp", "fair"]), "r11", "r00").answer() == (
        "r11 wins more topics than r00 by 2 of 2 measures; no test is made."
    )
    needed = me.topic_set_size(three, n_bootstrap=0)
    assert needed.answer() == (
        f"To find a difference of 0.1, in each measure's unit, between two runs by a t-test, sharp needs "
        f"{needed.rows['topics'][0]:.0f} topics, dull {needed.rows['topics'][2]:,.0f}."
    )
    power = me.discriminative_power(three, n_permutations=300)
    frame = me.significance_overlap(power).to_frame()
    assert me.significance_overlap(power).answer() == (
        f"sharp and fair agree most on which differences are significant (overlap {100 * frame['sso'].max():.0f} %), sharp and "
        f"dull least (overlap {100 * frame['sso'].min():.0f} %)."
    )
    assert me.properties(["NMD"]).answer() == "NMD fails none of the properties tried."
    assert me.properties(["RNSS"]).answer().startswith("RNSS fails ordinal")


def test_an_equally_good_measure_finds_not_clearly_more():
    values = np.random.default_rng(4).normal(size=(12, 40, 2)) + np.linspace(0, 1, 12)[:, None, None]
    answer = me.discriminative_power(label(values, higher_is_better=True), n_permutations=300).answer()
    assert answer.endswith("but not clearly more than any other measure.")


@pytest.mark.parametrize("ask", [me.significance_overlap, me.significance_contradictions, me.run_ranks])
def test_scores_are_tested_as_discriminative_power_tests_them(scores, ask):
    options = {"n_permutations": 50, "alpha": 0.1, "seed": 3}
    of_power = ask(me.discriminative_power(scores, test="max-t", n_bootstrap=0, **options))
    assert ask(scores, test="max-t", **options).signature == of_power.signature
    with pytest.raises(MetaevalError, match="analyses take Scores, not list"):
        ask([scores])
