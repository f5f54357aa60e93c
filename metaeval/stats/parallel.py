"""Long work: on threads, processes or a Dask cluster with the same results, told of, and kept so that it goes on later.

Nothing is printed here: kernels tell how far they are, and the command line listens.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError

Listener = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is; 0 of 0 states something beforehand."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int = 0, total: int = 0) -> None:
    """Tell the listener, if there is one, how far the work has come; or state something before work starts."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def describe_shape(shape: tuple[int, ...]) -> str:
    """Say how large scores are, as statements of memory begin: 200 runs × 50,000 topics × 8 measures."""
    n_runs, n_topics, n_measures = shape
    return f"{n_runs:,} runs × {n_topics:,} topics × {n_measures} measures"


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Listen to what kernels tell inside this context; the listener is called in the thread that called the kernel."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_DIGEST_SIZE = hashlib.sha256().digest_size


def write_entry(path: Path, content: bytes) -> None:
    """Write content, so that whoever reads it sees all of it or nothing, whenever the writer is killed."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + _digest(path, content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise


def read_entry(path: Path, is_trusted: Callable[[os.stat_result], bool]) -> bytes | None:
    """Read what was written; None if it is missing, not to be trusted, unreadable, damaged or has another name.

    Whoever can write a file can write a digest too: `is_trusted` decides by its owner and mode whether to read it.
    """
    try:
        # A pipe would be waited for, and a device has no end.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or not is_trusted(about):
                return None
            whole = file.read()
    except OSError:
        return None
    content, digest = whole[:-_DIGEST_SIZE], whole[-_DIGEST_SIZE:]
    return content if content and _digest(path, content) == digest else None


def is_private(about: os.stat_result) -> bool:
    """Return whether a file or folder is this user's or the system's, and not open to everybody."""
    if not hasattr(os, "getuid"):  # Windows keeps a user's folders from others
        return True
    return about.st_uid in (0, os.getuid()) and not about.st_mode & stat.S_IWOTH


def _digest(path: Path, content: bytes) -> bytes:
    """Return the digest of content under this name, so that files cannot take each other's place."""
    return hashlib.sha256(path.name.encode("utf-8", "surrogateescape") + b"\0" + content).digest()


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
        raise _refuse_folder(path, error) from None
    token = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(token)


def is_resumable() -> bool:
    """Return whether finished work is kept at present."""
    return _folder.get() is not None


def count_jobs(n_jobs: int) -> int:
    """Return how many jobs joblib runs at once if it is asked for this number."""
    if n_jobs == 1:
        return 1
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


def run_parts(
    compute: Callable[[range], npt.NDArray[Any]],
    parts: Sequence[range],
    *,
    name: Callable[[], str],
    shape: tuple[int | None, ...],
    dtype: Literal["int64", "float64"],
    n_jobs: int = 1,
    sharing: dict[str, str] | None = None,
    say: Callable[[int, int], None] = lambda done, to_do: None,
) -> Iterator[npt.NDArray[Any]]:
    """Yield the array that is computed of each range of trials, in order, each as soon as it is there.

    Inside `resumable`, arrays are files there, and those that are there already are not computed again: `name` returns what
    tells everything that they depend on beside the trials, and a file of another `dtype` or `shape`, in which None stands for
    the number of trials, is computed again. `sharing` are options `prefer` or `require` of joblib. `say` takes how many
    trials have been computed, and how many there are to compute: what was in the folder counts as neither, since reading it
    tells nothing of the time that the others take.
    """
    folder = _folder.get()
    if folder is None:
        paths: list[Path | None] = [None] * len(parts)
    else:
        begin = name()
        paths = [folder / f"{begin}-{part.start}-{part.stop}.npy" for part in parts]
    missing = [path is None or not path.exists() for path in paths]
    to_do = [part for part, is_missing in zip(parts, missing, strict=True) if is_missing]
    done, total = 0, sum(map(len, to_do))
    arrays = _run_in_turn([(compute, (part,), {}) for part in to_do], n_jobs, sharing or {"prefer": "threads"})
    for part, path, is_missing in zip(parts, paths, missing, strict=True):
        expected = tuple(len(part) if length is None else length for length in shape)
        array = next(arrays) if path is None or is_missing else _read_array(path, expected, dtype)
        if array is None:  # damaged, or deleted since
            array, is_missing, total = compute(part), True, total + len(part)
        if is_missing:
            if path is not None:
                _write_array(path, array)
            done += len(part)
            say(done, total)
        yield array


def _read_array(path: Path, shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any] | None:
    """Return the array in a file; None if there is no such array, or not of an owner of the folder."""
    try:
        owners = {0, os.getuid(), path.parent.stat().st_uid} if hasattr(os, "getuid") else None
    except OSError:
        return None
    content = read_entry(path, lambda about: owners is None or about.st_uid in owners)
    if content is None:
        return None
    try:
        array: npt.NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except ValueError:
        return None
    return array if (array.shape, array.dtype) == (shape, np.dtype(dtype)) else None


def _write_array(path: Path, array: npt.NDArray[Any]) -> None:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    try:
        write_entry(path, stream.getvalue())
    except OSError as error:
        raise _refuse_folder(path.parent, error) from None


def _refuse_folder(folder: Path, error: OSError) -> MetaevalError:
    return MetaevalError(f"{folder}: finished work cannot be kept there: {error.strerror or error}")


def run_tasks(tasks: Iterable[Any], *, n_jobs: int, prefer: str | None = None) -> list[Any]:
    """Return the results of joblib's delayed tasks in their order."""
    return list(_run_in_turn(list(tasks), n_jobs, {"prefer": prefer}))


def _run_in_turn(tasks: Sequence[Any], n_jobs: int, sharing: Mapping[str, str | None]) -> Iterator[Any]:
    """Yield the results of tasks in their order, each as soon as it is there.

    If a worker process is killed, by whoever needed its memory for instance, the rest is computed in this one.
    """
    done = 0
    if n_jobs != 1 and len(tasks) > 1:
        import joblib

        try:
            pool = joblib.Parallel(n_jobs=n_jobs, return_as="generator", **sharing)
        except ValueError:  # a backend that returns everything at its end
            pool = joblib.Parallel(n_jobs=n_jobs, **sharing)
        with suppress(BrokenProcessPool):
            for result in pool(tasks):
                done += 1
                yield result
    for function, arguments, options in tasks[done:]:
        yield function(*arguments, **options)


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
