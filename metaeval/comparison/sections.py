"""What the page of a comparison shows, section by section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.grades import CONTRADICTED
from metaeval.analyses.power_pairs import SignificanceContradictions
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.reference_pairs import ReferencePairs
from metaeval.analyses.result import MeasurePairs, Result
from metaeval.analyses.sample_size import SampleSize
from metaeval.analyses.split_half_consistency import SplitHalfConsistency
from metaeval.analyses.study import Study
from metaeval.comparison.answer import find_answer
from metaeval.comparison.answer_figure import list_panels
from metaeval.comparison.marks import describe_rules, mark_measures
from metaeval.comparison.page import (
    Block,
    Page,
    Section,
    curves_block,
    figure_block,
    heatmap_block,
    opening_block,
    panel_block,
    rules_block,
    table_block,
)
from metaeval.comparison.repeats import NOT_TRIED
from metaeval.comparison.report_files import ReportFiles, name_file
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.comparison.summary import choose_measures, show_short, show_summary, summarise
from metaeval.comparison.verdicts import RULES, find_verdicts
from metaeval.errors import format_count
from metaeval.measures.base import Measure
from metaeval.show.cells import NOTHING
from metaeval.show.charts import LineChart, highlight
from metaeval.show.screen import draw_chart, draw_legend
from metaeval.show.table import Table

LISTED = 200
"""Contradicting run pairs in the report, unless all of them are asked for."""

_SHOWN = 12
"""Contradicting run pairs on the page; the file beside it has more."""

_NEAREST = 10
"""Measures in the row of a new measure; the matrix below it has all."""

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


def _show_verdict(comparison: ComparisonResults, files: ReportFiles) -> Section:
    """Return the answer for every new measure with its picture and a short table; everything else is folded."""
    answers = [find_answer(comparison, name) for name in comparison.new]
    before = list(dict.fromkeys(line for answer in answers for line in answer.before))
    shown = [(_show_panels(comparison, name), _show_short(comparison, name, files)) for name in comparison.new]
    blocks = (
        opening_block(answers, before, *shown[0]),
        *(block for pair in shown[1:] for block in pair),
        *(_show_summary(comparison, name, files) for name in comparison.new),
        _list_repeats(comparison, files),
        *_show_marks(comparison, files),
        rules_block({_HEADINGS[key]: rule for key, rule in RULES.items()}, "The rules behind the verdict"),
        Block("notes", {"notes": _list_notes(comparison)}, folded="More about runs, directions and the measure"),
    )
    return Section("verdict", "Verdict", (), tuple(block for block in blocks if block.content.get("notes", True)))


def _show_panels(comparison: ComparisonResults, name: str) -> Block:
    """Return the picture of the answer, with the measures of the short table."""
    shown = choose_measures(comparison, name)
    part = len(shown) < len(comparison.measures)
    caption = f"{find_title(comparison.measures, name)} beside {_count_shown(comparison, shown)}." if part else ""
    return panel_block(list_panels(comparison, name, shown), caption, str(comparison.signature))


def _count_shown(comparison: ComparisonResults, shown: Sequence[str]) -> str:
    """Return in words which of the other measures are shown."""
    which = "the best and the nearest" if comparison.agreement is not None else "the nearest"
    return f"{len(shown) - 1} of {len(comparison.measures) - 1} other measures, {which}"


def _show_short(comparison: ComparisonResults, name: str, files: ReportFiles) -> Block:
    """Return the table of few columns that stands beside the answer, of few measures where there are many."""
    table = show_short(comparison, name)
    links = files.write_table(table, comparison.name_part("answer", name))
    shown = choose_measures(comparison, name)
    if len(shown) < len(table.frame):
        caption = f"{table.caption} Shown: {_count_shown(comparison, shown)}."
        table = replace(table, frame=table.frame.loc[shown], caption=caption)
    return table_block(table, highlight=(name,)).link(*links)


def _show_summary(comparison: ComparisonResults, name: str, files: ReportFiles) -> Block:
    """Return every measure beside a new one, with links to the sections that its columns follow from."""
    summary = show_summary(comparison, name)
    columns = list(map(str, summary.frame.columns))
    keys = [key for column in columns for start, key in _EVIDENCE.items() if column.startswith(start)]
    links = {QUESTIONS[key][0]: key for key in keys if comparison.list_results(key)}
    links |= {"What kind of measure": "traits"} if set(comparison.trait_names) & set(columns) else {}
    return files.put_table(
        summary,
        comparison.name_part("summary", name),
        frame=summarise(comparison, name),
        links=links,
        highlight=(name,),
        folded="All numbers beside each measure",
        definitions=describe_rules(comparison),
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


def _list_repeats(comparison: ComparisonResults, files: ReportFiles) -> Block:
    """Return what became of each claim with another test, another seed, or other runs."""
    rows = [
        {"claim": finding.verdict.claim, "as it is": finding.verdict.outcome, **dict(finding.verdict.conditions)}
        for name in comparison.new
        for finding in find_verdicts(comparison, name)
        if finding.key != "formula"
    ]
    frame = pd.DataFrame(rows).set_index("claim")
    caption = (
        "Whether each claim stands with another test, another seed or other runs; what came out where it does not."
    )
    not_tried = [str(look) for look in frame.columns if (frame[look].fillna(NOT_TRIED) == NOT_TRIED).all()]
    title = "Does it stand with another test, seed or choice of runs?"
    if not_tried:
        caption += f" Not tried: {', '.join(not_tried)} (metaeval compare --thorough tries them)."
    tried = [look for look in frame.columns[1:] if look not in not_tried]
    stand = [f"with {look} {(frame[look] == 'the same').sum()} of {len(frame)} claims stand" for look in tried]
    title += f" {'; '.join(stand).capitalize()}" if stand else " Not tried"
    meanings = {str(look): "What came out with this changed." for look in frame.columns[1:]}
    table = Table(frame.drop(columns=not_tried), caption, comparison.signature)
    return files.put_table(table, "looks", frame=frame, folded=title, definitions=meanings)


def _show_marks(comparison: ComparisonResults, files: ReportFiles) -> tuple[Block, Block]:
    """Return the marks, and the rules behind them."""

    def marks(frame: pd.DataFrame) -> pd.DataFrame:
        bands = {"good": "band high", "fair": "band middle", "poor": "band low", CONTRADICTED: "band low"}
        return frame.map(lambda mark: bands.get(mark.partition(" (")[0], ""))

    rules = describe_rules(comparison)
    caption = "The same as marks, like Tables 4 and 7 of Sakai (ACL 2021)."
    table = Table(mark_measures(comparison), caption, comparison.signature, marks=marks)
    title = "The same as marks: good, fair, poor"
    block = files.put_table(table, "marks", highlight=comparison.new, folded=title, definitions=rules)
    of_marks = {name: rule for name, rule in rules.items() if name not in comparison.trait_names}
    return block, rules_block(of_marks, "The rules behind the marks")


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
    measures = comparison.all_measures
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
    rules = {name: rule for name, rule in describe_rules(comparison).items() if name in comparison.trait_names}
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
        table, by = comparison.pooled.to_table(), comparison.pooled.by_collection
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


class _Place(NamedTuple):
    """Where the results of one collection go: what it and the files of a result are called, and the new measures."""

    collection: str
    name: str
    files: ReportFiles
    new: Sequence[str]


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
        place = _Place(study.name, name, files, comparison.new)
        if isinstance(result, MeasurePairs):
            blocks += _show_pairs(result, place)
            if isinstance(result, SignificanceContradictions):
                blocks += _show_run_pairs(result, place, p_values)
            continue
        if isinstance(result, DiscriminativePower) and question == "power":
            charts.append(_show_curves(result, place))
        rows, details = _choose_frames(result, p_values)
        if isinstance(result, SampleSize):
            links = files.write_table(result.to_table(), name, frame=rows, details=details)
            blocks += [block.link(*links) for block in _show_sizes(result, place)]
            continue
        meanings = {}
        if isinstance(result, BaselinePreference):
            meanings = {run: f"Topics on which {run} scores better." for run in (result.first, result.second)}
        block = files.put_table(
            result.to_table(),
            name,
            frame=rows,
            details=details,
            highlight=comparison.new,
            definitions=meanings,
        )
        if p_values and isinstance(result, DiscriminativePower):
            block = block.link(("CSV: p values", files.write_parts(result.list_run_pairs(), f"{name}-p-values")))
        blocks.append(block)
        if isinstance(result, SplitHalfConsistency) and question == "consistency":
            charts.append(_show_splits(result, place))
        elif isinstance(result, ReferencePairs) and question == "reference":
            blocks += _show_letters(study, place)
        elif isinstance(result, BaselinePreference):
            blocks += _show_deltas(result, place)
    return blocks + charts


def _choose_frames(result: Result, p_values: bool) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return the rows of a result, and further numbers; those of every pair of runs, split or topic only if asked for."""
    (_, rows), *details = result.frames().items()
    detailed = DiscriminativePower | RankingSimilarity | SplitHalfConsistency | BaselinePreference
    if not isinstance(result, detailed) or (isinstance(result, SplitHalfConsistency) and len(result.measures) < 2):
        return rows, {}
    long = () if p_values else ("trials", "deltas")
    return rows, {name: frame for name, frame in details if name not in long}


def _show_pairs(result: MeasurePairs, place: _Place) -> list[Block]:
    """Return every new measure's row, nearest first, and below it the whole matrix, folded and in the order of clusters."""
    blocks = [_show_row(result, one, place.collection) for one in result.measures if str(one) in place.new]
    rows, details = _choose_frames(result, p_values=False)
    links = place.files.write_table(result.to_table(), place.name, frame=rows, details=details)
    for chart in result.charts():
        caption = f"{chart.label}, {place.collection}: every two measures, alike ones beside each other."
        title = f"All {len(result.measures)} measures"
        blocks.append(heatmap_block(replace(chart, label=caption), str(result.signature), title).link(*links))
    return blocks


def _show_row(result: MeasurePairs, measure: Measure, collection: str) -> Block:
    """Return what a matrix says of one measure and each of the others, the nearest ones first."""
    table = result.beside(measure)
    if table is None or table.frame.empty:
        return Block("notes", {"notes": [f"{measure.title} contradicts no other measure on {collection}."]})
    n = len(table.frame)
    some = f" The first {_NEAREST} of {n}." if n > _NEAREST else ""
    caption = f"{table.caption}, {collection}.{some}"
    return table_block(replace(table, frame=table.frame.head(_NEAREST), caption=caption))


def _show_curves(power: DiscriminativePower, place: _Place) -> Block:
    block = curves_block(power, place.new)
    return place.files.put_charts(block, {place.name: block.content["svg"]}, power.signature)


def _show_splits(result: SplitHalfConsistency, place: _Place) -> Block:
    (chart,) = result.charts()
    svg = draw_chart(highlight(chart, place.new), 560)
    caption = f"τ over splits of {place.collection}: the mean, the middle half and the middle 95 % of splits."
    block = figure_block([svg], caption, str(result.signature))
    return place.files.put_charts(block, {place.name: svg}, result.signature)


def _show_sizes(result: SampleSize, place: _Place) -> list[Block]:
    charts = [highlight(chart, place.new) for chart in result.charts()]
    svgs = {
        f"{place.name}-{kind}": draw_chart(
            replace(chart, description=f"{chart.y_label} against the number of topics, by measure")
        )
        for kind, chart in zip(("consistency", "power"), charts, strict=True)
    }
    svgs = {file: svg for file, svg in svgs.items() if svg}
    if not svgs:
        return []
    caption = f"Consistency and discriminative power against the number of topics of {place.collection}."
    block = figure_block(list(svgs.values()), caption, str(result.signature), _draw_legend(charts[0]))
    return [place.files.put_charts(block, svgs, result.signature)]


def _draw_legend(chart: LineChart) -> str:
    """Return the legend of a chart, folded but for the strong lines if it is long."""
    if len(chart.lines) <= _NEAREST + 2:
        return draw_legend(chart)
    strong = draw_legend(replace(chart, lines=[line for line in chart.lines if line.strong]))
    others = draw_legend(replace(chart, lines=[line for line in chart.lines if not line.strong]))
    return f'{strong}<details class="more"><summary>The other measures</summary>{others}</details>'


def _show_run_pairs(result: SignificanceContradictions, place: _Place, p_values: bool) -> list[Block]:
    """Show the first contradicting run pairs; a file beside the page has more of them, all of them only if asked for."""
    rows = result.run_pairs(None if p_values else LISTED)
    if not len(rows):
        return []
    total = int(result.to_frame()["contradictions"].sum())
    caption = "Measure 1 says that run 1 significantly outperforms run 2; measure 2 says the reverse."
    some = "" if len(rows) == total else f" The first {len(rows):,} of {total:,}."
    table = Table(rows.set_index("measure_1"), caption + some, result.signature)
    links = place.files.write_table(table, f"{place.name}-run-pairs")
    if len(rows) > _SHOWN:
        caption = f"{caption} The first {_SHOWN} of {total:,}."
        table = replace(table, frame=table.frame.head(_SHOWN), caption=caption)
    return [table_block(table, highlight=place.new, folded=f"Which run pairs ({total:,})").link(*links)]


def _show_letters(study: Study, place: _Place) -> list[Block]:
    """Show which runs the reference, and each new measure, separate: those without a common letter."""
    leaderboards = []
    if study.reference_power is not None:
        leaderboards.append((study.reference_power.ranks(), study.reference_power.measures[0]))
    if study.power is not None:
        ranks = study.power.ranks()
        leaderboards += [(ranks, measure) for measure in study.power.measures if str(measure) in place.new]
    blocks = []
    for number, (ranks, measure) in enumerate(leaderboards, start=1):
        table = ranks.leaderboard(measure)
        if len(table.frame) > _RUNS:
            caption = f"{table.caption} The first {_RUNS} of {len(table.frame):,} runs."
            table = replace(table, frame=table.frame.head(_RUNS), caption=caption)
        title = f"Letters of runs by {measure.title}"
        blocks.append(place.files.put_table(table, f"{place.name}-letters-{number}", folded=title))
    return blocks


def _show_deltas(result: BaselinePreference, place: _Place) -> list[Block]:
    """Draw the deltas of new measures against those of others."""
    names = [str(measure) for measure in result.measures]
    pairs = [(other, new) for new in names if new in place.new for other in names if other not in place.new]
    charts = {
        f"{place.name}-{number}": draw_chart(result.compare_deltas(first, second), 242)
        for number, (first, second) in enumerate(pairs[:_PANELS], start=1)
    }
    if not charts:
        return []
    some = f" The first {_PANELS} of {len(pairs)} pairs of measures." if len(pairs) > _PANELS else ""
    caption = (
        f"Scores of {result.first} less those of {result.second} on every topic of {place.collection}, by two measures each. "
        f"In the numbered corners the two measures prefer different runs.{some}"
    )
    block = figure_block(list(charts.values()), caption, str(result.signature))
    return [place.files.put_charts(block, charts, result.signature)]


def _list_skipped(comparison: ComparisonResults) -> Section:
    collections: dict[str, list[str]] = {}
    for study in comparison.collections:
        for sentence in (study.skipped or {}).values():
            collections.setdefault(sentence, []).append(study.name)
    lines = tuple(f"{', '.join(names)}: {sentence}" for sentence, names in collections.items())
    return Section("skipped", "What does not apply, or was not tried", lines)
