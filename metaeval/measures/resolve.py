"""The one door to a measure: whatever a user names or hands over becomes a `Measure` here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from metaeval.errors import MeasureError, MetaevalWarning
from metaeval.measures.base import Formula, Kind, Measure, find_registered
from metaeval.measures.conformance import measure_of_function
from metaeval.measures.directions import LONGEST_USUAL, measure_of_usual_name, turn
from metaeval.measures.registry import is_shipped, require_registered
from metaeval.measures.user_file import is_reference, load_function, name_of_reference

MeasureLike = str | Measure | Formula
"""What stands for a measure: a name, ``"file.py:function"``, a `Measure`, a decorated or a plain function."""

# What returns those measures of a collection that are wanted, given the names of all; gaps of others do not matter.
Choose = Callable[[Sequence[str]], Sequence[str]]

ESTABLISHED: dict[Kind, tuple[str, ...]] = {
    "classification": ("CEM_ORD", "kappa", "alpha_ORD", "alpha_INT", "MAE_M", "MAE_mu", "Accuracy", "F1_M", "HMPR"),
    "quantification": ("NMD", "RNOD", "RSNOD", "NVD", "RNSS", "JSD"),
}
"""The nine measures of ordinal classification and the six of ordinal quantification of Sakai (ACL 2021, §2)."""


def measure(name: MeasureLike) -> Measure:
    """Return the measure that a name, a file's function, a function or a measure stands for.

    Parameters
    ----------
    name : str, Measure or function
        ``"NMD"``, ``"OCI(beta=0.75, gamma=1)"``, ``"file.py:function"`` (the file is imported), a `Measure`, a function
        that went through `register_measure`, or a plain function of arrays.

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
    given: Any = name
    if isinstance(name, str):
        if not is_reference(name):
            return require_registered(name)
        given = load_function(name)
    found = given if isinstance(given, Measure) else getattr(given, "measure", None)
    if isinstance(found, Measure):
        return found
    if not callable(given) or isinstance(given, type):
        shown = name if isinstance(name, str) else repr(name)
        what = "give a name, or a function of arrays, plain or decorated with @metaeval.register_measure"
        raise MeasureError(f"{shown} is not a measure: {what}")
    made, note = measure_of_function(given, name.rpartition(":")[2] if isinstance(name, str) else None)
    warnings.warn(note, MetaevalWarning, stacklevel=3)
    return made


def measure_of_label(label: MeasureLike) -> Measure:
    """Return the measure that the label of a score matrix stands for: a registered one, or one known by scores only.

    Labels come from data, so that unlike `measure` this never runs a file that a label happens to name. A measure that is
    known by its scores only has no formula; its direction is None unless its name tells it, such as AP, nDCG@20, BLEU or
    TER (see `metaeval.measures.directions`). What is not a text is taken as `measure` takes it.

    Examples
    --------
    >>> measure_of_label("nDCG@20").higher_is_better, measure_of_label("cost").higher_is_better
    (True, None)
    """
    if isinstance(label, Measure) or callable(label):
        return measure(label)
    label = str(label)
    try:
        registered = find_registered(label)
    except MeasureError:  # a label need not have the form of a measure's name
        registered = None
    return measure_of_usual_name(label) if registered is None else registered


_STEMS = {
    r"ap|map": "AP", r"rr|mrr": "RR", r"p(\d+)": "P@{}", r"recall(\d+)": "R@{}", r"ndcg": "nDCG", r"ndcg(\d+)": "nDCG@{}",
    r"err": "ERR", r"err(\d+)": "ERR@{}", r"rprec": "Rprec", r"bpref": "Bpref", r"infap": "infAP", r"rbp": "RBP",
}  # fmt: skip


def _measure_of_stem(text: str) -> str | None:
    """Return the measure that the end of a file's name tells, in upper or lower case; None where it tells none."""
    for pattern, name in _STEMS.items():
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            return name.format(*match.groups())
    return text if text and measure_of_label(text).higher_is_better is not None else None


def split_stem(name: str, known: str | None = None) -> tuple[str, str, bool]:
    """Split the name of a file into collection, which may be known, and measure; tell whether the measure is known."""
    if known and name.startswith(f"{known}_"):
        rest = name.removeprefix(f"{known}_")
        found = rest[1:] if rest.startswith("_") else _measure_of_stem(rest)
        return known, found or rest, found is not None
    # Files are written with two underscores if the rules below would misread the name.
    collection, escape, exact = name.partition("__")
    if escape and exact:
        return collection, exact, True
    # Try the longest ending first, so that a measure whose name contains an underscore is found as a whole.
    first = max(0, len(name) - LONGEST_USUAL)
    for cut in [-1, *(at for at, letter in enumerate(name[first:], start=first) if letter == "_")]:
        measure = _measure_of_stem(name[cut + 1 :])
        if measure is not None:
            return name[: max(cut, 0)], measure, True
    collection, _, measure = name.rpartition("_")
    return (collection, measure, False) if measure else ("", name, False)


def tells_direction(label: str, higher_is_better: bool) -> bool:
    """Say whether whoever reads the label of a measure knows this to be its direction, without code of the measure's own.

    >>> tells_direction("NMD", False), tells_direction("BLEU", False), tells_direction("cost", False)
    (True, False, False)
    """
    known = measure_of_label(label)
    if known.higher_is_better != higher_is_better or (known.formula is not None and not is_shipped(known)):
        return False
    return known == turn(known, higher_is_better)  # unless only scores of some kind have it, as those of MQM


def is_untold(measure: Measure) -> bool:
    """Say whether a measure has a direction that its name does not tell to whoever reads it."""
    if measure.higher_is_better is None or tells_direction(str(measure), measure.higher_is_better):
        return False
    return measure.formula is not None or measure != measure_of_label(str(measure))


def resolve_measures(
    measures: Iterable[MeasureLike] | MeasureLike, *, labels: Collection[str] | None = None
) -> tuple[Measure, ...]:
    """Return the measures that one thing or many stand for.

    Parameters
    ----------
    measures : str, Measure, function, or an iterable of them
        As for `measure`.
    labels : collection of str, optional
        Given where scores are at hand: the names of their measures. A text is then a label, and no file is run: one
        that is not registered stands for a measure that is known by its scores only, and ``"file.py:function"``, unless
        it is a label itself, for the measure that the function was registered as, or is called.

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
    resolved: dict[str, Measure] = {}
    for name in list_measures(measures):
        if labels is None or not isinstance(name, str):
            found = measure(name)
        else:  # labels come from data, whatever they look like: none of them may lead to code
            found = measure_of_label(name if name in labels or not is_reference(name) else name_of_reference(name))
        if str(found) in resolved:
            raise MeasureError(f"the measure {found} is given twice")
        resolved[str(found)] = found
    return tuple(resolved.values())


def list_measures(measures: Iterable[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    """Return what stands for measures as a list, be it one or many."""
    if isinstance(measures, str | Measure) or callable(measures):
        return [measures]
    try:
        return list(measures)
    except TypeError:
        raise MeasureError(f"measures are names, functions or a list of them, not {measures!r}") from None


def established_measures(kind: Kind) -> tuple[Measure, ...]:
    """Return the papers' measures of a kind: what a new one is compared with, and what runs are scored with by default."""
    return resolve_measures(ESTABLISHED[kind])


def choose_of_several(choose: Choose, known: Iterable[Iterable[object]]) -> Choose:
    """Return what chooses, of each of several collections with known measures, those that it has: at least one of them."""
    wanted = choose([*dict.fromkeys(str(measure) for measures in known for measure in measures)])
    return lambda labels: [label for label in wanted if label in labels] or choose(labels)
