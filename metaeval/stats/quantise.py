"""Scores as integers, so that sums are exact and equal differences compare as equal.

On discrete scores a plain float comparison is wrong: 0.3 - 0.2 and 0.2 - 0.1 differ in floating point, and
the comparison that decides a tie then falls either way. Integer sums do not depend on their order, and a
tolerance of a few units decides the ties.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from metaeval.stats.blocks import FloatArray, Scaled

LARGEST_UNIT = 2**32 - 1

CACHE = 2**19
"""Bytes that stay in the processor's cache."""

UnitArray = npt.NDArray[np.uint32]


class Units:
    """Scores of shape (run, topic, measure), of any size, as integers, read some topics at a time.

    A unit is 1/(2**32 - 1) of the widest range of the measure within one topic. Measuring from the lowest score
    on the topic keeps every difference between runs, and removes any constant added to all scores of a topic.
    """

    def __init__(self, values: FloatArray) -> None:
        scores = Scaled(values)
        self.shape, self.sharing = scores.shape, scores.sharing
        lowest, highest = np.full((2, *self.shape[1:]), np.inf)
        highest *= -1
        for _, block in scores.blocks():
            np.minimum(lowest, block.min(axis=0), out=lowest)
            np.maximum(highest, block.max(axis=0), out=highest)
        widest = (highest - lowest).max(axis=0)
        self._lowest, self._widest = lowest, np.where(widest > 0, widest, 1.0)
        self._scores: Scaled | None = scores
        if not scores.large:  # one block is made once, and is all that a task has to carry to its worker
            self._whole = list(self.blocks())
            self._scores = None

    def blocks(self) -> Iterator[tuple[slice, UnitArray]]:
        """Yield topics with their scores, shape (topic, run, measure): all of them unless they are many."""
        if self._scores is None:
            return iter(self._whole)
        return ((topics, self._quantise(block, topics)) for topics, block in self._scores.topic_blocks())

    def limit_bytes(self, most: int) -> int:
        """Return how many bytes a pass over the scores may hold: few where another pass costs no reading."""
        return min(most, CACHE) if self._scores is None else most

    def announce(self, what: str) -> None:
        """Tell what is held in memory and how often scores are read, if they are not in memory themselves."""
        if self._scores is not None:
            self._scores.announce(what)

    def _quantise(self, block: FloatArray, topics: slice) -> UnitArray:
        above = block - self._lowest[topics]
        above /= self._widest
        above *= LARGEST_UNIT
        return np.asarray(np.rint(above, out=above).astype(np.uint32).transpose(1, 0, 2))


def quantise(values: npt.ArrayLike) -> UnitArray:
    """Return scores of shape (run, topic, measure) as `Units` makes them, shape (topic, run, measure)."""
    return np.concatenate([block for _, block in Units(np.asarray(values, dtype=np.float64)).blocks()])


def tie_tolerance(n_scores: int) -> int:
    """Return how many units two equal sums of this many scores can differ by rounding.

    Each score is off by at most half a unit, so each sum by at most half its length, and two of them by at
    most their length.
    """
    return n_scores
