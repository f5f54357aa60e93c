"""Which ranks of a board of several tasks are real?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import pandas as pd

from metaeval.analyses.board_inputs import Gaps, Tasks, align_tasks, check_samples, weigh_tasks
from metaeval.analyses.checks import check_choice, check_count, check_seed, check_share, remark_shared_topics
from metaeval.analyses.rank_result import RunRanks, order_runs, tabulate_ranks
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_count, format_list, format_option, shorten
from metaeval.measures.base import Measure
from metaeval.show.signature import sign
from metaeval.show.table import Table
from metaeval.stats.arrays import round_scaled
from metaeval.stats.boards import FEWEST_TASKS, Aggregate, Board, OverTasks, compare_board, find_rank_sets, find_scale
from metaeval.stats.rank_correlation import tau
from metaeval.stats.run_means import find_best, interval_of_tasks
from metaeval.stats.streams import stream_key


@dataclass(frozen=True, eq=False, kw_only=True)
class BoardRanks(RunRanks):
    """The rank of every run of a board, and the ranks it may have, all of them at once.

    Its rows have the columns of `RunRanks`, where mean is the aggregate; and tasks, partial, lacking: in how many tasks a run
    is, with part of the topics of how many, and how many it lacks.

    Parameters
    ----------
    over : {"topics", "tasks"}
        What was resampled.
    tasks : DataFrame, shape (task, 11)
        Columns task, topics, runs, partial, lacking, weight; all_solve and none_solve, topics with the highest or lowest
        score of the task from every run; share, of the variance of the runs' means; and the first run and τ_b with the order
        of runs if the task were not there.
    topics : DataFrame, shape (topic, 4)
        Columns task, topic, share, solved_by; the largest share first.
    orders : DataFrame, shape (run, 4)
        Columns run, and its rank by every aggregate, the chosen one first.
    sentence : str
        The result in words to paste: what was resampled, how sure it is, who may be first, what is open.
    """

    over: OverTasks
    tasks: pd.DataFrame
    topics: pd.DataFrame
    orders: pd.DataFrame
    sentence: str

    def __repr__(self) -> str:
        return f"BoardRanks: {len(self.runs)} runs × {format_count(len(self.tasks), 'task')}, {self.measures[0]}"

    def summary(self) -> pd.DataFrame:
        """Return how far the ranks are real.

        Of shape (1, 7), with the columns of `RunRanks.summary`; all_or_none, topics that all or none solve; and half, how many
        topics carry half of the spread.
        """
        shares, solved = self.topics["share"], (self.topics["solved_by"] != "").sum()
        half = int((shares.cumsum() < 0.5).sum()) + 1 if shares.notna().any() else None
        return super().summary().assign(all_or_none=solved, half=half)

    def aggregates(self) -> pd.DataFrame:
        """Return how the order changes with the aggregate.

        Of shape (aggregate, 5), with columns aggregate, first (run), tau_b with the chosen aggregate, and the run that
        moves_most with its change of rank, by, positive if it falls.
        """
        runs, ranks, rows = self.orders["run"], self.orders.drop(columns="run"), []
        chosen = ranks.iloc[:, 0]
        for name, column in ranks.items():
            moves = column - chosen
            farthest = int(moves.abs().argmax())
            most = runs[farthest] if moves.any() else ""
            rows.append((name, runs[column.argmin()], _compare_orders(column, chosen), most, int(moves[farthest])))
        return pd.DataFrame(rows, columns=["aggregate", "first", "tau_b", "moves_most", "by"])

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the runs by rank, the summary, what tasks and topics say, and ranks by every aggregate."""
        of_tasks = {"tasks": self.tasks, "topics": self.topics}
        return super().frames() | of_tasks | {"aggregates": self.aggregates(), "orders": self.orders}

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
        orders = self.aggregates().set_index("aggregate").rename(columns={"tau_b": "τ_b", "moves_most": "moves most"})
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
    names, n_tasks = aligned.names, len(aligned.names)
    check_samples(aligned, over)
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

    titles = {"mean": "mean of tasks" if n_tasks > 1 else "mean", "win-rate": "mean win rate", "borda": "Borda count"}
    title = "mean of categories" if categories and aggregate == "mean" else titles[aggregate]
    measure = Measure(title, higher_is_better=aggregate != "mean" or aligned.measures[0].sign > 0)
    estimates = board.estimates * measure.sign * (aligned.unit if aggregate == "mean" else 1.0)
    ranks, differ = _rank(board), found.better | found.better.T
    rows, remarks = tabulate_ranks(measure, aligned.runs, estimates, ranks, found.sets, differ, best)
    order = order_runs(ranks, aligned.runs)
    if aggregate == "mean" and over == "topics":
        ends = interval_of_tasks(aligned.values, aligned.clusters, board.weights, confidence=1 - alpha)
        low, high = np.sort(np.array(ends) * measure.sign * aligned.unit, axis=0)
        rows.insert(3, "mean_low", low[order])
        rows.insert(4, "mean_high", high[order])
    some = np.stack([~np.isnan(values).all(axis=1) for values in aligned.values], axis=1)
    whole = np.stack([~np.isnan(values).any(axis=1) for values in aligned.values], axis=1)
    counts = {"tasks": some, "partial": some & ~whole, "lacking": ~some}
    rows = rows.assign(**{name: runs.sum(axis=1)[order] for name, runs in counts.items()})
    of_tasks, of_topics = _describe_tasks(aligned, board, ranks)
    others = [each for each in get_args(Aggregate) if each != aggregate and not (each == "mean" and aligned.unlike)]
    orders = {str(aggregate): ranks} | {each: _rank(replace(board, aggregate=each)) for each in others}

    noise = aligned.noise
    if noise and over == "tasks":  # topics are not drawn
        noise = replace(noise, n_clusters=0)
    settings: dict[str, str] = {"aggregate": aggregate} | ({"categories": "equal"} if categories else {})
    if task_weights:
        settings["weights"] = ", ".join(f"{name} {weight:g}" for name, weight in sorted(task_weights.items()))
    settings |= ({"gaps": gaps} if gaps else {}) | (noise.settings if noise else {})
    signature = sign(
        "board_ranks", aligned.signed, **settings, over=over, bootstrap=n_bootstrap, seed=seed, alpha=alpha
    )
    separated = differ[order[:-1], order[1:]]
    drawn = "topics resampled within tasks" if over == "topics" else "tasks resampled"
    size = f"{format_count(n_tasks, 'task')}, {format_count(len(of_topics), 'topic')}"
    sure = f"simultaneous {100 * (1 - alpha):g} % rank sets"
    return BoardRanks(
        collection=aligned.signed.collection, runs=aligned.runs, measures=(measure,), rows=rows, ranks=ranks[np.newaxis],
        differ=differ[np.newaxis], with_best=True, test="simultaneous rank sets", alpha=alpha, signature=signature, over=over,
        tasks=of_tasks, topics=of_topics, orders=pd.DataFrame({"run": aligned.runs, **orders}),
        sentence=f"Of {len(rows)} runs ranked by {measure} ({size}; {drawn}, {sure}), {_say_first(rows, separated)}.",
        remarks=(
            *_remark_gaps(aligned, gaps), *remarks, *(noise.describe(pooled=False) if noise else ()),
            *(_remark_topics(aligned, board) if over == "topics" else _remark_tasks(n_tasks)),
        ),
    )  # fmt: skip


def _rank(board: Board, times: np.ndarray | float = 1.0) -> np.ndarray:
    """Return 1 + the number of runs ahead of each, shape (run,), each task counted so many times."""
    estimates = board.pool(board.parts, times)
    differences = np.subtract.outer(estimates, estimates)
    ahead = round_scaled(np.nan_to_num(differences) / find_scale(differences)) > 0
    return np.asarray(1 + ahead.sum(axis=0))


def _compare_orders(ranks: np.ndarray | pd.Series, others: np.ndarray | pd.Series) -> float:
    return float(tau(-1.0 * np.asarray(ranks), -1.0 * np.asarray(others), variant="tau_b"))


def _describe_tasks(tasks: Tasks, board: Board, ranks: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what every task says of the order, and what every topic does, the largest share of the spread first."""
    unknown = [np.full(values.shape[1], np.nan) for values in tasks.values]
    shares = unknown if tasks.unlike else _share_spread(board)
    of_tasks, of_topics, runs, several = [], [], np.array(tasks.runs, dtype=object), len(tasks.names) > 1
    for number, (name, topics, values, share) in enumerate(
        zip(tasks.names, tasks.topics, tasks.values, shares, strict=True)
    ):
        # All solve a topic with the highest score of the task from every run, none one with the lowest.
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        solved = np.where(high == high.max(), "all", np.where(low == low.min(), "none", ""))
        solved = np.where(low == high, solved, "")
        of_topics.append(pd.DataFrame({"task": name, "topic": topics, "share": share, "solved_by": solved}))
        without = _rank(board, np.arange(len(tasks.names)) != number) if several else ranks
        of_tasks.append(
            {
                "task": name, "topics": len(topics), "runs": int((~np.isnan(values).all(axis=1)).sum()),
                "partial": int(tasks.partial[:, number].sum()), "lacking": int(tasks.lacking[:, number].sum()),
                "weight": board.weights[number] / board.weights.sum(), "all_solve": int((solved == "all").sum()),
                "none_solve": int((solved == "none").sum()), "share": share.sum(),
                "first_without": runs[without.argmin()] if several else "",
                "tau_without": _compare_orders(without, ranks) if several else np.nan,
            }
        )  # fmt: skip
    listed = pd.concat(of_topics, ignore_index=True)
    return pd.DataFrame(of_tasks), listed.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def _share_spread(board: Board) -> list[np.ndarray]:
    """Return the share of every topic in the variance of the runs' means of tasks, by task; all sum to 1."""
    means = replace(board, aggregate="mean")
    ahead = means.estimates - means.estimates.mean()
    total = float(np.square(ahead).sum()) or 1.0
    weights = means.weights * ~np.isnan(means.parts)
    weights = weights / weights.sum(axis=1, keepdims=True)
    shares = []
    for values, weight in zip(board.values, weights.T, strict=True):
        counts = np.maximum((~np.isnan(values)).sum(axis=1), 1)
        shares.append((ahead * weight / counts) @ np.nan_to_num(values) / total)
    return shares


def _say_first(rows: pd.DataFrame, separated: np.ndarray) -> str:
    """Say which runs may be first, and how many neighbours are not separated."""
    leader, n_near, n_ties = shorten(rows["run"].iloc[0]), int(rows["near_first"].sum()), int((rows["rank"] == 1).sum())
    if n_ties > 1:
        first = f"{n_ties} tie for the lead, and {n_near} may be first"
    elif n_near > 1:
        first = f"{leader} leads, and {format_count(n_near - 1, 'other run')} may be first"
    else:
        first = f"only {leader} may be first"
    n_open = int((~separated).sum())
    return f"{first}; {f'{n_open} of {len(separated)}' if n_open else 'no'} neighbours cannot be separated"


def _remark_gaps(tasks: Tasks, gaps: Gaps | None) -> list[str]:
    """Say how much is missing, and what was done about it."""
    counts = {"some topics": int(tasks.partial.sum()), "all topics": int(tasks.lacking.sum())}
    missing = [f"{count:,} lack {what}" for what, count in counts.items() if count]
    if not missing:
        return []
    if gaps == "present":
        done = "each run's means are over the topics that it has"
    else:
        n_all = len(tasks.partial)
        done = f"{n_all - len(tasks.runs):,} of {format_count(n_all, 'run')} were left out"
    return [f"of {tasks.partial.size:,} cells (run × task), {' and '.join(missing)}: {done}"]


def _remark_tasks(n_tasks: int) -> tuple[str, ...]:
    """Say that a few tasks separate nothing."""
    if n_tasks >= FEWEST_TASKS:
        return ()
    return (
        f"{n_tasks} tasks are too few to tell which runs are better in others too: it takes {FEWEST_TASKS}, and "
        "no run is separated from another",
    )


def _remark_topics(tasks: Tasks, board: Board) -> tuple[str, ...]:
    """Say which runs have too few topics, and which tasks share topics, which are drawn as if they did not."""
    alone = np.array(tasks.runs, dtype=object)[board.lone].tolist()
    shared = remark_shared_topics(tasks.names, tasks.topics)
    if not alone:
        return shared
    has, it = ("has", "it is") if len(alone) == 1 else ("have", "they are")
    few = (
        f"{format_list(alone, most=3)} {has} one topic only of a task, or one cluster: nothing tells how much that varies, "
        f"and {it} separated from no other run"
    )
    return (few, *shared)
