"""The page of the examples: printed beside computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.outcome import Outcome
from experiments.page import format_list, join_parts, show_command, show_counts, show_table
from experiments.worked_examples.steps import STUDY

PICTURES: Mapping[str, Sequence[str]] = {}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/worked_examples/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    (found,) = outcomes
    return join_parts(
        "worked_examples",
        "# Examples that the papers work out by hand",
        "Inputs as printed, and what metaeval computes for them. No data are needed and nothing is random.",
        show_command("worked_examples"),
        format_list(STUDY["kinds"].values()),
        "## Printed numbers",
        show_counts(outcomes),
        show_table(found, "examples"),
    )
