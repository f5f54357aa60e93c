"""What commands print and write: tables to stdout, files to --out, progress and notes to stderr."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from metaeval.cli.options import STYLES
from metaeval.errors import MetaevalError, format_count, one_line, shorten, visible
from metaeval.show.cells import Grid, draw_text, wrap_text
from metaeval.show.latex import WIDTHS, Width

if TYPE_CHECKING:
    from metaeval.analyses.result import Result
    from metaeval.show.table import Table

_PATIENCE = 2.0  # seconds after which a user wants to see that something happens

FEW_NOTES = 2
"""Notes that a command prints unless ``--explain`` asks for all."""

NARROW = 80
"""Columns of a table that is short enough to be read everywhere, also where stdout is no terminal."""


def check_output(style: str, out: Path | None = None, width: str | None = None, rows: Path | None = None) -> None:
    """Refuse an unknown format or width, and a folder or file that cannot be written, before anything is computed."""
    if style not in STYLES:
        raise MetaevalError(f"there is no format {style!r}: use {', '.join(STYLES)}")
    if out is not None:
        from metaeval.files import check_folder

        check_folder(out)
    if rows is not None:
        from metaeval.show.frames import check_rows_file

        check_rows_file(rows)
    if width not in (None, *WIDTHS):
        raise MetaevalError(f"there is no width {width!r}: use {' or '.join(WIDTHS)}")
    if width is not None and style != "latex" and out is None:
        raise MetaevalError("--width does nothing without --format latex or --out")


def print_text(text: str, *, end: str = "\n", data: bool = False) -> None:
    """Print on stdout with control characters spelled out; data for another program are changed at a terminal only."""
    print(text if data and not sys.stdout.isatty() else visible(text), end=end)


def print_status(sentence: str) -> None:
    """Print on stderr with control characters spelled out: names come from files, and could steer a terminal."""
    print(visible(sentence), file=sys.stderr)


def print_problem(sentence: str, status: int = 2) -> int:
    """Say on stderr what went wrong, and return the status with which to end."""
    print_status(f"metaeval: {sentence}")
    return status


def print_note(sentence: str) -> None:
    """Print a note on stderr, in lines that a terminal can hold."""
    width = terminal_width(sys.stderr) or sys.maxsize
    print("\n".join(wrap_text(f"metaeval: note: {visible(sentence)}", width)), file=sys.stderr)


def print_notes(notes: Iterable[str], most: int | None = None) -> None:
    """Print on stderr what a reader of results has to know, a line each, and each once; or only the first ones."""
    different = list(dict.fromkeys(notes))
    for note in different[:most]:
        print_note(shorten(note))
    if most is not None and len(different) > most:
        print_status(f"metaeval: {format_count(len(different) - most, 'more note')} with --explain")


def print_answer(sentence: str) -> None:
    """Print what a command answers, above its tables."""
    print_text("\n".join(wrap_text(sentence, terminal_width(sys.stdout) or NARROW)) + "\n")


def terminal_width(stream: TextIO) -> int | None:
    """Return how many columns a stream's terminal has; None if it is none, so that nothing has to fit."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def show(table: Table, style: str) -> None:
    """Print a table to stdout; CSV holds numbers only, so its signature goes to stderr."""
    if style == "json":
        _print_json(table.to_dict())
        return
    print_text(render(table, style), end="", data=style != "text")
    if style == "csv":
        print_status(str(table.signature))


def render(table: Table, style: str = "text", *, explain: bool = True) -> str:
    """Return a table in a style; text fits a terminal, or where stdout is none, a narrow one."""
    if style != "text":
        return {"csv": table.to_csv, "md": table.to_markdown, "latex": table.to_latex}[style]()
    return table.to_text(terminal_width(sys.stdout) or NARROW, explain=explain)


def show_texts(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str, style: str) -> None:
    """Print a table of texts, of which nothing was computed; as text, as wide as the terminal."""
    import metaeval

    version = f"metaeval {metaeval.__version__}"
    if style == "text":
        width = terminal_width(sys.stdout) or sys.maxsize
        cells = [list(map(one_line, row)) for row in rows]
        grid = Grid([*columns], cells, [True] * len(columns))
        print_text("\n".join([*wrap_text(caption, width), "", draw_text(grid, width), "", version, ""]), end="")
        return
    import pandas as pd

    from metaeval.show.table import Table

    show(Table(pd.DataFrame(rows, columns=[*columns]).set_index(columns[0]), caption, version), style)


def show_results(
    results: dict[str, Result], style: str, out: Path | None, *, explain: bool = False, width: Width | None = None
) -> None:
    """Print results, the answer first, and with --out write all of them, by name, into a folder."""
    if out is not None:
        _write_results(results, out, width)
    if style == "latex":
        from metaeval.show.table import join_latex

        tables = [table for result in results.values() for table in result.at("paper")]
        print_text(join_latex(tables, width or "column"), end="", data=True)
    else:
        for result in results.values():
            _show_result(result, style, out, explain, among_others=len(results) > 1)
    if explain or style != "text":
        print_notes(note for result in results.values() for note in result.notes())
    else:
        print_notes((note for result in results.values() for note in result.notes(short=True)), FEW_NOTES)


def _show_result(result: Result, style: str, out: Path | None, explain: bool, *, among_others: bool) -> None:
    """Print a result: its answer, then few tables or with `explain` all of them, and one signature."""
    if style == "json":
        _print_json(result.to_dict())
    elif style == "csv":
        from metaeval.show.frames import format_csv

        first, *details = result.frames().items()
        print_text(format_csv(first[1]), end="", data=True)
        print_status(str(result.signature))
        if out is None and details:
            more = ", ".join(detail.replace("_", " ") for detail, _ in details)
            print_note(f"--out and --format json have more: {more}")
    elif style == "text":
        if result.answer():
            collection = getattr(result, "collection", "") if among_others else ""
            print_answer(f"{collection}: {result.answer()}" if collection else result.answer())
        tables = result.at("all" if explain else "short")
        tables = [*(replace(table, signature="") for table in tables[:-1]), *tables[-1:]]
        print_text("\n".join(render(table, explain=explain) for table in tables), end="")
    else:
        print_text("\n".join(render(table, style) for table in result.at("paper")), end="", data=True)


def _print_json(content: dict[str, Any]) -> None:
    # Where stdout cannot hold every letter, JSON has escapes of its own; those of the stream would damage it.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print_text(json.dumps(content, ensure_ascii=plain, indent=1), data=True)


def _write_results(results: dict[str, Result], out: Path, width: Width | None) -> None:
    """Write all tables, NAME.json and all figures of all results, or nothing; details of former results go."""
    from metaeval.files import write_atomically, write_together
    from metaeval.show.drawing import save_figure

    former = []
    for name in results:
        try:
            details = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))["details"]
            former += [f"{name}-{detail.replace('_', '-')}.csv" for detail in details if detail.isidentifier()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    with write_together(out, instead_of=former) as where:
        aside = Path(where)
        for name, result in results.items():
            result.write_tables(aside, name, width or "column")
            write_atomically(aside / f"{name}.json", json.dumps(result.to_dict(), ensure_ascii=False, indent=1))
            save_figure(result.plot(size=width), aside, name, suffixes=(".png", ".svg", ".pdf"))
    for name, result in results.items():
        details = [f"{name}-{detail.replace('_', '-')}" for detail in [*result.frames()][1:]]
        tables = ", ".join(f"{file}.csv" for file in [name, *details])
        print_status(f"wrote {tables}, {name}.tex, .json, .png, .svg and .pdf into {out}")


@contextmanager
def working(what: str = "") -> Iterator[Progress]:
    """Show on stderr, after two seconds, what is done of how much, and how long the rest will take.

    Where nobody watches, one line says what is going on. What kernels state before long work, such as the memory that
    it takes, is printed at once.
    """
    from metaeval.stats.parallel import listen

    done, progress = threading.Event(), Progress(one_line(what))

    def watch() -> None:
        began = time.monotonic()
        if done.wait(_PATIENCE):
            return
        if not sys.stderr.isatty():
            if what:
                print_status(f"metaeval: {progress.title} …")
            return
        from rich.console import Console
        from rich.status import Status
        from rich.text import Text

        with Status(Text(progress.title), console=Console(stderr=True)) as status:
            while not done.wait(0.5):
                state = progress.describe() or f"{time.monotonic() - began:.0f} s"
                status.update(Text(f"{progress.title}: {state}"))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with listen(progress.hear):
            yield progress
    finally:
        done.set()
        watcher.join()


class Progress:
    """What was last heard of the work that is going on, and how fast it goes."""

    def __init__(self, title: str = "") -> None:
        self.title, self.what, self.done, self.total, self.began, self.first = title, "", 0, 0, 0.0, 0

    def say(self, step: str) -> None:
        """Take the name of a step: it stands where somebody watches, and is a line of its own otherwise."""
        self.title, self.total = one_line(step), 0
        if not sys.stderr.isatty():
            print_status(f"metaeval: {self.title}")

    def hear(self, what: str, done: int, total: int) -> None:
        """Take how far the work has come; 0 of 0 is something to know before it starts."""
        if not total:
            print_note(what)
            return
        if what != self.what or done < self.done:
            # The rate counts from here: what came before the first call may have been other work.
            self.began, self.first = time.monotonic(), done
        self.what, self.done, self.total = what, done, total

    def describe(self) -> str:
        """Return how far the work has come, and an estimate of the time that is left; empty if nothing was heard."""
        if not self.total:
            return ""
        state = f"{self.what}, {self.done:,} of {self.total:,}"
        if self.done == self.first:
            return state
        left = (time.monotonic() - self.began) / (self.done - self.first) * (self.total - self.done)
        return f"{state}, about {left:.0f} s left"
