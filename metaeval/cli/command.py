"""Commands: each is its options, in sections of a help, and the function that is called with their values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import click

from metaeval.cli.options import PHRASES, SECTIONS, Options
from metaeval.errors import option_names_in_use, use_option_names

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Values(SimpleNamespace):
    """What the command line says: the value of every option, and in `stated` the names of those that stand there."""


class Command(click.Command):
    """A command whose messages speak of its own options: its parameters have the names of functions' arguments."""

    def __init__(self, name: str, run: Callable[[Values], None], options: Options, help: str = "") -> None:
        params = [declare(each) for each, declare in options.items()]
        super().__init__(
            name, context_settings=SETTINGS, params=params, help=inspect.cleandoc(help or run.__doc__ or "")
        )
        self.run = run

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments, the command's own options, and then those that it shares with others, by subject."""
        rows: dict[str, list[Any]] = {"Arguments": [], "Options": [], **{title: [] for title in SECTIONS}}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Argument):
                required = "  [required]" * parameter.required
                rows["Arguments"].append((parameter.metavar or parameter.name, f"{parameter.text}{required}"))  # type: ignore[attr-defined]
            elif record := parameter.get_help_record(ctx):
                rows[next((title for title, names in SECTIONS.items() if parameter.name in names), "Options")].append(
                    record
                )
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> None:
        """Run the command."""
        options = [parameter for parameter in self.params if isinstance(parameter, click.Option)]
        stated = {
            name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        }
        given = {
            name: (list(value) or None) if isinstance(value, tuple) else value for name, value in ctx.params.items()
        }
        if given.get("columns"):  # given twice, it is one list
            given["columns"] = ",".join(given["columns"])
        with (
            option_names({str(one.name): one.opts[0] for one in options}),
            _defused(given.get("defuse_formulas", False)),
        ):
            self.run(Values(**given, stated=stated))


class Group(click.Group):
    """Commands by subject, with the whole question that each answers; without a command it shows its help."""

    def __init__(self, name: str, help: str, groups: dict[str, tuple[str, ...]], **settings: Any) -> None:
        super().__init__(name, help=help, invoke_without_command=True, context_settings=SETTINGS, **settings)
        self.groups = groups

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by subject; others follow under a heading of their own."""
        others = tuple(name for name in self.commands if not any(name in names for names in self.groups.values()))
        width = max(map(len, self.commands))
        for title, names in {**self.groups, "More" if self.groups else "Commands": others}.items():
            rows = [(name.ljust(width), self.commands[name].get_short_help_str(limit=1000)) for name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is named."""
        if not ctx._protected_args:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
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


def _defused(defused: bool) -> Any:
    if not defused:
        return nullcontext()
    from metaeval.show.formulas import defused_formulas

    return defused_formulas()
