"""Run experiments: ``python -m experiments [NAME …]``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from joblib import Parallel, delayed
from rich.console import Console

from experiments.old.comparison import VERDICTS
from experiments.old.outcome import Settings, count_processors
from experiments.old.papers import PAPERS, Report

UNCHECKED = 3
"""The exit status of a check that finds no difference, and did not compute everything anew."""


def run(
    names: Annotated[list[str] | None, typer.Argument(help=f"Which: {', '.join(PAPERS)}. All by default.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets [default: METAEVAL_DATA, else the cache]")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results")] = Path("results"),
    quick: Annotated[bool, typer.Option("--quick", help="Less than by default, for a first look")] = False,
    full: Annotated[bool, typer.Option("--full", help="Everything, also what takes minutes of training")] = False,
    n_jobs: Annotated[int | None, typer.Option(help="Processes at once [default: one per processor]")] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random")] = 0,
    check: Annotated[bool, typer.Option("--check", help="Compare with the results in --out, write nothing")] = False,
    render: Annotated[
        Path | None, typer.Option(help="Write every table (CSV, Markdown, LaTeX) and figure (SVG, PDF) here instead")
    ] = None,
    docs: Annotated[
        bool,
        typer.Option("--docs", help="Only renew what README.md and docs/ say about the committed results"),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print every table, note and step")] = False,
) -> None:
    """Reproduce the papers' tables and say what came out exactly, what in kind, and what could not be loaded.

    Examples
    --------
      python -m experiments
      python -m experiments lq2021 --data ../data --out /tmp/results
      python -m experiments lq2021 --render /tmp/lq2021
      python -m experiments --full --check
      python -m experiments --docs

    --check ends with status 0 where everything was computed anew and is the same, 1 where something differs, and 3 where
    nothing differs but some files are unchecked: without their data, or --full, these are only compared with their digests.
    """
    from experiments.old.papers import write_results_index
    from experiments.prose import fill_pages
    from metaeval import MetaevalError
    from metaeval.files import write_atomically

    if docs:
        for page in fill_pages():
            tell(f"renewed {page}")
        return
    chosen = list(dict.fromkeys(names or PAPERS))
    refuse_options(chosen, exclusive=(quick and full) or (check and render is not None))
    warnings.showwarning = lambda message, *_, **__: tell(f"note: {message}")
    settings = Settings(data, quick, full, n_jobs or count_processors(), seed, tell if verbose else ignore)
    at_once = 1 if verbose else min(settings.n_jobs, len(chosen))
    if at_once > 1:  # papers side by side, each in one process, are done sooner than one after the other in several
        settings = replace(settings, n_jobs=1)
    run_named = partial(run_aside, settings=settings, out=out, check=check, render=render, verbose=verbose)
    reports = []
    try:
        for report, shown in Parallel(n_jobs=at_once, return_as="generator")(
            delayed(run_named)(name) for name in chosen
        ):
            reports.append(report)
            show(shown)
        if not check and render is None:
            out.mkdir(parents=True, exist_ok=True)
            write_atomically(out / "README.md", write_results_index(out))
    except MetaevalError as error:
        tell(f"error: {error}", "bold red")
        raise typer.Exit(2) from None
    show(format_reports(reports))
    if check:
        differences = show_differences(reports, out, is_whole=set(chosen) == set(PAPERS))
        raise typer.Exit(1 if differences else UNCHECKED if any(report.left for report in reports) else 0)


def tell(line: str, style: str = "dim") -> None:
    """Print a line of progress, or an error, aside from the results."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(line, style=style, markup=False)


def show(lines: Sequence[str]) -> None:
    """Print lines of results."""
    screen = Console(highlight=False, soft_wrap=True)
    for line in lines:
        screen.print(line, markup=False)


def refuse_options(names: Sequence[str], *, exclusive: bool) -> None:
    """End with what is wrong where there is no such experiment, or options exclude each other."""
    if unknown := [name for name in names if name not in PAPERS]:
        tell(f"there is no experiment {unknown[0]!r}: choose among {', '.join(PAPERS)}", "")
        raise typer.Exit(2)
    if exclusive:
        tell("--quick and --full exclude each other, and so do --check and --render", "")
        raise typer.Exit(2)


def show_differences(reports: Sequence[Report], out: Path, *, is_whole: bool) -> int:
    """Print what differs from the results, and what was not looked at; return how many differences there are."""
    from experiments.old.check import compare_pages, find_other_files
    from experiments.old.papers import write_results_index

    differences = [line for report in reports for line in report.differences]
    differences += compare_pages(write_results_index(out), out / "README.md")
    if is_whole:
        differences += find_other_files(out, PAPERS)
    show([f"unchecked: {line}" for report in reports for line in report.unchecked])
    for line in differences:
        tell(f"differs: {line}", "red")
    files, left = (sum(getattr(report, name) for report in reports) for name in ("files", "left"))
    counted = f"of {files} files {files - left} were computed anew, {left} are unchecked"
    show([f"check: {len(differences)} differences from {out}; {counted}"])
    return len(differences)


def run_aside(
    name: str, settings: Settings, out: Path, check: bool, render: Path | None, verbose: bool
) -> tuple[Report, list[str]]:
    """Run one paper, in whatever process, and return its report, and its tables and notes if verbose."""
    from experiments.old.papers import run_paper
    from metaeval.datasets import remember_unreachable_hosts
    from metaeval.errors import MetaevalWarning

    tell(f"{name}: {PAPERS[name]}")
    with warnings.catch_warnings(), remember_unreachable_hosts():
        warnings.showwarning = lambda message, *_, **__: tell(f"note: {message}")
        warnings.simplefilter("always" if verbose else "ignore", MetaevalWarning)
        report, outcomes = run_paper(name, settings, out, check=check, render=render)
    if not verbose:
        return report, []
    tables = [table.to_text() for outcome in outcomes for table in outcome.tables.values()]
    return report, tables + [f"{outcome.name}: {note}" for outcome in outcomes for note in outcome.notes]


def ignore(_: str) -> None:
    """Say nothing."""


def format_reports(reports: Sequence[Report]) -> list[str]:
    """Return the table of the terminal, one line a paper, and below it what was reduced or left out."""
    head = ["paper", *VERDICTS, "time", "page"]
    rows = [
        [
            report.paper,
            *(str(report.counts[verdict]) if report.counts else "" for verdict in VERDICTS),
            f"{report.seconds:.0f} s",
            report.page,
        ]
        for report in reports
    ]
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]

    def line(cells: list[str]) -> str:
        first, *numbers, last = cells
        middle = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        return "  ".join([first.ljust(widths[0]), *middle, last]).rstrip()

    remarks = [f"{report.paper}: {'; '.join(report.remarks)}" for report in reports if report.remarks]
    return [
        line(head),
        "  ".join("─" * width for width in widths),
        *map(line, rows),
        *([""] if remarks else []),
        *remarks,
    ]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    typer.run(run)
