"""Exceptions and warnings. Every message says what is wrong, where, and what to do; its phrases are made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar

_OPTION_NAMES: ContextVar[Mapping[str, str]] = ContextVar("option_names", default={})  # noqa: B039  (never changed)


class MetaevalError(ValueError):
    """Base of every error metaeval raises on purpose; the command line prints it and exits with status 2."""


class DataError(MetaevalError):
    """Something is wrong with the data, and this says what, where and what to do.

    Parameters
    ----------
    problem : str
        What is wrong, in a few words: ``"probabilities sum to 0.83, not 1"``.
    file, line, run, topic, item, measure, value : object, optional
        Where it is wrong. Whatever is given becomes part of the message and stays readable as an attribute.
    hint : str, optional
        What to do about it.

    Examples
    --------
    >>> print(DataError("probabilities sum to 0.83, not 1", file="run7.json", topic="t1", hint="rescale"))
    run7.json: topic t1: probabilities sum to 0.83, not 1 (rescale)
    """

    def __init__(
        self,
        problem: str,
        *,
        file: object = None,
        line: int | None = None,
        run: object = None,
        topic: object = None,
        item: object = None,
        measure: object = None,
        value: object = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = None if file is None else str(file)
        self.line = line
        self.run = run
        self.topic = topic
        self.item = item
        self.measure = measure
        self.value = value
        self.hint = hint
        super().__init__(self._message())

    def _message(self) -> str:
        place = "" if self.file is None else self.file
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        labels = ("run", "topic", "item", "measure")
        named = [f"{label} {value}" for label in labels if (value := getattr(self, label)) is not None]
        parts = [part for part in (place, ", ".join(named), self.problem) if part]
        message = ": ".join(parts)
        return f"{message} ({self.hint})" if self.hint else message

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the message when the error crosses a process boundary."""
        return (_rebuild, (type(self), self.problem, dict(self.__dict__)))


def _rebuild(kind: type[DataError], problem: str, state: dict[str, object]) -> DataError:
    error = kind(problem)
    error.__dict__.update(state)
    error.args = (error._message(),)
    return error


class MeasureError(MetaevalError):
    """A measure is unknown, cannot be applied to this data, or breaks its own declaration."""


class StoreError(MetaevalError):
    """A score store cannot be read or written."""


class DatasetError(MetaevalError):
    """A data set is unknown, cannot be had, or does not match its checksum."""


class MetaevalWarning(UserWarning):
    """Base of every warning metaeval gives; the command line prints them on stderr."""


class UndefinedValueWarning(MetaevalWarning):
    """A measure's formula is 0/0 for some run and topic, and its documented value was used instead."""


class PolicyWarning(MetaevalWarning):
    """A policy other than raising changed or dropped data, and this says what."""


class DirectionWarning(MetaevalWarning):
    """A measure's direction is not stated, and "higher is better" was assumed."""


def visible(text: str) -> str:
    r"""Return text with control characters spelled out, so that a name from a file cannot steer a terminal.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> print(visible("run" + chr(27) + "[31m"))
    run\x1b[31m
    """
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def format_count(number: int, what: str) -> str:
    """Return a number with what it counts: ``"1 run"``, ``"22 runs"``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def format_list(labels: Sequence[str], most: int = 5) -> str:
    """Return labels as a phrase that stays short: ``"a, b, c and 17 more"``."""
    if len(labels) <= most:
        return ", ".join(labels)
    return f"{', '.join(labels[:most])} and {len(labels) - most} more"


def format_option(name: str, value: object = None) -> str:
    """Return an option as the user would type it: as an argument in Python, as a flag on the command line.

    Parameters
    ----------
    name : str
        The argument of the Python function.
    value : object, optional

    Returns
    -------
    str

    Examples
    --------
    >>> format_option("missing", "drop-topic")
    'missing=drop-topic'
    >>> _ = use_option_names({"missing": "--missing"})
    >>> format_option("missing", "drop-topic")
    '--missing drop-topic'
    >>> format_option("missing", True)  # a flag needs no value
    '--missing'
    >>> _ = use_option_names({})
    """
    flag = _OPTION_NAMES.get().get(name)
    if value is None or (flag and value is True):
        return flag or name
    return f"{flag} {value}" if flag else f"{name}={value}"


def use_option_names(flags: Mapping[str, str]) -> None:
    """State how the command line spells the arguments of functions, for `format_option`.

    Parameters
    ----------
    flags : mapping of str to str
        Flags by argument name; empty for Python.
    """
    _OPTION_NAMES.set(dict(flags))


def option_names_in_use() -> dict[str, str]:
    """Return the flags that `use_option_names` stated last."""
    return dict(_OPTION_NAMES.get())
