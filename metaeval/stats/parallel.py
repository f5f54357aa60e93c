"""Run trials on threads, processes or a Dask cluster, with the same results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from metaeval.errors import MetaevalError


def run_tasks(tasks: Iterable[Any], *, n_jobs: int, prefer: str | None = None) -> list[Any]:
    """Return the results of tasks, run in parallel; if a worker process is killed, they are run again in this one.

    Parameters
    ----------
    tasks : iterable of joblib.delayed
        Running one again must do no harm.
    n_jobs : int
    prefer : {"threads", "processes"}, optional
        Where nothing else was asked for.

    Returns
    -------
    list
        In the order of the tasks.

    Examples
    --------
    >>> import joblib
    >>> run_tasks([joblib.delayed(abs)(number) for number in (-1, 2)], n_jobs=1)
    [1, 2]
    """
    import joblib

    tasks = list(tasks)
    try:
        results: list[Any] = joblib.Parallel(n_jobs=n_jobs, prefer=prefer)(tasks)
    except BrokenProcessPool:  # a process was killed, by whoever needed its memory for instance
        return [function(*arguments, **options) for function, arguments, options in tasks]
    return results


@contextmanager
def on_cluster(address: str, *, timeout: float = 10.0) -> Iterator[None]:
    """Run the analyses that are called with ``n_jobs=-1`` inside this context on a Dask cluster.

    All parallel work uses joblib, so ``joblib.parallel_config("loky")`` or any other backend works in the same
    way. If a worker dies, the cluster replaces it and repeats its trials, with the same results.

    Parameters
    ----------
    address : str
        Address of the scheduler: ``"tcp://10.0.0.1:8786"``.
    timeout : float, optional
        Seconds to wait for the scheduler.

    Raises
    ------
    MetaevalError
        If Dask is not installed or the cluster does not answer.

    Examples
    --------
    >>> import metaeval
    >>> with metaeval.on_cluster("tcp://127.0.0.1:8786"):                 # doctest: +SKIP
    ...     power = metaeval.discriminative_power(scores, n_jobs=-1)
    """
    try:
        from dask.distributed import Client
    except ModuleNotFoundError:
        raise MetaevalError('a cluster needs Dask: pip install "metaeval[cluster]"') from None
    import joblib

    try:
        client = Client(address, timeout=timeout, set_as_default=True)
    except (OSError, TimeoutError, ValueError) as error:
        raise MetaevalError(f"the cluster {address} does not answer: {error}") from None
    with client, joblib.parallel_config("dask"):
        yield
