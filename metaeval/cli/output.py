"""What commands print and write: tables to stdout, files to --out, progress and notes to stderr."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from metaeval.errors import format_count, one_line, shorten, visible
from metaeval.show.cells import wrap_text
from metaeval.show.latex import Width

if TYPE_CHECKING:
    from metaeval.analyses.result import Result
    from metaeval.show.table import Table

FEW_NOTES = 2  # unless --explain asks for all
NOTED: list[str] = []  # what was warned of so far
NARROW = 80  # columns, where stdout is no terminal


def print_text(text: str, *, end: str = "\n", data: bool = False) -> None:
    """Print on stdout with control characters spelled out; data for another program are changed at a terminal only."""
    print(text if data and not sys.stdout.isatty() else visible(text), end=end)


def print_status(sentence: str) -> None:
    """Say on stderr what is going on, or went wrong; names in it come from files, and could steer a terminal."""
    print(visible(f"metaeval: {sentence}"), file=sys.stderr)


def print_notes(notes: Iterable[str], most: int | None = None) -> None:
    """Print on stderr what a reader of results has to know, each once, in lines that fit; or only the first ones."""
    width = terminal_width(sys.stderr) or sys.maxsize
    different = list(dict.fromkeys(notes))
    for note in different[:most]:
        print("\n".join(wrap_text(f"metaeval: note: {visible(shorten(note))}", width)), file=sys.stderr)
    if most is not None and len(different) > most:
        print_status(f"{format_count(len(different) - most, 'more note')} with --explain")


def print_answer(text: str) -> None:
    """Print what a command answers, above its tables; lines of a list hang."""
    width = terminal_width(sys.stdout) or NARROW
    for line in (*text.splitlines(), ""):
        indent = "  " * line.startswith("- ")
        print_text(f"\n{indent}".join(wrap_text(line, width - len(indent))))


def terminal_width(stream: TextIO) -> int | None:
    """Return how many columns a stream's terminal has; None if it is none, so that nothing has to fit."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def show(tables: Sequence[Table], style: str, *, explain: bool = True) -> None:
    """Print tables to stdout, with one signature as text; CSV holds numbers only, so that its signature goes to stderr."""
    from metaeval.show.table import Table

    if style == "text":
        width = terminal_width(sys.stdout) or NARROW
        unsigned = [replace(table, signature="") for table in tables[:-1]]
        print_text("\n".join(table.to_text(width, explain=explain) for table in (*unsigned, *tables[-1:])), end="")
    elif style == "json":
        for table in tables:
            _print_json(table.to_dict())
    else:
        write = {"csv": Table.to_csv, "md": Table.to_markdown, "latex": Table.to_latex}[style]
        print_text("\n".join(write(table) for table in tables), end="", data=True)
    if style == "csv":
        print_status(str(tables[-1].signature))


def show_texts(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], caption: str, style: str) -> None:
    """Print a table of texts, of which nothing was computed."""
    import pandas as pd

    import metaeval
    from metaeval.show.table import Table

    frame = pd.DataFrame(rows, columns=[*columns]).set_index(columns[0])
    show([Table(frame, caption, f"metaeval {metaeval.__version__}")], style)


def show_results(
    name: str, result: Result, style: str, out: Path | None, *, explain: bool = False, width: Width | None = None
) -> None:
    """Print a result and its parts, the answer first, and with --out write all of them into a folder."""
    parts = getattr(result, "parts", ())
    # The pooled result answers what several sources were named for, so that it comes first.
    results = {f"pooled-{name}" if parts else name: result}
    for number, part in enumerate(parts, start=1):
        # A collection's name may hold anything, a file's may not.
        label = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in part.collection)
        file = f"{name}-{label or number}"
        results[f"{file}-{number}" if file in results else file] = part
    if out is not None:
        from metaeval.files import write_atomically, write_together
        from metaeval.show.drawing import save_figure

        with write_together(out) as aside:  # all of them, or nothing
            for file, each in results.items():
                each.write_tables(aside, file, width or "column")
                write_atomically(aside / f"{file}.json", json.dumps(each.to_dict(), ensure_ascii=False, indent=1))
                save_figure(each.plot(size=width), aside, file, suffixes=(".png", ".svg", ".pdf"))
        print_status(f"wrote {', '.join(results)} (.csv, .tex, .json, .png, .svg, .pdf) into {out}")
    if style == "latex":
        from metaeval.show.table import join_latex

        every = [table for each in results.values() for table in each.at("paper")]
        print_text(join_latex(every, width or "column"), end="", data=True)
    for each in results.values() if style != "latex" else ():
        if style == "json":
            _print_json(each.to_dict())
        elif style == "csv":
            from metaeval.show.frames import format_csv

            print_text(format_csv(each.to_frame()), end="", data=True)
            print_status(str(each.signature))
        else:
            if style == "text" and each.answer():
                collection = getattr(each, "collection", "") if parts else ""
                print_answer(f"{collection}: {each.answer()}" if collection else each.answer())
            tables = each.at("paper" if style != "text" else "all" if explain else "short")
            show(tables, style, explain=explain)
    whole = explain or style != "text"
    notes = (note for each in results.values() for note in each.notes(short=not whole))
    print_notes(notes, None if whole else FEW_NOTES)


def _print_json(content: dict[str, Any]) -> None:
    # Where stdout cannot hold every letter, JSON has escapes of its own; those of the stream would damage it.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print_text(json.dumps(content, ensure_ascii=plain, indent=1), data=True)


@contextmanager
def working(what: str, *, told: bool = False) -> Iterator[None]:
    """Show on stderr, after two seconds, what is done of how much and the time left; or what it is, if that is not told."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    from metaeval.stats.parallel import listen

    watched, title = sys.stderr.isatty(), one_line(what)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=3600)
    progress.add_task(title, total=None, step="")

    def hear(step: str, done: int, total: int) -> None:
        if not total:  # stated before it begins
            print_notes([step])
            return
        (task,) = progress.tasks
        if task.fields["step"] != step or done < task.completed:
            # The rate counts from here: what came before the first call may have been other work.
            progress.remove_task(task.id)
            progress.add_task(title, total=total, completed=done, step=step)
        state = f"{title}: {step}, {done:,} of {total:,}, time left"
        progress.update(progress.task_ids[0], completed=done, description=state)

    delay = threading.TIMEOUT_MAX if told and not watched else 2
    timer = threading.Timer(delay, progress.start if watched else partial(print_status, f"{title} …"))
    timer.start()
    try:
        with listen(hear):
            yield
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()
