"""From a function's signature and docstring to the options of its command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from metaeval.cli.opening import open_partial, open_run_scores
from metaeval.cli.options import HELP, NAMES, Option, argument, complete_source, spell
from metaeval.errors import MetaevalError

Function = Callable[..., Any]

IN_PYTHON = ("p_add_one", "variance_offset", "gaps")
"""Arguments of functions that are no options; `gaps` is what ``--missing`` says of boards."""

_PACKAGE = Path(__file__).parent.parent

_LONG, _WIDE = 180, 50
"""Characters of an option's help above which its first sentence is enough, and of choices above which the help lists them."""


class Docstring(NamedTuple):
    """What a docstring says: its first line, the paragraphs before the first section, and a phrase on every parameter."""

    question: str
    details: str
    parameters: dict[str, str]


class Parameter(NamedTuple):
    """One parameter of a function: its option, and what makes the argument of what was typed, given all that was.

    What `opens` may name a measure or a file of scores, which is opened together with the sources.
    """

    option: Option
    convert: Callable[[Any, Any], Any] | None = None
    opens: bool = False


def parse_docstring(function: Function) -> Docstring:
    """Return what the docstring of a function says."""
    head, *sections = re.split(r"\n\n(?=[A-Z]\w+\n-{3,}\n)", _plain(inspect.getdoc(function) or ""))
    question, _, details = head.partition("\n\n")
    listed = next((section for section in sections if section.startswith("Parameters\n")), "")
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in listed.splitlines()[2:]:
        if line[:1].strip():  # "first, second : str" at the margin begins a parameter; what is indented describes it
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        texts |= {name: f"{texts[name]} {line.strip()}" if name in texts else "" for name in names}
    for name, text in texts.items():
        first = re.split(r"(?<=\.) (?=[^a-z])", text.strip())[0]
        texts[name] = (text if len(text.strip()) <= _LONG else first).strip().removesuffix(".")
    # A terminal joins the lines of a paragraph: each bullet is a paragraph of its own.
    return Docstring(" ".join(question.split()), re.sub(r"\n(?=- )", "\n\n", details), texts)


def find_question(reference: str) -> str:
    """Return the first line of a docstring from the source of "module:function", without the time of an import."""
    module, _, name = reference.partition(":")
    source = (_PACKAGE / f"{module.replace('.', '/')}.py").read_text("utf-8")
    match = re.search(rf'^def {name}\(.*?"""(.*?)(?:\n\n|""")', source, re.MULTILINE | re.DOTALL)
    return "" if match is None else " ".join(_plain(match[1]).split())


def _plain(text: str) -> str:
    return text.replace('``"', "").replace('"``', "").replace("`", "")


def read_parameters(function: Function) -> dict[str, Parameter]:
    """Return the parameters of an analysis after its first one, as the command line takes them.

    Options of tests, which several functions pass on, are those of `discriminative_power`.
    """
    hints, texts = get_type_hints(function), parse_docstring(function).parameters
    parameters: dict[str, Parameter] = {}
    for one in list(inspect.signature(function).parameters.values())[1:]:
        if one.kind is one.VAR_KEYWORD:
            from metaeval.analyses.power import discriminative_power

            known = read_parameters(discriminative_power)
            names = get_type_hints(*get_args(hints[one.name]))
            parameters |= {name: known[name] for name in names if name in known}
        elif one.name not in IN_PYTHON:
            text = texts.get(one.name) or HELP.get(one.name, "")
            parameters[one.name] = _read_parameter(one, hints[one.name], text)
    return parameters


def _read_parameter(parameter: inspect.Parameter, hint: Any, text: str) -> Parameter:
    if parameter.kind is not parameter.KEYWORD_ONLY:
        return Parameter(argument(text, kind=hint))
    inner = [kind for kind in get_args(hint) if kind is not NoneType]
    kinds = {getattr(kind, "__name__", "") for kind in inner}  # without importing pandas
    kind, flag, metavar = hint, spell(parameter.name)[0], None
    choices: tuple[str, ...] = ()
    convert: Function | None = None
    if "DataFrame" in kinds:
        kind, convert = str, open_partial
    elif "Scores" in kinds:
        # A text may also be the name of a measure, which stands for itself.
        kind, convert = (list[str], _take_single) if str in inner else (NAMES, open_run_scores)
    elif get_origin(hint) is Literal:
        kind, choices = str, get_args(hint)  # the function itself refuses another one, in its words
        wide = len("|".join(choices)) > _WIDE - 2
        metavar = flag.lstrip("-").upper() if wide else None
        if wide and not all(choice in text for choice in choices):
            text = f"{', '.join(choices[:-1])} or {choices[-1]}{f'. {text}' * bool(text)}"
    elif inner and inner[0] in _READERS:
        kind, read = _READERS[inner[0]]
        convert = partial(read, flag)
    elif "Measure" in kinds or {get_origin(each) for each in (hint, *inner)} & {Iterable, Sequence}:
        kind = NAMES if NoneType in get_args(hint) else list[str]  # the function itself finds measures by their names
    default = ... if parameter.default is parameter.empty else parameter.default
    completes = complete_source if kinds & {"DataFrame", "Scores"} else None
    option = Option(text, kind, default, choices, completes, metavar)
    return Parameter(option, convert, "Scores" in kinds and str in inner)


def _take_single(given: list[str], _: Any) -> str | list[str]:
    return given[0] if len(given) == 1 else given


def _read_numbers(flag: str, text: str | None, _: Any = None) -> list[int] | None:
    try:
        return None if text is None else [int(number) for number in text.split(",")]
    except ValueError:
        raise MetaevalError(f"{flag} {text}: whole numbers with commas, such as 10,25,50") from None


def _read_pairs(read: Function, flag: str, given: list[str] | None, _: Any) -> dict[str, Any] | None:
    """Return what a repeated option says of each name, which may stand twice if the same is said of it."""
    pairs: dict[str, Any] = {}
    for name, meant in (pair for text in given or () for pair in read(flag, text)):
        if name in pairs and pairs[name] != meant:
            raise MetaevalError(f"{flag}: {name} stands twice, with {pairs[name]} and {meant}; leave out one")
        pairs[name] = meant
    return pairs or None


def _list_weights(flag: str, text: str) -> list[tuple[str, float]]:
    try:
        return [(part.rpartition("=")[0].strip(), float(part.rpartition("=")[2])) for part in text.split(",")]
    except ValueError:
        raise MetaevalError(f"{flag} {text}: names with numbers, such as a=2,b=0.5") from None


def _list_names(_: str, text: str) -> list[tuple[str, str]]:
    """Return a name and what it is called, or all those of a file."""
    from metaeval.io.qrels import read_pairs

    name, _, named = text.rpartition("=")
    return [(name, named)] if name and named else [*read_pairs(text).items()]


_READERS: dict[Any, tuple[Any, Function]] = {
    Sequence[int]: (str | None, _read_numbers),
    Mapping[str, float]: (NAMES, partial(_read_pairs, _list_weights)),
    Mapping[str, str]: (NAMES, partial(_read_pairs, _list_names)),
}
"""How arguments of several values are typed, and what makes them of it."""
