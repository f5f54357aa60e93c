"""Commands about named data sets: data list, info, fetch, path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.complete import complete_data_set
from metaeval.cli.options import Command, Style
from metaeval.cli.output import check_output, fit_table, print_problem, show, terminal_width, version_line
from metaeval.show.terminal import Cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metaeval.datasets import Dataset

app = typer.Typer(help="Named public data sets: which there are, where they are from, and their files.")


@app.callback(invoke_without_command=True)
def require_command(ctx: typer.Context) -> None:
    """Show the help where a command is missing."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help(), file=sys.stderr)
        raise typer.Exit(2)


@app.command("list", cls=Command)
def list_data(style: Style = "text") -> None:
    """List the data sets: what each is, and whether its files have been downloaded.

    \b
    Examples:
      metaeval data list
    """
    from metaeval.datasets import cache_folder, datasets

    check_output(style, None)
    folder = cache_folder()
    caption = f"Data sets; files are looked for in {folder}."
    columns = ("data set", "files here", "kind", "what")
    rows = [(one.name, _state(one, folder), one.kind, one.title) for one in datasets()]
    if style == "text":
        print(fit_table(Cells(columns, (True,) * 4, rows), caption, version_line(), terminal_width(sys.stdout)), end="")
        return
    import pandas as pd

    from metaeval.show.table import Table

    show(Table(pd.DataFrame(rows, columns=[*columns]).set_index("data set"), caption, version_line()), style)


@app.command("info", cls=Command)
def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set", autocompletion=complete_data_set)],
) -> None:
    """Describe a data set: what it is, its licence and citation, and its files.

    \b
    Examples:
      metaeval data info stc3-dq-a
    """
    from metaeval.datasets import cache_folder, dataset

    print("\n".join(_description(dataset(name), cache_folder())))


@app.command("fetch", cls=Command)
def fetch_data(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Data sets", autocompletion=complete_data_set)],
) -> None:
    """Download data sets into METAEVAL_DATA, or the cache folder; every file is checked by sha256.

    \b
    Examples:
      metaeval data fetch stc3-dq-a llmjudge
    """
    from metaeval.datasets import fetch, remember_unreachable_hosts
    from metaeval.errors import DatasetError, format_count

    failed = 0
    with remember_unreachable_hosts():
        for name in names:
            try:
                files = fetch(name)
            except DatasetError as error:  # the other data sets may be somewhere else
                failed = print_problem(str(error))
            else:
                print(f"{name}: {format_count(len(files), 'file')} downloaded and checked", file=sys.stderr)
    if failed:
        raise typer.Exit(failed)


@app.command("path", cls=Command)
def path(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set", autocompletion=complete_data_set)],
) -> None:
    """Print where the files of a data set are, one per line; missing ones are downloaded first.

    \b
    Examples:
      metaeval data path trec-web-2013
    """
    from metaeval.datasets import fetch

    for file in fetch(name).values():
        print(file)


def _state(data_set: Dataset, folder: Path) -> str:
    """Say how many files are there; whether they are whole, loading finds out."""
    if data_set.reader == "skordinal":
        return "all" if (folder / data_set.runs).is_file() else "made here"
    if not data_set.files:
        return "by hand"
    there = sum((folder / file.name).is_file() for file in data_set.files)
    return "all" if there == len(data_set.files) else f"{there} of {len(data_set.files)}"


def _description(data_set: Dataset, folder: Path) -> Iterator[str]:
    yield f"{data_set.name}: {data_set.title}"
    labelled = {
        "rows": data_set.rows,
        "classes": ", ".join(data_set.classes),
        "note": data_set.note,
        "licence": data_set.licence,
        "citation": data_set.citation,
        "from": data_set.provenance if data_set.files else "",
        "where": "" if data_set.files else data_set.where,
        "layout": data_set.layout,
        "folder": str(folder),
        "files": f"{len(data_set.files)}, {data_set.bytes / 1e6:.1f} MB" if data_set.files else "",
    }
    for label, text in labelled.items():
        if text:
            yield f"  {label + ':':10} {text}"
    for file in data_set.files:
        mark = "here" if (folder / file.name).is_file() else "not here"
        yield f"    {file.name} ({mark})\n      {file.url}\n      sha256 {file.sha256}"
