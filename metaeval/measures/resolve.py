"""The one door to a measure: whatever a user names or hands over becomes a `Measure` here."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from typing import Any

from metaeval.errors import MeasureError, MetaevalWarning
from metaeval.measures.base import Formula, Measure
from metaeval.measures.directions import measure_of_usual_name, turn
from metaeval.measures.plain_function import measure_of_function
from metaeval.measures.registry import find_registered, is_shipped, require_registered
from metaeval.measures.user_file import is_reference, load_function

Wanted = str | Measure | Formula
"""What stands for a measure: a name, ``"file.py:function"``, a `Measure`, a decorated or a plain function."""


def measure(wanted: Wanted) -> Measure:
    """Return the measure that a name, a file's function, a function or a measure stands for.

    Parameters
    ----------
    wanted : str, Measure or function
        ``"NMD"``, ``"OCI(beta=0.75, gamma=1)"``, ``"file.py:function"`` (the file is run in a process of its own),
        a `Measure`, a function that went through `classification_measure` or `quantification_measure`, or a plain
        function of arrays, which is trusted: it runs in this process.

    Returns
    -------
    Measure
        `str()` of a registered one gives a name that finds it again.

    Raises
    ------
    MeasureError
        If there is no such measure; the message names the nearest ones.

    Warns
    -----
    MetaevalWarning
        What was assumed about a plain function: its kind and its direction.

    Examples
    --------
    >>> import metaeval
    >>> metaeval.measure("NMD").higher_is_better
    False
    >>> str(metaeval.measure("RNOD(distance=gold)"))
    'RNOD(distance=gold)'
    """
    if isinstance(wanted, Measure):
        return wanted
    given: Any = wanted
    name = None
    if isinstance(wanted, str):
        if not is_reference(wanted):
            return require_registered(wanted)
        given, name = load_function(wanted), wanted.rpartition(":")[2]
    if isinstance(given, Measure):
        return given
    attached = getattr(given, "measure", None)
    if isinstance(attached, Measure):
        return attached
    if not callable(given) or isinstance(given, type):
        what = repr(given) if name is None else f"{wanted}"
        raise MeasureError(
            f"{what} is not a measure: give a name, or a function of arrays, decorated with "
            "@metaeval.classification_measure or @metaeval.quantification_measure or plain"
        )
    found, note = measure_of_function(given, name)
    warnings.warn(note, MetaevalWarning, stacklevel=3)
    return found


def measure_of_label(label: Wanted) -> Measure:
    """Return the measure that the label of a score matrix stands for: a registered one, or one known by scores only.

    Labels come from data, so that unlike `measure` this never runs a file that a label happens to name.

    Parameters
    ----------
    label : str, Measure or function
        What is not a text is taken as `measure` takes it.

    Returns
    -------
    Measure
        One that is known by its scores only has no formula; its direction is None unless its name tells it, such as
        AP, nDCG@20, BLEU or TER (see `metaeval.measures.directions`).

    Examples
    --------
    >>> measure_of_label("nDCG@20").higher_is_better, measure_of_label("cost").higher_is_better
    (True, None)
    """
    if isinstance(label, Measure) or callable(label):
        return measure(label)
    label = str(label)
    try:
        found = find_registered(label)
    except MeasureError:  # a label need not have the form of a measure's name
        found = None
    return measure_of_usual_name(label) if found is None else found


def tells_direction(label: str, higher_is_better: bool) -> bool:
    """Say whether whoever reads the label of a measure knows this to be its direction, without code of the measure's own.

    Parameters
    ----------
    label : str
    higher_is_better : bool

    Returns
    -------
    bool

    Examples
    --------
    >>> tells_direction("NMD", False), tells_direction("BLEU", False), tells_direction("cost", False)
    (True, False, False)
    """
    known = measure_of_label(label)
    if known.higher_is_better != higher_is_better or (known.formula is not None and not is_shipped(known)):
        return False
    return known == turn(known, higher_is_better)  # unless only scores of some kind have it, as those of MQM


def resolve_measures(
    wanted: Iterable[Wanted] | Wanted, *, labels: Collection[str] | None = None
) -> tuple[Measure, ...]:
    """Return the measures that one thing or many stand for.

    Parameters
    ----------
    wanted : str, Measure, function, or an iterable of them
        As for `measure`.
    labels : collection of str, optional
        Given where scores are at hand, or will be: the names of their measures. A text among them is that label, and
        a name that is not registered stands for a measure that is known by its scores only, instead of being an error.

    Returns
    -------
    tuple of Measure

    Raises
    ------
    MeasureError
        If there is no such measure, or one is given twice.

    Examples
    --------
    >>> [str(one) for one in resolve_measures(["NMD", "RNOD(distance=gold)"])]
    ['NMD', 'RNOD(distance=gold)']
    >>> resolve_measures("cost", labels=())[0].direction_is_assumed
    True
    """
    found = tuple(_resolve_one(one, labels) for one in list_wanted(wanted))
    names = [str(one) for one in found]
    for position, name in enumerate(names):
        if name in names[:position]:
            raise MeasureError(f"the measure {name} is given twice")
    return found


def list_wanted(wanted: Iterable[Wanted] | Wanted) -> list[Wanted]:
    """Return what stands for measures as a list, be it one or many."""
    if isinstance(wanted, str | Measure) or callable(wanted):
        return [wanted]
    try:
        return list(wanted)
    except TypeError:
        raise MeasureError(f"measures are names, functions or a list of them, not {wanted!r}") from None


def _resolve_one(wanted: Wanted, labels: Collection[str] | None) -> Measure:
    if labels is not None and isinstance(wanted, str) and (wanted in labels or not is_reference(wanted)):
        return measure_of_label(wanted)
    return measure(wanted)
