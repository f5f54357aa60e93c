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
    measure: Annotated[list[str], typer.Argument(help="Measures of classification: names, or FILE.py:FUNCTION")],
    empty_classes: Annotated[
        bool, typer.Option("--empty-classes", help="Let classes be without gold items in the last two properties")
    ] = False,
    random: Annotated[int, typer.Option(help="Random matrices of every size, besides all small ones")] = 300,
    seed: Annotated[int, typer.Option(help="Seed of the random matrices")] = 0,
    style: Style = "text",
    out: Out = None,
) -> None:
    """Has a measure ordinal invariance, ordinal monotonicity, imbalance? Counterexamples, or how many cases were tried.

    Confusion matrices are written [[…],[…]]: a row a gold class, a column a predicted class.

    \b
    Examples:
      metaeval properties CEM_ORD "OCI(beta=0.75)"
      metaeval properties my_measure.py:my_measure --empty-classes
    """
    from metaeval.analyses.properties import properties as searched
    from metaeval.measures.registry import measure as registered
    from metaeval.measures.user import is_reference, load

    chosen = [load(one) if is_reference(one) else registered(one) for one in measure]
    with working("looking for counterexamples"):
        result = searched(chosen, empty_classes=empty_classes, n_random=random, seed=seed)
    show_result(result, style, out, "properties")
    found = [one for one in result.verdicts if not one.holds]
    if style == "text" and found:
        print("\nCounterexamples, the smallest that were found:")
        for one in found:
            print(f"  {one.measure}, {one.property}: {one}")
