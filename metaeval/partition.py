"""Random parts of a collection in place of its topics, where runs are counted already (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

import numpy as np

from metaeval.errors import DataError
from metaeval.runs import ClassificationRuns
from metaeval.stats.streams import generator


def partitioned(runs: ClassificationRuns, n_parts: int = 10, *, seed: int = 0) -> ClassificationRuns:
    """Put the topics of a collection together at random into fewer, larger ones, the same for all runs.

    Where topics are random groups of items, as in the ordinal sets, the parts are random parts of the items. Where
    topics mean something, split item by item instead, while reading: `metaeval.io.judgements.read` has `parts`.

    Parameters
    ----------
    runs : ClassificationRuns
    n_parts : int, optional
        Their numbers of topics differ by one at most.
    seed : int, optional
        With the collection's name it decides the split.

    Returns
    -------
    ClassificationRuns
        Topics are ``part-1`` and so on.

    Raises
    ------
    DataError
        If there are fewer topics than parts, or no parts.

    Examples
    --------
    >>> runs = ClassificationRuns(np.ones((1, 4, 2, 2), int), runs=["a"], topics=range(4), classes=["no", "yes"])
    >>> partitioned(runs, 2).gold.tolist()
    [[4, 4], [4, 4]]
    """
    n_topics = len(runs.topics)
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= n_topics:
        raise DataError(f"{n_topics} topics cannot be put together into {n_parts} parts: from 1 to as many as topics")
    part = generator(seed, runs.collection, "partitioned").permutation(np.arange(n_topics) % n_parts)
    member = (part == np.arange(n_parts)[:, np.newaxis]).astype(np.int64)  # part × topic
    counts = np.einsum("pt,rtgc->rpgc", member, runs.counts)
    return ClassificationRuns(
        counts,
        runs=runs.runs,
        topics=[f"part-{number + 1}" for number in range(n_parts)],
        classes=runs.classes,
        collection=runs.collection,
        provenance=runs.provenance,
    )
