"""Coverage under every reference set, against one set after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.tukey import fastest, row
from metaeval.stats.blocks import Scaled
from metaeval.stats.uir import all_subsets, coverage_of_sets


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure a sweep over all 511 sets of nine measures.

    Parameters
    ----------
    quick : bool
        Fewer repeats.

    Returns
    -------
    list of dict
        Rows of name, seconds, peer seconds, ratio and demand.
    """
    values = Scaled(np.random.default_rng(0).random((50, 100, 9)).round(2))
    sets = all_subsets(9)
    ours = fastest(lambda: coverage_of_sets(values, values, sets), 1 if quick else 5)
    peer = fastest(lambda: [coverage_of_sets(values, values, one[None]) for one in sets], 1)
    return [row("coverage under 511 sets, 50 runs × 100 topics; peer: ours set by set", ours, peer, "≤ 1 s")]
