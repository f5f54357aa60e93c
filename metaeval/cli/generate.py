"""From a function to its command: what it takes, what is called, and what is shown."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from metaeval.cli.analyses import ANALYSES, Analysis
from metaeval.cli.docstrings import find_question, parse_docstring
from metaeval.cli.options import (
    DIRECTIONS,
    OPENING,
    PAIRS,
    Cluster,
    Command,
    MeasureArguments,
    MeasureNames,
    Out,
    Resume,
    Source,
    Sources,
    Style,
    format_name,
    parse_columns,
    parse_directions,
    spell,
)
from metaeval.cli.output import check_output, show_results, working
from metaeval.cli.parameters import Function, Parameter, find_input, read_parameters

if TYPE_CHECKING:
    from metaeval.data.scores import Scores

GROUPS = {
    "Start here": ("compare", "score", "ranks", "data"),
    "How a measure behaves on runs": (
        "similarity", "consistency", "power", "overlap", "contradictions", "baselines", "robustness",
    ),
    "Whether it is right": ("agreement", "coverage", "judges"),
    "What its formula does": ("measures", "properties", "app"),
    "How many topics it needs": ("sample-size", "topic-set-size"),
    "Files and references": ("convert", "cite"),
}  # fmt: skip
"""The commands by subject, as ``metaeval --help`` shows them; others follow under a heading of their own."""

_POWER = "analyses.discriminative_power:discriminative_power"


class LazyGroup(TyperGroup):
    """The commands written by hand, and those made of analyses, which are imported when their command is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, analysis in ANALYSES.items():
            self.add_command(_LazyCommand(name, analysis))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by subject, with the whole question that each answers, which may need two lines."""
        left = dict(self.commands)
        groups = {title: [name for name in names if name in left] for title, names in GROUPS.items()}
        grouped = {name for names in groups.values() for name in names}
        groups["More"] = [name for name in left if name not in grouped]
        width = max(map(len, left))
        for title, names in groups.items():
            rows = [(name.ljust(width), left[name].get_short_help_str(limit=1000)) for name in names]
            if rows:
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

    def run(context: typer.Context, **values: Any) -> None:
        _run(plan, values, {name for name in values if _is_stated(context, name)})

    declared = plan.declare()
    run.__doc__ = _write_help(plan.main, analysis.examples)
    run.__annotations__ = {"context": typer.Context, **{key: annotation for key, (annotation, _) in declared.items()}}
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
            *(
                inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
                for key, (annotation, default) in declared.items()
            ),
        ]
    )
    app = typer.Typer(
        add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
    )
    app.command(name, cls=Command)(run)
    return typer.main.get_command(app)


_UNSEEN = {"n_bootstrap": 0, "confidence": 0.95}
"""Arguments of discriminative power where only what follows from it is shown: its intervals are not computed."""


@dataclass(frozen=True)
class _Plan:
    """What a command calls. `before` makes what `main` takes of scores; a switch calls another function in its place."""

    name: str
    main: Function
    takes: str
    before: Function | None
    switches: dict[str, Function]
    pool: Function | None
    pairs: str

    @property
    def several(self) -> bool:
        return self.takes == "several" or self.pool is not None

    def parameters(self) -> dict[tuple[str, ...], Parameter]:
        """Return the parameters of all functions; those that are spelled alike are one."""
        found: dict[tuple[str, ...], Parameter] = {}
        for function in (self.before, self.main, *self.switches.values(), self.pool):
            for one in self._read(function) if function else ():
                found.setdefault(one.spelling, one)
        return found

    def _read(self, function: Function) -> list[Parameter]:
        """Return the parameters of a function, without those that only matter for the result that is not shown."""
        return [one for one in read_parameters(function) if function is not self.before or one.name not in _UNSEEN]

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
                declared |= {"cluster": (Cluster, None), "resume": (Resume, None)}
        for switch, function in self.switches.items():
            question = parse_docstring(function).question
            declared[switch] = (Annotated[bool, typer.Option(*spell(switch), help=question)], False)
        if self.takes != "measures":
            declared |= OPENING | DIRECTIONS
        if self.pairs:
            declared[self.pairs] = (PAIRS[self.pairs], None)
        return declared | {"style": (Style, "text"), "out": (Out, None)}

    def refuse_unused(self, stated: set[str], called: Iterable[Function | None], when: str) -> None:
        """Refuse an option that stands on the command line although no function that is called takes it."""
        from metaeval.errors import MetaevalError

        used = {one.spelling for function in (self.before, *called) if function for one in self._read(function)}
        for spelling, one in self.parameters().items():
            if one.name in stated and spelling not in used:
                raise MetaevalError(f"{spelling[0]} does nothing {when}")

    def call(self, function: Function, subject: object, values: dict[str, Any]) -> Any:
        """Call a function with what the command line says of its parameters."""
        known = self.parameters()
        arguments = {one.name: values[known[one.spelling].name] for one in self._read(function)}
        if function is self.before:
            arguments |= _UNSEEN
        # What is refused before work begins is refused before progress is shown, however long connecting takes.
        with (
            _keep(values.get("resume")),
            _spread(arguments, values.get("cluster")) as arguments,
            working(function.__name__.replace("_", " ")),
        ):
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
        analysis.pairs,
    )


def _is_stated(context: typer.Context, name: str) -> bool:
    """Say whether an option stands on the command line, and not only its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _run(plan: _Plan, values: dict[str, Any], stated: set[str]) -> None:
    """Open what the command is about, call its functions, and show their results."""
    from metaeval.errors import MetaevalError

    style, out = values["style"], values["out"]
    pairs = values.get(plan.pairs)
    check_output(style, out, pairs)
    for one in plan.parameters().values():
        if one.convert is not None:
            values[one.name] = one.convert(values[one.name])
        if one.opens:
            names = one.opens == "files or names"
            values[one.name] = open_named(values[one.name], values["missing"], values["format"], names=names)
    switch = next((one for one in plan.switches if values[one]), "")
    function, name = (plan.switches[switch], f"{plan.name}-{switch}") if switch else (plan.main, plan.name)
    if plan.takes == "measures":
        show_results({name: plan.call(function, values["measures"], values)}, style, out)
        return
    sources = values["source"] if plan.several else [values["source"]]
    pool = plan.pool if len(sources) > 1 else None
    plan.refuse_unused(stated, [function, pool], f"with {spell(switch)[0]}" if switch else "with a single source")
    scores = _open(sources, values)
    if plan.takes == "several":
        show_results({name: plan.call(function, scores if len(scores) > 1 else scores[0], values)}, style, out)
        return
    if pairs is not None and len(sources) > 1:
        raise MetaevalError(f"{spell(plan.pairs)[0]} is for a single source: a file for each needs a call for each")
    # Whatever may go wrong comes before anything is shown.
    results = [_analyse(plan, function, one, values) for one in scores]
    if pairs is not None:
        with working(f"writing {pairs}"):
            getattr(results[0], f"write_{plan.pairs}")(pairs)
        print(f"wrote {pairs}", file=sys.stderr)
    named = {name: results[0]} if len(results) == 1 else {}
    for number, (source, result) in enumerate(zip(sources, results, strict=True) if not named else (), start=1):
        own = f"{name}-{format_name(getattr(result, 'collection', '') or source) or number}"
        named[f"{own}-{number}" if own in named else own] = result
    if pool is not None:
        named[f"pooled-{name}"] = plan.call(pool, results, values)
    show_results(named, style, out)


def _analyse(plan: _Plan, function: Function, scores: Scores, values: dict[str, Any]) -> Any:
    subject: Any = scores
    if plan.before is not None:
        subject = plan.call(plan.before, subject, values)
    return plan.call(function, subject, values)


def _open(sources: list[str], values: dict[str, Any]) -> list[Scores]:
    """Open sources with the measures that were asked for, those that they are held against, and stated directions."""
    from metaeval.data.scores import Scores, state_directions
    from metaeval.datasets.open import open_scores
    from metaeval.io.strict_json import parse_once
    from metaeval.measures.resolve import resolve_measures

    wanted = None
    if values["measure"]:
        held = values.get("reference", ())
        held = held if isinstance(held, list | tuple) else [held]
        named = [*values["measure"], *(one for one in held if isinstance(one, str))]
        wanted = resolve_measures(dict.fromkeys(named), labels=())
    opening = {name: values[name] for name in OPENING}
    opening["columns"] = parse_columns(opening["columns"])
    stated = parse_directions(*(values[name] for name in DIRECTIONS))
    opened = []
    with parse_once():
        for source in sources:
            with working(f"reading {source}"):
                opened.append(open_scores(source, wanted, **opening))
    # References of their own have a direction too, which the same options state.
    said = values.get("reference")
    references = [one for one in (said if isinstance(said, list) else [said]) if isinstance(one, Scores)]
    turned = state_directions([*opened, *references], **stated, missing=opening["missing"])
    if references:
        held = turned[len(opened) :]
        values["reference"] = held if isinstance(said, list) else held[0]
    return turned[: len(opened)]


def open_named(said: str | list[str] | None, missing: Any, format: str | None = None, *, names: bool = True) -> Any:
    """Return the scores that an option names; a text that is no file may be the name of a measure."""
    from metaeval.datasets.open import open_scores
    from metaeval.errors import DataError
    from metaeval.files import is_standard_input
    from metaeval.io.detect import FormatError

    def open_one(name: str) -> Scores:
        try:
            return open_scores(name, missing=missing)
        except FormatError:  # what is said of the sources holds for a file that does not tell its format itself
            if format is None:
                raise
            return open_scores(name, missing=missing, format=format)

    if not said:
        return None
    texts = [said] if isinstance(said, str) else said
    there = [not names or is_standard_input(one) or os.path.exists(os.path.expanduser(one)) for one in texts]
    if any(there) and not all(there):
        lacking = texts[there.index(False)]
        raise DataError(
            f"there is no file {lacking}: several references are a file for each collection, in their order"
        )
    found = [open_one(one) for one in texts] if all(there) else texts
    return found[0] if isinstance(said, str) else found


@contextmanager
def _spread(arguments: dict[str, Any], cluster: str | None) -> Iterator[dict[str, Any]]:
    """Ask for as many threads as the user said, or for all that the cluster has."""
    if cluster is None or "n_jobs" not in arguments:
        yield arguments
        return
    from metaeval.stats.parallel import on_cluster

    with on_cluster(cluster):
        yield {**arguments, "n_jobs": -1}


def _keep(folder: Path | None) -> AbstractContextManager[None]:
    """Keep finished work in a folder, if there is one."""
    if folder is None:
        return nullcontext()
    from metaeval.stats.parallel import resumable

    return resumable(folder)


def _write_help(function: Function, examples: Iterable[str]) -> str:
    said = parse_docstring(function)
    shown = "\n".join(f"  metaeval {example}" for example in examples)
    # \b keeps the lines of the next paragraph as they are.
    return "\n\n".join(part for part in (said.question, said.details, f"\b\nExamples:\n{shown}") if part)


def _load(reference: str) -> Function:
    module, _, name = reference.partition(":")
    function: Function = getattr(import_module(f"metaeval.{module}"), name)
    return function
