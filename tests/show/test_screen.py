"""Charts of the screen: every kind is well-formed, names from data are text in it, and what is no number is left out."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import metaeval
from metaeval.show.charts import (
    HeatMap,
    IntervalChart,
    Line,
    LineChart,
    Row,
    ScatterChart,
    Surface,
    highlight,
    thin_chart,
)
from metaeval.show.screen import STYLE, draw_chart, make_file, write_variables

NASTY = '<img src=x onerror="alert(1)">&\x1b[31m'
HOLES = np.array([0.5, np.nan, np.inf, 0.25, 0.1])


def line(name=NASTY, y=HOLES, **settings):
    return Line(name, name, np.arange(1.0, len(y) + 1), y, **settings)


CHARTS = {
    "lines": LineChart([line(), line("NMD", HOLES[::-1])], NASTY, NASTY, level=(0.2, NASTY)),
    "band": LineChart([line(middle=HOLES, band=(HOLES - 0.1, HOLES + 0.1))], "x", "y", log=True, ticks=[1, 2, 5]),
    "ceiling": LineChart([line(y=np.array([0.9, 0.3, 0.1, 0.0]), count=2)], "x", "y", limits=(0.0, 0.2), marks=5),
    "intervals": IntervalChart(
        [Row(NASTY, NASTY, 0.5, line=(0.1, 0.9)), Row("b", "b", np.nan, bar=(0.2, np.nan))], NASTY, levels=[(0.4, "--")]
    ),
    "filled": IntervalChart([Row(NASTY, NASTY, 12.0), Row("b", "b", 0.0)], NASTY, filled=True),
    "heat": HeatMap(np.array([[1, np.nan], [-0.4, 0.2]]), [NASTY, "b"], ["c", NASTY], NASTY, "{:.2f}".format),
    "holes": HeatMap(np.array([[np.nan, np.inf]]), ["a"], ["b", "c"], "v", "{:.2f}".format, highest=2.0),
    "scatter": ScatterChart(np.array([0.1, -0.2, 0.3]), np.array([0.2, 0.1, -0.3]), NASTY, NASTY),
    "surface": Surface(
        np.array([[0.1, np.nan], [-0.2, 0.0]]), np.arange(2.0), np.arange(2.0), NASTY, NASTY, (NASTY, "B")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_well_formed_and_names_are_text(name):
    text = draw_chart(CHARTS[name])
    drawn = parse(text)
    assert not [part for part in drawn.iter() if part.tag in ("img", "script")]
    assert "\x1b" not in text
    assert not re.search(r' (?!title|aria-label)[\w-]+="[^"]*\b(nan|inf)\b', text)
    if drawn.tag == "svg":
        assert drawn.get("role") == "img"
        assert drawn.get("aria-label")


def parse(text):
    return ET.fromstring(text)  # noqa: S314  (the text is our own)


def visible():
    return metaeval.errors.visible(NASTY)


def test_a_file_of_its_own_has_no_variables_and_a_page_has_both_themes():
    text = make_file(draw_chart(CHARTS["lines"]), NASTY)
    parse(text)
    assert "var(" in STYLE
    assert "var(" not in text
    for variable in re.findall(r"var\((--\w+)\)", STYLE):
        assert f"{variable}: " in write_variables("light")
        assert f"{variable}: " in write_variables("dark")


def test_a_long_curve_is_thinned_from_where_it_is_seen_and_keeps_its_last_point():
    y = np.linspace(1, 0, 5001)
    chart, points = thin_chart(LineChart([line(y=y)], "x", "y", limits=(0.0, 0.2)), 11)
    (thinned,) = chart.lines
    assert points == 1001
    assert thinned.x[[0, -1]].tolist() == [4001, 5001]
    assert len(thinned.x) == 11
    assert thinned.y.tolist() == y[thinned.x.astype(int) - 1].tolist()


def test_a_square_of_measures_has_numbers_for_names_above_its_columns_in_the_order_of_clusters():
    alike = np.array([[1, 0.1, 0.9], [0.1, 1, 0.2], [0.9, 0.2, 1.0]])
    names = ["a", "a long name of a measure", "c"]
    for values, opposed in ((alike, False), (1 - alike, True)):
        tips = {(0, 2): "a and c"}
        chart = HeatMap(
            values, names, names, "x", "{:.2f}".format, diagonal=False, clustered=True, opposed=opposed, tips=tips
        )
        rows = list(parse(draw_chart(chart)).iter("tr"))
        assert [head.text for head in rows[0].iter("th")] == ["1", "2", "3"]
        order = [head.get("title") for head in rows[0].iter("th")]
        assert order in (["a", "c", names[1]], ["c", "a", names[1]], [names[1], "c", "a"], [names[1], "a", "c"])
        assert ["".join(row.find("th").itertext())[:-2] for row in rows[1:]] == order
        told = [
            (order[i], order[j])
            for i, row in enumerate(rows[1:])
            for j, cell in enumerate(row.iter("td"))
            if cell.get("title") == "a and c"
        ]
        assert told == [("a", "c")]
