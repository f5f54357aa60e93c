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

from metaeval.analyses.power import DiscriminativePower
from metaeval.comparison.definitions import define
from metaeval.show.cells import NOTHING, Cells, format_p
from metaeval.show.charts import HeatMap, IntervalChart, highlight, thin_chart
from metaeval.show.looks import css_variables, find_looks
from metaeval.show.names import TITLES, count_columns, to_html
from metaeval.show.screen import STYLE, draw_chart, draw_sample
from metaeval.show.table import Table, flat_label

if TYPE_CHECKING:
    from jinja2 import Environment

    from metaeval.comparison.answer import Answer


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
    table: Table,
    *,
    links: Mapping[str, str] | None = None,
    highlight: Sequence[str] = (),
    folded: str = "",
    definitions: Mapping[str, str] | None = None,
) -> Block:
    """Return a sortable table, without columns in which no cell says anything; measures have their titles.

    `links` are what a reader may look up and where it stands; `definitions` say what columns mean that are not known.
    """
    cells, frame = table.list_cells(titles=True), table.frame
    shown = [c for c in range(frame.shape[1]) if any(row[cells.labels + c] not in (NOTHING, "") for row in cells.rows)]
    columns = [_list_cells(cells, frame, c) for c in shown]
    labels = [list(map(str, label)) if isinstance(label, tuple) else [str(label)] for label in frame.index]
    named = [
        [
            {"text": TITLES.get(parts[i], parts[i]), "sort": parts[i], "head": i == 0, "classes": "words"}
            for parts in labels
        ]
        for i in range(cells.labels)
    ]
    rows = [
        {"cells": texts, "new": parts[0] in highlight}
        for texts, parts in zip(zip(*named, *columns, strict=True), labels, strict=True)
    ]
    head = [str(name or "") for name in frame.index.names] + [flat_label(frame.columns[c]) for c in shown]
    heads = [
        _describe_heading(label, column, (definitions or {}).get(label) or define(label), names=c < cells.labels)
        for c, (label, column) in enumerate(zip(head, [*named, *columns], strict=True))
    ]
    in_print = min(_PRINTED, _PAGE / sum(0.72 * each["printed"] + 1 for each in heads))
    content = {
        "caption": table.whole_caption, "signature": str(table.signature), "columns": heads, "rows": rows,
        "links": list((links or {}).items()), "in_print": f"{in_print:.1f}pt",
    }  # fmt: skip
    return Block("table", content, folded=folded)


def _describe_heading(label: str, column: list[dict[str, Any]], meaning: str, *, names: bool) -> dict[str, Any]:
    """Return a heading, and how many letters of a word are not broken: on the screen cells of numbers never are."""
    title, most = TITLES.get(label, label), _WIDEST[names]
    inside = [cell["text"] for cell in column]
    printed = min(most, _find_longest([title, *inside]))
    return {
        "label": title,
        "meaning": meaning,
        "letters": printed if names else min(most, _find_longest([title])),
        "printed": printed,
    }


def _list_cells(cells: Cells, frame: pd.DataFrame, c: int) -> list[dict[str, Any]]:
    """Return a column of a table cell by cell, with what it is sorted by."""
    values = [_plain(value) for value in frame.iloc[:, c].tolist()]
    numeric = any(map(_is_number, values)) and not any(isinstance(value, str) for value in values)
    listed = []
    for r, value in enumerate(values):
        text, marks = cells.rows[r][cells.labels + c], cells.list_marks(r, cells.labels + c)
        kind = "number" if numeric else "words" if len(text) > _LONG else "short"
        classes = " ".join([kind, *(mark.replace(" ", "-") for mark in marks if mark)])
        listed.append({"text": text, "sort": _sortable(value), "head": False, "classes": classes})
    return listed


def _find_longest(texts: Sequence[str]) -> int:
    """Return how many letters the longest word has."""
    return max((count_columns(word) for text in texts for word in text.split()), default=3)


_LONG = 30  # characters from which on a text is broken into lines
_WIDEST = (12, 20)  # letters of a word that is not broken, and of one in the name of a row
_PRINTED, _PAGE = 8.0, 510.0  # points: letters of a printed table, and the width of an A4 page between its margins


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sortable(value: object) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    return repr(value) if isinstance(value, int | float) else "" if value is None else str(value)


def curves_block(power: DiscriminativePower, strong: Sequence[str] = ()) -> Block:
    """Return discriminative power curves, the strong ones before the pale others, read by pointer or by arrow keys."""
    (whole,) = power.charts()
    chart, n_points = thin_chart(highlight(whole, strong))
    looks = find_looks([line.name for line in chart.lines])
    title = f"Discriminative power curves, {power.collection or 'scores'}"
    counts = ", ".join(f"{line.title} finds {line.count:,} significant pairs" for line in chart.lines)
    keys = "Left and right arrow keys read the p-values, up and down arrow keys choose the measure."
    svg = draw_chart(replace(chart, description=f"{title}: {counts}. {keys}"), 640)
    lines = [
        {
            "label": line.title,
            "found": f"{line.count:,}",
            "strong": line.strong,
            "sample": draw_sample(looks[line.name], line.strong),
            "number": number,
        }
        for number, line in enumerate(chart.lines)
    ]
    data = {
        "pairs": chart.lines[0].x.tolist(),
        "lines": [
            {
                "label": line.title,
                "strong": line.strong,
                "p": [format_p(float(p), power.n_permutations) for p in line.y],
            }
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


def heatmap_block(chart: HeatMap, signature: str, folded: str = "") -> Block:
    """Return a coloured square of numbers, each saying more when hovered."""
    return Block("heatmap", {"caption": chart.label, "signature": signature, "table": draw_chart(chart)}, folded=folded)


def opening_block(answers: Sequence[Answer], before: Sequence[str], figure: Block, table: Block) -> Block:
    """Return what a reader sees first: headlines with their findings, what to know before, the picture and the table."""
    return Block("opening", {"answers": answers, "before": before, "figure": figure, "table": table})


def panel_block(panels: Sequence[IntervalChart], caption: str, signature: str) -> Block:
    """Return charts of intervals, each below its heading."""
    drawn = [{"heading": panel.title, "svg": draw_chart(panel, _PANEL)} for panel in panels]
    return Block("panels", {"panels": [one for one in drawn if one["svg"]], "caption": caption, "signature": signature})


_PANEL = 340  # units that a panel is wide
