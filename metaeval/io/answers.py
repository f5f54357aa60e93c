"""Runs built from what any format reads: labels or distributions are aligned with the gold, and policies applied."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from metaeval.data import policies
from metaeval.data.labels import code_labels, unique_labels
from metaeval.data.rows import is_missing, number
from metaeval.data.runs import ClassificationRuns, QuantificationRuns, distributions
from metaeval.errors import DataError, format_count, format_list, format_option
from metaeval.stats.arrays import find_farthest_end, mark_topics
from metaeval.stats.streams import assign_parts

_NONE = -1  # in integer arrays where there is no row, or no class


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
        topic, item = self.topics[row], self.items[row]
        return {"file": self.file, "line": self.lines[row], "run": run, "topic": topic, "item": item}

    def take(self, rows: Sequence[int]) -> Labels:
        """Return the labels on some of the rows."""
        columns: Any = (self.topics, self.items, self.labels, self.lines)
        return Labels(self.file, *([column[row] for row in rows] for column in columns))


@dataclass(frozen=True)
class Shares:
    """The distributions in one file: ``values[i, k]`` is the share of class k in topic ``topics[i]``."""

    file: str
    topics: Sequence[str]
    values: np.ndarray
    lines: Sequence[int] | None = None

    def locate(self, row: int, run: str | None = None) -> dict[str, Any]:
        """Return the location of a row, for an error message."""
        line = None if self.lines is None else self.lines[row]
        return {"file": self.file, "line": line, "run": run, "topic": self.topics[row]}


LabelRuns = tuple[Labels, dict[str, Labels], Iterable[object]]
ShareRuns = tuple[Shares, dict[str, Shares], Iterable[object]]  # what a format reads: gold, runs by name, and classes


def classification_runs(
    gold: Labels,
    runs: Mapping[str, Labels],
    classes: Iterable[object],
    *,
    missing: policies.MissingPolicy = "raise",
    invalid: policies.InvalidPolicy = "raise",
    collection: str = "",
    provenance: str = "",
    parts: int | None = None,
    seed: int = 0,
) -> ClassificationRuns:
    """Count which class every run gave the items of every gold class; items are matched by topic and name.

    A missing label counts as "worst" as the class farthest from the gold class, the last class if both ends are as far. Of
    labels outside the classes "clip" makes the nearest end of the scale, if labels and classes are numbers. Runs are left
    out before topics, so that a run that is left out does not remove topics too.
    """
    policies.check_policy(missing, policies.MissingPolicy)
    policies.check_policy(invalid, policies.InvalidPolicy)
    names = unique_labels(classes, "class")
    grouped = list(gold.topics)
    if parts is not None:
        part = assign_parts(gold.keys, parts, seed=seed, collection=collection, file=gold.file)
        grouped = [part[key] for key in gold.keys]
    topic_of, topics = pd.factorize(np.array(grouped, dtype=object))
    truth, K = code_labels(gold.labels, names), len(names)
    for row in np.flatnonzero(truth == _NONE)[:1].tolist():
        raise DataError(_not_a_class(gold.labels[row], names), **gold.locate(row))
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
    labels, by_topic = list(runs), topics.tolist()
    marked = {"invalid": ((predicted == _NONE) & ~gaps, invalid), "missing": (gaps, missing)}
    for option, (cells, policy) in marked.items():
        if cells.any() and policy == "raise":
            _refuse(cells, option, gold, runs, rows, names)
        if not cells.any() or policy not in ("worst", "clip"):
            continue
        predicted[cells] = np.broadcast_to(find_farthest_end(truth, K), cells.shape)[cells]
        for r, i in np.argwhere(cells).tolist() if policy == "clip" else ():
            predicted[r, i] = _clip(runs[labels[r]], int(rows[r, i]), labels[r], names)
        count, missed = int(cells.sum()), option == "missing"
        what = f"{format_count(count, 'missing label')} counted as"
        what = what if missed else f"{format_count(count, 'label')} outside the classes moved to"
        where = "the class farthest from the gold" if policy == "worst" else "the nearest end of the scale"
        affected = _describe_affected(mark_topics(cells, topic_of), labels, by_topic)
        policies.report_policy(f"{what} {where} (like {format_option(option, policy)}): {affected}")
    keep_runs, keep_topics = _find_remaining(marked, labels, by_topic, topic_of)
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


def _find_remaining(
    marked: Mapping[str, tuple[np.ndarray, str]], runs: list[str], topics: list[str], topic_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which runs and which topics remain under the policies; runs are left out first."""
    keep_runs, keep_topics = np.ones(len(runs), dtype=bool), np.ones(len(topics), dtype=bool)
    for what, keep, known in (("run", keep_runs, runs), ("topic", keep_topics, topics)):
        for option in ("missing", "invalid"):
            cells, policy = marked[option]
            if policy == f"drop-{what}":
                hit = cells if what == "run" else mark_topics(cells[keep_runs], topic_of).T
                stays = np.logical_not(hit.any(axis=1))
                policies.report_dropped(stays, known, what, format_option(option, policy))
                keep &= stays
    if not keep_runs.any() or not keep_topics.any():
        shown = " and ".join(format_option(option, marked[option][1]) for option in ("missing", "invalid"))
        raise DataError(f"{shown} would leave no data")
    return keep_runs, keep_topics


def _refuse(
    cells: np.ndarray, option: str, gold: Labels, runs: Mapping[str, Labels], rows: np.ndarray, classes: Sequence[str]
) -> NoReturn:
    """Refuse the first of these cells: that on the first line, or of the first item; ``rows[r, i]`` is a row, or −1."""
    r, total = int(np.argmax(cells.any(axis=1))), policies.describe_total(int(cells.sum()))
    run, order = list(runs)[r], np.flatnonzero(cells[r]).tolist()
    i = min(order, key=lambda i: rows[r, i]) if option == "invalid" else order[0]
    row = int(rows[r, i])
    if row == _NONE:
        where: dict[str, Any] = {"file": runs[run].file, "run": run, "topic": gold.topics[i], "item": gold.items[i]}
        raise DataError(f"there is no label for this item{total}", **where, hint=f"{policies.hint_missing()}, or worst")
    label = runs[run].labels[row] if option == "invalid" else ""
    others = f"choose what to do about it: {format_option('invalid', 'drop-topic')}, drop-run, clip or worst"
    hint = others if label else f"{policies.hint_missing()}, or worst"
    raise DataError(_not_a_class(label, classes) + total, **runs[run].locate(row, run), hint=hint)


def _not_a_class(label: str, classes: Sequence[str]) -> str:
    shown = format_list(classes, most=12)
    return f"the label {label!r} is not one of the classes {shown}" if label else "the label is missing"


def _clip(given: Labels, row: int, run: str, classes: Sequence[str]) -> int:
    scale, value = [number(label) for label in classes], number(given.labels[row])
    low, high = min(scale), max(scale)
    if not all(map(math.isfinite, (value, *scale))) or low <= value <= high:
        shown = format_list(classes, most=12)
        problem = f"the label {given.labels[row]!r} is not a number beyond an end of the scale {shown}"
        hint = "clip cannot be used here; choose drop-topic, drop-run or worst"
        raise DataError(problem, **given.locate(row, run), hint=hint)
    return scale.index(low if value < low else high)


def quantification_runs(
    gold: Shares,
    runs: Mapping[str, Shares],
    classes: Iterable[object],
    *,
    rescale: bool = False,
    missing: policies.MissingPolicy = "raise",
    collection: str = "",
    provenance: str = "",
) -> QuantificationRuns:
    """Align the estimated distributions of every run with the gold ones, topic by topic.

    For a missing distribution "worst" puts all probability on the end of the scale that is farther from the mean of the
    gold distribution, and on the last class if both are as far.
    """
    policies.check_policy(missing, policies.MissingPolicy)
    names = unique_labels(classes, "class")
    truth, K = _check_shares(gold, None, names, rescale), len(names)
    position = {topic: t for t, topic in enumerate(gold.topics)}
    estimated = np.full((len(runs), *truth.shape), np.nan)
    gaps = np.ones(estimated.shape[:2], dtype=bool)
    for r, (run, shares) in enumerate(runs.items()):
        for row, topic in enumerate(shares.topics):
            if topic not in position:
                raise DataError("the gold has no such topic", **shares.locate(row, run))
        rows = [position[topic] for topic in shares.topics]
        estimated[r, rows] = _check_shares(shares, run, names, rescale)
        gaps[r, rows] = False
    labels, topics, count = list(runs), list(gold.topics), int(gaps.sum())
    if count and missing == "raise":
        r, t = np.argwhere(gaps)[0]
        problem = f"there is no distribution for this topic{policies.describe_total(count)}"
        where = {"file": runs[labels[r]].file, "run": labels[r], "topic": topics[t]}
        raise DataError(problem, **where, hint=f"{policies.hint_missing()}, or worst")
    if count and missing == "worst":
        worst = np.eye(K)[find_farthest_end(truth @ np.arange(K), K)]
        estimated[gaps] = np.broadcast_to(worst, estimated.shape)[gaps]
        given = f"{format_count(count, 'missing distribution')} given all mass on the class farthest from the gold"
        affected = _describe_affected(gaps, labels, topics)
        policies.report_policy(f"{format_option('missing', missing)}: {given}: {affected}")
    keep_runs, keep_topics = policies.find_complete(gaps, labels, topics, missing)
    return QuantificationRuns(
        estimated[np.ix_(keep_runs, keep_topics)],
        truth[keep_topics],
        runs=[run for run, keep in zip(labels, keep_runs, strict=True) if keep],
        topics=[topic for topic, keep in zip(topics, keep_topics, strict=True) if keep],
        classes=names,
        collection=collection,
        provenance=provenance,
    )


def shares_from_text(
    columns: Sequence[Sequence[str]],
    classes: Sequence[str],
    *,
    file: str,
    topics: Sequence[str],
    lines: Sequence[int],
    run: str | None = None,
) -> Shares:
    """Convert columns of text, one per class, to `Shares`; a run has no answer where all are empty, NA or NaN."""
    for row, topic in enumerate(topics):
        if not topic.strip():
            raise DataError("the topic is missing", file=file, line=lines[row], run=run)
    if run is not None:
        keep = [row for row, cells in enumerate(zip(*columns, strict=True)) if not all(map(is_missing, cells))]
        topics, lines = [topics[row] for row in keep], [lines[row] for row in keep]
        columns = [[column[row] for row in keep] for column in columns]
    numbers = np.array([list(map(number, column)) for column in columns]).reshape(len(columns), -1)
    shares = Shares(file, topics, numbers.T, lines)
    for row, k in np.argwhere(~np.isfinite(shares.values))[:1]:
        given = columns[k][row]
        problem = f"the probability of class {classes[k]} is {given!r}, not a number from 0 to 1"
        raise DataError(problem, **shares.locate(row, run), value=given)
    return shares


def _check_shares(shares: Shares, run: str | None, classes: tuple[str, ...], rescale: bool) -> np.ndarray:
    topics = tuple(shares.topics)
    for row in np.flatnonzero(pd.Index(topics, dtype=object).duplicated())[:1].tolist():
        raise DataError("there is a second distribution for this topic", **shares.locate(row, run))
    try:
        return distributions(shares.values[None], (run or "gold",), topics, classes, rescale=rescale)[0]
    except DataError as error:
        # `distributions` does not know the file: add file and line to its message.
        row = topics.index(str(error.topic))
        raise DataError(error.problem, **shares.locate(row, run), value=error.value, hint=error.hint) from None


def _describe_affected(cells: np.ndarray, runs: Sequence[str], topics: Sequence[str]) -> str:
    """Return which runs and topics some cells of a run × topic array belong to, as a short phrase."""
    parts = []
    for axis, (what, labels) in enumerate((("run", runs), ("topic", topics))):
        hit = [labels[i] for i in np.flatnonzero(cells.any(axis=1 - axis)).tolist()]
        parts.append(f"{what}{'s' * (len(hit) != 1)} {format_list(hit)}")
    return "; ".join(parts)
