"""Ratings: scores in rows, each of a run on a topic, perhaps repeated, by one of several judges, in one of several tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from metaeval.data.columns import format_columns
from metaeval.data.labels import Labelled
from metaeval.data.rows import Cells, DoubledError, Rows, place_topics
from metaeval.errors import DataError, format_count
from metaeval.measures.base import Measure
from metaeval.stats.variance_components import FACETS


@dataclass(frozen=True, eq=False, init=False)
class Ratings(Labelled):
    """Scores with everything that they may differ by, in rows; cells without a score have no row.

    Parameters
    ----------
    frame : DataFrame
        Columns run, topic and score, and perhaps measure, task, judge and repeat. A topic lies in one task.
    measures : tuple of Measure, optional
        In the order in which they are shown; by default those of the column measure.
    collection : str, optional

    Examples
    --------
    >>> rows = [("a", "t", 1, 0.5), ("a", "t", 2, 0.7), ("b", "t", 1, 0.2), ("b", "t", 2, 0.1), ("b", "u", 1, 0.4)]
    >>> Ratings(pd.DataFrame(rows, columns=["run", "topic", "repeat", "score"]))
    Ratings: 5 scores of 2 runs × 2 topics × 2 repeats
    """

    frame: pd.DataFrame
    measures: tuple[Measure, ...]
    collection: str

    def __init__(self, frame: pd.DataFrame | Cells, measures: Sequence[Measure] = (), collection: str = "") -> None:
        cells = frame if isinstance(frame, Cells) else _find_cells(frame)
        labels = {axis: np.array(names, dtype=object) for axis, names in cells.labels.items()}
        columns = {axis: labels[axis][codes] for axis, codes in cells.codes.items()}
        rows = pd.DataFrame({**columns, "score": cells.score})
        for name in [name for name in labels if name != "measure" and rows[name].nunique() < 2][:1]:
            raise DataError(f"there is one {name} only, {rows[name].iloc[0]!r}: its variance takes at least two")
        rows = rows.sort_values([*labels], kind="stable", ignore_index=True)
        known = tuple(measures) or tuple(map(Measure, rows["measure"].unique()))
        self._set(frame=rows, measures=known, collection=collection)

    def __repr__(self) -> str:
        return f"Ratings: {format_count(len(self.frame), 'score')} of {self.size}"

    @property
    def facets(self) -> tuple[str, ...]:
        """What scores may differ by."""
        return tuple(name for name in FACETS if name in self.frame)

    @property
    def size(self) -> str:
        """How many runs, topics, … there are, in words."""
        return " × ".join(format_count(self.frame[name].nunique(), name) for name in self.facets)

    @cached_property
    def fingerprint(self) -> str:
        """The start of a checksum of all labels and scores, to about eight digits."""
        rows = self.frame.assign(score=[f"{score:.8g}" for score in self.frame["score"]])
        return hashlib.sha256(rows.to_csv(index=False).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _find_cells(frame: pd.DataFrame) -> Cells:
    if lacking := {"run", "topic", "score"} - {*frame}:
        raise DataError(f"there is no column {min(lacking)!r}")
    axes = [*(name for name in FACETS if name in frame), "measure"]
    frame = frame if "measure" in frame else frame.assign(measure="score")
    cells = Cells(Rows.of(frame[[*axes, "score"]].reset_index(drop=True)), axes)
    for row in np.flatnonzero(np.isnan(cells.score))[:1]:
        raise DataError("there is no score", **cells.rows.locate(row), hint="leave such rows out")
    refuse_two_tasks(cells)
    try:
        cells.settle_doubled("raise")
    except DoubledError as error:
        raise error.changed(hint="name the column that tells them apart: repeats or judges") from None
    return cells


def refuse_two_tasks(cells: Cells, names: Sequence[str] = ("task", "topic")) -> None:
    """Refuse a topic that lies in two tasks, and say how to name topics by both; `names` are those of the columns."""
    if "task" in cells.codes:
        both = format_columns({"topic": "+".join(names)})
        place_topics(cells, "task", f"if they are two topics, name them by both: {both}")
