"""Topics drawn anew: random signs, bootstrap samples, sums of scores weighted by them, and topics that nobody has seen.

Signs and samples are shared by all runs and measures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray
from metaeval.stats.parallel import tell
from metaeval.stats.streams import WORDS_A_CALL, UInt64Array, attempt_keys, trial_keys, words

WEIGHTS_HELD = 2**25
"""Weights of topics, 256 MB, that are held at once: trials beyond them take another pass over the scores."""

SIGNS_HELD = 4_000_000
"""Signs of cells, 32 MB, that are held at once."""

DIGITS = 12
"""Of scores at a scale of about 1, less their mean, that a model tells apart."""


def topic_signs(key: int, trials: npt.ArrayLike, n_topics: int, *, first: int = 0) -> npt.NDArray[np.int8]:
    """Draw 1 or -1 for each trial, numbered from 0, and topic, numbered from `first`: shape (trial, topic).

    A pure function of (key, trial, topic), with a key of `metaeval.stats.streams.stream_key`.

    >>> topic_signs(5, range(2), 3).shape
    (2, 3)
    """
    keys = trial_keys(key, np.atleast_1d(np.asarray(trials)))
    word, skipped = divmod(first, 64)
    drawn = words(keys[:, np.newaxis], np.arange(word, word - (-(skipped + n_topics) // 64)))
    bits = np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=skipped + n_topics, bitorder="little")
    return 1 - 2 * bits[:, skipped:].view(np.int8)


def draw_weights(key: int, trials: npt.ArrayLike, n_topics: int, clusters: IntArray | None = None) -> FloatArray:
    """Draw how often each topic occurs in each bootstrap sample of the topics, shape (trial, topic).

    A pure function of (key, trial, n_topics); rows sum to the number of topics. With the number of its cluster for each topic,
    clusters are drawn, and weights made to sum to that.

    >>> draw_weights(5, range(3), 10).sum(axis=1).tolist()
    [10.0, 10.0, 10.0]
    """
    if clusters is not None:
        drawn = draw_weights(key, trials, int(clusters.max()) + 1)[:, clusters]
        return np.asarray(drawn * (n_topics / drawn.sum(axis=1, keepdims=True)))
    keys = trial_keys(key, trials)
    counts = np.empty((keys.size, n_topics))
    size = max(1, WORDS_A_CALL // n_topics)  # as many trials at a time as the processor's cache holds
    offsets = np.arange(size)[:, np.newaxis] * n_topics
    for start in range(0, keys.size, size):
        topics = _draw_topics(keys[start : start + size], n_topics)
        topics += offsets[: len(topics)]
        counts[start : start + size] = np.bincount(topics.ravel(), minlength=topics.size).reshape(topics.shape)
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
    """Add numbers of cells, shape (cell, column), with the random signs of each trial to sums, shape (trial, column), in place.

    `first` is the number of the first of these cells.
    """
    n_trials = len(sums)
    few = max(64, SIGNS_HELD // max(1, n_trials) // 64 * 64)  # signs come in words of 64
    for start in range(0, len(columns), few):
        some = columns[start : start + few]
        signs = topic_signs(key, range(n_trials), len(some), first=first + start).astype(columns.dtype)
        sums += signs @ some


class ScoreModel(NamedTuple):
    """A Gaussian copula between runs, each with its own distribution of scores (Urbano and Nagler, SIGIR 2018).

    `ordered` are the scores of each distinct run in ascending order, less their mean, shape (distinct run, topic);
    `normal` the normal scores of its ranks, as vectors of length 1, of the same shape; `copy_of`, shape (run,), tells
    which distinct run each run is.
    """

    ordered: FloatArray
    normal: FloatArray
    copy_of: IntArray

    def draw(self, n_topics: int, n_studies: int, rng: np.random.Generator) -> FloatArray:
        """Draw scores of as many new topics in each study, shape (run, topic, study); the true mean of every run is 0.

        Random combinations of the observed topics have exactly the observed correlations, whatever their rank.
        """
        from scipy.special import ndtr

        n_distinct, n_observed = self.ordered.shape
        levels = (np.arange(n_observed) + 0.5) / n_observed
        shares = ndtr(self.normal @ rng.standard_normal((n_observed, n_topics * n_studies)))
        drawn = np.stack([np.interp(of_run, levels, run) for of_run, run in zip(shares, self.ordered, strict=True)])
        return drawn.reshape(n_distinct, n_topics, n_studies)[self.copy_of]


def fit_scores(scores: npt.ArrayLike) -> ScoreModel:
    """Return the model of the scores of one measure, shape (run, topic)."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    given = np.asarray(scores, dtype=np.float64)
    scale = np.ldexp(1.0, np.frexp(np.abs(given).max())[1])
    # Runs that differ in their mean alone are the same run once means are equal; rounding must not tell them apart.
    centred = np.round(given / scale - (given / scale).mean(axis=1, keepdims=True), DIGITS)
    _, first, copy_of = np.unique(centred, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # distinct runs stay in their order
    distinct, copy_of = centred[first[order]], np.argsort(order)[copy_of.reshape(-1)]
    n_observed = distinct.shape[1]
    normal = ndtri((rankdata(distinct, axis=1) - 0.5) / n_observed)
    normal -= normal.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.square(normal).sum(axis=1, keepdims=True))
    normal = np.divide(normal, lengths, out=np.zeros_like(normal), where=lengths > 0)
    # The mean of the scores is also the mean under linear quantiles.
    ordered = (np.sort(distinct, axis=1) - distinct.mean(axis=1, keepdims=True)) * scale
    return ScoreModel(ordered, normal, copy_of)
