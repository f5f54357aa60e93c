"""Random parts of a collection in place of topics, item by item (Amigó et al. 2020, §5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from metaeval.errors import DataError
from metaeval.io.classification import Labels
from metaeval.stats.streams import generator


def dealt_to_parts(
    gold: Labels, runs: Mapping[str, Labels], n_parts: int, *, seed: int = 0, collection: str = ""
) -> tuple[Labels, dict[str, Labels]]:
    """Deal the items of the gold to parts at random, and give the runs' answers the same parts.

    Parameters
    ----------
    gold : Labels
    runs : mapping of run name to Labels
    n_parts : int
        Their sizes differ by one item at most.
    seed : int, optional
    collection : str, optional
        The split depends on seed, collection and which items there are; the order of the lines plays no part.

    Returns
    -------
    gold : Labels
        The topics are now ``part-1`` and so on; an item is called by its former topic and its name.
    runs : dict of str to Labels
        An answer to an item that the gold does not hold keeps its topic, for the error that names it.

    Raises
    ------
    DataError
        If there are fewer items than parts, or no parts.

    Examples
    --------
    >>> gold = Labels("gold", ["t"] * 4, ["1", "2", "3", "4"], ["no"] * 4, [1, 2, 3, 4])
    >>> parted, _ = dealt_to_parts(gold, {}, 2)
    >>> sorted(parted.topics)
    ['part-1', 'part-1', 'part-2', 'part-2']
    """
    items = sorted(set(zip(gold.topics, gold.items, strict=True)))
    if isinstance(n_parts, bool) or int(n_parts) != n_parts or not 1 <= n_parts <= len(items):
        raise DataError(
            f"{len(items):,} items cannot be dealt to {n_parts} parts: from 1 to as many parts as items", file=gold.file
        )
    place = generator(seed, collection, "parts").permutation(np.arange(len(items)) % n_parts)
    part = {item: f"part-{number + 1}" for item, number in zip(items, place.tolist(), strict=True)}

    def dealt(labels: Labels) -> Labels:
        keys = list(zip(labels.topics, labels.items, strict=True))
        names = [f"{topic}/{item}" if (topic, item) in part else item for topic, item in keys]
        return replace(labels, topics=[part.get(key, key[0]) for key in keys], items=names)

    return dealt(gold), {run: dealt(labels) for run, labels in runs.items()}
