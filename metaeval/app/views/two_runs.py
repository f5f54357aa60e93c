"""Page 1: two runs over the same gold, and which measure prefers which (Amigó et al. 2020; Cardoso and Sousa 2011)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.bars import HOW_TO, show_bars
from metaeval.app.inputs import format_matrix, parse_classes, parse_labels, parse_matrix
from metaeval.app.lessons import find_preset, open_lesson, show_steps
from metaeval.app.pairs import list_sides, say_failures, score_pair, show_sides, sort_pairs, write_scores
from metaeval.app.parts import plain, say_errors, show_part, show_table
from metaeval.errors import MeasureError
from metaeval.measures import FewestMoves, Measure, fewest_moves, measures as registered

INPUTS = ("confusion matrices", "columns of labels")


def fill(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the inputs of this page."""
    return {
        "how": INPUTS[0],
        "first": format_matrix(preset["first"]["counts"]),
        "second": format_matrix(preset["second"]["counts"]),
        "runs": f"{preset['first']['name']}, {preset['second']['name']}",
        "run_classes": ", ".join(preset["classes"]),
    }


def compare_runs(measures: list[Measure], first: np.ndarray, second: np.ndarray) -> list[dict[str, Any]]:
    """Score two runs by every measure, the measures that prefer the first run most on top."""
    return sort_pairs([score_pair(measure, np.stack([first, second])) for measure in measures])


def show() -> None:
    """Draw the page."""
    lesson, left, right = open_lesson("runs", "Which system is better?", fill)
    with say_errors():
        with st.expander("Type the numbers, or paste labels"):
            classes, first, second, (name, other) = _read_fields()
        rows = compare_runs(list(registered("classification")), first, second)
        with left:
            titles = [f"{label} ({n:,})" for label, n in zip(classes, first.sum(axis=1), strict=True)]
            show_bars(
                "runs_bars", np.stack([first, second], axis=1).tolist(), titles, (name, other), classes,
                lambda values: write_fields(np.array(values), classes), right=True,
            )  # fmt: skip
            st.caption(
                f"One panel per gold class (items), one bar per predicted class; right predictions are shaded. {HOW_TO}"
            )
        sides = list_sides(rows)
        with right:
            revealed = show_steps("runs", lesson, (name, other), sides, fill)
        if revealed:
            with left:
                show_sides((name, other), sides, "Measures")
            _show_verdicts(rows, (name, other))
            draw = partial(_show_turning, rows, first, second, (name, other), classes)
            show_part("How firm is a verdict?", "firm", draw)


def write_fields(values: np.ndarray, classes: list[str]) -> dict[str, str]:
    """Return what the bars, shape (gold, run, predicted), write into the inputs of this page."""
    texts = {run: format_matrix(values[:, position]) for position, run in enumerate(("first", "second"))}
    return {**texts, "how": INPUTS[0], "run_classes": ", ".join(classes)}


def _read_fields() -> tuple[list[str], np.ndarray, np.ndarray, tuple[str, str]]:
    """Return the classes, the two confusion matrices, and the names of the runs."""
    if st.radio("What to give", INPUTS, key="how", bind="query-params", horizontal=True) == INPUTS[0]:
        left, right = st.columns(2)
        words = "a line for each gold class, in it the items of each predicted class"
        left.text_area(f"First run: {words}", key="first", bind="query-params", height=150)
        right.text_area(f"Second run: {words}", key="second", bind="query-params", height=150)
        st.text_input("Names of the classes, with commas", key="run_classes", bind="query-params")
    else:
        st.text_area(
            "Labels: on each line gold, first run, second run. A first line “classes: a, b, c” states the order",
            key="labels", height=220, placeholder="classes: neg, neu, pos\nneg neg neu\npos neu pos",
        )  # fmt: skip
    st.text_input("Names of the two runs, with a comma", key="runs", bind="query-params")
    if st.session_state["how"] == INPUTS[0]:
        first, second = (parse_matrix(st.session_state[key], f"{key.capitalize()} run") for key in ("first", "second"))
        if first.shape != second.shape:
            raise MeasureError(f"First run has {len(first)} classes and Second run {len(second)}: both need the same")
        classes = parse_classes(st.session_state["run_classes"], len(first))
    else:
        classes, first, second = parse_labels(st.session_state["labels"])
    for label, one, other in zip(classes, first.sum(axis=1), second.sum(axis=1), strict=True):
        if one != other:
            raise MeasureError(
                f"gold class {label} has {one} items in the first run and {other} in the second: both label the same items"
            )
    names = parse_classes(st.session_state["runs"], 2)
    return classes, first, second, (names[0], names[1])


def _show_verdicts(rows: list[dict[str, Any]], names: tuple[str, str]) -> None:
    st.header("What each measure says")
    shown = find_preset("runs", fill) if st.session_state["how"] == INPUTS[0] else {}
    printed = [shown.get(side, {}).get("scores", {}) for side in ("first", "second")]
    table = []
    for row in rows:
        name = str(row["measure"])
        cells = [f"{name}{' (0/0)' if row['undefined'] else ''}", *write_scores(row, names)]
        table.append(cells + [" / ".join(scores[name] for scores in printed if name in scores)] * any(printed))
    show_table(
        ["measure", "prefers", *names] + ["printed"] * any(printed),
        table,
        "Scores as metaeval score prints them. Measures that prefer the first run most, on their own range, stand on top. "
        "(0/0): a documented value stands for an undefined score",
        text=2,
    )
    say_failures(rows)


@st.cache_data(show_spinner="Searching for the fewest moves", max_entries=200)
def _turn(name: str, first: list[list[int]], second: list[list[int]], _measure: Measure) -> FewestMoves | str:
    try:
        return fewest_moves(_measure, first, second)
    except MeasureError as error:
        return str(error)


def _show_turning(
    rows: list[dict[str, Any]], first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]
) -> None:
    choices = {str(row["measure"]): row["measure"] for row in rows if abs(row["difference"]) > 0}
    if not choices:
        st.caption("No measure prefers either run.")
        return
    name = st.selectbox(
        "Fewest items to be predicted otherwise for the other run to win, by",
        list(choices),
        index=None,
        key="turn",
        placeholder="Choose a measure",
    )
    if name is None or name not in choices:
        return
    turned = _turn(name, first.tolist(), second.tolist(), choices[name])
    if isinstance(turned, str):
        st.caption(plain(turned))
        return
    st.markdown(plain(describe_moves(turned)))
    if turned.moves:
        show_table(
            ["run", "gold class", "from", "to"],
            [[names[move.run], classes[move.gold], classes[move.before], classes[move.after]] for move in turned.moves],
            "The items that are moved", text=4,
        )  # fmt: skip


def describe_moves(turned: FewestMoves) -> str:
    """Say in a sentence how few moves turn a verdict, and how sure that is."""
    if turned.moves is None:
        return f"No way was found to turn the verdict of {turned.measure}; it takes at least {turned.at_least} moved items."
    n = len(turned.moves)
    items = "1 moved item turns" if n == 1 else f"{n} moved items turn"
    if turned.exact:
        return (
            f"{items} the verdict of {turned.measure}; all ways with fewer were tried, so this is the smallest number."
        )
    return (
        f"{items} the verdict of {turned.measure}. This was found by a search: at least {turned.at_least} are needed, and "
        f"fewer than {n} may do."
    )
