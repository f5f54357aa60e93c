"""Build ClassificationRuns from the labels in files: alignment by topic and item, and policies, for all formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from metaeval.data.labels import assign_parts, code_labels, unique_labels
from metaeval.data.policies import (
    InvalidPolicy,
    MissingPolicy,
    check_policy,
    describe_affected,
    describe_total,
    find_farthest_end,
    hint_invalid,
    hint_missing,
    report_dropped,
    report_policy,
)
from metaeval.data.rows import is_missing, number
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError, format_count, format_list, format_option

_NONE = -1
"""Stands in integer arrays where there is no row, or no class."""


@dataclass(frozen=True)
class Labels:
    """The labels in one file, one per line: ``labels[i]`` is the label of item ``items[i]`` of topic ``topics[i]``."""

    file: str
    topics: Sequence[str]
    items: Sequence[str]
    labels: Sequence[str]
    lines: Sequence[int]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Topic and item of every row."""
        return list(zip(self.topics, self.items, strict=True))

    def locate(self, row: int, run: str | None = None) -> dict[str, Any]:
        """Return the location of a row, for an error message."""
        place = {"file": self.file, "line": self.lines[row], "topic": self.topics[row], "item": self.items[row]}
        return {**place, "run": run}

    def take(self, rows: Sequence[int]) -> Labels:
        """Return the labels on some of the rows."""
        columns: Any = (self.topics, self.items, self.labels, self.lines)
        return Labels(self.file, *([column[row] for row in rows] for column in columns))


LabelRuns = tuple[Labels, dict[str, Labels], Iterable[object]]
"""What a format of labels reads: gold, runs by name, and classes."""


def classification_runs(
    gold: Labels,
    runs: Mapping[str, Labels],
    classes: Iterable[object],
    *,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    collection: str = "",
    provenance: str = "",
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns:
    """Count which class every run gave the items of every gold class; items are matched by topic and name.

    A missing label counts as "worst" as the class farthest from the gold class, the last class if both ends are as far. Of
    labels outside the classes "clip" makes the nearest end of the scale, if labels and classes are numbers. Runs are left
    out before topics, so that a run that is left out does not remove topics too. With `parts`, random parts of the items
    replace the topics.

    >>> gold = Labels("gold", ["t", "t", "t"], ["1", "2", "3"], ["no", "yes", "yes"], [1, 2, 3])
    >>> run = Labels("run", ["t", "t", "t"], ["3", "1", "2"], ["yes", "no", "no"], [1, 2, 3])
    >>> classification_runs(gold, {"a": run}, ["no", "yes"]).counts[0, 0].tolist()
    [[1, 0], [1, 1]]
    """
    check_policy(missing, MissingPolicy)
    check_policy(invalid, InvalidPolicy)
    names = unique_labels(classes, "class")
    grouped = list(gold.topics)
    if parts is not None:
        part = assign_parts(gold.keys, parts, seed=seed, collection=collection, file=gold.file)
        grouped = [part[key] for key in gold.keys]
    topic_of, topics = pd.factorize(np.array(grouped, dtype=object))
    truth, K = code_labels(gold.labels, names), len(names)
    for row in np.flatnonzero(truth == _NONE)[:1].tolist():
        hint = _hint_rounding(gold.labels[row], names)
        raise DataError(_not_a_class(gold.labels[row], names), **gold.locate(row), hint=hint)
    keys = _index(gold, None)
    rows = np.full((len(runs), len(keys)), _NONE)
    predicted, gaps = rows.copy(), np.zeros(rows.shape, dtype=bool)
    for r, (run, given) in enumerate(runs.items()):
        mine = _index(given, run)
        for row in np.flatnonzero(keys.get_indexer(mine) == _NONE)[:1].tolist():
            problem = f"the gold has no such {'item' if given.topics[row] in gold.topics else 'topic'}"
            raise DataError(problem, **given.locate(row, run))
        rows[r] = mine.get_indexer(keys)
        predicted[r] = np.append(code_labels(given.labels, names), _NONE)[rows[r]]  # the last stands for no row
        for i in np.flatnonzero(predicted[r] == _NONE).tolist():
            gaps[r, i] = rows[r, i] == _NONE or is_missing(given.labels[rows[r, i]])
    answers = _Answers(list(runs), topics.tolist(), topic_of, list(runs.values()), rows, predicted, names)
    marked = {"invalid": ((predicted == _NONE) & ~gaps, invalid), "missing": (gaps, missing)}
    for option, (cells, policy) in marked.items():
        if policy == "raise" and cells.any():
            answers.refuse(cells, option, gold)
        if policy in ("worst", "clip") and cells.any():
            answers.replace(cells, option, policy, truth)
    keep_runs, keep_topics = answers.find_remaining(marked)
    # Number the cells (topic, gold, predicted) consecutively, so that one bincount per run fills the whole array.
    cell, n_cells = (topic_of * K + truth) * K, len(topics) * K * K
    counts = np.array([np.bincount((cell + given)[given != _NONE], minlength=n_cells) for given in predicted])
    return ClassificationRuns(
        counts.reshape(len(runs), len(topics), K, K)[np.ix_(keep_runs, keep_topics)],
        runs=[run for run, keep in zip(runs, keep_runs, strict=True) if keep],
        topics=topics[keep_topics].tolist(),
        classes=names,
        collection=collection,
        provenance=provenance,
    )


def _index(given: Labels, run: str | None) -> pd.MultiIndex:
    """Return topic and item of every row, none of which may stand twice."""
    keys = pd.MultiIndex.from_arrays([list(given.topics), list(given.items)])
    for row in np.flatnonzero(keys.duplicated())[:1].tolist():
        first = given.lines[keys.tolist().index(keys[row])]
        raise DataError(f"the item occurs twice, first on line {first}", **given.locate(row, run))
    return keys


@dataclass
class _Answers:
    """The answers of runs to gold items.

    ``predicted[r, i]`` is a class, or −1 if there is none to count; ``rows[r, i]`` is the row in the file of run r, or −1.
    """

    runs: list[str]
    topics: list[str]
    topic_of: np.ndarray
    files: list[Labels]
    rows: np.ndarray
    predicted: np.ndarray
    classes: tuple[str, ...]

    def refuse(self, cells: np.ndarray, option: str, gold: Labels) -> NoReturn:
        """Refuse the first of these cells: that on the first line, or of the first item."""
        r, total = int(np.argmax(cells.any(axis=1))), describe_total(int(cells.sum()))
        order = np.flatnonzero(cells[r]).tolist()
        i = min(order, key=lambda i: self.rows[r, i]) if option == "invalid" else order[0]
        file, row = self.files[r], int(self.rows[r, i])
        if row == _NONE:
            place: dict[str, Any] = {"topic": gold.topics[i], "item": gold.items[i]}
            problem = "there is no label for this item"
            if cells[r, self.topic_of == self.topic_of[i]].all():
                place, problem = {"topic": self.topics[self.topic_of[i]]}, "there are no labels for this topic"
            raise DataError(problem + total, file=file.file, run=self.runs[r], **place, hint=hint_missing())
        label = file.labels[row] if option == "invalid" else ""
        hint = (_hint_rounding(label, self.classes) or hint_invalid()) if label else hint_missing()
        raise DataError(_not_a_class(label, self.classes) + total, **file.locate(row, self.runs[r]), hint=hint)

    def replace(self, cells: np.ndarray, option: str, policy: str, truth: np.ndarray) -> None:
        """Give these cells the nearest end of the scale, or the class farthest from the gold, and say so."""
        where = "the class farthest from the gold" if policy == "worst" else "the nearest end of the scale"
        what = f"{format_count(int(cells.sum()), 'label')} outside the classes moved to"
        if option == "missing":
            what = f"{format_count(int(cells.sum()), 'missing label')} counted as"
        far = np.broadcast_to(find_farthest_end(truth, len(self.classes)), cells.shape)
        self.predicted[cells] = far[cells]
        for r, i in np.argwhere(cells if policy == "clip" else np.zeros_like(cells)).tolist():
            self.predicted[r, i] = _clip(self.files[r], int(self.rows[r, i]), self.runs[r], self.classes)
        affected = describe_affected(self._mark_topics(cells), self.runs, self.topics)
        report_policy(f"{format_option(option, policy)}: {what} {where}: {affected}")

    def find_remaining(self, marked: Mapping[str, tuple[np.ndarray, str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return which runs and which topics remain under the policies; runs are left out first."""
        runs: np.ndarray = np.ones(len(self.runs), dtype=bool)
        topics: np.ndarray = np.ones(len(self.topics), dtype=bool)
        for what, keep, labels in (("run", runs, self.runs), ("topic", topics, self.topics)):
            for option in ("missing", "invalid"):
                cells, policy = marked[option]
                if policy == f"drop-{what}":
                    hit = cells if what == "run" else self._mark_topics(cells[runs]).T
                    stays = np.logical_not(hit.any(axis=1))
                    report_dropped(stays, labels, what, format_option(option, policy))
                    keep &= stays
        if not runs.any() or not topics.any():
            shown = " and ".join(format_option(option, marked[option][1]) for option in ("missing", "invalid"))
            raise DataError(f"{shown} would leave no data")
        return runs, topics

    def _mark_topics(self, cells: np.ndarray) -> np.ndarray:
        """Turn a mask of run × item into run × topic: whether any item of the topic is marked."""
        marked = np.zeros((len(cells), len(self.topics)), dtype=bool)
        r, i = np.nonzero(cells)
        marked[r, self.topic_of[i]] = True
        return marked


def _not_a_class(label: str, classes: Sequence[str]) -> str:
    return f"the label {label!r} is not one of the classes {_show(classes)}" if label else "the label is missing"


def _show(classes: Sequence[str]) -> str:
    return format_list(classes, most=12)


def _hint_rounding(label: str, classes: Sequence[str]) -> str | None:
    scale, value = [number(name) for name in classes], number(label)
    if not all(map(math.isfinite, (*scale, value))) or not min(scale) <= value <= max(scale):
        return None
    return "round real numbers to classes first, in pandas: frame[column].round()"


def _clip(given: Labels, row: int, run: str, classes: Sequence[str]) -> int:
    """Return the end of the scale beyond which a label lies."""
    scale, value = [number(label) for label in classes], number(given.labels[row])
    low, high = min(scale), max(scale)
    if not all(map(math.isfinite, (value, *scale))) or low <= value <= high:
        problem = f"the label {given.labels[row]!r} is not a number beyond an end of the scale {_show(classes)}"
        hint = "clip cannot be used here; choose drop-topic, drop-run or worst"
        raise DataError(problem, **given.locate(row, run), hint=hint)
    return scale.index(low if value < low else high)
