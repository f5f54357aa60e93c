"""What commands print and write: tables to stdout, files to --out, progress and notes to stderr."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metaeval.analyses.result import Result
    from metaeval.data.scores import Scores
    from metaeval.show.table import Table

_STYLES = ("text", "csv", "md", "latex", "json")


def check_output(style: str, out: Path | None) -> None:
    """Refuse an unknown format, and a folder that cannot be written, before anything is computed."""
    from metaeval.errors import MetaevalError

    if style not in _STYLES:
        raise MetaevalError(f"there is no format {style!r}: use {', '.join(_STYLES)}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK):
            raise MetaevalError(f"{out}: the folder cannot be written")


def check_target(target: Path) -> None:
    """Refuse a target for scores that does not tell its format, before anything is computed."""
    from metaeval.datasets.open import is_store
    from metaeval.errors import MetaevalError

    if target.suffix.lower() not in (".csv", ".tsv", ".parquet", ".pq") and not is_store(target):
        raise MetaevalError(
            f"{target}: its name does not tell a format; write a .csv, .tsv or .parquet file, or add to an existing "
            "store (metaeval convert --to makes one, and other formats)"
        )
    if not target.absolute().parent.is_dir():
        raise MetaevalError(f"{target}: there is no folder {target.parent}")


_PATIENCE = 2.0  # seconds after which a user wants to see that something happens


def show(table: Table, style: str) -> None:
    """Print a table to stdout; CSV holds numbers only, so its signature goes to stderr."""
    if style == "json":
        print(json.dumps(table.to_dict(), ensure_ascii=False, indent=1))
        return
    print(table.render(style), end="")
    if style == "csv":
        print(table.signature, file=sys.stderr)


def show_result(result: Result, style: str, out: Path | None, name: str) -> None:
    """Print a result with what it has to add, and with --out write its table, its rows and its figure into a folder."""
    if style == "json":
        print(json.dumps(result.to_dict(), ensure_ascii=False, indent=1))
    elif style == "csv":
        from metaeval.show.table import format_csv

        print(format_csv(result.to_frame()), end="")
        print(result.signature, file=sys.stderr)
    else:
        print(result.to_table().render(style), end="")
        for table in result.detail_tables():
            print(f"\n{table.render(style)}", end="")
    if out is not None:
        write_result(result, out, name)


def print_notes(notes: Iterable[str]) -> None:
    """Print on stderr what a reader of results has to know, a line each, and each once."""
    from metaeval.errors import shorten, visible

    for note in dict.fromkeys(notes):
        print(f"metaeval: note: {visible(shorten(note))}", file=sys.stderr)


def write_result(result: Result, out: Path, name: str) -> None:
    """Write NAME.csv (every row), NAME.md, NAME.tex, NAME.json, NAME.png and NAME.svg into a folder."""
    from metaeval.files import write_atomically
    from metaeval.show.drawing import save_figure
    from metaeval.show.table import format_csv

    result.to_table().write(out, name)
    write_atomically(out / f"{name}.csv", format_csv(result.to_frame()))
    write_atomically(out / f"{name}.json", json.dumps(result.to_dict(), ensure_ascii=False, indent=1))
    save_figure(result.plot(), out, name)
    print(f"wrote {name}.csv, .md, .tex, .json, .png and .svg into {out}", file=sys.stderr)


def write_scores(scores: Scores, target: Path, to_format: str | None = None) -> None:
    """Write scores to a file or folder, or add them to a store."""
    from metaeval.data.store import ScoreStore
    from metaeval.datasets.open import is_store
    from metaeval.io import write_scores as write

    if to_format == "store" or (to_format is None and is_store(target)):
        ScoreStore(target).add(scores)
    else:
        write(scores, target, format=to_format)
    print(f"wrote {scores!r} to {target}", file=sys.stderr)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on stderr, after two seconds, what is going on and for how long; nothing where nobody watches."""
    done = threading.Event()

    def watch() -> None:
        began = time.monotonic()
        if done.wait(_PATIENCE):
            return
        from rich.console import Console
        from rich.status import Status

        console = Console(stderr=True)
        if not console.is_terminal:
            print(f"metaeval: {what} …", file=sys.stderr)
            return
        with Status(what, console=console) as status:
            while not done.wait(0.5):
                status.update(f"{what}: {time.monotonic() - began:.0f} s")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def print_problem(sentence: str, status: int = 2) -> int:
    """Say on stderr what went wrong, and return the status with which to end."""
    from metaeval.errors import visible

    print(f"metaeval: {visible(sentence)}", file=sys.stderr)
    return status


def version_line() -> str:
    """Return what stands in for a signature where nothing was computed."""
    import metaeval

    return f"metaeval {metaeval.__version__}"
