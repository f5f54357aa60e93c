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
