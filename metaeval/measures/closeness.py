"""The Closeness Evaluation Measure of Amigó et al. (ACL 2020), as Sakai 2021 writes it (Eqs. 3–4)."""

from __future__ import annotations

import numpy as np

from metaeval.measures.confusion import gold_sizes
from metaeval.measures.registry import classification_measure


def proximity(gold: np.ndarray) -> np.ndarray:
    """Return how informationally close every predicted class is to every gold class.

    Parameters
    ----------
    gold : array_like, shape (..., K)
        ``gold[..., k]`` is the number of items of gold class k.

    Returns
    -------
    ndarray, shape (..., K, K)
        ``proximity[..., g, p]`` is −log₂(max(½, K_pg) / N), in bits, where K_pg counts half of the gold items
        of the predicted class p and all of those from there up to and including the gold class g.

    References
    ----------
    Sakai 2021, Eq. 4. Amigó et al. 2020 print the sum for p ≤ g only; their Figure 3 uses both directions,
    and so does this.

    Examples
    --------
    >>> proximity([7, 90, 193, 105, 7])[3, 1].round(2)   # Amigó et al. 2020, Figure 1: 0.23
    np.float64(0.23)
    """
    gold = np.asarray(gold, dtype=np.float64)
    upto = np.cumsum(gold, axis=-1)
    below = upto - gold
    g, p = np.indices((gold.shape[-1],) * 2)
    # From p to g inclusive, less the half of class p that ties leave out.
    span = np.where(p <= g, upto[..., g] - below[..., p], upto[..., p] - below[..., g])
    closer = span - gold[..., None, :] / 2
    items = gold.sum(axis=-1)[..., None, None]
    return -np.log2(np.maximum(0.5, closer) / items)


@classification_measure(
    higher_is_better=True,
    range=(0, 1),
    label="CEM^ORD",
    source="Amigó et al. 2020; Sakai 2021, Eqs. 3–4",
)
def CEM_ORD(counts: np.ndarray) -> np.ndarray:
    """Closeness evaluation measure for ordinal classes: how much of the perfect run's closeness is reached?

    Infrequent gold classes weigh more. Next to an empty gold class, a step towards the gold class can leave
    the score as it is: only without empty gold classes does every such step raise it (Amigó et al. 2020,
    Appendix A.2).

    From 0 to 1, and 1 for the perfect run only.

    Examples
    --------
    >>> float(CEM_ORD([[2, 0], [1, 1]]).round(4))
    0.8019
    """
    prox = proximity(gold_sizes(counts))
    reached = (prox * counts).sum(axis=(-2, -1))
    perfect = (np.diagonal(prox, axis1=-2, axis2=-1) * gold_sizes(counts)).sum(axis=-1)
    return reached / perfect
