"""The page of the study: what came out over all collections, how to read it, and where the rest is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.outcome import Outcome
from experiments.page import join_parts, link_tables, show_picture, show_table
from experiments.trec.steps import STUDY

PICTURES = {"": tuple(f"pooled_{pool}" for pool in STUDY["pools"]), "trec-web-2013": ("power",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/trec/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    together, *single = outcomes
    pictured = next(one for one in single if one.source in PICTURES)
    return join_parts(
        "trec",
        "# AP, nDCG, ERR, P@k and RR on seven TREC collections",
        "How many significant differences between runs does each retrieval measure find, and how well does it repeat "
        "its ranking of runs on other topics? `python -m experiments trec` makes this page and everything in this "
        "folder; sentences with numbers are written by rules from the numbers (experiments/trec/findings.py).",
        "## What came out",
        together.texts.get("findings", ""),
        show_table(together, "power"),
        show_picture(pictured, "power", "Discriminative power curves on the TREC 2013 Web track"),
        show_table(together, "consistency"),
        *(
            part
            for pool in STUDY["pools"]
            for part in (
                show_table(together, f"pooled_{pool}"),
                show_picture(
                    together, f"pooled_{pool}", f"Pooled power, {', '.join(STUDY['pools'][pool]['measures'])}"
                ),
            )
        ),
        _describe_reading(together),
        "## Collection by collection",
        *(link_tables(one) for one in single),
    )


def _describe_reading(together: Outcome) -> str:
    """Return reading.md with the sizes of the collections."""
    topics = together.tables["power"].frame["topics"]
    text = (Path(__file__).parent / "reading.md").read_text(encoding="utf-8")
    return text.format(topics=f"{topics.min()} to {topics.max()}")
