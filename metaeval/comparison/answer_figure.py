"""The answer of a comparison in one picture: what the verdict says of a new measure, and what it rests on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.comparison.findings import find_headline, find_verdicts, summarise
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.comparison.summary import order_measures
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.names import shorten_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.style import Size


MOST_PANELS = 4

_PLAIN = {"consistency": "Stability of its ranking"}
"""Headings of panels that say nothing by themselves."""

_LONGEST = 24  # letters of the new measure's name below a panel


def draw_answer(
    comparison: ComparisonResults, measure: str | None = None, *, size: Size = None, signature: bool = True
) -> Figure:
    """Draw what came out for a new measure: one panel for each sentence of the verdict, one row for each other measure."""
    from metaeval.show.drawing import draw_charts

    name = comparison.find_new(measure)
    heading = f"{find_title(comparison.measures, name)}: {find_headline(comparison, name)}"
    panels = list_panels(comparison, name, order_measures(comparison, name))
    return draw_charts(panels, comparison.signature if signature else None, size=size, heading=heading)


def list_panels(comparison: ComparisonResults, name: str, shown: Sequence[str]) -> list[IntervalChart]:
    """Return what came out for a new measure, beside the other measures shown: agreement with the reference first."""
    frame = summarise(comparison, name)
    headings = {
        finding.key: re.sub(r" \([^)]*\)", "", finding.phrase) if finding.told else _PLAIN.get(finding.key, "")
        for finding in find_verdicts(comparison, name)
    }
    title = shorten_name(find_title(comparison.measures, name), _LONGEST)
    others = frame.loc[[other for other in shown if other != name]]
    titles = {str(measure): measure.title for measure in comparison.measures}
    charts = []
    if comparison.agreement is not None:
        result = comparison.agreement.results[0]
        agreed = pd.DataFrame(
            {"agreed": result.values, "agreed_low": result.low, "agreed_high": result.high},
            index=[str(measure) for measure in comparison.agreement.measures],
        )
        label = f"% of run pairs ordered like {comparison.agreement.reference.title}; line: {title}"
        rows = _list_rows(agreed.loc[others.index], "agreed", titles, 100.0)
        charts.append(_make_panel(rows, label, headings["agreement"], 100 * float(agreed["agreed"][name])))
    if "tau" in frame:
        rows = _list_rows(others, "tau", titles)
        label = f"τ with {title}{_say_interval(rows)}; line: alike from {ALIKE:g}"
        charts.append(_make_panel(rows, label, headings["similarity"], ALIKE))
    if "consistency" in frame:
        rows = _list_rows(others, "consistency", titles)
        label = f"mean τ over splits; line: {title}"
        charts.append(
            _make_panel(
                rows,
                label,
                headings["consistency"],
                float(frame["consistency"].to_numpy(dtype=float)[frame.index.get_loc(name)]),
            )
        )
    if "difference" in frame:
        rows = _list_rows(others, "difference", titles, 100.0)
        label = f"% of pairs of runs more than {title}{_say_interval(rows)}"
        charts.append(_make_panel(rows, label, headings["power"], 0.0))
    if "contradictions" in frame and headings["contradictions"]:
        rows = _list_rows(others, "contradictions", titles)
        limits = (0.0, 1.25 * max(4.0, *(row.centre for row in rows)))
        label = f"pairs on which it contradicts {title}"
        charts.append(IntervalChart(rows, label, headings["contradictions"], [(0.0, "-")], limits, filled=True))
    return charts[:MOST_PANELS]


def _say_interval(rows: Sequence[Row]) -> str:
    return ", 95 % interval" * any(row.line is not None for row in rows)


def _make_panel(rows: Sequence[Row], label: str, heading: str, level: float) -> IntervalChart:
    """Return a panel with a line to compare with: whole at 0, dashed elsewhere."""
    return IntervalChart(rows, label, heading, [(level, "-" if level == 0 else "--")])


def _list_rows(frame: pd.DataFrame, column: str, titles: Mapping[str, str], factor: float = 1.0) -> list[Row]:
    """Return one column of the summary as rows, with its interval if there is one."""
    rows = []
    for name, values in (factor * frame.filter(regex=f"^{column}(_low|_high)?$").astype(float)).iterrows():
        low, high = (values.get(f"{column}_{end}", np.nan) for end in ("low", "high"))
        rows.append(Row(str(name), titles[str(name)], values[column], line=(low, high) if low <= high else None))
    return rows
