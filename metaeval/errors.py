"""Exceptions and warnings. Every message says what is wrong, where, and what to do; its phrases are made here."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

OPTION_NAMES: ContextVar[Mapping[str, str]] = ContextVar("option_names", default={})  # noqa: B039  (never changed)
"""How the command line spells the arguments of functions, for `format_option`; empty in Python."""

_LONGEST_MESSAGE, _LONGEST_LABEL = 1000, 200
"""Letters of a message, and of a label in it: labels come from files, which may hold anything."""


def visible(text: str) -> str:
    """Return text with control characters but line ends spelled out, so that a name cannot steer a terminal."""
    if text.replace("\n", "").isprintable():  # as nearly all are
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """Return text as `visible` does, with line ends spelled out too."""
    return visible(text).replace("\n", "\\n")


def shorten(text: str, most: int = _LONGEST_MESSAGE) -> str:
    """Return text in one line of bounded length, without its middle."""
    if len(text) > most:
        after = most // 3 - 1
        text = f"{text[: most - after - 1]}…{text[len(text) - after :]}"
    return one_line(text)


class _OneLine(Exception):
    def __str__(self) -> str:
        return shorten(super().__str__())


class MetaevalError(_OneLine, ValueError):
    """Base of every error metaeval raises on purpose; the command line prints it and exits with status 2."""


class DataError(MetaevalError):
    """Something is wrong with the data: what, where, and as a hint what to do; all of it is an attribute too.

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
        self.problem, self.line, self.value, self.hint = problem, line, value, hint
        self.file = None if file is None else str(file)
        self.run, self.topic, self.item, self.measure = run, topic, item, measure
        place = self.file or ""
        if line is not None:
            place = f"{place}:{line}" if place else f"line {line}"
        labels = {"run": run, "topic": topic, "item": item, "measure": measure}
        named = [f"{what} {shorten(str(one), _LONGEST_LABEL)}" for what, one in labels.items() if one is not None]
        message = ": ".join(part for part in (place, ", ".join(named), problem) if part)
        super().__init__(f"{message} ({hint})" if hint else message)

    def changed(self, kind: type[DataError] | None = None, **fields: Any) -> DataError:
        """Return the error with other fields, or as one of another kind."""
        return (kind or type(self))(**{name: getattr(self, name) for name in ("problem", *_FIELDS)} | fields)

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the fields when the error crosses a process boundary."""
        made = partial(type(self), **{name: getattr(self, name) for name in _FIELDS})
        return made, (self.problem,), dict(self.__dict__)


_FIELDS = ("file", "line", "run", "topic", "item", "measure", "value", "hint")


class MeasureError(MetaevalError):
    """A measure is unknown, cannot be applied to this data, or breaks its own declaration."""


class StoreError(MetaevalError):
    """A score store cannot be read or written."""


class DatasetError(MetaevalError):
    """A data set is unknown, cannot be obtained, or does not match its checksum."""


class MetaevalWarning(_OneLine, UserWarning):
    """Base of every warning metaeval gives; the command line prints them on stderr."""


class UndefinedValueWarning(MetaevalWarning):
    """A measure's formula is 0/0 for some run and topic, and its documented value was used instead."""


class PolicyWarning(MetaevalWarning):
    """A policy other than raising changed or dropped data, and this says what."""


class DirectionWarning(MetaevalWarning):
    """A measure's direction is not stated, and "higher is better" was assumed; or not the one that its name tells."""


@contextmanager
def refusing(what: str, file: object, *kinds: type[Exception]) -> Iterator[None]:
    """Refuse a file where one of these errors comes up, in a sentence; what is refused inside is said as it is."""
    try:
        yield
    except kinds as error:
        if isinstance(error, MetaevalError):
            raise
        problem = "there is not enough memory" if isinstance(error, MemoryError) else str(error).partition("\n")[0]
        raise DataError(f"{what}: {problem}", file=file) from None


def format_count(number: int, what: str) -> str:
    """Return a number with what it counts: ``"1 run"``, ``"22 runs"``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def format_list(labels: Sequence[str], most: int = 5) -> str:
    """Return labels as a phrase that stays short: ``"a, b, c and 17 more"``."""
    shown = ", ".join(shorten(label, _LONGEST_LABEL) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown} and {len(labels) - most} more"


def suggest_names(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """Return a question that names what was probably meant, or an empty text: names that differ little, or begin so."""
    typed = name.strip().lower()
    # Comparing takes the product of both lengths.
    short = {candidate.lower(): candidate for candidate in known if max(len(candidate), len(typed)) <= _LONGEST_LABEL}
    begun = [lower for lower in short if typed and lower.startswith(typed)]
    near = list(dict.fromkeys([*begun, *difflib.get_close_matches(typed, short, n=3, cutoff=cutoff)]))[:3]
    return f"did you mean {', '.join(short[lower] for lower in near)}?" if near else ""


def format_option(name: str, value: object = None) -> str:
    """Return an option as the user would type it: missing=drop-topic in Python, --missing drop-topic on the command line."""
    flag = OPTION_NAMES.get().get(name)
    if value is None or (flag and value is True):
        return flag or name
    return f"{flag} {value}" if flag else f"{name}={value}"
