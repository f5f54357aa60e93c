"""The first line of every command: one sentence, known beforehand on made-up data."""

import numpy as np
import pytest

import metaeval as me
from metaeval.errors import MetaevalError


@pytest.fixture(scope="module")
def scores():
    """Two measures that see quality through little noise, one through much, and people."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0, 1, 12)[:, None]
    values = [quality + rng.normal(0, size, (12, 40)) for size in (0.2, 0.3, 3.0, 0.1)]
    labels = {"runs": [f"r{i:02}" for i in range(12)], "topics": range(40), "collection": "made"}
    names = ["sharp", "fair", "dull", "people"]
    return me.Scores(np.stack(values, axis=-1), measures=names, higher_is_better=True, **labels)


def test_answers_say_what_was_put_in(scores):
    three = scores.sel(measures=["sharp", "fair", "dull"])
    power = me.discriminative_power(three, n_permutations=300)
    counts = power.significant.sum(axis=1)
    assert power.answer() == (
        f"sharp finds most differences ({counts[0]} of 66 pairs of runs), clearly more than 1 of the 2 other measures."
    )
    assert me.ranking_similarity(three).answer().startswith("sharp and fair rank runs most alike (τ_a ")
    assert (
        me.split_half_consistency(three, n_trials=50)
        .answer()
        .startswith("sharp ranks runs most stably between 20 and 20 of these topics (mean τ ")
    )
    agreed = me.agreement(scores, reference="people", n_permutations=50)
    assert agreed.answer().startswith("sharp agrees best with people (pairwise accuracy ")
    assert me.significance_contradictions(power).answer() == "No two measures contradict each other."
    firsts = me.run_ranks(power).summary()["near_first"].tolist()
    assert me.run_ranks(power).answer() == (
        f"Runs that tie for first: by sharp {firsts[0]}, fair {firsts[1]}, dull {firsts[2]}."
    )
    single = me.run_ranks(me.discriminative_power(scores.sel(measures="dull"), n_permutations=300))
    assert single.answer() == f"{firsts[2]} runs tie for first by dull."


def test_an_upside_down_reference_is_asked_about(scores):
    turned = me.Scores(
        scores.values * [1, 1, 1, -1], runs=scores.runs, topics=scores.topics,
        measures=[str(measure) for measure in scores.measures], higher_is_better=True,
    ).sel(measures=["sharp", "fair", "people"])  # fmt: skip
    assert me.agreement(turned, reference="people", n_permutations=50).answer() == (
        "Every measure agrees with people less than chance: is its direction right?"
    )


def test_topics_needed_are_the_first_size_that_reaches_the_aim(scores):
    sizes = me.sample_size(scores.sel(measures=["sharp", "dull"]), n_trials=40, n_permutations=100)
    frame = sizes.to_frame().query("measure == 'sharp' and expected_tau >= 0.8")
    assert sizes.answer() == (
        f"Topics needed for an expected τ of 0.8: sharp about {frame['topics'].min()}; 1 other measure needs more."
    )


@pytest.mark.parametrize("ask", [me.run_ranks, me.significance_overlap, me.significance_contradictions])
def test_scores_in_place_of_power_are_refused_with_what_to_pass(scores, ask):
    with pytest.raises(MetaevalError, match=r"not Scores: pass discriminative_power\(scores\)"):
        ask(scores)
