"""Measures from a user's own file, which is run because they named it: ``my_measure.py:my_measure``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from metaeval.errors import MeasureError
from metaeval.measures.base import Measure
from metaeval.measures.registry import measure


def load(reference: str) -> Measure:
    """Load the measure that ``FILE.py:FUNCTION`` names, by running that file.

    Parameters
    ----------
    reference : str
        A path that ends in ``.py``, a colon, and the name of a decorated function in it.

    Returns
    -------
    Measure

    Raises
    ------
    MeasureError
        If there is no such file, it cannot be run, or the function is not there or not decorated.
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
    return measure(function)


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text
