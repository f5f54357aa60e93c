"""Totals: a topic called all, mean or average sums up the others and is no topic; a run may do the same."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from metaeval.errors import DataError, PolicyWarning, format_list
from metaeval.files import PathLike, check_cells

if TYPE_CHECKING:
    import pandas as pd

TOTALS = ("all", "mean", "amean", "average", "avg", "overall", "total", "macro")
"""What a row that sums up a run has instead of a topic, and a column that sums up a topic instead of a run, in lower case."""

_RELATIVE, _ABSOLUTE = 1e-3, 1e-4
"""How far a total may be from the mean: it is printed with three or four digits."""


def is_total(topic: str) -> bool:
    """Say whether this is the name of a total, in upper or lower case."""
    return topic.strip().lower() in TOTALS


def drop_totals(
    values: np.ndarray, runs: Sequence[str], topics: Sequence[str], measures: Sequence[object], file: object = None
) -> tuple[np.ndarray, list[str], list[str]]:
    """Leave out totals that are the means of the other topics, and refuse those that are not.

    `values` has shape (run, topic, measure), NaN where there is no score. Without any other topic a total stays: scores
    of whole runs have the one topic "all". Where a run lacks a topic, its total may be a mean of anything, and goes.
    """
    values, runs = _drop_total_run(values, list(runs), file)
    totals = np.array([is_total(topic) for topic in topics], dtype=bool)
    if not totals.any() or totals.all():
        return values, runs, list(topics)
    scores, sums = values[:, ~totals], values[:, totals]
    with _quietly():
        means = scores.mean(axis=1, keepdims=True)
        tolerance = np.maximum(_RELATIVE * np.nanmax(np.abs(scores), axis=(0, 1)), _ABSOLUTE)
        unlike = np.argwhere(np.abs(sums - means) > tolerance)
    names = [topic for topic, total in zip(topics, totals, strict=True) if total]
    for r, t, m in unlike[:1]:
        raise DataError(
            f"it has the name of a total, but its score {sums[r, t, m]:g} is not the mean of the topics, {means[r, 0, m]:g}",
            file=file, run=runs[r], topic=names[t], measure=measures[m],
            hint="remove such rows, or rename the topic if it is one",
        )  # fmt: skip
    _report(f"left out the means over topics, which are called {format_list(names)}", file)
    return scores, runs, [topic for topic, total in zip(topics, totals, strict=True) if not total]


def find_totals(frame: pd.DataFrame, score: np.ndarray, file: PathLike) -> np.ndarray:
    """Say which rows `drop_totals` leaves out, where columns besides run and topic tell scores apart, such as judges."""
    import pandas as pd  # here, so that scores without frames need not wait for it

    labels = [frame[name].map(str) for name in ("run", "topic")]
    if not any(map(is_total, {*labels[0], *labels[1]})):
        return np.zeros(len(frame), dtype=bool)
    others = frame.groupby([name for name in frame if name not in ("run", "topic", "task")], sort=False)
    (r, runs), (t, topics), group = *map(pd.factorize, labels), others.ngroup().to_numpy()
    shape = len(runs), len(topics), others.ngroups
    check_cells(math.prod(shape), file, what="cells of runs, topics and judges, some of which are totals,", each=40)
    values = np.full(shape, np.nan)
    values[r, t, group] = score
    _, runs_left, topics_left = drop_totals(values, list(runs), list(topics), list(others["measure"].first()), file)
    return ~(labels[0].isin(runs_left) & labels[1].isin(topics_left)).to_numpy()


def _drop_total_run(values: np.ndarray, runs: list[str], file: object) -> tuple[np.ndarray, list[str]]:
    """Leave out a run that has the name of a total and is the mean of the others: a column of means over runs."""
    totals = np.array([is_total(run) for run in runs], dtype=bool)
    if totals.sum() != 1 or len(runs) < 3:
        return values, runs
    others, sums = values[~totals], values[totals][0]
    with _quietly():
        means = np.nanmean(others, axis=0)
        tolerance = np.maximum(_RELATIVE * np.nanmax(np.abs(others), axis=(0, 1)), _ABSOLUTE)
        if not ((np.abs(sums - means) <= tolerance) | np.isnan(sums)).all() or np.isnan(sums).all():
            return values, runs
    _report(f"left out {runs[int(np.argmax(totals))]!r}, the means over runs", file)
    return others, [run for run, total in zip(runs, totals, strict=True) if not total]


@contextmanager
def _quietly() -> Iterator[None]:
    """Take means of nothing, and of numbers whose sum is infinite, without a warning."""
    with (
        np.errstate(over="ignore", invalid="ignore"),
        warnings.catch_warnings(action="ignore", category=RuntimeWarning),
    ):
        yield


def _report(what: str, file: object) -> None:
    warnings.warn(what if file is None else f"{file}: {what}", PolicyWarning, stacklevel=5)


def refuse_totals(topics: Sequence[str], file: object) -> None:
    """Refuse to write a topic that would be read back as a total."""
    totals = [topic for topic in topics if is_total(topic)]
    if totals and len(totals) < len(topics):
        problem = "a topic cannot have this name in a file: its scores would be read as means over the other topics"
        raise DataError(problem, file=file, topic=totals[0], hint="rename it")
