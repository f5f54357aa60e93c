"""Two candidates, scored by every measure: which one each prefers, and what cannot be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.measures import evaluate
from metaeval.app.parts import escape, plain
from metaeval.errors import MetaevalError
from metaeval.measures import Measure
from metaeval.measures.moves import TIE
from metaeval.show.text import format_cell


def score_pair(measure: Measure, *arrays: Any) -> dict[str, Any]:
    """Score two candidates by a measure."""
    nothing = dict.fromkeys(("first", "second", "difference", "share"), np.nan)
    row = {"measure": measure, **nothing, "undefined": False, "error": ""}
    try:
        scores, undefined = evaluate(measure, *arrays)
    except MetaevalError as error:
        return {**row, "error": str(error)}
    first, second = (float(score) for score in scores)
    with np.errstate(invalid="ignore"):
        difference = float(measure.sign * (np.float64(first) - second))
    difference = 0.0 if abs(difference) <= TIE else difference
    share = difference / (measure.range[1] - measure.range[0]) if np.isfinite(measure.range).all() else np.nan
    values = {"first": first, "second": second, "difference": difference, "share": share}
    return {**row, **values, "undefined": bool(undefined.any())}


def sort_pairs(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the measures on top that prefer the first candidate most, each on its own scale.

    Of those that prefer the same candidate, measures without bounds stand nearest to the middle. Those without a score
    are last.
    """

    def rank(row: dict[str, Any]) -> float:
        if row["difference"] != row["difference"]:
            return np.inf
        return -float(np.sign(row["difference"])) * 1e-12 if row["share"] != row["share"] else -float(row["share"])

    return sorted(rows, key=rank)


SIDES = ("first", "second", "tie")
EVEN = "a tie"
"""What pages call it when neither candidate is better."""


def find_side(difference: float) -> str:
    """Return which of two candidates is better: none where the difference is not a number.

    >>> [find_side(one) for one in (0.5, -0.5, 0.0, float("nan"))]
    ['first', 'second', 'tie', '']
    """
    return "first" if difference > 0 else "second" if difference < 0 else "tie" if difference == 0 else ""


def name_winner(difference: float, names: tuple[str, str]) -> str:
    """Return the name of the better candidate; a dash where there is no score.

    >>> [name_winner(one, ("A", "B")) for one in (0.5, -0.5, 0.0, float("nan"))]
    ['A', 'B', 'a tie', '–']
    """
    return dict(zip(SIDES, (*names, EVEN), strict=True)).get(find_side(difference), "–")


def write_scores(row: dict[str, Any], names: tuple[str, str]) -> list[str]:
    """Return cells of a table: which candidate a measure prefers, and the scores of both."""
    return [name_winner(row["difference"], names), *(format_cell(row[side], 4) for side in ("first", "second"))]


def list_sides(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return which candidate each measure prefers."""
    return {str(row["measure"]): find_side(row["difference"]) for row in rows}


def show_sides(names: Sequence[str], sides: dict[str, str], judges: str) -> None:
    """Say how many prefer which of two candidates, and list them."""
    lists = ""
    for side, name in zip(SIDES, (*names, EVEN), strict=True):
        listed = [judge for judge, preferred in sides.items() if preferred == side]
        lists += (
            f'<div class="{side}"><strong>{escape(name)}: {len(listed)} of {len(sides)}</strong>'
            f"<span>{escape(', '.join(listed))}</span></div>"
        )
    st.html(f'<section class="me-sides" aria-label="{judges} by what they prefer">{lists}</section>')


def say_failures(rows: Sequence[dict[str, Any]]) -> None:
    """Say, below a table of scores, what is wrong with the measures that have none."""
    for error in dict.fromkeys(row["error"] for row in rows if row["error"]):
        st.caption(plain(error))
