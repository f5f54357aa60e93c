"""The report of a comparison: one HTML page, its tables and figures beside it, and report.json.

A result shows itself by its table and its charts; the report goes through all results, and knows none in particular.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import pandas as pd

from metaeval.analyses.result import Result
from metaeval.analyses.study import SMALL, Study
from metaeval.comparison.answer_figure import draw_answer, list_panels
from metaeval.comparison.findings import RULES, find_answer, find_verdicts, summarise
from metaeval.comparison.repeats import NOT_TRIED
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.comparison.summary import choose_measures, show_short, show_summary
from metaeval.errors import MetaevalError, format_count
from metaeval.files import write_together
from metaeval.show.charts import Chart, HeatMap, IntervalChart, LineChart, highlight
from metaeval.show.frames import flatten, format_csv, to_records, write_frames
from metaeval.show.names import to_html
from metaeval.show.screen import STYLE, draw_chart, make_file, write_variables
from metaeval.show.table import Table

if TYPE_CHECKING:
    from jinja2 import Environment

Figures = Literal["page", "all"]
"""Figures drawn in the page and as SVG, or as PDF and PNG for print too."""

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
        "false differences. Power says nothing about whether the differences are right: give a reference, and the report tells."),
    "reference": ("Against the reference", "Are the differences that a measure finds significant right?",
        "A reference errs too. Pairs share runs: the interval allows for it, by a rule that is approximate."),
    "overlap": ("Significance overlap", "Do measures find the same pairs of runs significantly different?",
        "A measure that finds few pairs overlaps little with any other, right or wrong."),
    "contradictions": ("Contradictions", "For which run pairs do two measures reach opposite significant conclusions?",
        "That two measures contradict each other does not tell which of them is wrong."),
    "coverage": ("Coverage", "Does an improvement by a measure go with improvement by all reference measures at once?",
        "It depends on which reference measures are chosen."),
    "sample_size": ("Number of topics", "How many topics does a measure need to rank consistently and to tell runs apart?",
        "Curves beyond the topics at hand would be extrapolated; these end there."),
    "preference": ("Baseline preference", "Which of the two baselines does each measure prefer, topic by topic?",
        "Two runs are two runs: what holds of these baselines need not hold of others."),
}  # fmt: skip
"""By question: the title of its section, what is asked, and when not to trust the answer."""

_SECOND = {"consistency": "small_consistency", "power": "second_power", "reference": "second_reference"}
"""What stands beside a question in its section: the same on few topics, or by another test."""


def write_report(
    comparison: ComparisonResults, folder: Path, *, figures: Figures = "page", p_values: bool = False
) -> Path:
    """Write the report into a folder: whole, in the place of a former one, or not at all."""
    if figures not in get_args(Figures):
        raise MetaevalError(f"there is no choice of figures {figures!r}: use {', '.join(get_args(Figures))}")
    with write_together(folder, instead_of=_find_former(folder)) as where:
        aside = Path(where)
        (aside / "tables").mkdir(), (aside / "figures").mkdir()
        files = ReportFiles(aside, comparison.new)
        sections = [_tell(comparison, files), *_ask(comparison, files, p_values), *_list_rest(comparison)]
        page = _template().render(
            title=give_title(comparison), lead=_describe_data(comparison), sections=sections, style=STYLE,
            answers=[find_answer(comparison, name) for name in comparison.new], signature=str(comparison.signature),
            collections=[study.name for study in comparison.collections], variables=write_variables,
        )  # fmt: skip
        if figures == "all":
            _draw_for_print(comparison, aside / "figures")
        text = json.dumps(_describe(comparison, files), ensure_ascii=False, indent=1, allow_nan=False)
        (aside / "report.json").write_bytes(text.encode())
        (aside / "index.html").write_bytes(page.encode())
    return folder / "index.html"


@dataclass
class ReportFiles:
    """The folder of a report while it is written: every table and chart becomes a file, and a block of the page."""

    folder: Path
    new: Sequence[str]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    def put_table(
        self, table: Table, name: str, *, frame: pd.DataFrame | None = None, folded: str = ""
    ) -> dict[str, Any]:
        """Write a table as CSV and LaTeX, and return the block that shows it with links to both."""
        rows, n = table.frame if frame is None else frame, len(table.frame)
        self.results[name] = {
            "caption": table.whole_caption, "signature": str(table.signature), "rows": to_records(flatten(rows)),
        }  # fmt: skip
        if n > MOST_ROWS:
            caption = f"{table.caption} The first {MOST_ROWS} of {n:,} rows."
            table = replace(table, frame=table.frame.head(MOST_ROWS), caption=caption)
        links = [("CSV", self.write(f"tables/{name}.csv", format_csv(rows)))]
        links.append(("LaTeX", self.write(f"tables/{name}.tex", table.to_latex())))
        return {
            "html": table.to_html(highlight=self.new),
            "label": f"{table.caption} ({name})",
            "links": links,
            "folded": folded,
        }

    def put_chart(self, chart: Chart, name: str, signature: object, *, width: int = _CHART) -> dict[str, Any]:
        """Write a chart as SVG, and return the block that shows it; heat maps are tables, which are folded."""
        if isinstance(chart, HeatMap):
            return {
                "html": draw_chart(chart),
                "label": name,
                "links": [],
                "folded": f"All {len(chart.rows)} measures: {chart.label}",
            }
        if isinstance(chart, LineChart | IntervalChart):
            chart = highlight(chart, self.new)
        svg = draw_chart(chart, width)
        return {
            "svg": svg,
            "label": name,
            "links": [("SVG", self.write(f"figures/{name}.svg", make_file(svg, str(signature))))],
        }

    def put_result(self, result: Result, name: str, p_values: bool) -> Iterator[dict[str, Any]]:
        """Go through the blocks that show a result: what it says of the new measures, then its charts."""
        rows = [row for measure in self.new if (row := result.beside(measure)) is not None]
        for number, table in enumerate(rows or [result.to_table()]):
            if not len(table.frame):
                self.put_table(result.to_table(), name, frame=result.rows())
                yield {"notes": [f"{table.caption.rstrip('.')}: none."]}
                continue
            yield self.put_table(table, f"{name}-{number}" if number else name, frame=None if rows else result.rows())
        for number, chart in enumerate(result.charts(), start=1):
            yield self.put_chart(chart, f"{name}-{number}", result.signature)
        for detail, frame in result.details().items() if p_values else ():
            self.write(f"tables/{name}-{detail}.csv", format_csv(frame))
        if p_values and hasattr(result, "frames"):
            write_frames(self.folder / "tables" / f"{name}-p-values.csv", result.frames())

    def write(self, path: str, text: str) -> str:
        """Write a file, and return where it is."""
        # The folder takes its place as a whole, once everything in it is on the disk.
        (self.folder / path).write_bytes(text.encode())
        return path


def give_title(comparison: ComparisonResults) -> str:
    """Return the title of a comparison's report."""
    titles = [find_title(comparison.measures, name) for name in comparison.new]
    return f"{', '.join(titles)} beside the established measures"


def _describe_data(comparison: ComparisonResults) -> str:
    return " and ".join(
        f"{format_count(len(study.scores.runs), 'run')} × {format_count(len(study.scores.topics), 'topic')} ({study.name})"
        for study in comparison.collections
    )


def _tell(comparison: ComparisonResults, files: ReportFiles) -> dict[str, Any]:
    """Return what stands beside the answer: for every new measure its picture and a short table; all else is folded."""
    blocks: list[dict[str, Any]] = []
    for name in comparison.new:
        shown, short = choose_measures(comparison, name), show_short(comparison, name)
        panels = list_panels(comparison, name, shown)
        blocks.append({"panels": [(panel.title, draw_chart(panel, _PANEL)) for panel in panels], "links": []})
        if len(shown) < len(short.frame):
            caption = f"{short.caption} Shown: {len(shown)} of {len(short.frame)} measures, the best and the nearest."
            short = replace(short, frame=short.frame.loc[shown], caption=caption)
        blocks.append(files.put_table(short, comparison.name_part("answer", name)))
    for name in comparison.new:
        table, part = show_summary(comparison, name), comparison.name_part("summary", name)
        folded = "All numbers beside each measure"
        blocks.append(files.put_table(table, part, frame=summarise(comparison, name), folded=folded))
    blocks.append(
        files.put_table(_tabulate_repeats(comparison), "looks", folded="Does each claim stand if something changes?")
    )
    notes = [note for study in comparison.collections for note in study.notes()]
    blocks.append(
        {"notes": [*comparison.notes, _describe_directions(comparison), *notes], "folded": "Runs and directions"}
    )
    blocks.append({"notes": list(RULES.values()), "folded": "The rules behind the verdict"})
    return {"anchor": "verdict", "title": "Verdict", "blocks": blocks}


def _tabulate_repeats(comparison: ComparisonResults) -> Table:
    """Return what became of each claim with another test, another seed, or other runs."""
    rows = [
        {"claim": finding.claim, "as it is": finding.outcome, **finding.conditions}
        for name in comparison.new
        for finding in find_verdicts(comparison, name)
        if finding.key != "formula"
    ]
    frame = pd.DataFrame(rows).set_index("claim")
    missing = [str(change) for change in frame.columns if (frame[change].fillna(NOT_TRIED) == NOT_TRIED).all()]
    caption = (
        "Whether each claim stands with another test, another seed or other runs; what came out where it does not."
    )
    caption += f" Not tried: {', '.join(missing)} (metaeval compare --thorough tries them)." * bool(missing)
    return Table(frame.drop(columns=missing), caption, comparison.signature)


def _describe_directions(comparison: ComparisonResults) -> str:
    """Return in sentences of which measures higher or lower scores are better, and of which that is assumed."""
    words = {
        "higher": "Higher is better",
        "lower": "Lower is better",
        "assumed: higher": "Assumed, because nobody stated it, that higher is better",
    }
    named = {way: [str(each) for each in comparison.all_measures if each.direction == way] for way in words}
    return " ".join(f"{words[way]}: {', '.join(names)}." for way, names in named.items() if names)


def _ask(comparison: ComparisonResults, files: ReportFiles, p_values: bool) -> Iterator[dict[str, Any]]:
    """Go through the sections: properties of the formulas, then every question that was asked of a collection."""
    rows = [
        (measure, name, trait.mark, trait.evidence)
        for measure, checks in comparison.traits.items()
        for name, trait in checks.items()
    ]
    if rows:
        frame = pd.DataFrame(rows, columns=["measure", "property", "mark", "tried, or found"]).set_index("measure")
        caption = "Each property is tried on made-up data: how many cases, or the case that speaks against it."
        blocks = [files.put_table(Table(frame, caption, comparison.signature), "traits", folded="What was tried")]
        yield {"anchor": "traits", "title": "What kind of measure", "text": caption, "blocks": blocks}
    for key, (title, question, doubt) in SECTIONS.items():
        parts = []
        for number, study in enumerate(comparison.collections, start=1):
            found = [
                (each, getattr(study, each))
                for each in (key, _SECOND.get(key, key))
                if getattr(study, each) is not None
            ]
            names = dict((each, name_file(comparison, number, each)) for each, _ in found)
            blocks = [
                block
                for each, result in dict(found).items()
                for block in files.put_result(result, names[each], p_values)
            ]
            parts += (
                [{"anchor": f"{key}-{number}", "title": study.name, "blocks": blocks, "number": number}]
                if blocks
                else []
            )
        pooled = comparison.pooled if key == "power" else None
        blocks = [] if pooled is None else list(files.put_result(pooled, "pooled-power", p_values))
        if parts:
            yield {"anchor": key, "title": title, "text": question, "blocks": blocks, "parts": parts, "doubt": doubt}


def _list_rest(comparison: ComparisonResults) -> Iterator[dict[str, Any]]:
    lines = [f"{study.name}: {why}" for study in comparison.collections for why in (study.skipped or {}).values()]
    if lines:
        yield {"anchor": "skipped", "title": "What does not apply, or was not tried", "blocks": [{"notes": lines}]}


def name_file(comparison: ComparisonResults, number: int, question: str) -> str:
    """Return the name of a result's files, without suffix: a collection's own name may hold anything, theirs may not."""
    study: Study = comparison.collections[number - 1]
    stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in study.name)[:60] or "scores"
    test = comparison.second_test
    names = {
        "small_consistency": f"consistency-{SMALL}",
        "second_power": f"power-{test}",
        "second_reference": f"reference-{test}",
    }
    prefix = stem if len(comparison.collections) == 1 else f"{number}-{stem}"
    return f"{prefix}-{names.get(question, question)}"


def _draw_for_print(comparison: ComparisonResults, folder: Path) -> None:
    """Draw every result, and the answer, as PDF and PNG."""
    from metaeval.show.drawing import save_figure

    for number, study in enumerate(comparison.collections, start=1):
        for question, result in study.results():
            save_figure(result.plot(), folder, name_file(comparison, number, question), (".png", ".pdf"))
    for name in comparison.new:
        save_figure(
            draw_answer(comparison, name), folder, comparison.name_part("answer", name), (".png", ".svg", ".pdf")
        )


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
    return {
        "title": give_title(comparison),
        "new": list(comparison.new),
        "signature": str(comparison.signature),
        "thorough": comparison.thorough,
        "reference": None if comparison.reference is None else str(comparison.reference),
        "directions": {str(measure): measure.direction for measure in comparison.all_measures},
        "notes": list(comparison.notes),
        "diagnostics": [{"notes": study.notes(), **study.diagnostics.to_dict()} for study in comparison.collections],
        "verdicts": {
            name: {
                "headline": (answer := find_answer(comparison, name)).headline,
                "text": answer.to_text(),
                "findings": [asdict(finding) for finding in find_verdicts(comparison, name)],
            }
            for name in comparison.new
        },
        "summaries": {name: to_records(summarise(comparison, name)) for name in comparison.new},
        "results": files.results,
        "skipped": {study.name: study.skipped or {} for study in comparison.collections},
        "files": sorted(str(path.relative_to(files.folder)) for path in files.folder.rglob("*/*") if path.is_file()),
    }


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    loader = PackageLoader("metaeval.comparison", "templates")
    made: Environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters["typeset"] = lambda text: Markup(to_html(str(text)))  # noqa: S704  (it escapes)
    return made.get_template("page.html")
