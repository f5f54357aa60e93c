"""Aggregates of tasks, held against readings in plain loops, with and without gaps."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm, t, ttest_1samp

from metaeval.stats.board_draws import compare_runs
from metaeval.stats.boards import Board
from metaeval.stats.clusters import pool_clusters
from metaeval.stats.rank_sets import find_rank_sets


def make(gaps, seed=0, n_runs=7, sizes=(6, 1, 9, 4)):
    """Scores of few values, so that there are ties; and, with gaps, runs that lack topics and a run that lacks a task."""
    rng = np.random.default_rng(seed)
    tasks = [rng.integers(0, 3, (n_runs, size)) / 2 for size in sizes]
    if gaps:
        for task in tasks:
            task[rng.random(task.shape) < 0.25] = np.nan
        tasks[0][2] = np.nan
    return tasks


def lead(task, i, j, common):
    """How far a run is ahead of another in a task, None where they cannot be compared."""
    one, two = ([x for x in task[run] if not np.isnan(x)] for run in (i, j))
    if common:
        pairs = [(x, y) for x, y in zip(task[i], task[j], strict=True) if not np.isnan(x + y)]
        one, two = zip(*pairs, strict=True) if pairs else ((), ())
    return sum(one) / len(one) - sum(two) / len(two) if one and two else None


def count(task, i, common):
    """How many others a run beats, ties half, and how many it is compared with."""
    leads = [lead(task, i, j, common) for j in range(len(task)) if j != i]
    known = [0 if abs(each) < 1e-9 else each for each in leads if each is not None]
    return sum(1.0 if each > 0 else 0.5 if each == 0 else 0.0 for each in known), len(known)


@pytest.mark.parametrize("common", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [2, 1, 0.5, 3]])
def test_aggregates_are_those_of_a_plain_reading(gaps, common, weights):
    tasks = make(gaps)
    found = {
        name: Board(tasks, np.array(weights, dtype=float), name, common).estimates
        for name in ("win-rate", "borda", "median-rank")
    }
    for run in range(len(tasks[0])):
        counts = [(weight, *count(task, run, common)) for task, weight in zip(tasks, weights, strict=True)]
        there = [(weight, wins, others) for weight, wins, others in counts if others]
        rate = sum(weight * wins / others for weight, wins, others in there) / sum(weight for weight, _, _ in there)
        assert found["win-rate"][run] == pytest.approx(rate)
        borda = sum(weight * wins for weight, wins, _ in there) * len(weights) / sum(weights)
        assert found["borda"][run] == pytest.approx(borda)
        if len(set(weights)) == 1:
            assert found["median-rank"][run] == pytest.approx(
                -np.median([others + 1 - wins for _, wins, others in there])
            )


def test_a_weighted_median_is_the_median_of_repeated_tasks():
    tasks = make(False)
    repeated = [tasks[0]] * 2 + tasks[1:3] + [tasks[3]] * 3
    weighted = Board(tasks, np.array([2.0, 1.0, 1.0, 3.0]), "median-rank").estimates
    assert weighted == pytest.approx(Board(repeated, np.ones(7), "median-rank").estimates)


def test_means_are_weighted_means_of_the_tasks_that_a_run_has():
    tasks, weights = make(True), np.array([2, 1, 0.5, 3])
    found = Board(tasks, weights).estimates
    for run in range(len(tasks[0])):
        means = np.array([np.nan if np.isnan(task[run]).all() else np.nanmean(task[run]) for task in tasks])
        known = ~np.isnan(means)
        assert found[run] == pytest.approx(np.average(means[known], weights=weights[known]))


def test_on_a_complete_board_borda_has_the_order_of_the_win_rate():
    tasks = make(False)
    rate, borda = (Board(tasks, np.ones(4), name).estimates for name in ("win-rate", "borda"))
    assert borda == pytest.approx(rate * 4 * 6)


def test_pairs_on_common_topics_in_clusters_have_a_t_test_of_their_pooled_differences():
    """With as many degrees of freedom as the clusters of a pair are worth; equal ones have those of the plain t-test."""
    rng = np.random.default_rng(7)
    for sizes in (np.full(12, 4), rng.integers(1, 8, 12)):
        clusters = np.repeat(np.arange(12), sizes)
        values = rng.normal(size=(5, 12))[:, clusters] + rng.normal(size=(5, len(clusters)))
        gaps = np.where(rng.random(values.shape) < 0.2, np.nan, values)
        for board in (values, gaps):
            statistics, _ = compare_runs(Board([board], np.ones(1), "mean", True, [clusters]), "topics", 100, [1], 2)
            for i, j in combinations(range(5), 2):
                lead = board[i] - board[j]
                known = ~np.isnan(lead)
                codes = np.unique(clusters[known], return_inverse=True)[1]
                pooled = pool_clusters(lead[np.newaxis, known], codes, widen=False)[0]
                squares = np.bincount(codes).astype(float) ** 2
                free = squares.sum() ** 2 / (squares**2).sum() - 1
                t_value = pooled.mean() / np.sqrt(pooled.var() / len(pooled) * (1 + 1 / free))
                assert statistics[i, j] == pytest.approx(norm.isf(t.sf(t_value, free)))
                if len(set(np.bincount(codes))) == 1:
                    assert statistics[i, j] == pytest.approx(
                        norm.isf(ttest_1samp(pooled, 0, alternative="greater").pvalue)
                    )


def test_ranks_of_pairs_on_common_topics_in_clusters_vary_as_those_of_the_clusters_do():
    """A run without one topic makes every pair be compared on its own topics; of the others, nothing is missing."""
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(30), rng.integers(1, 5, 30))
    values = (
        np.linspace(0, 0.5, 6)[:, np.newaxis]
        + rng.normal(size=(6, 30))[:, clusters]
        + rng.normal(size=(6, len(clusters)))
    )
    gaps = values.copy()
    gaps[0, 0] = np.nan
    boards = [Board([each], np.ones(1), "win-rate", True, [clusters]) for each in (values, gaps)]
    found = [compare_runs(board, "topics", 3000, [1], 2)[0] for board in boards]
    assert found[1] == pytest.approx(found[0], abs=0.15)
    alone = compare_runs(Board([gaps], np.ones(1), "win-rate", True), "topics", 3000, [1], 2)[0]
    assert np.abs(alone).sum() > 1.1 * np.abs(found[1]).sum()


def test_a_pair_whose_common_topics_are_in_one_cluster_is_not_compared():
    rng = np.random.default_rng(9)
    clusters = np.repeat(np.arange(10), 3)
    values = rng.normal(size=(3, 30))
    values[0, clusters > 4] = np.nan
    values[1, (clusters > 0) & (clusters < 5)] = np.nan
    board = Board([values], np.ones(1), "mean", True, [clusters])
    statistics, _ = compare_runs(board, "topics", 100, [1], 2)
    assert np.isnan(board.differences[0, 1])
    assert statistics[0, 1] == 0
    assert statistics[0, 2] != 0


@pytest.mark.parametrize(("aggregate", "sizes"), [("mean", (4,)), ("win-rate", (5,)), ("borda", (3, 3, 3))])
def test_few_topics_claim_no_more_than_many(aggregate, sizes):
    """Ten equal runs: at most a twentieth of boards may have any claim; three standard errors of 200 boards are .046."""
    claims = 0
    for study in range(200):
        rng = np.random.default_rng([study, *sizes])
        board = Board([rng.normal(size=(10, size)) for size in sizes], np.ones(len(sizes)), aggregate)
        found = find_rank_sets(*compare_runs(board, "topics", 200, [study + task for task in range(len(sizes))], study))
        claims += found.better.any()
    assert claims / 200 < 0.096
