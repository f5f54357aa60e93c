"""Uniform permutations within topics, each a pure function of (key, trial, topic); the NumPy engine.

Up to `LARGEST_NETWORK` columns, a permutation is the order of as many random keys: the high bits of a key are
random, the low bits are its column, and a sorting network (Batcher's odd-even merge sort, 1968) sorts many
trials at once without branches. Keys with equal random bits would favour the lower column, so a row with such
a tie is drawn again, which makes the result exactly uniform. With more columns, a Fisher-Yates shuffle uses the
same draws, with rejection (Lemire, "Fast random integer generation in an interval", 2019), and is exactly
uniform too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.streams import GAMMA, WORD, UInt32Array, UInt64Array, attempt_keys, mix, trial_keys, words

LARGEST_NETWORK = 128
ALL_BITS = 0xFFFFFFFF

# Rows (one topic of one trial) per NumPy call: enough to make the overhead of the call negligible, few enough to
# stay in the cache.
ROWS_A_CALL = 10_000


@cache
def sorting_network(n_columns: int) -> tuple[tuple[int, int], ...]:
    """Return the comparisons that sort so many values: Batcher's odd-even merge sort, pruned.

    Each pair (low, high), in order, puts the smaller of two values at position `low`. This is the network for the next power
    of two without the comparisons with columns that do not exist: such a column would hold the largest value, which never
    moves.
    """
    steps: list[tuple[int, int]] = []
    merged = 1
    while merged < n_columns:
        gap = merged
        while gap >= 1:
            for start in range(gap % merged, n_columns - gap, 2 * gap):
                for low in range(start, min(start + gap, n_columns - gap)):
                    if low // (2 * merged) == (low + gap) // (2 * merged):
                        steps.append((low, low + gap))
            gap //= 2
        merged *= 2
    return tuple(steps)


def column_mask(n_columns: int) -> int:
    """Return the mask of the low bits that hold a column number: ceil(log2(n_columns)) ones."""
    return (1 << (n_columns - 1).bit_length()) - 1


def words_a_row(n_columns: int) -> int:
    """Return the number of 64-bit words that a row uses: two columns share a word."""
    return (n_columns + 1) // 2


def _row_draws(rows: UInt64Array, n_columns: int) -> Iterator[tuple[int, UInt32Array]]:
    """Yield (column, 32 random bits per row): the low half of a word for an even column, the high half for an odd one."""
    for pair in range(words_a_row(n_columns)):
        word = mix(rows + np.uint64(GAMMA * (pair + 1) & WORD))
        yield 2 * pair, word.astype(np.uint32)
        if 2 * pair + 1 < n_columns:
            yield 2 * pair + 1, (word >> np.uint64(32)).astype(np.uint32)


def _row_starts(keys: UInt64Array, topics: UInt64Array, n_columns: int) -> UInt64Array:
    """Return the position in the stream of its trial at which each row begins."""
    return keys + topics * np.uint64(GAMMA * words_a_row(n_columns) & WORD)


def _sort_columns(keys: UInt64Array, topics: UInt64Array, n_columns: int, attempt: int = 0) -> list[UInt32Array]:
    """Permute by sorting random keys; item j holds, for each row, the column that comes j-th."""
    mask = np.uint32(column_mask(n_columns))
    columns = []
    rows = _row_starts(attempt_keys(keys, attempt), topics, n_columns)
    for column, bits in _row_draws(rows, n_columns):
        np.bitwise_and(bits, ~mask, out=bits)
        columns.append(np.bitwise_or(bits, np.uint32(column), out=bits))
    spare = np.empty_like(columns[0])
    for low, high in sorting_network(n_columns):
        first, second = columns[low], columns[high]
        np.minimum(first, second, out=spare)
        np.maximum(first, second, out=second)
        columns[low], spare = spare, first
    closest = columns[0] ^ columns[1]
    for left, right in pairwise(columns[1:]):
        np.minimum(closest, np.bitwise_xor(left, right, out=spare), out=closest)
    for sorted_keys in columns:
        np.bitwise_and(sorted_keys, mask, out=sorted_keys)
    tied = np.flatnonzero(closest <= mask)
    if tied.size:
        again = _sort_columns(keys[tied], topics[tied], n_columns, attempt + 1)
        for order, redrawn in zip(columns, again, strict=True):
            order[tied] = redrawn
    return columns


def _shuffle_columns(keys: UInt64Array, topics: UInt64Array, n_columns: int) -> list[UInt32Array]:
    """Permute by Fisher-Yates; item j holds, for each row, the column that comes j-th."""
    rows = np.arange(keys.size)
    shuffled = np.repeat(np.arange(n_columns, dtype=np.uint32)[:, np.newaxis], keys.size, axis=1)
    draws = dict(_row_draws(_row_starts(keys, topics, n_columns), n_columns))
    for last in range(n_columns - 1, 0, -1):
        other = _draw_below(draws.pop(last), last, keys, topics, n_columns)
        moved = shuffled[last].copy()
        shuffled[last] = shuffled[other, rows]
        shuffled[other, rows] = moved
    return list(shuffled)


def _draw_below(
    bits: UInt32Array, last: int, keys: UInt64Array, topics: UInt64Array, n_columns: int
) -> npt.NDArray[np.intp]:
    """Convert 32 random bits to an unbiased integer from 0 to `last`; draws that would cause a bias are repeated."""
    sides = np.uint64(last + 1)
    products = bits.astype(np.uint64) * sides
    biased = np.flatnonzero((products & np.uint64(ALL_BITS)) < (1 << 32) % (last + 1))
    attempt = 1
    while biased.size:
        again = attempt_keys(keys[biased], attempt)
        word = words(again, topics[biased] * np.uint64(words_a_row(n_columns)) + np.uint64(last // 2))
        products[biased] = (word >> np.uint64(32 if last % 2 else 0) & np.uint64(ALL_BITS)) * sides
        biased = biased[(products[biased] & np.uint64(ALL_BITS)) < (1 << 32) % (last + 1)]
        attempt += 1
    return (products >> np.uint64(32)).astype(np.intp)


def permute_columns(keys: UInt64Array, topics: range, n_columns: int) -> list[npt.NDArray[np.uint32]]:
    """Permute the columns of a block of topics in a block of trials, whose keys are those of `trial_keys`.

    Item j of the list holds the column that comes j-th, shape (topic, trial).
    """
    topic_numbers = np.repeat(np.arange(topics.start, topics.stop, dtype=np.uint64), keys.size)
    row_keys = np.tile(keys, len(topics))
    permute = _sort_columns if n_columns <= LARGEST_NETWORK else _shuffle_columns
    return [column.reshape(len(topics), keys.size) for column in permute(row_keys, topic_numbers, n_columns)]


def permutations(key: int, trials: npt.ArrayLike, n_topics: int, n_runs: int) -> npt.NDArray[np.intp]:
    """Return the permutations of the runs for each topic and trial, as `randomised_tukey_hsd` uses them.

    Each is uniform over all orders and a pure function of (key, trial, topic, n_runs): it does not depend on which
    other trials and topics are requested.

    Parameters
    ----------
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    trials : array_like of int, shape (n_trials,)
        Trial numbers, from 0, for example `range(100)`.
    n_topics, n_runs : int
        At least 1 topic and 2 runs.

    Returns
    -------
    ndarray of int, shape (trial, topic, column)
        `[b, t, j]` is the run whose score on topic t is in column j in trial b.

    Examples
    --------
    >>> orders = permutations(7, range(3), n_topics=2, n_runs=4)
    >>> orders.shape
    (3, 2, 4)
    >>> np.sort(orders, axis=-1)[0, 0].tolist()
    [0, 1, 2, 3]
    """
    numbers = np.atleast_1d(np.asarray(trials))
    if n_runs < 2:
        raise MetaevalError(f"A permutation needs at least two runs, not {n_runs}.")
    if n_topics < 1:
        raise MetaevalError(f"A permutation needs at least one topic, not {n_topics}.")
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0):
        raise MetaevalError("Trial numbers must be integers from 0.")
    orders = np.empty((numbers.size, n_topics, n_runs), dtype=np.intp)
    if numbers.size:
        keys = trial_keys(key, numbers)
        topics_a_call = max(1, ROWS_A_CALL // numbers.size)
        for start in range(0, n_topics, topics_a_call):
            topics = range(start, min(start + topics_a_call, n_topics))
            for column, order in enumerate(permute_columns(keys, topics, n_runs)):
                orders[:, topics.start : topics.stop, column] = order.T
    return orders
