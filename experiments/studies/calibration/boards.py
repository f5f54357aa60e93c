"""Do rank sets of boards hold, how much narrower are they than what letters leave, and from how many tasks on?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from experiments.studies.calibration.clusters import draw_sizes
from experiments.studies.calibration.simulation import run_all
from metaeval.stats.boards import Aggregate, Board, OverTasks, rank_board
from metaeval.stats.streams import generator, stream_key

SEED, TRIALS, TOPICS, CLUSTERS = 28, 500, 30, 25

Task: TypeAlias = tuple[np.ndarray, np.ndarray | None]
"""Scores, shape (run, topic), and the number of the cluster of each topic; None where topics are single."""

STUDIES, AGAIN, OTHERS = 1000, 4000, 300
"""Studies of a cell of means; of one in which fewer than `DOUBTFUL` of these hold; and of another aggregate."""

DOUBTFUL = 0.945

SPREADS = ("equal", "half equal", "spread")
"""Of the true numbers of runs: all equal; a half of them; or all evenly spaced, over twelve standard errors of a difference."""


@dataclass(frozen=True)
class Cell:
    """One kind of simulated board. Scores are normal, of runs that vary one to two times as much, or right or wrong."""

    aggregate: Aggregate
    over: OverTasks
    scores: str
    means: str
    runs: int
    tasks: int
    gaps: str = "none"
    clusters: str = "none"

    def simulate(self, studies: int) -> tuple[np.ndarray, list[list[Task]]]:
        """Return the true means of the runs, shape (run,), and the tasks of every study."""
        named = [str(value) for name, value in vars(self).items() if (name, value) != ("clusters", "none")]
        rng = generator(SEED, "boards", *named)
        unit = np.sqrt((2 if self.over == "topics" else 2 * TOPICS) / (self.tasks * TOPICS))
        place = np.linspace(-6, 6, self.runs) * unit
        truth = {"equal": 0 * place, "half equal": np.where(np.arange(self.runs) % 2, place, 0), "spread": place}[
            self.means
        ]
        return truth, [[self._simulate_task(truth, rng) for _ in range(self.tasks)] for _ in range(studies)]

    def _simulate_task(self, truth: np.ndarray, rng: np.random.Generator) -> Task:
        """Return scores: a topic is as hard for all runs, and over tasks a run is better in some than in others."""
        if self.clusters != "none":
            return self._simulate_clusters(truth, rng)
        own = rng.standard_normal(self.runs) if self.over == "tasks" else 0.0
        spread = np.linspace(1, 2, self.runs)[:, np.newaxis] if self.aggregate == "mean" else 1.0
        noise = spread * rng.standard_normal((self.runs, TOPICS)) + rng.standard_normal(TOPICS)
        level = (truth + own)[:, np.newaxis]
        if self.gaps != "none":  # a tenth of the scores at random, and two runs lack the task
            noise[rng.random(noise.shape) < 0.1] = np.nan
            noise[rng.choice(self.runs, 2, replace=False)] = np.nan
        if self.scores == "normal":
            return level + noise, None
        # Right with a probability that is linear in the mean, so that equal means stay equal whatever a topic's difficulty.
        chance = np.clip(0.4 + 0.2 * level + 0.2 * rng.choice([-1, 1], TOPICS), 0, 1)
        return np.asarray(rng.random((self.runs, TOPICS)) < chance, dtype=np.float64), None

    def _simulate_clusters(self, truth: np.ndarray, rng: np.random.Generator) -> Task:
        """Return normal scores that correlate by .5 within each of 25 clusters of ten topics on average."""
        codes = np.repeat(np.arange(CLUSTERS), draw_sizes(self.clusters, CLUSTERS, rng))
        noise = (
            rng.standard_normal((self.runs, CLUSTERS))[:, codes] + rng.standard_normal((self.runs, len(codes)))
        ) / 2**0.5
        if self.gaps != "none":
            noise[rng.random(noise.shape) < 0.1] = np.nan
        return truth[:, np.newaxis] + noise, codes


def list_cells() -> Iterator[Cell]:
    """Yield all cells: means over topics, over tasks, then the other aggregates."""
    for scores in ("normal", "binary"):
        for means in SPREADS:
            for runs in (5, 20, 50):
                yield from (Cell("mean", "topics", scores, means, runs, tasks) for tasks in (1, 5, 20))
    yield from (Cell("mean", "topics", "normal", means, 20, 5, "present") for means in SPREADS)
    for clusters in ("equal", "1 to 19", "lognormal"):
        for means in SPREADS:
            yield from (Cell("mean", "topics", "normal", means, 20, tasks, clusters=clusters) for tasks in (1, 5))
        yield Cell("mean", "topics", "normal", "equal", 20, 5, "present", clusters)
    for runs in (5, 20, 50):
        yield from (Cell("mean", "tasks", "normal", "equal", runs, tasks) for tasks in (3, 4, 5, 6, 10, 20))
        yield Cell("mean", "tasks", "normal", "half equal", runs, 10)
    for aggregate in ("win-rate", "borda"):
        for means in SPREADS:
            yield Cell(aggregate, "topics", "binary", means, 20, 5)
            yield Cell(aggregate, "tasks", "normal", means, 20, 10)


def count_cell(cell: Cell, studies: int) -> dict[str, Any]:
    """Return how often all claims of a board are true, and mean widths of rank sets and of what letters leave."""
    truth, boards = cell.simulate(studies)
    estimates, claims, widths, ranges = [], [], [], []
    for study, drawn in enumerate(boards):
        tasks, codes = zip(*drawn, strict=True)
        keys = [stream_key(SEED, str(study), str(task)) for task in range(cell.tasks)]
        board = Board(tasks, np.ones(cell.tasks), cell.aggregate, codes)
        found = rank_board(board, cell.over, TRIALS, keys, stream_key(SEED, str(study)))
        estimates.append(board.estimates)
        claims.append(found.better)
        widths.append((found.sets[:, 1] - found.sets[:, 0] + 1).mean())
        ranges.append(cell.runs - found.differ.sum(axis=1).mean())
    if cell.aggregate != "mean" and cell.means != "equal":  # what is estimated is the expected aggregate
        means, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / np.sqrt(studies)
        gaps = np.subtract.outer(means, means)
        wrong = gaps < -2 * np.sqrt(np.add.outer(error**2, error**2))
    else:
        wrong = np.subtract.outer(truth, truth) <= 0
    held = float(np.mean([not (claim & wrong).any() for claim in claims]))
    return vars(cell) | {
        "coverage": held,
        "error": float(np.sqrt(held * (1 - held) / studies)),
        "width": float(np.mean(widths)),
        "letters": float(np.mean(ranges)),
        "studies": studies,
    }


def count_again(cell: Cell) -> dict[str, Any]:
    """Return the counts of a cell, of more studies where its rank sets seem to hold too seldom."""
    if cell.aggregate != "mean":
        return count_cell(cell, OTHERS)
    found = count_cell(cell, STUDIES)
    return found if found["coverage"] >= DOUBTFUL else count_cell(cell, AGAIN)


def count_boards(n_jobs: int = 1) -> pd.DataFrame:
    """How often do rank sets hold all true ranks?"""
    return pd.DataFrame(run_all(count_again, ((cell,) for cell in list_cells()), n_jobs))
