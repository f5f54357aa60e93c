"""The answer of a comparison, to the word: golden cases whose truth is known."""

import numpy as np
import pytest

from metaeval.comparison.findings import find_answer
from metaeval.comparison.new_measure import compare
from metaeval.comparison.summary import MEANINGS, choose_measures, list_panels, order_measures, show_short
from metaeval.measures.base import Measure
from tests.comparison.conftest import hold, make_runs, see

pytestmark = pytest.mark.filterwarnings("ignore:.*gives all runs the same score")
QUICK = {"n_trials": 60, "n_permutations": 300}
NOISE = {"mine": 0.3, "AP": 0.4, "RR": 0.8, "P": 0.6}


def people():
    return see({"people": 0.25}, seed=3)


def ask(columns, new="mine", **options):
    return compare(new, hold(columns), reference="people" if "people" in columns else None, **QUICK, **options)


def answer(columns):
    return find_answer(ask(columns))


BASE = see(NOISE)
RANDOM = np.random.default_rng(9).normal(size=(14, 40))
ALIKE = {  # scores, the headline, and how many findings there are where it says nearly all
    "copy": (BASE["AP"], "A copy of AP: all scores are the same", 1),
    "copy beside a rescaled one": (BASE["AP"], "A copy of AP: all scores are the same", 1),
    "linear copy": (3 * BASE["AP"] - 2, "A rescaled copy of AP: scores are a · AP + b", 1),
    "monotone transform": (np.exp(2 * BASE["AP"]), "A monotone transform of AP: it orders single scores alike"),
    "sign flip": (-BASE["AP"], "Ranks runs opposite to AP: is the direction right?"),
    "constant": (np.full((14, 40), 0.5), "The same for all runs: it separates none", 0),
    "the same for all runs": (np.repeat(RANDOM[:1], 14, axis=0), "The same for all runs: it separates none", 0),
    "random": (RANDOM, "Looks like noise: finds no differences, resembles no other measure"),
    "near-duplicate": (BASE["AP"] + RANDOM / 50, "Ranks runs like AP: no reason to prefer one"),
}


def answer_case(case, with_people):
    others = {"scaled": 2 * BASE["AP"] + 1} if case == "copy beside a rescaled one" else {}
    return answer({**others, **BASE, "mine": ALIKE[case][0]} | (people() if with_people else {}))


@pytest.mark.parametrize("case", ALIKE)
def test_without_a_reference_the_headline_is_known_beforehand(case):
    found, (_, headline, *n_findings) = answer_case(case, with_people=False), ALIKE[case]
    assert found.headline == headline
    assert found.before == ("No reference was given: the data do not show which differences are right.",)
    assert not n_findings or [len(found.findings)] == n_findings
    for answered in (found, answer_case(case, with_people=True)):  # headlines are short and findings are sentences
        words = answered.headline.split()
        assert len(words) <= 12
        assert sum(any(sign.isdigit() for sign in word) for word in words) <= 1
        assert len(answered.before) <= 3
        for finding in answered.findings:
            assert len(finding.partition(" (")[0].split()) <= 20
            assert finding[:1].isupper()


def test_nothing_that_may_be_wrong_is_praised():
    """A measure upside down is neither stable nor right; what it finds more is not called good, in words or in marks."""
    result = ask({**BASE, "mine": -BASE["AP"]})
    said = find_answer(result).to_text()
    assert "stable" not in said
    assert (
        "Finds more differences than RR and P by bootstrap-t; whether they are right, these data do not show (mine finds 52 of "
        in said
    )
    panels = list_panels(result, "mine", order_measures(result, "mine"))
    headings = [panel.title for panel in panels]
    assert headings[1] == "Consistency"
    assert (
        headings[3]
        == "Contradicts every other measure by bootstrap-t, which the second test, randomised-tukey-hsd, confirms"
    )
    counts = result.summary("mine")["contradictions"]
    assert {row.name: row.centre for row in panels[3].rows} == counts.drop("mine").to_dict()


def test_what_ranks_like_one_measure_and_opposite_to_another_is_told_both():
    near = BASE["AP"] + RANDOM / 50
    for columns, one, other in (
        ({"mine": near, "far": -near}, "AP", "far"),
        ({"mine": -BASE["AP"], "near": -near}, "near", "AP"),
    ):
        found = answer({**BASE, **columns})
        assert found.headline == f"Ranks runs like {one} but opposite to {other}: which direction is right?"
        assert found.findings[0].partition(" (")[0].endswith(f" {one}, but opposite to {other}")


def test_with_a_reference_agreement_leads():
    winner = answer({**BASE, **people()})
    assert winner.headline == "Agrees with people; no measure is clearly better"
    assert winner.findings == (
        "Orders 98 % of run pairs as people does, place 1 of all 4 "
        "(91–100 %; by paired differences better than it: none; worse than it: none)",
        "None of its significant differences are contradicted by people "
        "(0 of the 59 that both find; 0–20 % with other runs and topics)",
        "Nearest are AP and P; whether the rankings of runs are alike cannot be told "
        "(τ 0.93 [0.69, 0.99]: the interval lies on both sides of 0.8, the limit for alike)",
        "Finds more differences than P and RR by bootstrap-t (mine finds 62 of 91 pairs of runs different)",
        "Its ranking is more stable than that of others on balance between random subsets of these topics (significant by "
        "randomised Tukey HSD over splits, in halves and in sets of 10 topics; mean τ 0.86; others 0.44 to 0.78)",
    )
    assert winner.before == ()
    loser = answer({**BASE, "mine": see({"x": 5.0}, seed=5)["x"], **people()})
    assert loser.headline == "Agrees with people less than every other measure"
    assert loser.findings[:2] == (
        "Orders 66 % of run pairs as people does, place 4 of all 4 "
        "(53–77 %; by paired differences better than it: every other measure; worse than it: none)",
        "Has no significant difference in common with people",
    )


@pytest.mark.parametrize(
    ("columns", "headline"),
    [
        (see({"mine": 0.2, "AP": 4.0, "RR": 5.0, "P": 6.0}), "Agrees with people better than every other measure"),
        # Two far worse ones are half of four others, and less of five.
        (see({"mine": 0.2, "AP": 0.2, "RR": 0.2, "P": 5.0, "S": 5.0}), "Among the best at agreeing with people"),
        (see({"mine": 0.2, "AP": 0.2, "RR": 0.2, "Q": 0.2, "P": 5.0, "S": 5.0}),
         "Agrees with people better than 2 of 5 others, worse than none"),
        # One worse measure does not lift a measure that most others beat.
        ({"mine": see({"x": 5.0}, seed=5)["x"], **see({"AP": 0.2, "RR": 0.2, "Q": 0.2, "S": 0.2}, turned="S")},
         "Agrees with people less than most measures"),
        ({**BASE, "mine": RANDOM}, "Not shown to agree with people better than chance"),
        ({**BASE, "people": RANDOM}, "Not shown to agree with people better than chance"),
        ({**BASE, "mine": see({"x": 0.3}, turned="x")["x"]}, "Ranks runs opposite to people: is the direction right?"),
        (see(NOISE, turned=NOISE), "Every measure disagrees with people: is its direction right?"),
    ],
    ids=[
        "winner", "among the best", "few are worse", "beaten by most", "random", "unrelated reference", "upside down",
        "all below chance",
    ],
)  # fmt: skip
def test_with_a_reference_the_headline_is_known_beforehand(columns, headline):
    assert answer({**people(), **columns}).headline == headline


def test_a_headline_leads_with_what_is_decided_and_says_then_what_is_not():
    """Of equals the first is said; of nothing decided nothing."""
    found = answer(see({"mine": 1.6, "AP": 0.6, "RR": 0.7, "P": 0.8}))
    assert found.headline == "Finds fewer differences than AP; similarity to RR undecided"
    assert found.findings[0].startswith("Nearest is RR; whether")
    assert found.findings[0].endswith(": the interval lies on both sides of 0.8, the limit for alike)")
    few = answer(see({"mine": 0.7, "AP": 0.7, "noisy": 9.0}))
    assert few.headline == "Ranks runs unlike noisy; similarity to AP undecided"
    assert ", the limit for alike; for 1 of the 2 others it lies below)" in few.findings[0]
    found = answer(see({"mine": 0.7, "AP": 0.7}))
    assert found.headline == "Undecided: these topics do not tell whether it ranks like AP"


def test_too_few_runs_or_topics_are_said_first():
    few = answer({name: column[:6] for name, column in BASE.items()})
    assert few.headline == "Too few runs to judge: 10 runs and 25 topics are needed"
    assert few.findings == ()
    for columns in (BASE, {**BASE, **people()}):
        few = answer({name: column[:, :15] for name, column in columns.items()})
        assert few.headline == "Too few topics to judge: 10 runs and 25 topics are needed"
    for comparison, limits in (
        (ask({name: column[:3] for name, column in BASE.items()}), []),
        (ask(BASE), [(0.8, "--")]),
    ):
        panel = list_panels(comparison, "mine", order_measures(comparison, comparison.new[0]))[0]
        assert panel.levels == limits


def test_a_measure_that_most_likely_has_the_wrong_direction_is_not_called_unrelated():
    """No τ is −0.8 or less, and every interval lies below 0."""
    turned = answer(see({"mine": 0.8, "AP": 1.2, "RR": 1.2}, turned=["mine"]))
    assert turned.headline == "Ranks runs contrary to RR and AP: is the direction right?"
    assert turned.findings[0] == "Ranks runs contrary to RR and AP (τ -0.54 [-0.78, -0.17]: that of RR, the highest)"


def test_few_agreeing_differences_are_no_praise_and_a_headline_says_on_how_many_pairs_measures_contradict():
    few = answer({**BASE, "mine": see({"x": 3.0}, seed=5)["x"], **people()})
    assert few.findings[1].startswith(
        "None of its significant differences are contradicted by people, which may be chance (0 of"
    )
    near = see({"mine": 0.1, "AP": 0.1, "P": 2.0}, n_topics=60)
    for sign, name in ((1, "mine"), (-1, "AP")):
        near[name][3] = near[name][4] + sign * np.linspace(0.01, 0.02, 60)
    assert answer(near).headline == "Ranks runs like AP, but contradicts AP on 1 pair"


COPIES = {name: np.concatenate([column[:1]] * 7 + [column[7:]]) for name, column in see({**NOISE, "mine": 0.8}).items()}
"""Of 14 runs 7 are the same, so that 21 of 91 pairs tie, and no τ is above 0.77."""


def test_identical_runs_are_why_it_cannot_be_told_whether_measures_are_alike():
    comparison = ask(COPIES)
    (study,), found = comparison.collections, find_answer(comparison)
    ends = study.similarity.pairs[["low", "high"]].abs().to_numpy()
    assert ends.max() == study.diagnostics.largest_tau_a == pytest.approx(70 / 91)
    assert set(study.similarity.pairs["conclusion"]) == {"undecided"}
    assert found.headline == "Undecided: identical runs hide whether it ranks like AP"
    assert found.findings[0].startswith(
        "Nearest is AP; with so many identical runs, whether rankings are alike cannot be told (τ 0."
    )
    assert found.findings[0].endswith(": identical runs allow 0.77 at most)")
    assert found.before[1] == (
        "Some runs have the same scores as another (7 in made): they tie, so that τ cannot reach 1, and a difference to them "
        "counts several times; distinct_runs=True keeps one of each."
    )
    same = answer({**COPIES, "mine": COPIES["AP"] + np.linspace(0, 0.1, 40)})
    numbers = "τ 0.77 [0.77, 0.77]: identical runs allow 0.77 at most"
    assert same.findings[0] == f"Gives the same ranking of these runs as AP ({numbers})"
    assert same.headline.startswith("Ranks these runs the same as AP: ")


def test_runs_that_were_left_out_are_not_counted(tmp_path):
    comparison = ask(COPIES, distinct_runs=True)
    assert "8 runs × 40 topics" in comparison.signature.short
    assert "<p>8 runs × 40 topics (made).</p>" in comparison.write(tmp_path).read_text("utf-8")


def test_what_ignores_the_order_of_classes_is_told_so():
    runs = make_runs(12, 30, 4, seed=0)
    formula = lambda estimated, gold: np.abs(np.cumsum(estimated - gold, axis=-1)).max(axis=-1)  # noqa: E731
    largest = Measure("KS", False, (0, 1), kind="quantification", formula=formula)
    found = find_answer(compare("NVD", runs, against=["NMD", "JSD", "RNOD", largest], **QUICK))
    assert found.headline == "Its formula ignores the order of the classes, unlike RNOD"
    begins = "Its formula ignores the order of the classes; of the 4 others 2 respect it, 1 ignore it, 1 do not always"
    assert found.findings[0].startswith(begins)


def test_of_many_measures_the_best_the_nearest_and_those_in_places_about_the_new_one_are_shown():
    noise = {"mine": 1.5, **{f"m{number:02}": 0.2 + 0.15 * number for number in range(16)}}
    columns = {**see(noise), **people()}
    columns["twin"] = columns["mine"] + RANDOM / 100
    columns["twin"][:, :20] += 3 * RANDOM[:, :20]
    comparison = ask(columns)
    order, shown = order_measures(comparison, comparison.new[0]), choose_measures(comparison, comparison.new[0], most=9)
    agreed = dict(zip(map(str, comparison.agreement.measures), comparison.agreement.results[0].values, strict=True))
    assert [agreed[name] for name in order] == sorted(agreed.values(), reverse=True)
    assert list(show_short(comparison, comparison.new[0]).frame.index) == order
    assert shown == [name for name in order if name in shown]
    assert len(shown) == 9
    assert set(order[:4]) <= set(shown)
    assert {"mine", tau_of(comparison).idxmax()} <= set(shown)
    place = order.index("mine")
    assert order[place - 1] in shown
    alone = ask({name: column for name, column in columns.items() if name != "people"})
    ranked = ["mine", *tau_of(alone).sort_values(ascending=False, kind="stable").index]
    assert order_measures(alone, alone.new[0]) == ranked
    assert choose_measures(alone, alone.new[0], most=5) == ranked[:5]


def test_what_ranks_runs_the_other_way_round_is_shown_and_words_are_explained():
    noise = {"mine": 0.9, **{f"m{number:02}": 0.4 + 0.1 * number for number in range(12)}, "against": 0.4}
    comparison = ask({**see(noise, turned=["against"]), **people()})
    phrases = " ".join(find_answer(comparison).findings)
    assert "Ranks runs opposite to against" in phrases
    assert "against" in choose_measures(comparison, comparison.new[0], most=5)
    legend = show_short(comparison, comparison.new[0]).legend
    for word, meaning in MEANINGS.items():
        assert (meaning in legend) == (word in phrases)


def tau_of(comparison):
    return comparison.summary()["tau"].drop("mine")


def test_with_a_reference_the_picture_begins_with_agreement():
    comparison = ask({**BASE, **people()})
    panels = list_panels(comparison, "mine", order_measures(comparison, comparison.new[0]))
    assert panels[0].label.startswith("% of run pairs ordered like people;")
    assert len(panels) == 4
    names = [row.name for row in panels[0].rows]
    assert all([row.name for row in panel.rows] == names for panel in panels)
    centres = [row.centre for row in panels[0].rows]
    assert centres == sorted(centres, reverse=True)
    agreement = comparison.agreement.results[0]
    mine = [str(measure) for measure in comparison.agreement.measures].index("mine")
    assert panels[0].levels[0][0] == pytest.approx(100 * agreement.values[mine])
