"""Clusters of topics, which are drawn together, and repeats of a measurement, of which scores are the means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.data.labels import rank_labels


@dataclass(frozen=True)
class Repeats:
    """How many repeats the scores of a measure are means of, and the variance of one repeat of a run on a topic."""

    count: int
    variance: float


def code_clusters(clusters: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of clusters in alphabetical order, and for each topic the number of its cluster."""
    names = tuple(sorted(set(clusters)))
    number = {name: position for position, name in enumerate(names)}
    return names, np.array([number[cluster] for cluster in clusters], dtype=np.intp)


def order_clusters(clusters: Sequence[str], topics: Sequence[str]) -> np.ndarray | None:
    """Return the number of each topic's cluster with topics in the order of their labels; None without clusters."""
    return code_clusters(clusters)[1][np.argsort(rank_labels(topics))] if clusters else None
