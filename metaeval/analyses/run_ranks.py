"""Which ranks of runs are real, by the significant differences between them?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from metaeval.analyses.discriminative_power import discriminative_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.prepare import restore_pairs, sort_scores
from metaeval.analyses.rank_result import FEW_RUNS, RunRanks
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError
from metaeval.stats.arrays import scale_scores
from metaeval.stats.boards import Board, compare_board
from metaeval.stats.pair_tests import RECOMMENDED, Correction, PairedTest
from metaeval.stats.run_means import find_best, interval_of_means
from metaeval.stats.streams import stream_key

MOST_BEST = 1_000
"""Resamples in which runs are compared with the best, if there are not fewer."""


def run_ranks(
    scores: Scores,
    *,
    n_permutations: int = 5000,
    alpha: float = 0.05,
    seed: int = 0,
    test: PairedTest = RECOMMENDED,
    correction: Correction = "auto",
    distinct_runs: bool = False,
    n_jobs: int = 1,
) -> RunRanks:
    """Which ranks of runs are real, by the significant differences between them?

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics. Of runs that were tested already, `DiscriminativePower.ranks` gives the ranks.
    n_permutations : int, optional
        B, the trials of a randomised or bootstrap test, shared by all measures.
    alpha : float, optional
        Significance level.
    seed : int, optional
    test : str, optional
        ``"bootstrap-t"`` or ``"max-t"``, which allow runs to differ in spread; ``"randomised-tukey-hsd"``, the papers' test of
        discriminative power; or for comparison ``"tukey-hsd"``, ``"paired-t"``, ``"paired-randomisation"``,
        ``"paired-bootstrap"``.
    correction : {"auto", "none", "holm", "bonferroni", "benjamini-hochberg"}, optional
        Correction of the p-values for the number of pairs. By default Holm's for the paired tests, and none for the
        others, which allow for all pairs by themselves.
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    n_jobs : int, optional
        Threads; any number gives the same results.

    Returns
    -------
    RunRanks
        With the interval of every run's mean, and by bootstrap-t with comparisons of every run with the best.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.add.outer([0.1, 0.12, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> values[1] += np.tile([0.1, -0.1], 6)[:, None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["AP"])
    >>> ranks = run_ranks(scores, n_permutations=500)
    >>> ranks.to_frame()[["run", "rank", "low", "high", "letters", "near_first"]]
      run  rank  low  high letters  near_first
    0   c     1    1     1       a        True
    1   b     2    2     3       b       False
    2   a     3    2     3       b       False
    """
    if isinstance(scores, DiscriminativePower):
        raise MetaevalError(
            f"run_ranks takes scores, which it tests by {RECOMMENDED}; for ranks by the test of this result, "
            f"{scores.test}, call its method ranks()"
        )
    power = discriminative_power(
        scores, n_permutations=n_permutations, alpha=alpha, seed=seed, test=test, correction=correction,
        distinct_runs=distinct_runs, n_bootstrap=0, n_jobs=n_jobs,
    )  # fmt: skip
    ranks, chosen = power.ranks(), scores.sel(runs=power.runs)
    values, (places, _, columns) = sort_scores(chosen)
    pooled = sort_scores(chosen.pool_clusters())[0] if chosen.clusters else None
    drawn = scale_scores(values if pooled is None else pooled)
    key, parts, pairs = stream_key(seed, scores.collection, "run_ranks"), [], [pd.DataFrame()]
    for m, (measure, column) in enumerate(zip(power.measures, columns, strict=True)):
        rows, order = ranks.take_rows(measure), places[ranks.order(m)]
        clusters = None if pooled is None else pooled[..., column]
        low, high = interval_of_means(values[..., column], pooled=clusters, confidence=1 - alpha)
        rows.insert(3, "mean_low", low[order])
        rows.insert(4, "mean_high", high[order])
        if test == RECOMMENDED and rows["near_first"].sum() > 1:
            board = Board([measure.sign * drawn[..., column]], np.ones(1))
            n_trials = min(n_permutations, MOST_BEST)
            statistics, draws = compare_board(board, "topics", n_trials, [key], key, alpha)
            rows["near_first"] &= find_best(statistics, draws, alpha)[order]
        parts.append(rows)
    if len(power.runs) <= FEW_RUNS:
        pairs = []
        for m, rows in enumerate(power.list_run_pairs()):
            # Intervals that say what the p-values say, where the test has them.
            if power.reach is not None and np.isfinite(power.reach[m]).all():
                rows["low"], rows["high"] = rows["difference"] - power.reach[m], rows["difference"] + power.reach[m]
            pairs.append(_list_pairs(rows, ranks.order(m)))
    whole, few = pd.concat(parts, ignore_index=True), pd.concat(pairs, ignore_index=True)
    return replace(ranks, rows=whole, pairs=few, with_best=test == RECOMMENDED)


def _list_pairs(pairs: pd.DataFrame, order: np.ndarray) -> pd.DataFrame:
    """Return pairs of runs by one measure in the order of the ranks, the better run first."""
    better, worse = np.triu_indices(len(order), 1)
    pairs = pairs.iloc[restore_pairs(order)]
    turned = order[better] > order[worse]
    opposite = {"run_a": pairs["run_b"], "run_b": pairs["run_a"], "difference": 0.0 - pairs["difference"]}
    opposite |= {"low": -pairs["high"], "high": -pairs["low"]}
    pairs = pairs.assign(
        **{name: column.where(~turned, opposite[name]) for name, column in pairs.items() if name in opposite}
    )
    pairs = pairs.rename(columns={"run_a": "run", "run_b": "other_run"})
    return pairs[["measure", "run", "other_run", "difference", "low", "high", "p_value"]]
