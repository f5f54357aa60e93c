"""Printed against reproduced: what every experiment writes as comparison.csv, and how each verdict is reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

import pandas as pd

Verdict = Literal["exact", "within", "differs", "in-kind", "unavailable"]
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
    monte_carlo: float = 0.0,
    same_data: bool = True,
) -> Cell:
    """Compare one number and give the verdict.

    Parameters
    ----------
    item, row, column, printed, reproduced, data
        As for `Cell`.
    digits : int, optional
        Digits after the point in print.
    monte_carlo : float, optional
        What random trials may add to the difference.
    same_data : bool, optional
        Whether it was computed from the very data of the paper.

    Returns
    -------
    Cell
        ``exact``: the same after rounding to the printed digits. ``within``: not so, but within the
        tolerance. ``differs``: beyond it. ``in-kind``: computed from other data, so that no agreement is
        claimed. ``unavailable``: not computed.

    Examples
    --------
    >>> cell("Table 7", "STC-3 DQ-A", "NMD uni", 175, 175, data="stc3-dq-a").verdict
    'exact'
    >>> cell("Figure 3", "A", "CEM^ORD", 0.71, 0.7117, data="the figure", digits=2).verdict
    'exact'
    """
    half_unit = 0.5 * 10.0**-digits
    tolerance = monte_carlo + (half_unit if digits else 0.0)
    verdict: Verdict
    if reproduced is None:
        verdict = "unavailable"
    elif not same_data:
        verdict = "in-kind"
    elif abs(reproduced - printed) <= (half_unit if digits else 0.0) + 1e-9:
        verdict = "exact"
    else:
        verdict = "within" if abs(reproduced - printed) <= tolerance + 1e-9 else "differs"
    return Cell(item, row, column, printed, reproduced, tolerance, verdict, data if reproduced is not None else "")


def to_frame(cells: Iterable[Cell]) -> pd.DataFrame:
    """Return cells as the frame that becomes comparison.csv."""
    return pd.DataFrame([asdict(one) for one in cells], columns=list(COLUMNS))


def summary(cells: Iterable[Cell]) -> str:
    """Say in one line what agreed: ``36 exact, 48 unavailable``."""
    counted = Counter(one.verdict for one in cells)
    order: tuple[Verdict, ...] = ("exact", "within", "in-kind", "differs", "unavailable")
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in order if counted[verdict])
