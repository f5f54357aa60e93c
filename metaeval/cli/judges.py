"""The command about judges and people: judges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaeval.cli.complete import complete_source
from metaeval.cli.options import Classes, Columns, Command, Out, Seed, Style, choose, parse_columns
from metaeval.cli.output import check_output, show_results, working

if TYPE_CHECKING:
    from metaeval.data.annotations import Annotations


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("judges", cls=Command)(judges)


def judges(
    people: Annotated[
        str,
        typer.Argument(
            metavar="PEOPLE",
            help="The labels of people; or, without judges, the name of a data set",
            autocompletion=complete_source,
        ),
    ],
    answers: Annotated[str | None, typer.Argument(metavar="[JUDGES]", help="The labels of judges")] = None,
    classes: Classes = None,
    agreement: Annotated[
        str,
        typer.Option(
            help="Of two labels: the same or not, or of ordered classes", **choose(("accuracy", "squared-error"))
        ),
    ] = "squared-error",
    epsilon: Annotated[
        float, typer.Option(help="Advantage of the judge: 0.2 beside experts, 0.15 skilled people, 0.1 crowd workers")
    ] = 0.15,
    alpha: Annotated[float, typer.Option(help="False discovery rate")] = 0.05,
    n_bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamples for the intervals; 0 for none")] = 1000,
    confidence: Annotated[float, typer.Option(help="Of the intervals")] = 0.95,
    missing: Annotated[
        str,
        typer.Option(
            help="What to do where a judge has no answer; drop-topic leaves out the item",
            **choose(("raise", "drop-topic", "drop-run")),
        ),
    ] = "raise",
    columns: Columns = None,
    separator: Annotated[
        str | None, typer.Option(help="An item's topic is its name up to here: __ makes doc7 of doc7__fluency")
    ] = None,
    seed: Seed = 0,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Can a judge replace people? Each judge against each person, held against the other people.

    The alternative annotator test of Calderon, Reichart and Dror (2025). Tables have one column per
    annotator or judge besides a column item, or one row per label: item, annotator, label. JSON is
    {"annotator": {"item": label}}. Data sets of this kind: alttest-summeval, alttest-cebab-stars, …

    \b
    Examples:
      metaeval judges alttest-mtbench --agreement accuracy --epsilon 0.2
      metaeval judges people.csv judges.csv --classes 1,2,3,4,5 --out results/
    """
    from metaeval.analyses.alternative_annotator_test import alternative_annotator_test

    check_output(style, out)
    with working("reading labels"):
        found = _open(people, answers, classes, missing, columns, separator)
    with working("alternative annotator test"):
        result = alternative_annotator_test(
            found,
            agreement=agreement,  # type: ignore[arg-type]
            epsilon=epsilon,
            alpha=alpha,
            n_bootstrap=n_bootstrap,
            confidence=confidence,
            seed=seed,
        )
    show_results({"judges": result}, style, out)


def _open(
    people: str, answers: str | None, classes: str | None, missing: str, columns: str | None, separator: str | None
) -> Annotations:
    from metaeval.data.annotations import Annotations
    from metaeval.datasets import load_dataset
    from metaeval.errors import MetaevalError
    from metaeval.io import read_annotations

    if answers is None:
        if Path(people).exists():
            raise MetaevalError(f"{people} is a file: name the file of the judges after it, and --classes")
        if classes or columns or separator is not None or missing != "raise":
            raise MetaevalError("--classes, --columns, --separator and --missing are for files; a data set has its own")
        found = load_dataset(people)
        if not isinstance(found, Annotations):
            raise MetaevalError(f"{people} does not hold the labels of several people (metaeval data list)")
        return found
    if classes is None:
        raise MetaevalError("two files need --classes: all of them, in their order")
    return read_annotations(
        people,
        answers,
        classes=[label.strip() for label in classes.split(",")],
        columns=parse_columns(columns),
        separator=separator,
        missing=missing,  # type: ignore[arg-type]
    )
