"""Concordant and discordant pairs of many runs by a sweep, in time n log n for n runs where comparing all takes n².

Knight, "A computer method for calculating Kendall's tau with ungrouped data" (JASA 1966), for values that are
intervals: run j is above run i where the lower end of j lies above the upper end of i. The sweep passes the ends of
one ranking from below. At an upper end, its run is entered into two trees (Fenwick 1994) by where it stands in the
other ranking; at a lower end, the trees tell how many of those entered are below its run there, and how many above.
All numbers are whole, so that the result is that of comparing all pairs.

Importing this module loads Numba, which takes half a second, so import it only where it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray


def _compile(function: Callable[..., Any]) -> Any:
    """Compile to code that releases the GIL, and keep the machine code on disk if a directory is writable."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # Neither the directory of the package nor the user's cache is writable.
        return numba.njit(nogil=True)(function)


def place_ends(low: FloatArray, high: FloatArray) -> npt.NDArray[np.int32]:
    """Return the places of both ends of each value, shape (row, run), among all ends of its row, shape (row, 2, run).

    ``[r, 0]`` are those of the lower and ``[r, 1]`` of the upper ends; of equal ones the lower ends come first.
    """
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    order = np.argsort(low, axis=-1)
    order_too, ordered = order, np.take_along_axis(high, order, axis=-1)
    # Tolerances are nearly the same for all runs, so that the order of upper ends is nearly always that of lower ones.
    other = np.flatnonzero((ordered[:, 1:] < ordered[:, :-1]).any(axis=-1))
    if other.size:
        order_too = order.copy()
        order_too[other] = np.argsort(high[other], axis=-1)
    places = np.empty((len(low), 2, low.shape[-1]), dtype=np.int32)
    _merge_ends(low, high, order, order_too, places)
    return places


@_compile
def _merge_ends(low, high, low_order, high_order, places):  # type: ignore[no-untyped-def]
    n_rows, n_runs = low.shape
    for row in range(n_rows):
        upper = 0
        for lower in range(n_runs):
            run = low_order[row, lower]
            while upper < n_runs and high[row, high_order[row, upper]] < low[row, run]:
                places[row, 1, high_order[row, upper]] = lower + upper
                upper += 1
            places[row, 0, run] = lower + upper
        while upper < n_runs:
            places[row, 1, high_order[row, upper]] = n_runs + upper
            upper += 1


def count_signs(places: npt.NDArray[np.int32]) -> tuple[IntArray, IntArray]:
    """Count concordant less discordant pairs of runs, shape (pair of rankings,), and those not tied in each, shape (2, …).

    `places` has shape (pair of rankings, 2, 2, run): ``[p, s, 0]`` and ``[p, s, 1]`` are the places of the lower and upper ends
    of ranking s among all its ends, 0 to 2 n - 1, each once.
    """
    balance, untied = np.empty(len(places), dtype=np.int64), np.empty((2, len(places)), dtype=np.int64)
    _count_signs(places, balance, untied)
    return balance, untied


@_compile
def _count_signs(places, balance, untied):  # type: ignore[no-untyped-def]
    n_pairs, _, _, n_runs = places.shape
    at = np.empty(2 * n_runs, dtype=np.int32)
    below, above = np.empty(n_runs, dtype=np.int32), np.empty(n_runs, dtype=np.int32)
    own_low, own_high = np.empty(n_runs, dtype=np.int32), np.empty(n_runs, dtype=np.int32)
    low_tree, high_tree = np.empty(n_runs + 1, dtype=np.int32), np.empty(n_runs + 1, dtype=np.int32)
    for pair in range(n_pairs):
        for run in range(n_runs):
            at[places[pair, 1, 0, run]] = run
            at[places[pair, 1, 1, run]] = n_runs + run
        # In the other ranking: how many upper ends are below a lower one, and how many lower ones below an upper one.
        lows, highs, apart = 0, 0, 0
        for end in at:
            if end < n_runs:
                below[end] = highs
                apart += highs
                own_low[end] = lows
                lows += 1
            else:
                above[end - n_runs] = lows
                own_high[end - n_runs] = highs
                highs += 1
        untied[1, pair] = apart
        for run in range(n_runs):
            at[places[pair, 0, 0, run]] = run
            at[places[pair, 0, 1, run]] = n_runs + run
        low_tree[:] = 0
        high_tree[:] = 0
        entered, apart, total = 0, 0, 0
        for end in at:
            if end < n_runs:
                apart += entered
                total -= entered
                step = below[end]
                while step > 0:
                    total += high_tree[step]
                    step &= step - 1
                step = above[end]
                while step > 0:
                    total += low_tree[step]
                    step &= step - 1
            else:
                entered += 1
                step = own_high[end - n_runs] + 1
                while step <= n_runs:
                    high_tree[step] += 1
                    step += step & -step
                step = own_low[end - n_runs] + 1
                while step <= n_runs:
                    low_tree[step] += 1
                    step += step & -step
        untied[0, pair] = apart
        balance[pair] = total
