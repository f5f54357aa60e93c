"""The claims of papers and studies, in one dialect.

A claim is a function that reads as the sentence it tries; its docstring is the rule, in words, that the page shows:

    @claim("§5.1 (A)", "The α's, the Macro-F1 measures, MAE^M and κ rank runs similarly.", about=("Sem17T4C",))
    def group_a_agrees(facts):
        \"\"\"The mean τ of two measures of A is at least {similar}.\"\"\"
        return facts.average_tau(GROUP_A) >= bound("similar")

How to write those of a folder (experiments/wmt2023 is the smallest example):

1. `facts` is an object of the paper's own class. Its methods return a `Number`: of print by its value alone, of data with
   its interval, and `Number.unsure` where data have too few runs or topics for one. Comparing a number with a bound, or with
   another number, gives an `Answer`: yes, no or cannot tell, and remembers the numbers it rests on. A method may return
   an `Answer` directly (a significance test has three answers too), or raise `NotGiven` for what its source does not have.
2. `&`, `|` and `~` join answers; `every` and `some` join many. `and`, `or` and `not` are refused: they would take one
   "cannot tell" for a yes.
3. Bounds that are words of a sentence ("similar", "generally") stand in experiments/bounds.toml, with who chose them and when.
4. steps.py tries the claims, `try_claims(list_claims(claims), facts)`, with facts by name of what they were made from:
   ``{"print": …, "stc3-dq-a": …}``, and puts `tabulate_claims(findings)` into the tables of the outcome that has no source,
   as "claims": that is results/PAPER/claims.csv. A claim that names collections (`about`) is tried only on facts whose
   `collection` is one of them, and may answer None where it does not speak of such data.
5. page.md.jinja shows ``{{ claims() }}``: one row a claim, what came out on print and on the real data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

import pandas as pd

import metaeval
from experiments.old.bounds import BOUNDS
from metaeval.errors import MetaevalError
from metaeval.show.cells import format_cell

PRINT, FORMULAS = "print", "formulas"
"""What facts are called that a paper prints, and those of formulas, whatever the data."""

TOLERANCE = 1e-12
"""Numbers this near to each other are the same."""


class NotGiven(MetaevalError):
    """The source of the facts does not have what a claim asks for; the message says what."""


class Truth(Enum):
    """What a claim can come to."""

    YES = "holds"
    NO = "does not hold"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Answer:
    """Whether something is so, and the numbers that say it."""

    truth: Truth
    numbers: tuple[Number, ...] = ()

    def __and__(self, other: Answer) -> Answer:
        truths = {self.truth, other.truth}
        truth = Truth.NO if Truth.NO in truths else Truth.UNKNOWN if Truth.UNKNOWN in truths else Truth.YES
        return Answer(truth, _merge(self.numbers, other.numbers))

    def __or__(self, other: Answer) -> Answer:
        return ~(~self & ~other)

    def __invert__(self) -> Answer:
        opposite = {Truth.YES: Truth.NO, Truth.NO: Truth.YES, Truth.UNKNOWN: Truth.UNKNOWN}
        return Answer(opposite[self.truth], self.numbers)

    def __bool__(self) -> bool:
        raise TypeError("an answer can be “cannot tell”: join answers with &, | and ~, or every() and some()")


@dataclass(frozen=True, eq=False)
class Number:
    """A number that a claim may ask for; its interval is the number itself where it is exact.

    Examples
    --------
    >>> tau = Number("τ", 0.85, 0.78, 0.9)
    >>> [(tau >= bound).truth.value for bound in (0.7, 0.8, 0.95)]
    ['holds', 'cannot tell', 'does not hold']
    >>> (Number("pairs of NMD", 84) < Number("of RNOD", 113)).truth.value
    'holds'
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def unsure(cls, name: str, value: float = math.nan) -> Number:
        """Return a number without an interval that needs one: nothing can be told from it."""
        return cls(name, value, -math.inf, math.inf)

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of its interval; nothing is known of a number that is not there."""
        if math.isnan(self.value):
            return -math.inf, math.inf
        return (
            self.value if self.low is None or math.isnan(self.low) else self.low,
            self.value if self.high is None or math.isnan(self.high) else self.high,
        )

    def __ge__(self, other: Number | float) -> Answer:
        least, most = _find_ends(other)
        low, high = self.ends
        truth = Truth.UNKNOWN
        if low >= most - TOLERANCE:
            truth = Truth.YES
        elif high < least - TOLERANCE:
            truth = Truth.NO
        return Answer(truth, (self, other) if isinstance(other, Number) else (self,))

    def __lt__(self, other: Number | float) -> Answer:
        return ~(self >= other)

    def __gt__(self, other: Number | float) -> Answer:
        return ~(self <= other)

    def __le__(self, other: Number | float) -> Answer:
        least, most = _find_ends(other)
        low, high = self.ends
        truth = Truth.UNKNOWN
        if high <= least + TOLERANCE:
            truth = Truth.YES
        elif low > most + TOLERANCE:
            truth = Truth.NO
        return Answer(truth, (self, other) if isinstance(other, Number) else (self,))

    def __str__(self) -> str:
        text = f"{self.name} {_format(self.value)}"
        if self.low is None or self.high is None:
            return text
        return text if math.isinf(self.low) else f"{text} [{_format(self.low)}, {_format(self.high)}]"


def _format(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else format_cell(float(value))


def _find_ends(other: Number | float) -> tuple[float, float]:
    return other.ends if isinstance(other, Number) else (other, other)


def _merge(first: tuple[Number, ...], second: tuple[Number, ...]) -> tuple[Number, ...]:
    shown = {str(number) for number in first}
    return first + tuple(number for number in second if str(number) not in shown)


def every(answers: Iterable[Answer]) -> Answer:
    """Are all so? No where one is not.

    Examples
    --------
    >>> every(Number("τ", value) > 0.5 for value in (0.6, 0.7)).truth.value
    'holds'
    """
    joined = Answer(Truth.YES)
    for answer in answers:
        joined &= answer
    return joined


def some(answers: Iterable[Answer]) -> Answer:
    """Is one of them so?"""
    return ~every(~answer for answer in answers)


def bound(name: str) -> float:
    """Return the number that a word counts as, of experiments/bounds.toml."""
    return BOUNDS[name].value


@dataclass(frozen=True)
class Claim:
    """A sentence, where it stands, the collections it is about, the rule in words, and the function that tries it."""

    where: str
    sentence: str
    about: tuple[str, ...]
    rule: str
    decide: Callable[[Any], Answer | None]
    bounds: tuple[str, ...] = ()

    def __call__(self, facts: Any) -> Answer | None:
        """Try it on facts."""
        return self.decide(facts)


def claim(where: str, sentence: str, *, about: Sequence[str] = ()) -> Callable[[Callable[[Any], Answer | None]], Claim]:
    """Turn a function of facts into a claim; its docstring is the rule, and names in braces are bounds.

    Examples
    --------
    >>> @claim("§1", "A and B are similar.")
    ... def similar(facts):
    ...     '''τ is at least {similar}.'''
    ...     return Number("τ", facts["tau"]) >= bound("similar")
    >>> similar.rule, similar({"tau": 0.9}).truth.value
    ('τ is at least 0.8.', 'holds')
    """

    def decorate(decide: Callable[[Any], Answer | None]) -> Claim:
        text = " ".join((decide.__doc__ or "").split())
        bounds = tuple(dict.fromkeys(re.findall(r"{([^}]+)}", text)))
        rule = re.sub(r"{([^}]+)}", lambda name: f"{bound(name[1]):g}", text)
        return Claim(where, sentence, tuple(about), rule, decide, bounds)

    return decorate


def list_claims(module: ModuleType) -> list[Claim]:
    """Return the claims of a module in the order in which they are written."""
    return [value for value in vars(module).values() if isinstance(value, Claim)]


@dataclass(frozen=True)
class Finding:
    """What came of a claim on some data; `reason` says what these lack."""

    claim: Claim
    data: str
    answer: Answer
    reason: str = ""

    @property
    def figures(self) -> str:
        """The numbers it rests on, and what is missing, as one phrase."""
        return "; ".join([*map(str, self.answer.numbers), *([self.reason] if self.reason else [])])


def try_claims(claims: Iterable[Claim], facts: Mapping[str, Any]) -> Iterator[Finding]:
    """Try claims on facts, by name of what these were made from; a claim that answers None does not speak of them.

    Facts with a `collection` (as the paper calls it) are asked only claims about it, or about none in particular; of several
    data in the place of the same collection only the first that a claim speaks of is asked: the nearest stand first.
    """
    for statement in claims:
        asked = set()
        for data, about in facts.items():
            collection = getattr(about, "collection", "")
            key = (collection, data.startswith(PRINT))
            if collection and ((statement.about and collection not in statement.about) or key in asked):
                continue
            try:
                answer, reason = statement(about), ""
            except NotGiven as error:
                answer, reason = Answer(Truth.UNKNOWN), str(error)
            if answer is not None:
                asked.add(key)
                yield Finding(statement, data, answer, reason)


def list_bounds(claims: Iterable[Claim]) -> list[str]:
    """Say what the words of claims count as, who chose the number, and why."""
    names = dict.fromkeys(name for statement in claims for name in statement.bounds)
    return [
        f"{name}: {chosen.words} {chosen.value:g} ({chosen.reason}: {chosen.where})"
        for name in names
        for chosen in [BOUNDS[name]]
    ]


def tally_claims(frame: pd.DataFrame) -> dict[str, int]:
    """Return how many claims hold, do not, hold on some data only, or stay undecided, from rows of claims.csv."""
    counts = {"hold": 0, "do not hold": 0, "hold on some data only": 0, "stay undecided": 0}
    for outcomes in frame.groupby(["claim", "where"], sort=False)["outcome"].agg(set):
        holds, fails = Truth.YES.value in outcomes, Truth.NO.value in outcomes
        phrase = "hold on some data only" if holds and fails else "hold" if holds else "do not hold"
        counts[phrase if holds or fails else "stay undecided"] += 1
    return counts


def tabulate_claims(findings: Iterable[Finding], caption: str, signature: str) -> metaeval.Table:
    """Return findings as the table that becomes claims.csv, one row each."""
    rows = [
        (
            finding.claim.sentence,
            finding.claim.where,
            finding.claim.rule,
            finding.data,
            finding.answer.truth.value,
            finding.figures,
        )
        for finding in findings
    ]
    columns = ["claim", "where", "rule", "data", "outcome", "figures"]
    frame = pd.DataFrame(rows, columns=columns).set_index("claim")
    return metaeval.Table(frame, caption, signature)
