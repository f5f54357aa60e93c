"""Charts of the playground."""

import json

import numpy as np
import pytest

pytest.importorskip("streamlit", reason="Streamlit is not installed")

from streamlit.testing.v1 import AppTest

from metaeval.show.charts import Line, LineChart
from metaeval.show.screen import draw_chart

PAGE = """
import numpy as np
from metaeval.app.charts import show_chart
from metaeval.show.charts import HeatMap, Line, LineChart
lines = [Line(name, name, np.arange(3.0), np.arange(3.0)) for name in ("NMD", "<b>mine")]
show_chart(LineChart(lines, "x", "y"), "Two curves.")
show_chart(LineChart([Line("NMD", "NMD", np.arange(2.0), np.full(2, np.nan))], "x", "y"), "Nothing to draw.")
show_chart(HeatMap(np.eye(2), ["a", "<b>"], ["a", "<b>"], "numbers", str), "A heat map.")
"""


def test_a_chart_of_a_page_is_that_of_a_report_with_a_legend_and_says_what_it_shows():
    page = AppTest.from_string(PAGE, default_timeout=60).run()
    assert not page.exception
    lines, heat = (json.loads(part.proto.json)["chart"] for part in page.get("bidi_component"))
    names = ("NMD", "<b>mine")
    chart = LineChart(
        [Line(name, name, np.arange(3.0), np.arange(3.0)) for name in names], "x", "y", description="Two curves."
    )
    assert draw_chart(chart, 560) in lines
    assert 'class="legend"' in lines
    assert 'aria-label="Two curves."' in lines
    assert 'class="heat"' in heat
    assert "--c0: " in lines
    for text in (lines, heat):
        assert "<b>" not in text
        assert "script" not in text
