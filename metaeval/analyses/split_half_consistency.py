"""Does a measure give the same ranking of runs on other topics? (Sakai 2021, §5.2 and §6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from metaeval.analyses.checks import check_count, check_jobs, check_seed, check_share, check_tau
from metaeval.analyses.diagnostics import choose_runs
from metaeval.analyses.label_order import sort_labels
from metaeval.analyses.result import FormerResult
from metaeval.analyses.variation import name_pairs
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import Chart, IntervalChart, Row
from metaeval.show.signature import Signature, sign
from metaeval.show.table import Table
from metaeval.stats.anova import effect_size, residual_variance
from metaeval.stats.letters import compact_letters
from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import split_half_tau
from metaeval.stats.streams import stream_key


@dataclass(frozen=True, eq=False)
class SplitHalfConsistency(FormerResult):
    """τ between the rankings of runs on two disjoint sets of topics, over many random splits.

    Parameters
    ----------
    measures : tuple of Measure
    tau : ndarray, shape (trial, measure)
        ``tau[b, m]`` compares the rankings by measure m on the two sets of split b; splits are shared.
    sizes : tuple of int
        Topics in either set.
    residual_variance : float
        V_E2 of the trial × measure matrix, two-way without replication.
    p_values : ndarray, shape (pair,)
        Of the randomised Tukey HSD test on that matrix; pairs (0, 1), (0, 2), … of measures.
    alpha : float
    signature : Signature
    """

    measures: tuple[Measure, ...]
    tau: np.ndarray
    sizes: tuple[int, int]
    residual_variance: float
    p_values: np.ndarray
    alpha: float
    signature: Signature

    def __repr__(self) -> str:
        a, b = self.sizes
        return f"SplitHalfConsistency: {len(self.tau):,} splits {a} vs. {b}, {len(self.measures)} measures"

    @property
    def means(self) -> np.ndarray:
        """Mean τ of every measure, shape (measure,)."""
        return self.tau.mean(axis=0)

    @property
    def effect_sizes(self) -> np.ndarray:
        """Difference of two mean τ's over √V_E2, shape (measure, measure); positive where the row is better."""
        return effect_size(self.means[:, None], self.means, self.residual_variance)

    @property
    def significant(self) -> np.ndarray:
        """Whether two measures differ significantly, shape (measure, measure)."""
        n = len(self.measures)
        square = np.zeros((n, n), dtype=bool)
        first, second = np.triu_indices(n, 1)
        square[first, second] = square[second, first] = self.p_values <= self.alpha
        return square

    @property
    def outperforms(self) -> np.ndarray:
        """How many of the worst measures each one significantly outperforms, shape (measure,).

        k means: it is significantly better than each of the k measures of smallest mean τ.
        """
        beats = self.significant & (self.means[:, np.newaxis] > self.means)
        worst_first = np.argsort(self.means, kind="stable")
        return np.logical_and.accumulate(beats[:, worst_first], axis=1).sum(axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return the measures from the most to the least consistent one.

        Columns measure, mean_tau, sd, outperforms (the worst k measures, significantly) and letters (two measures
        without a common letter differ significantly).
        """
        order = np.argsort(-self.means, kind="stable")
        letters = compact_letters(self.significant[np.ix_(order, order)])
        return pd.DataFrame(
            {
                "measure": [str(self.measures[m]) for m in order],
                "mean_tau": self.means[order],
                "sd": self.tau.std(axis=0, ddof=1)[order] if len(self.tau) > 1 else np.nan,
                "outperforms": self.outperforms[order],
                "letters": letters,
            }
        )

    def answer(self) -> str:
        """Say which measure ranks runs most stably, and which least."""
        best, worst = int(np.argmax(self.means)), int(np.argmin(self.means))
        a, b = self.sizes
        sets = f"two random sets of {a} topics" if a == b else f"random sets of {a} and {b} topics"
        most = f"{self.measures[best]} ranks runs most stably between {sets}"
        least = f", {self.measures[worst]} least ({self.means[worst]:.2f})" if len(self.measures) > 1 else ""
        return f"{most} (mean τ {self.means[best]:.2f}){least}."

    def comparisons(self) -> pd.DataFrame:
        """Return how every two measures differ, and what the test says of it.

        Columns measure_1, measure_2, difference (of mean τ), effect_size (the difference over √V_E2), p_value and
        significant.
        """
        first, second = np.triu_indices(len(self.measures), 1)
        return pd.DataFrame(
            {
                **name_pairs(self.measures),
                "difference": self.means[first] - self.means[second],
                "effect_size": self.effect_sizes[first, second],
                "p_value": self.p_values,
                "significant": self.significant[first, second],
            }
        )

    def details(self) -> dict[str, pd.DataFrame]:
        """Return the comparisons of measures, and τ of every split and measure, which the figure sums up."""
        trials = pd.RangeIndex(1, len(self.tau) + 1, name="trial")
        splits = pd.DataFrame(self.tau, index=trials, columns=[str(measure) for measure in self.measures])
        return {"comparisons": self.comparisons(), "trials": splits}

    def to_table(self) -> Table:
        """Return mean τ, best first, with letters in place of the papers' marks, and V_E2 (ACL 2021, Tables 3 and 6)."""
        frame = self.to_frame().set_index("measure")[["mean_tau", "letters"]].rename(columns={"mean_tau": "mean τ"})
        a, b = self.sizes
        caption = f"Split-half consistency ({a} vs. {b} topics, {len(self.tau):,} splits)."
        letters = "Measures without a common letter differ significantly over these splits of these topics."
        legend = f"{letters} V_E2 = {self.residual_variance:.3g}." if len(frame) > 1 else ""
        return Table(frame, caption, self.signature, legend=legend)

    def short_tables(self) -> list[Table]:
        """Return mean τ: which differences are significant holds for these topics only, and needs the legend."""
        table = self.to_table()
        return [replace(table, frame=table.frame[["mean τ"]])]

    def charts(self) -> Sequence[Chart]:
        """Return the distribution of τ over splits for every measure, the most consistent one on top."""
        ends = np.quantile(self.tau, [0.025, 0.25, 0.75, 0.975], axis=0)
        rows = [
            Row(
                str(self.measures[m]), self.measures[m].title, float(self.means[m]),
                line=(float(ends[0, m]), float(ends[3, m])), bar=(float(ends[1, m]), float(ends[2, m])), hollow=True,
            )
            for m in np.argsort(self.means, kind="stable")[::-1]
        ]  # fmt: skip
        a, b = self.sizes
        return [IntervalChart(rows, f"τ between rankings on {a} and {b} other topics: mean, middle half, middle 95 %")]


def split_half_consistency(
    scores: Scores,
    *,
    n_trials: int = 1000,
    size: int | None = None,
    seed: int = 0,
    tau: TauVariant = "tau_a",
    n_permutations: int = 5000,
    alpha: float = 0.05,
    distinct_runs: bool = False,
    n_jobs: int = 1,
) -> SplitHalfConsistency:
    """Does a measure give the same ranking of runs on other topics?

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics.
    n_trials : int, optional
        Random splits, shared by all measures.
    size : int, optional
        Topics in each of two disjoint sets, 10 in the papers' second experiment; by default the topics are
        split in half.
    seed : int, optional
    tau : {"tau_a", "tau_b"}, optional
    n_permutations : int, optional
        B of the randomised Tukey HSD test between measures.
    alpha : float, optional
    distinct_runs : bool, optional
        Keep one of several runs with the same scores on every topic: the first in the order of labels.
    n_jobs : int, optional
        Threads; any number gives the same results.

    Returns
    -------
    SplitHalfConsistency

    Raises
    ------
    MetaevalError
        If there are too few runs or topics, or an option is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = np.linspace(0.2, 0.8, 6)[:, None, None]
    >>> scores = Scores(quality + rng.normal(0, [0.05, 0.5], (6, 40, 2)), runs=list("abcdef"), topics=range(40),
    ...                 measures=["stable", "noisy"])
    >>> split_half_consistency(scores, n_trials=100).to_frame()[["measure", "outperforms"]]
      measure  outperforms
    0  stable            1
    1   noisy            0
    """
    scores, diagnostics = choose_runs(scores, distinct_runs, clusters="pool")
    check_share("alpha", alpha)
    check_seed(seed)
    check_tau(tau)
    check_jobs(n_jobs)
    check_count("n_trials", n_trials, 2)
    check_count("n_permutations", n_permutations, 1)
    n_topics = len(scores.topics)
    if size is not None:
        check_count("size", size, 1)
        if 2 * size > n_topics:
            raise MetaevalError(f"two disjoint sets of {size} topics need {2 * size}; there are {n_topics}")
    key = stream_key(seed, scores.collection, "split_half_consistency")
    order = sort_labels(scores)
    taus = split_half_tau(order.values, n_trials=n_trials, size=size, key=key, variant=tau)
    undefined = [str(scores.measures[m]) for m in np.flatnonzero(np.isnan(taus[:, order.measures]).any(axis=0))]
    if undefined:
        raise MetaevalError(
            f"τ_b is not defined where all runs are tied, as they are on some half for {format_list(undefined)}: use tau_a"
        )
    variance, p = float("nan"), np.empty(0)
    if len(scores.measures) > 1:
        variance = float(residual_variance(taus))
        test = stream_key(seed, scores.collection, "split_half_consistency", "test")
        table = taus.T[:, :, None]  # measures are compared over trials, as runs are over topics
        counts = randomised_tukey_hsd(table, n_permutations=n_permutations, key=test, n_jobs=n_jobs)
        p = p_values(counts, n_permutations)[0, order.measure_pairs]
    sizes = (size, size) if size is not None else (n_topics // 2, n_topics - n_topics // 2)
    split = f"{sizes[0]} vs. {sizes[1]}"
    signature = sign(
        "split_half_consistency", scores, split=split, trials=n_trials, tau=tau,
        test="randomised Tukey HSD", B=n_permutations, alpha=alpha, seed=seed,
        **diagnostics.settings,
    )  # fmt: skip
    return SplitHalfConsistency(
        scores.measures, taus[:, order.measures], sizes, variance, p, alpha, signature, diagnostics=(diagnostics,)
    )
