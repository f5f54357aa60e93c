"""The claims that abstract, results and conclusion of Amigó et al. (ACL 2020) make, as rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.amigo2020.table2 import PRINT, ROWS
from experiments.old.claims import Answer, NotGiven, Number, Truth, claim, every, some
from metaeval import Properties, measure
from metaeval.analyses.properties import IMBALANCE, INVARIANCE, MONOTONICITY, PROPERTIES
from metaeval.measures.closeness_scales import closer_items
from metaeval.measures.ordinal_cases import all_matrices

OWN, FLAT = "CEM_ORD", "CEM_ORD flat"
REFERENCE = ("Accuracy", "Kendall", "MI")
MINIMAL = 0.01
"""The difference of coverage that the paper calls minimal."""

SAME = 1e-9
CAMPAIGNS = list(dict.fromkeys(entry["row"] for entry in PRINT["table1"]))
SIMULATED, REAL, TABLE2, FORMULAS, ROBUST = "the simulation", "real runs", "Table 2", "formulas", "robustness"
"""What claims are about."""


@dataclass(frozen=True)
class Coverages:
    """Coverage of every measure, shape (draw, measure, column); draws are seeds, and one where there are none."""

    collection: str
    values: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]

    def lead(self, column: str, others: Sequence[str] = ()) -> Number:
        """Return by how much CEM_ORD is ahead of the best of some measures, all by default; the ends are over seeds."""
        names = others or [row for row in self.rows if row != OWN]
        of_column = self.values[:, :, self.columns.index(column)]
        best = of_column[:, [self.rows.index(row) for row in names]].max(axis=1)
        gaps = of_column[:, self.rows.index(OWN)] - best
        return Number(f"{column}: ahead by", float(gaps.mean()), float(gaps.min()), float(gaps.max()))


@dataclass(frozen=True)
class Differences:
    """Differences of coverage on one collection, with intervals over its topics."""

    frame: pd.DataFrame
    measures: Mapping[str, str]
    columns: tuple[str, ...] = ("",)
    collection: str = REAL

    def lead(self, _: str, others: Sequence[str] = ()) -> Number:
        """Return by how much CEM_ORD is ahead of that measure which is nearest to it, or furthest ahead of it."""
        leads = [self._compare(self.measures[row]) for row in (others or [row for row in self.measures if row != OWN])]
        return min(leads, key=lambda lead: lead.value)

    def _compare(self, other: str) -> Number:
        own = self.measures[OWN]
        pair = self.frame["measure_1"].isin([own, other]) & self.frame["measure_2"].isin([own, other])
        (row,) = self.frame[pair].to_dict("records")
        turn = 1 if row["measure_1"] == own else -1
        low, high = sorted((turn * row["low"], turn * row["high"]))
        return Number(f"ahead of {other} by", turn * row["difference"], low, high)


@dataclass(frozen=True)
class Robustness:
    """Mean robustness of measures, as printed."""

    values: Mapping[str, float]
    collection: str = ROBUST

    def of(self, row: str) -> Number:
        """Return the robustness of one measure."""
        return Number(row, self.values[row])


@dataclass(frozen=True)
class PrintedMarks:
    """Marks of Table 2."""

    marks: Mapping[str, Sequence[int]]
    collection: str = TABLE2

    def has(self, row: str, name: str) -> Answer:
        """Say whether a measure is marked as having a property."""
        return Answer(Truth.YES if self.marks[row][PROPERTIES.index(name)] else Truth.NO)

    def has_with_empty_classes(self, row: str, name: str) -> Answer:
        """Say the same where gold classes may be empty."""
        raise NotGiven("Table 2 has no marks for empty gold classes")


@dataclass(frozen=True)
class Search:
    """Counterexamples that a search found: one proves that a property is lacking, none proves nothing."""

    found: Properties
    with_empty_classes: Properties
    collection: str = TABLE2

    def has(self, row: str, name: str) -> Answer:
        """Say whether no counterexample was found."""
        return self._count(self.found, row, name) <= 0

    def has_with_empty_classes(self, row: str, name: str) -> Answer:
        """Say the same where gold classes may be empty."""
        return self._count(self.with_empty_classes, row, name) <= 0

    def _count(self, found: Properties, row: str, name: str) -> Number:
        check = found.get_check(found.measures[list(ROWS).index(row)], name)
        if check is None:
            raise NotGiven(f"{name} was not tried")
        return Number(f"counterexamples of {row} to {name}", int(check.failed))


@dataclass(frozen=True)
class Enumeration:
    """Small cases that are enumerated: nothing is random, and nothing is read."""

    collection: str = FORMULAS

    def uneven_factors(self) -> Number:
        """Return how many matrices with equally large gold classes have CEM_NOM off a constant times Accuracy."""
        wrong, cases = 0, 0
        for n_classes, n_items in ((2, 2), (2, 4), (2, 6), (3, 3), (3, 6)):
            counts = all_matrices(n_items, n_classes)
            counts = counts[(counts.sum(axis=2) == n_items // n_classes).all(axis=1)]
            closeness, accuracy = (measure(name).evaluate(counts)[0] for name in ("CEM(scale=NOM)", "Accuracy"))
            factor = closeness[np.argmax(accuracy)] / accuracy.max()
            wrong += int((np.abs(closeness - factor * accuracy) > SAME).sum())
            cases += len(counts)
        return Number(f"of {cases:,} matrices without that constant", wrong)

    def uneven_distances(self) -> Number:
        """Return for how many distances CIQ_INT, of equally large gold classes, is not a function of the distance."""
        wrong, cases = 0, 0
        for n_classes in range(3, 8):
            closer = closer_items(np.ones(n_classes), scale="INT")
            g, p = np.indices(closer.shape)
            for distance in range(n_classes):
                wrong += int(np.ptp(closer[np.abs(g - p) == distance]) > SAME)
                cases += 1
        return Number(f"of {cases} distances with several values", wrong)


@claim("§5.3; §1; §6 (iii)", "CEM^ORD improves all other metrics", about=[SIMULATED])
def best_of_the_simulation(facts: Coverages) -> Answer:
    """In each of the six columns no measure has a higher coverage than CEM_ORD; ends of figures are over seeds."""
    return every(facts.lead(column) >= 0 for column in facts.columns)


@claim(
    "§5.3",
    "including the individual metrics used as a reference via UIR (MI, Kendall, and Accuracy)",
    about=[SIMULATED],
)
def above_its_references(facts: Coverages) -> Answer:
    """In each column CEM_ORD has a higher coverage than each of the three."""
    return every(facts.lead(column, REFERENCE) > 0 for column in facts.columns)


@claim(
    "§5.3",
    "the flat (not logarithmic) version CEM^ORD_flat performs systematically worse than the original metric",
    about=[SIMULATED],
)
def flat_is_worse(facts: Coverages) -> Answer:
    """In each column it has a lower coverage than CEM_ORD."""
    return every(facts.lead(column, [FLAT]) > 0 for column in facts.columns)


@claim(
    "§5.4; §6 (iii)",
    "CEM^ORD is the top performer in four datasets, and the second best (with a minimal difference of 0.01 […]) in the other "
    "two",
    about=[REAL],
)
def best_of_real_runs(facts: Coverages | Differences) -> Answer:
    """On no collection is the coverage of another measure higher by more than 0.01."""
    return every(facts.lead(column) >= -MINIMAL for column in facts.columns)


@claim(
    "Abstract",
    "the proposed metric captures quality aspects from different traditional tasks simultaneously",
    about=[REAL],
)
def covers_several_aspects(facts: Coverages | Differences) -> Answer:
    """On every collection CEM_ORD has a higher coverage than each of Accuracy, Kendall and MI."""
    return every(facts.lead(column, REFERENCE) > 0 for column in facts.columns)


@claim("§6 (iii)", "it is as robust as the best state-of-the-art metrics", about=[ROBUST])
def as_robust_as_the_best(facts: Robustness) -> Answer:
    """None of the measures whose mean robustness §5.4 gives has a higher one, to two decimals."""
    return every(facts.of(OWN) >= facts.of(row) for row in facts.values)


@claim("§4.2; §6 (iii)", "CEM^ORD is the only metric that satisfies the three properties", about=[TABLE2])
def only_cem_has_all_properties(facts: PrintedMarks | Search) -> Answer:
    """CEM_ORD has all three while no gold class is empty, and every other measure of Table 2 lacks one."""
    others = (some(~facts.has(row, name) for name in PROPERTIES) for row in ROWS if row != OWN)
    return every(facts.has(OWN, name) for name in PROPERTIES) & every(others)


@claim("§4.2, Appendix C", "provided that there are no empty classes in the gold standard", about=[TABLE2])
def empty_classes_matter(facts: PrintedMarks | Search) -> Answer:
    """With empty gold classes CEM_ORD lacks at least one of the three properties."""
    return some(~facts.has_with_empty_classes(OWN, name) for name in PROPERTIES)


@claim(
    "Abstract; Table 1",
    "the most popular evaluation metrics for ordinal classification tasks either ignore relevant information […] or assume "
    "additional information",
    about=[TABLE2],
)
def popular_measures_ignore_or_assume(facts: PrintedMarks | Search) -> Answer:
    """Each measure of Table 1 lacks ordinal monotonicity (it ignores the order) or invariance (it assumes distances)."""
    return every(~facts.has(row, MONOTONICITY) | ~facts.has(row, INVARIANCE) for row in CAMPAIGNS)


@claim(
    "Appendix C",
    "CEM^ORD is ordinal invariant. Monotonicity is also satisfied […] Finally, imbalance is also satisfied",
    about=[TABLE2],
)
def cem_is_proved(facts: PrintedMarks | Search) -> Answer:
    """CEM_ORD has each of the three properties while no gold class is empty."""
    return every(facts.has(OWN, name) for name in (INVARIANCE, MONOTONICITY, IMBALANCE))


@claim(
    "Abstract; Proposition 1",
    "Assuming that categories in g follow a uniform distribution, then Accuracy is proportional to CEM at nominal scale",
    about=[FORMULAS],
)
def accuracy_is_nominal_closeness(facts: Enumeration) -> Answer:
    """For all matrices of 2 to 6 items in 2 and 3 equally large gold classes CEM_NOM is one constant times Accuracy."""
    return facts.uneven_factors() <= 0


@claim(
    "Abstract; §3.2",
    "at interval scale, CEM^INT would be equivalent to a logarithmic version of MAE whenever items are uniformly distributed "
    "across classes",
    about=[FORMULAS],
)
def interval_closeness_is_distance(facts: Enumeration) -> Answer:
    """For 3 to 7 equally large classes CIQ_INT of a prediction is a function of its distance from the gold alone."""
    return facts.uneven_distances() <= 0
