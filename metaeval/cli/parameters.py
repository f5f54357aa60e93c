"""From a function's signature and docstring to what the command line reads for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

import typer

from metaeval.cli.complete import complete_source
from metaeval.cli.docstrings import parse_docstring
from metaeval.cli.options import HELP, choose, spell
from metaeval.errors import MetaevalError

Function = Callable[..., Any]
Opens: TypeAlias = Literal["", "files", "files or names", "partial scores"]

_WIDE = 50  # characters of choices above which the text of the help lists them


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, and how its value comes from the command line.

    It has no flags where it is given by position. `annotation` is the type that is read, of which `convert` makes the
    argument; `opens` says that what is read names scores, which are then opened, or may name a measure instead.
    """

    name: str
    flags: tuple[str, ...]
    annotation: Any
    default: Any
    help: str
    convert: Function | None = None
    opens: Opens = ""
    choices: tuple[str, ...] = ()

    @property
    def spelling(self) -> tuple[str, ...]:
        """What makes it the same as another function's parameter: the option, or the place."""
        return self.flags or (self.name,)

    def declare(self) -> tuple[Any, Any]:
        """Return annotation and default as typer takes them."""
        shown = choose(self.choices) if self.choices else {}
        if len(shown.get("metavar", "")) > _WIDE:
            shown["metavar"] = self.flags[0].lstrip("-").upper()
        if self.opens:
            shown["autocompletion"] = complete_source
        if self.flags:
            # What is done by default needs a word to switch it off.
            flags = (f"{self.flags[0]}/--no-{self.flags[0][2:]}",) if self.default is True else self.flags
            return Annotated[self.annotation, typer.Option(*flags, help=self.help, **shown)], self.default
        return Annotated[self.annotation, typer.Argument(help=self.help)], self.default


def find_input(function: Function) -> str:
    """Return what it takes: "scores", "several", "ratings", "annotations", "judged" runs, or "measures"."""
    from metaeval.data.annotations import Annotations
    from metaeval.data.judged import JudgedRuns
    from metaeval.data.ratings import Ratings
    from metaeval.data.scores import Scores

    name = next(iter(inspect.signature(function).parameters))
    hint = get_type_hints(function)[name]
    kinds = {
        Ratings: "ratings",
        Sequence[Scores]: "several",
        Scores: "scores",
        Annotations: "annotations",
        JudgedRuns: "judged",
    }
    for kind, what in kinds.items():
        if kind in (hint, *get_args(hint)):
            return what
    if name == "measures":
        return name
    raise TypeError(f"{function.__name__} takes {name}, of which the command line knows nothing")


def read_parameters(function: Function) -> Iterator[Parameter]:
    """Yield the parameters of an analysis after its first one, as the command line takes them.

    Options of tests, which several functions pass on, are those of `discriminative_power`.
    """
    hints, texts = get_type_hints(function), parse_docstring(function).parameters
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            from metaeval.analyses.power import discriminative_power

            known = {each.name: each for each in read_parameters(discriminative_power)}
            yield from (known[name] for name in get_type_hints(*get_args(hints[parameter.name])))
            continue
        flags = spell(parameter.name) if parameter.kind is parameter.KEYWORD_ONLY else ()
        annotation, convert, choices = _read_type(hints[parameter.name], flags)
        text = texts.get(parameter.name) or HELP.get(parameter.name, "")
        opens: Opens = ""
        if _names_partial(hints[parameter.name]):
            opens = "partial scores"
        elif _names_scores(hints[parameter.name]):
            opens = "files or names" if str in get_args(hints[parameter.name]) else "files"
        result = Parameter(parameter.name, flags, annotation, parameter.default, text, convert, opens, choices)
        if len(f"[{'|'.join(choices)}]") > _WIDE and not all(choice in text for choice in choices):
            result = replace(result, help=". ".join(part for part in (_either(choices), text) if part))
        yield result


def _read_type(hint: Any, flags: tuple[str, ...]) -> tuple[Any, Function | None, tuple[str, ...]]:
    """Return the type to read, what makes the argument of it, and the choices if there are only some."""
    from metaeval.measures.base import Measure
    from metaeval.stats.error_rates import Procedure

    if _names_partial(hint):
        return str, None, ()
    if _names_scores(hint):
        # A text may also be the name of a measure; a single one stands for itself.
        several = list[str] if str in get_args(hint) else list[str] | None
        return several, _take_single if str in get_args(hint) else None, ()
    inner = [kind for kind in get_args(hint) if kind is not NoneType]
    if hint in (bool, int, float, str):
        return hint, None, ()
    if get_origin(hint) is Literal:
        return str, None, get_args(hint)  # the function itself refuses another one, in its words
    if Measure in inner:
        return list[str], None, ()  # the function itself finds measures by what is typed
    if hint in (Iterable[str], Sequence[str], Sequence[str | Procedure]):
        return list[str], lambda given: given or None, ()
    if NoneType in get_args(hint) and len(inner) == 1:
        if get_origin(inner[0]) is Mapping:
            value = get_args(inner[0])[1]
            return list[str] | None, lambda given: _read_pairs(given, flags[0], value), ()
        if inner[0] == Sequence[int]:
            return str | None, lambda text: _read_numbers(text, flags[0]), ()
        if inner[0] == Sequence[float]:
            return str | None, lambda text: _read_numbers(text, flags[0], float), ()
        annotation, convert, choices = _read_type(inner[0], flags)
        return annotation | None, convert, choices
    raise TypeError(f"{hint} cannot be read from the command line")


def _take_single(given: list[str]) -> str | list[str]:
    return given[0] if len(given) == 1 else given


def _names_scores(hint: Any) -> bool:
    from metaeval.data.scores import Scores

    return Scores in get_args(hint)


def _names_partial(hint: Any) -> bool:
    return any(getattr(one, "__name__", "") == "DataFrame" for one in get_args(hint))  # without importing pandas


def _read_numbers(text: str | None, flag: str, kind: Callable[[str], Any] = int) -> list[Any] | None:
    try:
        return None if text is None else [kind(number) for number in text.split(",")]
    except ValueError:
        expected = (
            "whole numbers with commas, such as 10,25,50" if kind is int else "numbers with commas, such as 1,0.5"
        )
        raise MetaevalError(f"{flag} {text}: {expected}") from None


def _read_pairs(given: list[str] | None, flag: str, value: Any) -> dict[str, Any] | None:
    """Return what a repeated option names: numbers, several with commas; or names, or a file of them."""
    from metaeval.io.qrels import read_pairs

    found: list[tuple[str, Any]] = []
    for text in given or ():
        name, equals, named = text.rpartition("=")
        if value is float:
            found += [_read_number(part, text, flag) for part in text.split(",")]
        elif equals and name and named:
            found.append((name, named))
        else:
            found += read_pairs(text).items()
    pairs: dict[str, Any] = {}
    for name, meant in found:
        if name in pairs and pairs[name] != meant:
            raise MetaevalError(f"{flag}: {name} stands twice, with {pairs[name]} and {meant}; leave out one")
        pairs[name] = meant
    return pairs or None


def _read_number(pair: str, text: str, flag: str) -> tuple[str, float]:
    name, _, number = pair.rpartition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise MetaevalError(f"{flag} {text}: names with numbers, such as a=2,b=0.5") from None


def _either(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"
