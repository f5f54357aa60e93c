"""What the page of a comparison shows, section by section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.grades import CONTRADICTED
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.reference_pairs import ReferencePairs
from metaeval.analyses.result import Result
from metaeval.analyses.sample_size import SampleSize
from metaeval.analyses.significance_contradictions import SignificanceContradictions
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study
from metaeval.comparison.charts import Curve, Row, draw_curves, draw_rows, draw_scatter
from metaeval.comparison.looks import NOT_TRIED
from metaeval.comparison.page import (
    Block,
    Page,
    Section,
    curves_block,
    figure_block,
    heatmap_block,
    rules_block,
    table_block,
)
from metaeval.comparison.shelf import Shelf, name_file
from metaeval.comparison.summary import list_warnings, show_summary, summarise
from metaeval.comparison.verdicts import RULES, Finding, find_title, find_verdicts, write_verdict
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.table import NOTHING, Table

if TYPE_CHECKING:
    from metaeval.comparison.new_measure import Comparison

LISTED = 200
"""Contradicting run pairs in the report, unless all of them are asked for."""

_SHOWN = 12
"""Contradicting run pairs on the page; the file beside it has more."""

_RUNS = 100
"""Runs of a leaderboard in the report."""

_PANELS = 8
"""Most panels of score deltas on the page."""

QUESTIONS = {
    "similarity": (
        "Ranking similarity",
        "Do two measures rank the runs alike? Kendall's τ between every two rankings by mean score.",
        (
            "Measures that rank alike on these runs need not do so on others, least of all where runs are few or far apart.",
        ),
    ),
    "consistency": (
        "Split-half consistency",
        "Does a measure give the same ranking on other topics? Mean τ between rankings on two random, disjoint sets.",
        (
            "A measure that always gives the same wrong ranking is perfectly consistent.",
            "The test is over splits of the same topics: it says which measure is more consistent on them, not on others.",
        ),
    ),
    "power": (
        "Discriminative power",
        "How many differences between runs does a measure find significant? Not every discriminative measure is right, "
        "but one that tells nothing apart says nothing.",
        (
            "The randomised Tukey HSD test takes runs to differ in their means only; where they differ in spread, it "
            "finds false differences. The other tests do not assume this.",
            "Power says nothing about whether the differences are right: give a reference, and the report tells.",
        ),
    ),
    "reference": (
        "Against the reference",
        "Are the differences that a measure finds significant right? Of its significant pairs of runs, those that the "
        "reference confirms (finds significant too), contradicts (finds the opposite significant), or does not find, and "
        "those that it misses. A measure that separates many runs and is contradicted is not discriminative but wrong.",
        ("A reference errs too. Pairs share runs: the interval allows for it, by a rule that is approximate.",),
    ),
    "overlap": (
        "Significance overlap",
        "Do measures find the same pairs of runs significantly different?",
        ("A measure that finds few pairs overlaps little with any other, right or wrong.",),
    ),
    "contradictions": (
        "Contradictions",
        "For which run pairs do two measures reach opposite significant conclusions?",
        ("That two measures contradict each other does not tell which of them is wrong.",),
    ),
    "coverage": (
        "Coverage",
        "Does an improvement by a measure go with improvement by all reference measures at once? Spearman's ρ with the "
        "unanimous improvement ratio.",
        ("It depends on which reference measures are chosen.",),
    ),
    "sample_size": (
        "Number of topics",
        "How many topics does a measure need to rank consistently and to tell runs apart?",
        ("Curves beyond the topics at hand would be extrapolated; these end there.",),
    ),
    "preference": (
        "Baseline preference",
        "Which of the two baselines does each measure prefer, topic by topic?",
        ("Two runs are two runs: what holds of these baselines need not hold of others.",),
    ),
}
"""By key: the title of a section, its question, and when not to trust it."""


def lay_out(comparison: Comparison, shelf: Shelf, p_values: bool = False) -> Page:
    """Return the page of a comparison, and write the tables and charts that it links to.

    Parameters
    ----------
    comparison : Comparison
    shelf : Shelf
    p_values : bool, optional
        Write every p-value and every contradicting pair of runs too.

    Returns
    -------
    Page
    """
    lead = " and ".join(
        f"{format_count(len(one.scores.runs), 'run')} × {format_count(len(one.scores.topics), 'topic')} ({one.name})"
        for one in comparison.collections
    )
    sections = [_give_verdict(comparison, shelf), _list_traits(comparison, shelf)]
    sections += [_answer(comparison, key, shelf, p_values) for key in QUESTIONS]
    sections.append(_list_skipped(comparison))
    shown = [one for one in sections if one.blocks or one.parts or one.text]
    names = tuple(one.name for one in comparison.collections)
    return Page(give_title(comparison), f"{lead}.", tuple(shown), names, str(comparison.signature))


def give_title(comparison: Comparison) -> str:
    """Return the title of a comparison's report."""
    titles = [find_title(comparison.measures, name) for name in comparison.new]
    return f"{', '.join(titles)} beside the established measures"


def list_measures(comparison: Comparison) -> list[Measure]:
    """Return all measures, and what they are held against."""
    return [*comparison.measures, *([] if comparison.reference is None else [comparison.reference])]


def _give_verdict(comparison: Comparison, shelf: Shelf) -> Section:
    """Return the answer: a paragraph for every new measure, what to mind, and the summary beside each in numbers."""
    found = {name: find_verdicts(comparison, name) for name in comparison.new}
    titles = {name: find_title(comparison.measures, name) for name in found}
    text = tuple(write_verdict(titles[name], findings) for name, findings in found.items())
    blocks = (
        Block("notes", {"notes": list_warnings(comparison), "title": "To mind"}),
        *(_summarise(comparison, name, shelf) for name in comparison.new),
        _tell_what_was_tried(comparison, found, shelf),
        _mark(comparison, shelf),
        rules_block({_HEADINGS[key]: rule for key, rule in RULES.items()}, "By which rules the verdict is reached"),
        Block("notes", {"notes": _list_notes(comparison)}, folded="More about runs, directions and the measure"),
    )
    return Section("verdict", "Verdict", text, blocks)


def _summarise(comparison: Comparison, name: str, shelf: Shelf) -> Block:
    """Return every measure beside a new one, each column with a link to the section that it follows from."""
    links = dict.fromkeys((name for traits in comparison.traits.values() for name in traits), "traits")
    summary = show_summary(comparison, name)
    for column in map(str, summary.frame.columns):
        about = next((key for start, key in _EVIDENCE.items() if column.startswith(start)), "")
        links |= {column: about} if about else {}
    number = comparison.new.index(name) + 1
    file = "summary" if number == 1 else f"summary-{number}"
    return shelf.put_table(summary, file, frame=summarise(comparison, name), links=links, highlight=(name,))


_EVIDENCE = {
    "group": "similarity",
    "τ with": "similarity",
    "mean τ": "consistency",
    "consistent against": "consistency",
    "significant": "power",
    "more than": "power",
    "by ": "power",
    "contradicts": "contradictions",
    "contradicted": "reference",
}
"""By how its name begins, the section that a column of the summary follows from."""

_HEADINGS = {
    "reference": "the reference",
    "similarity": "ranks runs like",
    "consistency": "most or least consistent",
    "power": "finds pairs of runs significant",
    "contradictions": "contradicts",
    "formula": "properties of the formula",
}


def _tell_what_was_tried(comparison: Comparison, found: Mapping[str, Sequence[Finding]], shelf: Shelf) -> Block:
    """Return what became of each claim with another test, another seed, or other runs."""
    rows = [
        {"claim": one.verdict.claim, "as it is": one.verdict.outcome, **dict(one.verdict.conditions)}
        for findings in found.values()
        for one in findings
        if one.key != "formula"
    ]
    frame = pd.DataFrame(rows).set_index("claim")
    said = "Whether each claim stands with another test, another seed or other runs; what came out where it does not."
    not_tried = [str(look) for look in frame.columns if (frame[look] == NOT_TRIED).all()]
    title = "Does it stand with another test, seed or choice of runs?"
    if not_tried:
        said += f" Not tried: {', '.join(not_tried)} (metaeval compare --thorough tries them)."
        tried = ", ".join(look for look in frame.columns[1:] if look not in not_tried)
        title += f" Tried: {tried}; the rest was not tried" if tried else " Not tried"
    return shelf.put_table(Table(frame, said, comparison.signature), "looks", folded=title)


def _mark(comparison: Comparison, shelf: Shelf) -> Block:
    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        bands = {"good": "band high", "fair": "band middle", "poor": "band low", CONTRADICTED: "band low"}
        return frame.map(lambda mark: bands.get(mark.partition(" (")[0], ""))

    said = " ".join(f"{name}: {rule}" for name, rule in comparison.rules().items() if name not in _formal(comparison))
    table = Table(
        comparison.to_frame(), f"Like Tables 4 and 7 of Sakai (ACL 2021). {said}", comparison.signature, marks=marks
    )
    return shelf.put_table(table, "marks", highlight=comparison.new, folded="The same as marks: good, fair, poor")


def _formal(comparison: Comparison) -> set[str]:
    return {name for found in comparison.traits.values() for name in found}


def _list_notes(comparison: Comparison) -> list[str]:
    notes = [note for one in comparison.collections for note in one.diagnostics.describe()]
    return [*comparison.notes, _tell_directions(comparison), *notes]


def _tell_directions(comparison: Comparison) -> str:
    """Return in sentences of which measures higher or lower scores are better, and of which that is assumed."""
    words = {
        "higher": "Higher is better",
        "lower": "Lower is better",
        "assumed: higher": "Assumed, because nobody stated it, that higher is better",
    }
    measures = list_measures(comparison)
    named = {way: [str(one) for one in measures if one.direction == way] for way in words}
    return " ".join(f"{words[way]}: {', '.join(names)}." for way, names in named.items() if names)


def _list_traits(comparison: Comparison, shelf: Shelf) -> Section:
    rows = [
        (measure, name, trait.mark, trait.evidence)
        for measure, found in comparison.traits.items()
        for name, trait in found.items()
        if trait.mark != NOTHING
    ]
    if not rows:
        return Section("traits", "What kind of measure")
    frame = pd.DataFrame(rows, columns=["measure", "property", "mark", "tried, or found"]).set_index("measure")
    caption = "Each property is tried on made-up data: how many cases, or the case that speaks against it."
    table = Table(frame, caption, comparison.signature)
    block = shelf.put_table(table, "traits", highlight=comparison.new, folded="What was tried, and what was found")
    rules = {name: rule for name, rule in comparison.rules().items() if name in _formal(comparison)}
    return Section(
        "traits", "What kind of measure", (caption,), (block, rules_block(rules, "What the properties mean"))
    )


def _answer(comparison: Comparison, key: str, shelf: Shelf, p_values: bool) -> Section:
    title, question, doubts = QUESTIONS[key]
    parts = []
    for number, study in enumerate(comparison.collections, start=1):
        blocks = tuple(_list_blocks(comparison, number, key, shelf, p_values))
        if blocks:
            parts.append(Section(f"{key}-{number}", study.name, (), blocks, collection=number))
    pooled: tuple[Block, ...] = ()
    if key == "power" and comparison.pooled is not None:
        table, by = comparison.pooled.to_table(), comparison.pooled.by_collection()
        frame, details = comparison.pooled.to_frame(), {"by_collection": by}
        pooled = (shelf.put_table(table, "pooled-power", frame=frame, details=details, highlight=comparison.new),)
    if not parts:
        return Section(key, title)
    return Section(key, title, (question,), pooled, tuple(parts), doubts)


_TOGETHER = {
    "consistency": ("consistency", "small_consistency"),
    "power": ("power", "robust_power"),
    "reference": ("reference", "robust_reference"),
}


def _list_blocks(comparison: Comparison, number: int, key: str, shelf: Shelf, p_values: bool) -> list[Block]:
    """Return what a section shows of one collection, and write it."""
    study = comparison.collections[number - 1]
    blocks: list[Block] = []
    charts: list[Block] = []  # below the tables, which stand side by side
    for question in _TOGETHER.get(key, (key,)):
        result = getattr(study, question)
        if result is None:
            continue
        name = name_file(comparison, number, question)
        if isinstance(result, RankingSimilarity):
            blocks.append(_show_similarity(result, study.name, name, shelf))
            continue
        if isinstance(result, DiscriminativePower) and question == "power":
            charts.append(_show_curves(result, comparison.new, name, shelf))
        details = _choose_details(result, p_values)
        frame = _choose_rows(result)
        if isinstance(result, SampleSize):
            blocks += _show_sizes(result, study.name, name, shelf, comparison.new)
            links = shelf.write_table(result.to_table(), name, frame=frame, details=details)
            blocks[-1] = blocks[-1].link(*links) if blocks else Block("notes", {"notes": ()})
            continue
        block = shelf.put_table(result.to_table(), name, frame=frame, details=details, highlight=comparison.new)
        if p_values and isinstance(result, DiscriminativePower):
            block = block.link(("CSV: p values", shelf.write_parts(result.frames(), f"{name}-p-values")))
        blocks.append(block)
        if isinstance(result, SplitHalfConsistency) and question == "consistency":
            charts.append(_show_splits(result, study.name, name, shelf))
        elif isinstance(result, SignificanceContradictions):
            blocks += _show_run_pairs(result, f"{name}-run-pairs", shelf, p_values, comparison.new)
        elif isinstance(result, ReferencePairs) and question == "reference":
            blocks += _show_letters(study, name, shelf, comparison.new)
        elif isinstance(result, BaselinePreference):
            blocks += _show_deltas(result, study.name, name, shelf, comparison.new)
    return blocks + charts


def _choose_rows(result: Result) -> pd.DataFrame:
    """Return the numbers of a result, without those of every pair of runs."""
    if isinstance(result, DiscriminativePower):
        return result.rows()
    return result.to_frame()


def _choose_details(result: Result, p_values: bool) -> dict[str, pd.DataFrame]:
    """Return further numbers of a result; those of every pair of runs, split or topic only if asked for."""
    if isinstance(result, DiscriminativePower):
        return {"differences": result.compare_power()}
    if isinstance(result, SplitHalfConsistency):
        found = result.details() if p_values else {"comparisons": result.comparisons()}
        return found if len(result.measures) > 1 else {}
    if isinstance(result, BaselinePreference):
        return result.details() if p_values else {"quadrants": result.quadrants()}
    return {}


def _show_similarity(found: RankingSimilarity, collection: str, name: str, shelf: Shelf) -> Block:
    names = [one.title for one in found.measures]
    square = pd.DataFrame(found.tau, index=names, columns=names)
    tips = {
        (i, j): f"{names[i]} and {names[j]}\nτ = {found.tau[i, j]:.3f}\n"
        f"{found.confidence:.0%} interval over topics: {found.low[i, j]:.3f} to {found.high[i, j]:.3f}"
        for i, j in np.ndindex(found.tau.shape)
        if i != j
    }
    caption = f"{found.symbol} between the rankings by every two measures, {collection}. {found.no_interval}".strip()
    block = heatmap_block(square, caption, str(found.signature), tips)
    return block.link(*shelf.write_table(found.to_table(), name, frame=found.to_frame(), details=found.details()))


def _show_curves(power: DiscriminativePower, new: Sequence[str], name: str, shelf: Shelf) -> Block:
    block = curves_block(power, new)
    return shelf.put_charts(block, {name: block.content["svg"]}, power.signature)


def _show_splits(found: SplitHalfConsistency, collection: str, name: str, shelf: Shelf) -> Block:
    ends = np.quantile(found.tau, [0.025, 0.25, 0.75, 0.975], axis=0)
    rows = [
        Row(
            str(found.measures[m]), found.measures[m].title, float(found.means[m]),
            (float(ends[0, m]), float(ends[3, m])), (float(ends[1, m]), float(ends[2, m])),
        )
        for m in np.argsort(-found.means, kind="stable")
    ]  # fmt: skip
    a, b = found.sizes
    said = ", ".join(f"{row.title} {row.centre:.3f}" for row in rows)
    svg = draw_rows(rows, f"τ between rankings on {a} and {b} other topics", title=f"Mean τ over splits: {said}.")
    caption = f"τ over splits of {collection}: the mean, the middle half and the middle 95 % of splits."
    return shelf.put_charts(figure_block([svg], caption, str(found.signature)), {name: svg}, found.signature)


def _show_sizes(found: SampleSize, collection: str, name: str, shelf: Shelf, new: Sequence[str]) -> list[Block]:
    sizes = np.array(found.sizes, dtype=float)
    charts: dict[str, str] = {}
    for kind, values, x_label, y_label in (
        ("consistency", found.tau, "topics in either set", "mean τ between two sets"),
        ("power", found.power, "topics", "share of significant run pairs"),
    ):
        curves = [
            Curve(str(one), one.title, sizes, values[:, m], str(one) in new) for m, one in enumerate(found.measures)
        ]
        known = [size for size, row in zip(found.sizes, values, strict=True) if not np.isnan(row).all()]
        title = f"{y_label} against the number of topics, by measure; the numbers are in tables/{name}.csv"
        svg = draw_curves(curves, x_label, y_label, log=True, ticks=known, title=title)
        charts |= {f"{name}-{kind}": svg} if svg else {}
    if not charts:
        return []
    caption = f"Consistency and discriminative power against the number of topics of {collection}."
    names = [str(one) for one in found.measures]
    block = figure_block(list(charts.values()), caption, str(found.signature), names)
    return [shelf.put_charts(block, charts, found.signature)]


def _show_run_pairs(
    found: SignificanceContradictions, name: str, shelf: Shelf, p_values: bool, new: Sequence[str]
) -> list[Block]:
    """Show the first contradicting run pairs; a file beside the page has more of them, all of them only if asked for."""
    rows = found.run_pairs(None if p_values else LISTED)
    if not len(rows):
        return []
    total = int(found.to_frame()["contradictions"].sum())
    caption = "Measure 1 says that run 1 significantly outperforms run 2; measure 2 says the reverse."
    some = "" if len(rows) == total else f" The first {len(rows):,} of {total:,}."
    table = Table(rows.set_index("measure_1"), caption + some, found.signature)
    links = shelf.write_table(table, name)
    if len(rows) > _SHOWN:
        caption = f"{caption} The first {_SHOWN} of {total:,}."
        table = replace(table, frame=table.frame.head(_SHOWN), caption=caption)
    return [table_block(table, highlight=new, folded=f"Which run pairs ({total:,})").link(*links)]


def _show_letters(study: Study, name: str, shelf: Shelf, new: Sequence[str]) -> list[Block]:
    """Show which runs the reference, and each new measure, separate: those without a common letter."""
    held = []
    if study.reference_power is not None:
        held.append((study.reference_power.ranks(), study.reference_power.measures[0]))
    if study.power is not None:
        ranks = study.power.ranks()
        held += [(ranks, one) for one in study.power.measures if str(one) in new]
    blocks = []
    for number, (ranks, measure) in enumerate(held, start=1):
        table = ranks.leaderboard(measure)
        if len(table.frame) > _RUNS:
            caption = f"{table.caption} The first {_RUNS} of {len(table.frame):,} runs."
            table = replace(table, frame=table.frame.head(_RUNS), caption=caption)
        blocks.append(shelf.put_table(table, f"{name}-letters-{number}", folded=f"Letters of runs by {measure.title}"))
    return blocks


def _show_deltas(
    found: BaselinePreference, collection: str, name: str, shelf: Shelf, new: Sequence[str]
) -> list[Block]:
    """Draw the deltas of new measures against those of others."""
    names = [str(one) for one in found.measures]
    pairs = [
        (names.index(other), names.index(one)) for one in names if one in new for other in names if other not in new
    ]
    charts: dict[str, str] = {}
    for i, j in pairs[:_PANELS]:
        first, second = found.measures[i].title, found.measures[j].title
        x, y = found.deltas[:, i], found.deltas[:, j]
        title = f"Score deltas of {second} against those of {first}, one point per topic"
        charts[f"{name}-{len(charts) + 1}"] = draw_scatter(x, y, f"Δ {first}", f"Δ {second}", title=title)
    if not charts:
        return []
    some = f" The first {_PANELS} of {len(pairs)} pairs of measures." if len(pairs) > _PANELS else ""
    caption = (
        f"Scores of {found.first} less those of {found.second} on every topic of {collection}, by two measures each. In "
        f"the numbered corners the two measures prefer different runs.{some}"
    )
    return [
        shelf.put_charts(figure_block(list(charts.values()), caption, str(found.signature)), charts, found.signature)
    ]


def _list_skipped(comparison: Comparison) -> Section:
    found: dict[str, list[str]] = {}
    for one in comparison.collections:
        for sentence in (one.skipped or {}).values():
            found.setdefault(sentence, []).append(one.name)
    lines = tuple(f"{', '.join(names)}: {sentence}" for sentence, names in found.items())
    return Section("skipped", "What does not apply, or was not tried", lines)
