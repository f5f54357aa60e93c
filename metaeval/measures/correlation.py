"""Correlation between run and gold, with classes numbered 1 to K or as ranks (Amigó et al. 2020, §4.2 and Table 2).

Every coefficient is a function of the confusion matrix: items in one cell are tied with each other in both
rankings, so that sums over items and over pairs of items become sums over cells and over pairs of cells.
"""

from __future__ import annotations

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import gold_sizes, predicted_sizes, share
from metaeval.measures.registry import classification_measure


def _correlation(counts: np.ndarray, gold_values: np.ndarray, run_values: np.ndarray) -> np.ndarray:
    """Pearson's r of two values an item, which depend on its gold and its predicted class, shape (..., K) each."""
    items = counts.sum(axis=(-2, -1))[..., None]
    gold, run = gold_sizes(counts), predicted_sizes(counts)
    # Centred first: the sums of squares of two large equal values would cancel badly.
    x = gold_values - (gold * gold_values).sum(axis=-1, keepdims=True) / items
    y = run_values - (run * run_values).sum(axis=-1, keepdims=True) / items
    both = (x * (counts @ y[..., None])[..., 0]).sum(axis=-1)
    spread = (gold * x**2).sum(axis=-1) * (run * y**2).sum(axis=-1)
    # One class only leaves a spread of 0 but for rounding.
    constant = (np.count_nonzero(gold, axis=-1) < 2) | (np.count_nonzero(run, axis=-1) < 2)
    return np.clip(np.where(constant, np.nan, both / np.sqrt(spread)), -1.0, 1.0)


def _average_ranks(sizes: np.ndarray) -> np.ndarray:
    """Return the rank that the items of every class share, counted from 1."""
    return np.cumsum(sizes, axis=-1) - (sizes - 1) / 2


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    source="Amigó et al. 2020, §4.2",
    undefined=0.0,
    symmetric=True,
)
def Pearson(counts: np.ndarray) -> np.ndarray:
    """Linear correlation between run and gold, with the classes numbered 1 to K.

    Where run or gold uses one class only it is 0/0, and the score is 0, even of a run that is right
    everywhere. A run can reach 1 without a single item in its gold class.

    Examples
    --------
    >>> float(Pearson([[0, 2, 0], [0, 0, 2], [0, 0, 0]]))   # one class too high everywhere
    1.0
    """
    values = np.arange(1.0, counts.shape[-1] + 1)
    return _correlation(counts, values, values)


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="Spearman",
    source="Amigó et al. 2020, §4.2; Cardoso and Sousa 2011",
    undefined=0.0,
    symmetric=True,
)
def R_s(counts: np.ndarray, *, constant: float = 0.0) -> np.ndarray:
    """Spearman's correlation between run and gold: Pearson's, of ranks, with ties at their average rank.

    Parameters
    ----------
    constant : float, optional
        The score where run or gold uses one class only and the coefficient is 0/0. By default it is 0, and a
        warning says where that happened. Another value is taken as meant: Table 3 of Amigó et al. 2020 is
        best met with 1.

    Raises
    ------
    MeasureError
        If `constant` is not a number from -1 to 1.

    Examples
    --------
    >>> float(R_s([[2, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))
    0.9428
    """
    if not isinstance(constant, int | float) or not -1 <= constant <= 1:
        raise MeasureError(f"R_s(constant={constant}): the score of a constant run is a number from -1 to 1")
    correlation = _correlation(counts, _average_ranks(gold_sizes(counts)), _average_ranks(predicted_sizes(counts)))
    return correlation if constant == 0 else np.where(np.isnan(correlation), constant, correlation)


def _concordant(counts: np.ndarray) -> np.ndarray:
    """Return for an item of every cell how many items stand above it in both rankings, or below it, (..., K, K)."""
    above = np.triu(np.ones((counts.shape[-1],) * 2), 1)  # above[k, j]: class j is above class k
    return above @ counts @ above.T + above.T @ counts @ above


def _balance(counts: np.ndarray) -> np.ndarray:
    """Return C − D, concordant less discordant pairs of items, shape (...); sums of whole numbers, hence exact."""
    classes = np.arange(counts.shape[-1])
    order = np.sign(classes - classes[:, None]).astype(np.float64)
    return (counts * (order @ counts @ order.T)).sum(axis=(-2, -1)) / 2  # each pair was met from both sides


def _pairs(sizes: np.ndarray) -> np.ndarray:
    return sizes * (sizes - 1) / 2


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="τ_a",
    source="Kendall 1938; Amigó et al. 2020, §4.2 and §5",
    undefined=0.0,
    symmetric=True,
)
def tau_a(counts: np.ndarray) -> np.ndarray:
    """Kendall's τ_a between run and gold: concordant less discordant pairs of items, over all pairs.

    Pairs tied in the gold count below the line, so that the best possible score is the share of pairs that
    the gold does not tie, and not 1. A constant run scores 0. With one item there is no pair: 0/0, and the
    score is 0.

    Examples
    --------
    >>> float(tau_a([[1, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))
    0.6667
    """
    return _balance(counts) / _pairs(counts.sum(axis=(-2, -1)))


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    label="τ_b",
    source="Kendall 1945; Amigó et al. 2020, §4.2",
    undefined=0.0,
    symmetric=True,
)
def tau_b(counts: np.ndarray) -> np.ndarray:
    """Kendall's τ_b between run and gold: as τ_a, over the geometric mean of the pairs untied in each.

    Where run or gold uses one class only it is 0/0, and the score is 0.

    Examples
    --------
    >>> float(tau_b([[1, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))
    0.8165
    """
    every = _pairs(counts.sum(axis=(-2, -1)))
    untied = [every - _pairs(sizes).sum(axis=-1) for sizes in (gold_sizes(counts), predicted_sizes(counts))]
    return np.clip(_balance(counts) / np.sqrt(untied[0] * untied[1]), -1.0, 1.0)


@classification_measure(
    higher_is_better=True,
    range=(0, 1),
    label="R/S",
    source="Amigó et al. 2013b; Amigó et al. 2020, §4.2",
    undefined=0.0,
    symmetric=True,
)
def Reliability_Sensitivity(counts: np.ndarray, *, part: str = "both") -> np.ndarray:
    """Reliability and Sensitivity: precision and recall of "is above" between items, item by item as in BCubed.

    Reliability: take an item, and another that the run puts into a higher or lower class; how often does the
    gold order both alike? Averaged over the other items first, then over the items that have any. Sensitivity
    is the same with run and gold exchanged. A constant run orders nothing: 0/0, and the score is 0, as it is
    where the gold has one class only.

    Parameters
    ----------
    part : {"both", "reliability", "sensitivity"}, optional
        "both" is their harmonic mean.

    Raises
    ------
    MeasureError
        If there is no such part.

    Examples
    --------
    >>> float(Reliability_Sensitivity([[1, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))   # 1 and 2/3
    0.8
    """
    if part not in ("both", "reliability", "sensitivity"):
        raise MeasureError(f"Reliability_Sensitivity has no part {part!r}: use both, reliability or sensitivity")
    alike = _concordant(counts)
    items = counts.sum(axis=(-2, -1), keepdims=True)

    def averaged(same: np.ndarray) -> np.ndarray:
        """Average over items the share of alike pairs among those that one side orders."""
        ordered = np.broadcast_to(items - same, counts.shape)
        counted = (counts * (ordered > 0)).sum(axis=(-2, -1))
        return (counts * share(alike, ordered)).sum(axis=(-2, -1)) / counted

    if part == "reliability":
        return averaged(predicted_sizes(counts)[..., None, :])
    if part == "sensitivity":
        return averaged(gold_sizes(counts)[..., :, None])
    r, s = averaged(predicted_sizes(counts)[..., None, :]), averaged(gold_sizes(counts)[..., :, None])
    return np.where(np.isnan(r + s), np.nan, share(2 * r * s, r + s))
