"""The command that prints what to cite: cite."""

from __future__ import annotations

from metaeval.cli.command import Values
from metaeval.cli.options import argument
from metaeval.cli.output import print_text

CITE = {"names": argument(list, "Measures, analyses, tests, data sets; none: metaeval", required=False)}


def print_citations(values: Values) -> None:
    """Print what to cite for measures, analyses, tests and data sets, as BibTeX.

    \b
    Examples:
      metaeval cite NMD "OCI(beta=0.25)" power stc3-dq-a
      metaeval cite max-t > references.bib
    """
    from metaeval.analyses.citation import cite
    from metaeval.cli.analyses import ANALYSES

    functions = {command: analysis.function.rpartition(":")[2] for command, analysis in ANALYSES.items()}
    print_text(cite(*(functions.get(name, name) for name in values.names or [])), end="", data=True)
