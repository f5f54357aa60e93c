"""The claims that abstract, studies and conclusion of Cardoso and Sousa (2011) make, as rules."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from experiments.old.bounds import BOUNDS
from experiments.cardoso2011.expectations import (
    COEFFICIENTS,
    MET,
    SHARES,
    find_limit,
    find_lost,
    find_margin,
    format_gamma,
    score_matrix,
)
from experiments.cardoso2011.matrices import METHODS, PRINTED, STUDY
from experiments.old.claims import Answer, NotGiven, Number, claim, every

INDICES = ("OC β₁", "OC β₂")
ORDER_ONLY = ("R_s", "τ_b", "r_int")
ROUNDING = 0.01
ON_PRINT, SMALL, TRAINED = "matrices in print", "all small matrices", "trained classifiers"
"""What claims are about."""


@dataclass(frozen=True)
class Matrices:
    """Coefficients of the matrices in print, and which of the paper's expectations they meet."""

    expectations: pd.DataFrame
    collection: str = ON_PRINT

    def failures(self, name: str) -> Number:
        """Return how many of the paper's expectations a coefficient does not meet."""
        return Number(
            f"of {len(self.expectations)} expectations {name} fails", int((self.expectations[name] != MET).sum())
        )

    def score(self, name: str, matrix: str) -> Number:
        """Return a coefficient of one matrix."""
        return Number(f"{name} of {matrix}", score_matrix(COEFFICIENTS[name], matrix))

    def lead(self, name: str, better: str, worse: str) -> Number:
        """Return by how much a coefficient finds one matrix better than another."""
        return Number(f"{name}: {better} better than {worse} by", find_margin(COEFFICIENTS[name], better, worse))

    def lost(self, share: float, gamma: float) -> Number:
        """Return how many expectations OC meets with γ = 1, and not with another γ."""
        lost = find_lost(share, gamma)
        named = f" ({', '.join(lost)})" if lost else ""
        return Number(f"β of {share:g}, γ of {format_gamma(gamma)}: expectations lost{named}", len(lost))

    def limit(self, name: str) -> Number:
        """Return where a coefficient of tridiagonal matrices goes as K → ∞, to three digits."""
        return Number(f"limit of {name}", round(find_limit(COEFFICIENTS[name]), 3))


@dataclass(frozen=True)
class Enumeration:
    """Exceptions among all small matrices, and among all triples of small label vectors."""

    properties: pd.DataFrame
    triples: pd.DataFrame
    collection: str = SMALL

    def exceptions(self, name: str) -> Number:
        """Return in how many of the matrices tried a property fails."""
        row = self.properties.loc[name]
        return Number(f"{name}: exceptions of {int(row['tried']):,}", int(row["exceptions"]))

    def broken_triangles(self, beta: str) -> Number:
        """Return how many triples of label vectors break the triangular inequality, over all γ."""
        return Number(f"β of {beta}: triples that break it", int(self.triples[beta].sum()))


@dataclass(frozen=True)
class PrintedErrors:
    """Means of OCI in Table 6; the ends of a difference are what two numbers rounded to two digits leave open."""

    table: Mapping[str, list[list[str]]]
    collection: str = TRAINED

    def differences(self, one: str, other: str) -> Iterator[Number]:
        """Yield the mean of one method less that of another, set by set."""
        first, second = (METHODS.index(name) for name in (one, other))
        for name, row in self.table.items():
            gap = float(row[first][0]) - float(row[second][0])
            title = f"{STUDY['table6']['shown'][name]}: OCI of {one} less that of {other}"
            yield Number(title, gap, gap - ROUNDING, gap + ROUNDING)


@dataclass(frozen=True)
class Splits:
    """Differences between methods on every set, with intervals over splits."""

    frame: pd.DataFrame
    collection: str = TRAINED

    def differences(self, one: str, other: str) -> Iterator[Number]:
        """Yield the mean of one method less that of another with its interval, set by set."""
        rows = self.frame[(self.frame["method"] == one) & (self.frame["less"] == other)]
        if rows.empty:
            raise NotGiven(f"{one} and {other} are not compared")
        for row in rows.to_dict("records"):
            title = f"{row['set']}: OCI of {one} less that of {other}"
            yield Number(title, row["difference"], row["low"], row["high"])


@claim(
    "Abstract",
    "Existing measures for evaluating ordinal classification models suffer from a number of important shortcomings.",
    about=[ON_PRINT],
)
def others_have_shortcomings(facts: Matrices) -> Answer:
    """Each of MER, MAE, MSE, R_s, τ_b and r_int fails at least one of the paper's own expectations."""
    return every(facts.failures(name) > 0 for name in COEFFICIENTS if name not in INDICES)


@claim(
    "Abstract",
    "We carry out an experimental study which confirms the usefulness of the novel metric.",
    about=[ON_PRINT],
)
def the_index_is_useful(facts: Matrices) -> Answer:
    """OC with both β fails none of them. They are the paper's own: this says no more than that its examples are consistent."""
    return every(facts.failures(name) <= 0 for name in INDICES)


@claim(
    "§2",
    "One would expect that a valid measure […] would output for classifier A a perfect performance, for classifier B an "
    "inferior performance and for classifier C a performance below B's performance.",
    about=[ON_PRINT],
)
def the_index_is_valid(facts: Matrices) -> Answer:
    """OC with both β is 0 for A, larger for B, and larger still for C."""
    pairs = [("A", "B"), ("B", "C")]
    return every(facts.score(name, "A") <= 0 for name in INDICES) & every(
        facts.lead(name, *pair) > 0 for name, pair in itertools.product(INDICES, pairs)
    )


@claim("§4", "The overall conclusions do not differ for different γ values.", about=[ON_PRINT])
def gamma_changes_nothing(facts: Matrices) -> Answer:
    """With γ of 2 and ∞ and both β, OC meets every expectation that it meets with γ = 1."""
    named = [gamma for gamma in STUDY["gamma"]["named"] if gamma != 1]
    return every(facts.lost(share, gamma) <= 0 for share, gamma in itertools.product(SHARES.values(), named))


@claim(
    "§4.1",
    "r_int, R_s and τ_b all converge to 1 (perfect performance) as K → ∞. In opposition, MER, MAE converge to 2/3 and OC_β^1 "
    "converges to 0.6.",
    about=[ON_PRINT],
)
def limits_are_as_stated(facts: Matrices) -> Answer:
    """The limits, extrapolated from the largest matrices and rounded to three digits, are these."""
    stated = dict.fromkeys(ORDER_ONLY, 1.0) | dict.fromkeys(("MER", "MAE"), round(2 / 3, 3)) | {INDICES[1]: 0.6}
    return every((facts.limit(name) >= value) & (facts.limit(name) <= value) for name, value in stated.items())


@claim(
    "§4.3",
    "A subjective analysis of the CMs places CM10 as the best result and CM11 in the bottom. […] All indices capture this "
    "relative performance.",
    about=[ON_PRINT],
)
def all_find_best_and_worst(facts: Matrices) -> Answer:
    """All coefficients are best for CM10 and worst for CM11."""
    pairs = [("CM10", "CM12"), ("CM12", "CM11")]
    return every(facts.lead(name, *pair) > 0 for name, pair in itertools.product(COEFFICIENTS, pairs))


@claim(
    "§4.3",
    "R_s, τ_b and r_int almost do not differentiate CM11 from CM12. The Ordinal Classification Index, on the other hand, "
    "portrays a significant difference in performance.",
    about=[ON_PRINT],
)
def only_the_index_sees_the_difference(facts: Matrices) -> Answer:
    """R_s, τ_b and r_int of the two differ by less than {almost alike}, OC with both β by at least {clearly apart}."""
    alike = every(facts.lead(name, "CM12", "CM11") < BOUNDS["almost alike"].value for name in ORDER_ONLY)
    return alike & every(facts.lead(name, "CM12", "CM11") >= BOUNDS["clearly apart"].value for name in INDICES)


@claim("§3.3", "OC_β^γ is always non-negative […] OC_β^γ ≤ 1.", about=[SMALL])
def the_range_is_bounded(facts: Enumeration) -> Answer:
    """OC of every matrix is within 0 and 1, for every β and γ tried."""
    return facts.exceptions("range") <= 0


@claim("§3.3", "The transposition of the CM does not change the value of OC.", about=[SMALL])
def the_index_is_symmetric(facts: Enumeration) -> Answer:
    """OC of every matrix and of its transpose are the same, for every β and γ tried."""
    return facts.exceptions("symmetry") <= 0


@claim(
    "§3.3 and Appendix A",
    "For sufficiently high values of β, the triangular inequality is also satisfied.",
    about=[SMALL],
)
def the_triangle_holds(facts: Enumeration) -> Answer:
    """With absolute β = 1/(N + 1), the appendix's bound, OC(a, c) ≤ OC(a, b) + OC(b, c) for all small label vectors."""
    return facts.broken_triangles("1/(N + 1)") <= 0


@claim(
    "§4.4",
    "OCI correctly captures the superiority of both algorithms specific to ordinal data over the conventional method.",
    about=[TRAINED],
)
def ordinal_methods_are_superior(facts: PrintedErrors | Splits) -> Answer:
    """OCI of both ordinal methods is lower than that of the conventional one, on every set."""
    pairs = [("oSVM", "Conventional"), ("Frank and Hall", "Conventional")]
    return every(difference < 0 for pair in pairs for difference in facts.differences(*pair))


@claim(
    "§4.4",
    "A potentially slight advantage of oSVM, never losing for Frank and Hall method, both in average and in variance.",
    about=[TRAINED],
)
def osvm_never_loses(facts: PrintedErrors | Splits) -> Answer:
    """The mean OCI of oSVM is not larger than that of Frank and Hall's method, on any set."""
    return every(difference <= 0 for difference in facts.differences("oSVM", "Frank and Hall"))


def list_printed() -> dict[str, PrintedErrors]:
    """Return what Table 6 prints as facts."""
    return {"print: Table 6": PrintedErrors(PRINTED["table6"])}


def list_splits(differences: pd.DataFrame) -> dict[str, Splits]:
    """Return the sets of the table of differences as facts, by the larger β, which Table 6 is nearest to."""
    frame = differences.reset_index()
    chosen = frame[frame["β"].astype(str) == str(max(frame["β"].astype(str)))]
    return {", ".join(chosen["set"].unique()): Splits(chosen)}
