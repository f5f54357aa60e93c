"""What stands beside the answer of a comparison: a short table, and one picture with a panel for each finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.comparison.findings import MOST_NAMED, find_facts, find_headline, find_verdicts
from metaeval.comparison.results import ComparisonResults
from metaeval.show.cells import NOTHING, format_cell
from metaeval.show.charts import IntervalChart, Row
from metaeval.show.names import shorten_name
from metaeval.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from metaeval.show.style import Size

MOST_PANELS = 4

MEANINGS = {
    "ontradict": "Contradict: both find a pair of runs significantly different, in opposite directions.",
    ", all with": "The run that is named is in all these pairs.",
    "differences than": "More, fewer: than each measure named, where the interval of the difference leaves out 0.",
}
"""By words of findings, what they mean."""


def order_measures(comparison: ComparisonResults, name: str) -> list[str]:
    """Return all measures, best first: those that agree most with the reference, or the new one and what ranks most like it."""
    names, frame = [str(each) for each in comparison.measures], find_facts(comparison, name).frame
    if "agreed" in frame:
        return sorted(names, key=lambda each: -np.nan_to_num(frame["agreed"][each]))
    if "tau" not in frame:
        return names
    return sorted(names, key=lambda each: -np.inf if each == name else -np.nan_to_num(frame["tau"][each]))


def choose_measures(comparison: ComparisonResults, name: str, most: int = 9) -> list[str]:
    """Return so many measures in order: the best, those about the new one, its nearest and opposite, and most contradicted."""
    order, frame = order_measures(comparison, name), find_facts(comparison, name).frame
    place = order.index(name)
    named = {name}
    if "tau" in frame:
        tau = frame["tau"].drop(name).fillna(0.0)
        named |= {*tau.index[tau == tau.max()][:MOST_NAMED], *([str(tau.idxmin())] if tau.min() <= -ALIKE else [])}
    if "contradictions" in frame and comparison.agreement is None:
        named |= {*frame["contradictions"][frame["contradictions"] > 0].nlargest(MOST_NAMED).index}
    ranked = sorted(
        range(len(order)), key=lambda other: (order[other] not in named, other >= most // 2, abs(other - place))
    )
    return [order[position] for position in sorted(ranked[:most])]


def show_short(comparison: ComparisonResults, name: str) -> Table:
    """Return what stands below the answer: at most four numbers of every measure, best first."""
    frame, agreement = find_facts(comparison, name).frame, comparison.agreement
    shown = pd.DataFrame(index=frame.index)
    pairs = int(frame["pairs"].iloc[0]) if "pairs" in frame else 0
    caption = f"τ: with {name}. Differences: pairs of runs that differ significantly by {comparison.test}, of {pairs:,}"
    if agreement is not None:
        reference = str(agreement.reference)
        shown[f"like {reference}, %"] = _with_ends(frame, "agreed", 0, 100)
        caption = f"Like {reference}: pairs of runs ordered as by this reference, which has no row. {caption}"
    if "tau" in frame:
        shown["τ"] = _with_ends(frame, "tau", 2, 1)
    if "significant" in frame:
        shown["differences"] = frame["significant"]
        if agreement is None:
            shown["more"] = _with_ends(frame, "difference", 0, pairs)
            caption += f"; more: how many more than {name} finds"
    if comparison.lacks_intervals:
        caption += ". Without intervals: on other topics all this may differ."
    else:
        caption += ". In brackets: 95 % intervals over topics, wider the more measures are compared."
    phrases, n = " ".join(finding.phrase for finding in find_verdicts(comparison, name) if finding.told), len(frame) - 1
    legend = " ".join(meaning for word, meaning in MEANINGS.items() if word in phrases)
    legend += f" The {n} others: all measures compared here but {name}." * (f"of the {n} others" in phrases)
    return Table(shown.loc[order_measures(comparison, name)], caption, comparison.signature, legend=legend)


def show_whole(comparison: ComparisonResults, name: str) -> Table:
    """Return every number of the measures beside a new one."""
    frame = find_facts(comparison, name).frame.rename(columns=lambda column: column.replace("_", " "))
    caption = f"Every measure beside {name}, over collections; difference: of significant pairs, as a share of all."
    return Table(frame, caption, comparison.signature, joined=True)


def _with_ends(frame: pd.DataFrame, name: str, digits: int, times: float) -> list[str]:
    """Return numbers with their intervals as texts; a dash where a measure is compared with itself."""
    cells = []
    numbers = times * frame[[name, f"{name}_low", f"{name}_high"]].to_numpy(float)
    for value, low, high in numbers.tolist():
        ends = f" [{format_cell(low, digits)}, {format_cell(high, digits)}]" if low < high else ""
        cells.append(NOTHING if np.isnan(value) or value == low == high == 0 else format_cell(value, digits) + ends)
    return cells


def draw_answer(comparison: ComparisonResults, name: str, *, size: Size = None, signature: bool = True) -> Figure:
    """Draw what came out for a new measure: one panel for each sentence of the verdict, one row for each other measure."""
    from metaeval.show.drawing import draw_charts

    heading = f"{name}: {find_headline(comparison, name)}"
    panels = list_panels(comparison, name, order_measures(comparison, name))
    return draw_charts(panels, comparison.signature if signature else None, size=size, heading=heading)


def list_panels(comparison: ComparisonResults, name: str, shown: Sequence[str]) -> list[IntervalChart]:
    """Return what came out for a new measure, beside the other measures shown: agreement with the reference first."""
    headings = {finding.key: finding.sentence for finding in find_verdicts(comparison, name) if finding.told}
    title, frame = shorten_name(name, 24), find_facts(comparison, name).frame
    others, charts = frame.loc[[other for other in shown if other != name]], []

    def add(key: str, column: str, label: str, level: float | None, factor: float = 1.0) -> None:
        """Add a panel with a line to compare with, if any: whole at 0, dashed elsewhere."""
        numbers = factor * others.reindex(columns=[column, f"{column}_low", f"{column}_high"]).astype(float)
        rows = [
            Row(other, other, value, line=(low, high) if low <= high else None)
            for other, value, low, high in numbers.itertuples(name=None)
        ]
        filled = column == "contradictions"
        limits = (0.0, 1.25 * max(4.0, *(row.centre for row in rows))) if filled else None
        label += "; bars: 95 % intervals" * any(row.line is not None for row in rows)
        levels = [] if level is None else [(level, "-" if level == 0 else "--")]
        charts.append(IntervalChart(rows, label, headings.get(key, key.capitalize()), levels, limits, filled=filled))

    if comparison.agreement is not None:
        reference, mine = str(comparison.agreement.reference), float(frame["agreed"][name])
        add("agreement", "agreed", f"% of run pairs ordered like {reference}; line: {title}", 100 * mine, 100.0)
    if "tau" in frame:
        limit = None if comparison.lacks_intervals else ALIKE
        says = "" if limit is None else f"; line: {ALIKE:g}, alike above, not alike below"
        add("similarity", "tau", f"τ with {title}{says}", limit)
    if "consistency" in frame:
        add("consistency", "consistency", f"mean τ over splits; line: {title}", float(frame["consistency"][name]))
    if "difference" in frame:
        add("power", "difference", f"how many more pairs of runs than {title}", 0.0, float(frame["pairs"].iloc[0]))
    if "contradictions" in headings:
        add("contradictions", "contradictions", f"pairs on which it contradicts {title}", 0.0)
    return charts[:MOST_PANELS]
