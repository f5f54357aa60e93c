"""The command that lists the measures, and explains those that are named: measures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from metaeval.cli.command import Values
from metaeval.cli.complete import complete_measure
from metaeval.cli.docstrings import parse_docstring
from metaeval.cli.options import argument, option, take
from metaeval.cli.output import check_output, show_texts, terminal_width
from metaeval.errors import MeasureError
from metaeval.show.cells import wrap_text

if TYPE_CHECKING:
    from metaeval.measures import Measure

KINDS = ("classification", "quantification")

MEASURES = {
    "names": argument(
        list[str] | None,
        "Measures to explain; none: list all",
        metavar="NAME",
        complete=complete_measure,
        default=None,
    ),
    "kind": option(str | None, "Only those of one kind", choices=KINDS),
    **take("style"),
}


def show_measures(values: Values) -> None:
    """Which measures are there, and what is one: formula, range, direction, source, BibTeX?

    \b
    Examples:
      metaeval measures
      metaeval measures NMD "OCI(beta=0.25)"
      metaeval measures --kind quantification --format md
    """
    from metaeval.measures import measures, resolve_measures

    kind, style = values.kind, values.style
    check_output(style, None)
    if kind not in (None, *KINDS):
        raise MeasureError(f"there is no kind {kind!r}: use {' or '.join(KINDS)}")
    if values.names:
        for number, measure in enumerate(resolve_measures(values.names)):
            print(end="\n" * (number > 0))
            _explain(measure, style)
        return
    _list([measure for measure in measures() if kind in (None, measure.kind)], style)


def _list(listed: list[Measure], style: str) -> None:
    """Print one row per measure; as text a table for each kind, of what fits beside each other."""
    if style == "text":
        for number, kind in enumerate(dict.fromkeys(measure.kind for measure in listed)):
            rows = [
                (str(measure), measure.direction, _range(measure), measure.description.rstrip("."))
                for measure in listed
                if measure.kind == kind
            ]
            caption = f"Registered {kind} measures; metaeval measures NAME explains one."
            print(end="\n" * (number > 0))
            show_texts(("measure", "better", "range", "what it answers"), rows, caption, style)
        return
    described = [
        (str(one), str(one.kind), one.direction, _range(one), one.source, one.description.rstrip(".")) for one in listed
    ]
    show_texts(
        ("measure", "kind", "better", "range", "source", "what it answers"), described, "Registered measures.", style
    )


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
        print(*("\n" + entry for entry in cited), sep="", end="")
        return
    rows = [*described, *(("BibTeX", entry) for entry in cited)]
    show_texts(("what", str(measure)), rows, measure.description, style)


def _describe(measure: Measure) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a measure, with its subject."""
    from metaeval.measures.base import parameters_of
    from metaeval.measures.registry import SYMBOLS

    assert measure.kind is not None and measure.formula is not None  # noqa: PT018, S101  (registered ones have both)
    docstring = parse_docstring(measure.formula)
    if measure.written:
        yield "formula", measure.written
        yield "where", SYMBOLS[measure.kind]
    yield "takes", {"classification": "confusion counts", "quantification": "estimated and gold shares"}[measure.kind]
    yield "better", measure.direction
    yield "range", f"{_range(measure)}; the best score is {_number(measure.best)}"
    for name, default in parameters_of(measure.formula).items():
        value = measure.parameters.get(name, default)
        text = docstring.parameters.get(name, "")
        yield "parameter", f"{name}={value}{f', by default {default}' * (value != default)}{f': {text}' * bool(text)}"
    if measure.undefined is None:
        yield (
            "0/0",
            "the formula is never 0/0" if measure.written else "not declared: where the formula is 0/0 is an error",
        )
    else:
        yield "0/0", f"{_number(measure.undefined)} stands for it, with a warning that says where"
    yield "symmetric", "yes: run and gold can be exchanged" if measure.symmetric else "no"
    if docstring.details:
        yield "remarks", " ".join(docstring.details.split())
    if measure.source:
        yield "source", measure.source


def _range(measure: Measure) -> str:
    return f"{_number(measure.range[0])} to {_number(measure.range[1])}"


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−").replace("inf", "∞")
