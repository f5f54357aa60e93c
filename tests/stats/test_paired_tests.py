"""All pairs of runs, tested at once, get the p-values of one test at a time."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, permutation_test, studentized_range, ttest_rel
from statsmodels.stats.multitest import multipletests

from metaeval.stats import pair_tests as module
from metaeval.stats.anova import studentised_range_tail
from metaeval.stats.pair_tests import all_pairs_test, correct
from metaeval.stats.randomised_tukey import randomised_tukey_hsd
from metaeval.stats.resampling import draw_weights, topic_signs
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "tests")
TESTS = ("randomised-tukey-hsd", "tukey-hsd", "paired-t", "paired-randomisation", "paired-bootstrap")


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    return (rng.random((5, 14, 2)) + np.linspace(0, 0.5, 5).reshape(5, 1, 1)).round(1)


def pairs_of(values):
    return list(itertools.combinations(range(len(values)), 2))


def test_paired_t_is_that_of_scipy(values):
    p = all_pairs_test(values, test="paired-t", correction="none").p
    expected = [[ttest_rel(values[i, :, m], values[j, :, m]).pvalue for i, j in pairs_of(values)] for m in (0, 1)]
    assert p == pytest.approx(np.array(expected))


def test_tukey_hsd_uses_the_residuals_of_topic_and_run(values):
    p = all_pairs_test(values, test="tukey-hsd").p
    matrix = values[..., 1].T
    residuals = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    variance = (residuals**2).sum() / (13 * 4)
    for pair, (i, j) in enumerate(pairs_of(values)):
        gap = abs(matrix[:, i].mean() - matrix[:, j].mean())
        expected = studentized_range.sf(gap / np.sqrt(variance / 14), 5, 52)
        assert p[1, pair] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_groups", [2, 3, 22, 110])
@pytest.mark.parametrize("degrees_of_freedom", [1, 2, 19, 400, 8169])
def test_the_tail_of_the_studentised_range_is_that_of_scipy(n_groups, degrees_of_freedom):
    ranges = np.array([[0.05, 0.5, 1, 3], [5, 8, 20, 200]])
    with warnings.catch_warnings():
        # SciPy warns of its own integrals, and still gets them right.
        warnings.simplefilter("ignore")
        expected = studentized_range.sf(ranges, n_groups, degrees_of_freedom)
    assert studentised_range_tail(ranges, n_groups, degrees_of_freedom) == pytest.approx(expected, abs=1e-10)


def test_tukey_hsd_of_two_runs_is_the_paired_t_test(values):
    tukey, student = (all_pairs_test(values[:2], test=test).p for test in ("tukey-hsd", "paired-t"))
    assert tukey == pytest.approx(student, abs=1e-7)


def test_paired_randomisation_is_the_sign_flip_test(values):
    result = all_pairs_test(values, test="paired-randomisation", n_permutations=20_000, key=KEY, correction="none")
    for pair, (i, j) in enumerate(pairs_of(values)):
        whole = np.rint((values[i, :, 0] - values[j, :, 0]) * 10)
        # All 2^14 flips: fewer resamples than that would make SciPy draw some at random.
        options = {"permutation_type": "samples", "alternative": "greater", "n_resamples": np.inf}
        exact = permutation_test((whole,), lambda x, axis: np.abs(x.sum(axis=axis)), **options).pvalue
        assert abs(result.p[0, pair] - exact) < 4.5 * np.sqrt(max(exact * (1 - exact), 1e-4) / 20_000)


def test_paired_bootstrap_is_that_of_sakai_2006(values):
    result = all_pairs_test(values, test="paired-bootstrap", n_permutations=600, key=KEY, correction="none")
    drawn = draw_weights(KEY, range(600), 14).astype(int)
    for (pair, (i, j)), measure in itertools.product(enumerate(pairs_of(values)), (0, 1)):
        difference = values[i, :, measure] - values[j, :, measure]
        shifted = difference - difference.mean()
        observed = abs(difference.mean()) / (difference.std(ddof=1) / np.sqrt(14))
        exceeding = 0
        for counts in drawn:
            sample = np.repeat(shifted, counts)
            exceeding += abs(sample.mean()) / (sample.std(ddof=1) / np.sqrt(14)) >= observed * (1 - 1e-9)
        assert result.counts[measure, pair] == exceeding


def count_in_fractions(gap, drawn, test):
    """Count trials by rational arithmetic: a difference without variance is above every other."""
    mean = Fraction(sum(gap), len(gap))
    centred = [one - mean for one in gap]

    def studentise(values, weights, centre):
        found = sum(w * one for w, one in zip(weights, values, strict=True)) / len(values)
        variance = sum(w * (one - centre - found) ** 2 for w, one in zip(weights, gap, strict=True))
        return (found**2 / variance if variance else Fraction(10**30)) if found else Fraction(0)

    if test == "paired-randomisation":
        sums = [abs(sum(sign * one for sign, one in zip(signs, gap, strict=True))) for signs in drawn]
        return sum(one >= abs(sum(gap)) for one in sums)
    observed = studentise([Fraction(one) for one in gap], [1] * len(gap), 0)
    return sum(studentise(centred, weights, mean) >= observed for weights in drawn)


@pytest.mark.parametrize("test", ["paired-randomisation", "paired-bootstrap"])
@pytest.mark.parametrize(("step", "above", "wild"), [(1, 0, 1e9), (1, 0, 1e12), (10, 0, 1), (10, 100, 1)])
def test_tests_of_a_pair_are_those_of_rational_arithmetic(test, step, above, wild):
    """Beside a run that varies 10⁹ times as much, and where scores are decimals, of which no difference is exact."""
    draw = topic_signs if test == "paired-randomisation" else draw_weights
    for seed in range(6):
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
                assert counts[pair] == count_in_fractions((whole[i] - whole[j]).tolist(), drawn, test)


def test_resampling_tests_share_their_core(values):
    counts = randomised_tukey_hsd(values, n_permutations=300, key=KEY)
    result = all_pairs_test(values, n_permutations=300, key=KEY)
    assert (result.counts == counts).all()
    assert (result.p == counts / 300).all()
    assert (all_pairs_test(values, n_permutations=300, key=KEY, add_one=True).p == (counts + 1) / 301).all()


@pytest.mark.parametrize("test", TESTS)
def test_runs_with_the_same_scores_do_not_differ(values, test):
    values[3] = values[1]
    p = all_pairs_test(values, test=test, n_permutations=200, key=KEY).p
    assert (p[:, pairs_of(values).index((1, 3))] == 1).all()
    assert (all_pairs_test(np.full((3, 4, 1), 0.1), test=test, n_permutations=20, key=KEY).p == 1).all()


@pytest.mark.parametrize("test", ["tukey-hsd", "paired-t", "paired-bootstrap"])
def test_a_difference_that_never_varies_is_certain(test):
    values = np.arange(8.0).reshape(1, 8, 1) + np.array([0.0, 1.0, 3.0]).reshape(3, 1, 1)
    assert (all_pairs_test(values, test=test, n_permutations=50, key=KEY).p == 0).all()


@pytest.mark.parametrize("test", TESTS)
def test_blocks_and_other_measures_move_no_number(values, test, monkeypatch):
    whole = all_pairs_test(values, test=test, n_permutations=150, key=KEY).p
    assert (all_pairs_test(values[..., [1]], test=test, n_permutations=150, key=KEY).p[0] == whole[1]).all()
    monkeypatch.setattr(module, "NUMBERS_A_BLOCK", 50)
    assert all_pairs_test(values, test=test, n_permutations=150, key=KEY).p == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize(
    ("correction", "name"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("benjamini-hochberg", "fdr_bh")]
)
def test_corrections_are_those_of_statsmodels(values, correction, name):
    raw = all_pairs_test(values, test="paired-t", correction="none").p
    corrected = all_pairs_test(values, test="paired-t", correction=correction).p
    assert (corrected == [multipletests(family, method=name)[1] for family in raw]).all()
    assert (correct(raw, "none") == raw).all()
    assert (all_pairs_test(values, test="paired-t").p == correct(raw, "holm")).all()


@pytest.mark.parametrize("n_topics", [3, 64, 65])
def test_signs_are_fair_and_independent(n_topics):
    signs = topic_signs(KEY, range(20_000), n_topics).astype(int)
    assert set(np.unique(signs)) == {-1, 1}
    assert (np.abs(signs.mean(axis=0)) < 4.5 / np.sqrt(20_000)).all()
    assert abs((signs[:, 0] * signs[:, -1]).mean()) < 4.5 / np.sqrt(20_000)
    assert (topic_signs(KEY, [17], n_topics) == signs[17]).all()


def test_every_topic_is_drawn_equally_often():
    counts = draw_weights(KEY, range(5000), 7)
    assert (counts.sum(axis=1) == 7).all()
    expected = 5000.0
    assert chi2.sf(np.square(counts.sum(axis=0) - expected).sum() / expected, 6) > 0.001
    assert (draw_weights(KEY, [17], 7) == counts[17]).all()
