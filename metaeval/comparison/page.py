"""A page of one's own: sections of text, sortable tables, hoverable curves and heatmaps in one HTML file.

The file opens from disk, asks for nothing from outside, and is drawn without scripts too; scripts add sorting,
hovering and the choice of light or dark. Every text that comes from data is escaped.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.show.style import choose_looks, palette
from metaeval.show.table import Table, flat_label, format_cell, format_p

if TYPE_CHECKING:
    from pathlib import Path

    from jinja2 import Environment


@dataclass(frozen=True)
class Block:
    """Something in a section.

    Parameters
    ----------
    kind : {"table", "curves", "heatmap", "picture"}
        Which part of the template draws it.
    content : dict
        What that part needs.
    """

    kind: str
    content: dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading.

    Parameters
    ----------
    anchor : str
        What links point to.
    title : str
    text : tuple of str
        Paragraphs.
    blocks : tuple of Block
    parts : tuple of Section
        Sections inside it.
    """

    anchor: str
    title: str
    text: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    parts: tuple[Section, ...] = field(default=())


def page(title: str, lead: str, sections: Sequence[Section], signature: str) -> str:
    """Return a whole HTML page.

    Parameters
    ----------
    title, lead : str
        The heading, and a sentence below it.
    sections : sequence of Section
    signature : str
        What stands at the foot.

    Returns
    -------
    str
    """
    shades = [{"light": light, "dark": dark} for light, dark in palette()]
    return (
        _templates()
        .get_template("page.html")
        .render(title=title, lead=lead, sections=sections, signature=signature, shades=shades)
    )


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("metaeval.comparison", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def table_block(table: Table, *, links: dict[str, str] | None = None, highlight: Sequence[str] = ()) -> Block:
    """Return a sortable table.

    Parameters
    ----------
    table : Table
    links : dict of str to str, optional
        Anchors by column label: where the evidence of a column is.
    highlight : sequence of str, optional
        Row labels that stand out.

    Returns
    -------
    Block
    """
    words = table.marks(table.frame) if table.marks is not None else None
    head = [str(name or "") for name in table.frame.index.names] + [flat_label(c) for c in table.frame.columns]
    n_index = table.frame.index.nlevels
    rows = []
    for r in range(len(table.frame)):
        label = table.frame.index[r]
        cells = [
            {"text": str(part), "sort": str(part), "head": i == 0, "classes": "words"}
            for i, part in enumerate(label if isinstance(label, tuple) else (label,))
        ]
        for c, column in enumerate(table.frame.columns):
            value = table.frame.iat[r, c]
            digits = table.digits if isinstance(table.digits, int) else table.digits.get(column, 3)
            number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            said = [] if words is None else [word.strip().replace(" ", "-") for word in str(words.iat[r, c]).split(",")]
            classes = " ".join(["number" if number else "words", *filter(None, said)])
            value = value.item() if isinstance(value, np.generic) else value
            cells.append(
                {"text": format_cell(value, digits), "sort": _sortable(value), "head": False, "classes": classes}
            )
        rows.append({"cells": cells, "new": str(cells[0]["text"]) in highlight})
    columns = [{"label": label, "link": (links or {}).get(label, "")} for label in head]
    content = {
        "caption": table.caption,
        "signature": str(table.signature),
        "columns": columns,
        "n_index": n_index,
        "rows": rows,
    }
    return Block("table", content)


def _sortable(value: object) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    return repr(value) if isinstance(value, int | float) else "" if value is None else str(value)


def curves_block(power: DiscriminativePower, highlight: Sequence[str] = ()) -> Block:
    """Return discriminative power curves that can be hovered, and moved along with the arrow keys.

    Parameters
    ----------
    power : DiscriminativePower
    highlight : sequence of str, optional
        Measures drawn stronger.

    Returns
    -------
    Block
    """
    curve = power.curve()
    width, height, left, bottom, top = 640, 320, 52, 44, 12
    ceiling = min(1.0, max(0.2, 4 * power.alpha))
    inside = np.flatnonzero((curve.to_numpy() <= ceiling).any(axis=1))
    start = int(inside[0]) if len(inside) else 0
    start = min(start, max(0, len(curve) - 2))
    shown = curve.iloc[start:]
    across = (width - left - 10) / max(1, len(shown) - 1)
    names = list(curve.columns)
    style = choose_looks(names)
    shades = [light for light, _ in palette()]
    lines: list[dict[str, Any]] = []
    for position, name in enumerate(names):
        p = shown[name].to_numpy()
        x, y = _cut_off(left + across * np.arange(len(p)), p, ceiling)
        y = top + (1 - y / ceiling) * (height - top - bottom)
        points = " ".join(f"{one:.1f},{other:.1f}" for one, other in zip(x, y, strict=True))
        found = int((power.p_values[position] <= power.alpha).sum())
        dash = {"-": "", "--": "7 4", "-.": "7 3 2 3", ":": "2 3"}[str(style[name]["linestyle"])]
        lines.append(
            {
                "label": power.measures[position].title,
                "points": points,
                "shade": shades.index(str(style[name]["color"])),
                "dash": dash,
                "found": found,
                "strong": name in highlight,
                "p": [format_p(float(value), power.n_permutations) for value in p],
            }
        )
    lines.sort(key=lambda line: -line["found"])
    ticks = [round(ceiling * part / 4, 4) for part in range(5)]
    x_ticks = sorted({0, (len(shown) - 1) // 2, len(shown) - 1})
    scale = height - top - bottom
    content = {
        "title": f"Discriminative power curves, {power.collection or 'scores'}",
        "signature": str(power.signature),
        "width": width,
        "height": height,
        "left": left,
        "top": top,
        "floor": height - bottom,
        "across": across,
        "first": start + 1,
        "lines": lines,
        "alpha": power.alpha,
        "alpha_y": top + (1 - power.alpha / ceiling) * scale,
        "y_ticks": [{"at": top + (1 - tick / ceiling) * scale, "label": f"{tick:g}"} for tick in ticks],
        "x_ticks": [{"at": left + tick * across, "label": str(start + 1 + tick)} for tick in x_ticks],
        "data": {"first": start + 1, "left": left, "across": across, "lines": _for_hover(lines)},
    }
    return Block("curves", content)


def _cut_off(x: np.ndarray, p: np.ndarray, ceiling: float) -> tuple[np.ndarray, np.ndarray]:
    """Begin a falling curve where it comes down to the ceiling."""
    above = int((p > ceiling).sum())
    if not 0 < above < len(p):
        return x[above:], p[above:]
    share = (p[above - 1] - ceiling) / (p[above - 1] - p[above])
    enters = x[above - 1] + share * (x[above] - x[above - 1])
    return np.append(enters, x[above:]), np.append(ceiling, p[above:])


def rules_block(rules: dict[str, str]) -> Block:
    """Return a list of names and what they mean.

    Parameters
    ----------
    rules : dict of str to str

    Returns
    -------
    Block
    """
    return Block("rules", {"rules": list(rules.items())})


def _for_hover(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"label": line["label"], "p": line["p"]} for line in lines]


def heatmap_block(
    square: pd.DataFrame, title: str, signature: str, tips: dict[tuple[int, int], str], digits: int = 2
) -> Block:
    """Return a coloured square of numbers between −1 and 1, each saying more when hovered.

    Parameters
    ----------
    square : DataFrame, shape (measure, measure)
    title, signature : str
    tips : dict
        What is said of row i and column j.
    digits : int, optional

    Returns
    -------
    Block
    """
    names = [str(label) for label in square.index]
    rows = []
    for i, name in enumerate(names):
        cells = []
        for j in range(len(names)):
            value = float(square.to_numpy()[i, j])
            background, dark = _shade(value)
            cells.append(
                {
                    "text": "" if i == j else format_cell(value, digits),
                    "background": "transparent" if i == j else background,
                    "dark": dark,
                    "tip": tips.get((i, j), ""),
                }
            )
        rows.append({"label": name, "cells": cells})
    return Block("heatmap", {"title": title, "signature": signature, "names": names, "rows": rows})


def _shade(value: float) -> tuple[str, bool]:
    """Return a colour from orange (−1) over white to blue (1), and whether white text is needed on it."""
    if math.isnan(value):
        return "transparent", False
    ends = {1: (8, 81, 156), -1: (166, 54, 3)}
    strength = min(1.0, abs(value)) ** 1.5
    end = ends[1 if value >= 0 else -1]
    red, green, blue = (round(255 + (part - 255) * strength) for part in end)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (red / 255, green / 255, blue / 255)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # Black and white are equally legible where the luminance is 0.179 (WCAG 2's contrast ratio).
    return f"rgb({red},{green},{blue})", luminance < 0.179


def picture_block(picture: Path, alt: str) -> Block:
    """Return a picture that becomes a part of the page.

    Parameters
    ----------
    picture : Path
        An SVG or PNG file.
    alt : str
        What it shows, for those who cannot see it.

    Returns
    -------
    Block
    """
    kind = "svg+xml" if picture.suffix == ".svg" else "png"
    content = base64.b64encode(picture.read_bytes()).decode()
    return Block("picture", {"source": f"data:image/{kind};base64,{content}", "alt": alt})
