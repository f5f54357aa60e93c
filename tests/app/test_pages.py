"""The pages, run without a browser: every number is that of the API, and examples show what is printed."""

import json
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import metaeval
from metaeval.app.presets import find_presets
from metaeval.measures.registry import is_shipped
from metaeval.show.charts import IntervalChart, Row, cut_off, thin_chart
from metaeval.show.screen import draw_chart

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from metaeval.app import answers, bars
from metaeval.app.lessons import OWN
from metaeval.app.pairs import list_sides, sort_pairs
from metaeval.app.views import closeness, two_distributions, two_runs
from metaeval.app.views.your_scores import write_command

pytestmark = pytest.mark.filterwarnings("ignore")  # streamlit's own


def open_page(name):
    page = AppTest.from_string(f"from metaeval.app.views import {name}\n{name}.show()", default_timeout=60)
    return page.run()


def choose(page, pages, lesson, *parts):
    """Choose a lesson, guess, and open parts of the page that are on demand."""
    for chosen in (OWN, lesson):  # the same lesson again would be no change
        page.selectbox(key=f"{pages}_lesson").select(chosen).run()
    assert not all_tables(page)  # no answer before the guess
    page.session_state[f"{pages}_guess"] = 2
    for part in parts:
        page.session_state[part] = True
    page.run()
    assert_clean(page)


def all_tables(page):
    """Every table of the page by its caption."""
    tables = {}
    for block in page.get("html"):
        if "<table" in block.proto.body:
            parsed = ElementTree.fromstring(f"<div>{block.proto.body}</div>")  # noqa: S314  (our own page)
            head, *rows = [[cell.text for cell in row] for row in parsed.iter("tr")]
            tables[parsed.findtext("p")] = pd.DataFrame(rows, columns=head)
    return tables


def find_table(page, column):
    """The one table with such a column."""
    return next(frame for frame in all_tables(page).values() if column in frame.columns)


def assert_clean(page):
    assert not page.exception
    assert not page.error


def agrees(computed, printed):
    """Whether a number rounds to what is printed."""
    digits = len(printed.partition(".")[2])
    return abs(float(computed) - float(printed)) <= 0.5 * 10**-digits + 1e-4


@pytest.fixture(scope="module")
def pages():
    return {name: open_page(name) for name in ("closeness", "two_runs", "two_distributions", "your_scores")}


@pytest.mark.parametrize("name", find_presets("closeness"))
def test_closeness_shows_what_the_api_computes_and_papers_print(pages, name):
    page, preset = pages["closeness"], find_presets("closeness")[name]
    choose(page, "closeness", name, "scored")
    counts = (
        np.array(preset["counts"])
        if "counts" in preset
        else closeness.make_run(closeness.RUNS[0], np.array(preset["items"]), 0)
    )
    shown = find_table(page, "score").set_index("measure")
    for measure in closeness.SCORED:
        assert float(shown.loc[measure, "score"]) == pytest.approx(
            float(metaeval.measure(measure).evaluate(counts)[0]), abs=6e-5
        )
    for measure, printed in preset.get("scores", {}).items():
        assert shown.loc[measure, "printed"] == printed
        assert agrees(shown.loc[measure, "score"], printed)
    if "proximities" in preset:
        beside = all_tables(page)["Ordinal closeness beside print"]
        assert len(beside) == len(preset["proximities"])
        assert all(agrees(row["bits"], row["printed"]) for _, row in beside.iterrows())


@pytest.mark.parametrize("name", find_presets("runs"))
def test_two_runs_show_what_the_api_computes_and_papers_print(pages, name):
    page, preset = pages["two_runs"], find_presets("runs")[name]
    choose(page, "runs", name)
    shown = find_table(page, "prefers").set_index("measure")
    shown.index = shown.index.str.removesuffix(" (0/0)")
    first, second = (preset[side] for side in ("first", "second"))
    for measure in metaeval.measures.measures():
        if measure.kind == "classification" and is_shipped(measure):  # other tests have registered theirs
            scores = measure.evaluate(np.array([first["counts"], second["counts"]]))[0]
            row = shown.loc[str(measure)]
            assert [float(row[first["name"]]), float(row[second["name"]])] == pytest.approx(scores, abs=6e-5)
            ahead = measure.sign * (scores[0] - scores[1])
            assert row["prefers"] == ("a tie" if abs(ahead) < 1e-9 else first["name"] if ahead > 0 else second["name"])
    for side in (first, second):
        for measure, printed in side.get("scores", {}).items():
            value = float(metaeval.measure(measure).evaluate(np.array(side["counts"]))[0])
            assert agrees(value, printed), (measure, value, printed)


@pytest.mark.parametrize("name", find_presets("distributions"))
def test_two_distributions_show_what_the_api_computes_and_papers_print(pages, name):
    page, preset = pages["two_distributions"], find_presets("distributions")[name]
    choose(page, "distributions", name)
    shown = find_table(page, "prefers").set_index("measure")
    gold = np.array(preset["gold"])
    first, second = (np.array(preset[side]["shares"], dtype=float) for side in ("first", "second"))
    delta = next(column for column in shown.columns if column.startswith("difference"))
    for measure in shown.index:
        scores = [float(metaeval.measure(measure).score(one, gold)) for one in (first, second)]
        assert float(shown.loc[measure, delta].split()[0]) == pytest.approx(scores[0] - scores[1], abs=6e-5)
    for measure, printed in preset.get("differences", {}).items():
        assert agrees(shown.loc[measure, delta].split()[0], printed)
        assert shown.loc[measure, delta].endswith(f"({printed})")
    for measure in preset.get("equal", []):
        assert shown.loc[measure, "prefers"] == "a tie"
    if "OD" in preset["first"]:
        assert all(agrees(row["OD"], row["printed"]) for _, row in find_table(page, "OD").iterrows())


def test_figure_3_of_lq_2021_leaves_one_gold_distribution_of_twenty_ratings():
    from metaeval.measures.properties import all_counts

    for name, printed in ((one["name"], one) for one in find_presets("distributions").values() if "differences" in one):
        counts, mode = [], int(np.argmax(printed["first"]["shares"]))
        for n in range(16, 21):
            gold = all_counts(n, 5) / n
            gold = gold[(gold.argmax(axis=1) == mode) & ((gold == gold.max(axis=1, keepdims=True)).sum(axis=1) == 1)]
            fits = np.ones(len(gold), dtype=bool)
            for measure, text in printed["differences"].items():
                scores = [
                    metaeval.measure(measure).evaluate(np.broadcast_to(printed[side]["shares"], gold.shape), gold)[0]
                    for side in ("first", "second")
                ]
                fits &= np.abs(scores[0] - scores[1] - float(text)) <= 5.001e-4
            counts += gold[fits].tolist()
        assert np.allclose(counts, [printed["gold"]]), name


def test_the_first_page_keeps_what_its_title_says(pages):
    page = pages["two_runs"]
    choose(page, "runs", next(iter(find_presets("runs"))))
    assert page.title[0].value == "Which system is better? Nine measures say A, nine say B"
    shipped = [one for one in metaeval.measures.measures() if one.kind == "classification" and is_shipped(one)]
    preset = find_presets("runs")["Nine measures say A, nine say B"]
    rows = two_runs.compare_runs(shipped, np.array(preset["first"]["counts"]), np.array(preset["second"]["counts"]))
    assert sorted(list_sides(rows).values()) == ["first"] * 9 + ["second"] * 9 + ["tie"] * 9


def test_a_step_is_done_for_good_and_another_lesson_begins_anew(pages):
    page = pages["two_runs"]
    first, second, *_ = find_presets("runs")
    choose(page, "runs", first)
    assert len([one for one in page.markdown if one.value.startswith("✓")]) == 1
    for worse, done in ((2, 1), (1, 1), (3, 2)):
        page.text_area(key="second").set_value(f"12 0 0 / {worse} {6 - worse} 0 / 0 0 2").run()
        assert len([one for one in page.markdown if one.value.startswith("✓")]) == 1 + done
    assert page.success[0].value == "Lesson complete."
    next(one for one in page.button if one.label.startswith("Next lesson")).click().run()
    assert page.selectbox(key="runs_lesson").value == second
    assert page.text_input(key="runs").value == "B, C"
    assert not page.success
    assert not all_tables(page)


def test_what_is_dragged_stands_in_the_fields(pages):
    page = pages["closeness"]
    choose(page, "closeness", next(iter(find_presets("closeness"))))
    page.text_input(key="items").set_value("1 2 3").run()
    data, _ = (json.loads(part.proto.json) for part in page.get("bidi_component"))
    assert json.loads(data["bars"])["values"] == [[[1, 2, 3]]]
    assert closeness.write_fields([[[1.0, 5.0, 3.0]]], False, ["a", "b", "c"])["items"] == "1 5 3"
    assert two_distributions.write_fields([[[0.5, 0.5], [0.1, 0.9], [1, 0]]]) == {
        "gold": "0.5 0.5",
        "p": "0.1 0.9",
        "q": "1 0",
    }
    fields = two_runs.write_fields(np.array([[[1, 0], [0, 1]], [[0, 2], [2, 0]]]), ["a", "b"])
    assert (fields["first"], fields["second"]) == ("1 0\n0 2", "0 1\n2 0")


@pytest.mark.parametrize("sent", [None, "x", {}, [], [[["a"]]], [[1]], [[[1, 2]]], [[[1, 2], [3, 4], [5, 6], [7, 8]]]])
def test_an_edit_that_no_bar_can_send_changes_nothing(sent, monkeypatch):
    state = {"bars": {"edit": sent}}
    monkeypatch.setattr(bars.st, "session_state", state)
    bars.take_edit("bars", two_distributions.write_fields)
    assert list(state) == ["bars"]
    state["bars"]["edit"] = [[[1, 0], [0.5, 0.5], [0, 1]]]
    bars.take_edit("bars", two_distributions.write_fields)
    assert [state[key] for key in ("gold", "p", "q")] == ["1 0", "0.5 0.5", "0 1"]


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("closeness", "items", "1 x"),
        ("closeness", "items", ""),
        ("two_distributions", "gold", "0 0 0 0 0"),
        ("two_distributions", "p", "1 2"),
        ("two_distributions", "q", "![a](http://example.org/a.png) 1"),
    ],
)
def test_a_wrong_input_is_one_sentence_and_no_traceback(pages, name, key, text):
    page = pages[name]
    before = page.text_input(key=key).value
    page.text_input(key=key).set_value(text).run()
    assert len(page.error) == 1
    assert not page.exception
    assert "](" not in page.error[0].value
    page.text_input(key=key).set_value(before).run()
    assert not page.error


def test_two_matrices_over_another_gold_are_refused(pages):
    page = open_page("two_runs")
    page.text_area(key="second").set_value("1 0 0\n0 1 0\n0 0 1").run()
    assert "gold class routine has 12 items" in page.error[0].value


def test_the_fewest_moves_are_those_of_the_api():
    page = open_page("two_runs")
    name = "A tie for Accuracy, a clear winner for others"
    choose(page, "runs", name, "firm")
    page.selectbox(key="turn").select("CEM_ORD").run()
    preset = find_presets("runs")[name]
    found = metaeval.measures.fewest_moves(
        metaeval.measure("CEM_ORD"), preset["first"]["counts"], preset["second"]["counts"]
    )
    said = " ".join(one.value.replace("\\", "") for one in page.markdown)
    assert two_runs.describe_moves(found) in said
    assert len(find_table(page, "from")) == len(found.moves)
    assert not page.exception


def test_labels_can_be_pasted_instead_of_matrices():
    page = open_page("two_runs")
    page.radio(key="how").set_value(two_runs.INPUTS[1]).run()
    page.text_area(key="labels").set_value("classes: a, b\na a b\nb b b\nb a b").run()
    page.selectbox(key="runs_lesson").select(OWN).run()
    shown = find_table(page, "prefers").set_index("measure")
    assert float(shown.loc["Accuracy", "A"]) == pytest.approx(2 / 3, abs=1e-4)
    assert not page.exception


def test_moving_mass_keeps_a_distribution():
    shares = np.array([0.5, 0.3, 0.2])
    moved = two_distributions.move_mass(shares, 0, 2, np.linspace(0, 0.5, 7))
    assert moved.sum(axis=1) == pytest.approx(np.ones(7))
    grid, spread = two_distributions.spread_mass(shares, 0, 1, 5)
    there = np.isfinite(spread).all(axis=2)
    assert spread[there].sum(axis=1) == pytest.approx(np.ones(there.sum()))
    assert there.sum() == sum(x + y <= 1 for x in grid for y in grid)
    one, gold, second = metaeval.measure("NMD"), np.full(3, 1 / 3), np.array([0.1, 0.1, 0.8])
    _, better = two_distributions.find_surface(one, gold, shares, second, 0, 1)
    at = np.array([better.shape[0] // 2, 0])
    expected = float(one.score(second, gold)) - float(one.score([0, 0.5, 0.5], gold))
    assert better[at[0], at[1]] == pytest.approx(expected)


def test_names_of_runs_are_text_and_no_markup():
    page = open_page("two_runs")
    page.selectbox(key="runs_lesson").select(OWN).run()
    page.text_input(key="runs").set_value("<img src=x onerror=1>, ![x](http://example.org/x.png)").run()
    assert not page.exception
    bodies = " ".join(one.proto.body for one in page.get("html"))
    assert "<img" not in bodies
    assert "&lt;img" in bodies
    assert not any("](http" in one.value for one in page.markdown)


def wait_for_answer(page):
    deadline = time.monotonic() + 120
    while page.session_state["job"].running:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return page.run()


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.random((6, 20, 3)) + np.linspace(0, 0.6, 6)[:, None, None]
    return metaeval.Scores(
        values, runs=list("abcdef"), topics=range(20), measures=["AP", "nDCG@10", "P@10"], collection="small"
    )


def ask(page, question, scores, *, trials):
    """Open scores as the page would an uploaded file, and ask."""
    content = scores.to_frame().to_csv(index=False).encode()
    page.file_uploader(key="sent").set_value([("small.csv", content, "text/csv")]).run()
    page.selectbox(key="question").select(question).run()
    page.number_input(key="trials").set_value(trials).run()
    page.button(key="start").click().run()
    return wait_for_answer(page)


def test_similarity_is_shown_as_the_api_computes_it(scores, tmp_path, monkeypatch, capsys):
    """What the command prints and writes, without its figures."""
    from metaeval.cli import main

    monkeypatch.chdir(tmp_path)
    scores.to_frame().to_csv("small.csv", index=False)
    words = write_command("similarity", "small.csv", {"seed": "0"}, "out")
    monkeypatch.setattr(sys, "argv", ["metaeval", *(word for word in words if word != "--out=out")])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    found = metaeval.ranking_similarity(scores)
    (tmp_path / "similarity.json").write_text(json.dumps(found.to_dict()))
    found.to_table().write(tmp_path, "similarity")
    said = capsys.readouterr().out
    page = AppTest.from_string(
        "from pathlib import Path\nfrom types import SimpleNamespace\nfrom metaeval.app.answers import show_answer\n"
        f"job = SimpleNamespace(notes=list, printed=lambda: {said!r})\n"
        f"show_answer(job, Path({str(tmp_path)!r}), 'similarity')",
        default_timeout=60,
    ).run()
    assert not page.exception
    shown = find_table(page, "nDCG@10").set_index("measure")
    assert page.header[0].value.replace("\\", "") == found.answer()
    assert shown.loc["AP", "nDCG@10"] in said
    assert float(shown.loc["AP", "nDCG@10"]) == pytest.approx(found.tau[0, 1], abs=1e-3)
    (chart,) = (json.loads(part.proto.json)["chart"] for part in page.get("bidi_component"))
    assert f'title="AP, nDCG@10: {found.tau[0, 1]:.2f}"' in chart


def test_an_answer_is_that_of_the_command_and_power_is_drawn_as_by_the_api(scores):
    page = ask(open_page("your_scores"), "power", scores, trials=100)
    assert_clean(page)
    power = metaeval.discriminative_power(scores, n_permutations=100, seed=0)
    curve = power.curve()
    found = answers.read_curves(page.session_state["folder"] / answers.P_VALUES)
    for name in curve.columns:
        assert found[name] == pytest.approx(curve[name].to_numpy())
    dots, curves = (json.loads(part.proto.json)["chart"] for part in page.get("bidi_component"))
    (whole,) = power.charts()
    chart = answers.make_power_chart(found, power.alpha)
    expected, _ = thin_chart(whole, answers.MOST_POINTS)
    for line, other in zip(chart.lines, expected.lines, strict=True):
        assert (line.name, line.count, line.x.tolist()) == (other.name, other.count, other.x.tolist())
        assert line.y == pytest.approx(other.y)
    for line in chart.lines:
        (points,) = re.findall(rf'<title>{re.escape(line.label)}</title>.*?points="([^"]+)"', curves)
        x, _ = cut_off(line.x, line.y, 0.2)
        assert len(points.split()) == len(x)
    rows = sorted(power.summary().itertuples(), key=lambda row: -row.power)
    shares = IntervalChart([Row(row.measure, row.measure, row.power) for row in rows], "", description="shares")
    assert draw_chart(shares, 560).partition(">")[2] in dots
    beside = find_table(page, "finds more")
    wide = power.differences["difference"].abs().max()
    assert abs(float(beside.loc[0, "difference"])) == pytest.approx(100 * wide, abs=0.05)


def test_rows_are_sorted_by_the_share_of_each_measure_s_own_range(pages):
    """Otherwise a measure with a wide range would stand on top whatever the runs are."""
    rows = [
        {"measure": name, "difference": difference, "share": share}
        for name, difference, share in [
            ("unbounded", 9.0, np.nan), ("none", np.nan, np.nan), ("wide", 0.4, 0.2), ("narrow", 0.3, 0.3),
            ("other", -1.0, -0.5), ("even", 0.0, 0.0),
        ]
    ]  # fmt: skip
    assert [row["measure"] for row in sort_pairs(rows)] == ["narrow", "wide", "unbounded", "even", "other", "none"]
    first, second = np.array([[4, 0], [0, 4]]), np.array([[3, 1], [0, 4]])
    (row,) = two_runs.compare_runs([metaeval.measure("Accuracy")], first, second)
    assert row["share"] == pytest.approx(1 / 8)
    (row,) = two_runs.compare_runs([metaeval.measure("kappa")], first, second)
    assert row["share"] == pytest.approx((1 - 0.75) / 2)  # kappa reaches from -1 to 1


def test_long_work_can_be_stopped(scores):
    page = open_page("your_scores")
    content = scores.to_frame().to_csv(index=False).encode()
    page.file_uploader(key="sent").set_value([("small.csv", content, "text/csv")]).run()
    page.selectbox(key="question").select("power").run()
    page.number_input(key="trials").set_value(1_000_000).run()
    page.button(key="start").click().run()
    job = page.session_state["job"]
    job.stop()
    page.run()
    assert not job.running
    assert page.info[0].value == "Stopped."


def test_an_edit_needs_no_library_of_tables_or_drawings():
    code = (
        "import sys\nfrom streamlit.testing.v1 import AppTest\n"
        "page = AppTest.from_string('from metaeval.app.views import closeness\\ncloseness.show()', default_timeout=60).run()\n"
        "page.text_input(key='items').set_value('1 2 3').run()\n"
        "assert not page.exception\n"
        "print(sorted({'matplotlib', 'altair', 'plotly', 'pandas', 'pyarrow'}.intersection(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr[-500:]
