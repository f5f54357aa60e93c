"""The command line: ``metaeval --help``. Results go to stdout or files, everything else to stderr."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, NoReturn

import typer

from metaeval.cli import analyses, compare, data, properties, scores

# Imports of numpy and the like stand inside the commands, so that --help answers at once.

app = typer.Typer(
    name="metaeval",
    help="Can the measure itself be trusted? Meta-evaluation of evaluation measures.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
scores.register(app)
analyses.register(app)
compare.register(app)
properties.register(app)
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def _about(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        import metaeval

        print(metaeval.__version__)
        raise typer.Exit


def main() -> NoReturn:
    """Run the command line; whatever goes wrong ends in one sentence on stderr and a status that is not 0."""
    sys.exit(_run())


def _run() -> int:
    from metaeval.errors import MetaevalError, MetaevalWarning, visible

    warnings.showwarning = lambda message, *_, **__: print(f"metaeval: note: {visible(str(message))}", file=sys.stderr)
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", MetaevalWarning)
    try:
        app()
    except MetaevalError as error:
        return _failed(str(error), 2)
    except KeyboardInterrupt:
        return _failed("stopped", 130)
    except BrokenPipeError:
        # The reader, `head` for instance, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError:
        return _failed("there is not enough memory for data of this size", 2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _failed(f"{where}{error.strerror or error}", 2)
    except Exception as error:
        if os.environ.get("METAEVAL_DEBUG"):
            raise
        return _failed(f"this is a bug: {type(error).__name__}: {error} (METAEVAL_DEBUG=1 shows where)", 70)
    return 0


def _failed(sentence: str, status: int) -> int:
    from metaeval.errors import visible

    print(f"metaeval: {visible(sentence)}", file=sys.stderr)
    return status
