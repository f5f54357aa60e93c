"""From a function's signature and docstring to its command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from metaeval.cli.analyses import ANALYSES, Analysis
from metaeval.cli.docstrings import find_question, parse_docstring
from metaeval.cli.options import (
    HELP,
    OPENING,
    Cluster,
    Command,
    MeasureArguments,
    MeasureNames,
    Out,
    Source,
    Sources,
    Style,
    format_name,
    spell,
)
from metaeval.cli.output import check_output, show_result, working

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

Function = Callable[..., Any]

_POWER = "analyses.discriminative_power:discriminative_power"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function, and how its value comes from the command line.

    Parameters
    ----------
    name : str
        Of the argument.
    flags : tuple of str
        Empty for what is given by position.
    annotation : object
        The type that is read from the command line.
    default : object
        `inspect.Parameter.empty` where it must be given.
    help : str
    convert : callable, optional
        Makes the argument of what was read.
    """

    name: str
    flags: tuple[str, ...]
    annotation: Any
    default: Any
    help: str
    convert: Function | None = None

    @property
    def spelling(self) -> tuple[str, ...]:
        """What makes it the same as another function's parameter: the option, or the place."""
        return self.flags or (self.name,)

    def declare(self) -> tuple[Any, Any]:
        """Return annotation and default as typer takes them."""
        said = typer.Option(*self.flags, help=self.help) if self.flags else typer.Argument(help=self.help)
        return Annotated[self.annotation, said], self.default


class LazyGroup(TyperGroup):
    """The commands written by hand, and those made of analyses, which are imported when their command is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, analysis in ANALYSES.items():
            self.add_command(_LazyCommand(name, analysis))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with the whole question that each answers, which may need two lines."""
        for title, wanted in (("Commands", False), ("Analyses", True)):
            rows = [
                (name, one.get_short_help_str(limit=1000))
                for name, one in self.commands.items()
                if isinstance(one, _LazyCommand) == wanted
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


class _LazyCommand(TyperCommand):
    """Stands for a command until it is used: its first line is known without importing its function."""

    def __init__(self, name: str, analysis: Analysis) -> None:
        super().__init__(name, short_help=find_question(analysis.function))
        self.analysis = analysis

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        command = make_command(self.name or "", self.analysis)
        return command.make_context(info_name, args, parent, **extra)


def make_command(name: str, analysis: Analysis) -> Any:
    """Make the command of an analysis.

    Parameters
    ----------
    name : str
    analysis : Analysis

    Returns
    -------
    click.Command
    """
    plan = _plan(name, analysis)

    def run(**values: Any) -> None:
        _run(plan, values)

    declared = plan.declare()
    run.__doc__ = _write_help(plan.main, analysis.examples)
    run.__annotations__ = {key: annotation for key, (annotation, _) in declared.items()}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for key, (annotation, default) in declared.items()
        ]
    )
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(name, cls=Command)(run)
    return typer.main.get_command(app)


@dataclass(frozen=True)
class _Plan:
    """What a command calls. `before` makes what `main` takes of scores; a switch calls another function in its place."""

    name: str
    main: Function
    takes: str
    before: Function | None
    switches: dict[str, Function]
    pool: Function | None

    @property
    def several(self) -> bool:
        return self.takes == "several" or self.pool is not None

    def parameters(self) -> dict[tuple[str, ...], Parameter]:
        """Return the parameters of all functions; those that are spelled alike are one."""
        found: dict[tuple[str, ...], Parameter] = {}
        for function in (self.before, self.main, *self.switches.values(), self.pool):
            for one in read_parameters(function) if function else ():
                found.setdefault(one.spelling, one)
        return found

    def declare(self) -> dict[str, tuple[Any, Any]]:
        """Return annotation and default of everything that the command takes, in the order of its help."""
        nothing = inspect.Parameter.empty
        parameters = self.parameters().values()
        if self.takes == "measures":
            declared: dict[str, tuple[Any, Any]] = {"measures": (MeasureArguments, nothing)}
        else:
            declared = {"source": (Sources if self.several else Source, nothing)}
        declared |= {one.name: one.declare() for one in parameters if not one.flags}
        if self.takes != "measures":
            declared["measure"] = (MeasureNames, None)
        for one in parameters:
            if one.flags:
                declared[one.name] = one.declare()
            if one.name == "n_jobs":
                declared["cluster"] = (Cluster, None)
        for switch, function in self.switches.items():
            question = parse_docstring(function).question
            declared[switch] = (Annotated[bool, typer.Option(*spell(switch), help=question)], False)
        if self.takes != "measures":
            declared |= OPENING
        return declared | {"style": (Style, "text"), "out": (Out, None)}

    def call(self, function: Function, subject: object, values: dict[str, Any]) -> Any:
        """Call a function with what the command line says of its parameters."""
        known = self.parameters()
        arguments = {one.name: values[known[one.spelling].name] for one in read_parameters(function)}
        with working(function.__name__.replace("_", " ")), _spread(arguments, values.get("cluster")) as arguments:
            return function(subject, **arguments)


def _plan(name: str, analysis: Analysis) -> _Plan:
    main = _load(analysis.function)
    takes = find_input(main)
    return _Plan(
        name,
        main,
        takes,
        _load(_POWER) if takes == "power" else None,
        {switch: _load(function) for switch, function in analysis.switches.items()},
        _load(analysis.pool) if analysis.pool else None,
    )


def _run(plan: _Plan, values: dict[str, Any]) -> None:
    """Open what the command is about, call its functions, and show their results."""
    style, out = values["style"], values["out"]
    check_output(style, out)
    for one in plan.parameters().values():
        if one.convert is not None:
            values[one.name] = one.convert(values[one.name])
    switch = next((one for one in plan.switches if values[one]), "")
    function, name = (plan.switches[switch], f"{plan.name}-{switch}") if switch else (plan.main, plan.name)
    if plan.takes == "measures":
        from metaeval.cli.measures import find_known_measures

        show_result(plan.call(function, find_known_measures(values["measures"]), values), style, out, name)
        return
    sources = values["source"] if plan.several else [values["source"]]
    if plan.takes == "several":
        scores = [_open(source, values) for source in sources]
        show_result(plan.call(function, scores if len(scores) > 1 else scores[0], values), style, out, name)
        return
    # Whatever may go wrong comes before anything is shown.
    results = [_analyse(plan, function, source, values) for source in sources]
    pooled = plan.call(plan.pool, results, values) if plan.pool is not None and len(results) > 1 else None
    for number, (source, result) in enumerate(zip(sources, results, strict=True), start=1):
        own = f"{name}-{format_name(getattr(result, 'collection', '') or source) or number}"
        show_result(result, style, out, name if len(results) == 1 else own)
    if pooled is not None:
        show_result(pooled, style, out, f"pooled-{name}")


def _analyse(plan: _Plan, function: Function, source: str, values: dict[str, Any]) -> Any:
    subject: Any = _open(source, values)
    if plan.before is not None:
        subject = plan.call(plan.before, subject, values)
    return plan.call(function, subject, values)


def _open(source: str, values: dict[str, Any]) -> Scores:
    """Open a source with the measures that were asked for, and those that they are held against."""
    from metaeval.cli.measures import find_measures
    from metaeval.datasets.open import open_scores

    wanted = find_measures(values["measure"])
    if wanted is not None:
        wanted += [one for one in values.get("reference", ()) if str(one) not in map(str, wanted)]
    opening = {name: values[name] for name in OPENING}
    for directions in ("lower_is_better", "higher_is_better"):
        opening[directions] = opening[directions] or ()
    with working(f"reading {source}"):
        return open_scores(source, wanted, **opening)


@contextmanager
def _spread(arguments: dict[str, Any], cluster: str | None) -> Iterator[dict[str, Any]]:
    """Ask for as many threads as the user said, or for all that the cluster has."""
    if cluster is None or "n_jobs" not in arguments:
        yield arguments
        return
    from metaeval.stats.parallel import on_cluster

    with on_cluster(cluster):
        yield {**arguments, "n_jobs": -1}


def find_input(function: Function) -> str:
    """Return what the first parameter of an analysis is: "scores", "several" of them, their "power", or "measures".

    Parameters
    ----------
    function : callable

    Returns
    -------
    str
    """
    from metaeval.analyses.discriminative_power import DiscriminativePower
    from metaeval.data.scores import Scores

    name = next(iter(inspect.signature(function).parameters))
    hint = get_type_hints(function)[name]
    if hint is Scores:
        return "scores"
    if hint is DiscriminativePower:
        return "power"
    if Scores in get_args(hint):
        return "several"
    if name == "measures":
        return "measures"
    raise TypeError(f"{function.__name__} takes {name}, of which the command line knows nothing")


def read_parameters(function: Function) -> Iterator[Parameter]:
    """Yield the parameters of an analysis after its first one, as the command line takes them.

    Parameters
    ----------
    function : callable

    Yields
    ------
    Parameter

    Raises
    ------
    TypeError
        If one has a type that cannot be read from the command line.
    """
    hints, said = get_type_hints(function), parse_docstring(function).parameters
    for one in list(inspect.signature(function).parameters.values())[1:]:
        flags = spell(one.name) if one.kind is one.KEYWORD_ONLY else ()
        annotation, convert, choices = _read_type(hints[one.name], flags)
        text = said.get(one.name) or HELP.get(one.name, "")
        if choices and not all(choice in text for choice in choices):
            text = ". ".join(part for part in (_either(choices), text) if part)
        yield Parameter(one.name, flags, annotation, one.default, text, convert)


def _read_type(hint: Any, flags: tuple[str, ...]) -> tuple[Any, Function | None, tuple[str, ...]]:
    """Return the type to read, what makes the argument of it, and the choices if there are only some."""
    from metaeval.measures.base import Measure

    inner = [one for one in get_args(hint) if one is not NoneType]
    if hint in (bool, int, float, str):
        return hint, None, ()
    if get_origin(hint) is Literal:
        return str, None, get_args(hint)  # the function itself refuses another one, in its words
    if Measure in inner:
        from metaeval.cli.measures import find_measures

        return list[str], find_measures, ()
    if NoneType in get_args(hint) and len(inner) == 1:
        if inner[0] == Sequence[int]:
            return str | None, lambda text: _read_numbers(text, flags[0]), ()
        annotation, convert, choices = _read_type(inner[0], flags)
        return annotation | None, convert, choices
    raise TypeError(f"{hint} cannot be read from the command line")


def _read_numbers(text: str | None, flag: str) -> list[int] | None:
    from metaeval.errors import MetaevalError

    try:
        return None if text is None else [int(number) for number in text.split(",")]
    except ValueError:
        raise MetaevalError(f"{flag} {text}: whole numbers with commas, such as 10,25,50") from None


def _either(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def _write_help(function: Function, examples: Iterable[str]) -> str:
    said = parse_docstring(function)
    shown = "\n".join(f"  metaeval {example}" for example in examples)
    # \b keeps the lines of the next paragraph as they are.
    return "\n\n".join(part for part in (said.question, said.details, f"\b\nExamples:\n{shown}") if part)


def _load(reference: str) -> Function:
    module, _, name = reference.partition(":")
    function: Function = getattr(import_module(f"metaeval.{module}"), name)
    return function
