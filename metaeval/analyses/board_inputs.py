"""The tasks of a board: the same runs in each, and what is done where scores are missing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from metaeval.analyses.prepare import sort_scores
from metaeval.analyses.topic_noise import TopicNoise, find_noise, join_noise
from metaeval.data.clusters import code_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option, suggest_names
from metaeval.measures.base import Measure
from metaeval.stats.boards import OverTasks
from metaeval.stats.intervals import FEWEST_COLLECTIONS

Gaps: TypeAlias = Literal["present", "complete"]
"""Where scores are missing: means over the topics present, or complete runs only."""

FEWEST_FREE = 3
"""Degrees of freedom, topics less tasks, below which rank sets of simulated boards did not hold."""


class Tasks(NamedTuple):
    """Aligned tasks, in the order of their names. `values[t]` has the shape (run, topic), NaN where there is no score.

    `clusters[t]` numbers the cluster of each topic, None where topics are single, and `drawn[t]` names what is drawn: clusters,
    or topics. `noise` says what clusters and repeats do, if there are any.
    `partial` and `lacking` say which runs lack some or all topics of which tasks, shape (run, task), incomplete runs that were
    left out among them. The largest magnitude of all scores is near 1, in units of `unit`. `signed` is what a signature says.
    """

    names: tuple[str, ...]
    runs: tuple[str, ...]
    topics: list[list[str]]
    measures: tuple[Measure, ...]
    values: list[np.ndarray]
    clusters: list[np.ndarray | None]
    drawn: Sequence[Sequence[str]]
    noise: TopicNoise | None
    partial: np.ndarray
    lacking: np.ndarray
    unit: float
    signed: Any

    @property
    def unlike(self) -> bool:
        """Whether the tasks are scored by different measures."""
        return len(set(map(str, self.measures))) > 1


def align_tasks(given: Scores | Sequence[Scores], gaps: Gaps | None) -> Tasks:
    """Return the tasks with the same runs in each; higher scores are better."""
    ordered, names = _sort_tasks([given] if isinstance(given, Scores) else list(given))
    runs = np.array(sorted({run for task in ordered for run in task.runs}), dtype=object)
    values = [np.full((len(runs), len(task.topics)), np.nan) for task in ordered]
    for board, task in zip(values, ordered, strict=True):
        board[np.searchsorted(runs, sorted(task.runs))] = sort_scores(task, oriented=True)[0][..., 0]
    largest = max((float(np.nanmax(np.abs(board), initial=0.0)) for board in values), default=0.0)
    # A power of two, so that nothing is rounded.
    unit = float(np.ldexp(1.0, np.frexp(largest)[1] - 1)) if largest else 1.0
    missing = np.stack([np.isnan(board).mean(axis=1) for board in values], axis=1)
    keep = _choose_runs(missing, gaps)
    if keep.sum() < 2:
        raise MetaevalError(f"ranks compare two runs or more; there is {runs[keep][0]} only")
    topics: list[list[str]] = []
    clusters: list[np.ndarray | None] = []
    drawn: list[Sequence[str]] = []
    for number, (name, task) in enumerate(zip(names, ordered, strict=True)):
        board = values[number][keep] / unit
        scored = np.flatnonzero(~np.isnan(board).all(axis=1))
        if len(scored) < 2:
            lone = f"{runs[keep][scored[0]]} only" if len(scored) else "no run that is left"
            raise MetaevalError(f"the task {name} has scores of {lone}: leave its rows out, or add runs")
        some = ~np.isnan(board).all(axis=0)
        order = np.argsort(np.array(task.topics, dtype=object))[some]
        values[number] = board[:, some]
        topics.append([task.topics[topic] for topic in order])
        groups, codes = code_clusters([task.clusters[topic] for topic in order]) if task.clusters else ((), None)
        clusters.append(codes)
        drawn.append(topics[-1] if codes is None else groups)
    noise = {name: known for name, task in zip(names, ordered, strict=True) if (known := find_noise(task))}
    return Tasks(
        names, tuple(runs[keep]), topics, tuple(task.measures[0] for task in ordered), values, clusters, drawn,
        join_noise(noise, sum(map(len, topics))), (missing > 0) & (missing < 1), missing == 1, unit, _join_tasks(ordered),
    )  # fmt: skip


def _sort_tasks(listed: Sequence[Scores]) -> tuple[list[Scores], tuple[str, ...]]:
    """Return tasks in the order of their names, and these."""
    if not listed:
        raise MetaevalError("a board needs the scores of at least one task")
    for task in listed:
        if not isinstance(task, Scores):
            raise MetaevalError(f"a task is Scores, not {type(task).__name__}: see metaeval.io.read_collections")
        if len(task.measures) > 1:
            which = f"{task.collection or 'the task'} has {len(task.measures)} measures"
            raise MetaevalError(f"{which}: choose one with {format_option('measure')}")
    ordered = sorted(listed, key=lambda task: task.collection)
    names = tuple(task.collection or "scores" for task in ordered)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise MetaevalError(f"the task {twice[0]} is there twice: name tasks apart by their collections")
    return ordered, names


def _choose_runs(missing: np.ndarray, gaps: Gaps | None) -> np.ndarray:
    """Return which runs stay on the board; `missing` is the share of scores that they lack, shape (run, task)."""
    complete = (missing == 0).all(axis=1)
    if gaps is None and not complete.all():
        kinds = {"in part of a task": (missing > 0) & (missing < 1), "of a whole task": missing == 1}
        counts = [f"{some.any(axis=1).sum():,} {where}" for where, some in kinds.items() if some.any()]
        raise MetaevalError(
            f"{(~complete).sum():,} of {len(missing):,} runs lack scores ({', '.join(counts)}): choose what to do with "
            f"{format_option('gaps', 'present')} or complete"
        )
    if gaps == "complete" and complete.sum() < 2:
        raise MetaevalError(
            f"too few runs are complete: {complete.sum()} of {len(missing):,}; use {format_option('gaps', 'present')}"
        )
    return np.asarray(complete if gaps == "complete" else (missing < 1).any(axis=1))


def _join_tasks(ordered: Sequence[Scores]) -> Any:
    """Return what a signature describes: the only task, or all of them as one, with runs and topics in all."""
    if len(ordered) == 1:
        return ordered[0]
    content = "".join(f"{task.collection}\0{task.fingerprint}" for task in ordered)
    size = len({run for task in ordered for run in task.runs}), sum(len(task.topics) for task in ordered), 1
    return SimpleNamespace(
        collection=format_count(len(ordered), "task"), values=np.broadcast_to(0.0, size),
        fingerprint=hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12],
        measures=tuple({str(task.measures[0]): task.measures[0] for task in ordered}.values()),
    )  # fmt: skip


def check_samples(tasks: Tasks, over: OverTasks) -> None:
    """Refuse too few topics, or tasks, of those that are resampled."""
    n_drawn, n_tasks = sum(map(len, tasks.drawn)), len(tasks.drawn)
    if over == "tasks" and n_tasks < FEWEST_COLLECTIONS:
        lone = f"; name the column of tasks: {format_option('columns', 'collection=NAME')}" if n_tasks == 1 else ""
        few = f"{format_option('over', 'tasks')} needs {FEWEST_COLLECTIONS} tasks or more"
        raise MetaevalError(f"{few}; there {'is' if n_tasks == 1 else 'are'} {n_tasks}{lone}")
    if over == "tasks":
        return
    for name, topics, codes in zip(tasks.names, tasks.drawn, tasks.clusters, strict=True):
        if len(topics) < 2:
            what = "topic" if codes is None else "cluster of topics"
            raise MetaevalError(f"the task {name} has one {what}, which cannot be resampled: leave its rows out")
    if n_drawn - n_tasks < FEWEST_FREE:
        what = "topic" if all(codes is None for codes in tasks.clusters) else "cluster"
        few = f"{format_count(n_drawn, what)} in {format_count(n_tasks, 'task')} tell no ranks"
        raise MetaevalError(f"{few}: {FEWEST_FREE + n_tasks} are needed")


def weigh_tasks(names: Sequence[str], given: Mapping[str, float] | None, categories: bool) -> np.ndarray:
    """Return the weight of every task; those of a category sum to the same as those of any other."""
    weights = dict.fromkeys(names, 1.0)
    for name, weight in (given or {}).items():
        if name not in weights:
            raise MetaevalError(
                f"there is no task {name!r} to weigh: {suggest_names(name, names) or format_list(list(names))}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            raise MetaevalError(f"the weight of {name} is {weight}; it is a finite number above 0")
        weights[name] = float(weight)
    if not categories:
        return np.array(list(weights.values()))
    plain = [name for name in names if "/" not in name]
    if plain:
        raise MetaevalError(
            f"the task {plain[0]} names no category: call tasks CATEGORY/TASK, as "
            f"{format_option('columns', 'collection=category+task')} does"
        )
    groups = np.array([name.partition("/")[0] for name in names])
    found = np.array(list(weights.values()))
    return np.asarray(found / [found[groups == group].sum() for group in groups])
