"""The report of a comparison: one HTML page, its tables and figures beside it, and report.json.

A result shows itself by its table and its charts; the report goes through all results, and knows none in particular.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from metaeval.analyses.result import Result
from metaeval.analyses.study import SMALL
from metaeval.comparison.findings import RULES, find_answer, find_facts, find_verdicts
from metaeval.comparison.results import ComparisonResults
from metaeval.comparison.summary import choose_measures, draw_answer, list_panels, show_short, show_whole
from metaeval.errors import format_count
from metaeval.files import write_together
from metaeval.show.cells import NOTHING
from metaeval.show.charts import HeatMap, LineChart, highlight
from metaeval.show.frames import flatten, format_csv, to_records
from metaeval.show.looks import write_variables
from metaeval.show.names import to_html
from metaeval.show.screen import STYLE, draw_chart, make_file
from metaeval.show.table import Table

Block = dict[str, Any]
"""A part of the page: a table or chart with links to its files, panels, or notes; folded under a title if it has one."""

MOST_ROWS = 100
"""Rows of a table in the page; its file has all of them."""

_PANEL, _CHART = 340, 620  # pixels that a panel of the answer, and any other chart, is wide

SECTIONS = {
    "similarity": ("Ranking similarity", "Do two measures rank the runs alike?",
        "Measures that rank alike on these runs need not do so on others, least of all where runs are few or far apart."),
    "consistency": ("Split-half consistency", "Does a measure give the same ranking on other topics?",
        "A measure that always gives the same wrong ranking is perfectly consistent. The test is over splits of the same "
        "topics: it says which measure is more consistent on them, not on others."),
    "power": ("Discriminative power", "How many differences between runs does a measure find significant?",
        "The papers' randomised Tukey HSD test takes runs to differ in their means only; where they differ in spread, it finds "
        "false differences. Power says nothing about whether the differences are right; a reference tells."),
    "reference": ("Against the reference", "Are the differences that a measure finds significant right?",
        "A reference errs too. Pairs share runs: the interval allows for it, by a rule that is approximate."),
    "overlap": ("Significance overlap", "Do measures find the same pairs of runs significantly different?",
        "A measure that finds few pairs overlaps little with any other, right or wrong."),
    "contradictions": ("Contradictions", "For which run pairs do two measures reach opposite significant conclusions?",
        "That two measures contradict each other does not tell which of them is wrong."),
    "coverage": ("Coverage", "Does an improvement by a measure go with improvement by all reference measures at once?",
        "It depends on which reference measures are chosen: the ones marked here are those of Amigó et al. (2020)."),
    "sample_size": ("Number of topics", "How many topics does a measure need to rank runs consistently?",
        "Curves beyond the topics at hand would be extrapolated; these end there."),
    "preference": ("Baseline preference", "Which of the two baselines does each measure prefer, topic by topic?",
        "Two runs are two runs: what holds of these baselines need not hold of others."),
}  # fmt: skip
"""By question: the title of its section, what is asked, and when not to trust the answer."""

_SECOND = {"consistency": "small_consistency", "power": "second_power", "reference": "second_reference"}
"""What stands beside a question in its section: the same on few topics, or by another test."""


def write_report(comparison: ComparisonResults, folder: Path) -> Path:
    """Write the report into a folder: whole, in the place of a former one, or not at all."""
    from metaeval.show.drawing import save_figure

    with write_together(folder, instead_of=_find_former(folder)) as where:
        files = ReportFiles(Path(where), comparison.new)
        (files.folder / "tables").mkdir()
        (files.folder / "figures").mkdir()
        sections = [_tell(comparison, files), *_ask(comparison, files)]
        lines = [f"{study.name}: {why}" for study in comparison.collections for why in study.skipped.values()]
        if lines:
            title = "What does not apply, or was not tried"
            sections.append({"anchor": "skipped", "title": title, "blocks": [{"notes": lines}]})
        sizes = [
            f"{format_count(len(study.scores.runs), 'run')} × {format_count(len(study.scores.topics), 'topic')} ({study.name})"
            for study in comparison.collections
        ]
        page = _template().render(
            title=_give_title(comparison), lead=" and ".join(sizes), sections=sections, style=STYLE,
            answers=[find_answer(comparison, name) for name in comparison.new], signature=str(comparison.signature),
            collections=[study.name for study in comparison.collections], variables=write_variables,
        )  # fmt: skip
        with warnings.catch_warnings():
            # SVG has names as text, whatever matplotlib's font lacks.
            warnings.filterwarnings("ignore", message="Glyph")
            for name in comparison.new:
                part = comparison.name_part("answer", name)
                save_figure(draw_answer(comparison, name), files.folder / "figures", part, (".svg",))
        described = _describe(comparison, files)
        files.write("report.json", json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False))
        files.write("index.html", page)
    return folder / "index.html"


@dataclass
class ReportFiles:
    """The folder of a report while it is written: every table and chart becomes a file, and a block of the page."""

    folder: Path
    new: tuple[str, ...]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put_table(self, table: Table, name: str, *, rows: pd.DataFrame | None = None, folded: str = "") -> Block:
        """Write a table as CSV and LaTeX, and return the block that shows it with links to both."""
        rows, n = table.frame if rows is None else rows, len(table.frame)
        described = {"caption": table.whole_caption, "signature": str(table.signature)}
        self.results[name] = {**described, "rows": to_records(flatten(rows))}
        links = [("CSV", self.write(f"tables/{name}.csv", format_csv(rows)))]
        links.append(("LaTeX", self.write(f"tables/{name}.tex", table.to_latex())))
        if n > MOST_ROWS:
            caption = f"{table.caption} The first {MOST_ROWS} of {n:,} rows."
            table = replace(table, frame=table.frame.head(MOST_ROWS), caption=caption)
        label = f"{table.caption} ({name})"
        return {"html": table.to_html(strong=self.new), "label": label, "links": links, "folded": folded}

    def put_result(self, result: Result, name: str, *, charts: bool = True) -> Iterator[Block]:
        """Go through the blocks that show a result: what it says of the new measures, then its charts."""
        (_, rows), *details = result.frames().items()
        besides = [result.beside(each) for each in result.list_measures() if str(each) in self.new]
        told = []
        for table in filter(None, besides):
            known = (table.frame != NOTHING).any()  # columns of which nothing is known say nothing
            told.append(table.take(list(known[known].index)) if len(table.frame) else table)
        shown = [table for table in told if len(table.frame)]
        whole = self.put_table(result.to_table(), name, rows=rows)
        yield from [] if told else [whole]
        for number, table in enumerate(shown, start=1):
            yield self.put_table(table, f"{name}-new-{number}")
        if len(shown) < len(told):
            yield {"notes": [f"{table.caption}: none." for table in told if not len(table.frame)]}
        self.results[name]["details"] = {}
        for detail, frame in details:
            if detail not in ("trials", "deltas"):  # which have a row for every split or topic
                self.write(f"tables/{name}-{detail.replace('_', '-')}.csv", format_csv(frame))
                self.results[name]["details"][detail] = to_records(frame)
        for number, chart in enumerate(result.charts() if charts else (), start=1):
            if isinstance(chart, HeatMap):
                title = f"All {len(chart.rows)} measures: {chart.label}"
                yield {"html": draw_chart(chart), "kind": "heat", "label": f"{chart.label} ({name})", "folded": title}
            elif isinstance(chart, LineChart):  # what other charts show stands in the table
                svg = draw_chart(highlight(chart, self.new), _CHART)
                link = self.write(f"figures/{name}-{number}.svg", make_file(svg, str(result.signature)))
                yield {"svg": svg, "label": f"{name}-{number}", "links": [("SVG", link)]}

    def write(self, path: str, text: str) -> str:
        """Write a file, and return where it is."""
        # The folder takes its place as a whole, once everything in it is on the disk.
        (self.folder / path).write_bytes(text.encode())
        return path


def _give_title(comparison: ComparisonResults) -> str:
    return f"{', '.join(comparison.new)} beside other measures"


def _tell(comparison: ComparisonResults, files: ReportFiles) -> dict[str, Any]:
    """Return what stands beside the answer: for every new measure its picture and a short table; all else is folded."""
    opening: list[Block] = []
    numbers: list[Block] = []
    for name in comparison.new:
        shown = choose_measures(comparison, name)
        short = show_short(comparison, name)
        panels = [(panel.title, draw_chart(panel, _PANEL)) for panel in list_panels(comparison, name, shown)]
        opening.append({"panels": panels})
        if len(shown) < len(short.frame):
            caption = f"{short.caption} Shown: {len(shown)} of {len(short.frame)} measures; all are folded below."
            short = replace(short, frame=short.frame.loc[shown], caption=caption)
        opening.append(files.put_table(short, comparison.name_part("answer", name)))
        part, rows = comparison.name_part("summary", name), find_facts(comparison, name).frame
        whole = files.put_table(show_whole(comparison, name), part, rows=rows, folded="All numbers beside each measure")
        numbers.append({**whole, "kind": "wide"})
    ways = {"higher": "Higher is better", "lower": "Lower is better", "assumed: higher": "Higher is assumed better"}
    named = {way: [str(each) for each in comparison.all_measures if each.direction == way] for way in ways}
    directions = " ".join(f"{ways[way]}: {', '.join(names)}." for way, names in named.items() if names)
    notes = [*comparison.notes, directions, *(note for study in comparison.collections for note in study.notes())]
    numbers.append({"notes": [*notes, *RULES.values()], "folded": "Runs, directions, and the rules behind the verdict"})
    return {"anchor": "verdict", "title": "Verdict", "opening": opening, "blocks": numbers}


def _ask(comparison: ComparisonResults, files: ReportFiles) -> Iterator[dict[str, Any]]:
    """Go through the sections: properties of the formulas, then every question that was asked of a collection."""
    rows = [
        (measure, name, trait.mark, trait.evidence)
        for measure, checks in comparison.traits.items()
        if any(trait.mark != NOTHING for trait in checks.values())  # of scores alone no property can be tried
        for name, trait in checks.items()
    ]
    if rows:
        frame = pd.DataFrame(rows, columns=["measure", "property", "mark", "tried, or found"]).set_index("measure")
        caption = "Each property is tried on made-up data: how many cases, or the case that speaks against it."
        table = files.put_table(Table(frame, caption, comparison.signature), "traits", folded="What was tried")
        yield {"anchor": "traits", "title": "What kind of measure", "text": caption, "blocks": [table]}
    for key, (title, question, doubt) in SECTIONS.items():
        parts = []
        for number, study in enumerate(comparison.collections, start=1):
            blocks: list[Block] = []
            for each in filter(None, (key, _SECOND.get(key))):
                if (result := getattr(study, each)) is not None:
                    blocks += files.put_result(result, _name_file(comparison, number, each), charts=each == key)
            if blocks:
                parts.append({"anchor": f"{key}-{number}", "title": study.name, "blocks": blocks, "number": number})
        pooled = comparison.pooled if key == "power" else None
        if parts:
            blocks = [] if pooled is None else list(files.put_result(pooled, "pooled-power"))
            yield {"anchor": key, "title": title, "text": question, "blocks": blocks, "parts": parts, "doubt": doubt}


def _name_file(comparison: ComparisonResults, number: int, question: str) -> str:
    """Return the name of a result's files, without suffix: a collection's own name may hold anything, theirs may not."""
    name, test = comparison.collections[number - 1].name, comparison.second_test
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:60] or "scores"
    part = f"consistency-{SMALL}" if question == "small_consistency" else question
    part = f"{question.removeprefix('second_')}-{test}" if question.startswith("second_") else part
    return f"{stem if len(comparison.collections) == 1 else f'{number}-{stem}'}-{part}"


def _find_former(folder: Path) -> set[str]:
    """Return what an earlier report in this folder says it wrote, and nothing outside of it."""
    try:
        listed = json.loads((folder / "report.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = folder.resolve()
    paths = [(folder / name).resolve() for name in listed if isinstance(name, str)]
    return {str(path.relative_to(inside)) for path in paths if inside in path.parents and path.is_file()}


def _describe(comparison: ComparisonResults, files: ReportFiles) -> dict[str, Any]:
    """Return the whole comparison as plain data."""
    answers = {name: find_answer(comparison, name) for name in comparison.new}
    found = {name: list(map(asdict, find_verdicts(comparison, name))) for name in comparison.new}
    return {
        "title": _give_title(comparison),
        "new": list(comparison.new),
        "signature": str(comparison.signature),
        "reference": None if comparison.reference is None else str(comparison.reference),
        "directions": {str(measure): measure.direction for measure in comparison.all_measures},
        "notes": list(comparison.notes),
        "diagnostics": [{"notes": study.notes(), **study.diagnostics.to_dict()} for study in comparison.collections],
        "verdicts": {
            name: {"headline": answer.headline, "text": answer.to_text(), "findings": found[name]}
            for name, answer in answers.items()
        },
        "summaries": {name: to_records(find_facts(comparison, name).frame) for name in comparison.new},
        "results": files.results,
        "skipped": {study.name: study.skipped for study in comparison.collections},
        "files": sorted(str(path.relative_to(files.folder)) for path in files.folder.rglob("*/*") if path.is_file()),
    }


def _template() -> Any:
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    loader = PackageLoader("metaeval.comparison", "templates")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["typeset"] = lambda text: Markup(to_html(str(text)))  # noqa: S704  (it escapes)
    return environment.get_template("page.html")
