"""Popularity against Uniform: Table 7 and Figures 1 to 3, and how they compare with print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

import metaeval
from experiments.lq2021 import audit
from experiments.lq2021.figure3 import find_divergent_topics
from experiments.old.comparison import cell
from experiments.old.outcome import Outcome
from experiments.old.sources import find_relation
from experiments.old.tables import bold_larger, sign_alike
from metaeval.analyses.baseline_preference import BaselinePreference
from metaeval.analyses.study import Study
from metaeval.show.drawing import draw_charts

STUDY, PRINTED = audit.STUDY, audit.PRINTED

SHOWN = 2
"""Topics in Figure 3."""


def format_slug(name: str) -> str:
    """Return the paper's name of a collection as part of a file name.

    Examples
    --------
    >>> format_slug("STC-3 DQ-A")
    'stc-3-dq-a'
    """
    return name.lower().replace(" ", "-")


def add_baselines(outcome: Outcome, studies: Mapping[str, Study]) -> None:
    """Add Table 7, Figures 1 and 2 and the numbers of Figure 3, and compare them with print."""
    preferences = {name: study.preference for name, study in studies.items() if study.preference is not None}
    wins: dict[str, list[tuple[int, int]]] = {}
    for name, preference in preferences.items():
        frame = preference.to_frame().loc[STUDY["measures"]]
        won = zip(frame[preference.second], frame[preference.first], strict=True)
        wins[name] = [(int(uniform), int(popularity)) for uniform, popularity in won]
        if name.endswith("DQ-A"):
            for number in (1, 2):
                charts = [preference.compare_deltas(x, y) for x, y in STUDY[f"figure{number}"]]
                draw = partial(draw_charts, charts, preference.signature)
                outcome.figures[f"figure{number}_{format_slug(name)}"] = draw
    if wins:
        is_complete = set(wins) == set(STUDY["baseline_collections"])
        total = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*wins.values(), strict=True)]
        wins["TOTAL" if is_complete else f"TOTAL of {len(wins)}"] = total  # type: ignore[assignment]
        outcome.tables["table7"] = _tabulate_wins(wins, list(preferences.values()))
        outcome.tables["figure3"] = _tabulate_divergent_topics(preferences)
    names = {name: study.name for name, study in studies.items()}
    _compare_wins(outcome, wins, {**names, "TOTAL": "all six collections"})
    collection = PRINTED["figures"]["collection"]
    _compare_figures(outcome, preferences.get(collection), names.get(collection, ""))


def _compare_wins(outcome: Outcome, wins: Mapping[str, Sequence[tuple[int, int]]], names: Mapping[str, str]) -> None:
    """Compare Table 7 with print; the gold of STC-3 is the paper's own, and both baselines are made from it."""
    relation = "the paper's" if outcome.source == "stc3" else find_relation(outcome.source)
    for name, printed in PRINTED["table7"].items():
        row = wins.get(name)
        data = "" if row is None else names[name]
        for m, measure in enumerate(STUDY["measures"]):
            for side, baseline in enumerate(("uni", "pop")):
                value = None if row is None else row[m][side]
                column = f"{measure} {baseline}"
                outcome.cells.append(
                    cell("Table 7", name, column, printed[m][side], value, data=data, relation=relation)
                )


def _tabulate_wins(
    wins: Mapping[str, Sequence[tuple[int, int]]], preferences: Sequence[BaselinePreference]
) -> metaeval.Table:
    columns = pd.MultiIndex.from_product([STUDY["measures"], ["uni", "pop"]])
    rows = [[number for pair in row for number in pair] for row in wins.values()]
    frame = pd.DataFrame(rows, index=pd.Index(list(wins), name="collection"), columns=columns)
    first, *others = [preference.signature for preference in preferences]
    caption = (
        "Table 7. Topics on which each measure prefers the Uniform baseline (uni) and the Popularity baseline "
        "(pop); the larger number of the two in bold, ties counted for neither."
    )
    signature = sign_alike(first, [other.data[0] for other in others])
    return metaeval.Table(frame, caption, signature, marks=bold_larger)


def _tabulate_divergent_topics(preferences: Mapping[str, BaselinePreference]) -> metaeval.Table:
    """Return the two topics of every collection with the smallest d, and all deltas."""
    rows = [
        {"collection": name, **row}
        for name, entry in preferences.items()
        for row in find_divergent_topics(entry, SHOWN).drop(columns="topic").to_dict("records")
    ]
    first, *others = [entry.signature for entry in preferences.values()]
    caption = (
        "Figure 3 in numbers. The topics, numbered in the collection's order, with the smallest d = ΔNMD − ΔRNOD, and Δ, "
        "Popularity's score less Uniform's, by every measure: below 0 Popularity is preferred."
    )
    frame = pd.DataFrame(rows).set_index("collection")
    return metaeval.Table(frame, caption, sign_alike(first, [entry.data[0] for entry in others]))


def _compare_figures(outcome: Outcome, preference: BaselinePreference | None, data: str) -> None:
    """Compare what §5.3 says of Figures 1 and 3: both are of one collection."""
    figures = PRINTED["figures"]
    in_print = {
        ("Figure 1", "NMD and RNOD, 2nd quadrant"): figures["second_NMD_RNOD"],
        ("Figure 1", "NMD and RNOD, 4th quadrant"): figures["fourth_NMD_RNOD"],
        ("Figure 1", "NMD and RNOD, disagreements"): figures["disagree_NMD_RNOD"],
        ("Figure 1", "2nd quadrant of NMD, fewest"): figures["disagree_range"][0],
        ("Figure 1", "2nd quadrant of NMD, most"): figures["disagree_range"][1],
        ("Figure 1", "fewest, percent"): figures["disagree_percent"][0],
        ("Figure 1", "most, percent"): figures["disagree_percent"][1],
    }
    numbers: list[float | None] = [None] * len(in_print)
    topics: list[dict[str, float]] = [{} for _ in figures["topics"]]
    if preference is not None:
        rows = preference.quadrants()
        rows = rows[rows["measure_1"].eq("NMD") & rows["measure_2"].isin([y for _, y in STUDY["figure1"]])]
        rows = rows.set_index("measure_2")
        second, fourth = int(rows["second"]["RNOD"]), int(rows["fourth"]["RNOD"])
        ends = [int(rows["second"].min()), int(rows["second"].max())]
        numbers = [second, fourth, second + fourth, *ends, *(100 * end / len(preference.topics) for end in ends)]
        topics = find_divergent_topics(preference, SHOWN).to_dict("records")  # type: ignore[assignment]
    relation = find_relation(outcome.source)
    for ((item, column), printed), value in zip(in_print.items(), numbers, strict=True):
        if value is not None and column.endswith("percent"):
            value = float(round(value))  # printed without digits
        outcome.cells.append(cell(item, figures["collection"], column, printed, value, data=data, relation=relation))
    for number, (printed, row) in enumerate(zip(figures["topics"], topics, strict=True), start=1):
        for column, key, said_value, digits in (
            ("number", "number", printed[0], 0), ("ΔNMD", "NMD", printed[1], 3), ("ΔRNOD", "RNOD", printed[2], 3),
            ("d", "d", printed[3], 3),
        ):  # fmt: skip
            outcome.cells.append(
                cell(
                    "Figure 3", f"topic {number}", column, said_value, row.get(key), data=data, digits=digits,
                    relation=relation,
                )
            )  # fmt: skip
