"""Random numbers, and the randomised Tukey HSD test: permutations follow their draws, p-values are those of enumeration."""

import contextlib
import hashlib
import itertools
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import metaeval
from metaeval.stats import _permuted_sums as kernel
from metaeval.stats.arrays import find_exponents, quantise, scale_scores
from metaeval.stats.randomised_tukey import count_reached, p_values, randomised_tukey_hsd, trial_ranges
from metaeval.stats.streams import attempt_keys, generator, mix, stream_key, trial_keys, words
from tests.analyses.made import label


def test_mixing_is_splitmix64_word_by_word_and_keys_depend_on_the_seed_and_every_name():
    """The first outputs of SplitMix64 from seed 1234567, as published with the reference implementation."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert words(np.array([1234567], dtype=np.uint64), np.arange(4)).tolist() == expected
    many = np.arange(50_000, dtype=np.uint64)
    one_by_one = [mix(many[place : place + 1].copy())[0] for place in range(0, 50_000, 7001)]
    assert (mix(many.copy())[::7001] == one_by_one).all()
    given = [(1,), (2,), (1, "a"), (1, "b"), (1, "a", "b"), (1, "b", "a"), (1, "ab"), (1, "", "ab")]
    keys = {stream_key(*one) for one in given}
    assert len(keys) == len(given)
    assert all(0 <= key < 2**64 for key in keys)
    assert stream_key(np.int64(1), "a") == stream_key(1, "a")
    of = [(3, "power"), (3, "power"), (3, "consistency"), (4, "power")]
    same, again, *others = (generator(*each).random(1000) for each in of)
    assert (same == again).all()
    assert all(abs(np.corrcoef(same, other)[0, 1]) < 0.15 for other in others)


def test_exponents_are_those_of_the_median_magnitude_that_is_not_zero():
    rng = np.random.default_rng(1)
    for values in (
        (rng.integers(-3, 5, (6, 21, 3)) / 10 + rng.integers(0, 2, (6, 1, 1)) / 5) * [1e-200, 1, 0],
        np.zeros((3, 4, 2)),
        np.ldexp(rng.normal(size=(5, 8, 4)), rng.integers(-1060, 1000, (5, 8, 4))),
        np.full((2, 3, 1), 5e-324),
        np.where(rng.random((4, 8, 2)) < 0.7, 0.0, 1e308),
    ):
        expected = []
        for column in values.reshape(-1, values.shape[-1]).T.tolist():
            known = sorted(math.frexp(score)[1] for score in column if score) or [0]
            expected.append(max(known[(len(known) - 1) // 2], known[-1] - 1000))
        assert find_exponents(values).tolist() == expected
        np.testing.assert_array_equal(np.ldexp(values, -np.array(expected)), scale_scores(values))


KEY = stream_key(1, "tests")


def permutations(key, trials, n_topics, n_runs):
    """The orders of runs that the kernel draws, shape (trial, topic, column)."""
    return kernel.compute_orders(trial_keys(key, np.asarray(trials)), n_topics, n_runs)


@pytest.mark.parametrize("n_runs", [*range(2, 18), 23, 24, 25, 31, 32, 33, 63, 64, 65, 100, 127, 128])
def test_an_order_sorts_the_random_bits_of_a_row_and_rows_with_tied_bits_are_drawn_again(n_runs):
    """With 128 columns, 25 bits are random, and about one row in four thousand has a tie."""
    n_topics, trials = 50, np.arange(400 if n_runs == 128 else 40)
    orders = permutations(5, trials, n_topics, n_runs)
    key, redrawn, half = trial_keys(5, trials), 0, (n_runs + 1) // 2
    for topic in range(n_topics):
        waiting = np.ones(len(trials), dtype=bool)
        for attempt in range(2):
            drawn = words(attempt_keys(key, attempt)[:, np.newaxis], topic * half + np.arange(half))
            bits = drawn.astype("<u8").view("<u4")[:, :n_runs] & ~kernel.column_mask(n_runs)
            tied = (np.diff(np.sort(bits, axis=1), axis=1) == 0).any(axis=1)
            here = waiting & ~tied
            assert (np.argsort(bits, axis=1)[here] == orders[here, topic]).all()
            waiting &= tied
            redrawn += attempt * here.sum()
    assert redrawn > 0 or n_runs < 128


@pytest.mark.parametrize(("n_runs", "n_topics", "biased_rows"), [(130, 5, False), (131, 5, False), (3000, 60, True)])
def test_a_shuffle_follows_its_draws_and_takes_a_biased_one_from_the_next_attempt(n_runs, n_topics, biased_rows):
    """At 3,000 columns one shuffle in two thousand has such a draw."""
    trials, key = range(64, 80), stream_key(1, "tests")
    orders = permutations(key, trials, n_topics, n_runs)
    last = np.arange(n_runs - 1, 0, -1)

    def draw(trial, topic, attempt):
        keys = attempt_keys(trial_keys(key, [trials[trial]]), attempt)
        place = topic * ((n_runs + 1) // 2) + last // 2
        drawn = words(keys, place) >> (32 * (last % 2)).astype(np.uint64) & np.uint64(2**32 - 1)
        products = drawn * (last + 1).astype(np.uint64)
        return products >> np.uint64(32), (products & np.uint64(2**32 - 1)) < 2**32 % (last + 1)

    rows = list(itertools.product(range(len(trials)), range(n_topics)))
    if biased_rows:
        rows = [row for row in rows if draw(*row, 0)[1].any()]
        assert rows, "nothing was drawn again, so nothing was tested"
    for row in rows:
        (chosen, biased), (again, biased_again) = draw(*row, 0), draw(*row, 1)
        assert not (biased & biased_again).any()
        order = list(range(n_runs))
        for place, other in zip(last.tolist(), np.where(biased, again, chosen).tolist(), strict=True):
            order[place], order[other] = order[other], order[place]
        assert orders[row].tolist() == order


def tenths(n_runs, n_topics, n_measures=1, seed=0):
    """Make one-decimal scores, the trap: their float sums break ties at random."""
    return np.random.default_rng(seed).integers(0, 11, (n_runs, n_topics, n_measures)) / 10


@pytest.mark.parametrize(("n_topics", "n_runs"), [(12, 2), (4, 3), (3, 4), (5, 3), (2, 5)])
@pytest.mark.parametrize("seed", [0, 1])
def test_p_values_are_those_of_full_enumeration(n_topics, n_runs, seed):
    """Of every permutation of every topic, in whole numbers; 4.5 standard errors of a p-value are allowed."""
    scores = tenths(n_runs, n_topics, seed=seed)
    whole = np.rint(scores[..., 0] * 10).astype(int)
    sums = np.zeros((1, n_runs), dtype=int)
    for topic in whole.T:
        sums = (sums[:, np.newaxis] + np.array(list(itertools.permutations(topic)))).reshape(-1, n_runs)
    means = whole.sum(axis=1)
    exact = np.array([(np.ptp(sums, axis=1) >= abs(a - b)).mean() for a, b in itertools.combinations(means, 2)])
    p = p_values(randomised_tukey_hsd(scores, n_permutations=20_000, key=KEY), 20_000)[0]
    assert (np.abs(p - exact) <= 4.5 * np.sqrt(np.maximum(exact * (1 - exact), 1 / 20_000) / 20_000)).all()


@pytest.mark.parametrize(
    "shape", [(2, 9, 1), (3, 8, 2), (6, 40, 3), (22, 31, 6), (110, 5, 3), (128, 40, 1), (129, 6, 2), (200, 4, 17)]
)
def test_ranges_and_counts_are_those_of_the_permutations_applied_to_whole_numbers(shape):
    """Not one count may differ, though sums of tenths are not exact."""
    n_runs, n_topics, n_measures = shape
    scores, random = tenths(*shape), np.random.default_rng(0).random(shape)
    orders = permutations(KEY, range(300), n_topics, n_runs)
    counts = randomised_tukey_hsd(scores, n_permutations=300, key=KEY)
    ranges = trial_ranges(quantise(random), KEY, range(300))
    first, second = np.triu_indices(n_runs, 1)
    for measure in range(n_measures):
        whole = np.rint(scores[..., measure].T * 10).astype(int)
        of_trial = np.ptp(whole[np.arange(n_topics)[:, np.newaxis], orders].sum(axis=1), axis=1)
        totals = whole.sum(axis=0)
        expected = [np.count_nonzero(of_trial >= gap) for gap in np.abs(totals[first] - totals[second])]
        assert counts[measure].tolist() == expected
        units = quantise(random).astype(np.int64)[..., measure]
        sums = units[np.arange(n_topics)[:, np.newaxis], orders].sum(axis=1)
        assert (ranges[:, measure] == np.ptp(sums, axis=1)).all()


def test_the_bits_are_those_of_the_engines_that_were_here_before():
    """Two former engines, one of NumPy and one of LLVM, gave the same."""
    rows = pd.read_csv(Path(__file__).with_name("tukey_fingerprints.csv"), dtype={"sha256": str})
    for *numbers, fingerprint in rows.itertuples(index=False):
        n_runs, n_topics, n_measures, levels, first, n_trials, seed = numbers
        values = np.random.default_rng(seed).random((n_runs, n_topics, n_measures))
        if levels:
            values = np.floor(values * (levels + 1)) / levels
        ranges = trial_ranges(quantise(values), stream_key(seed), range(first, first + n_trials))
        counts = count_reached(quantise(values), ranges)
        bits = ranges.astype("<i8").tobytes() + counts.astype("<i8").tobytes()
        assert hashlib.sha256(bits).hexdigest()[:16] == fingerprint, numbers


DASK = pytest.param("dask", marks=[pytest.mark.nightly, pytest.mark.filterwarnings("ignore")])  # its own and tornado's


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential", DASK])
def test_every_backend_gives_the_same_counts(backend):
    values = np.random.default_rng(8).random((9, 30, 3)).round(2)
    scores = label(values, ["AP", "RR", "P@10"])

    def count(n_jobs):
        options = {"n_permutations": 3000, "n_bootstrap": 0, "n_jobs": n_jobs}
        tests = ("randomised-tukey-hsd", "max-t", "bootstrap-t")
        return [metaeval.discriminative_power(scores, test=test, **options).counts for test in tests]

    with contextlib.ExitStack() as stack:
        if backend == "dask":
            distributed = pytest.importorskip("dask.distributed", reason="Dask is not installed")
            options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
            cluster = stack.enter_context(distributed.LocalCluster(processes=True, **options))
            stack.enter_context(distributed.Client(cluster))
        stack.enter_context(joblib.parallel_config(backend, n_jobs=2))
        assert np.array_equal(count(2), count(1))


FIRST_CALL = """
import os, sys, numpy as np
honest = os.access  # who may do anything may write everywhere; for others the package is often not theirs
if sys.argv[1:]: os.access = lambda path, mode: 'package/metaeval' not in str(path) and honest(path, mode)
from metaeval.stats.parallel import listen
from metaeval.stats.randomised_tukey import randomised_tukey_hsd as test
told = []
values = np.random.default_rng(0).random((3, 5, 1))
with listen(lambda what, *_: told.append(what)): counts = test(values, key=1, n_permutations=20)
print(counts.tolist(), len(told), told)
"""
COMPILED = "1 ['compiling the test, which takes some seconds once on this machine']"


@pytest.mark.nightly
def test_it_is_compiled_once_beside_the_package_or_where_nobody_but_the_user_can_write(tmp_path):
    copy, named = tmp_path / "package", tmp_path / "named"
    shutil.copytree(Path(metaeval.__file__).parent, copy / "metaeval", ignore=shutil.ignore_patterns("__pycache__"))
    counts = randomised_tukey_hsd(np.random.default_rng(0).random((3, 5, 1)), key=1, n_permutations=20).tolist()

    def call(*words, cache=""):
        variables = {**os.environ, "PYTHONPATH": str(copy), "HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(cache)}
        variables = {name: value for name, value in variables.items() if name != "XDG_CACHE_HOME" and value}
        command, options = [sys.executable, "-c", FIRST_CALL, *words], {"env": variables, "cwd": tmp_path}
        printed = subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout
        assert printed.startswith(f"{counts} ")
        return printed.removeprefix(f"{counts} ").strip()

    assert call("read-only", cache=named) == COMPILED
    assert list(named.glob("**/*.nbi")), "a folder that the user names for Numba is used"
    assert [call("read-only") for _ in range(2)] == [COMPILED, "0 []"]
    (folder,) = tmp_path.glob("**/metaeval/kernels")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not list(copy.glob("**/*.nbi"))
    folder.chmod(0o777)  # what others could have put there is not run: each process compiles for itself
    assert call("read-only") == COMPILED
    assert [call() for _ in range(2)] == [COMPILED, "0 []"]
    assert list(copy.glob("**/_permuted_sums.write_ranges*.nbi"))
