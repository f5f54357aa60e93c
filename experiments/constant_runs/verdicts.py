"""Do constant runs explain κ's consistency: the rule, and the verdict on one collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.bounds import BOUNDS
from experiments.constant_runs.consistency import Change, Prepared
from experiments.outcome import read_toml
from experiments.verdicts import FEWEST_RUNS
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

STUDY = read_toml(Path(__file__).parent / "study.toml")
MEASURES = list(STUDY["measures"])
ASKED = STUDY["asked"]
PAPERS_TAU = STUDY["tau"][0]
FIRST = (next(iter(STUDY["sizes"])), PAPERS_TAU)
"""What the verdict rests on: halves of the topics, and the papers' τ."""

Changes = dict[tuple[str, str], Change]
"""By size of the sets of topics and variant of τ."""


def rank_of(means: np.ndarray) -> int:
    """Return κ's place among the measures, the most consistent one first; equal ones share the better place."""
    return int((means > means[MEASURES.index(ASKED)] + 1e-12).sum()) + 1


def decide(change: Change) -> OutcomeWord:
    """Apply the rule of the study.

    Parameters
    ----------
    change : Change

    Returns
    -------
    {"holds", "holds in part", "does not hold", "cannot tell"}
    """
    _, low, high = change.over_topics
    if low > 0:
        return "does not hold"
    if not high < 0:
        return "cannot tell"
    last = len(MEASURES) - int(BOUNDS["least consistent"].value)
    leaves = rank_of(change.with_) > last >= rank_of(change.without)
    return "holds" if leaves else "holds in part"


def judge(prepared: Prepared, changes: Changes, again: Sequence[Change]) -> Verdict:
    """Return the verdict on one collection: by halves and the papers' τ; sets of ten topics and τ_b are its conditions.

    Parameters
    ----------
    prepared : Prepared
    changes : dict of (str, str) to Change
    again : sequence of Change
        As the first, with the next seeds.

    Returns
    -------
    Verdict
    """
    change = changes[FIRST]
    n_runs = len(prepared.informed) + len(prepared.own)
    word, reason = decide(change), ""
    tried = Counter([word, *map(decide, again)])
    seeds = ", ".join(f"{one} {n}" for one, n in tried.items())
    if len(tried) > 1:
        word, reason = "cannot tell", f"seeds disagree: {seeds}"
    if len(prepared.informed) < FEWEST_RUNS:
        word, reason = "cannot tell", f"{len(prepared.informed)} runs are not constant, the rule needs {FEWEST_RUNS}"
    evidence = (
        Evidence("runs with constant ones", n_runs),
        Evidence("constant ones", len(prepared.own)),
        Evidence("κ's change less the others'", change.over_topics[0], change.over_topics[1:]),
        Evidence("κ's place of nine with them", rank_of(change.with_)),
        Evidence("without them", rank_of(change.without)),
    )
    conditions = [("its constant runs", "its own" if prepared.has_own else "added, one for each class")]
    conditions.append((f"seeds {prepared.seed} to {prepared.seed + len(again)}", seeds))
    conditions += [(f"{label} by {tau}", decide(one)) for (label, tau), one in changes.items() if (label, tau) != FIRST]
    claim = STUDY["claim"]
    return Verdict(
        claim["claim"], claim["where"], claim["rule"], prepared.name, word, evidence, tuple(conditions), reason
    )
