"""What came out for a new measure, in a sentence: every word by a stated rule from numbers with their errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from metaeval.analyses.grades import (
    CHANCE,
    CONTRADICTED,
    LIMIT,
    TOLD,
    UNTOLD,
    grade,
    grade_contradictions,
    grade_reference_results,
    rate_consistency_results,
)
from metaeval.analyses.power import DiscriminativePower, pool_over_topics
from metaeval.analyses.power_pairs import SignificanceContradictions
from metaeval.analyses.ranking_similarity import ALIKE
from metaeval.analyses.study import Study
from metaeval.comparison.agreement_verdict import judge_with_reference
from metaeval.comparison.repeats import NOT_TRIED, Repeats
from metaeval.comparison.results import ComparisonResults, find_once, find_position, find_title, list_results
from metaeval.errors import format_count
from metaeval.measures.properties import PropertyCheck
from metaeval.show.cells import NOTHING
from metaeval.show.verdict import Evidence, OutcomeWord, Verdict
from metaeval.stats.intervals import interval_of_pairs

MOST_NAMED = 3
"""Contradicted measures that a sentence names; more are counted."""

RULES = {
    "agreement": (
        "Pairwise accuracy: the share of pairs of runs that the measure orders as the reference does. Better and worse are "
        "measures where the simultaneous 95 % intervals of the differences leave out 0."
    ),
    "reference": (
        f"The measure contradicts the reference where the 95 % interval of the share of contradicted pairs, of those that "
        f"both find significant, lies above {100 * LIMIT:g} %, and does better than chance where it lies below "
        f"{100 * CHANCE:g} %; otherwise it is undecided."
    ),
    "similarity": (
        "The nearest measure is the one with the highest τ, averaged over collections. The measure ranks runs like it "
        f"where the 95 % interval of that mean lies at or above {ALIKE:g}, and like no other where it lies below. "
        "Deviations of the ends from their collection's τ are added in squares."
    ),
    "consistency": (
        "Over collections and both sizes of the sets of topics, the net share of the other measures that the measure "
        "outperforms in split-half consistency: more stable from 1/3 up, less stable from −1/3 down. The test is over splits "
        "of the same topics, and says nothing of others."
    ),
    "power": (
        "Significant pairs of runs, by the test that is named, are added over collections. The measure finds more, or "
        "fewer, than another where the paired 95 % interval over topics of the difference leaves out 0. More is called right "
        "only where the reference is better than chance at confirming it or, without one, the measure ranks runs like another."
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
    """One thing that came out for a new measure, and whether it is worth a line of the answer."""

    key: str
    phrase: str
    verdict: Verdict
    told: bool = True


@find_once
def find_verdicts(comparison: ComparisonResults, name: str) -> list[Finding]:
    """Return what came out for a new measure, and whether it stands if something is changed."""
    studies = comparison.collections
    by_second = tuple(study.by_second_test() for study in studies if study.second_power is not None)
    second = by_second if len(by_second) == len(studies) else NOT_TRIED
    repeats: Repeats = {comparison.second_test: second, **comparison.looks}
    findings: list[Finding] = _judge_agreement(comparison, name)
    for judge in _JUDGES:
        finding = judge(studies, name)
        if finding is None:
            continue
        tried = tuple(
            (change, _describe_repeat(judge, finding, repeated, name)) for change, repeated in repeats.items()
        )
        if finding.key == "power" and not isinstance(second, str):
            finding = _say_both_tests(finding, judge_power(second, name), comparison)
        findings.append(replace(finding, verdict=replace(finding.verdict, conditions=tried)))
    by_formula = judge_formula(comparison.traits.get(name, {}), find_title(comparison.measures, name))
    backed = is_backed(studies, name)
    return [replace(one, told=_says_something(one, backed)) for one in (*findings, by_formula) if one is not None]


def _say_both_tests(finding: Finding, other: Finding | None, comparison: ComparisonResults) -> Finding:
    """Say in one sentence what both tests find, where by one the measure finds more differences and by the other fewer."""
    both = [one for one in (finding, other) if one is not None and one.verdict.outcome == "holds"]
    words = [one.verdict.claim.rpartition(" finds ")[2].rstrip(".") for one in both]
    if sorted(word.partition(" ")[0] for word in words) != ["fewer", "more"]:
        return finding
    counts = " and ".join(f"{one.verdict.evidence[0].value:,}" for one in both)
    pairs = sum(power.p_values.shape[1] for power in comparison.list_results("power"))
    phrase = (
        f"Finds {words[0]} by {comparison.test}, but {words[1].replace('differences ', '')} by {comparison.second_test} "
        f"({counts} of {pairs:,} pairs of runs)"
    )
    return replace(finding, phrase=phrase)


def _says_something(finding: Finding, backed: bool) -> bool:
    """Tell whether a finding is worth a line: not that nothing was found, nor that what may be wrong is stable."""
    if finding.key == "formula":
        return not finding.phrase.startswith("Properties")
    if finding.key == "consistency":
        return finding.verdict.outcome == ("holds" if backed else "does not hold")
    return finding.key != "contradictions" or any(figure.value for figure in finding.verdict.evidence)


def _judge_agreement(comparison: ComparisonResults, name: str) -> list[Finding]:
    """Return how well it agrees with the reference, if there is one."""
    if comparison.agreement is None:
        return []
    _, phrase, outcome, evidence = judge_with_reference(comparison.agreement, name)
    data = ", ".join(study.name for study in comparison.collections)
    claim = f"{find_title(comparison.measures, name)}: {phrase.partition(' (')[0]}."
    verdict = Verdict(claim, "agreement", RULES["agreement"], data, outcome, evidence)
    return [Finding("agreement", phrase, verdict)]


def _describe_repeat(judge: Judge, finding: Finding, repeated: tuple[Study, ...] | str, name: str) -> str:
    """Return in words whether a finding stands: what else came out where it does not."""
    if isinstance(repeated, str):
        return repeated
    other = judge(repeated, name)
    if other is None:
        return "does not apply"
    same = (other.verdict.claim, other.verdict.outcome) == (finding.verdict.claim, finding.verdict.outcome)
    return "the same" if same else other.phrase


def ignores_order(check: PropertyCheck | None) -> bool:
    """Tell whether a formula takes no notice of the order of the classes: it fails in every case that was tried."""
    return check is not None and 0 < check.cases == check.failed


def judge_reference(studies: Sequence[Study], name: str) -> Finding | None:
    """Does the measure contradict the reference?"""
    references = list_results(studies, "reference")
    if not references:
        return None
    position = find_position(references[0], name)
    wrongs, both = (
        np.array([[getattr(pairs, what)[position]] for pairs in references]) for what in ("contradicted", "decided")
    )
    low, high = (float(end[0]) for end in interval_of_pairs(wrongs, both, [pairs.n_runs for pairs in references]))
    wrong, decided = int(wrongs.sum()), int(both.sum())
    word, reference = grade_contradictions(low, high), references[0].reference.title
    name = find_title(references[0].measures, name)
    counts = f"({wrong:,} of the {decided:,} that both find)"
    if not decided:
        phrase = f"Has no significant difference in common with {reference}"
    elif word == UNTOLD:
        phrase = f"Has too few differences in common with {reference} to say whether they are confirmed {counts}"
    else:
        many = "Too many" if word == CONTRADICTED else "Few" if wrong else "None"
        phrase = f"{many} of its significant differences are contradicted by {reference} {counts}"
    outcome: OutcomeWord = {CONTRADICTED: "holds", TOLD: "does not hold"}.get(word, "cannot tell")  # type: ignore[assignment]
    evidence = [Evidence("contradicted pairs", wrong), Evidence("pairs that both find significant", decided)]
    if decided:
        evidence.append(Evidence("share", wrong / decided, (low, high)))
    return _make_finding(
        "reference", phrase, f"{name} contradicts the reference {reference}.", outcome, tuple(evidence), studies
    )


def judge_similarity(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measure does it rank runs like?"""
    taus = average_tau(studies, name)
    if taus is None:
        return None
    similarities = list_results(studies, "similarity")
    measures = similarities[0].measures
    nearest, farthest = taus.order[0], taus.order[-1]
    title, name = find_title(measures, nearest), find_title(measures, name)
    tau, low, high = taus.ends(nearest)
    mean = "mean τ" if len(similarities) > 1 else "τ"
    numbers = f"{mean} {tau:.2f}{_format_ends(low, high)}"
    tied = sum(abs(taus.ends(other)[0] - tau) < _SLACK for other in taus.order) - 1
    near = f"Nearest is {title}" if not tied else f"Nearest are {title} and {format_count(tied, 'other')}"
    outcome: OutcomeWord = "holds" if low >= ALIKE else "does not hold" if high < ALIKE else "cannot tell"
    opposite = taus.ends(farthest)
    claim = f"{name} ranks runs like {title}."
    if tau > 1 - _SLACK:
        phrase = f"Gives the same ranking of these runs as {title} ({mean} 1.00)"
    elif opposite[0] <= -ALIKE and opposite[2] < 0:
        against = f"({mean} {opposite[0]:.2f}{_format_ends(*opposite[1:])})"
        phrase = f"Ranks runs opposite to {find_title(measures, farthest)} {against}"
    elif outcome == "holds":
        phrase = f"Ranks runs like {title} ({numbers})"
    elif outcome == "does not hold":
        phrase = f"{near}, but the rankings of runs differ ({numbers}; alike from {ALIKE:g})"
        claim = f"{name} ranks runs like another measure."
    else:
        phrase = f"{near}; whether the rankings of runs are alike is undecided ({numbers}; alike from {ALIKE:g})"
    evidence = (Evidence(f"{mean} with {title}", tau, (low, high) if low <= high else None),)
    return _make_finding("similarity", phrase, claim, outcome, evidence, studies)


_SLACK = 1e-9
"""Values of τ that are nearer than this are equal but for rounding."""


def judge_consistency(studies: Sequence[Study], name: str) -> Finding | None:
    """Is its ranking more stable between sets of these topics than that of most measures?"""
    splits = list_results(studies, "consistency", "small_consistency")
    if not splits or len(splits[0].measures) < 2:
        return None
    position = find_position(splits[0], name)
    name = find_title(splits[0].measures, name)
    evidence = []
    for split in splits:
        others = np.delete(np.arange(len(split.measures)), position)
        clear, gap = split.significant[position, others], split.means[position] - split.means[others]
        a, b = split.sizes
        where = f"{split.signature.data[0].partition('@')[0]}, {a} vs. {b} topics"
        better, worse = int((clear & (gap > 0)).sum()), int((clear & (gap < 0)).sum())
        text = f"{where}: mean τ (significantly more consistent than {better} others, less than {worse})"
        error = 1.96 * float(split.tau[:, position].std()) / np.sqrt(len(split.tau))
        mean = float(split.means[position])
        evidence.append(Evidence(text, mean, (mean - error, mean + error)))
    net, means = float(rate_consistency_results(splits)[position]), np.mean([split.means for split in splits], axis=0)
    word, rest = grade(net), np.delete(means, position)
    whom = "every other measure" if abs(net) > 1 - _SLACK else "most measures"
    if len(means) == 2:
        whom = next(str(each.title) for m, each in enumerate(splits[0].measures) if m != position)
    than = {"good": f"more stable than {whom}", "poor": f"less stable than {whom}"}.get(
        word, "about as stable as others"
    )
    numbers = f"mean τ {means[position]:.2f}; others {rest.min():.2f} to {rest.max():.2f}"
    phrase = f"Its ranking is {than} between random subsets of these topics ({numbers})"
    claim = f"{name} ranks runs more stably than most measures between subsets of these topics."
    outcome: OutcomeWord = {"good": "holds", "poor": "does not hold"}.get(word, "cannot tell")  # type: ignore[assignment]
    return _make_finding("consistency", phrase, claim, outcome, tuple(evidence), studies)


def judge_power(studies: Sequence[Study], name: str) -> Finding | None:
    """Does it find more significant pairs of runs than others, or fewer?"""
    powers = list_results(studies, "power")
    if not powers:
        return None
    position, measure = find_position(powers[0], name), name
    name = find_title(powers[0].measures, name)
    counts = np.sum([power.significant.sum(axis=1) for power in powers], axis=0)
    pairs = sum(power.p_values.shape[1] for power in powers)
    difference, low, high = (np.delete(values, position) for values in compare_pooled(powers, position))
    outcome, words, compared = _rank_power(low, high)
    claim = f"{words[0].lower()}{words[1:]}."
    more = int((low > 0).sum()) > int((high < 0).sum())
    doubt = "; whether they are right, these data do not show" if more and not is_backed(studies, measure) else ""
    phrase = f"{words}{doubt} ({counts[position]:,} of {pairs:,} pairs of runs{compared})"
    error = float(np.sqrt(sum(power.rows["mc_se"][position] ** 2 for power in powers)))
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
    return _make_finding("power", phrase, f"{name} {claim}", outcome, evidence, studies)


def _rank_power(low: np.ndarray, high: np.ndarray) -> tuple[OutcomeWord, str, str]:
    """Return the outcome, the words for it and its numbers, from intervals of the differences to other measures."""
    more, fewer, n = int((low > 0).sum()), int((high < 0).sum()), len(low)
    if not more and not fewer:
        return "cannot tell", "Whether it finds more differences than others, or fewer, is undecided", ""
    if n in (more, fewer):
        return "holds", f"Finds {'more' if more == n else 'fewer'} differences than every other measure", ""
    counts = " and ".join(f"clearly {word} than {k}" for word, k in (("more", more), ("fewer", fewer)) if k)
    numbers = f"; {counts} of {n} measures"
    most = 2 * max(more, fewer) > n
    if more and fewer and not most:
        return "holds", "Is in the middle by how many differences it finds", numbers
    word = "more" if more > fewer else "fewer"
    return "holds", f"Finds {word} differences than {'most' if most else 'some'} measures", numbers


def is_backed(studies: Sequence[Study], name: str) -> bool:
    """Tell whether anything says that the differences a measure finds are right: the reference, or else a measure like it."""
    pairs = list_results(studies, "reference")
    if pairs:
        return grade_reference_results(pairs)[find_position(pairs[0], name)] == TOLD
    taus = average_tau(studies, name)
    return taus is not None and taus.ends(taus.order[0])[1] >= ALIKE


def judge_contradictions(studies: Sequence[Study], name: str) -> Finding | None:
    """Which measures does it contradict, and how often?"""
    contradictions = list_results(studies, "contradictions")
    if not contradictions:
        return None
    counts = count_contradictions(studies, name)
    titles = {str(measure): measure.title for measure in contradictions[0].measures}
    culprit, name = _find_culprit(contradictions, name), find_title(contradictions[0].measures, name)
    contradicted = sorted((other for other in counts if counts[other]), key=lambda other: -counts[other])
    if not contradicted:
        phrase, claim = "Contradicts no other measure", f"{name} contradicts none of the others."
    else:
        named, rest = [titles[other] for other in contradicted[:MOST_NAMED]], len(contradicted) - MOST_NAMED
        named += [f"{rest} other measures" if rest > 1 else "another measure"] * (rest > 0)
        whom = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
        if len(contradicted) == len(counts) > 1:
            whom = "every other measure"
        most, least = counts[contradicted[0]], counts[contradicted[-1]]
        pairs = format_count(most, "pair") if most == least else f"{least:,} to {most:,} pairs"
        phrase = f"Contradicts {whom} (on {pairs} of runs{culprit})"
        claim = f"{name} contradicts {', '.join(titles[other] for other in contradicted)}."
    evidence = tuple(Evidence(f"contradictions with {titles[other]}", counts[other]) for other in contradicted)
    return _make_finding("contradictions", phrase, claim, "holds", evidence, studies)


def _find_culprit(contradictions: Sequence[SignificanceContradictions], name: str) -> str:
    """Say which run is in all pairs on which a measure contradicts others, if there are several pairs."""
    counts: Counter[str] = Counter()
    n_pairs = 0
    for found in contradictions:
        mine = found.verdicts[find_position(found, name)]
        first, second = np.triu_indices(len(found.runs), 1)
        pairs = np.flatnonzero((mine * found.verdicts == -1).any(axis=0))
        counts.update(found.runs[run] for run in (*first[pairs], *second[pairs]))
        n_pairs += len(pairs)
    (run, n), *_ = counts.most_common(1) or [("", 0)]
    return f", all with {run}" if n == n_pairs > 1 and list(counts.values()).count(n) == 1 else ""


def judge_formula(traits: dict[str, PropertyCheck], name: str) -> Finding | None:
    """Which of the properties tried does its formula have?"""
    traits = {trait: check for trait, check in traits.items() if check.mark != NOTHING}
    if not traits:
        return None
    marks = "; ".join(f"{trait} {check.mark}" for trait, check in traits.items())
    ordinal = traits.get("ordinal")
    phrase = f"Properties of its formula: {marks}"
    if ordinal is not None and ordinal.failed:
        words = "Ignores" if ignores_order(ordinal) else "Does not always respect"
        phrase = f"{words} the order of the classes (fails in {ordinal.failed:,} of {ordinal.cases:,} cases tried)"
    evidence = tuple(Evidence(f"{trait} {check.mark}", int(check.mark[:1] == "✓")) for trait, check in traits.items())
    verdict = Verdict(f"{name}: {marks}.", "formula", RULES["formula"], "made-up cases", "holds", evidence)
    return Finding("formula", phrase, verdict)


Judge = Callable[[Sequence[Study], str], Finding | None]

_JUDGES: tuple[Judge, ...] = (judge_reference, judge_similarity, judge_consistency, judge_power, judge_contradictions)


class AverageTau(NamedTuple):
    """τ of one measure with the others, averaged over collections; `order` has their names, the nearest first."""

    order: list[str]
    numbers: dict[str, tuple[float, float, float]]

    def ends(self, other: str) -> tuple[float, float, float]:
        """Return the mean τ with a measure, and the ends of its interval."""
        return self.numbers[other]


def average_tau(studies: Sequence[Study], name: str) -> AverageTau | None:
    """Return τ of a measure with every other one; None where there is none."""
    similarities = list_results(studies, "similarity")
    if not similarities:
        return None
    measure = next(measure for measure in similarities[0].measures if str(measure) == name)
    pairs, numbers = [similarity.take_pairs(measure)[0] for similarity in similarities], {}
    for other in pairs[0].index:
        tau, low, high = ([float(frame.loc[other, what]) for frame in pairs] for what in ("tau", "low", "high"))
        numbers[str(other)] = (float(np.mean(tau)), *add_intervals(tau, low, high))
    order = sorted(numbers, key=lambda other: -2.0 if np.isnan(numbers[other][0]) else numbers[other][0], reverse=True)
    return AverageTau(order, numbers)


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
    power, low, high = compare_all_pooled(powers)
    return power[position] - power, low[position], high[position]


def compare_all_pooled(powers: Sequence[DiscriminativePower]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every measure's share of significant pairs, and both ends of its lead over every measure, shape (i, j)."""
    n = len(powers[0].measures)
    first, second = np.triu_indices(n, 1)
    counts = np.sum([power.significant.sum(axis=1) for power in powers], axis=0)
    power = counts / sum(power.p_values.shape[1] for power in powers)
    ends, (low, high) = pool_over_topics(powers).find_difference_ends(power), np.zeros((2, n, n))
    low[first, second], high[first, second] = ends
    low[second, first], high[second, first] = -ends[1], -ends[0]
    return power, low, high


def count_contradictions(studies: Sequence[Study], name: str) -> dict[str, int]:
    """Return on how many pairs of runs of all collections a measure contradicts each other one."""
    counts: dict[str, int] = {}
    for found in list_results(studies, "contradictions"):
        frame = found.to_frame()
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
