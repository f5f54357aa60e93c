"""One paper at a time: compute it, then write, render or check its results, and report in a line."""

from __future__ import annotations

import importlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.old.check import (
    PAGE,
    adopt_committed,
    check_paper,
    compare_pages,
    count_committed,
    is_covered,
    renew_picture,
)
from experiments.old.digests import record_files
from experiments.old.index import write_index
from experiments.old.outcome import Outcome, Settings
from experiments.old.page import Page
from metaeval.files import write_atomically

PAPERS = {
    "acl2021": "Sakai, ACL 2021: measures for ordinal classification and ordinal quantification",
    "lq2021": "Sakai, LQ 2021: a closer look at measures for ordinal quantification",
    "worked_examples": "examples that the papers work out by hand: they need no data",
    "amigo2020": "Amigó et al., ACL 2020: coverage, the synthetic study, formal properties of measures",
    "cardoso2011": "Cardoso and Sousa, 2011: measuring the performance of ordinal classification",
    "alttest": "judges against people: the alternative annotator test and measures on five sets of labels",
    "wmt2023": "Freitag et al., WMT 2023: which metrics are right, and what can be seen without people",
    "trec": "AP, nDCG, ERR, P@k and RR on seven TREC collections",
    "ordinal_sets": "classifiers on the five ordinal sets that the package skordinal brings; needs no download",
}

STUDIES = {
}
"""The modules of the studies that are in no paper; the steps of a paper are in steps.py of its folder."""


@dataclass
class Report:
    """What became of one paper."""

    paper: str
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    page: str = ""
    remarks: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    files: int = 0
    left: int = 0


def run_paper(
    paper: str, settings: Settings, out: Path, *, check: bool = False, render: Path | None = None
) -> tuple[Report, list[Outcome]]:
    """Compute one paper, and write, render or check its results."""
    began = time.perf_counter()
    steps = importlib.import_module(STUDIES.get(paper, f"experiments.{paper}.steps"))
    page = Page(paper, steps)
    outcomes: list[Outcome] = steps.run(settings)
    report = Report(paper)
    report.remarks = describe_gaps(outcomes, steps.SOURCES)
    if render is not None:
        for outcome in outcomes:
            outcome.render(render)
        report.page = str(render / paper)
    elif check:
        why = "--quick leaves it out" if settings.quick else "its data could not be loaded"
        checked = check_paper(paper, outcomes, steps.SOURCES, page.write_page, page.PICTURES, out, why_missing=why)
        report.differences, report.unchecked = checked.differences, checked.unchecked
        report.files, report.left = sum(path.is_file() for path in (out / paper).rglob("*")), len(set(checked.left))
    else:
        write_results(paper, outcomes, steps.SOURCES, page, out)
    # What is committed is counted, also where this run computed less, and as the tables say it, whatever the page says.
    report.counts = sum(count_committed(outcomes, steps.SOURCES, out / paper).values(), Counter())
    path = out / paper / PAGE
    if not report.page and path.exists():
        report.page = str(path)
    report.seconds = time.perf_counter() - began
    return report, outcomes


def write_results(paper: str, outcomes: Sequence[Outcome], sources: Sequence[str], page: Any, out: Path) -> None:
    """Write the results of a paper: its CSV files, its page, and the pictures that the page shows.

    What was computed from less than what is there replaces nothing. Numbers within the stated tolerance of those
    that are there leave them as they are. What was computed, written or not, is recorded among the digests.
    """
    adopted = [adopt_committed(outcome, out) for outcome in outcomes]
    made = []
    for outcome in adopted:
        if not outcome.write(out):
            continue
        made += [out / outcome.name / f"{name}.csv" for name in outcome.format_files() if name not in outcome.kept]
        for name in page.PICTURES.get(outcome.source, ()):
            if outcome.is_whole and name in outcome.figures:
                made.append(out / outcome.name / f"{name}.svg")
                renew_picture(outcome.figures[name], made[-1])
    if is_covered(outcomes, sources, out / paper):
        text, path = page.write_page(adopted), out / paper / PAGE
        if compare_pages(text, path):  # else only fingerprints differ
            write_atomically(path, text)
        made.append(path)
    record_files(made, paper, out)


def write_results_index(out: Path) -> str:
    """Return the text of the index of the results folder."""
    return write_index(out, PAPERS)


def describe_gaps(outcomes: Sequence[Outcome], sources: Sequence[str]) -> list[str]:
    """Say what is reduced, what was left out and what could not be loaded, one line each."""
    remarks = []
    computed = {outcome.source for outcome in outcomes if not outcome.is_empty}
    missing = [source for source in sources if source and source not in computed]
    if missing:
        remarks.append(f"nothing of {', '.join(missing)}")
    for outcome in outcomes:
        if outcome.reduced and not outcome.is_empty:
            remarks.append(f"{outcome.source}: {outcome.reduced}, not written; --full does all")
        elif outcome.lacks and not missing:
            first = outcome.lacks[0].partition(" (")[0]
            remarks.append(
                f"{outcome.source or 'all together'}: without {first}{' and others' * (len(outcome.lacks) > 1)}"
            )
    return remarks
