"""Printed beside reproduced, item by item of a paper: how near each source of data comes, and every number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from experiments.comparison import VERDICTS, Cell
from experiments.outcome import Outcome
from experiments.page import fold

FEWEST = 5
"""Numbers below which no correlation is given."""

Row = tuple[str, str]
"""What a number is called: row and column of comparison.csv."""


def show_item(outcomes: Sequence[Outcome], item: str, kinds: Mapping[str, str] | None = None) -> list[str]:
    """Return how near every source comes to an item of a paper, and folded below it every number.

    Parameters
    ----------
    outcomes : sequence of Outcome
        One a source.
    item : str
        As comparison.csv has it: ``"Table 2"``.
    kinds : mapping of str to str, optional
        Numbers that are compared with each other: names, and a pattern that their columns match. All by default.

    Returns
    -------
    list of str
        Parts in Markdown; none where the paper prints no numbers for it.
    """
    by_source = {one.source: [cell for cell in one.cells if cell.item == item] for one in outcomes}
    by_source = {source: cells for source, cells in by_source.items() if cells}
    if not by_source:
        return []
    parts = [_tabulate_nearness(by_source, kinds or {"all": ""})]
    sources = [name for name, cells in by_source.items() if any(cell.reproduced is not None for cell in cells)]
    if sources:
        parts.append(fold("Every printed number beside what came out", _tabulate_numbers(by_source, sources)))
    return parts


def compare_numbers(cells: Iterable[Cell]) -> tuple[int, float, float]:
    """Return how many numbers were computed, their mean absolute difference from print, and Pearson's correlation.

    Parameters
    ----------
    cells : iterable of Cell

    Returns
    -------
    (int, float, float)
        NaN where there are none, or for a correlation fewer than five or all the same.

    Examples
    --------
    >>> one = [Cell("Table 1", "a", str(k), k, k + 0.5, 0, "in kind", "x") for k in range(5)]
    >>> n, difference, pearson = compare_numbers(one)
    >>> n, difference, round(pearson, 3)
    (5, 0.5, 1.0)
    """
    pairs = np.array([(one.printed, one.reproduced) for one in cells if one.reproduced is not None], dtype=float)
    if not len(pairs):
        return 0, float("nan"), float("nan")
    difference = float(np.abs(pairs[:, 0] - pairs[:, 1]).mean())
    if len(pairs) < FEWEST or (np.ptp(pairs, axis=0) < 1e-12).any():
        return len(pairs), difference, float("nan")
    return len(pairs), difference, float(np.corrcoef(pairs.T)[0, 1])


def _tabulate_nearness(by_source: Mapping[str, Sequence[Cell]], kinds: Mapping[str, str]) -> str:
    lines = [
        "| source | numbers | how they came out | mean \\|difference\\| | Pearson |",
        "| :-- | :-- | :-- | --: | --: |",
    ]
    missing: Counter[str] = Counter()
    for source, cells in by_source.items():
        for kind, pattern in kinds.items():
            chosen = [one for one in cells if re.search(pattern, one.column)]
            n, difference, pearson = compare_numbers(chosen)
            if not n:
                missing[source] += len(chosen)
                continue
            counts = Counter(one.verdict for one in chosen if one.reproduced is not None)
            words = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
            what = f"{n} of {len(chosen)}{'' if len(kinds) == 1 else f', {kind}'}"
            lines.append(f"| {source} | {what} | {words} | {_format(difference)} | {_format(pearson)} |")
    if len(lines) == 2:
        return f"None of the {max(missing.values())} printed numbers can be computed from the data at hand."
    return "\n".join(lines)


def _tabulate_numbers(by_source: Mapping[str, Sequence[Cell]], sources: Sequence[str]) -> str:
    """Return one row for each number that some source has."""
    found = {source: {(one.row, one.column): one for one in by_source[source]} for source in sources}
    printed: dict[Row, float] = {}
    for cells in found.values():
        for key, one in cells.items():
            if one.reproduced is not None:
                printed.setdefault(key, one.printed)
    order: dict[Row, None] = {}
    for cells in by_source.values():
        order |= dict.fromkeys((one.row, one.column) for one in cells)
    lines = [f"| | | printed | {' | '.join(sources)} |", f"| :-- | :-- | --: |{' --: |' * len(sources)}"]
    for key in order:
        if key in printed:
            values = [found[source].get(key) for source in sources]
            texts = [_show(one) for one in values]
            lines.append(f"| {key[0]} | {key[1]} | {_format(printed[key])} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _show(cell: Cell | None) -> str:
    if cell is None or cell.reproduced is None:
        return ""
    return f"**{_format(cell.reproduced)}**" if cell.verdict == "differs" else _format(cell.reproduced)


def _format(value: float) -> str:
    if np.isnan(value):
        return "–"
    if float(value).is_integer() and abs(value) >= 1:
        return f"{value:,.0f}"
    return f"{value:.5f}" if 0 < abs(value) < 0.01 else f"{value:.3f}"
