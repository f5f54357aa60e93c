"""The report of a comparison: one HTML page, its tables and figures beside it, and report.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

from metaeval.analyses.result import Result
from metaeval.comparison.answer import find_answer
from metaeval.comparison.answer_figure import draw_answer
from metaeval.comparison.marks import mark_measures
from metaeval.comparison.report_files import ReportFiles, name_results
from metaeval.comparison.results import ComparisonResults
from metaeval.comparison.sections import give_title, lay_out
from metaeval.comparison.summary import summarise
from metaeval.comparison.verdicts import find_verdicts
from metaeval.errors import MetaevalError
from metaeval.files import write_together
from metaeval.show.table import to_records

Figures = Literal["page", "all"]
"""Figures drawn in the page and as SVG, or as PDF and PNG for print too."""

_TASKS_A_PROCESS = 6
"""Fewer figures than this are drawn sooner than another process starts."""


def write_report(
    comparison: ComparisonResults, folder: Path, *, figures: Figures = "page", p_values: bool = False
) -> Path:
    """Write the report into a folder: whole, in the place of a former one, or not at all."""
    if figures not in get_args(Figures):
        raise MetaevalError(f"there is no choice of figures {figures!r}: use {', '.join(get_args(Figures))}")
    with write_together(folder, instead_of=_find_former(folder)) as where:
        aside = Path(where)
        files = ReportFiles(aside)
        page = lay_out(comparison, files, p_values)
        if figures == "all":
            _draw_all(comparison, aside)
            _draw_answers(comparison, aside)
        names = sorted(str(path.relative_to(aside)) for path in aside.rglob("*/*") if path.is_file())
        described = _describe(comparison, files, names)
        text = json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False)
        (aside / "report.json").write_bytes(text.encode())
        (aside / "index.html").write_bytes(page.render().encode())
    return folder / "index.html"


def _draw_all(comparison: ComparisonResults, aside: Path) -> None:
    """Draw every result as PDF and PNG, on all processors: drawing takes longer than computing what is drawn."""
    import joblib

    tasks = [joblib.delayed(_draw)(result, aside / "figures", name) for name, result in name_results(comparison)]
    joblib.Parallel(n_jobs=min(joblib.cpu_count(), len(tasks) // _TASKS_A_PROCESS) or 1)(tasks)


def _draw_answers(comparison: ComparisonResults, aside: Path) -> None:
    """Draw what came out for each new measure."""
    from metaeval.show.drawing import save_figure

    for name in comparison.new:
        figure, file = draw_answer(comparison, name), comparison.name_part("answer", name)
        save_figure(figure, aside / "figures", file, (".png", ".svg", ".pdf"))


def _draw(result: Result, folder: Path, name: str) -> None:
    from metaeval.show.drawing import save_figure

    save_figure(result.plot(), folder, name, (".png", ".pdf"))


def _find_former(folder: Path) -> set[str]:
    """Return what an earlier report in this folder says it wrote, and nothing outside of it."""
    try:
        listed = json.loads((folder / "report.json").read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    inside = folder.resolve()
    paths = [(folder / name).resolve() for name in listed if isinstance(name, str)]
    return {str(path.relative_to(inside)) for path in paths if inside in path.parents and path.is_file()}


def _describe(comparison: ComparisonResults, files: ReportFiles, names: list[str]) -> dict[str, Any]:
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
                "findings": [finding.verdict.to_dict() for finding in find_verdicts(comparison, name)],
            }
            for name in comparison.new
        },
        "summary": to_records(summarise(comparison)),
        "summaries": {name: to_records(summarise(comparison, name)) for name in comparison.new},
        "marks": to_records(mark_measures(comparison)),
        "traits": {
            measure: {name: {"mark": trait.mark, "evidence": trait.evidence} for name, trait in traits.items()}
            for measure, traits in comparison.traits.items()
        },
        "results": files.results,
        "skipped": {study.name: study.skipped or {} for study in comparison.collections},
        "files": names,
    }
