"""The page of the study: answers, then source by source the difference by reference set."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.answers import list_data, write_answer
from experiments.coverage_references.steps import SOURCES
from experiments.coverage_references.verdicts import STUDY
from experiments.outcome import Outcome
from experiments.page import format_list, show_picture, show_table

PICTURES = dict.fromkeys(SOURCES, ("differences",))


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/coverage_references/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    reasons = format_list(f"{name}: {reason}" for name, reason in STUDY["candidates"].items())
    parts = [
        "Reference sets are all sets of two or more of these measures:",
        reasons,
        "Intervals are over topics, each set for itself: under many sets some leave 0 out by chance, and sets are much "
        "alike, so that the mean over all sets is what to look at first.",
    ]
    for one in outcomes:
        if one.tables:
            caption = f"Difference of coverage by reference set, {one.source}"
            parts += [f"### {one.source}", show_picture(one, "differences", caption)]
            parts += [show_table(one, name) for name in one.tables]
    title = "Coverage of weighted κ, OCI and CEM^ORD under all reference sets"
    return write_answer("coverage_references", title, STUDY, outcomes, parts, list_data(STUDY["sources"], outcomes))
