"""Which ranks of runs are real, by the significant differences between them?"""

from __future__ import annotations

from metaeval.analyses.checks import check_power
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.rank_result import RunRanks


def run_ranks(power: DiscriminativePower) -> RunRanks:
    """Which ranks of runs are real, by the significant differences between them?

    Parameters
    ----------
    power : DiscriminativePower
        Nothing is tested again.

    Returns
    -------
    RunRanks

    Examples
    --------
    >>> import numpy as np
    >>> from metaeval.analyses.discriminative_power import discriminative_power
    >>> from metaeval.data.scores import Scores
    >>> values = np.add.outer([0.1, 0.12, 0.8], np.linspace(0, 0.1, 12))[..., None]
    >>> values[1] += np.tile([0.1, -0.1], 6)[:, None]
    >>> scores = Scores(values, runs=["a", "b", "c"], topics=range(12), measures=["AP"])
    >>> ranks = run_ranks(discriminative_power(scores, n_permutations=500))
    >>> ranks.to_frame()[["run", "rank", "low", "high", "letters", "near_first"]]
      run  rank  low  high letters  near_first
    0   c     1    1     1       a        True
    1   b     2    2     3       b       False
    2   a     3    2     3       b       False
    """
    check_power(power)
    return power.ranks()
