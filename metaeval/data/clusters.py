"""Clusters of topics, which are drawn together, and repeats of a measurement, of which scores are the means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from metaeval.data.labels import rank_labels
from metaeval.errors import DataError, format_count, format_option


@dataclass(frozen=True)
class Repeats:
    """How many repeats the scores of a measure are means of, and the variance of one repeat of a run on a topic."""

    count: int
    variance: float


def label_clusters(given: Iterable[object], topics: Sequence[str]) -> tuple[str, ...]:
    """Return the cluster of each topic as text; none for none."""
    clusters = tuple("" if label is None or label != label else str(label) for label in given)
    if clusters and len(clusters) != len(topics):
        raise DataError(
            f"there are {len(clusters)} clusters for {format_count(len(topics), 'topic')}; each topic has one"
        )
    for topic, cluster in zip(topics, clusters, strict=False):
        if not cluster.strip():
            raise DataError("it is in no cluster", topic=topic, hint="give it a cluster of its own")
    return clusters


def code_clusters(clusters: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of clusters in alphabetical order, and for each topic the number of its cluster."""
    names = tuple(sorted(set(clusters)))
    number = {name: position for position, name in enumerate(names)}
    return names, np.array([number[cluster] for cluster in clusters], dtype=np.intp)


def join_clusters(mine: tuple[str, ...], theirs: tuple[str, ...], collection: str) -> tuple[str, ...]:
    """Return the clusters of topics that two sets of scores share, which one of them may not know."""
    if mine and theirs and mine != theirs:
        raise DataError(f"the topics of the collection {collection} have two kinds of clusters")
    return mine or theirs


def find_clusters(topics: Sequence[object], clusters: Sequence[object], file: object) -> dict[str, str]:
    """Return the cluster of each topic from rows of both; refuse a topic in two clusters."""
    found: dict[str, str] = {}
    for topic, cluster in dict.fromkeys(zip(topics, clusters, strict=True)):
        label = "" if cluster is None or cluster != cluster else str(cluster)
        if found.setdefault(str(topic), label) != label and not (label and found[str(topic)]):
            raise DataError(
                f"a row of it names no cluster, others {(label or found[str(topic)])!r}", file=file, topic=str(topic),
                hint="give all rows of a topic its cluster",
            )  # fmt: skip
        if found[str(topic)] != label:
            raise DataError(
                f"it is in two clusters, {found[str(topic)]!r} and {label!r}", file=file, topic=str(topic),
                hint=f"if these are two topics, join both columns: {format_option('columns')} topic=A+B",
            )  # fmt: skip
    return found


def refuse_spanning(collections: Sequence[tuple[str, Sequence[str]]], file: object) -> None:
    """Refuse a cluster in two collections, each given with the clusters of its topics."""
    home: dict[str, str] = {}
    for collection, clusters in collections:
        for cluster in sorted(set(clusters)):
            if home.setdefault(cluster, collection) != collection:
                raise DataError(
                    f"the cluster {cluster!r} spans the collections {home[cluster]} and {collection}",
                    file=file,
                    hint=f"join two columns, {format_option('clusters', 'COLLECTION+CLUSTER')}, or read one collection",
                )


def order_clusters(clusters: Sequence[str], topics: Sequence[str]) -> np.ndarray | None:
    """Return the number of each topic's cluster with topics in the order of their labels; None without clusters."""
    return code_clusters(clusters)[1][np.argsort(rank_labels(topics))] if clusters else None
