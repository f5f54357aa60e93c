"""Run trials on threads, processes or a Dask cluster, with the same results; keep what is done, to go on later."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats._kept import keep, read_kept

_folder: ContextVar[Path | None] = ContextVar("folder of results that are kept", default=None)


@contextmanager
def resumable(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep trials of randomised tests and splits of topics in a folder, so that a study that is killed goes on there.

    Inside this context, each finished block of trials is a file in the folder, there whole or not at all. Its name
    states the scores, the seed and the numbers of the trials; whatever is found there is not computed again, whichever
    process, machine, engine or number of jobs computed it. Delete the folder when the study is done.

    Parameters
    ----------
    folder : path
        Made if need be. One folder can serve many collections and studies.

    Raises
    ------
    MetaevalError
        If it cannot be written.

    Examples
    --------
    >>> import metaeval
    >>> with metaeval.resumable("work/"):                                 # doctest: +SKIP
    ...     powers = [metaeval.discriminative_power(scores, n_permutations=1_000_000) for scores in collections]
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MetaevalError(f"{path}: finished work cannot be kept there: {error.strerror or error}") from None
    token = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(token)


def is_resumable() -> bool:
    """Is finished work kept at present?"""
    return _folder.get() is not None


def iterate_kept_tasks(
    tasks: Sequence[Any], names: Sequence[str], *, n_jobs: int, prefer: str | None = None, require: str | None = None
) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays that tasks make, each as soon as it and those before it are there, so that none is held.

    Inside `resumable`, those that are kept are not made again.

    Parameters
    ----------
    tasks : sequence of joblib.delayed
        As `run_tasks` takes them.
    names : sequence of str
        Of the tasks: equal names have equal results, always.
    n_jobs, prefer : optional
        As `run_tasks` takes them.
    require : {"sharedmem"}, optional
        Use threads, whatever backend was asked for.

    Yields
    ------
    ndarray
        In the order of the tasks.

    Raises
    ------
    MetaevalError
        If finished work cannot be written.
    """
    folder = _folder.get()
    if folder is None:
        yield from _run_in_turn(tasks, n_jobs, prefer, require)
        return
    paths = [folder / f"{name}.npy" for name in names]
    missing = [_read_array(path) is None for path in paths]
    results = _run_in_turn(
        [task for task, is_missing in zip(tasks, missing, strict=True) if is_missing], n_jobs, prefer, require
    )
    for path, (function, arguments, options), is_missing in zip(paths, tasks, missing, strict=True):
        array = next(results) if is_missing else _read_array(path)
        if array is None:  # somebody deleted it since
            array, is_missing = function(*arguments, **options), True
        if is_missing:
            _keep_array(path, array)
        yield array


def _read_array(path: Path) -> npt.NDArray[Any] | None:
    content = read_kept(path)
    if content is None:
        return None
    array: npt.NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return array


def _keep_array(path: Path, array: npt.NDArray[Any]) -> None:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    try:
        keep(path, stream.getvalue())
    except OSError as error:
        raise MetaevalError(f"{path.parent}: finished work cannot be kept there: {error.strerror or error}") from None


def _run_in_turn(tasks: Sequence[Any], n_jobs: int, prefer: str | None, require: str | None) -> Iterator[Any]:
    """Yield the results of tasks in their order, each as soon as it is there."""
    if n_jobs == 1 and require == "sharedmem":
        for function, arguments, options in tasks:
            yield function(*arguments, **options)
        return
    import joblib

    done = 0
    try:
        pool = joblib.Parallel(n_jobs=n_jobs, prefer=prefer, require=require, return_as="generator")
    except ValueError:  # a backend that returns everything at its end
        yield from run_tasks(tasks, n_jobs=n_jobs, prefer=prefer)
        return
    try:
        for result in pool(tasks):
            done += 1
            yield result
    except BrokenProcessPool:
        for function, arguments, options in tasks[done:]:
            yield function(*arguments, **options)


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
