"""One call, one report: a newly proposed measure beside the established ones."""

from metaeval.comparison.comparison import CollectionStudy, Comparison, compare, established, from_scores

__all__ = ["CollectionStudy", "Comparison", "compare", "established", "from_scores"]
