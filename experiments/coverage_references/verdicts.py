"""Does one measure cover more than another under the reference sets: counts, the rule, the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bounds import BOUNDS
from experiments.coverage_references.sets import SetCoverage
from experiments.outcome import read_toml
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

STUDY = read_toml(Path(__file__).parent / "study.toml")
CANDIDATES = list(STUDY["candidates"])
WHOLE = "all runs"
VIEWS = ("on distinct runs", "without baselines")


def count_sides(found: SetCoverage, first: str, second: str) -> dict[str, float | int]:
    """Count under how many sets the first measure covers more, and under how many the interval says which does.

    Parameters
    ----------
    found : SetCoverage
    first, second : str

    Returns
    -------
    dict of str to number
        Columns of the table "pairs".
    """
    gap, low, high = found.compare(first, second)
    mean, mean_low, mean_high = found.compare_mean(first, second)
    return {
        "sets": len(gap), "ahead": int((gap > 0).sum()), "above 0": int((low > 0).sum()),
        "below 0": int((high < 0).sum()), "cannot tell": int((~(low > 0) & ~(high < 0)).sum()),
        "mean": mean, "low": mean_low, "high": mean_high,
    }  # fmt: skip


def decide(counts: Mapping[str, float | int]) -> OutcomeWord:
    """Apply the rule of the study to the counts of `count_sides`.

    Parameters
    ----------
    counts : mapping of str to number

    Returns
    -------
    {"holds", "holds in part", "does not hold", "cannot tell"}

    Examples
    --------
    >>> decide({"sets": 9, "above 0": 5, "below 0": 0}), decide({"sets": 9, "above 0": 4, "below 0": 3})
    ('holds', 'holds in part')
    >>> decide({"sets": 9, "above 0": 1, "below 0": 1}), decide({"sets": 9, "above 0": 0, "below 0": 0})
    ('does not hold', 'cannot tell')
    """
    above, below = counts["above 0"], counts["below 0"]
    if not above and not below:
        return "cannot tell"
    if above <= below:
        return "does not hold"
    return "holds" if above > BOUNDS["most"].value * counts["sets"] and not below else "holds in part"


def judge(
    claim: Mapping[str, Any], name: str, views: Mapping[str, SetCoverage], again: Sequence[SetCoverage], seed: int
) -> Verdict:
    """Return the verdict of one claim on one collection; what other runs and seeds say are its conditions.

    Parameters
    ----------
    claim : mapping
        Of study.toml.
    name : str
    views : mapping of str to SetCoverage
    again : sequence of SetCoverage
        With the next seeds.
    seed : int

    Returns
    -------
    Verdict
    """
    counts = {view: count_sides(one, claim["first"], claim["second"]) for view, one in views.items()}
    found = counts[WHOLE]
    word, reason = decide(found), views[WHOLE].no_interval
    tried = Counter([word, *(decide(count_sides(one, claim["first"], claim["second"])) for one in again)])
    seeds = ", ".join(f"{one} {n}" for one, n in tried.items())
    if len(tried) > 1:
        word, reason = "cannot tell", f"seeds disagree: {seeds}"
    evidence = (
        Evidence("reference sets", found["sets"]),
        Evidence("ahead", found["ahead"]),
        Evidence("interval above 0", found["above 0"]),
        Evidence("below 0", found["below 0"]),
        show_mean(found),
    )
    conditions = [(f"seeds {seed} to {seed + len(again)}", seeds)]
    for view in VIEWS:
        conditions.append((view, _describe(counts[view]) if view in counts else "the same runs"))
    return Verdict(
        claim["claim"], claim["where"], STUDY["rule"]["text"], name, word, evidence, tuple(conditions), reason
    )


def show_mean(counts: Mapping[str, float | int]) -> Evidence:
    """Return the mean difference over all sets, with its interval where there is one."""
    ends = (counts["low"], counts["high"])
    return Evidence("mean difference over sets", counts["mean"], ends if np.isfinite(ends).all() else None)


def _describe(counts: Mapping[str, float | int]) -> str:
    return f"{decide(counts)} ({show_mean(counts)})"
