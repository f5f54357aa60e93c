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
from typing import Any, NoReturn

import click

from metaeval.cli import cite, compare, data, inspect, measures, playground, scores
from metaeval.cli.analyses import ANALYSES
from metaeval.cli.command import Command, Group
from metaeval.cli.generate import GROUPS, LazyCommand
from metaeval.cli.output import print_note, print_problem, print_status
from metaeval.cli.quick import COMPLETION, QUICK, import_later
from metaeval.errors import MetaevalError, MetaevalWarning, UndefinedValueWarning

# Imports of numpy and the like stand inside the commands, so that --help answers at once.

EXAMPLES = (
    "metaeval compare --measure my_measure.py:my_measure --data stc3-dq-a -o report/",
    "metaeval ranks scores.csv",
    "metaeval power trec-web-2013 --out power/",
    "metaeval measures NMD",
)
"""What a new user may want first; a test runs what needs no download."""


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        import metaeval

        print(metaeval.__version__)
        ctx.exit()


app = Group(
    "metaeval",
    "Can the measure itself be trusted? Meta-evaluation of evaluation measures.\n\n"
    "\b\nExamples:\n" + "\n".join(f"  {example}" for example in EXAMPLES),
    GROUPS,
    epilog="metaeval COMMAND --help explains a command, with examples. Scores: a file, a folder, a data set's name or -.",
    params=[click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
                         help="Print the version and stop.")],
)  # fmt: skip
for _command in (
    Command("measures", measures.show_measures, measures.MEASURES),
    Command("cite", cite.print_citations, cite.CITE),
    Command("score", scores.score, scores.SCORE),
    Command("convert", scores.convert, scores.CONVERT),
    Command("inspect", inspect.inspect, inspect.INSPECT),
    Command("compare", compare.compare, compare.COMPARE),
    Command("app", playground.start, playground.APP),
    data.app,
    *(LazyCommand(name, analysis) for name, analysis in ANALYSES.items()),
):
    app.add_command(_command)


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence on stderr and a status that is not 0."""
    with _obey_sigterm() as arrived:
        status = _run()
    sys.exit(128 + signal.SIGTERM if arrived else status)


@contextmanager
def _obey_sigterm() -> Iterator[list[int]]:
    """Let SIGTERM stop the command as Ctrl-C does, so that it clears up what it has begun; the list says if it came."""
    arrived: list[int] = []
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield arrived
        return

    def stop(number: int, _frame: object) -> NoReturn:
        arrived.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        yield arrived
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _run() -> int:
    if COMPLETION in os.environ or {"-h", "--help"}.intersection(sys.argv) or QUICK.intersection(sys.argv[1:2]):
        import_later("pandas")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Greek letters still gets the numbers
    undefined = _note_warnings()
    try:
        status = app(prog_name="metaeval", standalone_mode=False)
        _count_more(undefined)
    except click.UsageError as error:
        return print_problem(_describe_usage(error))
    except MetaevalError as error:
        return print_problem(f"{error}{_point_to_inspect(error)}")
    except (KeyboardInterrupt, click.Abort):
        return print_problem("stopped", 130)
    except BrokenPipeError:
        # The reader, `head` for instance, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        return print_problem("there is not enough memory for data of this size")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return print_problem(f"{where}{error.strerror or error}")
    except Exception as error:
        if os.environ.get("METAEVAL_DEBUG"):
            raise
        return print_problem(f"this is a bug: {type(error).__name__}: {error} (METAEVAL_DEBUG=1 shows where)", 70)
    else:
        return status if isinstance(status, int) else 0
    return 0


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


def _count_more(undefined: list[str]) -> None:
    if len(undefined) > 1 and "--explain" not in sys.argv:
        print_status(f"metaeval: undefined values of {len(undefined) - 1} more measures with --explain")


def _point_to_inspect(error: Exception) -> str:
    """Return where to read more of a file of which it is not told what it holds, as the end of a sentence."""
    from metaeval.data.cells import DoubledError
    from metaeval.io.detect import FormatError
    from metaeval.io.layout import LayoutError

    file = getattr(error, "file", None)
    if not isinstance(error, DoubledError | FormatError | LayoutError) or not file or not os.path.exists(file):
        return ""
    return f"; metaeval inspect {shlex.quote(file)} shows what is in it"


def _describe_usage(error: Any) -> str:
    """Return in one sentence what is wrong with a command line that cannot be parsed, and where to read more."""
    sentence = error.format_message().rstrip(".")
    sentence = sentence[:1].lower() + sentence[1:]
    option = next(iter(getattr(getattr(error, "param", None), "opts", ())), "")
    if sentence.startswith("invalid value") and option:  # followed by words of whichever library parsed it
        sentence = f"{option} takes a {'whole number' if 'integer' in sentence else 'number'}"
    return f"{sentence} (see {error.ctx.command_path} --help)" if error.ctx else sentence
