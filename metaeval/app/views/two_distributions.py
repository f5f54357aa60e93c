"""Page 3: two estimates of a distribution over ordered classes, and which measure prefers which (Sakai, LQ 2021)."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.charts import show_chart
from metaeval.app.inputs import format_numbers, parse_classes, parse_shares
from metaeval.app.measures import evaluate, find_measures
from metaeval.app.pairs import format_share, name_winner, say_failures, score_pair, sort_pairs
from metaeval.app.parts import choose_preset, find_preset, format_score, link_numbers, plain, say_errors, show_table
from metaeval.errors import MeasureError, MetaevalError
from metaeval.measures import Measure
from metaeval.measures.moves import TIE
from metaeval.measures.order_aware import order_aware_divergence
from metaeval.show.charts import BarChart, Line, LineChart, Surface

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
    scores = evaluate(measure, spread[inside], gold)[0]
    better[inside] = measure.sign * (scores - float(evaluate(measure, second, gold)[0]))
    better[np.abs(better) <= TIE] = 0.0
    return grid, better


def show() -> None:
    """Draw the page."""
    st.title("Two distributions")
    st.markdown(
        "Two runs have estimated how a gold distribution spreads over ordered classes. Which estimate is better depends on the "
        "measure: move mass between classes and see where each measure changes its mind."
    )
    choose_preset("distributions", "distributions_example", fill)
    with say_errors():
        left, right = st.columns(2)
        with left:
            for key, words in (("gold", "Gold"), ("p", "First estimate"), ("q", "Second estimate")):
                st.text_input(f"{words}: shares, or numbers in their proportion", key=key, bind="query-params")
            st.text_input("Names of the two estimates, with a comma", key="estimates", bind="query-params")
            st.text_input("Names of the classes, with commas", key="scale", bind="query-params")
        gold, first, second = (
            parse_shares(st.session_state[key], words)
            for key, words in (("gold", "gold"), ("p", "first estimate"), ("q", "second estimate"))
        )
        if not len(gold) == len(first) == len(second):
            raise MeasureError(
                f"gold has {len(gold)} classes, the estimates {len(first)} and {len(second)}: all need the same"
            )
        classes = parse_classes(st.session_state["scale"], len(gold))
        names = parse_classes(st.session_state["estimates"], 2)
        with right:
            show_chart(
                BarChart({"gold": gold, names[0]: first, names[1]: second}, classes, "class", "share"),
                "Bars of the three distributions, class by class.",
            )
        with st.expander("Sliders"):
            for key, words, shares in (("gold", "gold", gold), ("p", names[0], first), ("q", names[1], second)):
                link_numbers(key, shares.tolist(), classes, plain(words), slider=True)
        _show_scores(gold, first, second, (names[0], names[1]))
        _show_moves(gold, first, second, (names[0], names[1]), classes)


def _show_scores(gold: np.ndarray, first: np.ndarray, second: np.ndarray, names: tuple[str, str]) -> None:
    shown = find_preset("distributions", fill)
    for state in ("assumed", "derived"):
        if shown.get(state):
            st.caption(f"{state.capitalize()}, because it is not in print: {plain(shown[state])}.")
    st.header("Who wins")
    printed = shown.get("differences", {})
    table = []
    verdicts = compare_estimates(find_measures("quantification"), gold, first, second)
    for row in verdicts:
        name = str(row["measure"])
        cells = [
            name,
            name_winner(row["difference"], names),
            format_score(row["first"]),
            format_score(row["second"]),
            format_score(row["first"] - row["second"], sign=True),
            format_share(row["share"]),
        ]
        table.append(cells + [printed.get(name, "–")] * bool(printed))
    show_table(
        ["measure", "winner", *names, f"Δ = {names[0]} − {names[1]}", f"{names[0]} better, of range"]
        + ["printed Δ"] * bool(printed),
        table,
        "Scores; where a measure is an error, lower is better and a negative Δ speaks for the first estimate. Rows are sorted "
        "by how much better the first is, as a share of the measure's range",
        text=2,
    )
    say_failures(verdicts)
    if "OD" in shown.get("first", {}):
        show_table(
            ["estimate", "OD", "printed"],
            [
                [name, f"{float(order_aware_divergence(shares, gold)):.4f}", shown[side]["OD"]]
                for name, shares, side in zip(names, (first, second), ("first", "second"), strict=True)
            ],
            "Order-aware divergence (LQ 2021, Eq. 3)",
        )


def _show_moves(
    gold: np.ndarray, first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]
) -> None:
    st.header("Where does a measure change its mind?")
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
    for measure in find_measures("quantification"):
        with contextlib.suppress(MetaevalError):  # said above, under the scores
            better = measure.sign * (evaluate(measure, moved, gold)[0] - evaluate(measure, second, gold)[0])
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
        f"As mass moves from {classes[source]} to {classes[target]}: who is preferred at first, and between which amounts of "
        "mass that changes",
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
    """Say which estimate is preferred, and between which amounts that changes."""
    signs = np.where(np.isnan(better), 2, np.where(np.abs(better) <= TIE, 0, np.sign(better))).astype(int)
    words = {1: names[0], -1: names[1], 0: "neither", 2: "not defined"}
    parts = [words[int(signs[0])]]
    for position in np.flatnonzero(np.diff(signs)):
        low, high = (f"{amounts[position + step]:.3f}".removeprefix("0") for step in (0, 1))
        parts.append(f"{words[int(signs[position + 1])]} from between {low} and {high}")
    return "; ".join(parts)
