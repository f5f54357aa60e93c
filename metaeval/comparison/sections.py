"""What the page of a comparison shows, section by section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.grades import CONTRADICTED
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.reference_pairs import ReferencePairs
from metaeval.analyses.result import Result
from metaeval.analyses.sample_size import SampleSize
from metaeval.analyses.significance_contradictions import SignificanceContradictions
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study
from metaeval.comparison.answer import find_answer
from metaeval.comparison.marks import describe_rules, mark_measures
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
from metaeval.comparison.repeats import NOT_TRIED
from metaeval.comparison.report_files import ReportFiles, name_file
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.comparison.summary import show_short, show_summary, summarise
from metaeval.comparison.verdicts import RULES, Finding, find_verdicts
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.cells import NOTHING
from metaeval.show.charts import highlight_lines
from metaeval.show.screen import draw_chart, draw_legend
from metaeval.show.table import Table

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
            "The papers' randomised Tukey HSD test takes runs to differ in their means only; where they differ in spread, "
            "it finds false differences. The recommended test, bootstrap-t, does not assume this.",
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


def lay_out(comparison: ComparisonResults, files: ReportFiles, p_values: bool = False) -> Page:
    """Return the page of a comparison, and write the tables and charts that it links to."""
    lead = " and ".join(
        f"{format_count(len(study.scores.runs), 'run')} × {format_count(len(study.scores.topics), 'topic')} ({study.name})"
        for study in comparison.collections
    )
    sections = [_show_verdict(comparison, files), _list_traits(comparison, files)]
    sections += [_show_question(comparison, key, files, p_values) for key in QUESTIONS]
    sections.append(_list_skipped(comparison))
    shown = [section for section in sections if section.blocks or section.parts or section.text]
    names = tuple(study.name for study in comparison.collections)
    return Page(give_title(comparison), f"{lead}.", tuple(shown), names, str(comparison.signature))


def give_title(comparison: ComparisonResults) -> str:
    """Return the title of a comparison's report."""
    titles = [find_title(comparison.measures, name) for name in comparison.new]
    return f"{', '.join(titles)} beside the established measures"


def list_measures(comparison: ComparisonResults) -> list[Measure]:
    """Return all measures, and what they are held against."""
    return [*comparison.measures, *([] if comparison.reference is None else [comparison.reference])]


def _show_verdict(comparison: ComparisonResults, files: ReportFiles) -> Section:
    """Return the answer: a paragraph for every new measure, what to mind, and the summary beside each in numbers."""
    findings_by_measure = {name: find_verdicts(comparison, name) for name in comparison.new}
    answers = [find_answer(comparison, name) for name in comparison.new]
    before = dict.fromkeys(line for answer in answers for line in answer.before)
    told = [Block("answer", {"headline": each.sentence, "findings": each.findings}) for each in answers]
    blocks = (
        *told,
        Block("notes", {"notes": list(before), "title": "Before you rely on this"} if before else {"notes": []}),
        *(_show_short(comparison, name, files) for name in comparison.new),
        *(_show_summary(comparison, name, files) for name in comparison.new),
        _list_repeats(comparison, findings_by_measure, files),
        _show_marks(comparison, files),
        rules_block({_HEADINGS[key]: rule for key, rule in RULES.items()}, "The rules behind the verdict"),
        Block("notes", {"notes": _list_notes(comparison)}, folded="More about runs, directions and the measure"),
    )
    return Section("verdict", "Verdict", (), tuple(block for block in blocks if block.content.get("notes", True)))


def _show_short(comparison: ComparisonResults, name: str, files: ReportFiles) -> Block:
    """Return the table of few columns that stands below the answer."""
    number = comparison.new.index(name) + 1
    return files.put_table(
        show_short(comparison, name), "answer" if number == 1 else f"answer-{number}", highlight=(name,)
    )


def _show_summary(comparison: ComparisonResults, name: str, files: ReportFiles) -> Block:
    """Return every measure beside a new one, each column with a link to the section that it follows from."""
    links = dict.fromkeys((name for traits in comparison.traits.values() for name in traits), "traits")
    summary = show_summary(comparison, name)
    for column in map(str, summary.frame.columns):
        about = next((key for start, key in _EVIDENCE.items() if column.startswith(start)), "")
        links |= {column: about} if about else {}
    number = comparison.new.index(name) + 1
    file = "summary" if number == 1 else f"summary-{number}"
    return files.put_table(
        summary,
        file,
        frame=summarise(comparison, name),
        links=links,
        highlight=(name,),
        folded="All numbers beside each measure",
    )


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
    "agreement": "agrees with the reference",
    "reference": "the reference",
    "similarity": "ranks runs like",
    "consistency": "most or least consistent",
    "power": "finds pairs of runs significant",
    "contradictions": "contradicts",
    "formula": "properties of the formula",
}


def _list_repeats(
    comparison: ComparisonResults, findings_by_measure: Mapping[str, Sequence[Finding]], files: ReportFiles
) -> Block:
    """Return what became of each claim with another test, another seed, or other runs."""
    rows = [
        {"claim": finding.verdict.claim, "as it is": finding.verdict.outcome, **dict(finding.verdict.conditions)}
        for findings in findings_by_measure.values()
        for finding in findings
        if finding.key != "formula"
    ]
    frame = pd.DataFrame(rows).set_index("claim")
    caption = (
        "Whether each claim stands with another test, another seed or other runs; what came out where it does not."
    )
    not_tried = [str(look) for look in frame.columns if (frame[look] == NOT_TRIED).all()]
    title = "Does it stand with another test, seed or choice of runs?"
    if not_tried:
        caption += f" Not tried: {', '.join(not_tried)} (metaeval compare --thorough tries them)."
        tried = ", ".join(look for look in frame.columns[1:] if look not in not_tried)
        title += f" Tried: {tried}; the rest was not tried" if tried else " Not tried"
    return files.put_table(Table(frame, caption, comparison.signature), "looks", folded=title)


def _show_marks(comparison: ComparisonResults, files: ReportFiles) -> Block:
    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        bands = {"good": "band high", "fair": "band middle", "poor": "band low", CONTRADICTED: "band low"}
        return frame.map(lambda mark: bands.get(mark.partition(" (")[0], ""))

    rules = " ".join(
        f"{name}: {rule}" for name, rule in describe_rules(comparison).items() if name not in _name_traits(comparison)
    )
    table = Table(
        mark_measures(comparison),
        f"Like Tables 4 and 7 of Sakai (ACL 2021). {rules}",
        comparison.signature,
        marks=marks,
    )
    return files.put_table(table, "marks", highlight=comparison.new, folded="The same as marks: good, fair, poor")


def _name_traits(comparison: ComparisonResults) -> set[str]:
    return {name for checks in comparison.traits.values() for name in checks}


def _list_notes(comparison: ComparisonResults) -> list[str]:
    notes = [note for study in comparison.collections for note in study.notes()]
    return [*comparison.notes, _describe_directions(comparison), *notes]


def _describe_directions(comparison: ComparisonResults) -> str:
    """Return in sentences of which measures higher or lower scores are better, and of which that is assumed."""
    words = {
        "higher": "Higher is better",
        "lower": "Lower is better",
        "assumed: higher": "Assumed, because nobody stated it, that higher is better",
    }
    measures = list_measures(comparison)
    named = {way: [str(measure) for measure in measures if measure.direction == way] for way in words}
    return " ".join(f"{words[way]}: {', '.join(names)}." for way, names in named.items() if names)


def _list_traits(comparison: ComparisonResults, files: ReportFiles) -> Section:
    rows = [
        (measure, name, trait.mark, trait.evidence)
        for measure, checks in comparison.traits.items()
        for name, trait in checks.items()
        if trait.mark != NOTHING
    ]
    if not rows:
        return Section("traits", "What kind of measure")
    frame = pd.DataFrame(rows, columns=["measure", "property", "mark", "tried, or found"]).set_index("measure")
    caption = "Each property is tried on made-up data: how many cases, or the case that speaks against it."
    table = Table(frame, caption, comparison.signature)
    block = files.put_table(table, "traits", highlight=comparison.new, folded="What was tried, and what was found")
    rules = {name: rule for name, rule in describe_rules(comparison).items() if name in _name_traits(comparison)}
    return Section(
        "traits", "What kind of measure", (caption,), (block, rules_block(rules, "What the properties mean"))
    )


def _show_question(comparison: ComparisonResults, key: str, files: ReportFiles, p_values: bool) -> Section:
    title, question, doubts = QUESTIONS[key]
    parts = []
    for number, study in enumerate(comparison.collections, start=1):
        blocks = tuple(_list_blocks(comparison, number, key, files, p_values))
        if blocks:
            parts.append(Section(f"{key}-{number}", study.name, (), blocks, collection=number))
    pooled: tuple[Block, ...] = ()
    if key == "power" and comparison.pooled is not None:
        table, by = comparison.pooled.to_table(), comparison.pooled.by_collection()
        frame, details = comparison.pooled.to_frame(), {"by_collection": by}
        pooled = (files.put_table(table, "pooled-power", frame=frame, details=details, highlight=comparison.new),)
    if not parts:
        return Section(key, title)
    return Section(key, title, (question,), pooled, tuple(parts), doubts)


_TOGETHER = {
    "consistency": ("consistency", "small_consistency"),
    "power": ("power", "second_power"),
    "reference": ("reference", "second_reference"),
}


def _list_blocks(
    comparison: ComparisonResults, number: int, key: str, files: ReportFiles, p_values: bool
) -> list[Block]:
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
            blocks.append(_show_similarity(result, study.name, name, files))
            continue
        if isinstance(result, DiscriminativePower) and question == "power":
            charts.append(_show_curves(result, comparison.new, name, files))
        details = _choose_details(result, p_values)
        frame = _choose_rows(result)
        if isinstance(result, SampleSize):
            links = files.write_table(result.to_table(), name, frame=frame, details=details)
            blocks += [block.link(*links) for block in _show_sizes(result, study.name, name, files, comparison.new)]
            continue
        block = files.put_table(result.to_table(), name, frame=frame, details=details, highlight=comparison.new)
        if p_values and isinstance(result, DiscriminativePower):
            block = block.link(("CSV: p values", files.write_parts(result.frames(), f"{name}-p-values")))
        blocks.append(block)
        if isinstance(result, SplitHalfConsistency) and question == "consistency":
            charts.append(_show_splits(result, study.name, name, files))
        elif isinstance(result, SignificanceContradictions):
            blocks += _show_run_pairs(result, f"{name}-run-pairs", files, p_values, comparison.new)
        elif isinstance(result, ReferencePairs) and question == "reference":
            blocks += _show_letters(study, name, files, comparison.new)
        elif isinstance(result, BaselinePreference):
            blocks += _show_deltas(result, study.name, name, files, comparison.new)
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
        details = result.details() if p_values else {"comparisons": result.comparisons()}
        return details if len(result.measures) > 1 else {}
    if isinstance(result, BaselinePreference):
        return result.details() if p_values else {"quadrants": result.quadrants()}
    return {}


def _show_similarity(result: RankingSimilarity, collection: str, name: str, files: ReportFiles) -> Block:
    (chart,) = result.charts()
    caption = f"{result.symbol} between the rankings by every two measures, {collection}. {result.no_interval}".strip()
    block = heatmap_block(replace(chart, label=caption), str(result.signature))
    return block.link(*files.write_table(result.to_table(), name, frame=result.to_frame(), details=result.details()))


def _show_curves(power: DiscriminativePower, new: Sequence[str], name: str, files: ReportFiles) -> Block:
    block = curves_block(power, new)
    return files.put_charts(block, {name: block.content["svg"]}, power.signature)


def _show_splits(result: SplitHalfConsistency, collection: str, name: str, files: ReportFiles) -> Block:
    (chart,) = result.charts()
    svg = draw_chart(chart, 560)
    caption = f"τ over splits of {collection}: the mean, the middle half and the middle 95 % of splits."
    return files.put_charts(figure_block([svg], caption, str(result.signature)), {name: svg}, result.signature)


def _show_sizes(result: SampleSize, collection: str, name: str, files: ReportFiles, new: Sequence[str]) -> list[Block]:
    charts = [highlight_lines(chart, new) for chart in result.charts()]
    svgs = {
        f"{name}-{kind}": draw_chart(
            replace(chart, description=f"{chart.y_label} against the number of topics, by measure")
        )
        for kind, chart in zip(("consistency", "power"), charts, strict=True)
    }
    svgs = {file: svg for file, svg in svgs.items() if svg}
    if not svgs:
        return []
    caption = f"Consistency and discriminative power against the number of topics of {collection}."
    block = figure_block(list(svgs.values()), caption, str(result.signature), draw_legend(charts[0]))
    return [files.put_charts(block, svgs, result.signature)]


def _show_run_pairs(
    result: SignificanceContradictions, name: str, files: ReportFiles, p_values: bool, new: Sequence[str]
) -> list[Block]:
    """Show the first contradicting run pairs; a file beside the page has more of them, all of them only if asked for."""
    rows = result.run_pairs(None if p_values else LISTED)
    if not len(rows):
        return []
    total = int(result.to_frame()["contradictions"].sum())
    caption = "Measure 1 says that run 1 significantly outperforms run 2; measure 2 says the reverse."
    some = "" if len(rows) == total else f" The first {len(rows):,} of {total:,}."
    table = Table(rows.set_index("measure_1"), caption + some, result.signature)
    links = files.write_table(table, name)
    if len(rows) > _SHOWN:
        caption = f"{caption} The first {_SHOWN} of {total:,}."
        table = replace(table, frame=table.frame.head(_SHOWN), caption=caption)
    return [table_block(table, highlight=new, folded=f"Which run pairs ({total:,})").link(*links)]


def _show_letters(study: Study, name: str, files: ReportFiles, new: Sequence[str]) -> list[Block]:
    """Show which runs the reference, and each new measure, separate: those without a common letter."""
    leaderboards = []
    if study.reference_power is not None:
        leaderboards.append((study.reference_power.ranks(), study.reference_power.measures[0]))
    if study.power is not None:
        ranks = study.power.ranks()
        leaderboards += [(ranks, measure) for measure in study.power.measures if str(measure) in new]
    blocks = []
    for number, (ranks, measure) in enumerate(leaderboards, start=1):
        table = ranks.leaderboard(measure)
        if len(table.frame) > _RUNS:
            caption = f"{table.caption} The first {_RUNS} of {len(table.frame):,} runs."
            table = replace(table, frame=table.frame.head(_RUNS), caption=caption)
        blocks.append(files.put_table(table, f"{name}-letters-{number}", folded=f"Letters of runs by {measure.title}"))
    return blocks


def _show_deltas(
    result: BaselinePreference, collection: str, name: str, files: ReportFiles, new: Sequence[str]
) -> list[Block]:
    """Draw the deltas of new measures against those of others."""
    names = [str(measure) for measure in result.measures]
    pairs = [(other, name) for name in names if name in new for other in names if other not in new]
    charts = {
        f"{name}-{number}": draw_chart(result.compare_deltas(first, second), 242)
        for number, (first, second) in enumerate(pairs[:_PANELS], start=1)
    }
    if not charts:
        return []
    some = f" The first {_PANELS} of {len(pairs)} pairs of measures." if len(pairs) > _PANELS else ""
    caption = (
        f"Scores of {result.first} less those of {result.second} on every topic of {collection}, by two measures each. In "
        f"the numbered corners the two measures prefer different runs.{some}"
    )
    return [
        files.put_charts(figure_block(list(charts.values()), caption, str(result.signature)), charts, result.signature)
    ]


def _list_skipped(comparison: ComparisonResults) -> Section:
    collections: dict[str, list[str]] = {}
    for study in comparison.collections:
        for sentence in (study.skipped or {}).values():
            collections.setdefault(sentence, []).append(study.name)
    lines = tuple(f"{', '.join(names)}: {sentence}" for sentence, names in collections.items())
    return Section("skipped", "What does not apply, or was not tried", lines)
