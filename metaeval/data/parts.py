"""Random parts of a collection in place of its topics (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from metaeval.data.labels import rank_labels
from metaeval.data.runs import ClassificationRuns
from metaeval.errors import DataError
from metaeval.stats.streams import generator

Item = TypeVar("Item", bound=tuple[str, ...])


def join_topics(runs: ClassificationRuns, n_parts: int = 10, *, seed: int = 0) -> ClassificationRuns:
    """Put the topics of a collection together at random into fewer, larger ones, the same for all runs.

    Where topics are random groups of items, as in the ordinal sets, the parts are random parts of the items. Where
    topics mean something, split item by item instead, while reading: `metaeval.io.judgements.read` has `parts`.

    >>> runs = ClassificationRuns(np.ones((1, 4, 2, 2), int), runs=["a"], topics=range(4), classes=["no", "yes"])
    >>> join_topics(runs, 2).gold.tolist()
    [[4, 4], [4, 4]]
    """
    n_topics = len(runs.topics)
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= n_topics:
        raise DataError(f"{n_topics} topics cannot be put together into {n_parts} parts: from 1 to as many as topics")
    drawn = generator(seed, runs.collection, "partitioned").permutation(np.arange(n_topics) % n_parts)
    part = drawn[rank_labels(runs.topics)]
    member = (part == np.arange(n_parts)[:, np.newaxis]).astype(np.int64)  # part × topic
    counts = np.einsum("pt,rtgc->rpgc", member, runs.counts)
    return replace(runs, counts=counts, topics=tuple(f"part-{number + 1}" for number in range(n_parts)))


def assign_parts(
    items: Iterable[Item], n_parts: int, *, seed: int = 0, collection: str = "", file: object = None
) -> dict[Item, str]:
    """Assign every item to a part at random; the sizes of the parts differ by one item at most.

    >>> sorted(assign_parts([("t", "1"), ("t", "2"), ("u", "1"), ("u", "2")], 2).values())
    ['part-1', 'part-1', 'part-2', 'part-2']
    """
    known = sorted(set(items))
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= len(known):
        raise DataError(
            f"{len(known):,} items cannot be split into {n_parts} parts: from 1 to as many parts as items", file=file
        )
    part = generator(seed, collection, "parts").permutation(np.arange(len(known)) % n_parts)
    return {item: f"part-{number + 1}" for item, number in zip(known, part.tolist(), strict=True)}
