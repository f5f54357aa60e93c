"""Functions from a user's own Python file, which is run because they named it: ``my_measure.py:my_measure``.

The file is imported in a worker process (see `metaeval.measures.worker`), so that nothing in it can hang, end or change
the program that uses the measure. The functions at the end of this module run there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from metaeval.errors import MeasureError, MetaevalError
from metaeval.measures.base import Formula, Measure, add_measure
from metaeval.measures.calls import EachTopic, FormulaError, call_formula, describe_error, put_estimated_first
from metaeval.measures.registry import measures, require_registered
from metaeval.measures.worker import run_in_worker, spend_time

LABELS_ONLY = "METAEVAL_LABELS_ONLY"
"""Environment variable under which names of measures stand for registered measures and labels of data, never for files."""


class UserFile(NamedTuple):
    """A Python file as it was when it was named: its full path and checksum."""

    path: str
    checksum: str

    @property
    def module(self) -> str:
        """The name of its module, which differs between two files of one name in two folders."""
        return f"metaeval_user_{Path(self.path).stem}_{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]}"


@dataclass(frozen=True)
class FileFormula:
    """A function of a user's file, to be called like any other; it runs in the worker.

    `registered` says whether `name` is of a measure that the file registers rather than of a function in it; `axes`, where
    the function is called once for each topic, how many axes one topic has. With `anew` each call imports the file first,
    so that the function has forgotten all earlier calls.
    """

    file: UserFile
    name: str
    registered: bool
    signature: inspect.Signature | None
    origin: str
    axes: int = 0
    anew: bool = False

    def __post_init__(self) -> None:
        # What `inspect` and the registry ask a function for.
        names = {"__module__": self.file.module, "__name__": self.origin, "__qualname__": self.origin, "__doc__": ""}
        for attribute, value in names.items():
            object.__setattr__(self, attribute, value)
        if self.signature is not None:
            object.__setattr__(self, "__signature__", self.signature)

    def __call__(self, *arrays: np.ndarray, **parameters: Any) -> np.ndarray:
        """Return the scores of arrays."""
        scores: np.ndarray = run_in_worker(f"{self.file.path}:{self.name}", _call_function, self, arrays, parameters)
        return scores


class _Answer(NamedTuple):
    """What the worker says of a function: which measure or function it is, and what the file registers."""

    measure: str
    signature: inspect.Signature | None
    registered: list[tuple[Measure, inspect.Signature | None, str]]


_KNOWN: dict[tuple[UserFile, str], Measure | Formula] = {}
_REGISTERED: dict[UserFile, dict[str, Measure]] = {}
_NAMES: dict[str, str] = {}
"""What measures of files are called, by their references with the full path."""


def load_function(reference: str) -> Measure | Formula:
    """Return the measure or the plain function that ``FILE.py:FUNCTION`` names, by importing that file.

    A file is imported once, however often it is named, and again only after it has changed.
    """
    path, _, function = reference.rpartition(":")
    if labels_only():
        raise MeasureError(f"{reference}: measures of files are not run here")
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise MeasureError(f"{reference}: there is no file {reference.rpartition(':')[0]}")
    file = UserFile(path, hashlib.sha256(Path(path).read_bytes()).hexdigest())
    if (file, function) not in _KNOWN:
        with spend_time():
            answer = run_in_worker(path, _describe_function, file, function)
        _KNOWN[file, function] = _find_measure(file, function, answer)
    formula = _KNOWN[file, function]
    _NAMES[f"{path}:{function}"] = str(formula) if isinstance(formula, Measure) else function
    return formula


def _find_measure(file: UserFile, function: str, answer: _Answer) -> Measure | Formula:
    """Register here too what the file registers in the worker, and return what the function is."""
    registered = _REGISTERED.setdefault(file, {})
    for described, signature, origin in answer.registered:
        if str(described) not in registered:
            formula = FileFormula(file, described.name, True, signature, origin)
            registered[str(described)] = replace(described, formula=formula)
            add_measure(registered[str(described)])
    if not answer.measure:
        return FileFormula(file, function, False, answer.signature, function)
    return registered.get(answer.measure) or require_registered(answer.measure)


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text


def name_of_reference(reference: str) -> str:
    """Return what the measure is called that ``FILE.py:FUNCTION`` names, without running the file."""
    path, _, function = reference.rpartition(":")
    return _NAMES.get(f"{os.path.abspath(os.path.expanduser(path))}:{function}", function)


def labels_only() -> bool:
    """Say whether names of measures may only be registered ones and labels of data, as in commands of the playground."""
    return bool(os.environ.get(LABELS_ONLY))


# What follows runs in the worker.

_modules: dict[UserFile, ModuleType] = {}
_registered: dict[UserFile, dict[str, Measure]] = {}


def _describe_function(file: UserFile, name: str) -> _Answer:
    _use_file(file)
    registered = _registered[file]
    described = [
        (measure, _find_signature(measure.formula), getattr(measure.formula, "__qualname__", ""))
        for measure in registered.values()
    ]
    function = getattr(_modules[file], name, None)
    if function is None:
        raise MeasureError(f"{file.path} has nothing called {name!r}")
    attached = getattr(function, "measure", None)
    if isinstance(attached, Measure):
        return _Answer(str(attached), None, described)
    if not callable(function) or isinstance(function, type):
        raise MeasureError(
            f"{file.path}:{name} is not a measure: give a function of arrays, decorated with "
            "@metaeval.classification_measure or @metaeval.quantification_measure or plain"
        )
    return _Answer("", _find_signature(put_estimated_first(function)), described)


def _call_function(formula: FileFormula, arrays: tuple[np.ndarray, ...], parameters: dict[str, Any]) -> np.ndarray:
    _use_file(formula.file, anew=formula.anew)
    function: Any
    if formula.registered:
        function = _registered[formula.file][formula.name].formula
    else:
        function = put_estimated_first(getattr(_modules[formula.file], formula.name))
    folder = os.getcwd()
    try:
        # Streams of its own, because an earlier function may have closed those that were there.
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            scores = call_formula(EachTopic(function, formula.axes) if formula.axes else function, arrays, parameters)
    except MetaevalError as error:  # as text, which is sure to reach the other process
        raise FormulaError(" ".join(str(error).split())[:1000]) from None
    finally:
        os.chdir(folder)
    if scores.size > sum(array.size * max(array.shape, default=1) for array in arrays):
        raise FormulaError(f"it returned shape {scores.shape}: more numbers than it was given")
    return np.ascontiguousarray(scores)


def _use_file(file: UserFile, anew: bool = False) -> None:
    """Import a file unless that was done, and keep the measures that it registers."""
    if file in _modules and not anew:
        return
    before = {str(measure): measure for measure in measures()}
    spec = importlib.util.spec_from_file_location(file.module, file.path)
    if spec is None or spec.loader is None:
        raise MeasureError(f"{file.path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.module] = module
    try:
        spec.loader.exec_module(module)
    except MetaevalError as error:
        raise MeasureError(str(error)) from None
    except SystemExit as stop:
        raise MeasureError(f"{file.path} cannot be run: it ends the program with sys.exit({stop.code!r})") from None
    except Exception as error:
        raise MeasureError(f"{file.path} cannot be run: {describe_error(error)}") from None
    _modules[file] = module
    new = (measure for measure in measures() if before.get(str(measure)) is not measure)
    _registered[file] = {measure.name: measure for measure in new}


def _find_signature(function: Any) -> inspect.Signature | None:
    """Return the names, kinds and defaults of a function's parameters, without annotations, which may be anything."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    empty = inspect.Parameter.empty
    parameters = [parameter.replace(annotation=empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
