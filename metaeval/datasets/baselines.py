"""Baseline runs of evaluation campaigns: Popularity, Uniform, and runs that always predict the same class.

Popularity and Uniform are the baselines of the NTCIR dialogue quality tasks (LQ 2021, §5.2). Runs that always
predict the same class are the baselines of SemEval Task 4 (ACL 2021, §3.1; LQ 2021, footnote 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

TIE = 1e-9
"""Classes whose gold shares differ by no more than this are equally frequent: shares are votes divided by voters."""


def popularity(gold: Any) -> np.ndarray:
    """Return the Popularity baseline: all probability on the most frequent gold class (LQ 2021, §5.2).

    It uses the gold, so it is an oracle. If several classes are the most frequent, they get equal shares: the
    papers do not say so, but this rule reproduces LQ 2021, Table 7; using the first or the last class does not.

    Parameters
    ----------
    gold : array_like, shape (..., class)
        Shares, or numbers of votes.

    Returns
    -------
    ndarray, shape (..., class)

    Examples
    --------
    >>> popularity([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]]).tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]
    """
    shares = np.asarray(gold, dtype=np.float64)
    modes = np.isclose(shares, shares.max(axis=-1, keepdims=True), rtol=0, atol=TIE)
    return modes / modes.sum(axis=-1, keepdims=True)


def uniform(gold: Any) -> np.ndarray:
    """Return the Uniform baseline, the same probability for every class, in the shape of the gold (LQ 2021, §5.2).

    >>> uniform([[0.0, 0.5, 0.5, 0.0]]).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """
    shape = np.shape(gold)
    return np.full(shape, 1 / shape[-1])


def constant_class(gold: Any, k: int) -> np.ndarray:
    """Return the distributions, in the shape of the gold, of a run that puts every item into class k (LQ 2021, footnote 3).

    >>> constant_class([[0.2, 0.5, 0.3]], 1).tolist()
    [[0.0, 1.0, 0.0]]
    """
    shares = np.zeros(np.shape(gold))
    shares[..., k] = 1.0
    return shares


def constant_class_counts(gold: Any, k: int) -> np.ndarray:
    """Return the confusion counts of a run that puts every item into class k, from the sizes of the gold classes.

    As in ACL 2021, §3.1; ``[..., g, p]`` is the number of items of gold class g put into class p.

    >>> constant_class_counts([3, 1], 0).tolist()
    [[3, 0], [1, 0]]
    """
    sizes = np.asarray(gold, dtype=np.int64)
    counts = np.zeros((*sizes.shape, sizes.shape[-1]), dtype=np.int64)
    counts[..., k] = sizes
    return counts
