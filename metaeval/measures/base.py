"""A measure as a value: a name that parses and prints the same, a direction, a range, a formula."""

from __future__ import annotations

import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType
from typing import Any, Literal

import numpy as np

from metaeval.errors import DirectionWarning, MeasureError, UndefinedValueWarning, format_list, format_option
from metaeval.measures.calls import call_formula

Kind = Literal["classification", "quantification"]
Parameter = float | int | str | bool
Formula = Callable[..., Any]

SUM_TOLERANCE = 1e-6
"""How far from 1 the probabilities of a distribution may sum before it is an error."""

_MEASURES: dict[str, Measure] = {}
"""The registered measures by their family names, in the order of registration."""


@dataclass(frozen=True)
class Measure:
    """What is measured: a name, a direction, a range and, unless only scores are at hand, the formula.

    Parameters
    ----------
    name : str
        The family name, as in ``"OCI"``; `str(measure)` adds the parameters: ``"OCI(beta=0.75, gamma=1)"``.
    higher_is_better : bool or None
        None when nobody has stated it, as for a score matrix that came with column names only. Higher is then
        assumed to be better, everywhere, and signatures and figures say so (see `sign`).
    range : tuple of float
        Smallest and largest possible score; infinite where unbounded or not known.
    parameters : mapping
        Values of the formula's keyword parameters, in the order of its signature.
    shown : tuple of str
        The parameters that are part of the printed name although they have their default value.
    label : str
        How the measure is written in a table or figure: ``"F1^M"``; the printed name when empty.
    description, source, written : str
        One line each: what it answers, where it is defined, and the formula as people write it.
    kind : {"classification", "quantification"} or None
        What the formula takes: confusion counts, or a pair of distributions. None: scores only.
    undefined : float or None
        The value used where the formula is 0/0; None where that cannot happen.
    symmetric : bool
        Whether swapping prediction and gold gives the same score.
    formula : callable or None
        The function of arrays.
    """

    name: str
    higher_is_better: bool | None = None
    range: tuple[float, float] = (-math.inf, math.inf)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, hash=False)
    shown: tuple[str, ...] = ()
    label: str = ""
    description: str = ""
    source: str = ""
    written: str = ""
    kind: Kind | None = None
    undefined: float | None = None
    symmetric: bool = False
    formula: Formula | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "range", (float(self.range[0]), float(self.range[1])))
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __str__(self) -> str:
        inside = ", ".join(f"{key}={_print(value)}" for key, value in self.parameters.items())
        return f"{self.name}({inside})" if inside else self.name

    def __reduce__(self) -> tuple[object, ...]:
        # Results travel to worker processes; a formula stays behind, and is found again by name where it is known.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "formula"}
        values["parameters"] = dict(self.parameters)
        return (_measure_from, (values,))

    @property
    def title(self) -> str:
        """How the measure is written in a table or figure; an assumed direction is marked there."""
        return f"{self.label or self}{' (higher?)' * self.direction_is_assumed}"

    @property
    def full_name(self) -> str:
        """The printed name, followed by ``(assumed: higher is better)`` if nobody has stated a direction."""
        return f"{self}{' (assumed: higher is better)' * self.direction_is_assumed}"

    @property
    def sign(self) -> float:
        """+1.0 if higher scores are better, or if nobody has stated a direction; -1.0 if lower ones are.

        This is the one definition of direction: a score times the sign is better the higher it is.
        """
        return -1.0 if self.higher_is_better is False else 1.0

    @property
    def direction_is_assumed(self) -> bool:
        """Whether nobody has stated a direction, so that higher scores are assumed to be better."""
        return self.higher_is_better is None

    @property
    def direction(self) -> str:
        """Which way is better, in a word: ``"higher"``, ``"lower"`` or ``"assumed: higher"``."""
        return {True: "higher", False: "lower", None: "assumed: higher"}[self.higher_is_better]

    @property
    def worst(self) -> float:
        """The worst score the measure can give; infinite where unbounded."""
        return self.range[0 if self.sign > 0 else 1]

    @property
    def best(self) -> float:
        """The best score the measure can give; infinite where unbounded."""
        return self.range[1 if self.sign > 0 else 0]

    def score(self, *arrays: Any) -> np.ndarray:
        """Score confusion counts, or a pair of distributions, over any leading axes.

        Parameters
        ----------
        *arrays : array_like
            For a classification measure `counts`, shape (..., K, K): ``counts[..., g, p]`` is the number of
            items of gold class g that the run put into class p. For a quantification measure `estimated`
            and `gold`, both of shape (..., K): ``gold[..., k]`` is the gold share of class k.

        Returns
        -------
        ndarray, shape (...)
            One score for every matrix or pair. Where the formula is 0/0 it is the documented value, with an
            `UndefinedValueWarning`.

        Raises
        ------
        MeasureError
            If the measure has no formula, the arrays do not have the shape it needs, a count is negative or not
            finite, a matrix is empty, or shares are not probabilities that sum to 1 (within 1e-6).

        Examples
        --------
        >>> import metaeval
        >>> float(metaeval.measure("Accuracy").score([[3, 1], [0, 4]]))
        0.875
        """
        if self.formula is not None:
            _check_numbers(self, _checked_inputs(self, arrays))
        scores, undefined = self.evaluate(*arrays)
        if undefined.any():
            warnings.warn(
                f"{self} is undefined for {int(undefined.sum())} of {undefined.size} cases; "
                f"its documented value {self.undefined:g} is used",
                UndefinedValueWarning,
                stacklevel=2,
            )
        return scores

    def evaluate(self, *arrays: Any) -> tuple[np.ndarray, np.ndarray]:
        """Score arrays whose numbers were checked where they entered, and say where the documented value stands.

        Parameters
        ----------
        *arrays : array_like
            As for `score`.

        Returns
        -------
        scores : ndarray of float64, shape (...)
        undefined : ndarray of bool, shape (...)
            True where the formula is 0/0.
        """
        if self.formula is None:
            raise MeasureError(f"{self} is known by its scores only, there is no formula to compute it from data")
        inputs = _checked_inputs(self, arrays)
        shipped = isinstance(self.formula, FunctionType) and str(self.formula.__module__).startswith(
            "metaeval.measures."
        )
        try:
            if shipped:  # which needs no watching
                with np.errstate(divide="ignore", invalid="ignore"):
                    scores = np.asarray(self.formula(*inputs, **self.parameters), dtype=np.float64)
            else:
                scores = call_formula(self.formula, inputs, self.parameters)
        except (TypeError, ValueError) as error:  # what a formula or its parameter does wrong; all of ours are one
            raise MeasureError(f"{self} cannot be computed: {error}") from error
        if self.undefined is None:
            return scores, np.zeros(scores.shape, dtype=bool)
        undefined = np.isnan(scores)
        return np.where(undefined, self.undefined, scores), undefined

    def with_parameters(self, given: Mapping[str, Parameter]) -> Measure:
        """Return the same measure with other parameter values; what is not named keeps its default."""
        defaults = parameters_of(self.formula) if self.formula is not None else {}
        unknown = [key for key in given if key not in defaults]
        if unknown:
            known = ", ".join(f"{key}={_print(value)}" for key, value in defaults.items()) or "none"
            raise MeasureError(f"{self.name} has no parameter {unknown[0]!r} (its parameters: {known})")
        values = {**defaults, **given}
        stated = {key: value for key, value in values.items() if key in self.shown or value != defaults[key]}
        return replace(self, parameters=stated, label=self.label if not stated else "")


def _measure_from(values: dict[str, Any]) -> Measure:
    bare = Measure(**values)
    if bare.kind is None:
        return bare
    registered = find_registered(str(bare))
    return bare if registered is None else replace(bare, formula=registered.formula)


def _checked_inputs(measure: Measure, arrays: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """Look at shapes only: numbers are checked where they enter (runs.py, io, `Measure.score`)."""
    takes = ("counts",) if measure.kind == "classification" else ("estimated", "gold")
    if len(arrays) != len(takes):
        raise MeasureError(
            f"{measure} is a {measure.kind} measure and takes score({', '.join(takes)}), not {len(arrays)} arrays"
        )
    try:
        inputs = tuple(np.asarray(array, dtype=np.float64) for array in arrays)
    except (TypeError, ValueError):
        raise MeasureError(f"{measure} takes arrays of numbers, with rows of the same length") from None
    ends = [
        size for array in inputs for size in array.shape[len(takes) - 3 :]
    ]  # of the last two axes, or of both last ones
    if len(ends) < 2 or ends[0] != ends[1] or ends[0] < 2:
        raise MeasureError(
            f"{measure} takes {' and '.join(takes)} of shape (..., {'K, K' if len(takes) == 1 else 'K'}) with at least two "
            f"classes, not {' and '.join(str(array.shape) for array in inputs)}"
        )
    return inputs


def _check_numbers(measure: Measure, inputs: tuple[np.ndarray, ...]) -> None:
    """Refuse what is no count or no distribution, which a formula might well make a number of."""
    counts = len(inputs) == 1
    for what, array in zip(("counts",) if counts else ("estimated", "gold"), inputs, strict=True):
        wrong = ~np.isfinite(array) | (array < 0)
        total = array.sum(axis=(-2, -1) if counts else -1)
        off = total == 0 if counts else np.abs(total - 1) > SUM_TOLERANCE
        if wrong.any():
            problem = f"{array[wrong].flat[0]:g} is no {'count' if counts else 'probability'}"
        elif off.any():
            shares = f"{what} shares sum to {total[off].flat[0]:.6g}, not 1"
            problem = "a matrix without items has no score" if counts else shares
        else:
            continue
        raise MeasureError(f"{measure}: {problem}")


def add_measure(measure: Measure) -> None:
    """Let everybody find a measure by its name; an error where another one has it already.

    A cell that is run again in a notebook may replace its own measure, never somebody else's.
    """
    earlier = _MEASURES.get(measure.name, measure)
    names = ("__module__", "__qualname__")
    if len({tuple(getattr(one.formula, name, "") for name in names) for one in (earlier, measure)}) > 1:
        whose = earlier.source or "yours"
        raise MeasureError(f"there is a measure {measure.name} already ({whose}); choose another name")
    _MEASURES[measure.name] = measure


def find_registered(text: str) -> Measure | None:
    """Return the registered measure of that name, or None if there is none of that family."""
    if text in _MEASURES:
        return _MEASURES[text]
    name, parameters = parse(text)
    registered = _MEASURES.get(name)
    return None if registered is None else registered.with_parameters(parameters)


MOST_NAMED = 5
"""Measures without directions that a note asks for by name, where others have none either."""


def find_signs(measures: Sequence[Measure]) -> np.ndarray:
    """Return the sign of every measure: +1 if higher scores are better, -1 if lower ones are."""
    assumed = [str(measure) for measure in measures if measure.direction_is_assumed]
    if assumed:
        shell = format_option("higher_is_better").startswith("-")  # where it is given once a name
        each = [format_option("higher_is_better", shlex.quote(name)) for name in assumed]
        higher = " ".join(each) if shell else format_option("higher_is_better", assumed)
        if len(measures) == len(assumed) > MOST_NAMED:
            higher = format_option("higher_is_better=True")
        only = shlex.quote(assumed[0]) if shell else repr(assumed[0])
        lower = format_option("lower_is_better", only if len(assumed) == 1 else "NAME")
        warnings.warn(
            f"higher scores of {format_list(assumed)} are assumed to be better; state it with {lower} or {higher}",
            DirectionWarning,
            stacklevel=3,
        )
    return np.array([measure.sign for measure in measures])


def parse(text: str) -> tuple[str, dict[str, Parameter]]:
    """Split a measure's printed form into its family name and its parameters.

    >>> parse("OCI(beta=0.75, gamma=1)")
    ('OCI', {'beta': 0.75, 'gamma': 1})
    """
    name, opened, inside = (part.strip() for part in text.partition("("))
    parts = [part.partition("=") for part in inside.removesuffix(")").split(",") if part.strip()]
    stated = [(key.strip(), value.strip()) for key, _, value in parts]
    broken = not name or not {*"),="}.isdisjoint(name) or (opened and not inside.endswith(")"))
    if broken or any("" in pair for pair in stated) or len(dict(stated)) < len(stated):
        what = "write a name, or a name with its parameters, each once, as in OCI(beta=0.75, gamma=1)"
        raise MeasureError(f"{text!r} is not a measure: {what}")
    return name, {key: _parse_value(value) for key, value in stated}


def _parse_value(text: str) -> Parameter:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _print(value: Parameter) -> str:
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def parameters_of(formula: Formula) -> dict[str, Parameter]:
    """Return the keyword-only parameters of a formula with their defaults, in the order of its signature."""
    inspected = inspect.signature(formula).parameters.values()
    return {p.name: p.default for p in inspected if p.kind is inspect.Parameter.KEYWORD_ONLY}
