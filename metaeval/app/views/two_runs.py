"""Page 2: two runs over the same gold, and which measure prefers which (Amigó et al. 2020; Cardoso and Sousa 2011)."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from metaeval.app.inputs import format_matrix, parse_classes, parse_labels, parse_matrix
from metaeval.app.measures import find_measures
from metaeval.app.pairs import format_share, name_winner, say_failures, score_pair, sort_pairs
from metaeval.app.parts import choose_preset, find_preset, format_score, plain, say_errors, show_table
from metaeval.errors import MeasureError
from metaeval.measures import FewestMoves, Measure, fewest_moves, widest_disagreement
from metaeval.measures.worker import spend_time, use_time_limit

SEARCH_LIMIT = 20.0
"""Seconds that measures of the user's may take in a search."""
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
    st.title("Two runs")
    st.markdown(
        "Two runs have labelled the same items. Every measure says which run is better: where they disagree, the choice of "
        "the measure decides."
    )
    choose_preset("runs", "runs_example", fill)
    how = st.radio("What to give", INPUTS, key="how", bind="query-params", horizontal=True)
    with say_errors():
        if how == INPUTS[0]:
            left, right = st.columns(2)
            words = "a line for each gold class, in it the items of each predicted class"
            left.text_area(f"First run: {words}", key="first", bind="query-params", height=150)
            right.text_area(f"Second run: {words}", key="second", bind="query-params", height=150)
            first, second = (
                parse_matrix(st.session_state["first"], "first run"),
                parse_matrix(st.session_state["second"], "second run"),
            )
            st.text_input("Names of the classes, with commas", key="run_classes", bind="query-params")
            if first.shape != second.shape:
                raise MeasureError(
                    f"the first run has {len(first)} classes and the second {len(second)}: both need the same"
                )
            classes = parse_classes(st.session_state["run_classes"], len(first))
        else:
            st.text_area(
                "Labels: on each line gold, first run, second run. A first line “classes: a, b, c” states the order",
                key="labels", height=220, placeholder="classes: neg, neu, pos\nneg neg neu\npos neu pos",
            )  # fmt: skip
            classes, first, second = parse_labels(st.session_state["labels"])
        st.text_input("Names of the two runs, with a comma", key="runs", bind="query-params")
        names = parse_classes(st.session_state["runs"], 2)
        if (first.sum(axis=1) != second.sum(axis=1)).any():
            gold = int(np.flatnonzero(first.sum(axis=1) != second.sum(axis=1))[0])
            raise MeasureError(
                f"gold class {classes[gold]} has {first[gold].sum()} items in the first run and {second[gold].sum()} in the "
                "second: both runs label the same items"
            )
        _show_verdicts(first, second, (names[0], names[1]), classes)
    _search()


def _show_verdicts(first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]) -> None:
    rows = compare_runs(find_measures("classification"), first, second)
    ahead = {
        name: sum(row["difference"] > 0 if side else row["difference"] < 0 for row in rows)
        for name, side in zip(names, (True, False), strict=True)
    }
    even = sum(row["difference"] == 0 for row in rows)
    st.header("Who wins")
    st.markdown(
        f"**{ahead[names[0]]}** measures prefer {plain(names[0])}, **{ahead[names[1]]}** prefer {plain(names[1])}, "
        f"**{even}** score both alike."
    )
    shown = find_preset("runs", fill) if st.session_state["how"] == INPUTS[0] else {}
    printed = [shown.get(side, {}).get("scores", {}) for side in ("first", "second")]
    head = ["measure", "better", "winner", *names, "difference", "of range"]
    table = []
    for row in rows:
        name = str(row["measure"])
        mark = " (0/0)" if row["undefined"] else ""
        cells = [
            f"{name}{mark}",
            "lower" if row["measure"].sign < 0 else "higher",
            name_winner(row["difference"], names),
            format_score(row["first"]),
            format_score(row["second"]),
            format_score(row["difference"], sign=True),
            format_share(row["share"]),
        ]
        table.append(cells + [" / ".join(scores[name] for scores in printed if name in scores)] * any(printed))
    show_table(
        head + ["printed"] * any(printed), table,
        "Scores, and by how much the first run is better, also as a share of the measure's range, by which the rows are "
        "sorted. (0/0): a documented value stands for an undefined score", text=3, spare=(1,),
    )  # fmt: skip
    say_failures(rows)
    _show_turning(rows, first, second, names, classes)


@st.cache_data(show_spinner="Searching for the fewest moves", max_entries=200)
def _turn(name: str, first: list[list[int]], second: list[list[int]], _measure: Measure) -> FewestMoves | str:
    try:
        with use_time_limit(SEARCH_LIMIT), spend_time():
            return fewest_moves(_measure, first, second)
    except MeasureError as error:
        return str(error)


def _show_turning(
    rows: list[dict[str, Any]], first: np.ndarray, second: np.ndarray, names: tuple[str, str], classes: list[str]
) -> None:
    st.header("How firm is a verdict?")
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


def _search() -> None:
    st.header("Where do two measures disagree most?")
    measures = {str(measure): measure for measure in find_measures("classification")}
    with st.form("search"):
        columns = st.columns(2)
        first = columns[0].selectbox("Measure", list(measures), index=list(measures).index("kappa"), key="search_1")
        second = columns[1].selectbox(
            "Other measure", list(measures), index=list(measures).index("CEM_ORD"), key="search_2"
        )
        n_classes = columns[0].number_input("Classes", 2, 7, 3, key="search_classes")
        n_items = columns[1].number_input("Items", 4, 200, 20, key="search_items")
        seed = columns[0].number_input("Seed", 0, 1_000_000, 0, key="search_seed")
        pressed = st.form_submit_button("Search among random pairs of runs")
    if pressed:
        with say_errors(), use_time_limit(SEARCH_LIMIT), spend_time():
            pair = widest_disagreement(
                measures[first], measures[second], n_classes=int(n_classes), n_items=int(n_items), seed=int(seed)
            )
            st.session_state["searched"] = pair
            if pair is None:
                st.info("The two measures preferred the same run in every pair that was drawn.")
    pair = st.session_state.get("searched")
    if pair is None:
        return
    names = [str(measure) for measure in pair.measures]
    st.markdown(
        f"Of {pair.n_tried:,} random pairs of runs the two disagree on {pair.n_disagree:,}. On the pair below they disagree "
        f"most: {plain(names[0])} prefers the first run by {pair.differences[0]:.4f}, {plain(names[1])} the second by "
        f"{-pair.differences[1]:.4f}. The smaller of the two, in standard deviations over all pairs, decides. Random pairs "
        "may miss a wider disagreement."
    )
    left, right = st.columns(2)
    for column, title, counts in ((left, "First run", pair.first), (right, "Second run", pair.second)):
        with column:
            labels = [str(k + 1) for k in range(len(counts))]
            show_table(
                ["gold \\ predicted", *labels],
                [[label, *map(str, row)] for label, row in zip(labels, counts.tolist(), strict=True)],
                title,
            )
    st.button("Put this pair into the inputs", on_click=_take, key="take")


def _take() -> None:
    pair = st.session_state["searched"]
    st.session_state.update(
        how=INPUTS[0],
        first=format_matrix(pair.first),
        second=format_matrix(pair.second),
        runs="first, second",
        run_classes="",
        turn=None,
    )
