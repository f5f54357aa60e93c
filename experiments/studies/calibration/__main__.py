"""Simulate: ``python -m experiments.studies.calibration``; about an hour on two processors, and can be interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer

from experiments.old.digests import record_files
from experiments.studies.calibration import FOLDER, intervals
from experiments.studies.calibration.boards import count_boards
from experiments.studies.calibration.collections import count_collections
from experiments.studies.calibration.crossed import count_crossed
from experiments.studies.calibration.exchanges import count_exchanges
from experiments.studies.calibration.noise import count_noise
from experiments.studies.calibration.simulation import count_cells, count_fires, find_folder, list_cells
from experiments.studies.calibration.together import count_together
from metaeval.files import write_atomically


def simulate(
    part: Annotated[
        Literal[
            "tests",
            "intervals",
            "predictions",
            "agreements",
            "exchanges",
            "together",
            "crossed",
            "collections",
            "boards",
            "noise",
        ],
        typer.Argument(help="What is simulated; only the tests take an hour"),
    ] = "tests",
    work: Annotated[Path | None, typer.Option(help="Folder for finished batches [default: the cache]")] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes at once")] = 2,
    batches: Annotated[int | None, typer.Option(help="At most so many batches a cell, for a trial")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the results")] = FOLDER,
) -> None:
    """Simulate what is not done yet, and write its tables."""
    if part == "tests":
        missing: list[str] = []
        cells = list(list_cells(missing))
        for line in dict.fromkeys(missing):
            typer.echo(f"left out: {line}")
        write_tables({"diagnostic": count_fires(cells)}, out / part)
        tables = {"counts": count_cells(cells, find_folder(work), n_jobs, batches)}
    elif part == "crossed":
        tables = {"crossed": count_crossed(find_folder(work), n_jobs).round(6)}
    elif part == "collections":
        tables = {"collections": count_collections(n_jobs).round(6)}
    elif part == "boards":
        tables = {"boards": count_boards(n_jobs).round(6)}
    elif part == "noise":
        tables = count_noise()
    elif part == "together":
        tables = {"together": count_together(find_folder(work), n_jobs).round(6)}
    elif part == "exchanges":
        tables = {"rates": count_exchanges(find_folder(work), n_jobs).round(6)}
    else:
        tables = {name: table.round(6) for name, table in intervals.MEASURE[part](n_jobs).items()}
    write_tables(tables, out / part)


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables as CSV, and record them."""
    for name, table in tables.items():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
        typer.echo(f"written: {folder / name}.csv")
    record_files([folder / f"{name}.csv" for name in tables], folder.parent.name, folder.parent.parent)


if __name__ == "__main__":
    typer.run(simulate)
