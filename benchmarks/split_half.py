"""Split-half consistency against a loop of `scipy.stats.kendalltau`, in one process."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.tukey import fastest, row, show
from metaeval.stats.split_half import split_half_tau, splits
from metaeval.stats.streams import stream_key

KEY = stream_key(1, "benchmarks")


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Measure 1,000 splits of 200 topics, with 20 runs and 8 measures.

    Parameters
    ----------
    quick : bool
        Whether to loop over a tenth of the splits, and scale the time of the loop up.

    Returns
    -------
    list of dict
        Rows of name, seconds, peer seconds, ratio and demand.
    """
    from scipy.stats import kendalltau

    n_trials, n_runs, n_topics, n_measures = 1000, 20, 200, 8
    values = np.random.default_rng(0).random((n_runs, n_topics, n_measures))
    first, second = splits(KEY, n_trials, n_topics)
    looped = 100 if quick else n_trials
    expected = np.empty((looped, n_measures))

    kendalltau(values[:, 0, 0], values[:, 1, 0])
    start = time.perf_counter()
    for trial in range(looped):
        for measure in range(n_measures):
            scores = values[..., measure]
            one, two = scores[:, first[trial]].mean(axis=1), scores[:, second[trial]].mean(axis=1)
            expected[trial, measure] = kendalltau(one, two).statistic
    peer_seconds = (time.perf_counter() - start) * n_trials / looped

    rows = []
    for variant, demand in (("tau_a", "at least 300 times"), ("tau_b", "shown only")):

        def ours(variant: Any = variant) -> np.ndarray:
            return split_half_tau(values, n_trials=n_trials, key=KEY, variant=variant)

        assert np.allclose(ours()[:looped], expected, atol=1e-12, rtol=0), "both must give the same numbers"
        name = f"{variant}, against a loop of scipy.stats.kendalltau"
        rows.append(row(name, fastest(ours, 9), peer_seconds, demand))
    return rows


if __name__ == "__main__":
    show(run())
