"""The page of two candidates: which one is better, by which measure, and what turns a verdict.

What the candidates are is said three times: runs over the same gold (Amigó et al. 2020; Cardoso and Sousa 2011), estimates of a
distribution over ordered classes (Sakai, LQ 2021), and mistakes of the two classes beside the middle one (Amigó et al. 2020).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from metaeval.app.bars import FIRST, GOLD, HOW_TO, SECOND, Values, show_bars
from metaeval.app.inputs import (
    format_matrix,
    format_numbers,
    parse_classes,
    parse_items,
    parse_labels,
    parse_matrix,
    parse_shares,
)
from metaeval.app.lessons import find_preset, open_lesson, show_steps
from metaeval.app.parts import EVEN, SIDES, escape, plain, say_errors, show_chart, show_part, show_table
from metaeval.app.presets import Page
from metaeval.errors import MeasureError, MetaevalError
from metaeval.measures import FewestMoves, Measure, fewest_moves, measures as registered
from metaeval.measures.moves import TIE
from metaeval.measures.ordinal import closer_items
from metaeval.show.cells import format_cell
from metaeval.show.charts import HeatMap, Line, LineChart

PAGES: dict[str, Page] = {"Two runs": "runs", "Two distributions": "distributions", "Closeness": "closeness"}

INPUTS = ("confusion matrices", "columns of labels")
SHARES = {"gold": "Gold", "p": "First estimate", "q": "Second estimate"}
SCALES = {"ORD": "ordinal", "INT": "interval", "NOM": "nominal"}

_STEPS = 25  # amounts of mass that are tried


class Candidates(NamedTuple):
    """Two candidates as they stand in the fields: what judges say of them, a bar chart, and what can be asked further."""

    names: tuple[str, str]
    rows: list[dict[str, Any]]
    bars: dict[str, Any]
    caption: str
    more: Mapping[str, Callable[[], None]]
    told: str = ""


class Specification(NamedTuple):
    """What the candidates of a page are: its question, what a lesson writes into its fields, and what stands there."""

    question: str
    judges: str
    fill: Callable[[dict[str, Any]], dict[str, str]]
    read: Callable[[], Candidates]


def show(page: Page) -> None:
    """Draw a page: a lesson, the bars, a guess, and then the answer."""
    question, judges, fill, read = SPECIFICATIONS[page]
    lesson, left, right = open_lesson(page, question, fill)
    with say_errors():
        with st.expander("Type the numbers"):
            found = read()
        with left:
            show_bars(f"{page}_bars", **found.bars)
            st.caption(found.caption)
        sides = {str(row["measure"]): find_side(row["difference"]) for row in found.rows}
        with right:
            if found.told:
                st.markdown(found.told)
            revealed = show_steps(page, lesson if sides else {}, found.names, sides, fill)
        if not revealed:
            return
        if sides:
            with left:
                _show_sides(found.names, sides, judges)
        _show_scores(found, find_preset(page, fill))
        for number, (title, draw) in enumerate(found.more.items()):
            show_part(title, f"{page}_{number}", draw)


def find_side(difference: float) -> str:
    """Return which of two candidates is better: none where the difference is not a number.

    >>> [find_side(difference) for difference in (0.5, -0.5, 0.0, float("nan"))]
    ['first', 'second', 'tie', '']
    """
    return "first" if difference > 0 else "second" if difference < 0 else "tie" if difference == 0 else ""


def score_pairs(measures: Sequence[Measure], *arrays: Any) -> list[dict[str, Any]]:
    """Score two candidates by every measure; on top those that prefer the first one most, each on its own scale.

    Of those that prefer the same candidate, measures without bounds stand nearest to the middle. Those without a score
    are last.
    """
    rows = []
    for measure in measures:
        row: dict[str, Any] = {
            "measure": measure,
            "first": np.nan,
            "second": np.nan,
            "difference": np.nan,
            "share": np.nan,
        }
        rows.append(row)
        try:
            scores, undefined = measure.evaluate(*arrays)
        except MetaevalError as error:
            row["error"] = str(error)
            continue
        row["first"], row["second"] = (float(score) for score in scores)
        with np.errstate(invalid="ignore"):
            difference = float(measure.sign * np.subtract(*scores))
        row |= {"difference": 0.0 if abs(difference) <= TIE else difference, "undefined": bool(undefined.any())}
        if np.isfinite(measure.range).all():
            row["share"] = row["difference"] / (measure.range[1] - measure.range[0])

    def rank(row: dict[str, Any]) -> float:
        if np.isnan(row["difference"]):
            return np.inf
        return -float(np.sign(row["difference"])) * 1e-12 if np.isnan(row["share"]) else -float(row["share"])

    return sorted(rows, key=rank)


def _show_sides(names: tuple[str, str], sides: dict[str, str], judges: str) -> None:
    """Say how many prefer which of two candidates, and list them."""
    lists = ""
    for side, name in zip(SIDES, (*names, EVEN), strict=True):
        listed = [judge for judge, preferred in sides.items() if preferred == side]
        lists += (
            f'<div class="{side}"><strong>{escape(name)}: {len(listed)} of {len(sides)}</strong>'
            f"<span>{escape(', '.join(listed))}</span></div>"
        )
    st.html(f'<section class="me-sides" aria-label="{judges} by what they prefer">{lists}</section>')


def _show_scores(found: Candidates, shown: dict[str, Any]) -> None:
    """Show the scores of both candidates, beside what is printed of the example that is shown, and what failed."""
    for state in ("assumed", "derived"):
        if shown.get(state):
            st.caption(f"{state.capitalize()}, because it is not in print: {plain(shown[state])}.")
    if not found.rows:
        return
    st.header("What each measure says")
    deltas = shown.get("differences", {})
    printed = [shown.get(side, {}).get("scores", {}) for side in SIDES[:2] if isinstance(shown.get(side), dict)]
    printed = printed if any(printed) else [deltas] if deltas else []
    winners, table = dict(zip(SIDES, (*found.names, EVEN), strict=True)), []
    for row in found.rows:
        name, zero = str(row["measure"]), " (0/0)" * row.get("undefined", False)
        cells = [winners.get(find_side(row["difference"]), "–"), *(format_cell(row[side], 4) for side in SIDES[:2])]
        cells.append(format_cell(row["first"] - row["second"], 4))
        if printed:
            cells.append(" / ".join(scores[name] for scores in printed if name in scores))
        table.append([f"{name}{zero}", *cells])
    heads = ["measure", "prefers", *found.names, "difference"]
    heads += ["printed difference" if deltas else "printed"] * bool(printed)
    caption = (
        "What prefers the first most, on its own range, stands on top. (0/0): a documented value for an undefined score"
    )
    show_table(heads, table, caption, text=2)
    for error in dict.fromkeys(row["error"] for row in found.rows if "error" in row):
        st.caption(plain(error))


# Two runs over the same gold


def fill_runs(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the fields."""
    return {
        "how": INPUTS[0],
        "first": format_matrix(preset["first"]["counts"]),
        "second": format_matrix(preset["second"]["counts"]),
        "runs": f"{preset['first']['name']}, {preset['second']['name']}",
        "run_classes": ", ".join(preset["classes"]),
    }


def read_runs() -> Candidates:
    """Return two confusion matrices, typed or counted from labels."""
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
        first, second = (parse_matrix(st.session_state[run], f"{run} run") for run in ("first", "second"))
        if first.shape != second.shape:
            raise MeasureError(f"The first run has {len(first)} classes, the second {len(second)}: both need the same")
        classes = parse_classes(st.session_state["run_classes"], len(first))
        for label, here, there in zip(classes, first.sum(axis=1), second.sum(axis=1), strict=True):
            if here != there:
                raise MeasureError(
                    f"Both runs need the same gold: gold class {label} has {here} items for the first run and {there} for the "
                    "second"
                )
    else:
        classes, first, second = parse_labels(st.session_state.get("labels") or "")
    name, other = parse_classes(st.session_state["runs"], 2)
    names = (name, other)
    rows = score_pairs(list(registered("classification")), np.stack([first, second]))

    def write(values: Values) -> dict[str, str]:
        return {**write_runs(np.array(values)), "run_classes": ", ".join(classes)}

    panels = [f"{label} ({n:,})" for label, n in zip(classes, first.sum(axis=1), strict=True)]
    bars = {"values": np.stack([first, second], axis=1).tolist(), "panels": panels, "series": names, "classes": classes}
    caption = f"One panel per gold class (items), one bar per predicted class; right predictions are shaded. {HOW_TO}"
    turning = partial(_show_turning, rows, first, second, names, classes)
    return Candidates(names, rows, bars | {"write": write, "right": True}, caption, {"How firm is a verdict?": turning})


def write_runs(values: np.ndarray) -> dict[str, str]:
    """Return what bars, shape (gold, run, predicted), write into the fields of the runs."""
    return {"first": format_matrix(values[:, 0]), "second": format_matrix(values[:, 1]), "how": INPUTS[0]}


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
    label = "Fewest items to be predicted otherwise for the other run to win, by"
    name = st.selectbox(label, list(choices), index=None, key="turn", placeholder="Choose a measure")
    if name not in choices:
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


# Two estimates of a distribution


def fill_distributions(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the fields."""
    return {
        "gold": format_numbers(preset["gold"]),
        "p": format_numbers(preset["first"]["shares"]),
        "q": format_numbers(preset["second"]["shares"]),
        "estimates": f"{preset['first']['name']}, {preset['second']['name']}",
        "scale": ", ".join(preset["classes"]),
    }


def read_distributions() -> Candidates:
    """Return two estimates of the shares of classes."""
    for key, label in SHARES.items():
        st.text_input(f"{label}: shares, or numbers in their proportion", key=key, bind="query-params")
    st.text_input("Names of the two estimates, with a comma", key="estimates", bind="query-params")
    st.text_input("Names of the classes, with commas", key="scale", bind="query-params")
    gold, first, second = (parse_shares(st.session_state[key], label) for key, label in SHARES.items())
    if not len(gold) == len(first) == len(second):
        raise MeasureError(
            f"Gold has {len(gold)} classes, the estimates {len(first)} and {len(second)}: all need the same"
        )
    name, other = parse_classes(st.session_state["estimates"], 2)
    names, classes = (name, other), parse_classes(st.session_state["scale"], len(gold))
    rows = score_pairs(list(registered("quantification")), np.stack([first, second]), gold)
    bars = {
        "values": [np.stack([gold, first, second]).tolist()], "panels": [""], "series": ("gold", *names), "classes": classes,
        "write": write_distributions, "colours": (GOLD, FIRST, SECOND), "step": 0.01,
    }  # fmt: skip
    moves = partial(_show_moves, gold, first, second, names, classes)
    caption = f"Shares of the classes in gold and in two estimates of it. {HOW_TO}"
    return Candidates(names, rows, bars, caption, {"Where does each measure change sides?": moves})


def write_distributions(values: Values) -> dict[str, str]:
    """Return what the bars write into the fields of the distributions."""
    return {key: format_numbers(row) for key, row in zip(SHARES, values[0], strict=True)}


def move_mass(shares: np.ndarray, source: int, target: int, amounts: np.ndarray) -> np.ndarray:
    """Return the shares after moving mass from one class to another, shape (amount, K)."""
    moved = np.repeat(shares[None], len(amounts), axis=0)
    moved[:, source] -= amounts
    moved[:, target] += amounts
    return np.clip(moved, 0.0, 1.0)


def _show_moves(
    gold: np.ndarray, first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]
) -> None:
    positions, (left, right) = range(len(classes)), st.columns(2)
    source = left.selectbox(
        f"Move mass of {plain(names[0])} from", positions, index=int(np.argmax(first)), format_func=lambda k: classes[k],
        key="source",
    )  # fmt: skip
    others = [k for k in positions if k != source]
    target = right.selectbox("to", others, format_func=lambda k: classes[k], key="target")
    amounts = np.linspace(0, first[source], _STEPS)
    moved, curves = move_mass(first, source, target, amounts), []
    for measure in registered("quantification"):
        with contextlib.suppress(MetaevalError):  # said above, under the scores
            better = measure.sign * (measure.evaluate(moved, gold)[0] - measure.evaluate(second, gold)[0])
            curves.append(Line(str(measure), str(measure), amounts, better))
    show_chart(LineChart(curves, "mass moved", f"{names[0]} better by", level=(0.0, ""), marks=8), width=640)
    rows = [[line.name, describe_turns(amounts, line.y, names)] for line in curves]
    caption = f"As mass moves from {classes[source]} to {classes[target]}: who wins at first, and from which amount on another"
    show_table(["measure", "prefers"], rows, caption, text=2)


def describe_turns(amounts: np.ndarray, better: np.ndarray, names: tuple[str, str]) -> str:
    """Say which estimate wins at first, and from which amount of moved mass that changes.

    >>> describe_turns(np.array([0, 0.1, 0.2]), np.array([0, 0.3, -0.1]), ("A", "B"))
    'A tie at first; A wins once you move 0.1; B wins once you move 0.2'
    """
    signs = np.where(np.isnan(better), 2, np.where(np.abs(better) <= TIE, 0, np.sign(better))).astype(int)
    words = {1: f"{names[0]} wins", -1: f"{names[1]} wins", 0: "a tie", 2: "not defined"}
    start = words[int(signs[0])] if signs[0] else "A tie"
    turns = [f"{words[int(signs[k])]} once you move {amounts[k]:.2g}" for k in np.flatnonzero(np.diff(signs)) + 1]
    return "; ".join([f"{start} at first", *turns])


# Two mistakes


def fill_closeness(preset: dict[str, Any]) -> dict[str, str]:
    """Return what an example writes into the fields."""
    return {"items": format_numbers(preset["items"]), "classes": ", ".join(preset["classes"])}


def read_closeness() -> Candidates:
    """Return the two classes beside the middle one, as predictions of its items."""
    st.text_input("Items of each gold class, from the lowest to the highest", key="items", bind="query-params")
    st.text_input("Names of the classes, with commas", key="classes", bind="query-params")
    items = parse_items(st.session_state["items"], "Items of each gold class")
    classes, middle = parse_classes(st.session_state["classes"], len(items)), len(items) // 2
    names, rows, told = (classes[middle - 1], classes[(middle + 1) % len(items)]), [], ""
    for scale, name in SCALES.items() if len(items) > 2 else ():
        first, second = find_closeness(items, scale)[middle, [middle - 1, middle + 1]].tolist()
        difference = 0.0 if first == second else first - second
        rows.append({"measure": name, "first": first, "second": second, "difference": difference})
    if rows:
        told = (
            f"An item of the class **{plain(classes[middle])}** is predicted as **{plain(names[0])}** or as "
            f"**{plain(names[1])}**. The mistake between closer classes is the smaller one."
        )

    def write(values: Values) -> dict[str, str]:
        return {"items": format_numbers(values[0][0]), "classes": ", ".join(classes)}

    bars = {
        "values": [[items.tolist()]],
        "panels": [""],
        "series": ["items"],
        "classes": classes,
        "write": write,
        "fixed": False,
    }
    caption = "Items of each gold class, from the lowest to the highest. Drag the top of a bar, or use the arrow keys."
    more = {"How close is every class to every other?": partial(_show_closeness, items, classes)}
    return Candidates(names, rows, bars, caption, more, told)


def find_closeness(items: np.ndarray, scale: str) -> np.ndarray:
    """Return how close every predicted class is to every gold class, in bits, shape (gold, predicted)."""
    return 0.0 - np.log2(closer_items(items, scale=scale) / items.sum())  # 0 − 0 is 0, not −0


def _show_closeness(items: np.ndarray, classes: list[str]) -> None:
    scale = str(st.radio("Scale", SCALES, format_func=SCALES.get, key="level", bind="query-params", horizontal=True))
    bits = find_closeness(items, scale)
    highest = max(1e-9, float(np.max(bits, initial=0.0, where=np.isfinite(bits))))
    title = "Informational closeness in bits. Rows: gold class; columns: predicted class"
    show_chart(HeatMap(bits, classes, classes, title, lambda n: format_cell(n, 2).replace("inf", "∞"), highest=highest))
    st.caption("−log₂ of the share of gold items that are no farther from the gold class than the predicted class is.")


SPECIFICATIONS: dict[Page, Specification] = {
    "runs": Specification("Which system is better?", "Measures", fill_runs, read_runs),
    "distributions": Specification("Which estimate is better?", "Measures", fill_distributions, read_distributions),
    "closeness": Specification("Which mistake is smaller?", "Scales", fill_closeness, read_closeness),
}
