"""What runs in the child process: it executes users' files and their functions, and answers the process that started it.

A message is a length (8 bytes), a header of that length (JSON), and the raw bytes of the arrays whose shapes the
header states. Nothing is ever unpickled on either side.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, BinaryIO

import numpy as np

from metaeval.errors import MeasureError, MetaevalError
from metaeval.measures.base import Measure
from metaeval.measures.calls import EachTopic, FormulaError, call_formula, describe_error

REGISTERED = "@"
"""What stands before the name of a measure that a file registered, where a function has its own name."""

_LONGEST_HEADER = 1 << 26


def send(stream: BinaryIO, header: dict[str, Any], arrays: tuple[np.ndarray, ...] = ()) -> None:
    """Write a message.

    Parameters
    ----------
    stream : binary file
    header : dict
        Of what JSON can hold; `shapes` is added.
    arrays : tuple of ndarray of float64, optional
    """
    text = json.dumps({**header, "shapes": [array.shape for array in arrays]}, default=_to_plain).encode()
    stream.write(len(text).to_bytes(8, "little") + text)
    for array in arrays:
        stream.write(np.ascontiguousarray(array, dtype=np.float64).reshape(-1).view(np.uint8).data)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Read a message.

    Parameters
    ----------
    stream : binary file

    Returns
    -------
    header : dict
    arrays : tuple of ndarray of float64

    Raises
    ------
    EOFError
        If the other side has gone.
    """
    length = int.from_bytes(_read(stream, 8), "little")
    if length > _LONGEST_HEADER:
        raise EOFError
    header = json.loads(_read(stream, length))
    return header, tuple(_read_array(stream, tuple(shape)) for shape in header["shapes"])


def _read_array(stream: BinaryIO, shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(shape)
    _read_into(stream, array.reshape(-1).view(np.uint8).data)
    return array


def _read(stream: BinaryIO, length: int) -> bytes:
    buffer = bytearray(length)
    _read_into(stream, memoryview(buffer))
    return bytes(buffer)


def _read_into(stream: BinaryIO, room: memoryview) -> None:
    filled = 0
    while filled < len(room):
        count = stream.readinto(room[filled:])  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        filled += count


def _to_plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def serve() -> None:
    """Answer requests until the other side closes its end."""
    # What users' code prints goes to stderr, which the parent collects: its answers have descriptors of their own.
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is told, and decides
    process, parent = os.getpid(), os.getppid()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    files, printed, folder = Files(), os.dup(2), os.getcwd()
    send(answers, {"ready": True})
    while True:
        try:
            header, arrays = receive(requests)
        except EOFError:
            os._exit(0)
        _restore(printed, folder)
        try:
            answer, found = files.answer(header, arrays)
        except MetaevalError as error:
            said = " ".join(str(error).split())[:1000]
            answer, found = {"error": said, "formula": isinstance(error, FormulaError)}, ()
        except Exception as error:  # the other side waits for an answer, whatever happens here
            answer, found = {"error": describe_error(error)}, ()
        if os.getpid() != process:
            os._exit(0)  # user code has forked; one of them answers
        send(answers, {**answer, "id": header["id"]}, found)


def _restore(printed: int, folder: str) -> None:
    """Undo what an earlier function may have done to what the next one expects: its output and its folder."""
    for number in (1, 2):
        os.dup2(printed, number)
    if sys.stdout.closed:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr.closed:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    with suppress(OSError):
        os.chdir(folder)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


class Files:
    """The files that were run in this process, and what they registered."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._registered: dict[str, dict[str, Measure]] = {}

    def answer(
        self, header: dict[str, Any], arrays: tuple[np.ndarray, ...]
    ) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
        """Return the answer to a request.

        Parameters
        ----------
        header : dict
            ``do`` is "load" (run a file), "describe" (a function in it) or "call".
        arrays : tuple of ndarray
            What a function is called with.

        Returns
        -------
        answer : dict
        arrays : tuple of ndarray
        """
        if header["do"] == "load":
            self._load(header)
            return {"registered": [_describe(one) for one in self._registered[header["key"]].values()]}, ()
        key, name = header["key"], header["name"]
        if header["do"] == "describe":
            return self._describe_function(key, name), ()
        formula = self._find_formula(key, name)
        if header["each"]:
            formula = EachTopic(formula, header["each"])
        scores = call_formula(formula, arrays, header["parameters"])
        if scores.size > sum(array.size for array in arrays):
            raise FormulaError(f"it returned shape {scores.shape}: more numbers than it was given")
        return {}, (scores,)

    def _load(self, header: dict[str, Any]) -> None:
        from metaeval.measures import registry

        known = {str(one): one for one in registry.measures()}
        self._modules[header["key"]] = run_source(header["path"], header["source"].encode("latin-1"))
        new = [one for one in registry.measures() if known.get(str(one)) is not one]
        self._registered[header["key"]] = {one.name: one for one in new}

    def _find_formula(self, key: str, name: str) -> Any:
        if name.startswith(REGISTERED):
            return self._registered[key][name.removeprefix(REGISTERED)].formula
        return getattr(self._modules[key], name)

    def _describe_function(self, key: str, name: str) -> dict[str, Any]:
        function = getattr(self._modules[key], name, None)
        if function is None:
            return {"what": "nothing"}
        attached = getattr(function, "measure", None)
        if isinstance(attached, Measure):
            own = self._registered[key].get(attached.name) is attached
            return {"what": "measure", "name": str(attached), "own": own}
        if not callable(function) or isinstance(function, type):
            return {"what": "value"}
        return {"what": "function", "signature": _describe_signature(function)}


def run_source(path: str, source: bytes) -> ModuleType:
    """Return the module that a file's text makes.

    Parameters
    ----------
    path : str
        The full path of the file.
    source : bytes

    Returns
    -------
    module

    Raises
    ------
    MeasureError
        If it cannot be run.
    """
    loader = _Loader(module_name(path), path, source)
    spec = importlib.util.spec_from_file_location(loader.name, path, loader=loader)
    if spec is None:
        raise MeasureError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        loader.exec_module(module)
    except MetaevalError:
        raise
    except SystemExit as stop:
        raise MeasureError(f"{path} cannot be run: it ends the program with sys.exit({stop.code!r})") from None
    except Exception as error:
        raise MeasureError(f"{path} cannot be run: {describe_error(error)}") from error
    return module


class _Loader(SourceFileLoader):
    """Runs the text that was read once, whatever the file holds now."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source, self.path)


def module_name(path: str) -> str:
    """Return a name of its own for every path: two files of one name in two folders are two modules."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return f"metaeval_user_{stem}_{hashlib.sha256(path.encode(errors='surrogateescape')).hexdigest()[:12]}"


def _describe(measure: Measure) -> dict[str, Any]:
    names = ("name", "higher_is_better", "range", "shown", "label", "description", "source", "kind", "undefined")
    values = {name: getattr(measure, name) for name in (*names, "symmetric")}
    origin = getattr(measure.formula, "__qualname__", "")
    return {
        **values,
        "parameters": dict(measure.parameters),
        "signature": _describe_signature(measure.formula),
        "origin": origin,
    }


def _describe_signature(function: Any) -> list[tuple[str, int, list[Any]]] | None:
    """Return names, kinds and defaults (none, or one) of a function's parameters; None where they are not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(one.name, int(one.kind), [] if one.default is one.empty else [one.default]) for one in parameters]
