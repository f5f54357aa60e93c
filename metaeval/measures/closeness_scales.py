"""CEM at every scale: nominal, ordinal, interval, with and without its logarithm (Amigó et al. 2020, §3)."""

from __future__ import annotations

import numpy as np

from metaeval.errors import MeasureError
from metaeval.measures.confusion import class_distance, gold_sizes
from metaeval.measures.registry import classification_measure

SCALES = ("NOM", "ORD", "INT")
TIES = ("paper", "half", "all")


def closer_items(gold: np.ndarray, *, scale: str = "ORD", ties: str = "paper") -> np.ndarray:
    """Count the gold items that are no farther from the gold class than the predicted class is.

    Parameters
    ----------
    gold : ndarray, shape (..., K)
        ``gold[..., k]`` is the number of items of gold class k.
    scale : {"NOM", "ORD", "INT"}, optional
        What "no farther" means (§3.2): at nominal scale every item, unless the prediction is right; at ordinal
        scale the items of the classes from the predicted to the gold one; at interval scale those of the
        classes at most as many steps from the gold class.
    ties : {"paper", "half", "all"}, optional
        How the items of the predicted class itself count: all of them, as Eq. 1 says, or half of them, as
        the worked examples of the ordinal scale have it. "paper" is half at ordinal scale and all elsewhere,
        where Proposition 1 needs it.

    Returns
    -------
    ndarray, shape (..., K, K)
        ``[..., g, p]`` belongs to gold class g and predicted class p; at least ½, as in Sakai 2021, Eq. 4.

    Raises
    ------
    MeasureError
        If there is no such scale or way of ties.

    Examples
    --------
    >>> closer_items(np.array([10, 60, 30]))[0].tolist()   # Figure 3: for neg, 10/2, 60/2 + 10, 30/2 + 60 + 10
    [5.0, 40.0, 85.0]
    """
    if scale not in SCALES:
        raise MeasureError(f"CEM has no scale {scale!r}: use {', '.join(SCALES)}")
    if ties not in TIES:
        raise MeasureError(f"CEM has no ties {ties!r}: use {', '.join(TIES)}")
    classes = np.arange(gold.shape[-1])
    g, p = classes[:, None], classes
    if scale == "NOM":
        within = (g != p)[..., None] | (classes == g[..., None])
    elif scale == "ORD":
        within = (classes >= np.minimum(g, p)[..., None]) & (classes <= np.maximum(g, p)[..., None])
    else:
        distance = class_distance(len(classes))
        within = distance[:, None, :] <= distance[..., None]
    # within[g, p, k]: whether class k is no farther from g than p is.
    closer = np.einsum("gpk,...k->...gp", within.astype(np.float64), np.asarray(gold, dtype=np.float64))
    if ties == "half" or (ties == "paper" and scale == "ORD"):
        closer = closer - gold[..., None, :] / 2
    return np.maximum(closer, 0.5)


@classification_measure(
    higher_is_better=True,
    range=(0, 1),
    source="Amigó et al. 2020, §3.2 and §5.2",
    undefined=1.0,
    shown=("scale",),
)
def CEM(counts: np.ndarray, *, scale: str = "NOM", ties: str = "paper", flat: bool = False) -> np.ndarray:
    """Closeness evaluation measure at a scale: how much of the perfect run's closeness is reached?

    CEM(scale=ORD) is CEM_ORD, CEM(scale=ORD, flat=True) the version without logarithm of §5.2, and
    CEM(scale=ORD, ties=all) takes Eq. 1 literally, which the paper's own example contradicts. With all ties
    and one gold class there is no closeness to reach: 0/0, and the score is 1.

    Parameters
    ----------
    scale : {"NOM", "ORD", "INT"}, optional
    ties : {"paper", "half", "all"}, optional
        See `closer_items`.
    flat : bool, optional
        Sum 1 − n/N in place of −log₂(n/N), n being the closer items.

    Raises
    ------
    MeasureError
        If there is no such scale or way of ties.

    Examples
    --------
    >>> float(CEM([[2, 0], [1, 1]]))   # equal gold classes: Accuracy (Proposition 1)
    0.75
    """
    gold = gold_sizes(counts)
    part = closer_items(gold, scale=scale, ties=ties) / gold.sum(axis=-1)[..., None, None]
    closeness = 1 - part if flat else -np.log2(part)
    reached = (closeness * counts).sum(axis=(-2, -1))
    perfect = (np.diagonal(closeness, axis1=-2, axis2=-1) * gold).sum(axis=-1)
    return np.where(perfect > 0, np.minimum(reached / perfect, 1.0), np.nan)
