"""Two coefficients that Cardoso and Sousa 2011 compare the ordinal classification index with: r_int and MER."""

from __future__ import annotations

import numpy as np

from metaeval.measures.confusion import gold_sizes, predicted_sizes
from metaeval.measures.registry import classification_measure


@classification_measure(
    higher_is_better=True,
    range=(-1, 1),
    source="Pinto da Costa et al. 2008; Cardoso and Sousa 2011, §1.1",
    undefined=1.0,
    symmetric=True,
)
def r_int(counts: np.ndarray) -> np.ndarray:
    """Coefficient r_int: how much do the order relations of gold and run have in common?

    It is −1 + 2 |R_t ∩ R_p| / √(|R_t| |R_p|), where the relation R of a vector x is the set of all pairs of different
    items (u, v) with x_u ≤ x_v, so that tied items are in it both ways round. It sees the order only: a run that is
    one class too high everywhere scores 1. A single item has no pairs: the formula is 0/0 and the score is 1.

    Notes
    -----
    Cardoso and Sousa do not print the formula; this one gives every value they print.

    Examples
    --------
    >>> float(r_int([[2, 0, 1], [1, 1, 0], [2, 1, 2]]).round(2))   # CM₁ of Table 2
    0.39
    """
    items = counts.sum(axis=(-2, -1))
    # For every item, the items that are not lower, itself among them: one pair of an item with itself too many.
    gold, run = gold_sizes(counts), predicted_sizes(counts)
    both = (counts * _not_lower(_not_lower(counts, -1), -2)).sum(axis=(-2, -1)) - items
    in_gold = (gold * _not_lower(gold, -1)).sum(axis=-1) - items
    in_run = (run * _not_lower(run, -1)).sum(axis=-1) - items
    return -1 + 2 * both / np.sqrt(in_gold * in_run)


def _not_lower(sizes: np.ndarray, axis: int) -> np.ndarray:
    return np.flip(np.cumsum(np.flip(sizes, axis), axis), axis)


@classification_measure(higher_is_better=False, range=(0, 1), source="Cardoso and Sousa 2011, §1.1", symmetric=True)
def MER(counts: np.ndarray) -> np.ndarray:
    """Misclassification error rate: the share of items not in their gold class, 1 − Accuracy.

    Examples
    --------
    >>> float(MER([[2, 0, 0], [0, 0, 0], [1, 0, 1]]))
    0.25
    """
    items = counts.sum(axis=(-2, -1))
    return (items - np.trace(counts, axis1=-2, axis2=-1)) / items
