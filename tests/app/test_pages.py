"""The pages, run without a browser: every number is that of the API, and examples show what is printed."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import metaeval
from metaeval.app.presets import find_presets
from metaeval.measures.properties import all_counts
from metaeval.measures.registry import is_shipped
from metaeval.show.screen import draw_chart

pytest.importorskip("streamlit")

from streamlit.testing.v1 import AppTest

from metaeval.app import bars, candidates, inputs
from metaeval.app.launch import MOST_MEGABYTES, MOST_UNPACKED
from metaeval.app.lessons import OWN
from metaeval.cli.lookup import APP
from metaeval.errors import MetaevalError
from tests.analyses.made import label
from tests.app.serve import ROOT

pytestmark = pytest.mark.filterwarnings("ignore")  # streamlit's own

OPEN = {"your_scores": "from metaeval.app import your_scores\nyour_scores.show()"} | {
    page: f"from metaeval.app import candidates\ncandidates.show({page!r})" for page in candidates.PAGES.values()
}


def open_page(name="your_scores"):
    return AppTest.from_string(OPEN[name], default_timeout=60).run()


def choose(page, name, lesson, *parts):
    """Choose a lesson, guess, and open parts of the page that are on demand."""
    for chosen in (OWN, lesson):  # the same lesson again would be no change
        page.selectbox(key=f"{name}_lesson").select(chosen).run()
    assert not all_tables(page)  # no answer before the guess
    page.session_state[f"{name}_guess"] = 2
    for part in parts:
        page.session_state[part] = True
    page.run()
    assert not page.exception
    assert not page.error


def all_tables(page):
    """Every table of the page by its caption."""
    tables = {}
    for block in page.get("html"):
        if "<table" in block.proto.body:
            parsed = ElementTree.fromstring(f"<div>{block.proto.body}</div>")  # noqa: S314  (our own page)
            head, *rows = [["".join(cell.itertext()) for cell in row] for row in parsed.iter("tr")]
            caption = parsed.findtext("p") or "".join(parsed.find(".//caption").itertext())
            tables[caption] = pd.DataFrame(rows, columns=head)
    return tables


def find_table(page, column):
    """The one table with such a column."""
    return next(frame for frame in all_tables(page).values() if column in frame.columns)


def all_parts(page, kind):
    """What was sent of a kind: charts, or bars that can be dragged."""
    sent = [json.loads(part.proto.json) for part in page.get("bidi_component")]
    return [each[kind] for each in sent if kind in each]


def agrees(computed, printed):
    """Whether a number rounds to what is printed."""
    digits = len(printed.partition(".")[2])
    return abs(float(computed) - float(printed)) <= 0.5 * 10**-digits + 1e-4


@pytest.fixture(scope="module")
def pages():
    return {name: open_page(name) for name in OPEN}


@pytest.mark.parametrize("name", find_presets("runs"))
def test_two_runs_show_what_the_api_computes_and_papers_print(pages, name):
    page, preset = pages["runs"], find_presets("runs")[name]
    choose(page, "runs", name)
    shown = find_table(page, "prefers").set_index("measure")
    shown.index = shown.index.str.removesuffix(" (0/0)")
    sides = preset["first"], preset["second"]
    names, counts = [side["name"] for side in sides], np.array([side["counts"] for side in sides])
    shipped = [one for one in metaeval.measures.measures("classification") if is_shipped(one)]  # tests register others
    for measure, (_, row) in zip(shipped, shown.loc[map(str, shipped)].iterrows(), strict=True):
        scores = measure.evaluate(counts)[0]
        assert row[names].astype(float).tolist() == pytest.approx(scores, abs=6e-5)
        ahead = np.sign(np.round(measure.sign * (scores[0] - scores[1]), 9))
        assert row["prefers"] == {0: "a tie", 1: names[0], -1: names[1]}[ahead]
    for side in sides:
        for measure, printed in side.get("scores", {}).items():
            assert agrees(float(metaeval.measure(measure).evaluate(np.array(side["counts"]))[0]), printed), measure
            assert measure not in shown.index or printed in shown.loc[measure, "printed"].split(" / ")


@pytest.mark.parametrize("name", find_presets("distributions"))
def test_two_distributions_show_what_the_api_computes_and_papers_print(pages, name):
    page, preset = pages["distributions"], find_presets("distributions")[name]
    choose(page, "distributions", name)
    shown = find_table(page, "prefers").set_index("measure")
    shares = [np.array(each, float) for each in (preset["first"]["shares"], preset["second"]["shares"], preset["gold"])]
    for measure, row in shown.iterrows():
        first, second = (float(metaeval.measure(measure).score(estimated, shares[2])) for estimated in shares[:2])
        assert float(row["difference"]) == pytest.approx(first - second, abs=6e-5)
        assert (row["prefers"] == "a tie") == (abs(first - second) < 1e-9)
    for measure, printed in preset.get("differences", {}).items():
        assert agrees(shown.loc[measure, "difference"], printed)
        assert shown.loc[measure, "printed difference"] == printed
    assert shown.loc[preset.get("equal", []), "prefers"].eq("a tie").all()


@pytest.mark.parametrize("name", find_presets("closeness"))
def test_closeness_is_that_of_print_and_its_scales_are_the_judges(pages, name):
    page, preset = pages["closeness"], find_presets("closeness")[name]
    choose(page, "closeness", name, "closeness_0")
    bits = candidates.find_closeness(np.array(preset["items"]), "ORD")
    for pair in preset.get("proximities", []):
        gold, predicted = (preset["classes"].index(pair[which]) for which in ("gold", "predicted"))
        assert agrees(bits[gold, predicted], pair["printed"])
    assert list(find_table(page, "prefers")["measure"]) == ["ordinal", "interval", "nominal"]
    assert f"{bits[0, 0]:.2f}" in all_parts(page, "chart")[0]


def test_figure_3_of_lq_2021_leaves_one_gold_distribution_of_twenty_ratings():
    for printed in (preset for preset in find_presets("distributions").values() if "differences" in preset):
        sides = [np.array(printed[side]["shares"], dtype=float) for side in ("first", "second")]
        golds = np.concatenate([all_counts(n, 5) / n for n in range(16, 21)])
        modes = golds == golds.max(axis=1, keepdims=True)
        golds = golds[modes[:, sides[0].argmax()] & (modes.sum(axis=1) == 1)]
        for name, difference in printed["differences"].items():
            measure = metaeval.measure(name)
            first, second = (measure.evaluate(np.broadcast_to(side, golds.shape), golds)[0] for side in sides)
            golds = golds[np.abs(first - second - float(difference)) <= 5.001e-4]
        assert np.allclose(golds, [printed["gold"]]), printed["name"]


def test_the_first_page_answers_the_guess_a_step_is_done_for_good_and_another_lesson_begins_anew(pages):
    page, (first, second, *_) = pages["runs"], find_presets("runs")
    choose(page, "runs", first)
    assert page.title[0].value == "Which system is better? Nine measures say A, nine say B"
    assert page.markdown[0].value.startswith("✓ You said a tie; 9 of 27 agree. ")
    assert (find_table(page, "prefers")["prefers"].value_counts() == 9).all()
    for worse, done in ((0, 0), (2, 1), (1, 1), (3, 2)):
        if worse:
            page.text_area(key="second").set_value(f"12 0 0 / {worse} {6 - worse} 0 / 0 0 2").run()
        assert len([text for text in page.markdown if text.value.startswith("✓")]) == 1 + done
    assert page.success[0].value == "Lesson complete."
    next(button for button in page.button if button.label.startswith("Next lesson")).click().run()
    assert page.selectbox(key="runs_lesson").value == second
    assert page.text_input(key="runs").value == "B, C"
    assert not page.success
    assert not all_tables(page)


def test_what_is_dragged_stands_in_the_fields_and_an_edit_that_no_bar_can_send_changes_nothing(pages, monkeypatch):
    page = pages["closeness"]
    choose(page, "closeness", next(iter(find_presets("closeness"))))
    page.text_input(key="items").set_value("1 2 3").run()
    assert [json.loads(drawn)["values"] for drawn in all_parts(page, "bars")] == [[[[1, 2, 3]]]]
    fields = candidates.write_runs(np.array([[[1, 0], [0, 1]], [[0, 2], [2, 0]]]))
    assert (fields["first"], fields["second"]) == ("1 0\n0 2", "0 1\n2 0")
    state = {"bars": {}}
    monkeypatch.setattr(bars.st, "session_state", state)
    for sent in (None, "x", {}, [], [[["a"]]], [[1]], [[[1, 2]]], [[[1, 2], [3, 4], [5, 6], [7, 8]]]):
        state["bars"]["edit"] = sent
        bars.take_edit("bars", candidates.write_distributions)
        assert list(state) == ["bars"], sent
    state["bars"]["edit"] = [[[1, 0], [0.5, 0.5], [0, 1]]]
    bars.take_edit("bars", candidates.write_distributions)
    assert [state[key] for key in ("gold", "p", "q")] == ["1 0", "0.5 0.5", "0 1"]


def test_moves_are_those_of_the_api_and_labels_can_be_pasted():
    page, name = open_page("runs"), "A tie for Accuracy, a clear winner for others"
    choose(page, "runs", name, "runs_0")
    page.selectbox(key="turn").select("CEM_ORD").run()
    both = (find_presets("runs")[name][side]["counts"] for side in ("first", "second"))
    found = metaeval.measures.fewest_moves(metaeval.measure("CEM_ORD"), *both)
    assert candidates.describe_moves(found) in " ".join(text.value.replace("\\", "") for text in page.markdown)
    assert len(find_table(page, "from")) == len(found.moves)
    page = open_page("runs")
    page.radio(key="how").set_value(candidates.INPUTS[1]).run()
    page.text_area(key="labels").set_value("classes: a, b\na a b\nb b b\nb a b").run()
    page.selectbox(key="runs_lesson").select(OWN).run()
    shown = find_table(page, "prefers").set_index("measure")
    assert float(shown.loc["Accuracy", "A"]) == pytest.approx(2 / 3, abs=1e-4)


def test_rows_are_sorted_by_the_share_of_each_measure_s_own_range():
    """Otherwise a measure with a wide range would stand on top whatever the runs are."""
    made = [
        metaeval.Measure(name, True, (low, high), kind="quantification", formula=lambda p, _, most=most: p[..., 0] * most)
        for name, low, high, most in (
            ("unbounded", -np.inf, np.inf, 9), ("none", 0, 1, np.nan), ("wide", -1, 1, 0.4), ("narrow", 0, 1, 0.3),
            ("other", -1, 1, -1), ("even", 0, 1, 0),
        )
    ]  # fmt: skip
    rows = candidates.score_pairs(made, np.eye(2), np.array([0.5, 0.5]))
    assert [str(row["measure"]) for row in rows] == ["narrow", "wide", "unbounded", "even", "other", "none"]
    (kappa,) = candidates.score_pairs([metaeval.measure("kappa")], np.array([[[4, 0], [0, 4]], [[3, 1], [0, 4]]]))
    assert kappa["share"] == pytest.approx((1 - 0.75) / 2)  # it reaches from -1 to 1


ASKED = {"similarity": metaeval.ranking_similarity, "power": metaeval.discriminative_power, "ranks": metaeval.run_ranks}


@pytest.mark.parametrize("question", ASKED)
def test_an_answer_is_that_of_the_api_with_its_charts_and_tables(pages, question):
    page, chosen = pages["your_scores"], "P@10" if question == "ranks" else None
    values = np.random.default_rng(0).random((12, 30, 3)) + np.linspace(0, 0.6, 12)[:, None, None]
    scores = label(values, ["AP", "nDCG@10", "P@10"], "small")
    content = scores.to_frame().to_csv(index=False).encode()
    page.file_uploader(key="sent").set_value([("small.csv", content, "text/csv")]).run()
    page.selectbox(key="question").select(question).run()
    if chosen:
        page.selectbox(key="which").select(chosen).run()
    page.button(key="start").click().run()
    assert not page.exception
    assert not page.error
    found = ASKED[question](scores.sel(measures=chosen) if chosen else scores)
    assert page.header[0].value.replace("\\", "") == found.answer()
    assert page.code[0].value == f"metaeval {question} small.csv" + f" --measure={chosen}" * bool(chosen)
    assert draw_chart(found.charts()[0], 560) in all_parts(page, "chart")[0]
    assert [len(shown) for shown in all_tables(page).values()] == [len(table.frame) for table in found.at("short")]


def test_a_fault_of_the_program_is_called_one_and_shown_whole_only_where_that_is_asked_for(pages, monkeypatch):
    page = pages["your_scores"]
    monkeypatch.setattr("metaeval.app.your_scores._read", lambda *_: 1 / 0)
    page.file_uploader(key="sent").set_value([("s.csv", b"run,topic,AP\na,t,1\nb,t,0\n", "text/csv")]).run()
    (said,) = [shown.value.replace("\\", "") for shown in page.error]
    fault = "ZeroDivisionError: division by zero"
    assert said.startswith(f"This is a bug of metaeval: {fault} (metaeval app under METAEVAL")
    assert not page.exception
    monkeypatch.setenv("METAEVAL_DEBUG", "1")
    assert "division by zero" in page.run().exception[0].message


def test_matrices_labels_shares_and_classes_are_read_in_whatever_way_people_or_we_write_them():
    for text in ("5 1\n2 7", "5, 1\n2, 7", "5;1/2;7", "[[5, 1]\n[2, 7]]", "  5 1 \n\n 2 7\n"):
        assert inputs.parse_matrix(text).tolist() == [[5, 1], [2, 7]]
    counts = np.random.default_rng(0).integers(0, 1000, (7, 7))
    assert (inputs.parse_matrix(inputs.format_matrix(counts)) == counts).all()
    classes, *both = inputs.parse_labels("classes: low, very high\nlow, low, very high\nvery high, low, very high")
    assert classes == ["low", "very high"]
    assert [one.tolist() for one in both] == [[[1, 0], [1, 0]], [[0, 1], [0, 1]]]
    assert inputs.parse_labels("10 2 10\n2 2 2")[0] == ["2", "10"]
    assert inputs.parse_shares("2 1 1").tolist() == [0.5, 0.25, 0.25]
    assert inputs.parse_classes("a, a", 3) == ["a", "a (2)", "3"]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (inputs.parse_matrix, "1 2\n3", "line 2: there are 1 numbers"),
        (inputs.parse_matrix, "1 x\n2 3", "'x' is not a number"),
        (inputs.parse_matrix, "1 -2\n2 3", "not a number of 0 or more"),
        (inputs.parse_matrix, "1 1e400\n2 3", "not a number of 0 or more"),
        (inputs.parse_matrix, "1 1e300\n2 3", "not a whole number"),
        (inputs.parse_matrix, "0 0\n0 0", "no items"),
        (inputs.parse_items, "7", "there are 1 classes"),
        (inputs.parse_items, " ".join("1" * 13), "2 to 12"),
        (inputs.parse_shares, "1e308 1e308", "sum to inf"),
        (inputs.parse_labels, "1 2", "line 1 has 2 labels"),
        (inputs.parse_labels, "classes: a, b\na b c", "'c' is none of the classes a, b"),
        (inputs.parse_labels, "classes: a, a\na a a", "named twice"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(read, text, message):
    with pytest.raises(MetaevalError, match=message):
        read(text)


def test_the_image_copies_what_is_there_runs_as_somebody_else_than_root_and_docs_name_the_largest_file():
    lines = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    copied = [name for step, rest in steps if step == "COPY" for name in rest.split()[:-1]]
    assert "metaeval" in copied
    assert all((ROOT / name).exists() for name in copied)
    assert [step for step, _ in steps][-5:] == ["USER", "WORKDIR", "EXPOSE", "HEALTHCHECK", "CMD"]
    program, command, *words = json.loads(dict(steps)["CMD"])
    assert (dict(steps)["USER"], program, command) == ("visitor", "metaeval", "app")
    assert {word for word in words if word.startswith("--")} <= {*(f"--{name}" for name in APP), "--no-browser"}
    said = " ".join((ROOT / "docs" / "how-to" / "playground.md").read_text("utf-8").split())
    assert f"A file may be {MOST_MEGABYTES} MB, and {MOST_UNPACKED >> 30} GiB when it is unpacked" in said
