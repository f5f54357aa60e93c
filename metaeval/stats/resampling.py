"""Topics drawn anew, with signs and samples that all runs and measures share: one by one, in clusters, or as nobody saw them.

Topics may come in clusters, such as passages of a document: a cluster is drawn as a whole, or not at all. What is added over
topics is added over each cluster first, and then clusters are drawn as topics are elsewhere. The mean of clusters that are
drawn is a ratio where their sizes differ. Each cluster therefore counts by the pseudo-value of the jackknife that leaves it out
(Efron and Stein 1981; as a standard error, CV3 of MacKinnon, Nielsen and Webb 2023). In simulations plain sums of clusters lost
nearly all power, and a linear expansion erred too often with few large clusters. Where sizes differ, fewer clusters tell how
much a mean varies: `effective_number`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average, divide
from metaeval.stats.parallel import split_work
from metaeval.stats.streams import WORDS_A_CALL, UInt64Array, attempt_keys, trial_keys, words

Float = TypeVar("Float", bound=np.floating)

WEIGHTS_HELD = 2**25
"""Weights of topics, 256 MB, that are held at once: trials beyond them take another pass over the scores."""

SIGNS_HELD = 4_000_000
"""Signs of cells, 32 MB, that are held at once."""

DIGITS = 12
"""Of scores at a scale of about 1, less their mean, that a model tells apart."""


def topic_signs(key: int, trials: npt.ArrayLike, n_topics: int, *, first: int = 0) -> npt.NDArray[np.int8]:
    """Draw 1 or -1 for each trial and topic, numbered from `first`, from these alone: shape (trial, topic)."""
    keys = trial_keys(key, np.atleast_1d(np.asarray(trials)))
    word, skipped = divmod(first, 64)
    drawn = words(keys[:, np.newaxis], np.arange(word, word - (-(skipped + n_topics) // 64)))
    bits = np.unpackbits(drawn.astype("<u8").view(np.uint8), axis=1, count=skipped + n_topics, bitorder="little")
    return 1 - 2 * bits[:, skipped:].view(np.int8)


def draw_weights(key: int, trials: npt.ArrayLike, n_topics: int, clusters: IntArray | None = None) -> FloatArray:
    """Draw how often each topic occurs in each bootstrap sample, from (key, trial, n_topics) alone: shape (trial, topic).

    Rows sum to the number of topics. With the cluster of each topic, from 0, clusters are drawn instead.
    """
    if clusters is not None:
        drawn = draw_weights(key, trials, int(clusters.max()) + 1)[:, clusters]
        return np.asarray(drawn * (n_topics / drawn.sum(axis=1, keepdims=True)))
    keys = trial_keys(key, trials)
    counts = np.empty((keys.size, n_topics))
    for some in split_work(keys.size, WORDS_A_CALL // n_topics):  # as many trials as the processor's cache holds
        topics = _draw_topics(keys[some], n_topics)
        topics += np.arange(len(topics))[:, np.newaxis] * n_topics
        counts[some] = np.bincount(topics.ravel(), minlength=topics.size).reshape(topics.shape)
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


def weigh_by_topic(
    key: int, n_trials: int, n_topics: int, *by_topic: FloatArray, divisor: int, clusters: IntArray | None = None
) -> list[FloatArray]:
    """Sum numbers of topics, shape (column, topic), as often as they are drawn (see `draw_weights`): shapes (trial, column)."""
    sums = [np.empty((n_trials, len(numbers))) for numbers in by_topic]
    for trials in split_work(n_trials, WEIGHTS_HELD // n_topics, "resampling topics"):
        weights = draw_weights(key, range(trials.start, trials.stop), n_topics, clusters)
        for total, numbers in zip(sums, by_topic, strict=True):
            total[trials] = weights @ numbers.T / divisor
    return sums


def add_signed(sums: FloatArray, columns: npt.NDArray[np.floating], key: int, first: int) -> None:
    """Add numbers of cells from the `first` on, (cell, column), with random signs to sums, shape (trial, column), in place."""
    few = max(64, SIGNS_HELD // max(1, len(sums)) // 64 * 64)  # signs come in words of 64
    for some in split_work(len(columns), few):
        signs = topic_signs(key, range(len(sums)), some.stop - some.start, first=first + some.start)
        sums += signs.astype(columns.dtype) @ columns[some]


def add_by_cluster(numbers: npt.NDArray[Float], clusters: IntArray | None) -> npt.NDArray[Float]:
    """Add numbers of topics, (..., topic), over each cluster, numbered from 0 for each topic: shape (..., cluster)."""
    if clusters is None:
        return numbers
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    return np.asarray(np.add.reduceat(numbers[..., order], starts, axis=-1))


def effective_number(sizes: npt.ArrayLike) -> FloatArray:
    """How many clusters of equal sizes tell as much of the variance of a mean? (Σn²)²/Σn⁴, of sizes of shape (..., cluster).

    The worst case, topics of a cluster that are all alike, of Carter, Schnepel and Steigerwald (Review of Economics and
    Statistics 99(4), 2017, §3).
    """
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return np.asarray(squares.sum(axis=-1) ** 2 / np.maximum(np.square(squares).sum(axis=-1), 1.0))


def pool_clusters(values: FloatArray, clusters: IntArray, *, sums: bool = False) -> FloatArray:
    """Make one number of the topics of each cluster, so that clusters can be drawn as topics are.

    With n_c topics in cluster c of G, N in all, the sum S_c and the mean m over all topics, the pseudo-value is
    m + (G - 1)(S_c - n_c m)/(N - n_c), moved so that the mean over clusters is m, all of it of the topics that a run has; NaN
    where it has none of a cluster. Takes values of shape (run, topic) or (run, topic, measure), and at least two clusters.

    They spread by the root of (G - 1)/G · E/(E - 1) more, with the effective number E of clusters: a variance of E numbers is
    not one of G, and tests that take it for that err too often. `sums` are S_c·G/N in place of pseudo-values: for flips of
    signs, which are exact for what is symmetrical about 0.
    """
    if sums:
        added = add_by_cluster(np.moveaxis(values, 1, -1), clusters)
        return np.ascontiguousarray(np.moveaxis(added, -1, 1) * ((clusters.max() + 1) / len(clusters)))
    by_topic = np.moveaxis(values, 1, -1)
    known, means = ~np.isnan(by_topic), average(by_topic)[..., np.newaxis]
    rest = add_by_cluster(np.where(known, by_topic - means, 0.0), clusters)
    sizes = add_by_cluster(1.0 * known, clusters)
    left, counts = sizes.sum(axis=-1, keepdims=True) - sizes, (sizes > 0).sum(axis=-1, keepdims=True)
    pooled = np.where(sizes > 0, (counts - 1) * rest / np.maximum(left, 1), np.nan)
    pooled -= average(pooled)[..., np.newaxis]
    # Where a run has one cluster, that is where its mean is.
    worth = np.where(counts > 1, effective_number(sizes)[..., np.newaxis], np.inf)
    pooled *= np.sqrt(np.maximum(counts - 1, 0) / np.maximum(counts, 1) / (1 - 1 / worth))
    return np.ascontiguousarray(np.moveaxis(pooled + means, -1, 1))


class ScoreModel(NamedTuple):
    """A Gaussian copula between runs, each with its own distribution of scores (Urbano and Nagler, SIGIR 2018).

    `ordered`, shape (distinct run, topic), are the scores of each run in ascending order, less their mean, `normal` the normal
    scores of its ranks, as vectors of length 1; `copy_of`, shape (run,), tells which distinct run each run is.
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
    normal = divide(normal, np.sqrt(np.square(normal).sum(axis=1, keepdims=True)), 0.0)
    # The mean of the scores is also the mean under linear quantiles.
    ordered = (np.sort(distinct, axis=1) - distinct.mean(axis=1, keepdims=True)) * scale
    return ScoreModel(ordered, normal, copy_of)


def code_clusters(clusters: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of clusters in alphabetical order, and for each topic the number of its cluster."""
    names, codes = np.unique(np.array([*clusters], dtype=object), return_inverse=True)
    return tuple(names), codes
