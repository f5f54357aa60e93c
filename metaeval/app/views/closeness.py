"""Page 3: how close two classes are, by the items between them, and what CEM makes of it (Amigó et al. 2020; CEM blog)."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.bars import Values, show_bars
from metaeval.app.charts import show_chart
from metaeval.app.inputs import format_matrix, format_numbers, parse_classes, parse_items, parse_matrix
from metaeval.app.lessons import find_preset, open_lesson, show_steps
from metaeval.app.pairs import list_sides, show_sides
from metaeval.app.parts import plain, say_errors, show_part, show_table
from metaeval.measures import measure
from metaeval.measures.ordinal import closer_items
from metaeval.show.cells import format_cell
from metaeval.show.charts import HeatMap

SCALES = {"ORD": "ordinal", "INT": "interval", "NOM": "nominal"}
SCORED = ("CEM_ORD", "CEM(scale=INT)", "CEM(scale=NOM)", "Accuracy", "MAE_mu", "MAE_M", "kappa")
RUNS = ("every item one class too high", "always one class", "own confusion matrix")


def fill(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the inputs of this page."""
    return {
        "items": format_numbers(preset["items"]),
        "classes": ", ".join(preset["classes"]),
        "run": RUNS[2] if "counts" in preset else RUNS[0],
        "matrix": format_matrix(preset["counts"]) if "counts" in preset else "",
    }


def find_closeness(items: np.ndarray, scale: str) -> np.ndarray:
    """Return how close every predicted class is to every gold class, in bits, shape (gold, predicted)."""
    return 0.0 - np.log2(closer_items(items, scale=scale) / items.sum())  # 0 − 0 is 0, not −0


def make_run(kind: str, items: np.ndarray, constant: int) -> np.ndarray:
    """Return the confusion matrix of the chosen run over these gold items."""
    n_classes = len(items)
    predicted = np.minimum(np.arange(n_classes) + 1, n_classes - 1) if kind == RUNS[0] else np.full(n_classes, constant)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    counts[np.arange(n_classes), predicted] = items
    return counts


def compare_mistakes(items: np.ndarray) -> list[dict[str, Any]]:
    """Return on each scale how close the two neighbours of the middle class are to it."""
    middle = len(items) // 2
    rows = []
    for scale, name in SCALES.items():
        first, second = find_closeness(items, scale)[middle, [middle - 1, middle + 1]].tolist()
        difference = 0.0 if first == second else first - second
        rows.append({"measure": name, "first": first, "second": second, "difference": difference})
    return rows


def show() -> None:
    """Draw the page."""
    lesson, left, right = open_lesson("closeness", "Which mistake is smaller?", fill)
    with say_errors():
        with st.expander("Type the numbers, or choose a run"):
            items, classes, counts, own = _read_fields()
        with left:
            values = counts[:, None].tolist() if own else [[items.tolist()]]
            titles = [f"gold class {label}" for label in classes] if own else [""]
            show_bars(
                "closeness_bars", values, titles, ["items"], classes, lambda sent: write_fields(sent, own, classes),
                fixed=False, right=own,
            )  # fmt: skip
            bars = "predicted class, one panel per gold class" if own else "gold class, from the lowest to the highest"
            st.caption(f"Items of each {bars}. Drag the top of a bar, or use the arrow keys.")
        rows = compare_mistakes(items) if len(items) > 2 else []
        names = (classes[len(items) // 2 - 1], classes[(len(items) // 2 + 1) % len(items)])
        sides = list_sides(rows)
        with right:
            if rows:
                st.markdown(
                    f"An item of the class **{plain(classes[len(items) // 2])}** is predicted as **{plain(names[0])}** or as "
                    f"**{plain(names[1])}**. The mistake between closer classes is the smaller one."
                )
            revealed = show_steps("closeness", lesson if rows else {}, names, sides, fill)
        if revealed:
            if rows:
                with left:
                    show_sides(names, sides, "Scales")
            st.header("How close is every class to every other?")
            scale = str(
                st.radio("Scale", SCALES, format_func=SCALES.get, key="level", bind="query-params", horizontal=True)
            )
            bits, shown = find_closeness(items, scale), find_preset("closeness", fill)
            _show_closeness(bits, classes)
            if shown.get("assumed"):
                st.caption(f"Assumed, because it is not in print: {shown['assumed']}.")
            show_part("What does each prediction earn?", "earned", partial(_show_weights, bits, items, classes))
            scored = partial(_show_scores, counts, shown, find_closeness(items, "ORD"), classes)
            show_part("Which scores does a run get?", "scored", scored)


def write_fields(values: Values, own: bool, classes: list[str]) -> dict[str, str]:
    """Return what the bars write into the inputs of this page."""
    names = {"classes": ", ".join(classes)}
    if own:
        return {**names, "matrix": format_matrix([panel[0] for panel in values])}
    return {**names, "items": format_numbers(values[0][0])}


def _read_fields() -> tuple[np.ndarray, list[str], np.ndarray, bool]:
    """Return the items of each gold class, the classes, the confusion matrix of the run, and whether it was typed."""
    st.text_input("Items of each gold class, from the lowest to the highest", key="items", bind="query-params")
    st.text_input("Names of the classes, with commas", key="classes", bind="query-params")
    kind = st.selectbox("Run", RUNS, key="run", bind="query-params")
    if kind == RUNS[2]:
        st.text_area(
            "Confusion matrix: a line for each gold class, in it the items of each predicted class. It states the items too",
            key="matrix",
            bind="query-params",
            height=130,
        )
        counts = parse_matrix(st.session_state["matrix"], "Confusion matrix")
        return counts.sum(axis=1), parse_classes(st.session_state["classes"], len(counts)), counts, True
    items = parse_items(st.session_state["items"], "Items of each gold class")
    classes = parse_classes(st.session_state["classes"], len(items))
    constant = 0
    if kind == RUNS[1]:
        constant = st.selectbox("Class", range(len(items)), format_func=lambda k: classes[k], key="constant")
    return items, classes, make_run(str(kind), items, constant), False


def _show_closeness(closeness: np.ndarray, classes: list[str]) -> None:
    title = "Informational closeness in bits. Rows: gold class; columns: predicted class"
    highest = max(1e-9, float(np.max(closeness, initial=0.0, where=np.isfinite(closeness))))
    show_chart(
        HeatMap(closeness, classes, classes, title, _write_bits, highest=highest),
        "Heat map of the closeness of every predicted class to every gold class; its cells have the numbers.",
    )
    st.caption("−log₂ of the share of gold items that are no farther from the gold class than the predicted class is.")


def _show_weights(closeness: np.ndarray, items: np.ndarray, classes: list[str]) -> None:
    earned = closeness / np.diagonal(closeness)[:, None]
    show_table(
        ["gold \\ predicted", *classes],
        [[label, *(f"{value:.3f}" for value in row)] for label, row in zip(classes, earned, strict=True)],
        "Share of the closeness of a right prediction",
    )
    weight = np.diagonal(closeness) * items
    show_table(
        ["gold class", "items", "weight of all", "weight of one"],
        [
            [label, f"{n}", f"{100 * w / weight.sum():.1f} %", f"{100 * d / weight.sum():.3f} %"]
            for label, n, w, d in zip(classes, items, weight, np.diagonal(closeness), strict=True)
        ],
        "How much each gold class weighs in CEM: a rare class weighs more for each of its items",
    )


def _write_bits(bits: float) -> str:
    return format_cell(bits, 2).replace("inf", "∞")


def _show_scores(counts: np.ndarray, shown: dict[str, Any], closeness: np.ndarray, classes: list[str]) -> None:
    printed = shown.get("scores", {})
    rows = []
    for one in map(measure, SCORED):
        score, undefined = one.evaluate(counts)
        name, better = str(one), "lower" if one.sign < 0 else "higher"
        cells = [f"{name}{' (0/0)' if undefined.any() else ''}", format_cell(float(score), 4), better]
        rows.append(cells + [printed.get(name, "")] * bool(printed))
    show_table(
        ["measure", "score", "better", *["printed"] * bool(printed)],
        rows,
        "Scores as metaeval score prints them. (0/0): a documented value stands for an undefined score",
    )
    if shown.get("proximities"):
        positions = {label: position for position, label in enumerate(classes)}
        show_table(
            ["gold", "predicted", "bits", "printed"],
            [
                [gold, predicted, f"{closeness[positions[gold], positions[predicted]]:.4f}", bits]
                for gold, predicted, bits in map(itemgetter("gold", "predicted", "printed"), shown["proximities"])
            ],
            "Ordinal closeness beside print",
            text=2,
        )
