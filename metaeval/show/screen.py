"""Charts on a page: what matplotlib draws, as SVG in the colours of the page, in which marks say their names and numbers.

Colours are variables of CSS, so that a page shows a chart light or dark; a file of its own keeps those of paper.
"""

from __future__ import annotations

import html
import io
import re
import warnings
from dataclasses import replace

from metaeval.errors import visible
from metaeval.show.charts import Chart, HeatMap, Surface
from metaeval.show.clusters import arrange
from metaeval.show.colours import shade, text_colour
from metaeval.show.drawing import TIP, draw_charts
from metaeval.show.looks import COLOURS, css_variables
from metaeval.show.names import to_html
from metaeval.show.style import GREY, house_style

_INKS = {
    "light": "--ink: #1b1b1f; --paper: #ffffff; --line: #c9ccd4; --faint: #575b66;",
    "dark": "--ink: #e8e8ec; --paper: #16181d; --line: #4a4e59; --faint: #aab0bd;",
}
_VARIABLES = {
    **{light.lower(): f"var(--c{number})" for number, (light, _) in enumerate(COLOURS)},
    "#000000": "var(--ink)", "#ffffff": "var(--paper)", "#b0b0b0": "var(--line)", GREY: "var(--faint)",
}  # fmt: skip


STYLE = "svg[role=img] text { fill: var(--ink) }"
"""Style of all charts; colours are the variables of `write_variables`."""


def write_variables(theme: str) -> str:
    """Return the colours of charts as variables of CSS, for a light or a dark page."""
    return f"{_INKS[theme]} {css_variables(theme)}"


def draw_chart(chart: Chart, width: float = 420) -> str:
    """Return a chart as SVG, so many pixels wide, a heat map as a table of HTML."""
    if isinstance(chart, HeatMap):
        return _tabulate(chart)
    figure = draw_charts(chart if isinstance(chart, Surface) else replace(chart, title=""), None, width=width / 96)
    stream = io.StringIO()
    with house_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has what matplotlib's font lacks
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = "<svg" + re.sub(
        r"<(metadata|defs)>\s*<(rdf|style).*?</\1>",
        "",
        visible(stream.getvalue().partition("<svg")[2]),
        flags=re.DOTALL,
    )
    svg = re.sub(rf'<g id="{TIP}([^"]*)">', r"<g><title>\1</title>", svg)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # which are the same in every chart of a page
    svg = re.sub("|".join(_VARIABLES), lambda colour: _VARIABLES[colour[0]], svg)
    described = html.escape(visible(getattr(chart, "description", "") or getattr(chart, "label", "") or chart.y_label))
    return svg.replace("<svg ", f'<svg role="img" aria-label="{described}" ', 1)


def make_file(svg: str, signature: str) -> str:
    """Return a chart as a file of its own: programs that draw SVG know no variables."""
    colours = {variable: colour for colour, variable in _VARIABLES.items()}
    plain = re.sub(r"var\(--\w+\)", lambda variable: colours[variable[0]], svg)
    return plain.replace(">", f"><desc>{html.escape(visible(signature))}</desc>", 1)


def _tabulate(chart: HeatMap) -> str:
    """Return a heat map as a table; the columns of a square have the numbers of its rows, whose names may be long."""
    chart, _ = arrange(chart)
    square = not chart.diagonal
    head = "".join(
        f'<th scope="col" title="{html.escape(visible(name))}">{n if square else to_html(name)}</th>'
        for n, name in enumerate(chart.columns, start=1)
    )
    body = []
    for i, name in enumerate(chart.rows):
        cells = []
        for j, value in enumerate(chart.values[i].tolist()):
            if i == j and square:
                cells.append("<td></td>")
                continue
            text, colour = chart.write(value), shade(value / chart.highest, falling=chart.falling)
            tip = chart.tips.get((i, j)) or f"{name}, {chart.columns[j]}: {text}"
            style = f' style="background: {colour}; color: {text_colour(colour)}"' if value == value else ""
            cells.append(f'<td{style} title="{html.escape(visible(tip))}">{html.escape(text)}</td>')
        body.append(f'<tr><th scope="row">{to_html(name)}{f" {i + 1}" * square}</th>{"".join(cells)}</tr>')
    return (
        f'<table class="heat"><caption>{to_html(chart.label)}</caption>\n<thead><tr><td></td>{head}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(body)}\n</tbody></table>"
    )
