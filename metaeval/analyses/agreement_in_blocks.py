"""What `agreement` computes of scores, pairs of runs or weights of topics that are too many to hold all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property

import numpy as np

from metaeval.errors import MetaevalError
from metaeval.stats import _agreement_in_blocks as kernels
from metaeval.stats._ties_in_blocks import TiesFound, find_ties, resample_ties
from metaeval.stats.cell_accuracy import CellAccuracy, cell_accuracy, swap_topics
from metaeval.stats.progress import describe_shape, tell
from metaeval.stats.resampled_sums import WEIGHTS_HELD, trials_a_pass
from metaeval.stats.scale import Scaled
from metaeval.stats.standard_cells import StandardCells

_ARRAYS_OF_CELLS = 16
"""Arrays of eight bytes a cell that acc_t_cells holds beside one for each binary digit of the reference's levels."""


class HeldInBlocks:
    """Measures beside a reference, the last measure, read in blocks, with what statistics share.

    Parameters
    ----------
    scores : Scaled
    key : callable
        From a purpose to the key of its random draws.
    n_permutations, n_bootstrap : int
    """

    def __init__(self, scores: Scaled, key: Callable[[str], int], n_permutations: int, n_bootstrap: int) -> None:
        self.scores, self.key, self.n_permutations, self.n_bootstrap = scores, key, n_permutations, n_bootstrap

    def announce(self) -> None:
        """State how much memory is held, before work begins."""
        n_runs, n_topics, n_columns = self.scores.shape
        trials = max(self.n_permutations, self.n_bootstrap, 1)
        of_a_trial = n_topics + n_columns * n_runs * (n_runs - 1) // 2
        weights = max(trials_a_pass(n_topics, trials) * n_topics, min(trials, WEIGHTS_HELD // of_a_trial) * of_a_trial)
        # Means of runs and flipped sums, and products of runs of every two measures.
        held = weights + 2 * trials * n_runs * n_columns + 3 * (n_runs * n_columns) ** 2
        tell(
            f"{describe_shape(self.scores.shape)}: up to {8 * held / 2**20:,.0f} MB of sums, weights "
            "and signs are held in memory, and scores are read in blocks, several times for each statistic"
        )

    @cached_property
    def means(self) -> kernels.ResampledMeans:
        """Means of runs on resampled topics."""
        return kernels.ResampledMeans(self.scores, self.key("topics"), self.n_bootstrap)

    @cached_property
    def _cells(self) -> StandardCells:
        return StandardCells(self.scores)

    @property
    def _no_trials(self) -> np.ndarray:
        return np.empty((0, self.scores.shape[2] - 1))

    def compare_softly(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, float]]:
        """Return p-values by flips and by their normal limit, exchanges, and resamples with their ceiling."""
        p = kernels.flip_p_values(self.scores, self.key("flips"), self.n_permutations)
        limit = kernels.normal_p_values(self.scores)
        drawn = (self._no_trials, float("nan"))
        if self.n_bootstrap:
            drawn = kernels.resample_soft_accuracy(self.scores, self.key("topics"), self.n_bootstrap, limit)
        exchanged = kernels.swap_cells_softly(
            self.scores, self._cells, limit[-1], self.key("cells"), self.n_permutations
        )
        return p, limit, exchanged, drawn

    def correlate_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Pearson's r over cells, its exchanges and its resamples."""
        drawn = self._no_trials
        if self.n_bootstrap:
            drawn = kernels.resample_topic_pearson(self.scores, self._cells, self.key("topics"), self.n_bootstrap)
        exchanged = kernels.swap_cells(self.scores, self._cells, self.key("cells"), self.n_permutations)
        return kernels.topic_pearson(self.scores, self._cells), exchanged, drawn

    def compare_pairs(self) -> tuple[TiesFound, np.ndarray, np.ndarray]:
        """Return acc_eq* over pairs of runs on topics, its exchanges and its resamples."""
        found = find_ties(self.scores, self.key("pairs"), self.n_permutations)
        drawn = resample_ties(found, self.key("topics"), self.n_bootstrap) if self.n_bootstrap else self._no_trials
        return found, found.exchanged, drawn

    def compare_cells(self) -> tuple[CellAccuracy, np.ndarray, np.ndarray]:
        """Return acc_eq* over pairs of cells, one measure at a time, its exchanges and its resamples."""
        _, n_topics, n_columns = self.scores.shape
        reference = self.scores.take(n_columns - 1)
        self._check_memory(len(np.unique(reference)))
        parts = []
        for measure in range(n_columns - 1):
            one = cell_accuracy(self.scores.take(measure)[..., np.newaxis], reference)
            # Only means of topics are used of the shares.
            parts.append(CellAccuracy(one.value, one.threshold, one.shares.mean(axis=1, keepdims=True), one.tied))
            tell("pairs of cells, measures", measure + 1, n_columns - 1)
        value, threshold, shares = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "threshold", "shares")
        )
        found = CellAccuracy(value, threshold, shares, parts[0].tied)
        drawn = self._no_trials
        if self.n_bootstrap:
            by_topic = shares[:, 0]
            (drawn,) = kernels.weigh_by_topic(
                self.key("topics"), self.n_bootstrap, n_topics, by_topic, divisor=n_topics
            )
            drawn = np.asarray(2 * drawn - by_topic.mean(axis=1))
        return found, swap_topics(shares, self.key("pairs of cells"), self.n_permutations), drawn

    def _check_memory(self, n_levels: int) -> None:
        """State what acc_t_cells holds, and refuse it where the machine does not have that."""
        n_runs, n_topics, _ = self.scores.shape
        needed = 8 * n_runs * n_topics * (_ARRAYS_OF_CELLS + max(1, (n_levels - 1).bit_length()))
        needed = max(needed, 9 * self.n_permutations * n_topics)
        size = f"{needed / 2**20:,.0f} MB"
        there = find_memory()
        if there is not None and needed > there:
            raise MetaevalError(
                f"acc_t_cells orders all {n_runs * n_topics:,} cells, which takes {size} of memory; this machine has "
                f"{there / 2**20:,.0f} MB: take fewer topics, or acc_t, which needs less"
            )
        tell(f"acc_t_cells orders all {n_runs * n_topics:,} cells: {size} are held in memory")


def find_memory() -> int | None:
    """Return the bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
