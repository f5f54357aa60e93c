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

from experiments.comparison import VERDICTS
from experiments.outcome import Settings, count_processors
from experiments.papers import PAPERS, Report


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
        typer.Option("--docs", help="Only renew what README.md, docs/ and notebooks/ say about the committed results"),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print every table, note and step")] = False,
) -> None:
    """Reproduce the papers' tables and say what came out exactly, what in kind, and what could not be had.

    Examples
    --------
      python -m experiments
      python -m experiments lq2021 --data ../data --out /tmp/results
      python -m experiments lq2021 --render /tmp/lq2021
      python -m experiments --full --check
      python -m experiments --docs
    """
    from experiments.check import compare_pages, find_other_files
    from experiments.generated import renew_pages
    from experiments.papers import write_results_index
    from metaeval import MetaevalError
    from metaeval.files import write_atomically

    screen, aside = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)

    def tell(line: str, style: str = "dim") -> None:
        aside.print(line, style=style, markup=False)

    if docs:
        for page in renew_pages():
            tell(f"renewed {page}")
        return
    wanted = list(dict.fromkeys(names or PAPERS))
    if unknown := [name for name in wanted if name not in PAPERS]:
        tell(f"there is no experiment {unknown[0]!r}: choose among {', '.join(PAPERS)}", "")
        raise typer.Exit(2)
    if (quick and full) or (check and render):
        tell("--quick and --full exclude each other, and so do --check and --render", "")
        raise typer.Exit(2)
    warnings.showwarning = lambda message, *_, **__: tell(f"note: {message}")
    settings = Settings(data, quick, full, n_jobs or count_processors(), seed, tell if verbose else ignore)
    at_once = 1 if verbose else min(settings.n_jobs, len(wanted))
    if at_once > 1:  # papers side by side, each in one process, are done sooner than one after the other in several
        settings = replace(settings, n_jobs=1)
    run_one = partial(run_aside, settings=settings, out=out, check=check, render=render, verbose=verbose)
    reports = []
    try:
        for report, shown in Parallel(n_jobs=at_once, return_as="generator")(delayed(run_one)(one) for one in wanted):
            reports.append(report)
            for line in shown:
                screen.print(line, markup=False)
        if not check and render is None:
            write_atomically(out / "README.md", write_results_index(out))
    except MetaevalError as error:
        tell(f"error: {error}", "bold red")
        raise typer.Exit(2) from None
    for line in format_reports(reports):
        screen.print(line, markup=False)
    if check:
        differences = [line for report in reports for line in report.differences]
        differences += compare_pages(write_results_index(out), out / "README.md")
        if set(wanted) == set(PAPERS):
            differences += find_other_files(out, PAPERS)
        for line in [line for report in reports for line in report.unchecked]:
            screen.print(f"unchecked: {line}", markup=False)
        for line in differences:
            tell(f"differs: {line}", "red")
        screen.print(f"check: {len(differences)} differences from {out}", markup=False)
        raise typer.Exit(1 if differences else 0)


def run_aside(
    name: str, settings: Settings, out: Path, check: bool, render: Path | None, verbose: bool
) -> tuple[Report, list[str]]:
    """Run one paper, in whatever process, and return its report and what is shown of it.

    Parameters
    ----------
    name : str
    settings : Settings
    out : Path
    check : bool
    render : Path or None
    verbose : bool

    Returns
    -------
    report : Report
    shown : list of str
        Tables and notes, if verbose.
    """
    from experiments.papers import run_paper
    from metaeval.datasets import remember_unreachable_hosts
    from metaeval.errors import MetaevalWarning

    aside = Console(stderr=True, highlight=False, soft_wrap=True)
    aside.print(f"{name}: {PAPERS[name]}", style="dim", markup=False)
    with warnings.catch_warnings(), remember_unreachable_hosts():
        warnings.showwarning = lambda message, *_, **__: aside.print(f"note: {message}", style="dim", markup=False)
        warnings.simplefilter("always" if verbose else "ignore", MetaevalWarning)
        report, outcomes = run_paper(name, settings, out, check=check, render=render)
    if not verbose:
        return report, []
    tables = [table.to_text() for one in outcomes for table in one.tables.values()]
    return report, tables + [f"{one.name}: {note}" for one in outcomes for note in one.notes]


def ignore(_: str) -> None:
    """Say nothing."""


def format_reports(reports: Sequence[Report]) -> list[str]:
    """Return the table of the terminal, one line a paper, and below it what was reduced or left out.

    Parameters
    ----------
    reports : sequence of Report

    Returns
    -------
    list of str
    """
    head = ["paper", *VERDICTS, "time", "page"]
    rows = [
        [
            one.paper,
            *(str(one.counts[verdict]) if one.counts else "" for verdict in VERDICTS),
            f"{one.seconds:.0f} s",
            one.page,
        ]
        for one in reports
    ]
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]

    def line(cells: list[str]) -> str:
        first, *numbers, last = cells
        middle = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
        return "  ".join([first.ljust(widths[0]), *middle, last]).rstrip()

    remarks = [f"{one.paper}: {'; '.join(one.remarks)}" for one in reports if one.remarks]
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
