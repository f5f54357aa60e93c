"""A page of one's own: an answer, sections of sortable tables, curves and heat maps in one HTML file.

The file opens from disk, asks for nothing from outside, and can be read without scripts; scripts add sorting, hovering,
the choice of a collection, of curves, and of light or dark. Every text that comes from data is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.comparison.charts import Curve, draw_power, draw_sample, thin
from metaeval.show.colours import shade, text_colour
from metaeval.show.looks import COLOURS, css_variables, find_looks
from metaeval.show.names import TITLES, to_html
from metaeval.show.table import Table, flat_label, format_cell, format_p

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Block:
    """Something in a section.

    Parameters
    ----------
    kind : {"table", "curves", "heatmap", "figure", "rules"}
        Which part of the template draws it.
    content : dict
        What that part needs; its ``signature``, if it has one, stands at the foot of the page.
    files : tuple of (str, str)
        What a link to a file says, and where the file is.
    folded : str
        What the reader opens to see the block; shown at once if empty.
    """

    kind: str
    content: dict[str, Any]
    files: tuple[tuple[str, str], ...] = ()
    folded: str = ""

    def link(self, *files: tuple[str, str]) -> Block:
        """Return the block with links to files."""
        return replace(self, files=(*self.files, *files))


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
    doubts : tuple of str
        When not to trust it.
    collection : int
        The number of the collection that it is about, from 1; 0 for no single one.
    """

    anchor: str
    title: str
    text: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    parts: tuple[Section, ...] = field(default=())
    doubts: tuple[str, ...] = ()
    collection: int = 0


@dataclass(frozen=True)
class Page:
    """What a page shows.

    Parameters
    ----------
    title, lead : str
        The heading, and a sentence below it.
    sections : tuple of Section
    collections : tuple of str
        Among which the reader chooses, if there are several.
    signature : str
        Of the whole.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    collections: tuple[str, ...]
    signature: str

    def render(self) -> str:
        """Return the page as HTML."""
        template = _templates().get_template("page.html")
        return template.render(
            page=self, light=css_variables("light"), dark=css_variables("dark"), n_colours=len(COLOURS),
            signatures=self._collect_signatures(),
        )  # fmt: skip

    def _collect_signatures(self) -> dict[str, None]:
        """Return every signature once: that of the whole, and those of tables and figures."""
        blocks = [b for one in self.sections for inside in (one, *one.parts) for b in inside.blocks]
        return dict.fromkeys(
            [self.signature, *(str(b.content["signature"]) for b in blocks if b.content.get("signature"))]
        )


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("metaeval.comparison", "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["typeset"] = lambda text: Markup(to_html(str(text)))  # noqa: S704  (it escapes)
    return made


def table_block(
    table: Table, *, links: Mapping[str, str] | None = None, highlight: Sequence[str] = (), folded: str = ""
) -> Block:
    """Return a sortable table, without columns in which no cell says anything; measures have their titles.

    Parameters
    ----------
    table : Table
    links : mapping of str to str, optional
        Anchors by column label: where the evidence of a column is.
    highlight : sequence of str, optional
        Row labels that stand out.
    folded : str, optional
        What the reader opens to see it.

    Returns
    -------
    Block
    """
    words = None if table.marks is None else table.marks(table.frame).to_numpy()
    frame = table.frame
    values = {c: [_plain(value) for value in frame.iloc[:, c].tolist()] for c in range(frame.shape[1])}
    digits = {c: _digits(table, frame.columns[c]) for c in values}
    texts = {c: [format_cell(value, digits[c]) for value in column] for c, column in values.items()}
    numeric = {c for c, column in values.items() if any(_is_number(value) for value in column)}
    kept = [c for c, column in texts.items() if any(text not in ("–", "") for text in column)]
    labels = [label if isinstance(label, tuple) else (label,) for label in frame.index]
    measures = {c for c, label in enumerate(frame.columns) if str(label).startswith("measure")}
    texts |= {c: [TITLES.get(text, text) for text in texts[c]] for c in measures}
    rows = []
    for r, label in enumerate(labels):
        cells = [
            {"text": TITLES.get(part, part), "sort": part, "head": i == 0, "classes": "words"}
            for i, part in enumerate(map(str, label))
        ]
        for c in kept:
            value = values[c][r]
            said = [] if words is None else [word.strip().replace(" ", "-") for word in str(words[r, c]).split(",")]
            classes = " ".join(["number" if c in numeric else "words", *filter(None, said)])
            cells.append({"text": texts[c][r], "sort": _sortable(value), "head": False, "classes": classes})
        rows.append({"cells": cells, "new": cells[0]["sort"] in highlight})
    head = [str(name or "") for name in frame.index.names] + [flat_label(frame.columns[c]) for c in kept]
    columns = [{"label": TITLES.get(label, label), "link": (links or {}).get(label, "")} for label in head]
    content = {"caption": table.caption, "signature": str(table.signature), "columns": columns, "rows": rows}
    return Block("table", content, folded=folded)


def _digits(table: Table, column: object) -> int:
    return table.digits if isinstance(table.digits, int) else table.digits.get(column, 3)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
    ordered = -np.sort(-power.p_values, axis=1)
    n_pairs = ordered.shape[1]
    ceiling = min(1.0, max(0.2, 4 * power.alpha))
    inside = np.flatnonzero((ordered <= ceiling).any(axis=0))
    start = min(int(inside[0]) if len(inside) else 0, max(0, n_pairs - 2))
    shown = start + thin(n_pairs - start)
    names = [str(one) for one in power.measures]
    found = power.significant.sum(axis=1).tolist()
    order = sorted(range(len(names)), key=lambda m: -found[m])
    curves = [
        Curve(names[m], power.measures[m].title, 1.0 + shown, ordered[m, shown], names[m] in highlight) for m in order
    ]
    said = ", ".join(f"{power.measures[m].title} finds {found[m]:,} significant pairs" for m in order)
    title = f"Discriminative power curves, {power.collection or 'scores'}"
    label = "run pairs, by p-value from large to small"
    keys = "Left and right arrow keys read the p-values."
    svg, place = draw_power(curves, power.alpha, ceiling, label, title=f"{title}: {said}. {keys}")
    looks = find_looks(names)
    lines = [
        {"label": one.title, "found": f"{found[m]:,}", "sample": draw_sample(looks[one.name], one.strong)}
        for m, one in zip(order, curves, strict=True)
    ]
    data = {
        **place,
        "pairs": (1 + shown).tolist(),
        "lines": [
            {"label": one.title, "p": [format_p(float(p), power.n_permutations) for p in one.y]} for one in curves
        ],
    }
    drawn = "" if len(shown) == n_pairs - start else f" Drawn through {len(shown):,} of {n_pairs - start:,} pairs."
    caption = f"{title}, by {power.test}. The nearer to the left, the more significant differences.{drawn}"
    content = {"caption": caption, "signature": str(power.signature), "svg": svg, "lines": lines, "data": data}
    return Block("curves", content)


def figure_block(charts: Sequence[str], caption: str, signature: str, names: Sequence[str] = ()) -> Block:
    """Return charts side by side under one caption, with a legend of measures.

    Parameters
    ----------
    charts : sequence of str
        SVG, escaped.
    caption, signature : str
    names : sequence of str, optional
        Measures in the legend.

    Returns
    -------
    Block
    """
    looks = find_looks(list(names))
    legend = [{"label": TITLES.get(name, name), "sample": draw_sample(look)} for name, look in looks.items()]
    return Block("figure", {"charts": list(charts), "caption": caption, "signature": signature, "lines": legend})


def rules_block(rules: Mapping[str, str], folded: str = "") -> Block:
    """Return a list of names and what they mean.

    Parameters
    ----------
    rules : mapping of str to str
    folded : str, optional
        What the reader opens to see it.

    Returns
    -------
    Block
    """
    return Block("rules", {"rules": list(rules.items())}, folded=folded)


def heatmap_block(
    square: pd.DataFrame, title: str, signature: str, tips: Mapping[tuple[int, int], str], digits: int = 2
) -> Block:
    """Return a coloured square of numbers between −1 and 1, each saying more when hovered.

    Parameters
    ----------
    square : DataFrame, shape (measure, measure)
    title, signature : str
    tips : mapping
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
            background = shade(value)
            cells.append(
                {
                    "text": "" if i == j else format_cell(value, digits),
                    "background": "transparent" if i == j or math.isnan(value) else background,
                    "dark": not math.isnan(value) and text_colour(background) == "#FFFFFF",
                    "tip": tips.get((i, j), ""),
                }
            )
        rows.append({"label": name, "cells": cells})
    return Block("heatmap", {"caption": title, "signature": signature, "names": names, "rows": rows})
