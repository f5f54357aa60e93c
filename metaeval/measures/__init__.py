"""Measures: importing this registers the shipped ones, family by family."""

from metaeval.measures import (  # noqa: I001  (the order of import is the order in which they are listed)
    ordinal as ordinal,
    agreement as agreement,
    accuracy as accuracy,
    quantification as quantification,
    correlation as correlation,
)
from metaeval.measures.base import Measure as Measure
from metaeval.measures.moves import FewestMoves as FewestMoves, Move as Move, fewest_moves as fewest_moves
from metaeval.measures.registry import measures as measures, register_measure as register_measure
from metaeval.measures.resolve import (
    measure as measure,
    measure_of_label as measure_of_label,
    resolve_measures as resolve_measures,
)
