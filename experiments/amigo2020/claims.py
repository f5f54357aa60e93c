"""What abstract, results and conclusion of Amigó et al. (ACL 2020) claim, tried on the committed tables."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.amigo2020.steps import PRINTED, ROWS, STUDY
from experiments.claims import Answer, claim, every, is_above, is_at_most
from experiments.page import Folder

CAMPAIGNS = (
    "Acc", "Reliability and Sensitivity", "MSE", "F-measure avg. across classes", "Linear correlation", "Macro Avg Acc",
    "Macro Avg. MAE",
)  # fmt: skip
"""The measures of Table 1."""


def leads(tables: Folder, over: str) -> Iterator[tuple[str, float, float, float]]:
    """Yield by how much CEM_ORD is ahead in each column of our simulation; ends over seeds."""
    for row in tables.read("leads").query(f"over == '{over}'").itertuples():
        yield f"{row.column}: ahead of {over} by", row.lead, row.smallest, row.largest


@claim("§5.3; §1; §6 (iii)", "CEM^ORD improves all other metrics")
def best_of_the_simulation(tables: Folder) -> Answer:
    """In each of the six columns no measure has a higher coverage than CEM_ORD; ends of figures are over seeds."""
    return every(is_above(name, lead, -1e-9, low, high) for name, lead, low, high in leads(tables, "all others"))


@claim("§5.3", "including the individual metrics used as a reference via UIR (MI, Kendall, and Accuracy)")
def above_its_references(tables: Folder) -> Answer:
    """In each column CEM_ORD has a higher coverage than each of the three."""
    return every(is_above(name, lead, 0, low, high) for name, lead, low, high in leads(tables, "references"))


@claim("§5.3", "the flat (not logarithmic) version CEM^ORD_flat performs systematically worse than the original metric")
def flat_is_worse(tables: Folder) -> Answer:
    """In each column it has a lower coverage than CEM_ORD."""
    return every(is_above(name, lead, 0, low, high) for name, lead, low, high in leads(tables, "flat"))


@claim(
    "§5.4; §6 (iii)",
    "CEM^ORD is the top performer in four datasets, and the second best (with a minimal difference of 0.01 […]) "
    "in the other two",
)
def best_of_real_runs(tables: Folder) -> Answer:
    """By its own Table 3, right (its runs are not public): on no collection is another measure higher by more than 0.01."""
    table = {row: [float(text) for text in texts] for row, texts in PRINTED["Table 3"].items()}
    gaps = [table["CEM_ORD"][c] - max(values[c] for values in table.values()) for c in range(6)]
    return every(is_above("ahead by", round(gap, 2), -0.0101) for gap in gaps)


@claim("§6 (iii)", "it is as robust as the best state-of-the-art metrics")
def as_robust_as_the_best(_: Folder) -> Answer:
    """By its own numbers: none of the measures whose mean robustness §5.4 gives has a higher one, to two decimals."""
    values = STUDY["robustness"]
    return every(is_at_most(name, value, values["CEM_ORD"]) for name, value in values.items())


def has(tables: Folder, row: str, name: str, column: str = "counterexamples") -> Answer:
    """Say whether no counterexample was found: one proves that a property is lacking, none proves nothing."""
    found = tables.read("marks").set_index(["measure", "property"]).loc[(row, name)]
    return is_at_most(f"counterexamples of {row} to {name}", int(found[column]), 0)


def lacks_one(tables: Folder, row: str, names: tuple[str, ...], column: str = "counterexamples") -> Answer:
    """Say whether a measure lacks at least one of some properties."""
    answers = [has(tables, row, name, column) for name in names]
    return Answer(
        any(one.holds is False for one in answers), tuple(figure for one in answers for figure in one.figures)
    )


ALL = ("ordinal invariance", "ordinal monotonicity", "imbalance")


@claim("§4.2; §6 (iii)", "CEM^ORD is the only metric that satisfies the three properties")
def only_cem_has_all_properties(tables: Folder) -> Answer:
    """CEM_ORD has all three while no gold class is empty, and every other measure of Table 2 lacks one."""
    own = [has(tables, "CEM_ORD", name) for name in ALL]
    return every([*own, *(lacks_one(tables, row, ALL) for row in ROWS if row != "CEM_ORD")])


@claim("§4.2, Appendix C", "provided that there are no empty classes in the gold standard")
def empty_classes_matter(tables: Folder) -> Answer:
    """With empty gold classes CEM_ORD lacks at least one of the three properties."""
    return lacks_one(tables, "CEM_ORD", ALL, "with empty classes")


@claim(
    "Abstract; Table 1",
    "the most popular evaluation metrics for ordinal classification tasks either ignore relevant information […] or assume "
    "additional information",
)
def popular_measures_ignore_or_assume(tables: Folder) -> Answer:
    """Each measure of Table 1 lacks ordinal monotonicity (it ignores the order) or invariance (it assumes distances)."""
    return every(lacks_one(tables, row, ALL[:2]) for row in CAMPAIGNS)
