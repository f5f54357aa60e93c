"""Rules on discriminative power (§4, §5.1 and §6). What each tries stands in claims.toml under its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from experiments.bounds import BOUNDS
from experiments.lq2021.findings import MEASURES, Findings
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord

SEMEVAL, NTCIR = "Sem", "DQ"
"""Parts of the names of either venue's collections."""


def rnod_wins_among_ordinal_measures(one: Findings) -> Found | None:
    """Does RNOD find more than NMD and RSNOD?"""
    return _finds_more(one, ("RNOD",), ("NMD", "RSNOD"))


def rnod_and_nvd_find_most(one: Findings) -> Found | None:
    """Do RNOD and NVD find more than the other four?"""
    return _finds_more(one, ("RNOD", "NVD"), ("NMD", "RSNOD", "RNSS", "JSD"))


def nmd_finds_most(one: Findings) -> Found | None:
    """Does NMD find more than every other measure?"""
    return _finds_more(one, ("NMD",), MEASURES[1:])


def nmd_finds_fewest(one: Findings) -> Found | None:
    """Does NMD find less than every other measure?"""
    return _finds_more(one, MEASURES[1:], ("NMD",))


def rnod_beats_nmd(one: Findings) -> Found | None:
    """Does RNOD find more than NMD?"""
    return _finds_more(one, ("RNOD",), ("NMD",))


def symmetry_costs_power(one: Findings) -> Found | None:
    """Does RSNOD find slightly less than RNOD?"""
    found = _finds_more(one, ("RNOD",), ("RSNOD",))
    if found is None or found[0] != "holds":
        return found
    slight = abs(found[1][-1].value) <= BOUNDS["slightly less power"].value
    return ("holds" if slight else "holds in part"), found[1]


def nmd_breaks_down(one: Findings) -> Found | None:
    """Does NMD find far less than the measure with the next fewest?"""
    if not one.found:
        return None
    others = {name: one.found[name] for name in MEASURES[1:]}
    next_fewest = min(others, key=others.__getitem__)
    word, gap = one.compare(next_fewest, "NMD")
    share = one.found["NMD"] / max(1, others[next_fewest])
    evidence = (*_count_pairs(one, ("NMD", next_fewest)), Evidence("as a share", share), gap)
    if share >= 1:
        return "does not hold", evidence
    if share <= BOUNDS["breakdown"].value:
        return word, evidence
    return "holds in part", evidence


def larger_sets_are_more_reliable(parts: Mapping[str, Findings]) -> Found | None:
    """Are intervals of power narrower on NTCIR's collections than on SemEval's?"""
    widths = {name: float(np.mean(list(one.widths.values()))) for name, one in parts.items() if one.widths}
    small, large = ([width for name, width in widths.items() if venue in name] for venue in (SEMEVAL, NTCIR))
    if not small or not large:
        return "cannot tell", (Evidence("collections of SemEval with intervals", len(small)),)
    evidence = (
        Evidence("mean width of intervals with NTCIR's", float(np.mean(large))),
        Evidence("with SemEval's", float(np.mean(small))),
        Evidence("widest with NTCIR's", max(large)),
        Evidence("narrowest with SemEval's", min(small)),
    )
    if max(large) < min(small):
        return "holds", evidence
    return ("holds in part" if np.mean(large) < np.mean(small) else "does not hold"), evidence


def nmd_differs_between_venues(parts: Mapping[str, Findings]) -> Found | None:
    """Does NMD find most on SemEval's collections and least on NTCIR's?"""
    small = [one for name, one in parts.items() if SEMEVAL in name and one.found]
    large = [one for name, one in parts.items() if NTCIR in name and one.found]
    if not small or not large:
        return "cannot tell", (Evidence("collections of SemEval", len(small)), Evidence("of NTCIR", len(large)))
    sums = {name: sum(one.found[name] for one in large) for name in MEASURES}
    most = sum(all(one.found["NMD"] > one.found[name] for name in MEASURES[1:]) for one in small)
    fewest = all(sums["NMD"] < sums[name] for name in MEASURES[1:])
    relative = [_find_relative_power(part) for part in (small, large)]
    evidence = (
        Evidence(f"collections of SemEval's {len(small)} where NMD finds most", most),
        Evidence("NMD on NTCIR's", sums["NMD"]),
        Evidence("the fewest of the others there", min(sums[name] for name in MEASURES[1:])),
        Evidence("NMD relative to the mean of the others, SemEval", relative[0]),
        Evidence("NTCIR", relative[1]),
    )
    if most == len(small) and fewest:
        return "holds", evidence
    return ("holds in part" if relative[0] > relative[1] else "does not hold"), evidence


def rnod_is_stable_and_discriminative(one: Findings) -> Found | None:
    """Is RNOD the most consistent and the most discriminative of the three ordinal measures?"""
    power = _finds_more(one, ("RNOD",), ("NMD", "RSNOD"))
    if power is None or not one.consistencies:
        return None
    others = ("NMD", "RSNOD")
    means = one.consistencies
    words: list[OutcomeWord] = []
    for other in others:
        # Of printed means it is not known which of the differences between collections count.
        sure = one.more_consistent.get(("RNOD", other), one.printed)
        words.append(("holds" if means["RNOD"] > means[other] else "does not hold") if sure else "cannot tell")
    stable = join_words(words)
    evidence = (*(Evidence(f"mean τ over halves of {name}", means[name]) for name in ("RNOD", *others)), *power[1])
    both = {stable, power[0]}
    if both == {"holds"}:
        return "holds", evidence
    if "does not hold" in both:
        return "does not hold", evidence
    return ("holds in part" if "holds" in both else "cannot tell"), evidence


def join_words(words: Iterable[OutcomeWord]) -> OutcomeWord:
    """Return whether all hold: not so where one does not, and not to be told where one cannot be.

    Examples
    --------
    >>> join_words(["holds", "cannot tell"]), join_words(["does not hold", "cannot tell"])
    ('cannot tell', 'does not hold')
    """
    found = set(words)
    return next(word for word in ("does not hold", "cannot tell", "holds") if word in found)  # type: ignore[return-value]


def _finds_more(one: Findings, first: tuple[str, ...], second: tuple[str, ...]) -> Found | None:
    """Return whether each of the first measures finds more than each of the second; the nearest difference last."""
    if not one.found:
        return None
    compared = [one.compare(a, b) for a in first for b in second]
    nearest = min((gap for _, gap in compared), key=lambda gap: gap.value)
    return join_words(word for word, _ in compared), (*_count_pairs(one, (*first, *second)), nearest)


def _count_pairs(one: Findings, measures: Iterable[str]) -> tuple[Evidence, ...]:
    """Return the significant pairs of measures as figures, in the order of the tables."""
    names = sorted(measures, key=MEASURES.index)
    head = f"significant pairs of {one.n_pairs:,}: "
    return tuple(Evidence(f"{'' if n else head}{name}", one.found[name]) for n, name in enumerate(names))


def _find_relative_power(parts: list[Findings]) -> float:
    sums = [sum(one.found[name] for one in parts) for name in MEASURES]
    return sums[0] / max(1.0, float(np.mean(sums[1:])))
