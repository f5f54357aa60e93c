"""Claims of ACL 2021, and the rules by which each is tried on a collection. Rules follow the sentence, not the figures."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from experiments.bounds import BOUNDS
from experiments.verdicts import Found, Rule, judge_symmetry
from metaeval.analyses.ranking_similarity import RankingSimilarity
from metaeval.analyses.study import Study
from metaeval.show.verdict import Evidence

GROUP_A = ("alpha_ORD", "alpha_INT", "F1_M", "HMPR", "MAE_M", "kappa")
GROUP_B = ("MAE_mu", "Accuracy")
ALIKE, APART = BOUNDS["similar"].value, BOUNDS["apart"].value

CONSTANT = "always-"
"""What names of runs that always answer one class begin with."""


def judge_outlier(study: Study) -> Found | None:
    """Is NMD farther from the other measures than these are from each other?"""
    similarity = study.similarity
    if similarity is None or "NMD" not in _name_measures(study):
        return None
    means = dict(zip(_name_measures(study), _average_off_diagonal(similarity), strict=True))
    own = means.pop("NMD")
    low, high = min(means.values()), max(means.values())
    lowest = min(means, key=means.__getitem__)
    evidence = (
        Evidence("mean τ of NMD with the others", own),
        Evidence(f"of the next lowest ({lowest})", low),
        Evidence("of the highest", high),
    )
    if own >= low:
        return "does not hold", evidence
    return ("holds" if low - own > high - low else "holds in part"), evidence


def judge_groups(study: Study) -> Found | None:
    """Are rankings alike within A and within B, and different between them?"""
    similarity = study.similarity
    if similarity is None or not {*GROUP_A, *GROUP_B} <= set(_name_measures(study)):
        return None
    frame = similarity.to_frame()

    def average(pairs: Sequence[tuple[str, str]]) -> float:
        return float(np.mean([float(frame.loc[one, two]) for one, two in pairs]))  # type: ignore[arg-type]

    a = average(list(itertools.combinations(GROUP_A, 2)))
    b = average(list(itertools.combinations(GROUP_B, 2)))
    between = average(list(itertools.product(GROUP_A, GROUP_B)))
    evidence = (Evidence("mean τ within A", a), Evidence("within B", b), Evidence("between", between))
    if min(a, b) >= ALIKE and between < APART:
        return "holds", evidence
    return ("holds in part" if min(a, b) > between else "does not hold"), evidence


def judge_constant_runs(study: Study) -> Found | None:
    """Have all runs that always answer one class the same mean κ, while Accuracy tells them apart?"""
    if not {"kappa", "Accuracy"} <= set(_name_measures(study)):
        return None
    constant = [run for run in study.scores.runs if CONSTANT in run]
    if len(constant) < 2:
        return None
    means = study.scores.means().loc[constant]
    kappa, accuracy = (float(np.ptp(means[name])) for name in ("kappa", "Accuracy"))
    evidence = (
        Evidence("constant runs", len(constant)),
        Evidence("range of their mean κ", kappa),
        Evidence("of their mean Accuracy", accuracy),
    )
    return ("holds" if kappa < 1e-12 < accuracy else "does not hold"), evidence


def judge_consistency(study: Study) -> Found | None:
    """Is RNOD's mean τ not smaller than RSNOD's, over halves and over small sets of topics?"""
    names = _name_measures(study)
    if not {"RNOD", "RSNOD"} <= set(names):
        return None
    one, two = names.index("RNOD"), names.index("RSNOD")
    evidence, gaps, significant = [], [], []
    for label, result in (("halves", study.consistency), ("small sets", study.small_consistency)):
        if result is None:
            continue
        gaps.append(float(result.means[one] - result.means[two]))
        significant.append(bool(result.significant[one, two]))
        word = "significant" if significant[-1] else "not significant"
        evidence += [
            Evidence(f"{label}: mean τ of RNOD", float(result.means[one])),
            Evidence(f"of RSNOD ({word})", float(result.means[two])),
        ]
    if not gaps:
        return None
    if all(gap >= 0 for gap in gaps):
        return "holds", tuple(evidence)
    worse = any(gap < 0 and sure for gap, sure in zip(gaps, significant, strict=True))
    return ("does not hold" if worse else "cannot tell"), tuple(evidence)


def _name_measures(study: Study) -> list[str]:
    return [str(one) for one in study.scores.measures]


def _average_off_diagonal(similarity: RankingSimilarity) -> list[float]:
    """Return the mean τ of every measure with the others."""
    n = len(similarity.measures)
    means: list[float] = ((similarity.tau.sum(axis=1) - np.diag(similarity.tau)) / (n - 1)).tolist()
    return means


RULES = [
    Rule(
        "NMD is an outlier among the six measures.",
        "ACL 2021, §6.1",
        "NMD has the smallest mean τ with the others, and is farther below the next smallest than that is below the "
        "largest; in part where it is the smallest only.",
        judge_outlier,
        random=False,
    ),
    Rule(
        "(A) the α's, the two “Macro F1” measures (F1^M and HMPR), MAE^M and κ produce similar rankings; (B) MAE^μ and "
        "Accuracy […] produce similar rankings, which are drastically different from those of Group A.",
        "ACL 2021, §5.1",
        f"The mean τ within A and that within B are at least {ALIKE:g}, and the mean τ between A and B is below "
        f"{APART:g}, the paper's bands; in part where both means within exceed that between.",
        judge_groups,
        random=False,
    ),
    Rule(
        "[κ] cannot distinguish between baseline runs that always return the same class.",
        "ACL 2021, §5.2",
        "All constant runs (two or more) have the same mean κ, and not the same mean Accuracy. It is about these runs "
        "only, so that their number suffices.",
        judge_constant_runs,
        fewest_runs=2,
        random=False,
    ),
    Rule(
        "RNOD appears to be the best in terms of system ranking consistency, and […] introducing symmetry [RSNOD] may not "
        "be a good idea.",
        "ACL 2021, §6.2",
        "RNOD's mean τ is not smaller than RSNOD's, over halves and over sets of ten topics; does not hold where it is "
        "significantly smaller in either (randomised Tukey HSD), cannot be told where it is smaller by less.",
        judge_consistency,
    ),
    Rule(
        "Introducing symmetry to RNOD (i.e., using RSNOD instead) is not beneficial.",
        "ACL 2021, §6.3",
        "Of discriminative power: at α = 0.05 RSNOD finds fewer significant run pairs than RNOD: the interval of the "
        "difference over topics lies above 0. It does not hold if it lies below 0.",
        judge_symmetry,
        rests_on_power=True,
    ),
]
