"""Charts on a page: what matplotlib draws, as SVG in the colours of the page, in which marks say their names and numbers.

Colours are variables of CSS, so that a page shows a chart light or dark; a file of its own keeps those of paper.
"""

from __future__ import annotations

import html
import io
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd

from metaeval.errors import visible
from metaeval.show.charts import Chart, HeatMap, IntervalChart
from metaeval.show.colours import shade
from metaeval.show.looks import COLOURS
from metaeval.show.style import GREY, house_style
from metaeval.show.table import Table

_VARIABLES = {
    **{light.lower(): f"var(--c{number})" for number, (light, _) in enumerate(COLOURS)},
    "#000000": "var(--ink)", "#ffffff": "var(--paper)", "#b0b0b0": "var(--line)", GREY: "var(--faint)",
}  # fmt: skip

STYLE = "svg[role=img] text { fill: var(--ink); font-family: system-ui, sans-serif }"
"""Style of all charts; colours are the variables of `write_variables`."""


def draw_chart(chart: Chart, width: float = 420) -> str:
    """Return a chart as SVG, so many pixels wide, a heat map as a table of HTML."""
    from metaeval.show.drawing import TIP, draw_charts

    if isinstance(chart, HeatMap):
        return _tabulate(chart)
    figure = draw_charts(replace(chart, title=""), None, width=width / 96)
    stream = io.StringIO()
    with house_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has what matplotlib's font lacks
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = visible(stream.getvalue().partition("<svg")[2].replace("\N{NO-BREAK SPACE}", " "))  # beside raised letters
    svg = re.sub(r"<(metadata|defs)>\s*<(rdf|style).*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(rf"<g id=([\"']){TIP}(.*?)\1>", r"<g><title>\2</title>", svg)
    svg = re.sub(r"<g id=([\"']).*?\1", "<g", svg)  # which are the same in every chart of a page
    # A quarter of the size: coordinates, which stand in tags, have no more digits than can be seen, marks of a line have their
    # style once, and fonts are those of the page.
    svg = re.sub(r"<!--.*?-->|(?<=>)\s+(?=<)", "", svg, flags=re.DOTALL)
    short = re.compile(r"(\.\d)\d{2,}| ?\n([LCQz]) ?|(?<=[:;]) ")
    svg = re.sub(r"<[^>]*>", lambda tag: short.sub(lambda part: part[1] or part[2] or "", tag[0]), svg)
    svg = re.sub(
        r"<g([^>]*)>((?:<use [^>]*( style=\"[^\"]*\")/>)(?:<use [^>]*\3/>)*)</g>",
        lambda marks: f"<g{marks[1]}{marks[3]}>{marks[2].replace(marks[3], '')}</g>", svg,
    )  # fmt: skip
    svg = re.sub(r"font-family:[^;\"]*;?| transform=\"rotate\(-0 [^\"]*\"", "", svg)
    svg = re.sub("|".join(_VARIABLES), lambda colour: _VARIABLES[colour[0]], svg)
    described = chart.label if isinstance(chart, IntervalChart) else f"{chart.y_label} against {chart.x_label}"
    return f'<svg role="img" aria-label="{html.escape(visible(described))}"{svg}'


def make_file(svg: str, signature: str) -> str:
    """Return a chart as a file of its own: programs that draw SVG know no variables."""
    colours = {variable: colour for colour, variable in _VARIABLES.items()}
    plain = re.sub(r"var\(--\w+\)", lambda variable: colours[variable[0]], svg)
    return plain.replace(">", f"><desc>{html.escape(visible(signature))}</desc>", 1)


def _tabulate(chart: HeatMap) -> str:
    """Return a heat map as a table; the columns of a square have the numbers of its rows, whose names may be long."""
    from metaeval.show.heatmap import arrange

    chart = arrange(chart)
    square, values = not chart.diagonal, pd.DataFrame(chart.values.astype(float))
    shown = values.map(chart.write)
    marks = (values / chart.highest).map(lambda value: "" if math.isnan(value) else f"shade {shade(value)}")
    if square:
        shown, marks = (each.mask(np.eye(len(values), dtype=bool), "") for each in (shown, marks))
    rows = [f"{name} {number}" if square else name for number, name in enumerate(chart.rows, start=1)]
    columns = [str(number) if square else name for number, name in enumerate(chart.columns, start=1)]
    frame = shown.set_axis(rows).set_axis(columns, axis=1)
    return Table(frame, chart.label, "", marks=lambda _: marks).to_html()
