"""The page of the study: answers, the curves of real gold, the map of all gold."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.answers import write_answer
from experiments.flat_gold.steps import SOURCES, STUDY
from experiments.outcome import Outcome
from experiments.page import show_picture, show_table

PICTURES = {"stc3": ("flatness",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/flat_gold/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    by_source = {name: Outcome("flat_gold", name) for name in SOURCES} | {one.source: one for one in outcomes}
    topics, mapped = (by_source[name] for name in SOURCES)
    parts = [
        "Flatness is the entropy of the gold distribution over its largest value, log K. Every measure sees the same topics: "
        "flatness explains a difference between two measures only as far as both switch at some flatness, and at different "
        "ones.",
        show_picture(
            topics, "flatness", "Preference for Popularity over the flatness of the gold, one panel a measure"
        ),
        show_table(topics, "curves"),
        show_table(topics, "bins"),
        show_table(topics, "gold"),
        "### All possible gold",
        show_table(mapped, "map"),
    ]
    title = "Popularity against Uniform as a function of the flatness of the gold"
    return write_answer("flat_gold", title, STUDY, outcomes, parts, STUDY["collections"])
