"""Which ranks of a board of several tasks are real?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd

from metaeval.analyses.board_inputs import Gaps, Tasks, align_tasks, check_topics, join_tasks, weigh_tasks
from metaeval.analyses.board_result import BoardRanks
from metaeval.analyses.checks import check_choice, check_count, check_seed, check_share, remark_shared_topics
from metaeval.analyses.rank_result import spell_letters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option
from metaeval.measures.base import Measure
from metaeval.show.signature import sign
from metaeval.stats.blocks import round_scaled
from metaeval.stats.boards import FEWEST_TASKS, Aggregate, Board, OverTasks, find_scale, rank_board
from metaeval.stats.collections import FEWEST_COLLECTIONS
from metaeval.stats.rank_correlation import tau
from metaeval.stats.streams import stream_key

TITLES = {"mean": "mean of tasks", "win-rate": "mean win rate", "borda": "Borda count"}


def board_ranks(
    tasks: Scores | Sequence[Scores],
    *,
    aggregate: Aggregate = "mean",
    task_weights: Mapping[str, float] | None = None,
    categories: bool = False,
    over: OverTasks = "topics",
    gaps: Gaps | None = None,
    n_bootstrap: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
) -> BoardRanks:
    """Which ranks of a board of several tasks are real?

    Rank sets rest on resampled topics, by the statistics of bootstrap-t: docs/how-to/boards.md says how often they held.

    Parameters
    ----------
    tasks : Scores or sequence of Scores
        One a task, of one measure each; the collection is the task. Gaps are kept by ``missing="keep"`` in reading.
    aggregate : {"mean", "win-rate", "borda"}, optional
        What tasks add up to: the mean of tasks; the share of other runs that a run beats, averaged over tasks; or their
        number, added up.
    task_weights : mapping of str to float, optional
        1 where nothing is said.
    categories : bool, optional
        All categories count the same; tasks are called CATEGORY/TASK.
    over : {"topics", "tasks"}, optional
        What might be others: the topics of these tasks, or the tasks too; then at least 3 are needed.
    gaps : {"present", "complete"}, optional
        Where scores are missing: means over the topics that a run has, or complete runs only.
    n_bootstrap : int, optional
        Resamples of topics, or of tasks.
    alpha : float, optional
        How often any of the rank sets may miss a rank, nominally.
    seed : int, optional

    Returns
    -------
    BoardRanks

    Raises
    ------
    MetaevalError
        If a task has one run, or several measures; scores are missing and `gaps` does not say what to do; there are too few
        tasks; or weights are of unknown tasks or not positive.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tasks = [
    ...     Scores(rng.random((3, 30, 1)) + [[[0.5]], [[0.5]], [[0.0]]], runs=["a", "b", "c"], topics=range(30),
    ...            measures=["accuracy"], collection=name) for name in ("sums", "words")
    ... ]
    >>> board_ranks(tasks).to_frame()[["run", "rank", "low", "high"]]
      run  rank  low  high
    0   a     1    1     2
    1   b     2    1     2
    2   c     3    3     3
    """
    check_choice("aggregate", aggregate, Aggregate)
    check_choice("sample over", over, OverTasks)
    if gaps is not None:
        check_choice("policy for gaps", gaps, Gaps)
    check_count("n_bootstrap", n_bootstrap, 100)
    check_share("alpha", alpha)
    check_seed(seed)
    aligned = align_tasks(tasks, gaps)
    shares = weigh_tasks(aligned.names, task_weights, categories)
    _check_samples(aligned, aggregate, over)
    board = Board(aligned.values, shares, aggregate, aligned.clusters)
    keys = [stream_key(seed, *topics, "board_ranks") for topics in aligned.drawn]
    found = rank_board(board, over, n_bootstrap, keys, stream_key(seed, *aligned.names, "board_ranks"), alpha)
    ranks = _rank(board)
    measure = _name_measure(aligned, board, categories)
    letters, remarks = spell_letters(measure, ranks, aligned.runs, found.differ)
    settings: dict[str, str] = {"aggregate": aggregate, **({"categories": "equal"} if categories else {})}
    if task_weights:
        settings["weights"] = ", ".join(f"{name} {weight:g}" for name, weight in sorted(task_weights.items()))
    if gaps:
        settings["gaps"] = gaps
    noise = aligned.noise
    if noise and over == "tasks":  # topics are not drawn
        noise = replace(noise, n_clusters=0)
    settings |= noise.settings if noise else {}
    joined = join_tasks([tasks] if isinstance(tasks, Scores) else list(tasks))
    signature = sign("board_ranks", joined, **settings, over=over, bootstrap=n_bootstrap, seed=seed, alpha=alpha)
    return BoardRanks(
        joined.collection,
        aligned.runs,
        (measure,),
        (board.estimates * measure.sign * (aligned.unit if aggregate == "mean" else 1.0))[:, np.newaxis],
        ranks[np.newaxis],
        found.sets[np.newaxis],
        found.differ[np.newaxis],
        (letters,),
        "simultaneous rank sets",
        alpha,
        signature,
        over,
        found.better,
        _describe_runs(aligned),
        _describe_tasks(aligned, board),
        _describe_topics(aligned, board),
        _compare_orders(aligned, board, ranks),
        remarks=(
            *_remark_gaps(aligned, gaps),
            *remarks,
            *(noise.describe(pooled=False) if noise else ()),
            *_remark_topics(aligned, board, over),
        ),
    )


def _check_samples(tasks: Tasks, aggregate: Aggregate, over: OverTasks) -> None:
    """Refuse what cannot be resampled, or added up."""
    n_tasks = len(tasks.names)
    if over == "tasks" and n_tasks < FEWEST_COLLECTIONS:
        lone = f"; name the column of tasks: {format_option('columns', 'collection=NAME')}" if n_tasks == 1 else ""
        raise MetaevalError(
            f"{format_option('over', 'tasks')} needs {FEWEST_COLLECTIONS} tasks or more; there "
            f"{'is' if n_tasks == 1 else 'are'} {n_tasks}{lone}"
        )
    if over == "topics":
        check_topics(tasks)
    if aggregate == "mean" and tasks.unlike:
        other = next(each for each in tasks.measures if str(each) != str(tasks.measures[0]))
        raise MetaevalError(
            f"tasks have scores of several measures, such as {tasks.measures[0]} and {other}, which have no mean: use "
            f"{format_option('aggregate', 'win-rate')}"
        )


def _rank(board: Board, without: int | None = None) -> np.ndarray:
    """Return 1 + the number of runs ahead of each, shape (run,); `without` is a task that is left out."""
    times = np.arange(len(board.values)) != without
    found = board.pool(board.parts, times)
    differences = np.subtract.outer(found, found)
    ahead = round_scaled(np.nan_to_num(differences) / find_scale(differences)) > 0
    return np.asarray(1 + ahead.sum(axis=0))


def _name_measure(tasks: Tasks, board: Board, categories: bool) -> Measure:
    """Return the aggregate as a measure, with the direction of the scores whose mean it is."""
    title = TITLES[board.aggregate]
    if board.aggregate == "mean":
        title = "mean of categories" if categories else title if len(tasks.names) > 1 else "mean"
        return Measure(title, higher_is_better=tasks.measures[0].sign > 0)
    return Measure(title, higher_is_better=True)


def _describe_runs(tasks: Tasks) -> pd.DataFrame:
    """Return in how many tasks every run is, of how many it lacks a part, and how many it lacks."""
    present = [~np.isnan(board) for board in tasks.values]
    some = np.stack([known.any(axis=1) for known in present], axis=1)
    whole = np.stack([known.all(axis=1) for known in present], axis=1)
    counts = {"tasks": some.sum(axis=1), "partial": (some & ~whole).sum(axis=1), "lacking": (~some).sum(axis=1)}
    return pd.DataFrame({"run": tasks.runs, **counts})


def _carry(board: Board) -> list[np.ndarray]:
    """Return the share of every topic in the variance of the runs' means of tasks, by task; all sum to 1."""
    means = replace(board, aggregate="mean")
    ahead = means.estimates - means.estimates.mean()
    total, parts = float(np.square(ahead).sum()), means.parts
    weights = means.weights * ~np.isnan(parts)
    weights = weights / weights.sum(axis=1, keepdims=True)
    found = []
    for values, weight in zip(board.values, weights.T, strict=True):
        counts = np.maximum((~np.isnan(values)).sum(axis=1), 1)
        found.append((ahead * weight / counts) @ np.nan_to_num(values) / (total or 1.0))
    return found


def _describe_tasks(tasks: Tasks, board: Board) -> pd.DataFrame:
    """Return of every task its size, what is missing, and what it says of the order."""
    names = np.array(tasks.runs, dtype=object)
    carried = [np.nan] * len(tasks.names) if tasks.unlike else [share.sum() for share in _carry(board)]
    rows = []
    for number, (name, values) in enumerate(zip(tasks.names, tasks.values, strict=True)):
        outcome, ranks = _solve(values), _rank(board, without=number) if len(tasks.names) > 1 else None
        rows.append(
            {
                "task": name, "topics": values.shape[1], "runs": int((~np.isnan(values).all(axis=1)).sum()),
                "partial": int(tasks.partial[:, number].sum()), "lacking": int(tasks.lacking[:, number].sum()),
                "weight": board.weights[number] / board.weights.sum(), "all_solve": int((outcome == "all").sum()),
                "none_solve": int((outcome == "none").sum()), "share": carried[number],
                "first_without": "" if ranks is None else names[ranks.argmin()],
                "tau_without": np.nan if ranks is None else float(tau(-1.0 * ranks, -1.0 * _rank(board), variant="tau_b")),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _solve(values: np.ndarray) -> np.ndarray:
    """Return which topics all runs solve, with the highest score of the task, or none, all with the lowest, shape (topic,)."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    same = low == high
    return np.where(same & (high == high.max()), "all", np.where(same & (low == low.min()), "none", ""))


def _describe_topics(tasks: Tasks, board: Board) -> pd.DataFrame:
    """Return of every topic what share of the spread of the runs it carries, the largest first."""
    shares = [np.full(len(topics), np.nan) for topics in tasks.topics] if tasks.unlike else _carry(board)
    parts = [
        pd.DataFrame({"task": name, "topic": topics, "share": share, "solved_by": _solve(values)})
        for name, topics, share, values in zip(tasks.names, tasks.topics, shares, tasks.values, strict=True)
    ]
    return pd.concat(parts, ignore_index=True).sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _compare_orders(tasks: Tasks, board: Board, ranks: np.ndarray) -> pd.DataFrame:
    """Return the rank of every run by every aggregate, the chosen one first."""
    others = [each for each in get_args(Aggregate) if each != board.aggregate and not (each == "mean" and tasks.unlike)]
    columns = {str(board.aggregate): ranks} | {each: _rank(replace(board, aggregate=each)) for each in others}
    return pd.DataFrame({"run": tasks.runs, **columns})


def _remark_gaps(tasks: Tasks, gaps: Gaps | None) -> list[str]:
    """Say how much is missing, and what was done about it."""
    partial, lacking = int(tasks.partial.sum()), int(tasks.lacking.sum())
    if not partial + lacking:
        return []
    done = {
        "present": "each run's means are over the topics that it has",
        "complete": f"{tasks.all_runs - len(tasks.runs):,} of {format_count(tasks.all_runs, 'run')} were left out",
    }[gaps or "complete"]
    found = [f"{count:,} lack {what}" for count, what in ((partial, "some topics"), (lacking, "all topics")) if count]
    return [f"of {tasks.partial.size:,} cells (run × task), {' and '.join(found)}: {done}"]


def _remark_topics(tasks: Tasks, board: Board, over: OverTasks) -> tuple[str, ...]:
    """Say which runs have too few topics, and which tasks share topics, which are drawn as if they did not."""
    if over == "tasks" and len(tasks.names) < FEWEST_TASKS:
        return (
            f"{len(tasks.names)} tasks are too few to tell which runs are better in others too: it takes {FEWEST_TASKS}, and "
            "no run is separated from another",
        )
    if over == "tasks":
        return ()
    alone = np.array(tasks.runs, dtype=object)[board.lone].tolist()
    lone = len(alone)
    has, it = ("has", "it is") if lone == 1 else ("have", "they are")
    few = (
        f"{format_list(alone, most=3)} {has} one topic only of a task, or one cluster: nothing tells how much that varies, "
        f"and {it} separated from no other run"
    )
    return (*([few] if lone else []), *remark_shared_topics(tasks.names, tasks.topics))
