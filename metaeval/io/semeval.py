"""SemEval Task 4: subtasks C (one label per tweet of a topic) and E (one distribution per topic)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from metaeval.data.labels import unique_labels
from metaeval.data.rows import number
from metaeval.data.runs import ClassificationRuns, QuantificationRuns
from metaeval.errors import DataError, format_list
from metaeval.files import PathLike, Sources
from metaeval.io.classification import Labels, classification_runs
from metaeval.io.frames import name_origins
from metaeval.io.quantification import Shares, quantification_runs, shares_from_text
from metaeval.io.table import read_fields

CLASSES = ("-2", "-1", "0", "1", "2")
_LAYOUT_C = "id<TAB>topic<TAB>label[<TAB>text]"


def read_classification(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object] = CLASSES,
    collection: str | None = None,
    **options: Any,
) -> ClassificationRuns:
    """Read runs of subtask C: lines ``id<TAB>topic<TAB>label[<TAB>text]``; options as `classification_runs` takes them."""
    files, origin = name_origins(gold, runs, collection)
    true = read_labels(gold)
    keys = set(zip(true.topics, true.items, strict=True))
    answers = {run: _match_line_numbers(read_labels(path, run), true, keys, run) for run, path in files.items()}
    return classification_runs(true, answers, classes, **origin, **options)


def read_quantification(
    gold: PathLike,
    runs: Sources,
    *,
    classes: Iterable[object] = CLASSES,
    collection: str | None = None,
    **options: Any,
) -> QuantificationRuns:
    """Read runs of subtask E: lines ``topic<TAB>p1…pK``; options as `quantification_runs` takes them."""
    files, origin = name_origins(gold, runs, collection)
    names = unique_labels(classes, "class")
    estimates = {run: _read_shares(path, names, run) for run, path in files.items()}
    return quantification_runs(_read_gold_shares(gold, names), estimates, names, **origin, **options)


def read_labels(path: PathLike, run: str | None = None) -> Labels:
    """Return the labels in a file of subtask C."""
    rows, lines = read_fields(path, separator="\t", least=3, most=4, layout=_LAYOUT_C, rest=True)
    items, topics, labels = ([row[column] for row in rows] for column in range(3))
    for row, line in zip(rows, lines, strict=True):
        if not row[0] or not row[1]:
            raise DataError(f"the {'topic' if row[0] else 'id'} is missing", file=path, line=line, run=run)
    return Labels(str(path), topics, items, labels, lines)


def _match_line_numbers(given: Labels, gold: Labels, keys: set[tuple[str, str]], run: str) -> Labels:
    """Replace line numbers, which some submissions have instead of ids, by the ids of the gold."""
    if keys.issuperset(zip(given.topics, given.items, strict=True)):
        return given
    if list(given.items) != [str(line) for line in range(1, len(given.items) + 1)]:
        return given  # unknown ids: `classification_runs` reports the first one with its line
    if len(given.items) != len(gold.items):
        raise DataError(
            f"its ids are line numbers, but it has {len(given.items):,} lines and the gold {len(gold.items):,}",
            file=given.file,
            run=run,
        )
    for row, (mine, theirs) in enumerate(zip(given.topics, gold.topics, strict=True)):
        if mine != theirs:
            raise DataError(
                f"its ids are line numbers, but the topic of this line in the gold is {theirs!r}",
                **given.locate(row, run),
            )
    return Labels(given.file, given.topics, gold.items, given.labels, given.lines)


def _read_shares(path: PathLike, classes: Sequence[str], run: str | None = None) -> Shares:
    width = len(classes) + 1
    layout = f"topic<TAB>p1…p{len(classes)}"
    rows, lines = read_fields(path, separator="\t", least=width, most=width, layout=layout)
    topic, *columns = zip(*rows, strict=True)
    return shares_from_text(columns, classes, file=str(path), topics=topic, lines=lines, run=run)


def _read_gold_shares(path: PathLike, classes: Sequence[str]) -> Shares:
    rows, _ = read_fields(path, separator="\t", least=1, most=1 << 20, layout="")
    first = rows[0]
    if len(first) == len(classes) + 1 and not any(np.isnan([number(text) for text in first[1:]])):
        return _read_shares(path, classes)
    if len(first) not in (3, 4):
        return _read_shares(path, classes)
    gold = read_labels(path)
    code = {label: k for k, label in enumerate(classes)}
    topics = list(dict.fromkeys(gold.topics))
    counts = Counter(zip(gold.topics, gold.labels, strict=True))
    for row, label in enumerate(gold.labels):
        if label not in code:
            problem = f"the label {label!r} is not one of the classes {format_list(classes, most=12)}"
            raise DataError(problem, **gold.locate(row))
    shares = np.array([[counts[topic, label] for label in classes] for topic in topics], dtype=np.float64)
    return Shares(str(path), topics, shares / shares.sum(axis=1, keepdims=True))
