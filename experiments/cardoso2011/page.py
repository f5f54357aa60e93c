"""The page of the study: printed tables beside what came out, slips in print, and what depends on the processor."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.cardoso2011.matrices import CAPTIONS, STUDY
from experiments.cardoso2011.steps import PRINT, TRAINED
from experiments.outcome import Outcome
from experiments.page import format_list, join_parts, show_command, show_counts, show_picture, show_table

PICTURES = {PRINT: ("figure5",)}
SLIPS = (
    "Table 3, CM4: MAE is 6/7 = 0.857, printed 0.85.",
    "Table 4, CM5: no value of the row follows from the printed matrix, all of them follow with the second row [0 0 1 1].",
    "§4.3: the rule 10 (∏ xᵢ − 0.5) + ε is to be read 10 ∏ (xᵢ − 0.5) + ε, by which points fall into classes as in CM10.",
    "Algorithm 1 keeps the parameters with the largest value; OCI is an error, and the smallest is meant.",
    "M is printed as (Σ n |r − c|)^γ in the text before Eq. 7 and as (Σ n |r − c|^γ)^(1/γ) in it; the latter is used.",
    "Neither β nor the parameter grid of Table 6 is stated.",
)


def write_page(outcomes: Sequence[Outcome]) -> str:
    """Return the page, results/cardoso2011/README.md.

    Parameters
    ----------
    outcomes : sequence of Outcome

    Returns
    -------
    str
        Markdown.
    """
    found = {one.source: one for one in outcomes}
    printed = found[PRINT]
    return join_parts(
        "cardoso2011",
        "# Cardoso and Sousa, 2011: measuring the performance of ordinal classification",
        "The paper proposes an index of ordinal classification, OC (here OCI), made of a path through the confusion matrix, "
        "and compares it with six coefficients on matrices in print, on a synthetic set, and on real sets.",
        show_command(
            "cardoso2011 --full", "without `--full`, two repetitions of Algorithm 1 instead of fifty are tried"
        ),
        "## Printed numbers",
        show_counts(outcomes),
        "Slips and gaps in print:",
        format_list(SLIPS),
        "## Tables 1 to 5",
        *(show_table(printed, name) for name in CAPTIONS),
        "## Figures 4 and 5",
        *(show_table(printed, name) for name in ("figure4", "figure5")),
        show_picture(printed, "figure5", "Coefficients of tridiagonal matrices against the number of classes"),
        *_show_trained(found.get(TRAINED)),
    )


def _show_trained(found: Outcome | None) -> list[str]:
    if found is None:
        return []
    from experiments.cardoso2011.classifiers import describe_betas, describe_methods

    tables = found.tables
    return [
        "## Table 6 and §4.3: classifiers",
        "Frank and Hall's method and data replication (oSVM) with linear support vector machines, on the sets that the "
        "package skordinal brings; the grid is C ∈ {0.01, 0.1, 1, 10} on standardised features. BCCT is not public, ERA is "
        "not in the paper.",
        f"**These numbers depend on the processor.** Support vector machines and networks are trained in floating point, and "
        f"another processor, or another version of the linear algebra, predicts single items differently. `--check` allows "
        f"{STUDY['table6']['tolerance']:g} for every number in this folder, and verdicts follow their numbers. "
        f"{STUDY['table6']['seen']}",
        *(show_table(found, name) for name in tables if name.startswith("table6-beta")),
        describe_betas(tables["table6-which-beta"].frame),
        show_table(found, "table6-which-beta"),
        describe_methods(tables["table6-never-worse"].frame),
        show_table(found, "table6-never-worse"),
        show_table(found, "synthetic"),
    ]
