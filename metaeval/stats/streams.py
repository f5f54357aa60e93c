"""Random numbers: one key per analysis, and two kinds of draws.

Signs, permutations and splits are *counter-based*: the bits for (key, trial, topic, column) are computed from this position
alone, so that any number of jobs and any order of blocks gets the same. Everything else uses `generator`, seeded by the same
kind of key. The mixing function and its increment are those of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.errors import DataError, MetaevalError

GAMMA = 0x9E3779B97F4A7C15
MIX_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
LAST_SHIFT = 31

WORDS_A_CALL = 16_384
"""Words mixed by one NumPy call: few enough to stay in the cache through all steps."""

Item = TypeVar("Item", bound=tuple[str, ...])
UInt64Array = npt.NDArray[np.uint64]


def stream_key(seed: int, *names: str) -> int:
    """Derive the 64-bit key of the random draws for one analysis of one collection.

    Leave measures out of the names, so that adding, removing or reordering measures does not change the draws.
    """
    try:
        seed = operator.index(seed)
    except TypeError:
        raise MetaevalError(f"The seed must be an integer, not {seed!r}.") from None
    digest = hashlib.blake2b(digest_size=8, person=b"metaeval")
    for part in (str(seed), *names):
        encoded = part.encode()
        # The length comes first, so that ("ab", "c") and ("a", "bc") are different streams.
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return int.from_bytes(digest.digest(), "little")


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return a new NumPy generator, PCG64, for one analysis of one collection, from the key of `stream_key`."""
    return np.random.Generator(np.random.PCG64(stream_key(seed, *names)))


def mix(words: UInt64Array) -> UInt64Array:
    """Mix contiguous 64-bit words in place by a bijection (the SplitMix64 finaliser), and return them."""
    flat = words.reshape(-1)
    spare = np.empty(min(flat.size, WORDS_A_CALL), dtype=np.uint64)
    for start in range(0, flat.size, WORDS_A_CALL):
        part = flat[start : start + WORDS_A_CALL]
        shifted = spare[: part.size]
        for shift, factor in MIX_STEPS:
            np.right_shift(part, np.uint64(shift), out=shifted)
            np.bitwise_xor(part, shifted, out=part)
            np.multiply(part, np.uint64(factor), out=part)
        np.right_shift(part, np.uint64(LAST_SHIFT), out=shifted)
        np.bitwise_xor(part, shifted, out=part)
    return words


def trial_keys(key: int, trials: npt.ArrayLike) -> UInt64Array:
    """Derive the key of each trial, shape (trial,): mix(mix(key) + trial)."""
    if not isinstance(key, int | np.integer) or not 0 <= key < 2**64:
        raise MetaevalError(f"A key must be an integer between 0 and 2**64 - 1, not {key!r}; stream_key makes one.")
    return mix(np.asarray(trials).astype(np.uint64) + mix(np.array([key], dtype=np.uint64)))


def attempt_keys(keys: UInt64Array, attempt: int) -> UInt64Array:
    """Derive the keys of a later attempt at the same trials; attempt 0 is the trial itself."""
    return keys if attempt == 0 else mix(keys + np.uint64(attempt))


def words(keys: UInt64Array, positions: npt.ArrayLike) -> UInt64Array:
    """Draw the words at these positions of these trials, with broadcasting: mix(key + gamma (position + 1))."""
    steps = (np.asarray(positions).astype(np.uint64) + np.uint64(1)) * np.uint64(GAMMA)
    return mix(np.ascontiguousarray(keys + steps))


def rank_labels(labels: Sequence[str]) -> np.ndarray:
    """Return the place of each label among the sorted ones, as text: the order in which random draws are made."""
    return np.argsort(np.argsort(np.array(labels, dtype=object)))


def assign_parts(
    items: Iterable[Item], n_parts: int, *, seed: int = 0, collection: str = "", file: object = None
) -> dict[Item, str]:
    """Assign every item to a part at random; the sizes of the parts differ by one item at most."""
    known = sorted(set(items))
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= len(known):
        problem = f"{len(known):,} items cannot be split into {n_parts} parts: from 1 to as many parts as items"
        raise DataError(problem, file=file)
    part = generator(seed, collection, "parts").permutation(np.arange(len(known)) % n_parts)
    return {item: f"part-{number + 1}" for item, number in zip(known, part.tolist(), strict=True)}
