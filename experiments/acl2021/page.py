"""The page of the study."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.acl2021 import audit, on_print
from experiments.outcome import Outcome
from experiments.source_pages import Layout, write_source_page

PICTURES = {"stc3": ("figure2",), "semeval2017-runs": ("table2_print", "figure1"), "llmjudge": ("figure1",)}
CONSISTENCY = {
    "mean τ": r"^[A-Za-z_0-9]+$(?<!V_E2)",
    "marks": "outperforms",
    "V_E2": "^V_E2$",
    "effect sizes": "effect size",
}
"""What Tables 3, 6 and 9 print."""

LAYOUT = Layout(
    "acl2021",
    "Sakai, ACL 2021: evaluating evaluation measures for ordinal classification and ordinal quantification",
    "The paper compares nine measures for ordinal classification and six for ordinal quantification by the similarity of "
    "their run rankings, by how consistent these are over sets of topics, and by discriminative power.",
    audit.STUDY,
    [f"table{n}" for n in (1, 2, 3)]
    + ["figure1"]
    + [f"table{n}" for n in (4, 5, 6)]
    + ["figure2"]
    + [f"table{n}" for n in (7, 8, 9)]
    + ["figure3"],
    {
        "table1": "the collections",
        "table2": "ranking similarity, ordinal classification",
        "table3": "split-half consistency, ordinal classification",
        "table4": "the measures of ordinal classification in words",
        "table5": "ranking similarity, dialogue quality",
        "table6": "split-half consistency, dialogue quality",
        "table7": "the measures of ordinal quantification in words",
        "table8": "ranking similarity, ordinal quantification",
        "table9": "split-half consistency, ordinal quantification",
        "figure1": "discriminative power, ordinal classification",
        "figure2": "discriminative power, dialogue quality",
        "figure3": "discriminative power, ordinal quantification",
    },
    dict.fromkeys(("table3", "table6", "table9"), CONSISTENCY),
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
    implications = [*audit.find_implications(), *on_print.find_implications()]
    return write_source_page(LAYOUT, outcomes, audit.find_checks(), implications, PICTURES)
