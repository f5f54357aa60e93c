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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.files import PathLike, read_bytes
from metaeval.io.answers import Labels
from metaeval.io.runs import FIVE_CLASSES, read_semeval_labels
from metaeval.io.table import open_sheets, read_fields

POLARITIES = ("negative", "neutral", "positive")
"""The classes of task A; the tables number them from 1, as those of subtask C."""


def read(
    gold: PathLike,
    runs: Mapping[str, PathLike],
    *,
    polarity: PathLike,
    classes: Iterable[object] = FIVE_CLASSES,
    least: int = 1,
    collection: str = "",
) -> ClassificationRuns:
    """Read answers that were joined with gold, by the topic and with the gold of the item that they answer.

    A row with the gold of another topic of its tweet is compared with the join, and left out; so are topics of fewer rows
    than `least`.
    """
    true, names = read_semeval_labels(gold), unique_labels(classes, "class")
    side, label = _code_gold(true, _read_polarities(polarity), names, polarity)
    answered, judged = join_gold(true, agree(side, label)).T
    expected = np.column_stack([side[judged], label[judged]]) + 1
    outputs = np.empty((len(runs), len(answered)), dtype=np.int64)
    for r, (run, path) in enumerate(runs.items()):
        columns = read_columns(path, len(names))
        size = min(len(columns), len(expected))
        unlike = np.flatnonzero((columns[:size, 1:] != expected[:size]).any(axis=1))
        if len(unlike) or len(columns) != len(expected):
            line = int(unlike[0]) + 1 if len(unlike) else size + 1
            problem = f"its rows are not those of the gold: {len(columns):,} rows, {len(expected):,} expected"
            hint = "rows follow the official order of the gold; see metaeval.datasets.semeval_joined"
            raise DataError(problem, file=path, line=line, run=run, hint=hint)
        outputs[r] = columns[:, 0] - 1
    own = np.flatnonzero(answered == judged)
    sizes = Counter(true.topics[i] for i in answered[own])
    position = {topic: t for t, topic in enumerate(t for t in dict.fromkeys(true.topics) if sizes[t] >= max(least, 1))}
    own = np.array([row for row in own if true.topics[answered[row]] in position], dtype=np.intp)
    topic = np.array([position[true.topics[i]] for i in answered[own]], dtype=np.intp)
    counts = np.zeros((len(runs), len(position), len(names), len(names)), dtype=np.int64)
    run_of = np.arange(len(runs))[:, np.newaxis]
    np.add.at(counts, (run_of, topic, label[answered[own]], outputs[:, own]), 1)
    return ClassificationRuns(counts, runs=runs, topics=position, classes=names, collection=collection)


def _code_gold(
    true: Labels, sides: Mapping[str, int], names: Sequence[str], polarity: PathLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gold of task A and of subtask C of every item, from 0."""
    for row, (item, name) in enumerate(zip(true.items, true.labels, strict=True)):
        if item not in sides or name not in names:
            problem = f"the label {name!r} is none of the classes" if item in sides else f"it is not in {polarity}"
            raise DataError(problem, **true.locate(row))
    return np.array([sides[key] for key in true.items]), np.array([names.index(key) for key in true.labels])


def agree(polarity: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Tell which gold of task A and subtask C does not disagree: a neutral tweet may be slightly off the middle."""
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


def join_gold(true: Labels, agreeing: np.ndarray) -> np.ndarray:
    """Return, row by row of the join, which item is answered and which item's gold stands in the row."""
    same: dict[str, list[int]] = {}
    for i, item in enumerate(true.items):
        same.setdefault(item, []).append(i)
    pairs = [
        (i, j)
        for i, (item, topic) in enumerate(zip(true.items, true.topics, strict=True))
        if len(topic.split()) == 1
        for j in same[item]
        if agreeing[j]
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
