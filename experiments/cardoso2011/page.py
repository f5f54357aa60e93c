"""The page of the study, in the paper's order: printed beside computed, conclusions, inputs, slips, how to make it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from experiments.cardoso2011.judging import sort_claims
from experiments.cardoso2011.matrices import CAPTIONS, SHOWN, STUDY
from experiments.cardoso2011.steps import PRINT, TRAINED
from experiments.comparison import Cell
from experiments.outcome import Outcome
from experiments.page import (
    fold,
    format_list,
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
        "## Conclusions of the paper, by rule",
        "In its order. What words count as stands in `experiments/bounds.toml`, what was tried in the last column.",
        show_verdicts(sort_claims(verdict for one in outcomes for verdict in one.verdicts)),
        "## Printed and reproduced, in the order of the paper",
        "Cells show print → computed; **differs** marks what is not the same after rounding or, where it is random, not within "
        "the stated error.",
        *_show_in_order(printed, trained),
        "## What went in",
        show_inputs(STUDY["inputs"]),
        "## Slips in print",
        show_table(printed, "slips"),
        "## Caveats",
        show_notes(outcomes),
        "Chosen with the paper's numbers in view:",
        format_list(
            f"{one['name']} ({one['value']}): {one['where']}" for one in STUDY["inputs"] if "post hoc" in one["where"]
        ),
        "## How to make it again",
        show_command(
            "cardoso2011 --full",
            "without `--full`, few repetitions of Algorithm 1 are tried unless all are kept. `--render OUT` also draws Figures "
            "1 to 3, 4, 6 and 7",
        ),
        _explain_processor() if trained else "",
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
    words = Counter(one.verdict for one in by_place.values())
    return "\n".join([*lines, "", ", ".join(f"{n} {word}" for word, n in words.items()) + "."])


def _show_cell(cell: Cell) -> str:
    digits = next((d for d in (1, 2, 3) if abs(cell.tolerance - 0.5 * 10.0**-d) < 1e-12), 2)
    printed = f"{cell.printed:.{digits}f}"
    if cell.reproduced is None:
        return f"{printed} → –"
    return f"{printed} → {cell.reproduced:.3f}{' **differs**' * (cell.verdict == 'differs')}"


def _show_in_order(printed: Outcome, trained: Outcome | None) -> list[str]:
    limits = [one for one in printed.cells if one.item == "§4.1"]
    return [
        "### §2: Table 1",
        _show_matrices(printed, "table1"),
        "### §3: Eq. 8, properties, a single item (Figure 4)",
        "Print says of Eq. 8 that a β₂ of 1 or more gives OC again, and no price at all MAE / (1 + MAE); it does not explore "
        "the index further.",
        *(show_table(printed, name) for name in ("eq8", "properties")),
        fold("Figure 4 as a table", show_table(printed, "figure4")),
        "### §4: other γ",
        show_table(printed, "gammas-turned"),
        fold("OC of every matrix by γ", show_table(printed, "gammas")),
        "### §4.1: Figure 5",
        show_side_by_side(limits, link_file(printed, "figure5"), "Limits of §4.1 as K → ∞."),
        show_picture(printed, "figure5", "Coefficients of tridiagonal matrices against the number of classes"),
        fold("Figure 5 as a table", show_table(printed, "figure5")),
        "### §4.2: Tables 2 to 4",
        *(_show_matrices(printed, name) for name in ("table2", "table3", "table4")),
        "### §4.3: Table 5",
        _show_matrices(printed, "table5"),
        *(_show_synthetic(trained) if trained else []),
        "### All expectations of §2 and §4",
        show_table(printed, "expectations"),
        *(_show_table6(trained) if trained else []),
        "### Appendix A",
        show_table(printed, "triples"),
    ]


def _show_matrices(printed: Outcome, name: str) -> str:
    cells = [one for one in printed.cells if one.item == f"Table {name[-1]}"]
    return show_side_by_side(cells, link_file(printed, name), CAPTIONS[name])


def _show_synthetic(found: Outcome) -> list[str]:
    return [
        show_side_by_side(
            [one for one in found.cells if one.item.startswith("§4.3")],
            link_file(found, "synthetic"),
            "Mean coefficients over splits of points drawn here; printed: the one matrix of Table 5 that the paper shows of "
            "each method.",
        ),
        show_table(found, "synthetic-differences"),
    ]


def _show_table6(found: Outcome) -> list[str]:
    from experiments.cardoso2011.classifiers import describe_betas, describe_methods

    tables = found.tables
    chosen = f"table6-beta{STUDY['table6']['fitted_beta']:g}"
    cells = [one for one in found.cells if one.item == "Table 6"]
    return [
        "### §4.4: Table 6",
        show_side_by_side(cells, link_file(found, chosen), tables[chosen].caption),
        f"**β was chosen after the numbers were seen.** {describe_betas(tables['table6-which-beta'].frame)}",
        show_table(found, "table6-which-beta"),
        fold(
            "Means and standard deviations by β, with ERA",
            *(show_table(found, name) for name in tables if name.startswith("table6-beta")),
        ),
        describe_methods(tables["table6-differences"].frame),
        show_table(found, "table6-differences"),
        show_table(found, "model-sizes"),
    ]


def _explain_processor() -> str:
    return (
        "Support vector machines and networks are trained in floating point, and another processor, or another version of "
        f"the linear algebra, predicts single items differently: `--check` allows {STUDY['table6']['tolerance']:g} for every "
        f"number in the folder `{TRAINED}`. Verdicts there follow from the committed tables."
    )
