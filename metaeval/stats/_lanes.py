"""The compiled engine of the randomised Tukey HSD test: sixteen trials at once, one in each lane of a vector.

Compilers turn ordinary loops into code that leaves most of the vector unit unused, so the kernel is written as LLVM
vector operations, which LLVM translates to the instructions of the processor. The sixteen permutations of a row are
drawn and sorted in registers, by code unrolled for the number of runs. Eight measures, on the last axis and padded to
one 64-byte vector of sums, then share them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]

from metaeval.stats._machine_code import is_code_kept, load_function
from metaeval.stats.permutations import ALL_BITS, LARGEST_NETWORK, column_mask, sorting_network, words_a_row
from metaeval.stats.streams import GAMMA, LAST_SHIFT, MIX_STEPS, WORD

LANES = 16
GROUP = 8
TOPICS_A_BLOCK = 8
ALIGNMENT = 64

_BIT, _INT32, _INT64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_LANES32, _LANES64 = ir.VectorType(_INT32, LANES), ir.VectorType(_INT64, LANES)
_SCORES, _SUMS = ir.VectorType(_INT32, GROUP), ir.VectorType(_INT64, GROUP)

_NAME = "metaeval_ranges"
_ADDRESSES = {"keys": _INT64, "scores": _INT32, "ranges": _INT64, "sums": _INT64, "places": _INT32}
_COUNTS = ("n_keys", "n_topics", "n_columns", "n_groups", "first_topic", "held")

Value = Any
"""A value of LLVM: a constant, an argument, or what an instruction makes."""


def _same(kind: ir.Type, number: int) -> ir.Constant:
    """Return a number, in every lane of a vector."""
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def _whole(number: int) -> ir.Constant:
    return ir.Constant(_INT64, number)


def _smaller(code: ir.IRBuilder, compare: str, one: Value, other: Value) -> tuple[Value, Value]:
    """Return the smaller and the larger of two vectors, lane by lane."""
    signed = code.icmp_signed if compare == "signed" else code.icmp_unsigned
    less = signed("<", one, other)
    return code.select(less, one, other), code.select(less, other, one)


class _Kernel:
    """Writes the loop over trials and topics for `n_runs` runs; for 0, one that shuffles rows of any length."""

    def __init__(self, n_runs: int) -> None:
        self.n_runs, self.mask = n_runs, column_mask(n_runs) if n_runs else 0
        self.module = ir.Module(_NAME)
        kinds = [*(kind.as_pointer() for kind in _ADDRESSES.values()), *[_INT64] * len(_COUNTS)]
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), _NAME)
        self.code = ir.IRBuilder(function.append_basic_block())
        arguments = dict(zip([*_ADDRESSES, *_COUNTS], function.args, strict=True))
        for name in _ADDRESSES:
            arguments[name].add_attribute("noalias")
        self.addresses = {name: arguments[name] for name in _ADDRESSES}
        self.n_keys, self.n_topics, columns, self.n_groups, self.first_topic, self.held = (
            arguments[name] for name in _COUNTS
        )
        self.columns: Value = _whole(n_runs) if n_runs else columns
        self.step = self.code.mul(self.columns, _whole(LANES))
        self.words = self.code.lshr(self.code.add(self.columns, _whole(1)), _whole(1))
        self._write()
        self.code.ret_void()

    # Loops and memory

    def repeat(
        self, first: Sequence[Value], holds: Callable[..., Value], body: Callable[..., Sequence[Value]]
    ) -> list[Value]:
        """While a condition of some values holds, replace them by what the body makes of them; return the last."""
        code, before = self.code, self.code.block
        head, inside, after = (code.append_basic_block() for _ in range(3))
        code.branch(head)
        code.position_at_end(head)
        values = [code.phi(one.type) for one in first]
        for value, one in zip(values, first, strict=True):
            value.add_incoming(one, before)
        code.cbranch(holds(*values), inside, after)
        code.position_at_end(inside)
        for value, one in zip(values, body(*values), strict=True):
            value.add_incoming(one, code.block)
        code.branch(head)
        code.position_at_end(after)
        return values

    def count(self, end: Value, body: Callable[..., Any], *carried: Value, step: int = 1) -> list[Value]:
        """Call the body with 0, `step`, … below the end, and with the values that it returned before."""

        def go_on(number: Value, *values: Value) -> Sequence[Value]:
            new = body(number, *values) or ()
            return [self.code.add(number, _whole(step)), *new]

        return self.repeat([_whole(0), *carried], lambda number, *_: self.code.icmp_signed("<", number, end), go_on)[1:]

    def address(self, name: str, place: Value, kind: ir.Type) -> Value:
        return self.code.bitcast(self.code.gep(self.addresses[name], [place]), kind.as_pointer())

    def load(self, name: str, place: Value, kind: ir.Type | None = None, align: int | None = None) -> Value:
        kind = kind or _ADDRESSES[name]
        return self.code.load(self.address(name, place, kind), align=align or kind.width // 8)

    def store(self, name: str, place: Value, value: Value, align: int | None = None) -> None:
        self.code.store(value, self.address(name, place, value.type), align=align or value.type.width // 8)

    def sum_up(self, *terms: Value) -> Value:
        total = terms[0]
        for term in terms[1:]:
            total = self.code.add(total, term)
        return total

    # Random words

    def mix(self, word: Value) -> Value:
        """Mix words as `metaeval.stats.streams.mix` does."""
        code, kind = self.code, word.type
        for shift, factor in MIX_STEPS:
            word = code.mul(code.xor(word, code.lshr(word, _same(kind, shift))), _same(kind, factor))
        return code.xor(word, code.lshr(word, _same(kind, LAST_SHIFT)))

    def draw_bits(self, key: Value, row: Value, column: Value, attempt: Value) -> Value:
        """Draw the 32 bits of a column of a row that starts at word `row` of its trial, in one lane."""
        code = self.code
        again = code.icmp_unsigned(">", attempt, _whole(0))
        key = code.select(again, self.mix(code.add(key, attempt)), key)
        position = self.sum_up(row, code.lshr(column, _whole(1)), _whole(1))
        word = self.mix(code.add(key, code.mul(_whole(GAMMA), position)))
        odd = code.trunc(column, _BIT)
        return code.trunc(code.select(odd, code.lshr(word, _whole(32)), word), _INT32)

    # Permutations: `places[offset + 16 j + lane]` becomes 8 r, where the scores of the run r that is j-th begin

    def sort_row(self, start: Value, topic: Value, offset: Value) -> Value:
        """Permute one topic in sixteen trials, and return whether any of them has tied keys."""
        code, n_runs = self.code, self.n_runs
        key = self.load("keys", start, _LANES64, align=8)
        first = code.mul(topic, _whole(GAMMA * words_a_row(n_runs) & WORD))
        row = code.add(key, self.spread(first, _LANES64))
        columns = []
        for column in range(n_runs):
            if column % 2 == 0:
                word = self.mix(code.add(row, _same(_LANES64, GAMMA * (column // 2 + 1) & WORD)))
                bits = code.trunc(word, _LANES32)
            else:
                bits = code.trunc(code.lshr(word, _same(_LANES64, 32)), _LANES32)
            random_bits = code.and_(bits, _same(_LANES32, ALL_BITS ^ self.mask))
            columns.append(code.or_(random_bits, _same(_LANES32, column)))
        for low, high in sorting_network(n_runs):
            columns[low], columns[high] = _smaller(code, "unsigned", columns[low], columns[high])
        closest = _same(_LANES32, ALL_BITS)
        for left, right in pairwise(columns):
            closest = _smaller(code, "unsigned", closest, code.xor(left, right))[0]
        for position, sorted_key in enumerate(columns):
            run = code.and_(sorted_key, _same(_LANES32, self.mask))
            place = code.mul(run, _same(_LANES32, GROUP))
            self.store("places", code.add(offset, _whole(position * LANES)), place, ALIGNMENT)
        tied = code.icmp_unsigned("<=", closest, _same(_LANES32, self.mask))
        some = code.bitcast(tied, ir.IntType(LANES))
        return code.icmp_unsigned("!=", some, ir.Constant(ir.IntType(LANES), 0))

    def spread(self, number: Value, vector: ir.VectorType) -> Value:
        """Repeat a number in every lane."""
        undefined = ir.Constant(vector, ir.Undefined)
        first = self.code.insert_element(undefined, number, ir.Constant(_INT32, 0))
        return self.code.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))

    def sort_lane_again(self, key: Value, topic: Value, offset: Value) -> None:
        """Permute one topic in one trial; repeat until no two keys are tied. Rare, hence an insertion sort."""
        code = self.code
        row, mask = code.mul(topic, self.words), _same(_INT32, self.mask)

        def at(position: Value) -> Value:
            return code.add(offset, code.mul(position, _whole(LANES)))

        def attempt(number: Value, _: Value) -> Sequence[Value]:
            def insert(column: Value) -> None:
                bits = code.and_(self.draw_bits(key, row, column, number), _same(_INT32, ALL_BITS ^ self.mask))
                new = code.or_(bits, code.trunc(column, _INT32))

                def is_larger(position: Value) -> Value:
                    begins = code.icmp_signed("==", position, _whole(0))
                    before = code.select(begins, _whole(0), code.sub(position, _whole(1)))
                    larger = code.icmp_unsigned(">", self.load("places", at(before)), new)
                    return code.and_(larger, code.not_(begins))

                def move(position: Value) -> Sequence[Value]:
                    before = code.sub(position, _whole(1))
                    self.store("places", at(position), self.load("places", at(before)))
                    return [before]

                (position,) = self.repeat([column], is_larger, move)
                self.store("places", at(position), new)

            self.count(self.columns, insert)

            def compare(position: Value, tied: Value) -> Sequence[Value]:
                left = self.load("places", at(position))
                right = self.load("places", at(code.add(position, _whole(1))))
                return [code.or_(tied, code.icmp_unsigned("<=", code.xor(left, right), mask))]

            return [code.add(number, _whole(1)), *self.count(_whole(self.n_runs - 1), compare, _same(_BIT, 0))]

        self.repeat([_whole(0), _same(_BIT, 1)], lambda _, tied: tied, attempt)

        def place(position: Value) -> None:
            run = code.and_(self.load("places", at(position)), mask)
            self.store("places", at(position), code.mul(run, _same(_INT32, GROUP)))

        self.count(self.columns, place)

    def shuffle_lane(self, key: Value, topic: Value, offset: Value) -> None:
        """Permute one topic in one trial by Fisher-Yates."""
        code = self.code
        row = code.mul(topic, self.words)

        def at(position: Value) -> Value:
            return code.add(offset, code.mul(position, _whole(LANES)))

        def begin(column: Value) -> None:
            self.store("places", at(column), code.trunc(code.mul(column, _whole(GROUP)), _INT32))

        self.count(self.columns, begin)

        def exchange(number: Value) -> None:
            last = code.sub(code.sub(self.columns, _whole(1)), number)
            sides = code.add(last, _whole(1))
            short = code.trunc(sides, _INT32)
            least = code.zext(code.urem(code.neg(short), short), _INT64)  # 2³² modulo sides

            def draw(attempt: Value) -> Value:
                return code.mul(code.zext(self.draw_bits(key, row, last, attempt), _INT64), sides)

            def is_refused(_: Value, product: Value) -> Value:
                return code.icmp_unsigned("<", code.and_(product, _whole(2**32 - 1)), least)

            def draw_again(attempt: Value, _: Value) -> Sequence[Value]:
                following = code.add(attempt, _whole(1))
                return [following, draw(following)]

            _, product = self.repeat([_whole(0), draw(_whole(0))], is_refused, draw_again)
            here, there = at(last), at(code.lshr(product, _whole(32)))
            one, other = self.load("places", here), self.load("places", there)
            self.store("places", here, other)
            self.store("places", there, one)

        self.count(code.sub(self.columns, _whole(1)), exchange)

    # Sums

    def add_scores(self, sums_at: Value, scores_at: Value, places_at: Value) -> None:
        """Add the scores that a trial puts into one column, on a block of topics, to the eight sums of the column."""
        code = self.code
        width = code.mul(self.columns, _whole(GROUP))
        total = self.load("sums", sums_at, _SUMS, ALIGNMENT)
        for topic in range(TOPICS_A_BLOCK):
            place = self.load("places", code.add(places_at, code.mul(_whole(topic), self.step)))
            begin = code.gep(self.addresses["scores"], [code.add(scores_at, code.mul(_whole(topic), width))])
            eight = code.bitcast(code.gep(begin, [code.zext(place, _INT64)]), _SCORES.as_pointer())
            total = code.add(total, code.zext(code.load(eight, align=ALIGNMENT // 2), _SUMS))
        self.store("sums", sums_at, total, ALIGNMENT)

    def store_range(self, sums_at: Value, ranges_at: Value) -> None:
        """Store, for eight measures, the largest minus the smallest sum of a column."""
        code = self.code

        def widen(column: Value, low: Value, high: Value) -> Sequence[Value]:
            one = self.load("sums", code.add(sums_at, code.mul(column, _whole(GROUP))), _SUMS, ALIGNMENT)
            return [_smaller(code, "signed", low, one)[0], _smaller(code, "signed", high, one)[1]]

        first = self.load("sums", sums_at, _SUMS, ALIGNMENT)
        low, high = self.count(self.columns, widen, first, first)
        self.store("ranges", ranges_at, code.sub(high, low), ALIGNMENT)

    # The whole

    def _write(self) -> None:
        self.count(self.n_keys, self._write_trials, step=LANES)

    def _write_trials(self, start: Value) -> None:
        """Write what is done for sixteen trials."""
        code = self.code
        sums_of_lane = code.mul(self.columns, _whole(GROUP))

        def clear(place: Value) -> None:
            self.store("sums", place, _same(_SUMS, 0), ALIGNMENT)

        # Sums that are held between blocks of topics have places of their own; others begin with zeros.
        own = code.mul(self.n_groups, code.mul(sums_of_lane, _whole(LANES)))
        sums_from = code.mul(self.held, code.mul(code.udiv(start, _whole(LANES)), own))
        self.count(code.mul(own, code.sub(_whole(1), self.held)), clear, step=GROUP)

        def add_block(block: Value) -> None:
            left = code.sub(self.n_topics, block)
            whole = code.icmp_signed(">=", left, _whole(TOPICS_A_BLOCK))
            topics = code.select(whole, _whole(TOPICS_A_BLOCK), left)
            self.count(topics, lambda topic: self._write_row(start, block, topic))
            self._write_sums(block, sums_from)

        self.count(self.n_topics, add_block, step=TOPICS_A_BLOCK)

        def find_ranges(group: Value) -> None:
            def of_lane(lane: Value) -> None:
                number = code.add(code.mul(group, _whole(LANES)), lane)
                trial = self.sum_up(code.mul(group, self.n_keys), start, lane)
                sums_at = code.add(sums_from, code.mul(number, sums_of_lane))
                self.store_range(sums_at, code.mul(trial, _whole(GROUP)))

            self.count(_whole(LANES), of_lane)

        self.count(self.n_groups, find_ranges)

    def _write_row(self, start: Value, block: Value, in_block: Value) -> None:
        """Write how one topic is permuted in sixteen trials."""
        code = self.code
        topic = self.sum_up(self.first_topic, block, in_block)
        offset = code.mul(in_block, self.step)
        permute = self.sort_lane_again if self.n_runs else self.shuffle_lane

        def of_lane(lane: Value) -> None:
            key = self.load("keys", code.add(start, lane))
            permute(key, topic, code.add(offset, lane))

        if self.n_runs:
            with code.if_then(self.sort_row(start, topic, offset), likely=False):
                self.count(_whole(LANES), of_lane)
        else:
            self.count(_whole(LANES), of_lane)

    def _write_sums(self, block: Value, sums_from: Value) -> None:
        """Write how the scores of a block of topics are added; topics that fill up the last block have only zeros."""
        code = self.code
        filled = code.and_(code.add(self.n_topics, _whole(TOPICS_A_BLOCK - 1)), _whole(-TOPICS_A_BLOCK))

        def of_group(group: Value) -> None:
            rows = code.add(code.mul(group, filled), block)
            scores_at = code.mul(code.mul(rows, self.columns), _whole(GROUP))

            def of_lane(lane: Value) -> None:
                first = code.mul(code.add(code.mul(group, _whole(LANES)), lane), self.columns)

                def of_column(column: Value) -> None:
                    sums_at = code.add(sums_from, code.mul(code.add(first, column), _whole(GROUP)))
                    self.add_scores(sums_at, scores_at, code.add(code.mul(column, _whole(LANES)), lane))

                self.count(self.columns, of_column)

            self.count(_whole(LANES), of_lane)

        self.count(self.n_groups, of_group)


def _specialisation(n_runs: int) -> int:
    """Return the number of runs that a kernel is compiled for; 0 is the kernel that shuffles rows of any length."""
    return n_runs if n_runs <= LARGEST_NETWORK else 0


@cache
def _write_kernel(special: int) -> str:
    return str(_Kernel(special).module)


_loaded: dict[int, Callable[..., None]] = {}
_loading = threading.Lock()


def _load_kernel(n_runs: int) -> Callable[..., None]:
    special = _specialisation(n_runs)
    with _loading:
        if special not in _loaded:
            _loaded[special] = load_function(_write_kernel(special), _NAME, len(_ADDRESSES) + len(_COUNTS))
    return _loaded[special]


def is_loaded(n_runs: int) -> bool:
    """Has this process already used the kernel for this number of runs?"""
    return _specialisation(n_runs) in _loaded


def is_kept(n_runs: int) -> bool:
    """Is the kernel for this number of runs on disk, compiled for this processor?"""
    return is_code_kept(_write_kernel(_specialisation(n_runs)), _NAME)


def _allocate_aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Allocate an array of zeros at a multiple of 64 bytes: unaligned vectors take 40 % more time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    offset = -room.ctypes.data % ALIGNMENT
    return room[offset : offset + size].view(dtype).reshape(shape)


def hold_sums(n_trials: int, n_runs: int, n_measures: int) -> npt.NDArray[np.int64]:
    """Return the sums of no topics, to be held from one block of topics to the next by `lane_ranges`."""
    n_groups, batches = -(-n_measures // GROUP), -(-n_trials // LANES)
    return _allocate_aligned((batches * n_groups * LANES * n_runs * GROUP,), np.int64)


def lane_ranges(
    units: npt.NDArray[np.uint32],
    keys: npt.NDArray[np.uint64],
    *,
    first_topic: int = 0,
    held: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.int64]:
    """Compute the range of the permuted sums in each trial.

    Parameters
    ----------
    units : ndarray of uint32, shape (topic, run, measure)
        Quantised scores.
    keys : ndarray of uint64, shape (n_trials,)
        The keys of the trials, from `metaeval.stats.streams.trial_keys`.
    first_topic : int, optional
        The number of the first of these topics.
    held : ndarray of int64, optional
        From `hold_sums`: sums over the topics before these, to which these are added in place.

    Returns
    -------
    ndarray of int64, shape (trial, measure)
        Over these topics and those before them.
    """
    n_topics, n_runs, n_measures = units.shape
    n_groups = -(-n_measures // GROUP)
    n_filled = n_topics + -n_topics % TOPICS_A_BLOCK
    scores = _allocate_aligned((n_groups, n_filled, n_runs, GROUP), np.uint32)
    for measure in range(n_measures):
        scores[measure // GROUP, :n_topics, :, measure % GROUP] = units[..., measure]
    padded = np.concatenate([keys, np.repeat(keys[-1:], -len(keys) % LANES)])
    ranges = _allocate_aligned((n_groups, padded.size, GROUP), np.int64)
    sums = _allocate_aligned((n_groups * LANES * n_runs * GROUP,), np.int64) if held is None else held
    places = _allocate_aligned((TOPICS_A_BLOCK, n_runs * LANES), np.uint32)
    arrays = (padded, scores, ranges, sums, places)
    counts = (padded.size, n_topics, n_runs, n_groups, first_topic, int(held is not None))
    _load_kernel(n_runs)(*(one.ctypes.data for one in arrays), *counts)
    return ranges.transpose(1, 0, 2).reshape(padded.size, -1)[: len(keys), :n_measures]
