"""Ranks of runs, and between which ranks each stands as far as significant differences tell."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def rank_intervals(
    better: npt.NDArray[np.bool_], significant: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Between which ranks does every run stand, as far as the significant differences tell?

    Parameters
    ----------
    better : ndarray of bool, shape (run, run)
        ``better[i, j]``: run i has the better mean.
    significant : ndarray of bool, shape (run, run)
        Whether two runs differ; symmetric.

    Returns
    -------
    ranks : ndarray of int, shape (run,)
        1 + the number of runs with a better mean.
    ends : ndarray of int, shape (run, 2)
        1 + the number of significantly better runs, and the number of runs less that of significantly worse ones.

    Examples
    --------
    >>> better = np.triu(np.ones((3, 3), dtype=bool), 1)
    >>> differ = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> ranks, ends = rank_intervals(better, differ)
    >>> ranks.tolist(), ends.tolist()
    ([1, 2, 3], [[1, 2], [1, 3], [2, 3]])
    """
    ranks = 1 + better.sum(axis=0)
    sure = better & significant
    return ranks, np.stack([1 + sure.sum(axis=0), len(better) - sure.sum(axis=1)], axis=1)
