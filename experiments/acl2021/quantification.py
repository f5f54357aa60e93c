"""Rules on measures of ordinal quantification (§6). Each function decides the claim of its name in claims.toml."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from experiments.acl2021.classification import average_tau, leave_out
from experiments.acl2021.figures import HALVES, POWER, SMALL, Between, Figures, average_figures, pair_all
from experiments.acl2021.judging import (
    bound,
    compare_two,
    join_parts,
    judge_against,
    judge_orders,
    judge_two,
    tell_at_least,
    tell_below,
    tell_more,
    tell_sides,
)
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord

NOMINAL = ("NVD", "RNSS", "JSD")
"""Measures that ignore the order of classes."""

SIX = ("NMD", "RSNOD", "RNOD", *NOMINAL)
SPLITS = (HALVES, SMALL)


def nmd_outlier(figures: Figures) -> Found | None:
    """Is NMD farther from the other measures than these are from each other?"""
    if not _has_tau(figures):
        return None

    def sort_others(tau: Between) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        means = {one: average_tau(pair_all([one], leave_out(SIX, one)), tau) for one in SIX}
        others = np.array([means[one] for one in SIX[1:]])
        return means["NMD"], others.min(axis=0), others.max(axis=0)

    def fall(tau: Between) -> np.ndarray:
        own, low, _ = sort_others(tau)
        return low - own

    def fall_farther(tau: Between) -> np.ndarray:
        own, low, high = sort_others(tau)
        return (low - own) - (high - low)

    own = figures.weigh("mean τ of NMD with the others", lambda tau: sort_others(tau)[0])
    below = figures.weigh("the next smallest less that", fall, difference=True)
    farther = figures.weigh("by how much this exceeds the range of the others", fall_farther, difference=True)
    lowest = tell_more(below)
    # Not even the smallest: then there is nothing in part.
    return (join_parts([lowest, tell_more(farther)]) if lowest == "holds" else lowest), (own, below, farther)


def rnod_rsnod_similar(figures: Figures) -> Found | None:
    """Do RNOD and RSNOD rank as JSD and NVD do, and NMD not?"""
    if not _has_tau(figures):
        return None
    alike = figures.weigh(
        "smallest τ of RNOD and RSNOD with JSD and NVD",
        lambda tau: np.min([tau(*pair) for pair in pair_all(("RNOD", "RSNOD"), ("JSD", "NVD"))], axis=0),
    )
    apart = figures.weigh("largest τ of NMD with them", lambda tau: np.maximum(tau("NMD", "JSD"), tau("NMD", "NVD")))
    least = bound("similar, quantification")
    return join_parts([tell_at_least(alike, least), tell_below(apart, least)]), (alike, apart)


def rsnod_between(figures: Figures) -> Found | None:
    """Does RSNOD's ranking lie between NMD's and those of the others?"""
    if not _has_tau(figures):
        return None
    others = leave_out(SIX, "NMD", "RSNOD")
    nearer = figures.weigh(
        "τ of RSNOD with NMD less the next largest with NMD",
        lambda tau: tau("RSNOD", "NMD") - np.max([tau(one, "NMD") for one in others], axis=0),
        difference=True,
    )
    closer = figures.weigh(
        "smallest difference of RSNOD's τ with another measure and NMD's",
        lambda tau: np.min([tau("RSNOD", one) - tau("NMD", one) for one in others], axis=0),
        difference=True,
    )
    words = [tell_more(nearer), tell_more(closer)]
    # Between is both at once.
    word: OutcomeWord = words[0] if words[0] == words[1] else "cannot tell"
    return ("does not hold" if "does not hold" in words else word), (nearer, closer)


def nmd_rsnod_least_consistent(collections: Sequence[Figures]) -> Found | None:
    """Is NMD less consistent than all others, and RSNOD than the rest of them, on average?"""
    figures = _average(collections)
    if figures is None:
        return None
    rest = leave_out(SIX, "NMD", "RSNOD")
    return judge_orders(figures, [([*rest, "RSNOD"], ["NMD"]), (rest, ["RSNOD"])], SPLITS)


def rnod_best(collections: Sequence[Figures]) -> Found | None:
    """Is RNOD more consistent than NMD and RSNOD, on average?"""
    figures = _average(collections)
    if figures is None:
        return None
    words, evidence = [], []
    for label in SPLITS:
        signs = [compare_two(figures, "RNOD", other)[label] for other in ("NMD", "RSNOD")]
        word = tell_sides(signs.count(1), 0) if -1 not in signs else "does not hold"
        words.append("holds in part" if word == "holds" and 0 in signs else word)
        means = figures.splits[label].means
        evidence.append(Evidence(f"{label}: mean τ of RNOD", float(means["RNOD"])))
        evidence += [
            Evidence(f"of {other} ({_say(sign)})", float(means[other]))
            for other, sign in zip(("NMD", "RSNOD"), signs, strict=True)
        ]
    return join_parts(words), tuple(evidence)


def symmetry_consistency(figures: Figures) -> Found | None:
    """Is RSNOD less consistent than RNOD?"""
    return judge_two(figures, "RNOD", "RSNOD", SPLITS)


def nmd_extremely_poor(figures: Figures) -> Found | None:
    """Does NMD find far fewer significant pairs than every other measure?"""
    if POWER not in figures.ahead or figures.found is None or not set(SIX) <= set(figures.measures):
        return None
    word, evidence = judge_orders(figures, [(leave_out(SIX, "NMD"), ["NMD"])], [POWER])
    middle = float(figures.found[leave_out(SIX, "NMD")].median())
    share = float(figures.found["NMD"]) / middle if middle else 1.0
    evidence += (Evidence("NMD's significant pairs over the others' median", share),)
    far = share <= bound("extremely poorly")
    return ("holds in part" if word == "holds" and not far else word), evidence


def nmd_power_and_consistency(figures: Figures) -> Found | None:
    """Is NMD less consistent than all others, over halves?"""
    if HALVES not in figures.splits or not set(SIX) <= set(figures.measures):
        return None
    return judge_orders(figures, [(leave_out(SIX, "NMD"), ["NMD"])], [HALVES])


def rnod_over_rsnod(figures: Figures) -> Found | None:
    """Does RNOD find more significant pairs than RSNOD?"""
    return judge_two(figures, "RNOD", "RSNOD", [POWER])


def rnod_discriminates_well(figures: Figures) -> Found | None:
    """Does RNOD find more than one other measure, and less than none?"""
    if POWER not in figures.ahead or not set(SIX) <= set(figures.measures):
        return None
    rivals = leave_out(SIX, "RNOD")
    word, evidence = judge_orders(figures, [(["RNOD"], rivals)], [POWER])
    ahead = any(compare_two(figures, "RNOD", rival)[POWER] > 0 for rival in rivals)
    return ("holds in part" if word == "cannot tell" and ahead else word), evidence


def rnod_primary(figures: Figures) -> Found | None:
    """Is RNOD the best of the measures of ordinal classes?"""
    return judge_against(figures, "RNOD", ("RSNOD", "NMD"))


def nmd_secondary(figures: Figures) -> Found | None:
    """Does NMD rank runs differently from RNOD?"""
    if not _has_tau(figures):
        return None
    both = figures.weigh("τ of NMD and RNOD", lambda tau: tau("NMD", "RNOD"))
    return tell_below(both, bound("similar, quantification")), (both,)


def nmd_unpredictable(collections: Sequence[Figures]) -> Found | None:
    """Is NMD ahead of most measures here and behind most there?"""
    ahead, behind = [], []
    for figures in collections:
        for table in figures.ahead.values():
            if set(SIX) <= set(table.index):
                ahead.append(int(table.loc["NMD"].to_numpy().sum()))
                behind.append(int(table["NMD"].to_numpy().sum()))
    if not ahead:
        return None
    evidence = (
        Evidence("collections × criteria", len(ahead)),
        Evidence("measures behind NMD, at most", max(ahead)),
        Evidence("ahead of it, at most", max(behind)),
    )
    most = bound("most") * (len(SIX) - 1)
    if max(ahead) > most and max(behind) > most:
        return "holds", evidence
    if max(ahead) and max(behind):
        return "holds in part", evidence
    return ("does not hold" if max(ahead) or max(behind) else "cannot tell"), evidence


def replace_rsnod(figures: Figures) -> Found | None:
    """Is RNOD ahead of RSNOD by one criterion, and behind by none?"""
    return judge_two(figures, "RNOD", "RSNOD")


def _has_tau(figures: Figures) -> bool:
    return figures.tau is not None and set(SIX) <= set(figures.measures)


def _average(collections: Sequence[Figures]) -> Figures | None:
    figures = average_figures(collections)
    return figures if set(SIX) <= set(figures.measures) and set(SPLITS) <= set(figures.splits) else None


def _say(sign: int) -> str:
    return {1: "behind RNOD", -1: "ahead of RNOD", 0: "neither"}[sign]
