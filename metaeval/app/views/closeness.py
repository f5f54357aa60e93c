"""Page 1: how close two classes are, by the items between them, and what CEM makes of it (Amigó et al. 2020; CEM blog)."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.charts import show_chart
from metaeval.app.inputs import format_matrix, format_numbers, parse_classes, parse_items, parse_matrix
from metaeval.app.parts import choose_preset, find_preset, format_score, link_numbers, say_errors, show_table
from metaeval.measures import measure
from metaeval.measures.closeness_scales import closer_items
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


def make_run(kind: str, items: np.ndarray, matrix: str, constant: int) -> np.ndarray:
    """Return the confusion matrix of the chosen run over these gold items."""
    n_classes = len(items)
    if kind == RUNS[2]:
        return parse_matrix(matrix)
    predicted = np.minimum(np.arange(n_classes) + 1, n_classes - 1) if kind == RUNS[0] else np.full(n_classes, constant)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    counts[np.arange(n_classes), predicted] = items
    return counts


def score_run(counts: np.ndarray) -> dict[str, tuple[float, bool]]:
    """Return the score of a run by every measure of this page, and whether a documented value stands for 0/0."""
    scores = {}
    for name in SCORED:
        score, undefined = measure(name).evaluate(counts)
        scores[name] = (float(score), bool(undefined))
    return scores


def show() -> None:
    """Draw the page."""
    st.title("Closeness")
    st.markdown(
        "Two classes are close if few items lie between them. Change how many items each class has, and see how close the "
        "classes become, and how the Closeness Evaluation Measure (CEM) scores a run."
    )
    choose_preset("closeness", "closeness_example", fill)
    st.text_input("Items of each gold class, from the lowest class to the highest", key="items", bind="query-params")
    st.text_input("Names of the classes, with commas", key="classes", bind="query-params")
    with say_errors():
        _show_page()


def _show_page() -> None:
    items = parse_items(st.session_state["items"])
    classes = parse_classes(st.session_state["classes"], len(items))
    st.selectbox("Run", RUNS, key="run", bind="query-params")
    kind = st.session_state["run"]
    constant = 0
    if kind == RUNS[1]:
        constant = st.selectbox("Class", range(len(items)), format_func=lambda k: classes[k], key="constant")
    if kind == RUNS[2]:
        st.text_area(
            "Confusion matrix: a line for each gold class, in it the items of each predicted class",
            key="matrix",
            bind="query-params",
            height=130,
        )
        counts = make_run(kind, items, st.session_state["matrix"], constant)
        items = counts.sum(axis=1)
        classes = parse_classes(st.session_state["classes"], len(items))
        st.caption("The items of each gold class are those of the matrix.")
    else:
        link_numbers("items", items.tolist(), classes, "Items", slider=False)
        counts = make_run(kind, items, "", constant)
    shown = find_preset("closeness", fill)
    if shown.get("assumed"):
        st.caption(f"Assumed, because it is not in print: {shown['assumed']}.")
    scale = st.radio(
        "Scale",
        list(SCALES),
        format_func=lambda scale: SCALES[scale],
        key="level",
        bind="query-params",
        horizontal=True,
    )
    closeness = find_closeness(items, scale)
    left, right = st.columns(2)
    with left:
        _show_closeness(closeness, classes)
    with right:
        _show_weights(closeness, items, classes)
    _show_scores(counts, shown, closeness if scale == "ORD" else find_closeness(items, "ORD"), classes)


def _show_closeness(closeness: np.ndarray, classes: list[str]) -> None:
    st.header("Informational closeness, in bits")
    show_chart(
        HeatMap(
            closeness,
            classes,
            classes,
            "Rows: gold class; columns: predicted class",
            _write_bits,
            highest=max(1e-9, float(np.max(closeness, initial=0.0, where=np.isfinite(closeness)))),
        ),
        "Heat map of the closeness of every predicted class to every gold class; the table below has the numbers.",
    )
    st.caption("−log₂ of the share of gold items that are no farther from the gold class than the predicted class is.")
    _show_pairs(closeness, classes)


def _show_weights(closeness: np.ndarray, items: np.ndarray, classes: list[str]) -> None:
    st.header("What a prediction earns")
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
    return format_score(bits, 2).replace("inf", "∞")


def _show_pairs(closeness: np.ndarray, classes: list[str]) -> None:
    """Show which classes are farthest apart and which are closest, as the blog's first figure does."""
    pairs = [(closeness[g, p], g, p) for g in range(len(classes)) for p in range(len(classes)) if g != p]
    pairs.sort(key=lambda pair: (-pair[0], pair[1], pair[2]))
    chosen = [("closest", pair) for pair in pairs[:3]] + [("farthest", pair) for pair in pairs[-3:][::-1]]
    show_table(
        ["pair", "predicted", "gold", "bits"],
        [[which, classes[p], classes[g], f"{bits:.2f}"] for which, (bits, g, p) in chosen],
        "Closest and farthest pairs of different classes; closeness is not symmetric",
        text=3,
    )


def _show_scores(counts: np.ndarray, shown: dict[str, Any], closeness: np.ndarray, classes: list[str]) -> None:
    st.header("Scores of the run")
    printed = shown.get("scores", {})
    scores = score_run(counts)
    rows = [
        [
            name,
            format_score(score),
            "lower" if measure(name).sign < 0 else "higher",
            "yes" if undefined else "",
            printed.get(name, ""),
        ]
        for name, (score, undefined) in scores.items()
    ]
    head = ["measure", "score", "better", "0/0: documented value", "printed"]
    columns = [0, 1, 2, *[3] * any(undefined for _, undefined in scores.values()), *[4] * bool(printed)]
    head, rows = [head[k] for k in columns], [[row[k] for k in columns] for row in rows]
    show_table(head, rows, "Every score is computed by the function of the measure")
    if shown.get("proximities"):
        positions = {label: position for position, label in enumerate(classes)}
        show_table(
            ["gold", "predicted", "bits", "printed"],
            [
                [
                    proximity["gold"],
                    proximity["predicted"],
                    f"{closeness[positions[proximity['gold']], positions[proximity['predicted']]]:.4f}",
                    proximity["printed"],
                ]
                for proximity in shown["proximities"]
            ],
            "Ordinal closeness beside print",
            text=2,
        )
