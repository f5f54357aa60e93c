"""Permutations are uniform, independent, and a pure function of their place."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chi2

from metaeval.stats import _permuted_sums as kernel
from metaeval.stats.streams import attempt_keys, stream_key, trial_keys, words


def permutations(key, trials, n_topics, n_runs):
    """The orders of runs that the kernel draws, shape (trial, topic, column)."""
    return kernel.compute_orders(trial_keys(key, np.asarray(trials)), n_topics, n_runs)


def order_numbers(orders: np.ndarray) -> np.ndarray:
    """Number each order from 0 to n! - 1."""
    table = {order: number for number, order in enumerate(itertools.permutations(range(orders.shape[-1])))}
    flat = orders.reshape(-1, orders.shape[-1])
    return np.array([table[tuple(row)] for row in flat.tolist()]).reshape(orders.shape[:-1])


def chi_square_p(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(chi2.sf(np.square(counts - expected).sum() / expected, counts.size - 1))


def sort_by_steps(columns: np.ndarray) -> np.ndarray:
    """Sort whole numbers, shape (column, trial), as the kernel sorts keys."""
    n_columns, n_trials = columns.shape
    ordered = np.empty_like(columns)
    for start in range(0, n_trials, kernel.LANES):
        cells = np.full((n_columns + -n_columns % 8, kernel.LANES), 0xFFFFFFFF, dtype=np.uint32)
        some = columns[:, start : start + kernel.LANES]
        cells[:n_columns, : some.shape[1]] = some
        kernel._run_steps(kernel.plan_sorting(n_columns), cells.reshape(-1))
        ordered[:, start : start + kernel.LANES] = cells[:n_columns, : some.shape[1]]
    return ordered


@pytest.mark.parametrize("n_columns", range(2, 18))
def test_the_network_sorts_every_sequence_of_zeros_and_ones(n_columns):
    # A network that sorts all sequences of zeros and ones sorts everything (Knuth).
    columns = np.array(list(itertools.product((0, 1), repeat=n_columns)), dtype=np.uint32).T.copy()
    assert (np.diff(sort_by_steps(columns).astype(int), axis=0) >= 0).all()


@pytest.mark.parametrize("n_columns", [23, 24, 25, 31, 32, 33, 63, 64, 65, 100, 127, 128])
def test_larger_networks_sort(n_columns):
    columns = np.random.default_rng(0).integers(2**32, size=(n_columns, 500), dtype=np.uint32)
    assert (sort_by_steps(columns) == np.sort(columns, axis=0)).all()


@pytest.mark.parametrize("n_runs", [2, 3, 4, 5, 128, 129, 700])
def test_every_row_is_a_permutation(n_runs):
    orders = permutations(1, range(20), 6, n_runs)
    assert orders.shape == (20, 6, n_runs)
    assert (np.sort(orders, axis=-1) == np.arange(n_runs)).all()


def shuffle(key: int, trials: range, n_topics: int, n_runs: int) -> np.ndarray:
    """Permute few runs too as many runs are permuted."""
    orders, keys = [], kernel.fill_lanes(trial_keys(key, trials))
    cells = np.empty((n_runs, kernel.LANES), dtype=np.uint32)
    for start, topic in itertools.product(range(0, len(keys), kernel.LANES), range(n_topics)):
        kernel._shuffle_row(keys[start : start + kernel.LANES], topic, n_runs, cells.reshape(-1))
        orders.append(cells.T.copy())
    return np.concatenate(orders)


@pytest.mark.parametrize("n_runs", [2, 3, 4, 5])
@pytest.mark.parametrize("permute", [permutations, shuffle])
def test_all_orders_are_equally_likely(n_runs, permute):
    orders = permute(stream_key(1, "uniform"), range(3008), 20, n_runs)
    counts = np.bincount(order_numbers(orders).ravel(), minlength=math.factorial(n_runs))
    assert chi_square_p(counts) > 0.001


@pytest.mark.parametrize("n_runs", [19, 22, 140])
def test_every_run_is_equally_likely_in_every_column(n_runs):
    orders = permutations(stream_key(2, "uniform"), range(500), 40, n_runs)
    for column in (0, 1, n_runs // 2, n_runs - 1):
        assert chi_square_p(np.bincount(orders[..., column].ravel(), minlength=n_runs)) > 0.0005


@pytest.mark.parametrize("n_runs", [3, 4])
@pytest.mark.parametrize("neighbour", ["topic", "trial", "seed"])
def test_neighbouring_rows_are_independent(n_runs, neighbour):
    first = order_numbers(permutations(10, range(2001), 21, n_runs))
    second = order_numbers(permutations(11, range(2001), 21, n_runs))
    one, two = {
        "topic": (first[:, :-1], first[:, 1:]),
        "trial": (first[:-1], first[1:]),
        "seed": (first, second),
    }[neighbour]
    n_orders = math.factorial(n_runs)
    assert chi_square_p(np.bincount((one * n_orders + two).ravel(), minlength=n_orders**2)) > 0.001


@given(
    key=st.integers(0, 2**64 - 1),
    start=st.integers(0, 10_000),
    n_topics=st.integers(1, 8),
    n_runs=st.integers(2, 9),
)
@settings(max_examples=30, deadline=None)
def test_asking_for_other_trials_or_more_topics_moves_nothing(key, start, n_topics, n_runs):
    whole = permutations(key, range(start, start + 6), n_topics + 3, n_runs)
    part = permutations(key, [start + 4, start + 1], n_topics, n_runs)
    assert (whole[[4, 1], :n_topics] == part).all()


def test_rows_with_tied_keys_are_drawn_again():
    # With 128 columns, 25 bits are random, and about one row in four thousand has a tie.
    n_runs, n_topics, trials = 128, 50, np.arange(400)
    orders = permutations(5, trials, n_topics, n_runs)
    key, redrawn = trial_keys(5, trials), 0
    for topic in range(n_topics):
        for attempt in range(2):
            drawn = words(attempt_keys(key, attempt)[:, np.newaxis], topic * 64 + np.arange(64))
            bits = drawn.astype("<u8").view("<u4") & np.uint32(0xFFFFFF80)
            tied = (np.diff(np.sort(bits, axis=1), axis=1) == 0).any(axis=1)
            if attempt == 0:
                assert (np.argsort(bits, axis=1)[~tied] == orders[~tied, topic]).all()
                first_tied = tied
            else:
                here = first_tied & ~tied
                assert (np.argsort(bits, axis=1)[here] == orders[here, topic]).all()
                redrawn += here.sum()
    assert redrawn > 0


def test_a_shuffle_follows_its_draws():
    n_runs, keys = 130, trial_keys(9, np.arange(5))
    shuffled = permutations(9, range(5), 2, n_runs)
    for topic, trial in itertools.product(range(2), range(5)):
        order = list(range(n_runs))
        for last in range(n_runs - 1, 0, -1):
            word = int(words(keys[trial : trial + 1], [topic * 65 + last // 2])[0])
            bits = word >> 32 if last % 2 else word & 0xFFFFFFFF
            chosen = bits * (last + 1) >> 32
            order[last], order[chosen] = order[chosen], order[last]
        assert shuffled[trial, topic].tolist() == order


def test_a_biased_draw_is_taken_from_the_next_attempt():
    # At 3,000 columns one shuffle in two thousand has such a draw.
    n_runs, n_topics, trials, key = 3000, 60, range(64, 80), stream_key(1, "tests")
    orders = permutations(key, trials, n_topics, n_runs)
    last = np.arange(n_runs - 1, 0, -1)

    def draw(trial, topic, attempt):
        keys = attempt_keys(trial_keys(key, [trials[trial]]), attempt)
        drawn = words(keys, topic * 1500 + last // 2) >> (32 * (last % 2)).astype(np.uint64) & np.uint64(2**32 - 1)
        products = drawn * (last + 1).astype(np.uint64)
        return products >> np.uint64(32), (products & np.uint64(2**32 - 1)) < 2**32 % (last + 1)

    rows = [row for row in itertools.product(range(len(trials)), range(n_topics)) if draw(*row, 0)[1].any()]
    assert rows, "nothing was drawn again, so nothing was tested"
    for row in rows:
        (chosen, biased), (again, biased_again) = draw(*row, 0), draw(*row, 1)
        assert not (biased & biased_again).any()
        order = list(range(n_runs))
        for place, other in zip(last.tolist(), np.where(biased, again, chosen).tolist(), strict=True):
            order[place], order[other] = order[other], order[place]
        assert orders[row].tolist() == order
