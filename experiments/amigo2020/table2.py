"""Tables 1 and 2: the search for counterexamples beside the printed marks, and why they differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.amigo2020 import reasons
from experiments.old.comparison import Cell, cell
from experiments.old.outcome import Outcome, Settings, read_toml
from metaeval.analyses.properties import IMBALANCE, PROPERTIES

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINT = read_toml(HERE / "printed.toml")
PRINTED = PRINT["properties"]
ROWS = STUDY["properties"]


def compute_table2(settings: Settings) -> tuple[Outcome, metaeval.Properties, metaeval.Properties]:
    """Search for counterexamples, with and without empty gold classes, and compare with the printed marks."""
    settings.say(f"Table 2: {len(ROWS)} measures")
    found = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed)
    empty = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed, empty_classes=True)
    exhaustive = metaeval.properties(next(iter(ROWS.values())), only=PROPERTIES, n_random=0)
    outcome = Outcome("amigo2020", "properties")
    outcome.tables["table1"] = tabulate_campaigns(found)
    outcome.tables["table2"] = _marks(found, empty)
    outcome.tables["counterexamples"] = _counterexamples(found)
    outcome.tables["differences"] = list_differences(found)
    outcome.tables["imbalance"] = tabulate_imbalance()
    outcome.figures["table2"] = found.plot
    outcome.cells = _cells(found)
    lost = [
        f"{row} ({property_})"
        for row, before, after in zip(ROWS, found.holds(), empty.holds(), strict=True)
        for property_, was, still in zip(PROPERTIES, before, after, strict=True)
        if was and not still
    ]
    outcome.notes = [*_count_cases(found, exhaustive), f"lost where gold classes may be empty: {', '.join(lost)}"]
    return outcome, found, empty


def _count_cases(found: metaeval.Properties, exhaustive: metaeval.Properties) -> list[str]:
    """Say what a mark proves, and how many of the cases are all small ones, how many random."""
    sizes = []
    for name in PROPERTIES:
        small, tried = (one.get_check(one.measures[0], name) for one in (exhaustive, found))
        if small is not None and tried is not None:
            sizes.append(f"{name}: {small.cases:,} and {tried.cases - small.cases:,}")
    return [
        "✗ is proved, by the counterexample that is listed; ✓ means that none was found, which is no proof",
        f"cases tried, all small ones and random larger ones: {'; '.join(sizes)}",
    ]


def tabulate_campaigns(found: metaeval.Properties) -> metaeval.Table:
    """Return Table 1: which metric which campaign used, what the text says of it, and its properties in the search."""
    rows = []
    for one in PRINT["table1"]:
        holds = found.holds()[list(ROWS).index(one["row"])]
        marks = ["✓" if mark else "✗" for mark in holds]
        rows.append((one["campaign"], one["metric"], one["text"] or "–", ROWS[one["row"]], *marks))
    names = ["campaign", "Table 1", "§2.1", "measure here", *PROPERTIES]
    caption = (
        "Table 1: metrics of evaluation campaigns as printed, what the text says of the same campaign, and the properties of "
        "these measures by the search. What a campaign used is not recomputed."
    )
    return metaeval.Table(pd.DataFrame(rows, columns=names).set_index("campaign"), caption, found.signature)


def _marks(found: metaeval.Properties, empty: metaeval.Properties) -> metaeval.Table:
    columns = pd.MultiIndex.from_product([PROPERTIES, ["print", "search", "with empty classes"]])
    rows = []
    for row, measure in zip(ROWS, found.measures, strict=True):
        marks = []
        for p, property_ in enumerate(PROPERTIES):
            searched, with_empty = (one.get_check(measure, property_) for one in (found, empty))
            marks += ["✓" if PRINTED[row][p] else "–", *(one.mark for one in (searched, with_empty) if one is not None)]
        rows.append(marks)
    frame = pd.DataFrame(rows, index=pd.Index(list(ROWS), name="measure"), columns=columns)
    words = pd.DataFrame("", index=frame.index, columns=columns)
    for row in ROWS:
        for property_ in PROPERTIES:
            if (frame.loc[row, (property_, "print")] == "✓") != frame.loc[row, (property_, "search")].startswith("✓"):
                words.loc[row, (property_, "search")] = "bold"
    caption = (
        "Table 2: the printed marks; in how many of how many cases a search found a counterexample; and the same once "
        "gold classes may be empty. Where search and print differ: bold."
    )
    return metaeval.Table(frame, caption, found.signature, marks=lambda _: words)


def _counterexamples(found: metaeval.Properties) -> metaeval.Table:
    frame = found.to_frame()
    caption = (
        "The smallest counterexample found of every property that a measure does not have, counts[gold][predicted]."
    )
    failed = frame[frame["failed"] > 0].drop(columns="holds")
    return metaeval.Table(failed.set_index("measure"), caption, found.signature)


def list_differences(found: metaeval.Properties) -> metaeval.Table:
    """Return every mark that differs from print, with the counterexample and the reason."""
    why = {(row, one["property"]): (one["why"], one["tried"]) for one in STUDY["differences"] for row in one["rows"]}
    rows = []
    for row, measure in zip(ROWS, found.measures, strict=True):
        for p, property_ in enumerate(PROPERTIES):
            check = found.get_check(measure, property_)
            if check is not None and check.holds != PRINTED[row][p]:
                printed = "✓" if PRINTED[row][p] else "–"
                words, name = why.get((row, property_), ("", ""))
                tried = reasons.describe(reasons.try_reason(name, ROWS[row])) if name else "–"
                rows.append((row, property_, printed, str(check), words, tried))
    names = ["measure", "property", "print", "search", "why", "tried"]
    caption = (
        "Where the search and the printed Table 2 differ: the counterexample, the reason, and in how many cases what the "
        f"reason says is so (imbalance: {reasons.GOLDS}; else {reasons.MATRICES})."
    )
    return metaeval.Table(pd.DataFrame(rows, columns=names).set_index("measure"), caption, found.signature)


def tabulate_imbalance() -> metaeval.Table:
    """Return how often each measure finds the mistake in the larger class better, equally good or worse.

    Property 3 wants "better" always; the blog's wording wants "worse".
    """
    counted = {}
    for row, name in ROWS.items():
        gaps = np.concatenate([reasons.find_gaps(name, n_classes)[0] for n_classes in reasons.CLASSES])
        counted[row] = np.array([(gaps > 1e-9).sum(), (np.abs(gaps) <= 1e-9).sum(), (gaps < -1e-9).sum()])
    frame = pd.DataFrame(
        [100 * counts / counts.sum() for counts in counted.values()],
        index=pd.Index(list(ROWS), name="measure"),
        columns=["better", "equal", "worse"],
    )
    frame["cases"] = [int(counts.sum()) for counts in counted.values()]
    caption = (
        "Imbalance: in how many percent of cases a run with one mistake in the larger class is better than, as good "
        "as, or worse than one with a mistake in the smaller class. The property as printed wants it always better; the "
        "words of the blog (a mistake in a small class should matter less) want it always worse."
    )
    signature = f"{IMBALANCE} | {reasons.GOLDS} | metaeval {metaeval.__version__}"
    return metaeval.Table(frame, caption, signature, digits=1)


def _cells(found: metaeval.Properties) -> list[Cell]:
    """Compare marks: a counterexample proves one, so that it is exact; that a search finds none depends on the search."""
    cells = []
    for m, row in enumerate(ROWS):
        for p, property_ in enumerate(PROPERTIES):
            met = bool(found.holds()[m, p])
            random = 0.0 if met else None
            printed, data = float(PRINTED[row][p]), "confusion matrices"
            cells.append(cell("Table 2", row, property_, printed, float(met), data=data, monte_carlo=random))
    return cells
