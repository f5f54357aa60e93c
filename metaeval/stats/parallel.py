"""Long work: on threads, or on any backend of joblib that the user configures; kernels tell, and the command line listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy.typing as npt

Listener = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and how much there is; 0 of 0 states something beforehand."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def tell(what: str, done: int = 0, total: int = 0) -> None:
    """Tell the listener, if there is one, how far the work has come; or state something before work starts."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def split_work(total: int, size: int, what: str = "") -> Iterator[slice]:
    """Yield parts of so many things, at least one at a time, and tell after each how far the work has come, if it is named."""
    size = max(1, size)
    for start in range(0, total, size):
        part = slice(start, min(start + size, total))
        yield part
        if what:
            tell(what, part.stop, total)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Listen to what kernels tell inside this context; the listener is called in the thread that called the kernel."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def run_parts(
    compute: Callable[[range], npt.NDArray[Any]],
    parts: Sequence[range],
    *,
    n_jobs: int = 1,
    sharing: dict[str, str] | None = None,
    what: str = "",
) -> Iterator[npt.NDArray[Any]]:
    """Yield the array of each range of trials, in order, as soon as it is there, and tell how far the work has come, if named.

    `sharing` are options `prefer` or `require` of joblib, by default for threads.
    """
    if n_jobs == 1 or len(parts) == 1:
        arrays = map(compute, parts)
    else:
        import joblib

        pool = joblib.Parallel(n_jobs=n_jobs, return_as="generator", **(sharing or {"prefer": "threads"}))
        arrays = pool(joblib.delayed(compute)(part) for part in parts)
    for part, array in zip(parts, arrays, strict=True):
        if what:
            tell(what, part.stop, parts[-1].stop)
        yield array
