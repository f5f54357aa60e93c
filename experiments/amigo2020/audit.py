"""The paper's formulas, text and tables against each other: what is printed twice, or follows from what is printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.old.audits import Check, rounds_to
from experiments.old.outcome import read_toml
from metaeval.analyses.properties import PROPERTIES
from metaeval.measures.closeness import proximity

PRINTED = read_toml(Path(__file__).parent / "printed.toml")
FIGURE3 = PRINTED["figure3"]
SAME = 1e-9


def find_checks() -> Iterator[Check]:
    """Yield every check of what the paper prints."""
    yield from check_sums()
    yield from check_proof()
    yield from check_marks()
    yield from check_best()


def check_sums() -> Iterator[Check]:
    """Yield whether the printed formula of prox gives the printed closenesses of Figure 3."""
    gold, names = np.array(FIGURE3["gold"]), FIGURE3["classes"]
    for i, values in enumerate(FIGURE3["proximity"].values()):
        for j, printed in enumerate(values):
            literal = -np.log2((gold[i] / 2 + gold[i + 1 : j + 1].sum()) / gold.sum())
            yield Check(
                "§3.1",
                "prox(c_i, c_j), its sum taken from i + 1 to j as printed, is the closeness printed in Figure 3",
                rounds_to(float(literal), printed, 2),
                f"{names[i]} for {names[j]}",
                f"{literal:.2f}, printed {printed:.2f}: for i > j the sum is empty and has to run from j to i − 1",
            )


def check_proof() -> Iterator[Check]:
    """Yield whether the displays in the proof of imbalance are differences of two closenesses, on Figure 3's gold."""
    gold, names = np.array(FIGURE3["gold"]), FIGURE3["classes"]
    closeness = proximity(gold)
    for i, j in ((0, 1), (1, 0), (1, 2), (2, 1)):
        wanted = closeness[i, j] - closeness[i, i]
        for display, own in (("first", gold[i]), ("second", gold[i] / 2)):
            found = -np.log2((gold[i] + gold[j] / 2) / gold.sum()) + np.log2(own / gold.sum())
            yield Check(
                "Appendix C",
                f"the {display} display for imbalance is the change of closeness when an item is moved",
                abs(found - wanted) <= SAME,
                f"from {names[i]} to {names[j]}",
                f"{found:.2f} instead of {wanted:.2f}: the last n_i lacks the half that the next display has",
            )


def check_marks() -> Iterator[Check]:
    """Yield whether the marks of Table 2 are what §4.2 says in words."""
    for one in PRINTED["said"]:
        for row in one["rows"]:
            mark = PRINTED["properties"][row][PROPERTIES.index(one["property"])]
            yield Check(
                "Table 2",
                "the mark is what §4.2 says in words",
                mark == one["has"],
                f"{row}, {one['property']}",
                f"the text {'gives' if one['has'] else 'denies'} it, the table has {'✓' if mark else '–'}",
            )


def check_best() -> Iterator[Check]:
    """Yield whether CEM_ORD, in bold in every column of the synthetic half, has the highest number of it."""
    table = PRINTED["synthetic"]
    for c in range(len(table["CEM_ORD"])):
        best = max(table, key=lambda row: table[row][c])
        yield Check(
            "Table 3",
            "the number in bold is the highest of its column",
            best == "CEM_ORD",
            f"column {c + 1} of the synthetic half",
            f"{best} is higher",
        )
