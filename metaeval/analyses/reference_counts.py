"""What becomes of significant pairs of runs, held against those of a reference: confirmed, contradicted, or neither."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.measures.base import Measure

COUNTS = ("confirmed", "contradicted", "only_here", "missed")
"""What becomes of significant pairs of runs, held against those of the reference."""


def count_confirmed(power: DiscriminativePower, reference: Measure, measures: Sequence[Measure]) -> np.ndarray:
    """What becomes of the significant pairs of runs, held against those of the reference?

    Parameters
    ----------
    power : DiscriminativePower
        Of the measures and the reference.
    reference : Measure
    measures : sequence of Measure

    Returns
    -------
    ndarray of int, shape (measure, 4)
        Pairs that the reference confirms, contradicts, does not find significant, and that it alone finds.
    """
    names = [str(one) for one in power.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    return count_conclusions(
        conclusions[[names.index(str(one)) for one in measures]], conclusions[names.index(str(reference))]
    )


def count_conclusions(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Count what becomes of conclusions about pairs of runs, held against those of the reference.

    Parameters
    ----------
    found : ndarray of int, shape (measure, pair)
        +1 where the first run of a pair is significantly better, −1 where the second is, 0 otherwise.
    wanted : ndarray of int, shape (pair,)
        Those of the reference.

    Returns
    -------
    ndarray of int, shape (measure, 4)
        As in `COUNTS`.
    """
    both = found * wanted
    counted = [both > 0, both < 0, (found != 0) & (wanted == 0), (found == 0) & (wanted != 0)]
    return np.stack([one.sum(axis=1) for one in counted], axis=1)
