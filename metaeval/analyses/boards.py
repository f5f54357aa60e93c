"""Which ranks of a board of several tasks are real?"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Within, check_options, list_collections, sort_scores
from metaeval.analyses.ranks import RunRanks, order_runs, tabulate_ranks
from metaeval.analyses.topic_noise import TopicNoise, find_noise, join_noise
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option, shorten
from metaeval.measures.base import Measure
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.boards import Aggregate, Board, compare_board, count_same, find_rank_sets
from metaeval.stats.irregular_runs import SKEWED, skewness_of_tasks
from metaeval.stats.resampling import code_clusters
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
    is, with part of the topics of how many, and how many it lacks. `tasks` has columns task, topics, runs, partial, lacking;
    all_solve and none_solve, topics with the highest or lowest score of the task from every run. `sentence` is the result in
    words to paste.
    """

    tasks: pd.DataFrame
    sentence: str

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the runs by rank, the summary, and what tasks hold."""
        return super().frames() | {"tasks": self.tasks}

    def answer(self) -> str:
        """Say how many runs may be first, and by what."""
        return super().answer().replace(f" by {self.measures[0]}", f" by {self.measures[0].title}", 1)

    def leaderboard(self, measure: Measure | str) -> Table:
        """Return the runs by rank, with the ranks they may have and their letters; `measure` is the aggregate."""
        table = super().leaderboard(measure)
        frame = table.frame.rename(columns={"mean": str(measure)})
        legend = f"{table.legend} {self.explain_best('May be first')}"
        return replace(table, frame=frame, caption=self.sentence, legend=legend)

    def tables(self) -> list[Table]:
        """Return the leaderboard, and what tasks hold."""
        what = "All solve, none solves: topics with the highest or lowest score from every run."
        names = {"all_solve": "all solve", "none_solve": "none solves"}
        tasks = self.tasks.set_index("task").drop(columns=["partial", "lacking"]).rename(columns=names)
        return [
            self.leaderboard(self.measures[0]),
            Table(tasks, "Tasks.", self.signature, legend=what, at=("paper", "all")),
        ]


def board_ranks(
    tasks: Scores | Sequence[Scores],
    *,
    aggregate: Aggregate = "mean",
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
    gaps : {"present", "complete"}, optional
        Where scores are missing: means over the topics that a run has, or complete runs only.
    n_bootstrap : int, optional
        Resamples of topics.
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
    check_options(aggregate=Within(aggregate, Aggregate), gaps=Within(policy, Gaps))
    check_options(n_bootstrap=Within(n_bootstrap, 100), alpha=alpha, seed=seed)
    aligned = align_tasks(tasks, gaps)
    runs, names, noise = aligned.runs, aligned.names, aligned.noise
    _check_samples(aligned)
    if aggregate == "mean" and len(set(map(str, aligned.measures))) > 1:
        other = next(each for each in aligned.measures if str(each) != str(aligned.measures[0]))
        two, use = f"{aligned.measures[0]} and {other}", format_option("aggregate", "win-rate")
        raise MetaevalError(f"tasks have scores of several measures, such as {two}, which have no mean: use {use}")
    board = Board(aligned.values, np.ones(len(names)), aggregate, aligned.clusters)
    keys = [stream_key(seed, *topics, "board_ranks") for topics in aligned.drawn]
    key = stream_key(seed, *names, "board_ranks")
    statistics, draws = compare_board(board, "topics", n_bootstrap, keys, key, alpha)
    found, best = find_rank_sets(statistics, draws, alpha), find_best(statistics, draws, alpha)

    title = {"mean": "mean of tasks" if len(names) > 1 else "mean", "win-rate": "mean win rate", "borda": "Borda count"}
    scored = [f"{each}, {each.direction} is better" for each in aligned.measures]
    of = scored[0] if len(set(scored)) == 1 else "several measures"
    higher = aggregate != "mean" or aligned.measures[0].sign > 0
    measure = Measure(title[aggregate], higher_is_better=higher, label=f"{title[aggregate]} ({of})")
    unit = measure.sign * (aligned.unit if aggregate == "mean" else 1.0)
    ranks, differ = board.rank_runs(), found.better | found.better.T
    rows, remarks = tabulate_ranks(measure, runs, board.estimates * unit, ranks, found.sets, differ, best)
    order = order_runs(ranks, runs)
    if aggregate == "mean":
        ends = interval_of_tasks(aligned.values, aligned.clusters, board.weights, confidence=1 - alpha)
        low, high = np.sort(np.array(ends) * unit, axis=0)
        rows.insert(3, "mean_low", low[order])
        rows.insert(4, "mean_high", high[order])
    partial, lacking = aligned.partial[aligned.kept], aligned.lacking[aligned.kept]
    counts = {"tasks": ~lacking, "partial": partial, "lacking": lacking}
    rows = rows.assign(**{name: of_runs.sum(axis=1)[order] for name, of_runs in counts.items()})
    of_tasks = []
    for number, (name, topics, values) in enumerate(zip(names, aligned.topics, aligned.values, strict=True)):
        n_runs = (~np.isnan(values).all(axis=1)).sum()
        gone = aligned.partial[:, number].sum(), aligned.lacking[:, number].sum()
        of_tasks.append((name, len(topics), n_runs, *gone, *count_same(values)))
    columns = ["task", "topics", "runs", "partial", "lacking", "all_solve", "none_solve"]

    settings = {"aggregate": aggregate} | ({"gaps": gaps} if gaps else {}) | (noise.settings if noise else {})
    size = f"{format_count(len(names), 'task')}, {format_count(sum(map(len, aligned.topics)), 'topic')}"
    sure, skewness = f"simultaneous {100 * (1 - alpha):g} % rank sets", skewness_of_tasks(board.drawn)
    if skewness >= SKEWED:
        sure = f"{sure}, perhaps too narrow since differences are skewed"
    drawn, first = "topics resampled within tasks", _say_first(rows, differ[order[:-1], order[1:]])
    return BoardRanks(
        collection=aligned.signed.collection, runs=runs, measures=(measure,), rows=rows, ranks=ranks[np.newaxis],
        differ=differ[np.newaxis], with_best=True, test="simultaneous rank sets", alpha=alpha,
        tasks=pd.DataFrame(of_tasks, columns=columns),
        sentence=f"Of {len(rows)} runs ranked by {measure} ({of}; {size}; {drawn}, {sure}), {first}.",
        signature=sign("board_ranks", aligned.signed, **settings, bootstrap=n_bootstrap, seed=seed, alpha=alpha),
        remarks=(
            *_remark_gaps(aligned, gaps), *remarks, *(noise.describe(pooled=False) if noise else ()),
            *_remark_samples(aligned, board), *([NOTE.format(skewness=skewness)] if skewness >= SKEWED else []),
        ),
    )  # fmt: skip


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


def _remark_samples(tasks: Tasks, board: Board) -> list[str]:
    """Say where too few topics of a run separate nothing; and that shared topics are drawn as if they were not."""
    remarks, alone = [], [tasks.runs[run] for run in np.flatnonzero(board.lone)]
    if alone:
        remarks.append(
            f"of {format_list(alone, most=3)} there is a task with one topic, or one cluster: nothing tells how much that "
            "varies, so that no other run is separated from it"
        )
    if len({topic for topics in tasks.topics for topic in topics}) < sum(map(len, tasks.topics)):
        remarks.append("tasks share topics, which are drawn as if they did not: rank sets may be too narrow")
    return remarks


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


def align_tasks(given: Scores | Sequence[Scores], gaps: Gaps | None) -> Tasks:
    """Return the tasks with the same runs in each; higher scores are better."""
    ordered, problem = sorted(list_collections(given), key=lambda task: task.collection), ""
    for task, after in itertools.zip_longest(ordered, ordered[1:]):
        if len(task.measures) > 1:
            which = f"{task.collection or 'the task'} has {len(task.measures)} measures"
            problem = f"{which}: choose one with {format_option('measure')}"
        elif after is not None and after.collection == task.collection:
            problem = f"the task {task.collection or 'scores'} is there twice: name tasks apart by their collections"
    if problem or not ordered:
        raise MetaevalError(problem or "a board needs the scores of at least one task")
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


def _choose_runs(partial: np.ndarray, lacking: np.ndarray, gaps: Gaps | None) -> np.ndarray:
    """Return which runs stay on the board: of all those that lack some or all topics of tasks, shape (run, task)."""
    complete, way = ~(partial | lacking).any(axis=1), format_option("gaps", "present")
    if gaps is None and not complete.all():
        lack = f"{(~complete).sum():,} of {len(complete):,} runs lack scores"
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


def _check_samples(tasks: Tasks) -> None:
    """Refuse too few topics, or clusters of them, to be resampled."""
    if alone := [name for name, topics in zip(tasks.names, tasks.drawn, strict=True) if len(topics) < 2]:
        one = f"the task {alone[0]} has one topic, or one cluster of topics"
        raise MetaevalError(f"{one}, which cannot be resampled: leave its rows out")
    n_drawn, n_tasks = sum(map(len, tasks.drawn)), len(tasks.drawn)
    if n_drawn - n_tasks < FEWEST_FREE:
        few = (
            f"{format_count(n_drawn, 'topic')}, or clusters of topics, in {format_count(n_tasks, 'task')} tell no ranks"
        )
        raise MetaevalError(f"{few}: {FEWEST_FREE + n_tasks} are needed")
