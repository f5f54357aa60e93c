"""The hour of the study: every test on every cell, batch by batch, each kept once done.

The counts of a test on a cell are a small JSON file in the cache folder, so that a run that was interrupted goes on
where it was. What is done is put together in the results folder.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from experiments.calibration.cells import COUNTS, Task, list_tasks
from experiments.calibration.decisions import count_permutations
from experiments.calibration.study import STUDY
from metaeval.datasets import built_folder
from metaeval.files import write_atomically

RECIPE = 1
"""Goes up when designs or tests change: what is kept from an earlier recipe is not used."""

KEPT = Path(__file__).resolve().parents[2] / "results" / "calibration" / "tests" / "counts.csv"
"""The counts that are committed."""


def find_folder(root: Path | None = None) -> Path:
    """Return where finished batches are kept: a folder for each set of settings that changes what is simulated."""
    fixed = [RECIPE, *(STUDY[name] for name in ("alpha", "seed", "batch", "effects", "collections"))]
    digest = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:12]
    return (root or built_folder()) / "calibration" / digest


def find_file(task: Task, folder: Path) -> Path:
    """Return the file of a task's batches; the options of the test are part of its name."""
    options = json.dumps([task.name, STUDY["tests"][task.test]["options"]], sort_keys=True)
    return folder / f"{hashlib.sha256(options.encode()).hexdigest()[:16]}.json"


def read_batches(task: Task, folder: Path) -> list[list[float]]:
    """Return the finished batches of a task, in their order."""
    try:
        batches: list[list[float]] = json.loads(find_file(task, folder).read_text(encoding="utf-8"))["batches"]
    except (OSError, ValueError):
        return []
    return batches[: task.n_batches]


def run_task(task: Task, folder: Path, most: int | None = None) -> tuple[str, float]:
    """Do the batches of a task that are not there yet, and return its name and the seconds that it took.

    Parameters
    ----------
    task : Task
    folder : Path
    most : int, optional
        No more than so many batches in all.
    """
    began = time.perf_counter()
    batches = read_batches(task, folder)
    for batch in range(len(batches), min(task.n_batches, most or task.n_batches)):
        batches.append(task.count_batch(batch))
        write_atomically(find_file(task, folder), json.dumps({"task": task.name, "batches": batches}))
    return task.name, time.perf_counter() - began


def simulate_all(folder: Path, n_jobs: int, say: Callable[[str], None], most: int | None = None) -> None:
    """Do every task that is not done, in order, in several processes of one thread each.

    Parameters
    ----------
    folder : Path
    n_jobs : int
    say : callable
        Takes a line about each finished task.
    most : int, optional
        Batches a task.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [one for one in list_tasks() if len(read_batches(one, folder)) < min(one.n_batches, most or 10**9)]
    began = time.perf_counter()
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        calls = (joblib.delayed(run_task)(task, folder, most) for task in tasks)
        running = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs)(calls)
        for done, (name, seconds) in enumerate(running, start=1):
            say(f"{done}/{len(tasks)} {time.perf_counter() - began:6.0f} s: {name} took {seconds:.1f} s")


def collect_counts(folder: Path, tasks: Iterable[Task]) -> pd.DataFrame:
    """Put what is done together.

    Parameters
    ----------
    folder : Path
    tasks : iterable of Task

    Returns
    -------
    DataFrame
        One row a test and cell: what it is, the sums of `COUNTS` over all batches, how much the number of studies with a
        false difference varies between batches (``dispersion``: variance over that of independent studies), standard
        errors of the mean of ``fdp`` and ``power`` from their spread between batches, and the first batch's counts.
    """
    rows = []
    for task in tasks:
        batches = np.array(read_batches(task, folder))
        if len(batches):
            rows.append(_describe_task(task) | summarise_batches(batches))
    return pd.DataFrame(rows)


def _describe_task(task: Task) -> dict[str, object]:
    cell = task.cell
    n_runs = cell.n_runs or len(cell.simulate(0).values)
    return {
        "group": cell.group, "design": cell.design, "runs": n_runs, "topics": cell.n_topics, "effects": cell.effects,
        "test": task.test, "B": count_permutations(task.test, n_runs), "planned": task.n_batches * STUDY["batch"],
    }  # fmt: skip


def summarise_batches(batches: np.ndarray) -> dict[str, float]:
    """Return the sums over batches, what varies between them, and the first batch alone.

    Parameters
    ----------
    batches : ndarray, shape (batch, count)
        The columns are `COUNTS`.

    Returns
    -------
    dict of str to float
    """
    totals = dict(zip(COUNTS, batches.sum(axis=0).tolist(), strict=True))
    whole = {name: int(totals[name]) for name in COUNTS[:5]}
    n, size = len(batches), STUDY["batch"]
    share = totals["with_false"] / totals["studies"]
    expected = size * share * (1 - share)
    varies = n > 1 and expected > 0
    errors = batches[:, 5:].std(axis=0, ddof=1) / (size * np.sqrt(n)) if n > 1 else [np.nan, np.nan]
    return {
        **whole,
        "fdp": round(totals["fdp"], 6),
        "power": round(totals["power"], 6),
        "dispersion": round(float(batches[:, 1].var(ddof=1) / expected), 4) if varies else np.nan,
        "fdp_se": round(float(errors[0]), 6),
        "power_se": round(float(errors[1]), 6),
        "first_with_false": int(batches[0, 1]),
        "first_false": int(batches[0, 2]),
        "first_found": int(batches[0, 3]),
    }
