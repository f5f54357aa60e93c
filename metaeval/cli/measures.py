"""The command that lists the measures, and explains those that are named: measures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.complete import complete_measure
from metaeval.cli.docstrings import parse_docstring
from metaeval.cli.options import Command, Style, choose
from metaeval.cli.output import check_output, fit_table, show, terminal_width, version_line
from metaeval.show.terminal import Cells, wrap_text

if TYPE_CHECKING:
    from metaeval.measures import Measure

KINDS = ("classification", "quantification")


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("measures", cls=Command)(show_measures)


def show_measures(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Measures to explain; none: list all", autocompletion=complete_measure),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="Only those of one kind", **choose(KINDS))] = None,
    style: Style = "text",
) -> None:
    """Which measures are there, and what is one: formula, range, direction, source, BibTeX?

    \b
    Examples:
      metaeval measures
      metaeval measures NMD "OCI(beta=0.25)"
      metaeval measures --kind quantification --format md
    """
    from metaeval.errors import MeasureError
    from metaeval.measures import measures, resolve_measures

    check_output(style, None)
    if kind not in (None, *KINDS):
        raise MeasureError(f"there is no kind {kind!r}: use {' or '.join(KINDS)}")
    if names:
        for number, one in enumerate(resolve_measures(names)):
            print(end="\n" * (number > 0))
            _explain(one, style)
        return
    _list([one for one in measures() if kind in (None, one.kind)], style)


def _list(found: list[Measure], style: str) -> None:
    """Print one row per measure; as text a table for each kind, of what fits beside each other."""
    if style == "text":
        for number, kind in enumerate(dict.fromkeys(one.kind for one in found)):
            rows = [
                (str(one), one.direction, _range(one), one.description.rstrip(".")) for one in found if one.kind == kind
            ]
            cells = Cells(("measure", "better", "range", "what it answers"), (True,) * 4, rows)
            caption = f"Registered {kind} measures; metaeval measures NAME explains one."
            print(end="\n" * (number > 0))
            print(fit_table(cells, caption, version_line(), terminal_width(sys.stdout)), end="")
        return
    import pandas as pd

    from metaeval.show.table import Table

    columns = {
        "kind": [one.kind for one in found],
        "better": [one.direction for one in found],
        "range": [_range(one) for one in found],
        "source": [one.source for one in found],
        "what it answers": [one.description.rstrip(".") for one in found],
    }
    frame = pd.DataFrame(columns, index=pd.Index([str(one) for one in found], name="measure"))
    show(Table(frame, "Registered measures.", version_line()), style)


def _explain(measure: Measure, style: str) -> None:
    """Print everything about one measure."""
    from metaeval.show.bibliography import bibliography, find_labels

    described = list(_describe(measure))
    cited = [bibliography()[label].to_bibtex() for label in find_labels(measure.source)]
    if style == "text":
        width = terminal_width(sys.stdout) or 100
        print("\n".join(wrap_text(f"{measure}: {measure.description}", width)), end="\n\n")
        for label, text in described:
            first, *others = wrap_text(text, max(width - 14, 20))
            print(f"  {label:10}  {first}", *(f"{'':14}{line}" for line in others), sep="\n")
        print(*("\n" + one for one in cited), sep="", end="")
        return
    import pandas as pd

    from metaeval.show.table import Table

    rows = [*described, *(("BibTeX", one) for one in cited)]
    frame = pd.DataFrame({str(measure): [text for _, text in rows]}, index=pd.Index([label for label, _ in rows]))
    frame.index.name = "what"
    show(Table(frame, measure.description, version_line()), style)


def _describe(measure: Measure) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a measure, with its subject."""
    from metaeval.measures.base import parameters_of
    from metaeval.measures.written import SYMBOLS, find_written

    assert measure.kind is not None and measure.formula is not None  # noqa: PT018, S101  (registered ones have both)
    written, said = find_written(measure), parse_docstring(measure.formula)
    if written is not None:
        yield "formula", written.text
        yield "where", SYMBOLS[measure.kind].text
    yield "takes", {"classification": "confusion counts", "quantification": "estimated and gold shares"}[measure.kind]
    yield "better", measure.direction
    yield "range", f"{_range(measure)}; the best score is {_number(measure.best)}"
    for name, default in parameters_of(measure.formula).items():
        value = measure.parameters.get(name, default)
        text = said.parameters.get(name, "")
        yield "parameter", f"{name}={value}{f', by default {default}' * (value != default)}{f': {text}' * bool(text)}"
    if measure.undefined is None:
        yield "0/0", "the formula is never 0/0" if written else "not declared: where the formula is 0/0 is an error"
    else:
        yield "0/0", f"{_number(measure.undefined)} stands for it, with a warning that says where"
    yield "symmetric", "yes: run and gold can be exchanged" if measure.symmetric else "no"
    if said.details:
        yield "remarks", " ".join(said.details.split())
    if measure.source:
        yield "source", measure.source


def _range(measure: Measure) -> str:
    return f"{_number(measure.range[0])} to {_number(measure.range[1])}"


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")
