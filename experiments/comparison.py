"""Printed against reproduced: what every experiment writes as comparison.csv, and how each verdict is reached."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

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

COLUMNS = ("item", "row", "column", "printed", "reproduced", "tolerance", "verdict", "data")


@dataclass(frozen=True)
class Cell:
    """One printed number beside the one computed here.

    Parameters
    ----------
    item, row, column : str
        The table or figure, and where in it.
    printed : float
        As the paper has it.
    reproduced : float or None
        None when it cannot be computed from the data at hand.
    tolerance : float
        How far apart both may be and still agree: half a unit of the last printed digit, or a Monte Carlo error.
    verdict : str
        See `cell`.
    data : str
        The collection it was computed from; empty when unavailable.
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

    Parameters
    ----------
    item, row, column, printed, reproduced, data
        As for `Cell`.
    digits : int, optional
        Digits after the point in print.
    monte_carlo : float, optional
        What random trials may add to the difference; None where nothing is random.
    relation : {"the paper's", "subset", "in kind", "stand-in"}, optional
        How the data that it was computed from are related to those of the paper.

    Returns
    -------
    Cell
        With one of `VERDICTS`. A random number is never ``exact``, however near it comes.

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


def to_frame(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return cells as the frame that becomes comparison.csv."""
    return pd.DataFrame([asdict(one) for one in cells], columns=list(COLUMNS))


def count_best(sources: Iterable[Iterable[Cell]]) -> dict[str, Counter[str]]:
    """Count printed numbers by verdict, each number once, whatever the number of sources that give it.

    Parameters
    ----------
    sources : iterable of iterable of Cell
        The cells of each source of data. What was computed from the nearest data counts.

    Returns
    -------
    dict of str to Counter
        By item, in the order of tables in the paper.

    Examples
    --------
    >>> one = cell("Table 7", "a", "NMD", 175, None)
    >>> two = cell("Table 7", "a", "NMD", 175, 175, data="stc3")
    >>> count_best([[one], [two]])
    {'Table 7': Counter({'exact': 1})}
    """
    best: dict[tuple[str, str, str], Verdict] = {}
    for cells in sources:
        for one in cells:
            key = (one.item, one.row, one.column)
            best[key] = min(best.get(key, one.verdict), one.verdict, key=list(VERDICTS).index)
    counted: dict[str, Counter[str]] = {}
    for item in sorted(dict.fromkeys(item for item, _, _ in best), key=_order_item):
        counted[item] = Counter(verdict for (name, _, _), verdict in best.items() if name == item)
    return counted


def _order_item(item: str) -> tuple[int, list[int]]:
    """Sort Table 10 after Table 9, tables before figures, and what has another name last."""
    kind = next((place for place, word in enumerate(("Table", "Figure")) if item.startswith(word)), 2)
    return kind, [int(number) for number in re.findall(r"\d+", item)] if kind < 2 else []
