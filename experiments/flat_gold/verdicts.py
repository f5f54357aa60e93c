"""Claims about Popularity against Uniform, and the rules by which they are tried on real gold and on all gold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import metaeval
from experiments.bounds import BOUNDS
from experiments.flat_gold.curves import Estimate, count_peaks, find_flatness, find_mean, find_switch, fit_curve, prefer
from experiments.outcome import read_toml
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

STUDY = read_toml(Path(__file__).parent / "study.toml")
MEASURES = list(STUDY["measures"])
ASKED = STUDY["asked"]
OTHERS = [name for name in MEASURES if name != ASKED]
CONFIDENCE = STUDY["confidence"]


@dataclass(frozen=True)
class Found:
    """How preferences depend on flatness in one collection.

    Parameters
    ----------
    flatness : ndarray, shape (topic,)
    preferred : ndarray, shape (topic, measure)
        1 Popularity, −1 Uniform, 0 neither.
    peaks : ndarray of int, shape (topic,)
        Peaks of the gold distribution.
    share, slope, crossing : dict of str to Estimate
        By measure: the share of topics on which Popularity is preferred, and the logistic curve over flatness.
    """

    flatness: np.ndarray
    preferred: np.ndarray
    peaks: np.ndarray
    share: dict[str, Estimate]
    slope: dict[str, Estimate]
    crossing: dict[str, Estimate]


def show_estimate(name: str, one: Estimate, digits: int = 3) -> Evidence:
    """Return a number with its interval over topics."""
    return Evidence(name, one.value, one.find_ends(CONFIDENCE), digits)


def compare_with_others(numbers: Mapping[str, Estimate]) -> tuple[Evidence, ...]:
    """Return NMD's number less that of each other measure, with intervals over topics."""
    return tuple(show_estimate(f"{ASKED} less {other}", numbers[ASKED].less(numbers[other])) for other in OTHERS)


def look_at(runs: metaeval.QuantificationRuns) -> Found:
    """Return how preferences depend on the flatness of the gold.

    Parameters
    ----------
    runs : QuantificationRuns
        Only its gold is used.

    Returns
    -------
    Found
    """
    flatness, preferred = find_flatness(runs.gold), prefer(runs, MEASURES)
    popular = {name: preferred[:, m] > 0 for m, name in enumerate(MEASURES)}
    curves = {name: fit_curve(flatness, chosen) for name, chosen in popular.items()}
    return Found(
        flatness, preferred, count_peaks(runs.gold), {name: find_mean(chosen) for name, chosen in popular.items()},
        {name: slope for name, (slope, _) in curves.items()}, {name: crossing for name, (_, crossing) in curves.items()},
    )  # fmt: skip


def judge(claim: Mapping[str, str], name: str, found: Found) -> Verdict:
    """Return the verdict of one claim on one collection.

    Parameters
    ----------
    claim : mapping
        Of study.toml.
    name : str
    found : Found

    Returns
    -------
    Verdict
    """
    rules = {"more often": judge_shares, "switch": judge_switch, "explained": judge_explained, "peaks": judge_peaks}
    word, evidence = rules[claim["name"]](found)
    conditions = (("seeds", "nothing is random"),)
    return Verdict(claim["claim"], claim["where"], claim["rule"], name, word, evidence, conditions)


def judge_shares(found: Found) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Does NMD prefer Popularity on more topics than each other measure?"""
    gaps = compare_with_others(found.share)
    return judge_differences([one.interval for one in gaps]), gaps


def judge_switch(found: Found) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Does NMD turn from Popularity to Uniform where the gold becomes flat?"""
    slope, crossing = found.slope[ASKED], found.crossing[ASKED]
    low, high = slope.find_ends(CONFIDENCE)
    word: OutcomeWord = "cannot tell"
    if low > 0 or (high < 0 and crossing.value >= 1):
        word = "does not hold"
    elif high < 0:
        word = "holds"
    return word, (show_estimate("slope", slope, 1), show_estimate("crosses one half at", crossing))


def judge_explained(found: Found) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Does one switch point tell each measure's preference, and does NMD switch at flatter gold than the others?"""
    told = {name: find_switch(found.flatness, found.preferred[:, m])[1] for m, name in enumerate(MEASURES)}
    least = min(told, key=told.__getitem__)
    gaps = compare_with_others(found.crossing)
    word = judge_differences([one.interval for one in gaps])
    if word == "holds" and told[least] < BOUNDS["one switch decides"].value:
        word = "holds in part"
    return word, (Evidence(f"share told by one switch point, least ({least})", told[least]), *gaps)


def judge_peaks(found: Found) -> tuple[OutcomeWord, tuple[Evidence, ...]]:
    """Is NMD farther ahead of the others in preferring Popularity where the gold has one peak than where it has several?"""
    popular, single = (found.preferred > 0).astype(float), found.peaks == 1
    gaps = []
    for other in OTHERS:
        lead = popular[:, MEASURES.index(ASKED)] - popular[:, MEASURES.index(other)]
        gap = find_mean(lead, single).less(find_mean(lead, ~single))
        gaps.append(show_estimate(f"lead over {other}, one peak less several", gap))
    evidence = (Evidence("share of topics with one peak", float(single.mean())), *gaps)
    return judge_differences([one.interval for one in gaps]), evidence


def judge_map(mapped: pd.DataFrame) -> list[Verdict]:
    """Does NMD prefer Popularity more often than the others on all gold, on gold with one peak, and with several?

    Parameters
    ----------
    mapped : DataFrame
        As `map_gold` returns it.

    Returns
    -------
    list of Verdict
    """
    claim = STUDY["map_claim"]
    found = []
    for name, some in split_map(mapped).items():
        shares = (some[MEASURES] > 0).mean()
        gaps = tuple(Evidence(f"{ASKED} less {other}", float(shares[ASKED] - shares[other])) for other in OTHERS)
        word: OutcomeWord = "holds" if all(one.value > 0 for one in gaps) else "does not hold"
        conditions = (("seeds", "nothing is random"),)
        found.append(Verdict(claim["claim"], claim["where"], claim["rule"], name, word, gaps, conditions))
    return found


def split_map(mapped: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return all gold, and that with one peak and with several."""
    single = mapped["peaks"] == 1
    return {"all gold": mapped, "gold with one peak": mapped[single], "gold with several peaks": mapped[~single]}
