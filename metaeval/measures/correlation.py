"""Correlation between run and gold: of class numbers, of ranks, of pairs of items, of groups whatever they are called.

Those of Amigó et al. 2020, §4.2 and Table 2, and of Cardoso and Sousa 2011. Every coefficient is a function of the
confusion matrix: items in one cell are tied with each other in both rankings, so that sums over items and over pairs of
items become sums over cells and over pairs of cells.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import gold_sizes, harmonic_mean, pick, predicted_sizes, share
from metaeval.measures.registry import register_measure

_higher = partial(register_measure, kind="classification", higher_is_better=True, range=(0, 1))
_coefficient = partial(register_measure, kind="classification", higher_is_better=True, range=(-1, 1), symmetric=True)
_ORDER = "C and D: pairs of items that run and gold order alike and oppositely"


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


@_coefficient(
    source="Amigó et al. 2020, §4.2",
    written="cov(g, p) / (sd(g) sd(p)), over items, with classes as the numbers 1 to K",
    undefined=0.0,
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


@_coefficient(
    label="Spearman",
    source="Amigó et al. 2020, §4.2; Cardoso and Sousa 2011",
    written="cov(r, s) / (sd(r) sd(s)), over items; r, s: ranks of their gold and predicted classes, ties at their "
    "average",
    undefined=0.0,
)
def R_s(counts: np.ndarray, *, constant: float = 0.0) -> np.ndarray:
    """Spearman's correlation between run and gold: Pearson's, of ranks, with ties at their average rank.

    Parameters
    ----------
    constant : float, optional
        The score, from -1 to 1, where run or gold uses one class only and the coefficient is 0/0. By default it is 0,
        and a warning says where that happened. Another value is taken as meant: Table 3 of Amigó et al. 2020 is best
        met with 1.

    Examples
    --------
    >>> float(R_s([[2, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))
    0.9428
    """
    if not isinstance(constant, int | float) or not -1 <= constant <= 1:
        raise MeasureError(f"the score of a constant run is a number from -1 to 1, not {constant}")
    ranks = [np.cumsum(sizes, axis=-1) - (sizes - 1) / 2 for sizes in (gold_sizes(counts), predicted_sizes(counts))]
    correlation = _correlation(counts, *ranks)
    return correlation if constant == 0 else np.where(np.isnan(correlation), constant, correlation)


def _balance(counts: np.ndarray) -> np.ndarray:
    """Return C − D, concordant less discordant pairs of items, shape (...); sums of whole numbers, hence exact."""
    classes = np.arange(counts.shape[-1])
    order = np.sign(classes - classes[:, None]).astype(np.float64)
    return (counts * (order @ counts @ order.T)).sum(axis=(-2, -1)) / 2  # each pair was met from both sides


def _pairs(sizes: np.ndarray) -> np.ndarray:
    return sizes * (sizes - 1) / 2


@_coefficient(
    label="τ_a",
    source="Kendall 1938; Amigó et al. 2020, §4.2 and §5",
    written=f"(C − D) / (N (N − 1) / 2); {_ORDER}",
    undefined=0.0,
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


@_coefficient(
    label="τ_b",
    source="Kendall 1945; Amigó et al. 2020, §4.2",
    written=f"(C − D) / √(U_g U_p); {_ORDER}; U_g, U_p: pairs that the gold, the run, does not tie",
    undefined=0.0,
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


@_higher(
    label="R/S",
    source="Amigó et al. 2013b; Amigó et al. 2020, §4.2",
    written="f(R, S); R: mean over the items x of the share of those y that the run does not tie with x which "
    "the gold orders in the same way; S: the same with run and gold exchanged; f(a, b) = 2ab / (a + b)",
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

    Examples
    --------
    >>> float(Reliability_Sensitivity([[1, 0, 0], [0, 0, 1], [0, 0, 1]]).round(4))   # 1 and 2/3
    0.8
    """
    above = np.triu(np.ones((counts.shape[-1],) * 2), 1)  # above[k, j]: class j is above class k
    # For an item of every cell, how many items stand above it in both rankings, or below it.
    alike = above @ counts @ above.T + above.T @ counts @ above
    items = counts.sum(axis=(-2, -1), keepdims=True)
    parts = {}
    for name, same in (
        ("reliability", predicted_sizes(counts)[..., None, :]),
        ("sensitivity", gold_sizes(counts)[..., :, None]),
    ):
        ordered = np.broadcast_to(items - same, counts.shape)
        averaged = (counts * (ordered > 0)).sum(axis=(-2, -1))
        parts[name] = (counts * share(alike, ordered)).sum(axis=(-2, -1)) / averaged
    r, s = parts.values()
    return pick({"both": np.where(np.isnan(r + s), np.nan, harmonic_mean(r, s)), **parts}, part, "part")


@_higher(
    source="Ghosh et al. 2015; Amigó et al. 2020, §4.2",
    written="Σ_gp g p n_gp / √(Σ_g g² n_g · Σ_p p² m_p)",
    symmetric=True,
)
def Cosine(counts: np.ndarray) -> np.ndarray:
    """Cosine similarity of run and gold: items are dimensions, classes numbered 1 to K are the values.

    Examples
    --------
    >>> float(Cosine([[1, 1, 0], [0, 1, 0], [0, 0, 1]]).round(4))   # Amigó et al. 2020, Appendix B: 0.973
    0.9737
    """
    value = np.arange(1.0, counts.shape[-1] + 1)
    product = ((counts @ value) * value).sum(axis=-1)
    lengths = gold_sizes(counts) @ value**2, predicted_sizes(counts) @ value**2
    return np.minimum(product / np.sqrt(lengths[0] * lengths[1]), 1.0)


@_coefficient(
    source="Pinto da Costa et al. 2008; Cardoso and Sousa 2011, §1.1",
    written="−1 + 2 |R_g ∩ R_p| / √(|R_g| |R_p|); R: ordered pairs of items (u, v) of which u is not above v in "
    "the gold, in the run",
    undefined=1.0,
)
def r_int(counts: np.ndarray) -> np.ndarray:
    """Coefficient r_int: how much do the order relations of gold and run have in common?

    Tied items are in a relation both ways round. It sees the order only: a run that is one class too high everywhere
    scores 1. A single item has no pairs: the formula is 0/0 and the score is 1.

    Notes
    -----
    Cardoso and Sousa do not print the formula; this one gives every value they print.

    Examples
    --------
    >>> float(r_int([[2, 0, 1], [1, 1, 0], [2, 1, 2]]).round(2))   # CM₁ of Table 2
    0.39
    """

    def not_lower(sizes: np.ndarray, axis: int) -> np.ndarray:
        return np.flip(np.cumsum(np.flip(sizes, axis), axis), axis)

    items = counts.sum(axis=(-2, -1))
    # For every item, the items that are not lower, itself among them: one pair of an item with itself too many.
    gold, run = gold_sizes(counts), predicted_sizes(counts)
    both = (counts * not_lower(not_lower(counts, -1), -2)).sum(axis=(-2, -1)) - items
    in_gold, in_run = ((sizes * not_lower(sizes, -1)).sum(axis=-1) - items for sizes in (gold, run))
    return -1 + 2 * both / np.sqrt(in_gold * in_run)


@_higher(
    range=(0, float("inf")),
    source="Amigó et al. 2020, §4.2 and §5",
    written="1/N Σ_gp n_gp log₂(N n_gp / (n_g m_p))",
    symmetric=True,
)
def MI(counts: np.ndarray) -> np.ndarray:
    """Mutual information, in bits: how much less uncertain is the gold class once the run's class is known?

    The best possible score is the entropy of the gold classes, which differs from topic to topic. A run that
    renames the classes consistently reaches it too.

    Examples
    --------
    >>> float(MI([[0, 2], [2, 0]]))
    1.0
    """
    items = counts.sum(axis=(-2, -1))
    independent = gold_sizes(counts)[..., :, None] * predicted_sizes(counts)[..., None, :]
    ratio = np.divide(counts * items[..., None, None], independent, out=np.ones(counts.shape), where=counts > 0)
    # Rounding can leave −1e-17 for an independent run.
    return np.maximum((counts * np.log2(ratio)).sum(axis=(-2, -1)) / items, 0.0)


@_higher(source="Amigó et al. 2009; Amigó et al. 2020, Table 2", written="1/N Σ_p max_g n_gp")
def Purity(counts: np.ndarray) -> np.ndarray:
    """Purity: the share of items that belong to the most frequent gold class of their predicted class.

    Examples
    --------
    >>> float(Purity([[0, 3], [1, 0]]))
    1.0
    """
    return counts.max(axis=-2).sum(axis=-1) / counts.sum(axis=(-2, -1))


@_higher(label="inverse purity", source="Amigó et al. 2009; Amigó et al. 2020, Table 2", written="1/N Σ_g max_p n_gp")
def Inverse_Purity(counts: np.ndarray) -> np.ndarray:
    """Inverse purity: the share of items that are in the most frequent predicted class of their gold class.

    Every run that always returns one class scores 1.

    Examples
    --------
    >>> float(Inverse_Purity([[2, 2], [0, 1]]))
    0.6
    """
    return counts.max(axis=-1).sum(axis=-1) / counts.sum(axis=(-2, -1))
