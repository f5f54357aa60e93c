"""What the abstract and §6 conclude, tried on all collections of a source together."""

from __future__ import annotations

import itertools

from experiments.lq2021.facts import MEASURES, Facts
from experiments.old.claims import Answer, bound, claim, every

FOUR = ("RNOD", "NVD", "RNSS", "JSD")
"""RNOD and the measures that ignore the order of classes: those that NMD is compared with."""


@claim("Abstract", "RNOD is the overall winner among the OQ measures in terms of pooled discriminative power.")
def rnod_wins(facts: Facts) -> Answer:
    """RNOD finds more significant pairs of runs than NMD and than RSNOD: the differences of pooled power are above 0."""
    return every(facts.finds_more("RNOD", other) > 0 for other in ("NMD", "RSNOD"))


@claim("§6", "The most discriminative measures are RNOD and NVD.")
def rnod_and_nvd_find_most(facts: Facts) -> Answer:
    """RNOD and NVD each find more significant pairs than each of the other four."""
    return every(
        facts.finds_more(first, second) > 0
        for first in ("RNOD", "NVD")
        for second in MEASURES
        if second not in ("RNOD", "NVD")
    )


@claim("§5.1", "RSNOD slightly underperforms RNOD, suggesting that making the measure symmetric is not beneficial.")
def symmetry_costs_power(facts: Facts) -> Answer:
    """RSNOD finds fewer significant pairs than RNOD, by at most {slightly less power} of all pairs."""
    gap = facts.finds_more("RNOD", "RSNOD")
    return (gap > 0) & (gap <= bound("slightly less power"))


@claim(
    "§6",
    "The strengths of RNOD are that it is statistically stable, as demonstrated in terms of system ranking consistency […] "
    "and pooled discriminative power.",
)
def rnod_is_stable(facts: Facts) -> Answer:
    """RNOD is more consistent over halves than NMD and RSNOD on some collection and less on none, and finds more pairs."""
    rivals = ("NMD", "RSNOD")
    return every(facts.is_more_consistent("RNOD", rival) for rival in rivals) & every(
        facts.finds_more("RNOD", rival) > 0 for rival in rivals
    )


@claim("Abstract", "NMD behaves noticeably differently from RNOD and from measures that cannot handle ordinal classes.")
def nmd_is_apart(facts: Facts) -> Answer:
    """Each SSO of NMD with RNOD, NVD, RNSS and JSD is lower than every SSO among these four."""
    farthest = max((facts.overlap("NMD", other) for other in FOUR), key=lambda number: number.value)
    nearest = min((facts.overlap(*pair) for pair in itertools.combinations(FOUR, 2)), key=lambda number: number.value)
    return farthest < nearest


@claim(
    "§6",
    "The sets of statistically significant differences found by NMD are generally not subsets of those found by other, more "
    "discriminative measures like RNOD.",
)
def nmd_is_no_subset(facts: Facts) -> Answer:
    """Of the measures that find more than NMD, over all collections, at least {generally} miss a pair that NMD finds."""
    return facts.share_beyond("NMD") >= bound("generally")


@claim(
    "§6",
    "NMD sometimes contradicts with RNOD and the nominal quantification measures in statistical terms, by preferring a "
    "Popularity baseline over a Uniform baseline.",
)
def nmd_contradicts_for_popularity(facts: Facts) -> Answer:
    """With each of the four: NMD finds Popularity significantly better than Uniform on some pair, the other the reverse."""
    return every(facts.count_for_popularity("NMD", other) > 0 for other in FOUR)


@claim(
    "Abstract",
    "NMD tends to favour a popularity-based baseline (which accesses the gold distributions) over a uniform-distribution "
    "baseline.",
)
def nmd_favours_popularity(facts: Facts) -> Answer:
    """Of the topics that are not tied, NMD prefers Popularity on more than half."""
    return facts.popularity_share("NMD") > 0.5


@claim("§5.3", "NMD tends to prefer Popularity over Uniform compared to the other measures.")
def nmd_favours_popularity_most(facts: Facts) -> Answer:
    """NMD prefers Popularity on a larger share of topics than each other measure: their intervals do not meet."""
    nmd = facts.popularity_share("NMD")
    return every(nmd > facts.popularity_share(other) for other in MEASURES if other != "NMD")


@claim(
    "Abstract", "As both RNOD and NMD have their merits, we recommend the organisers of OQ tasks to use both of them."
)
def both_have_merits(facts: Facts) -> Answer:
    """Of the reasons: RNOD finds more pairs than NMD, whose mean SSO is the lowest, and which prefers Popularity more."""
    lowest = min(
        (facts.average_overlap(other) for other in MEASURES if other != "NMD"), key=lambda number: number.value
    )
    return (
        (facts.finds_more("RNOD", "NMD") > 0)
        & (facts.average_overlap("NMD") < lowest)
        & (facts.popularity_share("NMD") > facts.popularity_share("RNOD"))
    )
