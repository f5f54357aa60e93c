"""Boards of tasks and means of runs: aggregates, intervals and rank sets against plain loops, scipy and published sets."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_1samp, ttest_ind

from metaeval.stats.boards import Board, compare_runs, find_rank_sets, rank_board
from metaeval.stats.resampling import draw_weights, pool_clusters
from metaeval.stats.run_means import find_best, interval_of_means, interval_of_tasks


def make(gaps, seed=0, n_runs=7, sizes=(6, 1, 9, 4)):
    """Scores of few values, so that there are ties; and, with gaps, runs that lack topics and a run that lacks a task."""
    rng = np.random.default_rng(seed)
    tasks = [rng.integers(0, 3, (n_runs, size)) / 2 for size in sizes]
    if gaps:
        for task in tasks:
            task[rng.random(task.shape) < 0.25] = np.nan
        tasks[0][2] = np.nan
    return tasks


def count(task, i):
    """How many others a run beats, ties half, and how many it is compared with."""
    means = [np.mean([score for score in run if not np.isnan(score)] or [np.nan]) for run in task]
    leads = [means[i] - mean for j, mean in enumerate(means) if j != i and not np.isnan(means[i] - mean)]
    return sum(0.5 if abs(each) < 1e-9 else float(each > 0) for each in leads), len(leads)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [2, 1, 0.5, 3]])
def test_aggregates_are_those_of_a_plain_reading(gaps, weights):
    tasks, weights = make(gaps), np.array(weights, dtype=float)
    found = {name: Board(tasks, weights, name).estimates for name in ("mean", "win-rate", "borda")}
    for run in range(len(tasks[0])):
        means = np.array([np.nan if np.isnan(task[run]).all() else np.nanmean(task[run]) for task in tasks])
        known = ~np.isnan(means)
        assert found["mean"][run] == pytest.approx(np.average(means[known], weights=weights[known]))
        counts = [(weight, *count(task, run)) for task, weight in zip(tasks, weights, strict=True)]
        there = [(weight, wins, others) for weight, wins, others in counts if others]
        rate = sum(weight * wins / others for weight, wins, others in there) / sum(weight for weight, _, _ in there)
        assert found["win-rate"][run] == pytest.approx(rate)
        borda = sum(weight * wins for weight, wins, _ in there) * len(weights) / sum(weights)
        assert found["borda"][run] == pytest.approx(borda)


PISA = pd.read_csv(Path(__file__).with_name("pisa2018.csv"), index_col="country")
"""Mathematics, the OECD (https://www.oecd.org/pisa/data/)."""


def rank_countries(alpha):
    means, errors = PISA.to_numpy().T
    noise = np.random.default_rng(0).standard_normal((len(PISA), 20_000)) * errors[:, None]
    spread = np.hypot.outer(errors, errors)

    def draw():
        return ((noise[i] - noise[i + 1 :]) / spread[i, i + 1 :, None] for i in range(len(PISA) - 1))

    found = find_rank_sets(np.subtract.outer(means, means) / spread, draw, alpha)
    assert (found.better | found.better.T)[found.differ].all(), "a rank set is never wider than letters leave it"
    return dict(zip(PISA.index, found.sets.tolist(), strict=True))


def test_rank_sets_of_countries_are_those_that_were_published():
    """The R package csranks, by the authors of the method, prints them in its vignette "Inference for Ranks"."""
    expected = ["Belgium", "Canada", "Denmark", "Estonia", "Finland", "Japan", "Korea", "Netherlands", "Poland"]
    expected += ["Slovenia", "Switzerland"]
    strict, usual, lenient = map(rank_countries, (0.05, 0.1, 0.25))
    for sets in (strict, usual):
        found = {name for name, (low, _) in sets.items() if low <= 5}
        # At .05 the vignette has Sweden, too, which is at the border: its statistic is the critical value, but for chance.
        assert sorted(found - ({"Sweden"} if sets is strict else set())) == expected
    assert all(low <= 7 <= high for low, high in (strict["Germany"], strict["Korea"]))
    assert min(strict[name][0] for name in ("Chile", "Mexico", "Colombia")) > 34
    assert sum(high > 34 for _, high in strict.values()) == 3
    assert lenient["Korea"][1] < lenient["Germany"][0]


def step_down(statistics, draws, alpha):
    """The same in loops: over pairs of which nothing is claimed, with implied claims."""
    n = len(statistics)
    claims = set()
    while True:
        open_pairs = [(i, j) for i, j in itertools.combinations(range(n), 2) if not {(i, j), (j, i)} & claims]
        if not open_pairs:
            return claims
        largest = sorted(max(abs(draws[i, j, b]) for i, j in open_pairs) for b in range(draws.shape[-1]))
        critical = largest[int(np.ceil((1 - alpha) * (len(largest) - 1)))]
        more = {(i, j) for i in range(n) for j in range(n) if statistics[i, j] > critical}
        more |= claims
        while implied := {(i, k) for (i, j), (m, k) in itertools.product(more, more) if j == m} - more:
            more |= implied
        if more == claims:
            return claims
        claims = more


@pytest.mark.parametrize("seed", range(20))
def test_claims_and_runs_that_may_be_the_best_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((7, 16))  # so few that the next smaller one would claim something else
    pairs = noise[:, None] - noise[None]
    means = np.sort(rng.normal(0, 5, 7))
    statistics, rows = np.subtract.outer(means, means), [pairs[i, i + 1 :] for i in range(6)]
    found = find_rank_sets(statistics, lambda: rows, 0.1)
    claims = step_down(statistics, pairs, 0.1)
    assert {(int(i), int(j)) for i, j in np.argwhere(found.better)} == claims
    won, lost = Counter(i for i, _ in claims), Counter(j for _, j in claims)
    assert found.sets.tolist() == [[1 + lost[run], 7 - won[run]] for run in range(7)]
    for run, best in enumerate(find_best(statistics / 2, lambda: rows, 0.1)):
        largest = np.sort(np.abs(np.delete(pairs[run], run, axis=0)).max(axis=0))
        assert best == (statistics[-1, run] / 2 <= largest[int(np.ceil(0.9 * 15))])


def draw_tasks(*sizes, n_runs=6, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(np.arange(n_runs)[:, None] / 2, 1, (n_runs, n)) for n in sizes]


def compare(tasks, alpha=0.05, trials=60):
    counts = [np.full(len(task), float(task.shape[1])) for task in tasks]
    return compare_runs(tasks, counts, trials, list(range(len(tasks))), alpha)


@pytest.mark.parametrize("sizes", [(12,), (9, 30)])
def test_with_few_topics_only_what_a_t_test_finds_is_claimed(sizes):
    """Of all pairs by Bonferroni's correction: with one task the paired t-test, with two that of Welch."""
    tasks = draw_tasks(*sizes)
    found, _ = compare(tasks)
    sizes, _ = compare(tasks, alpha=15.0)
    shown = 0
    for i, j in itertools.combinations(range(6), 2):
        gaps = [task[i] - task[j] for task in tasks]
        expected = ttest_1samp(gaps[0], 0) if len(gaps) == 1 else ttest_ind(gaps[0], -gaps[1], equal_var=False)
        spread = np.sqrt(sum(gap.var() / len(gap) for gap in gaps))
        assert sizes[i, j] == -sizes[j, i] == pytest.approx(sum(gap.mean() for gap in gaps) / spread)
        assert found[i, j] == (sizes[i, j] if expected.pvalue <= 0.05 / 15 else 0)
        shown += found[i, j] != 0
    assert 0 < shown < 15


def test_draws_are_those_of_a_plain_loop_over_resampled_topics():
    tasks = draw_tasks(8, 14, n_runs=4)
    tasks[0][1] = tasks[0][0]  # near-copies: most samples hold no difference
    tasks[1][1] = tasks[1][0] + (np.arange(14) == 3)
    _, rows = compare(tasks)
    drawn = [draw_weights(key, range(60), n).astype(int) for key, n in ((0, 8), (1, 14))]
    for i, of_run in enumerate(rows()):
        for j, of_pair in enumerate(of_run, start=i + 1):
            gaps = [task[i] - task[j] for task in tasks]
            observed = sum(gap.var() / len(gap) for gap in gaps)
            for trial, found in enumerate(of_pair):
                samples = [np.repeat(gap, counts[trial]) for gap, counts in zip(gaps, drawn, strict=True)]
                mean, spread = sum(s.mean() for s in samples), sum(s.var() / len(s) for s in samples)
                counts = spread and (spread >= observed / 10 or mean**2 > 9 * spread)
                expected = (mean - sum(gap.mean() for gap in gaps)) / np.sqrt(spread) if counts else 0
                assert found == pytest.approx(expected)


def test_equal_runs_never_differ_a_constant_lead_always_does_and_tasks_are_their_means_as_topics():
    scores = np.random.default_rng(0).random((1, 20)) + np.array([[0.0], [0.0], [0.5]])
    statistics, _ = compare([scores])
    assert (statistics[0, 1], statistics[2, 0]) == (0, np.inf)
    found = rank_board(Board([scores], np.ones(1)), "topics", 100, [1], 2)
    assert found.sets.tolist() == [[2, 3], [2, 3], [1, 1]]
    tasks = draw_tasks(*[20] * 12)
    means = np.stack([task.mean(axis=1) for task in tasks], axis=1)
    found = rank_board(Board(tasks, np.ones(12)), "tasks", 200, [], 3)
    expected = rank_board(Board([means], np.ones(1)), "topics", 200, [3], 0)
    assert (found.better == expected.better).all()
    assert found.better.any()
    assert not rank_board(Board(tasks[:9], np.ones(9)), "tasks", 200, [], 3).better.any()


def test_intervals_are_students_clopper_and_pearsons_or_welchs_and_clusters_count_once():
    rng = np.random.default_rng(0)
    values = rng.lognormal(size=(4, 17))
    expected = [ttest_1samp(row, 0).confidence_interval(0.9) for row in values]
    np.testing.assert_allclose(np.transpose(interval_of_means(values, confidence=0.9)), expected)
    right = [0, 1, 9, 16, 17]
    exact = [binomtest(k, 17).proportion_ci(0.95, method="exact") for k in right]
    found = interval_of_means(np.array([np.arange(17) < k for k in right], dtype=float))
    np.testing.assert_allclose(np.transpose(found), exact, atol=1e-12)
    assert np.isnan(interval_of_means(np.full((1, 9), 0.3))).all()
    for factor in (2.0**-900, 2.0**900):
        again = np.transpose(interval_of_means(values * factor, confidence=0.9))
        np.testing.assert_allclose(again / factor, expected)
    single = (rng.random((3, 20)) < [[0.5], [0.9], [2.0]]).astype(float)
    codes = np.repeat(np.arange(20), 4)
    low, high = interval_of_means(single[:, codes], pooled=pool_clusters(single[:, codes], codes))
    expected = ttest_1samp(single[0], 0).confidence_interval(0.95)
    assert (low[0], high[0]) == pytest.approx(tuple(expected))
    assert (low[2], high[2]) == pytest.approx(tuple(binomtest(20, 20).proportion_ci(0.95)))
    assert high.max() <= 1
    tasks = [rng.normal(size=(3, 9)), 3 * rng.normal(size=(3, 30))]
    expected = [ttest_ind(a, -b, equal_var=False).confidence_interval(0.95) for a, b in zip(*tasks, strict=True)]
    found = interval_of_tasks(tasks, [None, None], np.ones(2))
    np.testing.assert_allclose(np.transpose(found), np.array(expected) / 2)
    tasks[1][0] = np.nan  # a run without the task has the mean of the other
    tasks[0][1, 1:] = np.nan  # of a single topic nothing tells how much it varies
    low, high = interval_of_tasks(tasks, [None, None], np.ones(2))
    assert (low[0], high[0]) == pytest.approx(tuple(ttest_1samp(tasks[0][0], 0).confidence_interval(0.95)))
    assert np.isnan([low[1], high[1]]).all()
