"""The registry: decorating a function of arrays makes it a measure that everybody finds by its name."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

import numpy as np

from metaeval.errors import OPTION_NAMES, MeasureError, suggest_names
from metaeval.measures.base import _MEASURES, Formula, Kind, Measure, add_measure, find_registered, parameters_of
from metaeval.measures.calls import list_arrays, put_estimated_first

Decorated = TypeVar("Decorated", bound=Formula)

SYMBOLS: dict[Kind, str] = {
    "classification": (
        "n_gp: items of gold class g that the run puts into class p; n_g, m_p: items of gold class g, of "
        "predicted class p; N: all items; K: classes; C⁺: classes that have gold items"
    ),
    "quantification": "p_i, p*_i: estimated and gold share of class i; K: classes; C*: classes with p*_i > 0",
}
"""What the letters of the written formulas of a kind stand for."""

_ARRAYS: dict[Kind, str] = {
    "classification": "counts : ndarray, shape (..., K, K)\n"
    "    ``counts[..., g, p]`` is the number of items of gold class g that the run put into class p.",
    "quantification": "estimated, gold : ndarray, shape (..., K)\n"
    "    Probabilities; ``gold[..., k]`` is the gold share of class k. Leading axes broadcast.",
}
"""The arrays that every measure of a kind takes, as docstrings say it."""


def register_measure(
    *,
    kind: Kind,
    higher_is_better: bool,
    range: tuple[float, float],
    name: str | None = None,
    label: str = "",
    source: str = "",
    written: str = "",
    undefined: float | None = None,
    symmetric: bool = False,
    shown: tuple[str, ...] = (),
) -> Callable[[Decorated], Decorated]:
    """Register a function of arrays as a measure.

    The decorated function stays a plain function, which returns one score for every matrix or pair, shape (...).
    Keyword-only arguments become the measure's parameters.

    Parameters
    ----------
    kind : {"classification", "quantification"}
        What the function takes. Of classification: `counts` of shape (..., K, K), where ``counts[..., g, p]`` is the
        number of items of gold class g that the run put into class p. Of quantification: `estimated` and `gold`, both of
        shape (..., K), where ``gold[..., k]`` is the gold share of class k; where its arguments are called the other way
        round, as ``(gold, predicted)`` or ``(y_true, y_pred)``, the measure gives each its own array.
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
    written : str, optional
        The formula as people write it, in one line, which ``metaeval measures NAME`` shows.
    undefined : float, optional
        The score where the formula is 0/0 (NaN). Without it a NaN is an error.
    symmetric : bool, optional
        Whether swapping prediction and gold gives the same score.
    shown : tuple of str, optional
        Parameters that the printed name shows even at their defaults.

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    MeasureError
        If the declaration contradicts itself or the function, or another measure has the name already.

    Examples
    --------
    >>> import numpy as np, metaeval
    >>> @metaeval.register_measure(kind="quantification", higher_is_better=False, range=(0, 1))
    ... def chebyshev(estimated, gold):
    ...     return np.abs(estimated - gold).max(axis=-1)
    >>> float(metaeval.measure("chebyshev").score([0.5, 0.5, 0.0], [0.25, 0.25, 0.5]))
    0.5
    """

    def register(formula: Decorated) -> Decorated:
        registered, arrays = name or formula.__name__, list_arrays(formula)
        problems = {
            f"kind is {' or '.join(SYMBOLS)}, not {kind!r}": kind not in SYMBOLS,
            f"higher_is_better is True or False, not {higher_is_better!r}": not isinstance(higher_is_better, bool),
            f"the range {range!r} is empty; give (smallest, largest)": not range[0] < range[1],
            "this is not a measure's name: leave the parameters to the function": not {*"(),="}.isdisjoint(registered),
            f"{registered}({', '.join(arrays)}) takes two arrays, and a classification measure one: write "
            f"{registered}(counts), where counts[..., g, p] counts items of gold class g and predicted class p": (
                kind == "classification" and len(arrays) == 2
            ),
        }
        problem = next((text for text, is_so in problems.items() if is_so), None)
        if problem is not None:
            raise MeasureError(f"{registered}: {problem}")
        measure = Measure(
            registered,
            higher_is_better,
            range,
            {key: parameters_of(formula)[key] for key in shown},
            shown,
            label="" if shown else label,
            description=(formula.__doc__ or "").strip().partition("\n")[0],
            source=source,
            written=written,
            kind=kind,
            undefined=undefined,
            symmetric=symmetric,
            formula=put_estimated_first(formula) if kind == "quantification" else formula,
        )
        add_measure(measure)

        @functools.wraps(formula)
        def measured(*arrays: Any, **parameters: Any) -> np.ndarray:
            inputs = (np.asarray(array, dtype=np.float64) for array in arrays)
            with np.errstate(divide="ignore", invalid="ignore"):
                scores = np.asarray(formula(*inputs, **parameters), dtype=np.float64)
            return scores if undefined is None else np.where(np.isnan(scores), undefined, scores)

        function: Any = measured
        if is_shipped(measure):
            function.__doc__ = _add_arrays(formula.__doc__ or "", kind)
        function.measure = measure
        return function

    return register


def _add_arrays(text: str, kind: Kind) -> str:
    """Return the docstring of a measure with the arrays that it takes and returns, which are those of all its kind."""
    summary, *listed = re.split(r"\n(?=[A-Z]\w+\n-{4,}\n)", inspect.cleandoc(text))
    sections = {section.partition("\n")[0]: section for section in listed}
    own = sections.pop("Parameters", "").partition("---\n")[2]
    takes = f"Parameters\n----------\n{_ARRAYS[kind]}\n{own}"
    returns = sections.pop("Returns", "Returns\n-------\nndarray, shape (...)\n")
    return "\n".join([summary, takes, returns, *sections.values()])


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


def require_registered(name: str) -> Measure:
    """Return the registered measure of that name; an error that names the nearest ones if there is none."""
    registered = find_registered(name) if "(" in name or "," not in name else None
    if registered is not None:
        return registered
    near = suggest_measures(name.partition("(")[0], _MEASURES)
    problem = f"there is no measure {name!r}{f' ({near})' * bool(near)}; `metaeval measures` lists them"
    if name.endswith(".py"):
        problem = f"{name} is a file of measures: name the function in it too, as {name}:my_measure"
    raise MeasureError(problem)


def suggest_measures(name: str, known: Collection[str], option: str = "measure") -> str:
    """Ask whether another name was meant: of a measure called otherwise, one alike, or several that need an `option` each."""
    parts, typed = [part.strip() for part in name.split(",")], OPTION_NAMES.get()
    if len(parts) > 1 and all(part in known for part in parts):
        listed = " ".join(f"{typed.get(option, '')} {part}".strip() for part in parts)
        return f"did you mean {listed if typed else parts}?"
    meant = OTHER_NAMES.get("".join(filter(str.isalnum, name.lower())), "")
    return f"did you mean {meant}?" if meant.partition("(")[0] in known else suggest_names(name, known, 0.6)


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
