"""Tests of all pairs of runs: the p-values of scipy, statsmodels, enumeration and rational arithmetic, and no bit else."""

import itertools
import warnings
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from scipy.stats import chi2, studentized_range, ttest_rel
from statsmodels.stats.multitest import multipletests

from metaeval.stats import pair_tests as module
from metaeval.stats.anova import studentised_range_tail
from metaeval.stats.pair_tests import all_pairs_test, correct, simultaneous_reach
from metaeval.stats.parallel import listen
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.resampling import draw_weights, topic_signs
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "tests")
MAX_T = ("max-t", "bootstrap-t")
SINGLE = ("paired-randomisation", "paired-bootstrap")
TESTS = ("randomised-tukey-hsd", "tukey-hsd", "paired-t", *SINGLE, *MAX_T)


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    return (rng.random((5, 14, 2)) + np.linspace(0, 0.5, 5).reshape(5, 1, 1)).round(1)


def pairs_of(runs):
    return list(itertools.combinations(range(len(runs)), 2))


def subtract(runs):
    return [runs[i] - runs[j] for i, j in pairs_of(runs)]


def test_paired_t_is_scipys_and_tukey_hsd_uses_the_residuals_of_topic_and_run(values):
    p = all_pairs_test(values, test="paired-t", correction="none").p
    expected = [[ttest_rel(values[i, :, m], values[j, :, m]).pvalue for i, j in pairs_of(values)] for m in (0, 1)]
    assert p == pytest.approx(np.array(expected))
    p = all_pairs_test(values, test="tukey-hsd").p
    matrix = values[..., 1].T
    residuals = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    variance = (residuals**2).sum() / (13 * 4)
    gaps = np.abs(subtract(matrix.mean(axis=0)))
    assert p[1] == pytest.approx(studentized_range.sf(gaps / np.sqrt(variance / 14), 5, 52), abs=1e-9)
    tukey, student = (all_pairs_test(values[:2], test=test).p for test in ("tukey-hsd", "paired-t"))
    assert tukey == pytest.approx(student, abs=1e-7)


@pytest.mark.parametrize("n_groups", [2, 3, 22, 110])
@pytest.mark.parametrize("freedom", [1, 2, 19, 8169])
def test_the_tail_of_the_studentised_range_is_that_of_scipy(n_groups, freedom):
    ranges = np.array([[0.05, 0.5, 1, 3], [5, 8, 20, 200]])
    with warnings.catch_warnings(action="ignore"):  # SciPy warns of its own integrals, and still gets them right.
        expected = studentized_range.sf(ranges, n_groups, freedom)
    assert studentised_range_tail(ranges, n_groups, freedom) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_all_sign_vectors_give_the_p_values_of_exact_fractions(seed):
    whole = np.random.default_rng(seed).integers(0, 6, (4, 8))
    result = all_pairs_test(whole[..., None] / 10, test="max-t", key=KEY)

    def ratio(gap, signs):
        total, squares = int((gap * signs).sum()), int((gap * gap).sum())
        return Fraction(total * total, squares) if squares else Fraction(0)

    vectors = [np.array([1, *rest]) for rest in itertools.product((1, -1), repeat=7)]
    largest = [max(ratio(gap, signs) for gap in subtract(whole)) for signs in vectors]
    expected = [sum(one >= ratio(gap, 1) for one in largest) / len(vectors) for gap in subtract(whole)]
    assert (result.exact, result.n_trials, result.p[0].tolist()) == (True, 128, expected)


def test_sign_flips_are_those_of_a_plain_loop_of_t_statistics():
    values = np.random.default_rng(0).random((5, 21, 2)).round(1)
    result = all_pairs_test(values, test="max-t", n_permutations=300, key=KEY)
    for measure in (0, 1):
        gaps = np.array(subtract(values[..., measure]))

        flipped = np.stack([np.ones(21), *topic_signs(KEY, range(300), 21)])[:, np.newaxis] * gaps
        observed, *drawn = np.abs(flipped.mean(axis=2)) / (flipped.std(axis=2, ddof=1) / np.sqrt(21))
        expected = (np.max(drawn, axis=1) >= observed[:, np.newaxis] * (1 - 1e-9)).sum(axis=1).tolist()
        assert result.counts[measure].tolist() == expected
    assert (result.p == (result.counts + 1) / 301).all()


INFINITE = Fraction(10**30)  # a difference without variance is above every other


def count_in_fractions(whole, n_trials, offset):
    """Count as bootstrap-t does, by rational arithmetic."""
    n_topics = whole.shape[1]
    gaps = [gap.tolist() for gap in subtract(whole)]

    def sum_up(drawn):
        """Return n times the mean and n² times the variance of every pair."""
        sums = [sum(d * w for d, w in zip(gap, drawn, strict=True)) for gap in gaps]
        squares = [sum(d * d * w for d, w in zip(gap, drawn, strict=True)) for gap in gaps]
        return sums, [n_topics * square - total**2 for total, square in zip(sums, squares, strict=True)]

    def studentise(total, variance):
        return (Fraction(total**2) / variance if variance else INFINITE) if total else Fraction(0)

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
@pytest.mark.parametrize("offset", [Fraction(1, 4), Fraction(0), Fraction(1)])
@pytest.mark.parametrize("kind", ["few classes", "near copies", "a constant lead"])
def test_bootstrap_t_is_that_of_rational_arithmetic_and_its_intervals_leave_0_out_where_it_finds(kind, offset, step):
    """Also where scores are decimals or thirds, of which no sum and no difference is exact."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        whole = rng.integers(0, rng.integers(2, 5), (4, rng.integers(5, 14)))
        if kind != "few classes":
            whole[1] = whole[0]
            whole[1, 0] += 1
        if kind == "a constant lead":
            whole[2] = whole[0] + 2
        options = {"n_permutations": 150, "key": KEY, "variance_offset": float(offset)}
        result = all_pairs_test(whole[..., None] / step, test="bootstrap-t", **options)
        assert result.counts[0].tolist() == count_in_fractions(whole, 150, offset)
        assert result.p[0].tolist() == ((result.counts[0] + 1) / 151).tolist()
        if offset:
            gaps = np.abs(subtract(whole.mean(axis=1) / step))
            assert ((gaps > simultaneous_reach(result)[0]) == (result.p[0] <= 0.05)).all()


def count_pair_in_fractions(gap, drawn, test):
    mean = Fraction(sum(gap), len(gap))

    def studentise(values, weights, centre):
        found = sum(w * one for w, one in zip(weights, values, strict=True)) / len(values)
        variance = sum(w * (one - centre - found) ** 2 for w, one in zip(weights, gap, strict=True))
        return (found**2 / variance if variance else INFINITE) if found else Fraction(0)

    if test == "paired-randomisation":
        sums = [abs(sum(sign * one for sign, one in zip(signs, gap, strict=True))) for signs in drawn]
        return sum(one >= abs(sum(gap)) for one in sums)
    observed = studentise([Fraction(one) for one in gap], [1] * len(gap), 0)
    return sum(studentise([one - mean for one in gap], weights, mean) >= observed for weights in drawn)


@pytest.mark.parametrize("test", SINGLE)
@pytest.mark.parametrize(("step", "above", "wild"), [(1, 0, 1e9), (1, 0, 1e12), (10, 0, 1), (10, 100, 1)])
def test_tests_of_a_pair_are_those_of_rational_arithmetic(test, step, above, wild):
    """Of Sakai 2006; beside a run that varies 10⁹ times as much, and where scores are decimals."""
    draw = topic_signs if test == "paired-randomisation" else draw_weights
    for seed in range(4):
        rng = np.random.default_rng(seed)
        whole = rng.integers(0, rng.integers(2, 5), (3, rng.integers(5, 14)))
        if seed % 2:
            whole[1] = whole[0]
            whole[1, 0] += 1
        values = np.concatenate([whole / step + above, rng.integers(0, 9, (1, whole.shape[1])) * wild])[..., None]
        counts = all_pairs_test(values, test=test, n_permutations=150, key=KEY, correction="none").counts[0]
        drawn = draw(KEY, range(150), whole.shape[1]).astype(int).tolist()
        for pair, (i, j) in enumerate(pairs_of(values)):
            if j < 3:
                assert counts[pair] == count_pair_in_fractions((whole[i] - whole[j]).tolist(), drawn, test)


def test_corrections_are_those_of_statsmodels_and_the_randomised_tukey_test_counts_its_ranges(values):
    raw = all_pairs_test(values, test="paired-t", correction="none").p
    for correction, name in {"holm": "holm", "bonferroni": "bonferroni", "benjamini-hochberg": "fdr_bh"}.items():
        corrected = all_pairs_test(values, test="paired-t", correction=correction).p
        assert (corrected == [multipletests(family, method=name)[1] for family in raw]).all()
    assert (correct(raw, "none") == raw).all()
    assert (all_pairs_test(values, test="paired-t").p == correct(raw, "holm")).all()
    counts = randomised_tukey_hsd(values, n_permutations=300, key=KEY)
    for options, p in (({}, counts / 300), ({"add_one": True}, (counts + 1) / 301)):
        assert (all_pairs_test(values, n_permutations=300, key=KEY, **options).p == p).all()


@pytest.mark.parametrize("test", TESTS)
def test_equal_runs_do_not_differ_a_constant_lead_is_as_certain_as_can_be_and_other_measures_move_nothing(values, test):
    options = {"test": test, "n_permutations": 150, "key": KEY}
    values[3] = values[1]
    whole = all_pairs_test(values, **options).p
    assert (whole[:, pairs_of(values).index((1, 3))] == 1).all()
    assert (all_pairs_test(np.full((3, 4, 1), 0.1), **options).p == 1).all()
    assert (all_pairs_test(values[..., [1]], **options).p[0] == whole[1]).all()
    if "randomis" not in test:
        leads = np.arange(20.0).reshape(1, 20, 1) + np.array([0.0, 1.0, 3.0]).reshape(3, 1, 1)
        assert (all_pairs_test(leads, **options).p == (1 / 151 if test in MAX_T else 0)).all()
    if test == "max-t":  # a copy disturbs nobody
        own = all_pairs_test(np.delete(values, 3, axis=0), **options).p
        assert (whole[:, [n for n, pair in enumerate(pairs_of(values)) if 3 not in pair]] == own).all()


SCORES = {
    "ties": lambda rng: rng.integers(0, 4, (7, 40, 3)) / 3,
    "constant": lambda rng: np.stack([np.full((6, 30), 0.1), rng.random((6, 30)), np.zeros((6, 30))], axis=2),
    "few topics": lambda rng: rng.integers(0, 9, (5, 7, 2)) / 10,
    "huge": lambda rng: rng.random((5, 33, 2)) * [1e300, 1e-300],
    "one wild run": lambda rng: rng.random((6, 29, 2)) * np.r_[np.ones(5), 1e9].reshape(6, 1, 1),
}


@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("test", [*SINGLE, *MAX_T])
def test_no_division_of_the_work_moves_a_bit_and_it_tells_how_far_it_has_come(scores, test, monkeypatch):
    values = SCORES[scores](np.random.default_rng(6))
    values[3] = values[1]
    given, told = values.copy(), []
    options = {"test": test, "n_permutations": 120, "key": KEY}
    whole = all_pairs_test(values, **options)
    monkeypatch.setattr(module, "NUMBERS_A_BLOCK", 50)
    monkeypatch.setattr(module, "FEWEST_TRIALS", 7)
    monkeypatch.setattr(module, "MOST_TRIALS", 50)
    for n_jobs in (1, 2):
        with listen(lambda *what: told.append(what)):
            parts = all_pairs_test(values, **options, n_jobs=n_jobs)
        assert (parts.counts == whole.counts).all()
        assert (parts.p == whole.p).all()
        assert (parts.n_trials, parts.exact) == (whole.n_trials, whole.exact)
    assert (values == given).all()
    if test in MAX_T:
        said = [(done, total) for what, done, total in told[: len(told) // 2] if what == f"trials of {test}"]
        assert said == sorted(said)
        assert said[-1] == (whole.n_trials,) * 2


# Error rates: of 200 studies with 5 % each, 21 or more have a false difference with probability .0005


@pytest.mark.parametrize("n_topics", [17, 40])
def test_neither_unequal_spread_nor_runs_that_seldom_succeed_cause_false_differences(n_topics):
    """A tenth of a pair's variance, added to that of every sample, made these err in a third of the studies."""
    rng = np.random.default_rng(5)
    wide = rng.normal(size=(10, n_topics, 200)) * np.r_[3.0, 3.0, np.ones(8)].reshape(10, 1, 1)
    chance = np.where(np.arange(14) % 2, 0.1, 0.5)[:, np.newaxis, np.newaxis]
    seldom = (rng.random((14, 25, 200)) < chance) / chance
    for test, studies in (("randomised-tukey-hsd", wide), *((test, wide) for test in MAX_T), ("bootstrap-t", seldom)):
        false = (all_pairs_test(studies, test=test, n_permutations=399, key=KEY).p <= 0.05).any(axis=1).sum()
        assert (false < 21) == (test in MAX_T)


@pytest.mark.parametrize("noise", [0, 1e-9])
@pytest.mark.parametrize("n_topics", [1, 3])
def test_near_copies_that_differ_on_a_few_topics_hide_no_precise_difference(n_topics, noise):
    """Samples without these topics made an infinite statistic of the near-copies, which no other pair could reach."""
    rng = np.random.default_rng(n_topics)
    values = rng.standard_normal((22, 50, 1)) + rng.standard_normal((50, 1))
    values[1] = values[0] + 0.1 * rng.standard_normal((50, 1)) + 0.1
    values[3] = values[2] + noise * np.random.default_rng(0).standard_normal((50, 1))
    values[3, :n_topics] += rng.standard_normal((n_topics, 1))
    values[21] = values[20] + 1e-9 * rng.standard_normal((50, 1))  # noise of rounding
    p = all_pairs_test(values, test="bootstrap-t", n_permutations=1000, key=KEY).p[0]
    assert p[0] < 0.01
    assert p[pairs_of(values).index((20, 21))] > 0.05


@pytest.mark.parametrize("n_topics", [3, 64, 65])
def test_signs_are_fair_and_independent_and_every_topic_is_drawn_equally_often(n_topics):
    signs = topic_signs(KEY, range(20_000), n_topics).astype(int)
    assert set(np.unique(signs)) == {-1, 1}
    assert (np.abs(signs.mean(axis=0)) < 4.5 / np.sqrt(20_000)).all()
    assert abs((signs[:, 0] * signs[:, -1]).mean()) < 4.5 / np.sqrt(20_000)
    assert (topic_signs(KEY, [17], n_topics) == signs[17]).all()
    whole = topic_signs(KEY, range(5), 900)
    for first in (1, 63, 64, 100, 640):  # signs of later topics are those of all
        assert (topic_signs(KEY, range(5), 200, first=first) == whole[:, first : first + 200]).all()
    counts = draw_weights(KEY, range(5000), n_topics)
    assert (counts.sum(axis=1) == n_topics).all()
    assert chi2.sf(np.square(counts.sum(axis=0) - 5000).sum() / 5000, n_topics - 1) > 0.001
    assert (draw_weights(KEY, [17], n_topics) == counts[17]).all()
