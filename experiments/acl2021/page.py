"""The page of the study."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.acl2021 import audit
from experiments.outcome import Outcome
from experiments.source_pages import Layout, write_source_page

PICTURES = {"stc3": ("figure2",), "llmjudge": ("figure1",)}
LAYOUT = Layout(
    "acl2021",
    "Sakai, ACL 2021: evaluating evaluation measures for ordinal classification and ordinal quantification",
    "The paper compares nine measures for ordinal classification and six for ordinal quantification by the similarity of "
    "their run rankings, by how consistent these are over sets of topics, and by discriminative power.",
    [
        "table1",
        "table2",
        "table3",
        "figure1",
        "table4",
        "table5",
        "table6",
        "figure2",
        "table7",
        "table8",
        "table9",
        "figure3",
    ],
    {"figure1": "Discriminative power, ordinal classification", "figure2": "Discriminative power, dialogue quality"},
)


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/acl2021/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    return write_source_page(LAYOUT, outcomes, audit.find_checks(), audit.find_implications(), PICTURES)
