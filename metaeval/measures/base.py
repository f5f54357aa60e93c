"""A measure as a value: a name that parses and prints the same, a direction, a range, a formula."""

from __future__ import annotations

import functools
import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, MappingProxyType
from typing import Any, Literal

import numpy as np

from metaeval.errors import (
    DirectionWarning,
    MeasureError,
    MetaevalError,
    UndefinedValueWarning,
    format_list,
    format_option,
)
from metaeval.measures.calls import FormulaError, call_formula

Kind = Literal["classification", "quantification"]
Parameter = float | int | str | bool
Formula = Callable[..., Any]

ASSUMED = "assumed: higher is better"
"""What stands beside the name of a measure whose direction nobody has stated."""

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
    description, source : str
        One line each: what it answers, and where it is defined.
    kind : {"classification", "quantification"} or None
        What the formula takes: confusion counts, or a pair of distributions. None: scores only.
    undefined : float or None
        The value used where the formula is 0/0; None where that cannot happen.
    symmetric : bool
        Whether swapping prediction and gold gives the same score.
    """

    name: str
    higher_is_better: bool | None = None
    range: tuple[float, float] = (-math.inf, math.inf)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, hash=False)
    shown: tuple[str, ...] = ()
    label: str = ""
    description: str = ""
    source: str = ""
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
        return f"{self} ({ASSUMED})" if self.direction_is_assumed else str(self)

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
        low, high = self.range
        return low if self.sign > 0 else high

    @property
    def best(self) -> float:
        """The best score the measure can give; infinite where unbounded."""
        low, high = self.range
        return high if self.sign > 0 else low

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
        """Score as `score` does, and say where the documented value stands for an undefined one.

        Parameters
        ----------
        *arrays : array_like
            As for `score`.

        Returns
        -------
        scores : ndarray of float64, shape (...)
        undefined : ndarray of bool, shape (...)
            True where the formula is 0/0.

        Raises
        ------
        MeasureError
            As for `score`.
        """
        if self.formula is None:
            raise MeasureError(f"{self} is known by its scores only, there is no formula to compute it from data")
        scores = self._computed(self.formula, _checked_inputs(self, arrays))
        if self.undefined is None:
            return scores, np.zeros(scores.shape, dtype=bool)
        undefined = np.isnan(scores)
        return np.where(undefined, self.undefined, scores), undefined

    def _computed(self, formula: Formula, inputs: tuple[np.ndarray, ...]) -> np.ndarray:
        """Call the formula; it may be a user's, so whatever it does wrong is said in a sentence."""
        if _is_shipped_formula(formula):
            try:
                with np.errstate(divide="ignore", invalid="ignore"):
                    return np.asarray(formula(*inputs, **self.parameters), dtype=np.float64)
            except MetaevalError:
                raise
            except (TypeError, ValueError) as error:  # a parameter is no number, or not of the kind that is needed
                raise MeasureError(f"{self} cannot be computed: {error}") from error
        try:
            return call_formula(formula, inputs, self.parameters)
        except FormulaError as error:
            raise MeasureError(f"{self} cannot be computed: {error}") from error

    def with_parameters(self, given: Mapping[str, Parameter]) -> Measure:
        """Return the same measure with other parameter values.

        Parameters
        ----------
        given : mapping
            Parameter names to values; what is not named keeps its default.

        Raises
        ------
        MeasureError
            If the formula has no such parameter.
        """
        defaults = parameters_of(self.formula) if self.formula is not None else {}
        unknown = [key for key in given if key not in defaults]
        if unknown:
            known = ", ".join(f"{key}={_print(value)}" for key, value in defaults.items()) or "none"
            raise MeasureError(f"{self.name} has no parameter {unknown[0]!r} (its parameters: {known})")
        values = {**defaults, **given}
        stated = {key: value for key, value in values.items() if key in self.shown or value != defaults[key]}
        return replace(self, parameters=stated, label=self.label if not stated else "")


def _is_shipped_formula(formula: Formula) -> bool:
    """Say whether a formula is one of metaeval's own, which need no watching."""
    return isinstance(formula, FunctionType) and (formula.__module__ or "").startswith("metaeval.measures.")


def _measure_from(values: dict[str, Any]) -> Measure:
    bare = Measure(**values)
    if bare.kind is None:
        return bare
    registered = find_registered(str(bare))
    return bare if registered is None else replace(bare, formula=registered.formula)


def _print(value: Parameter) -> str:
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _parse_value(text: str) -> Parameter:
    text = text.strip()
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def add_measure(measure: Measure) -> None:
    """Let everybody find a measure by its name; an error where another one has it already."""
    earlier = _MEASURES.get(measure.name)
    if earlier is not None and _origin(earlier.formula) != _origin(measure.formula):
        raise MeasureError(
            f"there is a measure {measure.name} already ({earlier.source or 'yours'}); choose another name"
        )
    _MEASURES[measure.name] = measure


def _origin(formula: Formula | None) -> tuple[str, str] | None:
    """A cell that is run again in a notebook may replace its own measure, never somebody else's."""
    return None if formula is None else (formula.__module__, formula.__qualname__)


def find_registered(text: str) -> Measure | None:
    """Return the registered measure of that name, or None if there is none of that family."""
    if text in _MEASURES:
        return _MEASURES[text]
    name, parameters = parse(text)
    registered = _MEASURES.get(name)
    return None if registered is None else registered.with_parameters(parameters)


def find_signs(measures: Sequence[Measure]) -> np.ndarray:
    """Return the sign of every measure: +1 if higher scores are better, -1 if lower ones are."""
    assumed = [str(measure) for measure in measures if measure.direction_is_assumed]
    if assumed:
        single, every = format_option("lower_is_better", "NAME"), format_option("higher_is_better=True")
        if any(measure.higher_is_better is False for measure in measures):  # which all would turn round
            every = _name_higher(assumed)
        warnings.warn(
            f"higher scores of {format_list(assumed)} are assumed to be better; state it with {single} or {every}",
            DirectionWarning,
            stacklevel=3,
        )
    return np.array([measure.sign for measure in measures])


def _name_higher(names: Sequence[str]) -> str:
    """Return the option that says of some measures that higher is better, as it is typed."""
    if format_option("higher_is_better").startswith("-"):
        return " ".join(format_option("higher_is_better", shlex.quote(name)) for name in names)
    return format_option("higher_is_better", list(names))


def parse(text: str) -> tuple[str, dict[str, Parameter]]:
    """Split a measure's printed form into its family name and its parameters.

    >>> parse("OCI(beta=0.75, gamma=1)")
    ('OCI', {'beta': 0.75, 'gamma': 1})
    """
    name, opened, inside = text.strip().partition("(")
    name = name.rstrip()
    if not name or not {*"),="}.isdisjoint(name) or (opened and not inside.endswith(")")):
        raise MeasureError(f"{text!r} is not a measure: write a name, or a name with parameters as in OCI(beta=0.75)")
    parameters: dict[str, Parameter] = {}
    for part in inside.removesuffix(")").split(","):
        if not part.strip():
            continue
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise MeasureError(f"{text!r}: {part.strip()!r} is not a parameter (write {name}(name=value))")
        if key.strip() in parameters:
            raise MeasureError(f"{text!r} gives {key.strip()} twice")
        parameters[key.strip()] = _parse_value(value)
    return name, parameters


def parameters_of(formula: Formula) -> dict[str, Parameter]:
    """Return the keyword-only parameters of a formula with their defaults, in the order of its signature."""
    inspected = inspect.signature(formula).parameters.values()
    return {p.name: p.default for p in inspected if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _checked_inputs(measure: Measure, arrays: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    """Look at shapes only: numbers are checked where they enter (runs.py, io, `Measure.score`)."""
    n_arrays = 1 if measure.kind == "classification" else 2
    if len(arrays) != n_arrays:
        takes = "score(counts)" if n_arrays == 1 else "score(estimated, gold)"
        raise MeasureError(f"{measure} is a {measure.kind} measure and takes {takes}, not {len(arrays)} arrays")
    try:
        inputs = tuple(np.asarray(array, dtype=np.float64) for array in arrays)
    except (TypeError, ValueError):
        raise MeasureError(f"{measure} takes arrays of numbers, with rows of the same length") from None
    if n_arrays == 1 and (inputs[0].ndim < 2 or inputs[0].shape[-1] != inputs[0].shape[-2]):
        raise MeasureError(f"{measure} takes counts of shape (..., K, K), not {inputs[0].shape}")
    if n_arrays == 2 and (min(a.ndim for a in inputs) < 1 or inputs[0].shape[-1] != inputs[1].shape[-1]):
        raise MeasureError(f"{measure} takes two arrays of shape (..., K), not {inputs[0].shape} and {inputs[1].shape}")
    if inputs[0].shape[-1] < 2:
        raise MeasureError(f"{measure} needs at least two classes, not {inputs[0].shape[-1]}")
    return inputs


def _check_numbers(measure: Measure, inputs: tuple[np.ndarray, ...]) -> None:
    """Refuse what is no count or no distribution, which a formula might well make a number of."""
    for array in inputs:
        if not np.isfinite(array).all() or (array < 0).any():
            wrong = array[~np.isfinite(array) | (array < 0)].flat[0]
            raise MeasureError(f"{measure}: {wrong:g} is no {'count' if len(inputs) == 1 else 'probability'}")
    if len(inputs) == 1:
        if (inputs[0].sum(axis=(-2, -1)) == 0).any():
            raise MeasureError(f"{measure}: a matrix without items has no score")
        return
    for what, array in zip(("estimated", "gold"), inputs, strict=True):
        total = array.sum(axis=-1)
        off = np.abs(total - 1) > SUM_TOLERANCE
        if off.any():
            raise MeasureError(f"{measure}: {what} shares sum to {total[off].flat[0]:.6g}, not 1")


def fill_undefined(formula: Formula, undefined: float | None) -> Formula:
    """Return the formula as a plain function of arrays that gives the documented value where it is 0/0."""

    @functools.wraps(formula)
    def measured(*arrays: Any, **parameters: Any) -> np.ndarray:
        inputs = (np.asarray(array, dtype=np.float64) for array in arrays)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.asarray(formula(*inputs, **parameters), dtype=np.float64)
        return scores if undefined is None else np.where(np.isnan(scores), undefined, scores)

    return measured
