"""Measures from a user's own file, which is run because they named it: ``my_measure.py:my_measure``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from metaeval.errors import MeasureError


def load(reference: str) -> Any:
    """Load the function that ``FILE.py:FUNCTION`` names, by running that file.

    Parameters
    ----------
    reference : str
        A path that ends in ``.py``, a colon, and the name of a function in it.

    Returns
    -------
    object
        What goes by that name: usually a decorated function.

    Raises
    ------
    MeasureError
        If there is no such file, it cannot be run, or the function is not there.
    """
    file, _, name = reference.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise MeasureError(f"{reference}: there is no file {file}")
    spec = importlib.util.spec_from_file_location(f"metaeval_user_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise MeasureError(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except MeasureError:
        raise
    except Exception as error:
        raise MeasureError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if function is None:
        raise MeasureError(f"{file} has nothing called {name!r}")
    return function


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text
