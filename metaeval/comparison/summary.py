"""The summary of a comparison in numbers, and what to consider when reading it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from metaeval.analyses.diagnostics import EXCHANGING
from metaeval.analyses.grades import group_results
from metaeval.analyses.study import Study
from metaeval.comparison.marks import mark_measures
from metaeval.comparison.results import ComparisonResults, find_once, find_title
from metaeval.comparison.verdicts import MOST_NAMED, average_tau, compare_pooled, count_contradictions
from metaeval.errors import format_count, format_list, head_of
from metaeval.show.cells import NOTHING, format_cell
from metaeval.show.table import Table


@find_once
def summarise(comparison: ComparisonResults, name: str) -> pd.DataFrame:
    """Return what the analyses say of every measure beside a new one, in numbers with intervals."""
    names = [str(measure) for measure in comparison.measures]
    new = names.index(name)
    columns = {
        **_summarise_similarity(comparison, name),
        **_summarise_consistency(comparison, new),
        **_summarise_power(comparison, new),
        **_summarise_contradictions(comparison, new),
    }
    return pd.DataFrame(columns, index=pd.Index(names, name="measure"))


def _summarise_similarity(comparison: ComparisonResults, name: str) -> dict[str, object]:
    """Return the group of every measure, and its mean τ with the new one, in an interval."""
    taus = average_tau(comparison.collections, name)
    if taus is None:
        return {}
    rows = [taus.numbers.get(str(measure), (np.nan,) * 3) for measure in comparison.measures]
    groups = group_results(comparison.list_results("similarity"))
    return {"group": groups, **dict(zip(("tau", "tau_low", "tau_high"), np.transpose(rows), strict=True))}


def _summarise_consistency(comparison: ComparisonResults, new: int) -> dict[str, object]:
    """Return mean τ over splits, and in how many tests every measure is more, or less, consistent than the new one."""
    splits = comparison.list_results("consistency", "small_consistency")
    if not splits:
        return {}
    clear = [split.significant[new] * np.sign(split.means - split.means[new]) for split in splits]
    return {
        "consistency": np.mean([split.means for split in splits], axis=0),
        "more_consistent": np.sum([split > 0 for split in clear], axis=0),
        "less_consistent": np.sum([split < 0 for split in clear], axis=0),
    }


def _summarise_power(comparison: ComparisonResults, new: int) -> dict[str, object]:
    """Return significant pairs by either test, and how much larger their share is than that of the new measure."""
    columns: dict[str, object] = {}
    powers = comparison.list_results("power")
    if powers:
        columns["significant"] = np.sum([power.significant.sum(axis=1) for power in powers], axis=0)
        columns["pairs"] = sum(power.p_values.shape[1] for power in powers)
        difference, low, high = compare_pooled(powers, new)
        columns |= {"difference": -difference, "difference_low": -high, "difference_high": -low}
    second = comparison.list_results("second_power")
    if second:
        columns[f"significant_{second[0].test}"] = np.sum([power.significant.sum(axis=1) for power in second], axis=0)
    return columns


def _summarise_contradictions(comparison: ComparisonResults, new: int) -> dict[str, object]:
    """Return on how many pairs of runs every measure contradicts the new one, and is contradicted by the reference."""
    columns: dict[str, object] = {}
    if comparison.list_results("contradictions"):
        names = [str(measure) for measure in comparison.measures]
        counts = count_contradictions(comparison.collections, names[new])
        columns["contradictions"] = [counts.get(name, 0) for name in names]
    references = comparison.list_results("reference")
    if references:
        for what in ("contradicted", "decided"):
            columns[what] = np.sum([getattr(pairs, what) for pairs in references], axis=0)
    return columns


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
    """Return so many measures in their order: the best, those about the new one, its nearest, and what it contradicts most."""
    name, order = comparison.find_new(measure), order_measures(comparison, measure)
    place, frame = order.index(name), summarise(comparison, name)
    named = {name, str(frame["tau"].fillna(-2.0).idxmax()) if "tau" in frame else name}
    if "contradictions" in frame and comparison.agreement is None:
        named |= {*frame["contradictions"][frame["contradictions"] > 0].nlargest(MOST_NAMED).index}
    ranked = sorted(
        range(len(order)),
        key=lambda other: (order[other] not in named, other >= most // 2, abs(other - place)),
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
    frame, new = summarise(comparison, name), find_title(comparison.measures, name)
    n_tests = len(comparison.list_results("consistency", "small_consistency"))
    shown = {
        **_show_splits(frame, name, new, n_tests),
        **_show_tests(frame, name, new),
        **_show_traits(comparison),
    }
    caption = (
        f"Every measure beside {new}. In square brackets: 95 % intervals over topics, paired where two measures are "
        "compared; collections are averaged (τ) or added (pairs)."
    )
    return Table(pd.DataFrame(shown, index=frame.index), caption, comparison.signature)


def _show_splits(frame: pd.DataFrame, name: str, new: str, n_tests: int) -> dict[str, list[str]]:
    """Return the columns that show similarity and consistency."""
    shown: dict[str, list[str]] = {}
    if "tau" in frame:
        shown["group"] = frame["group"].tolist()
        shown[f"τ with {new}"] = _with_ends(frame, "tau", 2, 1)
    if "consistency" in frame:
        shown["mean τ of splits"] = [format_cell(float(split), 3) for split in frame["consistency"]]
        pairs = zip(frame["more_consistent"], frame["less_consistent"], frame.index, strict=True)
        shown[f"consistent against {new}, {format_count(n_tests, 'test')}"] = [
            NOTHING if label == name else f"more in {a}, less in {b}" for a, b, label in pairs
        ]
    return shown


def _show_tests(frame: pd.DataFrame, name: str, new: str) -> dict[str, list[str]]:
    """Return the columns that show what rests on tests of all pairs of runs."""
    shown: dict[str, list[str]] = {}
    if "significant" in frame:
        cells = zip(frame["significant"], frame["pairs"], strict=True)
        shown["significant pairs"] = [f"{count:,} of {pairs:,}" for count, pairs in cells]
        shown[f"more than {new}, % of pairs"] = _with_ends(frame, "difference", 1, 100)
    for column in frame.columns:
        if str(column).startswith("significant_"):
            shown[f"by {str(column).partition('_')[2]}"] = [f"{count:,}" for count in frame[column]]
    if "contradictions" in frame:
        cells = zip(frame["contradictions"], frame.index, strict=True)
        shown[f"contradicts {new}"] = [NOTHING if label == name else f"{count:,}" for count, label in cells]
    if "decided" in frame:
        cells = zip(frame["contradicted"], frame["decided"], strict=True)
        shown["contradicted by the reference"] = [f"{k:,} of {n:,}" for k, n in cells]
    return shown


def _show_traits(comparison: ComparisonResults) -> dict[str, list[str]]:
    """Return the columns of properties that say something of any measure."""
    marks = mark_measures(comparison)
    columns = {trait: [str(mark) for mark in marks[trait]] for trait in comparison.trait_names}
    return {trait: texts for trait, texts in columns.items() if set(texts) != {NOTHING}}


def _with_ends(frame: pd.DataFrame, name: str, digits: int, times: float) -> list[str]:
    cells = []
    for value, low, high in zip(
        *(times * frame[column] for column in (name, f"{name}_low", f"{name}_high")), strict=True
    ):
        ends = f" [{format_cell(float(low), digits)}, {format_cell(float(high), digits)}]" if low < high else ""
        cells.append("–" if np.isnan(value) or value == low == high == 0 else format_cell(float(value), digits) + ends)
    return cells


def list_warnings(comparison: ComparisonResults) -> list[str]:
    """Return what to know before relying on the answer, a short sentence each, what matters most first."""
    assumed = [str(measure) for measure in comparison.all_measures if measure.direction.startswith("assumed")]
    warnings = [f"Higher is assumed to be better for {format_list(assumed)}; nobody stated it."] if assumed else []
    if comparison.reference is None:
        warnings.append("No reference was given: the data do not show which differences are right.")
    return [*warnings, *_warn_of_runs(comparison.collections, exchanging=comparison.test in EXCHANGING)]


def _warn_of_runs(studies: Sequence[Study], *, exchanging: bool) -> list[str]:
    """Return what is irregular about runs, as it matters to the test."""
    warnings = []
    for study in studies:
        noise = study.diagnostics.noise
        warnings += [f"{study.name}: {head_of(note)}." for note in (noise.describe() if noise else [])]
        few = (study.similarity.no_interval if study.similarity else "") or (
            study.power.over_topics.no_interval if study.power else ""
        )
        if few:
            drawn = len(set(study.scores.clusters))
            runs = format_count(len(study.diagnostics.runs), "run")
            topics = format_count(drawn or len(study.scores.topics), "cluster" if drawn else "topic")
            warnings.append(f"{study.name} has {runs} and {topics}: too few for intervals.")
    copies = {
        study.name: sum(map(len, study.diagnostics.identical))
        for study in studies
        if study.diagnostics.never_significant
    }
    if copies:
        counts = format_list([f"{count} in {name}" for name, count in copies.items()])
        warnings.append(f"Some runs have the same scores as others and are always tied with them ({counts}).")
    if not exchanging:
        return warnings
    for study in studies:
        if study.diagnostics.doubtful.any():
            d = study.diagnostics
            m, r = np.unravel_index(np.where(d.wide, d.spread_ratio, 0.0).argmax(), d.wide.shape)
            warnings.append(
                f"{d.runs[r]} varies {d.spread_ratio[m, r]:.1f} times more than a typical run of {study.name}; the Tukey HSD "
                "test may then raise false alarms."
            )
    behind = [study.name for study in studies if study.diagnostics.hopeless.any()]
    if behind:
        warnings.append(f"A few very weak runs of {format_list(behind)} make the Tukey HSD test miss differences.")
    return warnings
