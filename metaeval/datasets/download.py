"""Having the files of a data set: those in the cache folder that are whole, and the others downloaded."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metaeval.datasets.registry import Dataset, File, cache_folder, dataset
from metaeval.errors import DatasetError, PolicyWarning
from metaeval.files import PathLike

TIMEOUT = 30.0
"""Seconds to wait for an answer of a server."""

RETRIES = 2


def fetch(wanted: str | Dataset, *, folder: PathLike | None = None) -> dict[str, Path]:
    """Return where the files of a data set are, after downloading what is not there, or not whole.

    Parameters
    ----------
    wanted : str or Dataset
        A registered name, or a data set of your own.
    folder : path, optional
        The cache folder; METAEVAL_DATA or the user's cache folder by default.

    Returns
    -------
    dict of str to Path
        The files by their names in the registry, each checked against its sha256; a damaged one is replaced with a warning.

    Examples
    --------
    >>> fetch("stc3-dq-a")                                           # doctest: +SKIP
    {'stc3/gold.json': PosixPath('/home/me/.cache/metaeval/stc3/gold.json'), ...}
    """
    chosen = wanted if isinstance(wanted, Dataset) else dataset(wanted)
    root = cache_folder() if folder is None else Path(folder).expanduser()
    if not chosen.files:
        return _find_in_place(chosen, root)
    lacking = [file for file in chosen.files if not _is_whole(root / file.name, file)]
    if lacking:
        _download(chosen, lacking, root)
    return {file.name: root / file.name for file in chosen.files}


def _find_in_place(chosen: Dataset, root: Path) -> dict[str, Path]:
    """Find what somebody put there by hand: there is no checksum to compare it with."""
    runs = sorted(root.glob(chosen.runs)) if chosen.runs else []
    runs = [path for path in runs if path.is_file() and not path.name.startswith(".")]
    gold = [root / chosen.gold] if chosen.gold else []
    if not runs or not all(path.is_file() for path in gold):
        raise DatasetError(
            f"{chosen.name} cannot be downloaded by a program. Where it is: {chosen.where}. "
            f"Where to put it, in {root}: {chosen.layout}"
        )
    return {path.relative_to(root).as_posix(): path for path in [*gold, *runs]}


def _is_whole(path: Path, file: File) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    except OSError:
        return False


def _download(chosen: Dataset, lacking: list[File], root: Path) -> None:
    import pooch
    from rich.console import Console
    from rich.progress import track

    pooch.get_logger().setLevel("WARNING")
    cache = pooch.create(
        root, "", registry={file.name: file.sha256 for file in lacking},
        urls={file.name: file.url for file in lacking}, retry_if_failed=RETRIES,
    )  # fmt: skip
    console = Console(stderr=True)
    shown: Any = {"console": console, "transient": True, "disable": not console.is_terminal}
    for file in track(lacking, f"{chosen.name}: downloading", **shown):
        damaged = (root / file.name).exists()
        try:
            cache.fetch(file.name, downloader=_receive(file))
        except (OSError, ValueError) as error:  # of requests, too
            raise DatasetError(
                f"{chosen.name} needs {file.name}, which is {'damaged' if damaged else 'not'} in {root} and cannot be "
                f"downloaded ({_explain(error, file)}). Put it there by hand: metaeval data info {chosen.name} lists it"
            ) from None
        if damaged:
            message = f"{root / file.name} was not the file that it should be, and was downloaded again"
            warnings.warn(message, PolicyWarning, stacklevel=4)


def _receive(file: File) -> Callable[[str, Any, Any], None]:
    """Return a downloader for pooch that stops where a server sends more than the file has."""
    import requests

    def receive(url: str, target: Any, _: Any) -> None:
        size = 0
        os.unlink(target)  # made for its owner only, while a cache folder may be shared
        with requests.get(url, stream=True, timeout=TIMEOUT) as answer, open(target, "xb") as stream:
            answer.raise_for_status()
            for chunk in answer.iter_content(2**16):
                size += len(chunk)
                if size > file.bytes:
                    raise ValueError(f"{url} gives more than {file.bytes:,} bytes")
                stream.write(chunk)

    return receive


def _explain(error: Exception, file: File) -> str:
    """Say why a file could not be had."""
    from requests import exceptions

    host = urlsplit(file.url).netloc
    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"{file.url} answers {error.response.status_code} {error.response.reason}"
    for kind, reason in (
        (exceptions.SSLError, f"the certificate of {host} cannot be verified"),
        (exceptions.Timeout, f"{host} does not answer within {TIMEOUT:g} s"),
        (exceptions.ConnectionError, f"{host} cannot be reached, or cuts the connection"),
        (exceptions.ChunkedEncodingError, f"{host} cannot be reached, or cuts the connection"),
    ):
        if isinstance(error, kind):
            return reason
    return getattr(error, "strerror", None) or str(error)
