"""Charts of the report as SVG, written directly: a page is written in the time that one figure takes to be drawn otherwise.

Colours are classes (``c0``, ``c1``, …), so that a page can show them light or dark; a file of its own carries its style.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.errors import visible
from metaeval.show.looks import COLOURS, DASHES, Look, find_looks, marker_path
from metaeval.show.names import to_svg

MOST_POINTS = 400
"""Points of a curve beyond this are thinned, and the caption says so: the screen has no room for more."""

STYLE = """
.grid { stroke: #c9ccd4; stroke-width: .6 } .axis, .alpha { stroke: #575b66; stroke-width: 1 }
.tick { font: 12px sans-serif; fill: #575b66 } .name { font: 12px sans-serif; fill: #1b1b1f }
.curve { fill: none; stroke-width: 1.8 } .strong { stroke-width: 3.4 } .band { stroke-width: 7 }
.dots { stroke-width: 3; stroke-linecap: round; opacity: .55 } .mark { stroke-width: 1.4 }
"""


@dataclass(frozen=True)
class Curve:
    """One line of a chart.

    Parameters
    ----------
    name, title : str
        The name of the measure, which determines its look, and its label.
    x, y : ndarray, shape (point,)
        What is not a number is left out.
    strong : bool, optional
    """

    name: str
    title: str
    x: np.ndarray
    y: np.ndarray
    strong: bool = False


@dataclass(frozen=True)
class Row:
    """One measure of a chart of intervals: a mark at the centre, a thin line and a thick one around it."""

    name: str
    title: str
    centre: float
    line: tuple[float, float]
    bar: tuple[float, float]


def find_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two ends, at most so many.

    Parameters
    ----------
    low, high : float
    most : int, optional

    Returns
    -------
    list of float

    Examples
    --------
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


def thin(points: int, most: int = MOST_POINTS) -> np.ndarray:
    """Return which of so many points are drawn: all, or evenly spaced ones with the first and the last among them.

    Parameters
    ----------
    points : int
    most : int, optional

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> thin(3).tolist(), thin(1001, most=5).tolist()
    ([0, 1, 2], [0, 250, 500, 750, 1000])
    """
    if points <= most:
        return np.arange(points)
    return np.unique(np.round(np.linspace(0, points - 1, most)).astype(int))


def draw_rows(rows: Sequence[Row], label: str, *, limits: tuple[float, float] | None = None, title: str = "") -> str:
    """Draw one row per measure: a mark with a thin and a thick line around it, the first row on top.

    Parameters
    ----------
    rows : sequence of Row
    label : str
        Of the horizontal axis.
    limits : (float, float), optional
        Ends of the axis; by default those of the rows.
    title : str
        What the chart shows, for those who cannot see it.

    Returns
    -------
    str
        SVG.
    """
    looks = find_looks([row.name for row in rows])
    left, right, step, top = 150, 20, 22, 8
    width, floor = 560, top + step * len(rows)
    low, high = limits or (min(row.line[0] for row in rows), max(row.line[1] for row in rows))
    low, high = (low - 0.5, high + 0.5) if low == high else (low, high)

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - right)

    parts = _x_axis(find_ticks(low, high, 8), place, top, floor, label, (left + width - right) / 2)
    for number, row in enumerate(rows):
        y = top + step * (number + 0.5)
        shade = f"c{looks[row.name].colour}"
        parts.append(f'<text class="name" x="{left - 10}" y="{y + 4:.1f}" text-anchor="end">{to_svg(row.title)}</text>')
        for ends, kind in ((row.line, "curve"), (row.bar, "curve band")):
            a, b = map(place, ends)
            parts.append(f'<line class="{kind} {shade}" x1="{a:.1f}" x2="{b:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_mark(place(row.centre), y, looks[row.name], "paper"))
    return _wrap(parts, width, floor + 40, title, kind="rows")


def draw_curves(
    curves: Sequence[Curve],
    x_label: str,
    y_label: str,
    *,
    log: bool = False,
    ticks: Sequence[float] = (),
    title: str = "",
) -> str:
    """Draw one curve per measure.

    Parameters
    ----------
    curves : sequence of Curve
    x_label, y_label : str
    log : bool, optional
        Whether the horizontal axis is logarithmic.
    ticks : sequence of float, optional
        Of the horizontal axis; those that would collide are left out.
    title : str
        What the chart shows, for those who cannot see it.

    Returns
    -------
    str
        SVG; empty if there is nothing to draw.
    """
    known = [np.isfinite(one.y) for one in curves]
    if not any(one.any() for one in known):
        return ""
    looks = find_looks([one.name for one in curves])
    width, height, left, right, top, bottom = 420, 280, 48, 12, 12, 44
    xs = np.concatenate([one.x[kept] for one, kept in zip(curves, known, strict=True)])
    ys = np.concatenate([one.y[kept] for one, kept in zip(curves, known, strict=True)])
    y_ticks = find_ticks(min(0.0, float(ys.min())), max(float(ys.max()), 1e-9), 6)
    step = y_ticks[1] - y_ticks[0] if len(y_ticks) > 1 else 1.0
    y_ticks += [round(y_ticks[-1] + step, 12)] * bool(y_ticks[-1] < ys.max())  # the axis ends at a round number
    low, high = min(y_ticks[0], float(ys.min())), y_ticks[-1]

    def across(value: float) -> float:
        first, last, here = (math.log(v) if log else v for v in (float(xs.min()), float(xs.max()), float(value)))
        return left + (here - first) / ((last - first) or 1) * (width - left - right)

    def up(value: float) -> float:
        return top + (high - value) / ((high - low) or 1) * (height - top - bottom)

    shown: list[float] = []
    for tick in ticks:
        if not shown or across(tick) - across(shown[-1]) >= 28:
            shown.append(tick)
    parts = _x_axis(shown, across, top, height - bottom, x_label, (left + width - right) / 2, lines=False)
    parts += _y_axis(y_ticks, up, left, width - right, y_label)
    for one, kept in zip(curves, known, strict=True):
        points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in zip(one.x[kept], one.y[kept], strict=True))
        look = looks[one.name]
        parts.append(
            f'<polyline class="curve c{look.colour}{" strong" * one.strong}" points="{points}"{_dashes(look)}/>'
        )
        parts += [_mark(across(x), up(y), look) for x, y in zip(one.x[kept], one.y[kept], strict=True)]
    return _wrap(parts, width, height, title)


def draw_power(
    curves: Sequence[Curve], alpha: float, ceiling: float, x_label: str, *, title: str = ""
) -> tuple[str, dict[str, float]]:
    """Draw p-values of pairs of runs in descending order, up to a ceiling, with a line at α.

    Parameters
    ----------
    curves : sequence of Curve
        All of the same x.
    alpha, ceiling : float
    x_label : str
    title : str
        What the chart shows, for those who cannot see it.

    Returns
    -------
    str
        SVG, with a hidden line that scripts move.
    dict of str to float
        Where the axis begins (left), and how far it reaches (span), in units of the drawing.
    """
    looks = find_looks([one.name for one in curves])
    width, height, left, right, top, bottom = 640, 320, 52, 10, 12, 44
    x = curves[0].x
    span = width - left - right
    first, last = float(x[0]), float(x[-1])

    def across(value: float) -> float:
        return left + (value - first) / ((last - first) or 1) * span

    def up(value: float) -> float:
        return top + (1 - value / ceiling) * (height - top - bottom)

    floor = height - bottom
    ticks = [tick for tick in find_ticks(first, last, 7) if tick == int(tick)]
    parts = _y_axis(find_ticks(0, ceiling, 6), up, left, width - right, "p-value")
    parts += _x_axis(ticks, across, top, floor, x_label, (left + width - right) / 2, lines=False)
    parts.append(
        f'<line class="alpha" x1="{left}" x2="{width - right}" y1="{up(alpha):.1f}" y2="{up(alpha):.1f}"/>'
        f'<text class="tick" x="{width - right - 2}" y="{up(alpha) - 5:.1f}" text-anchor="end">α = {alpha:g}</text>'
    )
    for number, one in enumerate(curves):
        look = looks[one.name]
        xs, ys = _cut_off(one.x, one.y, ceiling)
        points = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(xs, ys, strict=True))
        seen = np.flatnonzero(ys > 0)
        marked = seen[len(seen) // 8 :: max(1, len(seen) // 3)]
        parts.append(
            f'<g data-curve="{number}"><polyline class="curve c{look.colour}{" strong" * one.strong}" points="{points}"'
            f"{_dashes(look)}/>{''.join(_mark(across(xs[k]), up(ys[k]), look) for k in marked)}</g>"
        )
    parts.append(f'<line class="cursor" x1="0" x2="0" y1="{top}" y2="{floor}" visibility="hidden"/>')
    return _wrap(parts, width, height, title, focus=True), {"left": left, "span": span}


def _cut_off(x: np.ndarray, p: np.ndarray, ceiling: float) -> tuple[np.ndarray, np.ndarray]:
    """Begin a falling curve where it comes down to the ceiling."""
    above = int((p > ceiling).sum())
    if not 0 < above < len(p):
        return x[above:], p[above:]
    share = (p[above - 1] - ceiling) / (p[above - 1] - p[above])
    enters = x[above - 1] + share * (x[above] - x[above - 1])
    return np.append(enters, x[above:]), np.append(ceiling, p[above:])


def _dashes(look: Look) -> str:
    return f' stroke-dasharray="{DASHES[look.dash]}"' if DASHES[look.dash] else ""


def _mark(x: float, y: float, look: Look, kind: str = "") -> str:
    """Return a measure's marker at a place, in its colour, or in that of the page with its colour around it."""
    path = marker_path(look.marker)
    return (
        f'<path class="mark c{look.colour} f{look.colour} {kind}" transform="translate({x:.1f} {y:.1f})" d="{path}"/>'
    )


def draw_sample(look: Look, strong: bool = False) -> str:
    """Return a short piece of a measure's line, for a legend."""
    return (
        f'<svg width="34" height="10" aria-hidden="true"><line class="curve c{look.colour}{" strong" * strong}" '
        f'x1="0" x2="34" y1="5" y2="5"{_dashes(look)}/>{_mark(17, 5, look)}</svg>'
    )


def draw_scatter(x: np.ndarray, y: np.ndarray, x_label: str, y_label: str, *, title: str = "") -> str:
    """Draw points around zero, those in the second and fourth quadrants in another colour, with their numbers.

    Parameters
    ----------
    x, y : ndarray, shape (point,)
    x_label, y_label : str
    title : str
        What the chart shows, for those who cannot see it.

    Returns
    -------
    str
        SVG.
    """
    side, left, top, bottom = 210, 26, 8, 30
    reach_x, reach_y = (max(float(np.abs(one).max()), 1e-12) * 1.05 for one in (x, y))
    width = left + side

    def place(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return left + (a / reach_x + 1) / 2 * side, top + (1 - b / reach_y) / 2 * side

    (middle_x,), (middle_y,) = place(np.zeros(1), np.zeros(1))
    parts = [
        f'<line class="grid" x1="{left}" x2="{width}" y1="{middle_y:.1f}" y2="{middle_y:.1f}"/>',
        f'<line class="grid" x1="{middle_x:.1f}" x2="{middle_x:.1f}" y1="{top}" y2="{top + side}"/>',
    ]
    apart = x * y < 0
    for which, shade in ((~apart, 0), (apart, 1)):
        # Points of the same place are drawn once.
        there = sorted({(round(a, 1), round(b, 1)) for a, b in zip(*place(x[which], y[which]), strict=True)})
        path = "".join(f"M{a:g} {b:g}h0" for a, b in (there[place] for place in thin(len(there), 4 * MOST_POINTS)))
        parts.append(f'<path class="curve dots c{shade}" d="{path}"/>')
    for count, (a, b), anchor in (
        (int(((x < 0) & (y > 0)).sum()), (left + 4, top + 14), "start"),
        (int(((x > 0) & (y < 0)).sum()), (width - 4, top + side - 6), "end"),
    ):
        parts.append(f'<text class="name" x="{a}" y="{b}" text-anchor="{anchor}">{count}</text>')
    parts.append(
        f'<text class="tick" x="{left + side / 2}" y="{top + side + 18}" text-anchor="middle">{to_svg(x_label)}</text>'
        f'<text class="tick" x="14" y="{top + side / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {top + side / 2})">{to_svg(y_label)}</text>'
    )
    return _wrap(parts, width + 6, top + side + bottom, title)


def make_file(svg: str, signature: str) -> str:
    """Return a chart as a file of its own, with its colours and signature.

    Parameters
    ----------
    svg : str
        As the functions above return it.
    signature : str

    Returns
    -------
    str
    """
    rule = ".c{0} {{ stroke: {1} }} path.f{0} {{ fill: {1} }} "
    colours = "".join(rule.format(number, light) for number, (light, _) in enumerate(COLOURS))
    head, _, rest = svg.partition(">")
    own = f"<desc>{_escape(signature)}</desc><style>{STYLE}{colours}path.paper.mark {{ fill: #fff }}</style>"
    return f'{head} xmlns="http://www.w3.org/2000/svg">{own}{rest}\n'


def _wrap(parts: Sequence[str], width: float, height: float, title: str, *, focus: bool = False, kind: str = "") -> str:
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    more = (' tabindex="0"' if focus else "") + (f' class="{kind}"' if kind else "")
    return f'<svg {size} role="img" aria-label="{_escape(title)}"{more}>{"".join(parts)}</svg>'


def _x_axis(
    ticks: Sequence[float], place: Callable[[float], float], top: float, floor: float, label: str, middle: float,
    *, lines: bool = True,
) -> list[str]:  # fmt: skip
    parts = []
    for tick in ticks:
        x = place(tick)
        if lines:
            parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{floor + 16}" text-anchor="middle">{tick:g}</text>')
    return [*parts, f'<text class="tick" x="{middle:g}" y="{floor + 34}" text-anchor="middle">{to_svg(label)}</text>']


def _y_axis(
    ticks: Sequence[float], place: Callable[[float], float], left: float, right: float, label: str
) -> list[str]:
    parts = []
    for tick in ticks:
        y = place(tick)
        parts.append(
            f'<line class="grid" x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    middle = (place(ticks[0]) + place(ticks[-1])) / 2
    return [
        *parts,
        f'<text class="tick" x="12" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 12 {middle:.1f})">'
        f"{to_svg(label)}</text>",
    ]


def _escape(text: str) -> str:
    return html.escape(visible(text))
