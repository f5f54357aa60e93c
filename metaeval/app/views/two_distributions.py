"""Page 2: two estimates of a distribution over ordered classes, and which measure prefers which (Sakai, LQ 2021)."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.bars import FIRST, GOLD, HOW_TO, SECOND, Values, show_bars
from metaeval.app.charts import show_chart
from metaeval.app.inputs import format_numbers, parse_classes, parse_shares
from metaeval.app.lessons import find_preset, open_lesson, show_steps
from metaeval.app.pairs import list_sides, say_failures, score_pair, show_sides, sort_pairs, write_scores
from metaeval.app.parts import plain, say_errors, show_part, show_table
from metaeval.errors import MeasureError, MetaevalError
from metaeval.measures import Measure, measures as registered
from metaeval.measures.moves import TIE
from metaeval.measures.quantification import order_aware_divergence
from metaeval.show.cells import format_cell
from metaeval.show.charts import Line, LineChart, Surface

FIELDS = {"gold": "Gold", "p": "First estimate", "q": "Second estimate"}
STEPS = 25
"""Amounts of mass that are tried along each axis."""


def fill(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the inputs of this page."""
    return {
        "gold": format_numbers(preset["gold"]),
        "p": format_numbers(preset["first"]["shares"]),
        "q": format_numbers(preset["second"]["shares"]),
        "estimates": f"{preset['first']['name']}, {preset['second']['name']}",
        "scale": ", ".join(preset["classes"]),
    }


def compare_estimates(
    measures: list[Measure], gold: np.ndarray, first: np.ndarray, second: np.ndarray
) -> list[dict[str, Any]]:
    """Score two estimates by every measure."""
    return sort_pairs([score_pair(measure, np.stack([first, second]), gold) for measure in measures])


def move_mass(shares: np.ndarray, source: int, target: int, amounts: np.ndarray) -> np.ndarray:
    """Return the shares after moving mass from one class to another, shape (amount, K)."""
    moved = np.repeat(shares[None], len(amounts), axis=0)
    moved[:, source] -= amounts
    moved[:, target] += amounts
    return np.clip(moved, 0.0, 1.0)


def spread_mass(shares: np.ndarray, x: int, y: int, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """Return all distributions in which two classes have given shares and the others keep their proportions."""
    grid = np.linspace(0, 1, steps)
    rest = np.delete(np.arange(len(shares)), [x, y])
    weights = shares[rest] if shares[rest].sum() > 0 else np.ones(len(rest))
    spread = np.full((steps, steps, len(shares)), np.nan)
    for i, on_y in enumerate(grid):
        for j, on_x in enumerate(grid):
            left = 1 - on_x - on_y
            if left < -1e-12 or (not len(rest) and abs(left) > 1e-12):
                continue
            spread[i, j, x], spread[i, j, y] = on_x, on_y
            spread[i, j, rest] = max(left, 0.0) * weights / weights.sum() if len(rest) else 0.0
    return grid, spread


def find_surface(
    measure: Measure, gold: np.ndarray, first: np.ndarray, second: np.ndarray, x: int, y: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much the first estimate is better if two of its classes get other shares."""
    grid, spread = spread_mass(first, x, y)
    inside = np.isfinite(spread).all(axis=-1)
    better = np.full(inside.shape, np.nan)
    scores = measure.evaluate(spread[inside], gold)[0]
    better[inside] = measure.sign * (scores - float(measure.evaluate(second, gold)[0]))
    better[np.abs(better) <= TIE] = 0.0
    return grid, better


def show() -> None:
    """Draw the page."""
    lesson, left, right = open_lesson("distributions", "Which estimate is better?", fill)
    with say_errors():
        with st.expander("Type the numbers"):
            classes, gold, first, second, names = _read_fields()
        rows = compare_estimates(list(registered("quantification")), gold, first, second)
        with left:
            show_bars(
                "distributions_bars", [np.stack([gold, first, second]).tolist()], [""], ("gold", *names), classes,
                write_fields, colours=(GOLD, FIRST, SECOND), step=0.01,
            )  # fmt: skip
            st.caption(f"Shares of the classes in gold and in two estimates of it. {HOW_TO}")
        sides = list_sides(rows)
        with right:
            revealed = show_steps("distributions", lesson, names, sides, fill)
        if revealed:
            with left:
                show_sides(names, sides, "Measures")
            _show_scores(rows, first, second, gold, names)
            draw = partial(_show_moves, gold, first, second, names, classes)
            show_part("Where does each measure change sides?", "turns", draw)


def write_fields(values: Values) -> dict[str, str]:
    """Return what the bars write into the inputs of this page."""
    return {key: format_numbers(row) for key, row in zip(FIELDS, values[0], strict=True)}


def _read_fields() -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray, tuple[str, str]]:
    """Return the classes, gold, the two estimates, and their names."""
    for key, label in FIELDS.items():
        st.text_input(f"{label}: shares, or numbers in their proportion", key=key, bind="query-params")
    st.text_input("Names of the two estimates, with a comma", key="estimates", bind="query-params")
    st.text_input("Names of the classes, with commas", key="scale", bind="query-params")
    gold, first, second = (parse_shares(st.session_state[key], label) for key, label in FIELDS.items())
    if not len(gold) == len(first) == len(second):
        raise MeasureError(
            f"Gold has {len(gold)} classes, the estimates {len(first)} and {len(second)}: all need the same"
        )
    names = parse_classes(st.session_state["estimates"], 2)
    return parse_classes(st.session_state["scale"], len(gold)), gold, first, second, (names[0], names[1])


def _show_scores(
    rows: list[dict[str, Any]],
    first: np.ndarray,
    second: np.ndarray,
    gold: np.ndarray,
    names: tuple[str, str],
) -> None:
    st.header("What each measure says")
    shown = find_preset("distributions", fill)
    for state in ("assumed", "derived"):
        if shown.get(state):
            st.caption(f"{state.capitalize()}, because it is not in print: {plain(shown[state])}.")
    printed = shown.get("differences", {})
    table = []
    for row in rows:
        name, delta = str(row["measure"]), format_cell(row["first"] - row["second"], 4)
        delta = f"{delta} ({printed[name]})" if name in printed else delta
        table.append([name, *write_scores(row, names), delta])
    show_table(
        ["measure", "prefers", *names, "difference (printed)" if printed else "difference"],
        table,
        "Scores as metaeval score prints them; lower is better for all shipped measures. Measures that prefer the first "
        "estimate most, on their own range, stand on top",
        text=2,
    )
    say_failures(rows)
    if "OD" in shown.get("first", {}):
        show_table(
            ["estimate", "OD", "printed"],
            [
                [name, format_cell(float(order_aware_divergence(shares, gold)), 4), shown[side]["OD"]]
                for name, shares, side in zip(names, (first, second), ("first", "second"), strict=True)
            ],
            "Order-aware divergence (LQ 2021, Eq. 3)",
        )


def _show_moves(
    gold: np.ndarray, first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]
) -> None:
    positions = range(len(classes))
    left, right = st.columns(2)
    source = left.selectbox(
        f"Move mass of {plain(names[0])} from",
        positions,
        index=int(np.argmax(first)),
        format_func=lambda k: classes[k],
        key="source",
    )
    others = [k for k in positions if k != source]
    target = right.selectbox("to", others, format_func=lambda k: classes[k], key="target")
    amounts = np.linspace(0, first[source], STEPS)
    moved = move_mass(first, source, target, amounts)
    measures, curves = [], []
    for measure in registered("quantification"):
        with contextlib.suppress(MetaevalError):  # said above, under the scores
            better = measure.sign * (measure.evaluate(moved, gold)[0] - measure.evaluate(second, gold)[0])
            curves.append(Line(str(measure), str(measure), amounts, better))
            measures.append(measure)
    show_chart(
        LineChart(curves, "mass moved", f"{names[0]} better by", level=(0.0, ""), marks=8),
        "Curves of every measure: by how much the first estimate is better, over the mass that is moved. Above 0 it wins.",
        width=640,
    )
    rows = [[line.name, describe_turns(amounts, line.y, names)] for line in curves]
    show_table(
        ["measure", "prefers"],
        rows,
        f"As mass moves from {classes[source]} to {classes[target]}: who wins at first, and from which amount that changes",
        text=2,
    )
    measure = st.selectbox("Measure of the map", measures, format_func=str, key="surface")
    if len(classes) > 2:
        grid, better = find_surface(measure, gold, first, second, source, target)
        titles = (f"share of {classes[source]} in {names[0]}", f"share of {classes[target]} in {names[0]}")
        show_chart(
            Surface(better, grid, grid, *titles, names),
            f"Map of which estimate {measure} prefers over the shares of two classes; the others keep their proportions.",
        )


def describe_turns(amounts: np.ndarray, better: np.ndarray, names: tuple[str, str]) -> str:
    """Say which estimate wins at first, and from which amount of moved mass that changes.

    >>> describe_turns(np.array([0, 0.1, 0.2]), np.array([0, 0.3, -0.1]), ("A", "B"))
    'a tie at first; A wins once you move 0.1; B wins once you move 0.2'
    """
    signs = np.where(np.isnan(better), 2, np.where(np.abs(better) <= TIE, 0, np.sign(better))).astype(int)
    words = {1: f"{names[0]} wins", -1: f"{names[1]} wins", 0: "a tie", 2: "not defined"}
    parts = [f"{words[int(signs[0])]} at first"]
    for position in np.flatnonzero(np.diff(signs)) + 1:
        parts.append(f"{words[int(signs[position])]} once you move {amounts[position]:.2g}")
    return "; ".join(parts)
