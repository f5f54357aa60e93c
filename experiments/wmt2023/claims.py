"""What can be seen of metrics without people: does it tell which metrics are right? Asked here, not by the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.old.claims import Answer, Number, claim, every
from metaeval.stats.rank_correlation import tau

ASKED = "asked here"
LEVEL = 0.95


@dataclass(frozen=True)
class Facts:
    """One row per metric: significant pairs and what people make of them, consistency, contradictions, agreement."""

    collection: str
    frame: pd.DataFrame

    def find_largest(self) -> list[str]:
        """Return the metrics with the most significant pairs, as far as the trials tell: less than two errors apart."""
        top = self.frame["significant"].idxmax()
        reach = 2 * np.hypot(self.frame["mc_se"], self.frame.loc[top, "mc_se"])
        return list(self.frame.index[self.frame["significant"] >= self.frame.loc[top, "significant"] - reach])

    def contradicted(self, metric: str) -> Number:
        """Return how many significant pairs of a metric people find the other way round."""
        of = int(self.frame.loc[metric, "significant"])
        return Number(f"{metric}: of {of} contradicted", int(self.frame.loc[metric, "contradicted"]))

    def correlation(self, column: str) -> Number:
        """Return τ_b over metrics between a column and agreement, with its jackknife interval over metrics."""
        first, second = self.frame[column].to_numpy(dtype=float), self.frame["agreement"].to_numpy()
        n = len(first)
        without = [float(tau(np.delete(first, i), np.delete(second, i), variant="tau_b")) for i in range(n)]
        error = float(np.sqrt((n - 1) / n * ((np.array(without) - np.mean(without)) ** 2).sum()))
        value = float(tau(first, second, variant="tau_b"))
        reach = float(t.ppf((1 + LEVEL) / 2, n - 1)) * error
        return Number("τ_b", value, max(value - reach, -1.0), min(value + reach, 1.0))


@claim(ASKED, "The metric that finds the most significant differences is right about them.")
def most_significant_is_right(facts: Facts) -> Answer:
    """MQM contradicts none of its significant pairs; nor of those of metrics less than two Monte Carlo errors behind."""
    return every(facts.contradicted(metric) <= 0 for metric in facts.find_largest())


@claim(ASKED, "Metrics that find more significant differences agree better with people.")
def power_tells_agreement(facts: Facts) -> Answer:
    """τ_b over metrics between significant pairs and agreement is above 0."""
    return facts.correlation("significant") > 0


@claim(ASKED, "Metrics that rank runs more consistently agree better with people.")
def consistency_tells_agreement(facts: Facts) -> Answer:
    """τ_b over metrics between consistency and agreement is above 0."""
    return facts.correlation("consistency") > 0


@claim(ASKED, "Metrics that contradict other metrics more often agree worse with people.")
def contradictions_tell_agreement(facts: Facts) -> Answer:
    """τ_b over metrics between contradictions and agreement is below 0."""
    return facts.correlation("contradictions") < 0
