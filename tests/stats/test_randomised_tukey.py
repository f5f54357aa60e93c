"""The randomised Tukey HSD test gives the p-values it should, and the same bits however it is computed."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import permutation_test

from metaeval.stats import permutations as permutations_module
from metaeval.stats.blocks import Units, quantise
from metaeval.stats.permutations import permutations
from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd, trial_ranges
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "tests")


def tenths(n_runs: int, n_topics: int, n_measures: int = 1, seed: int = 0) -> np.ndarray:
    """Make one-decimal scores, the trap: their float sums break ties at random."""
    return np.random.default_rng(seed).integers(0, 11, (n_runs, n_topics, n_measures)) / 10


def exact_p_values(tenth_scores: np.ndarray) -> np.ndarray:
    """Enumerate every permutation of every topic, in integers."""
    whole = np.rint(tenth_scores * 10).astype(int)
    sums = np.zeros((1, len(whole)), dtype=int)
    for topic in whole.T:
        orders = np.array(list(itertools.permutations(topic)))
        sums = (sums[:, np.newaxis] + orders).reshape(-1, len(whole))
    ranges = sums.max(axis=1) - sums.min(axis=1)
    means = whole.sum(axis=1)
    first, second = np.triu_indices(len(whole), 1)
    return np.array([(ranges >= gap).mean() for gap in np.abs(means[first] - means[second])])


def plain_counts(scores: list[list[Fraction]], n_permutations: int, seed: int) -> list[int]:
    """Follow the description of the test step by step, in exact fractions, with another generator."""
    shuffle = random.Random(seed).shuffle
    n_runs = len(scores)
    topics = list(zip(*scores, strict=True))
    ranges = []
    for _ in range(n_permutations):
        sums = [Fraction(0)] * n_runs
        for topic in topics:
            row = list(topic)
            shuffle(row)
            sums = [total + score for total, score in zip(sums, row, strict=True)]
        ranges.append(max(sums) - min(sums))
    means = [sum(run) for run in scores]
    return [sum(r >= abs(a - b) for r in ranges) for a, b in itertools.combinations(means, 2)]


def largest_error(p: np.ndarray, n_permutations: int) -> np.ndarray:
    """Allow 4.5 standard errors of a Monte Carlo p-value."""
    return 4.5 * np.sqrt(np.maximum(p * (1 - p), 1 / n_permutations) / n_permutations)


@pytest.mark.parametrize(("n_topics", "n_runs"), [(4, 3), (3, 4), (5, 3), (2, 5)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_p_values_are_those_of_full_enumeration(n_topics, n_runs, seed):
    scores = tenths(n_runs, n_topics, seed=seed)
    exact = exact_p_values(scores[..., 0])
    p = p_values(randomised_tukey_hsd(scores, n_permutations=20_000, key=KEY), 20_000)[0]
    assert (np.abs(p - exact) <= largest_error(exact, 20_000)).all()


def test_two_runs_equal_the_sign_flip_randomisation_test():
    scores = tenths(2, 12, seed=3)
    difference = np.rint((scores[0, :, 0] - scores[1, :, 0]) * 10)
    options = {"permutation_type": "samples", "alternative": "greater"}
    exact = permutation_test((difference,), lambda x, axis: np.abs(x.sum(axis=axis)), **options).pvalue
    p = p_values(randomised_tukey_hsd(scores, n_permutations=20_000, key=KEY), 20_000)[0]
    assert abs(p[0] - exact) <= largest_error(np.array(exact), 20_000)


def test_counts_on_discrete_scores_are_exact():
    # The same permutations, applied to integers: not one count may differ.
    scores = tenths(6, 40, 3)
    whole = np.rint(scores * 10).astype(int)
    orders = permutations(KEY, range(700), 40, 6)
    first, second = np.triu_indices(6, 1)
    expected = []
    for measure in range(3):
        by_topic = whole[..., measure].T
        sums = by_topic[np.arange(40)[:, np.newaxis], orders].sum(axis=1)
        ranges = sums.max(axis=1) - sums.min(axis=1)
        means = by_topic.sum(axis=0)
        expected.append((ranges >= np.abs(means[first] - means[second])[:, np.newaxis]).sum(axis=1))
    assert (randomised_tukey_hsd(scores, n_permutations=700, key=KEY) == expected).all()


def test_a_plain_float_comparison_would_be_wrong():
    # Sums of tenths that are equal on paper differ as floats, and a plain >= keeps or loses them by chance.
    scores = tenths(6, 40)[..., 0]
    orders = permutations(KEY, range(700), 40, 6)
    first, second = np.triu_indices(6, 1)
    counts = []
    for by_topic in (scores.T, np.rint(scores.T * 10)):
        ranges = np.ptp(by_topic[np.arange(40)[:, np.newaxis], orders].sum(axis=1), axis=1)
        sums = by_topic.sum(axis=0)
        counts.append((ranges >= np.abs(sums[first] - sums[second])[:, np.newaxis]).sum(axis=1))
    exact = randomised_tukey_hsd(tenths(6, 40), n_permutations=700, key=KEY)[0]
    in_floats, in_whole_numbers = counts
    assert (exact != in_floats).any()
    assert (exact == in_whole_numbers).all()


def test_an_independent_plain_implementation_agrees():
    scores = tenths(5, 12, seed=5)
    exact = [[Fraction(round(score * 10), 10) for score in run] for run in scores[..., 0]]
    plain = np.array(plain_counts(exact, 3000, seed=1)) / 3000
    p = p_values(randomised_tukey_hsd(scores, n_permutations=20_000, key=KEY), 20_000)[0]
    assert (np.abs(p - plain) <= largest_error(p, 3000) * 1.1).all()


def test_published_scores_give_the_p_values_of_the_plain_implementation():
    folder = os.environ.get("METAEVAL_DATA")
    file = Path(folder or "") / "trec" / "web2013_ndcg20.csv"
    if not folder or not file.exists():
        pytest.skip("METAEVAL_DATA does not name a directory with trec/web2013_ndcg20.csv")
    topics = np.genfromtxt(file, delimiter=",", skip_header=1)[:, :10]
    exact = [[Fraction(str(score)) for score in run] for run in topics.T]
    plain = np.array(plain_counts(exact, 1000, seed=1)) / 1000
    p = p_values(randomised_tukey_hsd(topics.T[..., np.newaxis], n_permutations=20_000, key=KEY), 20_000)[0]
    assert (np.abs(p - plain) <= largest_error(p, 1000) * 1.1).all()


@pytest.mark.parametrize(
    ("n_runs", "n_topics", "n_measures"),
    [(2, 9, 1), (3, 8, 2), (19, 17, 9), (22, 31, 6), (110, 5, 3), (128, 40, 1), (129, 6, 2), (200, 4, 17)],
)
def test_engines_agree_bit_by_bit(n_runs, n_topics, n_measures):
    values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
    numpy, numba = (trial_ranges(Units(values), KEY, range(3, 303), engine=engine) for engine in ("numpy", "numba"))
    assert (numpy == numba).all()
    units = quantise(values)[..., -1].astype(np.int64)
    orders = permutations(KEY, range(3, 303), n_topics, n_runs)
    sums = units[np.arange(n_topics)[:, np.newaxis], orders].sum(axis=1)
    assert (numpy[:, -1] == sums.max(axis=1) - sums.min(axis=1)).all()


@pytest.mark.parametrize(
    ("n_runs", "n_topics", "first_trial", "n_trials"),
    # One row in four thousand has tied keys at 128 runs; one shuffle in two thousand rejects a draw at 3,000.
    [(128, 100, 0, 160), (3000, 60, 64, 16)],
)
def test_engines_agree_where_a_row_is_drawn_again(n_runs, n_topics, first_trial, n_trials, monkeypatch):
    attempts = []
    honest = permutations_module.attempt_keys

    def watched(keys, attempt):
        attempts.append(attempt)
        return honest(keys, attempt)

    monkeypatch.setattr(permutations_module, "attempt_keys", watched)
    values = np.random.default_rng(1).random((n_runs, n_topics, 1))
    numpy, numba = (
        trial_ranges(Units(values), KEY, range(first_trial, first_trial + n_trials), engine=engine)
        for engine in ("numpy", "numba")
    )
    assert max(attempts) > 0, "nothing was drawn again, so nothing was tested"
    assert (numpy == numba).all()


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_any_number_of_jobs_gives_the_same_counts(engine):
    values = np.random.default_rng(0).random((7, 30, 3))
    one, two, three = (
        randomised_tukey_hsd(values, n_permutations=2100, key=KEY, engine=engine, n_jobs=jobs) for jobs in (1, 2, 3)
    )
    assert (one == two).all()
    assert (one == three).all()


def test_blocks_in_any_order_add_up():
    values = np.random.default_rng(0).random((7, 30, 3))
    whole = randomised_tukey_hsd(values, n_permutations=90, key=KEY)
    starts = (60, 0, 30)
    parts = [randomised_tukey_hsd(values, n_permutations=30, key=KEY, first_trial=start) for start in starts]
    assert (sum(parts) == whole).all()


def test_adding_dropping_or_reordering_measures_moves_no_other_number():
    values = np.random.default_rng(0).random((6, 20, 11))
    whole = randomised_tukey_hsd(values, n_permutations=200, key=KEY)
    assert (randomised_tukey_hsd(values[..., [9, 2]], n_permutations=200, key=KEY) == whole[[9, 2]]).all()


whole_scores = st.integers(2, 6).flatmap(
    lambda n_runs: st.integers(2, 8).flatmap(
        lambda n_topics: st.lists(st.integers(0, 20), min_size=n_runs * n_topics, max_size=n_runs * n_topics).map(
            lambda cells: np.array(cells, dtype=float).reshape(n_runs, n_topics, 1)
        )
    )
)


@given(values=whole_scores, data=st.data())
@settings(max_examples=60, deadline=None)
def test_shifting_or_rescaling_scores_changes_no_count(values, data):
    # Whole numbers stay exact under these changes, so not one count may differ.
    counts = randomised_tukey_hsd(values, n_permutations=50, key=KEY)
    shift = data.draw(st.integers(-1000, 1000))
    n_topics = values.shape[1]
    topic_shift = np.array(data.draw(st.lists(st.integers(-99, 99), min_size=n_topics, max_size=n_topics)))
    scale = data.draw(st.sampled_from([0.25, 2.0, 3.0, 7.0, 2.0**40]))
    for changed in (values + shift, values + topic_shift[:, np.newaxis], values * scale, -values):
        assert (randomised_tukey_hsd(changed, n_permutations=50, key=KEY) == counts).all()


@given(values=whole_scores, data=st.data())
@settings(max_examples=30, deadline=None)
def test_a_larger_difference_is_never_less_significant(values, data):
    counts = randomised_tukey_hsd(values, n_permutations=60, key=KEY)[0]
    first, second = np.triu_indices(len(values), 1)
    sums = values[..., 0].sum(axis=1)
    order = np.argsort(np.abs(sums[first] - sums[second]), kind="stable")
    assert (np.diff(counts[order]) <= 0).all()


def test_a_constant_measure_separates_no_runs():
    values = np.random.default_rng(0).random((5, 10, 2))
    values[..., 1] = 0.3
    values[..., 0] = values[:1, :, 0]
    assert (randomised_tukey_hsd(values, n_permutations=50, key=KEY) == 50).all()


def test_the_p_value_may_count_the_observed_scores():
    assert p_values([0, 5], 10).tolist() == [0, 0.5]
    assert p_values([0, 5], 9, add_one=True).tolist() == [0.1, 0.6]


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        (lambda v: v[:1], {}, "two runs"),
        (lambda v: v[:, :1], {}, "two topics"),
        (lambda v: v[..., :0], {}, "one measure"),
        (lambda v: v[..., 0], {}, "three axes"),
        (lambda v: np.where(v == v[1, 2, 0], np.nan, v), {}, "run 1 on topic 2 by measure 0 is nan"),
        (lambda v: np.where(v == v[1, 2, 0], np.inf, v), {}, "is inf"),
        (lambda v: v, {"n_permutations": 0}, "at least 1"),
        (lambda v: v, {"n_permutations": 2.5}, "integer"),
        (lambda v: v, {"engine": "abacus"}, "engine"),
        (lambda v: v, {"first_trial": -1}, "from 0"),
        (lambda v: v, {"key": -1}, "key"),
    ],
)
def test_what_cannot_be_tested_is_refused(change, options, complaint):
    values = np.random.default_rng(0).random((4, 5, 2))
    with pytest.raises(ValueError, match=complaint):
        randomised_tukey_hsd(change(values), **{"key": KEY, "n_permutations": 10, **options})


def test_counts_beyond_the_trials_are_refused():
    with pytest.raises(ValueError, match="Counts must lie"):
        p_values([11], 10)


def test_importing_the_layer_loads_nothing_heavy():
    modules = ("anova", "letters", "paired_tests", "pearson", "randomised_tukey", "split_half")
    code = (
        f"import sys; {'; '.join(f'import metaeval.stats.{name}' for name in modules)}; "
        "print(sorted({'llvmlite', 'scipy', 'statsmodels', 'pandas', 'joblib'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


class TestKeptMachineCode:
    """What was compiled is kept on disk, for processes that come later."""

    VALUES = np.random.default_rng(0).random((3, 5, 1))

    @pytest.fixture
    def counts(self, tmp_path):
        code = (
            "import sys, numpy as np\n"
            "from metaeval.stats import _compiled as made\n"
            "from metaeval.stats.randomised_tukey import randomised_tukey_hsd as test\n"
            "compiled, compile_it = [], made._compile\n"
            "made._compile = lambda *what: compiled.append(1) or compile_it(*what)\n"
            "values = np.random.default_rng(0).random((3, 5, 1))\n"
            "print(test(values, key=1, n_permutations=20, engine='numba').tolist(), len(compiled))\n"
        )

        def run(folder):
            environment = {**os.environ, "METAEVAL_KERNELS": str(folder)}
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
            )
            counts = randomised_tukey_hsd(self.VALUES, key=1, n_permutations=20, engine="numpy")
            printed, compiled = done.stdout.rsplit(maxsplit=1)
            assert printed == str(counts.tolist())
            return int(compiled)

        return run

    def test_it_is_compiled_once(self, counts, tmp_path):
        assert [counts(tmp_path / "new"), counts(tmp_path / "new")] == [1, 0]

    def test_what_is_damaged_is_compiled_again(self, counts, tmp_path):
        counts(tmp_path)
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(kept.read_bytes()[:-1])
        assert [counts(tmp_path), counts(tmp_path)] == [1, 0]

    def test_what_everybody_could_have_written_is_not_run(self, counts, tmp_path):
        counts(tmp_path)
        (kept,) = tmp_path.iterdir()
        kept.chmod(0o666)
        assert counts(tmp_path) == 1
        tmp_path.chmod(0o777)
        assert counts(tmp_path) == 1

    def test_what_the_group_could_have_written_is_not_run(self, counts, tmp_path):
        counts(tmp_path)
        (kept,) = tmp_path.iterdir()
        kept.chmod(0o660)
        assert [counts(tmp_path), counts(tmp_path)] == [1, 0]

    def test_where_nothing_can_be_written_it_works_all_the_same(self, counts, tmp_path):
        (tmp_path / "file").touch()
        assert counts(tmp_path / "file" / "no folder") == 1
        assert counts("") == 1
