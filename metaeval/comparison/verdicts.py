"""What came out for a new measure, in a sentence: every word by a stated rule from numbers with their errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metaeval.analyses.grades import CHANCE, CONTRADICTED, LIMIT, THRESHOLD, TOLD, grade_contradictions
from metaeval.analyses.pooled_discriminative_power import pool_over_topics
from metaeval.analyses.power_result import DiscriminativePower
from metaeval.analyses.study import Study
from metaeval.comparison.repeats import NOT_TRIED, Repeats
from metaeval.comparison.results import ComparisonResults, find_title
from metaeval.errors import format_count
from metaeval.measures.properties import PropertyCheck
from metaeval.show.cells import NOTHING
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict
from metaeval.stats.intervals import interval_of_pairs

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
        "Significant pairs of runs, by the test that is named, are added over collections. The measure finds more, or "
        "fewer, than another where the paired 95 % interval over topics of the difference leaves out 0."
    ),
    "contradictions": (
        "Two measures contradict each other on a pair of runs where both find it significantly different, by the same test "
        "as for power, the one in favour of one run and the other in favour of the other."
    ),
    "formula": "A property fails with one counterexample; it stands where none was found among the cases tried.",
}
"""By key of a finding, how it is reached."""


@dataclass(frozen=True)
class Finding:
    """One thing that came out for a new measure."""

    key: str
    phrase: str
    verdict: Verdict


def find_verdicts(comparison: ComparisonResults, name: str) -> list[Finding]:
    """Return what came out for a new measure, and whether it stands if something is changed."""
    studies = comparison.collections
    by_second = tuple(study.by_second_test() for study in studies if study.second_power is not None)
    second = by_second if len(by_second) == len(studies) else NOT_TRIED
    repeats: Repeats = {comparison.second_test: second, **comparison.looks}
    findings: list[Finding] = []
    for judge in _JUDGES:
        finding = judge(studies, name)
        if finding is None:
            continue
        tried = tuple(
            (change, _describe_repeat(judge, finding, repeated, name)) for change, repeated in repeats.items()
        )
        findings.append(replace(finding, verdict=replace(finding.verdict, conditions=tried)))
    by_formula = judge_formula(comparison.traits.get(name, {}), find_title(comparison.measures, name))
    return findings if by_formula is None else [*findings, by_formula]


def _describe_repeat(judge: Judge, finding: Finding, repeated: tuple[Study, ...] | str, name: str) -> str:
    """Return in words whether a finding stands: what else came out where it does not."""
    if isinstance(repeated, str):
        return repeated
    other = judge(repeated, name)
    if other is None:
        return "does not apply"
    same = (other.verdict.claim, other.verdict.outcome) == (finding.verdict.claim, finding.verdict.outcome)
    return "the same" if same else other.phrase


def write_verdict(name: str, findings: Sequence[Finding]) -> str:
    """Return one paragraph: a sentence of what the scores say, and one of what the formula says."""
    phrases = [finding.phrase for finding in findings if finding.key != "formula"]
    formula = [
        f"Properties of its formula (in how many cases tried): {finding.phrase}."
        for finding in findings
        if finding.key == "formula"
    ]
    results = (
        ", ".join(phrases[:-1]) + (", and " if len(phrases) > 1 else "") + phrases[-1] if phrases else "has no result"
    )
    return " ".join([f"{name} {results}.", *formula])


def judge_reference(studies: Sequence[Study], name: str) -> Finding | None:
    """Does the measure contradict the reference?"""
    pairs_by_collection = [study.reference for study in studies if study.reference is not None]
    if not pairs_by_collection:
        return None
    position = [str(measure) for measure in pairs_by_collection[0].measures].index(name)
    wrong, decided = (
        sum(int(getattr(pairs_of_runs, what)[position]) for pairs_of_runs in pairs_by_collection)
        for what in ("contradicted", "decided")
    )
    low, high = (
        float(end[0])
        for end in interval_of_pairs(
            np.array([[pairs_of_runs.contradicted[position]] for pairs_of_runs in pairs_by_collection]),
            np.array([[pairs_of_runs.decided[position]] for pairs_of_runs in pairs_by_collection]),
            [pairs_of_runs.n_runs for pairs_of_runs in pairs_by_collection],
        )
    )
    grade, reference = grade_contradictions(low, high), pairs_by_collection[0].reference.title
    name = find_title(pairs_by_collection[0].measures, name)
    pairs = f"{wrong:,} of the {format_count(decided, 'pair')} of runs that both find significant"
    counts = f"{pairs}, {100 * low:.0f} to {100 * high:.0f} %"
    if not decided:
        phrase = f"shares no significant pair of runs with the reference {reference}, so that nothing can be told of it"
    elif grade == CONTRADICTED:
        phrase = f"contradicts the reference {reference} ({counts})"
    elif grade == TOLD:
        phrase = f"is contradicted by the reference {reference} less often than chance ({counts})"
    else:
        phrase = f"cannot be told from chance by the reference {reference} (contradicted in {counts})"
    outcome: OutcomeWord = {CONTRADICTED: "holds", TOLD: "does not hold"}.get(grade, "cannot tell")  # type: ignore[assignment]
    evidence = [Evidence("contradicted pairs", wrong), Evidence("pairs that both find significant", decided)]
    if decided:
        evidence.append(Evidence("share", wrong / decided, (low, high)))
    return _make_finding(
        "reference", phrase, f"{name} contradicts the reference {reference}.", outcome, tuple(evidence), studies
    )


def judge_similarity(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measure does it rank runs like?"""
    similarities = [study.similarity for study in studies if study.similarity is not None]
    if not similarities:
        return None
    measures = similarities[0].measures
    position = [str(measure) for measure in measures].index(name)
    taus = np.mean([similarity.tau[position] for similarity in similarities], axis=0)
    others = [m for m in range(len(measures)) if m != position]
    nearest = max(others, key=lambda m: -2.0 if np.isnan(taus[m]) else taus[m])
    tau, title, name = float(taus[nearest]), measures[nearest].title, find_title(measures, name)
    low, high = add_intervals(
        *(
            [float(getattr(similarity, what)[position, nearest]) for similarity in similarities]
            for what in ("tau", "low", "high")
        )
    )
    mean = "mean τ" if len(similarities) > 1 else "τ"
    numbers = f"{mean} {tau:.2f}{_format_ends(low, high)}"
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
    return _make_finding("similarity", phrase, claim, outcome, evidence, studies)


def judge_consistency(studies: Sequence[Study], name: str) -> Finding | None:
    """In how many tests is it the most, or the least, consistent?"""
    splits = [split for study in studies for split in (study.consistency, study.small_consistency) if split is not None]
    if not splits or len(splits[0].measures) < 2:
        return None
    position = [str(measure) for measure in splits[0].measures].index(name)
    name = find_title(splits[0].measures, name)
    most, least, evidence = [], [], []
    for split in splits:
        others = np.delete(np.arange(len(split.measures)), position)
        clear, gap = split.significant[position, others], split.means[position] - split.means[others]
        if (gap > 0).all() and clear.any():
            most.append(bool(clear.all()))
        if (gap < 0).all() and clear.any():
            least.append(bool(clear.all()))
        a, b = split.sizes
        where = f"{split.signature.data[0].partition('@')[0]}, {a} vs. {b} topics"
        better, worse = int((clear & (gap > 0)).sum()), int((clear & (gap < 0)).sum())
        text = f"{where}: mean τ (significantly more consistent than {better} others, less than {worse})"
        error = 1.96 * float(split.tau[:, position].std()) / np.sqrt(len(split.tau))
        mean = float(split.means[position])
        evidence.append(Evidence(text, mean, (mean - error, mean + error)))
    ends = [
        f"the {rank} consistent in {len(tests)} of {format_count(len(splits), 'test')} ({sum(tests) or 'none'} significantly)"
        for rank, tests in (("most", most), ("least", least))
        if tests
    ]
    if ends:
        ranks = " and ".join(rank for rank, tests in (("most", most), ("least", least)) if tests)
        phrase, claim = f"is {' and '.join(ends)}", f"{name} is the {ranks} consistent in some tests."
    else:
        phrase = f"is neither the most nor the least consistent in any of {format_count(len(splits), 'test')}"
        claim = f"{name} is neither the most nor the least consistent in any test."
    return _make_finding("consistency", phrase, claim, "holds", tuple(evidence), studies)


def judge_power(studies: Sequence[Study], name: str) -> Finding | None:
    """Does it find more significant pairs of runs than others, or fewer?"""
    powers = [study.power for study in studies if study.power is not None]
    if not powers:
        return None
    position = [str(measure) for measure in powers[0].measures].index(name)
    name = find_title(powers[0].measures, name)
    counts = np.sum([power.significant.sum(axis=1) for power in powers], axis=0)
    pairs = sum(power.p_values.shape[1] for power in powers)
    others = np.delete(counts, position)
    difference, low, high = (np.delete(values, position) for values in compare_pooled(powers, position))
    n = len(others)
    span = f"{others.min():,} to {others.max():,}" if n > 1 else f"{others[0]:,}" if n else "none"
    found = f"finds {counts[position]:,} of {pairs:,} pairs of runs significant by {powers[0].test}"
    counted = f"{found} ({'others' if n > 1 else 'the other'} {span})"
    outcome, claim, ending = _rank_power(low, high)
    error = float(np.sqrt(sum(power.mc_se[position] ** 2 for power in powers)))
    names = [measure.title for m, measure in enumerate(powers[0].measures) if m != position]
    evidence = (
        Evidence(
            "significant pairs",
            int(counts[position]),
            (counts[position] - 1.96 * error, counts[position] + 1.96 * error),
        ),
        *(
            Evidence(f"share less that of {title}", float(d), (float(a), float(b)) if a <= b else None)
            for title, d, a, b in zip(names, difference, low, high, strict=True)
        ),
    )
    return _make_finding("power", f"{counted}{ending}", f"{name} {claim}", outcome, evidence, studies)


def _rank_power(low: np.ndarray, high: np.ndarray) -> tuple[OutcomeWord, str, str]:
    """Return the outcome, the claim and the end of the phrase, from intervals of the differences to other measures."""
    more, fewer, n = int((low > 0).sum()), int((high < 0).sum()), len(low)
    if np.isnan(low).all():
        return "cannot tell", "finds more or fewer pairs than another.", ", and whether more or fewer cannot be told"
    if n and more == n:
        return "holds", "finds more pairs than any other.", ", more than any other"
    if n and fewer == n:
        return "holds", "finds fewer pairs than any other.", ", fewer than any other"
    if not more and not fewer:
        return "cannot tell", "finds more or fewer pairs than another.", ", which cannot be told from any of them"
    directions = " and ".join(f"{direction} than {k}" for direction, k in (("more", more), ("fewer", fewer)) if k)
    return "holds", f"finds {directions} others.", f", {directions} of {n} others"


def judge_contradictions(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measures does it contradict, and how often?"""
    contradictions = [study.contradictions for study in studies if study.contradictions is not None]
    if not contradictions:
        return None
    counts = count_contradictions(studies, name)
    titles = {str(measure): measure.title for measure in contradictions[0].measures}
    name = find_title(contradictions[0].measures, name)
    contradicted = sorted((other for other in counts if counts[other]), key=lambda other: -counts[other])
    if not contradicted:
        phrase, claim = "contradicts none of the others", f"{name} contradicts none of the others."
    else:
        phrases = [f"{titles[other]} {_count_times(counts[other])}" for other in contradicted[:_NAMED]]
        rest = len(contradicted) - _NAMED
        phrases += [f"{rest} more"] * (rest > 0)
        phrase = f"contradicts {' and '.join([', '.join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)}"
        claim = f"{name} contradicts {', '.join(titles[other] for other in contradicted)}."
    evidence = tuple(Evidence(f"contradictions with {titles[other]}", counts[other]) for other in contradicted)
    return _make_finding("contradictions", phrase, claim, "holds", evidence, studies)


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

    Examples
    --------
    >>> add_intervals([0.5, 0.7], [0.2, 0.3], [0.8, 0.7])
    (0.35, 0.75)
    """
    value, low, high = (np.asarray(numbers, dtype=float) for numbers in (values, lows, highs))
    mean = float(value.mean())
    below, above = (float(np.sqrt(np.square(value - end).sum())) / len(value) for end in (low, high))
    return round(mean - below, 12), round(mean + above, 12)


def compare_pooled(powers: Sequence[DiscriminativePower], position: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return one measure's share of significant pairs less that of every measure, with a paired interval over topics."""
    n = len(powers[0].measures)
    first, second = np.triu_indices(n, 1)
    counts = np.sum([power.significant.sum(axis=1) for power in powers], axis=0)
    power = counts / sum(power.p_values.shape[1] for power in powers)
    ends, (low, high) = pool_over_topics(powers).find_difference_ends(power), np.zeros((2, n, n))
    low[first, second], high[first, second] = ends
    low[second, first], high[second, first] = -ends[1], -ends[0]
    return power[position] - power, low[position], high[position]


def count_contradictions(studies: Sequence[Study], name: str) -> dict[str, int]:
    """Return on how many pairs of runs of all collections a measure contradicts each other one."""
    counts: dict[str, int] = {}
    for study in studies:
        if study.contradictions is None:
            continue
        frame = study.contradictions.to_frame()
        for first, second, count in zip(frame["measure_1"], frame["measure_2"], frame["contradictions"], strict=True):
            if name in (first, second):
                other = second if first == name else first
                counts[other] = counts.get(other, 0) + int(count)
    return counts


def _make_finding(
    key: str, phrase: str, claim: str, outcome: OutcomeWord, evidence: tuple[Evidence, ...], studies: Sequence[Study]
) -> Finding:
    data = ", ".join(study.name for study in studies)
    return Finding(key, phrase, Verdict(claim, key, RULES[key], data, outcome, evidence))


def _format_ends(low: float, high: float) -> str:
    return f" [{low:.2f}, {high:.2f}]" if low <= high else ""


def _count_times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
