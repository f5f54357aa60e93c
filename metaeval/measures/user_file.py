"""Functions from a user's own Python file, which is run because they named it: ``my_measure.py:my_measure``.

The file runs in a child process (see `metaeval.measures.isolation`), so that nothing in it can hang, end or change
the program that uses the measure.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from metaeval.errors import MeasureError
from metaeval.measures.base import Formula, Measure
from metaeval.measures.child import REGISTERED
from metaeval.measures.isolation import Described, RemoteFormula, UserFile, find_child, spend_time
from metaeval.measures.registry import add_measure, require_registered

# What was asked of every file, and as it was then: by its full path and checksum. First of all, what it registers.
_KNOWN: dict[str, dict[str, Measure | Formula]] = {}


def load_function(reference: str) -> Measure | Formula:
    """Return the measure or the plain function that ``FILE.py:FUNCTION`` names, by running that file.

    A file is run once, however often it is named, and again only after it has changed.

    Parameters
    ----------
    reference : str
        A path that ends in ``.py``, a colon, and the name of a function in it.

    Returns
    -------
    Measure or callable
        A measure where the function is decorated. Its formula, or the plain function, runs in the child process.

    Raises
    ------
    MeasureError
        If there is no such file, it cannot be run, or the function is not there.
    """
    name, (file, _, function) = reference, reference.rpartition(":")
    path = Path(file).expanduser()
    if not path.is_file():
        raise MeasureError(f"{name}: there is no file {file}")
    full, source = str(path.resolve()), path.read_bytes()
    one = UserFile(full, source, f"{full}:{hashlib.sha256(source).hexdigest()}")
    with spend_time():
        if one.key not in _KNOWN:
            _KNOWN[one.key] = _register(one)
        known = _KNOWN[one.key]
        if function not in known:
            known[function] = _find_function(one, function, reference)
    return known[function]


def is_reference(text: str) -> bool:
    """Say whether a text names a function in a file rather than a registered measure."""
    return ".py:" in text


def _register(file: UserFile) -> dict[str, Measure | Formula]:
    """Run a file, and register the measures that are decorated in it here too."""
    found: dict[str, Measure | Formula] = {}
    for described in find_child().load(file):
        measure = _make_measure(file, described)
        add_measure(measure)
        found[REGISTERED + str(measure)] = measure
    return found


def _make_measure(file: UserFile, described: dict[str, Any]) -> Measure:
    values = {name: value for name, value in described.items() if name not in ("signature", "origin")}
    values["shown"] = tuple(values["shown"])
    formula = RemoteFormula(
        file, REGISTERED + values["name"], _read_signature(described["signature"]), described["origin"]
    )
    return Measure(**values, formula=formula)


def _find_function(file: UserFile, name: str, reference: str) -> Measure | Formula:
    answer, _ = find_child().ask(file, "describe", {"name": name})
    match answer["what"]:
        case "nothing":
            raise MeasureError(f"{reference.rpartition(':')[0]} has nothing called {name!r}")
        case "value":
            raise MeasureError(
                f"{reference} is not a measure: give a function of arrays, decorated with "
                "@metaeval.classification_measure or @metaeval.quantification_measure or plain"
            )
        case "measure":
            registered = _KNOWN[file.key].get(REGISTERED + answer["name"]) if answer["own"] else None
            return registered or require_registered(answer["name"])
    return RemoteFormula(file, name, _read_signature(answer["signature"]), name)


def _read_signature(described: list[Any] | None) -> Described | None:
    if described is None:
        return None
    return tuple((name, kind, tuple(default)) for name, kind, default in described)
