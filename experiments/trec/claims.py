"""What is asked of the retrieval measures, collection by collection."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from experiments.old.claims import Answer, Number, claim
from metaeval.analyses.study import Study

WHERE = "asked here"


@dataclass(frozen=True)
class Facts:
    """What a study of one collection found."""

    study: Study

    @property
    def names(self) -> list[str]:
        """The measures."""
        return [str(measure) for measure in self.study.scores.measures]

    def significant_pairs(self) -> tuple[Number, Number]:
        """Return how many pairs of runs AP finds significant, and the most of another measure."""
        return self._compare(self.study.power.significant.sum(axis=1), "significant pairs of")

    def consistency(self) -> tuple[Number, Number]:
        """Return the mean τ between halves of the topics of AP, and the largest of another measure."""
        return self._compare(self.study.consistency.means, "mean τ of")

    def outperformed(self) -> Number:
        """Return how many measures are significantly less consistent than AP."""
        column = self.names.index("AP")
        return Number("measures less consistent than AP", int(self.study.consistency.outperforms[column]))

    def agreeing_pairs(self) -> tuple[Number, Number]:
        """Return in how many pairs of measures the more discriminative one is the more consistent one, and of how many."""
        power, means = self.study.power.significant.sum(axis=1), self.study.consistency.means
        pairs = list(itertools.combinations(range(len(self.names)), 2))
        agree = sum(int((power[i] - power[j]) * (means[i] - means[j]) > 0) for i, j in pairs)
        return Number("pairs of measures that agree", agree), Number("of", len(pairs))

    def contradictions(self) -> Number:
        """Return for how many pairs of runs two measures reach opposite significant conclusions."""
        return Number("contradictions", int(self.study.contradictions.to_frame()["contradictions"].sum()))

    def _compare(self, values: np.ndarray, what: str) -> tuple[Number, Number]:
        others = {name: float(value) for name, value in zip(self.names, values, strict=True) if name != "AP"}
        best = max(others, key=others.__getitem__)
        return Number(f"{what} AP", float(values[self.names.index("AP")])), Number(f"{what} {best}", others[best])


@claim(WHERE, "AP finds more significant differences between runs than measures of the top ranks.")
def ap_is_most_discriminative(facts: Facts) -> Answer:
    """More pairs of runs are significant with AP than with any other measure."""
    ap, best = facts.significant_pairs()
    return ap > best


@claim(WHERE, "AP repeats its ranking of runs on other topics better than measures of the top ranks.")
def ap_is_most_consistent(facts: Facts) -> Answer:
    """Its mean τ between halves of the topics is largest, and significantly larger than that of every other measure."""
    ap, best = facts.consistency()
    return (ap > best) & (facts.outperformed() >= len(facts.names) - 1)


@claim(WHERE, "The more discriminative of two measures is the more consistent one.")
def power_and_consistency_agree(facts: Facts) -> Answer:
    """In all pairs of measures."""
    agree, pairs = facts.agreeing_pairs()
    return agree >= pairs


@claim(WHERE, "No two measures contradict each other significantly.")
def measures_do_not_contradict(facts: Facts) -> Answer:
    """For no pair of runs two measures reach opposite significant conclusions."""
    return facts.contradictions() <= 0
