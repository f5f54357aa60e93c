"""What becomes of significant pairs of runs, held against those of a reference: confirmed, contradicted, or neither."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metaeval.analyses.power_result import DiscriminativePower
from metaeval.measures.base import Measure

COUNTS = ("confirmed", "contradicted", "only_here", "missed")
"""What becomes of significant pairs of runs, held against those of the reference."""


def count_confirmed(power: DiscriminativePower, reference: Measure, measures: Sequence[Measure]) -> np.ndarray:
    """What becomes of the significant pairs of runs, held against those of the reference?"""
    names = [str(measure) for measure in power.measures]
    conclusions = np.where(power.significant, power.winners, 0)
    return count_conclusions(
        conclusions[[names.index(str(measure)) for measure in measures]], conclusions[names.index(str(reference))]
    )


def count_conclusions(conclusions: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Count what becomes of conclusions about pairs of runs, held against those of the reference, shape (measure, 4)."""
    both = conclusions * reference
    counted = [both > 0, both < 0, (conclusions != 0) & (reference == 0), (conclusions == 0) & (reference != 0)]
    return np.stack([each.sum(axis=1) for each in counted], axis=1)
