"""On which pair of runs do two measures disagree most? A random search over small examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.errors import MeasureError
from metaeval.measures.base import Measure
from metaeval.measures.moves import TIE
from metaeval.stats.arrays import check_count
from metaeval.stats.streams import generator

DRAWN_AT_ONCE = 5000


@dataclass(frozen=True, eq=False)
class Disagreement:
    """Two runs of which one measure prefers the first and the other the second.

    Parameters
    ----------
    measures : tuple of Measure
        The two.
    gold : ndarray, shape (K,)
        Items of every gold class.
    first, second : ndarray of int
        The runs: confusion counts of shape (K, K) for classification measures, items of every estimated class, shape
        (K,), for quantification measures.
    differences : tuple of float
        By how much the first run is better, by each measure; one is positive, the other negative.
    spreads : tuple of float
        Standard deviation of such differences over all pairs that were drawn, by each measure.
    n_tried, n_disagree : int
        Pairs that were drawn, and on how many of them the measures prefer different runs.
    """

    measures: tuple[Measure, Measure]
    gold: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    differences: tuple[float, float]
    spreads: tuple[float, float]
    n_tried: int
    n_disagree: int


def widest_disagreement(
    first: Measure, second: Measure, *, n_classes: int = 3, n_items: int = 20, n_tried: int = 20_000, seed: int = 0
) -> Disagreement | None:
    """On which of many random pairs of runs over the same gold do two measures disagree most?

    Differences are put on one scale by their standard deviation over all pairs; of every pair on which the measures
    prefer different runs the smaller of the two counts, and the largest of these wins. The search is random: a wider
    disagreement may exist.

    Parameters
    ----------
    first, second : Measure
        Both of classification, or both of quantification.
    n_classes, n_items : int, optional
        Of every example.
    n_tried : int, optional
        Pairs to draw.
    seed : int, optional

    Returns
    -------
    Disagreement or None
        None if the measures agreed on every pair.

    Raises
    ------
    MeasureError
        If the measures are of different kinds, or known by their scores only.

    Examples
    --------
    >>> import metaeval
    >>> found = widest_disagreement(metaeval.measure("Accuracy"), metaeval.measure("MAE_mu"), n_tried=2000)
    >>> found.differences[0] > 0 > found.differences[1]
    True
    """
    if first.kind is None or first.kind != second.kind:
        raise MeasureError(f"{first} and {second} do not take the same data: choose two measures of one kind")
    n_classes, n_items = check_count(n_classes, "classes"), check_count(n_items, "items")
    n_tried = check_count(n_tried, "pairs")
    if n_classes < 2:
        raise MeasureError("runs over one class only cannot disagree: n_classes is at least 2")
    rng = generator(seed, "widest_disagreement")
    draw = _draw_matrices if first.kind == "classification" else _draw_distributions
    drawn = [
        draw(rng, min(DRAWN_AT_ONCE, n_tried - done), n_items, n_classes) for done in range(0, n_tried, DRAWN_AT_ONCE)
    ]
    gold, runs = (np.concatenate(some) for some in zip(*drawn, strict=True))
    inputs = (runs,) if first.kind == "classification" else (runs / n_items, gold[:, None] / n_items)
    scores = np.stack([measure.sign * measure.evaluate(*inputs)[0] for measure in (first, second)])
    differences = scores[:, :, 0] - scores[:, :, 1]
    differences[np.abs(differences) <= TIE] = 0.0
    spreads = differences.std(axis=1)
    disagree = differences[0] * differences[1] < 0
    if not disagree.any():
        return None
    scaled = np.abs(differences / spreads[:, None]).min(axis=0)
    widest = int(np.argmax(np.where(disagree, scaled, -1.0)))
    pair = runs[widest] if differences[0, widest] > 0 else runs[widest][::-1]
    ahead = np.sign(differences[0, widest]) * differences[:, widest]
    return Disagreement(
        (first, second), gold[widest], pair[0], pair[1], (float(ahead[0]), float(ahead[1])),
        (float(spreads[0]), float(spreads[1])), n_tried, int(disagree.sum()),
    )  # fmt: skip


def _draw_gold(rng: np.random.Generator, n_cases: int, n_items: int, n_classes: int) -> npt.NDArray[np.int64]:
    return rng.multinomial(n_items, rng.dirichlet(np.ones(n_classes), size=n_cases))


def _draw_matrices(
    rng: np.random.Generator, n_cases: int, n_items: int, n_classes: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return gold sizes, shape (case, K), and two runs over each, shape (case, run, K, K), of very different quality."""
    gold = _draw_gold(rng, n_cases, n_items, n_classes)
    right = rng.random((n_cases, 2, 1, 1))
    noise = rng.dirichlet(np.full(n_classes, 0.5), size=(n_cases, 2, n_classes))
    return gold, rng.multinomial(np.repeat(gold[:, None], 2, axis=1), right * np.eye(n_classes) + (1 - right) * noise)


def _draw_distributions(
    rng: np.random.Generator, n_cases: int, n_items: int, n_classes: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return gold sizes, shape (case, K), and two estimates of each, shape (case, run, K)."""
    gold = _draw_gold(rng, n_cases, n_items, n_classes)
    right = rng.random((n_cases, 2, 1))
    noise = rng.dirichlet(np.full(n_classes, 0.5), size=(n_cases, 2))
    return gold, rng.multinomial(n_items, right * (gold / n_items)[:, None] + (1 - right) * noise)
