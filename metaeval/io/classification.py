"""Build ClassificationRuns from the labels in files: alignment by topic and item, and policies, for all formats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np

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

    def locate(self, row: int, run: str | None = None) -> dict[str, Any]:
        """Return the location of a row, for an error message."""
        location = {"file": self.file, "line": self.lines[row], "topic": self.topics[row], "item": self.items[row]}
        return location if run is None else {**location, "run": run}

    def take(self, rows: Sequence[int]) -> Labels:
        """Return the labels on some of the rows."""
        return Labels(
            self.file,
            [self.topics[row] for row in rows],
            [self.items[row] for row in rows],
            [self.labels[row] for row in rows],
            [self.lines[row] for row in rows],
        )


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
    topics = list(dict.fromkeys(gold.topics))
    number_of = {topic: t for t, topic in enumerate(topics)}
    topic_of = np.fromiter((number_of[topic] for topic in gold.topics), dtype=np.intp, count=len(gold.topics))
    truth = code_labels(gold.labels, names)
    for row in np.flatnonzero(truth == _NONE)[:1]:
        label = gold.labels[row]
        raise DataError(_not_a_class(label, names), **gold.locate(int(row)), hint=_hint_rounding(label, names))
    rows = _match_rows(gold, runs)
    predicted = _code_answers(runs, rows, names)
    files, gaps = list(runs.values()), rows == _NONE
    for r, i in np.argwhere((predicted == _NONE) & ~gaps):
        gaps[r, i] = is_missing(files[r].labels[rows[r, i]])
    answers = _Answers(list(runs), topics, topic_of, files, rows, predicted, gaps)
    far = find_farthest_end(truth, len(names))
    answers.apply_invalid(invalid, names, far)
    answers.apply_missing(missing, gold, far)
    keep_runs, keep_topics = answers.find_remaining(missing, invalid)
    return ClassificationRuns(
        _count_confusions(answers, truth, len(names))[np.ix_(keep_runs, keep_topics)],
        runs=[run for run, keep in zip(runs, keep_runs, strict=True) if keep],
        topics=[topic for topic, keep in zip(topics, keep_topics, strict=True) if keep],
        classes=names,
        collection=collection,
        provenance=provenance,
    )


def _hint_rounding(label: str, classes: Sequence[str]) -> str | None:
    scale, value = [number(name) for name in classes], number(label)
    if not all(map(math.isfinite, (*scale, value))) or not min(scale) <= value <= max(scale):
        return None
    return "round real numbers to classes first, in pandas: frame[column].round()"


def _match_rows(gold: Labels, runs: Mapping[str, Labels]) -> np.ndarray:
    """``rows[r, i]`` is the row of run r's file that answers gold item i, −1 where there is none."""
    position = {key: i for i, key in enumerate(zip(gold.topics, gold.items, strict=True))}
    if len(position) < len(gold.items):
        _refuse_second(gold, None)
    rows = np.full((len(runs), len(gold.items)), _NONE, dtype=np.intp)
    for r, (run, given) in enumerate(runs.items()):
        if given.items == gold.items and given.topics == gold.topics:  # the usual case, without any look-up
            rows[r] = np.arange(len(gold.items))
            continue
        keys = zip(given.topics, given.items, strict=True)
        item = np.fromiter(map(position.get, keys, repeat(_NONE)), dtype=np.intp, count=len(given.items))
        for row in np.flatnonzero(item == _NONE)[:1]:
            known = given.topics[row] in set(gold.topics)
            raise DataError(f"the gold has no such {'item' if known else 'topic'}", **given.locate(int(row), run))
        rows[r, item] = np.arange(len(item))
        if np.count_nonzero(rows[r] != _NONE) < len(item):  # a later row has overwritten an earlier one
            _refuse_second(given, run)
    return rows


def _refuse_second(given: Labels, run: str | None) -> None:
    first: dict[tuple[str, str], int] = {}
    for row, key in enumerate(zip(given.topics, given.items, strict=True)):
        if key in first:
            problem = f"the item occurs twice, first on line {given.lines[first[key]]}"
            raise DataError(problem, **given.locate(row, run))
        first[key] = row


def _code_answers(runs: Mapping[str, Labels], rows: np.ndarray, classes: Sequence[str]) -> np.ndarray:
    predicted = np.full(rows.shape, _NONE, dtype=np.intp)
    for r, given in enumerate(runs.values()):
        answered = rows[r] != _NONE
        predicted[r, answered] = code_labels(given.labels, classes)[rows[r, answered]]
    return predicted


def _count_confusions(answers: _Answers, truth: np.ndarray, K: int) -> np.ndarray:
    """Confusion counts, shape (run, topic, gold, predicted), of the answers that have a class."""
    n_topics = len(answers.topics)
    counts = np.empty((len(answers.runs), n_topics * K * K), dtype=np.int64)
    # Number the cells (topic, gold, predicted) consecutively, so that one bincount per run fills the whole array.
    cell = (answers.topic_of * K + truth) * K
    for r, predicted in enumerate(answers.predicted):
        counted = predicted != _NONE
        counts[r] = np.bincount(cell[counted] + predicted[counted], minlength=counts.shape[1])
    return counts.reshape(len(answers.runs), n_topics, K, K)


@dataclass
class _Answers:
    """The answers of runs to gold items: ``predicted[r, i]`` is a class, or −1 if there is none to count.

    ``rows[r, i]`` is the row of the answer in the file of run r, or −1 if there is none; ``gaps[r, i]`` tells whether
    the answer is missing, or the row says so, and not a label outside the classes.
    """

    runs: list[str]
    topics: list[str]
    topic_of: np.ndarray
    files: list[Labels]
    rows: np.ndarray
    predicted: np.ndarray
    gaps: np.ndarray

    def apply_invalid(self, policy: InvalidPolicy, classes: Sequence[str], far: np.ndarray) -> None:
        bad = (self.predicted == _NONE) & ~self.gaps
        if not bad.any() or policy in ("drop-topic", "drop-run"):
            return
        if policy == "raise":
            r = int(np.argmax(bad.any(axis=1)))
            row = int(self.rows[r, bad[r]].min())
            problem = _not_a_class(self.files[r].labels[row], classes) + describe_total(int(bad.sum()))
            hint = _hint_rounding(self.files[r].labels[row], classes) or hint_invalid()
            raise DataError(problem, **self.files[r].locate(row, self.runs[r]), hint=hint)
        if policy == "worst":
            self.predicted[bad] = np.broadcast_to(far, bad.shape)[bad]
        else:
            for r, i in np.argwhere(bad):
                self.predicted[r, i] = _clip_label(self.files[r], int(self.rows[r, i]), self.runs[r], classes)
        where = "the nearest end of the scale" if policy == "clip" else "the class farthest from the gold"
        what = f"{format_count(int(bad.sum()), 'label')} outside the classes moved to {where}"
        report_policy(f"{format_option('invalid', policy)}: {what}: {self._describe_affected(bad)}")

    def apply_missing(self, policy: MissingPolicy, gold: Labels, far: np.ndarray) -> None:
        gaps = self.gaps
        if not gaps.any() or policy in ("drop-topic", "drop-run"):
            return
        if policy == "raise":
            r, i = np.argwhere(gaps)[0]
            row = int(self.rows[r, i])
            if row != _NONE:
                problem = f"the label is missing{describe_total(int(gaps.sum()))}"
                raise DataError(problem, **self.files[r].locate(row, self.runs[r]), hint=hint_missing())
            whole = gaps[r, self.topic_of == self.topic_of[i]].all()
            what = "are no labels for this topic" if whole else "is no label for this item"
            raise DataError(
                f"there {what}{describe_total(int(gaps.sum()))}",
                file=self.files[r].file,
                run=self.runs[r],
                topic=gold.topics[i],
                item=None if whole else gold.items[i],
                hint=hint_missing(),
            )
        self.predicted[gaps] = np.broadcast_to(far, gaps.shape)[gaps]
        count = format_count(int(gaps.sum()), "missing label")
        where = "the class farthest from the gold"
        report_policy(
            f"{format_option('missing', 'worst')}: {count} counted as {where}: {self._describe_affected(gaps)}"
        )

    def find_remaining(self, missing: MissingPolicy, invalid: InvalidPolicy) -> tuple[np.ndarray, np.ndarray]:
        """Return which runs and which topics remain under the policies; runs are left out first."""
        policies = (
            (self.gaps, format_option("missing", missing)),
            ((self.predicted == _NONE) & ~self.gaps, format_option("invalid", invalid)),
        )
        runs: np.ndarray = np.ones(len(self.runs), dtype=bool)
        topics: np.ndarray = np.ones(len(self.topics), dtype=bool)
        for cells, policy in policies:
            if policy.endswith("drop-run"):
                keep = np.logical_not(cells.any(axis=1))
                report_dropped(keep, self.runs, "run", policy)
                runs &= keep
        for cells, policy in policies:
            if policy.endswith("drop-topic"):
                keep = np.logical_not(self._mark_topics(cells[runs]).any(axis=0))
                report_dropped(keep, self.topics, "topic", policy)
                topics &= keep
        if not runs.any() or not topics.any():
            raise DataError(f"{' and '.join(policy for _, policy in policies)} would leave no data")
        return runs, topics

    def _mark_topics(self, cells: np.ndarray) -> np.ndarray:
        """Turn a mask of run × item into run × topic: whether any item of the topic is marked."""
        marked = np.zeros((len(cells), len(self.topics)), dtype=bool)
        r, i = np.nonzero(cells)
        marked[r, self.topic_of[i]] = True
        return marked

    def _describe_affected(self, cells: np.ndarray) -> str:
        return describe_affected(self._mark_topics(cells), self.runs, self.topics)


def _not_a_class(label: str, classes: Sequence[str]) -> str:
    problem = f"the label {label!r} is not one of the classes" if label else "the label is missing"
    return f"{problem} {format_list(classes, most=12)}" if label else problem


def _clip_label(given: Labels, row: int, run: str, classes: Sequence[str]) -> int:
    scale = [number(label) for label in classes]
    value = number(given.labels[row])
    low, high = min(scale), max(scale)
    if not all(map(math.isfinite, (value, *scale))) or low <= value <= high:
        raise DataError(
            f"the label {given.labels[row]!r} is not a number beyond an end of the scale {format_list(classes, most=12)}",
            **given.locate(row, run),
            hint="clip cannot be used here; choose drop-topic, drop-run or worst",
        )
    return scale.index(low if value < low else high)
