"""Does the choice of measure change which judge is best? And is a judge that never looks worse than all? Asked here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import metaeval
from experiments.alttest.resampling import Differences
from experiments.old.claims import Answer, Number, claim, every
from metaeval.analyses.alternative_annotator_test import PASS
from metaeval.data.annotations import GoldRule

ASKED = "asked here"


@dataclass(frozen=True)
class Facts:
    """Differences of judges by the rule that chooses the gold, and the test of these judges and of a constant one."""

    collection: str
    by_gold: Mapping[GoldRule, Differences]
    tested: metaeval.AlternativeAnnotatorTest
    constant: str

    def measure_changes_best(self, gold: GoldRule) -> Answer:
        """Return whether two measures contradict each other about the judges that they put first."""
        differences = self.by_gold[gold]
        best = differences.best.tolist()
        if len(set(best)) == 1:
            return ~(self._find_narrowest_lead(differences) > 0)
        # How clearly one measure's best judge leads another's, by the less clear of both measures.
        leads = np.array([differences.clearness[judge, best, m] for m, judge in enumerate(best)])
        least = np.minimum(leads, leads.T)
        m, n = map(int, np.unravel_index(least.argmax(), least.shape))
        return (_lead(differences, m, best[m], best[n]) > 0) & (_lead(differences, n, best[n], best[m]) > 0)

    def _find_narrowest_lead(self, differences: Differences) -> Number:
        """Return the least clear difference of the best judge less another."""
        best = int(differences.best[0])
        clearness = differences.clearness[best].copy()  # judge × measure
        clearness[best] = np.inf
        judge, m = map(int, np.unravel_index(clearness.argmin(), clearness.shape))
        return _lead(differences, m, best, judge)

    def list_leads_over_constant(self) -> list[Number]:
        """Return by how much ρ of every judge is above that of the constant one."""
        frame = self.tested.differences
        rows = frame[frame["judge_2"] == self.constant][["judge_1", "difference", "low", "high"]]
        return [Number(*row) for row in rows.itertuples(index=False)]

    def constant_omega(self) -> Number:
        """Return the share of people that the constant judge wins against."""
        row = self.tested.rows.set_index("judge").loc[self.constant]
        return Number(f"ω of {self.constant}", *map(float, row[["omega", "omega_low", "omega_high"]]))


def _lead(differences: Differences, m: int, judge: int, other: int) -> Number:
    """Return by how much a judge is better than another by a measure."""
    name = f"{differences.judges[judge]} less {differences.judges[other]} by {differences.measures[m]}"
    gap, reach = float(differences.gaps[judge, other, m]), float(differences.reach[judge, other, m])
    return Number(name, gap, gap - reach, gap + reach) if reach > 0 else Number.unsure(name, gap)


@claim(ASKED, "The choice of measure changes which judge is best.")
def measure_changes_best(facts: Facts) -> Answer:
    """Of two measures, each puts another judge first, and surely above the other's; not if one is surely best by all."""
    return facts.measure_changes_best("majority")


@claim(ASKED, "It does so where the gold is the median of people's labels, too.")
def measure_changes_best_with_median(facts: Facts) -> Answer:
    """As above, with the median in place of the label that most people give."""
    return facts.measure_changes_best("median")


@claim(ASKED, "By ρ, every judge is better than one that always gives the label that people give most often.")
def every_judge_beats_constant(facts: Facts) -> Answer:
    """All differences in ρ are above 0."""
    return every(lead > 0 for lead in facts.list_leads_over_constant())


@claim(ASKED, "A judge that always gives the same label does not pass the test.")
def constant_does_not_pass(facts: Facts) -> Answer:
    """ω of the judge that always gives the label that people give most often is below ½, with which a judge passes."""
    return facts.constant_omega() < PASS
