"""Verdicts: a claim, the rule by which it was tried, the figures it rests on, and what came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from metaeval.show.table import format_cell

OutcomeWord = Literal["holds", "holds in part", "does not hold", "cannot tell"]
"""What a rule can come to."""


def judge_differences(intervals: Iterable[tuple[float, float] | None]) -> OutcomeWord:
    """Return whether all differences are positive, as far as their intervals tell.

    Parameters
    ----------
    intervals : iterable of (float, float) or None
        Both ends for each difference; None where there is no interval.

    Returns
    -------
    {"holds", "does not hold", "cannot tell"}
        It holds if all intervals lie above 0, and does not hold if one lies below.

    Examples
    --------
    >>> judge_differences([(0.1, 0.3), (0.05, 0.2)]), judge_differences([(0.1, 0.3), (-0.2, -0.1)])
    ('holds', 'does not hold')
    >>> judge_differences([(0.1, 0.3), (-0.1, 0.1)]), judge_differences([None])
    ('cannot tell', 'cannot tell')
    """
    ends = list(intervals)
    if any(one is not None and one[1] < 0 for one in ends):
        return "does not hold"
    return "holds" if all(one is not None and one[0] > 0 for one in ends) else "cannot tell"


@dataclass(frozen=True)
class Evidence:
    """One number that a verdict rests on.

    Parameters
    ----------
    name : str
        What it is, as ``"mean τ of NMD"``.
    value : float or int
    interval : (float, float), optional
        Its confidence interval, where there is one.
    digits : int, optional
        After the point, when it is shown.

    Examples
    --------
    >>> print(Evidence("mean τ of NMD", 0.62904, (0.6, 0.66)))
    mean τ of NMD = 0.629 [0.600, 0.660]
    """

    name: str
    value: float | int
    interval: tuple[float, float] | None = None
    digits: int = 3

    def __str__(self) -> str:
        text = f"{self.name} = {format_cell(self.value, self.digits)}"
        if self.interval is None:
            return text
        low, high = (format_cell(float(end), self.digits) for end in self.interval)
        return f"{text} [{low}, {high}]"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim came out on some data, by a rule that is stated.

    Parameters
    ----------
    claim : str
        The sentence.
    where : str
        Where it stands: ``"ACL 2021, §6.1"``.
    rule : str
        In words, when the claim holds; written from the sentence, not from the figures.
    data : str
        The collection that it was tried on.
    outcome : {"holds", "holds in part", "does not hold", "cannot tell"}
    evidence : tuple of Evidence
        The figures that it rests on.
    conditions : tuple of (str, str)
        What was tried or not: ``("seed", "0")``, ``("without baselines", "not tried")``.
    reason : str
        Why it cannot be told, or what else has to be known.

    Examples
    --------
    >>> verdict = Verdict("A ranks as B.", "§5", "τ is at least 0.9.", "tiny", "holds", (Evidence("τ", 0.95),))
    >>> print(verdict.to_markdown())
    **holds** on tiny: τ = 0.950. Claim (§5): “A ranks as B.” Rule: τ is at least 0.9.
    """

    claim: str
    where: str
    rule: str
    data: str
    outcome: OutcomeWord
    evidence: tuple[Evidence, ...] = ()
    conditions: tuple[tuple[str, str], ...] = field(default=())
    reason: str = ""

    def describe_evidence(self) -> str:
        """Return the figures, and the reason if there is one, as one phrase."""
        return "; ".join([str(one) for one in self.evidence] + [self.reason] * bool(self.reason))

    def describe_conditions(self) -> str:
        """Return what was tried and what was not, as one phrase."""
        return "; ".join(f"{name} {value}" for name, value in self.conditions)

    def to_markdown(self) -> str:
        """Return the verdict as one paragraph of Markdown."""
        found = f": {self.describe_evidence()}" if self.evidence or self.reason else ""
        tried = f" Tried: {self.describe_conditions()}." if self.conditions else ""
        return (
            f"**{self.outcome}** on {self.data}{found}. Claim ({self.where}): “{self.claim}” Rule: {self.rule}{tried}"
        )

    def to_dict(self) -> dict[str, object]:
        """Return the verdict as plain data that JSON can hold."""
        return {
            "claim": self.claim,
            "where": self.where,
            "rule": self.rule,
            "data": self.data,
            "outcome": self.outcome,
            "evidence": [
                {"name": one.name, "value": one.value, "interval": one.interval and list(one.interval)}
                for one in self.evidence
            ],
            "conditions": dict(self.conditions),
            "reason": self.reason,
        }


def tabulate_verdicts(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Return verdicts as a frame, one row each.

    Parameters
    ----------
    verdicts : iterable of Verdict

    Returns
    -------
    DataFrame
        Indexed by claim, with columns where, rule, data, outcome, figures, conditions.
    """
    rows = [
        (one.claim, one.where, one.rule, one.data, one.outcome, one.describe_evidence(), one.describe_conditions())
        for one in verdicts
    ]
    columns = ["claim", "where", "rule", "data", "outcome", "figures", "conditions"]
    return pd.DataFrame(rows, columns=columns).set_index("claim")
