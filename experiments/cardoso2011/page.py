"""The page of the study, in the paper's order: printed beside computed, conclusions, inputs, slips, how to make it again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.cardoso2011.matrices import CAPTIONS, SHOWN, STUDY
from experiments.cardoso2011.steps import PRINT, TRAINED
from experiments.cardoso2011.verdicts import sort_claims
from experiments.comparison import Cell
from experiments.outcome import Outcome
from experiments.page import (
    join_parts,
    link_file,
    show_command,
    show_counts,
    show_inputs,
    show_notes,
    show_picture,
    show_table,
    show_verdicts,
)

PICTURES = {PRINT: ("figure5",)}
AGREED = ("exact", "matches")


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
    printed, trained = found[PRINT], found.get(TRAINED)
    return join_parts(
        "cardoso2011",
        "# Cardoso and Sousa, 2011: measuring the performance of ordinal classification",
        "The paper proposes an index of ordinal classification, OC (here OCI), made of a path through the confusion matrix, "
        "and compares it with other coefficients on matrices in print, on a synthetic set, and on real sets.",
        "## Printed numbers",
        show_counts(outcomes),
        "## Conclusions by rule",
        "The paper's conclusions in its order. Rules were written from the sentences; words that count as numbers stand in "
        "`experiments/bounds.toml`. Enumerations prove nothing beyond the sizes that they state; one exception disproves.",
        show_verdicts(sort_claims(verdict for one in outcomes for verdict in one.verdicts)),
        "## Printed and reproduced, side by side",
        "Cells show print → computed; **differs** marks what is not the same after rounding, or not within the stated error.",
        *_show_matrices(printed),
        *_show_theory(printed),
        *(_show_trained(trained) if trained else []),
        "## Inputs and their provenance",
        show_inputs(STUDY["inputs"]),
        "## Slips in print",
        "Each with the computation that shows it; code is not bent to meet them.",
        show_table(printed, "slips"),
        "## Caveats",
        show_notes(outcomes),
        "## How to make it again",
        show_command(
            "cardoso2011 --full", "without `--full`, few repetitions of Algorithm 1 are tried unless all are kept"
        ),
        *(_explain_processor() if trained else []),
        "## Data and licence",
        "Matrices and numbers are the paper's, transcribed in `experiments/cardoso2011/`. SWD, LEV, ESL, ERA and Balance come "
        "with the package skordinal (BSD 3-Clause), which is not part of this repository; no item or label is kept here. BCCT "
        "is not public.",
    )


def show_side_by_side(cells: Iterable[Cell], link: str, caption: str) -> str:
    """Return printed numbers beside computed ones, one row per matrix or set.

    Parameters
    ----------
    cells : iterable of Cell
        Of one table.
    link : str
        Where its computed numbers are.
    caption : str

    Returns
    -------
    str
        A table in Markdown.
    """
    by_place = {(one.row, one.column): one for one in cells}
    rows, columns = (list(dict.fromkeys(place[side] for place in by_place)) for side in (0, 1))
    lines = [
        f"**{caption}** ([CSV]({link}))",
        "",
        f"| | {' | '.join(SHOWN.get(column, column) for column in columns)} |",
        f"| :-- |{' --: |' * len(columns)}",
        *(f"| {row} | {' | '.join(_show_cell(by_place[row, column]) for column in columns)} |" for row in rows),
    ]
    return "\n".join(lines)


def _show_cell(cell: Cell) -> str:
    if cell.reproduced is None:
        return f"{cell.printed:g} → –"
    mark = "" if cell.verdict in AGREED else f" **{cell.verdict}**"
    return f"{cell.printed:g} → {cell.reproduced:.3f}{mark}"


def _show_matrices(printed: Outcome) -> list[str]:
    return [
        show_side_by_side(
            [one for one in printed.cells if one.item == f"Table {name[-1]}"], link_file(printed, name), caption
        )
        for name, caption in CAPTIONS.items()
    ] + [show_table(printed, "expectations")]


def _show_theory(printed: Outcome) -> list[str]:
    limits = [one for one in printed.cells if one.item == "§4.1"]
    return [
        "### Eq. 8, properties, γ",
        "Print says of Eq. 8 that a β₂ of 1 or more gives OC again, and no price at all MAE / (1 + MAE); it does not explore "
        "the index further.",
        *(show_table(printed, name) for name in ("eq8", "properties", "triples", "gammas-turned", "gammas")),
        "### Figures 4 and 5, limits of §4.1",
        show_table(printed, "figure4"),
        show_side_by_side(limits, link_file(printed, "figure5"), "Limits of §4.1 as K → ∞."),
        show_table(printed, "figure5"),
        show_picture(printed, "figure5", "Coefficients of tridiagonal matrices against the number of classes"),
    ]


def _show_trained(found: Outcome) -> list[str]:
    from experiments.cardoso2011.classifiers import describe_betas, describe_methods

    tables = found.tables
    table6, synthetic = ([one for one in found.cells if one.item.startswith(item)] for item in ("Table 6", "§4.3"))
    chosen = f"table6-beta{STUDY['table6']['fitted_beta']:g}"
    return [
        "### §4.3: classifiers on points drawn here",
        show_side_by_side(
            synthetic,
            link_file(found, "synthetic"),
            "Mean coefficients over splits; printed: the one matrix of Table 5 that the paper shows of each method.",
        ),
        show_table(found, "synthetic-differences"),
        "### Table 6: classifiers on real sets",
        show_side_by_side(table6, link_file(found, chosen), f"{tables[chosen].caption}"),
        f"**β was chosen after the numbers were seen.** {describe_betas(tables['table6-which-beta'].frame)}",
        show_table(found, "table6-which-beta"),
        *(show_table(found, name) for name in tables if name.startswith("table6-beta")),
        describe_methods(tables["table6-differences"].frame),
        show_table(found, "table6-differences"),
        show_table(found, "model-sizes"),
    ]


def _explain_processor() -> list[str]:
    return [
        "Support vector machines and networks are trained in floating point, and another processor, or another version of "
        "the linear algebra, predicts single items differently: `--check` allows "
        f"{STUDY['table6']['tolerance']:g} for every number in the folder `{TRAINED}`. Verdicts there follow from the "
        "committed tables."
    ]
