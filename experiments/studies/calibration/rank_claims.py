"""Do rank sets, and the runs that may be the best, hold together, wherever runs stand?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.studies.calibration.boards import SEED
from experiments.studies.calibration.designs import DESIGNS, STUDY, simulate_design
from experiments.studies.calibration.simulation import BATCH, find_significant, run_all
from metaeval.stats.boards import Board, compare_board, find_rank_sets
from metaeval.stats.run_means import find_best
from metaeval.stats.streams import generator, stream_key

STUDIES, TRIALS = 2000, 1000

PLACES = {
    "equal": "all runs are equal",
    "two lead": "two equal runs lead, all others are five standard errors behind",
    "groups": "groups of about four equal runs, eight standard errors apart",
    "near groups": "such groups, three and a half standard errors apart",
}
"""Where runs stand; standard errors are those of the difference of two typical runs."""

OF_FIVE_TASKS = (
    "gamma(1.5)", "gamma(2), three 4x", "six lognormal(.4)", "beta(2, 10) and beta(10, 2)", "zeros, .88 to .5",
    "binary .35 and .6", "binary .08 and .4", "failures .08 and .4", "beta(.1, .9) and beta(4, 36)", "one lognormal(1)",
)  # fmt: skip
"""Designs of which boards of five tasks are tried with equal runs, skewed alike in every task; chosen before any was."""


class Cell(NamedTuple):
    """One kind of simulated boards: scores of a design, where runs stand, and the sizes."""

    design: str
    means: str
    runs: int
    topics: int
    tasks: int

    def simulate(self, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return scores, shape (run, topic of any task, board), true means, and the best run, one at random of equal ones."""
        rng = generator(SEED, "rank claims", *map(str, self), str(batch))
        n = self.topics * self.tasks
        typical = np.sqrt(
            DESIGNS[self.design].residuals(generator(SEED, self.design), (self.runs, 4000, 1)).var(axis=1).mean()
        )
        group, lead = np.arange(self.runs) // 4, np.arange(self.runs) < 2
        place = {
            "equal": np.zeros(self.runs), "two lead": np.where(lead, 5.0, 0.0), "groups": 8.0 * group,
            "near groups": 3.5 * group,
        }[self.means]  # fmt: skip
        unit = typical * np.sqrt(2 / n)
        truth = rng.permuted(np.tile(place * unit, (BATCH, 1)), axis=1).T
        values = simulate_design(self.design, self.runs, n, BATCH, effects=False, rng=rng).values + truth[:, np.newaxis]
        best = np.where(truth == truth.max(axis=0), rng.random(truth.shape), -1.0).argmax(axis=0)
        return values, truth, best


def list_cells() -> Iterator[Cell]:
    """Yield all cells: of one task, designs of the checking half, of kinds in the domain of the recommended test."""
    yield from (Cell("Student's t of 10", means, 22, 50, 1) for means in ("equal", "two lead"))
    yield from (Cell("gamma(2), three 4x", means, 22, 50, 1) for means in PLACES)
    yield from (Cell("beta(2, 10) and beta(10, 2)", means, 10, 25, 1) for means in PLACES)
    yield from (Cell(design, "equal", *sizes, 5) for design in OF_FIVE_TASKS for sizes in ((22, 20), (10, 10)))


def count_batch(cell: Cell, batch: int) -> pd.DataFrame:
    """Return what the claims of every board come to, a row a board; those of `ranks` too, of a single task."""
    values, truth, best = cell.simulate(batch)
    significant = np.zeros((BATCH, 0), dtype=bool)
    if cell.tasks == 1:
        key = stream_key(SEED, "rank claims", *map(str, cell), str(batch), "trials")
        significant = find_significant("bootstrap-t", values, key)
    rows = []
    for study in range(BATCH):
        parts = np.split(values[..., study], cell.tasks, axis=1)
        keys = [stream_key(SEED, "rank claims", str(batch), str(study), str(task)) for task in range(cell.tasks)]
        ahead, draws = compare_board(Board(parts, np.ones(cell.tasks)), "topics", TRIALS, keys, keys[0], STUDY["alpha"])
        found, near = find_rank_sets(ahead, draws, STUDY["alpha"]), find_best(ahead, draws, STUDY["alpha"])
        about = (near, truth[:, study], int(best[study]))
        judged = judge_claims(found.better, *about)
        one_step = judge_claims(found.differ & (ahead > 0), *about)
        judged |= {f"one step: {name}": one_step[name] for name in ("wrong", "width")}
        if cell.tasks == 1:
            pairs = np.zeros((cell.runs, cell.runs), dtype=bool)
            pairs[np.triu_indices(cell.runs, 1)] = significant[study]
            of_means = np.subtract.outer(*[values[..., study].mean(axis=1)] * 2) > 0
            of_ranks = judge_claims((pairs | pairs.T) & of_means, *about)
            judged |= {f"ranks: {name}": value for name, value in of_ranks.items()}
        rows.append(judged)
    return pd.DataFrame(rows).astype(float)


def judge_claims(better: np.ndarray, near: np.ndarray, truth: np.ndarray, best: int) -> dict[str, Any]:
    """Return what claims that one run is better than another, and the runs that are near the best one, come to.

    Whether some claim is wrong; whether the best run is missing among those that may be it, or all runs as good; whether
    either; whether some run may have rank 1 that is not among those; and how many ranks a run may have.
    """
    wrong = bool((better & (np.subtract.outer(truth, truth) <= 0)).any())
    first = ~better.any(axis=0)
    may_be = first & near if first.sum() > 1 else first
    return {
        "wrong": wrong, "best missing": not may_be[best], "all best missing": not may_be[truth == truth.max()].any(),
        "either": wrong or not may_be[best], "more firsts": (first & ~may_be).any(),
        "width": len(better) - (better | better.T).sum(axis=1).mean(),
    }  # fmt: skip


def count_cell(cell: Cell) -> dict[str, Any]:
    """Return the shares and mean widths of a cell, with the standard error of the share in which either is wrong."""
    shares = pd.concat([count_batch(cell, batch) for batch in range(STUDIES // BATCH)]).mean()
    either = shares[["either"] + ["ranks: either"] * (cell.tasks == 1)].max()
    return (
        cell._asdict() | shares.to_dict() | {"se": float(np.sqrt(either * (1 - either) / STUDIES)), "boards": STUDIES}
    )


def count_rank_claims(n_jobs: int = 1) -> pd.DataFrame:
    """How often is a claim of a board wrong, and how often is its best run missing?"""
    return pd.DataFrame(run_all(count_cell, ((cell,) for cell in list_cells()), n_jobs))
