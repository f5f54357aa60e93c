"""The command that prints what to cite: cite."""

from __future__ import annotations

from typing import Annotated

import typer

from metaeval.cli.options import Command


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("cite", cls=Command)(cite_names)


def cite_names(
    names: Annotated[
        list[str] | None, typer.Argument(help="Measures, analyses, tests, data sets; none: metaeval")
    ] = None,
) -> None:
    """Print what to cite for measures, analyses, tests and data sets, as BibTeX.

    \b
    Examples:
      metaeval cite NMD "OCI(beta=0.25)" power stc3-dq-a
      metaeval cite max-t > references.bib
    """
    from metaeval.analyses.citation import cite
    from metaeval.cli.analyses import ANALYSES

    functions = {command: one.function.rpartition(":")[2] for command, one in ANALYSES.items()}
    functions["judges"] = "alternative_annotator_test"
    print(cite(*(functions.get(name, name) for name in names or [])), end="")
