"""The command that explains what many commands share, once for all of them: help."""

from __future__ import annotations

from typing import Any

import typer

from metaeval.cli.command import Values, make_command
from metaeval.cli.complete import complete_choice
from metaeval.cli.options import OPTIONS, SHARED, argument
from metaeval.cli.output import print_text
from metaeval.errors import MetaevalError

INTRODUCTIONS = {
    "reading": "How files are read. Every command that reads scores takes these options, and they hold for the file of "
    "a --reference too; the help of a command names those that it takes. `metaeval inspect FILE` says how a file is "
    "read and what it lacks.",
    "output": "What is printed and written. The answer and its tables go to stdout, notes and progress to stderr.",
}
"""What stands above the options of each topic."""

EXPLAIN = {
    "topic": argument(
        str | None,
        f"{', '.join(INTRODUCTIONS)}, or the name of a command",
        metavar="[TOPIC]",
        default=None,
        complete=complete_choice([*INTRODUCTIONS]),
    )
}


def explain(values: Values) -> None:
    """How are files read, and what is printed: the options that commands share.

    \b
    Examples:
      metaeval help reading
      metaeval help output
      metaeval help power
    """
    context = values.context.find_root()
    if values.topic in INTRODUCTIONS:
        print_text(explain_topic(values.topic, context), end="")
        return
    command = context.command if values.topic is None else context.command.get_command(context, values.topic)
    if command is None:
        raise MetaevalError(f"there is no topic or command {values.topic!r}: metaeval help lists the commands")
    if values.topic is not None:
        context = command.make_context(values.topic, [], context, resilient_parsing=True)
    print_text(context.get_help())


def explain_topic(topic: str, context: Any) -> str:
    """Return what the options of a topic do."""
    command = make_command(explain, {name: OPTIONS[name] for name in SHARED[topic]}, "")
    formatter = context.make_formatter()
    formatter.write_text(INTRODUCTIONS[topic])
    with formatter.section("Options"):
        own = typer.Context(command)
        formatter.write_dl([one.get_help_record(own) for one in command.params if one.name in SHARED[topic]])
    return str(formatter.getvalue())
