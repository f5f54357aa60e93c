"""How a claim of claims.toml becomes a verdict: its words, and the words for what came out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.outcome import read_toml
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict

CLAIMS = read_toml(Path(__file__).parent / "claims.toml")
ORDER_ONLY = ("R_s", "τ_b", "r_int")
INDICES = ("OC β₁", "OC β₂")
DETERMINISTIC = (("seeds", "nothing is random"),)


def judge(
    name: str,
    data: str,
    outcome: OutcomeWord,
    *evidence: Evidence,
    conditions: Sequence[tuple[str, str]] = DETERMINISTIC,
    reason: str = "",
) -> Verdict:
    """Return the verdict on a claim of claims.toml."""
    claim = CLAIMS[name]
    return Verdict(claim["claim"], claim["where"], claim["rule"], data, outcome, evidence, tuple(conditions), reason)


def grade(done: Iterable[bool]) -> OutcomeWord:
    """Return whether all of what a rule asks for is so, some of it, or none.

    Examples
    --------
    >>> grade([True, True]), grade([True, False]), grade([False])
    ('holds', 'holds in part', 'does not hold')
    """
    met = list(done)
    return "holds" if all(met) else "holds in part" if any(met) else "does not hold"


def decide(met: bool) -> OutcomeWord:
    """Return "holds" or "does not hold"."""
    return "holds" if met else "does not hold"


def sort_claims(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return verdicts in the order of the paper."""
    order = [one["claim"] for one in CLAIMS.values()]
    return sorted(verdicts, key=lambda one: order.index(one.claim))
