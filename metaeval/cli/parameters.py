"""From a function's signature and docstring to what the command line reads for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from metaeval.cli.complete import complete_source
from metaeval.cli.docstrings import parse_docstring
from metaeval.cli.options import HELP, Declared, argument, option, spell
from metaeval.errors import MetaevalError

Function = Callable[..., Any]
Opens: TypeAlias = Literal["", "files", "files or names", "partial scores"]

_WIDE = 50  # letters of choices above which the text of the help lists them


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, and how its value comes from the command line.

    `spelling` is its flags, or its name where it is given by position: what makes it the same as another function's. Of a
    value of some `kind`, `convert` makes the argument; `opens` says that it names scores, or may name a measure instead.
    """

    name: str
    spelling: tuple[str, ...]
    kind: Any
    default: Any
    help: str
    convert: Function | None = None
    opens: Opens = ""
    choices: tuple[str, ...] = ()

    def declare(self) -> Declared:
        """Return how the command line declares it."""
        if not self.spelling[0].startswith("-"):
            return argument(self.kind, self.help, required=self.default is inspect.Parameter.empty)
        # What is done by default needs a word to switch it off.
        flags = (f"{self.spelling[0]}/--no-{self.spelling[0][2:]}",) if self.default is True else self.spelling
        wide = len("|".join(self.choices)) + 2 > _WIDE
        return option(
            self.kind, self.help, *flags, default=... if self.default is inspect.Parameter.empty else self.default,
            metavar=self.spelling[0].lstrip("-").upper() if wide else None, choices=() if wide else self.choices,
            complete=complete_source if self.opens else None,
        )  # fmt: skip


def find_input(function: Function) -> str:
    """Return what it takes: "scores", "several", their "power", "ratings", "annotations", "judged" runs, or "measures"."""
    name, hint = next(iter(get_type_hints(function).items()))
    names = {getattr(each, "__name__", "") for each in (hint, *get_args(hint))}
    takes = {"DiscriminativePower": "power", "Annotations": "annotations", "JudgedRuns": "judged", "Ratings": "ratings"}
    for kind, what in takes.items():
        if kind in names:
            return what
    if "Scores" in names:
        return "several" if get_args(hint) else "scores"
    if name == "measures":
        return name
    raise TypeError(f"{function.__name__} takes {name}, of which the command line knows nothing")


def read_parameters(function: Function) -> Iterator[Parameter]:
    """Yield the parameters of an analysis after its first one, as the command line takes them."""
    hints, texts = get_type_hints(function), parse_docstring(function).parameters
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        name, hint = parameter.name, hints[parameter.name]
        flags = spell(name) if parameter.kind is parameter.KEYWORD_ONLY else (name,)
        kind, convert, choices, opens = _read_type(hint, flags[0])
        text = texts.get(name) or HELP.get(name, "")
        if len("|".join(choices)) + 2 > _WIDE and not all(choice in text for choice in choices):
            text = ". ".join(filter(None, [f"{', '.join(choices[:-1])} or {choices[-1]}", text]))
        yield Parameter(name, flags, kind, parameter.default, text, convert, opens, choices)


def _read_type(hint: Any, flag: str) -> tuple[Any, Function | None, tuple[str, ...], Opens]:
    """Return the kind of value to read, what makes the argument of it, the choices if there are only some, and what it opens."""
    from metaeval.measures.base import Measure
    from metaeval.stats.error_rates import Procedure

    parts, inner = get_args(hint), [kind for kind in get_args(hint) if kind is not NoneType]
    names = {getattr(one, "__name__", "") for one in parts}
    if "DataFrame" in names:
        return str, None, (), "partial scores"
    if "Scores" in names:  # a text may also be the name of a measure; a single one stands for itself
        named = str in parts
        single = (lambda given: given[0] if given and len(given) == 1 else given) if named else None
        return list, single, (), "files or names" if named else "files"
    if hint in (bool, int, float, str):
        return hint, None, (), ""
    if get_origin(hint) is Literal:
        return str, None, parts, ""  # the function itself refuses another one, in its words
    if Measure in inner or hint in (Iterable[str], Sequence[str], Sequence[str | Procedure]):
        return list, None, (), ""  # the function itself finds measures by what is typed
    if NoneType in parts and len(inner) == 1:
        if get_origin(inner[0]) is Mapping:
            return list, lambda given: _read_pairs(given, flag, get_args(inner[0])[1]), (), ""
        if inner[0] in (Sequence[int], Sequence[float]):
            return str, lambda text: _read_numbers(text, flag, get_args(inner[0])[0]), (), ""
        return _read_type(inner[0], flag)
    raise TypeError(f"{hint} cannot be read from the command line")


def _read_numbers(text: str | None, flag: str, kind: Callable[[str], Any] = int) -> list[Any] | None:
    expected = "whole numbers with commas, such as 10,25,50" if kind is int else "numbers with commas, such as 1,0.5"
    try:
        return None if text is None else [kind(number) for number in text.split(",")]
    except ValueError:
        raise MetaevalError(f"{flag} {text}: {expected}") from None


def _read_pairs(given: list[str] | None, flag: str, value: Any) -> dict[str, Any] | None:
    """Return what a repeated option names: numbers, several with commas; grades of a judge; or names, or a file of them."""
    from metaeval.io.qrels import read_pairs

    found: list[tuple[str, Any]] = []
    for text in given or ():
        name, equals, named = text.rpartition("=")
        if value is float:
            found += [_read_number(part, text, flag) for part in text.split(",")]
        elif value is str and not (equals and name and named):
            found += read_pairs(text).items()
        elif not (name and named):
            raise MetaevalError(f"{flag} {text}: name a judge and its grades, such as judge=0,1,1,2")
        else:
            found.append((name, named if value is str else _read_numbers(named, f"{flag} {name}")))
    pairs: dict[str, Any] = {}
    for name, meant in found:
        if pairs.setdefault(name, meant) != meant:
            raise MetaevalError(f"{flag}: {name} stands twice, with {pairs[name]} and {meant}; leave out one")
    return pairs or None


def _read_number(pair: str, text: str, flag: str) -> tuple[str, float]:
    name, _, number = pair.rpartition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise MetaevalError(f"{flag} {text}: names with numbers, such as a=2,b=0.5") from None
