"""SemEval-2017 Task 4, subtask C: answers published without ids and topics, joined with the gold of two tasks.

The published tables have one row for each answer, with the gold of task A (three classes) and of subtask C (five classes)
of that tweet. Which tweet and which topic a row is about can be worked out, because the rows are the result of a join:

1. the answers about topics of one word, in the order of the official gold (fields were separated at white space, so
   that a topic of several words broke its lines);
2. joined on the tweet with all gold of that tweet: a tweet about two topics gives two rows for each answer, one of them
   with the gold of the other topic;
3. without the rows in which task A and subtask C disagree: not negative with −1 or less, neutral with −1 to 1, or
   positive with 1 or more.

That is a reading of the files, not something their publishers say. It is checked whenever they are read: the gold in the
rows must be, row by row, the gold that this join gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError, format_count
from metaeval.files import PathLike, read_bytes
from metaeval.io.runs import SEMEVAL_CLASSES, read_semeval_labels
from metaeval.io.table import open_sheets, read_fields

POLARITIES = ("negative", "neutral", "positive")
"""The classes of task A; the tables number them from 1, as those of subtask C."""


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """Answers row by row, and what every row is about.

    `outputs`, shape (run, row), holds the class that a run answered, from 0. `label` and `topic`, shape (item,), hold the
    gold of subtask C and the topic of every item of the gold. `answered` and `judged`, shape (row,), are the item that a row
    answers and the item whose gold stands in it: another one where a tweet is about several topics.
    """

    outputs: np.ndarray
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    label: np.ndarray
    topic: np.ndarray
    answered: np.ndarray
    judged: np.ndarray

    @property
    def unmixed(self) -> np.ndarray:
        """Whether a row has the gold of the very item that it answers, shape (row,)."""
        return self.answered == self.judged

    def count(self, topic: np.ndarray, *, least: int, classes: Iterable[object], collection: str) -> ClassificationRuns:
        """Count answers by topic, gold and answered class; rows of a topic below 0 and topics of fewer rows are left out."""
        names = unique_labels(classes, "class")
        sizes = np.bincount(topic[topic >= 0], minlength=len(self.topics))
        chosen = np.flatnonzero(sizes >= max(least, 1))
        if not len(chosen):
            raise DataError(f"no topic has {format_count(least, 'item')}")
        position = np.full(len(self.topics) + 1, -1)  # the last one is that of rows without a topic
        position[chosen] = np.arange(len(chosen))
        rows = np.flatnonzero(position[topic] >= 0)
        counts = np.zeros((len(self.runs), len(chosen), len(names), len(names)), dtype=np.int64)
        run = np.arange(len(self.runs))[:, np.newaxis]
        gold = self.label[self.judged[rows]]
        np.add.at(counts, (run, position[topic[rows]], gold, self.outputs[:, rows]), 1)
        named = [self.topics[t] for t in chosen]
        return ClassificationRuns(counts, runs=self.runs, topics=named, classes=names, collection=collection)


def read(
    gold: PathLike,
    runs: Mapping[str, PathLike],
    *,
    polarity: PathLike,
    classes: Iterable[object] = SEMEVAL_CLASSES,
    least: int = 1,
    collection: str = "",
) -> ClassificationRuns:
    """Read answers that were joined with gold, by the topic and with the gold of the item that they answer."""
    rows = read_rows(gold, runs, polarity=polarity, classes=classes)
    topic = np.where(rows.unmixed, rows.topic[rows.answered], -1)
    return rows.count(topic, least=least, classes=classes, collection=collection)


def read_rows(
    gold: PathLike,
    runs: Mapping[str, PathLike],
    *,
    polarity: PathLike,
    classes: Iterable[object] = SEMEVAL_CLASSES,
) -> JoinedRows:
    """Read answers row by row, and find out what each row is about."""
    true, code = read_semeval_labels(gold), {name: k for k, name in enumerate(unique_labels(classes, "class"))}
    sides = _read_polarities(polarity)
    for row, (item, name) in enumerate(zip(true.items, true.labels, strict=True)):
        if item not in sides or name not in code:
            problem = f"the label {name!r} is none of the classes" if item in sides else f"it is not in {polarity}"
            raise DataError(problem, **true.locate(row))
    topics = tuple(dict.fromkeys(true.topics))
    side, label = np.array([sides[key] for key in true.items]), np.array([code[key] for key in true.labels])
    answered, judged = _join(list(true.items), true.topics, agree(side, label))
    outputs = np.empty((len(runs), len(answered)), dtype=np.int64)
    expected = np.column_stack([side[judged], label[judged]]) + 1
    for r, (run, path) in enumerate(runs.items()):
        columns = read_columns(path, len(code))
        size = min(len(columns), len(expected))
        unlike = np.flatnonzero((columns[:size, 1:] != expected[:size]).any(axis=1))
        if len(unlike) or len(columns) != len(expected):
            line = int(unlike[0]) + 1 if len(unlike) else size + 1
            problem = f"its rows are not those of the gold: {len(columns):,} rows, {len(expected):,} expected"
            hint = "rows follow the official order of the gold; see metaeval.datasets.semeval_joined"
            raise DataError(problem, file=path, line=line, run=run, hint=hint)
        outputs[r] = columns[:, 0] - 1
    topic = np.array([topics.index(key) for key in true.topics])
    return JoinedRows(outputs, tuple(runs), topics, label, topic, answered, judged)


def agree(polarity: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Tell which gold of task A and subtask C does not disagree: a neutral tweet may be slightly off the middle.

    >>> agree(np.array([0, 0, 1, 1, 2]), np.array([1, 2, 1, 0, 3])).tolist()
    [True, False, True, False, True]
    """
    return np.where(polarity == 1, np.abs(label - 2) <= 1, (label - 2) * (polarity - 1) >= 1)


def read_columns(path: PathLike, n_classes: int) -> np.ndarray:
    """Return the three columns of a workbook: answer, gold of task A, gold of subtask C, each from 1."""
    cells: list[tuple[Any, ...]] = next(iter(open_sheets(path, read_bytes(path)).values()), [])
    most = (n_classes, len(POLARITIES), n_classes)
    for line, row in enumerate(cells, start=1):
        whole = len(row) == 3 and all(type(cell) is int for cell in row)
        if not whole or not all(1 <= cell <= top for cell, top in zip(row, most, strict=True)):
            problem = f"a row is answer, gold of task A, gold of subtask C, whole numbers up to {most}, not {row}"
            raise DataError(problem, file=path, line=line)
    return np.array(cells, dtype=np.int64).reshape(-1, 3)


def _read_polarities(path: PathLike) -> dict[str, int]:
    rows, lines = read_fields(path, separator="\t", least=2, most=3, layout="id<TAB>polarity[<TAB>text]", rest=True)
    for (_, label, *_), line in zip(rows, lines, strict=True):
        if label not in POLARITIES:
            raise DataError(f"the polarity {label!r} is none of {', '.join(POLARITIES)}", file=path, line=line)
    return {row[0]: POLARITIES.index(row[1]) for row in rows}


def _join(items: list[str], topics: Iterable[str], agreeing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, row by row of the join, which item is answered and which item's gold stands in the row."""
    same: dict[str, list[int]] = {}
    for i, item in enumerate(items):
        same.setdefault(item, []).append(i)
    pairs = [
        (i, j)
        for i, (item, topic) in enumerate(zip(items, topics, strict=True))
        if len(topic.split()) == 1
        for j in same[item]
        if agreeing[j]
    ]
    answered, judged = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return answered, judged
