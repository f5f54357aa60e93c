"""What a report says of a new measure in one paragraph: by rule, with numbers, and no surer than they are."""

import json
import operator
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.comparison import new_measure
from metaeval.comparison.findings import add_intervals, find_verdicts
from metaeval.comparison.new_measure import compare
from metaeval.comparison.summary import choose_measures, list_panels, show_short
from tests.comparison.conftest import hold, see

QUICK = {"n_trials": 60, "n_permutations": 200}


def judge(noise, *, new="mine", reference=None, **options):
    result = compare(new, hold(see(noise, **{"n_runs": 12, **options})), reference=reference, **QUICK)
    return result, {one.key: one for one in find_verdicts(result, new if isinstance(new, str) else new[0])}


def test_the_best_and_the_worst_measure_are_said_to_be_so():
    result, found = judge({"mine": 0.2, "AP": 1.5, "RR": 2.0})
    count = result.collections[0].power.significant.sum(axis=1)[0]
    assert found["power"].phrase == (
        "Finds more differences than RR and AP by bootstrap-t; whether they are right, these data do not show "
        f"(mine finds {count} of 66 pairs of runs different)"
    )
    assert found["consistency"].sentence.startswith("Its ranking is more stable than that of RR and AP between random")
    assert found["contradictions"].phrase == "Contradicts no other measure"
    assert {found[key].outcome for key in ("power", "consistency")} == {"holds"}
    _, found = judge({"mine": 9.0, "AP": 0.2, "RR": 0.25})
    assert found["power"].sentence == "Finds fewer differences than RR and AP by bootstrap-t"
    assert found["consistency"].sentence.startswith("Its ranking is less stable than that of RR and AP")
    assert found["similarity"].phrase.startswith("Nearest is ")


def test_some_measures_are_named_and_equal_numbers_are_said_once():
    _, found = judge({"mine": 0.9, "A": 0.2, "B": 0.2, "C": 0.3, "D": 0.3, "E": 0.9, "F": 3.0}, n_topics=60)
    assert found["power"].phrase == (
        "Finds fewer differences than D, A, B and C by bootstrap-t (mine finds 22 of 66 pairs of runs different; more than F)"
    )
    _, found = judge({"mine": 0.3, "AP": 0.3})
    assert found["consistency"].numbers.count(" to ") == 0
    assert "AP 0." in found["consistency"].numbers


def deny(result, other):
    """The result, of which the second test finds what it finds in another."""
    study = replace(result.collections[0], second_power=other.collections[0].second_power)
    return replace(result, collections=(study,))


def test_a_line_that_the_second_test_denies_says_what_both_find():
    """As with the measure of the README: fewer differences by one test, more by the other, which stood in a folded line."""
    worst, agreed = judge({"mine": 9.0, "AP": 0.2, "RR": 0.25})
    denied = deny(worst, judge({"mine": 0.2, "AP": 1.5, "RR": 2.0})[0])
    count = denied.collections[0].power.significant.sum(axis=1)[0]
    (found,) = (one for one in find_verdicts(denied, "mine") if one.key == "power")
    assert found.phrase == (
        "Finds fewer differences than RR and AP by bootstrap-t, but more than RR and AP by the second test, "
        f"randomised-tukey-hsd (mine finds {count} of 66 pairs of runs different)"
    )
    assert found.phrase in denied.verdict()
    assert "tukey" not in agreed["power"].phrase


def test_what_only_the_first_test_finds_is_said_to_be_unconfirmed():
    opposed, agreed = (
        judge({"mine": 0.2, "AP": 0.2, "RR": 0.9}, turned=("AP",))[0],
        judge({"mine": 5.0, "AP": 5.0, "RR": 5.0})[0],
    )
    (found,) = (one for one in find_verdicts(deny(opposed, agreed), "mine") if one.key == "contradictions")
    assert (
        found.sentence == "Contradicts AP by bootstrap-t, which the second test, randomised-tukey-hsd, does not confirm"
    )


def test_a_headline_of_more_differences_is_one_that_the_second_test_does_not_deny():
    more, fewer = (judge({"mine": a, "AP": b}, n_topics=400)[0] for a, b in ((0.3, 0.5), (0.6, 0.3)))
    assert more.verdict().startswith("mine: ranks runs like AP and finds more differences.")
    assert deny(more, fewer).verdict().startswith("mine: ranks runs like AP: no reason to prefer one.")


def test_the_picture_of_contradictions_shows_the_measures_that_are_named():
    """The contradicted ones are the farthest of 13, and only 8 of the others are shown."""
    noise = {"mine": 0.2, "odd": 0.2, "even": 0.3, **{f"like {number}": 0.2 for number in range(10)}}
    result, found = judge(noise, turned=("odd", "even"))
    said = "Contradicts odd and even by bootstrap-t, which the second test, randomised-tukey-hsd, confirms"
    assert found["contradictions"].sentence == said
    mine, odd = (result.collections[0].power.means[:, k] for k in range(2))
    better, worse = re.search(r"; on one of them, (r\d+) is better than (r\d+) by mine, worse by odd$",
                              found["contradictions"].numbers).groups()  # fmt: skip
    place = list(result.collections[0].power.runs).index
    assert mine[place(better)] > mine[place(worse)]
    assert odd[place(better)] < odd[place(worse)]
    shown = choose_measures(result, "mine")
    assert len(shown) == 9
    (panel,) = (one for one in list_panels(result, "mine", shown) if "Contradicts" in one.title)
    counts = result.summary()["contradictions"]
    assert {row.name: row.centre for row in panel.rows if row.centre} == counts[counts > 0].to_dict()
    assert {"odd", "even"} <= set(show_short(result, result.new[0]).frame.index)


def test_what_cannot_be_told_is_not_told():
    result, found = judge({"mine": 0.5, "AP": 0.5}, n_runs=6, n_topics=20)
    assert {found[key].outcome for key in ("similarity", "power")} == {"cannot tell"}
    assert (
        found["power"].sentence
        == "Whether it finds more or fewer differences than others by bootstrap-t cannot be told"
    )
    assert found["similarity"].phrase.startswith("Gives the same ranking of these runs as AP")
    assert not any(one.told for one in found.values())
    assert result.verdict().startswith("mine: too few runs to judge: 10 runs and 25 topics are needed.\n\nBefore")
    assert "Without intervals: on other topics all this may differ." in show_short(result, result.new[0]).caption


def test_a_measure_that_contradicts_the_reference_is_told_so():
    result, found = judge({"mine": 0.1, "AP": 0.2, "people": 0.2}, reference="people", turned=("mine",))
    assert list(found)[:2] == ["agreement", "reference"]
    first = result.collections[0].reference.rows.iloc[0]
    wrong, decided = first["contradicted"], first["confirmed"] + first["contradicted"]
    assert found["reference"].phrase == (
        "Too many of its significant differences are contradicted by people "
        f"({wrong} of the {decided} that both find; 80–100 % with other runs and topics)"
    )
    assert wrong == decided > 0
    assert result.verdict().startswith("mine: ranks runs opposite to people: is the direction right?\n")
    assert "whether they are right" not in result.verdict()  # they are not, by people
    assert found["contradictions"].phrase.startswith("Contradicts ")


def test_with_many_runs_there_is_one_test_and_the_page_says_so(monkeypatch, tmp_path):
    result, found = judge({"mine": 0.3, "AP": 0.5})
    assert "randomised-tukey-hsd" in found["power"].phrase
    monkeypatch.setattr(new_measure, "MANY_RUNS", 5)
    result, found = judge({"mine": 0.3, "AP": 0.5})
    assert "bootstrap-t" not in found["power"].phrase
    page = result.write(tmp_path).read_text("utf-8")
    assert "Power by bootstrap-t: not tried with more than 5 runs; choose it by test=bootstrap-t." in page


def test_several_new_measures_get_a_paragraph_and_a_summary_each(tmp_path):
    result, _ = judge({"mine": 0.3, "other": 0.4, "AP": 0.5}, new=["mine", "other"])
    page = result.write(tmp_path).read_text("utf-8")
    summaries = json.loads((tmp_path / "report.json").read_text("utf-8"))["summaries"]
    for name, file in (("mine", "summary.csv"), ("other", "summary-2.csv")):
        assert result.verdict(name).startswith(f"{name}: ")
        assert result.verdict(name).splitlines()[0] in page
        assert f"Every measure beside {name}, " in page
        written = pd.read_csv(tmp_path / "tables" / file, index_col="measure")
        pd.testing.assert_frame_equal(written, result.summary(name), check_dtype=False)
        assert [row["contradictions"] for row in summaries[name]] == [0, 0, 0]
    for ask in (result.verdict, result.summary, result.plot):
        with pytest.raises(me.MetaevalError, match="'AP' is no new measure"):
            ask("AP")


def test_the_picture_says_what_the_verdict_and_the_summary_say():
    result, _ = judge({"mine": 0.3, "other": 2.5, "AP": 0.5, "RR": 0.6}, new=["mine", "other"])
    panels = result.plot("other").axes
    said = " ".join(" ".join(axes.get_title(loc="left").split()) for axes in panels)
    for phrase in (
        "Its ranking is less stable than that of every other measure",
        "Finds fewer differences than every other measure by bootstrap-t",
    ):
        assert phrase in said
        assert phrase in result.verdict("other")
    assert "ontradict" not in said  # what was tried and said nothing is not shown
    assert "(" not in said
    rows = result.summary("other").drop(index="other")[::-1]
    assert [tick.get_text() for tick in panels[0].get_yticklabels()] == rows.index.tolist() == ["RR", "AP", "mine"]
    drawn = [line for line in panels[0].lines if line.get_marker() not in ("None", None, "")]
    assert [float(line.get_xdata()[0]) for line in drawn] == pytest.approx(rows["tau"].tolist())
    lines = [line for line in panels[2].lines if line.get_marker() == "None" and len(set(line.get_ydata())) == 1]
    ends = np.array([line.get_xdata() for line in lines])
    assert ends == pytest.approx(rows["pairs"].iloc[0] * rows[["difference_low", "difference_high"]].to_numpy())
    assert len(panels) == 3
    assert rows["contradictions"].tolist() == [0, 0, 0]


def test_a_further_new_measure_is_told_of_as_if_it_came_first():
    noise = {"mine": 0.3, "other": 0.9, "AP": 0.5, "RR": 0.6}
    both, turned = (judge(noise, new=names)[0] for names in (["mine", "other"], ["other", "mine"]))
    assert both.verdict("other") == turned.verdict()
    assert turned.verdict("mine") == both.verdict()
    pd.testing.assert_frame_equal(both.summary("other").sort_index(), turned.summary().sort_index())
    say = operator.attrgetter("phrase", "outcome")
    assert [*map(say, find_verdicts(both, "other"))] == [*map(say, find_verdicts(turned, "other"))]


def test_the_summary_says_what_the_analyses_say():
    result, _ = judge({"mine": 0.3, "AP": 0.6, "RR": 0.9})
    frame, study = result.summary(), result.collections[0]
    assert frame["significant"].tolist() == study.power.significant.sum(axis=1).tolist()
    assert frame["tau"].tolist()[1:] == pytest.approx(study.similarity.tau[0, 1:])
    assert frame["tau_low"].tolist()[1:] == pytest.approx(study.similarity.pairs["low"][: len(frame) - 1])
    pairs = study.power.differences.set_index(["measure_1", "measure_2"]).loc["mine"]
    assert (-frame["difference_high"][1:]).tolist() == pytest.approx(pairs["low"].tolist())


def test_intervals_of_a_mean_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    found = rng.normal(0, [1, 2, 3], (4000, 3))
    half = 1.96 * np.array([1, 2, 3])
    ends = [add_intervals(one, one - half, one + half, shared=False) for one in found]
    assert np.mean([low <= 0 <= high for low, high in ends]) == pytest.approx(0.95, abs=0.012)
    thrice = (np.full(3, end) for end in (0.9, 0.7, 0.96))
    assert add_intervals(*thrice, shared=True) == (0.7, 0.96), "the same data three times say nothing new"
