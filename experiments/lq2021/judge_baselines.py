"""Rules on Popularity against Uniform (§5.3) and the recommendation (§6). What each tries stands in claims.toml."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.stats import binomtest

from experiments.bounds import BOUNDS
from experiments.flat_gold.curves import find_mean
from experiments.lq2021.findings import FOUR, MEASURES, NOMINAL, Findings
from experiments.lq2021.judge_power import join_words
from experiments.verdicts import Found
from metaeval.show.verdict import Evidence, OutcomeWord, judge_differences
from metaeval.stats.pearson import pearson

CONFIDENCE = 0.95
LEVEL = 0.05
"""Of sign tests, as of the paper's tests."""


def preference_follows_the_gold(one: Findings) -> Found | None:
    """Is Uniform preferred the more, the flatter the gold?"""
    if not one.golds:
        return None
    entropies = np.concatenate([_find_entropies(gold) for gold in one.golds])
    evidence, words = [], []
    for m, name in enumerate(MEASURES):
        r, low, high = _correlate(entropies, _stack_deltas(one)[:, m])
        evidence.append(Evidence(f"{name}: r of entropy and Δ", r, (low, high), digits=2))
        words.append(judge_differences([(low, high)]))
    return join_words(words), tuple(evidence)


def flat_gold_prefers_uniform(one: Findings) -> Found | None:
    """Is Uniform preferred where the gold is almost flat?"""
    if not one.golds:
        return None
    flat = np.concatenate([_find_entropies(gold) for gold in one.golds]) >= BOUNDS["almost flat"].value
    evidence = [Evidence("topics with almost flat gold", int(flat.sum()))]
    if not flat.any():
        return "cannot tell", tuple(evidence)
    signs = _stack_signs(one)[flat]
    words = []
    for m, name in enumerate(MEASURES):
        won, lost = int((signs[:, m] > 0).sum()), int((signs[:, m] < 0).sum())
        share, interval = _find_share(lost, won)
        evidence.append(Evidence(f"{name}: share of Popularity", share, interval, digits=2))
        words.append(judge_differences([(0.5 - interval[1], 0.5 - interval[0])]))
    return join_words(words), tuple(evidence)


def nmd_correlates_less_with_nominal_measures(one: Findings) -> Found | None:
    """Do nominal measures' deltas correlate less with NMD's than with RNOD's?"""
    if not one.preferences:
        return None
    deltas, evidence, words = _stack_deltas(one), [], []
    for name in NOMINAL:
        found = []
        for first in ("NMD", "RNOD"):
            r, low, high = _correlate(deltas[:, MEASURES.index(first)], deltas[:, MEASURES.index(name)])
            found.append((low, high))
            evidence.append(Evidence(f"r of {first} and {name}", r, (low, high)))
        words.append(judge_differences([(found[1][0] - found[0][1], found[1][1] - found[0][0])]))
    return join_words(words), tuple(evidence)


def nmd_disagrees_more_with_nominal_measures(one: Findings) -> Found | None:
    """Does NMD disagree with nominal measures on more topics than RNOD does?"""
    if not one.preferences:
        return None
    evidence, words = [], []
    for name in NOMINAL:
        nmd, rnod = (_disagree(one, first, name) for first in ("NMD", "RNOD"))
        more, fewer = int((nmd & ~rnod).sum()), int((rnod & ~nmd).sum())
        evidence += [
            Evidence(f"topics on which NMD disagrees with {name}", int(nmd.sum())),
            Evidence("RNOD", int(rnod.sum())),
        ]
        sure = more + fewer > 0 and binomtest(more, more + fewer).pvalue <= LEVEL
        word: OutcomeWord = "cannot tell" if not sure else "holds" if more > fewer else "does not hold"
        words.append(word)
    return join_words(words), tuple(evidence)


def nmd_disagrees_for_popularity(one: Findings) -> Found | None:
    """Where NMD and a nominal measure disagree, is NMD for Popularity?"""
    counts = [one.quadrants.get(("NMD", name)) for name in NOMINAL]
    if None in counts:
        return None
    second, fourth = np.sum(counts, axis=0)  # type: ignore[arg-type]
    evidence = tuple(
        Evidence(text, number)
        for name, pair in zip(NOMINAL, counts, strict=True)
        for text, number in zip((f"NMD for Popularity, {name} for Uniform", "the reverse"), pair or (), strict=True)
    )
    if not second + fourth:
        return "cannot tell", evidence
    nearly = second >= BOUNDS["nearly all"].value * (second + fourth)
    return ("holds" if not fourth else "holds in part" if nearly else "does not hold"), evidence


def nmd_and_rnod_disagree_over_popularity(one: Findings) -> Found | None:
    """Where NMD and RNOD disagree, is NMD for Popularity?"""
    if ("NMD", "RNOD") not in one.quadrants:
        return None
    second, fourth = one.quadrants["NMD", "RNOD"]
    evidence = (Evidence("NMD for Popularity, RNOD for Uniform", second), Evidence("the reverse", fourth))
    if not second + fourth:
        return "cannot tell", evidence
    if second >= BOUNDS["nearly all"].value * (second + fourth):
        return "holds", evidence
    return ("holds in part" if second > fourth else "does not hold"), evidence


def nmd_alone_prefers_popularity_on_a_fifth_to_a_quarter(one: Findings) -> Found | None:
    """Is NMD alone for Popularity, against each of four measures, on as large a share of topics as the paper says?"""
    there = {name: one.quadrants["NMD", name][0] for name in FOUR if ("NMD", name) in one.quadrants}
    if not there or not one.n_topics:
        return None
    least, most = (BOUNDS[f"share on which NMD disagrees, {end}"].value for end in ("least", "most"))
    so = [least <= round(number / one.n_topics, 2) <= most for number in there.values()]
    head = f"of {one.n_topics} topics NMD for Popularity and for Uniform "
    evidence = tuple(Evidence(f"{head * (not n)}{name}", number) for n, (name, number) in enumerate(there.items()))
    if len(there) < len(FOUR) and all(so):
        return "cannot tell", evidence
    return ("holds" if all(so) else "holds in part" if any(so) else "does not hold"), evidence


def divergent_topics_show_it(one: Findings) -> Found | None:
    """On the topics of Figure 3, do all measures but NMD prefer Uniform?"""
    if len(one.preferences) != 1:
        return None  # the topics are those of one collection
    rows = one.preferences[0].divergent_topics("NMD", "RNOD", 2).to_dict("records")
    evidence, so = [], []
    for n, row in enumerate(rows, start=1):
        least = min(MEASURES[1:], key=lambda name: row[name])
        so.append(row["NMD"] <= 0 < row[least])
        evidence += [
            Evidence(f"topic {n}: d", row["d"]),
            Evidence("ΔNMD", row["NMD"]),
            Evidence(f"smallest of the others (Δ{least})", row[least]),
        ]
    return ("holds" if all(so) else "holds in part" if any(so) else "does not hold"), tuple(evidence)


def nmd_prefers_popularity_most(one: Findings) -> Found | None:
    """Does NMD prefer Popularity on a larger share of topics than every other measure?"""
    if not one.wins:
        return None
    if one.preferences:
        popular = [find_mean(column) for column in (_stack_signs(one) > 0).T]
        gaps = [popular[0].less(other).find_ends(CONFIDENCE) for other in popular[1:]]
        leads = (
            Evidence(f"share of NMD less that of {name}", popular[0].less(other).value, gap)
            for name, other, gap in zip(MEASURES[1:], popular[1:], gaps, strict=True)
        )
        return judge_differences(gaps), tuple(leads)
    shares = _list_shares(one)
    own = shares.pop("NMD")
    words = [judge_differences([(own[1][0] - other[1][1], own[1][1] - other[1][0])]) for other in shares.values()]
    return join_words(words), _show_shares(one, MEASURES)


def nmd_prefers_popularity(one: Findings) -> Found | None:
    """Does NMD prefer Popularity on most topics?"""
    if not one.wins:
        return None
    low, high = _list_shares(one)["NMD"][1]
    uniform, popularity = one.wins["NMD"]
    evidence = (
        Evidence("topics on which NMD prefers Popularity", popularity),
        Evidence("Uniform", uniform),
        *_show_shares(one, ("NMD",)),
    )
    return judge_differences([(low - 0.5, high - 0.5)]), evidence


def others_prefer_uniform_by_far(one: Findings) -> Found | None:
    """Do four measures prefer Uniform on far more than half of the topics?"""
    if not one.wins:
        return None
    shares, bound = _list_shares(one), BOUNDS["far below half"].value
    words = [judge_differences([(bound - shares[name][1][1], bound - shares[name][1][0])]) for name in FOUR]
    return join_words(words), _show_shares(one, FOUR)


def rsnod_is_between_by_preference(one: Findings) -> Found | None:
    """Is RSNOD between NMD and RNOD, by the share of topics that it prefers Popularity on?"""
    if not one.wins:
        return None
    shares = _list_shares(one)
    (nmd, above), (own, middle), (rnod, below) = (shares[name] for name in ("NMD", "RSNOD", "RNOD"))
    evidence = _show_shares(one, ("NMD", "RSNOD", "RNOD"))
    if own >= 0.5 or not rnod < own < nmd:
        return "does not hold", evidence
    sure = middle[1] < 0.5 and below[1] < middle[0] and middle[1] < above[0]
    return ("holds" if sure else "cannot tell"), evidence


def both_have_their_merits(one: Findings) -> Found | None:
    """Do the reasons for the recommendation come out?"""
    if not one.found or not one.wins:
        return None
    word, gap = one.compare("RNOD", "NMD")
    overlap, shares = one.average(one.share_overlap), _list_shares(one)
    next_lowest = min(overlap[name] for name in MEASURES[1:])
    so = [word == "holds", overlap["NMD"] < next_lowest, shares["NMD"][0] > shares["RNOD"][0]]
    evidence = (
        gap,
        Evidence("mean SSO of NMD", overlap["NMD"]),
        Evidence("lowest of the others", next_lowest),
        *_show_shares(one, ("NMD", "RNOD")),
    )
    return ("holds" if all(so) else "holds in part" if any(so) else "does not hold"), evidence


def _correlate(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return Pearson's r with its 95 % interval, which says nothing where one does not vary."""
    return pearson(x, y) if np.ptp(x) and np.ptp(y) else (float("nan"), -1.0, 1.0)


def _find_entropies(gold: np.ndarray) -> np.ndarray:
    """Return the entropy of every topic's gold as a share of the largest possible, shape (topic,)."""
    logs = np.log(gold, out=np.zeros_like(gold), where=gold > 0)
    entropies: np.ndarray = -(gold * logs).sum(axis=-1) / np.log(gold.shape[-1])
    return entropies


def _stack_deltas(one: Findings) -> np.ndarray:
    """Return Popularity's score less Uniform's, shape (topic, measure) in the order of `MEASURES`."""
    return np.concatenate([part.deltas[:, _find_places(part.measures)] for part in one.preferences])


def _stack_signs(one: Findings) -> np.ndarray:
    """Return +1 where Popularity is better and −1 where Uniform is, shape (topic, measure)."""
    return np.sign(np.concatenate([part.gains[:, _find_places(part.measures)] for part in one.preferences]))


def _find_places(measures: tuple[object, ...]) -> list[int]:
    names = [str(one) for one in measures]
    return [names.index(name) for name in MEASURES]


def _disagree(one: Findings, first: str, second: str) -> np.ndarray:
    """Return whether two measures prefer different baselines, shape (topic,)."""
    signs = _stack_signs(one)
    disagree: np.ndarray = signs[:, MEASURES.index(first)] * signs[:, MEASURES.index(second)] < 0
    return disagree


@lru_cache(maxsize=1024)
def _find_share(uniform: int, popularity: int) -> tuple[float, tuple[float, float]]:
    """Return Popularity's share of the topics that are not tied, with its 95 % interval (Wilson)."""
    if not uniform + popularity:
        return float("nan"), (0.0, 1.0)
    found = binomtest(popularity, uniform + popularity).proportion_ci(method="wilson")
    return popularity / (uniform + popularity), (float(found.low), float(found.high))


def _list_shares(one: Findings) -> dict[str, tuple[float, tuple[float, float]]]:
    return {name: _find_share(*one.wins[name]) for name in MEASURES}


def _show_shares(one: Findings, measures: tuple[str, ...]) -> tuple[Evidence, ...]:
    shares = _list_shares(one)
    return tuple(Evidence(f"{name}: share of Popularity", *shares[name]) for name in measures)
