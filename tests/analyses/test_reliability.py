"""Topic-set-size design, and what variance components say: the sentence, the tables, and what is done about gaps."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import metaeval as me
from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io.partial_scores import read_ratings
from metaeval.stats.anova import residual_variance
from metaeval.stats.rank_correlation import tau
from tests.analyses.made import draw_graded, label


@pytest.fixture(scope="module")
def scores():
    topics = np.random.default_rng(1).normal(0, 0.1, (1, 40, 2))
    values = 0.2 + topics + draw_graded(12, 40, [0.1, 0.2], best=0.4)
    return label(values, ["AP", "RR"], "c")


def test_the_variance_of_a_paired_design_leaves_topics_out_and_four_times_as_much_needs_four_times_the_topics(scores):
    rows = me.topic_set_size(scores, n_bootstrap=0).rows
    assert rows["V_E2"].tolist() == pytest.approx(residual_variance(scores.values.transpose(2, 1, 0)).tolist())
    assert rows["topics"][1] / rows["topics"][0] == pytest.approx(4, rel=0.2)


def test_intervals_hold_the_numbers_and_more_topics_narrow_them(scores):
    known = me.topic_set_size(scores).rows
    for name, prefix in (("topics", ""), ("generalisability", "generalisability_"), ("coefficient", "coefficient_")):
        assert ((known[f"{prefix}low"] < known[name]) & (known[name] < known[f"{prefix}high"])).all()
    few = me.topic_set_size(scores.sel(topics=scores.topics[:25])).rows
    assert (few["V_E2_high"] / few["V_E2_low"] > known["V_E2_high"] / known["V_E2_low"]).all()


def test_runs_that_differ_by_nothing_need_infinitely_many_topics_and_by_the_same_on_every_topic_the_fewest():
    values = np.random.default_rng(1).normal(0, 1, (4, 6))
    found = me.topic_set_size(label(values - values.mean(axis=1, keepdims=True), ["AP"]))
    assert np.isinf(found.rows["generalisability"][0])
    assert found.rows["coefficient"][0] == 0
    assert "No interval" in found.to_table().whole_caption
    assert "∞" in found.to_text()
    found = me.topic_set_size(label(np.add.outer([0.1, 0.2], np.linspace(0, 1, 5)), ["AP"]))
    assert found.rows[["topics", "generalisability"]].to_numpy().tolist() == [[2, 1]]


@pytest.mark.parametrize("exponent", [-400, 0, 400])
def test_variances_grow_with_the_square_of_the_unit_and_neither_order_nor_other_measures_move_a_number(
    scores, exponent
):
    turned = replace(scores, values=np.ldexp(scores.values, exponent)).sel(runs=scores.runs[::-1], measures=["RR"])
    first, other = (
        me.topic_set_size(each, n_bootstrap=50).rows.set_index("measure").loc["RR"] for each in (scores, turned)
    )
    for ends in ("", "_low", "_high"):
        assert other[f"V_E2{ends}"] == np.ldexp(first[f"V_E2{ends}"], 2 * exponent)
        assert other[f"coefficient{ends}"] == first[f"coefficient{ends}"]
    assert exponent or other.equals(first)


def make(n_runs=10, n_topics=20, n_repeats=3, noise=2.0, seed=0):
    rng = np.random.default_rng(seed)
    run, topic, repeat = (axis.ravel() for axis in np.indices((n_runs, n_topics, n_repeats)))
    score = rng.normal(size=n_runs)[run] + rng.normal(size=n_topics)[topic]
    score = score + rng.normal(size=(n_runs, n_topics))[run, topic] + noise * rng.normal(size=run.size)
    frame = pd.DataFrame({"run": run, "topic": topic, "repeat": repeat, "score": score})
    return me.Ratings(frame if n_repeats > 1 else frame.drop(columns="repeat"))


def test_the_answer_says_what_would_help_most():
    ratings = make()
    found = me.variance_components(ratings)
    now, then = (f"{found.reliability[name][0]:.3f}" for name in ("Eρ²", "Eρ² with twice the topics"))
    assert found.answer() == f"More topics would help most: twice as many raise reliability (Eρ²) from {now} to {then}."
    three = label(ratings.frame["score"].to_numpy().reshape(10, 20, 3), ["X", "Y", "Z"])
    answer = me.variance_components(three).answer()
    assert answer.count("is highest with") == answer.count("lowest with") == 1


@pytest.mark.parametrize("noise", [0.1, 0.02])
def test_a_reliability_below_1_does_not_read_1(noise):
    quality = np.linspace(0, 1, 10)[:, np.newaxis]
    drawn = np.random.default_rng(0).normal(size=(10, 40, 2))
    values = np.stack([quality + noise * drawn[..., 0], quality + 0.5 * drawn[..., 1]], axis=-1)
    found = me.variance_components(label(values, ["X", "Y"]))
    best, other = found.reliability["Eρ²"]
    assert 0.995 < best < 1
    assert f"highest with X ({min(best, 0.999):.3f}) and lowest with Y ({other:.3f})" in found.answer()


def test_coefficients_topics_and_detectable_differences_are_those_of_topic_set_size():
    scores = label(make(n_repeats=1).frame["score"].to_numpy().reshape(10, 20), ["X"])
    found, design = me.variance_components(scores), me.topic_set_size(scores, n_bootstrap=0)
    ratio, doubled = (found.reliability[f"Eρ²{what}"].item() for what in ("", " with twice the topics"))
    assert 1 / doubled - 1 == pytest.approx((1 / ratio - 1) / 2)
    assert ratio == pytest.approx(design.rows["coefficient"][0])
    assert found.reliability["detectable"][0] == pytest.approx(design.rows["detectable"][0])


def test_the_expected_tau_is_what_two_halves_show():
    frame = make(n_runs=30, n_topics=80, n_repeats=1).frame
    expected, observed = [], []
    for split in range(8):
        chosen = np.random.default_rng(split).permutation(80)[:40].astype(str)
        inside = frame["topic"].isin(chosen)
        halves = [frame[inside], frame[~inside]]
        expected.append(me.variance_components(me.Ratings(halves[0])).reliability["expected_tau"][0])
        observed.append(float(tau(*(half.groupby("run")["score"].mean() for half in halves))))
    assert np.mean(expected) == pytest.approx(np.mean(observed), abs=0.05)


def test_notes_say_what_was_set_to_0_and_what_is_not_separated():
    found = me.variance_components(label(np.random.default_rng(1).normal(size=(6, 30)), ["X"]))
    notes = found.notes(short=True)
    assert any(note.startswith("no variance was found for") for note in notes)
    assert notes[-1] == "this design cannot separate run × topic from error"
    assert (found.to_frame()["estimate"] < 0).any()
    assert (found.to_frame()["variance"] >= 0).all()


def test_the_order_of_rows_and_the_unit_move_nothing_that_has_no_unit():
    ratings = make()
    turned = me.Ratings(ratings.frame.sample(frac=1, random_state=1).assign(score=lambda f: f["score"] * 1000 + 5))
    one, other = me.variance_components(ratings), me.variance_components(turned)
    assert other.reliability.iloc[:, 1:7].to_numpy() == pytest.approx(one.reliability.iloc[:, 1:7].to_numpy())
    assert other.to_frame()["variance"].to_numpy() == pytest.approx(one.to_frame()["variance"].to_numpy() * 1e6)


@pytest.mark.parametrize("exponent", [-700, 700])
def test_scores_whose_squares_are_no_numbers_are_refused(exponent):
    frame = make(n_repeats=1).frame
    with pytest.raises(MetaevalError, match=r"from their mean have no variance that a number could hold: rescale them"):
        me.variance_components(me.Ratings(frame.assign(score=np.ldexp(frame["score"], exponent))))


@pytest.mark.parametrize("unit", [1e-100, 1e-7, 1e9, 1e100])
def test_tables_of_tiny_and_of_huge_scores_can_be_read(unit):
    frame = make(n_repeats=1).frame
    one, other = (me.variance_components(me.Ratings(frame.assign(score=frame["score"] * k))) for k in (1, unit))
    assert other.answer() == one.answer()
    run = one.to_frame().set_index("component").loc["run", "variance"]
    assert f"{run * unit**2:.4g}" in other.to_text()
    assert f"{one.reliability['detectable'][0] * unit:.3g}" in other.tables()[1].to_text()
    assert max(map(len, other.to_text().splitlines()[2:6])) < 80


def test_a_note_says_which_components_the_data_hardly_bound():
    frame = make(n_runs=10, n_topics=20, n_repeats=2).frame
    few = me.variance_components(me.Ratings(frame[frame["run"].isin(["0", "1"])]))
    assert few.notes(short=True)[0] == "the data hardly bound the variance of run"
    many = me.variance_components(me.Ratings(frame))
    assert not any("hardly" in note for note in many.notes())


RATED = [(run, f"t{t}", judge, (3 * r + 5 * t + 2 * j) % 7) for r, run in enumerate("abc") for t in range(6)
         for j, judge in enumerate("xy")]  # fmt: skip
OF_RUNS = pd.DataFrame(RATED, columns=["run", "topic", "judge", "score"])
OVER_TOPICS, OVER_RUNS = (OF_RUNS.groupby([axis, "judge"], as_index=False)["score"].mean() for axis in ("run", "topic"))
WIDE = OF_RUNS.pivot_table("score", "topic", "run").reset_index()
TOTALS = {
    "a topic among rows": (OF_RUNS, pd.concat([OVER_TOPICS.assign(topic="All"), OF_RUNS]), "means over topics"),
    "a run among rows": (OF_RUNS, pd.concat([OF_RUNS, OVER_RUNS.assign(run="mean")]), "means over runs"),
    "a topic": (WIDE, pd.concat([WIDE, WIDE.mean(numeric_only=True).to_frame("mean").T.reset_index(names="topic")]),
                "means over topics"),
    "a run": (WIDE, WIDE.assign(average=WIDE.mean(axis=1, numeric_only=True)), "means over runs"),
}  # fmt: skip


def read(table, folder, **options):
    table.to_csv(folder / "a.csv", index=False)
    return read_ratings(folder / "a.csv", columns={"judge": "judge"} if "judge" in table else None, **options)


@pytest.mark.parametrize(("without", "table", "said"), TOTALS.values(), ids=TOTALS)
def test_totals_are_no_levels(without, table, said, tmp_path):
    with pytest.warns(PolicyWarning, match=said):
        found = read(table, tmp_path, measure="score")
    pd.testing.assert_frame_equal(found.frame, read(without, tmp_path, measure="score").frame)


def test_a_topic_with_the_name_of_a_total_that_is_none_is_refused_and_a_run_stays(tmp_path):
    with pytest.raises(DataError, match="run a, topic all, measure score: it has the name of a total"):
        read(pd.concat([OF_RUNS, OVER_TOPICS.assign(topic="all", score=9.0)]), tmp_path)
    with pytest.warns(PolicyWarning, match="called as what sums up runs: macro"):
        assert read(OF_RUNS.replace({"run": {"c": "macro"}}), tmp_path).size == "3 runs × 6 topics × 2 judges"


@pytest.mark.parametrize(("name", "blank"), [("run", ""), ("topic", "  "), ("judge", ""), ("measure", "  ")])
def test_a_row_without_a_label_is_refused_with_its_line(name, blank, tmp_path):
    frame = OF_RUNS.assign(measure="AP")
    frame.loc[3, name] = blank
    with pytest.raises(DataError, match=rf"a\.csv:5: .*the {name} is missing"):
        read(frame, tmp_path)
    with pytest.raises(DataError, match=f"the {name} is missing"):
        me.Ratings(frame)


def test_gaps_are_left_out_by_the_policy_that_is_named_and_judges_who_share_no_topic_leave_nothing_to_compare():
    """Run 3 lacks a topic: the rest is that of the complete table."""
    frame = make(n_runs=6, n_topics=9, n_repeats=2).frame
    gaps = frame[~((frame["run"] == "3") & (frame["topic"] == "4") & (frame["repeat"] == "1"))]
    shares = r"drop-topic \(8 of 9 topics are complete\) or missing=drop-run \(5 of 6 runs are complete\)"
    said = rf"1 of 54 cells of run × topic have not 2 scores, .* \(missing={shares}\)"
    with pytest.raises(MetaevalError, match=said):
        me.variance_components(me.Ratings(gaps))
    for axis, level in (("run", "3"), ("topic", "4")):
        with pytest.warns(PolicyWarning, match=f"left out 1 of . {axis}s: {level} .like missing=drop-{axis}"):
            found = me.variance_components(me.Ratings(gaps), missing=f"drop-{axis}")
        rest = me.variance_components(me.Ratings(frame[frame[axis] != level]))
        pd.testing.assert_frame_equal(found.to_frame(), rest.to_frame())
        assert found.numbers == rest.numbers
    frame = make(n_repeats=1).frame.assign(judge=lambda rows: rows["topic"].astype(int) % 2)
    with pytest.raises(MetaevalError, match="choose runs, topics and judges that are complete"):
        me.variance_components(me.Ratings(frame))
