"""Ranks of runs, what significant differences say of them, and the leaderboard."""

import dataclasses

import numpy as np
import pytest

import metaeval as me
from metaeval.stats import letters
from tests.analyses.made import claim_by_letters, draw_graded, label


def make_scores(n_runs=9, seed=0):
    return label(
        draw_graded(n_runs, 30, [0.15, 0.45], seed, best=0.6), ["AP", "NMD"], runs=[f"r{r}" for r in range(n_runs)]
    )


def make_power(n_runs=9, seed=0, test="randomised-tukey-hsd"):
    return me.discriminative_power(make_scores(n_runs, seed=seed), test=test, n_permutations=300)


@pytest.mark.parametrize("options", [{}, {"test": "paired-t"}])
def test_scores_are_ranked_as_their_power_is(options):
    """Unless asked by bootstrap-t, whose errors do not depend on runs that vary more than others."""
    scores = make_scores()
    ranks = me.run_ranks(scores, n_permutations=300, **options)
    assert ranks.test == options.get("test", "bootstrap-t") == ranks.to_dict()["settings"]["test"]
    power = me.discriminative_power(scores, test=ranks.test, n_permutations=300)
    same = ["measure", "run", "mean", "rank", "low", "high", "letters"]
    assert me.run_ranks(power).to_frame()[same].equals(ranks.to_frame()[same])


def test_ranks_and_their_ends_are_counts_of_better_runs_and_letters_are_shared_where_they_do_not_differ():
    power = make_power(n_runs=12, seed=3, test="bootstrap-t")
    found, pairs = me.run_ranks(power).to_frame(), power.run_pairs()
    for row in found.itertuples():
        sign = 1 if row.measure == "AP" else -1
        own = pairs[(pairs["measure"] == row.measure) & ((pairs["run_a"] == row.run) | (pairs["run_b"] == row.run))]
        other = np.where(own["run_a"] == row.run, own["mean_b"], own["mean_a"])
        better, worse = sign * other > sign * row.mean, sign * other < sign * row.mean
        sure = (own["p_value"] <= 0.05).to_numpy()
        assert row.rank == 1 + better.sum()
        assert (row.low, row.high) == (1 + (better & sure).sum(), 12 - (worse & sure).sum())
        assert row.near_first == (row.low == 1)
    for _, rows in found.groupby("measure"):
        assert rows["rank"].is_monotonic_increasing
        assert rows["letters"].iloc[0].startswith("a")
    shown = found.set_index(["measure", "run"])["letters"].map(set)
    for row in pairs.itertuples():
        shared = shown[row.measure, row.run_a] & shown[row.measure, row.run_b]
        assert bool(shared) == (row.p_value > 0.05)


def test_runs_with_equal_means_have_one_rank_and_the_next_is_skipped():
    better = np.array([[False, False, True], [False, False, True], [False, False, False]])
    ranks, ends = letters.rank_intervals(better, np.zeros((3, 3), dtype=bool))
    assert ranks.tolist() == [1, 1, 3]
    assert ends.tolist() == [[1, 3]] * 3


def test_too_many_letters_are_left_out_and_it_is_said_why(monkeypatch):
    monkeypatch.setattr(letters, "MOST_SETS", 50)
    differ = np.kron(np.eye(6, dtype=bool), ~np.eye(2, dtype=bool))  # from the partner of a pair only: 2⁶ largest sets
    with pytest.raises(me.MetaevalError, match="more than 50 letters"):
        letters.letter_groups(differ)


@pytest.mark.parametrize("n_runs", [60, 400])
def test_of_many_runs_the_first_ones_are_drawn_and_it_is_said(n_runs):
    power, n_pairs = make_power(4), n_runs * (n_runs - 1) // 2
    means = np.linspace(1, 0, n_runs)[:, None].repeat(2, axis=1)
    runs = tuple(f"r{run}" for run in range(n_runs))
    power = dataclasses.replace(power, runs=runs, means=means, p_values=np.ones((2, n_pairs)))
    for chart, ranks in zip(me.run_ranks(power).charts(), (range(1, 61), range(n_runs, n_runs - 60, -1)), strict=True):
        assert [row.title for row in chart.rows] == list(runs[:60])
        assert [row.centre for row in chart.rows] == list(ranks)
        assert {row.line for row in chart.rows} == {(1, n_runs)}
        assert ("the first 60 of 400 runs" in chart.label) == (n_runs == 400)


SHAPES = {
    "normal": lambda rng, size: rng.normal(size=size),
    "skewed": lambda rng, size: rng.exponential(size=size),
    "right or wrong": lambda rng, size: (rng.random(size) < 0.8).astype(float),
    "many zeros": lambda rng, size: rng.exponential(size=size) * (rng.random(size) < 0.2),
    "unlike spreads": lambda rng, size: rng.normal(size=size) * np.linspace(0.2, 3, size[0])[:, None],
    "near-copies": lambda rng, size: rng.normal(size=size[1]) + 0.05 * rng.normal(size=size) ** 3,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_rank_set_denies_the_sentence_and_letters_show_its_claims(shape):
    """Runs that may be the best have rank 1 among their ranks, the first one is one of them, and letters count claims."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n_runs, n_topics = int(rng.integers(2, 9)), int(rng.integers(6, 40))
        values = SHAPES[shape](rng, (n_runs, n_topics)) + rng.choice([0, 0.3]) * np.arange(n_runs)[:, None]
        scores = label(values, ["x"], higher_is_better=True)
        power = me.discriminative_power(scores, test="max-t", n_permutations=200, n_bootstrap=0)
        for ranks in (
            me.run_ranks(scores, n_permutations=200),
            me.run_ranks(power),
            me.board_ranks(scores, n_bootstrap=200),
        ):
            rows = ranks.to_frame()
            assert (rows.loc[rows["near_first"], "low"] == 1).all()
            assert rows.loc[rows["rank"] == 1, "near_first"].all()
            assert ranks.summary()["near_first"].item() == rows["near_first"].sum()
            assert (rows["low"].tolist(), rows["high"].tolist()) == claim_by_letters(rows)


def test_two_runs_are_compared_in_a_sentence_whose_interval_and_p_value_say_the_same():
    for gap in (0.0, 0.5):
        values = np.random.default_rng(0).normal(size=(2, 60, 1)) + np.reshape([0.0, gap], (2, 1, 1))
        scores = label(values, ["x"], runs=["a", "b"], higher_is_better=True)
        ranks = me.run_ranks(scores)
        (pair,) = ranks.frames()["pairs"].itertuples()
        means = dict(zip(scores.runs, values.mean(axis=(1, 2)), strict=True))
        assert pair.difference == pytest.approx(means[pair.run] - means[pair.other_run])
        assert pair.difference >= 0
        assert (pair.low > 0) == (pair.p_value <= 0.05) == ranks.differ.any()
        assert ranks.answer().startswith("It is open whether " if not gap else "b is better than a by x (")
        assert [len(table.frame) for table in ranks.at("short")] == [2, 1]
        frame = ranks.to_frame()
        assert ((frame["mean_low"] < frame["mean"]) & (frame["mean"] < frame["mean_high"])).all()
    many = me.run_ranks(make_scores(7), n_permutations=300)
    assert "pairs" not in many.frames()
