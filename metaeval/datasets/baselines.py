"""Popularity and Uniform, the baseline runs of the NTCIR dialogue quality tasks (LQ 2021, §5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

TIE = 1e-9
"""Classes whose gold shares differ by no more than this are equally frequent: shares are votes divided by voters."""


def popularity(gold: Any) -> np.ndarray:
    """Return the Popularity baseline: all probability on the most frequent gold class (LQ 2021, §5.2).

    It uses the gold, so it is an oracle. If several classes are the most frequent, they get equal shares: the
    papers do not say so, but this rule reproduces LQ 2021, Table 7; using the first or the last class does not.

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
