"""Aggregates of tasks, held against readings in plain loops, with and without gaps."""

import numpy as np
import pytest

from metaeval.stats.boards import Board, rank_board


def make(gaps, seed=0, n_runs=7, sizes=(6, 1, 9, 4)):
    """Scores of few values, so that there are ties; and, with gaps, runs that lack topics and a run that lacks a task."""
    rng = np.random.default_rng(seed)
    tasks = [rng.integers(0, 3, (n_runs, size)) / 2 for size in sizes]
    if gaps:
        for task in tasks:
            task[rng.random(task.shape) < 0.25] = np.nan
        tasks[0][2] = np.nan
    return tasks


def lead(task, i, j):
    """How far a run is ahead of another in a task, None where they cannot be compared."""
    one, two = ([x for x in task[run] if not np.isnan(x)] for run in (i, j))
    return sum(one) / len(one) - sum(two) / len(two) if one and two else None


def count(task, i):
    """How many others a run beats, ties half, and how many it is compared with."""
    leads = [lead(task, i, j) for j in range(len(task)) if j != i]
    known = [0 if abs(each) < 1e-9 else each for each in leads if each is not None]
    return sum(1.0 if each > 0 else 0.5 if each == 0 else 0.0 for each in known), len(known)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [2, 1, 0.5, 3]])
def test_aggregates_are_those_of_a_plain_reading(gaps, weights):
    tasks = make(gaps)
    found = {name: Board(tasks, np.array(weights, dtype=float), name).estimates for name in ("win-rate", "borda")}
    for run in range(len(tasks[0])):
        counts = [(weight, *count(task, run)) for task, weight in zip(tasks, weights, strict=True)]
        there = [(weight, wins, others) for weight, wins, others in counts if others]
        rate = sum(weight * wins / others for weight, wins, others in there) / sum(weight for weight, _, _ in there)
        assert found["win-rate"][run] == pytest.approx(rate)
        borda = sum(weight * wins for weight, wins, _ in there) * len(weights) / sum(weights)
        assert found["borda"][run] == pytest.approx(borda)


def test_means_are_weighted_means_of_the_tasks_that_a_run_has():
    tasks, weights = make(True), np.array([2, 1, 0.5, 3])
    found = Board(tasks, weights).estimates
    for run in range(len(tasks[0])):
        means = np.array([np.nan if np.isnan(task[run]).all() else np.nanmean(task[run]) for task in tasks])
        known = ~np.isnan(means)
        assert found[run] == pytest.approx(np.average(means[known], weights=weights[known]))


@pytest.mark.parametrize(("aggregate", "sizes"), [("mean", (4,)), ("win-rate", (5,)), ("borda", (3, 3, 3))])
def test_few_topics_claim_no_more_than_many(aggregate, sizes):
    """Ten equal runs: at most a twentieth of boards may have any claim; three standard errors of 200 boards are .046."""
    claims = 0
    for study in range(200):
        rng = np.random.default_rng([study, *sizes])
        board = Board([rng.normal(size=(10, size)) for size in sizes], np.ones(len(sizes)), aggregate)
        found = rank_board(board, "topics", 200, [study + task for task in range(len(sizes))], study)
        claims += found.better.any()
    assert claims / 200 < 0.096
