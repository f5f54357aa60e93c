"""Run experiments: ``python -m experiments [NAME …]``."""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

EXPERIMENTS = {
    "acl2021": "Sakai, ACL 2021: measures for ordinal classification and ordinal quantification",
    "lq2021": "Sakai, LQ 2021: a closer look at measures for ordinal quantification",
    "worked_examples": "the examples that the papers work out by hand; needs no data",
    "amigo2020": "Amigó et al. 2020: coverage, the synthetic study, formal properties of measures",
    "cardoso2011": "Cardoso and Sousa 2011: measuring the performance of ordinal classification",
    "new_measure": "RNADW and RNOD with gold distances, left to future work by LQ 2021, beside the six measures",
    "trec": "AP, nDCG, ERR, P@k and RR on seven TREC collections",
    "ordinal_sets": "classifiers on the five ordinal sets that the package skordinal brings; needs no download",
}


def run(
    names: Annotated[list[str] | None, typer.Argument(help=f"Which: {', '.join(EXPERIMENTS)}. All by default.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data sets [default: METAEVAL_DATA, else the cache]")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results")] = Path("results"),
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, for a first look")] = False,
    n_jobs: Annotated[int, typer.Option(help="Processes at once")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of everything random")] = 0,
    check: Annotated[bool, typer.Option("--check", help="Compare with the results in --out, write nothing")] = False,
) -> None:
    """Reproduce the papers' tables and say what came out exactly, what in kind, and what could not be had.

    Examples
    --------
      python -m experiments
      python -m experiments lq2021 --data ../data --out /tmp/results
      python -m experiments --quick --check
    """
    from experiments.comparison import summary
    from experiments.study import Settings, differences
    from metaeval import MetaevalError
    from metaeval.errors import MetaevalWarning

    screen, aside = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)
    warnings.showwarning = lambda message, *_, **__: aside.print(f"note: {message}", style="dim", markup=False)
    warnings.simplefilter("always", MetaevalWarning)
    wanted = names or list(EXPERIMENTS)
    unknown = [name for name in wanted if name not in EXPERIMENTS]
    if unknown:
        aside.print(f"there is no experiment {unknown[0]!r}: choose among {', '.join(EXPERIMENTS)}", markup=False)
        raise typer.Exit(2)
    settings = Settings(data, out, quick, n_jobs, seed, say=lambda line: aside.print(line, style="dim", markup=False))
    found: list[str] = []
    lines: list[str] = []
    try:
        for name in wanted:
            began = time.perf_counter()
            screen.print(f"\n## {name}: {EXPERIMENTS[name]}\n", style="bold", markup=False)
            for outcome in importlib.import_module(f"experiments.{name}.steps").run(settings):
                for table in outcome.tables.values():
                    screen.print(table.to_text(), markup=False)
                where = f"{outcome.paper}/{outcome.source}"
                if outcome.is_empty:
                    where += " (nothing to write)"
                elif check:
                    found += differences(outcome, out)
                else:
                    where = str(outcome.write(out))
                said = [text for text in (summary(outcome.cells), *outcome.notes) if text]
                lines.append(f"{where}: {'; '.join(said) or 'done'}")
            settings.say(f"{name} took {time.perf_counter() - began:.1f} s")
    except MetaevalError as error:
        aside.print(f"error: {error}", style="bold red", markup=False)
        raise typer.Exit(2) from None
    screen.print("## Summary\n", style="bold")
    for line in lines:
        screen.print(f"- {line}", markup=False)
    if check:
        for line in found:
            aside.print(f"differs: {line}", style="red", markup=False)
        screen.print(f"check: {len(found)} differences from {out}", markup=False)
        raise typer.Exit(1 if found else 0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    typer.run(run)
