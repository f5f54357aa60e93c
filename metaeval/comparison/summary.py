"""The summary of a comparison as tables: a short one beside the answer, and one of all numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from metaeval.comparison.findings import summarise
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.errors import format_count
from metaeval.show.table import Table
from metaeval.show.text import NOTHING, format_cell


def order_measures(comparison: ComparisonResults, measure: str | None = None) -> list[str]:
    """Return all measures, best first: those that agree most with the reference, or the new one and what ranks most like it."""
    name, names = comparison.find_new(measure), [str(one) for one in comparison.measures]
    if comparison.agreement is not None:
        agreed = {
            str(one): value
            for one, value in zip(comparison.agreement.measures, comparison.agreement.results[0].values, strict=True)
        }
        return sorted(names, key=lambda one: -np.nan_to_num(agreed[one]))
    frame = summarise(comparison, name)
    if "tau" not in frame:
        return names
    return sorted(names, key=lambda one: -np.inf if one == name else -np.nan_to_num(frame["tau"][one]))


def choose_measures(comparison: ComparisonResults, measure: str | None = None, most: int = 9) -> list[str]:
    """Return so many measures in their order: the best, those in places about the new one, and what ranks most like it."""
    name, order = comparison.find_new(measure), order_measures(comparison, measure)
    place, frame = order.index(name), summarise(comparison, name)
    nearest = str(frame["tau"].fillna(-2.0).idxmax()) if "tau" in frame else name
    ranked = sorted(
        range(len(order)),
        key=lambda other: (order[other] not in (name, nearest), other >= most // 2, abs(other - place)),
    )
    return [order[position] for position in sorted(ranked[:most])]


def show_short(comparison: ComparisonResults, measure: str | None = None) -> Table:
    """Return what stands below the answer: at most four numbers of every measure, best first."""
    name = comparison.find_new(measure)
    frame, new, shown = summarise(comparison, name), find_title(comparison.measures, name), pd.DataFrame()
    agreement = comparison.agreement
    if agreement is not None:
        result = agreement.results[0]
        place = {str(one): number for number, one in enumerate(agreement.measures)}
        rows = [place[one] for one in frame.index]
        cells = [_write_share(*(float(each[m]) for each in (result.values, result.low, result.high))) for m in rows]
        shown[f"like {agreement.reference.title}, %"] = cells
    if "tau" in frame:
        shown["τ"] = _with_ends(frame, "tau", 2, 1)
    if "significant" in frame:
        shown["differences, %"] = [
            f"{100 * s / p:.0f}" for s, p in zip(frame["significant"], frame["pairs"], strict=True)
        ]
        if agreement is None:
            shown["more, points"] = _with_ends(frame, "difference", 0, 100)
    caption = f"τ: with {new}. Differences: significant pairs of runs, of all pairs"
    if agreement is None:
        caption += f"; more: than {new}, in percentage points"
    caption += ". In brackets: 95 % intervals over topics."
    if agreement is not None:
        caption = f"Like {agreement.reference.title}: pairs of runs ordered alike. {caption}"
    shown.index = frame.index
    return Table(shown.loc[order_measures(comparison, name)], caption, comparison.signature)


def _write_share(value: float, low: float, high: float) -> str:
    ends = f" [{100 * low:.0f}, {100 * high:.0f}]" if low <= high else ""
    return f"{100 * value:.0f}{ends}"


def show_summary(comparison: ComparisonResults, measure: str | None = None) -> Table:
    """Return the summary as it is read: a number and its interval in one cell, and the properties of formulas."""
    name = comparison.find_new(measure)
    frame, new, shown = summarise(comparison, name), find_title(comparison.measures, name), {}
    own = frame.index == name
    if "tau" in frame:
        shown |= {"group": frame["group"], f"τ with {new}": _with_ends(frame, "tau", 2, 1)}
    if "consistency" in frame:
        tests = format_count(len(comparison.list_results("consistency", "small_consistency")), "test")
        shown["mean τ of splits"] = frame["consistency"].map("{:.3f}".format)
        counts = zip(frame["more_consistent"], frame["less_consistent"], own, strict=True)
        shown[f"consistent against {new}, {tests}"] = [
            NOTHING if me else f"more in {a}, less in {b}" for a, b, me in counts
        ]
    if "significant" in frame:
        shown["significant pairs"] = [
            f"{k:,} of {n:,}" for k, n in zip(frame["significant"], frame["pairs"], strict=True)
        ]
        shown[f"more than {new}, % of pairs"] = _with_ends(frame, "difference", 1, 100)
    for column in frame.columns[frame.columns.str.startswith("significant_")]:
        shown[f"by {column.partition('_')[2]}"] = frame[column].map("{:,}".format)
    if "contradictions" in frame:
        shown[f"contradicts {new}"] = [
            NOTHING if me else f"{n:,}" for n, me in zip(frame["contradictions"], own, strict=True)
        ]
    if "decided" in frame:
        cells = zip(frame["contradicted"], frame["decided"], strict=True)
        shown["contradicted by the reference"] = [f"{k:,} of {n:,}" for k, n in cells]
    for trait in comparison.trait_names:
        marks = [
            checks[trait].mark if trait in (checks := comparison.traits[str(one)]) else NOTHING
            for one in comparison.measures
        ]
        shown |= {trait: marks} if set(marks) != {NOTHING} else {}
    caption = (
        f"Every measure beside {new}. In square brackets: 95 % intervals over topics, paired where two measures are "
        "compared; collections are averaged (τ) or added (pairs)."
    )
    return Table(pd.DataFrame(shown, index=frame.index), caption, comparison.signature)


def _with_ends(frame: pd.DataFrame, name: str, digits: int, times: float) -> list[str]:
    cells = []
    for value, low, high in zip(
        *(times * frame[column] for column in (name, f"{name}_low", f"{name}_high")), strict=True
    ):
        ends = f" [{format_cell(float(low), digits)}, {format_cell(float(high), digits)}]" if low < high else ""
        cells.append("–" if np.isnan(value) or value == low == high == 0 else format_cell(float(value), digits) + ends)
    return cells
