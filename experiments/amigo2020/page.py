"""The page of the study: conclusions by rule, then printed and reproduced in the order of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.amigo2020 import audit, replab
from experiments.amigo2020.synthetic import STUDY
from experiments.audits import list_failures
from experiments.licences import show_data
from experiments.outcome import Outcome
from experiments.page import (
    fold,
    format_list,
    join_parts,
    show_command,
    show_counts,
    show_inputs,
    show_notes,
    show_picture,
    show_table,
    show_verdicts,
)
from experiments.side_by_side import show_item

PICTURES = {"synthetic": ("table3",)}


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/amigo2020/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    found = {one.source: one for one in outcomes}
    synthetic, properties, examples = (found[name] for name in ("synthetic", "properties", "examples"))
    original, in_kind, of_replab = found["original"], found["in_kind"], found["replab2013"]
    return join_parts(
        "amigo2020",
        "# Amigó et al., ACL 2020: an effectiveness metric for ordinal classification",
        "The paper proposes CEM_ORD, and compares it with other measures by coverage (how much of what several reference "
        "measures agree on is reflected), on simulated and on real runs, by robustness, and by formal properties. A blog "
        "explains it by pictures; its sentences are tried too.",
        "## Printed numbers",
        show_counts(outcomes),
        "A mark of Table 2 is exact where a counterexample proves it, and matches where a search found none.",
        "## Conclusions, by rule",
        *_show_conclusions(outcomes),
        "## Printed and reproduced, in the order of the paper",
        "### Table 1: metrics of evaluation campaigns",
        show_table(properties, "table1"),
        "### Figure 1: two distributions of papers",
        show_table(examples, "figure1"),
        "### Figure 2: the properties in pictures",
        show_table(examples, "figure2"),
        "### Table 2: properties",
        format_list(properties.notes),
        *(show_table(properties, name) for name in ("table2", "differences", "imbalance", "counterexamples")),
        "### Table 3, left: the synthetic half",
        *show_item([synthetic], "Table 3 (synthetic)"),
        format_list(synthetic.notes),
        show_table(synthetic, "table3_wide"),
        show_table(synthetic, "claims"),
        show_picture(synthetic, "table3", "Every cell of Table 3: printed across, reproduced upwards"),
        show_table(synthetic, "readings"),
        fold(
            "CEM_ORD with all ties, Eq. 1 read literally; the paper's own worked example counts them by half",
            show_table(synthetic, "all_ties"),
            show_table(synthetic, "claims_all_ties"),
        ),
        show_table(synthetic, "table3"),
        "### Table 3, right: the real half, and robustness (§5.4)",
        show_notes([original]),
        *show_item(outcomes, "Table 3"),
        *(show_table(original, name) for name in original.tables),
        show_notes([of_replab]),
        *(show_table(of_replab, name) for name in of_replab.tables),
        format_list(in_kind.notes),
        *(show_table(in_kind, name) for name in in_kind.tables),
        "### Figure 3 and Appendix A: computing CEM_ORD",
        show_table(examples, "figure3"),
        "### Appendix B: counterexamples",
        *(show_table(examples, name) for name in ("appendix_b", "appendix_b_all")),
        "### The blog on CEM",
        *(show_table(examples, name) for name in ("blog", "closeness")),
        "## What went in",
        show_inputs(STUDY["inputs"]),
        "## What is printed against itself",
        show_table(examples, "audit"),
        "What fails:",
        format_list(list_failures(audit.find_checks())),
        "## Caveats",
        format_list(_list_caveats()),
        "## How to make it again",
        show_command("amigo2020", "the real half in kind trains classifiers on first use, with `--full`"),
        "## Data and licence",
        "The synthetic half, Table 2 and the examples need no data. The paper's own collections, the last "
        f"{len(STUDY['collections'])} here, are not public.",
        show_data([*STUDY["in_kind"]["pooled"], replab.NAME, *STUDY["collections"].values()]),
    )


def _show_conclusions(outcomes: Sequence[Outcome]) -> list[str]:
    titles = {
        "synthetic": "From the synthetic half (§5.3)",
        "in_kind": "From the real half (§5.4)",
        "original": "From the real half, the paper's own collections",
        "properties": "From the formal properties (§3.2, §4, §6)",
        "examples": "From worked examples, and of the blog",
    }
    by_source = {one.source: one.verdicts for one in outcomes}
    return [
        part
        for source, title in titles.items()
        if by_source.get(source)
        for part in (f"### {title}", show_verdicts(by_source[source]))
    ]


def _list_caveats() -> list[str]:
    tolerance = STUDY["in_kind"]["tolerance"]
    exchanged = " and ".join(STUDY["exchanged"])
    return [
        "The text leaves many steps of the simulation open. This is one reading; each choice is a parameter of "
        "`experiments.simulate.synthetic`, and those made with the printed numbers in view are marked post hoc above.",
        f"That the rows {exchanged} of Table 3 may be exchanged in print is inferred from the numbers alone.",
        "A search finds counterexamples; it proves no property.",
        "The real half is computed from other collections than the paper's: it can neither confirm nor refute the printed "
        "numbers.",
        f"Collections of classifiers are trained on first use: on another processor single predictions can differ, and "
        f"`--check` allows {tolerance:g} in the folder in_kind.",
        "The blog has no sizes for most of its pictures: what is said of them is said over all fillings of what it leaves "
        "open.",
    ]
