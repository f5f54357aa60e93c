"""The tasks of a board: the same runs in each, and what is done where scores are missing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.topic_noise import TopicNoise, find_noise, join_noise
from metaeval.data.clusters import code_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option, suggest_names
from metaeval.measures.base import Measure, find_signs

Gaps: TypeAlias = Literal["present", "complete"]
"""Where scores are missing: means over the topics present, or complete runs only."""


FEWEST_FREE = 3
"""Degrees of freedom, topics less tasks, below which rank sets of simulated boards did not hold."""


@dataclass(frozen=True, eq=False)
class Tasks:
    """Aligned tasks, in the order of their names. `values[t]` has the shape (run, topic), NaN where there is no score.

    `clusters[t]` numbers the cluster of each topic, None where topics are single, and `drawn[t]` names what is drawn: clusters,
    or topics. `noise` says what clusters and repeats do, if there are any.
    `partial` and `lacking` say which runs lack some or all topics of which tasks, shape (run, task); `all_runs` counts the
    runs before incomplete ones were left out. The largest magnitude of all scores is near 1, in units of `unit`.
    """

    names: tuple[str, ...]
    runs: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]
    measures: tuple[Measure, ...]
    values: tuple[np.ndarray, ...]
    clusters: tuple[np.ndarray | None, ...]
    drawn: tuple[tuple[str, ...], ...]
    noise: TopicNoise | None
    partial: np.ndarray
    lacking: np.ndarray
    all_runs: int
    unit: float

    @property
    def unlike(self) -> bool:
        """Whether the tasks are scored by different measures."""
        return len(set(map(str, self.measures))) > 1


def align_tasks(given: Scores | Sequence[Scores], gaps: Gaps | None) -> Tasks:
    """Return the tasks with the same runs in each; higher scores are better."""
    ordered, names = _name_tasks([given] if isinstance(given, Scores) else list(given))
    runs = sorted({run for task in ordered for run in task.runs})
    values = [_place_runs(task, runs) for task in ordered]
    largest = max((float(np.nanmax(np.abs(board), initial=0.0)) for board in values), default=0.0)
    unit = (
        float(np.ldexp(1.0, np.frexp(largest)[1] - 1)) if largest else 1.0
    )  # a power of two, so that nothing is rounded
    missing = np.stack([np.isnan(board).mean(axis=1) for board in values], axis=1)
    keep = _choose_runs(missing, gaps, runs)
    values = [board[keep] / unit for board in values]
    scored = [~np.isnan(board).all(axis=0) for board in values]
    topics = [np.array(sorted(task.topics), dtype=object)[some] for task, some in zip(ordered, scored, strict=True)]
    grouped = [_group_topics(task, some) for task, some in zip(ordered, scored, strict=True)]
    noise = {name: found for name, task in zip(names, ordered, strict=True) if (found := find_noise(task))}
    return _check_sizes(
        Tasks(
            names, tuple(np.array(runs, dtype=object)[keep]), tuple(map(tuple, topics)),
            tuple(task.measures[0] for task in ordered),
            tuple(board[:, some] for board, some in zip(values, scored, strict=True)),
            tuple(codes for _, codes in grouped),
            tuple(tuple(own) if codes is None else names for (names, codes), own in zip(grouped, topics, strict=True)),
            join_noise(noise, sum(map(len, topics))),
            (missing > 0) & (missing < 1), missing == 1, len(runs), unit,
        )
    )  # fmt: skip


def _name_tasks(listed: Sequence[Scores]) -> tuple[list[Scores], tuple[str, ...]]:
    """Return tasks in the order of their names, and these."""
    if not listed:
        raise MetaevalError("a board needs the scores of at least one task")
    for task in listed:
        _check_task(task)
    ordered = sorted(listed, key=lambda task: task.collection)
    names = tuple(task.collection or "scores" for task in ordered)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise MetaevalError(f"the task {twice[0]} is there twice: name tasks apart by their collections")
    return ordered, names


def _place_runs(task: Scores, runs: Sequence[str]) -> np.ndarray:
    """Return the scores of all runs on the topics of a task, sorted by labels, shape (run, topic)."""
    board = np.full((len(runs), len(task.topics)), np.nan)
    board[np.searchsorted(runs, sorted(task.runs))] = sort_labels(task, signs=find_signs(task.measures)).values[..., 0]
    return board


def _group_topics(task: Scores, some: np.ndarray) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return the names of the clusters of some of the topics, sorted by label, and the number of each topic's cluster."""
    if not task.clusters:
        return (), None
    order = sorted(range(len(task.topics)), key=lambda topic: task.topics[topic])
    return code_clusters(np.array(task.clusters, dtype=object)[order][some].tolist())


@dataclass(frozen=True, eq=False)
class _Joined:
    """What a signature says of tasks: their number, a checksum of all of them, and runs and topics in all."""

    collection: str
    fingerprint: str
    values: np.ndarray
    measures: tuple[Measure, ...]


def join_tasks(given: Sequence[Scores]) -> Scores | _Joined:
    """Return what a signature describes: the only task, or all of them as one."""
    if len(given) == 1:
        return given[0]
    ordered = sorted(given, key=lambda task: task.collection)
    digest = hashlib.sha256(
        "".join(f"{task.collection}\0{task.fingerprint}" for task in ordered).encode("utf-8", "surrogatepass")
    )
    size = len({run for task in ordered for run in task.runs}), sum(len(task.topics) for task in ordered), 1
    measures = {str(task.measures[0]): task.measures[0] for task in ordered}
    name = format_count(len(ordered), "task")
    return _Joined(name, digest.hexdigest()[:12], np.broadcast_to(0.0, size), tuple(measures.values()))


def _check_task(task: object) -> None:
    if not isinstance(task, Scores):
        raise MetaevalError(f"a task is Scores, not {type(task).__name__}: see metaeval.io.read_collections")
    if len(task.measures) > 1:
        raise MetaevalError(
            f"{task.collection or 'the task'} has {len(task.measures)} measures: choose one with {format_option('measure')}"
        )


def _choose_runs(missing: np.ndarray, gaps: Gaps | None, runs: Sequence[str]) -> np.ndarray:
    """Return which runs stay on the board."""
    complete = (missing == 0).all(axis=1)
    if gaps is None and not complete.all():
        kinds = {"in part of a task": (missing > 0) & (missing < 1), "of a whole task": missing == 1}
        found = [f"{some.any(axis=1).sum():,} {where}" for where, some in kinds.items() if some.any()]
        raise MetaevalError(
            f"{(~complete).sum():,} of {len(runs):,} runs lack scores ({', '.join(found)}): choose what to do with "
            f"{format_option('gaps', 'present')} or complete"
        )
    if gaps == "complete" and complete.sum() < 2:
        raise MetaevalError(
            f"too few runs are complete: {complete.sum()} of {len(runs):,}; use {format_option('gaps', 'present')}"
        )
    return np.asarray(complete if gaps == "complete" else (missing < 1).any(axis=1))


def _check_sizes(tasks: Tasks) -> Tasks:
    if len(tasks.runs) < 2:
        raise MetaevalError(f"ranks compare two runs or more; there is {tasks.runs[0]} only")
    for name, board in zip(tasks.names, tasks.values, strict=True):
        scored = np.flatnonzero(~np.isnan(board).all(axis=1))
        if len(scored) < 2:
            lone = f"{tasks.runs[scored[0]]} only" if len(scored) else "no run that is left"
            raise MetaevalError(f"the task {name} has scores of {lone}: leave its rows out, or add runs")
    return tasks


def check_topics(tasks: Tasks) -> None:
    """Refuse a task with a single topic, where topics are resampled."""
    for name, topics, codes in zip(tasks.names, tasks.drawn, tasks.clusters, strict=True):
        if len(topics) < 2:
            what = "topic" if codes is None else "cluster of topics"
            raise MetaevalError(f"the task {name} has one {what}, which cannot be resampled: leave its rows out")
    if sum(map(len, tasks.drawn)) - len(tasks.drawn) < FEWEST_FREE:
        single = all(codes is None for codes in tasks.clusters)
        raise MetaevalError(
            f"{format_count(sum(map(len, tasks.drawn)), 'topic' if single else 'cluster')} in "
            f"{format_count(len(tasks.drawn), 'task')} tell no ranks: {FEWEST_FREE + len(tasks.drawn)} are needed"
        )


def weigh_tasks(names: Sequence[str], weights: Mapping[str, float] | None, categories: bool) -> np.ndarray:
    """Return the weight of every task; those of a category sum to the same as those of any other."""
    given = dict(weights or {})
    for name, weight in given.items():
        if name not in names:
            raise MetaevalError(
                f"there is no task {name!r} to weigh: {suggest_names(name, names) or format_list(list(names))}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise MetaevalError(f"the weight of {name} is {weight}; it is a finite number above 0")
    found = np.array([float(given.get(name, 1.0)) for name in names])
    if not categories:
        return found
    plain = [name for name in names if "/" not in name]
    if plain:
        raise MetaevalError(
            f"the task {plain[0]} names no category: call tasks CATEGORY/TASK, as "
            f"{format_option('columns', 'collection=category+task')} does"
        )
    groups = np.array([name.partition("/")[0] for name in names])
    return np.asarray(found / [found[groups == group].sum() for group in groups])
