"""The command that lists the measures: measures."""

from __future__ import annotations

from typing import Annotated

import typer

from metaeval.cli.options import Command, Style
from metaeval.cli.output import check_output, show, version_line


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("measures", cls=Command)(list_measures)


def list_measures(
    kind: Annotated[str | None, typer.Option(help="classification or quantification")] = None,
    style: Style = "text",
) -> None:
    """List the measures: direction, range, what each answers, and where it is defined.

    \b
    Examples:
      metaeval measures
      metaeval measures --kind quantification --format md
    """
    import pandas as pd

    from metaeval.errors import MeasureError
    from metaeval.measures import measures
    from metaeval.show.table import Table

    check_output(style, None)
    if kind not in (None, "classification", "quantification"):
        raise MeasureError(f"there is no kind {kind!r}: use classification or quantification")
    found = [one for one in measures() if kind in (None, one.kind)]
    rows = [
        {
            "kind": one.kind,
            "better": "higher" if one.higher_is_better else "lower",
            "range": f"{one.range[0]:g} to {one.range[1]:g}",
            "source": one.source,
            "what it answers": one.description.rstrip("."),
        }
        for one in found
    ]
    frame = pd.DataFrame(rows, index=pd.Index([str(one) for one in found], name="measure"))
    show(Table(frame, "Registered measures.", version_line()), style)
