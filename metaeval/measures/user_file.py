"""Functions from a user's own Python file, which is run because they named it: ``my_measure.py:my_measure``."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from metaeval.errors import MeasureError

# Every file that was run, and as it was then: by its full path, modification time and size.
_MODULES: dict[tuple[str, int, int], ModuleType] = {}


def load_function(reference: str) -> Any:
    """Return the function that ``FILE.py:FUNCTION`` names, by running that file.

    A file is run once in a process, however often it is named, and again only after it has changed.

    Parameters
    ----------
    reference : str
        A path that ends in ``.py``, a colon, and the name of a function in it.

    Returns
    -------
    object
        What goes by that name.

    Raises
    ------
    MeasureError
        If there is no such file, it cannot be run, or the function is not there.
    """
    file, _, name = reference.rpartition(":")
    path = Path(file).expanduser()
    if not path.is_file():
        raise MeasureError(f"{reference}: there is no file {file}")
    state = path.stat()
    key = (str(path.resolve()), state.st_mtime_ns, state.st_size)
    if key not in _MODULES:
        _MODULES[key] = _run_file(path)
    function = getattr(_MODULES[key], name, None)
    if function is None:
        raise MeasureError(f"{file} has nothing called {name!r}")
    return function


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text


def _run_file(path: Path) -> ModuleType:
    # Two files of one name in two folders are two modules, so that neither takes the place of the other's measures.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(f"metaeval_user_{path.stem}_{digest}", path)
    if spec is None or spec.loader is None:
        raise MeasureError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except MeasureError:
        raise
    except Exception as error:
        raise MeasureError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
