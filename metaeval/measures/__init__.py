"""Measures: importing this registers the shipped ones, in the order the papers list them."""

from metaeval.measures import (  # noqa: I001  (the order of import is the order in which they are listed)
    closeness as closeness,
    agreement as agreement,
    errors_and_accuracy as errors_and_accuracy,
    f_measures as f_measures,
    order_aware as order_aware,
    nominal as nominal,
    correlation as correlation,
    clustering as clustering,
    value_prediction as value_prediction,
    closeness_scales as closeness_scales,
    ordinal_index as ordinal_index,
    rank_index as rank_index,
)
from metaeval.measures.base import Measure as Measure
from metaeval.measures.moves import FewestMoves as FewestMoves, Move as Move, fewest_moves as fewest_moves
from metaeval.measures.registry import (
    classification_measure as classification_measure,
    measures as measures,
    quantification_measure as quantification_measure,
)
from metaeval.measures.resolve import (
    measure as measure,
    measure_of_label as measure_of_label,
    resolve_measures as resolve_measures,
)
from metaeval.measures.random_pairs import Disagreement as Disagreement, widest_disagreement as widest_disagreement
