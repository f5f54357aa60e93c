"""The page of the study."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.lq2021 import audit
from experiments.outcome import Outcome
from experiments.source_pages import Layout, write_source_page

# Figure 3 shows the gold of single topics: here those of the stand-in, with `--render` those of any source.
PICTURES: dict[str, tuple[str, ...]] = {
    "stc3": ("figure1_stc-3-dq-a", "figure2_stc-3-dq-a"),
    "stand-in": ("figure3_dialeval-1-dq-a",),
}
LAYOUT = Layout(
    "lq2021",
    "Sakai, LQ 2021: a closer look at evaluation measures for ordinal quantification",
    "The paper looks at the significant run pairs of six measures for ordinal quantification: how many each finds, whether "
    "measures find the same ones, whether they contradict each other, and which of two baselines each prefers.",
    audit.STUDY,
    [f"table{n}" for n in range(1, 8)] + [f"figure{n}" for n in (1, 2, 3)],
    {
        "table1": "the measures",
        "table2": "the collections",
        "table3": "discriminative power",
        "table4": "significance overlap",
        "table5": "contradictions",
        "table6": "the run pairs of contradictions",
        "table7": "Uniform and Popularity",
        "figure1": "NMD against other measures, Popularity less Uniform by topic",
        "figure2": "RNOD against other measures, Popularity less Uniform by topic",
        "figure3": "gold and baselines of topics on which measures disagree",
    },
    {
        "table3": {"significant pairs": "S_D", "percent": "percent"},
        "table4": {"SSO in percent": "^[^,]+$", "counts": ","},
        "figure1": {"topics": "^(?!.*percent)", "percent": "percent"},
        "figure3": {"which topic": "number", "differences of scores": "^[dΔ]"},
    },
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
