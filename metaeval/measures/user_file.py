"""Functions from a user's own Python file, which is imported because they named it: ``my_measure.py:my_measure``.

It runs in this process, as a test file does that is given to pytest, and Ctrl-C stops it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from metaeval.errors import MeasureError
from metaeval.measures.base import _MEASURES, Formula, Measure
from metaeval.measures.calls import EachTopic, describe_error, keep_settings, put_estimated_first

LABELS_ONLY = "METAEVAL_LABELS_ONLY"
"""Environment variable under which names of measures stand for registered measures and labels of data, never for files."""

_modules: dict[str, ModuleType] = {}
"""The modules of files by their full paths, of each file as it was when it was last named."""

_sources: dict[str, tuple[str, bytes]] = {}
"""Path and content of files by the names of their modules: a file that has changed is another module."""

_names: dict[str, str] = {}
"""What measures of files are called, by their references with the full path."""


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text


def labels_only() -> bool:
    """Say whether names of measures may only be registered ones and labels of data, as in commands of the playground."""
    return bool(os.environ.get(LABELS_ONLY))


def name_of_reference(reference: str) -> str:
    """Return what the measure is called that ``FILE.py:FUNCTION`` names, without running the file."""
    named, _, function = reference.rpartition(":")
    path = os.path.abspath(os.path.expanduser(named))
    if not labels_only() and not os.path.isfile(path):
        raise MeasureError(f"{reference}: there is no file {named}")
    return _names.get(f"{path}:{function}", function)


def load_function(reference: str) -> Measure | Formula:
    """Return the measure or the plain function that ``FILE.py:FUNCTION`` names, by importing that file.

    A file is imported once, however often it is named, and again only after it has changed.
    """
    named, _, name = reference.rpartition(":")
    path = os.path.abspath(os.path.expanduser(named))
    if labels_only() or not os.path.isfile(path):
        problem = "measures of files are not run here" if labels_only() else f"there is no file {named}"
        raise MeasureError(f"{reference}: {problem}")
    source = Path(path).read_bytes()
    digest = hashlib.sha256(os.fsencode(path) + b"\0" + source).hexdigest()[:12]
    module = f"metaeval_user_{Path(path).stem}_{digest}"
    if path not in _modules or _modules[path].__name__ != module:
        _sources[module] = (path, source)
        with _undone(only_after_errors=True):
            _modules[path] = _run_file(module)
    function: Formula | None = getattr(_modules[path], name, None)
    if function is None:
        raise MeasureError(f"{path} has nothing called {name!r}")
    attached = getattr(function, "measure", None)
    _names[f"{path}:{name}"] = str(attached) if isinstance(attached, Measure) else name
    return attached if isinstance(attached, Measure) else function


def import_anew(measure: Measure) -> Formula | None:
    """Return the formula of a file's measure from one more import, which knows of no earlier call; None for others."""
    name = _module_of(measure)
    if name not in _sources:
        return None
    module = sys.modules[name]
    try:
        with _undone():
            anew = _run_file(name)
            found = _MEASURES.get(measure.name)
            if found is not None and _module_of(found) == name:
                return found.formula
            function = getattr(anew, measure.name, None)
            return None if function is None else put_estimated_first(function)
    finally:
        sys.modules[name] = module


def _run_file(name: str) -> ModuleType:
    """Run a file as a new module, which registers its measures in place of those that the file has registered before."""
    path, source = _sources[name]
    for measure in list(_MEASURES.values()):
        if _sources.get(_module_of(measure), ("", b""))[0] == path:
            del _MEASURES[measure.name]
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = path
    try:
        with keep_settings():
            # Bytecode of a file that was changed within a second is not told from that of the file before.
            exec(compile(source, path, "exec", dont_inherit=True), vars(module))  # noqa: S102  (the user named the file)
    except (Exception, SystemExit) as error:
        raise MeasureError(f"{path} cannot be run: {describe_error(error)}") from None
    return module


def _module_of(measure: Measure) -> str:
    """Return the name of the module that a measure's function is from."""
    formula = measure.formula.formula if isinstance(measure.formula, EachTopic) else measure.formula
    return str(getattr(formula, "__module__", ""))


@contextmanager
def _undone(*, only_after_errors: bool = False) -> Iterator[None]:
    """Let the registered measures afterwards be those of before."""
    registered, done = dict(_MEASURES), False
    try:
        yield
        done = only_after_errors
    finally:
        if not done:
            _MEASURES.clear()
            _MEASURES.update(registered)
