"""The command line: ``metaeval --help``. Results go to stdout or files, everything else to stderr."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from metaeval.cli import compare, inspect, lookup, scores
from metaeval.cli.generate import SETTINGS, LazyGroup, add_commands
from metaeval.cli.gone import GONE
from metaeval.cli.output import print_note, print_problem, print_status
from metaeval.errors import MetaevalError, MetaevalWarning, UndefinedValueWarning

# Imports of numpy and the like stand inside the commands, so that --help answers at once.

_UsageError: Any = typer.BadParameter.__base__
"""What a command line that cannot be parsed raises; typer does not export its name."""

EXAMPLES = (
    "metaeval compare stc3-dq-a --measure my_measure.py:my_measure -o report/",
    "metaeval ranks scores.csv",
    "metaeval power trec-web-2013 --out power/",
    "metaeval measures NMD",
)
"""What a new user may want first; a test runs what needs no download."""

app = typer.Typer(
    name="metaeval",
    cls=LazyGroup,
    help="Can the measure itself be trusted? Meta-evaluation of evaluation measures.\n\n"
    "\b\nExamples:\n" + "\n".join(f"  {example}" for example in EXAMPLES),
    epilog="metaeval COMMAND --help explains a command, with examples. Scores: a file, a folder, a data set's name or -.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS | {"max_content_width": 100},
)
COMMANDS = {
    "measures": (lookup.show_measures, lookup.MEASURES),
    "cite": (lookup.print_citations, lookup.CITE),
    "score": (scores.score, scores.SCORE),
    "convert": (scores.convert, scores.CONVERT),
    "inspect": (inspect.inspect, inspect.INSPECT),
    "compare": (compare.compare, compare.COMPARE),
    "app": (lookup.start, lookup.APP),
    "help": (lookup.explain, lookup.HELP),
}
"""The commands written by hand, with their options; those of analyses are in `metaeval.cli.analyses`."""
add_commands(app, COMMANDS)
app.add_typer(lookup.data, name="data")


@app.callback(invoke_without_command=True)
def _start(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False
) -> None:
    if version:
        import metaeval

        print(metaeval.__version__)
        raise typer.Exit
    lookup.require_command(ctx)


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence on stderr and a status that is not 0."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek letters gets the numbers all the same
            stream.reconfigure(errors="backslashreplace")
    with _obey_sigterm() as arrived:
        status = _run()
    sys.exit(128 + signal.SIGTERM if arrived else status)


@contextmanager
def _obey_sigterm() -> Iterator[list[int]]:
    """Let SIGTERM stop the command as Ctrl-C does, so that it clears up what it has begun; the list says if it came.

    An exception that is raised while compiled code calls back into Python is lost: it is raised again every five seconds.
    """
    arrived: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield arrived
        return
    again = hasattr(signal, "setitimer")
    stopping = [signal.SIGTERM, *([signal.SIGALRM] if again else [])]

    def stop(number: int, _frame: object) -> NoReturn:
        arrived.append(number)
        if again:
            signal.setitimer(signal.ITIMER_REAL, 5)
        raise KeyboardInterrupt

    for each in stopping:
        signal.signal(each, stop)
    try:
        yield arrived
    finally:
        if again:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for each in stopping:
            signal.signal(each, signal.SIG_DFL)


def _run() -> int:
    undefined = _note_warnings()
    try:
        status = app(standalone_mode=False)
    except _UsageError as error:
        return print_problem(_describe_usage(error))
    except MetaevalError as error:
        return print_problem(f"{error}{_point_to_inspect(error)}")
    except KeyboardInterrupt:
        return print_problem("stopped", 130)
    except BrokenPipeError:
        # The reader, `head` for instance, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        return print_problem("there is not enough memory for data of this size")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return print_problem(f"{where}{error.strerror or error}")
    except Exception as error:
        if os.environ.get("METAEVAL_DEBUG"):
            raise
        return print_problem(f"this is a bug: {type(error).__name__}: {error} (METAEVAL_DEBUG=1 shows where)", 70)
    if len(undefined) > 1 and "--explain" not in sys.argv:
        print_status(f"metaeval: undefined values of {len(undefined) - 1} more measures with --explain")
    if status == 130:  # typer has caught Ctrl-C
        return print_problem("stopped", 130)
    return status if isinstance(status, int) else 0


def _note_warnings() -> list[str]:
    """Print each warning once; of those of undefined values only the first, unless all are asked for. Return these."""
    notes: set[str] = set()
    undefined: list[str] = []

    def note_once(message: object, *_: object, **__: object) -> None:
        if str(message) in notes:  # each of several steps may find the same
            return
        notes.add(str(message))
        if isinstance(message, UndefinedValueWarning):
            undefined.append(str(message))
        if len(undefined) < 2 or not isinstance(message, UndefinedValueWarning) or "--explain" in sys.argv:
            print_note(str(message))

    warnings.showwarning = note_once
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", MetaevalWarning)
    return undefined


def _point_to_inspect(error: Exception) -> str:
    """Return where to read more of a file of which it is not told what it holds, as the end of a sentence."""
    from metaeval.data.rows import DoubledError
    from metaeval.io.detect import FormatError
    from metaeval.io.layout import LayoutError

    file = getattr(error, "file", None)
    if not isinstance(error, DoubledError | FormatError | LayoutError) or not file or not os.path.exists(file):
        return ""
    return f"; metaeval inspect {shlex.quote(file)} shows what is in it"


def _describe_usage(error: Any) -> str:
    """Return in one sentence what is wrong with a command line that cannot be parsed, and where to read more."""
    unknown = getattr(error, "option_name", "")
    if instead := GONE.get(f"{error.ctx.info_name if error.ctx else ''} {unknown}") or GONE.get(unknown):
        return f"{unknown} is gone: {instead}"
    sentence = error.format_message().rstrip(".")
    sentence = sentence[:1].lower() + sentence[1:]
    option = next(iter(getattr(getattr(error, "param", None), "opts", ())), "")
    if sentence.startswith("invalid value") and option:  # followed by words of whichever library parsed it
        sentence = f"{option} takes a {'whole number' if 'integer' in sentence else 'number'}"
    return f"{sentence} (see {error.ctx.command_path} --help)" if error.ctx else sentence
