"""The max-T tests give the p-values of plain loops over trials, exactly, and of all sign vectors where there are few."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from statistics import median

import numpy as np
import pytest

from metaeval.stats import pair_tests as module
from metaeval.stats.pair_tests import all_pairs_test, simultaneous_reach
from metaeval.stats.parallel import listen
from metaeval.stats.resampling import draw_weights, topic_signs
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "tests")
sign_flip_max_t, bootstrap_max_t = (partial(all_pairs_test, test=test) for test in ("max-t", "bootstrap-t"))
TESTS = {"max-t": sign_flip_max_t, "bootstrap-t": bootstrap_max_t}


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    return (rng.random((5, 21, 2)) + np.linspace(0, 0.3, 5).reshape(5, 1, 1)).round(1)


def differences_of(values, measure):
    runs = values[..., measure]
    return np.array([runs[i] - runs[j] for i, j in itertools.combinations(range(len(runs)), 2)])


def count_plainly(observed, trials):
    """Count maxima that reach each observed statistic."""
    return np.array([sum(trial.max() >= one * (1 - 1e-9) for trial in trials) for one in observed])


@pytest.mark.parametrize("seed", range(3))
def test_all_sign_vectors_give_the_p_values_of_exact_fractions(seed):
    whole = np.random.default_rng(seed).integers(0, 6, (4, 8))
    result = sign_flip_max_t(whole[..., None] / 10, key=KEY)
    gaps = [whole[i] - whole[j] for i, j in itertools.combinations(range(4), 2)]

    def ratio(gap, signs):
        total, squares = int((gap * signs).sum()), int((gap * gap).sum())
        return Fraction(total * total, squares) if squares else Fraction(0)

    vectors = [np.array([1, *rest]) for rest in itertools.product((1, -1), repeat=7)]
    observed = [ratio(gap, 1) for gap in gaps]
    p = []
    for one in observed:
        p.append(Fraction(sum(max(ratio(gap, signs) for gap in gaps) >= one for signs in vectors), len(vectors)))
    # No pair has a smaller p-value than one with a larger statistic.
    assert result.exact
    assert result.n_trials == 128
    assert result.p[0].tolist() == [float(one) for one in p]


def test_sign_flips_are_those_of_a_plain_loop_of_t_statistics(values):
    result = sign_flip_max_t(values, n_permutations=300, key=KEY)
    for measure in (0, 1):
        gaps = differences_of(values, measure)

        def statistics(signs, gaps=gaps):
            flipped = gaps * signs
            return np.abs(flipped.mean(axis=1)) / (flipped.std(axis=1, ddof=1) / np.sqrt(21))

        trials = [statistics(signs) for signs in topic_signs(KEY, range(300), 21)]
        expected = count_plainly(statistics(np.ones(21)), trials)
        assert result.counts[measure].tolist() == expected.tolist()


@pytest.mark.parametrize("offset", [0.25, 1.0, 0.0])
def test_resampled_topics_are_those_of_a_plain_loop(values, offset):
    """Of two statistics the smaller p-value counts, compared with the smaller one of every trial."""
    result = bootstrap_max_t(values, n_permutations=200, key=KEY, variance_offset=offset)
    for measure in (0, 1):
        gaps = differences_of(values, measure)
        extremes, of_trials = [], []
        for added in {0.0, offset * float(np.median(gaps.var(axis=1)))}:
            observed = np.abs(gaps.mean(axis=1)) / np.sqrt(gaps.var(axis=1) + added)
            trials = []
            for drawn in draw_weights(KEY, range(200), 21).astype(int):
                sample = np.repeat(gaps, drawn, axis=1)
                trial = np.abs(sample.mean(axis=1) - gaps.mean(axis=1)) / np.sqrt(sample.var(axis=1) + added)
                if (
                    not added
                ):  # a sample with little of a pair's variance, and no clear difference, says nothing of the pair
                    clear = sample.mean(axis=1) ** 2 > 9 * sample.var(axis=1) / 21
                    trial[(sample.var(axis=1) < 0.1 * gaps.var(axis=1)) & ~clear] = 0
                trials.append(trial)
            extremes.append(count_plainly(observed, trials))
            of_trials.append(count_plainly(np.array([trial.max() for trial in trials]), trials))
        expected = [(np.min(of_trials, axis=0) <= one).sum() for one in np.min(extremes, axis=0)]
        assert result.counts[measure].tolist() == expected


def count_in_fractions(whole, n_trials, offset):
    """Count as bootstrap-t does, by rational arithmetic: a difference without variance is above every other."""
    n_topics = whole.shape[1]
    gaps = [(whole[i] - whole[j]).tolist() for i, j in itertools.combinations(range(len(whole)), 2)]

    def sum_up(drawn):
        """Return n times the mean and n² times the variance of every pair."""
        sums = [sum(d * w for d, w in zip(gap, drawn, strict=True)) for gap in gaps]
        squares = [sum(d * d * w for d, w in zip(gap, drawn, strict=True)) for gap in gaps]
        return sums, [n_topics * square - total**2 for total, square in zip(sums, squares, strict=True)]

    def studentise(total, variance):
        return (Fraction(total**2) / variance if variance else Fraction(10**30)) if total else Fraction(0)

    def studentise_sample(total, mean, spread, variance, more):
        silent = 10 * spread < variance and total**2 * n_topics <= 9 * spread
        return Fraction(0) if silent and not more else studentise(total - mean, spread + more)

    means, variances = sum_up([1] * n_topics)
    added = offset * median(Fraction(one) for one, gap in zip(variances, gaps, strict=True) if any(gap))
    extremes, of_trials = [], []
    for more in {Fraction(0), added}:
        trials = []
        for drawn in draw_weights(KEY, range(n_trials), n_topics).astype(int).tolist():
            sums, spreads = sum_up(drawn)
            each = zip(sums, means, spreads, variances, strict=True)
            trials.append(max(studentise_sample(*one, more) for one in each))
        observed = [studentise(mean, one + more) for mean, one in zip(means, variances, strict=True)]
        extremes.append([sum(trial >= one for trial in trials) for one in observed])
        of_trials.append([sum(trial >= one for trial in trials) for one in trials])
    own = [min(each) for each in zip(*of_trials, strict=True)]
    return [sum(one <= min(each) for one in own) for each in zip(*extremes, strict=True)]


@pytest.mark.parametrize("step", [1, 10, 3])
@pytest.mark.parametrize("offset", [Fraction(1, 4), Fraction(0)])
@pytest.mark.parametrize("kind", ["few classes", "near copies", "a constant lead"])
def test_samples_without_variance_are_those_of_rational_arithmetic(kind, offset, step):
    """Also where scores are decimals or thirds, of which no sum and no difference is exact."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        whole = rng.integers(0, rng.integers(2, 5), (4, rng.integers(5, 14)))
        if kind != "few classes":
            whole[1] = whole[0]
            whole[1, 0] += 1
        if kind == "a constant lead":
            whole[2] = whole[0] + 2
        result = bootstrap_max_t(whole[..., None] / step, n_permutations=200, key=KEY, variance_offset=float(offset))
        assert result.counts[0].tolist() == count_in_fractions(whole, 200, offset)
        # An interval leaves 0 out where a pair is significant.
        reach = simultaneous_reach(result)[0]
        gaps = np.abs(differences_of(whole[..., None], 0).mean(axis=1)) / step
        if offset:
            assert ((gaps > reach) == (result.p[0] <= 0.05)).all()


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("seed", range(12))
def test_p_values_do_not_depend_on_the_order_of_runs_whose_statistics_tie(test, seed):
    rng = np.random.default_rng(seed)
    values, order = rng.integers(0, 2, (6, 8, 1)) / 10, rng.permutation(6)
    pairs = {pair: number for number, pair in enumerate(itertools.combinations(range(6), 2))}
    options = {"n_permutations": 300, "key": KEY}
    given, moved = (TESTS[test](scores, **options).p[0] for scores in (values, values[order]))
    back = [pairs[min(i, j), max(i, j)] for i, j in itertools.combinations(order.tolist(), 2)]
    assert moved.tolist() == given[back].tolist()


@pytest.mark.parametrize("test", TESTS)
def test_p_values_count_the_observed_scores_as_a_trial(values, test):
    result = all_pairs_test(values, test=test, n_permutations=99, key=KEY)
    assert (result.p == (result.counts + 1) / 100).all()
    assert result.n_trials == 99


@pytest.mark.parametrize("test", TESTS)
def test_blocks_jobs_and_other_measures_move_no_bit(values, test, monkeypatch):
    whole = TESTS[test](values, n_permutations=150, key=KEY).p
    alone = TESTS[test](values[..., [1]], n_permutations=150, key=KEY).p
    assert (alone[0] == whole[1]).all()
    monkeypatch.setattr(module, "NUMBERS_A_BLOCK", 50)
    monkeypatch.setattr(module, "FEWEST_TRIALS", 7)
    for n_jobs in (1, 2):
        assert (TESTS[test](values, n_permutations=150, key=KEY, n_jobs=n_jobs).p == whole).all()


@pytest.mark.parametrize("scores", ["ties", "constant", "few topics", "huge", "one wild run"])
@pytest.mark.parametrize(
    ("test", "options"),
    [
        ("max-t", {}),
        ("bootstrap-t", {}),
        ("bootstrap-t", {"variance_offset": 0.0}),
        ("bootstrap-t", {"variance_offset": 1.0}),
    ],
)
def test_no_division_of_the_trials_moves_a_bit(scores, test, options, monkeypatch):
    rng = np.random.default_rng(6)
    values = {
        "ties": lambda: rng.integers(0, 4, (7, 40, 3)) / 3,
        "constant": lambda: np.stack([np.full((6, 30), 0.1), rng.random((6, 30)), np.zeros((6, 30))], axis=2),
        "few topics": lambda: rng.integers(0, 9, (5, 7, 2)) / 10,
        "huge": lambda: rng.random((5, 33, 2)) * [1e300, 1e-300],
        "one wild run": lambda: rng.random((6, 29, 2)) * np.r_[np.ones(5), 1e9].reshape(6, 1, 1),
    }[scores]()
    values[3] = values[1]
    given = values.copy()
    options = {**options, "n_permutations": 120, "key": KEY}
    whole = TESTS[test](values, **options)
    told = []
    monkeypatch.setattr(module, "MOST_TRIALS", 50)
    for n_jobs in (1, 2):
        with listen(lambda *what: told.append(what)):
            parts = TESTS[test](values, **options, n_jobs=n_jobs)
        assert (parts.counts == whole.counts).all()
        assert (parts.p == whole.p).all()
        assert (parts.n_trials, parts.exact) == (whole.n_trials, whole.exact)
    assert (values == given).all()
    said = [(done, total) for what, done, total in told[: len(told) // 2] if what == f"trials of {test}"]
    assert said == sorted(said)
    assert said[-1] == (whole.n_trials,) * 2


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scores_in_memory_tell_how_far_the_work_has_come(values, test, n_jobs, monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIALS", 50)
    told = []
    with listen(lambda *what: told.append(what)):
        TESTS[test](values, n_permutations=120, key=KEY, n_jobs=n_jobs)
    assert told == [(f"trials of {test}", done, 120) for done in (50, 100, 120)]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("exponent", [-1060, -540, 520, 1000])
def test_a_power_of_two_moves_no_bit(values, test, exponent):
    whole = TESTS[test]((values * 16).round(), n_permutations=150, key=KEY).p
    assert (TESTS[test](np.ldexp((values * 16).round(), exponent), n_permutations=150, key=KEY).p == whole).all()


@pytest.mark.parametrize("test", TESTS)
def test_runs_with_the_same_scores_do_not_differ_and_do_not_disturb(values, test):
    with_copy = np.concatenate([values, values[[1]]])
    result = TESTS[test](with_copy, n_permutations=200, key=KEY)
    pairs = list(itertools.combinations(range(6), 2))
    assert (result.p[:, pairs.index((1, 5))] == 1).all()
    assert (TESTS[test](np.full((3, 4, 1), 0.1), n_permutations=20, key=KEY).p == 1).all()
    if test == "max-t":
        own = sign_flip_max_t(values, n_permutations=200, key=KEY).p
        assert (result.p[:, [pairs.index(pair) for pair in itertools.combinations(range(5), 2)]] == own).all()


@pytest.mark.parametrize("test", TESTS)
def test_a_difference_that_never_varies_is_as_certain_as_trials_allow(test):
    values = np.arange(20.0).reshape(1, 20, 1) + np.array([0.0, 1.0, 3.0]).reshape(3, 1, 1)
    assert (all_pairs_test(values, test=test, n_permutations=50, key=KEY).p == 1 / 51).all()


def test_one_wild_run_costs_the_others_no_digits():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(4, 60, 1)) + np.array([0.0, 0.3, 0.6, 0.9]).reshape(4, 1, 1)
    wild = rng.normal(size=(1, 60, 1))
    near, far = (
        bootstrap_max_t(np.concatenate([values, wild * size]), n_permutations=300, key=KEY) for size in (1e3, 1e7)
    )
    pairs = list(itertools.combinations(range(5), 2))
    others = [pairs.index(pair) for pair in itertools.combinations(range(4), 2)]
    assert np.abs(near.counts[:, others] - far.counts[:, others]).max() <= 1


@pytest.mark.parametrize("n_topics", [17, 40])
def test_unequal_spread_does_not_cause_false_differences(n_topics):
    rng = np.random.default_rng(5)
    spread = np.r_[3.0, 3.0, np.ones(8)].reshape(10, 1, 1)
    studies = rng.normal(size=(10, n_topics, 200)) * spread
    for test in TESTS:
        false = (all_pairs_test(studies, test=test, n_permutations=499, key=KEY).p <= 0.05).any(axis=1)
        # 200 studies with 5 % each: 21 or more have probability .0005.
        assert false.sum() < 21
    wrong = (all_pairs_test(studies, n_permutations=499, key=KEY).p <= 0.05).any(axis=1)
    assert wrong.sum() >= 21


def test_resampling_sees_precise_differences():
    """A copy that wins by a little everywhere differs; noise of rounding alone does not, however small its spread."""
    rng = np.random.default_rng(3)
    values = rng.random((22, 50, 1))
    values[1] = values[0] + 0.01 * rng.standard_normal((50, 1)) + 0.01
    values[2] = values[0] + 1e-9 * rng.standard_normal((50, 1))
    p = bootstrap_max_t(values, n_permutations=1000, key=KEY).p[0]
    gaps = values[0, :, 0] - values[2, :, 0]
    assert p[0] < 0.01
    assert abs(gaps.mean()) < 4 * gaps.std() / np.sqrt(50)
    assert p[1] > 0.05


@pytest.mark.parametrize("n_topics", [1, 2, 3, 5])
def test_near_copies_that_differ_on_a_few_topics_hide_no_precise_difference(n_topics):
    """Samples without these topics made an infinite statistic of the near-copies, which no other pair could reach."""
    rng = np.random.default_rng(n_topics)
    values = rng.standard_normal((22, 50, 1)) + rng.standard_normal((50, 1))
    values[1] = values[0] + 0.1 * rng.standard_normal((50, 1)) + 0.1
    values[3] = values[2]
    values[3, :n_topics] += rng.standard_normal((n_topics, 1))
    assert bootstrap_max_t(values, n_permutations=1000, key=KEY).p[0, 0] < 0.01


@pytest.mark.nightly
def test_runs_that_seldom_succeed_cause_no_false_differences():
    """A tenth of a pair's variance, added to that of every sample, made these err in a third of the studies."""
    rng = np.random.default_rng(6)
    chance = np.where(np.arange(22) % 2, 0.1, 0.5)[:, np.newaxis, np.newaxis]
    studies = (rng.random((22, 25, 200)) < chance) / chance
    assert (bootstrap_max_t(studies, n_permutations=499, key=KEY).p <= 0.05).any(axis=1).sum() < 21
