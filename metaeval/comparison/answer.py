"""The answer of a comparison: a headline that a colleague could repeat, at most four findings, and what to know before.

Every word follows from the findings of `metaeval.comparison.verdicts`, from agreement with the reference, and from the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.comparison.agreement_verdict import judge_with_reference
from metaeval.comparison.results import ComparisonResults, find_once, find_position, find_title
from metaeval.comparison.summary import list_warnings
from metaeval.comparison.verdicts import (
    average_tau,
    compare_pooled,
    count_contradictions,
    find_verdicts,
    ignores_order,
)
from metaeval.data.scores import Scores
from metaeval.stats.intervals import FEWEST_RUNS, FEWEST_TOPICS, Ends, judge_level

MOST_FINDINGS, MOST_WARNINGS = 4, 3

_SAME = 1e-9
"""Standardised scores that differ by no more are equal but for rounding."""

_ORDER = ("formula", "similarity", "contradictions", "power", "consistency")
_WITH_REFERENCE = ("agreement", "reference", "formula", "similarity", "power", "consistency", "contradictions")
"""Findings by what matters most to a reader."""


@dataclass(frozen=True)
class Answer:
    """What a reader should leave with: lines of text, the numbers of a finding in brackets at its end."""

    headline: str
    findings: tuple[str, ...]
    before: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The headline with its full stop."""
        return self.headline if self.headline.endswith("?") else f"{self.headline}."

    def to_text(self) -> str:
        """Return the answer as lines."""
        lines = [self.sentence]
        if self.findings:
            lines += ["", *(f"- {finding}." for finding in self.findings)]
        if self.before:
            lines += ["", "Before you rely on this:", *(f"- {line}" for line in self.before)]
        return "\n".join(lines)


def find_answer(comparison: ComparisonResults, measure: str | None = None, *, named: bool = False) -> Answer:
    """Choose what to say of a new measure, by rule; the headline begins with its name if it is `named` or one of several."""
    name = comparison.find_new(measure)
    kin = find_kin(comparison, name)
    keys = {"constant": (), "copy": ("similarity",), "linear": ("similarity",), "monotone": ("similarity",)}.get(
        kin.kind, _ORDER if comparison.agreement is None else _WITH_REFERENCE
    )
    findings = {finding.key: finding for finding in find_verdicts(comparison, name)}
    told = [findings[key].phrase for key in keys if key in findings and findings[key].told]
    headline = find_headline(comparison, name)
    if named or len(comparison.new) > 1:
        headline = f"{find_title(comparison.measures, name)}: {headline[0].lower()}{headline[1:]}"
    return Answer(headline, tuple(told[:MOST_FINDINGS]), tuple(list_warnings(comparison)[:MOST_WARNINGS]))


def find_headline(comparison: ComparisonResults, name: str) -> str:
    """Return a judgement in at most twelve words, with at most one number."""
    kin = find_kin(comparison, name)
    if kin.kind == "constant":
        return "Constant: it separates no runs"
    if kin.kind and (kin.kind != "opposite" or comparison.agreement is None):
        return _KIN[kin.kind].format(title=kin.title)
    if comparison.agreement is not None:
        return judge_with_reference(comparison.agreement, name).headline or _say_too_few(comparison)
    return _judge_without_reference(comparison, name)


class Kin(NamedTuple):
    """Whether a measure's scores are constant, or follow from those of another one, and which."""

    kind: str
    title: str = ""


_KIN = {
    "copy": "A copy of {title}: all scores are the same",
    "linear": "A rescaled copy of {title}: it says nothing new",
    "opposite": "Ranks runs opposite to {title}: is the direction right?",
    "monotone": "A monotone transform of {title}: it orders all scores alike",
}


@find_once
def find_kin(comparison: ComparisonResults, name: str) -> Kin:
    """Tell whether a measure is constant, or a copy, a linear copy, the opposite or a monotone transform of another one."""
    columns = [_read_column(study.scores, name) for study in comparison.collections]
    if all(np.ptp(column) == 0 for column in columns):
        return Kin("constant")
    taus = average_tau(comparison.collections, name)
    if taus is None:
        return Kin("")
    nearest, farthest = taus.order[0], taus.order[-1]
    found: dict[str, str] = {}  # by kind, the nearest measure: several may rank runs alike
    for other in taus.order:
        theirs = [_read_column(study.scores, other) for study in comparison.collections]
        if any(np.ptp(column) == 0 for column in (*columns, *theirs)):
            continue
        for kind, test in _TESTS.items():
            if (kind != "opposite" or other == farthest) and all(map(test, columns, theirs)):
                found.setdefault(kind, other)
                break
        if "copy" in found:
            break
    for kind in _TESTS:
        if kind in found:
            return Kin(kind, find_title(comparison.measures, found[kind]))
    opposite = taus.ends(farthest)
    if opposite[0] <= -ALIKE and opposite[2] < 0 and taus.ends(nearest)[2] < ALIKE:
        return Kin("opposite", find_title(comparison.measures, farthest))
    return Kin("")


def _read_column(scores: Scores, name: str) -> np.ndarray:
    """Return the scores of one measure, shape (cell,), higher being better."""
    position = find_position(scores, name)
    return np.asarray(scores.values[..., position].ravel() * scores.measures[position].sign)


def _standardise(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / values.std())


_TESTS = {
    "copy": np.array_equal,
    "linear": lambda mine, other: np.abs(_standardise(mine) - _standardise(other)).max() < _SAME,
    "monotone": lambda mine, other: np.array_equal(
        np.unique(mine, return_inverse=True)[1], np.unique(other, return_inverse=True)[1]
    ),
    "opposite": lambda mine, other: np.abs(_standardise(mine) + _standardise(other)).max() < _SAME,
}
"""Whether scores are those of another measure in some way, the closest first."""


def _judge_without_reference(comparison: ComparisonResults, name: str) -> str:
    """Return the headline where nothing tells which measures are right."""
    taus = average_tau(comparison.collections, name)
    if taus is None:
        return "Nothing to compare with: name other measures too"
    ordinal = {other: comparison.traits.get(other, {}).get("ordinal") for other in (name, *taus.order)}
    respecting = [other for other in taus.order if (check := ordinal[other]) is not None and check.holds]
    if ignores_order(ordinal[name]) and respecting:
        return f"Ignores the order of the classes, unlike {find_title(comparison.measures, respecting[0])}"
    nearest = taus.order[0]
    title = find_title(comparison.measures, nearest)
    tau, low, high = taus.ends(nearest)
    if not low <= high:
        return _say_too_few(comparison)
    if low >= ALIKE or tau > 1 - _SAME:
        return _compare_with_nearest(comparison, name, nearest, title)
    if high < ALIKE:
        return _judge_outsider(comparison, name, related=low > 0)
    (word,) = judge_level([tau], Ends(np.array([low]), np.array([high])), Ends(np.array([low]), np.array([high])),
                          ALIKE, min(len(study.scores.topics) for study in comparison.collections))  # fmt: skip
    if ":" not in word:
        return f"Borderline: more topics would hardly tell whether it ranks like {title}"
    topics = word.partition(": ")[2] if len(comparison.collections) == 1 else "more topics would decide"
    return f"Undecided whether it ranks like {title}: {topics}"


def _judge_outsider(comparison: ComparisonResults, name: str, *, related: bool) -> str:
    """Return the headline of a measure that ranks runs unlike every other one."""
    if not related:
        powers = comparison.list_results("power")
        if powers and not any(power.significant[find_position(power, name)].any() for power in powers):
            return "Looks like noise: finds no differences, resembles no other measure"
        return "Unrelated to every other measure: what does it measure?"
    counts = count_contradictions(comparison.collections, name)
    contradicted = sum(map(bool, counts.values()))
    if contradicted == len(counts) > 1:
        return "Ranks runs unlike every other measure, and contradicts them all"
    return f"Ranks runs unlike every other measure{', and contradicts most' * (2 * contradicted > len(counts))}"


def _compare_with_nearest(comparison: ComparisonResults, name: str, nearest: str, title: str) -> str:
    """Say whether anything speaks for a measure that ranks runs like another one."""
    powers = comparison.list_results("power")
    more = less = False
    if powers:
        _, low, high = compare_pooled(powers, find_position(powers[0], name))
        other = find_position(powers[0], nearest)
        more, less = bool(low[other] > 0), bool(high[other] < 0)
    if second := comparison.list_results("second_power"):  # neither is said where the other test finds the opposite
        _, low, high = compare_pooled(second, find_position(second[0], name))
        more, less = more and not high[other] < 0, less and not low[other] > 0
    if less:
        return f"Not recommended over {title} on this evidence"
    if more:
        return f"Ranks runs like {title} and finds more differences"
    return f"Ranks runs like {title}: no reason to prefer it"


def _say_too_few(comparison: ComparisonResults) -> str:
    """Say what there is too little of for intervals."""
    few = min(len(study.diagnostics.runs) for study in comparison.collections)
    if few < FEWEST_RUNS:
        return f"Too few runs to judge: at least {FEWEST_RUNS} are needed"
    return f"Too few topics to judge: at least {FEWEST_TOPICS} are needed"
