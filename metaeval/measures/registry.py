"""The registry: decorating a function of arrays makes it a measure that everybody finds by its name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

from metaeval.errors import MeasureError, suggest_names
from metaeval.measures.base import (
    _MEASURES,
    Formula,
    Kind,
    Measure,
    add_measure,
    fill_undefined,
    find_registered,
    parameters_of,
    parse,
)
from metaeval.measures.calls import list_arrays, put_estimated_first

Decorated = TypeVar("Decorated", bound=Formula)


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
        Whether swapping prediction and gold gives the same score; the conformance test checks it.
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
    return _registering(
        "classification", higher_is_better, range, name,
        label=label, source=source, undefined=undefined, symmetric=symmetric, shown=shown,
    )  # fmt: skip


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
    Where its arguments are called the other way round, as ``(gold, predicted)`` or ``(y_true, y_pred)``, the measure
    gives each its own array.

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
    return _registering(
        "quantification", higher_is_better, range, name,
        label=label, source=source, undefined=undefined, symmetric=symmetric, shown=shown,
    )  # fmt: skip


def _registering(
    kind: Kind, higher_is_better: bool, range: tuple[float, float], name: str | None, **declared: Any
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
        arrays = list_arrays(formula)
        if kind == "classification" and len(arrays) == 2:
            raise MeasureError(
                f"{registered}({', '.join(arrays)}) takes two arrays, and a classification measure one: write "
                f"{registered}(counts), where counts[..., g, p] counts items of gold class g and predicted class p"
            )
        summary = (formula.__doc__ or "").strip().partition("\n")[0]
        called = put_estimated_first(formula) if kind == "quantification" else formula
        measure = Measure(
            registered, higher_is_better, range, description=summary, kind=kind, formula=called, **declared
        )
        measure = measure.with_parameters({key: parameters_of(formula)[key] for key in measure.shown})
        add_measure(measure)
        function: Any = fill_undefined(formula, measure.undefined)
        if is_shipped(measure):
            function.__doc__ = _add_arrays(formula.__doc__ or "", kind)
        function.measure = measure
        return function

    return register


_ARRAYS: dict[Kind, str] = {
    "classification": "counts : ndarray, shape (..., K, K)\n"
    "    ``counts[..., g, p]`` is the number of items of gold class g that the run put into class p.",
    "quantification": "estimated, gold : ndarray, shape (..., K)\n"
    "    Probabilities; ``gold[..., k]`` is the gold share of class k. Leading axes broadcast.",
}
"""The arrays that every measure of a kind takes, as docstrings say it."""


def _add_arrays(text: str, kind: Kind) -> str:
    """Return the docstring of a measure with the arrays that it takes and returns, which are those of all its kind."""
    summary, *listed = re.split(r"\n(?=[A-Z]\w+\n-{4,}\n)", inspect.cleandoc(text))
    sections = {section.partition("\n")[0]: section for section in listed}
    own = sections.pop("Parameters", "").partition("---\n")[2]
    takes = f"Parameters\n----------\n{_ARRAYS[kind]}\n{own}"
    returns = sections.pop("Returns", "Returns\n-------\nndarray, shape (...)\n")
    return "\n".join([summary, takes, returns, *sections.values()])


def require_registered(name: str) -> Measure:
    """Return the registered measure of that name; an error that names the nearest ones if there is none."""
    registered = find_registered(name)
    if registered is None:
        if name.endswith(".py"):
            raise MeasureError(f"{name} is a file of measures: name the function in it too, as {name}:my_measure")
        raise MeasureError(f"there is no measure {name!r}{_suggest(name)}; `metaeval measures` lists them")
    return registered


OTHER_NAMES = {
    "qwk": "kappa(weights=quadratic)", "quadraticweightedkappa": "kappa(weights=quadratic)",
    "cohenskappa": "kappa(weights=nominal)", "cohenkappa": "kappa(weights=nominal)",
    "weightedkappa": "kappa", "linearweightedkappa": "kappa", "lwk": "kappa",
    "alpha": "alpha_ORD", "krippendorff": "alpha_ORD", "krippendorffsalpha": "alpha_ORD",
    "mae": "MAE_mu", "meanabsoluteerror": "MAE_mu", "macromae": "MAE_M", "maem": "MAE_M", "mmae": "MAE_M",
    "meansquarederror": "MSE", "macromse": "MSE_M", "msem": "MSE_M",
    "acc": "Accuracy", "errorrate": "MER", "balancedaccuracy": "MAAC", "macrorecall": "MAAC", "averagerecall": "MAAC",
    "f1": "F1_M", "macrof1": "F1_M", "f1macro": "F1_M", "fmeasure": "F1_M",
    "emd": "NMD", "earthmoversdistance": "NMD", "wasserstein": "NMD", "matchdistance": "NMD",
    "tv": "NVD", "totalvariation": "NVD", "variationaldistance": "NVD",
    "jensenshannon": "JSD", "jensenshannondivergence": "JSD",
    "pearsonr": "Pearson", "spearman": "R_s", "spearmanr": "R_s", "rho": "R_s",
    "kendall": "tau_b", "kendalltau": "tau_b", "tau": "tau_b",
    "mutualinformation": "MI", "cem": "CEM_ORD", "oc": "OCI",
}  # fmt: skip
"""What others call a measure, in small letters without spaces and marks, with its name or that of its nearest kin here."""


def _suggest(name: str) -> str:
    """Return what was probably meant by a name that nobody has registered, as the rest of a message."""
    family = name.partition("(")[0]
    meant = OTHER_NAMES.get("".join(letter for letter in family.lower() if letter.isalnum()))
    near = f"did you mean {meant}?" if meant else suggest_names(family, _MEASURES)
    return f" ({near})" if near else ""


def is_shipped(measure: Measure) -> bool:
    """Say whether a measure is one of metaeval's own, which everybody has, and not registered by a user's code."""
    registered = _MEASURES.get(measure.name)
    if registered is None or measure.formula is not registered.formula:
        return False
    return str(getattr(measure.formula, "__module__", "")).startswith("metaeval.measures.")


def measures(kind: Kind | None = None) -> tuple[Measure, ...]:
    """Return every registered measure, or those of one kind, in the order of registration.

    Examples
    --------
    >>> [str(m) for m in measures("quantification")][:3]
    ['NMD', 'RNOD', 'RSNOD']
    """
    return tuple(m for m in _MEASURES.values() if kind is None or m.kind == kind)
