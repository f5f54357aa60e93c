"""The page of the study: all sets together, then set by set."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.ordinal_sets.steps import QUESTIONS, SOURCE, STUDY, shorten
from experiments.outcome import Outcome
from experiments.page import join_parts, show_command, show_notes, show_picture, show_table

PICTURES = {SOURCE: ("power-pooled",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/ordinal_sets/README.md.

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
        "ordinal_sets",
        "# Measures for ordinal classification on five ordinal sets",
        "ACL 2021's questions, asked of 22 classifiers trained here on each of the five ordinal sets that the package "
        "skordinal brings: do measures rank runs alike (its Table 2), alike on other topics (Table 3), and how many "
        "significant differences do they find (Figure 1)? Topics are random groups of items. No data are downloaded.",
        show_command("ordinal_sets --full", "classifiers are trained on first use and kept in the user's cache folder"),
        f"**These numbers depend on the processor.** The classifiers are trained in floating point, and another processor, or "
        f"another version of the linear algebra, predicts single items differently. `--check` allows {STUDY['tolerance']:g} "
        f"for every number that is no count. {STUDY['seen']}",
        show_notes(outcomes),
        "## All sets together",
        *(show_table(found, name) for name in ("similarity-all", "consistency-all", "power-pooled")),
        show_picture(found, "power-pooled", "Discriminative power pooled over the five sets"),
        *(
            part
            for name in STUDY["sets"]
            for part in (
                f"## {name}",
                *(show_table(found, f"{question}-{shorten(name)}") for question in QUESTIONS),
            )
        ),
    )
