"""Measures for distributions that ignore the order of classes: NVD, RNSS, JSD (Sakai 2021, Eqs. 16–19)."""

from __future__ import annotations

import numpy as np

from metaeval.measures.registry import quantification_measure


@quantification_measure(higher_is_better=False, range=(0, 1), source="Sakai 2021, Eq. 16", symmetric=True)
def NVD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Normalised variational distance: half of the summed absolute errors.

    Examples
    --------
    >>> float(NVD([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    return np.abs(estimated - gold).sum(axis=-1) / 2


@quantification_measure(higher_is_better=False, range=(0, 1), source="Sakai 2021, Eq. 17", symmetric=True)
def RNSS(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Root normalised sum of squares: the root of half of the summed squared errors.

    Examples
    --------
    >>> float(RNSS([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    return np.sqrt(((estimated - gold) ** 2).sum(axis=-1) / 2)


@quantification_measure(higher_is_better=False, range=(0, 1), source="Lin 1991; Sakai 2021, Eqs. 18–19", symmetric=True)
def JSD(estimated: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """Jensen–Shannon divergence in bits: the mean divergence of both distributions from their average.

    Examples
    --------
    >>> float(JSD([0.5, 0.5, 0], [0, 0.5, 0.5]))
    0.5
    """
    middle = (estimated + gold) / 2
    both = _divergence(estimated, middle) + _divergence(gold, middle)
    # Rounding can leave −1e-17 for two equal distributions.
    return np.maximum(both / 2, 0.0)


def _divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return KLD(p ‖ q) over the classes with p > 0, Eq. 18."""
    p, q = np.broadcast_arrays(p, q)
    ratio = np.divide(p, q, out=np.ones(p.shape), where=p > 0)
    return (p * np.log2(ratio)).sum(axis=-1)
