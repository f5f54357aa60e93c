"""Is a new measure worth taking instead of its parent, RNOD? Each claim is tried on every measure of which it speaks."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from experiments.claims import Answer, claim, every
from experiments.page import Folder


def count_misorders(tables: Folder, case: str) -> Iterator[tuple[str, Answer]]:
    """Tell of RNOD and its variants whether all comparisons of one of both cases are right and decided."""
    for _, row in tables.read("order").set_index("measure").filter(like="RN", axis=0).iterrows():
        wrong = int(row[f"{case} farther better"] + row[f"{case} same"])
        if row.name in ("RNOD", *tables.read("beside")["measure"]):
            yield str(row.name), Answer(wrong == 0, (f"comparisons wrong or undecided {wrong}",))


@claim("asked here", "It keeps the order of classes where all gold is in one class.")
def keeps_order_of_one_class(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """In none of the comparisons of order.csv the farther class is scored better, or the same."""
    return count_misorders(tables, "all gold in one class")


@claim("asked here", "It keeps the order of classes where every class has some gold.")
def keeps_order_of_all_classes(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """The same."""
    return count_misorders(tables, "0.6 in one class, the rest even")


def compare_consistency(rows: pd.DataFrame) -> Answer:
    """Tell whether a measure is more consistent than RNOD in more comparisons (collections × sizes) than less."""
    verdicts = rows[[column for column in rows if f"gain {column}" in rows]]
    better, worse = (int((verdicts == verdict).sum().sum()) for verdict in ("better", "worse"))
    return Answer(better > worse, (f"comparisons in which it is better {better}", f"in which it is worse {worse}"))


@claim("asked here", "It is more consistent than RNOD.")
def is_more_consistent(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """Of all collections, by halves and small sets, it is significantly better in more comparisons than worse."""
    for name, rows in tables.read("beside").groupby("measure", sort=False):
        yield str(name), compare_consistency(rows)


@claim("asked here", "It is worth taking instead of RNOD.")
def is_worth_taking(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """It is more consistent by the rule above, and finds at least as many significant pairs of runs."""
    for name, rows in tables.read("beside").groupby("measure", sort=False):
        gain = int((rows["new only"] - rows["RNOD only"]).sum())
        yield str(name), every([compare_consistency(rows), Answer(gain >= 0, (f"pairs more than RNOD {gain}",))])


@claim("asked here", "It prefers Uniform to Popularity on more topics than RNOD does.")
def prefers_uniform_more(tables: Folder) -> Iterator[tuple[str, Answer]]:
    """Counted over all topics of all collections with gold, of those on which it prefers either."""
    counts = tables.read("preferences").set_index("measure")
    shares = counts["Uniform"] / counts.sum(axis=1)
    for name in dict.fromkeys(tables.read("beside")["measure"]):
        figures = (f"{100 * shares[name]:.1f} %", f"RNOD {100 * shares['RNOD']:.1f} %")
        yield str(name), Answer(bool(shares[name] > shares["RNOD"]), figures)
