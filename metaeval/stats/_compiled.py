"""The compiled engine of the randomised Tukey HSD test: sixteen trials at once, one in each lane of a vector.

Compilers turn ordinary loops into code that leaves most of the vector unit unused, so the kernel is written as LLVM
vector operations, which llvmlite, Numba's compiler, translates to the instructions of the processor. The sixteen
permutations of a row are drawn and sorted in registers, by code unrolled for the number of runs. Eight measures, on the
last axis and padded to one 64-byte vector of sums, then share them. Machine code is kept in a folder of the user's cache.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial, partialmethod
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]

from metaeval.stats.parallel import is_private, read_entry, write_entry
from metaeval.stats.permutations import ALL_BITS, LARGEST_NETWORK, column_mask, sorting_network, words_a_row
from metaeval.stats.streams import GAMMA, LAST_SHIFT, MIX_STEPS, WORD

FOLDER = "METAEVAL_KERNELS"
"""The environment variable that names another folder for machine code; empty to keep none."""

LANES, GROUP, TOPICS_A_BLOCK, ALIGNMENT = 16, 8, 8, 64
"""Trials in a vector, measures in a vector, topics that are permuted before they are added, and bytes of a vector."""

_BIT, _INT32, _INT64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
_LANES32, _LANES64 = ir.VectorType(_INT32, LANES), ir.VectorType(_INT64, LANES)
_SCORES, _SUMS = ir.VectorType(_INT32, GROUP), ir.VectorType(_INT64, GROUP)

_NAME = "metaeval_ranges"
_ARRAYS = {"keys": _INT64, "scores": _INT32, "ranges": _INT64, "sums": _INT64, "runs": _INT32}
_COUNTS = ("n_keys", "n_topics", "n_columns", "n_groups", "first_topic", "goes_on")

Number: TypeAlias = "Value | int"


class Value:
    """A value of LLVM with the operators of whole numbers; a Python number beside it counts in every lane."""

    def __init__(self, code: ir.IRBuilder, raw: Any) -> None:
        self.code, self.raw = code, raw

    def like(self, other: Number) -> Value:
        """Return a number as a value of this type."""
        if isinstance(other, Value):
            return other
        kind = self.raw.type
        return Value(self.code, ir.Constant(kind, [other] * kind.count if isinstance(kind, ir.VectorType) else other))

    def _apply(self, operation: str, other: Number) -> Value:
        return Value(self.code, getattr(self.code, operation)(self.raw, self.like(other).raw))

    __add__ = __radd__ = partialmethod(_apply, "add")
    __mul__ = __rmul__ = partialmethod(_apply, "mul")
    __sub__ = partialmethod(_apply, "sub")
    __mod__ = partialmethod(_apply, "urem")
    __and__ = partialmethod(_apply, "and_")
    __or__ = partialmethod(_apply, "or_")
    __xor__ = partialmethod(_apply, "xor")
    __rshift__ = partialmethod(_apply, "lshr")

    def compare(self, sign: str, other: Number, *, signed: bool = False) -> Value:
        compare = self.code.icmp_signed if signed else self.code.icmp_unsigned
        return Value(self.code, compare(sign, self.raw, self.like(other).raw))

    def choose(self, first: Value, second: Number) -> Value:
        """Return the first where this is true, and the second elsewhere."""
        return Value(self.code, self.code.select(self.raw, first.raw, first.like(second).raw))

    def order(self, other: Value, *, signed: bool = False) -> tuple[Value, Value]:
        """Return the smaller and the larger of two vectors, lane by lane."""
        less = self.compare("<", other, signed=signed)
        return less.choose(self, other), less.choose(other, self)

    def narrow(self, kind: ir.Type) -> Value:
        return Value(self.code, self.code.trunc(self.raw, kind))

    def widen(self, kind: ir.Type) -> Value:
        return Value(self.code, self.code.zext(self.raw, kind))

    def spread(self, kind: ir.VectorType) -> Value:
        """Return a vector with this number in every lane."""
        empty = ir.Constant(kind, ir.Undefined)
        first = self.code.insert_element(empty, self.raw, ir.Constant(_INT32, 0))
        return Value(self.code, self.code.shuffle_vector(first, empty, ir.Constant(_LANES32, [0] * kind.count)))


class _Kernel:
    """Writes the loop over trials and topics for `n_runs` runs; for 0, one that shuffles rows of any length."""

    def __init__(self, n_runs: int) -> None:
        self.n_runs, self.mask = n_runs, column_mask(n_runs) if n_runs else 0
        self.module = ir.Module(_NAME)
        kinds = [*(kind.as_pointer() for kind in _ARRAYS.values()), *[_INT64] * len(_COUNTS)]
        function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), kinds), _NAME)
        self.code = ir.IRBuilder(function.append_basic_block())
        arguments = dict(zip([*_ARRAYS, *_COUNTS], function.args, strict=True))
        for name in _ARRAYS:
            arguments[name].add_attribute("noalias")
        self.arrays = {name: arguments[name] for name in _ARRAYS}
        self.n_keys, self.n_topics, columns, self.n_groups, self.first_topic, self.goes_on = (
            Value(self.code, arguments[name]) for name in _COUNTS
        )
        self.columns: Value = self.n_topics.like(n_runs) if n_runs else columns
        self.words = (self.columns + 1) >> 1
        self.count(self.n_keys, self.write_trials, step=LANES)
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
        values = [Value(code, code.phi(start.raw.type)) for start in first]
        for value, start in zip(values, first, strict=True):
            value.raw.add_incoming(start.raw, before)
        code.cbranch(holds(*values).raw, inside, after)
        code.position_at_end(inside)
        for value, new in zip(values, body(*values), strict=True):
            value.raw.add_incoming(new.raw, code.block)
        code.branch(head)
        code.position_at_end(after)
        return values

    def count(self, end: Number, body: Callable[..., Any], *carried: Value, step: int = 1) -> list[Value]:
        """Call the body with 0, `step`, … below the end, and with the values that it returned before."""

        def go_on(number: Value, *values: Value) -> Sequence[Value]:
            return [number + step, *(body(number, *values) or ())]

        zero = self.n_keys.like(0)
        return self.repeat([zero, *carried], lambda number, *_: number.compare("<", end, signed=True), go_on)[1:]

    def nest(self, ends: Sequence[Number], body: Callable[..., None], *outer: Value) -> None:
        """Call the body with every combination of numbers below the ends, the last changing first."""
        deeper = partial(self.nest, ends[1:], body) if len(ends) > 1 else body
        self.count(ends[0], lambda number: deeper(*outer, number))

    def load(self, name: str, position: Value, kind: ir.Type | None = None, align: int | None = None) -> Value:
        kind = kind or _ARRAYS[name]
        address = self.code.bitcast(self.code.gep(self.arrays[name], [position.raw]), kind.as_pointer())
        return Value(self.code, self.code.load(address, align=align or kind.width // 8))

    def store(self, name: str, position: Value, value: Value, align: int | None = None) -> None:
        kind = value.raw.type
        address = self.code.bitcast(self.code.gep(self.arrays[name], [position.raw]), kind.as_pointer())
        self.code.store(value.raw, address, align=align or kind.width // 8)

    # Permutations: `runs[offset + 16 j + lane]` becomes 8 r, where the scores of the run r that is j-th begin

    def mix(self, word: Value) -> Value:
        """Mix words as `metaeval.stats.streams.mix` does."""
        for shift, factor in MIX_STEPS:
            word = (word ^ (word >> shift)) * factor
        return word ^ (word >> LAST_SHIFT)

    def sort_row(self, start: Value, topic: Value, offset: Value) -> None:
        """Permute one topic in sixteen trials, by sorting random keys; where two of a lane are tied, draw it again."""
        code, keys = self.code, self.load("keys", start, _LANES64, align=8)
        row = (topic * (GAMMA * words_a_row(self.n_runs) & WORD)).spread(_LANES64)
        before, again, after = code.block, code.append_basic_block(), code.append_basic_block()
        sort = code.append_basic_block()
        code.branch(sort)
        code.position_at_end(sort)
        drawn, attempts = (Value(code, code.phi(_LANES64)) for _ in range(2))
        tied = self.sort_keys(drawn + row, offset)
        some = Value(code, code.bitcast(tied.raw, ir.IntType(LANES))).compare("!=", 0)
        code.cbranch(some.raw, again, after).set_weights([1, 99])
        code.position_at_end(again)
        more = attempts + tied.widen(_LANES64)
        redrawn = tied.choose(self.mix(keys + more), drawn)
        code.branch(sort)
        for value, first, later in ((drawn, keys, redrawn), (attempts, keys.like(0), more)):
            value.raw.add_incoming(first.raw, before)
            value.raw.add_incoming(later.raw, again)
        code.position_at_end(after)

    def sort_keys(self, row: Value, offset: Value) -> Value:
        """Draw keys of all columns, sort them, store their columns, and return in which lanes two are tied."""
        columns = []
        for column in range(self.n_runs):
            if column % 2 == 0:
                word = self.mix(row + (GAMMA * (column // 2 + 1) & WORD))
                bits = word.narrow(_LANES32)
            else:
                bits = (word >> 32).narrow(_LANES32)
            columns.append((bits & (ALL_BITS ^ self.mask)) | column)
        for low, high in sorting_network(self.n_runs):
            columns[low], columns[high] = columns[low].order(columns[high])
        closest = columns[0].like(ALL_BITS)
        for left, right in pairwise(columns):
            closest = closest.order(left ^ right)[0]
        for position, key in enumerate(columns):
            self.store("runs", offset + position * LANES, (key & self.mask) * GROUP, ALIGNMENT)
        return closest.compare("<=", self.mask)

    def shuffle_lane(self, start: Value, topic: Value, offset: Value, lane: Value) -> None:
        """Permute one topic in one trial by Fisher-Yates, and draw again what would cause a bias."""
        original, at = self.load("keys", start + lane), offset + lane
        self.count(
            self.columns, lambda column: self.store("runs", at + column * LANES, (column * GROUP).narrow(_INT32))
        )

        def draw(last: Value, attempt: Value) -> Value:
            key = attempt.compare(">", 0).choose(self.mix(original + attempt), original)
            word = self.mix(key + (topic * self.words + (last >> 1) + 1) * (GAMMA & WORD))
            bits = last.narrow(_BIT).choose(word >> 32, word) & ALL_BITS
            return bits * (last + 1)

        def exchange(number: Value) -> None:
            last = self.columns - 1 - number
            least = (last.like(2**32) - (last + 1)) % (last + 1)  # 2³² modulo the number of sides
            attempt = last.like(0)
            _, product = self.repeat(
                [attempt, draw(last, attempt)],
                lambda _, product: (product & ALL_BITS).compare("<", least),
                lambda attempt, _: [attempt + 1, draw(last, attempt + 1)],
            )
            here, other = at + last * LANES, at + (product >> 32) * LANES
            moved = self.load("runs", here)
            self.store("runs", here, self.load("runs", other))
            self.store("runs", other, moved)

        self.count(self.columns - 1, exchange)

    # Sums

    def write_trials(self, start: Value) -> None:
        """Write what is done for sixteen trials."""
        columns, n_groups = self.columns, self.n_groups
        sums_of_lane = columns * GROUP
        sums_of_batch = n_groups * sums_of_lane * LANES
        # Sums that go on from one call to the next are held for every trial; others begin with zeros in one room.
        first_sum = self.goes_on * (start >> 4) * sums_of_batch
        zeros = Value(self.code, ir.Constant(_SUMS, [0] * GROUP))
        clear = partial(self.store, "sums", value=zeros, align=ALIGNMENT)
        self.count((self.goes_on ^ 1) * sums_of_batch, clear, step=GROUP)
        filled = (self.n_topics + (TOPICS_A_BLOCK - 1)) & -TOPICS_A_BLOCK

        def add_block(block: Value) -> None:
            left = self.n_topics - block
            topics = left.compare("<", TOPICS_A_BLOCK).choose(left, TOPICS_A_BLOCK)
            self.count(topics, partial(self.permute_row, start, block))
            self.nest((n_groups, LANES, columns), partial(self.add_scores, first_sum, block, filled))

        self.count(self.n_topics, add_block, step=TOPICS_A_BLOCK)
        self.nest((n_groups, LANES), partial(self.store_range, first_sum, start))

    def permute_row(self, start: Value, block: Value, topic: Value) -> None:
        number, offset = self.first_topic + block + topic, topic * self.columns * LANES
        if self.n_runs:
            self.sort_row(start, number, offset)
        else:
            self.count(LANES, partial(self.shuffle_lane, start, number, offset))

    def add_scores(
        self, first_sum: Value, block: Value, filled: Value, group: Value, lane: Value, column: Value
    ) -> None:
        """Add what a trial puts into one column, on a block of topics, to eight sums; filled up topics are zeros."""
        code, width = self.code, self.columns * GROUP
        sums_at = first_sum + ((group * LANES + lane) * self.columns + column) * GROUP
        total = self.load("sums", sums_at, _SUMS, ALIGNMENT)
        for topic in range(TOPICS_A_BLOCK):
            run = self.load("runs", column * LANES + lane + self.columns * LANES * topic)
            begin = code.gep(self.arrays["scores"], [((group * filled + block) * width + width * topic).raw])
            eight = code.bitcast(code.gep(begin, [run.widen(_INT64).raw]), _SCORES.as_pointer())
            total = total + Value(code, code.load(eight, align=ALIGNMENT // 2)).widen(_SUMS)
        self.store("sums", sums_at, total, ALIGNMENT)

    def store_range(self, first_sum: Value, start: Value, group: Value, lane: Value) -> None:
        """Store, for eight measures, the largest minus the smallest sum of a column."""
        sums_at = first_sum + (group * LANES + lane) * self.columns * GROUP

        def extend(column: Value, low: Value, high: Value) -> Sequence[Value]:
            sums = self.load("sums", sums_at + column * GROUP, _SUMS, ALIGNMENT)
            return [low.order(sums, signed=True)[0], high.order(sums, signed=True)[1]]

        first = self.load("sums", sums_at, _SUMS, ALIGNMENT)
        low, high = self.count(self.columns, extend, first, first)
        self.store("ranges", (group * self.n_keys + start + lane) * GROUP, high - low, ALIGNMENT)


class CompiledSums:
    """Sums of permuted scores over the topics added so far, made by compiled code."""

    def __init__(self, keys: npt.NDArray[np.uint64], shape: tuple[int, ...]) -> None:
        self._shape, self._n_keys = shape, len(keys)
        self._keys = np.concatenate([keys, np.repeat(keys[-1:], -len(keys) % LANES)])
        self._sums: npt.NDArray[np.int64] | None = None

    def add(self, units: npt.NDArray[np.uint32], first_topic: int) -> None:
        """Add some topics, shape (topic, run, measure)."""
        n_topics, n_runs, n_measures = units.shape
        n_groups = -(-n_measures // GROUP)
        scores = _allocate_aligned((n_groups, n_topics + -n_topics % TOPICS_A_BLOCK, n_runs, GROUP), np.uint32)
        for measure in range(n_measures):
            scores[measure // GROUP, :n_topics, :, measure % GROUP] = units[..., measure]
        # Sums go on in the next block of topics; where this one is all, sums of sixteen trials are enough at a time.
        goes_on = n_topics < self._shape[1]
        if self._sums is None:
            batches = len(self._keys) // LANES if goes_on else 1
            self._sums = _allocate_aligned((batches * n_groups * LANES * n_runs * GROUP,), np.int64)
        self._ranges = _allocate_aligned((n_groups, len(self._keys), GROUP), np.int64)
        runs = _allocate_aligned((TOPICS_A_BLOCK, n_runs * LANES), np.uint32)
        arrays = (self._keys, scores, self._ranges, self._sums, runs)
        counts = (len(self._keys), n_topics, n_runs, n_groups, first_topic, int(goes_on))
        _load_kernel(_specialise(n_runs))(*(array.ctypes.data for array in arrays), *counts)

    def ranges(self) -> npt.NDArray[np.int64]:
        """Return the largest minus the smallest sum, shape (trial, measure)."""
        by_trial = self._ranges.transpose(1, 0, 2).reshape(len(self._keys), -1)
        return np.ascontiguousarray(by_trial[: self._n_keys, : self._shape[2]])


def _allocate_aligned(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Allocate an array of zeros at a multiple of 64 bytes: unaligned vectors take 40 % more time."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    offset = -room.ctypes.data % ALIGNMENT
    return room[offset : offset + size].view(dtype).reshape(shape)


# Machine code

_loaded: dict[int, tuple[Any, Callable[..., None]]] = {}  # with its engine, without which it would be freed
_loading = threading.Lock()


def is_loaded(n_runs: int) -> bool:
    """Return whether this process has used the kernel for this number of runs."""
    return _specialise(n_runs) in _loaded


def is_kept(n_runs: int) -> bool:
    """Return whether the kernel for this number of runs is on disk, compiled for this kind of processor."""
    return _read_code(_find_file(_specialise(n_runs))) is not None


def _specialise(n_runs: int) -> int:
    """Return the number of runs that a kernel is compiled for; 0 is the kernel that shuffles rows of any length."""
    return n_runs if n_runs <= LARGEST_NETWORK else 0


@cache
def _write_kernel(special: int) -> str:
    return str(_Kernel(special).module)


def _load_kernel(special: int) -> Callable[..., None]:
    """Return the function, which releases the GIL while it works."""
    with _loading:
        if special not in _loaded:
            path = _find_file(special)
            code = _read_code(path)
            if code is None:
                code = _compile(special)
                with contextlib.suppress(OSError):  # where nothing can be written, every process compiles
                    if path is not None:
                        write_entry(path, code)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * (len(_ARRAYS) + len(_COUNTS)))
            _loaded[special] = engine, prototype(engine.get_function_address(_NAME))
        return _loaded[special][1]


def _compile(special: int) -> bytes:
    code: bytes = _target_machine().emit_object(llvm.parse_assembly(_write_kernel(special)))
    return code


@cache
def _describe_machine() -> tuple[str, str]:
    with contextlib.suppress(RuntimeError):  # newer versions do this by themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_machine() -> Any:
    processor, features = _describe_machine()
    return llvm.Target.from_default_triple().create_target_machine(cpu=processor, features=features, opt=3, jit=True)


def _find_file(special: int) -> Path | None:
    """Return where the machine code is kept: its name tells everything that it depends on."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        import platformdirs

        folder = platformdirs.user_cache_dir("metaeval") + "/kernels"
    if not folder:
        return None
    version = (llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info)), llvm.get_default_triple())
    text = "\0".join([_write_kernel(special), *_describe_machine(), *version])
    return Path(folder) / f"{_NAME}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.o"


def _read_code(path: Path | None) -> bytes | None:
    """Return machine code; None if there is none, it is damaged, or others could write it: what it holds is run."""
    try:
        if path is None or not is_private(path.parent.stat()):
            return None
    except OSError:
        return None
    return read_entry(path, lambda about: is_private(about) and not about.st_mode & stat.S_IWGRP)
