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

from metaeval.analyses.power_result import DiscriminativePower
from metaeval.show.cells import NOTHING, format_p
from metaeval.show.charts import HeatMap, highlight_lines, thin_chart
from metaeval.show.looks import css_variables, find_looks
from metaeval.show.names import TITLES, to_html
from metaeval.show.screen import STYLE, draw_chart, draw_sample
from metaeval.show.table import Table, flat_label

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Block:
    """Something in a section."""

    kind: str
    content: dict[str, Any]
    files: tuple[tuple[str, str], ...] = ()
    folded: str = ""

    def link(self, *files: tuple[str, str]) -> Block:
        """Return the block with links to files."""
        return replace(self, files=(*self.files, *files))


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    anchor: str
    title: str
    text: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    parts: tuple[Section, ...] = field(default=())
    doubts: tuple[str, ...] = ()
    collection: int = 0


@dataclass(frozen=True)
class Page:
    """What a page shows."""

    title: str
    lead: str
    sections: tuple[Section, ...]
    collections: tuple[str, ...]
    signature: str

    def render(self) -> str:
        """Return the page as HTML."""
        template = _templates().get_template("page.html")
        return template.render(
            page=self, light=css_variables("light"), dark=css_variables("dark"), style=STYLE,
            signatures=self._collect_signatures(),
        )  # fmt: skip

    def _collect_signatures(self) -> dict[str, None]:
        """Return every signature once: that of the whole, and those of tables and figures."""
        blocks = [b for section in self.sections for inside in (section, *section.parts) for b in inside.blocks]
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
    """Return a sortable table, without columns in which no cell says anything; measures have their titles."""
    cells = table.list_cells(titles=True)
    n_labels, frame = cells.labels, table.frame
    values = [[_plain(value) for value in frame.iloc[:, c].tolist()] for c in range(frame.shape[1])]
    numeric = [any(_is_number(value) for value in column) for column in values]
    shown = [c for c in range(frame.shape[1]) if any(row[n_labels + c] not in (NOTHING, "") for row in cells.rows)]
    rows = []
    for r, (label, texts) in enumerate(zip(frame.index, cells.rows, strict=True)):
        parts = list(map(str, label)) if isinstance(label, tuple) else [str(label)]
        labels = [
            {"text": TITLES.get(part, part), "sort": part, "head": i == 0, "classes": "words"}
            for i, part in enumerate(parts)
        ]
        numbers = [
            {
                "text": texts[n_labels + c],
                "sort": _sortable(values[c][r]),
                "head": False,
                "classes": " ".join(
                    ["number" if numeric[c] else "words"]
                    + [mark.replace(" ", "-") for mark in cells.list_marks(r, n_labels + c) if mark]
                ),
            }
            for c in shown
        ]
        rows.append({"cells": labels + numbers, "new": parts[0] in highlight})
    head = [str(name or "") for name in frame.index.names] + [flat_label(frame.columns[c]) for c in shown]
    columns = [{"label": TITLES.get(label, label), "link": (links or {}).get(label, "")} for label in head]
    content = {"caption": table.whole_caption, "signature": str(table.signature), "columns": columns, "rows": rows}
    return Block("table", content, folded=folded)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sortable(value: object) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    return repr(value) if isinstance(value, int | float) else "" if value is None else str(value)


def curves_block(power: DiscriminativePower, highlight: Sequence[str] = ()) -> Block:
    """Return discriminative power curves that can be hovered, and moved along with the arrow keys."""
    (whole,) = power.charts()
    chart, n_points = thin_chart(highlight_lines(whole, highlight))
    looks = find_looks([line.name for line in chart.lines])
    title = f"Discriminative power curves, {power.collection or 'scores'}"
    counts = ", ".join(f"{line.title} finds {line.count:,} significant pairs" for line in chart.lines)
    keys = "Left and right arrow keys read the p-values."
    svg = draw_chart(replace(chart, description=f"{title}: {counts}. {keys}"), 640)
    lines = [
        {"label": line.title, "found": f"{line.count:,}", "sample": draw_sample(looks[line.name], line.strong)}
        for line in chart.lines
    ]
    data = {
        "pairs": chart.lines[0].x.tolist(),
        "lines": [
            {"label": line.title, "p": [format_p(float(p), power.n_permutations) for p in line.y]}
            for line in chart.lines
        ],
    }
    n_drawn = len(chart.lines[0].x)
    drawn = "" if n_drawn == n_points else f" Drawn through {n_drawn:,} of {n_points:,} pairs."
    caption = f"{title}, by {power.test}. The nearer to the left, the more significant differences.{drawn}"
    content = {"caption": caption, "signature": str(power.signature), "svg": svg, "lines": lines, "data": data}
    return Block("curves", content)


def figure_block(charts: Sequence[str], caption: str, signature: str, legend: str = "") -> Block:
    """Return charts, as SVG, side by side under one caption, with a legend of measures."""
    return Block("figure", {"charts": list(charts), "caption": caption, "signature": signature, "legend": legend})


def rules_block(rules: Mapping[str, str], folded: str = "") -> Block:
    """Return a list of names and what they mean."""
    return Block("rules", {"rules": list(rules.items())}, folded=folded)


def heatmap_block(chart: HeatMap, signature: str) -> Block:
    """Return a coloured square of numbers, each saying more when hovered."""
    return Block("heatmap", {"caption": chart.label, "signature": signature, "table": draw_chart(chart)})
