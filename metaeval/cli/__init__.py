"""The command line: ``metaeval --help``. Results go to stdout or files, everything else to stderr."""

from __future__ import annotations

import io
import os
import shlex
import sys
import warnings
from typing import Annotated, Any, NoReturn

import typer

from metaeval.cli import lookup, scores
from metaeval.cli.generate import SETTINGS, Command, LazyGroup, make_function
from metaeval.cli.output import NOTED, print_notes, print_status
from metaeval.errors import MetaevalError, MetaevalWarning

# Imports of numpy and the like stand inside the commands, so that --help answers at once.

_UsageError: Any = typer.BadParameter.__base__

EXAMPLES = (
    "metaeval compare stc3-dq-a --measure my_measure.py:my_measure -o report/",
    "metaeval ranks scores.csv",
    "metaeval power trec-web-2013 --out power/",
    "metaeval measures NMD",
)

app = typer.Typer(
    name="metaeval",
    cls=LazyGroup,
    help="Can the measure itself be trusted? Meta-evaluation of evaluation measures.\n\n"
    "\b\nExamples:\n" + "\n".join(f"  {example}" for example in EXAMPLES),
    epilog="metaeval COMMAND --help explains a command, with examples.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS | {"max_content_width": 100},
)
COMMANDS = {
    "measures": (lookup.show_measures, lookup.MEASURES),
    "cite": (lookup.print_citations, lookup.CITE),
    "score": (scores.score, scores.SCORE),
    "convert": (scores.convert, scores.CONVERT),
    "inspect": (lookup.inspect, lookup.INSPECT),
    "compare": (scores.compare, scores.COMPARE),
    "app": (lookup.start, lookup.APP),
    "data": (lookup.show_data, lookup.DATA),
    "help": (lookup.explain, lookup.HELP),
}
"""The commands written by hand, with their options; those of analyses are in `metaeval.cli.analyses`."""
for name, command in COMMANDS.items():
    app.command(name, cls=Command)(make_function(*command, command[0].__doc__ or ""))


@app.callback(invoke_without_command=True)
def _start(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False
) -> None:
    if version:
        import metaeval

        print(metaeval.__version__)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help(), file=sys.stderr)
        raise typer.Exit(2)


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence on stderr and a status that is not 0."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may lack Greek letters
            stream.reconfigure(errors="backslashreplace")
    NOTED.clear()

    def note_once(message: object, *_: object, **__: object) -> None:
        if str(message) not in NOTED:  # each of several steps may find the same
            print_notes([str(message)])
        NOTED.append(str(message))

    warnings.showwarning = note_once
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", MetaevalWarning)
    sys.exit(_run())


def _run() -> int:
    problem, status = "", 2
    try:
        status = app(standalone_mode=False) or 0
    except _UsageError as error:
        more = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        problem = f"{' '.join(error.format_message().split()).replace('Value error, ', '').rstrip('.')}{more}"
    except MetaevalError as error:
        # By the names of their classes, so that nothing is imported: it is not told what such a file holds.
        file, problem = getattr(error, "file", None), str(error)
        if type(error).__name__ in ("DoubledError", "FormatError") and file and os.path.exists(file):
            problem = f"{error}; metaeval inspect {shlex.quote(file)} shows what is in it"
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader, `head` for instance, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except MemoryError:
        problem = "there is not enough memory for data of this size"
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    except Exception as error:
        if os.environ.get("METAEVAL_DEBUG"):
            raise
        problem, status = f"this is a bug: {type(error).__name__}: {error} (METAEVAL_DEBUG=1 shows where)", 70
    if status == 130:  # Ctrl-C, which typer may have caught
        problem = "stopped"
    if problem:
        print_status(problem)
    return int(status)
