"""The command that looks for counterexamples to the formal properties of a measure: properties."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from metaeval.cli.output import Style, show_result, working

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for table, rows and figure")]


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("properties")(properties)


def properties(
    measure: Annotated[list[str], typer.Argument(help="Measures of either kind: names, or FILE.py:FUNCTION")],
    empty_classes: Annotated[
        bool, typer.Option("--empty-classes", help="Let gold classes be empty, except for invariance and symmetry")
    ] = False,
    random: Annotated[int, typer.Option(help="Random matrices of every size, besides all small ones")] = 300,
    seed: Annotated[int, typer.Option(help="Seed of the random matrices")] = 0,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Which formal properties does a measure have? Counterexamples, or how many cases were tried.

    Confusion matrices are written [[…],[…]], with one row per gold class and one column per predicted class.

    \b
    Examples:
      metaeval properties CEM_ORD "OCI(beta=0.75)"
      metaeval properties NMD RNOD JSD
      metaeval properties my_measure.py:my_measure --empty-classes
    """
    from metaeval.analyses.properties import properties as searched

    with working("looking for counterexamples"):
        result = searched(measure, empty_classes=empty_classes, n_random=random, seed=seed)
    show_result(result, style, out, "properties")
    if style == "text":
        for table in result.detail_tables():
            print()
            print(table.render(style), end="")
