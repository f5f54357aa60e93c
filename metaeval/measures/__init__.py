"""Measures: importing this registers the shipped ones, in the order the papers list them."""

from metaeval.measures import (  # noqa: I001  (the order of import is the order in which they are listed)
    closeness,
    agreement,
    errors_and_accuracy,
    f_measures,
    order_aware,
    nominal,
    correlation,
    clustering,
    value_prediction,
    closeness_scales,
    ordinal_index,
    rank_index,
)
from metaeval.measures.base import Measure
from metaeval.measures.moves import FewestMoves, Move, fewest_moves
from metaeval.measures.registry import classification_measure, measures, quantification_measure
from metaeval.measures.resolve import measure, measure_of_label, resolve_measures
from metaeval.measures.random_pairs import Disagreement, widest_disagreement

__all__ = [
    "Disagreement",
    "FewestMoves",
    "Measure",
    "Move",
    "agreement",
    "classification_measure",
    "closeness",
    "closeness_scales",
    "clustering",
    "correlation",
    "errors_and_accuracy",
    "f_measures",
    "fewest_moves",
    "measure",
    "measure_of_label",
    "measures",
    "nominal",
    "order_aware",
    "ordinal_index",
    "quantification_measure",
    "rank_index",
    "resolve_measures",
    "value_prediction",
    "widest_disagreement",
]
