"""Measures named on the command line, and the command that lists them: measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.options import Command, Style
from metaeval.cli.output import check_output, show, version_line

if TYPE_CHECKING:
    from metaeval.measures.base import Measure


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


def find_measures(names: Iterable[str] | None) -> list[Measure] | None:
    """Return the measures named on the command line: registered ones, labels of scores, or FILE.py:FUNCTION.

    Parameters
    ----------
    names : iterable of str or None

    Returns
    -------
    list of Measure, or None
        None where none were named. A file that is named is run.
    """
    from metaeval.measures.conformance import measure_of_file
    from metaeval.measures.registry import find, named
    from metaeval.measures.user import is_reference

    if not names:
        return None
    return [measure_of_file(one) if is_reference(one) else find(one) or named(one) for one in names]


def find_known_measures(names: Iterable[str]) -> list[Measure]:
    """Return the measures named on the command line, all of which have a formula.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    list of Measure

    Raises
    ------
    MeasureError
        If a name is not registered; the message names the nearest ones.
    """
    from metaeval.measures.conformance import measure_of_file
    from metaeval.measures.registry import measure
    from metaeval.measures.user import is_reference

    return [measure_of_file(one) if is_reference(one) else measure(one) for one in names]
