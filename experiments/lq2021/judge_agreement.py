"""Rules on overlaps and contradictions of significant pairs (§5.2). What each tries stands in claims.toml."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from experiments.bounds import BOUNDS
from experiments.lq2021.findings import FOUR, MEASURES, Contradiction, Findings
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord

POPULARITY, UNIFORM = "popularity", "uniform"
"""Parts of the names of the baselines."""

OTHERS = MEASURES[1:]


def overlap_is_not_always_high(one: Findings) -> Found | None:
    """Is any overlap low, in any collection?"""
    shares = [share for part in one.parts or (one,) for share in _list_overlaps(part, MEASURES)]
    if not shares:
        return None
    low = sum(share < BOUNDS["low overlap"].value for share in shares)
    evidence = (Evidence(f"low SSO, of {len(shares)}", low), Evidence("lowest", min(shares)))
    return ("holds" if low else "does not hold"), evidence


def overlap_of_nmd_is_lowest_on_a_and_s(parts: Mapping[str, Findings]) -> Found | None:
    """Is NMD's overlap with the others lowest on DialEval-1 DQ-A and DQ-S?"""
    means = {name: one.average(one.share_overlap)["NMD"] for name, one in parts.items() if one.found}
    said = [value for name, value in means.items() if name in ("DialEval-1 DQ-A", "DialEval-1 DQ-S")]
    rest = [value for name, value in means.items() if name not in ("DialEval-1 DQ-A", "DialEval-1 DQ-S")]
    if len(said) < 2 or not rest:
        return "cannot tell", (Evidence("of DialEval-1 DQ-A and DQ-S at hand", len(said)),)
    evidence = (
        Evidence("higher mean SSO of NMD on DialEval-1 DQ-A and DQ-S", max(said)),
        Evidence("lowest elsewhere", min(rest)),
    )
    return ("holds" if max(said) < min(rest) else "does not hold"), evidence


def nmd_finds_few_and_others(one: Findings) -> Found | None:
    """Does NMD find fewer pairs than each other measure, and yet others?"""
    if not one.found:
        return None
    alone = {other: one.overlaps["NMD", other][0] for other in OTHERS}
    so = [alone[other] > 0 and one.found["NMD"] < one.found[other] for other in OTHERS]
    evidence = (
        Evidence("significant pairs of NMD", one.found["NMD"]),
        *(Evidence(f"of {other}", one.found[other]) for other in OTHERS),
        *(Evidence(f"with NMD but not {other}", alone[other]) for other in OTHERS),
    )
    return _judge_share(so), evidence


def nmd_is_an_outlier_by_overlap_and_ranking(one: Findings) -> Found | None:
    """Is NMD the least like the others by SSO and by τ?"""
    if not one.found or not one.taus:
        return None
    evidence, so = [], []
    for name, share in (("SSO", one.share_overlap), ("τ", one.get_tau)):
        means = one.average(share)
        low = min(OTHERS, key=means.__getitem__)
        so.append(means["NMD"] < means[low])
        evidence += [Evidence(f"mean {name} of NMD", means["NMD"]), Evidence(f"of the next lowest ({low})", means[low])]
    return _judge_share(so), tuple(evidence)


def contradictions_are_very_rare(one: Findings) -> Found | None:
    """Are there contradictions, and are they very rare?"""
    if one.contradictions is None:
        return None
    n, both = len(one.contradictions), sum(b for _, b, _ in one.overlaps.values())
    evidence = (*_count(one, one.contradictions), Evidence("found by both measures", both))
    if not n:
        return "holds in part", evidence
    return ("holds" if n / both <= BOUNDS["very rare"].value else "does not hold"), (
        *evidence,
        Evidence("as a share", n / both),
    )


def contradictions_repeat_themselves(one: Findings) -> Found | None:
    """Are there fewer contradictions once equal runs are taken as one?"""
    copies = [
        run for run, twin in one.twins.items() if run != twin and any(part in run for part in (POPULARITY, UNIFORM))
    ]
    if one.contradictions is None or not copies:
        return None
    merged = {(*row[:2], *(one.twins.get(run, run) for run in row[2:])) for row in one.contradictions}
    evidence = (*_count(one, one.contradictions), Evidence("with equal runs taken as one", len(merged)))
    if not one.contradictions:
        return "cannot tell", evidence
    return ("holds" if len(merged) < len(one.contradictions) else "does not hold"), evidence


def most_contradictions_on_a(parts: Mapping[str, Findings]) -> Found | None:
    """Are there more contradictions on DialEval-1 DQ-A than on any other collection of NTCIR?"""
    counts = {
        name: len(one.contradictions) for name, one in parts.items() if "DQ" in name and one.contradictions is not None
    }
    most = counts.pop("DialEval-1 DQ-A", None)
    if most is None or not counts:
        return "cannot tell", (Evidence("of NTCIR's collections at hand, without DialEval-1 DQ-A", len(counts)),)
    other = max(counts, key=counts.__getitem__)
    evidence = (
        Evidence("contradictions on DialEval-1 DQ-A", most),
        Evidence(f"most of the others ({other})", counts[other]),
        Evidence("most that chance moves them by, all together", sum(one.uncertain for one in parts.values())),
    )
    return ("holds" if most > counts[other] else "does not hold"), evidence


def nmd_is_apart_by_overlap(one: Findings) -> Found | None:
    """Is NMD's overlap with RNOD and the nominal measures lower than any among these?"""
    inner, outer = _list_overlaps(one, FOUR), [one.share_overlap("NMD", other) for other in FOUR if one.found]
    if not inner or np.isnan(outer).any():
        return None
    evidence = (
        Evidence("SSO of NMD with the four: mean", float(np.mean(outer))),
        Evidence("highest", max(outer)),
        Evidence("among the four: mean", float(np.mean(inner))),
        Evidence("lowest", min(inner)),
    )
    if max(outer) < min(inner):
        return "holds", evidence
    return ("holds in part" if np.mean(outer) < np.mean(inner) else "does not hold"), evidence


def nmd_is_no_subset(one: Findings) -> Found | None:
    """Do the measures that find more than NMD miss pairs that it finds?"""
    if not one.found:
        return None
    alone = {other: one.overlaps["NMD", other][0] for other in OTHERS if one.found[other] > one.found["NMD"]}
    if not alone:
        return "cannot tell", (Evidence("measures that find more than NMD", 0),)
    share = float(np.mean([number > 0 for number in alone.values()]))
    evidence = tuple(Evidence(f"with NMD but not {other}", number) for other, number in alone.items())
    if share >= BOUNDS["generally"].value:
        return "holds", evidence
    return ("holds in part" if share else "does not hold"), evidence


def nmd_is_an_outlier_by_overlap(one: Findings) -> Found | None:
    """Is NMD's overlap with the others an outlier?"""
    if not one.found:
        return None
    means = one.average(one.share_overlap)
    own = means.pop("NMD")
    low = min(means, key=means.__getitem__)
    evidence = (
        Evidence("mean SSO of NMD", own),
        Evidence(f"of the next lowest ({low})", means[low]),
        Evidence("of the highest", max(means.values())),
    )
    if np.isnan(own) or not own < means[low]:
        return "does not hold", evidence
    return ("holds" if means[low] - own > max(means.values()) - means[low] else "holds in part"), evidence


def nmd_contradicts_over_popularity(one: Findings) -> Found | None:
    """Does NMD contradict four measures on a few pairs, all with Popularity?"""
    if one.contradictions is None or not one.has_baselines:
        return None
    rows = _select(one, "NMD", FOUR)
    involved = sum(any(POPULARITY in run for run in row[2:]) for row in rows)
    both = sum(one.overlaps["NMD", other][1] for other in FOUR)
    per = {other: one.count_contradictions("NMD", [other]) for other in FOUR}
    evidence = (
        *_count(one, rows, "contradictions of NMD with the four"),
        Evidence("with a Popularity baseline", involved),
        *(Evidence(f"with {other}", number) for other, number in per.items()),
        Evidence("found by both measures", both),
    )
    if not rows:
        return "cannot tell", evidence
    if involved < len(rows):
        return "does not hold", evidence
    few = len(rows) <= BOUNDS["few"].value * both
    return ("holds" if few and all(per.values()) else "holds in part"), evidence


def contradictions_speak_for_popularity(one: Findings) -> Found | None:
    """Where NMD or RSNOD contradicts another measure about Popularity, is it for it?"""
    if one.contradictions is None or not one.has_baselines:
        return None
    rows = [row for name in ("NMD", "RSNOD") for row in _select(one, name, FOUR)]
    rows = [row for row in rows if sum(POPULARITY in run for run in row[2:]) == 1]
    ahead = sum(POPULARITY in row[2] for row in rows)
    evidence = (
        *_count(one, rows, "contradictions about Popularity"),
        Evidence("where NMD or RSNOD finds it better", ahead),
    )
    if not rows:
        return "cannot tell", evidence
    return ("holds" if ahead == len(rows) else "does not hold"), evidence


def no_contradiction_with_symmetry(one: Findings) -> Found | None:
    """Do NMD and RSNOD never contradict each other?"""
    if one.contradictions is None:
        return None
    evidence = _count(one, _select(one, "NMD", ("RSNOD",)), "contradictions of NMD and RSNOD")
    return ("does not hold" if evidence[0].value else "holds"), evidence


def rsnod_contradicts_as_nmd_does(one: Findings) -> Found | None:
    """Does RSNOD contradict the measures that NMD contradicts, on the same pairs?"""
    if one.contradictions is None:
        return None
    of_nmd, of_rsnod = ({row[1:] for row in _select(one, name, FOUR)} for name in ("NMD", "RSNOD"))
    shared, against = len(of_nmd & of_rsnod), one.count_contradictions("NMD", ["RSNOD"])
    evidence = (
        *_count(one, list(of_nmd), "contradictions of NMD with the four"),
        Evidence("which RSNOD shares", shared),
        Evidence("contradictions of NMD and RSNOD", against),
    )
    if not of_nmd:
        return "cannot tell", evidence
    if against or not shared:
        return "does not hold", evidence
    return ("holds" if shared >= BOUNDS["somewhat"].value * len(of_nmd) else "holds in part"), evidence


def rsnod_is_between_by_contradictions(one: Findings) -> Found | None:
    """Is RSNOD between NMD and RNOD, by contradictions?"""
    if one.contradictions is None:
        return None
    ends, near, far = (
        one.count_contradictions(a, [b]) for a, b in (("NMD", "RNOD"), ("NMD", "RSNOD"), ("RSNOD", "RNOD"))
    )
    evidence = (
        Evidence("contradictions of NMD and RNOD", ends),
        Evidence("of NMD and RSNOD", near),
        Evidence("of RSNOD and RNOD", far),
    )
    if not ends + near + far:
        return "cannot tell", evidence
    return ("holds" if ends > near and ends >= far else "does not hold"), evidence


def rsnod_is_between_by_ranking(one: Findings) -> Found | None:
    """Is RSNOD between NMD and RNOD, by τ?"""
    return _is_between("τ", one.get_tau) if one.taus else None


def rsnod_is_between_by_overlap(one: Findings) -> Found | None:
    """Is RSNOD between NMD and RNOD, by SSO?"""
    return _is_between("SSO", one.share_overlap) if one.found else None


def symmetry_brings_rnod_to_nmd(one: Findings) -> Found | None:
    """Is RSNOD more like NMD than RNOD is, by τ and by SSO?"""
    if not one.found or not one.taus:
        return None
    evidence, so = [], []
    for name, share in (("τ", one.get_tau), ("SSO", one.share_overlap)):
        near, far = share("NMD", "RSNOD"), share("NMD", "RNOD")
        so.append(near > far)
        evidence += [Evidence(f"{name} of NMD with RSNOD", near), Evidence("with RNOD", far)]
    return _judge_share(so), tuple(evidence)


def nmd_favours_popularity_against_the_others(one: Findings) -> Found | None:
    """Does NMD find Popularity significantly better than Uniform, and four measures the reverse?"""
    if one.contradictions is None or not one.has_baselines:
        return None
    rows = [row for row in _select(one, "NMD", FOUR) if POPULARITY in row[2] and UNIFORM in row[3]]
    per = {other: sum(row[1] == other for row in rows) for other in FOUR}
    evidence = (
        *_count(one, rows, "NMD for Popularity, another measure for Uniform"),
        *(Evidence(f"with {other}", number) for other, number in per.items()),
    )
    return _judge_share([number > 0 for number in per.values()]), evidence


def _select(one: Findings, measure: str, others: tuple[str, ...]) -> list[Contradiction]:
    """Return the contradictions of a measure with others, the measure first."""
    rows = []
    for first, second, ahead, behind in one.contradictions or ():
        if first == measure and second in others:
            rows.append((first, second, ahead, behind))
        elif second == measure and first in others:
            rows.append((second, first, behind, ahead))
    return rows


def _count(
    one: Findings, rows: list[Contradiction] | tuple[Contradiction, ...] | list[tuple[str, ...]], name: str = "contradictions"
) -> tuple[Evidence, ...]:  # fmt: skip
    """Return how many contradictions there are, and how far chance may move all of them."""
    counted = (Evidence(name, len(rows)),)
    return counted if one.printed else (*counted, Evidence("chance moves all by at most", one.uncertain, digits=1))


def _is_between(name: str, share: object) -> Found:
    ends, near, far = (
        share(a, b)  # type: ignore[operator]
        for a, b in (("NMD", "RNOD"), ("NMD", "RSNOD"), ("RSNOD", "RNOD"))
    )
    evidence = (
        Evidence(f"{name} of NMD with RNOD", ends),
        Evidence("of NMD with RSNOD", near),
        Evidence("of RSNOD with RNOD", far),
    )
    return _judge_share([ends < near, ends < far]), evidence


def _judge_share(so: list[bool]) -> OutcomeWord:
    return "holds" if all(so) else "holds in part" if any(so) else "does not hold"


def _list_overlaps(one: Findings, measures: tuple[str, ...]) -> list[float]:
    if not one.found:
        return []
    shares = [one.share_overlap(*pair) for pair in itertools.combinations(measures, 2)]
    return [share for share in shares if not np.isnan(share)]
