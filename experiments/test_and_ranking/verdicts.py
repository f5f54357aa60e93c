"""Claims about tests and rankings of measures, and the rules by which they are tried."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.answers import find_interval
from experiments.outcome import read_toml
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict, judge_differences

STUDY = read_toml(Path(__file__).parent / "study.toml")
CLAIMS = {one["name"]: one for one in STUDY["claims"]}
FROM_CALIBRATION = ("seeds", "rankings are means over those of the study of calibration")


def judge_collections(compared: pd.DataFrame) -> list[Verdict]:
    """Are rankings by two tests less alike than those by one test on two halves of the topics?

    Parameters
    ----------
    compared : DataFrame
        Indexed by collection, with columns seeds, halves and tests.

    Returns
    -------
    list of Verdict
        One a collection.
    """
    found = []
    for name, row in compared.iterrows():
        tests, halves, seeds = (float(row[column]) for column in ("tests", "halves", "seeds"))
        word: OutcomeWord = "holds" if tests < halves else "holds in part" if tests < seeds else "does not hold"
        evidence = (
            Evidence("mean τ_b between tests", tests),
            Evidence("between halves of the topics", halves),
            Evidence("between seeds", seeds),
        )
        found.append(make_verdict("collection", str(name), word, evidence))
    return found


def judge_over_collections(compared: pd.DataFrame, between: pd.DataFrame) -> list[Verdict]:
    """Try the same over all collections, and whether the tests that take each pair's own error rank measures alike.

    Parameters
    ----------
    compared, between : DataFrame
        Indexed by collection.

    Returns
    -------
    list of Verdict
    """
    name = f"{len(compared)} collections"
    gap, low, high = find_interval((compared["halves"] - compared["tests"]).to_numpy())
    evidence = (
        Evidence("mean τ_b between tests", float(compared["tests"].mean())),
        Evidence("between halves of the topics", float(compared["halves"].mean())),
        Evidence("halves less tests", gap, (low, high)),
    )
    first = make_verdict("all", name, judge_differences([(low, high)]), evidence)
    with_reference = [column for column in between if STUDY["reference"] in column.split(" / ")]
    others = [column for column in between if column not in with_reference]
    alike, apart = (np.asarray(between[columns].mean(axis=1)) for columns in (others, with_reference))
    gap, low, high = find_interval(alike - apart)
    evidence = (
        Evidence("mean τ_b between two of them", float(alike.mean())),
        Evidence(f"of each with {STUDY['reference']}", float(apart.mean())),
        Evidence("the first less the second", gap, (low, high)),
    )
    return [first, make_verdict("studentised", name, judge_differences([(low, high)]), evidence)]


def judge_contradictions(counted: pd.DataFrame, seed: int) -> list[Verdict]:
    """Do two tests say of two measures that each surely has more power than the other?

    Parameters
    ----------
    counted : DataFrame
        As `experiments.test_and_ranking.steps.count_agreements` returns it.
    seed : int

    Returns
    -------
    list of Verdict
        One a collection.
    """
    found = []
    for name, own in counted.groupby("collection", sort=False):
        most = own.loc[own["contradict"].idxmax()]
        word: OutcomeWord = "holds" if most["contradict"] else "does not hold"
        evidence = [
            Evidence("pairs of measures", int(most["pairs"])),
            Evidence("most contradictions between two tests", int(most["contradict"])),
            Evidence("same, by these two", int(most["same"])),
        ]
        reason = f"{most['test 1']} and {most['test 2']}" if most["contradict"] else ""
        if not own["intervals"].all():
            word, reason = "cannot tell", "no intervals: too few topics"
        found.append(
            make_verdict(
                "contradiction", str(name), word, tuple(evidence), (f"seed {seed}", "others not tried"), reason
            )
        )
    return found


def make_verdict(
    claim: str, data: str, word: OutcomeWord, evidence: tuple[Evidence, ...],
    condition: tuple[str, str] = FROM_CALIBRATION, reason: str = "",
) -> Verdict:  # fmt: skip
    """Return a verdict on one of the study's claims.

    Parameters
    ----------
    claim : str
        Its name in study.toml.
    data : str
    word : {"holds", "holds in part", "does not hold", "cannot tell"}
    evidence : tuple of Evidence
    condition : (str, str), optional
        What was tried.
    reason : str, optional

    Returns
    -------
    Verdict
    """
    said = CLAIMS[claim]
    return Verdict(said["claim"], said["where"], said["rule"], data, word, evidence, (condition,), reason)
