"""The kernel of the randomised Tukey HSD test: many trials at once, compiled by Numba.

A row, one topic of one trial, is permuted by sorting as many random keys: their high bits are random, their low ones are the
column, and a sorting network has no branches, so that each instruction works on eight trials. Rows with equal random bits
would favour the lower column and are drawn again, so that every order is exactly as likely. Beyond `LARGEST_NETWORK` columns
a Fisher-Yates shuffle draws from the same stream, with rejection (Lemire, "Fast random integer generation in an interval",
2019). Three loops are written as instructions on vectors, because compilers do not find them: drawing, sorting and adding.

Importing this module loads Numba, which takes half a second, so import it only where it is used.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numba
import numba.extending
import numpy as np
import numpy.typing as npt
import platformdirs
from llvmlite import ir
from numba import types
from numba.core import cgutils, event

from metaeval.stats.parallel import tell
from metaeval.stats.streams import GAMMA, LAST_SHIFT, MIX_STEPS

LANES, VECTOR = 32, 8
"""Trials at once, whose sums stay in the processor's cache, and how many of them one instruction takes."""

GROUP, BLOCK = 8, 8
"""Measures that are added by one instruction, and topics that are permuted before they are added."""

LARGEST_NETWORK = 128

_config: Any = numba.config
intrinsic: Any = numba.extending.intrinsic

_INT64 = ir.IntType(64)
_KEYS, _WORDS, _SUMS = (
    ir.VectorType(ir.IntType(32), VECTOR),
    ir.VectorType(_INT64, VECTOR),
    ir.VectorType(_INT64, GROUP // 2),
)
_GAMMA, _ONE, _HALF, _LOW = np.uint64(GAMMA), np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
(_SHIFT1, _FACTOR1), (_SHIFT2, _FACTOR2) = ((np.uint64(shift), np.uint64(factor)) for shift, factor in MIX_STEPS)
_SHIFT3 = np.uint64(LAST_SHIFT)


@contextlib.contextmanager
def _private_cache() -> Iterator[bool]:
    """Let Numba keep machine code, which is run, only where nobody else can write; yield whether there is such a folder."""
    if _config.CACHE_DIR or os.access(Path(__file__).parent, os.W_OK):  # who writes there can write the package, too
        yield True
        return
    folder = Path(platformdirs.user_cache_dir("metaeval")) / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.stat()
        # Windows keeps a user's folders from others.
        private = not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not stat.S_IMODE(about.st_mode) & 0o022)
        if not private or not os.access(folder, os.W_OK):
            raise PermissionError
    except OSError:  # every process compiles
        yield False
        return
    _config.CACHE_DIR = str(folder)
    try:
        yield True
    finally:
        _config.CACHE_DIR = ""


def _compile(function: Callable[..., Any]) -> Any:
    """Compile a function, when it is first called, to code that releases the GIL."""
    with _private_cache() as keep:
        return numba.njit(nogil=True, cache=keep)(function)


def _find(code: Any, base: Any, position: Any, kind: ir.VectorType, offset: int = 0) -> Any:
    """Return the address of the vector that begins `offset` numbers behind a position."""
    place = code.gep(base, [code.add(position, ir.Constant(_INT64, offset))])
    return code.bitcast(place, kind.as_pointer())


def _same(kind: ir.VectorType, number: int) -> Any:
    return ir.Constant(kind, [number] * kind.count)


def _spread(code: Any, kind: ir.VectorType, number: Any) -> Any:
    """Return a vector with this number in every lane."""
    empty, order = ir.Constant(kind, ir.Undefined), _same(ir.VectorType(ir.IntType(32), kind.count), 0)
    return code.shuffle_vector(code.insert_element(empty, number, ir.Constant(ir.IntType(32), 0)), empty, order)


def _data(context: Any, code: Any, signature: Any, arguments: Any, number: int) -> Any:
    """Return the address of the first number of the array that is this argument."""
    return cgutils.create_struct_proxy(signature.args[number])(context, code, arguments[number]).data


@intrinsic
def _draw_rows(typing, columns, at, keys, step, random, column):  # type: ignore[no-untyped-def]
    """columns[at + lane], columns[at + LANES + lane] = the halves of mix(keys[lane] + step) & random | column, column + 1."""

    def write(context: Any, code: Any, signature: Any, arguments: Any) -> Any:
        base, drawn = (_data(context, code, signature, arguments, number) for number in (0, 2))
        _, at, _, step, random, column = arguments
        begin, step = ir.Constant(_INT64, 0), _spread(code, _WORDS, step)
        random, column = _spread(code, _KEYS, random), _spread(code, _KEYS, column)
        for lane in range(0, LANES, VECTOR):
            word = code.add(code.load(_find(code, drawn, begin, _WORDS, lane), align=8), step)
            for shift, factor in MIX_STEPS:
                word = code.xor(word, code.lshr(word, _same(_WORDS, shift)))
                word = code.mul(word, _same(_WORDS, factor))
            word = code.xor(word, code.lshr(word, _same(_WORDS, LAST_SHIFT)))
            for half in range(2):
                bits = code.trunc(code.lshr(word, _same(_WORDS, 32 * half)), _KEYS)
                key = code.or_(code.and_(bits, random), code.add(column, _same(_KEYS, half)))
                code.store(key, _find(code, base, at, _KEYS, half * LANES + lane), align=4)
        return context.get_dummy_value()

    return types.void(columns, types.uint64, keys, types.uint64, types.uint32, types.uint32), write


def _exchange(comparators: Sequence[tuple[int, int]]) -> Any:
    """Make a function that puts the smaller of two rows first; rows 0 to 7 begin at `low`, rows 8, 9, … are `step` apart."""

    @intrinsic
    def exchange(typing, columns, low, high, step):  # type: ignore[no-untyped-def]
        def write(context: Any, code: Any, signature: Any, arguments: Any) -> Any:
            base = _data(context, code, signature, arguments, 0)
            _, low, high, step = arguments
            begins = [code.add(low, ir.Constant(_INT64, row * LANES)) for row in range(8)]
            begins += [code.add(high, code.mul(step, ir.Constant(_INT64, row))) for row in range(8)]
            used = sorted({row for pair in comparators for row in pair})
            for lane in range(0, LANES, VECTOR):
                places = {row: _find(code, base, begins[row], _KEYS, lane) for row in used}
                rows = {row: code.load(place, align=4) for row, place in places.items()}
                for first, second in comparators:
                    one, other = rows[first], rows[second]
                    less = code.icmp_unsigned("<", one, other)
                    rows[first], rows[second] = code.select(less, one, other), code.select(less, other, one)
                for row, place in places.items():
                    code.store(rows[row], place, align=4)
            return context.get_dummy_value()

        return types.void(columns, types.uint64, types.uint64, types.int64), write

    return exchange


# Batcher's odd-even merge sort of eight (1968), and the last three steps of his bitonic one.
_sort_eight = _exchange(
    [
        *((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (1, 2), (5, 6)),
        *((0, 4), (1, 5), (2, 6), (3, 7), (2, 4), (3, 5), (1, 2), (3, 4), (5, 6)),
    ]
)
_merge_eight = _exchange([(row, row + gap) for gap in (4, 2, 1) for row in range(8) if not row & gap])
_exchange_eights = _exchange([(row, 8 + row) for row in range(8)])

_SORT, _MERGE, _EXCHANGE = range(3)


def plan_sorting(n_columns: int) -> npt.NDArray[np.int64]:
    """Return the steps that sort so many rows, filled up to eights: what is done, where two eights begin, how they go on.

    Eights are sorted; then sorted sequences of 8, 16, … rows are merged, the second one backwards (Batcher's bitonic sort),
    without the comparisons with rows that do not exist: such a row would hold the largest key, which never moves.
    """
    n_rows = n_columns + -n_columns % 8
    eights = range(0, n_rows, 8)
    steps = [(_SORT, row, row, 0) for row in eights]
    length = 8
    while length < n_rows:
        for row in (row for row in eights if row % (2 * length) < length):
            last = row // (2 * length) * (4 * length) + 2 * length - 1 - row
            if last < n_rows:
                steps.append((_EXCHANGE, row, last, -1))
        gap = length // 2
        while gap >= 8:
            steps += [(_EXCHANGE, row, row + gap, 1) for row in eights if not row & gap and row + gap < n_rows]
            gap //= 2
        steps += [(_MERGE, row, row, 0) for row in eights]
        length *= 2
    return np.array(steps, dtype=np.int64) * np.array([1, LANES, LANES, LANES])


@numba.njit(inline="always")
def _mix(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> _SHIFT1)) * _FACTOR1
    word = (word ^ (word >> _SHIFT2)) * _FACTOR2
    return word ^ (word >> _SHIFT3)


@numba.njit(nogil=True)
def _run_steps(steps, cells):  # type: ignore[no-untyped-def]
    for number in range(len(steps)):
        low, high, step = np.uint64(steps[number, 1]), np.uint64(steps[number, 2]), steps[number, 3]
        if steps[number, 0] == _SORT:
            _sort_eight(cells, low, high, step)
        elif steps[number, 0] == _MERGE:
            _merge_eight(cells, low, high, step)
        else:
            _exchange_eights(cells, low, high, step)


@numba.njit(nogil=True)
def _sort_row(keys, topic, n_columns, mask, steps, cells):  # type: ignore[no-untyped-def]
    """Permute one topic in all lanes, `cells[LANES * j + lane]` becoming the column that comes j-th."""
    random, n_words = np.uint32(~mask), (n_columns + 1) // 2
    drawn, attempt, n_used = keys.copy(), np.uint64(0), n_columns * LANES
    while True:
        for word in range(n_words):
            step = _GAMMA * np.uint64(topic * n_words + word + 1)
            _draw_rows(cells, np.uint64(2 * word * LANES), drawn, step, random, np.uint32(2 * word))
        cells[n_used:] = 0xFFFFFFFF
        _run_steps(steps, cells)
        closest = np.uint32(0xFFFFFFFF)
        for cell in range(n_used - LANES):
            closest = min(closest, np.uint32(cells[cell] ^ cells[cell + LANES]))
        if closest > mask:
            break
        attempt += _ONE
        for lane in range(LANES):
            for cell in range(lane, n_used - LANES, LANES):
                if np.uint32(cells[cell] ^ cells[cell + LANES]) <= mask:
                    drawn[lane] = _mix(keys[lane] + attempt)
    for cell in range(n_used):
        cells[cell] &= mask


@numba.njit(nogil=True)
def _shuffle_row(keys, topic, n_columns, cells):  # type: ignore[no-untyped-def]
    """Permute one topic in all lanes by Fisher-Yates; a draw that would cause a bias is repeated."""
    order, n_words = np.empty(n_columns, np.uint32), (n_columns + 1) // 2
    for lane in range(LANES):
        for column in range(n_columns):
            order[column] = column
        for last in range(n_columns - 1, 0, -1):
            key, attempt, sides = keys[lane], np.uint64(0), np.uint64(last + 1)
            while True:
                word = _mix(key + _GAMMA * np.uint64(topic * n_words + last // 2 + 1))
                product = ((word >> _HALF if last % 2 else word) & _LOW) * sides
                if (product & _LOW) >= sides or (product & _LOW) >= (_LOW + _ONE) % sides:
                    break
                attempt += _ONE
                key = _mix(keys[lane] + attempt)
            other = product >> _HALF
            order[last], order[other] = order[other], order[last]
        for column in range(n_columns):
            cells[column * LANES + lane] = order[column]


@_compile
def permute_row(keys, topic, n_columns, mask, steps, cells):  # type: ignore[no-untyped-def]
    """Permute the columns of one topic in `LANES` trials: `cells[LANES * j + lane]` becomes the column that comes j-th."""
    if n_columns <= LARGEST_NETWORK:
        _sort_row(keys, topic, n_columns, mask, steps, cells)
    else:
        _shuffle_row(keys, topic, n_columns, cells)


@intrinsic
def _add_rows(typing, sums, at, scores, begin, stride, cells, cell, cells_a_topic):  # type: ignore[no-untyped-def]
    """Add the eight scores, two a word, of the run that a cell says for each topic of a block: words and their upper halves."""

    def write(context: Any, code: Any, signature: Any, arguments: Any) -> Any:
        base, rows, runs = (_data(context, code, signature, arguments, number) for number in (0, 2, 5))
        _, at, _, begin, stride, _, cell, cells_a_topic = arguments
        places = [_find(code, base, at, _SUMS, offset) for offset in (0, GROUP // 2)]
        words, uppers = (code.load(place, align=8) for place in places)
        for _ in range(BLOCK):
            run = code.zext(code.load(code.gep(runs, [cell])), _INT64)
            eight = code.load(_find(code, rows, code.add(begin, code.shl(run, ir.Constant(_INT64, 3))), _SUMS), align=4)
            words, uppers = code.add(words, eight), code.add(uppers, code.lshr(eight, _same(_SUMS, 32)))
            cell, begin = code.add(cell, cells_a_topic), code.add(begin, stride)
        for place, total in zip(places, (words, uppers), strict=True):
            code.store(total, place, align=8)
        return context.get_dummy_value()

    word = types.uint64
    return types.void(sums, word, scores, word, word, cells, word, word), write


@_compile
def write_ranges(keys, scores, mask, steps, ranges):  # type: ignore[no-untyped-def]
    """Write the largest minus the smallest permuted sum of each trial and measure, shape (trial, group, 8).

    Trials are a multiple of `LANES`; scores have shape (group, topic, run, 8), topics being filled up to whole blocks.
    """
    n_groups, n_topics, n_columns, _ = scores.shape
    cells_a_topic, scores_a_topic = (n_columns + 7) // 8 * 8 * LANES, n_columns * GROUP
    cells = np.zeros((BLOCK, cells_a_topic), np.uint32)
    sums = np.empty((n_groups, LANES, n_columns, GROUP), np.int64)
    all_cells, all_scores, all_sums = cells.reshape(-1), scores.reshape(-1), sums.reshape(-1)
    for start in range(0, len(keys), LANES):
        sums[:] = 0
        for block in range(0, n_topics, BLOCK):
            for topic in range(BLOCK):
                permute_row(keys[start : start + LANES], block + topic, n_columns, mask, steps, cells[topic])
            for group in range(n_groups):
                begin = np.uint64((group * n_topics + block) * scores_a_topic)
                for lane in range(LANES):
                    at = (group * LANES + lane) * n_columns
                    for column in range(n_columns):
                        _add_rows(
                            all_sums, np.uint64((at + column) * GROUP), all_scores, begin, np.uint64(scores_a_topic), all_cells,
                            np.uint64(column * LANES + lane), np.uint64(cells_a_topic),
                        )  # fmt: skip
        for group in range(n_groups):
            for lane in range(LANES):
                for pair in range(GROUP // 2):
                    words, uppers = sums[group, lane, :, pair], sums[group, lane, :, pair + GROUP // 2]
                    lowers = words - (uppers << 32)
                    ranges[start + lane, group, 2 * pair] = lowers.max() - lowers.min()
                    ranges[start + lane, group, 2 * pair + 1] = uppers.max() - uppers.min()


class _Announcement(event.Listener):
    """Tells when Numba compiles, which it does not where machine code is kept."""

    told = False

    def on_start(self, event: Any) -> None:
        if not self.told:
            tell("compiling the test, which takes some seconds once on this machine")
        self.told = True

    def on_end(self, event: Any) -> None:
        pass


def load_kernel() -> None:
    """Compile the kernel, or load what was compiled before, in the thread whose listener is told of it."""
    with event.install_listener("numba:compile", _Announcement()):
        compute_ranges(np.zeros((0, 2, 1), np.uint32), np.zeros(0, np.uint64))


def compute_ranges(units: npt.NDArray[np.uint32], keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the largest minus the smallest permuted sum of units (topic, run, measure), shape (trial, measure)."""
    n_topics, n_runs, n_measures = units.shape
    n_groups = -(-n_measures // GROUP)
    scores = np.zeros((n_groups, n_topics + -n_topics % BLOCK, n_runs, GROUP), dtype=np.uint32)
    for measure in range(n_measures):
        scores[measure // GROUP, :n_topics, :, measure % GROUP] = units[..., measure]
    filled = fill_lanes(keys)
    ranges = np.empty((len(filled), n_groups, GROUP), dtype=np.int64)
    write_ranges(filled, scores, column_mask(n_runs), plan_sorting(n_runs), ranges)
    return ranges.reshape(len(filled), n_groups * GROUP)[: len(keys), :n_measures]


def compute_orders(keys: npt.NDArray[np.uint64], n_topics: int, n_runs: int) -> npt.NDArray[np.intp]:
    """Return the permutations of each trial and topic, shape (trial, topic, column)."""
    mask, steps, filled = column_mask(n_runs), plan_sorting(n_runs), fill_lanes(keys)
    orders = np.empty((len(filled), n_topics, n_runs), dtype=np.intp)
    cells = np.zeros((n_runs + -n_runs % 8, LANES), dtype=np.uint32)
    for start in range(0, len(filled), LANES):
        for topic in range(n_topics):
            permute_row(filled[start : start + LANES], topic, n_runs, mask, steps, cells.reshape(-1))
            orders[start : start + LANES, topic] = cells[:n_runs].T
    return orders[: len(keys)]


def fill_lanes(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Repeat the last key until the lanes are full."""
    return np.concatenate([keys, np.repeat(keys[-1:], -len(keys) % LANES)])


def column_mask(n_columns: int) -> np.uint32:
    """Return the mask of the low bits that hold a column number: ceil(log2(n_columns)) ones."""
    return np.uint32((1 << (n_columns - 1).bit_length()) - 1)
