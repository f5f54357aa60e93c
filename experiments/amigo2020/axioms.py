"""Table 2: the search for counterexamples beside the printed marks, and why they differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.comparison import Cell, cell
from experiments.outcome import Outcome, Settings, read_toml
from metaeval.analyses.properties import IMBALANCE, PROPERTIES
from metaeval.stats.ordinal_cases import all_counts, misplaced_in_the_middle

HERE = Path(__file__).parent
STUDY = read_toml(HERE / "study.toml")
PRINTED = read_toml(HERE / "printed.toml")["properties"]
ROWS = STUDY["properties"]
MOST_ITEMS = 12


def compute_table2(settings: Settings) -> Outcome:
    """Search for counterexamples, with and without empty gold classes, and compare with the printed marks.

    Parameters
    ----------
    settings : Settings

    Returns
    -------
    Outcome
    """
    settings.say(f"Table 2: {len(ROWS)} measures")
    found = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed)
    empty = metaeval.properties(list(ROWS.values()), only=PROPERTIES, seed=settings.seed, empty_classes=True)
    outcome = Outcome("amigo2020", "properties")
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
    outcome.notes = [f"lost where gold classes may be empty: {', '.join(lost)}"]
    return outcome


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
    """Return every mark that differs from print, with the counterexample and the reason.

    Parameters
    ----------
    found : Properties

    Returns
    -------
    Table
    """
    reasons = {(row, one["property"]): one["why"] for one in STUDY["differences"] for row in one["rows"]}
    rows = []
    for row, measure in zip(ROWS, found.measures, strict=True):
        for p, property_ in enumerate(PROPERTIES):
            check = found.get_check(measure, property_)
            if check is not None and check.holds != PRINTED[row][p]:
                printed = "✓" if PRINTED[row][p] else "–"
                rows.append((row, property_, printed, str(check), reasons.get((row, property_), "")))
    frame = pd.DataFrame(rows, columns=["measure", "property", "print", "search", "why"]).set_index("measure")
    return metaeval.Table(frame, "Where the search and the printed Table 2 differ, and why.", found.signature)


def tabulate_imbalance() -> metaeval.Table:
    """Return how often each measure finds the mistake in the larger class better, equally good or worse.

    Property 3 wants "better" always; the blog's wording wants "worse".

    Returns
    -------
    Table
    """
    counted = {row: np.zeros(3, dtype=np.int64) for row in ROWS}
    for n_items in range(4, MOST_ITEMS + 1):
        for n_classes in (3, 4):
            gold = all_counts(n_items, n_classes)
            large, small = misplaced_in_the_middle(gold[(gold > 0).all(axis=1)])
            for row, name in ROWS.items():
                measure = metaeval.measure(name)
                gap = measure.evaluate(large)[0] - measure.evaluate(small)[0]
                gap *= measure.sign
                counted[row] += [int((gap > 1e-9).sum()), int((np.abs(gap) <= 1e-9).sum()), int((gap < -1e-9).sum())]
    frame = pd.DataFrame(
        [100 * counts / counts.sum() for counts in counted.values()],
        index=pd.Index(list(ROWS), name="measure"),
        columns=["better", "equal", "worse"],
    )
    frame["cases"] = [int(counts.sum()) for counts in counted.values()]
    caption = (
        "Imbalance: in how many percent of cases a run with one mistake in the larger class is better than, as good "
        "as, or worse than one with a mistake in the smaller class. The property as printed wants 100 % better; the "
        "words of the blog (a mistake in a small class should matter less) want 100 % worse."
    )
    cases = f"all gold of 4 to {MOST_ITEMS} items in 3 and 4 classes, none empty"
    signature = f"{IMBALANCE} | {cases} | metaeval {metaeval.__version__}"
    return metaeval.Table(frame, caption, signature, digits=1)


def _cells(found: metaeval.Properties) -> list[Cell]:
    return [
        cell("Table 2", row, property_, float(PRINTED[row][p]), float(found.holds()[m, p]), data="confusion matrices")
        for m, row in enumerate(ROWS)
        for p, property_ in enumerate(PROPERTIES)
    ]
