"""Claims of LQ 2021, and the rules by which each is tried on a collection. Rules follow the sentence, not the figures."""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from experiments.verdicts import Found, Rule, find_gap, judge_symmetry
from metaeval.analyses.study import Study
from metaeval.show.verdict import Evidence, judge_differences

POPULARITY = "popularity"
"""A part of the name of every Popularity baseline."""


def judge_least_power(study: Study) -> Found | None:
    """Does NMD find fewer significant run pairs than every other measure?"""
    found = _count_significant(study)
    if found is None or study.power is None:
        return None
    own = found.pop("NMD")
    evidence = (
        Evidence("significant pairs of NMD", own),
        Evidence("fewest of the others", min(found.values())),
        Evidence("most of the others", max(found.values())),
    )
    gaps = [find_gap(study.power, name, "NMD") for name in found]
    nearest = min(gaps, key=lambda gap: gap.value)
    return judge_differences(gap.interval for gap in gaps), (*evidence, nearest)


def judge_subsets(study: Study) -> Found | None:
    """Of the measures that find more than NMD, does any find all that NMD finds?"""
    found = _count_significant(study)
    if found is None or study.overlap is None:
        return None
    names = [str(one) for one in study.overlap.measures]
    own = names.index("NMD")
    alone = {
        name: int(study.overlap.both[own, own] - study.overlap.both[own, other])
        for other, name in enumerate(names)
        if found[name] > found["NMD"]
    }
    if not alone:
        return "cannot tell", (Evidence("measures that find more than NMD", 0),)
    evidence = tuple(Evidence(f"with NMD but not {name}", number) for name, number in alone.items())
    outside = [number > 0 for number in alone.values()]
    return ("holds" if all(outside) else "holds in part" if any(outside) else "does not hold"), evidence


def judge_popularity_contradictions(study: Study) -> Found | None:
    """Is a Popularity baseline one of the two runs wherever NMD contradicts another measure?"""
    if study.contradictions is None or not any(POPULARITY in run for run in study.scores.runs):
        return None
    pairs = study.contradictions.run_pairs()
    pairs = pairs[(pairs["measure_1"] == "NMD") | (pairs["measure_2"] == "NMD")]
    involved = sum(POPULARITY in one or POPULARITY in two for one, two in zip(pairs.run_1, pairs.run_2, strict=True))
    evidence = (Evidence("contradictions of NMD", len(pairs)), Evidence("with a Popularity baseline", involved))
    if not len(pairs):
        return "does not hold", evidence
    return ("holds" if involved == len(pairs) else "does not hold"), evidence


def judge_preference(study: Study) -> Found | None:
    """Does NMD prefer Popularity to Uniform on more topics than the reverse, and more often than every other measure?"""
    preference = study.preference
    if preference is None or "NMD" not in (names := [str(one) for one in preference.measures]):
        return None
    won, lost = (preference.gains > 0).sum(axis=0), (preference.gains < 0).sum(axis=0)
    own = names.index("NMD")
    share = won / np.maximum(won + lost, 1)
    others = {name: float(value) for name, value in zip(names, share, strict=True) if name != "NMD"}
    next_most = max(others, key=others.__getitem__)
    test = binomtest(int(won[own]), int(won[own] + lost[own])) if won[own] + lost[own] else None
    evidence = (
        Evidence("topics on which NMD prefers Popularity", int(won[own])),
        Evidence("Uniform", int(lost[own])),
        Evidence("p of the sign test", 1.0 if test is None else float(test.pvalue)),
        Evidence("share of Popularity with NMD", float(share[own]), digits=2),
        Evidence(f"the largest of the others ({next_most})", others[next_most], digits=2),
    )
    return ("holds" if won[own] > lost[own] else "does not hold"), evidence


def _count_significant(study: Study) -> dict[str, int] | None:
    if study.power is None:
        return None
    names = [str(one) for one in study.power.measures]
    return dict(zip(names, study.power.significant.sum(axis=1).tolist(), strict=True))


RULES = [
    Rule(
        "[NMD] suffers with the NTCIR data, the pooled discriminative power is only 42.0 % [the lowest of six].",
        "LQ 2021, §5.1",
        "At α = 0.05 NMD finds fewer significant run pairs than each other measure: all intervals of the differences over "
        "topics lie above 0. It does not hold if one lies below 0.",
        judge_least_power,
        rests_on_power=True,
    ),
    Rule(
        "RSNOD slightly underperforms RNOD, suggesting that making the measure symmetric is not beneficial.",
        "LQ 2021, §5.1",
        "At α = 0.05 RSNOD finds fewer significant run pairs than RNOD: the interval of the difference over topics lies "
        "above 0. It does not hold if it lies below 0.",
        judge_symmetry,
        rests_on_power=True,
    ),
    Rule(
        "The sets of significant differences found by NMD are generally not subsets of those found by the other, more "
        "discriminative measures.",
        "LQ 2021, §5.2",
        "NMD finds pairs that each of the measures that find more than NMD does not find; in part where this is so for "
        "some of them; cannot be told where no measure finds more.",
        judge_subsets,
        rests_on_power=True,
    ),
    Rule(
        "There are a few contradictions between NMD and four other measures […], and all of these contradictions involve a "
        "Popularity baseline.",
        "LQ 2021, §5.2",
        "NMD contradicts other measures on at least one run pair, and one run of every such pair is a Popularity baseline.",
        judge_popularity_contradictions,
        rests_on_power=True,
    ),
    Rule(
        "NMD prefers Popularity more often than it prefers Uniform.",
        "LQ 2021, §5.3",
        "By NMD, Popularity is better on more topics than Uniform. It is about two runs only, so that the number of runs "
        "does not matter.",
        judge_preference,
        fewest_runs=2,
        random=False,
    ),
]
