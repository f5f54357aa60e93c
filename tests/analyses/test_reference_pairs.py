"""Power compared with a reference: what a measure finds significant, and whether that is right."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import metaeval as me
from metaeval.analyses.reference_pairs import grade, grade_reference, rate_consistency, reference_pairs
from metaeval.analyses.study import study_collection
from metaeval.errors import MetaevalError
from metaeval.stats.intervals import interval_of_pairs
from metaeval.stats.significant_counts import name_flips
from tests.analyses.made import draw_graded, label, relabel

QUICK = {"n_permutations": 200, "n_bootstrap": 0}
COUNTS = ["confirmed", "contradicted", "only_here", "missed"]


@pytest.fixture(scope="module")
def scores():
    """People, a measure that agrees with them, one that says the opposite, and one that cannot tell runs apart."""
    values = draw_graded(12, 40, [0.1, 0.1, 0.1, 100]) * [1, 1, -1, 1]
    return label(values, ["people", "good", "bad", "blind"], higher_is_better=True)


@pytest.fixture(scope="module")
def power(scores):
    return me.discriminative_power(scores, **QUICK)


@pytest.fixture(scope="module")
def held(scores):
    return study(scores, questions=["reference", "second_reference"])


def study(scores, questions=("reference",)):
    """What is studied of measures beside people."""
    people, others = scores.sel(measures="people"), scores.sel(measures=["good", "bad", "blind"])
    return study_collection(others, reference=people, questions=list(questions), **QUICK)


def test_counts_are_those_of_a_plain_loop(power, held):
    people, *measures = np.where(power.significant, power.winners, 0)
    counts = []
    for measure in measures:
        both = list(zip(measure, people, strict=True))
        right, wrong = (sum(mine != 0 and mine == sign * theirs for mine, theirs in both) for sign in (1, -1))
        only_here, missed = (sum(one[mine] != 0 == one[1 - mine] for one in both) for mine in (0, 1))
        counts.append([right, wrong, only_here, missed])
    assert held.reference.to_frame()[COUNTS].to_numpy().tolist() == counts
    assert sum(counts[0]) > 0
    assert held.second_reference.test == "bootstrap-t"
    assert held.by_second_test().reference is held.second_reference


def test_a_measure_is_right_wrong_or_cannot_tell(held):
    words = grade_reference([held.reference])
    assert words == ["better than chance", "contradicts the reference", "cannot tell"]
    share = held.reference.to_frame()["share"]
    assert share[:2].tolist() == [0, 1]
    assert np.isnan(share[2])


def test_more_pairs_tell_what_few_cannot():
    few = SimpleNamespace(rows={"contradicted": [1, 0], "confirmed": [5, 6]}, n_runs=12)
    assert grade_reference([few]) == ["cannot tell", "cannot tell"]
    assert grade_reference([few] * 5) == ["cannot tell", "better than chance"]
    assert grade_reference([few] * 20) == ["contradicts the reference", "better than chance"]


def test_intervals_of_the_share_contradicted_hold_it_for_other_runs_and_other_topics():
    rng, n_runs, n_topics = np.random.default_rng(3), 14, 40
    first, second = np.triu_indices(n_runs, 1)
    counts = []
    for _ in range(400):
        people = 0.5 * rng.standard_normal((n_runs, 1)) + rng.standard_normal((n_runs, n_topics))
        measure = people + rng.standard_normal((n_runs, 1)) + rng.standard_normal((n_runs, n_topics))
        gaps = [each[first] - each[second] for each in (people, measure)]
        statistics = [gap.mean(axis=1) / gap.std(axis=1, ddof=1) * np.sqrt(n_topics) for gap in gaps]
        signs = np.prod([np.sign(each) * (np.abs(each) > 3.3) for each in statistics], axis=0)
        counts.append([(signs < 0).sum(), (signs != 0).sum()])
    part, whole = np.array(counts).T
    low, high = interval_of_pairs(part[np.newaxis], whole[np.newaxis], [n_runs])
    share = part.sum() / whole.sum()
    assert 0.05 < share < 0.3
    assert ((low <= share) & (share <= high)).mean() > 0.95


def test_a_reference_that_tells_no_runs_apart_is_called_noise(scores, power, held):
    assert held.reference.answer() == "people contradicts differences that bad find."
    noise = relabel(scores, np.random.default_rng(1).normal(size=(12, 40, 1)), ["noise"], higher_is_better=True)
    found = reference_pairs(power, me.discriminative_power(noise, **QUICK))
    said = "noise tells no two runs apart: whether measures are right cannot be said."
    assert found.answer() == said
    assert found.to_table().legend.startswith(said)
    assert not reference_pairs(power, me.discriminative_power(scores.sel(measures="people"), **QUICK)).is_noise


def test_a_share_that_is_not_there_is_shown_and_exported(held):
    found = held.reference
    assert "blind" in found.to_text()
    exported = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert exported["directions"]["people"] == "higher"
    assert exported["rows"][2]["share"] is None
    assert found.plot().axes
    assert "| reference people of made@" in str(found.signature)


def test_a_lower_score_can_be_better(scores, held):
    measures = tuple(replace(one, higher_is_better=str(one) != "people") for one in scores.measures)
    turned = replace(scores, values=scores.values * [-1, 1, 1, 1], measures=measures)
    assert study(turned).reference.rows.equals(held.reference.rows)


def test_without_a_reference_the_study_says_what_power_does_not(scores):
    alone = study_collection(scores, questions=["reference"], **QUICK)
    assert alone.reference is None
    assert alone.skipped["reference"] == "No reference was given: power says nothing about which measures are right."


def test_what_was_tested_otherwise_is_refused(scores, power):
    people, said = scores.sel(measures="people"), "people was not tested as the measures were"
    for other, message in ((scores, "one measure; there are 4"), (people, said)):
        with pytest.raises(MetaevalError, match=message):
            reference_pairs(power, me.discriminative_power(other, alpha=0.01, **QUICK))


def test_words_of_studies_follow_from_counts_by_rule():
    """Grades begin at a third; nets count who outperforms whom, averaged over collections; conclusions may be reversed."""
    nets = (1, 1 / 3, 0.3, 0, -0.3, -1 / 3, -1, np.nan)
    assert [grade(net) for net in nets] == ["good", "good", "fair", "fair", "fair", "poor", "poor", "–"]
    significant = np.array([[False, True, True], [True, False, False], [True, False, False]])
    one = SimpleNamespace(significant=significant, means=np.array([0.9, 0.5, 0.4]))
    none = SimpleNamespace(significant=~significant & significant, means=one.means)
    assert rate_consistency([one]).tolist() == [1.0, -0.5, -0.5]
    assert rate_consistency([one, none]).tolist() == [0.5, -0.25, -0.25]
    assert name_flips(np.array([1, 1, 0, 1]), np.array([-1, 0, 1, 1])).tolist() == ["reversed", "lost", "new", ""]


@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_a_measure_that_reads_the_names_of_runs_separates_most_and_is_contradicted():
    try:
        wmt = me.load_dataset("wmt23-en-de")
    except MetaevalError:
        pytest.skip("wmt23-en-de is not here")
    others = wmt.sel(measures=[str(one) for one in wmt.measures if str(one) != "mqm"])
    options = {"questions": ["reference"], "n_permutations": 1000, "n_bootstrap": 0}
    found = study_collection(others, reference=wmt.sel(measures="mqm"), **options).reference
    frame = found.to_frame().set_index("measure")
    assert frame["significant"].idxmax() == "Random-sysname"
    words = dict(zip(frame.index, grade_reference([found]), strict=True))
    assert words["Random-sysname"] == "contradicts the reference"
    assert words["GEMBA-MQM"] == "better than chance"
    # The counts published beside the data set's analysis, from another stream of trials.
    assert frame.loc["Random-sysname", COUNTS].tolist() == pytest.approx([27, 15, 16, 5], abs=1)
