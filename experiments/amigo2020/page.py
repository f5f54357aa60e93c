"""The page of the study: the printed tables beside what came out, and what did not."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.amigo2020.real import describe_robustness
from experiments.amigo2020.synthetic import STUDY, describe_claims
from experiments.outcome import Outcome
from experiments.page import format_list, join_parts, show_command, show_counts, show_notes, show_picture, show_table

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
    original, in_kind, replab = found["original"], found["in_kind"], found["replab2013"]
    return join_parts(
        "amigo2020",
        "# Amigó et al., ACL 2020: an effectiveness metric for ordinal classification",
        "The paper proposes CEM_ORD, and compares it with other measures by coverage (how much of what several reference "
        "measures agree on is reflected), on simulated and on real runs, by robustness, and by formal properties.",
        show_command("amigo2020", "the real half in kind trains classifiers on first use, with `--full`"),
        "## Printed numbers",
        show_counts(outcomes),
        "## Table 3, the synthetic half",
        format_list(synthetic.notes),
        show_table(synthetic, "table3_wide"),
        describe_claims(synthetic.tables["claims"].frame),
        show_table(synthetic, "claims"),
        show_picture(synthetic, "table3", "Every cell of Table 3: printed across, reproduced upwards"),
        *(show_table(synthetic, name) for name in ("readings", "all_ties")),
        f"With all ties counted: {describe_claims(synthetic.tables['claims_all_ties'].frame)} The paper's own worked example "
        "counts half of them."
        if "claims_all_ties" in synthetic.tables
        else "",
        *(show_table(synthetic, name) for name in ("claims_all_ties", "table3")),
        "## Table 3, the real half, and robustness (§5.4)",
        show_notes([original]),
        *(show_table(original, name) for name in original.tables),
        show_notes([replab]),
        *(show_table(replab, name) for name in replab.tables),
        format_list(in_kind.notes),
        f"Some of these collections are runs of classifiers that are trained here: on another processor single predictions "
        f"differ, and `--check` allows {STUDY['in_kind']['tolerance']:g} in this folder. {STUDY['in_kind']['seen']}",
        show_table(in_kind, "coverage"),
        show_table(in_kind, "robustness"),
        describe_robustness(in_kind.tables["robustness"].frame) if "robustness" in in_kind.tables else "",
        *(show_table(in_kind, name) for name in in_kind.tables if name not in ("coverage", "robustness")),
        "## Table 2: properties",
        format_list(properties.notes),
        *(show_table(properties, name) for name in ("table2", "differences", "imbalance", "counterexamples")),
        "## Worked examples",
        format_list(examples.notes),
        *(show_table(examples, name) for name in ("appendix_b", "blog", "closeness")),
    )
