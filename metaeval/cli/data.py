"""Commands about named data sets: data list, info, fetch, path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from metaeval.cli.command import Values, add_command
from metaeval.cli.complete import complete_data_set
from metaeval.cli.options import argument, take
from metaeval.cli.output import check_output, print_problem, print_status, show_texts
from metaeval.errors import DatasetError, format_count

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


def list_data(values: Values) -> None:
    """List the data sets: what each is, and whether its files have been downloaded.

    \b
    Examples:
      metaeval data list
    """
    from metaeval.datasets import cache_folder, datasets

    check_output(values.style, None)
    folder = cache_folder()
    caption = f"Data sets; files are looked for in {folder}."
    columns = ("data set", "files here", "kind", "what")
    rows = [(dataset.name, _state(dataset, folder), dataset.kind, dataset.title) for dataset in datasets()]
    show_texts(columns, rows, caption, values.style)


def describe_data(values: Values) -> None:
    """Describe a data set: what it is, its licence and citation, and its files.

    \b
    Examples:
      metaeval data info stc3-dq-a
    """
    from metaeval.datasets import cache_folder, dataset

    print("\n".join(_describe(dataset(values.name), cache_folder())))


def fetch_data(values: Values) -> None:
    """Download data sets into METAEVAL_DATA, or the cache folder; every file is checked by sha256.

    \b
    Examples:
      metaeval data fetch stc3-dq-a llmjudge
    """
    from metaeval.datasets import fetch

    failed = 0
    for name in values.names:
        try:
            files = fetch(name)
        except DatasetError as error:  # the other data sets may be somewhere else
            failed = print_problem(str(error))
        else:
            print_status(f"{name}: {format_count(len(files), 'file')} downloaded and checked")
    if failed:
        raise typer.Exit(failed)


def print_paths(values: Values) -> None:
    """Print where the files of a data set are, one per line; missing ones are downloaded first.

    \b
    Examples:
      metaeval data path trec-web-2013
    """
    from metaeval.datasets import fetch

    for file in fetch(values.name).values():
        print(file)


def _state(data_set: Dataset, folder: Path) -> str:
    """Say how many files are there; whether they are whole, loading finds out."""
    if not data_set.files:
        return "by hand"
    present = sum((folder / file.name).is_file() for file in data_set.files)
    return "all" if present == len(data_set.files) else f"{present} of {len(data_set.files)}"


def _describe(data_set: Dataset, folder: Path) -> Iterator[str]:
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


_DATA_SET = argument(str, "The data set", metavar="NAME", complete=complete_data_set)
_DATA_SETS = argument(list[str], "Data sets", metavar="NAME", complete=complete_data_set)

add_command(app, "list", list_data, take("style"))
add_command(app, "info", describe_data, {"name": _DATA_SET})
add_command(app, "fetch", fetch_data, {"names": _DATA_SETS})
add_command(app, "path", print_paths, {"name": _DATA_SET})
