"""Which ranks of runs are real, by the significant differences between them?"""

from __future__ import annotations

from metaeval.analyses.discriminative_power import discriminative_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.rank_result import RunRanks
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError
from metaeval.stats.pair_tests import RECOMMENDED, Correction, PairedTest


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
    return discriminative_power(
        scores, n_permutations=n_permutations, alpha=alpha, seed=seed, test=test, correction=correction,
        distinct_runs=distinct_runs, n_bootstrap=0, n_jobs=n_jobs,
    ).ranks()  # fmt: skip
