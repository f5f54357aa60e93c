"""Random signs and bootstrap samples of topics, drawn once for all pairs of runs and all measures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from metaeval.stats.permutations import ALL_BITS
from metaeval.stats.streams import WORDS_A_CALL, UInt64Array, attempt_keys, trial_keys, words


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


def resampled_topics(key: int, trials: npt.ArrayLike, n_topics: int) -> npt.NDArray[np.int64]:
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
    keys = trial_keys(key, np.atleast_1d(np.asarray(trials)))
    counts = np.empty((keys.size, n_topics), dtype=np.int64)
    size = max(1, WORDS_A_CALL // 2 // n_topics)
    offsets = np.arange(size)[:, np.newaxis] * n_topics
    for start in range(0, keys.size, size):
        drawn = _draw_topics(keys[start : start + size], n_topics)
        drawn += offsets[: len(drawn)]
        counts[start : start + size] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
    return counts


def _draw_topics(keys: UInt64Array, n_topics: int) -> npt.NDArray[np.int64]:
    """Draw `n_topics` topics for each trial without bias, by rejection (Lemire, 2019)."""
    products = words(keys[:, np.newaxis], np.arange(n_topics))
    products >>= np.uint64(32)
    products *= np.uint64(n_topics)
    bound = np.uint64((1 << 32) % n_topics)
    attempt = 1
    while True:
        trial, place = np.nonzero((products & np.uint64(ALL_BITS)) < bound)
        if not trial.size:
            products >>= np.uint64(32)
            return products.view(np.int64)
        redrawn = words(attempt_keys(keys[trial], attempt), place)
        products[trial, place] = (redrawn >> np.uint64(32)) * np.uint64(n_topics)
        attempt += 1
