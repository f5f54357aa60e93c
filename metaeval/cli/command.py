"""Commands: each is declared by its options, and called with their values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal, get_origin

import typer
from typer.core import TyperCommand

from metaeval.cli.options import OPTIONS, PHRASES, SHARED, Options, find_metavar
from metaeval.errors import option_names_in_use, use_option_names


class Values(SimpleNamespace):
    """What the command line says: every option's value, in `stated` the names of those that stand there, and the `context`."""


def add_command(app: typer.Typer, name: str, run: Callable[[Any], None], options: Options) -> None:
    """Add the command that calls a function with its values; its help is the function's docstring."""
    app.command(name, cls=Command)(make_function(run, options, run.__doc__ or ""))


def make_command(run: Callable[[Any], None], options: Options, help: str) -> Any:
    """Return such a command on its own."""
    settings = {"help_option_names": ["-h", "--help"]}
    app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=settings)
    app.command(cls=Command)(make_function(run, options, help))
    return typer.main.get_command(app)


def make_function(run: Callable[[Any], None], options: Options, help: str) -> Callable[..., None]:
    """Return a function with the signature of which typer makes a command."""

    def call(context: typer.Context, **values: Any) -> None:
        stated = {name for name in values if _is_stated(context, name)}
        if "columns" in values:  # given twice, it is one list
            values["columns"] = ",".join(values["columns"]) if values["columns"] else None
        run(Values(**values, stated=stated, context=context))

    call.__doc__ = help
    call.shared = {name for name, declared in options.items() if declared is OPTIONS.get(name)}  # type: ignore[attr-defined]
    for name, (annotation, _) in options.items():
        # The type of a value is no word for it: help says N, FILE or NAME.
        shown = annotation.__metadata__[0]
        if (
            shown.metavar is None
            and annotation.__origin__ is not bool
            and get_origin(annotation.__origin__) is not Literal
        ):
            shown.metavar = find_metavar(name, annotation.__origin__)
    call.__annotations__ = {"context": typer.Context} | {name: annotation for name, (annotation, _) in options.items()}
    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    others = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        for name, (annotation, default) in options.items()
    ]
    call.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
    return call


def _is_stated(context: typer.Context, name: str) -> bool:
    """Say whether an option stands on the command line, and not only its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


class Command(TyperCommand):
    """A command whose messages speak of its own options: its parameters have the names of functions' arguments."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and the command's own options, and name those that ``metaeval help`` explains."""
        topics = {
            name: topic
            for topic, names in SHARED.items()
            for name in names
            if name in getattr(self.callback, "shared", ())
        }
        rows: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        shared: dict[str, list[str]] = {topic: [] for topic in SHARED}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            topic = topics.get(parameter.name or "")
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                rows["Arguments"].append((getattr(parameter, "metavar", None) or parameter.name, record[1]))
            elif topic is None:
                rows["Options"].append(record)
            else:
                shared[topic].append(parameter.opts[0])
        rows["Explained by"] = [
            (f"metaeval help {topic}", ", ".join(names)) for topic, names in shared.items() if names
        ]
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        flags = {
            parameter.name: parameter.opts[0]
            for parameter in self.params
            if parameter.name and parameter.param_type_name == "option"
        }
        with option_names(flags):
            return super().invoke(ctx)


@contextmanager
def option_names(names: dict[str, str]) -> Iterator[None]:
    """Let messages call these arguments by these options, besides those in use, while the context lasts."""
    before = option_names_in_use()
    use_option_names({**PHRASES, **before, **names})
    # An error is shown after the command has ended, but its message was made while it ran.
    try:
        yield
    finally:
        use_option_names(before)
