"""The same test in one thread, in threads, in processes and on a cluster, all started from one process."""

from __future__ import annotations

import contextlib
from typing import Any

import joblib
import numpy as np

from benchmarks.tukey import KEY, fastest
from metaeval.stats.randomised_tukey import randomised_tukey_hsd

SIZES = ((22, 390, 6), (22, 4_000, 6))


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure the fastest of several calls; what starts workers, and the first call, is not counted.

    Parameters
    ----------
    quick : bool
        Fewer calls.

    Returns
    -------
    list of dict
        Rows of name, where and seconds; without Dask, none of a cluster.
    """
    places: list[tuple[str, Any, int]] = [
        ("one thread", contextlib.nullcontext(), 1),
        ("2 threads", contextlib.nullcontext(), 2),
        ("2 processes", joblib.parallel_config("loky"), 2),
    ]
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            from dask.distributed import Client, LocalCluster

            cluster = stack.enter_context(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))
            stack.enter_context(Client(cluster))
            places.append(("2 Dask workers", joblib.parallel_config("dask"), 2))
        rows = []
        for where, config, n_jobs in places:
            with config:
                for shape in SIZES:
                    values = np.random.default_rng(0).random(shape)

                    def test(values: np.ndarray = values, n_jobs: int = n_jobs) -> None:
                        randomised_tukey_hsd(values, key=KEY, n_permutations=5000, engine="numba", n_jobs=n_jobs)

                    test()
                    name = f"{shape[0]} runs × {shape[1]:,} topics × {shape[2]} measures, B = 5,000"
                    rows.append({"name": name, "where": where, "seconds": fastest(test, 2 if quick else 20)})
    return rows
