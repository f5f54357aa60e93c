"""How many topics should a new collection have? Topic-set-size design (Sakai 2016; Sakai 2018, Chapter 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from metaeval.analyses.prepare import check_options, prepare
from metaeval.analyses.result import MeasureRows
from metaeval.data.scores import Scores
from metaeval.errors import format_count
from metaeval.show.table import Table
from metaeval.stats.intervals import explain_no_interval
from metaeval.stats.resampling import draw_weights
from metaeval.stats.variance_components import design_topics, detectable_difference, resample_ratios

DESIGNS = {
    "t-test": ["topics", "low", "high"],
    "generalisability": ["generalisability", "generalisability_low", "generalisability_high"],
}
"""Columns of the numbers of topics that each aim needs, with the ends of their intervals."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSetSize(MeasureRows):
    """How many topics every measure needs: columns topics, for a paired t-test, and generalisability, each with an interval.

    They rest on V_E2 and the coefficient of the topics there are, with intervals; detectable is the difference of two runs
    that a paired t-test on these topics finds. Topics are infinite where no number is enough. Where topics come in clusters,
    clusters are counted.
    """

    n_topics: int
    difference: float
    aims: str
    unit: str = "topic"

    number: ClassVar[str] = "topics"
    label: ClassVar[str] = "topics (or clusters) for a paired t-test to find the difference"

    def answer(self) -> str:
        """Say how many topics a paired t-test needs, by the measure that needs fewest and the one that needs most."""
        numbers = self.rows.set_index("measure")["topics"]
        few, many = numbers.min(), numbers.max()
        needed = format_count(int(few), self.unit) if np.isfinite(few) else f"more {self.unit}s than can be collected"
        most = f", {numbers.idxmax()} {int(many):,}" if few < many < np.inf else ""
        unit = ", in each measure's unit," * (len(numbers) > 1)
        what = f"To find a difference of {self.difference:g}{unit} between two runs by a t-test"
        return f"{what}, {numbers.idxmin()} needs {needed}{most}."

    def tables(self) -> list[Table]:
        """Return the numbers of topics with their intervals, a row for each measure; with all, what this collection can do."""
        rows, cells = self.rows.set_index("measure"), {}
        for heading, names in DESIGNS.items():
            number, low, high = (rows[name].map(lambda n: "∞" if np.isinf(n) else f"{n:.0f}") for name in names)
            cells[heading] = number + (" (" + low + "–" + high + ")").where(rows[names[1]].notna(), "")
        known = rows[["detectable", "coefficient"]].add_suffix(f" with {self.n_topics}")
        caption = f"{self.unit.title()}s needed to find a difference of {self.difference:g} {self.aims}."
        legend = f"By one measure it may matter more. Detectable: what the t-test finds so. {self.no_interval}".rstrip()
        short = Table(pd.DataFrame(cells), caption, self.signature, legend=legend, at=("short", "paper"))
        return [short, replace(short, frame=short.frame.join(known), at=("all",))]


def topic_set_size(
    scores: Scores,
    *,
    difference: float = 0.1,
    alpha: float = 0.05,
    beta: float = 0.2,
    target: float = 0.95,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    distinct_runs: bool = False,
    seed: int = 0,
) -> TopicSetSize:
    """How many topics should a new collection have, so that a measure finds a given difference between runs?

    For runs on topics; metaeval variance is for repeats, judges or tasks.

    Parameters
    ----------
    scores : Scores
        At least two runs and two topics, of the kind that the new collection will have. Where topics come in clusters,
        clusters are counted in place of topics.
    difference : float, optional
        The smallest difference of two runs' means that matters, in units of the measures.
    alpha : float, optional
        Significance level of a paired t-test.
    beta : float, optional
        Probability of missing the difference.
    target : float, optional
        Share of the variance of mean scores that is to be between runs (generalisability coefficient).
    n_bootstrap, confidence, distinct_runs, seed : as for `discriminative_power`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = np.linspace(0.2, 0.8, 12)[:, None, None] + rng.normal(0, 0.2, (12, 40, 1))
    >>> scores = Scores(values, runs=list("abcdefghijkl"), topics=range(40), measures=["X"])
    >>> topic_set_size(scores, difference=0.1).to_frame()[["topics", "low", "high", "generalisability"]]
       topics   low  high  generalisability
    0    69.0  60.0  80.0              22.0
    """
    ready = prepare(scores, "topic_set_size", seed=seed, distinct_runs=distinct_runs, clusters="pool")
    n_runs, n_topics, _ = ready.values.shape
    check_options(
        difference=difference, alpha=alpha, beta=beta, target=target, confidence=confidence, n_bootstrap=n_bootstrap
    )
    no_interval = explain_no_interval(n_runs, n_topics) if n_bootstrap else ""
    weights = np.ones((1, n_topics))  # all topics, and then resamples of them
    if n_bootstrap and not no_interval:
        weights = np.concatenate([weights, draw_weights(ready.key(), range(n_bootstrap), n_topics)])
    values = ready.restore(ready.values, "measure")
    residual, rates = resample_ratios(np.moveaxis(values, -1, 0), weights, confidence)
    rows = pd.DataFrame({"measure": list(map(str, ready.scores.measures))})
    designed = design_topics(residual, rates, n_topics, difference, (alpha, beta), target)
    columns = (*DESIGNS.values(), *([name, f"{name}_low", f"{name}_high"] for name in ("V_E2", "coefficient")))
    for names, numbers in zip(columns, designed, strict=True):
        rows[names] = numbers
    rows["detectable"] = detectable_difference(residual[:, 0] / n_topics, n_topics, alpha, beta)
    aims = (
        f"with probability {1 - beta:g} by a paired t-test at α = {alpha:g}, and for {100 * target:g} % of the variance of "
        "means to be between runs (generalisability)"
    ) + f"; in brackets {100 * confidence:g} % intervals" * bool(rows["low"].notna().any())
    resampling = {"bootstrap": n_bootstrap, "confidence": confidence, "seed": seed} if n_bootstrap else {}
    return TopicSetSize(
        measures=ready.scores.measures, rows=rows, n_topics=n_topics, difference=difference, aims=aims,
        unit="cluster" if scores.clusters else "topic", no_interval=no_interval,
        signature=ready.sign(difference=difference, alpha=alpha, beta=beta, target=target, **resampling),
        diagnostics=(ready.diagnostics,),
    )  # fmt: skip
