"""The randomised Tukey HSD test gives the p-values it should, and the same bits however it is computed."""

from __future__ import annotations

import csv
import hashlib
import itertools
import os
import random
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import permutation_test

import metaeval
from metaeval.stats._permuted_sums import compute_orders
from metaeval.stats.arrays import quantise
from metaeval.stats.randomised_tukey import count_reached, p_values, randomised_tukey_hsd, trial_ranges
from metaeval.stats.streams import stream_key, trial_keys

KEY = stream_key(1, "tests")


def permutations(key, trials, n_topics, n_runs):
    """The orders of runs that the kernel draws, shape (trial, topic, column)."""
    return compute_orders(trial_keys(key, np.asarray(trials)), n_topics, n_runs)


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


def test_an_independent_plain_implementation_agrees():
    scores = tenths(5, 12, seed=5)
    exact = [[Fraction(round(score * 10), 10) for score in run] for run in scores[..., 0]]
    plain = np.array(plain_counts(exact, 3000, seed=1)) / 3000
    p = p_values(randomised_tukey_hsd(scores, n_permutations=20_000, key=KEY), 20_000)[0]
    assert (np.abs(p - plain) <= largest_error(p, 3000) * 1.1).all()


@pytest.mark.parametrize(
    ("n_runs", "n_topics", "n_measures"),
    [(2, 9, 1), (3, 8, 2), (19, 17, 9), (22, 31, 6), (110, 5, 3), (128, 40, 1), (129, 6, 2), (200, 4, 17)],
)
def test_ranges_are_those_of_the_permutations(n_runs, n_topics, n_measures):
    values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
    ranges = trial_ranges(quantise(values), KEY, range(3, 303))
    orders = permutations(KEY, range(3, 303), n_topics, n_runs)
    for measure, units in enumerate(np.moveaxis(quantise(values).astype(np.int64), -1, 0)):
        sums = units[np.arange(n_topics)[:, np.newaxis], orders].sum(axis=1)
        assert (ranges[:, measure] == sums.max(axis=1) - sums.min(axis=1)).all()


def read_fingerprints() -> list[list[str]]:
    """Return what two former engines gave, one of NumPy and one of LLVM, when both were there and gave the same."""
    with open(Path(__file__).with_name("tukey_fingerprints.csv"), newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.mark.parametrize("part", range(8))
def test_the_bits_are_those_of_the_engines_that_were_here_before(part):
    for *numbers, fingerprint in read_fingerprints()[part::8]:
        n_runs, n_topics, n_measures, levels, first, n_trials, seed = map(int, numbers)
        values = np.random.default_rng(seed).random((n_runs, n_topics, n_measures))
        if levels:
            values = np.floor(values * (levels + 1)) / levels
        key = stream_key(seed)
        ranges = trial_ranges(quantise(values), key, range(first, first + n_trials))
        counts = count_reached(quantise(values), ranges)
        bits = ranges.astype("<i8").tobytes() + counts.astype("<i8").tobytes()
        assert hashlib.sha256(bits).hexdigest()[:16] == fingerprint, numbers


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


def test_importing_the_layer_loads_nothing_heavy():
    modules = ("agreement", "anova", "letters", "pair_tests", "randomised_tukey", "split_half")
    code = (
        f"import sys; {'; '.join(f'import metaeval.stats.{name}' for name in modules)}; "
        "print(sorted({'numba', 'scipy', 'statsmodels', 'pandas', 'joblib'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


@pytest.fixture
def first_call(tmp_path):
    """Return a function that calls the test in a new process, from a copy of the package, and says what it tells."""
    copy = tmp_path / "package"
    shutil.copytree(Path(metaeval.__file__).parent, copy / "metaeval", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import os, sys, numpy as np\n"
        # Who may do anything may write everywhere; for others the package is often not theirs.
        "honest = os.access\n"
        "if sys.argv[1:]: os.access = lambda path, mode: 'package/metaeval' not in str(path) and honest(path, mode)\n"
        "from metaeval.stats.parallel import listen\n"
        "from metaeval.stats.randomised_tukey import randomised_tukey_hsd as test\n"
        "told = []\n"
        "values = np.random.default_rng(0).random((3, 5, 1))\n"
        "with listen(lambda what, *_: told.append(what)): counts = test(values, key=1, n_permutations=20)\n"
        "print(counts.tolist(), len(told), told)\n"
    )
    values = np.random.default_rng(0).random((3, 5, 1))
    counts = randomised_tukey_hsd(values, key=1, n_permutations=20).tolist()

    def run(*words, **variables):
        environment = {**os.environ, "PYTHONPATH": str(copy), "HOME": str(tmp_path), **variables}
        environment = {name: value for name, value in environment.items() if name != "XDG_CACHE_HOME" and value}
        command, options = [sys.executable, "-c", code, *words], {"env": environment, "cwd": tmp_path}
        printed = subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout
        assert printed.startswith(f"{counts} ")
        return printed.removeprefix(f"{counts} ").strip()

    return run


COMPILED = "1 ['compiling the test, which takes some seconds once on this machine']"


@pytest.mark.nightly
def test_it_is_compiled_once_beside_the_package(first_call, tmp_path):
    assert [first_call(NUMBA_CACHE_DIR="") for _ in range(2)] == [COMPILED, "0 []"]
    assert list(tmp_path.glob("package/**/_permuted_sums.write_ranges*.nbi"))


@pytest.mark.nightly
def test_where_the_package_cannot_be_written_a_folder_of_the_user_keeps_what_is_compiled(first_call, tmp_path):
    named = tmp_path / "named"
    assert first_call("read-only", NUMBA_CACHE_DIR=str(named)) == COMPILED
    assert list(named.glob("**/*.nbi")), "a folder that the user names for Numba is used"
    assert [first_call("read-only", NUMBA_CACHE_DIR="") for _ in range(2)] == [COMPILED, "0 []"]
    (folder,) = tmp_path.glob("**/metaeval/kernels")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.glob("package/**/*.nbi"))
    # What others could have put there is not run: each process compiles for itself.
    folder.chmod(0o777)
    assert first_call("read-only", NUMBA_CACHE_DIR="") == COMPILED
