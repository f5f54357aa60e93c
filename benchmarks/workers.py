"""The same test in one thread, in threads, in processes and on a cluster, all started from one process."""

from __future__ import annotations

import contextlib
import math
import time
from typing import Any

import joblib
import numpy as np

from benchmarks.tukey import KEY
from metaeval.stats.randomised_tukey import randomised_tukey_hsd

SIZES = ((22, 390, 6), (22, 4_000, 6))


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure the fastest of several calls; what starts workers, and the first call, is not counted.

    Parameters
    ----------
    quick : bool
        Fewer calls each.

    Returns
    -------
    list of dict
        Rows of name, where and seconds; without Dask, none of a cluster.
    """
    places: list[tuple[str, dict[str, Any], int]] = [
        ("one thread", {}, 1),
        ("2 threads", {}, 2),
        ("2 processes", {"backend": "loky"}, 2),
    ]
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            from dask.distributed import Client, LocalCluster

            cluster = stack.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
            stack.enter_context(Client(cluster))
            places.append(("2 Dask workers", {"backend": "dask"}, 2))
        fastest: dict[tuple[str, str], float] = {}
        for number in range(3 if quick else 21):
            # In turn, so that what else runs on the machine disturbs all alike.
            for where, config, n_jobs in places:
                for shape in SIZES:
                    seconds = measure(np.random.default_rng(0).random(shape), config, n_jobs)
                    name = f"{shape[0]} runs × {shape[1]:,} topics × {shape[2]} measures, B = 5,000"
                    fastest[name, where] = min(fastest.get((name, where), math.inf), seconds if number else math.inf)
    return [{"name": name, "where": where, "seconds": seconds} for (name, where), seconds in fastest.items()]


def measure(values: np.ndarray, config: dict[str, Any], n_jobs: int) -> float:
    """Return the seconds of one test.

    Parameters
    ----------
    values : ndarray, shape (run, topic, measure)
    config : dict
        Of joblib.
    n_jobs : int

    Returns
    -------
    float
    """
    with joblib.parallel_config(**config) if config else contextlib.nullcontext():
        start = time.perf_counter()
        randomised_tukey_hsd(values, key=KEY, n_permutations=5000, n_jobs=n_jobs)
        return time.perf_counter() - start
