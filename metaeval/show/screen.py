"""Charts for the screen: SVG and HTML written directly, for the report and the app; names from data are text in it.

Colours are variables of CSS, so that a page can show them light or dark; a file of its own carries its style. A mark says
its name and numbers when it is pointed at, and a chart what it shows to those who cannot see it.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from metaeval.errors import visible
from metaeval.show.charts import (
    MOST_POINTS,
    HeatMap,
    IntervalChart,
    Line,
    LineChart,
    Row,
    ScatterChart,
    Surface,
    cut_off,
    find_marked,
    thin,
)
from metaeval.show.clusters import arrange
from metaeval.show.colours import shade, text_colour
from metaeval.show.looks import COLOURS, DASHES, Look, css_variables, find_looks, marker_path
from metaeval.show.names import count_columns, shorten_name, shorten_names, spell_parameters, to_html, to_svg
from metaeval.show.terminal import wrap_text

STYLE = "\n".join([
    ".grid { stroke: var(--line); stroke-width: .6 } .alpha, .cursor { stroke: var(--faint); stroke-width: 1 }",
    ".cursor { stroke-dasharray: 3 3 } .tick, .name { font-size: 12px; fill: var(--faint) } .name { fill: var(--ink) }",
    ".curve { fill: none; stroke-width: 1.8 } .strong { stroke-width: 3.4 } .band { stroke-width: 7 }",
    ".thin { stroke-width: .9 } .shadow { stroke: none; opacity: .1 } .pale { opacity: .35 } .pale:hover, .near { opacity: 1 }",
    ".bold { font-weight: 700 }",
    ".dots { stroke-width: 3; stroke-linecap: round; opacity: .55 } .mark { stroke-width: 1.4 }",
    *(
        f".c{number} {{ stroke: var(--c{number}) }} path.f{number}, rect.f{number} {{ fill: var(--c{number}) }}"
        for number in range(len(COLOURS))
    ),
    "path.paper.mark { fill: var(--paper) }",
])  # fmt: skip
"""Style of all charts; colours are the variables of `write_variables`, or of the page."""

_INKS = {
    "light": "--ink: #1b1b1f; --paper: #ffffff; --line: #c9ccd4; --faint: #575b66;",
    "dark": "--ink: #e8e8ec; --paper: #16181d; --line: #4a4e59; --faint: #aab0bd;",
}


def write_variables(theme: str) -> str:
    """Return the colours of charts as variables of CSS, for a light or a dark page."""
    return f"{_INKS[theme]} {css_variables(theme)}"


@dataclass(frozen=True)
class _Area:
    """Where a chart is drawn: edges in units of the drawing, and the ends of both axes in units of the data."""

    left: float
    right: float
    top: float
    bottom: float
    x_ends: tuple[float, float]
    y_ends: tuple[float, float] = (0.0, 1.0)
    log: bool = False

    def across(self, value: float) -> float:
        first, last, here = (math.log(v) if self.log else float(v) for v in (*self.x_ends, value))
        return self.left + (here - first) / ((last - first) or 1) * (self.right - self.left)

    def up(self, value: float) -> float:
        low, high = self.y_ends
        return self.bottom - (value - low) / ((high - low) or 1) * (self.bottom - self.top)

    def trace(self, x: np.ndarray, y: np.ndarray) -> str:
        return " ".join(f"{self.across(a):.1f},{self.up(b):.1f}" for a, b in zip(x, y, strict=True))

    def draw_x_axis(self, ticks: Sequence[float], label: str, *, lines: bool = False) -> list[str]:
        """Return ticks that do not collide, with lines through the chart if asked for, and the label below."""
        parts: list[str] = []
        last = -math.inf
        for tick in ticks:
            x = self.across(tick)
            if x - last < 28:
                continue
            last = x
            if lines:
                parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{self.top}" y2="{self.bottom}"/>')
            parts.append(_text(x, self.bottom + 16, f"{tick:g}", "middle"))
        pieces = self.wrap(label)
        middle = (self.left + self.right) / 2 if len(pieces) == 1 else (self.right + 20) / 2
        return [*parts, *(_text(middle, self.bottom + 34 + 18 * n, piece, "middle") for n, piece in enumerate(pieces))]

    def wrap(self, label: str) -> list[str]:
        """Return a label in lines that fit below the axis, or below the whole chart, in the letters of a telephone too."""
        columns = int((self.right - self.left) / 8)
        return wrap_text(label, columns if count_columns(label) <= columns else int(self.right / 9)) if label else []

    def draw_y_axis(self, ticks: Sequence[float], label: str) -> list[str]:
        parts = []
        for tick in ticks:
            y = self.up(tick)
            parts.append(f'<line class="grid" x1="{self.left}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(_text(self.left - 6, y + 4, f"{tick:g}", "end"))
        middle = (self.top + self.bottom) / 2
        return [*parts, _text(17, middle, label, "middle", turned=True)]


def find_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends, at most so many.

    >>> find_ticks(0, 0.2), find_ticks(-0.13, 1.0)
    ([0.0, 0.05, 0.1, 0.15, 0.2], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1, 2, 5, 10, 20, 50):
        step = power * factor
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [round(step * number, 12) for number in range(first, last + 1)]


@singledispatch
def draw_chart(chart: object, width: float = 420) -> str:
    """Return a chart as SVG, about as wide as asked for, a heat map as a table of HTML; empty if nothing can be drawn."""
    raise TypeError(f"no chart: {type(chart).__name__}")


@draw_chart.register
def _draw_lines(chart: LineChart, width: float = 420) -> str:
    finite = [np.isfinite(line.y) for line in chart.lines]
    if not any(some.any() for some in finite):
        return ""
    looks = find_looks([line.name for line in chart.lines])
    xs = np.concatenate([line.x[some] for line, some in zip(chart.lines, finite, strict=True)])
    x_ends = float(xs.min()), float(xs.max())
    ys = np.concatenate([line.y[some] for line, some in zip(chart.lines, finite, strict=True)])
    ends, y_ticks = _find_y_axis(chart, ys)
    height = 280 if width < 600 else 320
    area = _Area(64, width - 12, 12, height - 44, x_ends, ends, chart.log)
    parts = area.draw_y_axis(y_ticks, chart.y_label)
    ticks = [tick for tick in chart.ticks if x_ends[0] <= tick <= x_ends[1]]
    parts += area.draw_x_axis(ticks or find_ticks(*area.x_ends, 7), chart.x_label)
    if chart.level is not None:
        level, text = chart.level
        y = area.up(level)
        parts.append(f'<line class="alpha" x1="{area.left}" x2="{area.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts += [_text(area.right - 2, y - 5, text, "end")] * bool(text)
    # Strong lines are drawn last, above the pale ones.
    for number in sorted(range(len(chart.lines)), key=lambda number: chart.lines[number].strong):
        line = chart.lines[number]
        pieces = [*_draw_band(line, area, looks[line.name]), *_draw_line(chart, number, area, looks[line.name])]
        pale = _find_pale(line, chart.lines)
        parts.append(f'<g data-curve="{number}"{pale}><title>{_escape(line.label)}</title>{"".join(pieces)}</g>')
    parts.append(f'<line class="cursor" x1="0" x2="0" y1="{area.top}" y2="{area.bottom}" visibility="hidden"/>')
    labels = ", ".join(line.label for line in chart.lines)
    described = chart.description or f"{chart.y_label} by {chart.x_label}: {labels}"
    data = f' data-left="{area.left}" data-span="{area.right - area.left:g}"'
    return _wrap(parts, width, height, described, data)


def _draw_band(line: Line, area: _Area, look: Look) -> list[str]:
    """Return the thin line in its shaded band, if there is one."""
    if line.band is None or line.middle is None:
        return []
    known = np.isfinite([line.middle, *line.band]).all(axis=0) & (line.x >= area.x_ends[0]) & (line.x <= area.x_ends[1])
    low, high = (np.clip(end[known], *area.y_ends) for end in line.band)
    around = area.trace(np.append(line.x[known], line.x[known][::-1]), np.append(low, high[::-1]))
    shadow = f'<path class="shadow f{look.colour}" d="M{around.replace(" ", "L")}Z"/>' if around else ""
    thin_line = area.trace(line.x[known], line.middle[known])
    return [shadow, f'<polyline class="curve thin c{look.colour}" points="{thin_line}"/>']


def _draw_line(chart: LineChart, number: int, area: _Area, look: Look) -> list[str]:
    """Return a line and its markers."""
    line, ceiling = chart.lines[number], chart.limits[1]
    some = np.isfinite(line.y)
    x, y = line.x[some], line.y[some]
    if ceiling is not None:
        x, y = cut_off(x, y, ceiling)
    strong = " strong" * line.strong
    curve = f'<polyline class="curve c{look.colour}{strong}" points="{area.trace(x, y)}"{_dashes(look)}/>'
    marks = [
        _mark(area.across(line.x[k]), area.up(line.y[k]), look, tip=f"{line.title}: {line.x[k]:.4g}, {line.y[k]:.4g}")
        for k in find_marked(line.y, number, chart.marks, ceiling)
    ]
    return [curve, *marks]


def _find_y_axis(chart: LineChart, ys: np.ndarray) -> tuple[tuple[float, float], list[float]]:
    """Return the ends of the vertical axis, which are round numbers unless they are given, and its ticks."""
    low, high = chart.limits
    low = min(0.0, float(ys.min())) if low is None else low
    if high is not None:
        return (low, high), find_ticks(low, high, 6)
    high = max(float(ys.max()), 1e-9)
    ticks = find_ticks(low, high, 6)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    ticks += [round(ticks[-1] + step, 12)] * bool(ticks[-1] < high)
    return (min(ticks[0], low), ticks[-1]), ticks


def _find_pale(one: Line | Row, among: Sequence[Line] | Sequence[Row]) -> str:
    """Return the class of what stands back because something else in its chart is strong."""
    return ' class="pale"' if not one.strong and any(other.strong for other in among) else ""


@draw_chart.register
def _draw_intervals(chart: IntervalChart, width: float = 560) -> str:
    numbers = [end for row in chart.rows for end in (row.centre, *(row.line or ()), *(row.bar or ()))]
    finite = [float(number) for number in numbers if np.isfinite(number)]
    if not finite:
        return ""
    looks = find_looks([row.name for row in chart.rows])
    names, left = _break_names(chart.rows, width)
    top = 8
    edges = np.cumsum([top, *(max(22, 18 * len(name) + 4) for name in names)])
    levels = [(level, style) for level, style in chart.levels if np.isfinite(level)]
    low, high = _find_x_axis(chart, [*finite, *(level for level, _ in levels)])
    area = _Area(left, width - 20, top, float(edges[-1]), (low, high))
    parts = area.draw_x_axis(find_ticks(low, high, 8), chart.label, lines=True)
    for level, style in levels:
        x, dash = area.across(level), _dash(DASHES[style])
        parts.append(f'<line class="alpha" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{area.bottom:g}"{dash}/>')
    for number, (row, name) in enumerate(zip(chart.rows, names, strict=True)):
        y = float(edges[number] + edges[number + 1]) / 2
        marks = "".join(_draw_row(row, area, y, looks[row.name], chart.filled))
        pieces = [f"<title>{_escape(_describe_row(row))}</title>", *_draw_name(name, left - 10, y, row.strong)]
        parts.append(f"<g>{''.join(pieces)}<g{_find_pale(row, chart.rows)}>{marks}</g></g>")
    described = chart.description or f"{chart.label}: {', '.join(_describe_row(row) for row in chart.rows)}."
    return _wrap(parts, width, area.bottom + 24 + 18 * len(area.wrap(chart.label)), described, ' class="rows"')


def _find_x_axis(chart: IntervalChart, numbers: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the horizontal axis, so that no mark lies on the frame."""
    low, high = chart.limits or (min(numbers), max(numbers))
    low = min(0.0, low) if chart.filled else low
    space = 0.5 if low == high else 0.0 if chart.filled or chart.limits else 0.04 * (high - low)
    return low - space, high + space


def _break_names(rows: Sequence[Row], width: float) -> tuple[list[list[str]], int]:
    """Return the names of rows in lines that take less than half of a chart, and where they end."""
    letter, least = (_LETTER, 90) if width > _NARROW else (_SMALL, 40)
    letters = int(0.45 * width / letter)
    titles = [spell_parameters(row.title) for row in rows]
    # A narrow chart stands beside others of the same rows, and says the whole name where it is pointed at.
    titles = titles if width > _NARROW else shorten_names(titles, 2 * letters - 2)
    wide = [_BOLD if row.strong else 1.0 for row in rows]
    names = [wrap_text(title, _find_room(title, letters / times)) for title, times in zip(titles, wide, strict=True)]
    longest = max(times * max(map(_count_letters, name)) for name, times in zip(names, wide, strict=True))
    return names, max(least, math.ceil(letter * longest) + 14)


def _draw_name(name: Sequence[str], x: float, y: float, strong: bool) -> list[str]:
    first = y + 4 - 9 * (len(name) - 1)
    return [
        f'<text class="name{" bold" * strong}" x="{x:g}" y="{first + 18 * k:.1f}" text-anchor="end">{to_svg(piece)}</text>'
        for k, piece in enumerate(name)
    ]


_LETTER = 10  # units that a letter takes on a telephone, where letters are larger
_SMALL = 7.5  # the same elsewhere, and in charts that are narrow enough for a telephone
_NARROW = 400
_BOLD = 1.15  # times as wide


def _count_letters(text: str) -> float:
    """Return how wide a text is, in letters of middling width."""
    capitals, wide = sum(map(str.isupper, text)), sum(letter in "WM@%mw" for letter in text)
    return count_columns(text) + 0.25 * capitals + 0.5 * wide


def _find_room(text: str, letters: float) -> int:
    """Return how many columns of a text have room where so many middling letters do."""
    return max(4, int(letters * count_columns(text) / max(_count_letters(text), 1.0)))


def _draw_row(row: Row, area: _Area, y: float, look: Look, filled: bool) -> list[str]:
    if filled and np.isfinite(row.centre):
        x = area.across(row.centre)
        bar = f'<line class="curve band c{look.colour}" x1="{area.left}" x2="{x:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        return [bar, _text(x + 4, y + 4, f"{row.centre:,.0f}", "start")]
    pieces = []
    for interval, kind in ((row.line, "curve"), (row.bar, "curve band")):
        if interval is not None and np.isfinite(interval).all():
            a, b = map(area.across, interval)
            pieces.append(f'<line class="{kind} c{look.colour}" x1="{a:.1f}" x2="{b:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    if np.isfinite(row.centre):
        pieces.append(_mark(area.across(row.centre), y, look, "paper" if row.hollow else ""))
    return pieces


def _describe_row(row: Row) -> str:
    interval = row.line or row.bar
    ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval is not None and np.isfinite(interval).all() else ""
    return f"{row.title} {'–' if np.isnan(row.centre) else f'{row.centre:.3f}'}{ends}"


@draw_chart.register
def _draw_heat_map(chart: HeatMap, width: float = 0) -> str:
    chart, _ = arrange(chart)
    square = not chart.diagonal  # of measures: its columns have the numbers of its rows, whose names may be long
    head = "".join(
        f'<th scope="col" title="{_escape(name)}">{number if square else to_html(name)}</th>'
        for number, name in enumerate(chart.columns, start=1)
    )
    body = []
    for i, name in enumerate(chart.rows):
        cells = [_draw_cell(chart, i, j) for j in range(len(chart.columns))]
        number = f' <span class="place">{i + 1}</span>' if square else ""
        body.append(f'<tr><th scope="row">{to_html(name)}{number}</th>{"".join(cells)}</tr>')
    rows = "\n".join(body)
    dense = len(chart.columns) > _DENSE
    caption = f"<caption>{to_html(chart.label)}</caption>"
    return (
        f'<table class="heat{" dense" * dense}">{caption}\n<thead><tr><td></td>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table>"
    )


_DENSE = 12  # columns from which on numbers lose their zero and are small


def _draw_cell(chart: HeatMap, i: int, j: int) -> str:
    if i == j and not chart.diagonal:
        return "<td></td>"
    value = float(chart.values[i, j])
    background = shade(value / chart.highest, falling=chart.falling)
    text = chart.write(value)
    tip = chart.tips.get((i, j)) or f"{chart.rows[i]}, {chart.columns[j]}: {text}"
    style = "" if math.isnan(value) else f' style="background: {background}; color: {text_colour(background)}"'
    shown = text.replace("0.", ".", 1) if len(chart.columns) > _DENSE else text
    return f'<td{style} title="{_escape_lines(tip)}">{html.escape(shown)}</td>'


@draw_chart.register
def _draw_scatter(chart: ScatterChart, width: float = 242) -> str:
    side, left, top, below = width - 32, 26, 8, 30
    reach_x, reach_y = (max(float(np.abs(values).max()), 1e-12) * 1.05 for values in (chart.x, chart.y))
    area = _Area(left, left + side, top, top + side, (-reach_x, reach_x), (-reach_y, reach_y))
    middle_x, middle_y = area.across(0), area.up(0)
    parts = [
        f'<line class="grid" x1="{left}" x2="{area.right}" y1="{middle_y:.1f}" y2="{middle_y:.1f}"/>',
        f'<line class="grid" x1="{middle_x:.1f}" x2="{middle_x:.1f}" y1="{top}" y2="{area.bottom}"/>',
    ]
    for which, colour in ((~chart.apart, 0), (chart.apart, 1)):
        # Points that fall together are drawn once.
        points = sorted({
            (round(area.across(a), 1), round(area.up(b), 1)) for a, b in zip(chart.x[which], chart.y[which], strict=True)
        })  # fmt: skip
        path = "".join("M{:g} {:g}h0".format(*points[k]) for k in thin(len(points), 4 * MOST_POINTS))
        parts.append(f'<path class="curve dots c{colour}" d="{path}"/>')
    second, fourth = chart.corners
    labels = [shorten_name(label, _find_room(label, side / 7)) for label in (chart.x_label, chart.y_label)]
    parts += [
        f'<text class="name" x="{left + 4}" y="{top + 14}">{second}</text>',
        f'<text class="name" x="{area.right - 4}" y="{area.bottom - 6}" text-anchor="end">{fourth}</text>',
        _text(left + side / 2, area.bottom + 18, labels[0], "middle"),
        _text(14, top + side / 2, labels[1], "middle", turned=True),
    ]
    described = chart.description or f"{chart.y_label} against {chart.x_label}"
    return _wrap(parts, area.right + 6, area.bottom + below, described)


@draw_chart.register
def _draw_surface(chart: Surface, width: float = 420) -> str:
    finite = chart.values[np.isfinite(chart.values)]
    if not len(finite):
        return ""
    reach = max(1e-9, float(np.abs(finite).max()))
    half_x, half_y = (float(ends[1] - ends[0]) / 2 for ends in (chart.x, chart.y))
    area = _Area(
        52, width - 12, 12, 276, (float(chart.x[0]) - half_x, float(chart.x[-1]) + half_x),
        (float(chart.y[0]) - half_y, float(chart.y[-1]) + half_y),
    )  # fmt: skip
    parts = area.draw_y_axis(find_ticks(*area.y_ends, 6), chart.y_label)
    parts += area.draw_x_axis(find_ticks(*area.x_ends, 6), chart.x_label)
    wide, high = area.across(half_x) - area.across(-half_x), area.up(-half_y) - area.up(half_y)
    for (i, j), value in np.ndenumerate(chart.values):
        if np.isfinite(value):
            x, y = area.across(float(chart.x[j]) - half_x), area.up(float(chart.y[i]) + half_y)
            better = chart.names[0] if value > 0 else chart.names[1] if value < 0 else "even"
            tip = f"{chart.x[j]:.2f}, {chart.y[i]:.2f}: {better} {abs(value):.4f}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide + 0.6:.1f}" height="{high + 0.6:.1f}" '
                f'fill="{shade(value / reach)}"><title>{_escape(tip)}</title></rect>'
            )
    for number, name in enumerate(chart.names):
        x = area.right - 130
        parts.append(
            f'<rect x="{x}" y="{14 + 20 * number}" width="12" height="12" fill="{shade(0.8 - 1.6 * number)}"/>'
        )
        parts.append(_text(x + 18, 24 + 20 * number, f"{shorten_name(name, 12)} better", "start"))
    return _wrap(parts, width, 320, chart.description or f"{chart.names[0]} or {chart.names[1]}")


def draw_legend(chart: LineChart) -> str:
    """Return the names of a chart's lines, each with a sample, as a list of HTML."""
    looks = find_looks([line.name for line in chart.lines])
    bold = ("", ' class="bold"')
    items = [
        f"<li{bold[line.strong]}>{draw_sample(looks[line.name], line.strong)} {to_html(line.label)}</li>"
        for line in chart.lines
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def draw_sample(look: Look, strong: bool = False) -> str:
    """Return a short piece of a measure's line, for a legend."""
    return (
        f'<svg width="34" height="10" aria-hidden="true"><line class="curve c{look.colour}{" strong" * strong}" '
        f'x1="0" x2="34" y1="5" y2="5"{_dashes(look)}/>{_mark(17, 5, look)}</svg>'
    )


def make_file(svg: str, signature: str) -> str:
    """Return a chart as a file of its own, with its colours and signature; programs that draw SVG know no variables."""
    colours = dict(re.findall(r"(--\w+): ([^;]+);", write_variables("light")))
    style = re.sub(r"var\((--\w+)\)", lambda variable: colours[variable[1]], STYLE)
    head, _, rest = svg.partition(">")
    described = f"<desc>{_escape(signature)}</desc><style>svg {{ font-family: sans-serif }}\n{style}</style>"
    return f'{head} xmlns="http://www.w3.org/2000/svg">{described}{rest}\n'


def _dash(dash: str) -> str:
    return f' stroke-dasharray="{dash}"' if dash else ""


def _dashes(look: Look) -> str:
    return _dash(DASHES[look.dash])


def _mark(x: float, y: float, look: Look, kind: str = "", tip: str = "") -> str:
    """Return a measure's marker, in its colour, or in that of the page with its colour around it."""
    path, words = marker_path(look.marker), f"<title>{_escape(tip)}</title>" if tip else ""
    return (
        f'<path class="mark c{look.colour} f{look.colour} {kind}" transform="translate({x:.1f} {y:.1f})" d="{path}"'
        + (f">{words}</path>" if words else "/>")
    )


def _text(x: float, y: float, text: str, anchor: str, *, turned: bool = False) -> str:
    turn = f' transform="rotate(-90 {x:g} {y:.1f})"' if turned else ""
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}>{to_svg(text)}</text>'


def _wrap(parts: Sequence[str], width: float, height: float, description: str, attributes: str = "") -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg {size} role="img" aria-label="{_escape(description)}"{attributes}>{"".join(parts)}</svg>'


def _escape(text: str) -> str:
    return html.escape(visible(spell_parameters(text)))


def _escape_lines(text: str) -> str:
    return "&#10;".join(_escape(line) for line in text.split("\n"))
