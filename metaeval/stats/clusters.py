"""Topics that come in clusters, such as passages of a document: a cluster is drawn as a whole, or not at all.

What is added over topics is added over each cluster first, and then clusters are drawn as topics are elsewhere. The mean
of clusters that are drawn is a ratio where their sizes differ. Each cluster therefore counts by the pseudo-value of the
jackknife that leaves it out (Efron and Stein 1981; as a standard error, CV3 of MacKinnon, Nielsen and Webb 2023). In
simulations plain sums of clusters lost nearly all power, and a linear expansion erred too often with few large clusters.
Where sizes differ, fewer clusters tell how much a mean varies: `effective_number`.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import FloatArray, IntArray, average

Float = TypeVar("Float", bound=np.floating)


def add_by_cluster(numbers: npt.NDArray[Float], clusters: IntArray | None) -> npt.NDArray[Float]:
    """Add numbers of topics, shape (..., topic), over each cluster, shape (..., cluster); without clusters, return them.

    `clusters` hold the number of the cluster of each topic, from 0; no number is left out.

    >>> add_by_cluster(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [5.0, 2.0]
    """
    if clusters is None:
        return numbers
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    return np.asarray(np.add.reduceat(numbers[..., order], starts, axis=-1))


def effective_number(sizes: npt.ArrayLike) -> FloatArray:
    """How many clusters of equal sizes tell as much of the variance of a mean? (Σn²)²/Σn⁴, of sizes of shape (..., cluster).

    The worst case, topics of a cluster that are all alike, of Carter, Schnepel and Steigerwald (Review of Economics and
    Statistics 99(4), 2017, §3). A cluster that is not there has 0 topics.

    >>> effective_number([[5, 5, 5, 5], [1, 1, 1, 7]]).round(2).tolist()
    [4.0, 1.12]
    """
    squares = np.square(np.asarray(sizes, dtype=np.float64))
    return np.asarray(squares.sum(axis=-1) ** 2 / np.maximum(np.square(squares).sum(axis=-1), 1.0))


def pool_clusters(values: FloatArray, clusters: IntArray, *, sums: bool = False) -> FloatArray:
    """Make one number of the topics of each cluster, so that clusters can be drawn as topics are.

    With n_c topics in cluster c of G, N in all, the sum S_c and the mean m over all topics, the pseudo-value is
    m + (G - 1)(S_c - n_c m)/(N - n_c), moved so that the mean over clusters is m. Of equal sizes it is the cluster's mean.
    All of this is of the topics that a run has; NaN where it has none of a cluster. Takes values of shape (run, topic) or
    (run, topic, measure), and at least two clusters, as `add_by_cluster` does.

    They spread by the root of (G - 1)/G · E/(E - 1) more, with the effective number E of clusters: a variance of E numbers is
    not one of G, and tests that take it for that err too often. `sums` are S_c·G/N in place of pseudo-values: for flips of
    signs, which are exact for what is symmetrical about 0.

    >>> pool_clusters(np.array([[[1.0], [3.0], [7.0], [9.0]]]), np.array([0, 0, 1, 1]))[0, :, 0].tolist()
    [2.0, 8.0]
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
