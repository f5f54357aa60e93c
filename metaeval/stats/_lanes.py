"""The Numba engine of the randomised Tukey HSD test: sixteen trials at once, one in each lane of a vector.

Numba compiles ordinary loops to code that leaves most of the vector unit unused, so the three inner steps are
written as LLVM vector operations, which LLVM translates to the instructions of the processor. The sixteen
permutations of a row are drawn and sorted in registers, by code unrolled for the number of runs. Eight measures,
on the last axis and padded to one 64-byte vector of sums, then share them.

Importing this module loads Numba, which takes half a second, so import it only where it is used.
The vector operations and the loops that use them are in one file, because Numba's cache on disk notices only
changes of the file of the compiled function.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from metaeval.stats.permutations import ALL_BITS, LARGEST_NETWORK, column_mask, sorting_network, words_a_row
from metaeval.stats.streams import GAMMA, LAST_SHIFT, MIX_STEPS, WORD

LANES = 16
GROUP = 8
TOPICS_A_BLOCK = 8
ALIGNMENT = 64

_BYTE, _INT32, _INT64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_LANES32, _LANES64 = ir.VectorType(_INT32, LANES), ir.VectorType(_INT64, LANES)
_SCORES, _SUMS = ir.VectorType(_INT32, GROUP), ir.VectorType(_INT64, GROUP)


# Arguments that are known at compilation, such as the number of runs, are literals, for which code is unrolled.
_vector_code: Any = intrinsic(prefer_literal=True)


def _same(vector: ir.VectorType, number: int) -> ir.Constant:
    return ir.Constant(vector, [number] * vector.count)


def _spread(builder: Any, number: Any, vector: ir.VectorType) -> Any:
    """Repeat a scalar in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, item: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), item.as_pointer())


def _operation(builder: Any, name: str, vector: ir.VectorType) -> Callable[[Any, Any], Any]:
    """Return an LLVM operation on two vectors, such as the lane-wise unsigned minimum, as a Python function."""
    signature = ir.FunctionType(vector, [vector, vector])
    suffix = f"v{vector.count}i{vector.element.width}"
    function = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
    return lambda first, second: builder.call(function, [first, second])


def _emit_mix(builder: Any, word: Any) -> Any:
    for shift, factor in MIX_STEPS:
        word = builder.xor(word, builder.lshr(word, _same(_LANES64, shift)))
        word = builder.mul(word, _same(_LANES64, factor))
    return builder.xor(word, builder.lshr(word, _same(_LANES64, LAST_SHIFT)))


@_vector_code
def _sort_row(_: Any, keys: Any, start: Any, topic: Any, n_runs: Any, places: Any, offset: Any, origin: Any) -> Any:
    """Permute one topic in sixteen trials, and return whether any of them has tied keys.

    `places[offset + 16 j + lane]` becomes `origin` + 8 r, the position of the scores of the run r that is j-th.
    """
    n_columns = n_runs.literal_value
    mask = column_mask(n_columns)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        key_array, first_key, topic_number, _, place_array, first_place, first_score = arguments
        minimum, maximum = _operation(builder, "umin", _LANES32), _operation(builder, "umax", _LANES32)
        keys_here = _pointer(context, builder, signature.args[0], key_array, first_key, _LANES64)
        key = builder.load(keys_here, align=8)
        step = ir.Constant(_INT64, GAMMA * words_a_row(n_columns) & WORD)
        row = builder.add(key, _spread(builder, builder.mul(topic_number, step), _LANES64))
        columns = []
        for column in range(n_columns):
            if column % 2 == 0:
                word = _emit_mix(builder, builder.add(row, _same(_LANES64, GAMMA * (column // 2 + 1) & WORD)))
                bits = builder.trunc(word, _LANES32)
            else:
                bits = builder.trunc(builder.lshr(word, _same(_LANES64, 32)), _LANES32)
            random_bits = builder.and_(bits, _same(_LANES32, ALL_BITS ^ mask))
            columns.append(builder.or_(random_bits, _same(_LANES32, column)))
        for low, high in sorting_network(n_columns):
            first, second = columns[low], columns[high]
            columns[low], columns[high] = minimum(first, second), maximum(first, second)
        closest = _same(_LANES32, ALL_BITS)
        for left, right in pairwise(columns):
            closest = minimum(closest, builder.xor(left, right))
        output = _pointer(context, builder, signature.args[4], place_array, first_place, _LANES32)
        scores_from = _spread(builder, first_score, _LANES32)
        for position, column in enumerate(columns):
            target = builder.gep(output, [ir.Constant(_INT64, position)])
            run = builder.and_(column, _same(_LANES32, mask))
            place = builder.add(scores_from, builder.mul(run, _same(_LANES32, GROUP)))
            builder.store(place, target, align=ALIGNMENT)
        tied = builder.icmp_unsigned("<=", closest, _same(_LANES32, mask))
        some = builder.bitcast(tied, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", some, ir.Constant(ir.IntType(LANES), 0))

    return types.boolean(keys, types.int64, types.int64, n_runs, places, types.int64, types.uint32), generate


@_vector_code
def _add_scores(
    _: Any,
    sums: Any,
    sums_at: Any,
    scores: Any,
    scores_at: Any,
    places: Any,
    places_at: Any,
    step: Any,
    n_topics: Any,
) -> Any:
    """Add the scores that a trial puts into one column, on a block of topics, to the eight sums of the column."""
    unrolled = getattr(n_topics, "literal_value", 0)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sum_array, sum_at, score_array, score_at, place_array, place_at, place_step, topics = arguments
        sums_here = _pointer(context, builder, signature.args[0], sum_array, sum_at, _SUMS)
        scores_here = _pointer(context, builder, signature.args[2], score_array, score_at, _INT32)
        places_here = _pointer(context, builder, signature.args[4], place_array, place_at, _INT32)
        total = cgutils.alloca_once_value(builder, builder.load(sums_here, align=ALIGNMENT))

        def add(topic: Any) -> None:
            place = builder.load(builder.gep(places_here, [builder.mul(topic, place_step)]), align=4)
            eight = builder.gep(scores_here, [builder.zext(place, _INT64)])
            added = builder.load(builder.bitcast(eight, _SCORES.as_pointer()), align=ALIGNMENT // 2)
            builder.store(builder.add(builder.load(total), builder.zext(added, _SUMS)), total)

        if unrolled:
            for topic in range(unrolled):
                add(ir.Constant(_INT64, topic))
        else:
            with cgutils.for_range(builder, topics) as loop:
                add(loop.index)
        builder.store(builder.load(total), sums_here, align=ALIGNMENT)
        return context.get_dummy_value()

    whole = types.int64
    n_topics = n_topics if unrolled else whole
    return types.none(sums, whole, scores, whole, places, whole, whole, n_topics), generate


@_vector_code
def _store_range(_: Any, sums: Any, sums_at: Any, n_runs: Any, ranges: Any, ranges_at: Any) -> Any:
    """Store, for eight measures, the largest minus the smallest sum of a column."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sum_array, sum_at, runs, range_array, range_at = arguments
        minimum, maximum = _operation(builder, "smin", _SUMS), _operation(builder, "smax", _SUMS)
        sums_here = _pointer(context, builder, signature.args[0], sum_array, sum_at, _SUMS)
        first = builder.load(sums_here, align=ALIGNMENT)
        low, high = cgutils.alloca_once_value(builder, first), cgutils.alloca_once_value(builder, first)
        with cgutils.for_range(builder, runs) as loop:
            column = builder.load(builder.gep(sums_here, [loop.index]), align=ALIGNMENT)
            builder.store(minimum(builder.load(low), column), low)
            builder.store(maximum(builder.load(high), column), high)
        target = _pointer(context, builder, signature.args[3], range_array, range_at, _SUMS)
        builder.store(builder.sub(builder.load(high), builder.load(low)), target, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.none(sums, types.int64, types.int64, ranges, types.int64), generate


def _compile(function: Callable[..., Any]) -> Any:
    """Compile to code that releases the GIL, and keep the machine code on disk if a directory is writable."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:
        # Neither the directory of the package nor the user's cache is writable.
        return numba.njit(nogil=True)(function)


_MIX_1, _MIX_2, _GAMMA = np.uint64(MIX_STEPS[0][1]), np.uint64(MIX_STEPS[1][1]), np.uint64(GAMMA)


@_compile
def _mix(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@_compile
def _bits(key, row, column, attempt):  # type: ignore[no-untyped-def]
    """Draw the 32 bits of a column of a row that starts at word `row` of its trial."""
    if attempt > 0:
        key = _mix(key + np.uint64(attempt))
    word = _mix(key + _GAMMA * np.uint64(row + column // 2 + 1))
    return np.uint32(word >> np.uint64(32)) if column % 2 else np.uint32(word & np.uint64(0xFFFFFFFF))


@_compile
def _sort_row_again(key, topic, n_runs, mask, places, offset, origin):  # type: ignore[no-untyped-def]
    """Permute one topic in one trial; repeat until no two keys are tied."""
    columns = np.empty(n_runs, dtype=np.uint32)
    attempt = 0
    while True:
        for column in range(n_runs):
            bits = _bits(key, topic * ((n_runs + 1) // 2), column, attempt)
            columns[column] = (bits & ~mask) | np.uint32(column)
        columns.sort()
        tied = False
        for column in range(n_runs - 1):
            tied = tied or (columns[column] ^ columns[column + 1]) <= mask
        if not tied:
            break
        attempt += 1
    for column in range(n_runs):
        places[offset + column * LANES] = origin + (columns[column] & mask) * GROUP


@_compile
def _shuffle_row(key, topic, n_runs, places, offset, origin):  # type: ignore[no-untyped-def]
    """Permute one topic in one trial by Fisher-Yates."""
    row = topic * ((n_runs + 1) // 2)
    for column in range(n_runs):
        places[offset + column * LANES] = origin + column * GROUP
    for last in range(n_runs - 1, 0, -1):
        sides = np.uint64(last + 1)
        attempt = 0
        product = np.uint64(_bits(key, row, last, attempt)) * sides
        while (product & np.uint64(0xFFFFFFFF)) < np.uint64(4294967296) % sides:
            attempt += 1
            product = np.uint64(_bits(key, row, last, attempt)) * sides
        chosen = offset + np.int64(product >> np.uint64(32)) * LANES
        here = offset + last * LANES
        places[here], places[chosen] = places[chosen], places[here]


def _kernel_body(n_runs: int, mask: int) -> Callable[..., None]:
    """Return the loop over trials and topics; if the mask is 0, rows are shuffled instead of sorted."""

    def kernel(keys, scores, n_topics, columns, ranges, sums, places):  # type: ignore[no-untyped-def]
        if mask:
            columns = n_runs
        step = columns * LANES
        n_groups = ranges.size // (keys.size * GROUP)
        for start in range(0, keys.size, LANES):
            sums[:] = 0
            for block in range(0, n_topics, TOPICS_A_BLOCK):
                topics = min(TOPICS_A_BLOCK, n_topics - block)
                whole = topics == TOPICS_A_BLOCK
                for topic in range(topics):
                    offset, origin = topic * step, topic * columns * GROUP
                    if mask == 0:
                        for lane in range(LANES):
                            key = keys[start + lane]
                            _shuffle_row(key, block + topic, columns, places, offset + lane, origin)
                    elif _sort_row(keys, start, block + topic, n_runs, places, offset, origin):
                        for lane in range(LANES):
                            key = keys[start + lane]
                            _sort_row_again(key, block + topic, columns, np.uint32(mask), places, offset + lane, origin)
                for group in range(n_groups):
                    scores_at = (group * n_topics + block) * columns * GROUP
                    for lane in range(LANES):
                        for column in range(columns):
                            sums_at = ((group * LANES + lane) * columns + column) * GROUP
                            at = column * LANES + lane
                            if whole:
                                _add_scores(sums, sums_at, scores, scores_at, places, at, step, TOPICS_A_BLOCK)
                            else:
                                _add_scores(sums, sums_at, scores, scores_at, places, at, step, topics)
            for group in range(n_groups):
                for lane in range(LANES):
                    sums_at = (group * LANES + lane) * columns * GROUP
                    _store_range(sums, sums_at, columns, ranges, (group * keys.size + start + lane) * GROUP)

    return kernel


def _specialisation(n_runs: int) -> int:
    """Return the number of runs that a kernel is compiled for; 0 is the kernel that shuffles rows of any length."""
    return n_runs if n_runs <= LARGEST_NETWORK else 0


_compiled: dict[int, Any] = {}


def _kernel(n_runs: int) -> Any:
    special = _specialisation(n_runs)
    if special not in _compiled:
        # The shuffling kernel never calls the sort, but it must be compilable: two columns are enough.
        _compiled[special] = _compile(_kernel_body(max(special, 2), column_mask(special) if special else 0))
    return _compiled[special]


def is_compiled(n_runs: int) -> bool:
    """Has this process already used the kernel for this number of runs?"""
    return _specialisation(n_runs) in _compiled


def _allocate_aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Allocate an array of zeros at a multiple of 64 bytes: unaligned vectors take 40 % more time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    offset = -room.ctypes.data % ALIGNMENT
    return room[offset : offset + size].view(dtype).reshape(shape)


def lane_ranges(units: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Compute the range of the permuted sums in each trial.

    Parameters
    ----------
    units : ndarray of uint32, shape (topic, run, measure)
        Quantised scores.
    keys : ndarray of uint64, shape (n_trials,)
        The keys of the trials, from `metaeval.stats.streams.trial_keys`.

    Returns
    -------
    ndarray of int64, shape (trial, measure)
    """
    n_topics, n_runs, n_measures = units.shape
    n_groups = -(-n_measures // GROUP)
    scores = _allocate_aligned((n_groups, n_topics, n_runs, GROUP), np.uint32)
    for measure in range(n_measures):
        scores[measure // GROUP, ..., measure % GROUP] = units[..., measure]
    padded = np.concatenate([keys, np.repeat(keys[-1:], -len(keys) % LANES)])
    ranges = _allocate_aligned((n_groups, padded.size, GROUP), np.int64)
    sums = _allocate_aligned((n_groups * LANES * n_runs * GROUP,), np.int64)
    places = _allocate_aligned((TOPICS_A_BLOCK * n_runs * LANES,), np.uint32)
    _kernel(n_runs)(padded, scores.reshape(-1), n_topics, n_runs, ranges.reshape(-1), sums, places)
    return ranges.transpose(1, 0, 2).reshape(padded.size, -1)[: len(keys), :n_measures]
