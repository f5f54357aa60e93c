"""The worker process in which functions of users' files run: one for all files, stopped when their time is up."""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from metaeval.errors import MeasureError, format_option

TIME_LIMIT = 120.0
"""Seconds that a measure of a user's file may take, unless somebody says otherwise."""

_EXIT_CODE = re.compile(r"\{(\w+)\((-?\d+)\)")  # as loky writes it: {SIGSEGV(-11)}, {EXIT(0)}


class StoppedError(MeasureError):
    """A function took too long, or ended its process."""


_limit: ContextVar[float] = ContextVar("limit", default=TIME_LIMIT)
_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def use_time_limit(seconds: float | None) -> Iterator[None]:
    """State how long each measure of a user's file may take while the context lasts; None keeps what is stated."""
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


def run_in_worker(subject: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of metaeval in the worker, which is started if there is none.

    What the function raises is raised here; a `StoppedError` where it takes too long or ends the process. A process
    that was killed, by whoever needed its memory for instance, is started once more.
    """
    with _turn:  # of several threads: none may end the process of another's call, nor spend its time
        try:
            return _submit(subject, function, *arguments)
        except _KilledError:
            return _submit(subject, function, *arguments)


class _KilledError(StoppedError):
    """The process was ended by SIGKILL."""


def _submit(subject: str, function: Callable[..., Any], *arguments: Any) -> Any:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    try:
        executor = _find_executor()  # starting it is no fault of the measure's
        deadline = _deadline.get()
        seconds = _limit.get() if deadline is None else deadline - time.monotonic()
        # An unlimited time is more than a lock can wait for.
        call = executor.submit(_call_in, os.getcwd(), function, *arguments)
        return call.result(min(max(0.0, seconds), threading.TIMEOUT_MAX))
    except TimeoutError:
        stop_worker()
        raise StoppedError(
            f"{subject} takes longer than {_limit.get():g} s and was stopped ({format_option('time_limit')})"
        ) from None
    except BrokenProcessPool as error:
        stop_worker()
        _refuse(subject, str(error))
    except KeyboardInterrupt:
        stop_worker()
        raise


def _refuse(subject: str, message: str) -> NoReturn:
    name, code = (*_EXIT_CODE.findall(message), ("", ""))[0]
    ended = f"by {name}" if code.startswith("-") else f"with status {code}" if code else "without an answer"
    raise (_KilledError if name == "SIGKILL" else StoppedError)(f"{subject} ended its process {ended}")


_QUIET = "ignore:resource_tracker:UserWarning"

_executor: Any = None
_owner = 0
_lock = threading.Lock()
_turn = threading.Lock()


def _find_executor() -> Any:
    """Return loky's executor of one process, started if there is none or it belongs to a process that forked this one."""
    global _executor, _owner
    with _lock:
        if _executor is None or _owner != os.getpid():
            from joblib.externals.loky import ProcessPoolExecutor

            # loky's tracker, which has this interpreter's options, clears up after a stopped worker: nobody need hear of it.
            sys.warnoptions.append(_QUIET)
            try:
                _executor = ProcessPoolExecutor(1, initializer=_prepare_worker, initargs=(os.getpid(),))
                _executor.submit(os.getpid).result()
            finally:
                sys.warnoptions.remove(_QUIET)
            _owner = os.getpid()
        return _executor


@atexit.register  # at the very end loky's own clearing up would find its modules gone, and say so
def stop_worker() -> None:
    """End the worker and what it started; does nothing where there is none."""
    global _executor
    with _lock:
        executor, _executor = _executor, None
    if executor is not None and _owner == os.getpid():
        # A call that ends meanwhile is not found by loky's thread, which would show a traceback.
        told, threading.excepthook = threading.excepthook, _ignore
        try:
            executor.shutdown(wait=True, kill_workers=True)
        finally:
            threading.excepthook = told


def _ignore(_: threading.ExceptHookArgs) -> None:
    """Say nothing of an exception that ended a thread."""


def _call_in(folder: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in the folder in which the caller stands, which may have changed since the worker was started."""
    os.chdir(folder)
    return function(*arguments)


def _prepare_worker(parent: int) -> None:
    """Let what functions print go nowhere, write no bytecode beside users' files, and end when the parent is gone."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    sys.dont_write_bytecode = True
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)
