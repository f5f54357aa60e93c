"""Scores of any size: an array that is read in blocks, with each measure at a common scale, or as integers.

Scores larger than `LARGE` bytes are a file that is mapped into memory (see `metaeval.data.scratch`). What was read of
it stays in memory until it is given back, which is done here after every block. Smaller scores are a single block.
Statistics are written over blocks and never ask which of the two it is. Blocks of runs hold every topic, and blocks of
topics every run, so that a sum over topics or runs is made as for the whole.

Scores are brought to a common scale by powers of two, which round nothing and so change no result. As integers, their
sums are exact and equal differences compare as equal. On discrete scores a plain float comparison is wrong: 0.3 - 0.2
and 0.2 - 0.1 differ in floating point, and the comparison that decides a tie then falls either way. Integer sums do not
depend on their order, and a tolerance of a few units decides the ties.
"""

from __future__ import annotations

import hashlib
import mmap
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from metaeval.errors import MetaevalError
from metaeval.stats.parallel import describe_shape, tell

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

LARGE = 256 * 2**20
"""Bytes of scores from which on they are not held in memory."""

CELLS_A_BLOCK = 2**21
"""Scores of a block: 16 MB, of which a few copies are made."""

RUNS_A_BLOCK = 16
"""Runs of which a block of topics is read before memory is given back."""

LARGEST_EXPONENT = 1000
"""Sums of scores below 2**1000 are floats."""

_SMALLEST_EXPONENT, _LARGEST_EXPONENT = -1073, 1024  # of floats, as frexp has them

DIGITS = 9
"""Decimals to which scaled scores and their differences are rounded, so that floating point decides no tie."""


def split_runs(values: FloatArray) -> Iterator[slice]:
    """Yield blocks of runs, all of them at once unless the scores are large, and give back what was read of each."""
    return _split(values, axis=0)


def split_topics(values: FloatArray) -> Iterator[slice]:
    """Yield blocks of topics, all of them at once unless the scores are large, and give back what was read of each."""
    return _split(values, axis=1)


def split_measures(values: FloatArray, n_measures: int | None = None) -> Iterator[range]:
    """Yield groups of measures that are taken together: all of them unless the scores are large, then one by one."""
    length = values.shape[2] if n_measures is None else n_measures
    size = 1 if is_large(values) else length
    return (range(start, start + size) for start in range(0, length, size))


def take_measure(values: FloatArray, measure: int) -> FloatArray:
    """Return a copy of the scores of one measure, contiguous, of shape (run, topic)."""
    taken = np.empty(values.shape[:2])
    for runs in split_runs(values):
        taken[runs] = values[runs, :, measure]
    return taken


def mean_over_topics(values: FloatArray) -> FloatArray:
    """Return the mean of every run, shape (run, measure)."""
    return np.concatenate([values[runs].mean(axis=1) for runs in split_runs(values)])


def release(values: npt.NDArray[np.generic]) -> None:
    """Give back the memory of what was read of a mapped file, which stays in the file; of other arrays, nothing."""
    array: object = values
    while array is not None:
        mapped = getattr(array, "_mmap", None)
        if isinstance(mapped, mmap.mmap):
            if hasattr(mapped, "madvise"):
                mapped.madvise(mmap.MADV_DONTNEED)
            return
        array = getattr(array, "base", None)


class Scaled:
    """Scores of any size as `scale_scores` makes them: in memory, or made block by block where memory does not hold them.

    `values` are finite, of shape (run, topic, measure); `measures` choose some of the last axis, in their order.
    """

    def __init__(self, values: FloatArray, measures: npt.ArrayLike | None = None) -> None:
        self.large = is_large(values)
        self._measures = None if measures is None else np.asarray(measures, dtype=np.intp)
        if not self.large:
            values = scale_scores(values if self._measures is None else values[..., self._measures])
            # The order of the axes in memory decides in which order NumPy adds.
            values = np.ascontiguousarray(values)
        self.values = values
        self._exponents = -find_exponents(values) if self.large else np.zeros(values.shape[-1], dtype=np.intc)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Runs, topics and measures."""
        n_runs, n_topics, n_measures = self.values.shape
        chosen = self._measures if self.large else None
        return n_runs, n_topics, n_measures if chosen is None else len(chosen)

    @property
    def sharing(self) -> dict[str, str]:
        """Options of joblib: a mapped file has no name, so that only threads of this process can read it."""
        return {"require": "sharedmem"} if self.large else {"prefer": "threads"}

    def announce(self, what: str) -> None:
        """Tell what is held in memory and how often scores are read, if they are not in memory themselves."""
        if self.large:
            tell(f"{describe_shape(self.shape)}{what}")

    def __getitem__(self, runs: slice) -> FloatArray:
        """Return some runs: a copy where memory does not hold the scores."""
        return self._scale(self.values[runs])

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield runs with their scores: all of them unless they are many."""
        return ((runs, self[runs]) for runs in split_runs(self.values))

    def topic_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield topics with the scores of all runs on them: all of them unless they are many."""
        return ((topics, self.read_topics(topics)) for topics in split_topics(self.values))

    def split_measures(self) -> Iterator[range]:
        """Yield groups of measures that are taken together: all of them unless the scores are large."""
        return split_measures(self.values, self.shape[2])

    def read_topics(self, topics: slice) -> FloatArray:
        """Return all runs on some topics."""
        if not self.large:
            return self.values[:, topics]
        taken = np.empty((len(self.values), topics.stop - topics.start, self.values.shape[2]))
        # A page of a file brings its neighbours, most of the file by the last run: they are given back on the way.
        for start in range(0, len(taken), RUNS_A_BLOCK):
            runs = slice(start, start + RUNS_A_BLOCK)
            taken[runs] = self.values[runs, topics]
            release(self.values)
        return self._scale(taken, out=taken)

    def without(self, run: int) -> Scaled:
        """Return the scores without a run: a copy of the others."""
        return Scaled(np.delete(self.values, run, axis=0), self._measures if self.large else None)

    def take(self, measure: int) -> FloatArray:
        """Return a copy of one measure, contiguous, of shape (run, topic)."""
        column = measure if self._measures is None or not self.large else int(self._measures[measure])
        taken = take_measure(self.values, column)
        return np.ldexp(taken, self._exponents[column], out=taken)

    def means(self) -> FloatArray:
        """Return the mean of every run, shape (run, measure)."""
        return np.concatenate([block.mean(axis=1) for _, block in self.blocks()])

    def weigh(self, weights: FloatArray, change: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Return sums over topics with the weights of each trial, shape (trial, run, measure).

        `weights` has shape (trial, topic); `change` is applied to every score, such as `numpy.abs`. Every run is summed
        over all topics at once, as if there were no blocks.
        """
        n_runs, _, n_measures = self.shape
        sums = np.empty((len(weights), n_runs, n_measures))
        for runs, block in self.blocks():
            by_topic = (block if change is None else change(block)).transpose(1, 0, 2).reshape(block.shape[1], -1)
            sums[:, runs] = (weights @ by_topic).reshape(len(weights), -1, n_measures)
        return sums

    def _scale(self, some: FloatArray, out: FloatArray | None = None) -> FloatArray:
        if not self.large:
            return some
        if self._measures is None:
            return np.ldexp(some, self._exponents, out=out)
        # Contiguous, because the order of the axes in memory decides in which order NumPy adds.
        return np.ldexp(np.take(some, self._measures, axis=-1), self._exponents[self._measures])


def scale_scores(values: npt.ArrayLike) -> FloatArray:
    """Multiply the scores of each measure, the last axis, by a power of two so that a typical one lies between 1/2 and 1.

    What counts as rounding depends on how large scores are. The typical score is the median magnitude of those that are not
    zero, which a few huge scores do not move. The largest score is below 2**1000.
    """
    scores = np.asarray(values, dtype=np.float64)
    return np.ldexp(scores, -find_exponents(scores))


def find_exponents(scores: FloatArray) -> npt.NDArray[np.intc]:
    """Return the power of two by which `scale_scores` divides the scores of each measure, shape (measure,)."""
    cells = scores.reshape(-1, scores.shape[-1])

    def blocks() -> Iterator[FloatArray]:
        size = max(1, CELLS_A_BLOCK // cells.shape[1])
        for start in range(0, len(cells), size):
            yield cells[start : start + size]
            release(cells)

    return count_exponents(blocks(), cells.shape[1])


def count_exponents(blocks: Iterable[FloatArray], n_measures: int) -> npt.NDArray[np.intc]:
    """Return the same of blocks of shape (..., measure): exponents grow with magnitudes, and so do their medians."""
    counts = np.zeros((n_measures, _LARGEST_EXPONENT - _SMALLEST_EXPONENT + 1), dtype=np.int64)
    for block in blocks:
        mantissas, exponents = np.frexp(block)
        for measure in range(n_measures):
            known = exponents[..., measure][mantissas[..., measure] != 0] - _SMALLEST_EXPONENT
            counts[measure] += np.bincount(known, minlength=counts.shape[1])
    typical = np.zeros(n_measures, dtype=np.intc)
    for measure in np.flatnonzero(counts.any(axis=1)).tolist():
        upto = np.cumsum(counts[measure])
        middle = int(np.searchsorted(upto, (upto[-1] - 1) // 2, side="right")) + _SMALLEST_EXPONENT
        largest = int(np.flatnonzero(counts[measure])[-1]) + _SMALLEST_EXPONENT
        typical[measure] = max(middle, largest - LARGEST_EXPONENT)
    return typical


def average(values: FloatArray) -> FloatArray:
    """Return means along the last axis of what is there, NaN if nothing is."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def round_scaled(values: FloatArray) -> FloatArray:
    """Round scaled scores, or differences of them, so that those that differ by rounding alone are equal."""
    with np.errstate(over="ignore"):  # beyond 1e299 they become infinite, which is above all others too
        return np.round(values, DIGITS)


def scale_squares(values: FloatArray, axis: int | tuple[int, ...] | None = None) -> FloatArray:
    """Multiply numbers by a power of two so that the largest magnitude lies between 1/2 and 1, before they are squared.

    The largest is sought along `axis`; by default, over all numbers.
    """
    largest = np.abs(values).max(axis=axis, keepdims=True)
    return np.ldexp(values, -np.frexp(largest)[1])


def check_shape(values: npt.ArrayLike) -> FloatArray:
    """Return the scores as they are, float64 of shape (run, topic, measure), or refuse what cannot be tested."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 3:
        raise MetaevalError(
            f"Scores must have three axes (run, topic, measure), not {scores.ndim}; "
            "for one measure, add a last axis of length 1."
        )
    n_runs, n_topics, n_measures = scores.shape
    if n_runs < 2:
        raise MetaevalError(f"At least two runs are needed to compare runs; there are {n_runs}.")
    if n_topics < 2:
        raise MetaevalError(f"At least two topics are needed; there are {n_topics}.")
    if n_measures < 1:
        raise MetaevalError("At least one measure is needed; there is none.")
    if not all(np.isfinite(scores[runs]).all() for runs in split_runs(scores)):
        run, topic, measure = np.argwhere(~np.isfinite(scores))[0]
        raise MetaevalError(
            f"Scores must be finite, but the score of run {run} on topic {topic} by measure {measure} "
            f"is {scores[run, topic, measure]}."
        )
    return scores


def check_count(number: int, what: str) -> int:
    """Return a count as a Python integer, or raise an error if it is below one."""
    try:
        count = operator.index(number)
    except TypeError:
        raise MetaevalError(f"The number of {what} must be an integer, not {number!r}.") from None
    if count < 1:
        raise MetaevalError(f"The number of {what} must be at least 1, not {count}.")
    return count


def is_large(values: FloatArray) -> bool:
    """Whether scores are too many to copy them as a whole."""
    return values.nbytes > LARGE


def _split(values: FloatArray, axis: int) -> Iterator[slice]:
    length = values.shape[axis]
    size = max(1, CELLS_A_BLOCK * length // max(1, values.size)) if is_large(values) else length
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))
        if size < length:
            release(values)


def split_pairs(scores: Scaled, what: str, measures: Sequence[int] | None = None) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the differences of runs, the first less the second, some pairs at a time, and tell how far that has come.

    Pairs are a slice of the order of ``np.triu_indices(n_runs, 1)``, and their differences have shape (pair, topic, measure).
    """
    columns = slice(None) if measures is None else list(measures)
    n_runs = len(scores.values)
    n_pairs, done = n_runs * (n_runs - 1) // 2, 0
    for ones in split_runs(scores.values):
        left = scores[ones][..., columns]
        for others in split_runs(scores.values):
            if others.stop <= ones.start:
                continue
            right = left if others == ones else scores[others][..., columns]
            for run in range(ones.start, ones.stop):
                start = max(run + 1, others.start)
                if start >= others.stop:
                    continue
                # Pairs of one run are one after the other, behind those of the runs before it.
                first = run * n_runs - run * (run + 1) // 2 + start - run - 1
                pairs = slice(first, first + others.stop - start)
                yield pairs, left[run - ones.start] - right[start - others.start :]
                done += pairs.stop - pairs.start
            tell(what, done, n_pairs)


LARGEST_UNIT = 2**32 - 1

CACHE = 2**19
"""Bytes that stay in the processor's cache."""

UnitArray = npt.NDArray[np.uint32]


class Units:
    """Scores of shape (run, topic, measure), of any size, as integers, read some topics at a time.

    A unit is 1/(2**32 - 1) of the widest range of the measure within one topic. Measuring from the lowest score
    on the topic keeps every difference between runs, and removes any constant added to all scores of a topic.
    """

    def __init__(self, values: FloatArray) -> None:
        scores = Scaled(values)
        self.shape, self.sharing = scores.shape, scores.sharing
        lowest, highest = np.full((2, *self.shape[1:]), np.inf)
        highest *= -1
        for _, block in scores.blocks():
            np.minimum(lowest, block.min(axis=0), out=lowest)
            np.maximum(highest, block.max(axis=0), out=highest)
        widest = (highest - lowest).max(axis=0)
        self._lowest, self._widest = lowest, np.where(widest > 0, widest, 1.0)
        self._scores: Scaled | None = scores
        if not scores.large:  # one block is made once, and is all that a task has to carry to its worker
            self._whole = list(self.blocks())
            self._scores = None

    def blocks(self) -> Iterator[tuple[slice, UnitArray]]:
        """Yield topics with their scores, shape (topic, run, measure): all of them unless they are many."""
        if self._scores is None:
            return iter(self._whole)
        return ((topics, self._quantise(block, topics)) for topics, block in self._scores.topic_blocks())

    def limit_bytes(self, most: int) -> int:
        """Return how many bytes a pass over the scores may hold: few where another pass costs no reading."""
        return min(most, CACHE) if self._scores is None else most

    def announce(self, what: str) -> None:
        """Tell what is held in memory and how often scores are read, if they are not in memory themselves."""
        if self._scores is not None:
            self._scores.announce(what)

    def name(self, what: str, settings: str) -> str:
        """Return a name of what is made of these scores with these settings."""
        digest = hashlib.sha256(settings.encode())
        for _, block in self.blocks():
            digest.update(np.ascontiguousarray(block, dtype="<u4").data)
        return f"{what}-{digest.hexdigest()[:32]}"

    def _quantise(self, block: FloatArray, topics: slice) -> UnitArray:
        above = block - self._lowest[topics]
        above /= self._widest
        above *= LARGEST_UNIT
        return np.asarray(np.rint(above, out=above).astype(np.uint32).transpose(1, 0, 2))


def tie_tolerance(n_scores: int) -> int:
    """Return how many units two equal sums of this many scores can differ by rounding.

    Each score is off by at most half a unit, so each sum by at most half its length, and two of them by at
    most their length.
    """
    return n_scores
