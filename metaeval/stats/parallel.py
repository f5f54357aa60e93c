"""Run trials on threads, processes or a Dask cluster, with the same results; keep what is done, to go on later."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

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
        # Said now, and not after the first block of trials, which may take hours.
        with tempfile.TemporaryFile(dir=path, prefix=".writing-"):
            pass
    except FileExistsError:
        raise MetaevalError(f"{path}: finished work cannot be kept there: it is a file, and no folder") from None
    except OSError as error:
        raise _say_unkept(path, error) from None
    token = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(token)


def is_resumable() -> bool:
    """Is finished work kept at present?"""
    return _folder.get() is not None


class Kept(NamedTuple):
    """What a task makes, as far as it is known beforehand: whatever is found under its name and is not such is made again.

    Attributes
    ----------
    name : str
        Equal names have equal results, always.
    shape : tuple of int
    dtype : {"int64", "float64"}
    n_trials : int
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    n_trials: int


def iterate_kept_tasks(
    tasks: Sequence[Any],
    kept: Sequence[Kept],
    *,
    n_jobs: int,
    prefer: str | None = None,
    require: str | None = None,
    say: Callable[[int, int], None] = lambda done, to_do: None,
) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays that tasks make, each as soon as it and those before it are there, so that none is held.

    Inside `resumable`, those that are kept are not made again.

    Parameters
    ----------
    tasks : sequence of joblib.delayed
        As `run_tasks` takes them.
    kept : sequence of Kept
        Of each task.
    n_jobs, prefer : optional
        As `run_tasks` takes them.
    require : {"sharedmem"}, optional
        Use threads, whatever backend was asked for.
    say : callable, optional
        Takes how many trials have been computed, and how many there are to compute: what is kept counts as neither, since
        reading it tells nothing of the time that the others take.

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
    missing = [folder is None or _read_array(folder, one) is None for one in kept]
    done, to_do = 0, sum(one.n_trials for one, is_missing in zip(kept, missing, strict=True) if is_missing)
    results = _run_in_turn(
        [task for task, is_missing in zip(tasks, missing, strict=True) if is_missing], n_jobs, prefer, require
    )
    for one, (function, arguments, options), is_missing in zip(kept, tasks, missing, strict=True):
        array = next(results) if folder is None or is_missing else _read_array(folder, one)
        if array is None:  # somebody deleted it since
            array, is_missing, to_do = function(*arguments, **options), True, to_do + one.n_trials
        if is_missing:
            if folder is not None:
                _keep_array(folder, one, array)
            done += one.n_trials
            say(done, to_do)
        yield array


def _read_array(folder: Path, expected: Kept) -> npt.NDArray[Any] | None:
    """Return what is kept; None if there is nothing, or nothing that a task made for who owns the folder."""
    try:
        owners = {0, os.getuid(), folder.stat().st_uid} if hasattr(os, "getuid") else None
    except OSError:
        return None
    content = read_kept(_name_file(folder, expected), lambda about: owners is None or about.st_uid in owners)
    if content is None:
        return None
    array = np.zeros(expected.shape, dtype=expected.dtype)
    head = _head(array)
    if len(content) != len(head) + array.nbytes or not content.startswith(head):
        return None
    return np.frombuffer(content, dtype=array.dtype, offset=len(head)).reshape(expected.shape)


def _keep_array(folder: Path, made: Kept, array: npt.NDArray[Any]) -> None:
    if (array.shape, array.dtype) != (made.shape, np.dtype(made.dtype)):
        raise ValueError(f"{made.name} is {array.dtype} of shape {array.shape}, not {made.dtype} of {made.shape}")
    try:
        keep(_name_file(folder, made), _head(array) + array.tobytes())
    except OSError as error:
        raise _say_unkept(folder, error) from None


def _name_file(folder: Path, one: Kept) -> Path:
    return folder / f"{one.name}.npy"


def _head(array: npt.NDArray[Any]) -> bytes:
    """Return what stands before the numbers in a file of NumPy's format; nothing else is ever read as one."""
    stream = io.BytesIO()
    described = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(stream, described)
    return stream.getvalue()


def _say_unkept(folder: Path, error: OSError) -> MetaevalError:
    return MetaevalError(f"{folder}: finished work cannot be kept there: {error.strerror or error}")


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
    if not address.strip():
        raise MetaevalError("a cluster needs the address of its scheduler: tcp://HOST:PORT")
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
