"""The child process in which functions of users' files run: started once, reused, stopped when its time is up."""

from __future__ import annotations

import atexit
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, NoReturn, cast

import numpy as np

from metaeval.errors import MeasureError, format_option
from metaeval.measures.calls import FormulaError
from metaeval.measures.child import module_name, receive, send

TIME_LIMIT = 120.0
"""Seconds that a measure of a user's file may take, unless somebody says otherwise."""

_START_LIMIT = 120.0  # seconds until the child has imported numpy, on a machine that is busy
_SHOWN = 300  # letters of what the child printed last
_START = "import sys; sys.path[:] = sys.argv[1:]; sys.argv[1:] = []; from metaeval.measures.child import serve; serve()"


class StoppedError(MeasureError):
    """A function took too long, or ended its process."""


class KilledError(StoppedError):
    """The process was killed, by whoever needed its memory for instance."""


Described = tuple[tuple[str, int, tuple[Any, ...]], ...]

_limit: ContextVar[float] = ContextVar("limit", default=TIME_LIMIT)
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def use_time_limit(seconds: float | None) -> Iterator[None]:
    """State how long each measure of a user's file may take while the context lasts; None keeps what is stated.

    Parameters
    ----------
    seconds : float or None

    Raises
    ------
    MeasureError
        If it is not a positive number.
    """
    if seconds is None:
        yield
        return
    if not seconds > 0:
        raise MeasureError(f"{format_option('time_limit')} is a positive number of seconds, not {seconds:g}")
    before = _limit.set(float(seconds))
    try:
        yield
    finally:
        _limit.reset(before)


@contextmanager
def spend_time() -> Iterator[None]:
    """Let all calls inside share one time limit, as those that check and score one measure do."""
    if _deadline.get() is not None:
        yield
        return
    before = _deadline.set(time.monotonic() + _limit.get())
    try:
        yield
    finally:
        _deadline.reset(before)


@dataclass(frozen=True)
class UserFile:
    """A Python file as it was when it was named.

    Parameters
    ----------
    path : str
        In full.
    source : bytes
    key : str
        What the two processes call it.
    """

    path: str
    source: bytes
    key: str


@dataclass(frozen=True)
class RemoteFormula:
    """A function of a user's file, to be called like any other; it runs in the child process.

    Parameters
    ----------
    file : UserFile
    name : str
        In the file.
    signature : tuple or None
        Name, kind and default (none, or one) of every parameter.
    origin : str
        The function's own name.
    each : int, optional
        The axes of one topic where the function is called once for each topic; otherwise 0.
    """

    file: UserFile
    name: str
    signature: Described | None
    origin: str
    each: int = 0

    def __post_init__(self) -> None:
        # What `inspect` and the registry ask a function for.
        names = {"__module__": module_name(self.file.path), "__name__": self.origin, "__qualname__": self.origin}
        for attribute, value in names.items():
            object.__setattr__(self, attribute, value)
        if self.signature is not None:
            object.__setattr__(self, "__signature__", _make_signature(self.signature))

    def __call__(self, *arrays: np.ndarray, **parameters: Any) -> np.ndarray:
        """Return the scores of arrays."""
        request = {"name": self.name, "parameters": parameters, "each": self.each}
        try:
            _, (scores,) = find_child().ask(self.file, "call", request, arrays)
        except KilledError:  # once more, in a new process: what was scored before is not lost
            _, (scores,) = find_child().ask(self.file, "call", request, arrays)
        return scores

    def call_each_topic(self, axes: int) -> RemoteFormula:
        """Return the same function, called once for each topic, all of them in one request."""
        return replace(self, each=axes)


def _make_signature(described: Described) -> inspect.Signature:
    kinds = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.KEYWORD_ONLY,
        inspect.Parameter.VAR_KEYWORD,
    )
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(name, kinds[kind], default=default[0] if default else empty)
            for name, kind, default in described
        ]
    )


class Child:
    """The child process and the pipes to it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._loaded: dict[str, list[dict[str, Any]]] = {}
        self._count = 0
        self._said: deque[bytes] = deque(maxlen=16)
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8:backslashreplace"}
        self._process = subprocess.Popen(  # noqa: S603  (it runs metaeval itself)
            [sys.executable, "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            # A group of its own, so that whatever it starts is stopped with it.
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._exchange("starting the process for measures", None, (), time.monotonic() + _START_LIMIT)

    @property
    def runs(self) -> bool:
        """Whether it is there to be asked, by this process."""
        return self.owner == os.getpid() and self._process.poll() is None

    def load(self, file: UserFile) -> list[dict[str, Any]]:
        """Run a file unless that was done, and return descriptions of the measures that it registers."""
        self.ask(file, None, {}, ())
        return self._loaded[file.key]

    def ask(
        self, file: UserFile, do: str | None, request: dict[str, Any], arrays: tuple[np.ndarray, ...] = ()
    ) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
        """Send a request about a file and wait for the answer.

        Parameters
        ----------
        file : UserFile
            Which is run first, unless it was.
        do : str or None
            "describe" or "call"; None only runs the file.
        request : dict
        arrays : tuple of ndarray, optional

        Returns
        -------
        answer : dict
        arrays : tuple of ndarray

        Raises
        ------
        MeasureError
            If the child says so; a `StoppedError` if it dies, or takes longer than it may.
        """
        deadline = _deadline.get()
        deadline = time.monotonic() + _limit.get() if deadline is None else deadline
        with self._lock:
            if file.key not in self._loaded:
                load = {"do": "load", "key": file.key, "path": file.path, "source": file.source.decode("latin-1")}
                answer, _ = self._exchange(file.path, load, (), deadline)
                self._loaded[file.key] = answer["registered"]
            if do is None:
                return {}, ()
            what = f"{file.path}:{request['name'].lstrip('@')}"
            return self._exchange(what, {**request, "do": do, "key": file.key}, arrays, deadline)

    def _exchange(
        self, what: str, request: dict[str, Any] | None, arrays: tuple[np.ndarray, ...], deadline: float
    ) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
        late = threading.Event()

        def stop() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(max(0.0, deadline - time.monotonic()), stop)
        timer.daemon = True
        timer.start()
        try:
            if request is not None:
                self._count += 1
                send(cast(BinaryIO, self._process.stdin), {**request, "id": self._count}, arrays)
            answer, found = receive(cast(BinaryIO, self._process.stdout))
        except (EOFError, OSError, ValueError, KeyError, TypeError, MemoryError):
            self._refuse(what, late.is_set())
        except BaseException:  # interrupted: the answer to this request must not be taken for the next one's
            self.kill()
            raise
        finally:
            timer.cancel()
        if request is not None and answer.get("id") != self._count:
            self.kill()
            self._refuse(what, late=False)
        if "error" in answer:
            raise (FormulaError if answer.get("formula") else MeasureError)(str(answer["error"]))
        return answer, found

    def _refuse(self, what: str, late: bool) -> NoReturn:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        status = self._process.poll()
        self.close()
        said = " ".join(b"".join(self._said).decode("utf-8", "replace").split())
        said = f"; it printed: {said[-_SHOWN:]}" if said else ""
        if late:
            raise StoppedError(
                f"{what} takes longer than {_limit.get():g} s and was stopped ({format_option('time_limit')}){said}"
            )
        error = KilledError if status == -getattr(signal, "SIGKILL", 0) != 0 else StoppedError
        raise error(f"{what} ended its process {_describe_status(status)}{said}")

    def _listen(self) -> None:
        with suppress(OSError, ValueError):
            while part := os.read(cast(BinaryIO, self._process.stderr).fileno(), 1024):
                self._said.append(part)

    def kill(self) -> None:
        """Stop it and everything it started; does nothing where it has ended."""
        if self.owner != os.getpid():
            return
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)

    def close(self) -> None:
        """Stop it, and close the pipes to it, which nobody may be using."""
        self.kill()
        self._listener.join(0.5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError, ValueError):
                cast(BinaryIO, stream).close()


def _describe_status(status: int | None) -> str:
    if status is None or status >= 0:
        return "without an answer" if status is None else f"with status {status}"
    with suppress(ValueError):
        return f"by {signal.Signals(-status).name}"
    return f"by signal {-status}"


_child: Child | None = None


def find_child() -> Child:
    """Return the child process, started if there is none."""
    global _child
    if _child is None or not _child.runs:
        if _child is not None:
            _child.close()
        _child = Child()
    return _child


@atexit.register
def _stop_child() -> None:
    if _child is not None:
        _child.close()
