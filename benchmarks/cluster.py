"""Efficiency of one and two Dask workers, and what a task costs besides its work: what the model of a cluster rests on."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from typing import Any

import joblib
import numpy as np

from benchmarks.tukey import KEY
from metaeval.stats.blocks import Units
from metaeval.stats.randomised_tukey import KEPT_WORK, trial_ranges

SHAPE = (22, 390, 6)
TASKS = 16


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure tasks of the size that a study keeps, and tasks without work but with the same scores to send.

    Parameters
    ----------
    quick : bool
        Once, not the fastest of three.

    Returns
    -------
    list of dict
        Rows of name and seconds; without Dask, none of a cluster.
    """
    n_runs, n_topics, n_measures = SHAPE
    trials = KEPT_WORK // (n_runs * n_topics * (4 + n_measures))
    task = joblib.delayed(partial(trial_ranges, Units(np.random.default_rng(0).random(SHAPE)), KEY, engine="numba"))
    full = [task(range(n * trials, (n + 1) * trials)) for n in range(TASKS)]
    empty = [task(range(n, n + 1)) for n in range(10 * TASKS)]
    repeats = 1 if quick else 3
    rows = []
    with contextlib.suppress(ImportError):
        from dask.distributed import Client, LocalCluster

        for n_workers in (1, 2):
            with (
                LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster),
                joblib.parallel_config("dask"),
            ):
                work = joblib.Parallel(n_jobs=-1)
                work(full[:2] + empty[:4])  # loads the kernel
                workers = f"{n_workers} Dask worker{'s' * (n_workers > 1)}"
                rows.append({"name": f"{TASKS} tasks, {workers}", "seconds": fastest(work, full, repeats)})
                rows.append({"name": f"{10 * TASKS} empty tasks, {workers}", "seconds": fastest(work, empty, repeats)})
    call, arguments, _ = full[0]
    began = time.perf_counter()
    for _ in range(TASKS):
        call(*arguments)
    rows.append({"name": f"{TASKS} tasks, one thread", "seconds": time.perf_counter() - began})
    return rows


def fastest(work: Any, tasks: list[Any], repeats: int) -> float:
    """Return the seconds of the fastest of several calls."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work(tasks)
        seconds.append(time.perf_counter() - began)
    return min(seconds)
