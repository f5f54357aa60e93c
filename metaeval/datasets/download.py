"""Having the files of a data set: found in the cache folder and whole, or downloaded, checked and put there."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from metaeval.datasets.ordinal import READER, load as load_ordinal
from metaeval.datasets.registry import Dataset, File, cache_folder, dataset
from metaeval.errors import DatasetError, PolicyWarning
from metaeval.files import PathLike

CHUNK = 2**16
SURPLUS = 2**20
"""How many bytes more than announced are still read, so that a wrong file can be told by its checksum."""
LOCK = ".download.lock"
PATIENCE = 900.0
"""How many seconds to wait for another process that downloads into the same folder."""

Advance = Callable[[int], None]


def fetch(
    wanted: str | Dataset,
    *,
    folder: PathLike | None = None,
    progress: bool = True,
    timeout: float = 30.0,
    waits: Sequence[float] = (0.5, 2.0),
) -> dict[str, Path]:
    """Return where the files of a data set are, after downloading what is not there, or not whole.

    Every file is checked against its sha256, those that are there already too. A download gets its name only
    when it is whole, and one process downloads into a folder at a time.

    Parameters
    ----------
    wanted : str or Dataset
        A registered name, or a data set of your own.
    folder : path, optional
        The cache folder; METAEVAL_DATA or the user's cache folder by default.
    progress : bool, optional
        Show a progress bar on stderr, where that is a terminal.
    timeout : float, optional
        Seconds to wait for an answer of the server.
    waits : sequence of float, optional
        Seconds to wait before each further attempt to have a file.

    Returns
    -------
    dict of str to Path
        The files by their names in the registry.

    Raises
    ------
    DatasetError
        If a file cannot be downloaded or has another checksum, or the data set cannot be downloaded at all
        and is not in place; the message says where to get it and where to put it.

    Warns
    -----
    PolicyWarning
        If a damaged file was replaced.

    Examples
    --------
    >>> fetch("stc3-dq-a")                                           # doctest: +SKIP
    {'stc3/gold.json': PosixPath('/home/me/.cache/metaeval/stc3/gold.json'), ...}
    """
    chosen = wanted if isinstance(wanted, Dataset) else dataset(wanted)
    root = cache_folder() if folder is None else Path(folder).expanduser()
    if chosen.reader == READER:
        load_ordinal(chosen, folder=root, progress=progress)
    if not chosen.files:
        return _in_place(chosen, root)
    if _lacking(chosen.files, root):
        try:
            with _locked(root):
                _download_all(chosen, root, progress, timeout, waits)
        except _Failure as failure:
            raise DatasetError(_sentence(chosen, root, str(failure))) from None
    return {file.name: root / file.name for file in chosen.files}


_UNREACHABLE: ContextVar[set[str] | None] = ContextVar("unreachable_hosts", default=None)


@contextmanager
def remember_unreachable_hosts() -> Iterator[None]:
    """Try a host that could not be connected to no second time while the context lasts.

    Without a network, every data set would otherwise wait for its own attempts. Only failures to connect count; a
    host that answers, even with an error, is asked again.

    Examples
    --------
    >>> with remember_unreachable_hosts():                           # doctest: +SKIP
    ...     for name in ("stc3-dq-a", "stc3-dq-e"):
    ...         fetch(name)
    """
    if _UNREACHABLE.get() is not None:  # the outermost context remembers for all
        yield
        return
    token = _UNREACHABLE.set(set())
    try:
        yield
    finally:
        _UNREACHABLE.reset(token)


class _Failure(Exception):
    """Why a file cannot be obtained; `passing` when another attempt may succeed, `connected` unless nobody was there."""

    def __init__(self, why: str, *, passing: bool = False, connected: bool = True) -> None:
        super().__init__(why)
        self.passing = passing
        self.connected = connected


def _in_place(chosen: Dataset, root: Path) -> dict[str, Path]:
    """Find what somebody put there by hand: there is no checksum to compare it with."""
    files = sorted(root.glob(chosen.runs)) if chosen.runs else []
    files = [path for path in files if path.is_file() and not path.name.startswith(".")]
    gold = [root / chosen.gold] if chosen.gold else []
    if not files or not all(path.is_file() for path in gold):
        raise DatasetError(
            f"{chosen.name} cannot be downloaded by a program. Where it is: {chosen.where}. "
            f"Where to put it, in {root}: {chosen.layout}"
        )
    return {path.relative_to(root).as_posix(): path for path in [*gold, *files]}


def _lacking(files: Sequence[File], root: Path) -> list[File]:
    return [file for file in files if not _whole(root / file.name, file)]


def _whole(path: Path, file: File) -> bool:
    try:
        if path.stat().st_size != file.bytes:
            return False
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    except OSError:
        return False


def _sentence(chosen: Dataset, root: Path, why: str) -> str:
    lacking = _lacking(chosen.files, root)
    damaged = [file.name for file in lacking if (root / file.name).exists()]
    absent = len(lacking) - len(damaged)
    needs = [f"{_count(absent)} not in {root}"] if absent else []
    if damaged:
        where = "damaged there" if absent else f"damaged in {root}"
        needs.append(f"{_count(len(damaged))} {where} ({', '.join(damaged[:3])}{', …' * (len(damaged) > 3)})")
    them = "it" if len(lacking) == 1 else "them"
    return (
        f"{chosen.name} needs {' and '.join(needs)}, and {'it' if len(lacking) == 1 else 'they'} cannot be downloaded "
        f"({why}). Put {them} there by hand: metaeval data info {chosen.name} lists {them}"
    )


def _count(number: int) -> str:
    return "1 file that is" if number == 1 else f"{number:,} files that are"


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    import filelock

    lock = filelock.FileLock(root / LOCK, timeout=PATIENCE)
    made = next((path for path in (*reversed(root.parents), root) if not path.exists()), None)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout:
        raise _Failure(f"another process has been downloading for {PATIENCE / 60:.0f} minutes") from None
    except OSError as error:
        raise _Failure(f"the folder cannot be written: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()
        if made is not None:
            _clear_empty(root, made)


def _clear_empty(root: Path, made: Path) -> None:
    """Leave no folder behind that was made for files that did not come."""
    (root / LOCK).unlink(missing_ok=True)
    for path in sorted((*root.rglob("*"), root, *root.parents), key=lambda path: -len(path.parts)):
        if path.is_dir() and (path == made or made in path.parents) and not any(path.iterdir()):
            path.rmdir()


def _download_all(chosen: Dataset, root: Path, progress: bool, timeout: float, waits: Sequence[float]) -> None:
    lacking = _lacking(chosen.files, root)  # again: another process may have been here while we waited
    with _progress(chosen.name, sum(file.bytes for file in lacking), shown=progress and bool(lacking)) as advance:
        for file in lacking:
            target = root / file.name
            damaged = target.exists()
            _download(file, target, timeout, waits, advance)
            if damaged:
                message = f"{target} was not the file that it should be, and was downloaded again"
                warnings.warn(message, PolicyWarning, stacklevel=3)


def _download(file: File, target: Path, timeout: float, waits: Sequence[float], advance: Advance) -> None:
    host, unreachable = urlsplit(file.url).netloc, _UNREACHABLE.get()
    if unreachable is not None and host in unreachable:
        raise _Failure(f"{host} could not be reached before", connected=False)
    for wait in (*waits, None):
        try:
            _attempt(file, target, timeout, advance)
        except _Failure as failure:
            if wait is None or not failure.passing:
                if unreachable is not None and not failure.connected:
                    unreachable.add(host)
                raise
            time.sleep(wait)
        else:
            return


def _attempt(file: File, target: Path, timeout: float, advance: Advance) -> None:
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            _receive(file, stream, timeout, advance)
        part.replace(target)
    except OSError as error:
        raise _Failure(f"{file.name} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _receive(file: File, stream: BinaryIO, timeout: float, advance: Advance) -> None:
    """Write what the server sends, if it is the file."""
    import requests
    import urllib3

    size, digest = 0, hashlib.sha256()
    try:
        with requests.get(file.url, stream=True, timeout=timeout) as answer:
            answer.raise_for_status()
            int(answer.headers.get("Content-Length", 0))  # who does not know how long a file is has another one
            for chunk in answer.iter_content(CHUNK):
                size += len(chunk)
                advance(len(chunk))
                if size > file.bytes + SURPLUS:
                    raise _Failure(f"{file.name}: {file.url} gives far more than {file.bytes:,} bytes")
                digest.update(chunk)
                stream.write(chunk)
        if (size, digest.hexdigest()) != (file.bytes, file.sha256):
            raise _Failure(
                f"{file.name}: {file.url} gives {size:,} bytes with sha256 {digest.hexdigest()}, "
                f"not {file.bytes:,} with {file.sha256}",
                passing=size < file.bytes,
            )
    except (_Failure, requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        advance(-size)
        raise _explained(error, file, size, timeout) from None


def _explained(error: Exception, file: File, size: int, timeout: float) -> _Failure:
    """Return why a file could not be received, of which that many bytes came."""
    from requests import exceptions
    from urllib3.exceptions import NewConnectionError, ReadTimeoutError

    if isinstance(error, _Failure):
        return error
    host = urlsplit(file.url).netloc
    # After a redirect it is another host that is not there, and this one has answered.
    request = getattr(error, "request", None)
    answered = request is not None and urlsplit(request.url or "").netloc != host
    inner = error.args[0] if error.args else None
    silent = f"{host} does not answer within {timeout:g} s"
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        status = error.response.status_code
        return _Failure(f"{file.url} answers {status} {error.response.reason}", passing=status >= 500 or status == 429)
    if isinstance(error, exceptions.SSLError):
        return _Failure(f"the certificate of {host} cannot be verified")
    if isinstance(error, exceptions.ProxyError):
        return _Failure("the proxy cannot be reached", passing=True, connected=answered)
    if isinstance(error, exceptions.ConnectTimeout):
        return _Failure(silent, passing=True, connected=answered)
    if isinstance(error, exceptions.Timeout) or isinstance(inner, ReadTimeoutError):
        return _Failure(silent, passing=True)
    if isinstance(getattr(inner, "reason", None), NewConnectionError):
        return _Failure("no network", passing=True, connected=answered)
    if isinstance(error, exceptions.ConnectionError | exceptions.ChunkedEncodingError):
        had = f"{size:,} of {file.bytes:,} bytes of {file.name}"
        return _Failure(f"{host} cut the connection after {had}", passing=True)
    if isinstance(error, exceptions.TooManyRedirects):
        return _Failure(f"{file.url} redirects without end")
    # Headers, or a redirect, that are none.
    return _Failure(f"{file.url} does not lead to a download: {error}")


@contextmanager
def _progress(name: str, total: int, *, shown: bool) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task(name, total=total)
        yield lambda size: bar.advance(task, size)
