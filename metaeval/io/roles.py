"""Which of two columns holds topics and which measures: told by the names in them, and by where the topic ``all`` stands."""

from __future__ import annotations

import math
from collections.abc import Iterable

from metaeval.data.cells import number
from metaeval.measures.resolve import measure_of_label

ALL = "all"
"""The topic of rows that sum up a run."""

COUNTS = ("num_q", "num_ret", "num_rel", "num_rel_ret")
"""Rows that are counts of topics and documents, not measures."""

TEXTS = ("runid", "relstring")
"""Beginnings of the names of rows that hold text."""

Order = tuple[str, str]
"""What two columns hold."""

MEASURE_FIRST: Order = ("measure", "topic")
TOPIC_FIRST: Order = ("topic", "measure")


def holds_scores(measure: str) -> bool:
    """Say whether rows of this name hold the scores of a measure, not counts or texts."""
    return measure not in COUNTS and not measure.startswith(TEXTS)


def find_order(pairs: Iterable[tuple[str, str]], *, known: bool = False) -> Order | None:
    """Return what two columns hold, or None where the names in them do not tell.

    A measure is called neither ``all`` nor by a number. One order is sure where ``all`` or only numbers stand among the
    topics, likely where the name of a measure is known; with `known` nothing but such a name counts, because the columns
    might also be those of runs.
    """
    columns = list(zip(*set(pairs), strict=True)) or [(), ()]
    names = [{name.strip() for name in column} for column in columns]
    likely: list[tuple[Order, bool]] = []
    for order, measures, topics in ((MEASURE_FIRST, names[0], names[1]), (TOPIC_FIRST, names[1], names[0])):
        if ALL in measures or any(_is_number(name) for name in measures):
            continue
        sure = ALL in topics or all(_is_number(name) for name in topics)
        if any(map(_names_measure, measures)) or (sure and not known):
            likely.append((order, sure))
    if len(likely) > 1:
        likely = [(order, sure) for order, sure in likely if sure]
    return likely[0][0] if len(likely) == 1 else None


def names_measures(labels: Iterable[str]) -> bool:
    """Say whether all labels are names of known measures."""
    return all(map(_names_measure, set(labels)))


def _is_number(name: str) -> bool:
    return math.isfinite(number(name))


def _names_measure(label: str) -> bool:
    return not holds_scores(label) or measure_of_label(label).higher_is_better is not None
