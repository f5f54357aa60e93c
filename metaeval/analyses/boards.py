"""Which ranks of a board of several tasks are real?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Within, check_options, remark_shared_topics, sort_scores
from metaeval.analyses.ranks import RunRanks, order_runs, tabulate_ranks
from metaeval.analyses.topic_noise import TopicNoise, find_noise, join_noise
from metaeval.data.labels import code_clusters
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option, shorten, suggest_names
from metaeval.measures.base import Measure
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import average, round_scaled
from metaeval.stats.boards import (
    FEWEST_TASKS,
    Aggregate,
    Board,
    OverTasks,
    compare_board,
    find_rank_sets,
    find_scale,
    share,
)
from metaeval.stats.intervals import FEWEST_COLLECTIONS
from metaeval.stats.irregular_runs import SKEWED, shape_of_differences
from metaeval.stats.rank_correlation import tau
from metaeval.stats.run_means import find_best, interval_of_tasks
from metaeval.stats.streams import stream_key

Gaps: TypeAlias = Literal["present", "complete"]
"""Where scores are missing: means over the topics present, or complete runs only."""

FEWEST_FREE = 3
"""Degrees of freedom, topics less tasks, below which rank sets of simulated boards did not hold."""


NOTE = (
    "differences between runs are skewed: rank sets, and the runs that may be first, may miss more often than they claim\n"
    "A typical pair of runs has the skewness {skewness:.1f}. How often sets held: docs/simulations/intervals.md."
)
"""What is said of a board whose typical pair of runs has skewed differences."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BoardRanks(RunRanks):
    """The rank of every run of a board, and the ranks it may have, all of them at once.

    Its rows have the columns of `RunRanks`, where mean is the aggregate; and tasks, partial, lacking: in how many tasks a run
    is, with part of the topics of how many, and how many it lacks. What is `over` was resampled, topics or tasks.

    `tasks` has columns task, topics, runs, partial, lacking, weight; all_solve and none_solve, topics with the highest or
    lowest score of the task from every run; share, of the variance of the runs' means; first_without and tau_without, the
    first run and τ_b with the order of runs if the task were not there. `topics` has columns task, topic, share, solved_by; the
    largest share first. `aggregates` has columns aggregate, first (run), tau_b with the chosen aggregate, and the run that
    moves_most with its change of rank, by, positive if it falls. `sentence` is the result in words to paste.
    """

    over: OverTasks
    tasks: pd.DataFrame
    topics: pd.DataFrame
    aggregates: pd.DataFrame
    sentence: str

    def summary(self) -> pd.DataFrame:
        """Return how far ranks are real; all_or_none, topics that all or none solve; and half, how many carry half of it."""
        shares, solved = self.topics["share"], (self.topics["solved_by"] != "").sum()
        half = int((shares.cumsum() < 0.5).sum()) + 1 if shares.notna().any() else None
        return super().summary().assign(all_or_none=solved, half=half)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the runs by rank, the summary, what tasks and topics say, and the order by every aggregate."""
        return super().frames() | {"tasks": self.tasks, "topics": self.topics, "aggregates": self.aggregates}

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank, with the ranks they may have and their letters; `measure` is the aggregate."""
        table = super().leaderboard(measure)
        return replace(table, frame=table.frame.rename(columns={"mean": str(measure)}), caption=self.sentence)

    def tables(self) -> list[Table]:
        """Return the leaderboard, how the order changes with the aggregate, and what every task says of it."""
        what = (
            "All solve, none solves: topics with the highest or lowest score from every run. % of spread: share of the "
            "variance of the runs' means. τ without: τ_b of the order of runs with that without the task."
        )
        tasks = self.tasks[["topics", "runs", "all_solve", "none_solve"]].set_index(self.tasks["task"])
        tasks = tasks.rename(columns={"all_solve": "all solve", "none_solve": "none solves"})
        tasks["% of spread"] = 100 * self.tasks["share"].to_numpy()
        tasks["τ without"] = self.tasks["tau_without"].to_numpy()
        orders = self.aggregates.set_index("aggregate").rename(columns={"tau_b": "τ_b", "moves_most": "moves most"})
        how, moves = "How the order changes with the aggregate.", "By: how many ranks that run falls; below 0 it rises."
        return [
            self.leaderboard(self.measures[0]),
            Table(orders, how, self.signature, legend=moves, at=("paper", "all")),
            Table(tasks, "Tasks, and what they carry.", self.signature, 2, legend=what, at=("paper", "all")),
        ]


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
    policy = "present" if gaps is None else gaps
    check_options(aggregate=Within(aggregate, Aggregate), over=Within(over, OverTasks), gaps=Within(policy, Gaps))
    check_options(n_bootstrap=Within(n_bootstrap, 100), alpha=alpha, seed=seed)
    aligned = align_tasks(tasks, gaps)
    check_samples(aligned, over)
    runs, names = aligned.runs, aligned.names
    if aggregate == "mean" and aligned.unlike:
        other = next(each for each in aligned.measures if str(each) != str(aligned.measures[0]))
        raise MetaevalError(
            f"tasks have scores of several measures, such as {aligned.measures[0]} and {other}, which have no mean: use "
            f"{format_option('aggregate', 'win-rate')}"
        )
    board = Board(aligned.values, weigh_tasks(names, task_weights, categories), aggregate, aligned.clusters)
    keys = [stream_key(seed, *topics, "board_ranks") for topics in aligned.drawn]
    key = stream_key(seed, *names, "board_ranks")
    statistics, draws = compare_board(board, over, n_bootstrap, keys, key, alpha)
    found, best = find_rank_sets(statistics, draws, alpha), find_best(statistics, draws, alpha)

    of = " of categories" if categories else " of tasks" if len(names) > 1 else ""
    title = {"mean": f"mean{of}", "win-rate": "mean win rate", "borda": "Borda count"}[aggregate]
    measure = Measure(title, higher_is_better=aggregate != "mean" or aligned.measures[0].sign > 0)
    unit = measure.sign * (aligned.unit if aggregate == "mean" else 1.0)
    ranks, differ = _rank(board), found.better | found.better.T
    rows, remarks = tabulate_ranks(measure, runs, board.estimates * unit, ranks, found.sets, differ, best)
    order = order_runs(ranks, runs)
    if aggregate == "mean" and over == "topics":
        ends = interval_of_tasks(aligned.values, aligned.clusters, board.weights, confidence=1 - alpha)
        low, high = np.sort(np.array(ends) * unit, axis=0)
        rows.insert(3, "mean_low", low[order])
        rows.insert(4, "mean_high", high[order])
    partial, lacking = aligned.partial[aligned.kept], aligned.lacking[aligned.kept]
    counts = {"tasks": ~lacking, "partial": partial, "lacking": lacking}
    rows = rows.assign(**{name: of_runs.sum(axis=1)[order] for name, of_runs in counts.items()})
    of_tasks, of_topics = _describe_tasks(aligned, board, ranks)

    noise = aligned.noise
    if noise and over == "tasks":  # topics are not drawn
        noise = replace(noise, n_clusters=0)
    weights = ", ".join(f"{name} {weight:g}" for name, weight in sorted((task_weights or {}).items()))
    stated = {"aggregate": aggregate, "categories": "equal" * categories, "weights": weights, "gaps": gaps or ""}
    settings = {name: value for name, value in stated.items() if value} | (noise.settings if noise else {})
    drawn = "topics resampled within tasks" if over == "topics" else "tasks resampled"
    size = f"{format_count(len(names), 'task')}, {format_count(len(of_topics), 'topic')}"
    sure, skewness = f"simultaneous {100 * (1 - alpha):g} % rank sets", _find_skewness(board, over)
    if skewness >= SKEWED:
        sure = f"{sure}, perhaps too narrow since differences are skewed"
    first = _say_first(rows, differ[order[:-1], order[1:]])
    return BoardRanks(
        collection=aligned.signed.collection, runs=runs, measures=(measure,), rows=rows, ranks=ranks[np.newaxis],
        differ=differ[np.newaxis], with_best=True, test="simultaneous rank sets", alpha=alpha, over=over, tasks=of_tasks,
        topics=of_topics, aggregates=_compare_aggregates(aligned, board, ranks),
        sentence=f"Of {len(rows)} runs ranked by {measure} ({size}; {drawn}, {sure}), {first}.",
        signature=sign(
            "board_ranks", aligned.signed, **settings, over=over, bootstrap=n_bootstrap, seed=seed, alpha=alpha
        ),
        remarks=(
            *_remark_gaps(aligned, gaps), *remarks, *(noise.describe(pooled=False) if noise else ()),
            *_remark_samples(aligned, board, over), *([NOTE.format(skewness=skewness)] if skewness >= SKEWED else []),
        ),
    )  # fmt: skip


def _find_skewness(board: Board, over: OverTasks) -> float:
    """Return the absolute skewness of what is drawn, about the means of tasks, of the differences of a typical pair of runs."""
    units = [board.parts] if over == "tasks" else board.drawn
    weights = np.ones(1) if over == "tasks" else board.weights
    apart = [
        weight * (each - average(each)[:, np.newaxis]) / each.shape[1]
        for each, weight in zip(units, weights, strict=True)
    ]
    skewness = np.abs(shape_of_differences(np.nan_to_num(np.concatenate(apart, axis=1))[..., np.newaxis])[1])
    return float(np.nanmedian(skewness)) if np.isfinite(skewness).any() else 0.0


def _rank(board: Board, times: np.ndarray | float = 1.0) -> np.ndarray:
    """Return 1 + the number of runs ahead of each, shape (run,), each task counted so many times."""
    estimates = board.pool(board.parts, times)
    differences = np.subtract.outer(estimates, estimates)
    ahead = round_scaled(np.nan_to_num(differences) / find_scale(differences)) > 0
    return np.asarray(1 + ahead.sum(axis=0))


def _compare_aggregates(tasks: Tasks, board: Board, ranks: np.ndarray) -> pd.DataFrame:
    """Return how the order changes with the aggregate; there is no mean of unlike measures."""
    others = [each for each in get_args(Aggregate) if each != board.aggregate and not (each == "mean" and tasks.unlike)]
    frame = pd.DataFrame({"aggregate": [board.aggregate, *others]})
    orders = np.array([_rank(replace(board, aggregate=aggregate)) for aggregate in frame["aggregate"]])
    moves, runs = orders - ranks, np.array(tasks.runs, dtype=object)
    farthest = np.abs(moves).argmax(axis=1)
    frame = frame.assign(first=runs[orders.argmin(axis=1)], tau_b=tau(-orders, -ranks, variant="tau_b"))
    return frame.assign(
        moves_most=np.where(moves.any(axis=1), runs[farthest], ""), by=moves[range(len(moves)), farthest]
    )


def _describe_tasks(tasks: Tasks, board: Board, ranks: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what every task says of the order, and what every topic does, as shares of the variance of the runs' means."""
    means = replace(board, aggregate="mean")
    ahead = means.estimates - means.estimates.mean()
    weights = share(board.weights, means.parts)
    of_tasks, of_topics, several = [], [], len(tasks.names) > 1
    for number, (name, topics, values) in enumerate(zip(tasks.names, tasks.topics, tasks.values, strict=True)):
        # All solve a topic with the highest score of the task from every run, none one with the lowest.
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        solved = np.select([low != high, high == high.max(), low == low.min()], ["", "all", "none"], "")
        each = ahead * weights[:, number] / np.maximum((~np.isnan(values)).sum(axis=1), 1)
        carried = each @ np.nan_to_num(values) / (float(np.square(ahead).sum()) or 1.0)
        carried = np.full(len(topics), np.nan) if tasks.unlike else carried
        of_topics.append(pd.DataFrame({"task": name, "topic": topics, "share": carried, "solved_by": solved}))
        without = _rank(board, np.arange(len(tasks.names)) != number) if several else ranks
        of_tasks.append(
            {
                "task": name, "topics": len(topics), "runs": int((~np.isnan(values).all(axis=1)).sum()),
                "partial": int(tasks.partial[:, number].sum()), "lacking": int(tasks.lacking[:, number].sum()),
                "weight": board.weights[number] / board.weights.sum(), "all_solve": int((solved == "all").sum()),
                "none_solve": int((solved == "none").sum()), "share": carried.sum(),
                "first_without": tasks.runs[without.argmin()] if several else "",
                "tau_without": float(tau(-without, -ranks, variant="tau_b")) if several else np.nan,
            }
        )  # fmt: skip
    listed = pd.concat(of_topics).sort_values("share", ascending=False, kind="stable", ignore_index=True)
    return pd.DataFrame(of_tasks), listed


def _say_first(rows: pd.DataFrame, separated: np.ndarray) -> str:
    """Say which runs may be first, and how many neighbours are not separated."""
    leader, n_near, n_ties = shorten(rows["run"].iloc[0]), int(rows["near_first"].sum()), int((rows["rank"] == 1).sum())
    first = f"only {leader} may be first"
    if n_near > 1:
        first = f"{leader} leads, and {format_count(n_near - 1, 'other run')} may be first"
    if n_ties > 1:
        first = f"{n_ties} tie for the lead, and {n_near} may be first"
    n_open = int((~separated).sum())
    return f"{first}; {f'{n_open} of {len(separated)}' if n_open else 'no'} neighbours cannot be separated"


def _remark_gaps(tasks: Tasks, gaps: Gaps | None) -> list[str]:
    """Say how much is missing, and what was done about it."""
    counts = {"some topics": int(tasks.partial.sum()), "all topics": int(tasks.lacking.sum())}
    missing = [f"{count:,} lack {what}" for what, count in counts.items() if count]
    done = f"{(~tasks.kept).sum():,} of {format_count(len(tasks.kept), 'run')} were left out"
    if gaps == "present":
        done = "each run's means are over the topics that it has"
    return [f"of {tasks.partial.size:,} cells (run × task), {' and '.join(missing)}: {done}"] if missing else []


def _remark_samples(tasks: Tasks, board: Board, over: OverTasks) -> list[str]:
    """Say where too few tasks, or topics of a run, separate nothing; and that shared topics are drawn as if they were not."""
    n_tasks = len(tasks.names)
    if over == "tasks":
        return [] if n_tasks >= FEWEST_TASKS else [
            f"{n_tasks} tasks are too few to tell which runs are better in others too: it takes {FEWEST_TASKS}, and "
            "no run is separated from another",
        ]  # fmt: skip
    shared = list(remark_shared_topics(tasks.names, tasks.topics))
    alone = [tasks.runs[run] for run in np.flatnonzero(board.lone)]
    if not alone:
        return shared
    has, it = ("has", "it is") if len(alone) == 1 else ("have", "they are")
    few = (
        f"{format_list(alone, most=3)} {has} one topic only of a task, or one cluster: nothing tells how much that varies, "
        f"and {it} separated from no other run"
    )
    return [few, *shared]


class Tasks(NamedTuple):
    """Aligned tasks, in the order of their names; lists have an item a task.

    `values` have the shape (run, topic), NaN where there is no score, in units of `unit`: the largest magnitude is near 1.
    `clusters` number the cluster of each topic, None where topics are single, and `drawn` names what is drawn: clusters, or
    topics. `kept` says which of all runs are `runs`, and `partial` and `lacking` which of all lack some or all topics of which
    tasks, shape (run, task). `signed` is what a signature says.
    """

    names: tuple[str, ...]
    runs: tuple[str, ...]
    topics: list[list[str]]
    measures: tuple[Measure, ...]
    values: list[np.ndarray]
    clusters: list[np.ndarray | None]
    drawn: Sequence[Sequence[str]]
    noise: TopicNoise | None
    kept: np.ndarray
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
    ordered = _sort_tasks([given] if isinstance(given, Scores) else list(given))
    names = tuple(task.collection or "scores" for task in ordered)
    runs = np.array(sorted({run for task in ordered for run in task.runs}), dtype=object)
    values = [np.full((len(runs), len(task.topics)), np.nan) for task in ordered]
    for board, task in zip(values, ordered, strict=True):
        board[np.searchsorted(runs, sorted(task.runs))] = sort_scores(task, oriented=True)[0][..., 0]
    largest = max((float(np.nanmax(np.abs(board), initial=0.0)) for board in values), default=0.0)
    # A power of two, so that nothing is rounded.
    unit = float(np.ldexp(1.0, np.frexp(largest)[1] - 1)) if largest else 1.0
    missing = np.stack([np.isnan(board).mean(axis=1) for board in values], axis=1)
    partial, lacking = (missing > 0) & (missing < 1), missing == 1
    kept = _choose_runs(partial, lacking, gaps)
    if kept.sum() < 2:
        raise MetaevalError(f"ranks compare two runs or more; there is {runs[kept][0]} only")
    topics, clusters, drawn = [], [], []
    for number, (name, task) in enumerate(zip(names, ordered, strict=True)):
        board = values[number][kept] / unit
        scored = np.flatnonzero(~np.isnan(board).all(axis=1))
        if len(scored) < 2:
            lone = f"{runs[kept][scored[0]]} only" if len(scored) else "no run that is left"
            raise MetaevalError(f"the task {name} has scores of {lone}: leave its rows out, or add runs")
        some = ~np.isnan(board).all(axis=0)
        order = np.argsort(np.array(task.topics, dtype=object))[some]
        values[number] = board[:, some]
        topics.append([task.topics[topic] for topic in order])
        of_topics = [task.clusters[topic] for topic in order] if task.clusters else []
        groups, codes = code_clusters(of_topics) if of_topics else (topics[-1], None)
        clusters.append(codes)
        drawn.append(groups)
    noise = {name: known for name, task in zip(names, ordered, strict=True) if (known := find_noise(task))}
    return Tasks(
        names, tuple(runs[kept]), topics, tuple(task.measures[0] for task in ordered), values, clusters, drawn,
        join_noise(noise, sum(map(len, topics))), kept, partial, lacking, unit, _join_tasks(ordered),
    )  # fmt: skip


def _sort_tasks(listed: Sequence[Scores]) -> list[Scores]:
    """Return tasks in the order of their names."""
    problem = "" if listed else "a board needs the scores of at least one task"
    for task in listed:
        if not isinstance(task, Scores):
            problem = f"a task is Scores, not {type(task).__name__}: see metaeval.io.read_collections"
        elif len(task.measures) > 1:
            which = f"{task.collection or 'the task'} has {len(task.measures)} measures"
            problem = f"{which}: choose one with {format_option('measure')}"
        elif sum(getattr(other, "collection", None) == task.collection for other in listed) > 1:
            problem = f"the task {task.collection or 'scores'} is there twice: name tasks apart by their collections"
        if problem:
            break
    if problem:
        raise MetaevalError(problem)
    return sorted(listed, key=lambda task: task.collection)


def _choose_runs(partial: np.ndarray, lacking: np.ndarray, gaps: Gaps | None) -> np.ndarray:
    """Return which runs stay on the board: of all those that lack some or all topics of tasks, shape (run, task)."""
    complete, way = ~(partial | lacking).any(axis=1), format_option("gaps", "present")
    if gaps is None and not complete.all():
        kinds = {"in part of a task": partial, "of a whole task": lacking}
        counts = [f"{some.any(axis=1).sum():,} {where}" for where, some in kinds.items() if some.any()]
        lack = f"{(~complete).sum():,} of {len(complete):,} runs lack scores ({', '.join(counts)})"
        raise MetaevalError(f"{lack}: choose what to do with {way} or complete")
    if gaps == "complete" and complete.sum() < 2:
        raise MetaevalError(f"too few runs are complete: {complete.sum()} of {len(complete):,}; use {way}")
    return np.asarray(complete if gaps == "complete" else ~lacking.all(axis=1))


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
    n_drawn, n_tasks, problem = sum(map(len, tasks.drawn)), len(tasks.drawn), ""
    alone = [task for task, topics in enumerate(tasks.drawn) if len(topics) < 2]
    if over == "tasks" and n_tasks < FEWEST_COLLECTIONS:
        lone = f"; name the column of tasks: {format_option('columns', 'collection=NAME')}" if n_tasks == 1 else ""
        few = f"{format_option('over', 'tasks')} needs {FEWEST_COLLECTIONS} tasks or more"
        problem = f"{few}; there {'is' if n_tasks == 1 else 'are'} {n_tasks}{lone}"
    elif over == "topics" and alone:
        what = "topic" if tasks.clusters[alone[0]] is None else "cluster of topics"
        problem = f"the task {tasks.names[alone[0]]} has one {what}, which cannot be resampled: leave its rows out"
    elif over == "topics" and n_drawn - n_tasks < FEWEST_FREE:
        what = "topic" if all(codes is None for codes in tasks.clusters) else "cluster"
        few = f"{format_count(n_drawn, what)} in {format_count(n_tasks, 'task')} tell no ranks"
        problem = f"{few}: {FEWEST_FREE + n_tasks} are needed"
    if problem:
        raise MetaevalError(problem)


def weigh_tasks(names: Sequence[str], given: Mapping[str, float] | None, categories: bool) -> np.ndarray:
    """Return the weight of every task; those of a category sum to the same as those of any other."""
    plain, problem = [name for name in names if "/" not in name], ""
    if categories and plain:
        option = format_option("columns", "collection=category+task")
        problem = f"the task {plain[0]} names no category: call tasks CATEGORY/TASK, as {option} does"
    for name, weight in (given or {}).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not 0 < weight < np.inf:
            problem = f"the weight of {name} is {weight}; it is a finite number above 0"
        if name not in names:
            problem = f"there is no task {name!r} to weigh: {suggest_names(name, names) or format_list(list(names))}"
    if problem:
        raise MetaevalError(problem)
    weights = np.array([(given or {}).get(name, 1.0) for name in names], dtype=np.float64)
    if not categories:
        return weights
    groups = np.array([name.partition("/")[0] for name in names])
    return np.asarray(weights / [weights[groups == group].sum() for group in groups])
