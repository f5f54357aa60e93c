"""Random signs and bootstrap samples of topics, shared by all runs and measures, and sums of scores weighted by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray
from metaeval.stats.parallel import tell
from metaeval.stats.streams import WORDS_A_CALL, UInt64Array, attempt_keys, trial_keys, words

Number = TypeVar("Number", np.int64, np.float64)


def topic_signs(key: int, trials: npt.ArrayLike, n_topics: int, *, first: int = 0) -> npt.NDArray[np.int8]:
    """Draw the topics on which two runs are swapped in each trial.

    Parameters
    ----------
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    trials : array_like of int, shape (n_trials,)
        Trial numbers, from 0.
    n_topics : int
    first : int, optional
        The number of the first of these topics.

    Returns
    -------
    ndarray of int8, shape (trial, topic)
        1 or -1 with equal probability; a pure function of (key, trial, topic).

    Examples
    --------
    >>> topic_signs(5, range(2), 3).shape
    (2, 3)
    """
    keys = trial_keys(key, np.atleast_1d(np.asarray(trials)))
    word, skipped = divmod(first, 64)
    drawn = words(keys[:, np.newaxis], np.arange(word, word - (-(skipped + n_topics) // 64)))
    bits = np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=skipped + n_topics, bitorder="little")
    return 1 - 2 * bits[:, skipped:].view(np.int8)


def resampled_topics(key: int, trials: npt.ArrayLike, n_topics: int) -> IntArray:
    """Draw how often each topic occurs in each bootstrap sample of the topics.

    Parameters
    ----------
    key : int
        A 64-bit key, from `metaeval.stats.streams.stream_key`.
    trials : array_like of int, shape (n_trials,)
        Trial numbers, from 0.
    n_topics : int
        Number of topics, and number of draws with replacement.

    Returns
    -------
    ndarray of int64, shape (trial, topic)
        Each row sums to `n_topics`; a pure function of (key, trial, n_topics).

    Examples
    --------
    >>> resampled_topics(5, range(3), 10).sum(axis=1).tolist()
    [10, 10, 10]
    """
    numbers = np.atleast_1d(np.asarray(trials))
    return _fill_counts(np.empty((numbers.size, n_topics), dtype=np.int64), trial_keys(key, numbers))


def draw_weights(key: int, trials: range, n_topics: int, clusters: IntArray | None = None) -> FloatArray:
    """Return how often each topic is drawn, as `resampled_topics` does, in floats: shape (trial, topic).

    With the number of its cluster for each topic, clusters are drawn, and weights made to sum to the number of topics.
    """
    if clusters is None:
        return _fill_counts(np.empty((len(trials), n_topics)), trial_keys(key, trials))
    drawn = draw_weights(key, trials, int(clusters.max()) + 1)[:, clusters]
    return np.asarray(drawn * (n_topics / drawn.sum(axis=1, keepdims=True)))


def draw_signs(key: int, trials: range, n_topics: int) -> FloatArray:
    """Return the sign of each topic, as `topic_signs` does, in floats: shape (trial, topic)."""
    return topic_signs(key, trials, n_topics).astype(np.float64)


def _fill_counts(counts: npt.NDArray[Number], keys: UInt64Array) -> npt.NDArray[Number]:
    """Count how often each topic is drawn in each trial, as many at a time as the processor's cache holds."""
    n_topics = counts.shape[1]
    size = max(1, WORDS_A_CALL // n_topics)
    offsets = np.arange(size)[:, np.newaxis] * n_topics
    for start in range(0, keys.size, size):
        drawn = _draw_topics(keys[start : start + size], n_topics)
        drawn += offsets[: len(drawn)]
        counts[start : start + size] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return counts


def _draw_topics(keys: UInt64Array, n_topics: int) -> IntArray:
    """Draw `n_topics` topics for each trial without bias, by rejection (Lemire, 2019)."""
    products = words(keys[:, np.newaxis], np.arange(n_topics))
    products >>= np.uint64(32)
    products *= np.uint64(n_topics)
    bound = np.uint64((1 << 32) % n_topics)
    attempt = 1
    while (low := products.astype(np.uint32)).min() < bound:  # the low half of each
        trial, number = np.nonzero(low < bound)
        redrawn = words(attempt_keys(keys[trial], attempt), number)
        products[trial, number] = (redrawn >> np.uint64(32)) * np.uint64(n_topics)
        attempt += 1
    products >>= np.uint64(32)
    return products.view(np.int64)


WEIGHTS_HELD = 2**25
"""Weights of topics, 256 MB, that are held at once: trials beyond them take another pass over the scores."""

SIGNS_HELD = 4_000_000
"""Signs of cells, 32 MB, that are held at once."""


def trials_a_pass(n_topics: int, n_trials: int) -> int:
    """Return for how many trials the weights of topics are held at once."""
    return max(1, min(n_trials, WEIGHTS_HELD // n_topics))


def split_trials(numbers: int, n_trials: int) -> Iterator[range]:
    """Yield the trials of one pass after the other, where each trial holds so many numbers."""
    size = trials_a_pass(numbers, n_trials)
    return (range(start, min(start + size, n_trials)) for start in range(0, n_trials, size))


def weigh_by_topic(
    key: int, n_trials: int, n_topics: int, *by_topic: FloatArray, divisor: int, clusters: IntArray | None = None
) -> list[FloatArray]:
    """Sum numbers of topics, shape (column, topic), as often as they are drawn (see `draw_weights`): shapes (trial, column)."""
    sums = [np.empty((n_trials, len(numbers))) for numbers in by_topic]
    for trials in split_trials(n_topics, n_trials):
        weights = draw_weights(key, trials, n_topics, clusters)
        for total, numbers in zip(sums, by_topic, strict=True):
            total[trials.start : trials.stop] = weights @ numbers.T / divisor
        tell("resampling topics", trials.stop, n_trials)
    return sums


def add_signed(sums: FloatArray, columns: npt.NDArray[np.floating], key: int, first: int) -> None:
    """Add numbers of cells with the random signs of each trial to sums, in place.

    `sums` has shape (trial, column) and `columns` shape (cell, column); `first` is the number of the first of these cells.
    """
    # Signs come in words of 64, and few cells at a time where there are very many.
    n_trials = len(sums)
    few = max(64, SIGNS_HELD // max(1, n_trials) // 64 * 64)
    for start in range(0, len(columns), few):
        some = columns[start : start + few]
        signs = topic_signs(key, range(n_trials), len(some), first=first + start).astype(columns.dtype)
        sums += signs @ some
