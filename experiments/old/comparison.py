"""Printed against reproduced: what every experiment writes as comparison.csv, and how each verdict is reached."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

Verdict = Literal["exact", "matches", "differs", "subset", "in kind", "stand-in", "unavailable"]

VERDICTS: dict[Verdict, str] = {
    "exact": "deterministic, and the same after rounding",
    "matches": "random, and within the stated Monte Carlo and rounding error of print",
    "differs": "computed from the paper's data or definition, and not the same",
    "subset": "computed from a part of the paper's data, so that no agreement is claimed",
    "in kind": "computed from other real data, so that no agreement is claimed",
    "stand-in": "computed from simulated data of the paper's shape, so that no agreement is claimed",
    "unavailable": "not computed: its data are not public",
}
"""What can be said of a printed number, and what it means. The nearest to the paper's own data first."""

Relation = Literal["the paper's", "subset", "in kind", "stand-in"]
"""How the data that a number was computed from are related to those of the paper."""

FEWEST = 5
"""Numbers below which no correlation is given."""

ALL = "**all**"
"""The row of the total in the table of printed numbers."""

PRINTED = "printed"
"""The column of the numbers that ours are compared with, where it has no other name."""

COLUMNS = ("item", "row", "column", PRINTED, "reproduced", "tolerance", "verdict", "data")


@dataclass(frozen=True)
class Cell:
    """One printed number beside the one computed here, None where that cannot be computed from the data at hand.

    Within the tolerance both agree: half a unit of the last printed digit, and a Monte Carlo error where there is one.
    """

    item: str
    row: str
    column: str
    printed: float
    reproduced: float | None
    tolerance: float
    verdict: Verdict
    data: str


def cell(
    item: str,
    row: str,
    column: str,
    printed: float,
    reproduced: float | None,
    *,
    data: str = "",
    digits: int = 0,
    monte_carlo: float | None = None,
    relation: Relation = "the paper's",
) -> Cell:
    """Compare one number and give the verdict.

    Examples
    --------
    >>> cell("Table 7", "STC-3 DQ-A", "NMD uni", 175, 175, data="stc3-dq-a").verdict
    'exact'
    >>> cell("Figure 3", "A", "CEM^ORD", 0.71, 0.7117, data="the figure", digits=2).verdict
    'exact'
    >>> cell("Table 3", "a", "NMD", 175, 175, data="dialeval1-dq-a", monte_carlo=4).verdict
    'matches'
    >>> cell("Table 3", "a", "NMD", 175, 175, data="stc3-dq-a", monte_carlo=4, relation="in kind").verdict
    'in kind'
    """
    tolerance = (0.5 * 10.0**-digits if digits else 0.0) + (monte_carlo or 0.0)
    verdict: Verdict
    if reproduced is None:
        verdict = "unavailable"
    elif relation != "the paper's":
        verdict = relation
    elif abs(reproduced - printed) > tolerance + 1e-9:
        verdict = "differs"
    else:
        verdict = "exact" if monte_carlo is None else "matches"
    return Cell(item, row, column, printed, reproduced, tolerance, verdict, data if reproduced is not None else "")


def to_frame(cells: Iterable[Cell], beside: str = PRINTED) -> pd.DataFrame:
    """Return cells as the frame that becomes comparison.csv; `beside` names what ours are compared with."""
    return pd.DataFrame([asdict(entry) for entry in cells], columns=list(COLUMNS)).rename(columns={PRINTED: beside})


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a comparison.csv."""
    rows = pd.read_csv(path, dtype={"row": str, "column": str}, keep_default_na=False, na_values={"reproduced": [""]})
    rows.columns = list(COLUMNS)
    return [
        Cell(**{**row, "reproduced": None if pd.isna(row["reproduced"]) else row["reproduced"]})
        for row in rows.to_dict("records")
    ]


def format_counts(counts: Mapping[str, Counter[str]]) -> list[str]:
    """Return how many printed numbers came out how, as rows of a table in Markdown, the last one with the total."""
    rows = {**counts, ALL: sum(counts.values(), Counter())} if counts else {}
    return [
        f"| {item} | {sum(each.values())} | {' | '.join(str(each[verdict]) for verdict in VERDICTS)} |"
        for item, each in rows.items()
    ]


def count_best(sources: Iterable[Iterable[Cell]]) -> dict[str, Counter[str]]:
    """Count printed numbers by verdict, each number once, whatever the number of sources that give it.

    Examples
    --------
    >>> one = cell("Table 7", "a", "NMD", 175, None)
    >>> two = cell("Table 7", "a", "NMD", 175, 175, data="stc3")
    >>> count_best([[one], [two]])
    {'Table 7': Counter({'exact': 1})}
    """
    best: dict[tuple[str, str, str], Verdict] = {}
    for cells in sources:
        for entry in cells:
            key = (entry.item, entry.row, entry.column)
            best[key] = min(best.get(key, entry.verdict), entry.verdict, key=list(VERDICTS).index)
    counted: dict[str, Counter[str]] = {}
    for item in sorted(dict.fromkeys(item for item, _, _ in best), key=_order_item):
        counted[item] = Counter(verdict for (name, _, _), verdict in best.items() if name == item)
    return counted


def compare_numbers(cells: Iterable[Cell]) -> tuple[int, float, float]:
    """Return how many numbers were computed, their mean absolute difference from print, and Pearson's correlation.

    NaN where there are none, or for a correlation fewer than five or all the same.

    Examples
    --------
    >>> one = [Cell("Table 1", "a", str(k), k, k + 0.5, 0, "in kind", "x") for k in range(5)]
    >>> n, difference, pearson = compare_numbers(one)
    >>> n, difference, round(pearson, 3)
    (5, 0.5, 1.0)
    """
    pairs = np.array(
        [(entry.printed, entry.reproduced) for entry in cells if entry.reproduced is not None], dtype=float
    )
    if not len(pairs):
        return 0, float("nan"), float("nan")
    difference = float(np.abs(pairs[:, 0] - pairs[:, 1]).mean())
    if len(pairs) < FEWEST or (np.ptp(pairs, axis=0) < 1e-12).any():
        return len(pairs), difference, float("nan")
    return len(pairs), difference, float(np.corrcoef(pairs.T)[0, 1])


def format_number(value: float) -> str:
    """Return a number as pages show it beside the printed one."""
    if np.isnan(value):
        return "–"
    if float(value).is_integer() and abs(value) >= 1:
        return f"{value:,.0f}"
    return f"{value:.5f}" if 0 < abs(value) < 0.01 else f"{value:.3f}"


def _order_item(item: str) -> tuple[int, list[int]]:
    """Sort Table 10 after Table 9, tables before figures, and what has another name last."""
    kind = next((rank for rank, kind_name in enumerate(("Table", "Figure")) if item.startswith(kind_name)), 2)
    return kind, [int(number) for number in re.findall(r"\d+", item)] if kind < 2 else []
