"""Does a measure give the same ranking of runs on other topics? (Sakai 2021, §5.2 and §6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import Within, check_options, prepare
from metaeval.analyses.result import Result, join_names, list_rows, name_pairs, write_range
from metaeval.data.scores import Scores
from metaeval.errors import MetaevalError, format_list
from metaeval.measures.base import Measure
from metaeval.show.charts import IntervalChart
from metaeval.show.table import Table
from metaeval.stats.anova import effect_size, residual_variance
from metaeval.stats.letters import compact_letters
from metaeval.stats.randomised_tukey import p_values, randomised_tukey_hsd
from metaeval.stats.rank_correlation import TauVariant
from metaeval.stats.split_half import split_half_tau

FEWEST_FOR_LETTERS = 10
"""Runs, and topics in each set, from which on a table says by letters which measures differ."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitHalfConsistency(Result):
    """τ between the rankings of runs on two disjoint sets of topics, over many random splits.

    ``tau[b, m]`` compares the rankings by measure m on the two sets of split b, of `sizes` topics; splits are shared.
    `residual_variance` is V_E2 of that trial × measure matrix, two-way without replication, and `p_values` are of the
    randomised Tukey HSD test on it, for the pairs (0, 1), (0, 2), … of measures.
    """

    measures: tuple[Measure, ...]
    tau: np.ndarray
    sizes: tuple[int, int]
    residual_variance: float
    p_values: np.ndarray
    alpha: float

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
        square = np.zeros((len(self.measures),) * 2, dtype=bool)
        square[np.triu_indices(len(square), 1)] = self.p_values <= self.alpha
        return square | square.T

    @property
    def outperforms(self) -> np.ndarray:
        """How many of the worst measures each one significantly outperforms, shape (measure,).

        k means: it is significantly better than each of the k measures of smallest mean τ.
        """
        beats = self.significant & (self.means[:, np.newaxis] > self.means)
        worst_first = np.argsort(self.means, kind="stable")
        return np.logical_and.accumulate(beats[:, worst_first], axis=1).sum(axis=1)

    def answer(self) -> str:
        """Say which measures rank runs most stably, and which least: those that do not differ significantly together."""
        order, (a, b) = np.argsort(-self.means, kind="stable"), self.sizes
        sets = f"two random sets of {a} topics" if a == b else f"random sets of {a} and {b} topics"
        below = self.significant[order[0], order]
        if len(order) == 1:
            return f"{self.measures[0]} ranks runs with a mean τ of {self.means[0]:.2f} between {sets}."
        if not below.any():
            return f"No measure is shown to rank runs more stably than another between {sets} (τ {write_range(self.means)})."
        groups = order[~below], order[below & ~self.significant[order[-1], order]]
        (best, most), (worst, least) = (
            (join_names([str(self.measures[m]) for m in some]), write_range(self.means[some])) for some in groups
        )
        ranks = "ranks" if len(groups[0]) == 1 else "rank"
        return f"{best} {ranks} runs most stably between {sets} (mean τ {most}), {worst} least ({least})."

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the measures from the most to the least consistent one, how every two differ, and τ of every split.

        Rows: mean_tau, sd, outperforms (the worst k measures, significantly) and letters (two measures without a common
        letter differ significantly). Comparisons: difference (of mean τ), effect_size (the difference over √V_E2), p_value
        and significant.
        """
        order, names = np.argsort(-self.means, kind="stable"), [str(measure) for measure in self.measures]
        spread = {"sd": self.tau.std(axis=0, ddof=1), "outperforms": self.outperforms}
        rows = pd.DataFrame({"measure": names, "mean_tau": self.means, **spread}).iloc[order].reset_index(drop=True)
        rows["letters"] = compact_letters(self.significant[np.ix_(order, order)])
        first, second = np.triu_indices(len(names), 1)
        comparisons = {
            **name_pairs(self.measures), "difference": self.means[first] - self.means[second],
            "effect_size": self.effect_sizes[first, second], "p_value": self.p_values,
            "significant": self.significant[first, second],
        }  # fmt: skip
        trials = pd.DataFrame(self.tau, index=pd.RangeIndex(1, len(self.tau) + 1, name="trial"), columns=names)
        return {"consistency": rows, "comparisons": pd.DataFrame(comparisons), "trials": trials}

    def tables(self) -> list[Table]:
        """Return mean τ, best first, with letters in place of the papers' marks, and V_E2 (ACL 2021, Tables 3 and 6)."""
        (a, b), several = self.sizes, len(self.measures) > 1
        few = min(a, len(self.diagnostics[0].runs)) < FEWEST_FOR_LETTERS
        caption = f"Split-half consistency: Kendall's τ of rankings ({a} vs. {b} topics, {len(self.tau):,} splits)."
        letters = (
            f" Without a common letter: significantly different (α = {self.alpha:g}) over these splits of these topics."
        )
        needed = f" No letters: they need {FEWEST_FOR_LETTERS} runs, and as many topics in each set."
        caption += (needed if few else letters) * several
        frame = self.to_frame().set_index("measure").rename(columns={"mean_tau": "mean τ"})
        shown = frame[["mean τ"] if few else ["mean τ", "letters"]]
        residual = f"V_E2 = {self.residual_variance:.3g}: the variance of τ that neither measure nor split explains."
        return [Table(shown, caption, self.signature, legend=residual * several)]

    def charts(self) -> Sequence[IntervalChart]:
        """Return the distribution of τ over splits for every measure, the most consistent one on top."""
        ends = np.quantile(self.tau, [0.025, 0.25, 0.75, 0.975], axis=0)
        rows = pd.DataFrame({"mean": self.means, **dict(zip(("low", "q1", "q3", "high"), ends, strict=True))})
        rows.insert(0, "measure", list(map(str, self.measures)))
        label = "τ between rankings on {} and {} other topics: mean, middle half, middle 95 %".format(*self.sizes)
        titles, order = {str(each): each.title for each in self.measures}, np.argsort(self.means, kind="stable")[::-1]
        return [IntervalChart(list_rows(rows.iloc[order], "mean", titles), label)]


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
        Topics in each of two sets without a common topic, such as 10; by default the topics are split in half.
    tau : {"tau_a", "tau_b"}, optional
    n_permutations : int, optional
        Trials of the randomised Tukey HSD test that compares the measures.
    alpha, distinct_runs, seed, n_jobs : as for `discriminative_power`

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
    ready = prepare(scores, "split_half_consistency", seed=seed, distinct_runs=distinct_runs, clusters="pool")
    check_options(
        alpha=alpha, tau=Within(tau, TauVariant), n_jobs=n_jobs, n_trials=Within(n_trials, 2), n_permutations=n_permutations,
        size=Within(1 if size is None else size, 1),
    )  # fmt: skip
    n_topics, measures = len(ready.scores.topics), ready.scores.measures
    if size is not None and 2 * size > n_topics:
        raise MetaevalError(f"two disjoint sets of {size} topics need {2 * size}; there are {n_topics}")
    taus = split_half_tau(ready.values, n_trials=n_trials, size=size, key=ready.key(), variant=tau)
    in_order = taus[:, ready.places[2]]  # each measure's trials are neighbours, which are summed pairwise
    undefined = [str(measures[m]) for m in np.flatnonzero(np.isnan(in_order).any(axis=0))]
    if undefined:
        where = f"where all runs are tied, as they are on some half for {format_list(undefined)}"
        raise MetaevalError(f"τ_b is not defined {where}: use tau_a")
    variance, p = float("nan"), np.empty(0)
    if len(measures) > 1:
        variance = float(residual_variance(taus))
        table = taus.T[:, :, None]  # measures are compared over trials, as runs are over topics
        counts = randomised_tukey_hsd(table, n_permutations=n_permutations, key=ready.key("test"), n_jobs=n_jobs)
        p = ready.restore(p_values(counts, n_permutations)[0], "measure pair")
    sizes = (n_topics // 2, n_topics - n_topics // 2) if size is None else (size, size)
    signature = ready.sign(
        split=f"{sizes[0]} vs. {sizes[1]}", trials=n_trials, tau=tau, test="randomised Tukey HSD", B=n_permutations,
        alpha=alpha, seed=seed,
    )  # fmt: skip
    return SplitHalfConsistency(
        measures=measures, tau=in_order, sizes=sizes, residual_variance=variance, p_values=p, alpha=alpha,
        signature=signature, diagnostics=(ready.diagnostics,),
    )  # fmt: skip
