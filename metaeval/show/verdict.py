"""Verdicts: a claim, the rule by which it was tried, the figures it rests on, and what came out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from metaeval.show.table import to_plain

OutcomeWord = Literal["holds", "does not hold", "cannot tell"]
"""What a rule can come to."""


@dataclass(frozen=True)
class Evidence:
    """One number that a verdict rests on, with its interval."""

    name: str
    value: float | int
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a claim came out on some data, by a rule that is stated; and what comes out under other conditions."""

    claim: str
    where: str
    rule: str
    data: str
    outcome: OutcomeWord
    evidence: tuple[Evidence, ...] = ()
    conditions: tuple[tuple[str, str], ...] = ()
    reason: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as plain data that JSON can hold."""
        evidence = [
            {
                "name": figure.name,
                "value": to_plain(figure.value),
                "interval": figure.interval and [to_plain(end) for end in figure.interval],
            }
            for figure in self.evidence
        ]
        return {**asdict(self), "evidence": evidence, "conditions": dict(self.conditions)}
