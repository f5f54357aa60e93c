"""The page of the study: the answer, then set by set."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.alttest.steps import SETS, STUDY
from experiments.licences import show_data
from experiments.outcome import Outcome
from experiments.page import (
    join_parts,
    link_tables,
    show_command,
    show_counts,
    show_inputs,
    show_notes,
    show_picture,
    show_table,
    show_verdicts,
)

PICTURES = {"": ("ranks",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/alttest/README.md.

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
        "alttest",
        "# Judges against people on five sets",
        "Which of several language models labels items as people do? The alternative annotator test (Calderon, Reichart and "
        "Dror 2025) asks it of each person in turn; measures of classification hold a judge's labels against the label of most "
        "people, and measures of quantification against the distribution of all labels. Does the choice change which judge is "
        "best?",
        show_command("alttest"),
        "## What came out",
        together.texts.get("findings", ""),
        show_table(together, "best"),
        show_picture(
            together, "ranks", "Ranks of judges by every measure on every set: the darker the better, 1 for the best"
        ),
        show_table(together, "contradictions"),
        show_table(together, "constant"),
        "## By which rules",
        "Topics are resampled (summaries of one document, attributes of one picture and comparisons of one question are "
        f"resampled together), {STUDY['n_bootstrap']:,} times, the same for all measures. Intervals of the first claim hold "
        f"together with {STUDY['confidence']:.0%} confidence, all pairs of judges by all measures of a set; those of the "
        "second hold one by one.",
        show_verdicts(together.verdicts),
        "## What cannot be concluded",
        "- **Best by a measure is not best.** The measures see the same labels and reward different things: a judge that gives "
        "most items the label that people give most often agrees with many labels, and tells few items apart.\n"
        "- **Intervals are over topics.** The people are those who labelled the set: with three of them, as in SummEval, "
        "others may put other judges first.\n"
        "- **“Cannot tell” is not “the same”.** It says that the set is too small for its differences.",
        "## Printed rates",
        show_counts(outcomes),
        *(
            part
            for one in single
            for part in (f"## {one.source}", show_table(one, "judges"), show_table(one, "scores"))
        ),
        "## Files",
        *(link_tables(one) for one in single),
        show_notes(outcomes),
        "## Inputs",
        show_inputs(STUDY["inputs"]),
        "## Data",
        show_data(SETS),
    )
