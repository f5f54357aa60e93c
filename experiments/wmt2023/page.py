"""The page: the ten tasks, clusters, what is seen without people, inputs, and how to make it again."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.licences import show_data
from experiments.outcome import Outcome
from experiments.page import (
    fold,
    join_parts,
    link_tables,
    show_command,
    show_counts,
    show_inputs,
    show_picture,
    show_table,
    show_verdicts,
)
from experiments.wmt2023.steps import PAIRS, STUDY

PICTURES = {"": ("average", "beside")}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/wmt2023/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    together, *single = outcomes
    return join_parts(
        "wmt2023",
        "# The metrics task of WMT 2023: which metrics are right?",
        "Metrics of machine translation (runs are translation systems, topics are segments) held against the "
        "judgements of professional translators (MQM), as Freitag et al. (2023) do in Tables 8 and 9; and what discriminative "
        "power, consistency and contradictions, which need no people, say of the same metrics.",
        "## Printed numbers",
        show_counts(outcomes),
        "## The tasks",
        together.texts.get("tasks", ""),
        show_table(together, "main"),
        show_picture(together, "average", "The metrics by their average, with significance clusters"),
        fold("Significance clusters of every task", show_table(together, "clusters")),
        show_table(together, "differences"),
        "## What can be seen without people",
        together.texts.get("beside", ""),
        show_picture(together, "beside", "What becomes of every metric's significant pairs of runs"),
        show_table(together, "beside"),
        "## Does it tell which metrics are right? By rule",
        "The sentences are this study's own, not the paper's.",
        show_verdicts([verdict for one in outcomes for verdict in one.verdicts]),
        "## Do the intervals hold what they claim?",
        show_table(together, "coverage"),
        "## What went in",
        show_inputs(STUDY["inputs"]),
        "## Collection by collection",
        "\n".join(link_tables(one) for one in single),
        "## How to make it again",
        show_command("wmt2023"),
        "## Data and licence",
        show_data(part for name in PAIRS for part in (name, f"{name}-runs")),
    )
