"""Sums over random sets of topics, of scores that memory does not hold: which topics are in a set is a bit of a trial.

The sums are of whole numbers, so that they do not depend on their order, and are those of `metaeval.stats.split_half`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from metaeval.stats._check import FloatArray
from metaeval.stats._tukey_in_blocks import Units
from metaeval.stats.blocks import split_topics
from metaeval.stats.progress import describe_shape, tell

BITS_A_PASS = 2**27
"""Bytes of bits and sums held at once: trials beyond them take another pass over the scores."""

CELLS_A_PRODUCT = 2**20
"""Numbers, 8 MB, that a product of matrices takes at once of the bits of trials."""

Draw = Callable[[range], tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]


def trials_a_pass(shape: tuple[int, ...], n_trials: int) -> int:
    """Return how many trials are summed up while the scores are read once.

    Parameters
    ----------
    shape : tuple of int
        Runs, topics and measures.
    n_trials : int

    Returns
    -------
    int
    """
    n_runs, n_topics, n_measures = shape
    return min(n_trials, max(1, BITS_A_PASS // (2 * -(-n_topics // 8) + 16 * n_runs * n_measures)))


def announce(shape: tuple[int, ...], parts: Sequence[range]) -> None:
    """State how much memory the splits take, before they begin.

    Parameters
    ----------
    shape : tuple of int
    parts : sequence of range
        Trials that are computed one after the other.
    """
    n_runs, n_topics, n_measures = shape
    sizes = [trials_a_pass(shape, len(part)) for part in parts]
    passes = sum(-(-len(part) // size) for part, size in zip(parts, sizes, strict=True))
    held = max(sizes) * (2 * -(-n_topics // 8) + 16 * n_runs * n_measures)
    tell(
        f"{describe_shape(shape)}, {parts[-1].stop:,} splits: bits and sums of "
        f"{held / 2**20:,.0f} MB are held in memory, and the scores are read {passes + 2} times in blocks of topics"
    )


def sum_sets(units: Units, draw: Draw, trials: range, *, halves: bool) -> FloatArray:
    """Sum the scores of every run over the two sets of topics of each trial.

    Parameters
    ----------
    units : Units
        Scores as whole numbers, read topic by topic.
    draw : callable
        From trials to the topics in their first and second sets, each of shape (trial, topic).
    trials : range
    halves : bool
        Whether the two sets are all topics, so that the second sum is what the first leaves.

    Returns
    -------
    ndarray of float64, shape (2, run · measure, trial)
        Whole numbers.
    """
    n_runs, n_topics, n_measures = units.values.shape
    sums = np.zeros((2, n_runs * n_measures, len(trials)))
    bits = np.empty((1 if halves else 2, len(trials), -(-n_topics // 8)), dtype=np.uint8)
    few = max(1, CELLS_A_PRODUCT // n_topics)
    for start in range(0, len(trials), few):
        part = slice(start, min(start + few, len(trials)))
        for packed, chosen in zip(bits, draw(trials[part]), strict=False):
            packed[part] = np.packbits(chosen, axis=1)
        tell("drawing splits", part.stop, len(trials))
    all_topics = np.zeros((n_runs * n_measures, 1))
    for topics in split_topics(units.values):
        scores = units.read(topics).astype(np.float64).reshape(topics.stop - topics.start, -1).T
        all_topics += scores.sum(axis=1, keepdims=True)
        # Bits are taken from whole bytes.
        first_byte, skipped = divmod(topics.start, 8)
        few = max(1, CELLS_A_PRODUCT // len(scores.T))
        for start in range(0, len(trials), few):
            part = slice(start, start + few)
            for total, packed in zip(sums, bits, strict=False):
                inside = np.unpackbits(packed[part, first_byte : -(-topics.stop // 8)], axis=1)[:, skipped:]
                total[:, part] += scores @ inside[:, : len(scores.T)].astype(np.float64).T
        tell("summing splits", topics.stop, n_topics)
    if halves:
        np.subtract(all_topics, sums[0], out=sums[1])
    return sums
