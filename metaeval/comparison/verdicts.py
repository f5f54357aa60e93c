"""What came out for a new measure, in a sentence: every word by a stated rule from numbers with their errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from metaeval.analyses.discriminative_power import DiscriminativePower
from metaeval.analyses.grades import CHANCE, CONTRADICTED, LIMIT, THRESHOLD, TOLD, grade_contradictions
from metaeval.analyses.study import Study
from metaeval.comparison.looks import NOT_TRIED, QUICK_TEST, Looks
from metaeval.errors import format_count
from metaeval.measures.properties import PropertyCheck
from metaeval.show.table import NOTHING
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict
from metaeval.stats.intervals import interval_of_pairs

if TYPE_CHECKING:
    from metaeval.comparison.new_measure import Comparison
    from metaeval.measures.base import Measure

_NAMED = 3
"""Contradicted measures that a sentence names; more are counted."""

RULES = {
    "reference": (
        f"The measure contradicts the reference where the 95 % interval of the share of contradicted pairs, of those that "
        f"both find significant, lies above {100 * LIMIT:g} %, and does better than chance where it lies below "
        f"{100 * CHANCE:g} %; otherwise it cannot be told."
    ),
    "similarity": (
        "The nearest measure is the one with the highest τ, averaged over collections. The measure ranks runs like it "
        f"where the 95 % interval of that mean lies at or above {THRESHOLD:g}, and like no other where it lies below. "
        "Deviations of the ends from their collection's τ are added in squares."
    ),
    "consistency": (
        "A test is a collection and a size of the two sets of topics. The measure is the least consistent in it if it has "
        "the lowest mean τ over splits and some other measure is significantly more consistent, and significantly the least "
        "if all are; the most consistent likewise."
    ),
    "power": (
        "Significant pairs of runs by the randomised Tukey HSD test are added over collections. The measure finds more, or "
        "fewer, than another where the paired 95 % interval over topics of the difference leaves out 0."
    ),
    "contradictions": (
        "Two measures contradict each other on a pair of runs where both find it significantly different, by the randomised "
        "Tukey HSD test, the one in favour of one run and the other in favour of the other."
    ),
    "formula": "A property fails with one counterexample; it stands where none was found among the cases tried.",
}
"""By key of a finding, how it is reached."""


@dataclass(frozen=True)
class Finding:
    """One thing that came out for a new measure.

    Parameters
    ----------
    key : str
        One of `RULES`.
    phrase : str
        What follows the name of the measure in a sentence, with numbers.
    verdict : Verdict
        The claim without numbers, the numbers, the rule, and what was tried.
    """

    key: str
    phrase: str
    verdict: Verdict


def find_verdicts(comparison: Comparison, name: str) -> list[Finding]:
    """Return what came out for a new measure, and whether it stands if something is changed.

    Parameters
    ----------
    comparison : Comparison
    name : str
        One of `comparison.new`.

    Returns
    -------
    list of Finding
    """
    studies = comparison.collections
    robust = all(one.robust_power is not None for one in studies)
    looks: Looks = {
        QUICK_TEST: tuple(one.by_robust_test() for one in studies) if robust else NOT_TRIED,
        **comparison.looks,
    }
    found: list[Finding] = []
    for judge in _JUDGES:
        finding = judge(studies, name)
        if finding is None:
            continue
        tried = tuple((look, _describe_look(judge, finding, there, name)) for look, there in looks.items())
        found.append(replace(finding, verdict=replace(finding.verdict, conditions=tried)))
    by_formula = judge_formula(comparison.traits.get(name, {}), find_title(comparison.measures, name))
    return found if by_formula is None else [*found, by_formula]


def _describe_look(judge: Judge, finding: Finding, there: tuple[Study, ...] | str, name: str) -> str:
    """Return in words whether a finding stands: what else came out where it does not."""
    if isinstance(there, str):
        return there
    other = judge(there, name)
    if other is None:
        return "does not apply"
    same = (other.verdict.claim, other.verdict.outcome) == (finding.verdict.claim, finding.verdict.outcome)
    return "the same" if same else other.phrase


def write_verdict(name: str, findings: Sequence[Finding]) -> str:
    """Return one paragraph: a sentence of what the scores say, and one of what the formula says.

    Parameters
    ----------
    name : str
        What the new measure is called.
    findings : sequence of Finding

    Returns
    -------
    str
    """
    phrases = [one.phrase for one in findings if one.key != "formula"]
    formula = [
        f"Properties of its formula (in how many cases tried): {one.phrase}."
        for one in findings
        if one.key == "formula"
    ]
    told = (
        ", ".join(phrases[:-1]) + (", and " if len(phrases) > 1 else "") + phrases[-1] if phrases else "has no result"
    )
    return " ".join([f"{name} {told}.", *formula])


def find_title(measures: Sequence[Measure], name: str) -> str:
    """Return how a measure is written in a sentence or a table's head, by its name."""
    return next(one.label or str(one) for one in measures if str(one) == name)


def judge_reference(studies: Sequence[Study], name: str) -> Finding | None:
    """Does the measure contradict the reference?"""
    held = [one.reference for one in studies if one.reference is not None]
    if not held:
        return None
    place = [str(one) for one in held[0].measures].index(name)
    wrong, decided = (sum(int(getattr(one, what)[place]) for one in held) for what in ("contradicted", "decided"))
    low, high = (
        float(end[0])
        for end in interval_of_pairs(
            np.array([[one.contradicted[place]] for one in held]),
            np.array([[one.decided[place]] for one in held]),
            [one.n_runs for one in held],
        )
    )
    word, reference = grade_contradictions(low, high), held[0].reference.title
    name = find_title(held[0].measures, name)
    pairs = f"{wrong:,} of the {format_count(decided, 'pair')} of runs that both find significant"
    counts = f"{pairs}, {100 * low:.0f} to {100 * high:.0f} %"
    if not decided:
        phrase = f"shares no significant pair of runs with the reference {reference}, so that nothing can be told of it"
    elif word == CONTRADICTED:
        phrase = f"contradicts the reference {reference} ({counts})"
    elif word == TOLD:
        phrase = f"is contradicted by the reference {reference} less often than chance ({counts})"
    else:
        phrase = f"cannot be told from chance by the reference {reference} (contradicted in {counts})"
    outcome: OutcomeWord = {CONTRADICTED: "holds", TOLD: "does not hold"}.get(word, "cannot tell")  # type: ignore[assignment]
    share = wrong / decided if decided else float("nan")
    evidence = (
        Evidence("contradicted pairs", wrong), Evidence("pairs that both find significant", decided),
        Evidence("share", share, (low, high)),
    )  # fmt: skip
    return _find("reference", phrase, f"{name} contradicts the reference {reference}.", outcome, evidence, studies)


def judge_similarity(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measure does it rank runs like?"""
    found = [one.similarity for one in studies if one.similarity is not None]
    if not found:
        return None
    measures = found[0].measures
    place = [str(one) for one in measures].index(name)
    taus = np.mean([one.tau[place] for one in found], axis=0)
    others = [m for m in range(len(measures)) if m != place]
    nearest = max(others, key=lambda m: -2.0 if np.isnan(taus[m]) else taus[m])
    tau, title, name = float(taus[nearest]), measures[nearest].title, find_title(measures, name)
    low, high = add_intervals(
        *([float(getattr(one, what)[place, nearest]) for one in found] for what in ("tau", "low", "high"))
    )
    mean = "mean τ" if len(found) > 1 else "τ"
    numbers = f"{mean} {tau:.2f}{_ends(low, high)}"
    outcome: OutcomeWord = "holds" if low >= THRESHOLD else "does not hold" if high < THRESHOLD else "cannot tell"
    if outcome == "holds":
        phrase, claim = f"ranks runs like {title} ({numbers})", f"{name} ranks runs like {title}."
    elif outcome == "does not hold":
        phrase = f"ranks runs like none of the others (nearest is {title}, {numbers})"
        claim = f"{name} ranks runs like another measure."
    else:
        why = "" if low <= high else ", no interval"
        phrase = f"ranks runs most like {title} ({numbers}{why}), though whether alike cannot be told"
        claim = f"{name} ranks runs like {title}."
    evidence = (Evidence(f"{mean} with {title}", tau, (low, high) if low <= high else None),)
    return _find("similarity", phrase, claim, outcome, evidence, studies)


def judge_consistency(studies: Sequence[Study], name: str) -> Finding | None:
    """In how many tests is it the most, or the least, consistent?"""
    found = [split for one in studies for split in (one.consistency, one.small_consistency) if split is not None]
    if not found or len(found[0].measures) < 2:
        return None
    place = [str(one) for one in found[0].measures].index(name)
    name = find_title(found[0].measures, name)
    most, least, evidence = [], [], []
    for one in found:
        others = np.delete(np.arange(len(one.measures)), place)
        clear, gap = one.significant[place, others], one.means[place] - one.means[others]
        if (gap > 0).all() and clear.any():
            most.append(bool(clear.all()))
        if (gap < 0).all() and clear.any():
            least.append(bool(clear.all()))
        a, b = one.sizes
        where = f"{one.signature.data[0].partition('@')[0]}, {a} vs. {b} topics"
        better, worse = int((clear & (gap > 0)).sum()), int((clear & (gap < 0)).sum())
        text = f"{where}: mean τ (significantly more consistent than {better} others, less than {worse})"
        error = 1.96 * float(one.tau[:, place].std()) / np.sqrt(len(one.tau))
        mean = float(one.means[place])
        evidence.append(Evidence(text, mean, (mean - error, mean + error)))
    ends = [
        f"the {word} consistent in {len(tests)} of {format_count(len(found), 'test')} ({sum(tests) or 'none'} significantly)"
        for word, tests in (("most", most), ("least", least))
        if tests
    ]
    if ends:
        said = " and ".join(word for word, tests in (("most", most), ("least", least)) if tests)
        phrase, claim = f"is {' and '.join(ends)}", f"{name} is the {said} consistent in some tests."
    else:
        phrase = f"is neither the most nor the least consistent in any of {format_count(len(found), 'test')}"
        claim = f"{name} is neither the most nor the least consistent in any test."
    return _find("consistency", phrase, claim, "holds", tuple(evidence), studies)


def judge_power(studies: Sequence[Study], name: str) -> Finding | None:
    """Does it find more significant pairs of runs than others, or fewer?"""
    powers = [one.power for one in studies if one.power is not None]
    if not powers:
        return None
    place = [str(one) for one in powers[0].measures].index(name)
    name = find_title(powers[0].measures, name)
    counts = np.sum([one.significant.sum(axis=1) for one in powers], axis=0)
    pairs = sum(one.p_values.shape[1] for one in powers)
    others = np.delete(counts, place)
    difference, low, high = (np.delete(values, place) for values in compare_pooled(powers, place))
    more, fewer, n = int((low > 0).sum()), int((high < 0).sum()), len(others)
    span = f"{others.min():,} to {others.max():,}" if n > 1 else f"{others[0]:,}" if n else "none"
    counted = (
        f"finds {counts[place]:,} of {pairs:,} pairs of runs significant ({'others' if n > 1 else 'the other'} {span})"
    )
    outcome: OutcomeWord = "holds"
    if np.isnan(low).all():
        outcome, claim = "cannot tell", f"{name} finds more or fewer pairs than another."
        phrase = f"{counted}, and whether more or fewer cannot be told"
    elif n and more == n:
        phrase, claim = f"{counted}, more than any other", f"{name} finds more pairs than any other."
    elif n and fewer == n:
        phrase, claim = f"{counted}, fewer than any other", f"{name} finds fewer pairs than any other."
    elif not more and not fewer:
        outcome, claim = "cannot tell", f"{name} finds more or fewer pairs than another."
        phrase = f"{counted}, which cannot be told from any of them"
    else:
        said = [f"{word} than {k}" for word, k in (("more", more), ("fewer", fewer)) if k]
        phrase, claim = f"{counted}, {' and '.join(said)} of {n} others", f"{name} finds {' and '.join(said)} others."
    error = float(np.sqrt(sum(one.mc_se[place] ** 2 for one in powers)))
    names = [one.title for m, one in enumerate(powers[0].measures) if m != place]
    evidence = (
        Evidence(
            "significant pairs", int(counts[place]), (counts[place] - 1.96 * error, counts[place] + 1.96 * error), 1
        ),
        *(
            Evidence(f"share less that of {title}", float(d), (float(a), float(b)) if a <= b else None)
            for title, d, a, b in zip(names, difference, low, high, strict=True)
        ),
    )
    return _find("power", phrase, claim, outcome, evidence, studies)


def judge_contradictions(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measures does it contradict, and how often?"""
    found = [one.contradictions for one in studies if one.contradictions is not None]
    if not found:
        return None
    counts = count_contradictions(studies, name)
    titles = {str(one): one.title for one in found[0].measures}
    name = find_title(found[0].measures, name)
    there = sorted((one for one in counts if counts[one]), key=lambda one: -counts[one])
    if not there:
        phrase, claim = "contradicts none of the others", f"{name} contradicts none of the others."
    else:
        said = [f"{titles[one]} {_times(counts[one])}" for one in there[:_NAMED]]
        rest = len(there) - _NAMED
        said += [f"{rest} more"] * (rest > 0)
        phrase = f"contradicts {' and '.join([', '.join(said[:-1]), said[-1]] if len(said) > 1 else said)}"
        claim = f"{name} contradicts {', '.join(titles[one] for one in there)}."
    evidence = tuple(Evidence(f"contradictions with {titles[one]}", counts[one]) for one in there)
    return _find("contradictions", phrase, claim, "holds", evidence, studies)


def judge_formula(traits: dict[str, PropertyCheck], name: str) -> Finding | None:
    """Which of the properties tried does its formula have?"""
    traits = {trait: check for trait, check in traits.items() if check.mark != NOTHING}
    if not traits:
        return None
    phrase = "; ".join(f"{trait} {check.mark}" for trait, check in traits.items())
    evidence = tuple(Evidence(f"{trait} {check.mark}", int(check.mark[:1] == "✓")) for trait, check in traits.items())
    verdict = Verdict(f"{name}: {phrase}.", "formula", RULES["formula"], "made-up cases", "holds", evidence)
    return Finding("formula", phrase, verdict)


Judge = Callable[[Sequence[Study], str], Finding | None]

_JUDGES: tuple[Judge, ...] = (judge_reference, judge_similarity, judge_consistency, judge_power, judge_contradictions)


def add_intervals(values: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    """Return the interval of a mean of independent numbers: deviations of the ends are added in squares.

    Parameters
    ----------
    values, lows, highs : sequence of float

    Returns
    -------
    float
    float
        NaN if there is an interval missing (Zou and Donner, Statistics in Medicine 27(10), 2008).

    Examples
    --------
    >>> add_intervals([0.5, 0.7], [0.2, 0.3], [0.8, 0.7])
    (0.35, 0.75)
    """
    value, low, high = (np.asarray(one, dtype=float) for one in (values, lows, highs))
    mean = float(value.mean())
    below, above = (float(np.sqrt(np.square(value - end).sum())) / len(value) for end in (low, high))
    return round(mean - below, 12), round(mean + above, 12)


def compare_pooled(powers: Sequence[DiscriminativePower], place: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return one measure's share of significant pairs less that of every measure, with a paired interval over topics.

    Parameters
    ----------
    powers : sequence of DiscriminativePower
        Of every collection.
    place : int
        Of the measure.

    Returns
    -------
    difference, low, high : ndarray, shape (measure,)
        Over all pairs of all collections; NaN where there is no interval, and 0 for the measure itself.
    """
    n = len(powers[0].measures)
    first, second = np.triu_indices(n, 1)
    pairs = np.array([one.p_values.shape[1] for one in powers], dtype=float)
    difference, below, above = np.zeros(n), np.zeros(n), np.zeros(n)
    for power, share in zip(powers, pairs / pairs.sum(), strict=True):
        shares = power.significant.mean(axis=1)
        low, high = np.zeros((2, n, n))
        ends = power.over_topics.find_difference_ends(shares)
        low[first, second], high[first, second] = ends
        low[second, first], high[second, first] = -ends[1], -ends[0]
        gap = shares[place] - shares
        difference += share * gap
        below += np.square(share * (gap - low[place]))
        above += np.square(share * (high[place] - gap))
    return difference, difference - np.sqrt(below), difference + np.sqrt(above)


def count_contradictions(studies: Sequence[Study], name: str) -> dict[str, int]:
    """Return on how many pairs of runs of all collections a measure contradicts each other one."""
    counts: dict[str, int] = {}
    for study in studies:
        if study.contradictions is None:
            continue
        frame = study.contradictions.to_frame()
        for one, other, count in zip(frame["measure_1"], frame["measure_2"], frame["contradictions"], strict=True):
            if name in (one, other):
                mate = other if one == name else one
                counts[mate] = counts.get(mate, 0) + int(count)
    return counts


def _find(
    key: str, phrase: str, claim: str, outcome: OutcomeWord, evidence: tuple[Evidence, ...], studies: Sequence[Study]
) -> Finding:
    data = ", ".join(one.name for one in studies)
    return Finding(key, phrase, Verdict(claim, key, RULES[key], data, outcome, evidence))


def _ends(low: float, high: float) -> str:
    return f" [{low:.2f}, {high:.2f}]" if low <= high else ""


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
