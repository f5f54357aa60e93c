"""Topics that come in clusters, such as passages of a document: a cluster is drawn as a whole, or not at all.

What is added over topics is added over each cluster first, and then clusters are drawn as topics are elsewhere. The mean
of clusters that are drawn is a ratio where their sizes differ. Each cluster therefore counts by the pseudo-value of the
jackknife that leaves it out (Efron and Stein 1981; as a standard error, CV3 of MacKinnon, Nielsen and Webb 2023). In
simulations plain sums of clusters lost nearly all power, and a linear expansion erred too often with few large clusters.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, IntArray

Float = TypeVar("Float", bound=np.floating)


def add_by_cluster(numbers: npt.NDArray[Float], clusters: IntArray | None) -> npt.NDArray[Float]:
    """Add numbers of topics, shape (..., topic), over each cluster, shape (..., cluster); without clusters, return them.

    Parameters
    ----------
    numbers : ndarray of float, shape (..., topic)
    clusters : ndarray of int, shape (topic,), or None
        The number of the cluster of each topic, from 0; no number is left out.

    Returns
    -------
    ndarray of the same type, shape (..., cluster)

    Examples
    --------
    >>> add_by_cluster(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [5.0, 2.0]
    """
    if clusters is None:
        return numbers
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    return np.asarray(np.add.reduceat(numbers[..., order], starts, axis=-1))


def pool_clusters(values: FloatArray, clusters: IntArray, *, sums: bool = False) -> FloatArray:
    """Make one number of the topics of each cluster, so that clusters can be drawn as topics are.

    With n_c topics in cluster c of G, N in all, the sum S_c and the mean m over all topics, the pseudo-value is
    m + (G - 1)(S_c - n_c m)/(N - n_c), moved so that the mean over clusters is m. Of equal sizes it is the cluster's mean.

    Parameters
    ----------
    values : ndarray of float, shape (run, topic, measure)
    clusters : ndarray of int, shape (topic,)
        As for `add_by_cluster`; at least two clusters.
    sums : bool, optional
        Take S_c·G/N in place of pseudo-values: for flips of signs, which are exact for what is symmetrical about 0.

    Returns
    -------
    ndarray of float64, shape (run, cluster, measure)

    Examples
    --------
    >>> pool_clusters(np.array([[[1.0], [3.0], [7.0], [9.0]]]), np.array([0, 0, 1, 1]))[0, :, 0].tolist()
    [2.0, 8.0]
    """
    sizes = np.bincount(clusters)
    if sums:
        added = add_by_cluster(np.moveaxis(values, 1, -1), clusters)
        return np.ascontiguousarray(np.moveaxis(added, -1, 1) * (len(sizes) / len(clusters)))
    means = values.mean(axis=1, keepdims=True)
    rest = add_by_cluster(np.moveaxis(values - means, 1, -1), clusters)
    pooled = np.moveaxis((len(sizes) - 1) * rest / (len(clusters) - sizes), -1, 1)
    pooled -= pooled.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(pooled + means)


def intraclass_correlation(values: FloatArray, clusters: IntArray) -> FloatArray:
    """How alike are differences between runs on two topics of one cluster?

    Of what neither run nor topic explains, by the analysis of variance of clusters of unequal sizes (Donner 1986): with the
    mean squares between and within clusters, and n0 = (N - Σn²/N)/(G - 1), (B - W)/(B + (n0 - 1)W). It is negative where
    topics of one cluster are less alike than others.

    Parameters
    ----------
    values : ndarray of float, shape (run, topic, measure)
    clusters : ndarray of int, shape (topic,)
        As for `add_by_cluster`; at least two clusters.

    Returns
    -------
    ndarray of float64, shape (measure,)
        NaN where each topic is its own cluster, or nothing is left to explain.

    Examples
    --------
    >>> difference = np.array([1.0, 1.0, -1.0, -1.0])[:, None]
    >>> intraclass_correlation(np.stack([difference, -difference]), np.array([0, 0, 1, 1])).tolist()
    [1.0]
    """
    sizes = np.bincount(clusters)
    n_topics, n_clusters = len(clusters), len(sizes)
    rest = np.moveaxis(values - values.mean(axis=1, keepdims=True), 1, -1)
    rest = rest - rest.mean(axis=0)
    sums = add_by_cluster(rest, clusters)
    explained = (sums**2 / sizes).sum(axis=(0, 2))
    n_average = (n_topics - (sizes**2).sum() / n_topics) / (n_clusters - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = explained / (n_clusters - 1)
        within = np.maximum((rest**2).sum(axis=(0, 2)) - explained, 0.0) / (n_topics - n_clusters)
        return np.asarray((between - within) / (between + (n_average - 1) * within))


def design_effect(correlation: npt.ArrayLike, clusters: IntArray) -> FloatArray:
    """How many times as many topics in such clusters tell as much as single ones? Kish (1965): 1 + (Σn²/N - 1)ρ.

    Examples
    --------
    >>> design_effect(0.5, np.repeat(np.arange(50), 10)).item()
    5.5
    """
    sizes = np.bincount(clusters)
    return np.asarray(1 + ((sizes**2).sum() / len(clusters) - 1) * np.maximum(np.nan_to_num(correlation), 0.0))
