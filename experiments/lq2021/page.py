"""The page of the study."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.lq2021 import audit
from experiments.outcome import Outcome
from experiments.source_pages import Layout, write_source_page

PICTURES: dict[str, tuple[str, ...]] = {}
LAYOUT = Layout(
    "lq2021",
    "Sakai, LQ 2021: a closer look at evaluation measures for ordinal quantification",
    "The paper looks at the significant run pairs of six measures for ordinal quantification: how many each finds, whether "
    "measures find the same ones, whether they contradict each other, and which of two baselines each prefers.",
    ["table1", "table2", "table3", "table4", "table5", "table6", "table7"],
)


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/lq2021/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    return write_source_page(LAYOUT, outcomes, audit.find_checks(), audit.find_implications(), PICTURES)
