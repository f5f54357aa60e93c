"""Commands about named data sets: data list, info, fetch, path."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.output import Style, show, version_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metaeval.datasets import Dataset

app = typer.Typer(
    help="Named public data sets: what there is, where it is from, and how to have it.", no_args_is_help=True
)


@app.command("list")
def list_data(style: Style = "text") -> None:
    """List the data sets: what each is, and whether its files are here.

    \b
    Examples:
      metaeval data list
    """
    import pandas as pd

    from metaeval.datasets import cache_folder, datasets
    from metaeval.show.table import Table

    folder = cache_folder()
    found = datasets()
    rows = [{"files here": _state(one, folder), "kind": one.kind, "what": one.title} for one in found]
    frame = pd.DataFrame(rows, index=pd.Index([one.name for one in found], name="data set"))
    show(Table(frame, f"Data sets; files are looked for in {folder}.", version_line()), style)


@app.command("info")
def info(name: Annotated[str, typer.Argument(help="The data set")]) -> None:
    """Say what a data set is, its licence and citation, and which files it has.

    \b
    Examples:
      metaeval data info stc3-dq-a
    """
    from metaeval.datasets import cache_folder, dataset

    print("\n".join(_description(dataset(name), cache_folder())))


@app.command("fetch")
def fetch_data(names: Annotated[list[str], typer.Argument(help="Data sets")]) -> None:
    """Download data sets into METAEVAL_DATA, or the cache folder; every file is checked by sha256.

    \b
    Examples:
      metaeval data fetch stc3-dq-a llmjudge
    """
    from metaeval.datasets import fetch

    for name in names:
        files = fetch(name)
        print(f"{name}: {len(files)} file{'s are' if len(files) != 1 else ' is'} here and whole", file=sys.stderr)


@app.command("path")
def path(name: Annotated[str, typer.Argument(help="The data set")]) -> None:
    """Print where the files of a data set are, one a line; they are downloaded if need be.

    \b
    Examples:
      metaeval data path trec-web-2013
    """
    from metaeval.datasets import fetch

    for file in fetch(name).values():
        print(file)


def _state(chosen: Dataset, folder: Path) -> str:
    """Say how many files are there; whether they are whole, loading finds out."""
    if chosen.reader == "skordinal":
        return "all" if (folder / chosen.runs).is_file() else "made here"
    if not chosen.files:
        return "by hand"
    there = sum((folder / file.name).is_file() for file in chosen.files)
    return "all" if there == len(chosen.files) else f"{there} of {len(chosen.files)}"


def _description(chosen: Dataset, folder: Path) -> Iterator[str]:
    yield f"{chosen.name}: {chosen.title}"
    labelled = {
        "rows": chosen.rows,
        "classes": ", ".join(chosen.classes),
        "note": chosen.note,
        "licence": chosen.licence,
        "citation": chosen.citation,
        "from": chosen.provenance if chosen.files else "",
        "where": "" if chosen.files else chosen.where,
        "layout": chosen.layout,
        "folder": str(folder),
        "files": f"{len(chosen.files)}, {chosen.bytes / 1e6:.1f} MB" if chosen.files else "",
    }
    for label, text in labelled.items():
        if text:
            yield f"  {label + ':':10} {text}"
    for file in chosen.files:
        mark = "here" if (folder / file.name).is_file() else "not here"
        yield f"    {file.name} ({mark})\n      {file.url}\n      sha256 {file.sha256}"
