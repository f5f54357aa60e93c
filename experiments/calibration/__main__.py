"""Simulate: ``python -m experiments.calibration``; it takes about an hour on two processors, and can be interrupted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from experiments.calibration.cells import list_tasks
from experiments.calibration.simulation import KEPT, collect_counts, find_folder, read_batches, simulate_all
from experiments.calibration.study import STUDY
from metaeval.files import write_atomically


def simulate(
    work: Annotated[Path | None, typer.Option(help="Folder for finished batches [default: the cache]")] = None,
    n_jobs: Annotated[int, typer.Option(help="Processes at once")] = 2,
    batches: Annotated[int | None, typer.Option(help="At most so many batches a test and cell, for a trial")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Time one batch of each kind, and do nothing")] = False,
    collect: Annotated[bool, typer.Option("--collect", help="Only put what is done together, here")] = False,
    out: Annotated[Path, typer.Option(help="Where the counts are put together")] = KEPT,
    intervals: Annotated[bool, typer.Option("--intervals", help="Judge intervals instead; takes half an hour")] = False,
    predictions: Annotated[
        bool, typer.Option("--predictions", help="Judge predictions instead; takes minutes")
    ] = False,
    agreements: Annotated[
        bool, typer.Option("--agreements", help="Judge intervals of agreement and of judges instead; takes minutes")
    ] = False,
    exchanges: Annotated[
        bool, typer.Option("--exchanges", help="Judge exchange tests between measures instead; takes minutes")
    ] = False,
) -> None:
    """Simulate what is not done yet, and put the counts together."""
    if intervals:
        _judge_intervals()
        return
    if predictions:
        _judge_predictions()
        return
    if agreements:
        _judge_agreements(n_jobs)
        return
    if exchanges:
        _judge_exchanges(find_folder(work) / "exchanges", n_jobs)
        return
    missing: list[str] = []
    tasks = list_tasks(missing)
    for line in dict.fromkeys(missing):
        typer.echo(f"left out: {line}")
    folder = find_folder(work)
    if estimate:
        _estimate(tasks)
        return
    if not collect:
        typer.echo(f"{len(tasks)} tests on cells; finished batches are kept in {folder}")
        simulate_all(folder, n_jobs, lambda line: typer.echo(line), batches)
    done = sum(len(read_batches(one, folder)) == one.n_batches for one in tasks)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, collect_counts(folder, tasks).to_csv(index=False, lineterminator="\n"))
    typer.echo(f"{done} of {len(tasks)} are done; counts in {out}")


def _judge_intervals() -> None:
    from experiments.calibration.intervals import load_populations, measure_coverage
    from experiments.calibration.steps import INTERVALS

    found = measure_coverage(load_populations(), say=lambda line: typer.echo(line)).round(6)
    INTERVALS.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(INTERVALS, found.to_csv(index=False, lineterminator="\n"))


def _judge_predictions() -> None:
    from experiments.calibration import predictions as judged
    from experiments.calibration.intervals import load_populations, measure_coverage
    from experiments.calibration.steps import PREDICTIONS

    populations = load_populations()
    tables = {"expected-tau": judged.measure_predictions(populations, say=typer.echo)}
    for name, compute in (("correlations", judged.compute_correlations), ("designs", judged.compute_designs)):
        tables[name] = measure_coverage(
            populations, judged.CELLS, compute=compute, studies=60, studies_of_truth=240, say=typer.echo
        )
    PREDICTIONS.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        write_atomically(PREDICTIONS / f"{name}.csv", table.round(6).to_csv(index=False, lineterminator="\n"))


def _judge_agreements(n_jobs: int) -> None:
    from experiments.calibration import agreements as judged
    from experiments.calibration.steps import AGREEMENTS

    AGREEMENTS.mkdir(parents=True, exist_ok=True)
    tables = {"judges": judged.measure_judges(say=typer.echo), "agreement": judged.measure_agreement(n_jobs)}
    for name, table in tables.items():
        write_atomically(AGREEMENTS / f"{name}.csv", table.round(6).to_csv(index=False, lineterminator="\n"))


def _judge_exchanges(folder: Path, n_jobs: int) -> None:
    from experiments.calibration.exchanges import simulate_exchanges
    from experiments.calibration.steps import EXCHANGES

    EXCHANGES.parent.mkdir(parents=True, exist_ok=True)
    found = simulate_exchanges(folder, n_jobs, typer.echo).round(6)
    write_atomically(EXCHANGES, found.to_csv(index=False, lineterminator="\n"))


def _estimate(tasks: list) -> None:
    """Print the processor time that each group and test will take, from one batch of each size."""
    timed: dict[tuple[str, str, int], float] = {}
    total: dict[tuple[str, str], float] = {}
    for task in tasks:
        cell = task.cell
        source = str(cell.n_runs) or cell.design
        kind = (task.test, source, cell.n_topics)
        if kind not in timed:
            if STUDY["tests"][task.test].get("slow") is None and not timed:
                task.count_batch(0)  # compiling is not counted
            began = time.process_time()
            task.count_batch(0)
            timed[kind] = time.process_time() - began
        place = (cell.group, task.test)
        total[place] = total.get(place, 0.0) + timed[kind] * task.n_batches
    for (group, test), seconds in total.items():
        typer.echo(f"{seconds:7.0f} s  {group}: {test}")
    typer.echo(f"{sum(total.values()) / 60:7.1f} minutes of one processor")


if __name__ == "__main__":
    typer.run(simulate)
