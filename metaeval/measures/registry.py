"""The one door for measures, shipped or a user's own: decorate a function of arrays, find it by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from metaeval.errors import MeasureError
from metaeval.measures.base import Formula, Kind, Measure, defined, parameters_of, parse

Decorated = TypeVar("Decorated", bound=Formula)

_MEASURES: dict[str, Measure] = {}

# The usual names of retrieval measures, as trec_eval, ir_measures and ranx write them: higher is better, 0 to 1.
_RETRIEVAL = re.compile(
    r"(ndcg|n?err|ap|map|gm_?map|infap|p|precision|r|recall|rr|mrr|recip_rank|rbp|bpref|rprec|r-prec"
    r"|success|hit_rate|judged|iprec_at_recall|iprec|set_p|set_recall|set_f|intap|alpha_n?dcg|nrbp)"
    r"(_cut)?(\([^)]*\))?([@_][0-9.]+)?(\([^)]*\))?$",
    re.IGNORECASE,
)


def classification_measure(
    *,
    higher_is_better: bool,
    range: tuple[float, float],
    name: str | None = None,
    label: str = "",
    source: str = "",
    undefined: float | None = None,
    symmetric: bool = False,
    shown: tuple[str, ...] = (),
) -> Callable[[Decorated], Decorated]:
    """Register a function of confusion counts as a measure.

    The decorated function stays a plain function of arrays. It takes `counts` of shape (..., K, K), where
    ``counts[..., g, p]`` is the number of items of gold class g that the run put into class p, and returns
    one score for every matrix, shape (...). Keyword-only arguments become the measure's parameters.

    Parameters
    ----------
    higher_is_better : bool
        The direction.
    range : (float, float)
        Smallest and largest possible score; ``float("inf")`` where unbounded.
    name : str, optional
        The registry name; the function's name by default.
    label : str, optional
        How it is written in tables and figures.
    source : str, optional
        Where it is defined.
    undefined : float, optional
        The score where the formula is 0/0 (NaN). Without it a NaN is an error.
    symmetric : bool, optional
        Whether exchanging gold and estimate changes nothing; the conformance test checks it.
    shown : tuple of str, optional
        Parameters that the printed name shows even at their defaults.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    MeasureError
        If another measure has the name already.

    Examples
    --------
    >>> import numpy as np, metaeval
    >>> @metaeval.classification_measure(higher_is_better=True, range=(0, 1))
    ... def within_one(counts):
    ...     K = counts.shape[-1]
    ...     near = np.abs(np.subtract.outer(np.arange(K), np.arange(K))) <= 1
    ...     return (counts * near).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))
    >>> float(metaeval.measure("within_one").score([[0, 3, 1], [0, 0, 0], [0, 0, 0]]))
    0.75
    """
    return _registering("classification", higher_is_better, range, name, label, source, undefined, symmetric, shown)


def quantification_measure(
    *,
    higher_is_better: bool,
    range: tuple[float, float],
    name: str | None = None,
    label: str = "",
    source: str = "",
    undefined: float | None = None,
    symmetric: bool = False,
    shown: tuple[str, ...] = (),
) -> Callable[[Decorated], Decorated]:
    """Register a function of an estimated and a gold distribution as a measure.

    The decorated function stays a plain function of arrays. It takes `estimated` and `gold`, both of shape
    (..., K), where ``gold[..., k]`` is the gold share of class k, and returns one score a pair, shape (...).

    Parameters
    ----------
    higher_is_better, range, name, label, source, undefined, symmetric, shown
        As for `classification_measure`.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    MeasureError
        If another measure has the name already.

    Examples
    --------
    >>> import numpy as np, metaeval
    >>> @metaeval.quantification_measure(higher_is_better=False, range=(0, 1))
    ... def chebyshev(estimated, gold):
    ...     return np.abs(estimated - gold).max(axis=-1)
    >>> float(metaeval.measure("chebyshev").score([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]))
    0.5
    """
    return _registering("quantification", higher_is_better, range, name, label, source, undefined, symmetric, shown)


def _registering(
    kind: Kind,
    higher_is_better: bool,
    range: tuple[float, float],
    name: str | None,
    label: str,
    source: str,
    undefined: float | None,
    symmetric: bool,
    shown: tuple[str, ...],
) -> Callable[[Decorated], Decorated]:
    def register(formula: Decorated) -> Decorated:
        registered = name or formula.__name__
        if not isinstance(higher_is_better, bool):
            raise MeasureError(f"{registered}: higher_is_better is True or False, not {higher_is_better!r}")
        low, high = range
        if not low < high:
            raise MeasureError(f"{registered}: the range {range!r} is empty; give (smallest, largest)")
        if parse(registered)[1] or "(" in registered:
            raise MeasureError(f"{registered!r} is not a measure's name: leave the parameters to the function")
        earlier = _MEASURES.get(registered)
        if earlier is not None and _origin(earlier.formula) != _origin(formula):
            raise MeasureError(
                f"there is a measure {registered} already ({earlier.source or 'yours'}); choose another name"
            )
        summary = (formula.__doc__ or "").strip().partition("\n")[0]
        measure = Measure(
            registered,
            higher_is_better,
            range,
            shown=shown,
            label=label,
            description=summary,
            source=source,
            kind=kind,
            undefined=undefined,
            symmetric=symmetric,
            formula=formula,
        )
        _MEASURES[registered] = measure.with_parameters({key: parameters_of(formula)[key] for key in shown})
        function: Any = defined(formula, undefined)
        function.measure = _MEASURES[registered]
        return function

    return register


def _origin(formula: Formula | None) -> tuple[str, str] | None:
    """A cell that is run again in a notebook may replace its own measure, never somebody else's."""
    return None if formula is None else (formula.__module__, formula.__qualname__)


def measure(wanted: str | Measure | Formula) -> Measure:
    """Find a measure by its name, or take one that is a measure already.

    Parameters
    ----------
    wanted : str, Measure or decorated function
        ``"NMD"``, ``"OCI(beta=0.75, gamma=1)"``, a `Measure`, or a function that went through
        `classification_measure` or `quantification_measure`.

    Returns
    -------
    Measure
        `str()` of it gives a name that finds it again.

    Raises
    ------
    MeasureError
        If there is no such measure; the message names the nearest ones.

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
    if isinstance(wanted, str):
        found = find(wanted)
        if found is None:
            raise MeasureError(f"there is no measure {wanted!r}{_nearest(wanted)}; `metaeval measures` lists them")
        return found
    attached = getattr(wanted, "measure", None)
    if isinstance(attached, Measure):
        return attached
    raise MeasureError(
        f"{wanted!r} is not a measure: give a name, or a function decorated with "
        "@metaeval.classification_measure or @metaeval.quantification_measure"
    )


def find(text: str) -> Measure | None:
    """Return the registered measure of that name, or None; parameters that it does not have are an error."""
    if text in _MEASURES:
        return _MEASURES[text]
    name, parameters = parse(text)
    registered = _MEASURES.get(name)
    return None if registered is None else registered.with_parameters(parameters)


def named(label: str | Measure) -> Measure:
    """Return the measure a score matrix's label stands for: a registered one, or a bare name.

    Parameters
    ----------
    label : str or Measure

    Returns
    -------
    Measure
        A bare one has no formula; its direction is None unless it has the name of a usual retrieval measure,
        such as AP, nDCG@20, P_10 or ERR@20, of which higher is better.

    Examples
    --------
    >>> named("nDCG@20").higher_is_better, named("cost").higher_is_better
    (True, None)
    """
    if isinstance(label, Measure):
        return label
    label = str(label)
    if label in _MEASURES:
        return _MEASURES[label]
    try:
        found = find(label)
    except MeasureError:
        found = None
    if found is not None:
        return found
    if _RETRIEVAL.match(label):
        return Measure(label, True, (0, 1), description="a retrieval measure, known by its scores")
    return Measure(label)


def is_shipped(measure: Measure) -> bool:
    """Say whether a measure is one of metaeval's own, which everybody has, and not registered by a user's code."""
    return getattr(measure.formula, "__module__", "").startswith("metaeval.measures.")


def measures(kind: Kind | None = None) -> tuple[Measure, ...]:
    """Return every registered measure, or those of one kind, in the order of registration.

    Parameters
    ----------
    kind : {"classification", "quantification"}, optional

    Returns
    -------
    tuple of Measure

    Examples
    --------
    >>> [str(m) for m in measures("quantification")][:3]
    ['NMD', 'RNOD', 'RSNOD']
    """
    return tuple(m for m in _MEASURES.values() if kind is None or m.kind == kind)


def resolve(wanted: Iterable[str | Measure | Formula] | str | Measure | Formula) -> tuple[Measure, ...]:
    """Return the measures for one name or many; a name given twice is an error."""
    listed = [wanted] if isinstance(wanted, str | Measure) or callable(wanted) else list(wanted)
    found = tuple(measure(one) for one in listed)
    for position, one in enumerate(found):
        if str(one) in {str(other) for other in found[:position]}:
            raise MeasureError(f"the measure {one} is given twice")
    return found


def _nearest(wanted: str) -> str:
    name = wanted.partition("(")[0].strip()
    lowered = {known.lower(): known for known in _MEASURES}
    close = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.5)
    return f" (did you mean {', '.join(lowered[one] for one in close)}?)" if close else ""
