"""The summary of a comparison in numbers, and what to mind when reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.grades import group_results
from metaeval.comparison.verdicts import add_intervals, compare_pooled, count_contradictions, find_title
from metaeval.errors import format_count, format_list
from metaeval.show.table import NOTHING, Table, format_cell

if TYPE_CHECKING:
    from metaeval.comparison.new_measure import Comparison


def summarise(comparison: Comparison, measure: str | None = None) -> pd.DataFrame:
    """Return what the analyses say of every measure beside a new one, in numbers with intervals.

    Parameters
    ----------
    comparison : Comparison
    measure : str, optional
        One of the new ones; the first by default.

    Returns
    -------
    DataFrame, shape (measure, …)
        Columns: group; tau, tau_low, tau_high (with the new measure, averaged over collections); consistency (mean τ over
        all splits), more_consistent and less_consistent (tests in which a measure significantly is, than the new one);
        significant, pairs, and difference with difference_low, difference_high (of the shares of significant pairs, the
        measure's less the new one's); significant_TEST by the second test; contradictions (with the new measure);
        contradicted and decided (pairs that a reference finds significant too). Columns are missing where nothing was asked.

    Raises
    ------
    MetaevalError
        If it is none of the new measures.
    """
    studies, names = comparison.collections, [str(one) for one in comparison.measures]
    new = names.index(comparison.find_new(measure))
    columns: dict[str, object] = {}
    similarities = [one.similarity for one in studies if one.similarity is not None]
    if similarities:
        columns["group"] = group_results(similarities)
        squares = [[getattr(one, what)[new] for one in similarities] for what in ("tau", "low", "high")]
        ends = [add_intervals(*([one[m] for one in found] for found in squares)) for m in range(len(names))]
        tau = np.mean(squares[0], axis=0)
        own = np.arange(len(names)) == new
        for name, values in (
            ("tau", tau),
            ("tau_low", [low for low, _ in ends]),
            ("tau_high", [high for _, high in ends]),
        ):
            columns[name] = np.where(own, np.nan, values)
    splits = [split for one in studies for split in (one.consistency, one.small_consistency) if split is not None]
    if splits:
        columns["consistency"] = np.mean([one.means for one in splits], axis=0)
        clear = [one.significant[new] * np.sign(one.means - one.means[new]) for one in splits]
        columns["more_consistent"] = np.sum([one > 0 for one in clear], axis=0)
        columns["less_consistent"] = np.sum([one < 0 for one in clear], axis=0)
    powers = [one.power for one in studies if one.power is not None]
    if powers:
        columns["significant"] = np.sum([one.significant.sum(axis=1) for one in powers], axis=0)
        columns["pairs"] = sum(one.p_values.shape[1] for one in powers)
        difference, low, high = compare_pooled(powers, new)
        columns |= {"difference": -difference, "difference_low": -high, "difference_high": -low}
    robust = [one.robust_power for one in studies if one.robust_power is not None]
    if robust:
        columns[f"significant_{robust[0].test}"] = np.sum([one.significant.sum(axis=1) for one in robust], axis=0)
    if any(one.contradictions is not None for one in studies):
        counts = count_contradictions(studies, names[new])
        columns["contradictions"] = [counts.get(name, 0) for name in names]
    references = [one.reference for one in studies if one.reference is not None]
    if references:
        for what in ("contradicted", "decided"):
            columns[what] = np.sum([getattr(one, what) for one in references], axis=0)
    return pd.DataFrame(columns, index=pd.Index(names, name="measure"))


def show_summary(comparison: Comparison, measure: str | None = None) -> Table:
    """Return the summary as it is read: a number and its interval in one cell, and the properties of formulas.

    Parameters
    ----------
    comparison : Comparison
    measure : str, optional
        The new measure beside which the others stand; the first by default.

    Returns
    -------
    Table
    """
    name = comparison.find_new(measure)
    frame, new = summarise(comparison, name), find_title(comparison.measures, name)
    tests = len(
        [s for one in comparison.collections for s in (one.consistency, one.small_consistency) if s is not None]
    )
    shown: dict[str, list[str]] = {}
    if "tau" in frame:
        shown["group"] = frame["group"].tolist()
        shown[f"τ with {new}"] = _with_ends(frame, "tau", 2, 1)
    if "consistency" in frame:
        shown["mean τ of splits"] = [format_cell(float(one), 3) for one in frame["consistency"]]
        pairs = zip(frame["more_consistent"], frame["less_consistent"], frame.index, strict=True)
        shown[f"consistent against {new}, {format_count(tests, 'test')}"] = [
            "–" if one == name else f"more in {a}, less in {b}" for a, b, one in pairs
        ]
    if "significant" in frame:
        cells = zip(frame["significant"], frame["pairs"], strict=True)
        shown["significant pairs"] = [f"{found:,} of {pairs:,}" for found, pairs in cells]
        shown[f"more than {new}, % of pairs"] = _with_ends(frame, "difference", 1, 100)
    for column in frame.columns:
        if str(column).startswith("significant_"):
            shown[f"by {str(column).partition('_')[2]}"] = [f"{found:,}" for found in frame[column]]
    if "contradictions" in frame:
        cells = zip(frame["contradictions"], frame.index, strict=True)
        shown[f"contradicts {new}"] = ["–" if one == name else f"{count:,}" for count, one in cells]
    if "decided" in frame:
        cells = zip(frame["contradicted"], frame["decided"], strict=True)
        shown["contradicted by the reference"] = [f"{k:,} of {n:,}" for k, n in cells]
    marks = comparison.to_frame()
    for trait in dict.fromkeys(one for found in comparison.traits.values() for one in found):
        found = [str(mark) for mark in marks[trait]]
        shown |= {trait: found} if set(found) != {NOTHING} else {}
    caption = (
        f"Every measure beside {new}. In square brackets: 95 % intervals over topics, paired where two measures are "
        "compared; collections are averaged (τ) or added (pairs)."
    )
    return Table(pd.DataFrame(shown, index=frame.index), caption, comparison.signature)


def _with_ends(frame: pd.DataFrame, name: str, digits: int, times: float) -> list[str]:
    cells = []
    for value, low, high in zip(*(times * frame[one] for one in (name, f"{name}_low", f"{name}_high")), strict=True):
        ends = f" [{format_cell(float(low), digits)}, {format_cell(float(high), digits)}]" if low < high else ""
        cells.append("–" if np.isnan(value) or value == low == high == 0 else format_cell(float(value), digits) + ends)
    return cells


def list_warnings(comparison: Comparison) -> list[str]:
    """Return what to mind when reading the report, a short sentence each.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    list of str
    """
    said = []
    capped = [one for one in comparison.collections if one.diagnostics.never_significant]
    each = "; ".join(
        f"{sum(map(len, one.diagnostics.identical))} identical runs in {one.name}: the largest possible τ is "
        f"{one.diagnostics.largest_tau_a:.3f}"
        for one in capped
    )
    said += [f"{each}."] * bool(capped)
    for one in comparison.collections:
        why = (one.similarity.no_interval if one.similarity else "") or (
            one.power.over_topics.no_interval if one.power else ""
        )
        if why:
            said.append(f"{one.name}: {why}")
    doubtful = [one for one in comparison.collections if one.diagnostics.doubtful.any()]
    if doubtful:
        times = [float(np.where(d.wide, d.spread_ratio, 0).max()) for d in (one.diagnostics for one in doubtful)]
        each = ", ".join(f"{one.name} ({most:.1f} times)" for one, most in zip(doubtful, times, strict=True))
        said.append(
            "Exchangeability of the runs is doubtful: one varies much more from topic to topic than the median run in "
            f"{each}. The randomised Tukey HSD test assumes it; read it beside the other test."
        )
    behind = [one.name for one in comparison.collections if one.diagnostics.hopeless.any()]
    if behind:
        said.append(
            f"Some runs are far behind the others in {format_list(behind)}: fewer of the other pairs are found."
        )
    measures = [*comparison.measures, *([] if comparison.reference is None else [comparison.reference])]
    assumed = [str(one) for one in measures if one.direction.startswith("assumed")]
    if assumed:
        said.append(f"Assumed, because nobody stated it, that higher is better: {', '.join(assumed)}.")
    if comparison.reference is None:
        said.append("No reference was given: nothing here says whether the differences that a measure finds are right.")
    return said
