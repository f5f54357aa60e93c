"""What the paper recommends (§7), and what the recommendations rest on (§§5.4, 6.4)."""

from __future__ import annotations

import numpy as np

from experiments.acl2021.facts import HALVES, SMALL, Facts, Formulas, Tau
from experiments.old.claims import FORMULAS, Answer, bound, claim, every

CLASSIFICATION = ("Sem16T4C", "Sem17T4C")
QUANTIFICATION = ("DQ-A", "DQ-E", "DQ-S")
"""The appendix has Sem16T4E and Sem17T4E, “for completeness”."""

GROUP_A = ("alpha_ORD", "alpha_INT", "F1_M", "HMPR", "MAE_M", "kappa")
GROUP_B = ("MAE_mu", "Accuracy")
ORDINAL = ("kappa", "alpha_ORD", "alpha_INT", "CEM_ORD", "MAE_M", "MAE_mu")
"""Measures of classification that take the order of classes into account (Table 4, I)."""

NOMINAL = ("F1_M", "HMPR", "Accuracy", "NVD", "RNSS", "JSD")
OTHERS = ("RSNOD", "RNOD", "NVD", "RNSS", "JSD")
"""Measures of quantification but NMD."""


def leave_out(measures: tuple[str, ...], *left_out: str) -> list[str]:
    """Return measures without some."""
    return [measure for measure in measures if measure not in left_out]


@claim(
    "§7",
    "Use (Linear Weighted) κ as the primary measure if the task does not involve multiple runs that always return the "
    "same class.",
    about=CLASSIFICATION,
)
def kappa_primary(facts: Facts) -> Answer | None:
    """Where at most one run is constant, κ is best by one of three criteria, and behind no rival by another.

    Criteria are consistency over halves, over ten topics, and power. Rivals are the other measures that know the order of
    classes; best is ahead of one of them and behind none. Where criteria disagree, or none decides, the claim stays undecided.
    """
    return None if facts.n_constant > 1 else facts.is_ahead("kappa", leave_out(ORDINAL, "kappa"))


@claim(
    "§7",
    "Otherwise, use α-ORD (i.e., Krippendorff's α for ordinal classes) as the primary measure.",
    about=CLASSIFICATION,
)
def alpha_ord_primary(facts: Facts) -> Answer | None:
    """Where several runs are constant: as for κ, among the measures that then work, which κ does not."""
    return None if facts.n_constant < 2 else facts.is_ahead("alpha_ORD", leave_out(ORDINAL, "kappa", "alpha_ORD"))


@claim("§7", "In either case, use both measures.", about=CLASSIFICATION)
def use_both(facts: Facts) -> Answer:
    """Of the premise: κ and α-ORD do not give nearly the same ranking, their τ is below {nearly the same}."""
    return facts.average_tau(["kappa", "alpha_ORD"]) < bound("nearly the same")


@claim("§7", "Use RNOD as the primary measure […].", about=QUANTIFICATION)
def rnod_primary(facts: Facts) -> Answer:
    """As for κ; the other measures that know the order of classes are RSNOD and NMD."""
    return facts.is_ahead("RNOD", ["RSNOD", "NMD"])


@claim("§7", "[…] and NMD as a secondary measure.", about=QUANTIFICATION)
def nmd_secondary(facts: Facts) -> Answer:
    """Of the premise: NMD ranks runs from another angle, its τ with RNOD is below {similar, quantification}."""
    return facts.average_tau(["NMD", "RNOD"]) < bound("similar, quantification")


@claim(
    "§7",
    "Linear Weighted κ and RNOD assume equidistance […], while α-ORD and NMD do not.",
    about=(FORMULAS,),
)
def equidistance(formulas: Formulas) -> Answer:
    """Stretching the scale by a class that nobody uses changes κ and RNOD in some case tried, and α-ORD and NMD in none."""
    kappa, alpha = (formulas.fails(measure, "ordinal invariance") for measure in ("kappa", "alpha_ORD"))
    rnod, nmd = (formulas.changes_when_stretched(measure) for measure in ("RNOD", "NMD"))
    return (kappa > 0) & (rnod > 0) & (alpha <= 0) & (nmd <= 0)


@claim(
    "§1",
    "Some of these measures satisfy the aforementioned basic requirement for ordinal classes; others do not.",
    about=(FORMULAS,),
)
def order_of_classes(formulas: Formulas) -> Answer:
    """F1^M, HMPR, Accuracy, NVD, RNSS and JSD ignore the order of classes in some case tried, the other nine in none."""
    classification = {measure: formulas.fails(measure, "ordinal") for measure in (*ORDINAL, *NOMINAL[:3])}
    properties = ("ordinal", "ordinal with mixed gold")
    quantification = {measure: formulas.fails(measure, *properties) for measure in ("NMD", *OTHERS)}
    return every(
        failed > 0 if measure in NOMINAL else failed <= 0
        for measure, failed in {**classification, **quantification}.items()
    )


@claim(
    "§5.1, §5.4",
    "(A) the α's, the two “Macro F1” measures […], MAE^M and κ produce similar rankings.",
    about=CLASSIFICATION,
)
def group_a_agrees(facts: Facts) -> Answer:
    """The mean τ within A is at least {similar}."""
    return facts.average_tau(GROUP_A) >= bound("similar")


@claim(
    "§5.1, §5.4",
    "(B) MAE^μ and Accuracy […] produce similar rankings, which are drastically different from those of Group A.",
    about=CLASSIFICATION,
)
def group_b_is_apart(facts: Facts) -> Answer:
    """The τ of the two is at least {similar}, and the mean τ between A and B is below {apart}."""
    return (facts.average_tau(GROUP_B) >= bound("similar")) & (facts.average_tau(GROUP_A, GROUP_B) < bound("apart"))


@claim(
    "§5.2",
    "Although Amigó et al. (2020) reported that CEM^ORD performed well in terms of “robustness,” this is not confirmed in our "
    "experiments.",
    about=CLASSIFICATION,
)
def cem_not_robust(facts: Facts) -> Answer:
    """More measures are more consistent than CEM^ORD than less consistent, over halves and over ten topics."""
    return every(~facts.is_robust("CEM_ORD", criterion) for criterion in (HALVES, SMALL))


@claim(
    "§5.4",
    "Using α-INT instead of α-ORD (i.e., assuming equidistance) does not seem beneficial for OC tasks.",
    about=CLASSIFICATION,
)
def alpha_int_no_better(facts: Facts) -> Answer:
    """A tie does not say it; that α-INT is no better does: its lead in power, on print in mean τ, is below {no better}."""
    return every(gain < bound("no better") for gain in facts.gains("alpha_INT", "alpha_ORD"))


@claim("§6.4", "NMD is an outlier in terms of system ranking.", about=QUANTIFICATION)
def nmd_outlier(facts: Facts) -> Answer:
    """NMD has the smallest mean τ with the others, and is farther below the next smallest than that is below the largest."""

    def sort_means(tau: Tau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        measures = ("NMD", *OTHERS)
        means = [
            np.mean([tau(measure, other) for other in measures if other != measure], axis=0) for measure in measures
        ]
        return means[0], np.min(means[1:], axis=0), np.max(means[1:], axis=0)

    def fall(tau: Tau) -> np.ndarray:
        nmd, low, _ = sort_means(tau)
        return low - nmd

    def fall_farther(tau: Tau) -> np.ndarray:
        nmd, low, high = sort_means(tau)
        return (low - nmd) - (high - low)

    below = facts.make_number("mean τ of NMD below the next by", fall, difference=True)
    farther = facts.make_number("more than the others' range by", fall_farther, difference=True)
    return (below > 0) & (farther > 0)
