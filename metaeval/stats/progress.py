"""How far long work has come: kernels tell, and whoever called them may listen.

Nothing is printed here. The command line listens, and shows what was done of how much, and how long the rest will take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
