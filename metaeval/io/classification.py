"""Build ClassificationRuns from the labels in files: alignment by topic and item, and policies, for all formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NoReturn

import numpy as np
import pandas as pd

from metaeval.data.labels import code_labels, unique_labels
from metaeval.data.parts import assign_parts
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

Rounding = Literal["nearest", "down", "up"]
"""How a number between two classes becomes a class."""

NONE = -1
"""Stands in integer arrays where there is no row, or no class."""


@dataclass(frozen=True)
class Labels:
    """The labels in one file, one per line: ``labels[i]`` is the label of item ``items[i]`` of topic ``topics[i]``."""

    file: str
    topics: Sequence[str]
    items: Sequence[str]
    labels: Sequence[str]
    lines: Sequence[int]

    def locate(self, row: int, run: str | None = None) -> dict[str, Any]:
        """Return the location of a row, for an error message."""
        location = {"file": self.file, "line": self.lines[row], "topic": self.topics[row], "item": self.items[row]}
        return location if run is None else {**location, "run": run}

    def take(self, rows: Sequence[int]) -> Labels:
        """Return the labels on some of the rows."""
        parts = (self.topics, self.items, self.labels, self.lines)
        return Labels(self.file, *([part[row] for row in rows] for part in parts))


def split_items(
    gold: Labels, runs: Mapping[str, Labels], n_parts: int, *, seed: int = 0, collection: str = ""
) -> tuple[Labels, dict[str, Labels]]:
    """Assign the items of the gold to parts at random, and the answers of the runs to the same parts.

    >>> gold = Labels("gold", ["t"] * 4, ["1", "2", "3", "4"], ["no"] * 4, [1, 2, 3, 4])
    >>> in_parts, _ = split_items(gold, {}, 2)
    >>> sorted(in_parts.topics)
    ['part-1', 'part-1', 'part-2', 'part-2']
    """
    items = zip(gold.topics, gold.items, strict=True)
    part = assign_parts(items, n_parts, seed=seed, collection=collection, file=gold.file)

    def rename(labels: Labels) -> Labels:
        # Items of different topics may have the same name, so the former topic becomes part of the name.
        keys = list(zip(labels.topics, labels.items, strict=True))
        names = [f"{topic}/{item}" if (topic, item) in part else item for topic, item in keys]
        return replace(labels, topics=[part.get(key, key[0]) for key in keys], items=names)

    return rename(gold), {run: rename(labels) for run, labels in runs.items()}


def classification_runs(
    gold: Labels,
    runs: Mapping[str, Labels],
    classes: Iterable[object],
    *,
    missing: MissingPolicy = "raise",
    invalid: InvalidPolicy = "raise",
    rounding: Rounding | None = None,
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
    if parts is not None:
        gold, runs = split_items(gold, runs, parts, seed=seed, collection=collection)
    if rounding is not None:
        gold, *rounded = round_labels([gold, *runs.values()], names, rounding)
        runs = dict(zip(runs, rounded, strict=True))
    files, labels = list(runs.values()), list(runs)
    topic_of, topics = pd.factorize(np.array(gold.topics, dtype=object))
    truth = code_labels(gold.labels, names)
    for row in np.flatnonzero(truth == NONE)[:1].tolist():
        raise DataError(_not_a_class(gold, row, names), **gold.locate(row), hint=_hint_rounding(gold, row, names))
    keys = find_keys(gold, None)
    # rows[r, i] is the row of run r's file that answers gold item i, NONE where there is none.
    rows = np.array([match_rows(given, keys, run) for run, given in runs.items()]).reshape(len(runs), len(keys))
    predicted = np.full(rows.shape, NONE)
    for r, given in enumerate(files):
        predicted[r] = np.append(code_labels(given.labels, names), NONE)[rows[r]]  # the last stands for no row
    gaps = rows == NONE
    for r, i in np.argwhere((predicted == NONE) & ~gaps):
        gaps[r, i] = is_missing(files[r].labels[rows[r, i]])
    far = np.broadcast_to(find_farthest_end(truth, len(names)), rows.shape)
    answers = _Answers(labels, topics, topic_of, files, rows, predicted, gaps)
    wrong = (predicted == NONE) & ~gaps
    cells = {"invalid": (wrong, invalid), "missing": (gaps, missing)}
    for option, (marked, policy) in cells.items():
        if policy == "raise" and marked.any():
            answers.refuse(marked, option, gold, names)
        if policy in ("worst", "clip") and marked.any():
            answers.replace(marked, option, policy, far, names)
    keep_runs, keep_topics = answers.find_remaining(cells)
    K = len(names)
    # Number the cells (topic, gold, predicted) consecutively, so that one bincount per run fills the whole array.
    cell, n_cells = (topic_of * K + truth) * K, len(topics) * K * K
    counts = np.array([np.bincount((cell + p)[p != NONE], minlength=n_cells) for p in predicted])
    return ClassificationRuns(
        counts.reshape(len(labels), len(topics), K, K)[np.ix_(keep_runs, keep_topics)],
        runs=[run for run, keep in zip(labels, keep_runs, strict=True) if keep],
        topics=list(topics[keep_topics]),
        classes=names,
        collection=collection,
        provenance=provenance,
    )


@dataclass
class _Answers:
    """The answers of runs to gold items: ``predicted[r, i]`` is a class, or NONE; `rows` and `gaps` have the same shape."""

    runs: list[str]
    topics: Sequence[str]
    topic_of: np.ndarray
    files: list[Labels]
    rows: np.ndarray
    predicted: np.ndarray
    gaps: np.ndarray

    def mark(self, cells: np.ndarray) -> np.ndarray:
        """Turn a mask of run × item into run × topic: whether any item of the topic is marked."""
        marked = np.zeros((len(cells), len(self.topics)), dtype=bool)
        r, i = np.nonzero(cells)
        marked[r, self.topic_of[i]] = True
        return marked

    def refuse(self, cells: np.ndarray, option: str, gold: Labels, classes: Sequence[str]) -> NoReturn:
        """Refuse the first of these cells: that on the first line, or of the first item."""
        r, total = int(np.argmax(cells.any(axis=1))), describe_total(int(cells.sum()))
        i = min(np.flatnonzero(cells[r]), key=lambda i: self.rows[r, i] if option == "invalid" else i)
        file, row = self.files[r], int(self.rows[r, i])
        if row != NONE:
            hint = _hint_rounding(file, row, classes) or hint_invalid() if option == "invalid" else hint_missing()
            problem = _not_a_class(file, row, classes) if option == "invalid" else "the label is missing"
            raise DataError(problem + total, **file.locate(row, self.runs[r]), hint=hint)
        whole = cells[r, self.topic_of == self.topic_of[i]].all()
        raise DataError(
            f"there {'are no labels for this topic' if whole else 'is no label for this item'}{total}", file=file.file,
            run=self.runs[r], topic=gold.topics[i], item=None if whole else gold.items[i], hint=hint_missing(),
        )  # fmt: skip

    def replace(self, cells: np.ndarray, option: str, policy: str, far: np.ndarray, classes: Sequence[str]) -> None:
        """Give these cells the nearest end of the scale, or the class farthest from the gold, and say so."""
        clipped = policy == "clip"
        for r, i in np.argwhere(cells):
            file, row = self.files[r], int(self.rows[r, i])
            self.predicted[r, i] = _clip(file, row, self.runs[r], classes) if clipped else far[r, i]
        where = "the nearest end of the scale" if clipped else "the class farthest from the gold"
        what = f"{format_count(int(cells.sum()), 'label')} outside the classes moved to"
        what = what if option == "invalid" else f"{format_count(int(cells.sum()), 'missing label')} counted as"
        affected = describe_affected(self.mark(cells), self.runs, self.topics)
        report_policy(f"{format_option(option, policy)}: {what} {where}: {affected}")

    def find_remaining(self, cells: Mapping[str, tuple[np.ndarray, str]]) -> tuple[np.ndarray, np.ndarray]:
        """Return which runs and which topics remain under the policies; runs are left out first."""
        runs, topics = np.ones(len(self.runs), dtype=bool), np.ones(len(self.topics), dtype=bool)
        for axis, keep, labels in (("run", runs, self.runs), ("topic", topics, self.topics)):
            for option in ("missing", "invalid"):
                marked, policy = cells[option]
                if policy == f"drop-{axis}":
                    stays = ~(marked.any(axis=1) if axis == "run" else self.mark(marked[runs]).any(axis=0))
                    report_dropped(stays, labels, axis, format_option(option, policy))
                    keep &= stays
        if not runs.any() or not topics.any():
            shown = " and ".join(format_option(option, cells[option][1]) for option in ("missing", "invalid"))
            raise DataError(f"{shown} would leave no data")
        return runs, topics


def find_keys(given: Labels, run: str | None) -> pd.MultiIndex:
    """Return topic and item of every row, none of which may stand twice."""
    keys = pd.MultiIndex.from_arrays([list(given.topics), list(given.items)])
    for row in np.flatnonzero(keys.duplicated())[:1].tolist():
        first = int(np.argmax(keys == keys[row]))
        problem = f"the item occurs twice, first on line {given.lines[first]}"
        raise DataError(problem, **given.locate(row, run))
    return keys


def match_rows(given: Labels, keys: pd.MultiIndex, run: str) -> np.ndarray:
    """Return which row of a run's file answers each gold item, NONE where there is none."""
    mine = find_keys(given, run)
    for row in np.flatnonzero(keys.get_indexer(mine) == NONE)[:1].tolist():
        known = given.topics[row] in set(keys.get_level_values(0))
        raise DataError(f"the gold has no such {'item' if known else 'topic'}", **given.locate(row, run))
    rows: np.ndarray = mine.get_indexer(keys)
    return rows


def _not_a_class(given: Labels, row: int, classes: Sequence[str]) -> str:
    label = given.labels[row]
    return (
        f"the label {label!r} is not one of the classes {format_list(classes, most=12)}"
        if label
        else "the label is missing"
    )


def _clip(given: Labels, row: int, run: str, classes: Sequence[str]) -> int:
    """Return the end of the scale beyond which a label lies."""
    scale, value = [number(label) for label in classes], number(given.labels[row])
    low, high = min(scale), max(scale)
    if not all(map(math.isfinite, (value, *scale))) or low <= value <= high:
        raise DataError(
            f"the label {given.labels[row]!r} is not a number beyond an end of the scale {format_list(classes, most=12)}",
            **given.locate(row, run), hint="clip cannot be used here; choose drop-topic, drop-run or worst",
        )  # fmt: skip
    return scale.index(low if value < low else high)


def round_labels(given: Sequence[Labels], classes: Sequence[str], rounding: Rounding) -> list[Labels]:
    """Put every label that is a number between two classes into one of them; what is outside the scale stays.

    Half-way between two classes "nearest" is the upper one. Numbers are compared as they are written, exactly.

    >>> labels = Labels("ann.csv", ["t"] * 3, ["1", "2", "3"], ["0.4", "1", "7"], [2, 3, 4])
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     round_labels([labels], ["0", "1", "2"], "nearest")[0].labels
    ['0', '1', '7']
    """
    check_policy(rounding, Rounding)
    scale = {name: exact for name in classes if (exact := _read_exactly(name)) is not None}
    if len(scale) < len(classes):
        raise DataError(f"labels are rounded to classes that are numbers, not {format_list(classes, most=12)}")
    rounded, count = [], 0
    for labels in given:
        values = {text: exact for text in set(labels.labels) - set(scale) if (exact := _read_exactly(text)) is not None}
        inside = {text: value for text, value in values.items() if min(scale.values()) <= value <= max(scale.values())}
        become = {text: _round_number(value, scale, rounding) for text, value in inside.items()}
        # A label such as 1.0 is put into a class too, but no number is changed by that.
        count += sum(text in become and inside[text] != scale[become[text]] for text in labels.labels)
        rounded.append(replace(labels, labels=[become.get(text, text) for text in labels.labels]))
    if count:
        report_policy(f"{format_option('rounding', rounding)}: {format_count(count, 'label')} between classes rounded")
    return rounded


def _read_exactly(text: str) -> Fraction | None:
    """Return the number as it is written, so that 0.15 is half-way between 0.1 and 0.2; None where there is none."""
    rough = number(text)
    if not math.isfinite(rough):
        return None
    return Fraction(text) if rough else Fraction(0)  # 1e-999999999 would take all memory


def _round_number(value: Fraction, scale: Mapping[str, Fraction], rounding: Rounding) -> str:
    below = max((name for name in scale if scale[name] <= value), key=scale.__getitem__)
    above = min((name for name in scale if scale[name] >= value), key=scale.__getitem__)
    if rounding == "nearest":
        return below if value - scale[below] < scale[above] - value else above
    return below if rounding == "down" else above


def _hint_rounding(given: Labels, row: int, classes: Sequence[str]) -> str | None:
    scale, value = [number(name) for name in classes], number(given.labels[row])
    if not all(map(math.isfinite, (*scale, value))) or not min(scale) <= value <= max(scale):
        return None
    return f"say how real numbers become classes: {format_option('rounding', 'nearest')}, down or up"
